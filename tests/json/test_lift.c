// SPDX-License-Identifier: Apache-2.0
/* test_lift.c: which arrays are numeric, their shapes, their faults, and what they leave behind. */
#include "reading.h"

/* Prints an array as the tables below write it: pointer:shape, then what is noted of it. */
static void describe(const struct json_array *array, struct arena *arena, char *out)
{
    char *at = out + sprintf(out, "%s:", array->pointer);
    if (array->b64) {
        size_t len;
        const char *text = json_b64_text(array, arena, &len);
        sprintf(at, "b64 %.*s", (int)len, text);
        return;
    }
    for (size_t axis = 0; axis < array->rank && !array->fault; axis++)
        at += sprintf(at, "%s%zu", axis ? "x" : "", array->shape[axis]);
    if (array->fault)
        at += sprintf(at, "fault at %s, %s", array->fault, array->fault_says);
    if (array->integers)
        at += sprintf(at, " integers");
    if (array->inexact)
        sprintf(at, " inexact at %s", array->inexact);
}

static const struct {
    const char *body, *envelope, *arrays[4];
} rows[] = {
    /* Shapes. */
    {"[]", "null", {":0 integers"}},
    {"[ 1 ]", "null", {":1 integers"}},
    {"[1,2,3]", "null", {":3 integers"}},
    {"[[1,2,3],[4,5,6]]", "null", {":2x3 integers"}},
    {"[[[1],[2]],[[3],[4]],[[5],[6]]]", "null", {":3x2x1 integers"}},
    {"[[],[]]", "null", {":2x0 integers"}},
    {"[[[]],[[]],[[]]]", "null", {":3x1x0 integers"}},
    {"[ [ 0.5 ,\n\t1 ] ,\r\n[ 2 , 3 ] ]", "null", {":2x2"}},
    {"[[[[[[[[1]]]]]]]]", "null", {":1x1x1x1x1x1x1x1 integers"}},
    /* What counts as a number. */
    {"[\"NaN\",\"Infinity\",\"-Infinity\",1]", "null", {":4"}},
    {"[1,\"NaN\"]", "null", {":2"}},
    {"[1,2.0]", "null", {":2"}},
    {"[1,2e0]", "null", {":2"}},
    {"[9007199254740992,9007199254740993,9007199254740994]", "null", {":3 integers inexact at /1"}},
    {"[[0],[-9007199254740993]]", "null", {":2x1 integers inexact at /1/0"}},
    {"[9007199254740993.0,1e300]", "null", {":2"}},
    /* Where they stand in the body. */
    {"{\"x\":[[1,2]],\"dim\":4,\"y\":{\"data\":[3]}}",
     "{\"x\":null,\"dim\":4,\"y\":{\"data\":null}}",
     {"/x:1x2 integers", "/y/data:1 integers"}},
    {"[null,[1],\"a\",[[2]]]", "[null,null,\"a\",null]", {"/1:1 integers", "/3:1x1 integers"}},
    {"{\"a\":[{\"b\":[1]},{\"b\":[2,3]}]}",
     "{\"a\":[{\"b\":null},{\"b\":null}]}",
     {"/a/0/b:1 integers", "/a/1/b:2 integers"}},
    /* Base64 is lifted where it is a tensor's. */
    {"{\"x\":{\"b64\":\"AAAA\",\"dtype\":\"f32\"},\"b\":[1]}",
     "{\"x\":{\"b64\":null,\"dtype\":\"f32\"},\"b\":null}",
     {"/x/b64:b64 AAAA", "/b:1 integers"}},
    {"{\"b64\":\"A\\/\\u002b=\\u00e4\"}", "{\"b64\":null}", {"/b64:b64 A/+=?"}},
    {"{\"b64\":\"\"}", "{\"b64\":null}", {"/b64:b64 "}},
    {"{\"b64\":[\"AAAA\"],\"b6\":\"A\"}", "{\"b64\":[\"AAAA\"],\"b6\":\"A\"}", {NULL}},
    {"[\"b64\",\"AAAA\"]", "[\"b64\",\"AAAA\"]", {NULL}},
    {"[1,{\"b64\":\"AAAA\"}]",
     "null",
     {":fault at /1, an object where there should be a number integers"}},
    /* Not numeric: the first leaf is something else. */
    {"[\"nan\"]", "[\"nan\"]", {NULL}},
    {"[\"0:3\",1]", "[\"0:3\",1]", {NULL}},
    {"[true,1,[2]]", "[true,1,null]", {"/2:1 integers"}},
    {"[[null,1],[2]]", "[[null,1],null]", {"/1:1 integers"}},
    {"[{},1]", "[{},1]", {NULL}},
    /* Rows without a leaf in front of one. */
    {"[[],\"x\"]", "[null,\"x\"]", {"/0:0 integers"}},
    {"[[[],[[]]],{\"a\":[]}]",
     "[null,{\"a\":null}]",
     {"/0:fault at /0/1/0, a row where there should be a number integers", "/1/a:0 integers"}},
    {"[[[]],[[],\"x\"],[1]]",
     "[null,[null,\"x\"],null]",
     {"/0:1x0 integers", "/1/0:0 integers", "/2:1 integers"}},
    /* Faults. */
    {"[[1,2],[3]]",
     "null",
     {":fault at /1, a row of length 1 where the first has length 2 integers"}},
    {"[[1],[2,3],[4,5,6]]",
     "null",
     {":fault at /1, a row of length 2 where the first has length 1 integers"}},
    {"[[[1],[2]],[[3]]]",
     "null",
     {":fault at /1, a row of length 1 where the first has length 2 integers"}},
    {"[[1],[]]", "null", {":fault at /1, a row of length 0 where the first has length 1 integers"}},
    {"[[],[1]]", "null", {":fault at /1, a row of length 1 where the first has length 0 integers"}},
    {"[[],[[]]]", "null", {":fault at /1/0, a row where there should be a number integers"}},
    {"[[[]],[]]",
     "null",
     {":fault at /1, a row of length 0 where the first has length 1 integers"}},
    {"[[1],2]", "null", {":fault at /1, a number where there should be a row integers"}},
    {"[1,[2]]", "null", {":fault at /1, a row where there should be a number integers"}},
    {"[1,[]]", "null", {":fault at /1, a row where there should be a number integers"}},
    {"[[[1]],[2]]", "null", {":fault at /1/0, a number where there should be a row integers"}},
    {"[1,\"two\",3]", "null", {":fault at /1, a string where there should be a number integers"}},
    {"[[1],\"two\"]", "null", {":fault at /1, a string where there should be a number integers"}},
    {"[[1],[\"nan\"]]",
     "null",
     {":fault at /1/0, a string where there should be a number integers"}},
    {"[1,{\"a\":[2,{\"b\":\"c\"}],\"d\":3},4]",
     "null",
     {":fault at /1, an object where there should be a number integers"}},
    {"[0.5,null]", "null", {":fault at /1, true, false or null where there should be a number"}},
    {"{\"x\":{\"data\":[[1,2],[3,true]]}}",
     "{\"x\":{\"data\":null}}",
     {"/x/data:fault at /x/data/1/1, true, false or null where there should be a number integers"}},
    {"[[[[[[[[[1]]]]]]]]]",
     "null",
     {":fault at /0/0/0/0/0/0/0/0, an axis beyond the eighth, which is the last allowed integers"}},
};

