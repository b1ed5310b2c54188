// SPDX-License-Identifier: Apache-2.0
/*
 * test_table.c: tables against the golden files bit for bit, where each value stands (layouts, odd
 * widths, axes), row strides, and that every instruction-set variant gives the same bits.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan_from.h"
#include "golden/golden.h"
#include "ref/ref_trig.h"

#define POSITIONS_MAX 128
#define DIM_MAX       1024

static const enum pe_dtype dtypes[] = {PE_F64, PE_F32, PE_F16, PE_BF16};

static double table_out[POSITIONS_MAX * DIM_MAX];
static double cos_out[POSITIONS_MAX * DIM_MAX];
static double sin_out[POSITIONS_MAX * DIM_MAX];

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void fill_table(const char *text, const double *at, size_t n, size_t stride)
{
    struct pe_positions positions = positions_of(at, n);
    struct pe_plan *plan = plan_from(text, &positions);
    pe_table(plan, &positions, PE_F64, table_out, stride);
    pe_plan_free(plan);
}

static void fill_cos_sin(const char *text, const double *at, size_t n)
{
    struct pe_positions positions = positions_of(at, n);
    struct pe_plan *plan = plan_from(text, &positions);
    pe_cos_sin(plan, &positions, PE_F64, cos_out, sin_out);
    pe_plan_free(plan);
}

/* ---- Golden files ------------------------------------------------------------------------- */

/* Golden element [token][pair] of a member. */
static double truth(const json_t *document, const char *member, size_t token, size_t pair)
{
    const json_t *row = json_array_get(json_object_get(document, member), token);
    return golden_number(json_array_get(row, pair));
}

static void check_rope_file(const char *name, const char *text)
{
    double at[POSITIONS_MAX];
    json_t *document = golden_load(name);
    size_t n = golden_list(json_object_get(document, "positions"), at, POSITIONS_MAX);
    size_t pairs = (size_t)golden_number(json_object_get(document, "dim")) / 2;
    fill_cos_sin(text, at, n);
    for (size_t i = 0; i < n * pairs; i++) {
        double c = truth(document, "cos", i / pairs, i % pairs);
        double s = truth(document, "sin", i / pairs, i % pairs);
        cr_expect(same(cos_out[i], c), "%s cos at %a pair %zu", name, at[i / pairs], i % pairs);
        cr_expect(same(sin_out[i], s), "%s sin at %a pair %zu", name, at[i / pairs], i % pairs);
    }
    json_decref(document);
}

Test(table, truth_of_rope)
{
    check_rope_file("truth_rope_base10000_d64.json", "rope:dim=64");
    check_rope_file("truth_rope_base10000_d128.json", "rope:dim=128,layout=half");
    check_rope_file("truth_rope_base500000_d64.json", "rope:dim=64,base=500000");
    check_rope_file("truth_rope_base500000_d128.json", "rope:dim=128,base=500000");
    check_rope_file("truth_fractional_positions.json", "rope:dim=64");
}

/* A sinusoidal table against the file: sines at sin_at + step i, cosines at cos_at + step i. */
static void check_sinusoidal(const char *name, const char *text, size_t step, size_t cos_at)
{
    double at[POSITIONS_MAX];
    json_t *document = golden_load(name);
    size_t n = golden_list(json_object_get(document, "positions"), at, POSITIONS_MAX);
    size_t dim = (size_t)golden_number(json_object_get(document, "dim"));
    fill_table(text, at, n, dim);
    for (size_t token = 0; token < n; token++)
        for (size_t i = 0; i < dim / 2; i++) {
            const double *row = table_out + token * dim;
            cr_expect(same(row[step * i], truth(document, "sin", token, i)),
                      "%s sin at %a pair %zu", text, at[token], i);
            cr_expect(same(row[cos_at + step * i], truth(document, "cos", token, i)),
                      "%s cos at %a pair %zu", text, at[token], i);
        }
    json_decref(document);
}

