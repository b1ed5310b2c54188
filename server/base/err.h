// SPDX-License-Identifier: Apache-2.0
/*
 * err.h: what went wrong with one request: a list of mistakes, so that one answer names them all.
 * The first item gives the answer's problem type and status. Codes are API: never renamed.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

/* code (C name), slug of the problem type, HTTP status, title */
#define ERR_MAP(X)                                                                                 \
    X(malformed_json, "malformed-json", 400, "The body is not valid JSON")                         \
    X(malformed_tensor, "malformed-tensor", 400, "A tensor is not well-formed")                    \
    X(unknown_parameter, "unknown-parameter", 400, "Unknown parameter")                            \
    X(missing_parameter, "missing-parameter", 400, "A parameter is missing")                       \
    X(invalid_value, "invalid-value", 400, "A value is not allowed here")                          \
    X(conflicting_parameters, "conflicting-parameters", 400, "Parameters contradict each other")   \
    X(bad_request, "bad-request", 400, "The request is not valid HTTP")                            \
    X(not_found, "not-found", 404, "There is nothing at this path")                                \
    X(method_not_allowed, "method-not-allowed", 405, "The method is not allowed here")             \
    X(not_acceptable, "not-acceptable", 406, "The format is not offered here")                     \
    X(pin_mismatch, "pin-mismatch", 409, "The answer is not the one that was pinned")              \
    X(semantics_mismatch, "semantics-mismatch", 409, "The semantics are not those expected")       \
    X(precondition_failed, "precondition-failed", 412, "A precondition does not hold")             \
    X(body_too_large, "body-too-large", 413, "The body is too large")                              \
    X(uri_too_long, "uri-too-long", 414, "The URL is too long")                                    \
    X(unsupported_media_type, "unsupported-media-type", 415, "The body's media type is not read")  \
    X(shape_mismatch, "shape-mismatch", 422, "Shapes do not fit together")                         \
    X(limit_exceeded, "limit-exceeded", 422, "The request is over a limit")                        \
    X(comparison_failed, "comparison-failed", 422, "The tensors do not agree")                     \
    X(rate_limited, "rate-limited", 429, "Too much from this address")                             \
    X(headers_too_large, "headers-too-large", 431, "The header fields are too large")              \
    X(internal, "internal", 500, "Something is wrong in the service")                              \
    X(not_implemented, "not-implemented", 501, "The request uses what this server does not have")  \
    X(overloaded, "overloaded", 503, "The server is at its limit")                                 \
    X(draining, "draining", 503, "The server is shutting down")                                    \
    X(deadline, "deadline", 503, "The request took too long")

enum err_code {
#define ERR_ENUM(name, slug, status, title) ERR_##name,
    ERR_MAP(ERR_ENUM)
#undef ERR_ENUM
        ERR_CODES_N
};

#define ERR_ITEMS_MAX 16

struct tree;

struct err_item {
    enum err_code code;
    char where[128];  /* query parameter name, or JSON pointer ("/spec/dim"); may be empty */
    char detail[320]; /* lower-case start, names the limit and the value received, no full stop */
    char hint[200];   /* may be empty */
    size_t line, column; /* of a syntax error in the body, 1-based; 0: none */
    const char *allowed; /* space-separated names that would do, or NULL; lives as the request */
};

/* A member of the problem document besides those that all have; texts that live as the request. */
struct err_fact {
    const char *name, *text;
};

#define ERR_FACTS_MAX 6

struct err {
    size_t n;           /* may exceed ERR_ITEMS_MAX: the rest is only counted */
    double cost, limit; /* of limit-exceeded; 0: not said */
    size_t facts_n;
    struct err_fact facts[ERR_FACTS_MAX]; /* of the first mistake */
    /* More that the problem document has, both living as the request: an object whose members are
     * its own too, and the same for readers of text. NULL: nothing. */
    const struct tree *members;
    const char *report;
    unsigned retry_after_s;              /* 0: none */
    struct err_item item[ERR_ITEMS_MAX]; /* last: large, and whole as soon as it is counted */
};

int err_status(enum err_code code);
const char *err_slug(enum err_code code);
const char *err_title(enum err_code code);

/* Appends a mistake and returns false. `where` and `hint` may be NULL. */
bool err_add(struct err *err, enum err_code code, const char *where, const char *hint,
             const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The same with a place in the body. */
bool err_add_at(struct err *err, enum err_code code, const char *where, size_t line, size_t column,
                const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Adds a fact; none when its text is NULL for want of memory. */
void err_fact(struct err *err, const char *name, const char *text);

#endif
