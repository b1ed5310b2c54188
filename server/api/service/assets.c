// SPDX-License-Identifier: Apache-2.0
/*
 * assets.c: /assets: the clients, for programs to fetch and for pages to import. A path with the
 * file's digest in it may be cached for ever; the plain path says which one that is.
 */
#include "assets.h"

#include <stdio.h>
#include <string.h>

#include "service.h"
#include "sha256.h"

#define JAVASCRIPT "text/javascript"
#define PYTHON     "text/x-python"
#define UTF_8      "; charset=utf-8"

static const struct asset {
    const char *name, *media_type, *text;
} assets[ASSETS_N] = {
    {"posenc.py", PYTHON UTF_8, asset_posenc_py},
    {"posenc.js", JAVASCRIPT UTF_8, asset_posenc_js},
    {"client.js", JAVASCRIPT UTF_8, asset_posenc_js},
};

void assets_digest(struct app *app)
{
    for (size_t i = 0; i < ASSETS_N; i++)
        sha256_hex(assets[i].text, strlen(assets[i].text), ASSET_DIGEST_DIGITS,
                   app->asset_digest[i]);
}

static enum step refuse(struct request *request)
{
    const char *names[ASSETS_N];
    char hint[80] = "";

    for (size_t i = 0; i < ASSETS_N; i++)
        names[i] = assets[i].name;
    const char *near = pe_nearest_name(request->path_arg, names, ASSETS_N);
    if (near)
        snprintf(hint, sizeof hint, "did you mean /assets/%s?", near);
    err_add(&request->err, ERR_not_found, NULL, hint, "there is no file %.200s", request->path);
    return STEP_FAILED;
}

enum step asset_quick(struct request *request)
{
    const struct app *app = request->app;
    bool pinned = request->route->endpoint == &pinned_asset_endpoint;
    size_t i = 0;

    if (!service_query(request))
        return STEP_FAILED;
    while (i < ASSETS_N && strcmp(assets[i].name, request->path_arg) != 0)
        i++;
    const char *path = i == ASSETS_N ? NULL
                                     : arena_printf(&request->arena, "/assets/%s/%s",
                                                    app->asset_digest[i], assets[i].name);
    if (i == ASSETS_N || (pinned && path && strcmp(path, request->path) != 0))
        return refuse(request);
    if (path)
        response_header(request, "Content-Location", path);
    buf_init(&request->response.body, SERVICE_BYTES_MAX);
    buf_puts(&request->response.body, assets[i].text);
    return api_done(request, assets[i].media_type);
}

static const char *const media_types[] = {PYTHON, JAVASCRIPT, NULL};

const struct endpoint asset_endpoint = {
    .summary = "posenc.py and posenc.js (or client.js): the clients.",
    .describes = "",
    .cache = CACHE_PAGE,
    .media_types = media_types,
};

const struct endpoint pinned_asset_endpoint = {
    .summary = "The same for caches that keep it for ever: the path in Content-Location.",
    .describes = "",
    .cache = CACHE_PINNED,
    .media_types = media_types,
};
