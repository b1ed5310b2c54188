// SPDX-License-Identifier: Apache-2.0
/*
 * openapi.c: the OpenAPI document: proto/openapi.in.json, written by hand, in which texts that
 * begin with @ stand for what the tables know (openapi_params.c, openapi_paths.c,
 * openapi_answers.c). Made once, at start.
 */
#include "openapi.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "aspects.h"
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

static void add_answered_kinds(struct tree *holder)
{
    struct tree *kinds = tree_array(holder, NULL);

    for (size_t i = 0; i < pe_kinds_n(); i++)
        schema_kind_answer(kinds, NULL, pe_kind_at(i));
}

static void add_kind_names(struct tree *holder)
{
    struct tree *names = tree_array(holder, NULL);

    for (size_t i = 0; i < pe_kinds_n(); i++)
        tree_string(names, NULL, pe_kind_at(i)->name);
}

static void add_examples(struct tree *holder)
{
    tree_raw(holder, NULL, asset_examples_json);
}

static void add_problem_types(struct tree *holder)
{
    struct tree *types = tree_array(holder, NULL);

#define ADD_TYPE(code, slug, status, title) tree_string(types, NULL, "/problems/" slug);
    ERR_MAP(ADD_TYPE)
#undef ADD_TYPE
}

/* The tensors that `with` may add to an answer, by the pattern of their names. */
static void add_aspects(struct tree *holder)
{
    static const char names[] = ASPECT_NAMES;
    char pattern[sizeof names + sizeof "^()$"];
    size_t len = (size_t)snprintf(pattern, sizeof pattern, "^(%s)$", names);

    for (size_t i = 0; i < len; i++)
        if (pattern[i] == ' ')
            pattern[i] = '|';
    const char *kept = arena_strndup(holder->arena, pattern, len);
    struct tree *tensor = tree_object(tree_object(holder, NULL), kept ? kept : "");
    tree_string(tensor, "$ref", "#/components/schemas/Tensor");
    tree_string(tensor, "description", "If with= asks for it.");
}

/* What a text "@name" of the skeleton stands for, or "@name path" where it depends on a path: the
 * only element of the array `holder`. */
static const struct filling {
    const char *name;
    void (*add)(struct tree *holder);
    void (*add_of)(struct tree *holder, const char *path);
} fillings[] = {
    {"version", add_version, NULL},
    {"paths", add_paths, NULL},
    {"parameters", add_parameters, NULL},
    {"kinds", add_kinds, NULL},
    {"kind_names", add_kind_names, NULL},
    {"answered_kinds", add_answered_kinds, NULL},
    {"params", NULL, openapi_echo},
    {"aspects", add_aspects, NULL},
    {"examples", add_examples, NULL},
    {"problem_types", add_problem_types, NULL},
    {"shared_problems", openapi_shared_problems, NULL},
};

static void fill(struct buf *out, const char *text, size_t len, struct arena *arena)
{
    const struct filling *filling = fillings;
    size_t name_len = strcspn(text, " \"");

    while (strlen(filling->name) != name_len || memcmp(filling->name, text, name_len) != 0) {
        filling++;
        assert(filling < fillings + sizeof fillings / sizeof fillings[0]);
    }
    struct tree *holder = tree_new(arena, TREE_ARRAY);
    if (filling->add)
        filling->add(holder);
    else
        filling->add_of(holder, arena_strndup(arena, text + name_len + 1, len - name_len - 1));
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
        size_t len = strcspn(mark + 2, "\"");
        fill(out, mark + 2, len, arena);
        text = mark + 2 + len + 1;
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
    if (blob)
        blob_settle(blob);
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
    return service_deliver(request, app->openapi_digest);
}

const struct endpoint openapi_endpoint = {
    .summary = "This API as an OpenAPI 3.1 document.",
    .describes = "",
    .schema = "Document",
    .cache = CACHE_PAGE,
    .formats = 1U << FORMAT_JSON,
};
