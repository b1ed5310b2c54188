// SPDX-License-Identifier: Apache-2.0
/*
 * job_body.c: what a POST brings: a JSON object; or a file of tensors, .safetensors with the rest
 * of the request as JSON in its metadata, .npy with all of it in the query. Either way there is one
 * document and a list of tensors beside it, and nobody further on sees a difference.
 */
#include <string.h>
#include <strings.h>

#include "job.h"
#include "npy.h"
#include "reader.h"

#define REQUEST_KEY "request" /* of __metadata__ */

/* ---- Which format -------------------------------------------------------------------------- */

/* The format that the URL names, for bodies whose type says nothing. */
static enum format named_format(const struct request *request)
{
    const char *name = request->suffix;
    for (size_t i = 0; !name && i < request->args_n; i++)
        if (strcmp(request->args[i].name, "format") == 0)
            name = request->args[i].value;
    return name ? format_of_suffix(name) : FORMATS_N;
}

/* curl -d sends a form's media type; a body that starts with { is then JSON, as people type. */
static bool is_typed_json(const struct request *request, const char *type, size_t len)
{
    static const char form[] = "application/x-www-form-urlencoded";
    return len == strlen(form) && strncasecmp(type, form, len) == 0 && request->body_len > 0 &&
           request->body[strspn(request->body, " \t\r\n")] == '{';
}

static bool refuse_type(struct job *job, const char *hint, const char *type)
{
    return err_add(&job->request->err, ERR_unsupported_media_type, "Content-Type", hint,
                   "a body of type \"%.100s\" is not read here", type);
}

static bool body_format(struct job *job, enum format *format)
{
    struct request *request = job->request;
    const char *type = request_header(request, "Content-Type");
    size_t len = type ? strcspn(type, "; \t") : 0;
    *format = !type || is_typed_json(request, type, len) ? FORMAT_JSON : format_of_type(type, len);
    if (*format != FORMAT_JSON && job->endpoint->document_max) {
        *format = FORMAT_JSON;
        return refuse_type(job, "send application/json", type);
    }
    if (*format == FORMAT_BIN)
        *format = named_format(request);
    if (*format == FORMAT_JSON || *format == FORMAT_SAFETENSORS ||
        (*format == FORMAT_NPY && job->endpoint->npy))
        return true;
    *format = FORMAT_JSON;
    return refuse_type(
        job,
        job->endpoint->npy
            ? "send application/json, application/x-safetensors or application/x-npy; or "
              "application/octet-stream to a path with suffix .safetensors or .npy"
            : "send application/json or application/x-safetensors; or "
              "application/octet-stream to a path with suffix .safetensors",
        type);
}

/* ---- Reading ------------------------------------------------------------------------------- */

static bool read_document(struct job *job, const char *text, size_t len)
{
    struct request *request = job->request;
    if (!json_doc_read(&job->doc, text, len, &request->arena, &request->err))
        return false;
    job->has_doc = true;
    if (json_is_object(job->doc.root))
        return true;
    return err_add(&request->err, ERR_invalid_value, "/", NULL,
                   "the body must be a JSON object with members such as \"spec\"");
}

static bool read_safetensors(struct job *job, const struct tensor_source *body)
{
    struct request *request = job->request;
    if (!safetensors_read(body, &request->arena, &job->file, &request->err))
        return false;
    const struct safetensors_pair *rest = safetensors_metadata(&job->file, REQUEST_KEY);
    job->has_json = rest != NULL;
    return read_document(job, rest ? rest->value : "{}", rest ? rest->value_len : 2);
}

/* With numbers=bits, bf16 stands in .npy as its bits; so it does in an answer. */
static bool asks_for_bits(const struct request *request)
{
    for (size_t i = 0; i < request->args_n; i++)
        if (strcmp(request->args[i].name, common_keys[COMMON_NUMBERS].name) == 0)
            return strcmp(request->args[i].value, "bits") == 0;
    return false;
}

