// SPDX-License-Identifier: Apache-2.0
/*
 * test_place.c: position_scale, shift, clamp and max_positions: places against one expression of
 * MPFR's, what cannot be kept exactly, tables and scores of them.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

#include "apply_to.h"
#include "place.h"
#include "scores_setup.h"

#define N(array) (sizeof(array) / sizeof *(array))
#define BITS     4000

/* clamp(scale * p + shift) without any rounding. */
static void place_exactly(const struct pe__placing *placing, double p, mpfr_t place)
{
    mpfr_set_d(place, p, MPFR_RNDN);
    mpfr_mul_d(place, place, placing->scale, MPFR_RNDN);
    mpfr_add_d(place, place, placing->shift, MPFR_RNDN);
    if (mpfr_cmp_d(place, placing->clamp) > 0)
        mpfr_set_d(place, placing->clamp, MPFR_RNDN);
    if (mpfr_cmp_d(place, -placing->clamp) < 0)
        mpfr_set_d(place, -placing->clamp, MPFR_RNDN);
}

Test(place, is_exact_or_says_that_it_is_not)
{
    static const double positions[] = {0,      1,    -1,     7,       0.1,     -1234567.1, 0x1p53,
                                       1e-300, 1e-9, 4095.5, 1.0 / 3, 0x1p-60, -0x1p53};
    static const double scales[] = {1, 2, -0.5, 0.1, 1.0 / 3, 1000, 0, -1e6, 0x1p-20};
    static const double shifts[] = {0, 1, -0.1, 1e9, 0x1p53, 1e-300, -7};
    static const double clamps[] = {INFINITY, 2, 0.1, 1e6};
    size_t exact_n = 0;
    mpfr_t wanted, got;
    mpfr_inits2(BITS, wanted, got, (mpfr_ptr)NULL);
    for (size_t i = 0; i < N(positions) * N(scales) * N(shifts) * N(clamps); i++) {
        double p = positions[i % N(positions)];
        struct pe__placing placing = {scales[i / N(positions) % N(scales)],
                                      shifts[i / N(positions) / N(scales) % N(shifts)],
                                      clamps[i / N(positions) / N(scales) / N(shifts)]};
        struct pe__pos place;
        bool exact = pe__place(&placing, p, &place);
        place_exactly(&placing, p, wanted);
        mpfr_set_d(got, place.hi, MPFR_RNDN);
        mpfr_add_d(got, got, place.lo, MPFR_RNDN);
        bool same_place = mpfr_cmp(got, wanted) == 0;
        bool tiny = fabs(p * placing.scale) < 0x1p-800; /* not looked at closely */
        bool far = mpfr_cmpabs(wanted, got) != 0 || fabs(place.hi) > 0x1p54;
        cr_assert(exact ? same_place : far || tiny, "%a * %a + %a to %a", p, placing.scale,
                  placing.shift, placing.clamp);
        exact_n += exact;
    }
    cr_expect_gt(exact_n, 2000, "%zu", exact_n);
    mpfr_clears(wanted, got, (mpfr_ptr)NULL);
}

Test(place, is_what_tables_are_made_at)
{
    static const double at[] = {0, 1, 2, -3, 4095, 0.1, 1000003};
    static const struct {
        const char *text;
        struct pe__placing placing;
    } cases[] = {
        {"rope:dim=4,position_scale=0.5", {0.5, 0, INFINITY}},
        {"rope:dim=4,position_scale=0.1", {0.1, 0, INFINITY}},
        {"rope:dim=4,position_scale=-3,shift=0.25", {-3, 0.25, INFINITY}},
        {"rope:dim=4,clamp=2", {1, 0, 2}},
        {"rope:dim=4,position_scale=2,shift=-1,clamp=100.5", {2, -1, 100.5}},
        {"sinusoidal:dim=4,position_scale=2,shift=-1,clamp=100.5", {2, -1, 100.5}},
    };
    struct pe_positions positions = positions_of(at, N(at));
    mpfr_t angle, c, s;
    mpfr_inits2(BITS, angle, c, s, (mpfr_ptr)NULL);
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_plan *plan = plan_from(cases[i].text, &positions);
        struct pe_faults faults = {0};
        double table[N(at) * 4];
        cr_assert(pe_positions_check(pe_plan_spec(plan), &positions, "positions", &faults));
        pe_table(plan, &positions, PE_F64, table, 4);
        for (size_t j = 0; j < 2 * N(at); j++) {
            const double *row = &table[2 * j];
            bool swapped = cases[i].text[0] == 's';
            place_exactly(&cases[i].placing, at[j / 2], angle);
            if (j % 2)
                mpfr_div_ui(angle, angle, 100, MPFR_RNDN);
            mpfr_sin_cos(s, c, angle, MPFR_RNDN);
            cr_expect_eq(row[swapped], mpfr_get_d(c, MPFR_RNDN), "%s: %zu", cases[i].text, j);
            cr_expect_eq(row[!swapped], mpfr_get_d(s, MPFR_RNDN), "%s: %zu", cases[i].text, j);
        }
        pe_plan_free(plan);
    }
    mpfr_clears(angle, c, s, (mpfr_ptr)NULL);
}

