// SPDX-License-Identifier: Apache-2.0
/*
 * test_apply.c: views of tensors, batches and heads, in place, dtypes that differ, and the same
 * bits under every instruction set. What happens to a row is tested in test_apply_rotate.c and
 * test_apply_add.c.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/apply_to.h"

#define BATCHES 3
#define HEADS   2
#define TOKENS  5
#define DIM     12
#define COUNT   ((size_t)BATCHES * HEADS * TOKENS * DIM)

static const char *const specs[] = {
    "none:dim=12",
    "rope:dim=12",
    "rope:dim=12,layout=half,rotary_dim=8",
    "sinusoidal:dim=12",
    "sinusoidal:dim=12,layout=half",
    "learned:dim=12,rows=100",
    "integer:dim=12",
};
#define SPECS_N (sizeof specs / sizeof specs[0])

static const double places[BATCHES][TOKENS] = {
    {0, 1, 2, 3, 4}, {7, 0, 50, 8, 1}, {99, 98, 0, 2, 64}};
static const enum pe_dtype floats[] = {PE_F64, PE_F32, PE_F16, PE_BF16};

static void expect_row_applied(const char *spec, const double *place, size_t token, const void *x,
                               const void *y, enum pe_dtype dtype, const char *what)
{
    struct pe_positions one = positions_of(place + token, 1);
    double expected[DIM];
    apply_rows(spec, &one, false, DIM, dtype, x, dtype, expected);
    cr_expect_arr_eq(y, expected, DIM * pe_dtype_size(dtype), "%s, %s, %s, token %zu", spec,
                     pe_dtype_name(dtype), what, token);
}

/* Every row of a tensor is what that row alone gives, whatever the order of the axes. */
Test(apply, axes_orders)
{
    static const struct {
        const char *axes;
        size_t rank, shape[4], stride_b, stride_h, stride_t, heads;
    } rows[] = {
        {"d", 1, {DIM}, 0, 0, 0, 1},
        {"td", 2, {TOKENS, DIM}, 0, 0, DIM, 1},
        {"bhtd", 4, {BATCHES, HEADS, TOKENS, DIM}, HEADS * TOKENS * DIM, TOKENS * DIM, DIM, 1},
        {"bthd", 4, {BATCHES, TOKENS, HEADS, DIM}, HEADS * TOKENS * DIM, DIM, HEADS * DIM, 1},
        {"tbhd", 4, {TOKENS, BATCHES, HEADS, DIM}, HEADS * DIM, DIM, BATCHES * HEADS * DIM, 1},
        {"htd", 3, {HEADS, TOKENS, DIM}, 0, TOKENS * DIM, DIM, 1},
        {"thd", 3, {TOKENS, HEADS, DIM}, 0, DIM, HEADS * DIM, 1},
        {"btd", 3, {BATCHES, TOKENS, DIM}, TOKENS * DIM, 0, DIM, 1},
        {"btd", 3, {BATCHES, TOKENS, HEADS * DIM}, HEADS * TOKENS * DIM, DIM, HEADS * DIM, HEADS},
        {"td", 2, {TOKENS, HEADS * DIM}, 0, DIM, HEADS * DIM, HEADS},
    };
    double x[COUNT];
    double y[COUNT];
    pe_fill_random(0, "x", PE_CONTENT_NORMAL, 1, 0, COUNT, PE_F64, x);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        for (size_t s = 0; s < SPECS_N; s++) {
            struct pe_view in;
            struct pe_view out;
            cr_assert(pe_view_init(&in, PE_F64, x, rows[r].axes, rows[r].shape, rows[r].rank,
                                   rows[r].heads));
            cr_assert(pe_view_init(&out, PE_F64, y, rows[r].axes, rows[r].shape, rows[r].rank,
                                   rows[r].heads));
            cr_assert_eq(in.dim, DIM, "%s", rows[r].axes);
            struct pe_positions positions = positions_of(places[1], in.tokens);
            apply_views(specs[s], &positions, 1, false, &in, &out);
            size_t batches = rows[r].stride_b ? BATCHES : 1;
            size_t heads = rows[r].stride_h ? HEADS : 1;
            for (size_t b = 0; b < batches; b++)
                for (size_t h = 0; h < heads; h++)
                    for (size_t t = 0; t < in.tokens; t++) {
                        size_t at =
                            b * rows[r].stride_b + h * rows[r].stride_h + t * rows[r].stride_t;
                        expect_row_applied(specs[s], places[1], t, x + at, y + at, PE_F64,
                                           rows[r].axes);
                    }
        }
}

