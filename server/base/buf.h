// SPDX-License-Identifier: Apache-2.0
/*
 * buf.h: bytes that grow at the end, up to a limit. A failed append (limit, memory) sets `failed`
 * and drops what follows, so that writers check once at the end.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* not NUL-terminated */
    size_t len, capacity;
    size_t len_max;
    bool failed;
};

void buf_init(struct buf *buf, size_t len_max);
void buf_release(struct buf *buf);
/* Room for `size` more bytes at data + len; false (and failed) past the limit. */
bool buf_reserve(struct buf *buf, size_t size);
void buf_append(struct buf *buf, const char *data, size_t len);
void buf_puts(struct buf *buf, const char *text);
void buf_putc(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
