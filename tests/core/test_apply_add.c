// SPDX-License-Identifier: Apache-2.0
/*
 * test_apply_add.c: adding a position's row against its definition: f64 as the exact sum rounded
 * once, the other dtypes as a double sum with the correctly rounded row.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/apply_to.h"
#include "ref/ref_trig.h"

#define PRECISION 500
#define DIM_MAX   300

/* An encoding that is added, and its row by definition: channel to precision PRECISION. */
typedef void row_fn(size_t dim, double p, size_t channel, mpfr_t value);

struct scheme {
    const char *spec;
    size_t dim;
    row_fn *value;
};

static void wave(bool is_sine, double p, size_t numerator, size_t denominator, mpfr_t value)
{
    mpfr_t angle;
    mpfr_init2(angle, PRECISION);
    ref_frequency(angle, 1e4, numerator, denominator);
    mpfr_mul_d(angle, angle, p, MPFR_RNDN);
    (is_sine ? mpfr_sin : mpfr_cos)(value, angle, MPFR_RNDN);
    mpfr_clear(angle);
}

/* sin in even channels, cos in odd ones; the last channel of an odd dim is zero. */
static void interleaved(size_t dim, double p, size_t channel, mpfr_t value)
{
    if (channel == dim / 2 * 2)
        mpfr_set_zero(value, 1);
    else
        wave(channel % 2 == 0, p, channel / 2 * 2, dim, value);
}

/* All sines before all cosines. */
static void halves(size_t dim, double p, size_t channel, mpfr_t value)
{
    size_t half = dim / 2;
    wave(channel < half, p, channel % half * 2, dim, value);
}

/* (p + 0.5) / 3 in every channel. */
static void third(size_t dim, double p, size_t channel, mpfr_t value)
{
    (void)dim;
    (void)channel;
    mpfr_set_d(value, p, MPFR_RNDN);
    mpfr_add_d(value, value, 0.5, MPFR_RNDN);
    mpfr_div_ui(value, value, 3, MPFR_RNDN);
}

static const struct scheme schemes[] = {
    {"sinusoidal:dim=16", 16, interleaved},
    {"sinusoidal:dim=17", 17, interleaved},
    {"sinusoidal:dim=1", 1, interleaved},
    {"sinusoidal:dim=300,layout=half", 300, halves},
    {"integer:dim=5,normalize_by=3,shift=0.5", 5, third},
};
#define SCHEMES_N (sizeof schemes / sizeof schemes[0])

static const double places[] = {0,    1,      2,      5,      -1,         0.5,
                                1e-3, 131071, 0x1p40, 0x1p52, -0x1.8p-30, 1e-200};
#define TOKENS_N (sizeof places / sizeof places[0])

/* x plus or minus the value, by the definition of the dtype's arithmetic. */
static double reference_sum(enum pe_dtype dtype, double x, mpfr_srcptr value, bool inverse)
{
    if (dtype != PE_F64) {
        double row = ref_round(PE_F64, value);
        return inverse ? x - row : x + row;
    }
    mpfr_t sum;
    mpfr_init2(sum, 2200); /* from 2^-1074 to 2^1024 */
    mpfr_set_d(sum, x, MPFR_RNDN);
    (inverse ? mpfr_sub : mpfr_add)(sum, sum, value, MPFR_RNDN);
    double result = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clear(sum);
    return result;
}

static void expect_reference(const struct scheme *scheme, enum pe_dtype dtype, bool inverse,
                             const void *x)
{
    static double got[TOKENS_N * DIM_MAX];
    struct pe_positions positions = positions_of(places, TOKENS_N);
    apply_rows(scheme->spec, &positions, inverse, scheme->dim, dtype, x, dtype, got);
    mpfr_t value;
    mpfr_init2(value, PRECISION);
    for (size_t i = 0; i < TOKENS_N * scheme->dim; i++) {
        scheme->value(scheme->dim, places[i / scheme->dim], i % scheme->dim, value);
        double wanted[1];
        pe_store(dtype, wanted, 0, reference_sum(dtype, pe_load(dtype, x, i), value, inverse));
        cr_expect_eq(pe_load(dtype, got, i), pe_load(dtype, wanted, 0),
                     "%s, %s: token %zu, channel %zu: %a", scheme->spec, pe_dtype_name(dtype),
                     i / scheme->dim, i % scheme->dim, pe_load(dtype, got, i));
    }
    mpfr_clear(value);
}

