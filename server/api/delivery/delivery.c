// SPDX-License-Identifier: Apache-2.0
/* delivery.c: see delivery.h. */
#include "delivery.h"

#include <stdio.h>
#include <string.h>

#include "job.h"
#include "metrics.h"

#define PIN_BYTES       8
#define LINKS_BYTES_MAX 4096
#define NS_PER_MS       1e6

/* ---- What the caller expects --------------------------------------------------------------- */

static const char *expectation(const struct job *job, enum common row)
{
    const struct pe_value *value = &job->common.value[row];
    return value->set ? value->text : NULL;
}

/* A version asks for what it names: 1 for any 1.x.y. */
static bool semantics_agree(struct job *job)
{
    const char *wanted = expectation(job, COMMON_SEMANTICS);
    size_t len = wanted ? strlen(wanted) : 0;
    bool same = !wanted || (strncmp(wanted, API_SEMANTICS_VERSION, len) == 0 &&
                            strchr(".", API_SEMANTICS_VERSION[len]));

    return same || err_add(&job->request->err, ERR_semantics_mismatch,
                           common_keys[COMMON_SEMANTICS].name, "GET /v1/changes tells what changed",
                           "the request expects semantics %s, this service has %s", wanted,
                           API_SEMANTICS_VERSION);
}

/* Compares the digest with the pin, if there is one. */
static bool pin_agrees(struct job *job)
{
    struct request *request = job->request;
    const char *pin = expectation(job, COMMON_PIN);
    char digits[2 * PIN_BYTES + 1];

    if (!pin)
        return true;
    for (size_t i = 0; i < PIN_BYTES; i++)
        snprintf(digits + 2 * i, 3, "%02x", job->delivery.digest[i]);
    job->delivery.pinned = strcmp(pin, digits) == 0;
    if (job->delivery.pinned)
        return true;
    err_add(&request->err, ERR_pin_mismatch, common_keys[COMMON_PIN].name,
            "GET /v1/changes tells what changed between semantics versions",
            "the answer has other bytes than the pin says");
    err_fact(&request->err, "expected", pin);
    err_fact(&request->err, "actual", arena_strndup(&request->arena, digits, sizeof digits - 1));
    err_fact(&request->err, "semantics", API_SEMANTICS_VERSION);
    err_fact(&request->err, "changes", "/v1/changes");
    return false;
}

/* ---- Before computing ---------------------------------------------------------------------- */

bool delivery_prepare(struct job *job)
{
    struct delivery *delivery = &job->delivery;

    if (!semantics_agree(job))
        return false;
    if (job->request->method == METHOD_POST)
        return true;
    delivery->canonical = job_canonical(job);
    if (!delivery->canonical)
        return false;
    etag_make(delivery->etag, delivery->canonical, format_media_type(job->format), "identity");
    return true;
}

/* The client has the answer already. */
static enum step not_modified(struct job *job)
{
    struct response *response = &job->request->response;

    buf_release(&response->body);
    response->status = 304;
    metric_add(METRIC_not_modified, 1);
    return STEP_DONE;
}

/* What an answer to HEAD has for a body: nothing is known of it, and nobody asks for it. */
static const struct stream unmade = {.len = STREAM_LEN_UNKNOWN};

enum step delivery_try(struct job *job)
{
    struct request *request = job->request;
    enum verdict verdict = validators_judge(request, job->delivery.etag);

    if (verdict == VERDICT_FAILED)
        return STEP_FAILED;
    job->delivery.unmodified = verdict == VERDICT_NOT_MODIFIED;
    bool head = request->method == METHOD_HEAD;
    if (job->delivery.unmodified && (head || !expectation(job, COMMON_PIN)))
        return not_modified(job);
    if (!head)
        return STEP_WORK;
    request->response.stream = &unmade;
    request->response.content_type = format_media_type(job->format);
    return STEP_DONE;
}

/* ---- The bytes ----------------------------------------------------------------------------- */

static bool refuse_pin(struct job *job, size_t len)
{
    struct err *err = &job->request->err;

    err_add(err, ERR_limit_exceeded, common_keys[COMMON_PIN].name, "leave the pin out",
            "the answer has %zu bytes, more than the %zu that get a digest to compare with a pin",
            len, DIGEST_BYTES_MAX);
    err->cost = (double)len;
    err->limit = (double)DIGEST_BYTES_MAX;
    return false;
}

