// SPDX-License-Identifier: Apache-2.0
/* response.c: see response.h. Which fields a resource has is the api layer's business. */
#include "response.h"

#include "exchange.h"
#include "origins.h"
#include "stream.h"

/* On every answer (browsers: what a page may read of it; nobody may guess its type). */
static const struct header common_fields[] = {
    {"Access-Control-Expose-Headers",
     "ETag, Repr-Digest, Link, Posenc-Semantics, Posenc-Spec-Id, Retry-After, Request-Id, "
     "Server-Timing, Tensor"},
    {"Timing-Allow-Origin", "*"},
    {"Cross-Origin-Resource-Policy", "cross-origin"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
};

/* On answers to OPTIONS: what a page of another origin may send. */
static const struct header preflight_fields[] = {
    {"Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS"},
    {"Access-Control-Allow-Headers",
     "Accept, Accept-Language, Cache-Control, Content-Encoding, Content-Language, Content-Type, "
     "If-Match, If-None-Match, Pragma, Range, Request-Id, Traceparent, Tracestate, "
     "X-Requested-With"},
    {"Access-Control-Max-Age", "86400"},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void free_blob(void *blob)
{
    blob_unref(blob);
}

/* The body and what follows it, all of which the request holds. */
static struct MHD_Response *spans_response(struct response *response)
{
    struct MHD_IoVec pieces[1 + REQUEST_SPANS_MAX] = {{response->body.data, response->body.len}};
    unsigned n = 1 + (unsigned)response->spans_n;

    for (size_t i = 0; i < response->spans_n; i++)
        pieces[i + 1] = (struct MHD_IoVec){response->spans[i].data, response->spans[i].len};
    return MHD_create_response_from_iovec(pieces, n, NULL, NULL);
}

/* The body as a response; the blob's reference goes along. */
static struct MHD_Response *body_response(struct response *response)
{
    struct blob *blob = response->blob;

    if (response->spans_n > 0)
        return spans_response(response);
    if (!blob && response->body.len > 0 && !(blob = blob_from_buf(&response->body)))
        return NULL;
    if (!blob)
        return MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
    response->blob = blob;
    struct MHD_Response *made = MHD_create_response_from_buffer_with_free_callback_cls(
        blob->len, blob->data, free_blob, blob);
    if (made)
        response->blob = NULL;
    return made;
}

static bool add_fields(struct MHD_Response *made, const struct header *fields, size_t n)
{
    bool ok = true;

    for (size_t i = 0; i < n; i++)
        ok &= MHD_add_response_header(made, fields[i].name, fields[i].value) == MHD_YES;
    return ok;
}

/* Lets pages of all origins, or of those in the list, read the answer. */
static bool add_origin(struct MHD_Response *made, const struct http_exchange *exchange)
{
    const char *list = exchange->service->options.cors_origin;
    const char *origin = request_header(&exchange->request, "Origin");
    struct header fields[2];
    size_t n = 0;

    if (!list || origins_are_all(list)) {
        fields[n++] = (struct header){"Access-Control-Allow-Origin", "*"};
    } else {
        fields[n++] = (struct header){"Vary", "Origin"};
        if (origin && origins_have(list, origin))
            fields[n++] = (struct header){"Access-Control-Allow-Origin", origin};
    }
    return add_fields(made, fields, n);
}

/* Whether nobody knows how long the answer to a GET would be. */
static bool is_of_unknown_length(const struct request *request)
{
    const struct stream *stream = request->response.stream;

    return request->method == METHOD_HEAD && stream && stream->len == STREAM_LEN_UNKNOWN;
}

/* Says nothing of the length of a body that is not sent. libmicrohttpd 0.9 can keep silent only
 * where the connection ends, so that 304 has Content-Length: 0 there. */
static void hide_length(struct http_exchange *exchange, struct MHD_Response *made)
{
#if MHD_VERSION >= 0x01000000
    (void)exchange;
    MHD_set_response_options(made, MHD_RF_HEAD_ONLY_RESPONSE, MHD_RO_END);
#else
    if (!is_of_unknown_length(&exchange->request))
        return;
    exchange->closing = true;
    MHD_set_response_options(made, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
#endif
}

struct MHD_Response *response_build(struct http_exchange *exchange)
{
    struct request *request = &exchange->request;
    struct response *response = &request->response;
    struct header type = {"Content-Type", response->content_type};
    struct header id = {"Request-Id", request->id};
    struct header close = {"Connection", "close"};
    bool show_id = request->id[0] && (request->id_given || response->status >= 400);
    struct MHD_Response *made =
        response->stream ? stream_response(exchange) : body_response(response);

    if (!made)
        return NULL;
    if (response->status == 304 || is_of_unknown_length(request))
        hide_length(exchange, made);
    bool ok = add_fields(made, &type, response->content_type != NULL) &&
              add_fields(made, response->headers, response->headers_n) &&
              add_origin(made, exchange) && add_fields(made, common_fields, COUNT(common_fields)) &&
              add_fields(made, preflight_fields,
                         request->method == METHOD_OPTIONS ? COUNT(preflight_fields) : 0) &&
              add_fields(made, &id, show_id) && add_fields(made, &close, exchange->closing);
    if (ok)
        return made;
    MHD_destroy_response(made);
    return NULL;
}
