// SPDX-License-Identifier: Apache-2.0
/*
 * blob.h: immutable bytes with an atomic reference count, shared by responses and caches.
 */
#ifndef BASE_BLOB_H
#define BASE_BLOB_H

#include <stdatomic.h>
#include <stddef.h>

#include "buf.h"

struct blob {
    atomic_size_t refs;
    size_t len;
    char *data;
};

/* Takes over the buffer's memory (the buffer is empty afterwards), less what it has too much; one
 * reference. NULL without
 * memory, the buffer is then untouched. */
struct blob *blob_from_buf(struct buf *buf);
/* For a blob that has one user and will stay for long: moves its bytes out of memory that others
 * wait for. */
void blob_settle(struct blob *blob);
struct blob *blob_ref(struct blob *blob);
void blob_unref(struct blob *blob); /* NULL is allowed */

#endif
