// SPDX-License-Identifier: Apache-2.0
/*
 * test_phases.c: which channels make a pair, and by what each pair is multiplied, against sums
 * written out: of rotated vectors, of codes that were added, and where nothing is known.
 */
#include <complex.h>
#include <criterion/criterion.h>
#include <math.h>

#include "core/plan_from.h"
#include "identify/elementary.h"
#include "identify/phases.h"

#define BATCHES 2
#define HEADS   3
#define TOKENS  4
#define DIM     8
#define PAIRS   (DIM / 2)
#define COUNT   (BATCHES * HEADS * TOKENS * DIM)
#define NEAR    1e-14

static double x[COUNT], y[COUNT], vector[2 * DIM];
static double memory[PE__PHASES_DOUBLES * BATCHES * TOKENS * PAIRS];
static uint32_t channels[PAIRS][4];

static struct pe_spec spec_of(const char *text)
{
    struct pe_spec spec;
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse(text, &spec, &faults) && pe_spec_finish(&spec, &faults), "%s", text);
    return spec;
}

static struct pe__pairing pairing_of(const char *text)
{
    struct pe__pairing pairing = {.at = channels};
    struct pe_spec spec = spec_of(text);
    pe__pairing_of(&spec, &pairing);
    pe_spec_release(&spec);
    return pairing;
}

Test(phases, pair_channels_as_the_layout_says)
{
    static const struct {
        const char *text;
        size_t pairs;
        uint32_t at[PAIRS][4]; /* two of x, two of y */
    } rows[] = {
        {"rope:dim=8,layout=half", 4, {{0, 4, 0, 4}, {1, 5, 1, 5}, {2, 6, 2, 6}, {3, 7, 3, 7}}},
        {"rope:dim=8,layout=interleaved",
         4,
         {{0, 1, 0, 1}, {2, 3, 2, 3}, {4, 5, 4, 5}, {6, 7, 6, 7}}},
        {"rope:dim=8,layout=half,rotary_dim=4", 2, {{0, 2, 0, 2}, {1, 3, 1, 3}}},
        {"rope:dim=8,layout=half,rotary_dim=4,rotary_offset=3", 2, {{3, 5, 3, 5}, {4, 6, 4, 6}}},
        {"rope:dim=8,layout=interleaved,output_order=halves",
         4,
         {{0, 1, 0, 4}, {2, 3, 1, 5}, {4, 5, 2, 6}, {6, 7, 3, 7}}},
        {"sinusoidal:dim=8,layout=cos_sin",
         4,
         {{0, 4, 0, 4}, {1, 5, 1, 5}, {2, 6, 2, 6}, {3, 7, 3, 7}}},
        {"sinusoidal:dim=8", 4, {{1, 0, 1, 0}, {3, 2, 3, 2}, {5, 4, 5, 4}, {7, 6, 7, 6}}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pe__pairing pairing = pairing_of(rows[i].text);
        cr_assert_eq(pairing.pairs, rows[i].pairs, "%s", rows[i].text);
        for (size_t pair = 0; pair < pairing.pairs; pair++)
            for (size_t k = 0; k < 4; k++)
                cr_expect_eq(pairing.at[pair][k], rows[i].at[pair][k], "%s: pair %zu has %u at %zu",
                             rows[i].text, pair, pairing.at[pair][k], k);
    }
}

/* ---- Factors -------------------------------------------------------------------------------- */

static void fill(double *out, uint64_t seed)
{
    for (size_t i = 0; i < COUNT; i++)
        out[i] = (double)(int64_t)pe_draw(seed, "phases", i + 1) * 0x1p-62;
}

static struct pe_view view_of(double *data)
{
    static const size_t shape[] = {BATCHES, HEADS, TOKENS, DIM};
    struct pe_view view;
    cr_assert(pe_view_init(&view, PE_F64, data, "bhtd", shape, 4, 1));
    return view;
}

static struct pe__phases phases_of(const struct pe__pairing *pairing, bool each_batch)
{
    static struct pe_view from, to;
    from = view_of(x);
    to = view_of(y);
    const struct pe__given given = {.x = &from,
                                    .y = &to,
                                    .lists_n = each_batch ? BATCHES : 1,
                                    .rows = each_batch ? BATCHES * TOKENS : TOKENS,
                                    .axes = 1};
    struct pe__phases phases;
    pe__phases_of(&phases, &given, pairing, memory, vector);
    return phases;
}

/* Of one list of positions 0, 1 ..: y less x of the first head, which is that of all. */
static struct pe__phases phases_added(const struct pe__pairing *pairing)
{
    static double place[TOKENS], added[TOKENS * DIM], vectors[TOKENS];
    static struct pe_view from, to;
    from = view_of(x);
    to = view_of(y);
    struct pe__given given = {
        .x = &from, .y = &to, .lists_n = 1, .rows = TOKENS, .axes = 1, .at = {place}};
    for (size_t token = 0; token < TOKENS; token++) {
        place[token] = (double)token;
        vectors[token] = BATCHES * HEADS;
        for (size_t i = 0; i < DIM; i++)
            added[token * DIM + i] = y[token * DIM + i] - x[token * DIM + i];
    }
    struct pe__phases phases;
    pe__phases_added(&phases, &given, pairing, memory, added, vectors, NAN);
    return phases;
}

static double complex pair_of(const double *data, size_t batch, size_t head, size_t token,
                              const uint32_t *at)
{
    const double *row = data + ((batch * HEADS + head) * TOKENS + token) * DIM;
    return row[at[0]] + I * row[at[1]];
}

/* The least squares of y = f x over all vectors of a row. */
static void expect_factor(const struct pe__phases *phases, const struct pe__pairing *pairing,
                          size_t row, size_t pair, bool each_batch)
{
    double complex products = 0;
    double weight = 0, rest = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t batch = 0; batch < BATCHES; batch++)
            for (size_t head = 0; head < HEADS; head++) {
                if (each_batch && batch != row / TOKENS)
                    continue;
                const uint32_t *at = pairing->at[pair];
                double complex a = pair_of(x, batch, head, row % TOKENS, at);
                double complex b = pair_of(y, batch, head, row % TOKENS, at + 2);
                if (pass == 0) {
                    products += conj(a) * b;
                    weight += creal(a * conj(a));
                } else {
                    double complex off = b - products / weight * a;
                    rest += creal(off * conj(off)) / weight;
                }
            }
    double complex factor = products / weight;
    size_t i = pair * phases->rows + row;
    cr_expect_float_eq(phases->re[i], creal(factor), NEAR);
    cr_expect_float_eq(phases->im[i], cimag(factor), NEAR);
    cr_expect_float_eq(phases->weight[i], weight, NEAR * weight);
    cr_expect_float_eq(phases->rest[i], rest, NEAR * (1 + rest));
    cr_expect_float_eq(phases->angle[i], carg(factor), NEAR);
}

