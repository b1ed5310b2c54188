// SPDX-License-Identifier: Apache-2.0
/*
 * params.c: values for a table of parameter rows: who may be set, defaults, conditions, what is
 * missing. Reading and checking one value is value.c; rules between parameters of a kind are the
 * kind's.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "params.h"
#include "value.h"

void pe_params_init(struct pe_params *params, const struct pe_param *rows, size_t rows_n)
{
    assert(rows_n <= PE_PARAMS_MAX);
    memset(params, 0, sizeof *params);
    params->rows = rows;
    params->rows_n = rows_n;
}

void pe_params_release(struct pe_params *params)
{
    for (size_t i = 0; i < params->rows_n; i++)
        free(params->value[i].list);
    memset(params, 0, sizeof *params);
}

/* No alias is another row's name, and most who ask have the name. */
static int find(const struct pe_params *params, struct pe__span name)
{
    for (size_t i = 0; i < params->rows_n; i++) {
        const char *own = params->rows[i].name;
        if (name.len > 0 && strncmp(own, name.text, name.len) == 0 && own[name.len] == 0)
            return (int)i;
    }
    for (size_t i = 0; i < params->rows_n; i++)
        if (pe__span_index(pe__span_of(params->rows[i].aliases), ' ', name) >= 0)
            return (int)i;
    return -1;
}

int pe_params_find(const struct pe_params *params, const char *name, size_t len)
{
    return find(params, (struct pe__span){name, len});
}

struct pe_value *pe__params_value(struct pe_params *params, const char *name)
{
    for (size_t i = 0; i < params->rows_n; i++)
        if (strcmp(params->rows[i].name, name) == 0)
            return &params->value[i];
    return NULL;
}

const struct pe_value *pe_params_get(const struct pe_params *params, const char *name)
{
    int i = find(params, pe__span_of(name));
    assert(i >= 0);
    return &params->value[i];
}

/* ---- Setting ------------------------------------------------------------------------------ */

static bool fault_unknown(const struct pe_params *params, struct pe__span name,
                          struct pe_faults *faults)
{
    struct pe__nearest nearest;
    pe__nearest_init(&nearest, name);
    for (size_t i = 0; i < params->rows_n; i++) {
        pe__nearest_offer(&nearest, pe__span_of(params->rows[i].name));
        pe__nearest_offer_list(&nearest, params->rows[i].aliases, ' ');
    }
    char shown[PE__SHOWN_MAX], hint[64] = "";
    if (nearest.best.text)
        snprintf(hint, sizeof hint, "did you mean \"%.*s\"?", (int)nearest.best.len,
                 nearest.best.text);
    pe__show_text(name, shown);
    return pe_fault_add(faults, PE_UNKNOWN_PARAMETER, shown, hint, "\"%s\" is not a parameter here",
                        shown);
}

/* Stores what was read from the caller (or drops it); the value's list changes hands. */
static bool put(struct pe_params *params, size_t i, struct pe_value *value, bool valid,
                struct pe_faults *faults)
{
    const struct pe_param *row = &params->rows[i];
    struct pe_value *old = &params->value[i];
    if (!valid) {
        old->given = true; /* but not set: finish does not speak of it again */
        return false;
    }
    if (!old->set) {
        value->implied = old->implied;
        *old = *value;
        old->given = true;
        return true;
    }
    bool same = pe__value_equal(row, old, value);
    if (!same) {
        char first[PE__SHOWN_MAX], second[PE__SHOWN_MAX];
        pe_value_print(row, old, ',', first, sizeof first);
        pe_value_print(row, value, ',', second, sizeof second);
        pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, row->name, NULL,
                     "%s is given twice, as %s and as %s", row->name, first, second);
    }
    free(value->list);
    return same;
}

bool pe__params_set(struct pe_params *params, struct pe__span name, struct pe__span text,
                    struct pe_faults *faults)
{
    int i = find(params, name);
    if (i < 0)
        return fault_unknown(params, name, faults);
    struct pe_value value = {0};
    bool valid = pe__value_read(&params->rows[i], text, &value, faults);
    return put(params, (size_t)i, &value, valid, faults);
}

bool pe_params_set_text(struct pe_params *params, const char *name, const char *text,
                        struct pe_faults *faults)
{
    return pe__params_set(params, pe__span_of(name), pe__span_of(text), faults);
}

bool pe_params_set_number(struct pe_params *params, const char *name, double number,
                          struct pe_faults *faults)
{
    int i = find(params, pe__span_of(name));
    if (i < 0)
        return fault_unknown(params, pe__span_of(name), faults);
    struct pe_value value = {0};
    bool valid = pe__value_from_number(&params->rows[i], number, &value, faults);
    return put(params, (size_t)i, &value, valid, faults);
}

bool pe_params_set_list(struct pe_params *params, const char *name, const double *list, size_t n,
                        struct pe_faults *faults)
{
    int i = find(params, pe__span_of(name));
    if (i < 0)
        return fault_unknown(params, pe__span_of(name), faults);
    struct pe_value value = {0};
    bool valid = pe__value_from_list(&params->rows[i], list, n, &value, faults);
    return put(params, (size_t)i, &value, valid, faults);
}

void pe__params_derive(struct pe_params *params, const char *name, double number)
{
    struct pe_value *value = pe__params_value(params, name);
    value->set = true;
    value->number = number;
}

