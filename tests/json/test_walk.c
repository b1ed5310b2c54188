// SPDX-License-Identifier: Apache-2.0
/* test_walk.c: what is said of a malformed body, and where; JSON pointers; limits of nesting. */
#include "walk.h"

#include "reading.h"

#define BODY(text) (text), sizeof(text) - 1

static const struct {
    const char *body;
    size_t len, line, column;
    const char *says;
} malformed[] = {
    /* No value, or too much. */
    {BODY(""), 1, 1, "expected a JSON value, got the end of the body"},
    {BODY(" \n "), 2, 2, "expected a JSON value, got the end of the body"},
    {BODY("{} {}"), 1, 4, "expected nothing after the JSON value, got '{'"},
    {BODY("1 2"), 1, 3, "expected nothing after the JSON value, got '2'"},
    {BODY("[1]]"), 1, 4, "expected nothing after the JSON value, got ']'"},
    {BODY("\xef\xbb\xbf{}"), 1, 1, "expected a JSON value, got a byte order mark"},
    /* Objects. */
    {BODY("{"), 1, 2, "expected a member's name in double quotes or '}', got the end of the body"},
    {BODY("{kind:1}"), 1, 2, "expected a member's name in double quotes or '}', got 'kind'"},
    {BODY("{'kind':1}"), 1, 2,
     "expected a member's name in double quotes or '}', got '''; strings stand in double quotes"},
    {BODY("{\"a\":1,}"), 1, 8, "expected a member's name in double quotes after ',', got '}'"},
    {BODY("{\"a\" 1}"), 1, 6, "expected ':' after a member's name, got '1'"},
    {BODY("{\"a\"::1}"), 1, 6, "expected a value after ':', got ':'"},
    {BODY("{\"a\":}"), 1, 6, "expected a value after ':', got '}'"},
    {BODY("{\"a\":1 \"b\":2}"), 1, 8, "expected ',' or '}' after an object member, got '\"'"},
    {BODY("{\"a\":1]"), 1, 7, "expected ',' or '}' after an object member, got ']'"},
    {BODY("{\n \"a\": 1\n"), 3, 1,
     "expected ',' or '}' after an object member, got the end of the body"},
    /* Arrays, of numbers and others. */
    {BODY("["), 1, 2, "expected a value or ']' after '[', got the end of the body"},
    {BODY("[,1]"), 1, 2, "expected a value or ']' after '[', got ','"},
    {BODY("[1,]"), 1, 4, "expected a value after ',', got ']'"},
    {BODY("[1,2,3,]"), 1, 8, "expected a value after ',', got ']'"},
    {BODY("[1,,2]"), 1, 4, "expected a value after ',', got ','"},
    {BODY("[\"a\",]"), 1, 6, "expected a value after ',', got ']'"},
    {BODY("[1 2]"), 1, 4, "expected ',' or ']' after an array element, got '2'"},
    {BODY("[1}"), 1, 3, "expected ',' or ']' after an array element, got '}'"},
    {BODY("[[1,2],\n [3,4}]"), 2, 6, "expected ',' or ']' after an array element, got '}'"},
    {BODY("[1,2"), 1, 5, "expected ',' or ']' after an array element, got the end of the body"},
    {BODY("[[],"), 1, 5, "expected a value after ',', got the end of the body"},
    {BODY("[1_000]"), 1, 3, "expected ',' or ']' after an array element, got '_000'"},
    /* Words. */
    {BODY("[tru]"), 1, 2, "expected a value or ']' after '[', got 'tru'"},
    {BODY("[truely]"), 1, 2, "expected a value or ']' after '[', got 'truely'"},
    {BODY("[1,True]"), 1, 4, "expected a value after ',', got 'True'; write true"},
    {BODY("[1,None]"), 1, 4, "expected a value after ',', got 'None'; write null"},
    {BODY("{\"x\":[0.5,NaN]}"), 1, 11,
     "expected a value after ',', got 'NaN'; write \"NaN\", \"Infinity\" or \"-Infinity\", in "
     "quotes"},
    {BODY("[-Infinity]"), 1, 3,
     "expected a digit after '-', got 'Infinity'; write \"NaN\", \"Infinity\" or \"-Infinity\", in "
     "quotes"},
    {BODY("{\"a\":abcdefghijklmnopqrstuvwxyz}"), 1, 6,
     "expected a value after ':', got 'abcdefghijklmnopqrst'"},
    {BODY("[1] // one"), 1, 5,
     "expected nothing after the JSON value, got '/'; JSON has no comments"},
    /* Numbers. */
    {BODY("[+1]"), 1, 2,
     "expected a value or ']' after '[', got '+'; a number begins with a digit or '-'"},
    {BODY("[.5]"), 1, 2,
     "expected a value or ']' after '[', got '.'; a number begins with a digit or '-'"},
    {BODY("[1,-]"), 1, 5, "expected a digit after '-', got ']'"},
    {BODY("-"), 1, 2, "expected a digit after '-', got the end of the body"},
    {BODY("[01]"), 1, 2, "a number must not begin with a needless zero"},
    {BODY("[1,-007]"), 1, 5, "a number must not begin with a needless zero"},
    {BODY("[1.]"), 1, 4, "expected a digit after the decimal point, got ']'"},
    {BODY("1."), 1, 3, "expected a digit after the decimal point, got the end of the body"},
    {BODY("[2.e3]"), 1, 4, "expected a digit after the decimal point, got 'e3'"},
    {BODY("[1e]"), 1, 4, "expected a digit in the exponent, got ']'"},
    {BODY("[1.5E+]"), 1, 7, "expected a digit in the exponent, got ']'"},
    {BODY("1e-"), 1, 4, "expected a digit in the exponent, got the end of the body"},
    {BODY("[0x10]"), 1, 3, "expected ',' or ']' after an array element, got 'x10'"},
    /* Strings. */
    {BODY("{\"a\": \"b}"), 1, 7, "the string that begins here has no end"},
    {BODY("[\"a\nb\"]"), 1, 4, "control character U+000A must be escaped in a string"},
    {BODY("[\"\\x41\"]"), 1, 3, "a backslash in a string stands before one of \"\\/bfnrtu only"},
    {BODY("[\"\\"), 1, 3, "a backslash in a string stands before one of \"\\/bfnrtu only"},
    {BODY("[\"\\u12g4\"]"), 1, 3, "\\u in a string needs four hexadecimal digits"},
    {BODY("[\"\\u123"), 1, 3, "\\u in a string needs four hexadecimal digits"},
    {BODY("[\"\\u0000\"]"), 1, 3, "\\u0000 is not allowed in a string"},
    {BODY("[\"\\ud834x\"]"), 1, 3, "\\ud834 is half of a surrogate pair"},
    {BODY("[\"\\uDD1E\\ud834\"]"), 1, 3, "\\uDD1E is half of a surrogate pair"},
    {BODY("[\"\\ud834\\u0041\"]"), 1, 3, "\\ud834 is half of a surrogate pair"},
    {BODY("[\"\xe2\x82\xac\xff\"]"), 1, 4, "byte 0xff in a string is not UTF-8"},
    {BODY("[\"\xe2\x82\"]"), 1, 3, "byte 0xe2 in a string is not UTF-8"},
    {BODY("[\"\xed\xa0\x80\"]"), 1, 3, "byte 0xed in a string is not UTF-8"},
    /* Bytes that have no place anywhere. */
    {BODY("[1\0]"), 1, 3, "expected ',' or ']' after an array element, got a zero byte"},
    {BODY("{\"a\":true\0}"), 1, 10, "expected ',' or '}' after an object member, got a zero byte"},
    {BODY("{}\0"), 1, 3, "expected nothing after the JSON value, got a zero byte"},
    {BODY("[\"a\0b\"]"), 1, 4, "a zero byte is not allowed in a string"},
    {BODY("[1,\v2]"), 1, 4, "expected a value after ',', got control character U+000B"},
    {BODY("[1,\x7f]"), 1, 4, "expected a value after ',', got control character U+007F"},
    {BODY("[\xc3\xa9]"), 1, 2, "expected a value or ']' after '[', got '\xc3\xa9'"},
    {BODY("[1,\xff]"), 1, 4, "expected a value after ',', got byte 0xff, which is not UTF-8"},
    /* Inside what a numeric array is lifted with. */
    {BODY("[1,{\"a\":[2,{\"b\":}]}]"), 1, 17, "expected a value after ':', got '}'"},
    {BODY("[1,\"\xff\"]"), 1, 5, "byte 0xff in a string is not UTF-8"},
};

