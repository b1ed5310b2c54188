// SPDX-License-Identifier: Apache-2.0
/* scores_check.c: which encodings have scores that one anchor and one offset say all about. */
#include "kind.h"

#define COMPACT_MAX 120 /* bytes shown of a compact form */

static bool check_turning(const struct pe_spec *spec, struct pe_faults *faults)
{
    char compact[COMPACT_MAX];
    if (pe_spec_turns(spec))
        return true;
    pe_spec_compact(spec, compact, sizeof compact);
    return pe_fault_add(faults, PE_INVALID_VALUE, "kind",
                        "POST /v1/apply gives the vectors at their positions",
                        "%s does not turn its pairs by one angle each: scores depend on both "
                        "positions, not on the distance",
                        compact);
}

bool pe_scores_show(const struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_kind *kind = spec->kind;
    bool ok = true;
    if (pe_spec_has_scales(spec))
        ok = pe_fault_add(faults, PE_INVALID_VALUE, "kind", "/v1/apply multiplies q and divides k",
                          "kind=%s multiplies scores by a factor of the distance, which they do "
                          "not show here",
                          kind->name);
    if (pe_spec_is_polar(spec))
        ok =
            pe_fault_add(faults, PE_INVALID_VALUE, "kind", "/v1/apply gives the vectors of q and k",
                         "kind=%s makes scores of vectors twice as wide, which they do not show "
                         "here",
                         kind->name);
    return ok;
}

bool pe_scores_check(const struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_kind *kind = spec->kind;
    bool ok = true;
    if (pe_spec_axes(spec) > 1)
        ok = pe_fault_add(faults, PE_INVALID_VALUE, "kind",
                          "scores against one offset need a kind with one axis",
                          "kind=%s has %zu position axes", kind->name, pe_spec_axes(spec));
    if (kind->properties & PE_CONTEXT)
        ok = pe_fault_add(faults, PE_INVALID_VALUE, "kind", "POST /v1/apply",
                          "kind=%s needs all keys between the two: post scores, q and k",
                          kind->name);
    ok = pe_scores_show(spec, faults) && ok;
    return check_turning(spec, faults) && ok;
}
