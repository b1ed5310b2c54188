// SPDX-License-Identifier: Apache-2.0
/*
 * page.c: /: a page for browsers, short help for curl, by Accept. The page may load nothing and run
 * nothing; the one style sheet that stands in it is allowed by its digest.
 */
#include <string.h>

#include "accept.h"
#include "assets.h"
#include "help.h"
#include "service.h"
#include "sha256.h"

/* 'sha256-...' of what stands between <style> and </style>, byte for byte. */
static void digest_style(char out[SHA256_BASE64])
{
    const char *open = strstr(asset_index_html, "<style>");
    const char *style = open ? open + strlen("<style>") : "", *close = strstr(style, "</style>");
    unsigned char digest[32];

    sha256_digest(style, close ? (size_t)(close - style) : 0, digest);
    sha256_base64(digest, out);
}

static enum step answer_page(struct request *request)
{
    char digest[SHA256_BASE64];
    const char *policy;

    digest_style(digest);
    policy = arena_printf(&request->arena,
                          "default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; "
                          "form-action 'none'; frame-ancestors 'none'",
                          digest);
    response_header(request, "Content-Security-Policy", policy ? policy : "default-src 'none'");
    buf_puts(&request->response.body, asset_index_html);
    return api_done(request, "text/html; charset=utf-8");
}

enum step root_quick(struct request *request)
{
    const char *accept = request_header(request, "Accept");

    if (!service_query(request))
        return STEP_FAILED;
    buf_init(&request->response.body, SERVICE_BYTES_MAX);
    if (accept_quality(accept, "text/html") > accept_quality(accept, "text/plain"))
        return answer_page(request);
    help_write_short(&request->response.body);
    return api_done(request, format_media_type(FORMAT_TXT));
}

const struct endpoint root_endpoint = {
    .summary = "A page for browsers, or what to try first with curl.",
    .describes = "",
    .cache = CACHE_PAGE,
    .page = true,
};