static bool read_npy(struct job *job, const struct tensor_source *body)
{
    struct request *request = job->request;
    struct safetensors_tensor *only = job_alloc(job, 1, sizeof *only);
    if (!only || !npy_read(body, asks_for_bits(request), &only->view, &request->err))
        return false;
    only->name = job->endpoint->npy;
    job->file = (struct safetensors){.tensors = only, .tensors_n = 1};
    return read_document(job, "{}", 2);
}

/* A document that is not the request. */
static bool read_foreign(struct job *job)
{
    struct request *request = job->request;
    size_t max = job->endpoint->document_max;
    if (request->body_len > max) {
        request->err.limit = (double)max;
        return err_add(&request->err, ERR_body_too_large, NULL, NULL,
                       "the body has %zu bytes, %s reads at most %zu", request->body_len,
                       request->path, max);
    }
    if (!json_doc_read_large(&job->document, request->body, request->body_len, max, &request->arena,
                             &request->err))
        return false;
    return json_is_object(job->document.root) ||
           err_add(&request->err, ERR_invalid_value, "/", NULL, "the body must be a JSON object");
}

bool job_body(struct job *job)
{
    struct request *request = job->request;
    job->body = FORMAT_JSON;
    if (request->method != METHOD_POST)
        return true;
    if (!body_format(job, &job->body))
        return false;
    struct tensor_source body = {request->body, request->body_len, ""};
    if (job->body == FORMAT_SAFETENSORS)
        return read_safetensors(job, &body);
    if (job->body == FORMAT_NPY)
        return read_npy(job, &body);
    if (job->endpoint->document_max)
        return read_foreign(job);
    job->has_json = true;
    return read_document(job, request->body, request->body_len);
}

/* ---- Its tensors ---------------------------------------------------------------------------- */

bool job_is_tensor(const struct job *job, const char *name)
{
    for (const char *const *known = job->endpoint->tensors; known && *known; known++)
        if (strcmp(*known, name) == 0)
            return true;
    return false;
}

/* A key whose value is a list in the grammar of positions may be a tensor as well. */
static int list_row(const struct job *job, const char *name)
{
    int row = pe_params_find(&job->keys, name, strlen(name));
    const struct pe_param *param = row >= 0 ? &job->keys.rows[row] : NULL;
    return param && param->type == PE_TEXT && !(param->flags & PE_SCALAR) ? row : -1;
}

static void refuse_tensor(struct job *job, const char *name, const char *where)
{
    struct err *err = &job->request->err;
    const char *allowed = "";
    for (const char *const *known = job->endpoint->tensors; allowed && known && *known; known++)
        allowed = arena_printf(&job->request->arena, "%s%s ", allowed, *known);
    for (size_t i = 0; allowed && i < job->keys.rows_n; i++)
        if (list_row(job, job->keys.rows[i].name) >= 0)
            allowed = arena_printf(&job->request->arena, "%s%s ", allowed, job->keys.rows[i].name);
    err_add(err, ERR_unknown_parameter, where, NULL, "\"%.60s\" is no tensor of POST %s", name,
            job->request->path);
    if (err->n <= ERR_ITEMS_MAX && allowed && *allowed)
        err->item[err->n - 1].allowed =
            arena_strndup(&job->request->arena, allowed, strlen(allowed) - 1);
}

void job_read_file(struct job *job)
{
    for (size_t i = 0; i < job->file.tensors_n; i++) {
        const char *name = job->file.tensors[i].name;
        const char *where = field_pointer(&job->request->arena, "/", name);
        int row = list_row(job, name);
        if (!job_is_tensor(job, name) && row < 0)
            refuse_tensor(job, name, where);
        else if (json_object_get(job->doc.root, name) || (row >= 0 && job->keys.value[row].given))
            err_add(&job->request->err, ERR_conflicting_parameters, where, NULL,
                    "\"%.60s\" is a tensor of the file and is given beside it too", name);
        else if (row >= 0)
            job->keys.value[row].given = job->keys.value[row].set = true;
    }
}

const char *job_where(const struct job *job, const char *name)
{
    const struct request *request = job->request;
    for (size_t i = 0; i < request->args_n; i++)
        if (strcmp(request->args[i].name, name) == 0)
            return name;
    const char *pointer = job->has_json ? field_pointer(&job->request->arena, "/", name) : NULL;
    return pointer ? pointer : name;
}
