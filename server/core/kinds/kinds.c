// SPDX-License-Identifier: Apache-2.0
/*
 * kinds.c: the table of kinds, in the order of the catalogue. A new kind is a file kind_X.c and a
 * row here.
 */
#include <stdio.h>
#include <string.h>

#include "kind.h"
#include "nearest.h"
#include "value.h"

static const struct pe_kind *const kinds[] = {
    &pe__kind_none, &pe__kind_integer, &pe__kind_binary, &pe__kind_sinusoidal, &pe__kind_learned,
    &pe__kind_rope, &pe__kind_rope2d,  &pe__kind_alibi,  &pe__kind_t5,
};

size_t pe_kinds_n(void)
{
    return sizeof kinds / sizeof *kinds;
}

const struct pe_kind *pe_kind_at(size_t i)
{
    return kinds[i];
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
    char list[160] = "", hint[64] = "", shown[PE__SHOWN_MAX];
    size_t used = 0;
    for (size_t i = 0; i < pe_kinds_n() && used < sizeof list; i++) {
        pe__nearest_offer(&nearest, pe__span_of(kinds[i]->name));
        pe__nearest_offer_list(&nearest, kinds[i]->aliases, ' ');
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                 kinds[i]->name);
    }
    if (nearest.best.text)
        snprintf(hint, sizeof hint, "did you mean \"%.*s\"?", (int)nearest.best.len,
                 nearest.best.text);
    pe_fault_add(faults, PE_INVALID_VALUE, "kind", hint, "kind must be one of %s; got \"%s\"", list,
                 pe__show_text((struct pe__span){name, len}, shown));
    return NULL;
}