Test(walk, says_what_is_wrong_and_where)
{
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        struct reading reading;
        reading_of(&reading, malformed[i].body, malformed[i].len);
        const struct err_item *item = &reading.err.item[0];
        cr_assert_not(reading.ok, "row %zu: %s", i, malformed[i].body);
        cr_assert_eq(item->code, ERR_malformed_json, "row %zu", i);
        cr_assert_str_eq(item->detail, malformed[i].says, "row %zu: %s\n%s", i, malformed[i].body,
                         item->detail);
        cr_assert(item->line == malformed[i].line && item->column == malformed[i].column,
                  "row %zu: %s: %s at %zu:%zu", i, malformed[i].body, item->detail, item->line,
                  item->column);
        reading_release(&reading);
    }
}

/* A good body, cut at every byte and with every byte replaced: refused or read, never worse. */
Test(walk, survives_every_cut_and_every_byte)
{
    static const char body[] = "{\"a\\u00e9\": [[1, -2.5e-3], [\"NaN\", 0]], \"b\": [null, {\"c\": "
                               "[]}, \"\xe2\x82\xac\"]}";
    size_t len = sizeof body - 1;
    struct reading reading;
    for (size_t cut = 0; cut < len; cut++) {
        reading_of(&reading, body, cut);
        cr_assert_not(reading.ok, "cut at %zu", cut);
        reading_release(&reading);
    }
    char changed[sizeof body];
    size_t read_n = 0;
    for (size_t at = 0; at < len; at++)
        for (int byte = 0; byte < 256; byte++) {
            memcpy(changed, body, len);
            changed[at] = (char)byte;
            reading_of(&reading, changed, len);
            read_n += reading.ok;
            reading_release(&reading);
        }
    cr_assert(read_n > len && read_n < 256 * len / 4, "%zu of %zu are read", read_n, 256 * len);
}

