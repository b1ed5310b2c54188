// SPDX-License-Identifier: Apache-2.0
/*
 * test_doc.c: whole bodies: the JSON test suite, names given twice, the limits on what jansson gets
 * to see and may allocate.
 */
#include "doc.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>

#include "reading.h"

/* ---- The JSON test suite -------------------------------------------------------------------- */

#define SUITE "tests/data/json-test-suite"

/* Valid JSON that is refused on purpose. */
static const char *const refused_on_purpose[] = {
    "y_object_duplicated_key.json",           /* a name twice: which value is meant? */
    "y_object_duplicated_key_and_value.json", /* the same */
    "y_object_escaped_null_in_key.json",      /* U+0000 would end a C string */
    "y_string_null_escape.json",              /* the same */
};

static bool is_refused_on_purpose(const char *name)
{
    for (size_t i = 0; i < sizeof refused_on_purpose / sizeof refused_on_purpose[0]; i++)
        if (strcmp(name, refused_on_purpose[i]) == 0)
            return true;
    return false;
}

/* Whether the suite (and, where it leaves the choice, this service) accepts the file: numbers of
 * any size are accepted inside arrays; strings must be UTF-8 and surrogates come in pairs. */
static bool is_accepted(const char *name)
{
    if (name[0] == 'i')
        return strncmp(name, "i_number_", 9) == 0;
    return name[0] == 'y' && !is_refused_on_purpose(name);
}

static size_t read_file(const char *name, char **out)
{
    char path[512];
    snprintf(path, sizeof path, SUITE "/%s", name);
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    *out = malloc(1 << 20);
    size_t len = fread(*out, 1, 1 << 20, file);
    fclose(file);
    return len;
}

/* Every lifted array as a tensor of every dtype: must not crash, and errors must name a place. */
static void read_arrays(const struct reading *reading, const char *name)
{
    for (size_t i = 0; i < reading->doc.arrays_n; i++) {
        const struct json_array *array = &reading->doc.arrays[i];
        for (int dtype = 0; dtype < PE_DTYPES_N && !array->fault; dtype++) {
            void *out = malloc(array->count * 8 + 1);
            struct err err = {0};
            bool ok = json_array_read(array, dtype, out, &err);
            cr_assert_eq(ok, err.n == 0, "%s", name);
            if (!ok)
                cr_assert_eq(err.item[0].code, ERR_invalid_value, "%s", name);
            free(out);
        }
    }
}

/* The file as a whole body, or as the value of a member. */
static void check_suite_body(const char *name, const char *before, const char *after)
{
    char *text, *body;
    size_t len = read_file(name, &text), before_len = strlen(before), after_len = strlen(after);
    body = malloc(before_len + len + after_len);
    memcpy(body, before, before_len);
    memcpy(body + before_len, text, len);
    memcpy(body + before_len + len, after, after_len);
    struct reading reading;
    reading_of(&reading, body, before_len + len + after_len);
    cr_assert_eq(reading.ok, is_accepted(name), "%s%s%s: %s", before, name, after,
                 reading.ok ? "accepted" : reading.err.item[0].detail);
    if (!reading.ok) {
        cr_assert_eq(reading.err.item[0].code, ERR_malformed_json, "%s", name);
        cr_assert_gt(reading.err.item[0].line, 0, "%s", name);
        cr_assert_gt(reading.err.item[0].column, 0, "%s", name);
    }
    read_arrays(&reading, name);
    reading_release(&reading);
    free(body);
    free(text);
}

Test(doc, json_test_suite)
{
    size_t counts[256] = {0};
    DIR *folder = opendir(SUITE);
    cr_assert_not_null(folder, "run from the top of the repository");
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!strstr(entry->d_name, ".json"))
            continue;
        counts[(unsigned char)entry->d_name[0]]++;
        check_suite_body(entry->d_name, "", "");
        check_suite_body(entry->d_name, "{\"spec\":{},\"x\":", "}");
        check_suite_body(entry->d_name, "[null,{\"y\":", "}]");
        if (!is_refused_on_purpose(entry->d_name)) /* jansson does not see what is lifted */
            check_suite_body(entry->d_name, "[[0.5],{\"y\":", "}]");
    }
    closedir(folder);
    cr_assert(counts['y'] == 95 && counts['n'] == 188 && counts['i'] == 35, "files are missing");
}

/* ---- Names given twice ---------------------------------------------------------------------- */

static const struct {
    const char *body;
    size_t line, column;
    const char *name;
} twice[] = {
    {"{\"a\":1,\"a\":1}", 1, 8, "\"a\""},
    {"{\"a\":1,\"b\":2,\n \"a\" : 3}", 2, 2, "\"a\""},
    {"{\"x\":[1,2,3,4,5,6],\"x\":[7]}", 1, 20, "\"x\""},
    {"{\"x\":[],\n\"y\":[[1,2],[3,4]], \"z\":\"[1]\", \"y\":0}", 2, 31, "\"y\""},
    {"{\"spec\":{\"dim\":4,\n  \"dim\":[8]}}", 2, 3, "\"dim\""},
    {"[null,{\"a\":[1e300],\"b\":[1],\"b\":[2]}]", 1, 28, "\"b\""},
    {"{\"\xe2\x82\xac\":1, \"\xe2\x82\xac\":2}", 1, 9, "\"\xe2\x82\xac\""},
    {"{\"a\":1,\"\\u0061\":2}", 1, 8, "\"\\u0061\""},
    {"{\"q\\\"\\\\\":1,\"q\\\"\\\\\":2}", 1, 12, "\"q\\\"\\\\\""},
    {"{\"\":1,\"\":2}", 1, 7, "\"\""},
};

