// SPDX-License-Identifier: Apache-2.0
/* origins.c: see origins.h. */
#include "origins.h"

#include <string.h>

/* scheme "://" host [":" port], all that the Origin field of a browser holds. */
static bool is_origin(const char *text, size_t len)
{
    const char *host = memchr(text, ':', len);

    if (!host || host == text || len - (size_t)(host - text) < 4 || memcmp(host, "://", 3) != 0)
        return false;
    for (const char *c = text; c < text + len; c++)
        if (*c <= ' ' || *c > '~' || strchr("\"<>\\?#", *c) || (*c == '/' && c > host + 2))
            return false;
    return true;
}

bool origins_are_all(const char *list)
{
    return strcmp(list, "*") == 0;
}

bool origins_are_valid(const char *list)
{
    if (origins_are_all(list))
        return true;
    for (;; list++) {
        size_t len = strcspn(list, ",");
        if (!is_origin(list, len))
            return false;
        list += len;
        if (!*list)
            return true;
    }
}

bool origins_have(const char *list, const char *origin)
{
    size_t wanted = strlen(origin);

    for (;; list++) {
        size_t len = strcspn(list, ",");
        if (len == wanted && memcmp(list, origin, len) == 0)
            return true;
        list += len;
        if (!*list)
            return false;
    }
}
