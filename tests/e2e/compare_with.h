// SPDX-License-Identifier: Apache-2.0
/* compare_with.h: a daemon for the tests of /v1/compare, and requests to it. Include once per test
 * program. */
#ifndef E2E_COMPARE_WITH_H
#define E2E_COMPARE_WITH_H

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "e2e/harness.h"

static struct e2e_daemon daemon_;

static inline void start(void)
{
    e2e_start(&daemon_, NULL);
}

static inline void stop(void)
{
    e2e_stop(&daemon_);
}

/* {"dtype":"f32","shape":[..],"data":[..]} */
static inline json_t *tensor(const double *values, const char *shape, size_t n)
{
    json_t *data = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(data, json_real((float)values[i]));
    return json_pack("{s:s, s:o, s:o}", "dtype", "f32", "shape", json_loads(shape, 0, NULL), "data",
                     data);
}

static inline json_t *post(const char *target, json_t *request, int status)
{
    static const char *const fields[] = {"Content-Type: application/json", NULL};
    char *body = json_dumps(request, JSON_COMPACT);
    struct e2e_answer answer = e2e_request(&daemon_, "POST", target, fields, body, strlen(body));
    cr_assert_eq(answer.status, status, "%d: %s", answer.status, answer.body);
    json_t *json = json_loads(answer.body, 0, NULL);
    cr_assert(json, "%s", answer.body);
    e2e_answer_free(&answer);
    free(body);
    json_decref(request);
    return json;
}

#endif
