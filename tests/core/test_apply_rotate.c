// SPDX-License-Identifier: Apache-2.0
/*
 * test_apply_rotate.c: rotation against its definition: angles by MPFR, f64 as the exact result
 * rounded once, the other dtypes as the stated double operations with MPFR's cos and sin; then the
 * properties a rotation has.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/apply_to.h"
#include "ref/ref_trig.h"

#define PRECISION 500
#define DIM_MAX   264

enum split { ONE_AXIS, BLOCKS, ALTERNATE };

/* A rotating encoding, once as text and once as what that text means. */
struct scheme {
    const char *spec;
    size_t dim, rotary;
    bool half;
    double base;
    enum split split;
    double shift, turn; /* direction over factor */
};

static const struct scheme schemes[] = {
    {"rope:dim=8", 8, 8, false, 1e4, ONE_AXIS, 0, 1},
    {"rope:dim=8,layout=half", 8, 8, true, 1e4, ONE_AXIS, 0, 1},
    {"rope:dim=22,rotary_dim=14", 22, 14, false, 1e4, ONE_AXIS, 0, 1},
    {"rope:dim=64,rotary_dim=36,layout=half,base=500000", 64, 36, true, 5e5, ONE_AXIS, 0, 1},
    {"rope:dim=10,direction=-1,shift=0.75", 10, 10, false, 1e4, ONE_AXIS, 0.75, -1},
    {"rope:dim=12,layout=half,scaling=linear,factor=8", 12, 12, true, 1e4, ONE_AXIS, 0, 0.125},
    {"rope:dim=264,layout=half", 264, 264, true, 1e4, ONE_AXIS, 0, 1}, /* two blocks of pairs */
    {"rope2d:dim=16", 16, 16, false, 1e4, BLOCKS, 0, 1},
    {"rope2d:dim=20,rotary_dim=16,layout=half,base=100", 20, 16, true, 100, BLOCKS, 0, 1},
    {"rope2d:dim=16,layout=half,axes_split=alternate", 16, 16, true, 1e4, ALTERNATE, 0, 1},
    {"rope2d:dim=24,axes_split=alternate,direction=-1", 24, 24, false, 1e4, ALTERNATE, 0, -1},
};
#define SCHEMES_N (sizeof schemes / sizeof schemes[0])

/* Tokens at easy and hard places; the second list is the column of two-dimensional schemes. */
static const double rows[] = {0,      1,      2,      5,          -1, 0.5,   1e-3,
                              131071, 0x1p40, 0x1p53, -0x1.8p-30, 0,  1e-200};
static const double columns[] = {0, 0, 1, 3, 2, -7, 0.25, 4096, 0x1p30, -1, 0x1p-20, 9, -1e-40};
#define TOKENS_N (sizeof rows / sizeof rows[0])

static struct pe_positions places(void)
{
    return (struct pe_positions){.axes = 2, .n = TOKENS_N, .at = {rows, columns}};
}

/* ---- The definition ----------------------------------------------------------------------- */

static void pair_channels(const struct scheme *scheme, size_t pair, size_t *a, size_t *b)
{
    *a = scheme->half ? pair : 2 * pair;
    *b = scheme->half ? pair + scheme->rotary / 2 : 2 * pair + 1;
}

/* Of the scheme's own rotation; the inverse has -s. */
static void pair_cos_sin(const struct scheme *scheme, size_t token, size_t pair, mpfr_t c, mpfr_t s)
{
    size_t pairs_n = scheme->rotary / 2;
    double p = rows[token];
    size_t k = pair;
    size_t width = scheme->rotary;
    if (scheme->split != ONE_AXIS) {
        bool is_row = scheme->split == BLOCKS ? pair < pairs_n / 2 : pair % 2 == 0;
        p = is_row ? rows[token] : columns[token];
        k = scheme->split == BLOCKS ? pair % (pairs_n / 2) : pair / 2;
        width = pairs_n;
    }
    mpfr_t angle;
    mpfr_t position;
    mpfr_init2(angle, PRECISION);
    mpfr_init2(position, PRECISION);
    ref_frequency(angle, scheme->base, 2 * k, width);
    mpfr_set_d(position, p, MPFR_RNDN);
    mpfr_add_d(position, position, scheme->shift, MPFR_RNDN);
    mpfr_mul(angle, angle, position, MPFR_RNDN);
    mpfr_mul_d(angle, angle, scheme->turn, MPFR_RNDN);
    mpfr_sin_cos(s, c, angle, MPFR_RNDN);
    mpfr_clears(angle, position, (mpfr_ptr)NULL);
}

