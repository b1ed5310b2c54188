// SPDX-License-Identifier: Apache-2.0
/*
 * bits.h: what the kinds share that write a whole number into channels, a bit in each.
 */
#ifndef PE_CORE_BITS_H
#define PE_CORE_BITS_H

#include "kind.h"
#include "rows.h"

#define PE__BITS_ROWS                                                                              \
    PE__ROW_DIM(1, 0),                                                                             \
        {.name = "bits",                                                                           \
         .type = PE_INT,                                                                           \
         .min = 1,                                                                                 \
         .max = PE_DIM_MAX,                                                                        \
         .flags = PE_DERIVED,                                                                      \
         .fallback = "@dim",                                                                       \
         .help = "Bits written to the first channels, at most dim; the other channels are 0."},    \
        {.name = "bit_order",                                                                      \
         .aliases = "order",                                                                       \
         .type = PE_ENUM,                                                                          \
         .choices = "lsb msb",                                                                     \
         .flags = PE_QUIET,                                                                        \
         .fallback = "lsb",                                                                        \
         .help = "lsb has the lowest bit, which changes at every step, in the first channel, msb " \
                 "in the last of the bits, as one writes numbers."},                               \
        {.name = "signed",                                                                         \
         .type = PE_BOOL,                                                                          \
         .flags = PE_QUIET,                                                                        \
         .fallback = "false",                                                                      \
         .help = "Bits are 1 and -1 instead of 1 and 0."},                                         \
        PE__ROW_SHIFT

/* bits <= dim. */
bool pe__bits_check(struct pe_spec *spec, struct pe_faults *faults);
/* Whether it is a whole number of that many bits. */
bool pe__bits_has_position(const struct pe_spec *spec, struct pe__pos position, const char *param,
                           struct pe_faults *faults);
/* A position that there is, as a number. */
uint64_t pe__bits_number(struct pe__pos position);
/* Channels [first, first + n) of a number that has no more bits than the spec allows. */
void pe__bits_row(const struct pe_spec *spec, uint64_t number, size_t first, size_t n, double *hi,
                  double *lo);

#endif
