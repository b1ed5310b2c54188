// SPDX-License-Identifier: Apache-2.0
/*
 * method.h: how libraries come to frequencies and angles in f32, where one rounding of the formula
 * gives other numbers: torch by a power and its reciprocal, ggml by a running product of angles.
 */
#ifndef PE_CORE_METHOD_H
#define PE_CORE_METHOD_H

#include <mpfr.h>

#include "posenc.h"

enum pe__method { PE__METHOD_EXACT, PE__METHOD_RECIPROCAL, PE__METHOD_ITERATED };

/* The parameter freq_method; PE__METHOD_EXACT for kinds without it. */
enum pe__method pe__method_of(const struct pe_spec *spec);

/* fl(1 / fl(base^fl(2k / width))), each rounded to f32. */
double pe__method_reciprocal(mpfr_srcptr base, size_t k, size_t width);
/* What each angle is multiplied by to have the next one: fl(fl(base)^fl(-2 / width)). */
double pe__method_step(mpfr_srcptr base, size_t width);

#endif
