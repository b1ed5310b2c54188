// SPDX-License-Identifier: Apache-2.0
/*
 * openapi.c: the OpenAPI document: proto/openapi.json, written by hand, in which texts that begin
 * with @ stand for what the tables know (openapi_params.c, openapi_paths.c). Made once, at start.
 */
#include "openapi.h"

#include <assert.h>
#include <string.h>

#include "assets.h"
#include "schema.h"
#include "service.h"
#include "write.h"

#define ARENA_BYTES_MAX ((size_t)8 << 20)

static void add_version(struct tree *holder)
{
    tree_string(holder, NULL, API_SERVICE_VERSION);
}

static void add_paths(struct tree *holder)
{
    openapi_paths(tree_object(holder, NULL));
}

static void add_parameters(struct tree *holder)
{
    openapi_shared_parameters(tree_object(holder, NULL));
}

static void add_kinds(struct tree *holder)
{
    struct tree *kinds = tree_array(holder, NULL);

    for (size_t i = 0; i < pe_kinds_n(); i++)
        schema_kind(kinds, NULL, pe_kind_at(i), false);
}

static void add_problem_types(struct tree *holder)
{
    struct tree *types = tree_array(holder, NULL);

#define ADD_TYPE(code, slug, status, title) tree_string(types, NULL, "/problems/" slug);
    ERR_MAP(ADD_TYPE)
#undef ADD_TYPE
}

/* What a text "@name" of the skeleton stands for: the only element of the array `holder`. */
static const struct filling {
    const char *name;
    void (*add)(struct tree *holder);
} fillings[] = {
    {"version", add_version},
    {"paths", add_paths},
    {"parameters", add_parameters},
    {"kinds", add_kinds},
    {"problem_types", add_problem_types},
};

static void fill(struct buf *out, const char *name, size_t len, struct arena *arena)
{
    const struct filling *filling = fillings;

    while (strlen(filling->name) != len || memcmp(filling->name, name, len) != 0) {
        filling++;
        assert(filling < fillings + sizeof fillings / sizeof fillings[0]);
    }
    struct tree *holder = tree_new(arena, TREE_ARRAY);
    filling->add(holder);
    if (tree_ok(holder))
        json_write_tree(out, holder->first);
    else
        out->failed = true;
}

static void expand(struct buf *out, const char *text, struct arena *arena)
{
    for (;;) {
        const char *mark = strstr(text, "\"@");
        buf_append(out, text, mark ? (size_t)(mark - text) : strlen(text));
        if (!mark)
            return;
        const char *name = mark + 2;
        size_t len = strcspn(name, "\"");
        fill(out, name, len, arena);
        text = name + len + 1;
    }
}

struct blob *openapi_new(const struct app *app)
{
    struct blob *blob = NULL;
    struct arena arena;
    struct buf out;

    (void)app;
    arena_init(&arena, ARENA_BYTES_MAX);
    buf_init(&out, SERVICE_BYTES_MAX);
    expand(&out, asset_openapi_json, &arena);
    if (!out.failed)
        blob = blob_from_buf(&out);
    buf_release(&out);
    arena_release(&arena);
    return blob;
}

enum step openapi_quick(struct request *request)
{
    const struct app *app = request->app;
    enum format format;

    if (!service_begin(request, &format))
        return STEP_FAILED;
    request->response.blob = blob_ref(app->openapi);
    request->response.content_type = format_media_type(format);
    return STEP_DONE;
}

const struct endpoint openapi_endpoint = {
    .summary = "This API as an OpenAPI 3.1 document.",
    .describes = "",
    .cache = CACHE_PAGE,
    .formats = 1U << FORMAT_JSON,
};
