// SPDX-License-Identifier: Apache-2.0
/* test_assets.c: the clients under both of their paths, the files of the page under theirs, and
 * nothing else. */
#include "call.h"

#include "assets.h"
#include "sha256.h"

static const struct {
    const char *name, *media_type, *text;
} files[] = {
    {"posenc.py", "text/x-python; charset=utf-8", asset_posenc_py},
    {"posenc.js", "text/javascript; charset=utf-8", asset_posenc_js},
    {"client.js", "text/javascript; charset=utf-8", asset_posenc_js},
};

static void expect_file(const char *path, size_t i, const char *lasting, const char *cache)
{
    struct request request;
    call(&request, "GET", path, NULL);
    cr_expect_eq(request.response.status, 200, "%s", path);
    cr_expect_str_eq(request.response.content_type, files[i].media_type, "%s", path);
    cr_expect_str_eq(call_body(&request), files[i].text, "%s", path);
    cr_expect_str_eq(call_field(&request, "Content-Location"), lasting, "%s", path);
    cr_expect_str_eq(call_field(&request, "Cache-Control"), cache, "%s", path);
    call_end(&request);
}

Test(assets, plain_paths_name_those_that_last)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char plain[64], lasting[96], digest[17];
        sha256_hex(files[i].text, strlen(files[i].text), 16, digest);
        snprintf(plain, sizeof plain, "/assets/%s", files[i].name);
        snprintf(lasting, sizeof lasting, "/assets/%s/%s", digest, files[i].name);
        expect_file(plain, i, lasting, "public, max-age=300");
        expect_file(lasting, i, lasting, "public, max-age=31536000, immutable");
    }
}

Test(assets, files_of_the_page_share_a_digest)
{
    static const struct {
        const char *name, *media_type, *text;
    } rows[] = {
        {"app.js", "text/javascript; charset=utf-8", asset_app_js},
        {"views/lesson.js", "text/javascript; charset=utf-8", asset_lesson_js},
        {"texts/ja.js", "text/javascript; charset=utf-8", asset_ja_js},
        {"style.css", "text/css; charset=utf-8", asset_style_css},
        {"icon.svg", "image/svg+xml; charset=utf-8", asset_icon_svg},
        {"uPlot.iife.min.js", "text/javascript; charset=utf-8", asset_uplot_js},
    };
    call_setup();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char target[96];
        struct request request;
        snprintf(target, sizeof target, "/assets/%s/%s", call_app->page_digest, rows[i].name);
        call(&request, "GET", target, NULL);
        cr_expect_eq(request.response.status, 200, "%s", target);
        cr_expect_str_eq(request.response.content_type, rows[i].media_type, "%s", target);
        cr_expect_str_eq(call_body(&request), rows[i].text, "%s", target);
        cr_expect(call_field(&request, "ETag"), "%s", target);
        cr_expect_str_eq(call_field(&request, "Cache-Control"),
                         "public, max-age=31536000, immutable");
        call_end(&request);
    }
}

Test(assets, small_files_come_in_gzip_too)
{
    char target[96];
    struct request request;
    call_setup();
    call_with.accept_encoding = "gzip";
    snprintf(target, sizeof target, "/assets/%s/app.js", call_app->page_digest);
    cr_assert_lt(strlen(asset_app_js), 14 << 10);
    call(&request, "GET", target, NULL);
    cr_expect_str_eq(call_field(&request, "Content-Encoding"), "gzip");
    cr_expect_lt(request.response.body.len, strlen(asset_app_js) * 2 / 3);
    call_end(&request);
    call(&request, "GET", "/v1", NULL); /* as long, but made anew each time */
    cr_expect_null(call_field(&request, "Content-Encoding"));
    call_end(&request);
}

Test(assets, other_paths_lead_nowhere)
{
    char swapped[96], digest[17];
    sha256_hex(asset_posenc_py, strlen(asset_posenc_py), 16, digest);
    snprintf(swapped, sizeof swapped, "/assets/%s/posenc.js", digest);
    const struct {
        const char *path, *hint;
    } rows[] = {
        {"/assets/posenc.ps", "did you mean /assets/posenc.py?"},
        {"/assets/0123456789abcdef/posenc.py", "did you mean /assets/posenc.py?"},
        {swapped, "did you mean /assets/posenc.js?"},
        {"/assets/%2e%2e/posenc.py", "did you mean /assets/posenc.py?"},
        {"/assets/app.js", "GET /help lists what there is"},
        {"/assets/0123456789abcdef/app.js", "GET /help lists what there is"},
        {"/assets/0123456789abcdef/views/lesson.js", "GET /help lists what there is"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call(&request, "GET", rows[i].path, NULL);
        cr_expect_eq(request.response.status, 404, "%s", rows[i].path);
        cr_expect_str_eq(request.err.item[0].hint, rows[i].hint, "%s", rows[i].path);
        cr_expect_str_eq(call_field(&request, "Cache-Control"), "no-store");
        call_end(&request);
    }
}
