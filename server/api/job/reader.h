// SPDX-License-Identifier: Apache-2.0
/* reader.h: what the files that read a job share. */
#ifndef API_READER_H
#define API_READER_H

#include "job.h"

/* One key as the caller gave it: query text, or a member of the body. */
struct field {
    const char *name;
    const char *where;  /* parameter name, or JSON pointer */
    const char *prefix; /* of the pointer ("/spec/"); "" in a query */
    const char *text;   /* of a query; NULL in a body */
    const json_t *json; /* of a body; NULL in a query */
};

/* prefix + key, escaped as RFC 6901 says; NULL past the arena's cap. */
const char *field_pointer(struct arena *arena, const char *prefix, const char *key);

#endif