Test(phases, are_of_all_vectors_in_one_place)
{
    static const char *const texts[] = {"rope:dim=8,layout=half",
                                        "rope:dim=8,layout=interleaved,output_order=halves",
                                        "rope:dim=8,rotary_dim=4,rotary_offset=2"};
    fill(x, 0);
    fill(y, 1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int each_batch = 0; each_batch < 2; each_batch++) {
            struct pe__pairing pairing = pairing_of(texts[i]);
            struct pe__phases phases = phases_of(&pairing, each_batch);
            cr_assert_eq(phases.rows, each_batch ? BATCHES * TOKENS : TOKENS);
            cr_assert_eq(phases.pairs, pairing.pairs);
            for (size_t row = 0; row < phases.rows; row++)
                for (size_t pair = 0; pair < phases.pairs; pair++)
                    expect_factor(&phases, &pairing, row, pair, each_batch);
        }
}

/* Every pair was multiplied by one number, so that nothing is left; cosines and sines change places
 * where that is asked. */
Test(phases, leave_nothing_of_what_was_turned)
{
    struct pe__pairing pairing = pairing_of("rope:dim=8,layout=half");
    fill(x, 2);
    for (size_t i = 0; i < COUNT; i += DIM)
        for (size_t pair = 0; pair < PAIRS; pair++) {
            double complex turned = (x[i + pair] + I * x[i + pair + PAIRS]) * (0.6 + 0.8 * I);
            y[i + pair] = creal(turned);
            y[i + pair + PAIRS] = cimag(turned);
        }
    struct pe__phases phases = phases_of(&pairing, false);
    for (size_t i = 0; i < phases.rows * phases.pairs; i++) {
        cr_expect_float_eq(phases.re[i], 0.6, NEAR);
        cr_expect_float_eq(phases.im[i], 0.8, NEAR);
        cr_expect_eq(phases.rest[i], 0);
        cr_expect_float_eq(phases.angle[i], atan2(0.8, 0.6), NEAR);
    }
    pe__phases_swap(&phases);
    for (size_t i = 0; i < phases.rows * phases.pairs; i++) {
        cr_expect_float_eq(phases.re[i], 0.8, NEAR);
        cr_expect_float_eq(phases.im[i], 0.6, NEAR);
        cr_expect_float_eq(phases.angle[i], atan2(0.6, 0.8), NEAR);
    }
}

