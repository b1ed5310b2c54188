// SPDX-License-Identifier: Apache-2.0
/* service.c: see service.h. */
#include "service.h"

#include <stdio.h>
#include <string.h>

#include "render.h"

static const struct endpoint *endpoint_of(const struct request *request)
{
    return request->route->endpoint;
}

/* All names that the query may have, and the same as one text. */
static const char *known_names(struct request *request, const char *names[PE_PARAMS_MAX + 1],
                               size_t *names_n)
{
    const struct endpoint *endpoint = endpoint_of(request);
    const char *text = "";

    *names_n = 0;
    for (size_t i = 0; i < endpoint->keys_n; i++)
        names[(*names_n)++] = endpoint->keys[i].name;
    if (endpoint->formats)
        names[(*names_n)++] = "format";
    for (size_t i = 0; text && i < *names_n; i++)
        text = arena_printf(&request->arena, "%s%s%s", text, i ? " " : "", names[i]);
    return text;
}

static void refuse(struct request *request, const char *name, const char *const *names,
                   size_t names_n, const char *allowed)
{
    const char *near = pe_nearest_name(name, names, names_n);
    struct err *err = &request->err;
    char hint[80] = "";

    if (near)
        snprintf(hint, sizeof hint, "did you mean \"%s\"?", near);
    err_add(err, ERR_unknown_parameter, name, hint, "\"%.60s\" is not a parameter of GET %s", name,
            request->path);
    if (err->n <= ERR_ITEMS_MAX && allowed && *allowed)
        err->item[err->n - 1].allowed = allowed;
}

bool service_query(struct request *request)
{
    const char *names[PE_PARAMS_MAX + 1];
    size_t names_n;
    const char *allowed = known_names(request, names, &names_n);

    for (size_t i = 0; i < request->args_n; i++) {
        size_t known = 0;
        while (known < names_n && strcmp(names[known], request->args[i].name) != 0)
            known++;
        if (known == names_n)
            refuse(request, request->args[i].name, names, names_n, allowed);
    }
    return request->err.n == 0;
}

bool service_flag(struct request *request, const char *name)
{
    bool flag = false;

    for (size_t i = 0; i < request->args_n; i++) {
        const char *value = request->args[i].value;
        if (strcmp(request->args[i].name, name) != 0)
            continue;
        flag = !*value || strcmp(value, "1") == 0 || strcmp(value, "true") == 0;
        if (!flag && strcmp(value, "0") != 0 && strcmp(value, "false") != 0)
            err_add(&request->err, ERR_invalid_value, name, NULL,
                    "%s must be true or false, got \"%.60s\"", name, value);
    }
    return flag;
}

bool service_begin(struct request *request, enum format *format)
{
    bool known = service_query(request);
    return format_choose(request, endpoint_of(request)->formats, NULL, format) && known;
}

enum step service_answer(struct request *request, const struct tree *root, enum format format)
{
    struct answer answer = {.root = (struct tree *)root};
    struct buf *out = &request->response.body;

    buf_init(out, SERVICE_BYTES_MAX);
    if (!tree_ok(root))
        out->failed = true;
    else
        answer_write(out, &answer, format);
    return api_done(request, format_media_type(format));
}