Test(table, truth_of_sinusoidal)
{
    const char *file = "truth_rope_base10000_d64.json";
    check_sinusoidal(file, "sinusoidal:dim=64", 2, 1);
    check_sinusoidal(file, "sinusoidal:dim=64,layout=half", 1, 32);
    check_sinusoidal("truth_fairseq_base10000_d64.json",
                     "sinusoidal:dim=64,spacing=endpoint,layout=half", 1, 32);
}

/* ---- Where values stand ------------------------------------------------------------------- */

/* cos or sin of position * base^(-numerator/denominator), rounded to f64 by the reference. */
static double reference(double position, double base, size_t numerator, size_t denominator,
                        bool is_sine)
{
    mpfr_t w;
    mpfr_t y;
    mpfr_inits2(300, w, y, (mpfr_ptr)NULL);
    ref_frequency(w, base, numerator, denominator);
    mpfr_mul_d(w, w, position, MPFR_RNDN);
    if (is_sine)
        mpfr_sin(y, w, MPFR_RNDN);
    else
        mpfr_cos(y, w, MPFR_RNDN);
    double rounded = ref_round(PE_F64, y);
    mpfr_clears(w, y, (mpfr_ptr)NULL);
    return rounded;
}

static const double some[] = {0, 1, -3, 17, 0.25, 1000, -0.1, 123456.75};
#define SOME_N (sizeof some / sizeof some[0])

