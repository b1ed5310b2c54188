// SPDX-License-Identifier: Apache-2.0
/*
 * heads.h: the rule that bias kinds share between `heads` and `head`.
 */
#ifndef PE_CORE_HEADS_H
#define PE_CORE_HEADS_H

#include "posenc.h"

/* head < heads, once both have a value. */
bool pe__heads_check(struct pe_spec *spec, struct pe_faults *faults);

#endif
