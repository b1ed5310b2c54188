// SPDX-License-Identifier: Apache-2.0
/* test_write.c: strings, numbers, tensors and trees as JSON text, to the byte. */
#include "write.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_text(struct buf *buf, const char *wanted, const char *what)
{
    cr_assert_not(buf->failed, "%s", what);
    cr_assert(buf->len == strlen(wanted) && memcmp(buf->data, wanted, buf->len) == 0,
              "%s: %.*s instead of %s", what, (int)buf->len, buf->data, wanted);
    buf->len = 0;
}

Test(write, escapes_strings)
{
    static const struct {
        const char *text, *json;
    } rows[] = {
        {"", "\"\""},
        {"rope", "\"rope\""},
        {"a\"b\\c/d", "\"a\\\"b\\\\c/d\""},
        {"\b\t\n\f\r", "\"\\b\\t\\n\\f\\r\""},
        {"\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e", "\"\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e\""},
        {"a\xff"
         "b",
         "\"a\xef\xbf\xbd"
         "b\""},
        {"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    struct buf buf;
    buf_init(&buf, 1000);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_write_string(&buf, rows[i].text, strlen(rows[i].text));
        assert_text(&buf, rows[i].json, rows[i].json);
    }
    json_write_string(&buf, "a\0b", 3);
    assert_text(&buf, "\"a\\u0000b\"", "a zero byte");
    buf_release(&buf);
}

/* All strings of two bytes: valid JSON that jansson reads back (zero bytes as it allows them). */
Test(write, every_pair_of_bytes_is_valid_json)
{
    struct buf buf;
    buf_init(&buf, 1000);
    for (int pair = 0; pair < 65536; pair++) {
        char text[2] = {(char)(pair >> 8), (char)pair};
        json_write_string(&buf, text, 2);
        json_t *back = json_loadb(buf.data, buf.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        cr_assert_not_null(back, "bytes %04x: %.*s", pair, (int)buf.len, buf.data);
        if (!((text[0] | text[1]) & 0x80)) {
            cr_assert_eq(json_string_length(back), 2);
            cr_assert_arr_eq(json_string_value(back), text, 2);
        }
        json_decref(back);
        buf.len = 0;
    }
    buf_release(&buf);
}

Test(write, numbers)
{
    static const struct {
        double number;
        const char *json;
    } rows[] = {{0, "0"},
                {-0.0, "-0.0"},
                {1, "1"},
                {-0.5, "-0.5"},
                {1e21, "1e+21"},
                {1e20, "100000000000000000000"},
                {1e-7, "1e-7"},
                {0.1, "0.1"},
                {5e-324, "5e-324"},
                {1.7976931348623157e308, "1.7976931348623157e+308"},
                {NAN, "\"NaN\""},
                {INFINITY, "\"Infinity\""},
                {-INFINITY, "\"-Infinity\""}};
    struct buf buf;
    buf_init(&buf, 1000);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_write_number(&buf, rows[i].number);
        assert_text(&buf, rows[i].json, rows[i].json);
    }
    buf_release(&buf);
}

static const double numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

Test(write, tensors_by_shape)
{
    static const struct {
        struct tree_tensor tensor;
        const char *json;
    } rows[] = {
        {{.rank = 0}, "0"},
        {{.rank = 1, .shape = {0}}, "[]"},
        {{.rank = 1, .shape = {1}}, "[0]"},
        {{.rank = 1, .shape = {3}}, "[0,1,2]"},
        {{.rank = 2, .shape = {2, 3}}, "[[0,1,2],[3,4,5]]"},
        {{.rank = 2, .shape = {3, 1}}, "[[0],[1],[2]]"},
        {{.rank = 2, .shape = {2, 0}}, "[[],[]]"},
        {{.rank = 2, .shape = {0, 3}}, "[]"},
        {{.rank = 3, .shape = {2, 3, 2}}, "[[[0,1],[2,3],[4,5]],[[6,7],[8,9],[10,11]]]"},
        {{.rank = 3, .shape = {2, 0, 3}}, "[[],[]]"},
        {{.rank = 3, .shape = {2, 1, 0}}, "[[[]],[[]]]"},
        {{.rank = 3, .shape = {0, 2, 2}}, "[]"},
        {{.rank = 3, .shape = {1, 1, 2}}, "[[[0,1]]]"},
        {{.rank = 4, .shape = {2, 1, 2, 1}}, "[[[[0],[1]]],[[[2],[3]]]]"},
        {{.rank = 8, .shape = {1, 1, 1, 1, 1, 1, 1, 1}}, "[[[[[[[[0]]]]]]]]"},
    };
    struct buf buf;
    buf_init(&buf, 10000);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tree_tensor tensor = rows[i].tensor;
        tensor.data = numbers;
        json_write_tensor_data(&buf, &tensor);
        assert_text(&buf, rows[i].json, rows[i].json);
        size_t n = json_tensor_rows(&tensor), width = n > 0 ? tree_tensor_count(&tensor) / n : 0;
        for (size_t some = 1; some <= n; some++) {
            for (size_t first = 0; first < n; first += some) {
                tensor.data = numbers + first * width;
                json_write_tensor_rows(&buf, &tensor, first, n - first < some ? n - first : some);
            }
            assert_text(&buf, rows[i].json, "in pieces");
        }
    }
    buf_release(&buf);
}

