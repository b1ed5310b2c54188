// SPDX-License-Identifier: Apache-2.0
/*
 * scores_staged.h: scores whose elements are encoded one by one, because stages round on the way,
 * or because only the places say it all, where q and k have encodings of their own. Sums over the
 * cell's vectors and lengths, as balls and by MPFR.
 */
#ifndef PE_CORE_SCORES_STAGED_H
#define PE_CORE_SCORES_STAGED_H

#include "scores_parts.h"

/* Vector v of q or k, encoded at a place. */
struct pe__encoded {
    const struct pe__cell *cell;
    const double *vectors;
    size_t v;
    const struct pe__spot *at;
    const struct pe__row *code; /* the encoding's values there */
};

/* Whether there is what scores from distances alone would not show: a stage, two encodings. */
bool pe__scores_are_staged(const struct pe_scores *job);

/* The score summed over the cell's vectors, without scale and normalization. */
struct pe__ball pe__staged_sum(const struct pe__cell *cell);
void pe__staged_sum_exact(const struct pe__cell *cell, mpfr_t y);
/* Length and its square. */
struct pe__ball pe__staged_length(const struct pe__encoded *encoded);
void pe__staged_square_exact(const struct pe__encoded *encoded, mpfr_t y);

#endif
