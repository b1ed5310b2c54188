// SPDX-License-Identifier: Apache-2.0
/*
 * scan.h: the words of JSON (RFC 8259), read in place out of a body of known length, and what is
 * to be said where the grammar breaks. How values nest is doc.c's business.
 */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct scan {
    const char *body, *end;
    const char *at; /* the next byte to read, <= end */
    struct err *err;
};

/* 1-based line and column (in characters) of a place in the body. */
void scan_place(const struct scan *scan, const char *at, size_t *line, size_t *column);
/* Adds malformed-json at this place; returns false. */
bool scan_fail(const struct scan *scan, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same as "expected <what>, got <what stands next>". */
bool scan_expected(const struct scan *scan, const char *what);

/* Skips white space; the byte that follows, or -1 at the end of the body. */
int scan_next(struct scan *scan);

/* Each reads one word that begins at scan->at and leaves scan->at behind it; false: it is
 * malformed, which has been added to scan->err. */
bool scan_string(struct scan *scan);
bool scan_number(struct scan *scan, bool *integer); /* integer: no fraction, no exponent */

/* Reads true, false or null; false: none of them stands here, and nothing has been said. */
bool scan_word(struct scan *scan);

/* The end of the number at `at`, or NULL if it is malformed. For loops over many numbers. */
const char *number_end(const char *at, const char *end, bool *integer);
/* Whether an integer literal is beyond +-2^53, so that not every neighbour is a double. */
bool integer_is_inexact(const char *text, size_t len);
/* The length of "NaN", "Infinity" or "-Infinity" in quotes at `at`, or 0. */
size_t special_len(const char *at, const char *end);

/* The character that a backslash escape (valid, at the backslash) stands for; *at is left behind
 * it, behind both halves of a surrogate pair. */
unsigned unescape(const char **at);

#endif