/* x c + y s rounded once. */
static double exact_sum(double x, mpfr_srcptr c, double y, mpfr_srcptr s)
{
    mpfr_t sum;
    mpfr_t product;
    mpfr_init2(sum, 4 * PRECISION);
    mpfr_init2(product, PRECISION + 53);
    mpfr_mul_d(sum, c, x, MPFR_RNDN);
    mpfr_mul_d(product, s, y, MPFR_RNDN);
    mpfr_add(sum, sum, product, MPFR_RNDN);
    double result = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clears(sum, product, (mpfr_ptr)NULL);
    return result;
}

/* Rotates pair (a, b) in a row by the definition. */
static void rotate_pair(enum pe_dtype dtype, mpfr_srcptr c, mpfr_srcptr s, const void *x, void *y,
                        size_t a, size_t b)
{
    double xa = pe_load(dtype, x, a);
    double xb = pe_load(dtype, x, b);
    if (dtype == PE_F64) {
        pe_store(dtype, y, a, exact_sum(xa, c, -xb, s));
        pe_store(dtype, y, b, exact_sum(xa, s, xb, c));
        return;
    }
    double cosine = ref_round(PE_F64, c);
    double sine = ref_round(PE_F64, s);
    double first[2] = {xa * cosine, xb * sine};
    double second[2] = {xa * sine, xb * cosine};
    pe_store(dtype, y, a, first[0] - first[1]);
    pe_store(dtype, y, b, second[0] + second[1]);
}

static void reference_rows(const struct scheme *scheme, enum pe_dtype dtype, bool inverse,
                           const void *x, void *y)
{
    size_t row_bytes = scheme->dim * pe_dtype_size(dtype);
    memcpy(y, x, TOKENS_N * row_bytes);
    mpfr_t c;
    mpfr_t s;
    mpfr_init2(c, PRECISION);
    mpfr_init2(s, PRECISION);
    for (size_t token = 0; token < TOKENS_N; token++)
        for (size_t pair = 0; pair < scheme->rotary / 2; pair++) {
            size_t a;
            size_t b;
            pair_channels(scheme, pair, &a, &b);
            pair_cos_sin(scheme, token, pair, c, s);
            if (inverse)
                mpfr_neg(s, s, MPFR_RNDN);
            if (!mpfr_zero_p(s))
                rotate_pair(dtype, c, s, (const char *)x + token * row_bytes,
                            (char *)y + token * row_bytes, a, b);
        }
    mpfr_clears(c, s, (mpfr_ptr)NULL);
}

static void expect_direction(const struct scheme *scheme, enum pe_dtype dtype, bool inverse,
                             const void *x, const char *what)
{
    double expected[TOKENS_N * DIM_MAX];
    double got[TOKENS_N * DIM_MAX];
    struct pe_positions positions = places();
    reference_rows(scheme, dtype, inverse, x, expected);
    apply_rows(scheme->spec, &positions, inverse, scheme->dim, dtype, x, dtype, got);
    for (size_t i = 0; i < TOKENS_N * scheme->dim; i++) {
        double value = pe_load(dtype, got, i);
        double wanted = pe_load(dtype, expected, i);
        cr_expect(value == wanted || (isnan(value) && isnan(wanted)),
                  "%s, %s, %s%s: token %zu, channel %zu: %a, not %a", scheme->spec,
                  pe_dtype_name(dtype), what, inverse ? ", inverse" : "", i / scheme->dim,
                  i % scheme->dim, value, wanted);
    }
}

