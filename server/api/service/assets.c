// SPDX-License-Identifier: Apache-2.0
/*
 * assets.c: /assets: the clients, for programs to fetch and for pages to import, and the files of
 * the page. A path with a digest in it may be cached for ever; a client's plain path says which one
 * that is, and the page names its own.
 */
#include "assets.h"

#include <stdio.h>
#include <string.h>

#include "service.h"
#include "sha256.h"

#define JAVASCRIPT "text/javascript"
#define PYTHON     "text/x-python"
#define CSS        "text/css"
#define SVG        "image/svg+xml"
#define UTF_8      "; charset=utf-8"

static const struct asset {
    const char *name, *media_type, *text;
} assets[] = {
    {"posenc.py", PYTHON UTF_8, asset_posenc_py},
    {"posenc.js", JAVASCRIPT UTF_8, asset_posenc_js},
    {"client.js", JAVASCRIPT UTF_8, asset_posenc_js},
#define PAGE_FILE(symbol, name, type) {name, type UTF_8, asset_##symbol},
#include "page.def"
#undef PAGE_FILE
};

#define ASSETS_N (sizeof assets / sizeof assets[0])

_Static_assert(ASSETS_N > CLIENTS_N, "the clients come first, then the files of the page");

void assets_digest(struct app *app)
{
    struct sha256 sha;
    unsigned char digest[32];

    for (size_t i = 0; i < CLIENTS_N; i++)
        sha256_hex(assets[i].text, strlen(assets[i].text), ASSET_DIGEST_DIGITS,
                   app->client_digest[i]);
    sha256_init(&sha);
    for (size_t i = CLIENTS_N; i < ASSETS_N; i++)
        sha256_update(&sha, assets[i].text, strlen(assets[i].text) + 1);
    sha256_final(&sha, digest);
    sha256_digits(digest, ASSET_DIGEST_DIGITS, app->page_digest);
}

/* The path that may be cached for ever; NULL without memory. */
static const char *lasting_path(struct request *request, size_t i)
{
    const struct app *app = request->app;

    return arena_printf(&request->arena, "/assets/%s/%s",
                        i < CLIENTS_N ? app->client_digest[i] : app->page_digest, assets[i].name);
}

/* Whether a path is one of the file: its name with a folder before it. */
static bool ends_with(const char *path, const char *name)
{
    size_t path_len = strlen(path), len = strlen(name);

    return path_len > len && path[path_len - len - 1] == '/' &&
           strcmp(path + path_len - len, name) == 0;
}

static enum step refuse(struct request *request)
{
    const char *names[CLIENTS_N];
    char hint[80] = "";

    for (size_t i = 0; i < CLIENTS_N; i++)
        names[i] = assets[i].name;
    const char *near = pe_nearest_name(request->path_arg, names, CLIENTS_N);
    if (near)
        snprintf(hint, sizeof hint, "did you mean /assets/%s?", near);
    err_add(&request->err, ERR_not_found, NULL, hint, "there is no file %.200s", request->path);
    return STEP_FAILED;
}

enum step asset_quick(struct request *request)
{
    bool pinned = request->route->endpoint != &asset_endpoint;
    size_t i = 0, n = pinned ? ASSETS_N : CLIENTS_N;

    if (!service_query(request))
        return STEP_FAILED;
    while (i < n && !ends_with(request->path, assets[i].name))
        i++;
    const char *path = i < n ? lasting_path(request, i) : NULL;
    if (!path || (pinned && strcmp(path, request->path) != 0))
        return refuse(request);
    response_header(request, "Content-Location", path);
    buf_init(&request->response.body, SERVICE_BYTES_MAX);
    buf_puts(&request->response.body, assets[i].text);
    return api_done(request, assets[i].media_type);
}

static const char *const media_types[] = {PYTHON, JAVASCRIPT, NULL};
static const char *const pinned_media_types[] = {PYTHON, JAVASCRIPT, CSS, SVG, NULL};
static const char *const module_media_types[] = {JAVASCRIPT, NULL};

const struct endpoint asset_endpoint = {
    .summary = "posenc.py and posenc.js (or client.js): the clients.",
    .describes = "",
    .cache = CACHE_PAGE,
    .media_types = media_types,
};

const struct endpoint pinned_asset_endpoint = {
    .summary = "The same for caches that keep it for ever: the path in Content-Location. And the "
               "files of the page.",
    .describes = "",
    .cache = CACHE_PINNED,
    .media_types = pinned_media_types,
};

const struct endpoint module_endpoint = {
    .summary = "A view of the page, or its words in a language.",
    .describes = "",
    .cache = CACHE_PINNED,
    .media_types = module_media_types,
};
