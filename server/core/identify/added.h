// SPDX-License-Identifier: Apache-2.0
/*
 * added.h: the searches for what was added to the vectors, as added.c runs them. Each offers specs
 * and has them judged.
 */
#ifndef PE_CORE_ADDED_H
#define PE_CORE_ADDED_H

#include "identify_search.h"

typedef enum pe_status pe__added_fn(struct pe__search *search);

pe__added_fn pe__added_codes;   /* numbers and bits of the position, wavelets */
pe__added_fn pe__added_circles; /* sines and cosines of a series of frequencies */
pe__added_fn pe__added_fourier; /* of frequencies that are drawn, doubled or listed */
pe__added_fn pe__added_table;   /* rows of a table that was drawn */

/* The pairs of a draft are those of the search, with their lines, if what was added lies on a
 * circle in all of them. */
bool pe__added_pairs(struct pe__search *search, const struct pe__draft *draft);
/* Offers the spec of a draft without frequencies, if it adds what was added in every row. */
bool pe__added_offer(struct pe__search *search, const struct pe__draft *draft);
/* How far off one number of what was added may be that is as large as `value`. */
double pe__added_limit(const struct pe__search *search, double value);
/* The first seed to be tried, 0 or the one that is known; and how many: n, or that one. */
double pe__added_seeds(const struct pe__search *search, const char *kind, const char *name,
                       size_t *n);
/* Whether one of some thousand guesses may agree by chance with n numbers, each of which is told to
 * some part of what it may be. */
bool pe__added_by_chance(size_t n, double part);

#endif
