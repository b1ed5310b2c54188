// SPDX-License-Identifier: Apache-2.0
/*
 * finish.c: the end of every request: the problem document if something was wrong, and the fields
 * that depend on the endpoint rather than on HTTP: caching, semantics, service description.
 */
#include "service.h"

#define NS_PER_MS 1e6

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
    return endpoint->cache == CACHE_COMPUTED
               ? "public, max-age=" TEXT(CACHE_COMPUTED_S) ", stale-while-revalidate=" TEXT(
                     CACHE_COMPUTED_STALE_S)
               : "public, max-age=" TEXT(CACHE_PAGE_S);
}

static void add_timing(struct request *request)
{
    const char *timing =
        arena_printf(&request->arena, "parse;dur=%.3f, compute;dur=%.3f, encode;dur=%.3f",
                     (double)request->parse_ns / NS_PER_MS, (double)request->compute_ns / NS_PER_MS,
                     (double)request->encode_ns / NS_PER_MS);

    if (timing)
        response_header(request, "Server-Timing", timing);
}

void api_finish(struct request *request)
{
    const struct endpoint *endpoint = request->route ? request->route->endpoint : NULL;
    bool failed = request->err.n > 0;

    if (failed)
        problem_answer(request);
    if (failed && request->response.status == 503 && request->err.retry_after_s == 0)
        response_header(request, "Retry-After", "1");
    if (request->method == METHOD_OPTIONS && !failed)
        return;
    response_header(request, "Cache-Control", cache_text(request, endpoint));
    if (!request->suffix)
        response_header(request, "Vary", "Accept, Accept-Encoding");
    if (request->method == METHOD_GET || request->method == METHOD_HEAD)
        response_header(request, "Link", "</openapi.json>; rel=\"service-desc\"");
    if (!failed && endpoint && endpoint->cache == CACHE_COMPUTED) {
        response_header(request, "Posenc-Semantics", API_SEMANTICS_VERSION);
        add_timing(request);
    }
}

enum step api_done(struct request *request, const char *content_type)
{
    if (request->response.body.failed) {
        err_add(&request->err, ERR_overloaded, NULL, NULL, "no memory for the answer");
        return STEP_FAILED;
    }
    request->response.content_type = content_type;
    return STEP_DONE;
}
