// SPDX-License-Identifier: Apache-2.0
/*
 * recipe_make.c: a recipe's request, made within the process. The answer is asked for as
 * .safetensors, so that nothing is lost.
 */
#include <stdio.h>
#include <string.h>

#include "local.h"
#include "recipe.h"
#include "write.h"

#define TEXT_BYTES_MAX ((size_t)64 << 20)
#define AGAIN_TARGET   "/v1/apply.safetensors"

/* ---- Requests ------------------------------------------------------------------------------- */

/* The body of an apply: tensors, and the rest as JSON in the file's metadata. */
static bool write_body(struct recipe *recipe, const char *request, const void *encoded, size_t *len)
{
    struct safetensors_pair rest = {"request", request, strlen(request)};
    const struct safetensors file = {recipe->tensors, recipe->tensors_n, &rest, 1};
    struct buf head;
    buf_init(&head, SAFETENSORS_HEADER_MAX);
    size_t data = safetensors_header(&file, &head), total;
    bool ok = !head.failed && !__builtin_add_overflow(head.len, data, &total);
    if (ok && total > recipe->body_max) {
        recipe->body_max = total + head.len;
        recipe->body = job_scratch(recipe->job, recipe->body_max);
        ok = recipe->body;
    }
    if (ok) {
        memcpy(recipe->body, head.data, head.len);
        *len = head.len;
    }
    for (size_t i = 0; ok && i < recipe->tensors_n; i++) {
        const struct tensor_view *view = &recipe->tensors[i].view;
        const void *elements = encoded && i == recipe->encoded ? encoded : view->data;
        if (view->bytes > 0)
            memcpy(recipe->body + *len, elements, view->bytes);
        *len += view->bytes;
    }
    buf_release(&head);
    return ok;
}

/* The path of a GET in another format than it names. */
static const char *as_safetensors(struct recipe *recipe, const char *target)
{
    size_t path = strcspn(target, "?"), stem = path;
    while (stem > 0 && target[stem - 1] != '/' && target[stem - 1] != '.')
        stem--;
    char suffix[16] = "";
    if (stem > 0 && target[stem - 1] == '.' && path - stem < sizeof suffix)
        memcpy(suffix, target + stem, path - stem);
    if (suffix[0] && format_of_suffix(suffix) != FORMATS_N)
        path = stem - 1;
    return arena_printf(&recipe->job->request->arena, "%.*s.safetensors%s", (int)path, target,
                        target + strcspn(target, "?"));
}

/* Where an answer is gathered. */
struct gathered {
    char *data;
    size_t len, max;
};

static bool gather(void *context, const char *data, size_t len)
{
    struct gathered *out = context;
    if (len > out->max - out->len)
        return false;
    if (len > 0)
        memcpy(out->data + out->len, data, len);
    out->len += len;
    return true;
}

/* ---- What was made -------------------------------------------------------------------------- */

static bool take_tensor(struct recipe *recipe, const struct safetensors *file, const char *name,
                        struct tensor *tensor)
{
    const struct safetensors_tensor *found = safetensors_tensor(file, name);
    if (!found)
        return false;
    const struct tensor_view *view = &found->view;
    *tensor = (struct tensor){.dtype = view->dtype,
                              .rank = view->rank,
                              .count = view->count,
                              .data = (void *)view->data,
                              .pointer = recipe->where};
    memcpy(tensor->shape, view->shape, sizeof tensor->shape);
    if (tensor_view_in_place(view))
        return true;
    tensor->data = job_alloc(recipe->job, view->bytes, 1);
    if (tensor->data)
        tensor_view_unpack(view, tensor->data);
    return tensor->data;
}

/* Errors of the request, at the places of the comparison's body where they come from. */
static void pass_errors(const struct recipe *recipe, const struct err *from)
{
    struct err *err = &recipe->job->request->err;
    for (size_t i = 0; i < from->n && i < ERR_ITEMS_MAX; i++) {
        const struct err_item *item = &from->item[i];
        char where[sizeof item->where + sizeof "/expected"];
        bool inside = recipe->post && item->where[0] == '/' && !recipe_is_tensor(item->where + 1);
        snprintf(where, sizeof where, "%s%s", recipe->post && inside ? "/expected" : "",
                 inside ? item->where : recipe->where);
        err_add(err, item->code, where, item->hint, "%s", item->detail);
        if (err->n <= ERR_ITEMS_MAX && item->allowed)
            err->item[err->n - 1].allowed =
                arena_strndup(&recipe->job->request->arena, item->allowed, strlen(item->allowed));
    }
    err->cost = from->cost;
    err->limit = from->limit;
}

/* Runs the request; `sub` is to be ended in any case. */
static bool run(struct recipe *recipe, struct app *beside, struct request *sub, const char *target,
                const char *request, const void *encoded)
{
    static const struct header types[] = {{"Content-Type", "application/x-safetensors"}};
    const struct http_hooks hooks = app_hooks(beside);
    struct local_limits limits = local_limits_of(recipe->job->request);
    beside->undigested = true;
    struct local_call call = {.method = "GET", .target = target};
    if (recipe->post) {
        if (!write_body(recipe, request, encoded, &call.body_len))
            return false;
        call = (struct local_call){"POST", target, types, 1, recipe->body, call.body_len};
        limits.body_max = call.body_len;
    }
    if (!local_begin(sub, &hooks, &limits, &call))
        return false;
    local_run(sub, &hooks);
    return true;
}

