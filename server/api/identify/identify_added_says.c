// SPDX-License-Identifier: Apache-2.0
/*
 * identify_added_says.c: what is added to vectors, in words: its kind with what is unusual of it,
 * what to send to settle what is open, what to do next.
 */
#include <string.h>

#include "identify.h"

#define PHRASE_BYTES_MAX 1024

/* Said by others (identify_says.c), or plain from x. */
static bool is_said(const char *name)
{
    static const char *const said[] = {"dim", "base", "shift", "position_scale"};
    bool found = false;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        found = found || strcmp(said[i], name) == 0;
    return found;
}

/* "Position in Gray code, added to x (bit_order=msb)". */
const char *identify_added_says(struct job *job, const struct pe_spec *spec)
{
    struct arena *arena = &job->request->arena;
    const char *text = arena_printf(arena, "%s, added to x", spec->kind->title);
    size_t n = 0;
    for (size_t i = 0; text && i < spec->params.rows_n; i++) {
        const struct pe_param *row = &spec->params.rows[i];
        const struct pe_value *value = &spec->params.value[i];
        char number[PHRASE_BYTES_MAX];
        if (!value->given || is_said(row->name) || !pe_params_applies(&spec->params, i))
            continue;
        if (pe_value_print(row, value, ',', number, sizeof number) < sizeof number)
            text =
                arena_printf(arena, "%s%s%s=%s", text, n++ == 0 ? " (" : ", ", row->name, number);
    }
    return text && n > 0 ? arena_printf(arena, "%s)", text) : text;
}

/* What settles a parameter, or the kind, that rivals differ in. */
static const struct {
    const char *key, *send;
} settles[] = {
    {"bits", "send more positions in a row, such as 0 to 16, and 1000"},
    {"bit_order", "send more positions in a row, such as 0 to 16, and 1000"},
    {"kind", "send more positions in a row, such as 0 to 16, and 1000"},
    {"length", "send positions further apart, such as 0, 1 and 4000"},
    {"normalize_by", "send positions further apart, such as 0, 1 and 4000"},
    {"table_seed", "send more channels or positions: two are drawn alike by chance"},
};

const char *identify_added_send(const char *key)
{
    for (size_t i = 0; i < sizeof settles / sizeof *settles; i++)
        if (strcmp(settles[i].key, key) == 0)
            return settles[i].send;
    return NULL;
}

const char *identify_added_advice(void)
{
    return "y less x is the same for all vectors of a position: something is added, perhaps a "
           "learned table; post its rows to /v1/compare as expected, beside y less x as actual";
}
