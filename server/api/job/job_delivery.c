// SPDX-License-Identifier: Apache-2.0
/*
 * job_delivery.c: how a computed answer is delivered: what the caller expects of it, the canonical
 * request that its tag is made of, and the fields that go with it.
 */
#include "job_delivery.h"

#include <string.h>

#include "answer_cache.h"
#include "job.h"
#include "plots.h"

/* Of text, about CODING_BYTES_MIN; gzip takes 10 % off binary numbers, at 40 MB/s. */
#define CODING_ELEMENTS_MIN 1024
/* More than this may pass DIGEST_BYTES_MAX, and is sent while it is made. */
#define CODING_ELEMENTS_MAX ((size_t)1 << 19)
#define LINKS_BYTES_MAX     4096
#define NS_PER_MS           1e6

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

bool job_delivery_prepare(struct job *job)
{
    struct delivery *delivery = &job->delivery;
    bool pays = !format_is_binary(job->format) && job->elements >= CODING_ELEMENTS_MIN &&
                job->elements <= CODING_ELEMENTS_MAX;

    delivery->media_type = format_media_type(job->format);
    delivery->pin = expectation(job, COMMON_PIN);
    delivery->undigested = job->app->undigested;
    if (!semantics_agree(job) || !coding_choose(job->request, pays, &delivery->coding))
        return false;
    if (job->request->method == METHOD_POST)
        return true;
    job->canonical = job_canonical(job);
    if (!job->canonical)
        return false;
    delivery_name(delivery, job->canonical);
    return true;
}

/* ---- Fields -------------------------------------------------------------------------------- */

/* A field whose value may be missing for want of memory. */
static void add_field(struct request *request, const char *name, const char *value)
{
    if (value)
        response_header(request, name, value);
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
    size_t path_len = strcspn(job->canonical, "?");

    for (enum format format = 0; format < FORMATS_N; format++)
        if (job_formats(job) & 1U << format && format != job->format)
            buf_printf(out, ", <%.*s.%s%s>; rel=\"alternate\"; type=\"%s\"", (int)path_len,
                       job->canonical, format_suffix(format), job->canonical + path_len,
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
    buf_printf(&all, ", <%s>; rel=\"canonical\"", job->canonical);
    append_alternates(&all, job);
    const struct buf *links = all.failed ? &some : &all;
    add_field(request, "Link", arena_strndup(&request->arena, links->data, links->len));
    buf_release(&all);
    buf_release(&some);
}

void job_delivery_fields(struct request *request)
{
    const struct job *job = request->state;

    response_header(request, "Posenc-Semantics", API_SEMANTICS_VERSION);
    if (job->specs_n == 1)
        response_header(request, "Posenc-Spec-Id", job->specs[0].id);
    delivery_fields(request, &job->delivery);
    if (job->canonical)
        add_links(request, job);
    if (job->format == FORMAT_BIN)
        add_field(request, "Tensor", job_tensor_field(job));
    if (job->format == FORMAT_SVG)
        response_header(request, "Content-Security-Policy", PLOT_POLICY);
    add_timing(request);
    answer_cache_remember(job->app->answers, request, &job->delivery);
}