Test(apply, views_that_do_not_fit)
{
    static const struct {
        const char *axes;
        size_t rank, shape[4], heads;
    } rows[] = {
        {"", 0, {0}, 1},          {"td", 1, {4}, 1},         {"td", 3, {2, 2, 4}, 1},
        {"dt", 2, {4, 2}, 1},     {"dd", 2, {4, 4}, 1},      {"ttd", 3, {2, 2, 4}, 1},
        {"xtd", 3, {2, 2, 4}, 1}, {"btd", 3, {2, 2, 10}, 4}, {"bht", 3, {2, 2, 4}, 1},
        {"t", 1, {4}, 1},         {"htd", 3, {2, 3, 4}, 3},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct pe_view view;
        cr_expect_not(pe_view_init(&view, PE_F32, NULL, rows[r].axes, rows[r].shape, rows[r].rank,
                                   rows[r].heads),
                      "%s", rows[r].axes);
    }
}

/* [B][T] positions: every batch by its own list. In and out may lie in different orders. */
Test(apply, positions_of_each_batch)
{
    static const size_t bhtd[] = {BATCHES, HEADS, TOKENS, DIM};
    static const size_t bthd[] = {BATCHES, TOKENS, HEADS, DIM};
    double x[COUNT];
    double y[COUNT];
    for (size_t d = 0; d < 4; d++)
        for (size_t s = 0; s < SPECS_N; s++) {
            size_t size = pe_dtype_size(floats[d]);
            pe_fill_random(1, "x", PE_CONTENT_NORMAL, 1, 0, COUNT, floats[d], x);
            struct pe_view in;
            struct pe_view out;
            cr_assert(pe_view_init(&in, floats[d], x, "bhtd", bhtd, 4, 1));
            cr_assert(pe_view_init(&out, floats[d], y, "bthd", bthd, 4, 1));
            struct pe_positions positions[BATCHES];
            for (size_t b = 0; b < BATCHES; b++)
                positions[b] = positions_of(places[b], TOKENS);
            apply_views(specs[s], positions, BATCHES, false, &in, &out);
            for (size_t b = 0; b < BATCHES; b++)
                for (size_t h = 0; h < HEADS; h++)
                    for (size_t t = 0; t < TOKENS; t++)
                        expect_row_applied(specs[s], places[b], t,
                                           (char *)x + ((b * HEADS + h) * TOKENS + t) * DIM * size,
                                           (char *)y + ((b * TOKENS + t) * HEADS + h) * DIM * size,
                                           floats[d], "batches");
        }
}

Test(apply, no_tokens_is_nothing_to_do)
{
    struct pe_positions none = positions_of(places[0], 0);
    double canary[2] = {3, 4};
    for (size_t s = 0; s < SPECS_N; s++)
        apply_rows(specs[s], &none, false, DIM, PE_F64, canary, PE_F64, canary);
    cr_expect(canary[0] == 3 && canary[1] == 4);
}

/* ---- In place, guards, variants ----------------------------------------------------------- */

/* Long enough for several blocks of tokens and of pairs, with all kinds of tails. */
static const struct {
    const char *spec;
    size_t dim, tokens;
} large[] = {
    {"rope:dim=64", 64, 300},
    {"rope:dim=64,layout=half", 64, 300},
    {"rope:dim=2", 2, 5},
    {"rope:dim=46,rotary_dim=42,layout=half", 46, 150},
    {"rope:dim=46,rotary_dim=42", 46, 150},
    {"rope:dim=600,layout=half", 600, 20},
    {"rope:dim=600,rotary_dim=526", 600, 20},
    {"rope2d:dim=44", 44, 90},
    {"rope2d:dim=44,layout=half", 44, 90},
    {"rope2d:dim=44,layout=half,axes_split=alternate", 44, 90},
    {"sinusoidal:dim=65", 65, 100},
    {"sinusoidal:dim=600,layout=half", 600, 20},
    {"sinusoidal:dim=65,layout=half,odd=sin", 65, 100},
    {"learned:dim=31,rows=1000", 31, 100},
    {"binary:dim=10", 10, 300},
    {"integer:dim=5", 5, 100},
    {"none:dim=7", 7, 10},
};
#define LARGE_N     (sizeof large / sizeof large[0])
#define LARGE_COUNT ((size_t)300 * 64)

