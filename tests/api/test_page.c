// SPDX-License-Identifier: Apache-2.0
/* test_page.c: browsers get a page that loads nothing, curl gets help; the page's links work. */
#include "call.h"

#include "assets.h"
#include "sha256.h"

Test(page, accept_decides)
{
    static const struct {
        const char *accept;
        bool html;
    } rows[] = {
        {NULL, false},
        {"*/*", false},
        {"text/plain", false},
        {"text/html", true},
        {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true},
        {"text/html;q=0.5, text/plain", false},
        {"application/json", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call_with.accept = rows[i].accept;
        call(&request, "GET", "/", NULL);
        cr_expect_eq(request.response.status, 200);
        cr_expect_str_eq(request.response.content_type,
                         rows[i].html ? "text/html; charset=utf-8" : "text/plain; charset=utf-8",
                         "Accept: %s", rows[i].accept);
        cr_expect_eq(call_field(&request, "Content-Security-Policy") != NULL, rows[i].html);
        call_end(&request);
    }
}

/* Value of a base64 digit. */
static unsigned digit_value(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    cr_assert(at, "'%c' is no base64 digit", c);
    return (unsigned)(at - digits);
}

Test(page, policy_allows_its_own_style_and_nothing_else)
{
    struct request request;
    call_with.accept = "text/html";
    call(&request, "GET", "/", NULL);
    const char *policy = call_field(&request, "Content-Security-Policy");
    static const char start[] = "default-src 'none'; style-src 'sha256-";
    cr_assert_eq(strncmp(policy, start, sizeof start - 1), 0, "%s", policy);
    const char *digest = policy + sizeof start - 1;
    cr_expect_str_eq(digest + 43, "='; base-uri 'none'; form-action 'none'; "
                                  "frame-ancestors 'none'");

    const char *page = call_body(&request), *style = strstr(page, "<style>") + strlen("<style>");
    char hex[65], expected[65];
    sha256_hex(style, (size_t)(strstr(style, "</style>") - style), 64, expected);
    for (size_t nibble = 0; nibble < 64; nibble++) { /* bits 4n to 4n+3 of the base64 text */
        size_t bit = 4 * nibble;
        unsigned window = digit_value(digest[bit / 6]) << 6;
        if (bit / 6 + 1 < 43)
            window |= digit_value(digest[bit / 6 + 1]);
        snprintf(hex + nibble, 2, "%x", window >> (8 - bit % 6) & 15);
    }
    cr_expect_str_eq(hex, expected);
    call_end(&request);
}

Test(page, loads_and_runs_nothing)
{
    static const char *const forbidden[] = {
        "<script", "<img", "<link", "<iframe", "@import", "url(", "style=", "http://", "https://",
    };
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++)
        cr_expect_null(strstr(asset_index_html, forbidden[i]), "%s", forbidden[i]);
}

Test(page, links_work)
{
    size_t links = 0;
    for (const char *at = asset_index_html; (at = strstr(at, "href=\"")); links++) {
        char target[256];
        size_t len = 0;
        for (at += strlen("href=\""); *at != '"'; at++) {
            target[len++] = *at;
            if (strncmp(at, "&amp;", 5) == 0)
                at += 4;
        }
        target[len] = '\0';
        struct request request;
        call(&request, "GET", target, NULL);
        cr_expect_eq(request.response.status, 200, "%s: %s", target, call_body(&request));
        call_end(&request);
    }
    cr_expect_eq(links, 9);
}