static const struct {
    const char *body, *pointer;
} pointers[] = {
    {"[1]", ""},
    {"{\"x\":[1]}", "/x"},
    {"{\"x\":{\"data\":[1]}}", "/x/data"},
    {"{\"\":[1]}", "/"},
    {"{\"a/b\":[1]}", "/a~1b"},
    {"{\"m~n\":[1]}", "/m~0n"},
    {"{\"~1\":[1]}", "/~01"},
    {"{\"\\u007e\\/\\u002f\":[1]}", "/~0~1~1"},
    {"{\"k\\\"l\\\\\\t\":[1]}", "/k\"l\\\t"},
    {"{\"\\u20ac\\ud834\\udd1e\":[1]}", "/\xe2\x82\xac\xf0\x9d\x84\x9e"},
    {"{\"\xc3\xa9\":[1]}", "/\xc3\xa9"},
    {"[null,\"a\",[2]]", "/2"},
    {"[null,[true,{\"q\":[2]}]]", "/1/1/q"},
    {"{\"a\":{\"b\":1},\"c\":[\"s\",{},{\"d\":2,\"e\":[[0]]}]}", "/c/2/e"},
};

Test(walk, points_at_arrays)
{
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        struct reading reading;
        reading_of(&reading, pointers[i].body, strlen(pointers[i].body));
        cr_assert(reading.ok, "%s", pointers[i].body);
        cr_assert_eq(reading.doc.arrays_n, 1, "%s", pointers[i].body);
        cr_assert_str_eq(reading.doc.arrays[0].pointer, pointers[i].pointer);
        cr_assert_eq(json_doc_array(&reading.doc, pointers[i].pointer), &reading.doc.arrays[0]);
        cr_assert_null(json_doc_array(&reading.doc, "/elsewhere"));
        reading_release(&reading);
    }
}

Test(walk, counts_indices_of_many_digits)
{
    char *body = malloc(60000);
    size_t len = (size_t)sprintf(body, "[\"a\"");
    for (int i = 1; i < 12345; i++)
        len += (size_t)sprintf(body + len, ",0");
    len += (size_t)sprintf(body + len, ",[1]]");
    struct reading reading;
    reading_of(&reading, body, len);
    cr_assert(reading.ok);
    cr_assert_str_eq(reading.doc.arrays[0].pointer, "/12345");
    reading_release(&reading);
    free(body);
}

