// SPDX-License-Identifier: Apache-2.0
/*
 * selftest.c: ten golden numbers. The expected values were computed with mpmath at 80 digits, but
 * for the rotation, which is exact arithmetic on correctly rounded cosines in any case.
 */
#include "selftest.h"

#include <stdlib.h>

#include "posenc.h"

struct golden {
    const char *what, *spec;
    double position;
    size_t index; /* channel, pair or head */
    double (*compute)(const struct golden *row, const struct pe_plan *plan);
    double expected;
};

#define DIM_MAX 128

static double table_value(const struct golden *row, const struct pe_plan *plan)
{
    struct pe_positions at = {.axes = 1, .n = 1, .at = {&row->position}};
    double table[DIM_MAX];

    pe_table(plan, &at, PE_F64, table, DIM_MAX);
    return table[row->index];
}

/* PE(0).PE(position) */
static double dot_value(const struct golden *row, const struct pe_plan *plan)
{
    const double both[2] = {0, row->position};
    struct pe_positions at = {.axes = 1, .n = 2, .at = {both}};
    double table[2 * DIM_MAX];
    size_t dim = pe_spec_dim(pe_plan_spec(plan));

    pe_table(plan, &at, PE_F64, table, dim);
    return pe_dot(PE_F64, table, table + dim, dim);
}

static double slope_value(const struct golden *row, const struct pe_plan *plan)
{
    double slopes[DIM_MAX];

    pe_slopes(plan, PE_F64, slopes);
    return slopes[row->index];
}

static double wavelength_value(const struct golden *row, const struct pe_plan *plan)
{
    double wavelengths[DIM_MAX / 2] = {0};
    struct pe_frequencies out = {.dtype = PE_F64, .context = 1, .wavelength = wavelengths};

    pe_frequencies(plan, &out);
    return wavelengths[row->index];
}

/* The vector 1, 2, 3, 4 in f32, rotated. */
static double rotated_value(const struct golden *row, const struct pe_plan *plan)
{
    struct pe_positions at = {.axes = 1, .n = 1, .at = {&row->position}};
    float x[4] = {1, 2, 3, 4};
    const size_t shape[2] = {1, 4};
    size_t work_bytes = (pe_apply_work_bytes(plan) + 63) / 64 * 64;
    void *work = aligned_alloc(64, work_bytes);
    struct pe_view view;

    if (work && pe_view_init(&view, PE_F32, x, "td", shape, 2, 1))
        pe_apply(&(struct pe_apply){.plan = plan,
                                    .positions = &at,
                                    .positions_n = 1,
                                    .in = &view,
                                    .out = &view,
                                    .work = work});
    free(work);
    return x[row->index];
}

/* The length of the test vector q, seed 0. */
static double length_value(const struct golden *row, const struct pe_plan *plan)
{
    double q[DIM_MAX];
    size_t dim = pe_spec_dim(pe_plan_spec(plan));

    (void)row;
    pe_fill_random(0, "q", PE_CONTENT_NORMAL, 1, 0, dim, PE_F64, q);
    return pe_norm(PE_F64, q, dim);
}

static const struct golden rows[SELFTEST_N] = {
    {"sin(1)", "sinusoidal:dim=64", 1, 0, table_value, 0x1.aed548f090ceep-1},
    {"position 1/3", "sinusoidal:dim=64", 0x1.5555555555555p-2, 6, table_value,
     0x1.1eee5a7a11fbap-3},
    {"position 2^53", "rope:dim=64", 0x1p53, 11, table_value, 0x1.787604681da2ap-1},
    {"position -2^31", "rope:dim=64", -0x1p31, 5, table_value, -0x1.f25c98619f473p-3},
    {"base 500000", "rope:dim=128,base=500000", 131071, 80, table_value, -0x1.735a244eb7a72p-3},
    {"PE(0).PE(1)", "sinusoidal:dim=64", 1, 0, dot_value, 30.916831661619025},
    {"wavelength", "sinusoidal:dim=64", 1, 31, wavelength_value, 47117.24278016739591},
    {"slope", "alibi:heads=12", 1, 8, slope_value, 0x1.6a09e667f3bcdp-1},
    {"rotation", "rope:dim=4,layout=half", 1, 0, rotated_value, (double)-1.9841106f},
    {"length", "none:dim=64", 0, 0, length_value, 7.6330500742064461},
};

static bool row_is_right(const struct golden *row)
{
    struct pe_positions at = {.axes = 1, .n = 1, .at = {&row->position}};
    struct pe_faults faults = {0};
    struct pe_plan *plan = NULL;
    struct pe_spec spec;
    double got = 0;

    if (!pe_spec_parse(row->spec, &spec, &faults))
        return false;
    if (pe_spec_finish(&spec, &faults) && pe_plan_new(&spec, &at, &plan) == PE_OK)
        got = row->compute(row, plan);
    pe_plan_free(plan);
    pe_spec_release(&spec);
    return got == row->expected;
}

size_t selftest_run(const char **wrong)
{
    size_t right = 0;

    *wrong = NULL;
    for (size_t i = 0; i < SELFTEST_N; i++) {
        if (row_is_right(&rows[i]))
            right++;
        else if (!*wrong)
            *wrong = rows[i].what;
    }
    return right;
}
