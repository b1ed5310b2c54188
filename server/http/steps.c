// SPDX-License-Identifier: Apache-2.0
/* steps.c: see steps.h, and what request.h offers to handlers. Nothing here knows a connection. */
#include "steps.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#include "guard.h"
#include "router.h"
#include "target.h"

#define RESPONSE_BYTES_MAX ((size_t)1 << 30)
#define ID_BYTES           16 /* of an id that we draw */

/* ---- For handlers -------------------------------------------------------------------------- */

uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static const char *field_find(const struct header *fields, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(fields[i].name, name) == 0)
            return fields[i].value;
    return NULL;
}

const char *request_header(const struct request *request, const char *name)
{
    return field_find(request->fields, request->fields_n, name);
}

bool request_expired(const struct request *request)
{
    return clock_ns() > request->deadline_ns ||
           (request->hurry && atomic_load_explicit(request->hurry, memory_order_relaxed));
}

void request_drop_body(struct request *request)
{
    if (request->body_free)
        request->body_free(request);
    request->body = NULL;
}

size_t response_len(const struct response *response)
{
    size_t len = response->blob ? response->blob->len : response->body.len;

    for (size_t i = 0; i < response->spans_n; i++)
        len += response->spans[i].len;
    return len;
}

void response_header(struct request *request, const char *name, const char *value)
{
    struct response *response = &request->response;

    assert(response->headers_n < REQUEST_HEADERS_MAX);
    response->headers[response->headers_n++] = (struct header){name, value};
}

const char *response_find(const struct request *request, const char *name)
{
    return field_find(request->response.headers, request->response.headers_n, name);
}

/* ---- Beginning and end --------------------------------------------------------------------- */

/* To clear the places for mistakes, too, would be eight times as much: 0.5 us of every request. */
static void request_clear(struct request *request)
{
    memset(request, 0, offsetof(struct request, err) + offsetof(struct err, item));
    request->path = request->query = "";
}

bool request_begin(struct request *request, const struct http_hooks *hooks, const char *target,
                   const struct request_room *room)
{
    request_clear(request);
    request->app = hooks->app;
    request->start_ns = clock_ns();
    arena_init(&request->arena, room->arena_max);
    request->arena.budget = room->memory;
    if (room->first)
        arena_lend(&request->arena, room->first, room->first_bytes);
    buf_init(&request->response.body, RESPONSE_BYTES_MAX);
    request->target = arena_strndup(&request->arena, target, strlen(target));
    if (!request->target)
        arena_release(&request->arena);
    return request->target != NULL;
}

void request_release(struct request *request)
{
    if (request->state_free)
        request->state_free(request);
    buf_release(&request->response.body);
    blob_unref(request->response.blob);
    arena_release(&request->arena);
}

/* ---- The head ------------------------------------------------------------------------------ */

static bool is_id_text(const char *text)
{
    size_t len = strlen(text);

    for (const char *c = text; *c; c++)
        if (!((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
              strchr("-._~:+/=@", *c)))
            return false;
    return len >= 1 && len <= 64;
}

/* Of the kernel's random bytes 16 requests' worth are taken at a time: a system call for each took
 * 0.4 us. */
static bool draw_bytes(unsigned char bytes[ID_BYTES])
{
    static _Thread_local unsigned char drawn[16 * ID_BYTES];
    static _Thread_local size_t left;

    if (left == 0 && getrandom(drawn, sizeof drawn, GRND_NONBLOCK) == (ssize_t)sizeof drawn)
        left = sizeof drawn;
    if (left == 0)
        return false;
    left -= ID_BYTES;
    memcpy(bytes, drawn + left, ID_BYTES);
    return true;
}

void request_draw_id(struct request *request)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[ID_BYTES] = {0};

    if (!draw_bytes(bytes))
        memcpy(bytes, &request->start_ns, sizeof request->start_ns);
    for (size_t i = 0; i < sizeof bytes; i++) {
        request->id[2 * i] = digits[bytes[i] >> 4];
        request->id[2 * i + 1] = digits[bytes[i] & 15];
    }
    request->id[2 * sizeof bytes] = '\0';
}

/* Request-Id, or the trace-id of a traceparent (W3C Trace Context: 00-<32 hex>-<16 hex>-<2 hex>),
 * or 128 random bits. */
static void request_identify(struct request *request)
{
    const char *given = request_header(request, "Request-Id");
    const char *trace = request_header(request, "traceparent");

    request->id_given = true;
    if (given && is_id_text(given)) {
        memcpy(request->id, given, strlen(given) + 1);
        return;
    }
    if (trace && strlen(trace) >= 55 && trace[2] == '-' && trace[35] == '-' &&
        strspn(trace + 3, "0123456789abcdef") == 32) {
        memcpy(request->id, trace + 3, 32);
        return;
    }
    request->id_given = false;
    request_draw_id(request);
}

/* The field that was kept under this name before, or NULL. */
static struct header *field_kept(struct request *request, const char *name)
{
    for (size_t i = 0; i < request->fields_n; i++)
        if (strcasecmp(request->fields[i].name, name) == 0)
            return &request->fields[i];
    return NULL;
}

/* Without the blanks that libmicrohttpd 0.9 leaves at the end of values; fields of one name as one
 * list (RFC 9110, 5.3). */
