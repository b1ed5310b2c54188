// SPDX-License-Identifier: Apache-2.0
/*
 * given.h: rotation by cosines and sines that the caller brings instead of a base: a table with a
 * row for each position, the cosines of all pairs, then their sines. They are taken as they are:
 * nothing says that the squares of the two add up to 1.
 */
#ifndef PE_CORE_GIVEN_H
#define PE_CORE_GIVEN_H

#include <mpfr.h>

#include "cis.h"
#include "posenc.h"

#define PE__GIVEN_MAX 0x1p100 /* of the caller's numbers: their products stay in range */

/* In check, with a table. First: no parameter may be given that says where cos and sin come from;
 * they are dropped. Once rotary_dim is known: the width, and the sizes of the numbers. */
bool pe__given_drop(struct pe_spec *spec, struct pe_faults *faults);
bool pe__given_check(struct pe_spec *spec, struct pe_faults *faults);
/* Whether the position is the number of a row; always without a table. */
bool pe__given_has_row(const struct pe_spec *spec, struct pe__pos position, const char *param,
                       struct pe_faults *faults);
/* cos and sin of the pairs [first, first + n) at a position, exact. The same of one pair, for MPFR.
 */
void pe__given_pairs(const struct pe_spec *spec, struct pe__pos at, size_t first, size_t n,
                     struct pe__planes *out);
void pe__given_pair_exact(const struct pe_spec *spec, struct pe__pos at, size_t pair, mpfr_ptr c,
                          mpfr_ptr s);
/* Error bound for products with n of them in double-double, whose own errors are relative to their
 * size; infinite where low parts may underflow. */
double pe__given_eps(const struct pe__planes *planes, size_t n);

#endif
