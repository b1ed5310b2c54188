// SPDX-License-Identifier: Apache-2.0
/*
 * repeat.h: answers to heads that come again, ready to be sent. What a lasting answer consists of
 * depends on the head alone, and so does the guard's verdict: a head that is, byte by byte and
 * place by place, one that has had such an answer gets it again without being looked at in any
 * other way. Private to http/; everything is the loop thread's.
 */
#ifndef HTTP_REPEAT_H
#define HTTP_REPEAT_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guard.h"

#define REPEATS_MAX          256
#define REPEAT_WAYS          4 /* places that a key may have */
#define REPEAT_KEY_BYTES_MAX 2048

/* All that the guard and the handlers could know of a head. */
struct repeat_key {
    uint64_t hash;
    size_t len; /* 0: too long to be kept */
    char bytes[REPEAT_KEY_BYTES_MAX];
};

/* An answer; lives on in requests that use it. */
struct repeat {
    unsigned refs;
    struct MHD_Response *answer;
    size_t answer_bytes; /* of its body */
    bool was_kept;       /* it came from the kept answers */
    uint64_t hash;
    size_t key_len;
    char key[];
};

struct repeat_table {
    struct repeat *slots[REPEATS_MAX]; /* by hash, in one of the next places */
    unsigned turn;                     /* whose place a newcomer takes when all are taken */
    size_t bytes, bytes_max;           /* of answers and keys; 0: nothing is kept */
};

void repeat_key_make(struct repeat_key *key, const struct head *head);
/* The answer that this head has had, for the caller to release; or NULL. */
struct repeat *repeat_find(struct repeat_table *table, const struct repeat_key *key);
void repeat_release(struct repeat *repeat);
/* Keeps an answer; false if it does not: else it owns the caller's reference. */
bool repeat_keep(struct repeat_table *table, const struct repeat_key *key,
                 struct MHD_Response *answer, size_t answer_bytes, bool was_kept);
void repeat_table_clear(struct repeat_table *table);

#endif
