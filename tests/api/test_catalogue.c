// SPDX-License-Identifier: Apache-2.0
/* test_catalogue.c: /v1/encodings says what the table of kinds says, and what the service does. */
#include "call.h"

static const char *text_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "(none)";
}

static const char *acts_by(const struct pe_kind *kind)
{
    static const char *const by[] = {
        [PE_ACTS_NOT] = "nothing",
        [PE_ADDS] = "addition",
        [PE_ROTATES] = "rotation",
        [PE_BIASES] = "bias",
    };
    return by[kind->acts];
}

static void expect_kind(const json_t *entry, const struct pe_kind *kind)
{
    cr_expect_str_eq(text_at(entry, "kind"), kind->name);
    cr_expect_str_eq(text_at(entry, "title"), kind->title);
    cr_expect_str_eq(text_at(entry, "formula"), kind->formula);
    cr_expect_str_eq(text_at(entry, "outside_training"), kind->outside);
    const json_t *library, *libraries = json_object_get(entry, "libraries");
    size_t libraries_n = 0;
    for (const struct pe_library *row = kind->libraries; row->name; row++) {
        library = json_array_get(libraries, libraries_n++);
        cr_expect_str_eq(text_at(library, "name"), row->name);
        cr_expect_str_eq(text_at(library, "use"), row->use);
    }
    cr_expect_eq(json_array_size(libraries), libraries_n, "%s", kind->name);
    cr_expect_str_eq(text_at(entry, "by"), acts_by(kind));
    const json_t *properties = json_object_get(entry, "properties");
    cr_expect_eq(json_is_true(json_object_get(properties, "relative")),
                 (kind->properties & PE_RELATIVE) != 0, "%s", kind->name);
    cr_expect_eq(json_is_true(json_object_get(properties, "learned")),
                 (kind->properties & PE_LEARNED) != 0, "%s", kind->name);
    const json_t *schema = json_object_get(json_object_get(entry, "schema"), "properties");
    cr_expect_eq(json_object_size(schema), kind->params_n + 1, "%s", kind->name);
    for (size_t i = 0; i < kind->params_n; i++)
        cr_expect(json_object_get(schema, kind->params[i].name), "%s: no %s", kind->name,
                  kind->params[i].name);
}

Test(catalogue, lists_all_kinds)
{
    struct request request;
    call(&request, "GET", "/v1/encodings", NULL);
    json_t *answer = call_json(&request);
    cr_expect_str_eq(text_at(answer, "semantics"), "1");
    const json_t *encodings = json_object_get(answer, "encodings");
    cr_assert_eq(json_array_size(encodings), pe_kinds_n());
    for (size_t i = 0; i < pe_kinds_n(); i++)
        expect_kind(json_array_get(encodings, i), pe_kind_at(i));
    json_decref(answer);
    call_end(&request);
}

/* The row of the specification's example, 9.1. */
Test(catalogue, rope_as_specified)
{
    struct request request;
    call(&request, "GET", "/v1/encodings/rotary", NULL);
    json_t *rope = call_json(&request);
    json_t *expected = json_pack("{s:s, s:[s,s], s:s, s:{s:b,s:b,s:b,s:b}}", "kind", "rope",
                                 "acts_on", "q", "k", "by", "rotation", "properties", "relative", 1,
                                 "preserves_norm", 1, "learned", 0, "unbounded", 1);
    const char *key;
    json_t *value;
    json_object_foreach(expected, key, value)
        cr_expect(json_equal(json_object_get(rope, key), value), "%s differs", key);
    json_decref(expected);

    const json_t *schema = json_object_get(rope, "schema");
    cr_expect_str_eq(text_at(schema, "$schema"), "https://json-schema.org/draft/2020-12/schema");
    cr_expect(json_is_false(json_object_get(schema, "additionalProperties")));
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *dim = json_object_get(properties, "dim");
    cr_expect_str_eq(text_at(dim, "type"), "integer");
    cr_expect_eq(json_number_value(json_object_get(dim, "minimum")), 2);
    cr_expect_eq(json_number_value(json_object_get(dim, "maximum")), 65536);
    cr_expect_eq(json_number_value(json_object_get(dim, "multipleOf")), 2);
    cr_expect_eq(json_number_value(json_object_get(dim, "default")), 64);
    const json_t *layout = json_object_get(properties, "layout");
    cr_expect_str_eq(text_at(layout, "default"), "interleaved");
    cr_expect_str_eq(json_string_value(json_array_get(json_object_get(layout, "enum"), 1)), "half");
    const json_t *reference = json_array_get(json_object_get(rope, "references"), 0);
    cr_expect_str_eq(text_at(reference, "id"), "arXiv:2104.09864");
    cr_expect_eq(json_integer_value(json_object_get(reference, "year")), 2021);
    json_decref(rope);
    call_end(&request);
}

