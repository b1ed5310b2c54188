// SPDX-License-Identifier: Apache-2.0
/*
 * delivery.h: what stands between an answer and its client: the tag that may be known before the
 * answer is, preconditions, the caller's pin, the digest, the content coding, and the answers that
 * are kept. In this order: judge, find, then (if it must be) make the bytes and encode them, keep
 * them, and at last the fields.
 */
#ifndef API_DELIVERY_H
#define API_DELIVERY_H

#include <stdbool.h>
#include <stddef.h>

#include "coding.h"
#include "request.h"
#include "sha256.h"
#include "validators.h"

#define DIGEST_BYTES_MAX ((size_t)16 << 20) /* longest answer with a digest */

struct answer_cache;

struct delivery {
    const char *media_type;
    const char *pin; /* the first 16 hex digits of the digest that the caller expects, or NULL */
    enum coding coding;
    char etag[ETAG_BYTES];    /* "" while unknown */
    bool unmodified;          /* the client has the answer */
    bool undigested;          /* only a pin needs the digest */
    bool digested;            /* `digest` is known */
    bool pinned;              /* and is what the caller expects */
    unsigned char digest[32]; /* SHA-256 of the answer's bytes, before any content coding */
};

/* The tag of what `subject` names. */
void delivery_name(struct delivery *delivery, const char *subject);
/* The tag of bytes whose digest is known; none for others. */
void delivery_name_by_digest(struct delivery *delivery);

/* For GET and HEAD, once the tag is known: STEP_WORK when the client needs the answer; STEP_DONE
 * when it has it (but one with a pin is to be looked at all the same). */
enum step delivery_judge(struct request *request, struct delivery *delivery);
/* After that: STEP_WORK when the answer must be made; STEP_DONE when it is kept, or a HEAD does not
 * need it. */
enum step delivery_find(struct request *request, struct delivery *delivery,
                        struct answer_cache *answers);
/* Whether an answer of this length gets a digest, if it has a pin to compare it with. */
bool delivery_pin_fits(struct request *request, const struct delivery *delivery, size_t len);
/* The answer's bytes are in response.body. Takes their digest if it is needed, which must agree
 * with the pin, judges the preconditions of a POST, and encodes. False with an error. */
bool delivery_encode(struct request *request, struct delivery *delivery);
/* The same where the answer is response.stream, which has no digest. */
bool delivery_announce(struct request *request, const struct delivery *delivery);
/* What was encoded stays for the next who asks. */
void delivery_keep(struct request *request, const struct delivery *delivery,
                   struct answer_cache *answers);
/* Tag, digest and coding, as fields. */
void delivery_fields(struct request *request, const struct delivery *delivery);

#endif
