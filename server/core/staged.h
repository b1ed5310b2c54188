// SPDX-License-Identifier: Apache-2.0
/*
 * staged.h: the stages angle and table of a plan, shared by staged.c and plan.c.
 */
#ifndef PE_CORE_STAGED_H
#define PE_CORE_STAGED_H

#include "coordinate.h"
#include "round.h"

/* Coordinate times frequency k in the plan's unit, to the precision of y (relative error < 2^(6 -
 * precision)); without angle stage and direction. */
void pe__plan_angle(const struct pe__coordinate *coordinate, size_t k, mpfr_t y);
/* Radians per position of frequency k, as a ball. */
struct pe__ball pe__plan_speed_ball(const struct pe_plan *plan, size_t k);
/* With an angle stage: the same in radians, rounded; without direction. Infinite beyond the range
 * of the dtype. */
double pe__staged_angle(const struct pe__coordinate *coordinate, size_t k);
/* pe__cis_row and pe__cis_exact of the rounded angles; NaN for infinite ones. */
double pe__staged_cis_row(const struct pe__coordinate *coordinate, size_t first, size_t n,
                          struct pe__planes *out);
void pe__staged_cis_exact(const struct pe__coordinate *coordinate, size_t k, mpfr_ptr c,
                          mpfr_ptr s);
/* With a table stage: n values hi + lo off by at most eps, rounded in place; exact(context, first +
 * j) computes the doubtful ones. */
void pe__staged_values(const struct pe_plan *plan, pe__exact_fn *exact, const void *context,
                       size_t first, size_t n, double eps, double *hi, double *lo);

#endif