Test(doc, refuses_a_name_given_twice)
{
    for (size_t i = 0; i < sizeof twice / sizeof twice[0]; i++) {
        struct reading reading;
        reading_of(&reading, twice[i].body, strlen(twice[i].body));
        cr_assert_not(reading.ok, "%s", twice[i].body);
        const struct err_item *item = &reading.err.item[0];
        char wanted[200];
        snprintf(wanted, sizeof wanted, "the member %s stands twice in one object", twice[i].name);
        cr_assert_eq(item->code, ERR_malformed_json);
        cr_assert_str_eq(item->detail, wanted);
        cr_assert(item->line == twice[i].line && item->column == twice[i].column, "%s: at %zu:%zu",
                  twice[i].body, item->line, item->column);
        reading_release(&reading);
    }
}

Test(doc, shortens_a_long_name_given_twice)
{
    char body[1000], name[301];
    memset(name, 'k', 300);
    name[300] = '\0';
    snprintf(body, sizeof body, "{\"%s\":1,\"%s\":2}", name, name);
    struct reading reading;
    reading_of(&reading, body, strlen(body));
    cr_assert_not(reading.ok);
    char wanted[200];
    snprintf(wanted, sizeof wanted, "the member \"%.59s... stands twice in one object", name);
    cr_assert_str_eq(reading.err.item[0].detail, wanted);
    cr_assert_eq(reading.err.item[0].column, 2 + 302 + 3);
    reading_release(&reading);
}

/* ---- Limits --------------------------------------------------------------------------------- */

/* What jansson holds now, and held at most; it allocates through the fence underneath. */
static size_t held, held_most;
static json_malloc_t fenced_malloc;
static json_free_t fenced_free;

static void *counting_malloc(size_t size)
{
    void *at = fenced_malloc(size);
    held += at ? malloc_usable_size(at) : 0;
    held_most = held > held_most ? held : held_most;
    return at;
}

static void counting_free(void *at)
{
    held -= at ? malloc_usable_size(at) : 0;
    fenced_free(at);
}

/* [unit,unit,...] of about `bytes` bytes; %d in the unit is its number. */
static size_t repeated(char *out, const char *unit, size_t bytes)
{
    size_t len = 0;
    out[len++] = '[';
    for (int i = 0; len < bytes; i++) {
        out[len] = ',';
        len += i > 0;
        char text[100];
        snprintf(text, sizeof text, unit, i); /* NOLINT: units are constants below */
        memcpy(out + len, text, strlen(text));
        len += strlen(text);
    }
    out[len++] = ']';
    return len;
}

/* Bodies that make jansson allocate up to 79 times their size (reliability.md 2.2), as they are, in
 * an object, and as small as fits into the envelope. */
Test(doc, bounds_what_jansson_allocates)
{
    static const char *const units[] = {
        "1",
        "0.5",
        "0.12345678901234567",
        "[]",
        "{}",
        "{\"a\":1}",
        "\"\"",
        "{\"k%d\":null}",
        "null",
        "[\"\"]",
        "[[],\"\"]",
        "[null]",
        "true",
        "\"NaN\"",
        "[{}]",
    };
    static const size_t sizes[] = {1000, 30000, JSON_ENVELOPE_MAX - 100, 1 << 20};
    json_doc_setup();
    json_get_alloc_funcs(&fenced_malloc, &fenced_free);
    json_set_alloc_funcs(counting_malloc, counting_free);
    char *body = malloc((1 << 20) + 200);
    size_t refused = 0;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            size_t len = repeated(body, units[i], sizes[k]);
            struct arena arena;
            struct err err = {0};
            struct json_doc doc;
            arena_init(&arena, 1 << 20);
            held_most = 0;
            bool ok = json_doc_read(&doc, body, len, &arena, &err);
            cr_assert_leq(held_most, JSON_MEMORY_MAX + 64, "%s, %zu bytes: %zu", units[i], len,
                          held_most);
            cr_assert(ok || err.item[0].code == ERR_limit_exceeded, "%s: %s", units[i],
                      err.item[0].detail);
            cr_assert(ok || err.limit > 0);
            cr_assert(ok || k > 0, "a small body is read: %s", units[i]);
            refused += !ok;
            if (ok)
                json_doc_release(&doc);
            cr_assert_eq(held, 0, "%s: %zu bytes leak", units[i], held);
            arena_release(&arena);
        }
    cr_assert_gt(refused, 10, "%zu bodies were refused", refused);
    free(body);
}