Test(catalogue, every_example_works)
{
    for (size_t i = 0; i < pe_kinds_n(); i++)
        for (const char *const *example = pe_kind_at(i)->examples; *example; example++) {
            struct request request;
            call(&request, "GET", *example, NULL);
            cr_expect_eq(request.response.status, 200, "%s: %s", *example, call_body(&request));
            call_end(&request);
        }
}

/* What the schema gives as default, range and choice is what the service does. */
Test(catalogue, defaults_are_those_of_the_service)
{
    for (size_t i = 0; i < pe_kinds_n(); i++) {
        struct request request;
        char target[128];
        snprintf(target, sizeof target, "/v1/spec?kind=%s", pe_kind_at(i)->name);
        call(&request, "GET", target, NULL);
        cr_assert_eq(request.response.status, 200, "%s: %s", target, call_body(&request));
        json_t *answer = call_json(&request);
        const json_t *spec = json_object_get(answer, "spec");
        call_end(&request);

        snprintf(target, sizeof target, "/v1/encodings/%s", pe_kind_at(i)->name);
        call(&request, "GET", target, NULL);
        json_t *entry = call_json(&request);
        json_t *properties = json_object_get(json_object_get(entry, "schema"), "properties");
        const char *key;
        json_t *schema;
        json_object_foreach(properties, key, schema)
        {
            const json_t *expected = json_object_get(schema, "default");
            const json_t *value = json_object_get(spec, key);
            if (expected && value && json_is_number(expected))
                cr_expect_eq(json_number_value(expected), json_number_value(value), "%s.%s",
                             pe_kind_at(i)->name, key);
            else if (expected && value)
                cr_expect(json_equal(expected, value), "%s.%s", pe_kind_at(i)->name, key);
        }
        json_decref(entry);
        json_decref(answer);
        call_end(&request);
    }
}

Test(catalogue, as_text)
{
    struct request request;
    call(&request, "GET", "/v1/encodings?format=txt", NULL);
    const char *list = call_body(&request);
    for (size_t i = 0; i < pe_kinds_n(); i++)
        cr_expect(strstr(list, pe_kind_at(i)->title), "%s is missing", pe_kind_at(i)->title);
    call_end(&request);
    for (size_t i = 0; i < pe_kinds_n(); i++) {
        const struct pe_kind *kind = pe_kind_at(i);
        char target[128];
        snprintf(target, sizeof target, "/v1/encodings/%s?format=txt", kind->name);
        call(&request, "GET", target, NULL);
        cr_expect_str_eq(request.response.content_type, "text/plain; charset=utf-8");
        const char *text = call_body(&request);
        for (const struct pe_library *row = kind->libraries; row->name; row++)
            cr_expect(strstr(text, row->name), "%s: no %s", kind->name, row->name);
        for (size_t j = 0; j < kind->params_n; j++)
            cr_expect(strstr(text, kind->params[j].name), "%s: no %s", kind->name,
                      kind->params[j].name);
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
            cr_expect(strcspn(line, "\n") <= 80 || strstr(line, "curl") < line + 10,
                      "%s: a long line: %.100s", kind->name, line);
        call_end(&request);
    }
}

/* The table under "Encodings" in README.md has a row for each kind and for nothing else. */
Test(catalogue, readme_has_the_same_table)
{
    char *readme = NULL, row[300];
    size_t size = 0, rows_n = 0;
    FILE *file = fopen("README.md", "r");
    cr_assert(file && getdelim(&readme, &size, '\0', file) > 0);
    fclose(file);
    const char *table = strstr(readme, "## Encodings\n");
    cr_assert(table);
    for (size_t i = 0; i < pe_kinds_n(); i++) {
        const struct pe_kind *kind = pe_kind_at(i);
        snprintf(row, sizeof row, "\n| `%s` | %s | %s |\n", kind->name, acts_by(kind), kind->title);
        cr_expect(strstr(table, row), "README.md has no row%s", row);
    }
    for (const char *line = strstr(table, "\n| `"); line && line < strstr(table, "\n\n`");
         line = strstr(line + 1, "\n| `"))
        rows_n++;
    cr_expect_eq(rows_n, pe_kinds_n(), "README.md has %zu rows", rows_n);
    free(readme);
}

