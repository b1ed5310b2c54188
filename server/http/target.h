// SPDX-License-Identifier: Apache-2.0
/*
 * target.h: the request target (RFC 9112 3.2): its form, one strict percent-decoding, and the query
 * split into parameters. Pure functions of text; results live in the arena.
 *
 * A '+' stays a '+': lists in the compact form of an encoding are written with it.
 */
#ifndef HTTP_TARGET_H
#define HTTP_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "err.h"
#include "request.h"

struct target {
    const char *origin; /* the raw target without scheme and authority: "/a%20b?c" or "*" */
    const char *path;   /* decoded, no zero byte, UTF-8 */
    const char *query;  /* raw text after the first '?', or "" */
    struct query_arg *args;
    size_t args_n;
};

/* Reads a target in origin, absolute or asterisk form. All faults of the query go into `err`, each
 * with the parameter's name; a bad form or path is ERR_bad_request. */
bool target_parse(struct target *target, const char *raw, struct arena *arena, struct err *err);

#endif