/* cos in the channel of each pair's first member, sin in the second's; rotary_dim channels. */
Test(table, rope_layouts)
{
    static const struct {
        const char *text;
        size_t rotary_dim, first_step, second_at;
    } cases[] = {
        {"rope:dim=16", 16, 2, 1},
        {"rope:dim=16,layout=half", 16, 1, 8},
        {"rope:dim=16,rotary_dim=6", 6, 2, 1},
        {"rope:dim=16,rotary_dim=6,layout=half", 6, 1, 3},
        {"rope:dim=600,layout=half", 600, 1, 300}, /* more than one block of pairs */
        {"rope:dim=600", 600, 2, 1},
        {"rope:dim=2", 2, 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t width = cases[i].rotary_dim;
        fill_table(cases[i].text, some, SOME_N, width);
        for (size_t token = 0; token < SOME_N; token++)
            for (size_t pair = 0; pair < width / 2; pair++) {
                const double *c = &table_out[token * width + cases[i].first_step * pair];
                double expected_c = reference(some[token], 1e4, 2 * pair, width, false);
                double expected_s = reference(some[token], 1e4, 2 * pair, width, true);
                cr_expect(same(*c, expected_c), "%s cos at %g pair %zu", cases[i].text, some[token],
                          pair);
                cr_expect(same(c[cases[i].second_at], expected_s), "%s sin at %g pair %zu",
                          cases[i].text, some[token], pair);
            }
    }
}

/* An odd width ends with a zero column, or one more sine. */
Test(table, odd_widths)
{
    static const struct {
        const char *text;
        size_t dim, sin_step, cos_at; /* sin of pair i at sin_step i, cos at cos_at + sin_step i */
        bool lone_sine;
    } cases[] = {
        {"sinusoidal:dim=7", 7, 2, 1, false},
        {"sinusoidal:dim=7,odd=sin", 7, 2, 1, true},
        {"sinusoidal:dim=7,layout=half", 7, 1, 3, false},
        {"sinusoidal:dim=7,layout=half,odd=sin", 7, 1, 4, true},
        {"sinusoidal:dim=1", 1, 2, 1, false},
        {"sinusoidal:dim=1,odd=sin", 1, 2, 1, true},
        {"sinusoidal:dim=259,odd=sin", 259, 2, 1, true},
        {"sinusoidal:dim=259,layout=half", 259, 1, 129, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t dim = cases[i].dim;
        for (size_t j = 0; j < SOME_N * dim; j++)
            table_out[j] = NAN;
        fill_table(cases[i].text, some, SOME_N, dim);
        for (size_t token = 0; token < SOME_N; token++) {
            const double *row = table_out + token * dim;
            for (size_t pair = 0; pair < dim / 2; pair++) {
                size_t at = cases[i].sin_step * pair;
                cr_expect(same(row[at], reference(some[token], 1e4, 2 * pair, dim, true)),
                          "%s sin at %g pair %zu", cases[i].text, some[token], pair);
                cr_expect(same(row[cases[i].cos_at + at],
                               reference(some[token], 1e4, 2 * pair, dim, false)),
                          "%s cos at %g pair %zu", cases[i].text, some[token], pair);
            }
            size_t lone = cases[i].sin_step * (dim / 2);
            double expected =
                cases[i].lone_sine ? reference(some[token], 1e4, dim / 2 * 2, dim, true) : 0;
            size_t last = cases[i].lone_sine ? lone : dim - 1;
            cr_expect(same(row[last], expected), "%s last at %g", cases[i].text, some[token]);
        }
    }
}

/* Half of the pairs turn with one axis, half with the other, each with the frequencies of
 * dim/2 channels: what a one-axis rope of dim/2 gives at that coordinate. */
Test(table, rope2d_axes)
{
    static const double rows[] = {0, 1, 2, -3, 0.5, 40};
    static const double cols[] = {5, 0, 7, 0, 0, 41};
    const size_t n = sizeof rows / sizeof rows[0];
    static const char *const splits[] = {"blocks", "alternate"};
    static const size_t dims[] = {4, 8, 64, 520, 1024};
    static double one_axis[2][POSITIONS_MAX * DIM_MAX];
    for (size_t d = 0; d < sizeof dims / sizeof dims[0]; d++) {
        char text[80];
        size_t pairs = dims[d] / 2;
        size_t k_n = pairs / 2;
        snprintf(text, sizeof text, "rope:dim=%zu", dims[d] / 2);
        for (size_t axis = 0; axis < 2; axis++) {
            fill_table(text, axis ? cols : rows, n, pairs);
            memcpy(one_axis[axis], table_out, n * pairs * sizeof(double));
        }
        for (size_t split = 0; split < 2; split++) {
            snprintf(text, sizeof text, "rope2d:dim=%zu,axes_split=%s", dims[d], splits[split]);
            struct pe_positions positions = {.axes = 2, .n = n, .at = {rows, cols}};
            struct pe_plan *plan = plan_from(text, &positions);
            pe_cos_sin(plan, &positions, PE_F64, cos_out, sin_out);
            pe_plan_free(plan);
            for (size_t token = 0; token < n; token++)
                for (size_t pair = 0; pair < pairs; pair++) {
                    size_t axis = split ? pair % 2 : pair / k_n;
                    size_t k = split ? pair / 2 : pair % k_n;
                    const double *expected = &one_axis[axis][token * pairs + 2 * k];
                    cr_expect(same(cos_out[token * pairs + pair], expected[0]) &&
                                  same(sin_out[token * pairs + pair], expected[1]),
                              "%s token %zu pair %zu", text, token, pair);
                }
        }
    }
}

/* Direction -1 negates sines but for exact zeros; shift moves, linear scaling stretches. */
Test(table, direction_shift_and_scaling)
{
    static const double at[] = {0, 1, 5, -2, 0.5};
    static const double shifted[] = {7.5, 8.5, 12.5, 5.5, 8};
    static const double stretched[] = {0, 4, 20, -8, 2};
    static double expected[5 * 8];
    fill_table("rope:dim=8", at, 5, 8);
    memcpy(expected, table_out, sizeof expected);
    fill_table("rope:dim=8,direction=-1", at, 5, 8);
    for (size_t i = 0; i < 40; i++)
        cr_expect(same(table_out[i], i % 2 && i > 8 ? -expected[i] : expected[i]), "element %zu",
                  i);
    fill_table("rope:dim=8,scaling=linear,factor=4", stretched, 5, 8);
    cr_expect_eq(memcmp(table_out, expected, sizeof expected), 0);
    fill_table("rope:dim=8", shifted, 5, 8);
    memcpy(expected, table_out, sizeof expected);
    fill_table("rope:dim=8,shift=7.5", at, 5, 8);
    cr_expect_eq(memcmp(table_out, expected, sizeof expected), 0);
}

Test(table, kinds_without_frequencies)
{
    static const double at[] = {0, 1, 5, 12};
    fill_table("none:dim=3", at, 4, 3);
    for (size_t i = 0; i < 12; i++)
        cr_expect(same(table_out[i], 0), "none %zu", i);
    fill_table("integer:dim=130", at, 4, 130);
    for (size_t i = 0; i < 4 * 130; i++)
        cr_expect(same(table_out[i], at[i / 130]), "integer %zu", i);
    fill_table("integer:dim=3,normalize_by=12", at, 4, 3);
    for (size_t i = 0; i < 12; i++)
        cr_expect(same(table_out[i], at[i / 3] / 12), "integer/12 %zu", i);
    fill_table("binary:dim=5", at, 4, 5);
    for (size_t i = 0; i < 20; i++)
        cr_expect(same(table_out[i], (int)at[i / 5] >> (i % 5) & 1), "binary %zu", i);
    fill_table("learned:dim=200,table_seed=3,table_std=0.5", at, 4, 200);
    for (size_t i = 0; i < 800; i++) {
        double expected;
        size_t element = (size_t)at[i / 200] * 200 + i % 200;
        pe_fill_random(3, "table", PE_CONTENT_NORMAL, 0.5, element, 1, PE_F64, &expected);
        cr_expect(same(table_out[i], expected), "learned %zu", i);
    }
}

/* ---- Memory and dtypes -------------------------------------------------------------------- */

static const char *const specs[] = {
    "rope:dim=6",
    "rope:dim=300,layout=half",
    "sinusoidal:dim=9",
    "sinusoidal:dim=260",
    "learned:dim=10",
    "integer:dim=3",
    "binary:dim=40",
    "none:dim=5",
    "rope2d:dim=8,axes_split=alternate",
};
#define SPECS_N (sizeof specs / sizeof specs[0])

/* Narrow tables are the f64 ones rounded (no value here lies next to a tie), and nothing beside the
 * rows is written. */
Test(table, dtypes_strides_and_guards)
{
    static const double at[] = {0, 1, 2, 3, 500};
    static unsigned char wide[8 * 5 * 310];
    for (size_t i = 0; i < SPECS_N; i++) {
        struct pe_positions positions = {.axes = 2, .n = 5, .at = {at, at}};
        struct pe_plan *plan = plan_from(specs[i], &positions);
        size_t width = pe_spec_dim(pe_plan_spec(plan));
        pe_table(plan, &positions, PE_F64, table_out, width);
        for (size_t t = 0; t < 4; t++) {
            size_t size = pe_dtype_size(dtypes[t]);
            size_t stride = width + 7;
            memset(wide, 0xa5, sizeof wide);
            pe_table(plan, &positions, dtypes[t], wide, stride);
            for (size_t j = 0; j < 5 * stride; j++) {
                unsigned char expected[8];
                memset(expected, 0xa5, sizeof expected);
                if (j % stride < width)
                    pe_store(dtypes[t], expected, 0, table_out[j / stride * width + j % stride]);
                cr_expect_eq(memcmp(wide + j * size, expected, size), 0, "%s %s element %zu",
                             specs[i], pe_dtype_name(dtypes[t]), j);
            }
        }
        pe_plan_free(plan);
    }
}

/* A token without a position: the angle 0 whatever the shift and the factor, or zeros. */
Test(table, tokens_without_a_position)
{
    static const struct {
        const char *spec;
        size_t dim;
        double row[3];
    } rows[] = {
        {"rope:dim=2,shift=3", 2, {1, 0}},
        {"rope:dim=2,scaling=linear,factor=2,attention_factor=1.5", 2, {1, 0}},
        {"sinusoidal:dim=3,odd=sin", 3, {0, 0, 0}},
        {"integer:dim=3,shift=1", 3, {0, 0, 0}},
        {"learned:dim=3", 3, {0, 0, 0}},
        {"binary:dim=3", 3, {0, 0, 0}},
    };
    static const double at[] = {5, NAN, 7};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fill_table(rows[i].spec, at, 3, rows[i].dim);
        cr_expect_arr_eq(table_out + rows[i].dim, rows[i].row, rows[i].dim * sizeof(double), "%s",
                         rows[i].spec);
        cr_expect_neq(table_out[0], rows[i].row[0], "%s", rows[i].spec);
    }
    struct pe_positions positions = positions_of(at, 3);
    struct pe_plan *plan = plan_from("rope:dim=2,shift=3", &positions);
    pe_angles(plan, &positions, (size_t[]){0}, 1, PE_ANGLE, PE_F64, table_out);
    cr_expect_eq(table_out[1], 0);
    cr_expect_eq(table_out[2], 10);
    pe_plan_free(plan);
}

Test(table, every_variant_gives_the_same_bits)
{
    static const char *const variants[] = {"base", "avx2", "avx512"};
    static const double at[] = {0,    1,      2,   63,   64,    65,
                                4095, 4096,   -1,  0.25, 0.1,   1e-300,
                                -7.5, 131071, 1e9, 355,  1e-20, 9007199254740991.0};
    const size_t n = sizeof at / sizeof at[0];
    static unsigned char expected[8 * 18 * 1024];
    static unsigned char got[8 * 18 * 1024];
    for (size_t dim = 2; dim <= 530; dim += dim < 40 ? 2 : 98)
        for (size_t t = 0; t < 4; t++) {
            char text[80];
            snprintf(text, sizeof text, "rope:dim=%zu%s", dim, dim % 4 ? ",layout=half" : "");
            size_t bytes = n * dim * pe_dtype_size(dtypes[t]);
            struct pe_positions positions = positions_of(at, n);
            cr_assert(pe_isa_select("scalar"));
            struct pe_plan *plan = plan_from(text, &positions);
            pe_table(plan, &positions, dtypes[t], expected, dim);
            pe_plan_free(plan);
            for (size_t v = 0; v < 3; v++) {
                if (!pe_isa_select(variants[v]))
                    continue;
                plan = plan_from(text, &positions);
                pe_table(plan, &positions, dtypes[t], got, dim);
                pe_plan_free(plan);
                cr_expect_eq(memcmp(got, expected, bytes), 0, "%s %s %s", text,
                             pe_dtype_name(dtypes[t]), variants[v]);
            }
        }
}

/* Runs up, down, in steps, of two, and none. */
static double mixed_position(size_t i)
{
    return i < 200   ? (double)i - 70
           : i < 300 ? 1e9 - (double)i
           : i < 400 ? 7 + 3 * (double)i
           : i < 500 ? (double)(i / 2) * 64 + (double)(i % 2)
           : i < 600 ? (double)i / 64 - 4
                     : (double)(pe_draw(3, "positions", i) >> 30);
}

/* By ones through all digits of both signs, then from within a run, and backwards. */
static double whole_position(size_t i)
{
    return i < 500 ? (double)i - 200 : i < 600 ? 1e6 + (double)i : 5000 - (double)i;
}

/* By ones as far as the digits below 64, those of the next group being 0. */
static double split_position(size_t i)
{
    return (double)(i / 64 * 4096 + i % 64);
}

/* Tables by runs of tokens have the bits of tables token by token, in every variant. */
Test(table, runs_of_tokens_change_no_bit)
{
    static const char *const variants[] = {"scalar", "base", "avx2", "avx512"};
    static const char *const texts[] = {
        "rope:dim=128",
        "rope:dim=300,layout=half,direction=-1",
        "rope:dim=22,layout=half,shift=0.375",
        "rope:dim=34,layout=half,shift=-5",
        "rope:dim=54,base=500000,scaling=llama3,factor=8,original_max=8192",
        "rope:dim=16,scaling=proportional,kept_pairs=5",
        "sinusoidal:dim=70",
        "sinusoidal:dim=33,layout=half",
        "sinusoidal:dim=9,odd=sin",
    };
    static double (*const position[])(size_t) = {mixed_position, whole_position, split_position};
    enum { TOKENS = 700, TEXTS = sizeof texts / sizeof *texts };
    static double at[TOKENS];
    static unsigned char whole[8 * TOKENS * 300];
    static unsigned char single[8 * 300];
    struct pe_positions positions = positions_of(at, TOKENS);
    for (size_t set = 0; set < 3 * TEXTS; set++) {
        size_t i = set % TEXTS;
        for (size_t token = 0; token < TOKENS; token++)
            at[token] = position[set / TEXTS](token);
        for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
            if (!pe_isa_select(variants[v]))
                continue;
            struct pe_plan *plan = plan_from(texts[i], &positions);
            size_t width = pe_spec_dim(pe_plan_spec(plan));
            for (size_t t = 0; t < 2; t++) {
                size_t row = width * pe_dtype_size(dtypes[t]);
                pe_table(plan, &positions, dtypes[t], whole, width);
                for (size_t token = 0; token < TOKENS; token++) {
                    struct pe_positions one = positions_of(at + token, 1);
                    pe_table(plan, &one, dtypes[t], single, width);
                    cr_assert_eq(memcmp(whole + token * row, single, row), 0, "%s %s %s at %a",
                                 texts[i], variants[v], pe_dtype_name(dtypes[t]), at[token]);
                }
            }
            pe_plan_free(plan);
        }
    }
}