/* y less x is a cosine and a sine, whatever x is. */
Test(phases, of_what_was_added)
{
    struct pe__pairing pairing = pairing_of("sinusoidal:dim=8,layout=cos_sin");
    fill(x, 3);
    for (size_t i = 0; i < COUNT; i++) {
        size_t token = i / DIM % TOKENS, pair = i % DIM % PAIRS;
        double angle = (double)(token * (pair + 1)) / 4;
        y[i] = x[i] + (i % DIM < PAIRS ? cos(angle) : sin(angle));
    }
    struct pe__phases phases = phases_added(&pairing);
    for (size_t token = 0; token < TOKENS; token++)
        for (size_t pair = 0; pair < PAIRS; pair++) {
            size_t i = pair * TOKENS + token;
            double angle = (double)(token * (pair + 1)) / 4;
            cr_expect_float_eq(phases.re[i], cos(angle), NEAR);
            cr_expect_float_eq(phases.im[i], sin(angle), NEAR);
            cr_expect_float_eq(phases.angle[i], angle, NEAR);
            cr_expect_eq(phases.weight[i], BATCHES * HEADS);
            cr_expect_float_eq(phases.rest[i], 0, NEAR);
        }
}

/* Of zeros and of what is no number nothing is known. */
Test(phases, know_nothing_of_zeros_and_nan)
{
    struct pe__pairing pairing = pairing_of("rope:dim=8,layout=interleaved");
    fill(x, 4);
    fill(y, 5);
    for (size_t i = 0; i < COUNT; i += DIM)
        x[i] = x[i + 1] = 0;
    y[2] = NAN;
    x[TOKENS * DIM + 4] = INFINITY;
    struct pe__phases phases = phases_of(&pairing, false);
    for (size_t pair = 0; pair < PAIRS; pair++)
        for (size_t token = 0; token < TOKENS; token++) {
            size_t i = pair * TOKENS + token;
            bool known = pair == 3 || (pair != 0 && token != 0);
            cr_expect_eq(phases.weight[i] > 0, known, "pair %zu, token %zu", pair, token);
            if (!known)
                cr_expect(phases.re[i] == 0 && phases.im[i] == 0 && phases.rest[i] == 0);
        }
}

/* One vector as doubles, whatever its dtype. */
Test(phases, read_vectors_of_any_dtype)
{
    static const size_t shape[] = {HEADS, TOKENS, DIM};
    static double stored[HEADS * TOKENS * DIM];
    for (enum pe_dtype dtype = 0; dtype < PE_I64; dtype++) {
        struct pe_view view;
        for (size_t i = 0; i < HEADS * TOKENS * DIM; i++)
            pe_store(dtype, stored, i, (double)i / 2);
        cr_assert(pe_view_init(&view, dtype, stored, "htd", shape, 3, 1));
        pe__vector(&view, 0, 2, 3, vector);
        for (size_t i = 0; i < DIM; i++)
            cr_expect_eq(vector[i], (double)((2 * TOKENS + 3) * DIM + i) / 2, "%s",
                         pe_dtype_name(dtype));
    }
}
