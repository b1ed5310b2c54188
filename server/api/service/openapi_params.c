// SPDX-License-Identifier: Apache-2.0
/*
 * openapi_params.c: the query parameters of the OpenAPI document. The kinds' parameters stand once
 * in components.parameters; where kinds differ in range or default of the same name, its schema is
 * a choice of variants, each titled with the kinds it is for.
 */
#include <assert.h>
#include <string.h>

#include "common.h"
#include "openapi.h"
#include "plots.h"
#include "schema.h"

#define VARIANTS_MAX 16
#define REF          "#/components/parameters/"

/* Rows of one name that say the same, and what they belong to ("rope, rope2d"). */
struct variant {
    const struct pe_param *row;
    const char *owners;
};

struct variants {
    struct variant at[VARIANTS_MAX];
    size_t n;
};

static bool texts_equal(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool rows_equal(const struct pe_param *a, const struct pe_param *b)
{
    return a->type == b->type && a->min == b->min && a->max == b->max &&
           a->multiple_of == b->multiple_of && a->flags == b->flags &&
           texts_equal(a->fallback, b->fallback) && texts_equal(a->choices, b->choices) &&
           texts_equal(a->when, b->when) && texts_equal(a->help, b->help);
}

static const struct pe_param *row_named(const struct pe_param *rows, size_t rows_n,
                                        const char *name)
{
    for (size_t i = 0; i < rows_n; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static void variants_add(struct variants *variants, const struct pe_param *row, const char *owner,
                         struct arena *arena)
{
    struct variant *variant = variants->at, *end = variants->at + variants->n;

    while (variant < end && !rows_equal(variant->row, row))
        variant++;
    if (variant < end)
        variant->owners = arena_printf(arena, "%s, %s", variant->owners, owner);
    else if (variants->n < VARIANTS_MAX)
        variants->at[variants->n++] = (struct variant){row, owner};
}

/* All rows of this name among kinds that act in one of these ways. */
static void variants_collect(struct variants *variants, const char *name, unsigned acts,
                             struct arena *arena)
{
    for (size_t i = 0; i < pe_kinds_n(); i++) {
        const struct pe_kind *kind = pe_kind_at(i);
        const struct pe_param *row = row_named(kind->params, kind->params_n, name);
        if (row && (acts & 1U << kind->acts))
            variants_add(variants, row, kind->name, arena);
    }
}

static void add_title(struct tree *schema, const char *title)
{
    if (title)
        tree_string(schema, "title", title);
    else if (schema)
        *schema->failed = true;
}

/* Values to try of keys that have neither a default nor a list of words; any kind takes them. */
static const struct {
    const char *name, *json;
} samples[] = {
    {"select", "\"table\""},
    {"pin", "\"0123456789abcdef\""},
    {"semantics", "\"1\""},
    {"known", "\"rope:base=10000\""},
    {"search", "\"base,shift\""},
    {"normalize_by", "2048"},
    {"bits", "8"},
    {"length", "64"},
    {"padding_idx", "1"},
    {"scale", "1"},
    {"distance", "16"},
    {"stages", "\"f32;bf16-table\""},
    {"reserved", "2"},
    {"rotary_dim", "4"},
    {"partial_rotary_factor", "0.5"},
    {"kept_pairs", "2"},
    {"max_positions", "2048"},
    {"freqs", "[1, 0.1]"},
    {"freq_factors", "[1, 1.5]"},
    {"base_factor", "2"},
    {"sections", "[16, 24, 24]"},
    {"section_axes", "[1, 0]"},
    {"max_freq", "10"},
    {"center", "1024"},
    {"factor", "4"},
    {"original_max", "4096"},
    {"max_position", "16384"},
    {"num_inv_freq", "16"},
    {"short_factor", "[1, 1.05]"},
    {"long_factor", "[1, 4]"},
    {"attention_factor", "1.2"},
    {"slope", "0.5"},
    {"slopes", "[0.5, 0.25]"},
    {"deltas", "[-0.5, 0]"},
    {"bias_max", "16"},
    {"total_heads", "12"},
    {"clamp", "8"},
    {"positions", "\"0:4\""},
    {"k_positions", "\"0:4\""},
    {"queries", "1"},
    {"keys", "4"},
    {"grid", "\"2x3\""},
    {"query", "[1, 2]"},
    {"title", "\"Our lesson\""},
    {"labels", "\"the,dog,chased,another,dog\""},
    {"permutation", "\"1,2,0\""},
    {"ref", "[16, 16]"},
    {"start", "[0, 0]"},
    {"stop", "[2, 3]"},
    {"pixel_mask", "\"1,1;1,0\""},
    {"attention_mask", "\"0,0,1,1\""},
    {"ids", "\"5,9,1,1\""},
    {"lengths", "\"3,2\""},
    {"segments", "\"3,4x4,2\""},
    {"tokens_per_second", "2"},
    {"max_width", "64"},
    {"chunk_size", "10"},
    {"local_size", "2"},
    {"num_heads", "32"},
    {"num_kv_heads", "8"},
    {"channels", "\"0:4\""},
    {"pairs", "\"0,1\""},
    {"context", "8192"},
    {"layer_type", "\"full_attention\""},
    {"content", "\"random\""},
    {"shape", "\"2,8,64,128\""},
    {"rtol", "1e-5"},
    {"atol", "1e-6"},
    {"max_ulp", "2"},
    {"tolerance", "1e-9"},
};

static void add_sample(struct tree *parameter, const struct pe_param *row)
{
    if (row->choices || row->type == PE_BOOL || (row->fallback && row->fallback[0] != '@'))
        return;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        if (strcmp(samples[i].name, row->name) == 0)
            tree_raw(parameter, "example", samples[i].json);
}

static void add_parameter(struct tree *parent, const char *key, const struct variants *variants)
{
    const struct pe_param *first = variants->at[0].row;
    struct tree *parameter = tree_object(parent, key);

    tree_string(parameter, "name", first->name);
    tree_string(parameter, "in", "query");
    tree_string(parameter, "description", first->help);
    add_sample(parameter, first);
    if (first->type == PE_REALS || first->type == PE_ENUMS) {
        tree_string(parameter, "style", "form");
        tree_bool(parameter, "explode", false);
    }
    if (variants->n == 1) {
        struct tree *schema = schema_param(parameter, "schema", first, SCHEMA_QUERY);
        if (variants->at[0].owners != first->name)
            add_title(schema, variants->at[0].owners);
        return;
    }
    struct tree *any = tree_array(tree_object(parameter, "schema"), "anyOf");
    for (size_t i = 0; i < variants->n; i++)
        add_title(schema_param(any, NULL, variants->at[i].row, SCHEMA_QUERY),
                  variants->at[i].owners);
}

/* Calls add(...) for each name that kinds acting in these ways have, once. */
static void each_name(unsigned acts, struct tree *parent, const struct endpoint *endpoint,
                      void (*add)(struct tree *parent, const char *name,
                                  const struct endpoint *endpoint))
{
    for (size_t i = 0; i < pe_kinds_n(); i++) {
        const struct pe_kind *kind = pe_kind_at(i);
        for (size_t j = 0; j < kind->params_n && (acts & 1U << kind->acts); j++) {
            const char *name = kind->params[j].name;
            bool seen = false;
            for (size_t k = 0; k < i && !seen; k++)
                seen = (acts & 1U << pe_kind_at(k)->acts) &&
                       row_named(pe_kind_at(k)->params, pe_kind_at(k)->params_n, name);
            if (!seen)
                add(parent, name, endpoint);
        }
    }
}

/* ---- components.parameters ----------------------------------------------------------------- */

static void add_shared(struct tree *object, const char *name, const struct endpoint *endpoint)
{
    struct variants variants = {.n = 0};

    (void)endpoint;
    if (!object)
        return;
    variants_collect(&variants, name, ~0U, object->arena);
    add_parameter(object, name, &variants);
}

static struct tree *add_named(struct tree *object, const char *name, const char *in,
                              const char *description)
{
    struct tree *parameter = tree_object(object, name);

    tree_string(parameter, "name", name);
    tree_string(parameter, "in", in);
    tree_string(parameter, "description", description);
    return parameter;
}

/* Fields of a request, and which requests have a use for them. */
enum field_use { USE_ANY, USE_TAG, USE_BODY };

static const struct {
    enum field_use use;
    const char *name, *description, *example;
} request_fields[] = {
    {USE_ANY, "Request-Id", "Comes back, and stands in the log; a traceparent does too.", "my-42"},
    {USE_TAG, "If-None-Match",
     "Tags of the answers that the client has: 304 if this one is among them.",
     "\"1-0123456789abcdef\""},
    {USE_TAG, "If-Match",
     "Tags of the answers that the client wants: 412 if this one is not among them.",
     "\"1-0123456789abcdef\""},
    {USE_TAG, "Accept-Encoding", "gzip, if the client takes it.", "gzip"},
    {USE_BODY, "Content-Encoding", "gzip, if the body is coded so.", "gzip"},
};

#define REQUEST_FIELDS_N (sizeof request_fields / sizeof request_fields[0])

static void add_request_fields(struct tree *object)
{
    for (size_t i = 0; i < REQUEST_FIELDS_N; i++) {
        struct tree *field =
            add_named(object, request_fields[i].name, "header", request_fields[i].description);
        tree_string(tree_object(field, "schema"), "type", "string");
        tree_string(field, "example", request_fields[i].example);
    }
}

void openapi_format(struct tree *parent, const char *key)
{
    struct tree *schema = tree_object(parent, key);
    struct tree *formats;

    tree_string(schema, "type", "string");
    formats = tree_array(schema, "enum");
    for (enum format f = 0; f < FORMATS_N; f++)
        tree_string(formats, NULL, format_suffix(f));
}

/* "plot.width": other keys have that name too. */
static const char *plot_component(struct tree *tree, size_t i)
{
    return tree ? arena_printf(tree->arena, "plot.%s", plot_keys[i].name) : NULL;
}

void openapi_shared_parameters(struct tree *object)
{
    struct tree *kind = add_named(object, "kind", "query",
                                  "Which encoding; its keys follow as parameters of their own.");
    struct tree *names = tree_array(tree_object(kind, "schema"), "examples");
    for (size_t i = 0; i < pe_kinds_n(); i++)
        tree_string(names, NULL, pe_kind_at(i)->name);

    struct tree *spec =
        add_named(object, "spec", "query",
                  "An encoding in compact form, instead of kind; several where the endpoint "
                  "takes several.");
    struct tree *schema = tree_object(spec, "schema");
    tree_string(schema, "type", "array");
    tree_string(tree_object(schema, "items"), "$ref", "#/components/schemas/Compact");
    tree_raw(spec, "example", "[\"rope:dim=64,layout=half\"]");

    struct tree *format =
        add_named(object, "format", "query",
                  "Representation, as a suffix of the path says it: .json, .csv, .npy "
                  "and so on. Without either, Accept decides.");
    openapi_format(format, "schema");

    for (size_t i = 0; i < COMMON_N; i++)
        add_parameter(object, common_keys[i].name,
                      &(struct variants){{{&common_keys[i], common_keys[i].name}}, 1});
    for (size_t i = 0; object && i < plot_keys_n; i++)
        add_parameter(object, plot_component(object, i),
                      &(struct variants){{{&plot_keys[i], plot_keys[i].name}}, 1});
    each_name(~0U, object, NULL, add_shared);
    add_request_fields(object);
}

/* ---- Parameters of one endpoint ------------------------------------------------------------ */

static void add_reference(struct tree *array, const char *name)
{
    const char *ref = array ? arena_printf(array->arena, REF "%s", name) : NULL;

    if (ref)
        tree_string(tree_object(array, NULL), "$ref", ref);
    else if (array)
        *array->failed = true;
}

static void add_fields(struct tree *array, enum field_use use)
{
    for (size_t i = 0; i < REQUEST_FIELDS_N; i++)
        if (request_fields[i].use == use)
            add_reference(array, request_fields[i].name);
}

/* A kind's parameter; a request key of the same name is a further variant of it. */
static void add_of_kind(struct tree *array, const char *name, const struct endpoint *endpoint)
{
    const struct pe_param *key = row_named(endpoint->keys, endpoint->keys_n, name);
    struct variants variants = {.n = 0};

    if (!key || !array) {
        add_reference(array, name);
        return;
    }
    variants_collect(&variants, name, endpoint->acts, array->arena);
    variants_add(&variants, key, "other kinds", array->arena);
    add_parameter(array, NULL, &variants);
}

static bool some_kind_has(const char *name, unsigned acts)
{
    for (size_t i = 0; i < pe_kinds_n(); i++) {
        const struct pe_kind *kind = pe_kind_at(i);
        if ((acts & 1U << kind->acts) && row_named(kind->params, kind->params_n, name))
            return true;
    }
    return false;
}

/* Request keys, but for those that stand among the kinds' or mean something else in a picture. */
static void add_keys(struct tree *array, const struct endpoint *endpoint, unsigned acts,
                     const struct endpoint *picture)
{
    for (size_t i = 0; i < endpoint->keys_n; i++) {
        const struct pe_param *key = &endpoint->keys[i];
        struct variants one = {{{key, key->name}}, 1};
        if (!some_kind_has(key->name, acts) &&
            !(picture && row_named(picture->keys, picture->keys_n, key->name)))
            add_parameter(array, NULL, &one);
    }
}

void openapi_parameters(struct tree *array, const struct endpoint *endpoint)
{
    const struct endpoint *asked = endpoint->behind ? endpoint->behind : endpoint;
    unsigned acts = asked->specs_max > 0 ? asked->acts & endpoint->acts : 0;

    if (asked->specs_max > 0) {
        add_reference(array, "kind");
        add_reference(array, "spec");
        each_name(acts, array, asked, add_of_kind);
    }
    if (endpoint->behind)
        add_keys(array, asked, acts, endpoint);
    for (size_t i = 0; endpoint->behind && i < plot_keys_n; i++)
        add_reference(array, plot_component(array, i));
    if (!endpoint->behind)
        add_keys(array, endpoint, acts, NULL);
    for (size_t i = 0; endpoint_computes(endpoint) && i < COMMON_N; i++)
        add_reference(array, common_keys[i].name);
    if (endpoint->formats)
        add_reference(array, "format");
    add_fields(array, USE_ANY);
    if (endpoint->cache != CACHE_NO_STORE)
        add_fields(array, USE_TAG);
}

void openapi_body_parameters(struct tree *array)
{
    add_fields(array, USE_BODY);
}

/* ---- What answers echo --------------------------------------------------------------------- */

void openapi_echo(struct tree *holder, const char *path)
{
    const struct route *route = api_routes, *end = api_routes + api_routes_n;
    struct tree *schema = tree_object(holder, NULL);

    if (!path) {
        tree_string(holder, NULL, NULL); /* no memory */
        return;
    }
    while (strcmp(route->path, path) != 0) {
        route++;
        assert(route < end);
    }
    tree_string(schema, "description", "The request keys, defaults filled in.");
    tree_string(schema, "type", "object");
    struct tree *members = tree_object(schema, "properties");
    const struct endpoint *endpoint = route->endpoint;
    for (size_t i = 0; i < endpoint->keys_n; i++)
        schema_param(members, endpoint->keys[i].name, &endpoint->keys[i], SCHEMA_ANSWER);
    for (size_t i = 0; i < COMMON_ECHOED_N; i++)
        schema_param(members, common_keys[i].name, &common_keys[i], SCHEMA_ANSWER);
}
