// SPDX-License-Identifier: Apache-2.0
/*
 * problems.c: /problems and /problems/{slug}, where the `type` of a problem document leads: what it
 * means, with a request that causes it and one that does not. A page for browsers, text for
 * terminals, JSON for those who ask for it.
 */
#include "problems.h"

#include <stdio.h>
#include <string.h>

#include "accept.h"
#include "service.h"
#include "text.h"

#define GET(target)                                                                                \
    {                                                                                              \
        NULL, "GET", target, NULL, NULL                                                            \
    }
#define GET_WITH(field, target)                                                                    \
    {                                                                                              \
        NULL, "GET", target, field, NULL                                                           \
    }
#define POST(target, body)                                                                         \
    {                                                                                              \
        NULL, "POST", target, NULL, body                                                           \
    }
#define POST_WITH(field, target, body)                                                             \
    {                                                                                              \
        NULL, "POST", target, field, body                                                          \
    }
#define WHEN(sentence)                                                                             \
    {                                                                                              \
        sentence, NULL, NULL, NULL, NULL                                                           \
    }

enum {
#define PROBLEM(code, explanation, wrong, right) EXPLAINED_##code,
#include "problems.def"
#undef PROBLEM
    EXPLAINED_N
};
_Static_assert((int)EXPLAINED_N == (int)ERR_CODES_N, "each row of ERR_MAP has one in problems.def");

const struct problem_row problem_rows[ERR_CODES_N] = {
#define PROBLEM(code, explanation, wrong, right) [ERR_##code] = {explanation, wrong, right},
#include "problems.def"
#undef PROBLEM
};

/* ---- As JSON ------------------------------------------------------------------------------- */

static void add_example(struct tree *parent, const char *key, const struct problem_example *example)
{
    struct tree *object = tree_object(parent, key);

    if (example->when) {
        tree_string(object, "when", example->when);
        return;
    }
    tree_string(object, "method", example->method);
    tree_string(object, "target", example->target);
    if (example->field)
        tree_string(object, "field", example->field);
    if (example->body)
        tree_string(object, "body", example->body);
}

static void add_problem(struct tree *object, enum err_code code)
{
    const struct problem_row *row = &problem_rows[code];

    tree_string(object, "type",
                object ? arena_printf(object->arena, "/problems/%s", err_slug(code)) : NULL);
    tree_string(object, "title", err_title(code));
    tree_integer(object, "status", err_status(code));
    tree_string(object, "explanation", row->explanation);
    add_example(object, "wrong", &row->wrong);
    add_example(object, "right", &row->right);
}

static enum step answer_json(struct request *request, enum err_code code)
{
    struct tree *root = tree_new(&request->arena, TREE_OBJECT);

    if (code < ERR_CODES_N) {
        add_problem(root, code);
        return service_answer(request, root, FORMAT_JSON);
    }
    struct tree *problems = tree_array(root, "problems");
    for (code = 0; code < ERR_CODES_N; code++)
        add_problem(tree_object(problems, NULL), code);
    return service_answer(request, root, FORMAT_JSON);
}

/* ---- As text and as a page ------------------------------------------------------------------- */

/* Text as it stands, or as HTML. */
static void append(struct buf *out, const char *text, bool page)
{
    for (const char *c = text; *c; c++)
        if (page && *c == '&')
            buf_puts(out, "&amp;");
        else if (page && *c == '<')
            buf_puts(out, "&lt;");
        else
            buf_putc(out, *c);
}

/* What one would type: curl "$U/v1/table?kind=rope" */
static void append_example(struct buf *out, const struct problem_example *example, bool page)
{
    if (example->when) {
        append(out, example->when, page);
        return;
    }
    buf_puts(out, "curl ");
    if (example->field)
        buf_printf(out, "-H '%s' ", example->field);
    buf_puts(out, "\"$U");
    append(out, example->target, page);
    buf_putc(out, '"');
    if (!example->body)
        return;
    buf_puts(out, " -d '");
    append(out, example->body, page);
    buf_putc(out, '\'');
}

static void append_text(struct buf *out, enum err_code code)
{
    const struct problem_row *row = &problem_rows[code];

    buf_printf(out, "%s: %d %s\n\n  ", err_slug(code), err_status(code), err_title(code));
    text_wrap(out, 2, row->explanation);
    buf_puts(out, "\n\n  wrong: ");
    append_example(out, &row->wrong, false);
    buf_puts(out, "\n  right: ");
    append_example(out, &row->right, false);
    buf_putc(out, '\n');
}

