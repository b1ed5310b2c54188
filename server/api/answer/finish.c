// SPDX-License-Identifier: Apache-2.0
/*
 * finish.c: the end of every request: the problem document if something was wrong, and the fields
 * that depend on the endpoint rather than on HTTP: caching, semantics, service description.
 */
#include "job.h"
#include "job_delivery.h"
#include "service.h"

#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)

static const char *cache_text(const struct request *request, const struct endpoint *endpoint)
{
    int status = request->response.status;

    if (request->method == METHOD_POST || !endpoint || endpoint->cache == CACHE_NO_STORE)
        return "no-store";
    if (request->err.n > 0)
        return endpoint->cache == CACHE_COMPUTED && (status == 400 || status == 404)
                   ? "max-age=" TEXT(CACHE_ERROR_S)
                   : "no-store";
    const struct job *job = endpoint_computes(endpoint) ? request->state : NULL;
    if (endpoint->cache == CACHE_PINNED || (job && job->delivery.pinned))
        return "public, max-age=" TEXT(CACHE_PINNED_S) ", immutable";
    return endpoint->cache == CACHE_COMPUTED
               ? "public, max-age=" TEXT(CACHE_COMPUTED_S) ", stale-while-revalidate=" TEXT(
                     CACHE_COMPUTED_STALE_S)
               : "public, max-age=" TEXT(CACHE_PAGE_S);
}

void api_finish(struct request *request)
{
    const struct endpoint *endpoint = request->route ? request->route->endpoint : NULL;
    bool failed = request->err.n > 0, computed = endpoint && endpoint_computes(endpoint) && !failed;

    if (request->response.complete && !failed) {
        response_header(request, "Server-Timing", "parse;dur=0, compute;dur=0, encode;dur=0");
        return;
    }
    if (failed)
        problem_answer(request);
    if (failed && request->response.status == 503 && request->err.retry_after_s == 0)
        response_header(request, "Retry-After", "1");
    if (request->method == METHOD_OPTIONS && !failed)
        return;
    response_header(request, "Cache-Control", cache_text(request, endpoint));
    response_header(request, "Vary",
                    endpoint && endpoint->languages ? "Accept, Accept-Encoding, Accept-Language"
                    : request->suffix && !(failed && endpoint && endpoint->behind)
                        ? "Accept-Encoding"
                        : "Accept, Accept-Encoding"); /* problems of pictures may be pictures */
    if (computed)
        job_delivery_fields(request);
    else if (!failed && endpoint && endpoint->cache != CACHE_NO_STORE)
        delivery_fields(request, request->state);
    if (!computed && (request->method == METHOD_GET || request->method == METHOD_HEAD))
        response_header(request, "Link", "</openapi.json>; rel=\"service-desc\"");
}

enum step api_done(struct request *request, const char *content_type)
{
    if (request->response.body.failed) {
        err_add(&request->err, ERR_overloaded, NULL, NULL, "no memory for the answer");
        return STEP_FAILED;
    }
    const struct endpoint *endpoint = request->route->endpoint;
    request->response.content_type = content_type;
    return endpoint->cache == CACHE_NO_STORE ? STEP_DONE : service_deliver(request, NULL);
}
