// SPDX-License-Identifier: Apache-2.0
/*
 * kinds.c: the table of kinds. A new kind is a file kind_X.c and a row in kinds.def.
 */
#include <stdio.h>
#include <string.h>

#include "kind.h"
#include "nearest.h"
#include "value.h"

static const struct pe_kind *const kinds[] = {
#define KIND(name) &pe__kind_##name,
#include "kinds.def"
#undef KIND
};

size_t pe_kinds_n(void)
{
    return sizeof kinds / sizeof *kinds;
}

const struct pe_kind *pe_kind_at(size_t i)
{
    return kinds[i];
}

bool pe_kind_has_table(const struct pe_kind *kind)
{
    return kind->table_rows || kind->ops->table_size;
}

const char *pe_facet_name(enum pe_facet facet)
{
    static const char *const names[PE_FACETS_N] = {"encoding", "cos",    "sin",   "both", "bias",
                                                   "bucket",   "slopes", "index", "input"};
    return names[facet];
}

unsigned pe_kind_facets(const struct pe_kind *kind)
{
    const unsigned encoding = 1u << PE_FACET_ENCODING;
    if (kind->acts == PE_BIASES)
        return kind->facets;
    if (kind->acts == PE_ROTATES)
        return encoding | 1u << PE_FACET_COS | 1u << PE_FACET_SIN | 1u << PE_FACET_BOTH;
    return encoding;
}

const struct pe_kind *pe_kind_find(const char *name, size_t len)
{
    struct pe__span wanted = {name, len};
    for (size_t i = 0; i < pe_kinds_n(); i++)
        if (pe__span_equal(pe__span_of(kinds[i]->name), wanted) ||
            pe__span_index(pe__span_of(kinds[i]->aliases), ' ', wanted) >= 0)
            return kinds[i];
    return NULL;
}

const struct pe_kind *pe_kind_require(const char *name, size_t len, struct pe_faults *faults)
{
    const struct pe_kind *kind = pe_kind_find(name, len);
    if (kind)
        return kind;
    struct pe__nearest nearest;
    pe__nearest_init(&nearest, (struct pe__span){name, len});
    char hint[64] = "the catalogue lists all kinds", shown[PE__SHOWN_MAX];
    for (size_t i = 0; i < pe_kinds_n(); i++) {
        pe__nearest_offer(&nearest, pe__span_of(kinds[i]->name));
        pe__nearest_offer_list(&nearest, kinds[i]->aliases, ' ');
    }
    if (nearest.best.text)
        snprintf(hint, sizeof hint, "did you mean \"%.*s\"?", (int)nearest.best.len,
                 nearest.best.text);
    pe_fault_add(faults, PE_INVALID_VALUE, "kind", hint, "there is no kind \"%s\"",
                 pe__show_text((struct pe__span){name, len}, shown));
    return NULL;
}