static void append_page(struct buf *out, enum err_code code)
{
    const struct problem_row *row = &problem_rows[code];

    buf_printf(out, "<h2><a href=\"/problems/%s\">%s</a>: %d %s</h2>\n<p>", err_slug(code),
               err_slug(code), err_status(code), err_title(code));
    append(out, row->explanation, true);
    buf_puts(out, "</p>\n<dl>\n<dt>wrong</dt><dd><code>");
    append_example(out, &row->wrong, true);
    buf_puts(out, "</code></dd>\n<dt>right</dt><dd><code>");
    append_example(out, &row->right, true);
    buf_puts(out, "</code></dd>\n</dl>\n");
}

static enum step answer_prose(struct request *request, enum err_code code, bool page)
{
    struct buf *out = &request->response.body;
    enum err_code first = code < ERR_CODES_N ? code : 0;
    enum err_code last = code < ERR_CODES_N ? code : ERR_CODES_N - 1;

    buf_init(out, SERVICE_BYTES_MAX);
    if (page)
        buf_printf(out,
                   "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                   "<title>posencd: %s</title>\n<h1>What was wrong</h1>\n",
                   code < ERR_CODES_N ? err_title(code) : "problems");
    for (enum err_code each = first; each <= last; each++) {
        if (each > first && !page)
            buf_putc(out, '\n');
        (page ? append_page : append_text)(out, each);
    }
    if (page && first == last)
        buf_puts(out,
                 "<p><a href=\"/problems\">All problems</a>, <a href=\"/help\">help</a></p>\n");
    if (page)
        response_header(request, "Content-Security-Policy",
                        "default-src 'none'; base-uri 'none'; form-action 'none'; "
                        "frame-ancestors 'none'");
    return api_done(request, page ? "text/html; charset=utf-8" : format_media_type(FORMAT_TXT));
}

/* ---- Which of them --------------------------------------------------------------------------- */

static enum err_code code_find(const char *slug)
{
    enum err_code code = 0;

    while (code < ERR_CODES_N && strcmp(err_slug(code), slug) != 0)
        code++;
    return code;
}

static enum step refuse_slug(struct request *request)
{
    const char *slugs[ERR_CODES_N], *near;
    char hint[120] = "GET /problems lists all problems";

    for (enum err_code code = 0; code < ERR_CODES_N; code++)
        slugs[code] = err_slug(code);
    near = pe_nearest_name(request->path_arg, slugs, ERR_CODES_N);
    if (near)
        snprintf(hint, sizeof hint, "did you mean \"/problems/%s\"?", near);
    err_add(&request->err, ERR_not_found, NULL, hint, "there is no problem \"%.60s\"",
            request->path_arg);
    return STEP_FAILED;
}

/* Whether the URL leaves the format to Accept, which likes `type` no less than the other two. */
static bool prefers(const struct request *request, const char *type, const char *other,
                    const char *another)
{
    const char *accept = request_header(request, "Accept");
    int quality = accept_quality(accept, type);

    for (size_t i = 0; i < request->args_n; i++)
        if (strcmp(request->args[i].name, "format") == 0)
            return false;
    return !request->suffix && quality > 0 && quality >= accept_quality(accept, other) &&
           quality >= accept_quality(accept, another);
}

enum step problems_quick(struct request *request)
{
    static const char json[] = "application/json", text[] = "text/plain", page[] = "text/html";
    enum err_code code = request->path_arg ? code_find(request->path_arg) : ERR_CODES_N;
    enum format format = FORMAT_TXT;

    if (request->path_arg && code == ERR_CODES_N)
        return refuse_slug(request);
    if (!service_query(request))
        return STEP_FAILED;
    if (prefers(request, text, page, json))
        return answer_prose(request, code, false);
    if (prefers(request, page, text, json))
        return answer_prose(request, code, true);
    if (!format_choose(request, problems_endpoint.formats, NULL, &format))
        return STEP_FAILED;
    return format == FORMAT_JSON ? answer_json(request, code) : answer_prose(request, code, false);
}

const struct endpoint problems_endpoint = {
    .summary = "All problem types, each with a wrong and a right request.",
    .describes = "",
    .schema = "ProblemTypes",
    .cache = CACHE_PAGE,
    .formats = 1U << FORMAT_JSON | 1U << FORMAT_TXT,
    .page = true,
};

const struct endpoint problem_endpoint = {
    .summary = "What a problem type means, with a wrong and a right request.",
    .describes = "",
    .schema = "ProblemType",
    .cache = CACHE_PAGE,
    .formats = 1U << FORMAT_JSON | 1U << FORMAT_TXT,
    .page = true,
};