static bool fields_keep(struct request *request, const struct head *head)
{
    struct arena *arena = &request->arena;
    size_t n = head->fields_n < HEAD_FIELDS_MAX ? head->fields_n : HEAD_FIELDS_MAX;

    request->fields = arena_calloc(arena, n ? n : 1, sizeof *request->fields);
    for (size_t i = 0; request->fields && i < n; i++) {
        const struct head_field *field = &head->fields[i];
        size_t len = field->value_len;
        while (len > 0 && (field->value[len - 1] == ' ' || field->value[len - 1] == '\t'))
            len--;
        const char *value =
            len == field->value_len ? field->value : arena_strndup(arena, field->value, len);
        struct header *same = field_kept(request, field->name);
        if (value && same)
            value = arena_printf(arena, "%s, %s", same->value, value);
        if (!value)
            return false;
        if (same)
            same->value = value;
        else
            request->fields[request->fields_n++] = (struct header){field->name, value};
    }
    return request->fields != NULL;
}

bool request_take_head(struct request *request, const struct head *head)
{
    request->method = method_parse(head->method);
    if (!fields_keep(request, head))
        return false;
    request_identify(request);
    return true;
}

/* The target without the slashes that end its path: where such a request is sent to. NULL when
 * nothing is there either. */
static const char *redirect_target(struct request *request, const struct http_hooks *hooks,
                                   const struct target *target)
{
    size_t raw_len = strcspn(target->origin, "?"), raw_kept = raw_len;
    size_t len = strlen(target->path);

    while (raw_kept > 1 && target->origin[raw_kept - 1] == '/')
        raw_kept--;
    while (len > 1 && target->path[len - 1] == '/')
        len--;
    const char *path = arena_strndup(&request->arena, target->path, len);
    if (raw_kept == raw_len || !path ||
        !router_match(hooks->routes, hooks->routes_n, path, request->method).allowed)
        return NULL;
    return arena_printf(&request->arena, "%.*s%s", (int)raw_kept, target->origin,
                        target->origin + raw_len);
}

static void route_find(struct request *request, const struct http_hooks *hooks,
                       const struct target *target)
{
    struct route_match match =
        router_match(hooks->routes, hooks->routes_n, target->path, request->method);
    const char *elsewhere;

    if (strcmp(target->path, "*") == 0) /* OPTIONS: the server as a whole */
        match.allowed = METHOD_GET | METHOD_POST;
    if (match.route) {
        request->route = match.route;
        request->path = arena_strndup(&request->arena, target->path, match.path_len);
        request->suffix = match.suffix;
        request->path_arg = match.arg && request->path ? request->path + match.arg : NULL;
        if (!request->path)
            err_add(&request->err, ERR_internal, NULL, NULL, "no memory for the request");
    } else if (!match.allowed && (elsewhere = redirect_target(request, hooks, target))) {
        request->response.status = 308;
        response_header(request, "Location", elsewhere);
    } else if (!match.allowed) {
        err_add(&request->err, ERR_not_found, NULL, NULL, "there is nothing at %.200s",
                target->origin);
    } else {
        response_header(request, "Allow", allow_text(match.allowed));
        if (request->method == METHOD_OPTIONS)
            request->response.status = 204;
        else
            err_add(&request->err, ERR_method_not_allowed, NULL, NULL,
                    "the method is not one of %s", allow_text(match.allowed));
    }
}

void request_find_route(struct request *request, const struct http_hooks *hooks)
{
    struct target target;
    bool parsed = target_parse(&target, request->target, &request->arena, &request->err);

    request->path = target.path;
    request->query = target.query;
    request->args = target.args;
    request->args_n = target.args_n;
    if (parsed)
        route_find(request, hooks, &target);
}

/* ---- The answer ---------------------------------------------------------------------------- */

enum step request_quick(struct request *request)
{
    return request->err.n > 0 || !request->route ? STEP_DONE : request->route->quick(request);
}

enum step request_settle(struct request *request, enum step step)
{
    return step == STEP_DONE && request->route->settle ? request->route->settle(request) : step;
}

void request_conclude(struct request *request, const struct http_hooks *hooks, enum step step)
{
    struct response *response = &request->response;
    struct err *err = &request->err;

    if (step == STEP_FAILED && err->n == 0)
        err_add(err, ERR_internal, NULL, NULL, "the handler failed without saying why");
    if (request->arena.over_budget) { /* something may be missing, whatever came of it */
        request->arena.unasked = 0;   /* for the problem document */
        err->n = 0;
        err->retry_after_s = 1;
        err_add(err, ERR_overloaded, NULL, "try again later",
                "no memory for the request beside others");
    }
    if (err->n > 0) { /* whatever a handler has made is not the answer */
        response->status = err_status(err->item[0].code);
        response->headers_n = request->route ? 0 : response->headers_n;
        buf_release(&response->body);
        blob_unref(response->blob);
        response->blob = NULL;
        response->stream = NULL;
        response->spans_n = 0;
    } else if (response->status == 0) {
        response->status = 200;
    }
    const char *seconds = err->n && err->retry_after_s
                              ? arena_printf(&request->arena, "%u", err->retry_after_s)
                              : NULL;
    if (seconds)
        response_header(request, "Retry-After", seconds);
    hooks->finish(request);
}
