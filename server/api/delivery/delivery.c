// SPDX-License-Identifier: Apache-2.0
/* delivery.c: see delivery.h. */
#include "delivery.h"

#include <string.h>

#include "answer_cache.h"
#include "api.h"
#include "metrics.h"

#define PIN_DIGITS 16

void delivery_name(struct delivery *delivery, const char *subject)
{
    etag_make(delivery->etag, subject, delivery->media_type, coding_name(delivery->coding));
}

void delivery_name_by_digest(struct delivery *delivery)
{
    char base64[SHA256_BASE64];

    if (!delivery->digested)
        return;
    sha256_base64(delivery->digest, base64);
    delivery_name(delivery, base64);
}

/* ---- The pin ------------------------------------------------------------------------------- */

/* Compares the digest with the pin, if there is one. */
static bool pin_agrees(struct request *request, struct delivery *delivery)
{
    struct err *err = &request->err;
    char digits[PIN_DIGITS + 1];

    if (!delivery->pin)
        return true;
    sha256_digits(delivery->digest, PIN_DIGITS, digits);
    delivery->pinned = strcmp(delivery->pin, digits) == 0;
    if (delivery->pinned)
        return true;
    err_add(err, ERR_pin_mismatch, "pin",
            "GET /v1/changes tells what changed between semantics versions",
            "the answer has other bytes than the pin says");
    err_fact(err, "expected", delivery->pin);
    err_fact(err, "actual", arena_strndup(&request->arena, digits, PIN_DIGITS));
    err_fact(err, "semantics", API_SEMANTICS_VERSION);
    err_fact(err, "changes", "/v1/changes");
    return false;
}

bool delivery_pin_fits(struct request *request, const struct delivery *delivery, size_t len)
{
    struct err *err = &request->err;

    if (!delivery->pin || len <= DIGEST_BYTES_MAX)
        return true;
    err_add(err, ERR_limit_exceeded, "pin", "leave the pin out",
            "the answer has %zu bytes, more than the %zu that get a digest to compare with a pin",
            len, DIGEST_BYTES_MAX);
    err->cost = (double)len;
    err->limit = (double)DIGEST_BYTES_MAX;
    return false;
}

/* ---- Before the answer is made ------------------------------------------------------------- */

/* What an answer to HEAD has for a body: nothing is known of it, and nobody asks for it. */
static const struct stream unmade = {.len = STREAM_LEN_UNKNOWN};

static enum step not_modified(struct request *request)
{
    struct response *response = &request->response;

    buf_release(&response->body);
    blob_unref(response->blob);
    response->blob = NULL;
    response->spans_n = 0;
    response->content_type = NULL;
    response->status = 304;
    metric_add(METRIC_not_modified, 1);
    return STEP_DONE;
}

enum step delivery_judge(struct request *request, struct delivery *delivery)
{
    enum verdict verdict = validators_judge(request, delivery->etag);

    delivery->unmodified = verdict == VERDICT_NOT_MODIFIED;
    if (verdict == VERDICT_FAILED)
        return STEP_FAILED;
    return delivery->unmodified && !delivery->pin ? not_modified(request) : STEP_WORK;
}

enum step delivery_find(struct request *request, struct delivery *delivery,
                        struct answer_cache *answers)
{
    bool head = request->method == METHOD_HEAD;
    bool known = answer_cache_find(answers, request, delivery);

    request->response.content_type = delivery->media_type;
    if (known && !pin_agrees(request, delivery))
        return STEP_FAILED;
    if (delivery->unmodified && (known || head))
        return not_modified(request);
    if (head && !known)
        request->response.stream = &unmade;
    return known || head ? STEP_DONE : STEP_WORK;
}

/* ---- The bytes ----------------------------------------------------------------------------- */

static void take_digest(struct delivery *delivery, const struct response *response)
{
    struct sha256 sha;

    sha256_init(&sha);
    sha256_update(&sha, response->body.data, response->body.len);
    for (size_t i = 0; i < response->spans_n; i++)
        sha256_update(&sha, response->spans[i].data, response->spans[i].len);
    sha256_final(&sha, delivery->digest);
}

bool delivery_encode(struct request *request, struct delivery *delivery)
{
    struct buf *body = &request->response.body;
    size_t len = response_len(&request->response);

    delivery->digested = len <= DIGEST_BYTES_MAX && (!delivery->undigested || delivery->pin);
    if (delivery->digested)
        take_digest(delivery, &request->response);
    if (!delivery_pin_fits(request, delivery, len) || !pin_agrees(request, delivery))
        return false;
    if (request->method == METHOD_POST) {
        delivery_name_by_digest(delivery);
        if (validators_judge(request, delivery->etag) == VERDICT_FAILED)
            return false;
    }
    request->response.content_type = delivery->media_type;
    if (delivery->unmodified)
        return not_modified(request) == STEP_DONE;
    return coding_apply(delivery->coding, CODING_LEVEL, body->data, body->len, body) ||
           err_add(&request->err, ERR_overloaded, NULL, NULL, "no memory for the answer");
}

bool delivery_announce(struct request *request, const struct delivery *delivery)
{
    request->response.content_type = delivery->media_type;
    return request->method != METHOD_POST ||
           validators_judge(request, delivery->etag) != VERDICT_FAILED;
}

void delivery_keep(struct request *request, const struct delivery *delivery,
                   struct answer_cache *answers)
{
    if (request->method == METHOD_GET && !delivery->unmodified && !request->response.stream)
        answer_cache_keep(answers, request, delivery);
}

/* ---- Fields -------------------------------------------------------------------------------- */

void delivery_fields(struct request *request, const struct delivery *delivery)
{
    char base64[SHA256_BASE64];

    if (delivery->etag[0])
        response_header(request, "ETag", delivery->etag);
    if (request->response.status == 304)
        return;
    if (delivery->coding != CODING_IDENTITY)
        response_header(request, "Content-Encoding", coding_name(delivery->coding));
    if (!delivery->digested)
        return;
    sha256_base64(delivery->digest, base64);
    const char *digest = arena_printf(&request->arena, "sha-256=:%s:", base64);
    if (digest)
        response_header(request, "Repr-Digest", digest);
}
