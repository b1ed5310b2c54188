// SPDX-License-Identifier: Apache-2.0
/* test_assets.c: the clients under both of their paths, and nothing else. */
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
