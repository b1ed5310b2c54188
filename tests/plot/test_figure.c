// SPDX-License-Identifier: Apache-2.0
/* test_figure.c: marks are kept in their order, with what was said of them, or the figure has
 * failed. */
#include <criterion/criterion.h>
#include <string.h>

#include "figure.h"

static struct arena arena;
static struct figure figure;

static void begin(void)
{
    arena_init(&arena, 1 << 20);
    figure_init(&figure, &arena, 300, 200);
}

static void end(void)
{
    arena_release(&arena);
}

TestSuite(figure, .init = begin, .fini = end);

Test(figure, begins_empty)
{
    cr_expect_null(figure.first);
    cr_expect_str_eq(figure.title, "");
    cr_expect_str_eq(figure.describes, "");
    cr_expect(!figure.failed && !figure.cramped);
    cr_expect(figure.body.left == 0 && figure.body.top == 0 && figure.body.right == 300 * UNIT &&
              figure.body.bottom == 200 * UNIT);
    cr_expect_eq(figure.text_size, 12 * UNIT);
}

Test(figure, keeps_marks_in_their_order)
{
    static const struct point points[] = {{1, 2}, {3, 4}, {5, 6}};
    static const uint8_t levels[] = {0, 255};
    struct box box = {10, 20, 30, 40};
    figure_line(&figure, points, 3, INK_SERIES + 1, 180);
    figure_area(&figure, points, 2, INK_SHADE);
    figure_dots(&figure, points, 1, INK_AXIS, 220);
    figure_cells(&figure, &box, 2, 1, levels, RAMP_SIGNED);
    figure_text(&figure, (struct point){7, 8}, ANCHOR_END, INK_MUTED, 1200, "text");

    const struct mark *mark = figure.first;
    cr_expect(mark->type == MARK_LINE && mark->points == points && mark->points_n == 3);
    cr_expect(mark->ink == INK_SERIES + 1 && mark->size == 180 && mark->dash.on == 0);
    mark = mark->next;
    cr_expect(mark->type == MARK_AREA && mark->points_n == 2 && mark->ink == INK_SHADE);
    mark = mark->next;
    cr_expect(mark->type == MARK_DOTS && mark->points_n == 1 && mark->size == 220);
    mark = mark->next;
    cr_expect(mark->type == MARK_CELLS && mark->cells.rows == 2 && mark->cells.columns == 1);
    cr_expect(mark->cells.levels == levels && mark->cells.ramp == RAMP_SIGNED);
    cr_expect_eq(memcmp(&mark->cells.box, &box, sizeof box), 0);
    mark = mark->next;
    cr_expect(mark->type == MARK_TEXT && mark->caption.at.x == 7 && mark->caption.at.y == 8);
    cr_expect(mark->caption.anchor == ANCHOR_END && mark->size == 1200);
    cr_expect_str_eq(mark->caption.text, "text");
    cr_expect(!mark->next && figure.last == mark && !figure.failed);
}

Test(figure, has_rules_and_boxes)
{
    const struct mark *rule =
        figure_rule(&figure, (struct point){1, 2}, (struct point){3, 4}, INK_RULE, 100);
    cr_assert(rule->type == MARK_LINE && rule->points_n == 2);
    cr_expect(rule->points[0].x == 1 && rule->points[0].y == 2);
    cr_expect(rule->points[1].x == 3 && rule->points[1].y == 4);
    const struct mark *box = figure_box(&figure, &(struct box){1, 2, 3, 4}, INK_PAPER);
    static const struct point corners[] = {{1, 2}, {3, 2}, {3, 4}, {1, 4}};
    cr_assert(box->type == MARK_AREA && box->points_n == 4);
    cr_expect_eq(memcmp(box->points, corners, sizeof corners), 0);
}

/* Whoever draws need not look: what is returned can be written to, and is never painted. */
Test(figure, fails_without_memory)
{
    arena_release(&arena);
    arena_init(&arena, 1);
    struct mark *mark = figure_line(&figure, NULL, 5, INK_AXIS, 100);
    mark->dash = (struct dash){100, 100};
    cr_expect(figure.failed);
    cr_expect_null(figure.first);
    cr_expect_null(figure_points(&figure, 1000));
}

Test(figure, fails_without_a_text)
{
    const struct mark *mark =
        figure_text(&figure, (struct point){0, 0}, ANCHOR_START, INK_TEXT, 1200, NULL);
    cr_expect(figure.failed);
    cr_expect_str_eq(mark->caption.text, "");
}
