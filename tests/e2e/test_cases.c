// SPDX-License-Identifier: Apache-2.0
/*
 * test_cases.c: mistakes that users and libraries made with positional encodings, with JSON and
 * with tensors over HTTP (tests/data/cases.json): each is asked for here, and the right value
 * comes, within the tolerance of the case, and not the wrong one. The ids are those of the
 * collection that the cases come from; it has more of them, which the table below accounts for.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness.h"

#define CASES    "tests/data/cases.json"
#define CONFIGS  "tests/data/configs.json"
#define CASES_N  66
#define TEXT_MAX ((size_t)2 << 20)

/* Cases that another test is. */
static const struct {
    const char *id, *test;
} elsewhere[] = {
    {"B02", "e2e/test_load: small requests are answered while large posts are in work"},
    {"B03", "e2e/test_probes: get-ten-pipelined; http/test_request: others in order"},
    {"B05", "e2e/test_probes: te-*, refused at once"},
    {"B06", "e2e/test_probes: cl-*; http/test_body: cut off anywhere"},
    {"B08", "e2e/test_probes: space-before-*, bare-lf-*, obs-fold*, host-*"},
    {"B09", "e2e/test_probes: expect-*; http/test_body: waits for its go-ahead"},
    {"B11", "e2e/test_slow: clients lose their connections in time"},
    {"B12", "e2e/test_probes: long-*; http/test_guard: sizes are limited"},
    {"B20", "below: many unknown keys"},
    {"B21", "e2e/test_load: full queue is 503 with Retry-After"},
    {"B23", "e2e/test_load: keeps 500 connections; e2e/test_sandbox: all that many threads need"},
    {"B24", "e2e/test_drain; the daemon does not fork"},
    {"B26", "below: comparison"},
    {"C03", "e2e/test_gzip: bodies are read, broken ones and bombs refused"},
    {"C09", "below: bodies around the limit"},
};

static struct e2e_daemon service;

static void start(void)
{
    e2e_start(&service, NULL);
}

static void stop(void)
{
    e2e_stop(&service);
}

TestSuite(cases, .init = start, .fini = stop, .timeout = 60);

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *cases = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    cr_assert(cases, "%s:%d: %s", path, error.line, error.text);
    return cases;
}

/* ---- Comparing ----------------------------------------------------------------------------- */

struct tolerance {
    double absolute, relative;
};

static bool close_to(double got, double expected, struct tolerance tolerance)
{
    if (memcmp(&got, &expected, sizeof got) == 0)
        return true;
    return isfinite(got) && isfinite(expected) &&
           fabs(got - expected) <= tolerance.absolute + tolerance.relative * fabs(expected) &&
           (tolerance.absolute > 0 || tolerance.relative > 0 || signbit(got) == signbit(expected));
}

static bool alike(const json_t *got, const json_t *expected, struct tolerance tolerance)
{
    if (json_is_number(got) && json_is_number(expected))
        return close_to(json_number_value(got), json_number_value(expected), tolerance);
    if (!json_is_array(expected))
        return json_equal(got, expected);
    bool same = json_array_size(got) == json_array_size(expected);
    for (size_t i = 0; same && i < json_array_size(expected); i++)
        same = alike(json_array_get(got, i), json_array_get(expected, i), tolerance);
    return same;
}

/* What a JSON pointer without escapes leads to. */
static const json_t *at_pointer(const json_t *root, const char *pointer)
{
    while (root && *pointer == '/') {
        char name[64];
        size_t len = strcspn(++pointer, "/");
        snprintf(name, sizeof name, "%.*s", (int)len, pointer);
        root = json_is_array(root) ? json_array_get(root, strtoul(name, NULL, 10))
                                   : json_object_get(root, name);
        pointer += len;
    }
    return root;
}

/* Values of `answer` at the pointers that are keys of `expected`. */
static void expect_values(const char *what, const json_t *answer, const json_t *expected,
                          struct tolerance tolerance, bool equal)
{
    const char *pointer;
    json_t *value;
    json_object_foreach((json_t *)expected, pointer, value)
    {
        const json_t *got = at_pointer(answer, pointer);
        cr_assert(got, "%s: nothing at %s", what, pointer);
        char *text = json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT);
        cr_expect_eq(alike(got, value, tolerance), equal, "%s: %s is %.300s", what, pointer, text);
        free(text);
    }
}

