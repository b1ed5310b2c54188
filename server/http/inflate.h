// SPDX-License-Identifier: Apache-2.0
/* inflate.h: a request's body in gzip becomes what it holds, within the limit on bodies. */
#ifndef HTTP_INFLATE_H
#define HTTP_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

struct budget;
struct err;

/* Any thread. Leaves in `out` at most `limit` bytes, aligned as bodies are, whose capacity is taken
 * from the budget (NULL: from none). False with an error, and nothing held. */
bool body_inflate(const char *body, size_t len, size_t limit, struct budget *memory,
                  struct buf *out, struct err *err);

#endif