Test(lift, finds_numeric_arrays)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct reading reading;
        reading_of(&reading, rows[i].body, strlen(rows[i].body));
        cr_assert(reading.ok, "%s: %s", rows[i].body, reading.err.item[0].detail);
        char *envelope = reading_envelope(&reading);
        cr_assert_str_eq(envelope, rows[i].envelope, "%s: envelope %s", rows[i].body, envelope);
        free(envelope);
        size_t wanted_n = 0;
        while (wanted_n < 4 && rows[i].arrays[wanted_n])
            wanted_n++;
        cr_assert_eq(reading.doc.arrays_n, wanted_n, "%s: %zu arrays", rows[i].body,
                     reading.doc.arrays_n);
        for (size_t k = 0; k < wanted_n; k++) {
            char text[500];
            describe(&reading.doc.arrays[k], &reading.arena, text);
            cr_assert_str_eq(text, rows[i].arrays[k], "%s: %s", rows[i].body, text);
        }
        reading_release(&reading);
    }
}

Test(lift, notes_text_and_count)
{
    static const char body[] = "{\"x\": [[1, 2] ,[3,4 ] ] , \"y\":[]}";
    struct reading reading;
    reading_of(&reading, body, strlen(body));
    const struct json_array *x = json_doc_array(&reading.doc, "/x");
    cr_assert_eq(x->text, reading.body + 6);
    cr_assert_eq(x->len, strlen("[[1, 2] ,[3,4 ] ]"));
    cr_assert_eq(x->count, 4);
    const struct json_array *y = json_doc_array(&reading.doc, "/y");
    cr_assert_eq(y->len, 2);
    cr_assert_eq(y->count, 0);
    reading_release(&reading);
}