static struct pe_positions many_positions(size_t n)
{
    static double row[512];
    static double column[512];
    for (size_t i = 0; i < 512; i++) {
        row[i] = (double)(i % 37 + i / 50);
        column[i] = (double)(i % 11);
    }
    return (struct pe_positions){.axes = 2, .n = n, .at = {row, column}};
}

/* Normal numbers sown with zeros, infinities, NaN and the ends of the range. */
static void fill_wild(enum pe_dtype dtype, void *x, size_t n)
{
    static const double wild[] = {0,     -0.0,  INFINITY, -INFINITY, NAN,    6e4,
                                  1e-40, 3e-45, 6e-8,     1e300,     1e-310, 1.7e308};
    pe_fill_random(5, "x", PE_CONTENT_NORMAL, 1, 0, n, dtype, x);
    for (size_t k = 1; k <= n / 9; k++)
        pe_store(dtype, x, pe_draw(1, "place", k) % n, wild[pe_draw(2, "wild", k) % 12]);
}

Test(apply, in_place_and_guards)
{
    static double x[LARGE_COUNT + 16];
    static double y[LARGE_COUNT + 16];
    for (size_t i = 0; i < LARGE_N; i++)
        for (size_t d = 0; d < 4; d++)
            for (int inverse = 0; inverse < 2; inverse++) {
                size_t count = large[i].dim * large[i].tokens;
                size_t bytes = count * pe_dtype_size(floats[d]);
                struct pe_positions positions = many_positions(large[i].tokens);
                memset(x, 0xa5, sizeof x);
                memset(y, 0xa5, sizeof y);
                char *in = (char *)x + 64 + 2; /* as aligned as f16 needs, no more */
                char *out = (char *)y + 64 + 2;
                if (pe_dtype_size(floats[d]) > 2) {
                    in += 6;
                    out += 6;
                }
                fill_wild(floats[d], in, count);
                apply_rows(large[i].spec, &positions, inverse, large[i].dim, floats[d], in,
                           floats[d], out);
                apply_rows(large[i].spec, &positions, inverse, large[i].dim, floats[d], in,
                           floats[d], in);
                cr_expect_arr_eq(in, out, bytes, "%s, %s", large[i].spec, pe_dtype_name(floats[d]));
                for (const char *p = (char *)y; p < (char *)y + sizeof y; p++)
                    if (p < out || p >= out + bytes)
                        cr_assert_eq(*p, (char)0xa5, "%s, %s: byte %td", large[i].spec,
                                     pe_dtype_name(floats[d]), p - out);
            }
}

/* Many tokens at once have the bits of tokens one by one. */
Test(apply, many_tokens_are_as_each_of_them)
{
    static const char *const texts[] = {
        "rope:dim=22,layout=half",
        "rope:dim=16,direction=-1,shift=0.5",
        "rope:dim=32,rotary_dim=12,rotary_offset=tail",
        "rope:dim=32,scaling=yarn,factor=8,original_max=64",
        "rope:dim=24,scaling=proportional,kept_pairs=7",
        "rope:dim=16,layout=half,output_order=halves",
        "xpos:dim=16,center=20",
        "sinusoidal:dim=21",
    };
    enum { MANY = 200, WIDE = 32 };
    static double at[MANY], in[MANY * WIDE], whole[MANY * WIDE], one[WIDE];
    for (size_t i = 0; i < MANY; i++)
        at[i] = i < 150 ? (double)i - 20 : (double)(pe_draw(4, "positions", i) >> 40);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
            struct pe_positions positions = positions_of(at, MANY);
            size_t dim = (size_t)atoi(strstr(texts[k], "dim=") + 4);
            size_t row = dim * pe_dtype_size(dtype);
            pe_fill_random(k, "x", PE_CONTENT_NORMAL, 1, 0, MANY * dim, dtype, in);
            for (int inverse = 0; inverse < 2; inverse++) {
                apply_rows(texts[k], &positions, inverse, dim, dtype, in, dtype, whole);
                for (size_t t = 0; t < MANY; t++) {
                    struct pe_positions token = positions_of(at + t, 1);
                    apply_rows(texts[k], &token, inverse, dim, dtype, (char *)in + t * row, dtype,
                               one);
                    cr_assert_eq(memcmp((char *)whole + t * row, one, row), 0, "%s %s at %g",
                                 texts[k], pe_dtype_name(dtype), at[t]);
                }
            }
        }
}

