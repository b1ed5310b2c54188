// SPDX-License-Identifier: Apache-2.0
/*
 * page.c: /: a page for browsers, short help for curl, by Accept. The page may load nothing and run
 * nothing; the one style sheet that stands in it is allowed by its digest.
 */
#include <stdint.h>
#include <string.h>

#include "accept.h"
#include "assets.h"
#include "help.h"
#include "service.h"
#include "sha256.h"

#define DIGEST_BYTES 32

/* Base64 (RFC 4648) of a SHA-256 digest. */
static void encode_digest(const unsigned char digest[DIGEST_BYTES], char out[45])
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t len = 0;

    for (size_t i = 0; i < DIGEST_BYTES; i += 3) {
        uint32_t bits = (uint32_t)digest[i] << 16 | (uint32_t)digest[i + 1] << 8;
        if (i + 2 < DIGEST_BYTES)
            bits |= digest[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6)
            out[len++] = alphabet[bits >> shift & 63];
    }
    out[43] = '=';
    out[44] = '\0';
}

/* 'sha256-...' of what stands between <style> and </style>, byte for byte. */
static void digest_style(char out[45])
{
    const char *open = strstr(asset_index_html, "<style>");
    const char *style = open ? open + strlen("<style>") : "", *close = strstr(style, "</style>");
    unsigned char digest[DIGEST_BYTES];
    struct sha256 sha;

    sha256_init(&sha);
    sha256_update(&sha, style, close ? (size_t)(close - style) : 0);
    sha256_final(&sha, digest);
    encode_digest(digest, out);
}

static enum step answer_page(struct request *request)
{
    char digest[45];
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
};
