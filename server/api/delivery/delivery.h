// SPDX-License-Identifier: Apache-2.0
/*
 * delivery.h: what stands between a computed answer and its client: the tag that is known before
 * computing, preconditions, the caller's pin, the digest. GET is a pure function of its canonical
 * request, which is all that is hashed for the tag.
 */
#ifndef API_DELIVERY_H
#define API_DELIVERY_H

#include <stdbool.h>
#include <stddef.h>

#include "request.h"
#include "sha256.h"
#include "validators.h"

#define DIGEST_BYTES_MAX ((size_t)16 << 20) /* longest answer with a digest */

struct job;

struct delivery {
    const char *canonical; /* path and query of a GET, defaults and expectations left out; NULL */
    char etag[ETAG_BYTES]; /* "" while unknown */
    bool unmodified;       /* the client has it */
    bool digested;         /* `digest` is known */
    bool pinned;           /* the digest is what the caller expects */
    unsigned char digest[32]; /* SHA-256 of the answer's bytes, before any content coding */
};

/* Any thread: once a request is prepared, all that can be told of its answer. False with an error
 * when the caller expects other semantics. */
bool delivery_prepare(struct job *job);
/* Loop thread, for GET and HEAD: answers what needs no computing. STEP_WORK: it must be computed.
 */
enum step delivery_try(struct job *job);
/* Any thread: the answer's bytes are in response.body. False with an error when they are not what
 * the caller expects. */
bool delivery_encode(struct job *job);
/* The fields of a computed answer, when it is sent. */
void delivery_fields(struct request *request);

#endif
