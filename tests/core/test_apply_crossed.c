// SPDX-License-Identifier: Apache-2.0
/*
 * test_apply_crossed.c: vectors multiplied by a table of another layout (pair_table): the numbers
 * published for V-JEPA 2, the formula channel by channel, scores of what comes out.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "apply_to.h"
#include "scores_setup.h"

#define N(array) (sizeof(array) / sizeof *(array))
#define DIM      300
#define PAIRS    (DIM / 2)

Test(crossed, is_what_v_jepa_2_does)
{
    static const double three[] = {3};
    struct pe_positions one = positions_of(three, 1);
    const double wanted[] = {-1.272232513, 2.206193185, 2.8786681,   4.008981987,
                             -5.796682531, 7.209619968, 6.756886235, 8.020963969};
    double x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    apply_rows("rope:dim=8,pair_table=tiled", &one, false, 8, PE_F64, x, PE_F64, x);
    for (size_t i = 0; i < 8; i++)
        cr_expect_float_eq(x[i], wanted[i], 5e-10, "%zu: %.12g", i, x[i]);
}

/* y = x C + rotated(x) S, C and S at full width. */
static void check_formula(const char *spec, bool half, bool tiled)
{
    static const double at[] = {0, 1, 77, -4095};
    struct pe_positions positions = positions_of(at, N(at));
    static double x[N(at) * DIM], y[N(at) * DIM], c[N(at) * PAIRS], s[N(at) * PAIRS];
    static float narrow[N(at) * DIM];
    struct pe_plan *plan = plan_from("rope:dim=300", &positions);
    pe_cos_sin(plan, &positions, PE_F64, c, s);
    pe_plan_free(plan);
    pe_fill_random(1, "x", PE_CONTENT_NORMAL, 1, 0, N(at) * DIM, PE_F64, x);
    apply_rows(spec, &positions, false, DIM, PE_F64, x, PE_F64, y);
    apply_rows(spec, &positions, false, DIM, PE_F64, x, PE_F32, narrow);
    for (size_t i = 0; i < N(at) * DIM; i++) {
        size_t row = i / DIM, channel = i % DIM;
        size_t pair = row * PAIRS + (tiled ? channel % PAIRS : channel / 2);
        bool second = half ? channel >= PAIRS : channel % 2 == 1;
        size_t other = half ? (second ? i - PAIRS : i + PAIRS) : (second ? i - 1 : i + 1);
        double wanted = x[i] * c[pair] + (second ? x[other] : -x[other]) * s[pair];
        cr_expect_float_eq(y[i], wanted, 1e-14, "%s: %zu", spec, i);
        cr_expect_eq(narrow[i], (float)y[i], "%s: f32 %zu", spec, i);
    }
}

Test(crossed, takes_the_table_channel_by_channel)
{
    check_formula("rope:dim=300,pair_table=tiled", false, true);
    check_formula("rope:dim=300,layout=half,pair_table=repeated", true, false);
    check_formula("rope:dim=300,pair_table=repeated", false, false); /* what the layout needs */
    check_formula("rope:dim=300,layout=half,pair_table=tiled", true, true);
}

/* Where both stand counts: the score is that of the encoded vectors. */
Test(crossed, scores_what_comes_out)
{
    static const char spec[] = "rope:dim=16,pair_table=tiled";
    static struct setup setup;
    setup_init(&setup, 16, 5);
    cr_assert_eq(run(&setup, spec), PE_OK);
    for (size_t i = 0; i < ANCHORS_N * 5; i++) {
        double anchor = setup.anchors[i / 5], q_at[] = {anchor},
               k_at[] = {anchor + (double)(i % 5)};
        struct pe_positions q_position = positions_of(q_at, 1), k_position = positions_of(k_at, 1);
        double q[16], k[16];
        apply_rows(spec, &q_position, false, 16, PE_F64, setup.q, PE_F64, q);
        apply_rows(spec, &k_position, false, 16, PE_F64, setup.k, PE_F64, k);
        cr_expect_float_eq(setup.scores[i], pe_dot(PE_F64, q, k, 16), 1e-13, "%zu", i);
        cr_expect_float_eq(setup.norm_k_after[i], pe_norm(PE_F64, k, 16), 1e-13, "%zu", i);
    }
}