/* A tensor so large that the output goes past the caches, and in place: each head is as if it were
 * alone, whichever axis is outermost. */
Test(apply, large_tensors_are_as_each_head_of_them)
{
    enum { ALL = 8, LONG = 4101, WIDE = 256 };
    const size_t shapes[2][4] = {{1, LONG, ALL, WIDE}, {1, ALL, LONG, WIDE}};
    static const char *const axes[] = {"bthd", "bhtd"};
    static const char *const texts[] = {"rope:dim=256,layout=half", "rope:dim=256"};
    static double at[LONG];
    for (size_t i = 0; i < LONG; i++)
        at[i] = i % 1000 == 7 ? NAN : (double)i - 3;
    struct pe_positions positions = positions_of(at, LONG);
    for (unsigned k = 0; k < 16; k++) {
        enum pe_dtype dtype = (enum pe_dtype)(PE_F64 + k / 4);
        size_t row = WIDE * pe_dtype_size(dtype);
        size_t bytes = ALL * LONG * row;
        char *in = aligned_alloc(64, bytes);
        char *out = aligned_alloc(64, bytes);
        char *one[2] = {malloc(LONG * row), malloc(LONG * row)};
        struct pe_view view_in;
        struct pe_view view_out;
        pe_fill_random(k, "x", PE_CONTENT_NORMAL, 1, 0, bytes / pe_dtype_size(dtype), dtype, in);
        cr_assert(pe_view_init(&view_in, dtype, in, axes[k % 2], shapes[k % 2], 4, 1));
        cr_assert(pe_view_init(&view_out, dtype, out, axes[k % 2], shapes[k % 2], 4, 1));
        apply_views(texts[k / 2 % 2], &positions, 1, false, &view_in, &view_out);
        for (size_t head = 0; head < ALL; head++) {
            for (size_t t = 0; t < LONG; t++)
                memcpy(one[0] + t * row, in + (k % 2 ? head * LONG + t : t * ALL + head) * row,
                       row);
            apply_rows(texts[k / 2 % 2], &positions, false, WIDE, dtype, one[0], dtype, one[1]);
            size_t wrong = 0;
            for (size_t t = 0; t < LONG; t++)
                wrong += memcmp(one[1] + t * row,
                                out + (k % 2 ? head * LONG + t : t * ALL + head) * row, row) != 0;
            cr_expect_eq(wrong, 0, "%s %s %s: %zu", texts[k / 2 % 2], axes[k % 2],
                         pe_dtype_name(dtype), wrong);
        }
        apply_views(texts[k / 2 % 2], &positions, 1, false, &view_in, &view_in);
        cr_expect_eq(memcmp(in, out, bytes), 0, "in place: %s %s", axes[k % 2],
                     pe_dtype_name(dtype));
        free(in), free(out), free(one[0]), free(one[1]);
    }
}

