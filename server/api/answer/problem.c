// SPDX-License-Identifier: Apache-2.0
/*
 * problem.c: the list of mistakes of a request as a problem document (RFC 9457): as JSON, or as
 * text for those who read it in a terminal. What is wrong was said by whoever found it; the type
 * and the status come from the first mistake.
 */
#include <stdio.h>
#include <string.h>

#include "accept.h"
#include "api.h"
#include "metrics.h"
#include "plots.h"
#include "text.h"
#include "write.h"

#define PROBLEM_BYTES_MAX ((size_t)256 << 10)
#define PATHS_MAX         64
#define PATH_BYTES_MAX    128 /* of one that may be near to another */

static size_t items_n(const struct err *err)
{
    return err->n < ERR_ITEMS_MAX ? err->n : ERR_ITEMS_MAX;
}

/* ---- Hint of a not-found ------------------------------------------------------------------- */

/* ".svg" of a path that ends so; else its end. */
static const char *suffix_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && format_of_suffix(dot + 1) != FORMATS_N ? dot : path + strlen(path);
}

static void hint_nearest_path(struct request *request)
{
    struct err_item *item = &request->err.item[0];
    const char *paths[PATHS_MAX], *near = NULL, *suffix = "";
    char other[PATH_BYTES_MAX];
    size_t n = 0;

    if (item->code != ERR_not_found || item->hint[0] || !request->path)
        return;
    snprintf(other, sizeof other, "/v1%s", request->path);
    for (size_t i = 0; i < api_routes_n && n < PATHS_MAX; i++) {
        if (strchr(api_routes[i].path, '{'))
            continue;
        if (strcmp(api_routes[i].path, other) == 0)
            near = api_routes[i].path;
        paths[n++] = api_routes[i].path;
    }
    if (!near)
        near = pe_nearest_name(request->path, paths, n);
    if (!near) {
        suffix = suffix_of(request->path);
        snprintf(other, sizeof other, "%.*s", (int)(suffix - request->path), request->path);
        near = pe_nearest_name(other, paths, n);
    }
    if (near)
        snprintf(item->hint, sizeof item->hint, "did you mean \"%s%s\"?", near, suffix);
    else
        snprintf(item->hint, sizeof item->hint, "GET /help lists what there is");
}

/* ---- The sentence that names all mistakes -------------------------------------------------- */

static const char not_a_parameter[] = " is not a parameter of ";

/* What follows in `"dims" is not a parameter of ...`, or NULL for another mistake. */
static const char *unknown_tail(const struct err_item *item)
{
    const char *at =
        item->code == ERR_unknown_parameter ? strstr(item->detail, not_a_parameter) : NULL;
    return at ? at + strlen(not_a_parameter) : NULL;
}

static bool all_unknown_alike(const struct err *err)
{
    const char *first = unknown_tail(&err->item[0]);

    for (size_t i = 0; i < items_n(err); i++) {
        const char *tail = unknown_tail(&err->item[i]);
        if (!tail || strcmp(tail, first) != 0)
            return false;
    }
    return err->n <= ERR_ITEMS_MAX;
}

static void append_joint(struct buf *out, size_t i, size_t n)
{
    if (i > 0)
        buf_puts(out, i + 1 < n ? ", " : " and ");
}

static void append_unknown(struct buf *out, const struct err *err)
{
    const char *tail = unknown_tail(&err->item[0]);

    for (size_t i = 0; i < err->n; i++) {
        const char *detail = err->item[i].detail;
        append_joint(out, i, err->n);
        buf_append(out, detail, (size_t)(strstr(detail, not_a_parameter) - detail));
    }
    buf_printf(out, " are not parameters of %s.", tail);
}

