// SPDX-License-Identifier: Apache-2.0
/*
 * common.h: the keys that every computed endpoint has besides its own: how numbers are written,
 * which tensor is the main one, and what the caller expects of the answer.
 */
#ifndef API_COMMON_H
#define API_COMMON_H

#include <stdbool.h>

#include "posenc.h"

/* Rows of common_keys. From COMMON_ECHOED_N on they take no part in the answer's parameters and
 * links: what the dialect stands for is spelt out there; those from COMMON_EXPECTATIONS on say what
 * the answer must be. */
enum common {
    COMMON_NUMBERS,
    COMMON_SELECT,
    COMMON_OVERFLOW,
    COMMON_ECHOED_N,
    COMMON_DIALECT = COMMON_ECHOED_N,
    COMMON_EXPECTATIONS,
    COMMON_PIN = COMMON_EXPECTATIONS,
    COMMON_SEMANTICS,
    COMMON_N,
};

extern const struct pe_param common_keys[COMMON_N];

struct job;

/* Whether a key has another value than its default, the first choice or none. */
bool common_differs(const struct job *job, enum common row);
/* Reads what rows cannot check: forms of pin and semantics, and keys without effect. */
bool common_check(struct job *job);

#endif
