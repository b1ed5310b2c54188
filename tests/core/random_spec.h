// SPDX-License-Identifier: Apache-2.0
/*
 * random_spec.h: random compact forms of specs, from the rows of a kind; the same ones in every
 * run.
 */
#ifndef TESTS_CORE_RANDOM_SPEC_H
#define TESTS_CORE_RANDOM_SPEC_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "posenc.h"

#define RANDOM_TEXT_MAX 256 /* of one value */

/* Parses and finishes; the spec needs release when true. */
static inline bool read_spec(const char *text, struct pe_spec *spec, struct pe_faults *faults)
{
    if (!pe_spec_parse(text, spec, faults))
        return false;
    if (pe_spec_finish(spec, faults))
        return true;
    pe_spec_release(spec);
    return false;
}

static uint64_t random_draws;

static inline uint64_t random_below(uint64_t n)
{
    return pe_draw(0, "spec", ++random_draws) % n;
}

/* A number that the row allows: at an end, small, of medium size, with or without a fraction. */
static inline double random_number(const struct pe_param *row)
{
    uint64_t form = random_below(8);
    double least = row->flags & PE_OPEN_MIN ? nextafter(row->min, INFINITY) : row->min;
    double span = fmin(row->max - row->min, form < 5 ? 16 : 2000);
    if (form < 2)
        return form ? row->max : least;
    if (row->type == PE_INT) {
        double value = row->min + (double)random_below((uint64_t)span + 1);
        return row->multiple_of ? value - fmod(value, row->multiple_of) : value;
    }
    double value = row->min + (double)random_below((uint64_t)1 << 53) * 0x1p-53 * span;
    return random_below(2) ? value : floor(value * 4) / 4;
}

static inline void random_text(const struct pe_param *row, char out[RANDOM_TEXT_MAX])
{
    double number = random_number(row);
    if (row->type == PE_BOOL) {
        snprintf(out, RANDOM_TEXT_MAX, "%s", random_below(2) ? "true" : "false");
    } else if (row->type == PE_ENUM) {
        size_t n = 1, len;
        for (const char *p = row->choices; *p; p++)
            n += *p == ' ';
        const char *name = pe_choice_name(row, (double)random_below(n), &len);
        snprintf(out, RANDOM_TEXT_MAX, "%.*s", (int)len, name);
    } else if (row->type == PE_REALS) {
        size_t len = (size_t)snprintf(out, RANDOM_TEXT_MAX, "%.17g", number);
        for (size_t n = (size_t)1 << random_below(4); n > 1; n--)
            len += (size_t)snprintf(out + len, RANDOM_TEXT_MAX - len, "+%.17g", random_number(row));
    } else {
        snprintf(out, RANDOM_TEXT_MAX, "%.17g", number);
    }
}

/* Whether a row is read beside the keys in `text` ("rope:dim=8,scaling=yarn"), as far as it says.
 */
static inline bool is_read(const struct pe_param *row, const char *text)
{
    char key[64];
    size_t len = row->when ? strcspn(row->when, "=") + 1 : 0;
    if (len == 0)
        return true;
    snprintf(key, sizeof key, "%.*s", (int)len, row->when);
    const char *value = strstr(text, key);
    size_t value_len = value ? strcspn(value + len, ",") : 0;
    for (const char *choice = row->when + len; value; choice++) {
        size_t n = strcspn(choice, "|");
        if (n == value_len && memcmp(choice, value + len, n) == 0)
            return true;
        choice += n;
        if (*choice == '\0')
            break;
    }
    return false;
}

/* A text of the kind with some of its keys; not necessarily a valid spec. */
static inline void random_spec(const struct pe_kind *kind, char *out, size_t size)
{
    size_t len = (size_t)snprintf(out, size, "%s", kind->name);
    bool first = true;
    for (size_t i = 0; i < kind->params_n; i++) {
        const struct pe_param *row = &kind->params[i];
        bool read = is_read(row, out), needed = !row->fallback && !(row->flags & PE_OPTIONAL);
        if (random_below(read ? 3 : 60) != 0 && !(read && needed))
            continue;
        char value[RANDOM_TEXT_MAX];
        random_text(row, value);
        len +=
            (size_t)snprintf(out + len, size - len, "%s%s=%s", first ? ":" : ",", row->name, value);
        first = false;
    }
}

#endif
