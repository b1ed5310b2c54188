// SPDX-License-Identifier: Apache-2.0
/* reading.h: reads a body the way a request does, and what tests ask of the result. */
#ifndef TESTS_JSON_READING_H
#define TESTS_JSON_READING_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "doc.h"

struct reading {
    char *body; /* of exactly the right size, so that a sanitizer sees a read past the end */
    struct arena arena;
    struct err err;
    struct json_doc doc;
    bool ok;
};

static inline void reading_of(struct reading *reading, const char *body, size_t len)
{
    json_doc_setup();
    *reading = (struct reading){.body = malloc(len ? len : 1)};
    memcpy(reading->body, body, len);
    arena_init(&reading->arena, (size_t)16 << 20);
    reading->ok = json_doc_read(&reading->doc, reading->body, len, &reading->arena, &reading->err);
    cr_assert_eq(reading->ok, reading->err.n == 0, "failure and errors go together");
    cr_assert(reading->ok || !reading->doc.root, "a failure leaves nothing to release");
}

static inline void reading_release(struct reading *reading)
{
    if (reading->ok)
        json_doc_release(&reading->doc);
    arena_release(&reading->arena);
    free(reading->body);
}

/* The envelope as compact JSON; the caller frees it. */
static inline char *reading_envelope(const struct reading *reading)
{
    return json_dumps(reading->doc.root, JSON_ENCODE_ANY | JSON_COMPACT);
}

#endif