static void append_places(struct buf *out, const struct err *err)
{
    size_t places = 0, written = 0;

    for (size_t i = 0; i < items_n(err); i++)
        places += err->item[i].where[0] != '\0';
    buf_printf(out, "There are %zu mistakes", err->n);
    for (size_t i = 0; i < items_n(err); i++) {
        if (!err->item[i].where[0])
            continue;
        buf_puts(out, written ? "" : ", in ");
        append_joint(out, written++, places);
        buf_printf(out, "\"%s\"", err->item[i].where);
    }
    buf_putc(out, '.');
}

/* A detail has no full stop, but may end with a question. */
static void append_one(struct buf *out, const char *detail)
{
    size_t len = strlen(detail);

    buf_puts(out, detail);
    if (len > 0 && !strchr(".?!", detail[len - 1]))
        buf_putc(out, '.');
}

static void append_sentence(struct buf *out, const struct err *err)
{
    if (err->n == 1)
        append_one(out, err->item[0].detail);
    else if (all_unknown_alike(err))
        append_unknown(out, err);
    else
        append_places(out, err);
}

/* ---- As JSON ------------------------------------------------------------------------------- */

static void member_string(struct buf *out, const char *key, const char *text)
{
    buf_printf(out, ",\"%s\":", key);
    json_write_string(out, text, strlen(text));
}

static void member_number(struct buf *out, const char *key, double number)
{
    buf_printf(out, ",\"%s\":", key);
    json_write_number(out, number);
}

static void member_allowed(struct buf *out, const char *names)
{
    buf_puts(out, ",\"allowed\":[");
    for (const char *name = names; *name;) {
        size_t len = strcspn(name, " ");
        if (name > names)
            buf_putc(out, ',');
        json_write_string(out, name, len);
        name += len + strspn(name + len, " ");
    }
    buf_putc(out, ']');
}

/* The names that would do stand once, at the last mistake they go with. */
static bool shows_allowed(const struct err *err, size_t i)
{
    const char *allowed = err->item[i].allowed;

    for (size_t later = i + 1; allowed && later < items_n(err); later++)
        if (err->item[later].allowed && strcmp(err->item[later].allowed, allowed) == 0)
            return false;
    return allowed != NULL;
}

static void append_item(struct buf *out, const struct request *request, size_t i)
{
    const struct err_item *item = &request->err.item[i];
    bool pointer = request->method == METHOD_POST && item->where[0] == '/';

    buf_putc(out, '{');
    if (item->where[0]) {
        buf_puts(out, pointer ? "\"pointer\":" : "\"parameter\":");
        json_write_string(out, item->where, strlen(item->where));
        buf_putc(out, ',');
    }
    buf_puts(out, "\"detail\":");
    json_write_string(out, item->detail, strlen(item->detail));
    if (item->code != request->err.item[0].code)
        buf_printf(out, ",\"type\":\"/problems/%s\"", err_slug(item->code));
    if (item->line > 0)
        buf_printf(out, ",\"line\":%zu,\"column\":%zu", item->line, item->column);
    if (item->hint[0])
        member_string(out, "hint", item->hint);
    if (shows_allowed(&request->err, i))
        member_allowed(out, item->allowed);
    buf_putc(out, '}');
}

static void append_json(struct buf *out, const struct request *request, const char *sentence)
{
    const struct err *err = &request->err;
    enum err_code code = err->item[0].code;

    buf_printf(out, "{\"type\":\"/problems/%s\"", err_slug(code));
    member_string(out, "title", err_title(code));
    buf_printf(out, ",\"status\":%d", err_status(code));
    member_string(out, "detail", sentence);
    if (request->target)
        member_string(out, "instance", request->target);
    if (code == ERR_internal)
        member_string(out, "request_id", request->id);
    if (err->limit > 0) {
        member_number(out, "cost", err->cost);
        member_number(out, "limit", err->limit);
    }
    for (size_t i = 0; i < err->facts_n; i++)
        member_string(out, err->facts[i].name, err->facts[i].text);
    for (const struct tree *node = err->members ? err->members->first : NULL; node;
         node = node->next) {
        buf_putc(out, ',');
        json_write_key(out, node->key);
        json_write_tree(out, node);
    }
    buf_puts(out, ",\"errors\":[");
    for (size_t i = 0; i < items_n(err); i++) {
        if (i > 0)
            buf_putc(out, ',');
        append_item(out, request, i);
    }
    buf_puts(out, "]}\n");
}

