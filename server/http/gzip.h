// SPDX-License-Identifier: Apache-2.0
/*
 * gzip.h: the content coding gzip (RFC 1952) of whole bodies, by zlib. What a body grows to is
 * limited while it is inflated, so that a small one cannot become a large one.
 */
#ifndef HTTP_GZIP_H
#define HTTP_GZIP_H

#include "buf.h"

enum gzip_result {
    GZIP_OK,
    GZIP_MALFORMED, /* reading only */
    GZIP_TOO_LARGE, /* past len_max of the buffer */
    GZIP_NO_MEMORY,
};

/* Why a body is malformed, and after how many of its bytes that shows. */
struct gzip_fault {
    const char *says; /* static */
    size_t at;
};

/* The length that the last member announces at its end (modulo 2^32), if deflate can be as dense as
 * that; else 0. */
size_t gzip_announced(const void *body, size_t len);

/* Appends what all members of the body hold to `out`, whose len_max is the limit; after a failure
 * the buffer is to be released. A last member that announces more than fits, at its end, is
 * inflated into nothing to see whether it says the truth: that costs no memory. */
enum gzip_result gzip_inflate(const void *body, size_t len, struct buf *out,
                              struct gzip_fault *fault);

/* Appends the bytes as one member, at a level from 1 (fast) to 9 (small). The same bytes give the
 * same member: it has no time and no name. */
enum gzip_result gzip_deflate(const void *data, size_t len, int level, struct buf *out);

#endif
