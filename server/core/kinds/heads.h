// SPDX-License-Identifier: Apache-2.0
/*
 * heads.h: what bias kinds share: rules about `heads` and positions, and the distance.
 */
#ifndef PE_CORE_HEADS_H
#define PE_CORE_HEADS_H

#include "kind.h"

/* head < heads, once both have a value. */
bool pe__heads_check(struct pe_spec *spec, struct pe_faults *faults);
/* A list has one number for all heads, or one for each; in the latter case it says how many heads
 * there are, if that is not given. */
bool pe__heads_check_list(struct pe_spec *spec, const char *name, struct pe_faults *faults);
/* has_position of kinds that take whole numbers only. */
bool pe__heads_whole(const struct pe_spec *spec, struct pe__pos position, const char *param,
                     struct pe_faults *faults);
/* `work` of kinds whose biases are made by MPFR. */
size_t pe__heads_work(const struct pe_spec *spec);
/* The number of a head in such a list. */
double pe__heads_number(const struct pe_spec *spec, const char *name, size_t head);

/* query - key, and its size, correctly rounded to the precision of y. */
static inline void pe__offset_exact(const struct pe__bias_at *at, mpfr_t y)
{
    mpfr_set_d(y, at->query, MPFR_RNDN);
    mpfr_sub_d(y, y, at->key, MPFR_RNDN);
}

static inline void pe__distance_exact(const struct pe__bias_at *at, mpfr_t y)
{
    pe__offset_exact(at, y);
    mpfr_abs(y, y, MPFR_RNDN);
}

#endif
