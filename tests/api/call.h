// SPDX-License-Identifier: Apache-2.0
/* call.h: stand_in.h for tests with Criterion. Include once per test program. */
#ifndef TESTS_API_CALL_H
#define TESTS_API_CALL_H

#include <criterion/criterion.h>
#include <jansson.h>

#include "stand_in.h"

/* The answer as JSON; free with json_decref. */
static inline json_t *call_json(struct request *request)
{
    json_error_t error;
    const char *body = call_body(request);
    json_t *json = json_loads(body, JSON_REJECT_DUPLICATES, &error);
    cr_assert(json, "%s: not JSON: %s: %s", request->target, error.text, body);
    return json;
}

/* One request that must be answered with this status: a GET, or a POST of `body`. The answer as
 * JSON; free with json_decref. */
static inline json_t *call_ask(const char *target, const char *body, int status)
{
    struct request request;
    call(&request, body ? "POST" : "GET", target, body);
    json_t *json = call_json(&request);
    cr_assert_eq(request.response.status, status, "%s %.300s: %.600s", target, body ? body : "",
                 call_body(&request));
    call_end(&request);
    return json;
}

/* What POST says in sentences, whose lines are wrapped, as one line; free it. */
static inline char *call_sentences(const char *target, const char *body)
{
    struct request request;
    call(&request, "POST", target, body);
    char *says = strdup(call_body(&request));
    for (char *at = says; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    call_end(&request);
    return says;
}

static inline void call_says(const char *text, const char *part)
{
    cr_expect(strstr(text, part), "no \"%s\" in: %s", part, text);
}

/* A request that is refused. */
struct call_refusal {
    const char *target, *body; /* body NULL: a GET */
    int status;
    const char *where; /* what of it the first error names: a pointer, else a parameter */
    const char *says;  /* a part of that error's detail or hint */
};

static inline const char *call_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static inline void call_refused(const struct call_refusal *refusal)
{
    json_t *problem = call_ask(refusal->target, refusal->body, refusal->status);
    const json_t *error = json_array_get(json_object_get(problem, "errors"), 0);
    const char *where = call_text(error, "pointer"), *detail = call_text(error, "detail");
    where = *where ? where : call_text(error, "parameter");
    cr_expect_str_eq(where, refusal->where, "%s %s: %s", refusal->target,
                     refusal->body ? refusal->body : "", detail);
    cr_expect(strstr(detail, refusal->says) || strstr(call_text(error, "hint"), refusal->says),
              "%s %s: %s", refusal->target, refusal->body ? refusal->body : "", detail);
    json_decref(problem);
}

#endif
