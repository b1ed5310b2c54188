// SPDX-License-Identifier: Apache-2.0
/* test_schema.c: parameter rows as JSON Schema, on rows made for the purpose. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "schema.h"
#include "write.h"

static void expect_schema(const struct pe_param *row, enum schema_place place, const char *expected)
{
    struct arena arena;
    struct buf out;
    arena_init(&arena, 1 << 20);
    buf_init(&out, 1 << 20);
    struct tree *root = tree_new(&arena, TREE_OBJECT);
    schema_param(root, row->name, row, place);
    cr_assert(tree_ok(root));
    json_write_tree(&out, root->first);
    cr_expect(out.len == strlen(expected) && memcmp(out.data, expected, out.len) == 0,
              "got %.*s\nexpected %s", (int)out.len, out.data, expected);
    buf_release(&out);
    arena_release(&arena);
}

Test(schema, one_parameter)
{
    static const struct {
        struct pe_param row;
        enum schema_place place;
        const char *expected;
    } rows[] = {
        {{"dim", "d head_dim", PE_INT, 2, 65536, 2, 0, "64", NULL, NULL, "Width."},
         SCHEMA_BODY,
         "{\"type\":\"integer\",\"minimum\":2,\"maximum\":65536,\"multipleOf\":2,\"default\":64,"
         "\"description\":\"Width.\",\"x-aliases\":[\"d\",\"head_dim\"]}"},
        {{"base", NULL, PE_REAL, 1, INFINITY, 0, PE_OPEN_MIN, "1e4", NULL, NULL, "Base."},
         SCHEMA_BODY,
         "{\"type\":\"number\",\"exclusiveMinimum\":1,\"default\":10000,"
         "\"description\":\"Base.\"}"},
        {{"width", NULL, PE_INT, -INFINITY, 8, 1, 0, "@dim", NULL, NULL, "As dim."},
         SCHEMA_BODY,
         "{\"type\":\"integer\",\"maximum\":8,\"x-default-from\":\"dim\","
         "\"description\":\"As dim.\"}"},
        {{"truncate", NULL, PE_BOOL, 0, 0, 0, 0, "true", NULL, "scaling=yarn", "Cut."},
         SCHEMA_BODY,
         "{\"type\":\"boolean\",\"default\":true,\"description\":\"Cut.\","
         "\"x-when\":\"scaling=yarn\"}"},
        {{"terms", NULL, PE_BOOL, 0, 0, 0, 0, "0", NULL, NULL, "Terms."},
         SCHEMA_QUERY,
         "{\"type\":\"boolean\",\"default\":false,\"description\":\"Terms.\"}"},
        {{"layout", NULL, PE_ENUM, 0, 0, 0, 0, "interleaved", "interleaved|gptj half|neox|halves x",
          NULL, "Pairs."},
         SCHEMA_BODY,
         "{\"type\":\"string\",\"enum\":[\"interleaved\",\"half\",\"x\"],"
         "\"default\":\"interleaved\",\"description\":\"Pairs.\","
         "\"x-choice-aliases\":{\"interleaved\":[\"gptj\"],\"half\":[\"neox\",\"halves\"]}}"},
        {{"slopes", NULL, PE_REALS, 0, 10, 0, PE_OPTIONAL, NULL, NULL, NULL, "One each."},
         SCHEMA_BODY,
         "{\"type\":\"array\",\"items\":{\"type\":\"number\",\"minimum\":0,\"maximum\":10},"
         "\"description\":\"One each.\"}"},
        {{"positions", NULL, PE_TEXT, 0, 0, 0, 0, "0:32", NULL, NULL, "Where."},
         SCHEMA_QUERY,
         "{\"type\":\"string\",\"default\":\"0:32\",\"description\":\"Where.\"}"},
        {{"positions", NULL, PE_TEXT, 0, 0, 0, 0, "0:32", NULL, NULL, "Where."},
         SCHEMA_BODY,
         "{\"type\":[\"string\",\"number\",\"array\",\"object\"],\"default\":\"0:32\","
         "\"description\":\"Where.\"}"},
        {{"positions", NULL, PE_TEXT, 0, 0, 0, 0, "0:32", NULL, NULL, "Where."},
         SCHEMA_ANSWER,
         "{\"type\":[\"string\",\"array\"]}"},
        {{"scale", NULL, PE_TEXT, 0, 0, 0, PE_SCALAR, "none", NULL, NULL, "Scale."},
         SCHEMA_ANSWER,
         "{\"type\":[\"string\",\"number\"]}"},
        {{"layout", "order", PE_ENUM, 0, 0, 0, 0, "a", "a|x b", NULL, "Pairs."},
         SCHEMA_ANSWER,
         "{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_schema(&rows[i].row, rows[i].place, rows[i].expected);
}

Test(schema, one_kind)
{
    static const struct pe_param params[] = {
        {"dim", NULL, PE_INT, 1, 9, 0, 0, NULL, NULL, NULL, "Dim."},
        {"scaling", NULL, PE_ENUM, 0, 0, 0, 0, "none", "none linear ntk", NULL, "Scaling."},
        {"factor", NULL, PE_REAL, 1, 9, 0, 0, NULL, NULL, "scaling=linear|ntk", "Factor."},
        {"maybe", NULL, PE_REAL, 1, 9, 0, PE_OPTIONAL, NULL, NULL, NULL, "Maybe."},
    };
    static const struct pe_kind kind = {
        .name = "made", .title = "Made up", .params = params, .params_n = 4};
    static const char expected[] =
        "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"Made up\","
        "\"type\":\"object\",\"properties\":{\"kind\":{\"const\":\"made\"},"
        "\"dim\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9,\"description\":\"Dim.\"},"
        "\"scaling\":{\"type\":\"string\",\"enum\":[\"none\",\"linear\",\"ntk\"],"
        "\"default\":\"none\",\"description\":\"Scaling.\"},"
        "\"factor\":{\"type\":\"number\",\"minimum\":1,\"maximum\":9,\"description\":\"Factor.\","
        "\"x-when\":\"scaling=linear|ntk\"},"
        "\"maybe\":{\"type\":\"number\",\"minimum\":1,\"maximum\":9,\"description\":\"Maybe.\"}},"
        "\"required\":[\"kind\",\"dim\"],\"additionalProperties\":false,"
        "\"allOf\":[{\"if\":{\"properties\":{\"scaling\":{\"enum\":[\"linear\",\"ntk\"]}},"
        "\"required\":[\"scaling\"]},\"then\":{\"required\":[\"factor\"]}}]}";
    struct arena arena;
    struct buf out;
    arena_init(&arena, 1 << 20);
    buf_init(&out, 1 << 20);
    struct tree *root = tree_new(&arena, TREE_ARRAY);
    schema_kind(root, NULL, &kind, true);
    json_write_tree(&out, root->first);
    cr_expect(out.len == sizeof expected - 1 && memcmp(out.data, expected, out.len) == 0, "%.*s",
              (int)out.len, out.data);
    buf_release(&out);
    arena_release(&arena);
}

Test(schema, want_of_memory_is_noticed)
{
    for (size_t bytes = 0; bytes < 20000; bytes += 64) {
        struct arena arena;
        arena_init(&arena, bytes);
        struct tree *root = tree_new(&arena, TREE_ARRAY);
        for (size_t i = 0; i < pe_kinds_n(); i++)
            schema_kind(root, NULL, pe_kind_at(i), true);
        cr_expect(!tree_ok(root), "%zu bytes are enough?", bytes);
        arena_release(&arena);
    }
}
