// SPDX-License-Identifier: Apache-2.0
/*
 * doc.h: a JSON request body. One pass checks the complete grammar (RFC 8259, UTF-8, depth, no zero
 * byte) and lifts every numeric array out: only its place, shape and count are noted, and jansson
 * sees `null` in its stead. So jansson reads a small envelope whatever the size of the tensors,
 * and numbers are converted once, later, straight from the body into a buffer of the right dtype.
 *
 * An array is numeric when its first leaf is a number or one of the strings "NaN", "Infinity",
 * "-Infinity", or when it has no leaf at all ([] or [[],[]]). Any other leaf further on, or a
 * ragged row, is noted as a fault of that array with its JSON pointer, for whoever wants a tensor.
 *
 * The string of a member "b64" is a tensor too, and is lifted in the same way.
 *
 * Refused although RFC 8259 allows it: a name twice in one object, U+0000 in a string, half of a
 * surrogate pair, a byte order mark, more than JSON_DEPTH_MAX levels.
 */
#ifndef JSON_DOC_H
#define JSON_DOC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "err.h"
#include "posenc.h"

#define JSON_DEPTH_MAX    32                 /* nesting of objects and arrays together */
#define JSON_ENVELOPE_MAX ((size_t)64 << 10) /* bytes of a body that are not numeric arrays */
#define JSON_ARRAYS_MAX   256                /* numeric arrays in one body */
#define JSON_RANK_MAX     8                  /* axes of a numeric array */
#define JSON_MEMORY_MAX   ((size_t)4 << 20)  /* what jansson may allocate for one body */

/* One numeric array: where it stands and how it is shaped. */
struct json_array {
    const char *pointer; /* RFC 6901, e.g. "/x/data" */
    const char *text;    /* its first byte, '[' , in the body */
    size_t len;          /* bytes to the closing bracket, included */
    size_t count;        /* leaves */
    size_t rank;         /* <= JSON_RANK_MAX; rank and shape are complete if there is no fault */
    size_t shape[JSON_RANK_MAX];
    bool b64;               /* no array, but a string: text and len include the quotes */
    bool integers;          /* every leaf is an integer literal */
    const char *inexact;    /* pointer of the first integer literal beyond 2^53, or NULL */
    const char *fault;      /* pointer of the first fault, or NULL */
    const char *fault_says; /* what is wrong there */
};

struct json_doc {
    json_t *root; /* envelope: numeric arrays stand as null */
    struct json_array *arrays;
    size_t arrays_n;
};

/* Reads a whole body; strings and arrays point into the body and the arena, which must outlive the
 * doc. On failure errors are added and nothing needs a release: malformed-json with line and
 * column, limit-exceeded, or invalid-value for a number outside arrays that would not come through
 * as it is (an integer beyond 2^53, a real beyond f64). Needs json_doc_setup() once in the process,
 * before threads. */
bool json_doc_read(struct json_doc *doc, const char *body, size_t len, struct arena *arena,
                   struct err *err);
/* The same for a document with up to `envelope_max` bytes that are not numeric arrays. */
bool json_doc_read_large(struct json_doc *doc, const char *body, size_t len, size_t envelope_max,
                         struct arena *arena, struct err *err);
void json_doc_release(struct json_doc *doc);
/* Fences jansson's allocator (per-thread budget JSON_MEMORY_MAX) and seeds its hashes. */
void json_doc_setup(void);

/* The numeric array, or the lifted string, at a pointer; NULL if there is none. */
const struct json_array *json_doc_array(const struct json_doc *doc, const char *pointer);
const struct json_array *json_doc_b64(const struct json_doc *doc, const char *pointer);
/* The string without quotes and escapes, in the body or the arena. Characters beyond ASCII, which
 * Base64 does not have, become '?'. NULL without memory. */
const char *json_b64_text(const struct json_array *string, struct arena *arena, size_t *len);

/* Converts a faultless array to `dtype`, count elements, row-major, each rounded once from its
 * decimal text. What the dtype cannot hold (an overflow to infinity; for i64 whatever is no 64-bit
 * integer) is invalid-value with the element's pointer; the first ends the reading. */
bool json_array_read(const struct json_array *array, enum pe_dtype dtype, void *out,
                     struct err *err);
/* The same, but what is too large for a floating dtype is infinite. */
bool json_array_read_inf(const struct json_array *array, enum pe_dtype dtype, void *out,
                         struct err *err);

#endif
