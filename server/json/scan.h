// SPDX-License-Identifier: Apache-2.0
/*
 * scan.h: the words of JSON (RFC 8259), read in place out of a body of known length, and what is
 * to be said where the grammar breaks. How values nest is doc.c's business.
 */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* ---- The usual numbers, in loops over many ---- */

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* How many of the eight bytes at `at` are digits before the first that is none. */
static inline size_t eight_digits(const char *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, 8);
    bytes = le64toh(bytes);
    /* Digits are 0x30..0x39: upper half 3, also after adding 6. A carry out of a byte only
     * spoils those after the first that is no digit. */
    const uint64_t upper = 0xf0f0f0f0f0f0f0f0, threes = 0x3030303030303030;
    uint64_t wrong = ((bytes & upper) ^ threes) | (((bytes + 0x0606060606060606) & upper) ^ threes);
    return wrong ? (size_t)__builtin_ctzll(wrong) / 8 : 8;
}

/* number_end for a number of the form 1.2345 with at most 16 digits behind the point, in the middle
 * of a body: what arrays are full of, without branches on how many digits there are. NULL for
 * others. */
static inline const char *plain_number_end(const char *at, const char *end)
{
    if (end - at < 24)
        return NULL;
    /* From the first digit behind the point of -1.2, or the second of 1.23, on: so the next number
     * need not wait for the sign of this one. */
    size_t high = eight_digits(at + 3), low = eight_digits(at + 11);
    const char *stop = at + 3 + high + (high == 8 ? low : 0);
    at += *at == '-';
    int others =
        (int)!is_digit(at[0]) | (int)(at[1] != '.') | (int)!is_digit(at[2]) | (int)is_digit(*stop);
    return others == 0 && (*stop | 32) != 'e' ? stop : NULL;
}

#endif