Test(apply, every_variant_gives_the_same_bits)
{
    static const char *const variants[] = {"scalar", "base", "avx2", "avx512"};
    static double x[LARGE_COUNT];
    static double expected[LARGE_COUNT];
    static double got[LARGE_COUNT];
    size_t compared_n = 0;
    for (size_t i = 0; i < LARGE_N; i++)
        for (size_t d = 0; d < 4; d++) {
            size_t count = large[i].dim * large[i].tokens;
            struct pe_positions positions = many_positions(large[i].tokens);
            fill_wild(floats[d], x, count);
            for (size_t v = 0; v < 4; v++) {
                if (!pe_isa_select(variants[v]))
                    continue;
                apply_rows(large[i].spec, &positions, false, large[i].dim, floats[d], x, floats[d],
                           v == 0 ? expected : got);
                if (v == 0)
                    continue;
                compared_n++;
                cr_expect_arr_eq(got, expected, count * pe_dtype_size(floats[d]), "%s, %s: %s",
                                 variants[v], large[i].spec, pe_dtype_name(floats[d]));
            }
        }
    cr_expect_gt(compared_n, 0);
}

/* ---- No position -------------------------------------------------------------------------- */

/* Tokens without a position pass through, bit by bit, and change nothing for the others. */
Test(apply, tokens_without_a_position)
{
    static double x[LARGE_COUNT];
    static double expected[LARGE_COUNT];
    static double got[LARGE_COUNT];
    static double row[512];
    static double column[512];
    static const char *const amplified = "rope:dim=8,scaling=linear,factor=2,attention_factor=1.5";
    for (size_t i = 0; i <= LARGE_N; i++)
        for (size_t d = 0; d < 4; d++)
            for (int staged = 0; staged < 2; staged++) {
                const char *spec = i < LARGE_N ? large[i].spec : amplified;
                size_t dim = i < LARGE_N ? large[i].dim : 8;
                size_t n = 4;
                size_t size = pe_dtype_size(floats[d]);
                struct pe_positions all = many_positions(n);
                struct pe_positions some = {.axes = 2, .n = n, .at = {row, column}};
                memcpy(row, all.at[0], n * sizeof *row);
                memcpy(column, all.at[1], n * sizeof *column);
                row[0] = column[0] = row[2] = column[2] = NAN;
                struct pe_stages stages = {.named = staged ? 1u << PE_STAGE_APPLY : 0,
                                           .dtype = {[PE_STAGE_APPLY] = PE_BF16}};
                struct pe_view in;
                struct pe_view out;
                fill_wild(floats[d], x, n * dim);
                cr_assert(pe_view_init(&in, floats[d], x, "td", (size_t[]){n, dim}, 2, 1));
                out = in;
                out.data = expected;
                apply_staged(spec, &stages, &all, 1, false, &in, &out);
                memcpy(expected, x, dim * size);
                memcpy((char *)expected + 2 * dim * size, (char *)x + 2 * dim * size, dim * size);
                out.data = got;
                apply_staged(spec, &stages, &some, 1, false, &in, &out);
                cr_expect_arr_eq(got, expected, n * dim * size, "%s: %s, stages %d", spec,
                                 pe_dtype_name(floats[d]), staged);
            }
}

/* ---- Dtypes that differ ------------------------------------------------------------------- */

/* Inputs are taken as their exact values, so widening first changes nothing; narrowing is rounding
 * the double result, which rotation to f64 is not far from. */
Test(apply, output_of_another_dtype)
{
    static double x[LARGE_COUNT];
    static double wide[LARGE_COUNT];
    static double expected[LARGE_COUNT];
    static double got[LARGE_COUNT];
    for (size_t i = 0; i < LARGE_N; i++)
        for (size_t from = 0; from < 4; from++)
            for (size_t to = 0; to < 4; to++) {
                size_t count = large[i].dim * large[i].tokens;
                struct pe_positions positions = many_positions(large[i].tokens);
                pe_fill_random(9, "x", PE_CONTENT_NORMAL, 1, 0, count, floats[from], x);
                for (size_t j = 0; j < count; j++)
                    wide[j] = pe_load(floats[from], x, j);
                apply_rows(large[i].spec, &positions, false, large[i].dim, floats[from], x,
                           floats[to], got);
                apply_rows(large[i].spec, &positions, false, large[i].dim, PE_F64, wide, floats[to],
                           expected);
                for (size_t j = 0; j < count; j++)
                    cr_assert_eq(pe_load(floats[to], got, j), pe_load(floats[to], expected, j),
                                 "%s, %s to %s: element %zu", large[i].spec,
                                 pe_dtype_name(floats[from]), pe_dtype_name(floats[to]), j);
            }
}