static void expect_reference(const struct scheme *scheme, enum pe_dtype dtype, const void *x,
                             const char *what)
{
    expect_direction(scheme, dtype, false, x, what);
    expect_direction(scheme, dtype, true, x, what);
}

/* ---- Against the definition --------------------------------------------------------------- */

Test(apply_rotate, random_rows)
{
    double x[TOKENS_N * DIM_MAX];
    for (size_t i = 0; i < SCHEMES_N; i++)
        for (int d = 0; d < PE_I64; d++)
            for (uint64_t seed = 0; seed < 3; seed++) {
                enum pe_dtype dtype = (enum pe_dtype)d;
                pe_fill_random(seed, "x", PE_CONTENT_NORMAL, seed == 2 ? 1e-6 : 1, 0,
                               TOKENS_N * schemes[i].dim, dtype, x);
                expect_reference(&schemes[i], dtype, x, "random");
            }
}

/* f64 members of very different size, at the ends of the range, zero, and such that the two
 * products cancel but for their last bits. */
Test(apply_rotate, hard_f64_rows)
{
    static const double sizes[] = {1,       0x1p-1074, 0x1p-1022, 0x1p-960, 0x1p-880, 0x1p-60,
                                   0x1p890, 0x1p910,   0x1p1022,  0,        -0x1p300, 0x1p-300};
    double x[TOKENS_N * DIM_MAX];
    for (size_t i = 0; i < SCHEMES_N; i++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            size_t count = TOKENS_N * schemes[i].dim;
            pe_fill_random(seed, "hard", PE_CONTENT_UNIFORM, 1, 0, count, PE_F64, x);
            for (size_t j = 0; j < count; j++)
                x[j] *= sizes[pe_draw(seed, "size", j) % (sizeof sizes / sizeof sizes[0])];
            expect_reference(&schemes[i], PE_F64, x, "sizes");
        }
}

/* Makes b = a c / s (or -a s / c), rounded, so that one result is a rounding error. */
static void make_cancelling(const struct scheme *scheme, double *x)
{
    mpfr_t c;
    mpfr_t s;
    mpfr_init2(c, PRECISION);
    mpfr_init2(s, PRECISION);
    for (size_t token = 0; token < TOKENS_N; token++)
        for (size_t pair = 0; pair < scheme->rotary / 2; pair++) {
            size_t a;
            size_t b;
            pair_channels(scheme, pair, &a, &b);
            pair_cos_sin(scheme, token, pair, c, s);
            if (mpfr_zero_p(s))
                continue;
            double *row = x + token * scheme->dim;
            double tangent = mpfr_get_d(s, MPFR_RNDN) / mpfr_get_d(c, MPFR_RNDN);
            row[b] = token % 2 ? row[a] / tangent : -row[a] * tangent;
        }
    mpfr_clears(c, s, (mpfr_ptr)NULL);
}

Test(apply_rotate, cancelling_f64_rows)
{
    double x[TOKENS_N * DIM_MAX];
    for (size_t i = 0; i < SCHEMES_N; i++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            pe_fill_random(seed, "x", PE_CONTENT_NORMAL, 1, 0, TOKENS_N * schemes[i].dim, PE_F64,
                           x);
            make_cancelling(&schemes[i], x);
            expect_reference(&schemes[i], PE_F64, x, "cancelling");
        }
}

/* ---- Properties --------------------------------------------------------------------------- */

/* Every bit pattern of the short formats comes back from position 0, and some of the long ones:
 * NaN payloads, signalling NaN and signed zeros included. */
