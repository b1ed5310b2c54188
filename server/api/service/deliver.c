// SPDX-License-Identifier: Apache-2.0
/*
 * deliver.c: delivery of what the service says about itself. It is made at once and named by its
 * bytes; only gzip is left to a worker, unless it has been done before.
 */
#include <string.h>

#include "answer_cache.h"
#include "delivery.h"
#include "service.h"

struct bytes {
    const char *data;
    size_t len;
};

static struct bytes bytes_of(const struct response *response)
{
    const struct blob *blob = response->blob;

    return blob ? (struct bytes){blob->data, blob->len}
                : (struct bytes){response->body.data, response->body.len};
}

static bool is_pinned(const struct request *request)
{
    const struct endpoint *endpoint = request->route->endpoint;

    return endpoint->cache == CACHE_PINNED;
}

enum step service_deliver(struct request *request, const unsigned char *digest)
{
    const struct app *app = request->app;
    struct bytes bytes = bytes_of(&request->response);
    struct delivery *delivery = arena_calloc(&request->arena, 1, sizeof *delivery);

    if (!delivery) {
        err_add(&request->err, ERR_internal, NULL, NULL, "no memory for the request");
        return STEP_FAILED;
    }
    request->state = delivery;
    delivery->media_type = request->response.content_type;
    size_t least = is_pinned(request) ? CODING_PINNED_BYTES_MIN : CODING_BYTES_MIN;
    if (!coding_choose(request, bytes.len >= least, &delivery->coding))
        return STEP_FAILED;
    if (digest)
        memcpy(delivery->digest, digest, sizeof delivery->digest);
    else
        sha256_digest(bytes.data, bytes.len, delivery->digest);
    delivery->digested = true;
    delivery_name_by_digest(delivery);
    enum step step = delivery_judge(request, delivery);
    if (step != STEP_WORK)
        return step;
    return delivery->coding == CODING_IDENTITY ? STEP_DONE
                                               : delivery_find(request, delivery, app->answers);
}

enum step service_encode(struct request *request)
{
    struct response *response = &request->response;
    const struct delivery *delivery = request->state;
    struct bytes bytes = bytes_of(response);

    response->body.len_max = SERVICE_BYTES_MAX;
    int level = is_pinned(request) ? CODING_PINNED_LEVEL : CODING_LEVEL;
    if (!coding_apply(delivery->coding, level, bytes.data, bytes.len, &response->body)) {
        err_add(&request->err, ERR_overloaded, NULL, NULL, "no memory for the answer");
        return STEP_FAILED;
    }
    blob_unref(response->blob);
    response->blob = NULL;
    return STEP_DONE;
}

enum step service_settle(struct request *request)
{
    const struct app *app = request->app;

    delivery_keep(request, request->state, app->answers);
    return STEP_DONE;
}
