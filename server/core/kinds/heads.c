// SPDX-License-Identifier: Apache-2.0
/* heads.c: rules that bias kinds share; see heads.h. */
#include "heads.h"

#include <math.h>

#include "params.h"
#include "value.h"

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

bool pe__heads_check_list(struct pe_spec *spec, const char *name, struct pe_faults *faults)
{
    struct pe_value *heads = pe__params_value(&spec->params, "heads");
    const struct pe_value *list = pe__params_value(&spec->params, name);
    if (!list->set || !heads->set || list->list_n == 1)
        return true;
    if (!heads->given && list->list_n <= PE_HEADS_MAX) {
        pe__params_derive(&spec->params, "heads", (double)list->list_n);
        heads->given = true; /* the next list has to agree */
        return true;
    }
    if (heads->number == (double)list->list_n)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, name, NULL,
                        "%s must have one number, or one for each of heads=%.0f; got %zu", name,
                        heads->number, list->list_n);
}

double pe__heads_number(const struct pe_spec *spec, const char *name, size_t head)
{
    const struct pe_value *list = pe_params_get(&spec->params, name);
    return list->list[list->list_n == 1 ? 0 : head];
}

bool pe__heads_whole(const struct pe_spec *spec, struct pe__pos position, const char *param,
                     struct pe_faults *faults)
{
    char shown[PE__SHOWN_MAX];
    if (position.hi == floor(position.hi))
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, param, NULL,
                        "positions must be integers for %s, got %s", spec->kind->name,
                        pe__show_number(position.hi, shown));
}

#define MPFR_WORK (1 << 14) /* some microseconds */

size_t pe__heads_work(const struct pe_spec *spec)
{
    return MPFR_WORK + pe_spec_dim(spec);
}
