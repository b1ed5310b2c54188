// SPDX-License-Identifier: Apache-2.0
/*
 * test_examples.c: every example of the OpenAPI document (proto/examples.json) is sent, and what
 * comes back is the example's answer, byte for byte but for the white space between its tokens.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define EXAMPLES     "proto/examples.json"
#define EXAMPLES_MAX (1 << 20)

static struct e2e_daemon service;
static char *examples_text; /* without white space between tokens */
static json_t *examples;

static char *read_compact(void)
{
    FILE *file = fopen(EXAMPLES, "rb");
    cr_assert(file, "run from the project's root");
    char *text = malloc(EXAMPLES_MAX);
    size_t len = 0;
    bool quoted = false;
    for (int c; (c = fgetc(file)) != EOF;) {
        cr_assert_lt(len, EXAMPLES_MAX - 2);
        if (c == '"' && (len == 0 || text[len - 1] != '\\'))
            quoted = !quoted;
        if (quoted || !strchr(" \n", c))
            text[len++] = (char)c;
    }
    text[len] = '\0';
    fclose(file);
    return text;
}

static void start(void)
{
    e2e_start(&service, NULL);
    examples_text = read_compact();
    examples = json_loads(examples_text, JSON_REJECT_DUPLICATES, NULL);
    cr_assert(examples);
}

static void stop(void)
{
    e2e_stop(&service);
    json_decref(examples);
    free(examples_text);
}

TestSuite(examples, .init = start, .fini = stop, .timeout = 60);

static const char *member(const json_t *example, const char *name)
{
    return json_string_value(json_object_get(example, name));
}

/* The example's value as it stands in the file, to the file's end. */
static const char *value_text(const char *name)
{
    char key[100];
    snprintf(key, sizeof key, "\"%s\":{\"summary\":", name);
    const char *at = strstr(examples_text, key);
    cr_assert(at, "%s has no summary, or not as its first member", name);
    at = strstr(at, "\"value\":");
    cr_assert(at, "%s", name);
    return at + strlen("\"value\":");
}

/* The answer is the value: a JSON text that stands there, or the string that is told there. */
static void compare(const char *name, const json_t *example, const struct e2e_answer *answer)
{
    const json_t *value = json_object_get(example, "value");
    if (json_is_string(value)) {
        cr_expect_str_eq(answer->body, json_string_value(value), "%s: %s", name, answer->body);
        return;
    }
    const char *expected = value_text(name);
    size_t len = answer->body_len - (answer->body[answer->body_len - 1] == '\n');
    bool same = strncmp(expected, answer->body, len) == 0 && expected[len] == '}';
    size_t at = 0;
    while (!same && at < len && expected[at] == answer->body[at])
        at++;
    cr_expect(same, "%s: from character %zu on it is\n%.200s\nnot\n%.200s", name, at,
              answer->body + at, expected + at);
}

static void send_example(const char *name, const json_t *example)
{
    static const char *const fields[] = {"Content-Type: application/json", NULL};
    const char *request = member(example, "x-request"), *of = member(example, "x-body");
    char method[8];
    int target_at;
    cr_assert_eq(sscanf(request, "%7[A-Z] %n", method, &target_at), 1, "%s: %s", name, request);
    const json_t *body = of ? json_object_get(json_object_get(examples, of), "value") : NULL;
    cr_expect_eq(body != NULL, strcmp(method, "POST") == 0, "%s", name);
    char *sent = body ? json_dumps(body, JSON_COMPACT) : NULL;
    struct e2e_answer answer =
        e2e_request(&service, method, request + target_at, fields, sent, sent ? strlen(sent) : 0);
    cr_expect_eq(answer.status, json_integer_value(json_object_get(example, "x-status")), "%s: %s",
                 name, answer.body);
    compare(name, example, &answer);
    e2e_answer_free(&answer);
    free(sent);
}

/* Each example that has a status is an answer; the others are bodies, which some answer belongs to.
 */
Test(examples, are_answered_as_they_say)
{
    const char *name, *other;
    json_t *example, *answer;
    size_t sent = 0;
    json_object_foreach(examples, name, example)
    {
        if (json_object_get(example, "x-status")) {
            send_example(name, example);
            sent++;
            continue;
        }
        bool answered = false;
        json_object_foreach(examples, other, answer)
        {
            const char *of = member(answer, "x-body");
            answered = answered || (of && strcmp(of, name) == 0);
        }
        cr_expect(answered, "%s has no answer", name);
    }
    cr_expect_geq(sent, 20);
}

