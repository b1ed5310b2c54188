// SPDX-License-Identifier: Apache-2.0
/*
 * phases.h: what x and y say when channels are taken in pairs: the complex number by which each
 * pair is multiplied at each position, by all vectors that stand there.
 */
#ifndef PE_CORE_PHASES_H
#define PE_CORE_PHASES_H

#include "posenc.h"

/* x and y, and where their vectors stand: a row is a position in one list, or in all of them. */
struct pe__given {
    const struct pe_view *x, *y;
    size_t lists_n, rows, axes;
    const double *at[PE_AXES_MAX]; /* [rows]; NaN: none */
};

/* Channels of each pair: of rotating specs its members in x and in y, of adding ones those of its
 * cosine and its sine, twice; PE__NO_CHANNEL for none. */
struct pe__pairing {
    size_t pairs;
    uint32_t (*at)[4];
};
void pe__pairing_of(const struct pe_spec *spec, struct pe__pairing *pairing);

struct pe__phases {
    size_t rows, pairs;
    /* Each [pairs][rows], pair by pair. */
    double *re, *im; /* the factor of the best fit */
    double *weight;  /* its denominator, the sum of |x|^2; 0: nothing is known */
    double *rest;    /* |y - factor x|^2 over the same */
    double *angle;   /* of the factor */
};
#define PE__PHASES_DOUBLES 5 /* for each row and pair */

/* `vector`: two vectors of doubles. */
void pe__phases_of(struct pe__phases *phases, const struct pe__given *given,
                   const struct pe__pairing *pairing, double *memory, double *vector);

/* The same of what was added, which is its cosines and sines: [rows][dim], by so many vectors of
 * each row; nothing is known of those at `padding`. */
void pe__phases_added(struct pe__phases *phases, const struct pe__given *given,
                      const struct pe__pairing *pairing, double *memory, const double *added,
                      const double *vectors, double padding);

/* As if cosines and sines had changed places. */
void pe__phases_swap(struct pe__phases *phases);

/* One vector as doubles. */
void pe__vector(const struct pe_view *view, size_t batch, size_t head, size_t token, double *out);

#endif