bool pe__params_derive_list(struct pe_params *params, const char *name, const double *list,
                            size_t n, struct pe_faults *faults)
{
    struct pe_value *value = pe__params_value(params, name);
    value->list = malloc(n * sizeof *list);
    if (!value->list)
        return pe_fault_add(faults, PE_NO_MEMORY, name, NULL, "no memory for %zu numbers", n);
    memcpy(value->list, list, n * sizeof *list);
    value->list_n = n;
    value->set = true;
    return true;
}

void pe__params_drop(struct pe_params *params, const char *name)
{
    struct pe_value *value = pe__params_value(params, name);
    free(value->list);
    *value = (struct pe_value){0};
}

void pe__params_drop_number(struct pe_params *params, const char *name, double number)
{
    const struct pe_value *value = pe__params_value(params, name);
    if (value->set && value->number == number)
        pe__params_drop(params, name);
}

/* ---- Conditions and defaults -------------------------------------------------------------- */

/* A row's `when`, taken apart: the other parameter and the values that fit. */
enum condition { HOLDS, HOLDS_NOT, UNDECIDED };

static enum condition condition(const struct pe_params *params, size_t i)
{
    struct pe__span choices = pe__span_of(params->rows[i].when);
    struct pe__span name;
    if (!pe__span_cut(&choices, '=', &name))
        return HOLDS;
    int other = find(params, name);
    assert(other >= 0 && (size_t)other < i);
    const struct pe_value *value = &params->value[other];
    if (!value->set)
        return value->given ? UNDECIDED : HOLDS_NOT;
    char text[PE__SHOWN_MAX];
    pe_value_print(&params->rows[other], value, ',', text, sizeof text);
    return pe__span_index(choices, '|', pe__span_of(text)) >= 0 ? HOLDS : HOLDS_NOT;
}

bool pe_params_reads(const struct pe_params *params, size_t i)
{
    return condition(params, i) == HOLDS;
}

static bool fault_not_read(const struct pe_params *params, size_t i, struct pe_faults *faults)
{
    const struct pe_param *row = &params->rows[i];
    struct pe__span choices = pe__span_of(row->when);
    struct pe__span name;
    pe__span_cut(&choices, '=', &name);
    int other = find(params, name);
    char now[PE__SHOWN_MAX], hint[160];
    pe_value_print(&params->rows[other], &params->value[other], ',', now, sizeof now);
    snprintf(hint, sizeof hint, "%s is read only with %s", row->name, row->when);
    return pe_fault_add(faults, PE_UNKNOWN_PARAMETER, row->name, hint,
                        "%s is not read with %.*s=%s", row->name, (int)name.len, name.text, now);
}

/* The default in text form, or that of the parameter it copies. False when there is none (yet). */
static bool read_fallback(const struct pe_params *params, size_t i, struct pe_value *value)
{
    const struct pe_param *row = &params->rows[i];
    if (!row->fallback)
        return false;
    if (row->fallback[0] == '@') {
        int other = find(params, pe__span_of(row->fallback + 1));
        assert(other >= 0 && (size_t)other < i);
        value->set = params->value[other].set;
        value->number = params->value[other].number;
        return value->set;
    }
    struct pe_faults none = {0};
    bool valid = pe__value_read(row, pe__span_of(row->fallback), value, &none);
    assert(valid);
    return valid;
}

static bool finish_row(struct pe_params *params, size_t i, struct pe_faults *faults)
{
    const struct pe_param *row = &params->rows[i];
    struct pe_value *value = &params->value[i];
    enum condition reads = condition(params, i);
    if (reads == HOLDS_NOT && value->given)
        return fault_not_read(params, i, faults);
    if (reads != HOLDS || value->given)
        return value->set || !value->given;
    if (read_fallback(params, i, value) || row->fallback || (row->flags & PE_OPTIONAL))
        return true;
    return pe_fault_add(faults, PE_MISSING_PARAMETER, row->name, NULL, "%s is required%s%s",
                        row->name, row->when ? " with " : "", row->when ? row->when : "");
}

bool pe_params_finish(struct pe_params *params, struct pe_faults *faults)
{
    bool ok = true;
    for (size_t i = 0; i < params->rows_n; i++)
        ok &= finish_row(params, i, faults);
    return ok;
}

static bool is_read(const struct pe_params *params, size_t i)
{
    return params->value[i].set && condition(params, i) == HOLDS;
}

static bool has_default(const struct pe_params *params, size_t i)
{
    struct pe_value fallback = {0};
    bool same = read_fallback(params, i, &fallback) &&
                pe__value_equal(&params->rows[i], &params->value[i], &fallback);
    free(fallback.list);
    return same;
}

bool pe__params_differs(const struct pe_params *params, size_t i)
{
    const struct pe_value *value = &params->value[i];
    const struct pe_param *row = &params->rows[i];
    bool by_rule = row->flags & PE_DERIVED && !row->fallback && !value->given;
    return is_read(params, i) && !by_rule && !has_default(params, i);
}

bool pe_params_applies(const struct pe_params *params, size_t i)
{
    bool quiet = params->rows[i].flags & PE_QUIET;
    return is_read(params, i) && !(quiet && has_default(params, i));
}
