// SPDX-License-Identifier: Apache-2.0
/*
 * phases.c: factors of pairs of channels by least squares: the sum of conj(x) y over the sum of
 * |x|^2, with vectors of all heads, and of all batch rows that share their positions.
 */
#include "phases.h"

#include <math.h>

#include "dtype.h"
#include "elementary.h"
#include "kind.h"

void pe__pairing_of(const struct pe_spec *spec, struct pe__pairing *pairing)
{
    pairing->pairs = pe_spec_pairs(spec);
    for (size_t pair = 0; pair < pairing->pairs; pair++) {
        size_t a, b, c, d;
        pe_spec_pair_members(spec, pair, false, &a, &b);
        pe_spec_pair_members(spec, pair, true, &c, &d);
        pairing->at[pair][0] = (uint32_t)a;
        pairing->at[pair][1] = (uint32_t)b;
        pairing->at[pair][2] = (uint32_t)c;
        pairing->at[pair][3] = (uint32_t)d;
    }
}

void pe__vector(const struct pe_view *view, size_t batch, size_t head, size_t token, double *out)
{
    size_t first =
        batch * view->batch_stride + head * view->head_stride + token * view->token_stride;
    const float *floats = (const float *)view->data + first;
    const uint16_t *halves = (const uint16_t *)view->data + first;
    if (view->dtype == PE_F32)
        for (size_t i = 0; i < view->dim; i++)
            out[i] = (double)floats[i];
    else if (view->dtype == PE_BF16)
        for (size_t i = 0; i < view->dim; i++)
            out[i] = pe__bf16_to_f64(halves[i]);
    else
        for (size_t i = 0; i < view->dim; i++)
            out[i] = pe_load(view->dtype, view->data, first + i);
}

/* ---- Sums ---------------------------------------------------------------------------------- */

static void take_turned(struct pe__phases *phases, const struct pe__pairing *pairing, size_t row,
                        const double *x, const double *y)
{
    for (size_t pair = 0; pair < phases->pairs; pair++) {
        const uint32_t *channel = pairing->at[pair];
        double a = x[channel[0]], b = x[channel[1]], c = y[channel[2]], d = y[channel[3]];
        size_t at = pair * phases->rows + row;
        phases->re[at] += a * c + b * d;
        phases->im[at] += a * d - b * c;
        phases->weight[at] += a * a + b * b;
        phases->rest[at] += c * c + d * d;
    }
}

/* What is left of numbers of doubles that should be equal. */
#define CANCELS 0x1p-46

/* From sums to factors; `rest` has the sum of |y|^2. */
static void conclude(struct pe__phases *phases)
{
    for (size_t i = 0; i < phases->rows * phases->pairs; i++) {
        double w = phases->weight[i];
        if (!(w > 0) || !isfinite(w) || !isfinite(phases->rest[i])) {
            phases->weight[i] = phases->re[i] = phases->im[i] = phases->rest[i] = 0;
            continue;
        }
        double re = phases->re[i] / w, im = phases->im[i] / w;
        double explained = re * re + im * im, rest = phases->rest[i] / w - explained;
        phases->re[i] = re;
        phases->im[i] = im;
        phases->rest[i] = rest > CANCELS * explained ? rest : 0;
        phases->angle[i] = pe__arctan2(im, re);
    }
}

static void lay_out(struct pe__phases *phases, size_t rows, size_t pairs, double *memory)
{
    size_t n = rows * pairs;
    *phases = (struct pe__phases){rows,           pairs,          memory,        memory + n,
                                  memory + 2 * n, memory + 3 * n, memory + 4 * n};
    for (size_t i = 0; i < PE__PHASES_DOUBLES * n; i++)
        memory[i] = 0;
}

void pe__phases_of(struct pe__phases *phases, const struct pe__given *given,
                   const struct pe__pairing *pairing, double *memory, double *vector)
{
    const struct pe_view *x = given->x;
    lay_out(phases, given->rows, pairing->pairs, memory);
    for (size_t batch = 0; batch < x->batches; batch++)
        for (size_t head = 0; head < x->heads; head++)
            for (size_t token = 0; token < x->tokens; token++) {
                pe__vector(x, batch, head, token, vector);
                pe__vector(given->y, batch, head, token, vector + x->dim);
                take_turned(phases, pairing, (given->lists_n > 1 ? batch * x->tokens : 0) + token,
                            vector, vector + x->dim);
            }
    conclude(phases);
}

void pe__phases_added(struct pe__phases *phases, const struct pe__given *given,
                      const struct pe__pairing *pairing, double *memory, const double *added,
                      const double *vectors, double padding)
{
    lay_out(phases, given->rows, pairing->pairs, memory);
    for (size_t pair = 0; pair < pairing->pairs; pair++) {
        uint32_t c = pairing->at[pair][0], s = pairing->at[pair][1];
        if (c == (uint32_t)PE__NO_CHANNEL || s == (uint32_t)PE__NO_CHANNEL)
            continue;
        for (size_t row = 0; row < given->rows; row++) {
            const double *from = added + row * given->x->dim;
            size_t at = pair * given->rows + row;
            if (given->at[0][row] == padding)
                continue;
            phases->re[at] = from[c];
            phases->im[at] = from[s];
            phases->weight[at] = vectors[row];
            phases->angle[at] = pe__arctan2(from[s], from[c]);
        }
    }
}

void pe__phases_swap(struct pe__phases *phases)
{
    for (size_t i = 0; i < phases->rows * phases->pairs; i++) {
        double re = phases->re[i];
        phases->re[i] = phases->im[i];
        phases->im[i] = re;
        phases->angle[i] = pe__arctan2(re, phases->re[i]);
    }
}
