// SPDX-License-Identifier: Apache-2.0
/*
 * turning.h: how fast each pair turns with the position: a straight line through its angles, of
 * which only the remainder modulo 2 pi is known.
 */
#ifndef PE_CORE_TURNING_H
#define PE_CORE_TURNING_H

#include "phases.h"

/* What angles are known to: of one row, and for each radian that a pair has turned. */
struct pe__noise {
    double angle, drift;
};

/* Angle = speed (p - p0) + angle0 modulo 2 pi. */
struct pe__turning {
    double speed, error; /* radians per position; error INFINITY: not known */
    double p0, angle0;
    double step;  /* the smallest distance of two positions: speed is known modulo 2 pi over it */
    double worst; /* the largest residual, over what was to be expected */
};

/* By the rows in order of their places on one axis (`order`, n of them). */
struct pe__turning pe__turning_of(const struct pe__phases *phases, size_t pair, const double *at,
                                  const uint32_t *order, size_t n, const struct pe__noise *noise);
/* The same when the angle is known to be 0 at a place: the line begins there. speed has been
 * resolved (see step). */
void pe__turning_from(struct pe__turning *turning, double origin, const struct pe__phases *phases,
                      size_t pair, const double *at, const uint32_t *order, size_t n,
                      const struct pe__noise *noise);

#endif
