// SPDX-License-Identifier: Apache-2.0
/* test_changes.c: /v1/changes begins with the semantics that this service speaks. */
#include "call.h"
#include "changes.h"
#include "fixtures.h"

/* 1.2.3 as one number that grows with it. */
static long rank(const char *version)
{
    int major, minor, patch;
    cr_assert_eq(sscanf(version, "%d.%d.%d", &major, &minor, &patch), 3, "%s", version);
    return (major * 1000L + minor) * 1000L + patch;
}

Test(changes, begin_with_the_present_version_and_go_back)
{
    cr_expect_str_eq(changes[0].version, API_SEMANTICS_VERSION,
                     "API_SEMANTICS_VERSION needs a row in changes.def");
    cr_expect_eq(strtol(changes[0].version, NULL, 10), strtol(API_SEMANTICS, NULL, 10));
    for (size_t i = 1; i < changes_n; i++)
        cr_expect_lt(rank(changes[i].version), rank(changes[i - 1].version));
}

Test(changes, name_fixtures_that_there_are)
{
    struct request request;
    size_t added = 0;

    call(&request, "GET", "/v1/changes", NULL);
    cr_expect_eq(request.response.status, 200);
    json_t *json = call_json(&request), *row, *name;
    size_t i, n;
    json_array_foreach(json_object_get(json, "changes"), i, row)
    {
        cr_expect_str_eq(json_string_value(json_object_get(row, "semantics")), changes[i].version);
        added += json_array_size(json_object_get(row, "fixtures_added"));
        json_array_foreach(json_object_get(row, "fixtures_changed"), n, name)
        {
            size_t f = 0;
            while (f < fixtures_n && strcmp(fixtures[f].name, json_string_value(name)) != 0)
                f++;
            cr_expect_lt(f, fixtures_n, "%s", json_string_value(name));
        }
    }
    cr_expect_eq(i, changes_n);
    cr_expect_eq(added, fixtures_n);
    json_decref(json);
    call_end(&request);
}

Test(changes, are_lines_of_text_too)
{
    struct request request;

    call(&request, "GET", "/v1/changes.txt", NULL);
    cr_expect_not_null(
        strstr(call_body(&request), "changes.0.semantics: " API_SEMANTICS_VERSION "\n"));
    call_end(&request);
}
