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

#endif