Test(apply_add, random_rows)
{
    static double x[TOKENS_N * DIM_MAX];
    for (size_t i = 0; i < SCHEMES_N; i++)
        for (int d = 0; d < PE_I64; d++)
            for (int inverse = 0; inverse < 2; inverse++) {
                enum pe_dtype dtype = (enum pe_dtype)d;
                size_t count = TOKENS_N * schemes[i].dim;
                pe_fill_random(0, "x", PE_CONTENT_NORMAL, 1, 0, count, dtype, x);
                expect_reference(&schemes[i], dtype, inverse, x);
            }
}

/* Elements far larger and smaller than the row, zero, and the row's own negative, where what is
 * left is the part of the value behind the double. */
Test(apply_add, hard_f64_rows)
{
    static const double sizes[] = {0,       -0.0,    0x1p-1074, 0x1p-1022, 0x1p-60, 0x1p54,
                                   -0x1p53, 0x1p900, 0x1p1023,  -0x1p-53,  0x1p52,  1};
    static double x[TOKENS_N * DIM_MAX];
    mpfr_t value;
    mpfr_init2(value, PRECISION);
    for (size_t i = 0; i < SCHEMES_N; i++)
        for (uint64_t k = 0; k < 4; k++) {
            size_t count = TOKENS_N * schemes[i].dim;
            for (size_t j = 0; j < count; j++) {
                schemes[i].value(schemes[i].dim, places[j / schemes[i].dim], j % schemes[i].dim,
                                 value);
                size_t pick = pe_draw(k, "pick", j) % 16;
                double size = sizes[pick % 12];
                double row = ref_round(PE_F64, value);
                x[j] = pick < 12 ? size : k % 2 ? row : -row;
            }
            expect_reference(&schemes[i], PE_F64, k % 2, x);
        }
    mpfr_clear(value);
}

/* Exact rows: the sum of two doubles, also where it is a tie. */
Test(apply_add, exact_rows)
{
    static const double table[] = {1, 0x1p-53, 3, -0.1, 0x1.8p-53, 0, 1e300, 7, 8, 9, 10, 11};
    static const double x[] = {0x1p53, 1, -3, 0.3, 1, -0.0, 1e300, 1, 1, 1, 1, 1};
    static const double positions_at[] = {0, 1};
    struct pe_positions positions = positions_of(positions_at, 2);
    struct pe_spec spec;
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse("learned:dim=6", &spec, &faults));
    spec.table = table;
    spec.table_rows = 2;
    spec.table_cols = 6;
    cr_assert(pe_spec_finish(&spec, &faults), "%s", faults.item[0].detail);
    struct pe_plan *plan;
    cr_assert_eq(pe_plan_new(&spec, &positions, &plan), PE_OK);
    double y[12];
    static const size_t shape[] = {2, 6};
    struct pe_view in;
    struct pe_view out;
    cr_assert(pe_view_init(&in, PE_F64, (void *)x, "td", shape, 2, 1));
    cr_assert(pe_view_init(&out, PE_F64, y, "td", shape, 2, 1));
    void *work = aligned_alloc(64, (pe_apply_work_bytes(plan) + 63) / 64 * 64);
    pe_apply(&(struct pe_apply){plan, &positions, 1, false, &in, &out, work, NULL, false});
    for (size_t i = 0; i < 12; i++)
        cr_expect_eq(y[i], x[i] + table[i], "element %zu: %a", i, y[i]);
    pe_apply(&(struct pe_apply){plan, &positions, 1, true, &in, &out, work, NULL, false});
    for (size_t i = 0; i < 12; i++)
        cr_expect_eq(y[i], x[i] - table[i], "element %zu: %a", i, y[i]);
    free(work);
    pe_plan_free(plan);
    pe_spec_release(&spec);
}

Test(apply_add, not_finite_as_ieee_says)
{
    static const double x[] = {INFINITY, -INFINITY, NAN, 0};
    static const double one = 1;
    struct pe_positions positions = positions_of(&one, 1);
    for (int d = 0; d < PE_I64; d++) {
        double in[4];
        double out[4];
        for (size_t i = 0; i < 4; i++)
            pe_store((enum pe_dtype)d, in, i, x[i]);
        apply_rows("sinusoidal:dim=4", &positions, false, 4, (enum pe_dtype)d, in, (enum pe_dtype)d,
                   out);
        cr_expect_eq(pe_load((enum pe_dtype)d, out, 0), INFINITY);
        cr_expect_eq(pe_load((enum pe_dtype)d, out, 1), -INFINITY);
        cr_expect(isnan(pe_load((enum pe_dtype)d, out, 2)));
        cr_expect(isfinite(pe_load((enum pe_dtype)d, out, 3)));
    }
}
