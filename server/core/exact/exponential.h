// SPDX-License-Identifier: Apache-2.0
/*
 * exponential.h: e^x of a double-double: as a ball, and correctly rounded.
 */
#ifndef PE_CORE_EXPONENTIAL_H
#define PE_CORE_EXPONENTIAL_H

#include "ball.h"

#define PE__EXP_ERROR 0x1p-92 /* relative, of pe__exp_ball */

/* e^x, x off by a relative 2^-102. Below -600 and beyond 700 nothing is known. */
struct pe__ball pe__exp_ball(struct pe__dd x);
/* e^(hi + lo), rounded once; hi + lo is exact and no NaN. Infinities as IEEE says. */
double pe__exp(struct pe__dd x);

#endif
