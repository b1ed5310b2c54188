// SPDX-License-Identifier: Apache-2.0
/*
 * test_turning.c: speeds of pairs from angles of which only the remainder modulo 2 pi is known,
 * made of a speed that the test knows.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "identify/elementary.h"
#include "identify/turning.h"

#define ROWS 64

static const struct pe__noise plain = {0x1p-50, 0x1p-50};

/* One pair at so many places, in an order that is not theirs. */
struct turned {
    double at[ROWS], angle[ROWS], weight[ROWS];
    uint32_t order[ROWS];
    size_t n;
    struct pe__phases phases;
};

static void turn(struct turned *turned, double speed, double angle0, const double *at, size_t n)
{
    turned->n = n;
    for (size_t i = 0; i < n; i++) {
        size_t row = (i * 7 + 3) % n; /* n is no multiple of 7 */
        turned->at[row] = at[i];
        turned->angle[row] = pe__wrap(speed * at[i] + angle0);
        turned->weight[row] = 1;
        turned->order[i] = (uint32_t)row;
    }
    turned->phases = (struct pe__phases){
        .rows = n, .pairs = 1, .weight = turned->weight, .angle = turned->angle};
}

static struct pe__turning line_of(const struct turned *turned, const struct pe__noise *noise)
{
    return pe__turning_of(&turned->phases, 0, turned->at, turned->order, turned->n, noise);
}

static void count_from(double *at, size_t n, double first, double step)
{
    for (size_t i = 0; i < n; i++)
        at[i] = first + step * (double)i;
}

Test(turning, is_as_fast_as_the_angles_say)
{
    static const double speeds[] = {1, -1, 0.5, 1e-3, -1e-5, 3, 0};
    double at[ROWS];
    struct turned turned;
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        for (size_t n = 2; n <= 32; n *= 2) {
            count_from(at, n, -3, 1);
            turn(&turned, speeds[i], 0.25, at, n);
            struct pe__turning line = line_of(&turned, &plain);
            cr_expect(fabs(line.speed - speeds[i]) <= 4 * line.error, "%g by %zu: %.17g, %g",
                      speeds[i], n, line.speed, line.error);
            cr_expect(line.error < 1e-14);
            cr_expect_eq(line.step, 1);
            cr_expect(line.worst < 10, "%g by %zu: %g", speeds[i], n, line.worst);
            cr_expect(fabs(pe__wrap(line.angle0 - speeds[i] * line.p0 - 0.25)) < 1e-14);
        }
}

/* Two places next to each other say how fast; one far away, to how many digits. */
Test(turning, is_known_the_better_the_further_places_are)
{
    static const double at[] = {0, 1, 40, 1000, 30000};
    static const struct pe__noise rounded = {1e-3, 1e-7};
    struct turned turned;
    double before = INFINITY;
    for (size_t n = 2; n <= 5; n++) {
        turn(&turned, 0.8, 0, at, n);
        struct pe__turning line = line_of(&turned, &rounded);
        cr_expect(line.error < before / 5, "%zu places: %g", n, line.error);
        cr_expect(fabs(line.speed - 0.8) <= 4 * line.error);
        before = line.error;
    }
    cr_expect(before < 1e-6);
}

/* Noise is what the error says. */
Test(turning, is_off_by_its_error_at_most)
{
    static const struct pe__noise rounded = {1e-2, 0};
    double at[ROWS], worst = 0;
    struct turned turned;
    for (uint64_t k = 0; k < 500; k++) {
        count_from(at, 30, 0, 1);
        turn(&turned, 0.3, 1, at, 30);
        for (size_t i = 0; i < 30; i++)
            turned.angle[i] += 1e-2 * (double)(int64_t)pe_draw(k, "noise", i + 1) * 0x1p-63;
        struct pe__turning line = line_of(&turned, &rounded);
        worst = fmax(worst, fabs(line.speed - 0.3) / line.error);
        cr_expect(line.worst < 4, "noise of one unit: %g", line.worst);
    }
    cr_expect(worst > 0.1 && worst < 4, "%g", worst);
}

