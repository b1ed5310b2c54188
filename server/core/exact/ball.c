// SPDX-License-Identifier: Apache-2.0
/* ball.c: balls of values that only MPFR can give; see ball.h. */
#include "ball.h"

#define BITS   128 /* of the value, so that its own error is nothing beside that of hi + lo */
#define LO_MIN 0x1p-900

struct pe__ball pe__ball_from(pe__exact_fn *exact, const void *context, size_t i)
{
    MPFR_DECL_INIT(y, BITS);
    exact(context, i, y);
    struct pe__ball ball = {mpfr_get_d(y, MPFR_RNDN), 0, INFINITY};
    if (mpfr_zero_p(y))
        return pe__ball_exact(0);
    if (!isfinite(ball.hi) || fabs(ball.hi) < LO_MIN)
        return ball;
    mpfr_sub_d(y, y, ball.hi, MPFR_RNDN);
    ball.lo = mpfr_get_d(y, MPFR_RNDN);
    ball.eps = fabs(ball.hi) * 0x1p-104;
    return ball;
}
