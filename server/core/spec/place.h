// SPDX-License-Identifier: Apache-2.0
/*
 * place.h: where a position stands: clamp(position_scale * position + shift), exactly, as the sum
 * of two doubles that all else is computed from.
 */
#ifndef PE_CORE_PLACE_H
#define PE_CORE_PLACE_H

#include "cis.h"
#include "dd.h"
#include "posenc.h"

struct pe__placing {
    double scale, shift;
    double clamp; /* places end at +-clamp; infinite: nowhere */
};

/* Kinds without these parameters, and biases, where the shift cancels, take positions as they are.
 */
struct pe__placing pe__placing_of(const struct pe_spec *spec);
/* False when the place has more digits than two doubles hold or lies beyond 2^54: it is rounded
 * then. NaN stays NaN. */
bool pe__place(const struct pe__placing *placing, double position, struct pe__pos *place);
/* The same of a sum, rounded to some 106 bits where it is no double. */
struct pe__pos pe__place_sum(const struct pe__placing *placing, struct pe__dd position);
/* What the difference of two positions comes to, of places that are not clamped. */
struct pe__pos pe__place_distance(const struct pe__placing *placing, struct pe__dd distance);

#endif