/* ---- As text ------------------------------------------------------------------------------- */

/* One mistake among several; what the sentence above has said of all of them is not repeated. */
static void append_point(struct buf *out, const struct err_item *item, bool said)
{
    buf_puts(out, "* ");
    text_wrap(out, 2, said ? item->where : item->detail);
    if (!said && item->where[0] && !strstr(item->detail, item->where))
        buf_printf(out, " (%s)", item->where);
    buf_putc(out, '\n');
}

static void append_text_item(struct buf *out, const struct err *err, size_t i)
{
    const struct err_item *item = &err->item[i];

    if (item->line > 0)
        buf_printf(out, "  line %zu, column %zu\n", item->line, item->column);
    if (item->hint[0]) {
        buf_puts(out, "  ");
        text_wrap(out, 2, item->hint);
        buf_putc(out, '\n');
    }
    if (shows_allowed(err, i)) {
        buf_puts(out, "  allowed: ");
        text_wrap(out, 11, item->allowed);
        buf_putc(out, '\n');
    }
}

static void append_text(struct buf *out, const struct request *request, const char *sentence)
{
    const struct err *err = &request->err;
    enum err_code code = err->item[0].code;
    bool said = err->n > 1 && all_unknown_alike(err);

    buf_printf(out, "%d %s\n\n", err_status(code), err_title(code));
    text_wrap(out, 0, sentence);
    buf_puts(out, err->n > 1 ? "\n\n" : "\n");
    for (size_t i = 0; i < items_n(err); i++) {
        if (err->n > 1)
            append_point(out, &err->item[i], said);
        append_text_item(out, err, i);
    }
    for (size_t i = 0; i < err->facts_n; i++)
        buf_printf(out, "%s%s: %s\n", i ? "" : "\n", err->facts[i].name, err->facts[i].text);
    if (err->report)
        buf_printf(out, "\n%s", err->report);
}

/* The URL decides if it can, so that a URL with a suffix has one answer for every Accept. */
static bool wants_text(const struct request *request)
{
    const char *accept, *name = request->suffix;

    for (size_t i = 0; !name && i < request->args_n; i++)
        if (strcmp(request->args[i].name, "format") == 0)
            name = request->args[i].value;
    if (name)
        return strcmp(name, format_suffix(FORMAT_TXT)) == 0;
    accept = request_header(request, "Accept");
    int text = accept_quality(accept, "text/plain");
    return text > accept_quality(accept, "application/problem+json") &&
           text > accept_quality(accept, "application/json");
}

void problem_answer(struct request *request)
{
    struct response *response = &request->response;
    enum err_code code = request->err.item[0].code;
    bool text = wants_text(request);
    struct buf sentence;

    hint_nearest_path(request);
    blob_unref(response->blob);
    response->blob = NULL;
    buf_release(&response->body);
    buf_init(&response->body, PROBLEM_BYTES_MAX);
    buf_init(&sentence, PROBLEM_BYTES_MAX);
    append_sentence(&sentence, &request->err);
    buf_putc(&sentence, '\0');
    response->status = err_status(code);
    response->content_type = text ? format_media_type(FORMAT_TXT) : "application/problem+json";
    if (sentence.failed)
        response->body.failed = true; /* no memory even for this: there is no answer */
    else if (!plot_wants_problem(request) || !plot_write_problem(request, sentence.data))
        (text ? append_text : append_json)(&response->body, request, sentence.data);
    buf_release(&sentence);
    metric_problem(code);
}