Test(apply_rotate, position_zero_gives_back_the_bits)
{
    static const uint64_t doubles[] = {0x8000000000000000, 0x7ff0000000000001, 0xfff4000000000123,
                                       0x7ff8000000000000, 0x0000000000000001, 0xfff0000000000000,
                                       0x3ff0000000000000, 0xffffffffffffffff};
    static const char *const specs[] = {"rope:dim=8", "rope:dim=8,layout=half,rotary_dim=4",
                                        "rope2d:dim=8", "rope:dim=8,shift=3"};
    static uint16_t x[65536];
    static uint16_t y[65536];
    static double zeros[65536 / 8];
    for (size_t i = 0; i < 65536; i++)
        x[i] = (uint16_t)i;
    for (size_t s = 0; s < 4; s++)
        for (int d = 0; d < PE_I64; d++) {
            enum pe_dtype dtype = (enum pe_dtype)d;
            size_t tokens = sizeof x / pe_dtype_size(dtype) / 8;
            for (size_t i = 0; i < 65536 / 8; i++)
                zeros[i] = s == 3 ? -3 : i % 2 ? 0.0 : -0.0;
            struct pe_positions positions = {.axes = 2, .n = tokens, .at = {zeros, zeros}};
            for (int inverse = 0; inverse < 2; inverse++) {
                memset(y, 0, sizeof y);
                apply_rows(specs[s], &positions, inverse, 8, dtype, x, dtype, y);
                cr_expect_arr_eq(x, y, sizeof x, "%s, %s", specs[s], pe_dtype_name(dtype));
            }
            struct pe_positions one = {.axes = 2, .n = 1, .at = {zeros, zeros}};
            uint64_t out[8];
            if (dtype == PE_F64) {
                apply_rows(specs[s], &one, false, 8, dtype, doubles, dtype, out);
                cr_expect_arr_eq(out, doubles, sizeof out, "%s", specs[s]);
            }
        }
}

/* Channels past rotary_dim keep their bits at every position. */
Test(apply_rotate, partial_rotation_passes_the_rest_through)
{
    static const char *const specs[] = {"rope:dim=40,rotary_dim=10",
                                        "rope:dim=40,rotary_dim=10,layout=half",
                                        "rope2d:dim=40,rotary_dim=12"};
    uint16_t x[TOKENS_N * 40];
    uint16_t y[TOKENS_N * 40];
    struct pe_positions positions = places();
    for (size_t i = 0; i < TOKENS_N * 40; i++)
        x[i] = (uint16_t)pe_draw(3, "bits", i);
    for (size_t s = 0; s < 3; s++) {
        memset(y, 0, sizeof y);
        apply_rows(specs[s], &positions, false, 40, PE_F16, x, PE_F16, y);
        for (size_t t = 0; t < TOKENS_N; t++)
            cr_expect_arr_eq(y + t * 40 + 12, x + t * 40 + 12, 28 * sizeof *x, "%s, token %zu",
                             specs[s], t);
    }
}

/* The half layout is the interleaved one under the permutation of channels that makes pairs of
 * neighbours out of pairs of halves; all dtypes, same arithmetic, same bits. */
Test(apply_rotate, layouts_are_a_permutation_of_each_other)
{
    static const struct {
        const char *interleaved, *half;
    } pairs[] = {
        {"rope:dim=32", "rope:dim=32,layout=half"},
        {"rope:dim=32,rotary_dim=20,base=77", "rope:dim=32,rotary_dim=20,base=77,layout=half"},
        {"rope2d:dim=32", "rope2d:dim=32,layout=half"},
    };
    struct pe_positions positions = places();
    for (size_t p = 0; p < 3; p++)
        for (int d = 0; d < PE_I64; d++) {
            enum pe_dtype dtype = (enum pe_dtype)d;
            size_t rotary = p == 1 ? 20 : 32;
            double x[TOKENS_N * 32];
            double y[TOKENS_N * 32];
            double permuted_x[TOKENS_N * 32];
            double permuted_y[TOKENS_N * 32];
            pe_fill_random(4, "x", PE_CONTENT_NORMAL, 1, 0, TOKENS_N * 32, dtype, x);
            for (size_t i = 0; i < TOKENS_N * 32; i++) {
                size_t c = i % 32;
                size_t from = c >= rotary ? c : c < rotary / 2 ? 2 * c : 2 * (c - rotary / 2) + 1;
                pe_store(dtype, permuted_x, i, pe_load(dtype, x, i - c + from));
            }
            apply_rows(pairs[p].interleaved, &positions, false, 32, dtype, x, dtype, y);
            apply_rows(pairs[p].half, &positions, false, 32, dtype, permuted_x, dtype, permuted_y);
            for (size_t i = 0; i < TOKENS_N * 32; i++) {
                size_t c = i % 32;
                size_t from = c >= rotary ? c : c < rotary / 2 ? 2 * c : 2 * (c - rotary / 2) + 1;
                cr_expect_eq(pe_load(dtype, permuted_y, i), pe_load(dtype, y, i - c + from),
                             "%s, %s: element %zu", pairs[p].half, pe_dtype_name(dtype), i);
            }
        }
}

