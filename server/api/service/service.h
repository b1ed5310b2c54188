// SPDX-License-Identifier: Apache-2.0
/* service.h: what the resources that compute nothing share: their query and their answers. */
#ifndef API_SERVICE_H
#define API_SERVICE_H

#include "api.h"
#include "tree.h"

#define SERVICE_BYTES_MAX ((size_t)4 << 20) /* of an answer */

/* How long caches may keep answers, in seconds; literals, for they become text. */
#define CACHE_COMPUTED_S       86400
#define CACHE_COMPUTED_STALE_S 604800   /* stale-while-revalidate */
#define CACHE_PINNED_S         31536000 /* what has its digest in the URL */
#define CACHE_PAGE_S           300
#define CACHE_ERROR_S          60 /* 400 and 404 of computed answers */

/* Refuses query parameters that the endpoint of the request does not have. */
bool service_query(struct request *request);
/* Value of a PE_BOOL key; given without a value it is true. */
bool service_flag(struct request *request, const char *name);
/* service_query() and format_choose() among the endpoint's formats. */
bool service_begin(struct request *request, enum format *format);
/* Answers with the tree, as JSON or as lines of text. */
enum step service_answer(struct request *request, const struct tree *root, enum format format);

/* deliver.c: ends a quick step whose answer is made: tag, preconditions, content coding. `digest`
 * is that of the bytes, or NULL: it is taken. STEP_WORK and what follows are for gzip. */
enum step service_deliver(struct request *request, const unsigned char *digest);
enum step service_encode(struct request *request); /* on a worker */
enum step service_settle(struct request *request);

#endif