/* The tag of a POST's answer, whose request is too long to name it: by the digest. */
static bool judge_post(struct job *job)
{
    struct delivery *delivery = &job->delivery;
    char base64[SHA256_BASE64];

    if (delivery->digested) {
        sha256_base64(delivery->digest, base64);
        etag_make(delivery->etag, base64, format_media_type(job->format), "identity");
    }
    return validators_judge(job->request, delivery->etag) == VERDICT_PROCEED;
}

bool delivery_encode(struct job *job)
{
    struct delivery *delivery = &job->delivery;
    const struct buf *body = &job->request->response.body;

    delivery->digested = body->len <= DIGEST_BYTES_MAX;
    if (delivery->digested)
        sha256_digest(body->data, body->len, delivery->digest);
    else if (expectation(job, COMMON_PIN))
        return refuse_pin(job, body->len);
    if (!pin_agrees(job))
        return false;
    if (job->request->method == METHOD_POST)
        return judge_post(job);
    if (delivery->unmodified)
        not_modified(job);
    return true;
}

/* ---- Fields -------------------------------------------------------------------------------- */

/* A field whose value may be missing for want of memory. */
static void add_field(struct request *request, const char *name, const char *value)
{
    if (value)
        response_header(request, name, value);
}

static void add_digest(struct request *request, const struct delivery *delivery)
{
    char base64[SHA256_BASE64];

    sha256_base64(delivery->digest, base64);
    add_field(request, "Repr-Digest", arena_printf(&request->arena, "sha-256=:%s:", base64));
}

static void add_timing(struct request *request)
{
    add_field(request, "Server-Timing",
              arena_printf(&request->arena, "parse;dur=%.3f, compute;dur=%.3f, encode;dur=%.3f",
                           (double)request->parse_ns / NS_PER_MS,
                           (double)request->compute_ns / NS_PER_MS,
                           (double)request->encode_ns / NS_PER_MS));
}

/* The same answer in its other formats. */
static void append_alternates(struct buf *out, const struct job *job)
{
    const char *canonical = job->delivery.canonical;
    size_t path_len = strcspn(canonical, "?");

    for (enum format format = 0; format < FORMATS_N; format++)
        if (job->endpoint->formats & 1U << format && format != job->format)
            buf_printf(out, ", <%.*s.%s%s>; rel=\"alternate\"; type=\"%s\"", (int)path_len,
                       canonical, format_suffix(format), canonical + path_len,
                       format_media_type(format));
}

/* Where a canonical request is so long that the field would be too, the links that repeat it are
 * left out; those in the body of a JSON answer remain. */
static void add_links(struct request *request, const struct job *job)
{
    struct buf all, some;

    buf_init(&some, LINKS_BYTES_MAX);
    buf_puts(&some, "</openapi.json>; rel=\"service-desc\"");
    if (job->specs_n == 1)
        buf_printf(&some, ", </v1/encodings/%s>; rel=\"describedby\"",
                   job->specs[0].spec.kind->name);
    buf_init(&all, LINKS_BYTES_MAX);
    buf_append(&all, some.data, some.len);
    buf_printf(&all, ", <%s>; rel=\"canonical\"", job->delivery.canonical);
    append_alternates(&all, job);
    const struct buf *links = all.failed ? &some : &all;
    add_field(request, "Link", arena_strndup(&request->arena, links->data, links->len));
    buf_release(&all);
    buf_release(&some);
}

void delivery_fields(struct request *request)
{
    const struct job *job = request->state;
    const struct delivery *delivery = &job->delivery;

    response_header(request, "Posenc-Semantics", API_SEMANTICS_VERSION);
    if (job->specs_n == 1)
        response_header(request, "Posenc-Spec-Id", job->specs[0].id);
    if (delivery->etag[0])
        response_header(request, "ETag", delivery->etag);
    if (delivery->digested && request->response.status == 200)
        add_digest(request, delivery);
    if (delivery->canonical)
        add_links(request, job);
    if (job->format == FORMAT_BIN)
        add_field(request, "Tensor", job_tensor_field(job));
    add_timing(request);
}