/* Half a unit in the last place of the format at a number of this size. */
static double half_ulp(enum pe_dtype dtype, double size)
{
    static const int bits[] = {[PE_F64] = 53, [PE_F32] = 24, [PE_F16] = 11, [PE_BF16] = 8};
    return ldexp(1, ilogb(size) - bits[dtype]);
}

static void expect_pair_kept(const struct scheme *scheme, enum pe_dtype dtype, const void *x,
                             const void *y, const void *back, size_t row, size_t pair)
{
    size_t a;
    size_t b;
    pair_channels(scheme, pair, &a, &b);
    double in[2] = {pe_load(dtype, x, row + a), pe_load(dtype, x, row + b)};
    double out[2] = {pe_load(dtype, y, row + a), pe_load(dtype, y, row + b)};
    double length = hypot(in[0], in[1]);
    cr_expect_leq(fabs(hypot(out[0], out[1]) - length), 2 * half_ulp(dtype, length),
                  "%s, %s: length of pair %zu", scheme->spec, pe_dtype_name(dtype), pair);
    double larger = fmax(fabs(in[0]), fabs(in[1]));
    double error = fmax(fabs(pe_load(dtype, back, row + a) - in[0]),
                        fabs(pe_load(dtype, back, row + b) - in[1]));
    cr_expect_leq(error, 4 * half_ulp(dtype, larger), "%s, %s: pair %zu back by %g of %g",
                  scheme->spec, pe_dtype_name(dtype), pair, error, larger);
}

/* Rotating keeps the length of every pair, and the inverse brings it back within 2 ulp of its
 * larger member. Small halves are left out: they have no digits to keep. */
Test(apply_rotate, lengths_are_kept_and_the_inverse_undoes)
{
    double x[TOKENS_N * DIM_MAX];
    double y[TOKENS_N * DIM_MAX];
    double back[TOKENS_N * DIM_MAX];
    struct pe_positions positions = places();
    for (size_t i = 0; i < SCHEMES_N; i++)
        for (int d = 0; d < PE_I64; d++)
            for (uint64_t seed = 0; seed < 20; seed++) {
                enum pe_dtype dtype = (enum pe_dtype)d;
                size_t dim = schemes[i].dim;
                pe_fill_random(seed, "x", PE_CONTENT_NORMAL, 1, 0, TOKENS_N * dim, dtype, x);
                apply_rows(schemes[i].spec, &positions, false, dim, dtype, x, dtype, y);
                apply_rows(schemes[i].spec, &positions, true, dim, dtype, y, dtype, back);
                for (size_t t = 0; t < TOKENS_N; t++)
                    for (size_t pair = 0; pair < schemes[i].rotary / 2; pair++)
                        expect_pair_kept(&schemes[i], dtype, x, y, back, t * dim, pair);
            }
}

/* ---- Published numbers -------------------------------------------------------------------- */

