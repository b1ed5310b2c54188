// SPDX-License-Identifier: Apache-2.0
/* angles.h: the angle of a pair at a token as a real number, shared by angles.c and precision.c. */
#ifndef PE_CORE_ANGLES_H
#define PE_CORE_ANGLES_H

#include "coordinate.h"

struct pe__angle {
    const struct pe_plan *plan;
    struct pe__coordinate coordinate;
    enum pe_angle form;
};

/* Of frequency k, whose ball w is (pe__plan_frequency_ball). */
struct pe__ball pe__angle_ball(const struct pe__angle *angle, size_t k, struct pe__ball w);
/* The same to the precision of y: a pe__exact_fn with the angle as its context. */
void pe__angle_exact(const void *context, size_t k, mpfr_t y);

#endif