/* All shapes up to rank 4 with lengths 0..3, printed and read back. */
static size_t print_nested(char *out, const size_t *shape, size_t rank)
{
    size_t len = 0;
    out[len++] = '[';
    for (size_t i = 0; i < shape[0]; i++) {
        len += (size_t)sprintf(out + len, "%s", i ? ", " : "");
        len += rank > 1 ? print_nested(out + len, shape + 1, rank - 1)
                        : (size_t)sprintf(out + len, "%zu", i);
    }
    out[len++] = ']';
    return len;
}

Test(lift, reads_every_small_shape)
{
    char body[4000];
    for (size_t rank = 1; rank <= 4; rank++)
        for (size_t number = 0; number < (size_t)1 << (2 * rank); number++) {
            size_t shape[4], count = 1, seen = rank;
            for (size_t axis = 0; axis < rank; axis++) {
                shape[axis] = number >> (2 * axis) & 3;
                count *= shape[axis];
                if (shape[axis] == 0 && seen == rank)
                    seen = axis + 1; /* no brackets are left to show the axes behind it */
            }
            size_t len = print_nested(body, shape, rank);
            struct reading reading;
            reading_of(&reading, body, len);
            cr_assert(reading.ok && reading.doc.arrays_n == 1, "%.*s", (int)len, body);
            const struct json_array *array = &reading.doc.arrays[0];
            cr_assert_null(array->fault, "%.*s", (int)len, body);
            cr_assert_eq(array->rank, seen, "%.*s", (int)len, body);
            cr_assert_arr_eq(array->shape, shape, seen * sizeof shape[0]);
            cr_assert_eq(array->count, count, "%.*s", (int)len, body);
            reading_release(&reading);
        }
}

Test(lift, keeps_its_limit_of_arrays)
{
    for (size_t n = JSON_ARRAYS_MAX - 1; n <= JSON_ARRAYS_MAX + 1; n++) {
        char body[20 * (JSON_ARRAYS_MAX + 2)];
        size_t len = (size_t)sprintf(body, "[null");
        for (size_t i = 0; i < n; i++)
            len += (size_t)sprintf(body + len, ",[%zu]", i);
        body[len++] = ']';
        struct reading reading;
        reading_of(&reading, body, len);
        cr_assert_eq(reading.ok, n <= JSON_ARRAYS_MAX, "%zu arrays", n);
        if (reading.ok) {
            cr_assert_eq(reading.doc.arrays_n, n);
            for (size_t i = 0; i < n; i++)
                cr_assert_eq(strtoul(reading.doc.arrays[i].text + 1, NULL, 10), i);
        } else {
            cr_assert_eq(reading.err.item[0].code, ERR_limit_exceeded);
            cr_assert_str_eq(reading.err.item[0].detail,
                             "the body has more than 256 arrays of numbers");
            cr_assert_eq(reading.err.limit, JSON_ARRAYS_MAX);
        }
        reading_release(&reading);
    }
}

/* A fault in each of very many rows must not cost memory for each. */
Test(lift, remembers_only_the_first_fault)
{
    size_t rows_n = 200000, len = 0;
    char *body = malloc(8 * rows_n);
    len += (size_t)sprintf(body, "[[1]");
    for (size_t i = 0; i < rows_n; i++)
        len += (size_t)sprintf(body + len, i % 2 ? ",[1,2]" : ",[]");
    body[len++] = ']';
    struct reading reading;
    reading_of(&reading, body, len);
    cr_assert(reading.ok);
    cr_assert_str_eq(reading.doc.arrays[0].fault, "/1");
    cr_assert_leq(reading.arena.bytes, 32 << 10);
    reading_release(&reading);
    free(body);
}

/* Tensors do not count as envelope, in whichever form. */
Test(lift, base64_of_any_length)
{
    size_t n = 2 * JSON_ENVELOPE_MAX;
    char *body = malloc(n + 100);
    int start = sprintf(body, "{\"x\":{\"b64\":\"");
    memset(body + start, 'A', n);
    size_t len = (size_t)start + n + (size_t)sprintf(body + start + n, "\"},\"y\":1}");
    struct reading reading;
    reading_of(&reading, body, len);
    cr_assert(reading.ok, "%s", reading.err.item[0].detail);
    size_t text_len;
    const struct json_array *b64 = json_doc_b64(&reading.doc, "/x/b64");
    cr_assert(b64 && json_b64_text(b64, &reading.arena, &text_len));
    cr_expect_eq(text_len, n);
    char *envelope = reading_envelope(&reading);
    cr_expect_str_eq(envelope, "{\"x\":{\"b64\":null},\"y\":1}");
    free(envelope);
    reading_release(&reading);
    free(body);
}
