// SPDX-License-Identifier: Apache-2.0
/*
 * dots.h: sums of dot products of doubles, which biases made of q and k consist of.
 */
#ifndef PE_CORE_DOTS_H
#define PE_CORE_DOTS_H

#include "ball.h"

#define PE__DOTS_MAX 2

/* a[0].b[0] + a[1].b[1] + ..., vectors of n elements. */
struct pe__dots {
    size_t n, dots_n;
    const double *a[PE__DOTS_MAX], *b[PE__DOTS_MAX];
};

struct pe__ball pe__dots_ball(const struct pe__dots *dots);
/* Correctly rounded to the precision of y. */
void pe__dots_exact(const struct pe__dots *dots, mpfr_t y);

#endif
