// SPDX-License-Identifier: Apache-2.0
/* golden.h: reads the golden files beside it. */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file's document; the caller decrefs it. The folder is found from the path that the test was
 * compiled by, so tests run in the folder where make does. */
static inline json_t *golden_load(const char *name)
{
    char path[512];
    const char *self = __FILE__;
    int folder = (int)(strlen(self) - strlen("golden.h"));
    snprintf(path, sizeof path, "%.*s%s", folder, self, name);
    json_error_t error;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    cr_assert(document, "%s: %s", path, error.text);
    return document;
}

/* A number, or text that strtod reads exactly. */
static inline double golden_number(const json_t *value)
{
    if (json_is_string(value))
        return strtod(json_string_value(value), NULL);
    cr_assert(json_is_number(value));
    return json_is_integer(value) ? (double)json_integer_value(value) : json_real_value(value);
}

/* Numbers of an array; returns how many. */
static inline size_t golden_list(const json_t *array, double *out, size_t max)
{
    size_t n = json_array_size(array);
    cr_assert_leq(n, max);
    for (size_t i = 0; i < n; i++)
        out[i] = golden_number(json_array_get(array, i));
    return n;
}

#endif
