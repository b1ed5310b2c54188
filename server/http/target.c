// SPDX-License-Identifier: Apache-2.0
/*
 * target.c: see target.h. The guard has already made sure that a target holds only visible ASCII
 * bytes; nothing here depends on it but the readability of the messages.
 */
#include "target.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "utf8.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static bool is_utf8(const char *text, size_t len)
{
    uint32_t code;
    for (size_t at = 0, n; at < len; at += n)
        if ((n = utf8_decode(text + at, len - at, &code)) == 0)
            return false;
    return true;
}

/* One piece of the target to decode, and how to speak of it when it is bad. */
struct piece {
    const char *raw;
    size_t len;
    enum err_code code;
    const char *where; /* parameter name; NULL: the path or a name itself */
    const char *what;  /* "the path", "the value" */
};

/* The decoded piece in the arena, or NULL with an error. */
static char *piece_decode(const struct piece *piece, struct arena *arena, struct err *err)
{
    char *text = arena_alloc(arena, piece->len + 1);
    size_t n = 0;
    if (!text) {
        err_add(err, ERR_internal, piece->where, NULL, "no memory for the request target");
        return NULL;
    }
    for (size_t i = 0; i < piece->len; i++) {
        char c = piece->raw[i];
        if (c == '%') {
            int high = piece->len - i > 2 ? hex_digit(piece->raw[i + 1]) : -1;
            int low = high < 0 ? -1 : hex_digit(piece->raw[i + 2]);
            if (low < 0 || (high == 0 && low == 0)) {
                int shown = (int)(piece->len - i < 3 ? piece->len - i : 3);
                err_add(err, piece->code, piece->where,
                        low < 0 ? "write a percent sign as %25" : NULL,
                        "%s has \"%.*s\" at byte %zu, which is %s", piece->what, shown,
                        piece->raw + i, i, low < 0 ? "no percent-encoded byte" : "a zero byte");
                return NULL;
            }
            c = (char)(high << 4 | low);
            i += 2;
        }
        text[n++] = c;
    }
    text[n] = '\0';
    if (!is_utf8(text, n)) {
        err_add(err, piece->code, piece->where, NULL, "%s is not valid UTF-8", piece->what);
        return NULL;
    }
    return text;
}

static bool arg_parse(struct query_arg *arg, const char *raw, size_t len, struct arena *arena,
                      struct err *err)
{
    const char *equals = memchr(raw, '=', len);
    size_t name_len = equals ? (size_t)(equals - raw) : len;
    struct piece name = {raw, name_len, ERR_invalid_value, NULL, "a parameter name"};

    arg->name = piece_decode(&name, arena, err);
    arg->value = "";
    if (!arg->name || !equals)
        return arg->name != NULL;
    struct piece value = {equals + 1, len - name_len - 1, ERR_invalid_value, arg->name,
                          "the value"};
    arg->value = piece_decode(&value, arena, err);
    return arg->value != NULL;
}

/* Non-empty pieces between the '&'. */
static size_t args_count(const char *query)
{
    size_t n = 0;
    for (const char *at = query; *at; at += strcspn(at, "&") + (at[strcspn(at, "&")] == '&'))
        n += *at != '&';
    return n;
}

static bool args_parse(struct target *target, struct arena *arena, struct err *err)
{
    size_t n = args_count(target->query), before = err->n;

    if (n > REQUEST_ARGS_MAX)
        return err_add(err, ERR_bad_request, NULL, NULL,
                       "the query has %zu parameters, the limit is %d", n, REQUEST_ARGS_MAX);
    target->args = arena_calloc(arena, n ? n : 1, sizeof *target->args);
    if (!target->args)
        return err_add(err, ERR_internal, NULL, NULL, "no memory for the request target");
    for (const char *at = target->query; *at;) {
        size_t len = strcspn(at, "&");
        if (len > 0 && arg_parse(&target->args[target->args_n], at, len, arena, err))
            target->args_n++;
        at += len + (at[len] == '&');
    }
    return err->n == before;
}

/* The target without scheme and authority, or NULL when it has no form that a server takes. */
static const char *origin_form(const char *raw)
{
    if (raw[0] == '/' || strcmp(raw, "*") == 0)
        return raw;
    size_t scheme = strncasecmp(raw, "http://", 7) == 0    ? 7
                    : strncasecmp(raw, "https://", 8) == 0 ? 8
                                                           : 0;
    size_t authority = strcspn(raw + scheme, "/?");
    if (scheme == 0 || authority == 0)
        return NULL;
    return raw[scheme + authority] ? raw + scheme + authority : "/";
}

bool target_parse(struct target *target, const char *raw, struct arena *arena, struct err *err)
{
    *target = (struct target){.origin = "", .path = "", .query = ""};
    const char *origin = origin_form(raw);
    if (!origin)
        return err_add(err, ERR_bad_request, NULL, "start it with a slash",
                       "the request target is neither a path nor an http:// URL");
    const char *question = strchr(origin, '?');
    size_t path_len = question ? (size_t)(question - origin) : strlen(origin);
    struct piece path = {origin, path_len, ERR_bad_request, NULL, "the path"};

    target->origin = origin;
    target->query = question ? question + 1 : "";
    if (path_len == 0) /* http://host?query */
        target->path = "/";
    else if (!(target->path = piece_decode(&path, arena, err))) {
        target->path = "";
        return false;
    }
    return args_parse(target, arena, err);
}
