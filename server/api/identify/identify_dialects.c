// SPDX-License-Identifier: Apache-2.0
/*
 * identify_dialects.c: the libraries whose way of doing it gives what was found: their dialect sets
 * the same pairs, frequencies and lengths, and where numbers were rounded on the way, they round
 * there.
 */
#include <string.h>

#include "identify.h"

/* The value of a name in "name=value,..", `len` bytes; NULL: there is none. */
static const char *value_in(const char *keys, const char *name, size_t *len)
{
    size_t name_len = strlen(name);
    while (keys && *keys) {
        size_t text = strcspn(keys, ",");
        if (strncmp(keys, name, name_len) == 0 && keys[name_len] == '=') {
            *len = text - name_len - 1;
            return keys + name_len + 1;
        }
        keys += text + (keys[text] == ',');
    }
    return NULL;
}

/* What is given of the candidate, but for the keys that the dialect sets. */
static void copy_given(const struct pe_dialect *row, const struct pe_params *from,
                       struct pe_params *to)
{
    struct pe_faults faults = {0};
    size_t len;
    for (size_t i = 0; i < from->rows_n; i++) {
        const struct pe_value *value = &from->value[i];
        const char *name = from->rows[i].name;
        if (!value->given || value_in(row->keys, name, &len))
            continue;
        if (value->list)
            pe_params_set_list(to, name, value->list, value->list_n, &faults);
        else
            to->value[i] = *value;
    }
}

static bool rounds_alike(const struct pe_dialect *row, const struct pe_stages *stages,
                         enum pe_dtype dtype)
{
    struct pe_faults faults = {0};
    struct pe_stages own = {0};
    size_t len = 0;
    const char *text = value_in(row->request, "stages", &len);
    if (!text || !pe_stages_parse(text, len, dtype, "stages", &own, NULL, &faults) ||
        own.named != stages->named)
        return false;
    for (int stage = 0; stage < PE_STAGES_N; stage++)
        if (own.named >> stage & 1 && own.dtype[stage] != stages->dtype[stage])
            return false;
    return true;
}

/* Whether the dialect comes to frequencies by a method that gives the same bits. */
static bool has_method(const struct pe_dialect *row, const struct pe_candidate *candidate)
{
    const struct pe_params *params = &candidate->spec.params;
    int at = pe_params_find(params, "freq_method", 11);
    size_t len = 0, name_len;
    const char *text = value_in(row->method, "freq_method", &len);
    for (unsigned i = 0; at >= 0 && text && candidate->methods >> i; i++) {
        const char *name = pe_choice_name(&params->rows[at], i, &name_len);
        if (name_len == len && memcmp(name, text, len) == 0)
            return candidate->methods >> i & 1;
    }
    return at < 0 || (!text && (candidate->methods & 1));
}

static bool does_it(const struct pe_dialect *row, const struct identify *own,
                    const struct pe_candidate *candidate)
{
    const struct pe_spec *spec = &candidate->spec;
    struct pe_faults faults = {0};
    struct pe_spec other;
    bool staged = candidate->stages.named != 0;
    if (!pe_dialect_has(row, spec->kind) ||
        (staged &&
         !(rounds_alike(row, &candidate->stages, own->dtype) && has_method(row, candidate))))
        return false;
    pe_spec_init(&other, spec->kind);
    copy_given(row, &spec->params, &other.params);
    bool same = pe_dialect_apply(row, &other, false, &faults) && pe_spec_finish(&other, &faults) &&
                pe_spec_same_numbers(&other, spec);
    pe_spec_release(&other);
    return same;
}

const char *identify_dialect(const struct identify *own, const struct pe_candidate *candidate,
                             size_t *row)
{
    bool as_said = candidate->twist == PE_TWIST_NONE && candidate->explains != PE_EXPLAINS_NOT;
    while (as_said && *row < pe_dialects_n()) {
        const struct pe_dialect *at = pe_dialect_at((*row)++);
        if (does_it(at, own, candidate))
            return at->name;
    }
    return NULL;
}