Test(comparison, is_by_bits_then_by_distance)
{
    static const struct {
        double got, expected;
        struct tolerance tolerance;
        bool close;
    } rows[] = {
        {INFINITY, INFINITY, {0, 0}, true},
        {INFINITY, -INFINITY, {1, 1}, false},
        {NAN, NAN, {0, 0}, true},
        {NAN, 1, {1, 1}, false},
        {1, NAN, {1, 1}, false},
        {-0.0, 0.0, {0, 0}, false},
        {-0.0, 0.0, {1e-15, 0}, true},
        {1, 1 + 0x1p-52, {0, 1e-15}, true},
        {1, 1 + 0x1p-52, {0, 0}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(close_to(rows[i].got, rows[i].expected, rows[i].tolerance), rows[i].close,
                     "row %zu", i);
}

/* ---- Requests ------------------------------------------------------------------------------ */

/* The body of a request as text, to be freed; NULL where it has none. */
static char *body_of(const json_t *request)
{
    const json_t *body = json_object_get(request, "body");
    const json_t *repeat = json_object_get(request, "repeat");
    const char *text = json_string_value(json_object_get(request, "text"));
    if (body)
        return json_dumps(body, JSON_COMPACT);
    if (!repeat)
        return text ? strdup(text) : NULL;
    size_t n = (size_t)json_integer_value(json_object_get(repeat, "n"));
    char *out = malloc(n + 1);
    memset(out, *json_string_value(json_object_get(repeat, "text")), n);
    out[n] = '\0';
    return out;
}

static bool is_status(const json_t *statuses, int status)
{
    size_t i;
    json_t *one;
    json_array_foreach(statuses, i, one) if (json_integer_value(one) == status) return true;
    return false;
}

/* The body begins with these bytes, and has this length. */
static void expect_bytes(const char *what, const json_t *request, const struct e2e_answer *answer)
{
    const char *hex = json_string_value(json_object_get(request, "hex"));
    const json_t *length = json_object_get(request, "length");
    for (size_t i = 0; hex && hex[2 * i]; i++) {
        char digits[3] = {hex[2 * i], hex[2 * i + 1]};
        cr_assert_lt(i, answer->body_len, "%s: %zu bytes", what, answer->body_len);
        cr_assert_eq((unsigned char)answer->body[i], strtoul(digits, NULL, 16), "%s: byte %zu",
                     what, i);
    }
    cr_expect(!length || (size_t)json_integer_value(length) == answer->body_len, "%s: %zu bytes",
              what, answer->body_len);
}

static void expect_texts(const char *what, const json_t *request, const struct e2e_answer *answer)
{
    size_t i;
    json_t *text;
    const char *name;
    json_array_foreach(json_object_get(request, "says"), i, text)
        cr_expect(strstr(answer->body, json_string_value(text)), "%s does not say %s: %s", what,
                  json_string_value(text), answer->body);
    json_object_foreach(json_object_get(request, "head"), name, text)
    {
        char value[600];
        bool found = e2e_field(answer, name, value, sizeof value);
        cr_expect(
            found && (json_string_length(text) == 0 || strcmp(value, json_string_value(text)) == 0),
            "%s: %s is %s", what, name, found ? value : "not there");
    }
}

static void try_request(const char *id, const json_t *request, struct tolerance tolerance)
{
    const char *line = json_string_value(json_object_get(request, "request"));
    const char *fields[6] = {"Content-Type: application/json"}, *target = strchr(line, ' ') + 1;
    const json_t *list = json_object_get(request, "fields");
    char what[200], method[12];
    snprintf(what, sizeof what, "%s, %s", id, line);
    snprintf(method, sizeof method, "%.*s", (int)strcspn(line, " "), line);
    for (size_t i = 0; i < json_array_size(list); i++)
        fields[i + 1] = json_string_value(json_array_get(list, i));
    char *body = body_of(request);
    struct e2e_answer answer =
        e2e_request(&service, method, target, fields, body, body ? strlen(body) : 0);
    cr_expect(is_status(json_object_get(request, "status"), answer.status), "%s: %d %.400s", what,
              answer.status, answer.body);
    expect_texts(what, request, &answer);
    expect_bytes(what, request, &answer);
    /* Numbers below 1e21 have no exponent: more than jansson's integers hold. */
    json_t *json = json_loadb(answer.body, answer.body_len, JSON_DECODE_INT_AS_REAL, NULL);
    expect_values(what, json, json_object_get(request, "values"), tolerance, true);
    expect_values(what, json, json_object_get(request, "exact"), (struct tolerance){0, 0}, true);
    expect_values(what, json, json_object_get(request, "not"), tolerance, false);
    json_decref(json);
    e2e_answer_free(&answer);
    free(body);
}

static void try_all(const char *path)
{
    json_t *cases = load(path), *one, *request;
    size_t i, n;
    json_array_foreach(cases, i, one)
    {
        struct tolerance tolerance = {json_number_value(json_object_get(one, "abs")),
                                      json_number_value(json_object_get(one, "rel"))};
        json_array_foreach(json_object_get(one, "requests"), n, request)
            try_request(json_string_value(json_object_get(one, "id")), request, tolerance);
    }
    json_decref(cases);
}

Test(cases, come_out_right)
{
    try_all(CASES);
}

/* Models' configs of every class, with what they say as it is known from other places. */
Test(cases, configs_of_models)
{
    try_all(CONFIGS);
}

Test(cases, are_all_accounted_for)
{
    json_t *cases = load(CASES), *ids = json_object(), *one;
    size_t i;
    json_array_foreach(cases, i, one)
        json_object_set(ids, json_string_value(json_object_get(one, "id")), one);
    for (i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        json_object_set_new(ids, elsewhere[i].id, json_true());
    cr_expect_eq(json_object_size(ids), CASES_N);
    cr_expect_eq(json_object_size(ids),
                 json_array_size(cases) + sizeof elsewhere / sizeof *elsewhere,
                 "an id stands twice");
    json_decref(cases);
    json_decref(ids);
}

/* ---- Cases that are no table --------------------------------------------------------------- */

static double seconds_with_keys(size_t n)
{
    static const char *const json[] = {"Content-Type: application/json", NULL};
    char *body = malloc(TEXT_MAX);
    size_t len = (size_t)snprintf(body, TEXT_MAX, "{\"spec\":\"rope:dim=2\",\"x\":[[1,2]]");
    struct timespec before, after;
    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(body + len, TEXT_MAX - len, ",\"k%zu\":1", i);
    len += (size_t)snprintf(body + len, TEXT_MAX - len, "}");
    clock_gettime(CLOCK_MONOTONIC, &before);
    struct e2e_answer answer = e2e_request(&service, "POST", "/v1/apply", json, body, len);
    clock_gettime(CLOCK_MONOTONIC, &after);
    cr_expect(answer.status >= 400 && answer.status < 500, "%zu keys: %d", n, answer.status);
    e2e_answer_free(&answer);
    free(body);
    return (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) * 1e-9;
}

/* B20. A slow build takes its time; a hash table that degenerates takes minutes. */
Test(cases, many_unknown_keys)
{
    cr_expect_lt(seconds_with_keys(1000), 1);
    cr_expect_lt(seconds_with_keys(100000), 3);
}

/* C09. What is too large by its length is refused without being read. */
Test(limit, bodies_around_it)
{
    static const char *const options[] = {"--max-body", "64K", NULL};
    static const struct {
        size_t len;
        int status;
    } rows[] = {{65536, 200}, {65537, 413}, {655360, 413}, {0, 400}, {65536, 200}};
    static char body[655360];
    static const char *const json[] = {"Content-Type: application/json", NULL};
    static const char *const chunked[] = {"Content-Type: application/json",
                                          "Transfer-Encoding: chunked", NULL};
    static const char small[] = "{\"spec\":\"rope:dim=2\",\"x\":[[1,2]]}";
    memset(body, ' ', sizeof body);
    memcpy(body, small, sizeof small - 1);
    e2e_start(&service, options);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct e2e_answer answer =
            e2e_request(&service, "POST", "/v1/apply", json, body, rows[i].len);
        cr_expect_eq(answer.status, rows[i].status, "%zu bytes: %d %s", rows[i].len, answer.status,
                     answer.body);
        cr_expect(answer.status != 413 || strstr(answer.body, "65536"), "%s", answer.body);
        e2e_answer_free(&answer);
    }
    struct e2e_answer answer =
        e2e_request(&service, "POST", "/v1/apply", chunked, body, sizeof body);
    cr_expect_eq(answer.status, 413, "%d", answer.status);
    e2e_answer_free(&answer);
    e2e_stop(&service);
}
