// SPDX-License-Identifier: Apache-2.0
/* scalings.h: the rows of the table in scalings.c; each stands in the file of its family. */
#ifndef PE_CORE_SCALINGS_H
#define PE_CORE_SCALINGS_H

#include "scaling.h"

extern const struct pe__scaling pe__scaling_linear, pe__scaling_ntk, pe__scaling_ntk_fixed,
    pe__scaling_ntk_mixed, pe__scaling_ntk_divide, pe__scaling_ntk_by_parts, pe__scaling_dynamic,
    pe__scaling_dynamic_step, pe__scaling_yarn, pe__scaling_llama3, pe__scaling_longrope,
    pe__scaling_proportional;

#endif