/* Steps that are so long that full turns are lost: modulo 2 pi over the step. */
Test(turning, of_long_steps_is_known_up_to_full_turns)
{
    static const double at[] = {0, 16, 32, 64};
    struct turned turned;
    turn(&turned, 1, 0, at, 4);
    struct pe__turning line = line_of(&turned, &plain);
    cr_expect_eq(line.step, 16);
    cr_expect(fabs(pe__wrap((line.speed - 1) * 16)) < 1e-12, "%.17g", line.speed);
    cr_expect(fabs(line.speed) * 16 <= PE__PI + 1e-12, "of all the slowest: %.17g", line.speed);
}

Test(turning, is_no_line_where_angles_are_none)
{
    static const double at[] = {0, 1, 2, 3, 4, 5};
    struct turned turned;
    turn(&turned, 0.3, 0, at, 6);
    turned.angle[turned.order[4]] += 1;
    cr_expect(line_of(&turned, &plain).worst > 1e6);
    turned.weight[turned.order[4]] = 0; /* and nothing is known there */
    struct pe__turning line = line_of(&turned, &plain);
    cr_expect(line.worst < 10 && fabs(line.speed - 0.3) < 1e-14);
}

/* In one place no speed is known, but whether the angles are one. */
Test(turning, needs_two_places)
{
    static const double at[] = {5, 5, 5};
    struct turned turned;
    turn(&turned, 0.3, 0, at, 3);
    struct pe__turning line = line_of(&turned, &plain);
    cr_expect(isinf(line.error) && isinf(line.step));
    cr_expect(line.worst < 1);
    cr_expect(line.p0 == 5 && fabs(line.angle0 - 1.5) < 1e-15);
    turned.angle[1] += 0.1;
    cr_expect(line_of(&turned, &plain).worst > 1e6);
}

/* ---- From a place where the angle is 0 ------------------------------------------------------ */

static void begin_at(struct pe__turning *line, double origin, const struct turned *turned)
{
    pe__turning_from(line, origin, &turned->phases, 0, turned->at, turned->order, turned->n,
                     &plain);
}

/* The way from the origin says more than the places alone; from another one the angles are none. */
Test(turning, begins_where_the_angle_is_0)
{
    static const double at[] = {1000, 1001, 1002, 1003};
    struct turned turned;
    turn(&turned, 0.01, -0.01 * 3, at, 4);
    struct pe__turning free_line = line_of(&turned, &plain), line = free_line;
    begin_at(&line, 3, &turned);
    cr_expect(line.worst < 10, "%g", line.worst);
    cr_expect(line.error < free_line.error / 50, "%g, %g", line.error, free_line.error);
    cr_expect(fabs(line.speed - 0.01) <= 4 * line.error, "%.17g, %g", line.speed, line.error);
    cr_expect(line.p0 == 3 && line.angle0 == 0);
    line = free_line;
    begin_at(&line, 4, &turned);
    cr_expect(line.worst > 1e6, "%g", line.worst);
}

/* One place: the speed that makes less than half a turn. */
Test(turning, of_one_place_is_that_of_less_than_half_a_turn)
{
    static const double at[] = {5};
    struct turned turned;
    turn(&turned, 0.3, 0, at, 1);
    struct pe__turning line = line_of(&turned, &plain);
    begin_at(&line, 0, &turned);
    cr_expect_float_eq(line.speed, 0.3, 1e-14);
    cr_expect_eq(line.step, 5);
    turn(&turned, 0.3 + 2 * PE__PI / 5, 0, at, 1);
    line = line_of(&turned, &plain);
    begin_at(&line, 0, &turned);
    cr_expect_float_eq(line.speed, 0.3, 1e-14, "a turn more cannot be seen");
}
