// SPDX-License-Identifier: Apache-2.0
/*
 * heads.c: the rule that bias kinds share between `heads` and `head`.
 */
#include "heads.h"
#include "params.h"

bool pe__heads_check(struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *heads = pe__params_value(&spec->params, "heads");
    const struct pe_value *head = pe__params_value(&spec->params, "head");
    if (!heads->set || !head->set || head->number < heads->number)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, "head", NULL,
                        "head must be less than heads (%.0f), got %.0f", heads->number,
                        head->number);
}