/* ---- Making it ------------------------------------------------------------------------------ */

/* Bytes of all tensors as a file. */
static size_t file_bytes(const struct job *sub)
{
    size_t bytes = ANSWER_HEAD_MAX;
    for (size_t i = 0; i < sub->outputs_n; i++)
        bytes += sub->outputs[i].count * pe_dtype_size(sub->outputs[i].dtype);
    return bytes;
}

/* The answer's tensors into a file; its main one. */
static bool take_answer(struct recipe *recipe, struct request *sub, struct gathered *out,
                        struct safetensors *file, struct tensor *made)
{
    const struct job *job = sub->state;
    struct arena *arena = &recipe->job->request->arena;
    struct err ignored = {0};
    if (file_bytes(job) > out->max) {
        out->max = file_bytes(job);
        out->data = job_scratch(recipe->job, out->max);
    }
    if (!out->data || !local_drain(sub, gather, out))
        return false;
    const struct tensor_source source = {out->data, out->len, ""};
    return safetensors_read(&source, arena, file, &ignored) &&
           take_tensor(recipe, file, job->outputs[job->main].name, made);
}

static bool is_computed(const struct request *sub)
{
    const struct job *job = sub->state;
    return sub->route && sub->route->work == computed_work && job && job->outputs_n > 0;
}

bool recipe_make(struct recipe *recipe)
{
    struct err *err = &recipe->job->request->err;
    const char *target = as_safetensors(recipe, recipe->target);
    struct gathered out = {0};
    struct safetensors file;
    struct request sub;
    struct app beside;
    if (!target || !app_beside(&beside, recipe->job->app))
        return err_add(err, ERR_overloaded, NULL, NULL, "no memory for the comparison");
    bool begun = run(recipe, &beside, &sub, target, recipe->request, NULL);
    if (begun && sub.err.n > 0)
        pass_errors(recipe, &sub.err);
    else if (begun && !is_computed(&sub))
        err_add(err, ERR_invalid_value, recipe->where, RECIPE_HINT,
                "the answer of %s has no numbers", sub.path);
    else if (!begun || !take_answer(recipe, &sub, &out, &file, &recipe->made) ||
             !recipe_learn(recipe, &sub, &file))
        err_add(err, ERR_overloaded, NULL, NULL, "no memory for what is expected");
    if (begun)
        local_end(&sub);
    app_beside_end(&beside);
    return err->n == 0;
}

/* ---- Making it again, changed --------------------------------------------------------------- */

/* A key as the edit has it, NULL: as it was. */
static const char *edited(const struct recipe_edit *edit, const char *name)
{
    const struct {
        const char *name, *text;
    } edits[] = {{"axes", edit->axes}, {"positions", edit->positions}, {"inverse", edit->inverse}};
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        if (strcmp(edits[i].name, name) == 0)
            return edits[i].text;
    return NULL;
}

static void append_text_key(struct buf *out, bool post, const char *name, const char *text)
{
    if (!text)
        return;
    if (!post) {
        api_query_append(out, name, text);
        return;
    }
    buf_puts(out, out->len > 1 ? ",\"" : "\"");
    buf_puts(out, name);
    buf_puts(out, "\":");
    json_write_string(out, text, strlen(text));
}

/* The whole request as the body's JSON, or as a target. */
static void append_request(struct buf *out, const struct recipe *recipe,
                           const struct recipe_edit *edit)
{
    bool post = recipe->post;
    buf_puts(out, post ? "{" : recipe->path);
    buf_puts(out, post ? "" : ".safetensors");
    append_text_key(out, post, "spec", edit->spec ? edit->spec : recipe->spec);
    const char *stages = edit->stages ? edit->stages : recipe->stages;
    append_text_key(out, post, "stages", strcmp(stages, "exact") == 0 ? NULL : stages);
    append_text_key(out, post, "axes", edit->axes);
    append_text_key(out, post, "positions", edit->positions);
    append_text_key(out, post, "inverse", edit->inverse);
    for (size_t i = 0; i < recipe->keys_n; i++) {
        const struct recipe_key *key = &recipe->keys[i];
        if (edited(edit, key->name))
            continue;
        if (key->json && post)
            buf_printf(out, ",\"%s\":%s", key->name, key->text);
        else
            append_text_key(out, post, key->name, key->text);
    }
    buf_puts(out, post ? "}" : "");
    buf_putc(out, '\0');
}

bool recipe_make_again(struct recipe *recipe, const struct recipe_edit *edit, struct tensor *made)
{
    struct gathered out = {recipe->again, 0, recipe->again_max};
    struct safetensors file;
    struct request sub;
    struct app beside;
    struct buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    append_request(&text, recipe, edit);
    bool ok = !text.failed && app_beside(&beside, recipe->job->app);
    if (ok) {
        bool begun = run(recipe, &beside, &sub, recipe->post ? AGAIN_TARGET : text.data, text.data,
                         edit->encoded);
        ok = begun && sub.err.n == 0 && is_computed(&sub) &&
             take_answer(recipe, &sub, &out, &file, made);
        if (begun)
            local_end(&sub);
        app_beside_end(&beside);
    }
    buf_release(&text);
    recipe->again = out.data;
    recipe->again_max = out.max;
    return ok;
}
