// SPDX-License-Identifier: Apache-2.0
/*
 * coordinate.h: what frequencies are multiplied by: the position on an axis, or a real number that
 * the kind makes of a token's positions, such as a logarithm. Those are not sums of two doubles:
 * the digit tables give cos and sin at a sum next to the number, and the first terms of their
 * series what is left.
 */
#ifndef PE_CORE_COORDINATE_H
#define PE_CORE_COORDINATE_H

#include "kind.h"
#include "operation.h"

/* One axis of a token. */
struct pe__coordinate {
    const struct pe_plan *plan;
    const struct pe__pos *at; /* per axis */
    size_t axis;
};

/* As a number to any precision (a pe__exact_fn, `i` unused) and as a ball. */
void pe__coordinate_exact(const void *coordinate, size_t i, mpfr_t y);
struct pe__ball pe__coordinate_ball(const struct pe__coordinate *coordinate);
/* pe__cis_row and pe__cis_exact of it. */
double pe__coordinate_cis_row(const struct pe__coordinate *coordinate, struct pe__walk *walk,
                              size_t first, size_t n, struct pe__planes *out);
void pe__coordinate_cis_exact(const struct pe__coordinate *coordinate, size_t k, mpfr_ptr c,
                              mpfr_ptr s);

#endif
