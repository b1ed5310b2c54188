// SPDX-License-Identifier: Apache-2.0
/*
 * validators.h: entity tags (RFC 9110, 8.8.3) and the preconditions that name them (13.1). The tag
 * of a GET's answer follows from the request alone, so that it can be told before the answer is
 * computed.
 */
#ifndef API_VALIDATORS_H
#define API_VALIDATORS_H

#include <stdbool.h>
#include <stddef.h>

struct request;

#define ETAG_BYTES 24 /* "1-0123456789abcdef" with its quotes, and a zero byte */

/* The strong tag of what `subject` names (the canonical request, or a digest of the bytes) in one
 * media type and content coding. */
void etag_make(char etag[ETAG_BYTES], const char *subject, const char *media_type,
               const char *coding);

/* Whether a field If-Match or If-None-Match names the tag. The strong comparison takes no weak
 * tags. A field that is not well-formed names nothing. */
bool etag_is_named(const char *field, const char *etag, bool strong);

enum verdict { VERDICT_PROCEED, VERDICT_NOT_MODIFIED, VERDICT_FAILED };

/* Judges If-Match, then If-None-Match (13.2.2); answers here have no date, so that the conditions
 * on one are ignored. `etag` "" stands for an answer without a tag. VERDICT_FAILED has added
 * precondition-failed. */
enum verdict validators_judge(struct request *request, const char *etag);

#endif
