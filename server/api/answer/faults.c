// SPDX-License-Identifier: Apache-2.0
/*
 * faults.c: what the core found wrong, as errors of the request: the status becomes a code, the
 * parameter a place in the query or the body.
 */
#include <string.h>

#include "api.h"

static enum err_code code_of(enum pe_status status)
{
    switch (status) {
    case PE_UNKNOWN_PARAMETER:
        return ERR_unknown_parameter;
    case PE_MISSING_PARAMETER:
        return ERR_missing_parameter;
    case PE_CONFLICTING_PARAMETERS:
        return ERR_conflicting_parameters;
    case PE_SHAPE_MISMATCH:
        return ERR_shape_mismatch;
    case PE_LIMIT_EXCEEDED:
        return ERR_limit_exceeded;
    case PE_NO_MEMORY:
        return ERR_overloaded;
    default:
        return ERR_invalid_value;
    }
}

/* prefix + param; in a pointer ~ and / of the name are escaped (RFC 6901). */
static void make_place(char *out, size_t size, const char *prefix, const char *param)
{
    size_t len = strnlen(prefix, size - 1);

    memcpy(out, prefix, len);
    for (const char *c = param; *c && len + 2 < size; c++) {
        bool escape = prefix[0] && (*c == '~' || *c == '/');
        if (escape)
            out[len++] = '~';
        out[len++] = escape ? (*c == '~' ? '0' : '1') : *c;
    }
    out[len] = '\0';
}

static void add_fault(struct err *err, const struct pe_fault *fault, const char *where)
{
    err_add(err, code_of(fault->status), where, fault->hint, "%s", fault->detail);
}

/* Faults past those that were kept are counted, as err_add() does. */
static void count_rest(struct err *err, const struct pe_faults *faults)
{
    if (faults->n > PE_FAULTS_MAX)
        err->n += faults->n - PE_FAULTS_MAX;
}

void api_faults(struct err *err, const struct pe_faults *faults, const char *prefix)
{
    char where[128];

    for (size_t i = 0; i < faults->n && i < PE_FAULTS_MAX; i++) {
        make_place(where, sizeof where, prefix, faults->item[i].param);
        add_fault(err, &faults->item[i], where);
    }
    count_rest(err, faults);
}

void api_faults_at(struct err *err, const struct pe_faults *faults, const char *where)
{
    for (size_t i = 0; i < faults->n && i < PE_FAULTS_MAX; i++)
        add_fault(err, &faults->item[i], where);
    count_rest(err, faults);
}