/* q = 1..8, k = 8..1, base 10000: scores at (m, n), equal for equal distances. */
Test(apply_rotate, dot_products_of_both_layouts)
{
    static const struct {
        const char *spec;
        double m, n, score;
    } cases[] = {
        {"rope:dim=8", 0, 0, 120},
        {"rope:dim=8,layout=half", 0, 0, 120},
        {"rope:dim=8,layout=half", 3, 1, 39.0248080536},
        {"rope:dim=8,layout=half", 103, 101, 39.0248080536},
        {"rope:dim=8,layout=half", 1, 3, 120.3823185083},
        {"rope:dim=8", 3, 1, 77.9099670004},
        {"rope:dim=8", 103, 101, 77.9099670004},
        {"rope:dim=8", 1, 3, 98.2493446141},
    };
    static const double q[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const double k[] = {8, 7, 6, 5, 4, 3, 2, 1};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double q_out[8];
        double k_out[8];
        struct pe_positions m = positions_of(&cases[i].m, 1);
        struct pe_positions n = positions_of(&cases[i].n, 1);
        apply_rows(cases[i].spec, &m, false, 8, PE_F64, q, PE_F64, q_out);
        apply_rows(cases[i].spec, &n, false, 8, PE_F64, k, PE_F64, k_out);
        double score = pe_dot(PE_F64, q_out, k_out, 8);
        cr_expect_leq(fabs(score - cases[i].score), 5e-11, "%s (%g, %g): %.12g", cases[i].spec,
                      cases[i].m, cases[i].n, score);
    }
}

/* The example of the API's section on apply, and x = 1..8 at position 3 in 10 digits. */
Test(apply_rotate, published_rotations)
{
    static const struct {
        const char *spec;
        size_t dim;
        double position;
        enum pe_dtype dtype;
        double y[8], tolerance;
    } cases[] = {
        {"rope:dim=4,layout=half", 4, 1, PE_F32, {-1.9841106, 1.9599006, 2.4623778, 4.0197997}, 0},
        {"rope:dim=4", 4, 1, PE_F32, {-1.1426396, 1.9220756, 2.9598505, 4.0297995}, 0},
        {"rope:dim=8,layout=half",
         8,
         3,
         PE_F64,
         {-1.695592537, 0.1375517383, 2.7886816, 3.975982036, -4.808842475, 6.323059348,
          7.086836737, 8.011963982},
         5e-10},
        {"rope:dim=8",
         8,
         3,
         PE_F64,
         {-1.272232513, -1.838864985, 1.683928641, 4.707906576, 4.817777168, 6.147277704,
          6.975968536, 8.020963969},
         5e-10},
        {"rope:dim=8,layout=half,direction=-1",
         8,
         3,
         PE_F64,
         {-0.2843924563, 3.683794218, 3.208618603, 4.023981964, -5.091082491, 5.140978521,
          6.906863736, 7.987964018},
         5e-10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double x[8];
        double y[8];
        for (size_t j = 0; j < cases[i].dim; j++)
            pe_store(cases[i].dtype, x, j, (double)(j + 1));
        struct pe_positions one = positions_of(&cases[i].position, 1);
        apply_rows(cases[i].spec, &one, false, cases[i].dim, cases[i].dtype, x, cases[i].dtype, y);
        for (size_t j = 0; j < cases[i].dim; j++) {
            double wanted = cases[i].dtype == PE_F32 ? (double)(float)cases[i].y[j] : cases[i].y[j];
            double got = pe_load(cases[i].dtype, y, j);
            cr_expect_leq(fabs(got - wanted), cases[i].tolerance, "%s: channel %zu is %.10g",
                          cases[i].spec, j, got);
        }
    }
}

Test(apply_rotate, not_finite_as_ieee_says)
{
    static const double one = 1;
    struct pe_positions positions = positions_of(&one, 1);
    for (int d = 0; d < PE_I64; d++) {
        enum pe_dtype dtype = (enum pe_dtype)d;
        static const double x[] = {INFINITY, 1, NAN, 1, -INFINITY, INFINITY, 1, 0};
        double in[8];
        double out[8];
        for (size_t i = 0; i < 8; i++)
            pe_store(dtype, in, i, x[i]);
        apply_rows("rope:dim=8", &positions, false, 8, dtype, in, dtype, out);
        static const double wanted[] = {INFINITY, INFINITY, NAN, NAN, -INFINITY, NAN};
        for (size_t i = 0; i < 6; i++) {
            double got = pe_load(dtype, out, i);
            cr_expect(isnan(wanted[i]) ? isnan(got) : got == wanted[i], "%s: channel %zu is %g",
                      pe_dtype_name(dtype), i, got);
        }
        cr_expect_gt(pe_load(dtype, out, 6), 0, "the neighbours stay finite");
    }
}
