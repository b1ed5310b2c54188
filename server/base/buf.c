// SPDX-License-Identifier: Apache-2.0
/*
 * buf.c: growing bytes. At least doubles its capacity, never past len_max, and remembers the first
 * failure so that a writer of many small pieces checks once.
 */
#include "buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pages.h"

#define CAPACITY_MIN 256

void buf_init(struct buf *buf, size_t len_max)
{
    *buf = (struct buf){.len_max = len_max};
}

void buf_release(struct buf *buf)
{
    pages_free(buf->data);
    buf_init(buf, buf->len_max);
}

static bool grow(struct buf *buf, size_t wanted)
{
    size_t capacity = buf->capacity > buf->len_max / 2 ? buf->len_max : 2 * buf->capacity;
    if (capacity < CAPACITY_MIN)
        capacity = CAPACITY_MIN;
    if (capacity < wanted)
        capacity = wanted;
    if (capacity > buf->len_max)
        capacity = buf->len_max;
    char *data = pages_resize(buf->data, buf->len, capacity);
    if (!data)
        return false;
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

bool buf_reserve(struct buf *buf, size_t size)
{
    if (buf->failed)
        return false;
    if (size <= buf->capacity - buf->len)
        return true;
    buf->failed = size > buf->len_max - buf->len || !grow(buf, buf->len + size);
    return !buf->failed;
}

void buf_append(struct buf *buf, const char *data, size_t len)
{
    if (len == 0 || !buf_reserve(buf, len))
        return;
    memcpy(buf->data + buf->len, data, len);
    buf->len += len;
}

void buf_puts(struct buf *buf, const char *text)
{
    buf_append(buf, text, strlen(text));
}

void buf_putc(struct buf *buf, char c)
{
    buf_append(buf, &c, 1);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    char small[256];
    int len = vsnprintf(small, sizeof small, format, args);
    if (len < 0)
        buf->failed = true;
    else if ((size_t)len < sizeof small)
        buf_append(buf, small, (size_t)len);
    else if (buf_reserve(buf, (size_t)len + 1)) { /* vsnprintf ends with a zero byte */
        vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
    va_end(args);
}
