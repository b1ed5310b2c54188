// SPDX-License-Identifier: Apache-2.0
/*
 * spectrum.h: what the fits of speeds share: bases and factors (spectrum.c), blends of both
 * (ramps.c), lists (lists.c).
 */
#ifndef PE_CORE_SPECTRUM_H
#define PE_CORE_SPECTRUM_H

#include "decimals.h"
#include "identify_search.h"

#define PE__SPREAD    6   /* times its error: what a parameter may be off */
#define PE__TRIED     8   /* decimals of one interval */
#define PE__BY_FACTOR 4.0 /* of templates */

/* The bases of models and papers, for where the speeds do not say. */
#define PE__USUAL_BASES 20
extern const double pe__usual_bases[PE__USUAL_BASES];

/* -v = x ln b + z ln f by least squares over pairs [first, n); z may be NULL. */
struct pe__estimate pe__fit_base(const struct pe__search *search, const double *z, double ln_f,
                                 size_t first, size_t n);
/* The same with z ln f besides: ln f. */
struct pe__estimate pe__fit_factor(const struct pe__search *search, const double *z);
/* Decimals whose logarithm it is, at most PE__TRIED; *more: there are others that might as well be
 * meant. */
size_t pe__decimals_of(struct pe__estimate ln, double *out, bool *more);
/* A draft that also multiplies lengths as y does; and with each of some values of one parameter,
 * which nothing else depends on. Whether any fits. */
bool pe__propose(struct pe__search *search, const struct pe__draft *draft);
bool pe__propose_each(struct pe__search *search, struct pe__draft *draft, const char *name,
                      const double *values, size_t n);

/* Frequencies that follow no rule. */
bool pe__propose_lists(struct pe__search *search, const struct pe__draft *draft);
/* Scalings that keep the fast pairs. */
bool pe__propose_ramps(struct pe__search *search, const struct pe__draft *draft);

#endif
