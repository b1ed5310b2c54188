// SPDX-License-Identifier: Apache-2.0
/*
 * elementary.h: functions in plain double arithmetic, the same on every machine, to a few units in
 * the last place: for estimates, which decide what is tried. What is answered comes from plans.
 */
#ifndef PE_CORE_ELEMENTARY_H
#define PE_CORE_ELEMENTARY_H

#define PE__PI  0x1.921fb54442d18p+1
#define PE__LN2 0x1.62e42fefa39efp-1

/* The angle of (x, y) in (-pi, pi], within 4e-16; 0 for (0, 0). */
double pe__arctan2(double y, double x);
/* Natural logarithm of a finite x > 0, and its inverse; relative error of exp, and error of log
 * where that is small, within 4e-16. */
double pe__plain_log(double x);
double pe__plain_exp(double x);
/* An angle less the multiple of 2 pi nearest to it; |angle| < 2^31. */
double pe__wrap(double angle);

#endif