Test(doc, says_which_limit)
{
    char *body = malloc(1 << 20);
    struct reading reading;
    size_t len = repeated(body, "{}", JSON_ENVELOPE_MAX - 100);
    reading_of(&reading, body, len);
    cr_assert_eq(reading.err.item[0].code, ERR_limit_exceeded);
    cr_assert_str_eq(reading.err.item[0].detail, "the body has so many small values that they need "
                                                 "more than 4194304 bytes of memory");
    cr_assert_eq(reading.err.limit, JSON_MEMORY_MAX);
    reading_release(&reading);
    len = repeated(body, "{}", JSON_ENVELOPE_MAX + 1);
    reading_of(&reading, body, len);
    cr_assert_eq(reading.err.item[0].code, ERR_limit_exceeded);
    cr_assert_str_eq(reading.err.item[0].detail,
                     "the body has more than 65536 bytes that are not arrays of numbers");
    cr_assert_eq(reading.err.limit, JSON_ENVELOPE_MAX);
    reading_release(&reading);
    free(body);
}

/* Fills `out` with before, `n` times c, after; returns the length. */
static size_t padded(char *out, const char *before, char c, size_t n, const char *after)
{
    size_t before_len = strlen(before);
    memcpy(out, before, before_len);
    memset(out + before_len, c, n);
    memcpy(out + before_len + n, after, strlen(after));
    return before_len + n + strlen(after);
}

Test(doc, the_envelope_has_its_exact_limit)
{
    static const struct {
        const char *before;
        char c;
        const char *after;
        size_t counted; /* bytes of before and after that stay in the envelope */
    } rows[] = {{"\"", 'x', "\"", 2},
                {"{\"x\":[1,2,3],\"txt\":\"", 'A', "\"}", 19},
                {"{\"x\":[1,2,3],\"a\":1}", ' ', "", 16},
                {" ", '\n', "{\"a\":1}", 8},
                {"{\"a\":1,\"x\":", ' ', "[1,2,3]}", 11 + 4 + 1}};
    char *body = malloc(JSON_ENVELOPE_MAX + 200);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t over = 0; over < 20; over += 1 + over / 2) {
            size_t n = JSON_ENVELOPE_MAX - rows[i].counted + over;
            size_t len = padded(body, rows[i].before, rows[i].c, n, rows[i].after);
            struct reading reading;
            reading_of(&reading, body, len);
            cr_assert_eq(reading.ok, over == 0, "row %zu, %zu bytes over: %s", i, over,
                         reading.err.item[0].detail);
            cr_assert(reading.ok || reading.err.limit == (double)JSON_ENVELOPE_MAX, "row %zu", i);
            reading_release(&reading);
        }
    free(body);
}

Test(doc, arrays_may_be_large)
{
    char *body = malloc(3 << 20);
    memcpy(body, "{\"dim\":4,\"x\":", 13);
    size_t len = 13 + repeated(body + 13, "[0.25,-%d]", 2 << 20);
    body[len++] = '}';
    struct reading reading;
    reading_of(&reading, body, len);
    cr_assert(reading.ok, "%s", reading.err.item[0].detail);
    const struct json_array *x = json_doc_array(&reading.doc, "/x");
    cr_assert_null(x->fault);
    cr_assert(x->rank == 2 && x->shape[1] == 2 && x->shape[0] > 100000);
    cr_assert_eq(x->count, 2 * x->shape[0]);
    cr_assert_leq(reading.arena.bytes, 64 << 10, "nothing is copied");
    reading_release(&reading);
    free(body);
}

/* With every cap of the arena up to enough: refused as over a limit, or read, and nothing leaks. */
Test(doc, survives_an_arena_of_any_size)
{
    static const char body[] = "{\"a\":[[1],[2,3]],\"b\":[9007199254740993],\"c\":[1],\"d\":[2],"
                               "\"e\":[[],[]],\"f\":[3,null]}";
    json_doc_setup();
    size_t refused = 0, cap = 0;
    for (bool ok = false; !ok; cap++) {
        struct arena arena;
        struct err err = {0};
        struct json_doc doc;
        arena_init(&arena, cap);
        ok = json_doc_read(&doc, body, strlen(body), &arena, &err);
        if (ok) {
            cr_assert_eq(doc.arrays_n, 6);
            json_doc_release(&doc);
        } else {
            refused++;
            cr_assert_eq(err.item[0].code, ERR_limit_exceeded, "cap %zu", cap);
        }
        arena_release(&arena);
    }
    cr_assert(refused > 500 && cap < 20000, "%zu refused", refused);
}

Test(doc, any_value_may_be_the_root)
{
    static const char *const bodies[] = {"null", "true", "\"a\"", "-1", "0.5", "{}", "[\"a\"]"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct reading reading;
        reading_of(&reading, bodies[i], strlen(bodies[i]));
        cr_assert(reading.ok, "%s", bodies[i]);
        char *envelope = reading_envelope(&reading);
        cr_assert_str_eq(envelope, bodies[i]);
        free(envelope);
        reading_release(&reading);
    }
    struct json_doc never_read = {.root = NULL};
    json_doc_release(&never_read);
    cr_assert_null(json_doc_array(&never_read, ""));
}
