// SPDX-License-Identifier: Apache-2.0
/*
 * coding.h: the content coding of an answer (RFC 9110, 8.4): as it is, or gzip. Which of them is
 * settled before the answer is made, since its tag depends on it.
 */
#ifndef API_CODING_H
#define API_CODING_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct request;

enum coding { CODING_IDENTITY, CODING_GZIP };

/* From this size on gzip pays. What is shorter goes out in the first flight of a connection (ten
 * segments) anyway, and is compressed only for who accepts nothing else. */
#define CODING_BYTES_MIN ((size_t)14 << 10)
/* Files that may be kept for ever are many at once, and compressed once. */
#define CODING_PINNED_BYTES_MIN ((size_t)1 << 10)

/* Levels of gzip. Of text of numbers, level 1 leaves 46 % at 90 MB/s, level 6 leaves 42 % at 10
 * MB/s. */
#define CODING_LEVEL        1
#define CODING_PINNED_LEVEL 9

const char *coding_name(enum coding coding); /* "gzip", as fields spell it */

/* Chooses by Accept-Encoding; `pays` tells whether gzip would make the answer much shorter. False
 * with not-acceptable when the client takes neither coding. */
bool coding_choose(struct request *request, bool pays, enum coding *coding);

/* Puts the coded bytes in place of `body`. False without memory. */
bool coding_apply(enum coding coding, int level, const char *data, size_t len, struct buf *body);

#endif