static size_t count_references(const json_t *node, const char *ref)
{
    size_t n = 0, i;
    const char *key;
    json_t *value;
    if (json_is_string(node))
        return strcmp(json_string_value(node), ref) == 0;
    json_array_foreach((json_t *)node, i, value) n += count_references(value, ref);
    json_object_foreach((json_t *)node, key, value) n += count_references(value, ref);
    return n;
}

Test(examples, stand_in_the_document_where_they_belong)
{
    struct e2e_answer answer = e2e_request(&service, "GET", "/openapi.json", NULL, NULL, 0);
    json_t *document = json_loadb(answer.body, answer.body_len, 0, NULL), *example;
    const char *name;
    cr_expect(
        json_equal(json_object_get(json_object_get(document, "components"), "examples"), examples));
    json_object_foreach(examples, name, example)
    {
        char ref[120];
        snprintf(ref, sizeof ref, "#/components/examples/%s", name);
        cr_expect_eq(count_references(json_object_get(document, "paths"), ref), 1,
                     "%s belongs to no operation, or to several", name);
    }
    json_decref(document);
    e2e_answer_free(&answer);
}

/* ---- What else is told to be asked for ------------------------------------------------------- */

static void expect_good(const char *told_by, const char *target)
{
    struct e2e_answer answer = e2e_request(&service, "GET", target, NULL, NULL, 0);
    cr_expect_eq(answer.status, 200, "%s tells of %s: %d %.300s", told_by, target, answer.status,
                 answer.body);
    e2e_answer_free(&answer);
}

/* Paths in strings below these members: of answers, and of the catalogue. Returns how many. */
static size_t try_paths(const char *told_by, const json_t *node, bool below)
{
    size_t n = 0, i;
    const char *key, *text = json_string_value(node);
    json_t *value;
    if (below && text && text[0] == '/') {
        expect_good(told_by, text);
        n++;
    }
    json_array_foreach((json_t *)node, i, value) n += try_paths(told_by, value, below);
    json_object_foreach((json_t *)node, key, value)
    {
        bool leads =
            strcmp(key, "links") == 0 || strcmp(key, "examples") == 0 || strcmp(key, "get") == 0;
        n += try_paths(told_by, value, below || leads);
    }
    return n;
}

static size_t try_paths_of(const char *target)
{
    struct e2e_answer answer = e2e_request(&service, "GET", target, NULL, NULL, 0);
    json_t *json = json_loadb(answer.body, answer.body_len, 0, NULL);
    cr_assert(json, "%s: %.200s", target, answer.body);
    size_t n = try_paths(target, json, false);
    json_decref(json);
    e2e_answer_free(&answer);
    return n;
}

Test(examples, links_lead_somewhere)
{
    const char *name;
    json_t *example;
    json_object_foreach(examples, name,
                        example) if (json_integer_value(json_object_get(example, "x-status")) ==
                                     200) try_paths(name, json_object_get(example, "value"), false);
    cr_expect_geq(try_paths_of("/v1/encodings"), 9);
    cr_expect_geq(try_paths_of("/v1"), 5);
    cr_expect_geq(try_paths_of("/v1/fixtures"), 9);
}

/* Runs "$U/..." of a command, as curl does: up to the blank or quote behind it, and with what -d
 * '...' brings; other options are left to those who read. */
static void try_command(const char *page, const char *at)
{
    static const char *const form[] = {"Content-Type: application/x-www-form-urlencoded", NULL};
    char target[300], body[300];
    size_t len = strcspn(at + 2, "\"' \n");
    snprintf(target, sizeof target, "%.*s", (int)len, at + 2);
    if (sscanf(at + 2 + len, "%*[\"] -d '%299[^']'", body) != 1 &&
        sscanf(at + 2 + len, " -d '%299[^']'", body) != 1) {
        expect_good(page, target);
        return;
    }
    struct e2e_answer answer = e2e_request(&service, "POST", target, form, body, strlen(body));
    cr_expect_eq(answer.status, 200, "%s: %s: %d %.300s", page, target, answer.status, answer.body);
    e2e_answer_free(&answer);
}

static size_t try_commands(const char *page)
{
    struct e2e_answer answer = e2e_request(&service, "GET", page, NULL, NULL, 0);
    size_t n = 0;
    for (const char *at = answer.body; (at = strstr(at, "$U/")); at++, n++)
        try_command(page, at);
    e2e_answer_free(&answer);
    return n;
}

Test(examples, commands_of_the_help_work)
{
    cr_expect_geq(try_commands("/help"), 8);
    cr_expect_geq(try_commands("/"), 3);
}