/* Tables that go past the caches have the bits of their parts, which do not, and end where they
 * should. */
Test(table, large_tables_are_as_their_parts)
{
    static const char *const variants[] = {"base", "avx2", "avx512"};
    static const char *const texts[] = {
        "rope:dim=512,layout=half",
        "rope:dim=512,layout=interleaved,direction=-1",
        "sinusoidal:dim=512",
    };
    enum { TOKENS = 16500, PART = 300, DIM = 512, GUARD = 64 };
    static double at[TOKENS];
    static double part[PART * DIM];
    for (size_t i = 0; i < TOKENS; i++)
        at[i] = (double)i - 100;
    struct pe_positions positions = positions_of(at, TOKENS);
    size_t most = (size_t)TOKENS * DIM * sizeof(double);
    unsigned char *whole = aligned_alloc(64, most + GUARD);
    cr_assert(whole);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pe_plan *plan = plan_from(texts[i], &positions);
        for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
            if (!pe_isa_select(variants[v]))
                continue;
            for (size_t t = 0; t < 2; t++) {
                size_t row = DIM * pe_dtype_size(dtypes[t]);
                memset(whole + TOKENS * row, 0x5a, GUARD);
                pe_table(plan, &positions, dtypes[t], whole, DIM);
                for (size_t token = 0; token < TOKENS; token += PART) {
                    struct pe_positions few = positions_of(at + token, PART);
                    pe_table(plan, &few, dtypes[t], part, DIM);
                    cr_assert_eq(memcmp(whole + token * row, part, PART * row), 0, "%s %s %s at %a",
                                 texts[i], variants[v], pe_dtype_name(dtypes[t]), at[token]);
                }
                for (size_t g = 0; g < GUARD; g++)
                    cr_assert_eq(whole[TOKENS * row + g], 0x5a);
            }
        }
        pe_plan_free(plan);
    }
    free(whole);
}