Test(walk, cuts_pointers_that_nobody_would_ask_for)
{
    char body[2000];
    for (int len = 200; len < 1000; len++) {
        int body_len = snprintf(body, sizeof body, "{\"%0*d\":{\"b\":[1]}}", len, 0);
        struct reading reading;
        reading_of(&reading, body, (size_t)body_len);
        cr_assert(reading.ok);
        const char *pointer = reading.doc.arrays[0].pointer;
        bool whole = strcmp(pointer + strlen(pointer) - 2, "/b") == 0;
        cr_assert_eq(whole, len + 3 <= 256, "a name of %d characters", len);
        cr_assert_eq(strlen(pointer), whole ? (size_t)len + 3 : 256 + strlen("..."), "%s", pointer);
        reading_release(&reading);
    }
}

/* Opens `depth` brackets of one kind around a leaf. */
static size_t nested(char *out, size_t depth, const char *open, const char *leaf, const char *close)
{
    size_t len = 0;
    for (size_t i = 0; i < depth; i++)
        len += (size_t)sprintf(out + len, "%s", open);
    len += (size_t)sprintf(out + len, "%s", leaf);
    for (size_t i = 0; i < depth; i++)
        len += (size_t)sprintf(out + len, "%s", close);
    return len;
}

Test(walk, nests_as_deep_as_allowed_and_no_deeper)
{
    static const struct {
        const char *open, *leaf, *close;
    } rows[] = {{"[", "", "]"},
                {"[", "1", "]"},
                {"[", "null", "]"},
                {"{\"k\":", "1", "}"},
                {"[[],", "\"x\"", "]"}};
    char body[2000];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t depth = JSON_DEPTH_MAX - 1; depth < JSON_DEPTH_MAX + 3; depth++) {
            size_t len = nested(body, depth, rows[i].open, rows[i].leaf, rows[i].close);
            size_t deepest = depth; /* [[],"x"] has brackets inside its last level */
            deepest += rows[i].open[1] == '[';
            struct reading reading;
            reading_of(&reading, body, len);
            cr_assert_eq(reading.ok, deepest <= JSON_DEPTH_MAX, "row %zu, depth %zu", i, depth);
            if (!reading.ok)
                cr_assert_str_eq(reading.err.item[0].detail, "nested deeper than 32 levels");
            reading_release(&reading);
        }
}

Test(walk, checks_numbers_that_are_parameters)
{
    static const struct {
        const char *body, *pointer, *says;
        size_t column;
    } rows[] = {
        {"{\"dim\": 9007199254740993}", "/dim",
         "an integer beyond 2^53 would be rounded; write it with an exponent if you mean it", 9},
        {"{\"a\": [true, -12345678901234567890]}", "/a/1",
         "an integer beyond 2^53 would be rounded; write it with an exponent if you mean it", 14},
        {"{\"base\": 1e400}", "/base", "the number is beyond the range of f64", 10},
        {"-1e309", "", "the number is beyond the range of f64", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct reading reading;
        reading_of(&reading, rows[i].body, strlen(rows[i].body));
        const struct err_item *item = &reading.err.item[0];
        cr_assert_not(reading.ok, "%s", rows[i].body);
        cr_assert_eq(item->code, ERR_invalid_value);
        cr_assert_str_eq(item->where, rows[i].pointer);
        cr_assert_str_eq(item->detail, rows[i].says);
        cr_assert(item->line == 1 && item->column == rows[i].column, "%s", rows[i].body);
        reading_release(&reading);
    }
    static const char good[] = "{\"a\":9007199254740992,\"b\":1e22,\"c\":1e-400,\"d\":-0.0}";
    struct reading reading;
    reading_of(&reading, good, strlen(good));
    cr_assert(reading.ok);
    cr_assert_eq(json_integer_value(json_object_get(reading.doc.root, "a")), 9007199254740992);
    cr_assert_eq(json_real_value(json_object_get(reading.doc.root, "b")), 1e22);
    cr_assert_eq(json_real_value(json_object_get(reading.doc.root, "c")), 0);
    reading_release(&reading);
}
