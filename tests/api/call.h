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

#endif
