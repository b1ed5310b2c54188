// SPDX-License-Identifier: Apache-2.0
/*
 * format.c: which representation an answer takes: the suffix of the path decides, then format=,
 * then Accept by quality. All formats are known everywhere, so that asking for one that is not
 * offered is told apart from a misspelt name.
 */
#include "accept.h"
#include "api.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* In order of preference where Accept leaves a choice. */
static const struct known {
    const char *suffix, *type; /* as Accept names it */
    const char *content_type;
    enum format format;
} known[] = {
    {"json", "application/json", "application/json", FORMAT_JSON},
    {"txt", "text/plain", "text/plain; charset=utf-8", FORMAT_TXT},
    {"csv", "text/csv", "text/csv; header=present", FORMAT_CSV},
    {"npy", "application/x-npy", "application/x-npy", FORMAT_NPY},
    {"safetensors", "application/x-safetensors", "application/x-safetensors", FORMAT_SAFETENSORS},
    {"bin", "application/octet-stream", "application/octet-stream", FORMAT_BIN},
    {"svg", "image/svg+xml", "image/svg+xml", FORMAT_SVG},
    {"png", "image/png", "image/png", FORMAT_PNG},
};

#define KNOWN_N (sizeof known / sizeof known[0])

static bool is_offered(unsigned formats, const struct known *row)
{
    return formats & 1U << row->format;
}

static const struct known *known_find(const char *suffix)
{
    for (size_t i = 0; i < KNOWN_N; i++)
        if (strcmp(known[i].suffix, suffix) == 0)
            return &known[i];
    return NULL;
}

static const struct known *known_row(enum format format)
{
    const struct known *row = known;

    while (row->format != format)
        row++;
    return row;
}

const char *format_media_type(enum format format)
{
    return known_row(format)->content_type;
}

const char *format_suffix(enum format format)
{
    return known_row(format)->suffix;
}

enum format format_of_type(const char *type, size_t len)
{
    for (size_t i = 0; i < KNOWN_N; i++)
        if (strlen(known[i].type) == len && strncasecmp(known[i].type, type, len) == 0)
            return known[i].format;
    return FORMATS_N;
}

enum format format_of_suffix(const char *suffix)
{
    const struct known *row = known_find(suffix);
    return row ? row->format : FORMATS_N;
}

bool format_is_binary(enum format format)
{
    return format == FORMAT_NPY || format == FORMAT_SAFETENSORS || format == FORMAT_BIN ||
           format == FORMAT_PNG;
}

/* "json, txt and csv", or with "or" */
static void list_offered(unsigned formats, const char *word, char *out, size_t size)
{
    size_t len = 0;
    unsigned left = formats;

    out[0] = '\0';
    for (size_t i = 0; i < KNOWN_N; i++) {
        if (!is_offered(formats, &known[i]))
            continue;
        left &= ~(1U << known[i].format);
        const char *joint = len == 0 ? "" : left ? ", " : word;
        len += (size_t)snprintf(out + len, size - len, "%s%s", joint, known[i].suffix);
    }
}

static bool refuse(struct request *request, unsigned formats, const char *where, const char *asked)
{
    char offered[64];

    list_offered(formats, " and ", offered, sizeof offered);
    return err_add(&request->err, ERR_not_acceptable, where, NULL,
                   "%.60s is not offered here, but %s", asked, offered);
}

static bool refuse_name(struct request *request, unsigned formats, const char *asked,
                        const char *where)
{
    const char *names[KNOWN_N], *near;
    size_t n = 0;
    char offered[64], hint[64] = "";

    for (size_t i = 0; i < KNOWN_N; i++)
        if (is_offered(formats, &known[i]))
            names[n++] = known[i].suffix;
    near = pe_nearest_name(asked, names, n);
    if (near)
        snprintf(hint, sizeof hint, "did you mean \"%s\"?", near);
    list_offered(formats, " or ", offered, sizeof offered);
    return err_add(&request->err, ERR_invalid_value, where, hint,
                   "format must be %s, got \"%.60s\"", offered, asked);
}

/* Takes a name into account, which must be the same as one given before. */
static bool take_name(struct request *request, const char *given, const char *given_where,
                      const char **name, const char **where)
{
    bool same = !*name || strcmp(*name, given) == 0;

    if (!same)
        err_add(&request->err, ERR_conflicting_parameters, given_where, NULL,
                "format is \"%.60s\" and \"%.60s\" in one request", *name, given);
    *name = given;
    *where = given_where;
    return same;
}

/* The name that URL or body give; *name stays NULL when they give none. */
static bool read_name(struct request *request, const struct format_ask *ask, const char **name,
                      const char **where)
{
    bool ok = true;

    *name = request->suffix;
    *where = NULL;
    for (size_t i = 0; i < request->args_n; i++)
        if (strcmp(request->args[i].name, "format") == 0)
            ok = take_name(request, request->args[i].value, "format", name, where) && ok;
    if (ask && ask->member)
        ok = take_name(request, ask->member, "/format", name, where) && ok;
    return ok;
}

static bool choose_by_accept(struct request *request, unsigned formats,
                             const struct format_ask *ask, enum format *format)
{
    const char *accept = request_header(request, "Accept");
    int best = 0;

    for (size_t i = 0; i < KNOWN_N; i++) {
        int quality = is_offered(formats, &known[i]) ? accept_quality(accept, known[i].type) : 0;
        if (quality > best ||
            (quality == best && best > 0 && ask && known[i].format == ask->usual)) {
            best = quality;
            *format = known[i].format;
        }
    }
    return best > 0 || refuse(request, formats, NULL, accept);
}

bool format_choose(struct request *request, unsigned formats, const struct format_ask *ask,
                   enum format *format)
{
    const char *name, *where;
    const struct known *row;

    if (!read_name(request, ask, &name, &where))
        return false;
    if (!name)
        return choose_by_accept(request, formats, ask, format);
    row = known_find(name);
    if (!row && where)
        return refuse_name(request, formats, name, where);
    if (!row || !is_offered(formats, row))
        return refuse(request, formats, where, name);
    *format = row->format;
    return true;
}
