// SPDX-License-Identifier: Apache-2.0
/* test_svg.c: what each mark becomes, and that texts stay texts. (tests/e2e/pictures.py parses
 * whole ones.) */
#include <criterion/criterion.h>
#include <string.h>

#include "picture.h"

static struct arena arena;
static struct figure figure;
static struct buf out;

static void begin(void)
{
    arena_init(&arena, 1 << 20);
    figure_init(&figure, &arena, 300, 200);
    figure.title = "T";
    figure.describes = "D";
    buf_init(&out, 1 << 20);
}

static void end(void)
{
    buf_release(&out);
    arena_release(&arena);
}

TestSuite(svg, .init = begin, .fini = end);

/* The SVG has this piece of text. */
static void has(const char *piece)
{
    if (out.len == 0) {
        picture_write_svg(&out, &figure);
        buf_putc(&out, '\0');
    }
    cr_assert(!out.failed);
    cr_expect(strstr(out.data, piece), "no %s in\n%s", piece, out.data);
}

Test(svg, is_an_image_with_a_title)
{
    has("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"posenc-light-default\" width=\"300\" "
        "height=\"200\" viewBox=\"0 0 300 200\" role=\"img\">\n<title>T</title>\n<desc>D</desc>\n");
    has("<path class=\"f paper\" d=\"M0 0H300V200H0Z\"/>\n</svg>\n");
    cr_expect_null(strstr(out.data, "@media"));
}

Test(svg, follows_its_reader_s_theme)
{
    figure.look.theme = THEME_AUTO;
    has(".posenc-auto-default .paper{color:#ffffff}");
    has("@media(prefers-color-scheme:dark){\n.posenc-auto-default .paper{color:#16181d}");
}

Test(svg, escapes_texts)
{
    figure.title = "<b a=\"1\">&</b>";
    figure_text(&figure, (struct point){1000, 2050}, ANCHOR_MIDDLE, INK_TEXT, 1200,
                "</text>\x01\xef\xbf\xbf&");
    has("<title>&lt;b a=&quot;1&quot;&gt;&amp;&lt;/b&gt;</title>");
    has("<text class=\"text\" x=\"10\" y=\"20.5\" font-size=\"12\" text-anchor=\"middle\">"
        "&lt;/text&gt;\xef\xbf\xbd\xef\xbf\xbd&amp;</text>");
}

Test(svg, draws_lines_areas_and_dots)
{
    static const struct point points[] = {{0, 0}, {1005, -250}, {3000, 1}};
    struct mark *line = figure_line(&figure, points, 3, INK_SERIES + 2, 180);
    line->dash = (struct dash){540, 1000};
    line->name = "a & b";
    figure_area(&figure, points, 3, INK_SHADE);
    figure_dots(&figure, points + 1, 1, INK_AXIS, 220);
    has("<path class=\"l d s2\" stroke-width=\"1.8\" stroke-dasharray=\"5.4 10\" "
        "d=\"M0 0L10.05 -2.5 30 0.01\"><title>a &amp; b</title></path>");
    has("<path class=\"f shade\" d=\"M0 0L10.05 -2.5 30 0.01Z\"/>");
    has("<g class=\"f axis\"><circle cx=\"10.05\" cy=\"-2.5\" r=\"2.2\"/></g>");
}

Test(svg, gathers_cells_by_their_level)
{
    static const uint8_t levels[] = {0, 0, 255, 255, 0, 255};
    figure_cells(&figure, &(struct box){1000, 2000, 4000, 4000}, 2, 3, levels, RAMP_RISING);
    has("<g shape-rendering=\"crispEdges\" transform=\"translate(10 20) scale(10.000000 "
        "10.000000)\">\n"
        "<path fill=\"#00224e\" d=\"M0 0h2v1h-2zM1 1h1v1h-1z\"/>\n"
        "<path fill=\"#fee838\" d=\"M2 0h1v1h-1zM0 1h1v1h-1zM2 1h1v1h-1z\"/>\n</g>");
}

Test(svg, fails_when_the_figure_has)
{
    arena_release(&arena);
    arena_init(&arena, 100);
    for (int i = 0; i < 10; i++)
        figure_rule(&figure, (struct point){0, 0}, (struct point){1, 1}, INK_AXIS, 100);
    cr_expect(figure.failed);
    picture_write_svg(&out, &figure);
    cr_expect(out.failed);
    figure.first = NULL;
}
