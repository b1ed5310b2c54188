// SPDX-License-Identifier: Apache-2.0
/*
 * recipe.c: a recipe from the body's JSON to a request, and, once that has been made, from the
 * finished request to keys that can be changed one by one.
 */
#include "recipe.h"

#include <string.h>

#include "apply.h"
#include "reader.h"
#include "write.h"

#define TEXT_BYTES_MAX ((size_t)64 << 20)
#define APPLY_TARGET   "/v1/apply"

/* ---- JSON as it was ------------------------------------------------------------------------- */

static void append_json(struct buf *out, const struct json_doc *doc, struct arena *arena,
                        const json_t *value, const char *pointer);

static void append_members(struct buf *out, const struct json_doc *doc, struct arena *arena,
                           const json_t *object, const char *pointer)
{
    const char *prefix = arena_printf(arena, "%s/", pointer), *key;
    bool first = true;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        const char *at = prefix ? field_pointer(arena, prefix, key) : NULL;
        buf_puts(out, first ? "" : ",");
        json_write_string(out, key, strlen(key));
        buf_putc(out, ':');
        append_json(out, doc, arena, value, at ? at : pointer);
        first = false;
    }
}

/* A value of the document with the arrays that were lifted out of it. */
static void append_json(struct buf *out, const struct json_doc *doc, struct arena *arena,
                        const json_t *value, const char *pointer)
{
    const struct json_array *lifted = json_doc_array(doc, pointer);
    if (!lifted)
        lifted = json_doc_b64(doc, pointer);
    if (lifted) {
        buf_append(out, lifted->text, lifted->len);
    } else if (json_is_object(value)) {
        buf_putc(out, '{');
        append_members(out, doc, arena, value, pointer);
        buf_putc(out, '}');
    } else if (json_is_array(value)) {
        buf_putc(out, '[');
        for (size_t i = 0; i < json_array_size(value); i++) {
            const char *at = arena_printf(arena, "%s/%zu", pointer, i);
            buf_puts(out, i > 0 ? "," : "");
            append_json(out, doc, arena, json_array_get(value, i), at ? at : pointer);
        }
        buf_putc(out, ']');
    } else if (json_is_string(value)) {
        json_write_string(out, json_string_value(value), json_string_length(value));
    } else if (json_is_number(value)) {
        json_write_number(out, json_number_value(value));
    } else {
        buf_puts(out, json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null");
    }
}

/* A text that was written to a buffer, in the request's memory; NULL without. */
static const char *keep_text(struct job *job, struct buf *text)
{
    const char *kept =
        text->failed ? NULL : arena_strndup(&job->request->arena, text->data, text->len);
    buf_release(text);
    if (!kept)
        err_add(&job->request->err, ERR_overloaded, NULL, NULL, "no memory for the comparison");
    return kept;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* A tensor that the apply gets: inside `expected`, or beside it as in a file. */
static bool read_tensor(struct recipe *recipe, const json_t *expected, const char *name)
{
    struct job *job = recipe->job;
    struct arena *arena = &job->request->arena;
    const json_t *inside = json_object_get(expected, name);
    struct tensor tensor;
    bool found;
    if (!job_tensor(job, name, &tensor, &found))
        return false;
    if (inside && found)
        return err_add(&job->request->err, ERR_conflicting_parameters, tensor.pointer, NULL,
                       "\"%s\" is given in \"expected\" and beside it", name);
    const char *pointer = field_pointer(arena, "/expected/", name);
    if (inside && (!pointer || !job_tensor_at(job, inside, pointer, &tensor)))
        return false;
    if (!inside && !found)
        return true;
    struct safetensors_tensor *taken = &recipe->tensors[recipe->tensors_n++];
    taken->name = name;
    taken->view = (struct tensor_view){.dtype = tensor.dtype,
                                       .rank = tensor.rank,
                                       .count = tensor.count,
                                       .bytes = tensor.count * pe_dtype_size(tensor.dtype),
                                       .data = tensor.data};
    memcpy(taken->view.shape, tensor.shape, sizeof tensor.shape);
    return true;
}

bool recipe_is_tensor(const char *name)
{
    const char *const *known = apply_endpoint.tensors;
    while (*known && strcmp(*known, name) != 0)
        known++;
    return *known;
}

/* The members of `expected` that are no tensors, which are the request. */
static bool keep_request(struct recipe *recipe, const json_t *expected)
{
    struct job *job = recipe->job;
    struct arena *arena = &job->request->arena;
    const char *key;
    json_t *value;
    struct buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    buf_putc(&text, '{');
    json_object_foreach((json_t *)expected, key, value)
    {
        const char *at = field_pointer(arena, "/expected/", key);
        if (recipe_is_tensor(key) || strcmp(key, "get") == 0)
            continue;
        buf_puts(&text, text.len > 1 ? "," : "");
        json_write_string(&text, key, strlen(key));
        buf_putc(&text, ':');
        append_json(&text, &job->doc, arena, value, at ? at : "/expected");
    }
    buf_putc(&text, '}');
    recipe->request = keep_text(job, &text);
    return recipe->request;
}

static bool read_tensors(struct recipe *recipe, const json_t *expected)
{
    bool ok = true;
    for (const char *const *name = apply_endpoint.tensors; *name; name++)
        ok = read_tensor(recipe, expected, *name) && ok;
    return ok;
}

static bool read_apply(struct recipe *recipe, const json_t *expected)
{
    recipe->where = "/expected";
    recipe->post = true;
    recipe->target = APPLY_TARGET;
    return read_tensors(recipe, expected) && keep_request(recipe, expected);
}

static bool is_apply_path(const char *target)
{
    static const char apply[] = "/v1/apply";
    return strncmp(target, apply, strlen(apply)) == 0 && strchr("?.", target[strlen(apply)]);
}

/* A path; with vectors beside it that of an apply of these, and all else is as in its body. */
static bool read_get(struct recipe *recipe, const json_t *expected)
{
    struct job *job = recipe->job;
    struct err *err = &job->request->err;
    const char *target = json_string_value(json_object_get(expected, "get"));
    recipe->where = "/expected/get";
    if (!target || strncmp(target, "/v1/", 4) != 0)
        return err_add(err, ERR_invalid_value, recipe->where, RECIPE_HINT,
                       "get must be a path of this service, as in /v1/table?kind=rope&dim=64; "
                       "nothing is fetched from elsewhere");
    recipe->target = arena_strndup(&job->request->arena, target, strlen(target));
    if (!recipe->target)
        return err_add(err, ERR_overloaded, NULL, NULL, "no memory for the comparison");
    if (!read_tensors(recipe, expected))
        return false;
    recipe->post = recipe->tensors_n > 0 && is_apply_path(target);
    if (recipe->post)
        return keep_request(recipe, expected);
    if (json_object_size(expected) > 1)
        return err_add(err, ERR_unknown_parameter, "/expected", "put it into the path's query",
                       "beside \"get\" nothing is read");
    return recipe->tensors_n == 0 ||
           err_add(err, ERR_conflicting_parameters, recipe->where, "leave it out",
                   "\"%s\" has no effect on a GET of %.60s", recipe->tensors[0].name, target);
}

bool recipe_read(struct recipe *recipe, struct job *job, const json_t *expected)
{
    *recipe = (struct recipe){.job = job};
    return json_object_get(expected, "get") ? read_get(recipe, expected)
                                            : read_apply(recipe, expected);
}

/* ---- What the request came to --------------------------------------------------------------- */

static bool key_is_changed(const char *name)
{
    /* Of test vectors, which are posted then; and what edits have a place of their own for. */
    static const char *const others[] = {"shape", "content", "seed", "gain", "stages", NULL};
    size_t i = 0;
    while (others[i] && strcmp(others[i], name) != 0)
        i++;
    return others[i] != NULL;
}

/* A key that was given, as text or, where there is none, as the JSON that it was. */
static bool learn_key(struct recipe *recipe, const struct job *sub, size_t row)
{
    struct job *job = recipe->job;
    struct arena *arena = &job->request->arena;
    const struct pe_param *param = &sub->keys.rows[row];
    const struct pe_value *value = &sub->keys.value[row];
    if (!value->set || !value->given || key_is_changed(param->name))
        return true;
    struct recipe_key *key = &recipe->keys[recipe->keys_n++];
    *key = (struct recipe_key){.name = param->name};
    size_t len = pe_value_print(param, value, ',', NULL, 0);
    if (len > 0) {
        char *text = job_alloc(job, len + 1, 1);
        key->text = text;
        return text && pe_value_print(param, value, ',', text, len + 1) == len;
    }
    const char *pointer = field_pointer(arena, "/", param->name);
    struct buf json;
    buf_init(&json, TEXT_BYTES_MAX);
    if (pointer && sub->has_doc)
        append_json(&json, &sub->doc, arena, json_object_get(sub->doc.root, param->name), pointer);
    key->json = true;
    key->text = keep_text(job, &json);
    return key->text;
}

static bool learn_places(struct recipe *recipe, const struct target *target)
{
    const struct position_lists *lists = &target->positions;
    const struct pe_positions *list = lists->list;
    if (!list || lists->lists_n != 1 || list->axes != 1)
        return true;
    double *places = job_alloc(recipe->job, list->n, sizeof *places);
    if (places && list->n > 0)
        memcpy(places, list->at[0], list->n * sizeof *places);
    recipe->places = places;
    recipe->places_n = list->n;
    return places;
}

/* An apply: what is encoded; and if its vectors were made for a GET, they are posted from now on.
 */
static bool learn_apply(struct recipe *recipe, const struct job *sub,
                        const struct safetensors *file)
{
    static const char *const roles[] = {"x", "q", "k"};
    const struct apply *own = sub->own;
    const struct target *target = &own->target[0];
    const char *name = own->biases ? "scores" : roles[target->role];
    if (!recipe->post) {
        struct safetensors_tensor *x = &recipe->tensors[recipe->tensors_n++];
        const struct safetensors_tensor *found = safetensors_tensor(file, "x");
        if (own->biases || !found)
            return true;
        *x = *found;
        recipe->post = true;
    }
    while (recipe->encoded < recipe->tensors_n &&
           strcmp(recipe->tensors[recipe->encoded].name, name) != 0)
        recipe->encoded++;
    recipe->axes = own->biases ? NULL : target->axes;
    recipe->given = own->given;
    return own->biases || learn_places(recipe, target);
}

bool recipe_learn(struct recipe *recipe, const struct request *sub, const struct safetensors *file)
{
    const struct job *job = sub->state;
    struct arena *arena = &recipe->job->request->arena;
    char stages[PE_STAGES_TEXT_MAX];
    pe_stages_print(&job->stages, stages, sizeof stages);
    recipe->stages = arena_strndup(arena, stages, strlen(stages));
    recipe->path = arena_strndup(arena, sub->path, strlen(sub->path));
    recipe->has_spec = job->specs_n == 1;
    if (recipe->has_spec)
        recipe->spec = arena_strndup(arena, job->specs[0].compact, strlen(job->specs[0].compact));
    if (!recipe->stages || !recipe->path || (recipe->has_spec && !recipe->spec))
        return job_alloc(recipe->job, SIZE_MAX, 1);
    for (size_t row = 0; row < job->keys.rows_n; row++)
        if (!learn_key(recipe, job, row))
            return false;
    return job->endpoint != &apply_endpoint || learn_apply(recipe, job, file);
}