/* What is asked for and no kind is told with the reason, and never the name of a kind. */
Test(catalogue, says_what_is_not_offered)
{
    struct request request;
    call(&request, "GET", "/v1/encodings", NULL);
    json_t *answer = call_json(&request);
    call_end(&request);
    size_t i;
    json_t *row;
    cr_expect_gt(json_array_size(json_object_get(answer, "not_offered")), 5);
    json_array_foreach(json_object_get(answer, "not_offered"), i, row)
    {
        char target[128];
        const char *name = text_at(row, "name"), *reason = text_at(row, "reason");
        cr_expect_null(pe_kind_find(name, strlen(name)), "%s is a kind", name);
        cr_expect_eq(reason[strlen(reason) - 1], '.', "%s", reason);
        snprintf(target, sizeof target, "/v1/encodings/%s", name);
        call(&request, "GET", target, NULL);
        cr_expect_eq(request.response.status, 404);
        cr_expect(strstr(call_body(&request), reason), "%s: %s", target, call_body(&request));
        call_end(&request);
    }
    json_decref(answer);
}

/* Ways to ask an endpoint about a kind: at places of so many axes as it may have, at few places, of
 * another quantity. */
static const char *const ways[] = {
    "",
    "&positions=0:4",
    "&positions=0:4;0:4",
    "&positions=0:4;0:4;0:4",
    "&grid=2x4x4&query=0,1,1",
    "&anchors=0&offsets=0:4",
    "&quantity=table&positions=1:4",
    "&quantity=score&positions=1:4",
};

static bool is_answered(const char *path, const struct pe_kind *kind)
{
    bool answered = false;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0] && !answered; i++) {
        struct request request;
        char target[160];
        snprintf(target, sizeof target, "%s?kind=%s%s", path, kind->name, ways[i]);
        call(&request, "GET", target, NULL);
        answered = request.response.status == 200;
        call_end(&request);
    }
    return answered;
}

static bool is_listed(const json_t *endpoints, const char *path)
{
    for (size_t i = 0; i < json_array_size(endpoints); i++)
        if (strcmp(json_string_value(json_array_get(endpoints, i)), path) == 0)
            return true;
    return false;
}

Test(catalogue, endpoints_are_those_that_answer)
{
    static const char *const paths[] = {"/v1/spec",      "/v1/table",      "/v1/frequencies",
                                        "/v1/rotation",  "/v1/apply",      "/v1/scores",
                                        "/v1/attention", "/v1/similarity", "/v1/grid",
                                        "/v1/precision", "/v1/properties"};
    size_t paths_n = sizeof paths / sizeof paths[0];
    struct request request;
    call(&request, "GET", "/v1/encodings", NULL);
    json_t *answer = call_json(&request);
    call_end(&request);
    for (size_t i = 0; i < pe_kinds_n(); i++) {
        const struct pe_kind *kind = pe_kind_at(i);
        const json_t *entry = json_array_get(json_object_get(answer, "encodings"), i);
        const json_t *endpoints = json_object_get(entry, "endpoints");
        size_t listed = 0;
        for (size_t path = 0; path < paths_n; path++) {
            listed += is_listed(endpoints, paths[path]);
            cr_expect_eq(is_listed(endpoints, paths[path]), is_answered(paths[path], kind),
                         "%s of %s", paths[path], kind->name);
        }
        cr_expect_eq(json_array_size(endpoints), listed, "%s has others, too", kind->name);
    }
    json_decref(answer);
}

Test(catalogue, positions_end_where_they_end)
{
    static const struct {
        const char *kind;
        json_int_t end; /* 0: nowhere */
    } rows[] = {
        {"one_hot", 64}, {"haar", 64},      {"swin", 49}, {"learned", 2048},
        {"rope", 0},     {"sinusoidal", 0}, {"t5", 0},    {"rope2d", 0},
        {"none", 0},     {"integer", 0},    {"shaw", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        char target[64];
        snprintf(target, sizeof target, "/v1/encodings/%s", rows[i].kind);
        call(&request, "GET", target, NULL);
        json_t *entry = call_json(&request);
        const json_t *end = json_object_get(entry, "positions_end");
        cr_expect(rows[i].end ? json_is_integer(end) : json_is_null(end), "%s", rows[i].kind);
        cr_expect_eq(json_integer_value(end), rows[i].end, "%s", rows[i].kind);
        json_decref(entry);
        call_end(&request);
    }
}