/* Scaled positions score as scaled offsets do; with a clamp places count, so that those beyond it
 * all score alike. */
Test(place, is_where_scores_are_taken)
{
    static struct setup plain, scaled, clamped;
    setup_init(&plain, 8, 20);
    setup_init(&scaled, 8, 20);
    for (size_t o = 0; o < 20; o++)
        plain.offsets[o] = (double)o * 4;
    cr_assert_eq(run(&plain, "rope:dim=8"), PE_OK);
    cr_assert_eq(run(&scaled, "rope:dim=8,position_scale=4,shift=0.5"), PE_OK);
    for (size_t i = 0; i < 3 * 20; i++)
        cr_expect(same(plain.scores[i], scaled.scores[i]), "%zu", i);

    setup_init(&plain, 8, 20);
    setup_init(&clamped, 8, 20);
    cr_assert_eq(run(&plain, "rope:dim=8"), PE_OK);
    cr_assert_eq(run(&clamped, "rope:dim=8,clamp=8"), PE_OK);
    for (size_t o = 0; o < 20; o++) { /* the query at 0, 8 and 24, which is 8 */
        cr_expect_float_eq(clamped.scores[o], plain.scores[o < 8 ? o : 8], 1e-14, "%zu", o);
        cr_expect_float_eq(clamped.scores[20 + o], plain.scores[0], 1e-14, "%zu", o);
        cr_expect_float_eq(clamped.scores[40 + o], plain.scores[0], 1e-14, "%zu", o);
    }
}

Test(place, that_is_in_no_row_is_refused)
{
    static const struct {
        const char *text;
        double at;
        const char *says;
    } cases[] = {
        {"rope:max_positions=8", 7, NULL},
        {"rope:max_positions=8", 8,
         "position 8 is in no row of a table with max_positions=8: rows are the whole numbers 0 to "
         "7"},
        {"rope:max_positions=8", 0.5, "position 0.5 is in no row of a table with max_positions=8"},
        {"rope:max_positions=8", -1, "position -1 is in no row"},
        {"rope:max_positions=8,shift=1", 7, "position 7 is in no row"},
        {"rope:max_positions=8,shift=1", -1, NULL},
        {"rope:max_positions=8,clamp=7", 1000, NULL},
        {"sinusoidal:max_positions=8", 9, "position 9 is in no row"},
        {"rope:max_positions=8", NAN, NULL},
        {"rope:position_scale=0.1", 1234567.1, NULL},
        {"rope:position_scale=0.1,shift=1e9", 1234567.1,
         "position 1234567.1 times position_scale 0.1 plus shift 1000000000 is beyond 2^54 or has "
         "more than about 106 binary digits"},
        {"rope:position_scale=1000", 0x1p53, "is beyond 2^54"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_positions one = positions_of(&cases[i].at, 1);
        struct pe_plan *plan = plan_from(cases[i].text, &(struct pe_positions){.axes = 1});
        struct pe_faults faults = {0};
        bool ok = pe_positions_check(pe_plan_spec(plan), &one, "positions", &faults);
        cr_expect(ok == (cases[i].says == NULL), "%s: %g", cases[i].text, cases[i].at);
        cr_expect(ok || strstr(faults.item[0].detail, cases[i].says), "%s", faults.item[0].detail);
        pe_plan_free(plan);
    }
}
