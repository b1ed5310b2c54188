// SPDX-License-Identifier: Apache-2.0
/* position.h: positions of tokens. See posenc.h. */
#ifndef POSENC_POSITION_H
#define POSENC_POSITION_H

#include <stdbool.h>
#include <stddef.h>

#include "spec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PE_POSITION_MAX    9007199254740992.0 /* 2^53: largest |position| */
#define PE_POSITIONS_N_MAX ((size_t)1 << 20)  /* positions in one list */
#define PE_AXES_MAX        8                  /* position axes of a kind */

/* n tokens with one coordinate per axis: at[axis][token]; doubles, |p| <= PE_POSITION_MAX. A token
 * without a position, such as a class token, has NaN on every axis: its vector passes through, its
 * row of a table is that of the angle 0 (cos 1, sin 0, no attention factor), or zeros where a kind
 * adds. */
struct pe_positions {
    size_t axes, n;
    const double *at[PE_AXES_MAX];
};

/* Reads "7", "0,8,24", "0:128:4", "-4:4", "0:2:0.25", "2^0:2^20" (and mixtures separated by
 * commas) for one axis. Stores at most `max` values in `out`; *n is how many there are. A value is
 * the double nearest to its exact decimal value; integers beyond 2^53 are refused. */
bool pe_positions_parse(const char *text, const char *param, double *out, size_t max, size_t *n,
                        struct pe_faults *faults);
/* The canonical text: constant step and three or more values as a range, else a list. Returns the
 * length it needs, as snprintf does. */
size_t pe_positions_print(const double *at, size_t n, char *out, size_t size);
/* How many of the positions 0, 1, 2, ... have a value, up to the first that has none; infinite:
 * there is no end. */
double pe_positions_end(const struct pe_spec *spec);
/* Whether this kind has a value at each position (learned, binary); `param` names the culprit. */
bool pe_positions_check(const struct pe_spec *spec, const struct pe_positions *positions,
                        const char *param, struct pe_faults *faults);

#ifdef __cplusplus
}
#endif

#endif
