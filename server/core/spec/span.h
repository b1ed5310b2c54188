// SPDX-License-Identifier: Apache-2.0
/*
 * span.h: a piece of somebody else's text, not NUL-terminated, and how to cut lists into pieces.
 */
#ifndef PE_CORE_SPAN_H
#define PE_CORE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct pe__span {
    const char *text; /* NULL: nothing (left) */
    size_t len;
};

/* The whole of a string; NULL gives nothing. */
static inline struct pe__span pe__span_of(const char *text)
{
    return (struct pe__span){text, text ? strlen(text) : 0};
}

static inline bool pe__span_equal(struct pe__span a, struct pe__span b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.text, b.text, a.len) == 0);
}

/* Cuts the next piece off the front of a list; an empty text is one empty piece. False when
 * nothing is left. */
static inline bool pe__span_cut(struct pe__span *rest, char separator, struct pe__span *piece)
{
    if (!rest->text)
        return false;
    const char *end = rest->len ? memchr(rest->text, separator, rest->len) : NULL;
    *piece = (struct pe__span){rest->text, end ? (size_t)(end - rest->text) : rest->len};
    *rest = end ? (struct pe__span){end + 1, rest->len - piece->len - 1} : (struct pe__span){0};
    return true;
}

/* Number of the piece of `list` that equals `name`, or -1. */
static inline int pe__span_index(struct pe__span list, char separator, struct pe__span name)
{
    struct pe__span piece;
    for (int i = 0; pe__span_cut(&list, separator, &piece); i++)
        if (pe__span_equal(piece, name))
            return i;
    return -1;
}

#endif