Test(write, tensors_by_dtype)
{
    static const uint32_t f32[] = {0x3dcccccd, 0x7f800000, 0x80000000};
    static const uint16_t f16[] = {0x2e66, 0xfc00, 0x7e00}, bf16[] = {0x3dcd, 0x7f7f, 0xffc0};
    static const int64_t i64[] = {INT64_MIN, 0, 9007199254740993};
    static const struct {
        struct tree_tensor tensor;
        const char *json;
    } rows[] = {
        {{.dtype = PE_F32, .rank = 1, .shape = {3}, .data = f32}, "[0.1,\"Infinity\",-0.0]"},
        {{.dtype = PE_F16, .rank = 1, .shape = {3}, .data = f16}, "[0.1,\"-Infinity\",\"NaN\"]"},
        {{.dtype = PE_BF16, .rank = 1, .shape = {3}, .data = bf16}, "[0.1,3.39e+38,\"NaN\"]"},
        {{.dtype = PE_I64, .rank = 1, .shape = {3}, .data = i64},
         "[-9223372036854775808,0,9007199254740993]"},
    };
    struct buf buf;
    buf_init(&buf, 10000);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_write_tensor_data(&buf, &rows[i].tensor);
        assert_text(&buf, rows[i].json, rows[i].json);
    }
    buf_release(&buf);
}

/* Rows around the lengths at which room is made, against a plain loop. */
Test(write, long_rows)
{
    static double data[400];
    struct buf buf, wanted;
    buf_init(&buf, 1 << 20);
    buf_init(&wanted, 1 << 20);
    for (size_t i = 0; i < 400; i++)
        data[i] = i % 7 == 3 ? NAN : (double)i / 8;
    for (size_t n = 0; n < 400; n += 1 + n / 70) {
        struct tree_tensor tensor = {.rank = 1, .shape = {n}, .data = data};
        json_write_tensor_data(&buf, &tensor);
        buf_putc(&wanted, '[');
        for (size_t i = 0; i < n; i++)
            buf_printf(&wanted, isnan(data[i]) ? "%s\"NaN\"" : "%s%.10g", i ? "," : "", data[i]);
        buf_puts(&wanted, "]");
        cr_assert_eq(buf.len, wanted.len, "n = %zu", n);
        cr_assert_arr_eq(buf.data, wanted.data, buf.len, "n = %zu", n);
        buf.len = wanted.len = 0;
    }
    buf_release(&buf);
    buf_release(&wanted);
}

Test(write, whole_trees)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct tree *root = tree_new(&arena, TREE_OBJECT);
    tree_string(root, "semantics", "1");
    struct tree *spec = tree_object(root, "spec");
    tree_number(spec, "base", 10000);
    tree_integer(spec, "dim", 4);
    tree_bool(spec, "truncate", true);
    tree_bool(spec, "\"k\"", false);
    struct tree *list = tree_array(root, "list");
    tree_null(list, NULL);
    tree_reals(list, NULL, numbers, 3);
    tree_reals(list, NULL, numbers, 0);
    tree_object(list, NULL);
    tree_array(list, NULL);
    tree_raw(list, NULL, "[{}]");
    static const size_t shape[] = {2, 2};
    struct tree *tensors = tree_object(root, "tensors");
    tree_tensor(tensors, "table", PE_F64, 2, shape, numbers);
    tree_tensor(tensors, "one", PE_F64, 0, NULL, numbers + 7);
    struct buf buf;
    buf_init(&buf, 10000);
    json_write_tree(&buf, root);
    assert_text(&buf,
                "{\"semantics\":\"1\",\"spec\":{\"base\":10000,\"dim\":4,\"truncate\":true,"
                "\"\\\"k\\\"\":false},\"list\":[null,[0,1,2],[],{},[],[{}]],\"tensors\":{"
                "\"table\":{\"dtype\":\"f64\",\"shape\":[2,2],\"data\":[[0,1],[2,3]]},"
                "\"one\":{\"dtype\":\"f64\",\"shape\":[],\"data\":7}}}",
                "a tree");
    buf_release(&buf);
    arena_release(&arena);
}

Test(write, stops_at_the_limit_of_the_buffer)
{
    static const double zeros[10000];
    struct tree_tensor tensor = {.rank = 2, .shape = {100, 100}, .data = zeros};
    for (size_t limit = 0; limit < 40000; limit += 1 + limit / 10) {
        struct buf buf;
        buf_init(&buf, limit);
        json_write_tensor_data(&buf, &tensor);
        cr_assert_leq(buf.len, limit);
        cr_assert(buf.failed || limit >= 20201, "limit %zu", limit);
        cr_assert(!buf.failed || limit < 20201 + JSON_WRITE_AHEAD, "limit %zu", limit);
        buf_release(&buf);
    }
}
