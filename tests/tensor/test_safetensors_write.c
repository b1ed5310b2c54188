// SPDX-License-Identifier: Apache-2.0
/*
 * test_safetensors_write.c: headers byte by byte, that they are read as what was written, and what
 * happens where they do not fit.
 */
#include "safetensors.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

static const struct safetensors_tensor written[] = {
    {"h", {.dtype = PE_F16, .rank = 1, .shape = {3}, .bytes = 6}},
    {"a \"b\"", {.dtype = PE_F32, .rank = 0, .bytes = 4}},
    {"d", {.dtype = PE_F64, .rank = 2, .shape = {2, 1}, .bytes = 16}},
    {"", {.dtype = PE_BF16, .rank = 2, .shape = {4, 0}, .bytes = 0}},
    {"i", {.dtype = PE_I64, .rank = 2, .shape = {1, 2}, .bytes = 16}},
};
static const struct safetensors_pair pairs[] = {{"spec", "{\"dim\":4}", 9}, {"\303\251", "\n", 1}};
#define FILE_OF(n, m)                                                                              \
    {                                                                                              \
        (struct safetensors_tensor *)written, n, (struct safetensors_pair *)pairs, m               \
    }

Test(safetensors_write, writes_header_after_header)
{
    static const struct {
        struct safetensors file;
        size_t data;
        const char *header;
    } rows[] = {
        {FILE_OF(0, 0), 0, "{}"},
        {FILE_OF(0, 1), 0, "{\"__metadata__\":{\"spec\":\"{\\\"dim\\\":4}\"}}"},
        {FILE_OF(1, 0), 6, "{\"h\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[0,6]}}"},
        {FILE_OF(5, 2), 42,
         "{\"__metadata__\":{\"spec\":\"{\\\"dim\\\":4}\",\"\303\251\":\"\\n\"},"
         "\"h\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[0,6]},"
         "\"a \\\"b\\\"\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[6,10]},"
         "\"d\":{\"dtype\":\"F64\",\"shape\":[2,1],\"data_offsets\":[10,26]},"
         "\"\":{\"dtype\":\"BF16\",\"shape\":[4,0],\"data_offsets\":[26,26]},"
         "\"i\":{\"dtype\":\"I64\",\"shape\":[1,2],\"data_offsets\":[26,42]}}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf out;
        uint64_t len;
        buf_init(&out, (size_t)1 << 20);
        buf_puts(&out, "before");
        cr_assert_eq(safetensors_header(&rows[i].file, &out), rows[i].data, "row %zu", i);
        cr_assert_not(out.failed);
        memcpy(&len, out.data + 6, 8);
        cr_assert_eq(len, out.len - 14);
        cr_assert_eq(len, (strlen(rows[i].header) + 7) / 8 * 8);
        buf_putc(&out, '\0');
        cr_assert_eq(strncmp(out.data + 14, rows[i].header, strlen(rows[i].header)), 0, "%s",
                     out.data + 14);
        for (const char *c = out.data + 14 + strlen(rows[i].header); *c; c++)
            cr_assert_eq(*c, ' ');
        buf_release(&out);
    }
}

Test(safetensors_write, is_read_as_the_same)
{
    const struct safetensors file = FILE_OF(5, 2);
    struct safetensors again;
    struct arena arena;
    struct err err = {.n = 0};
    struct buf out;
    buf_init(&out, (size_t)1 << 20);
    size_t n = safetensors_header(&file, &out), data = out.len;
    for (size_t i = 0; i < n; i++)
        buf_putc(&out, (char)i);
    arena_init(&arena, (size_t)1 << 20);
    const struct tensor_source source = {out.data, out.len, ""};
    cr_assert(safetensors_read(&source, &arena, &again, &err), "%s", err.item[0].detail);
    cr_assert_eq(again.tensors_n, 5);
    cr_assert_eq(again.metadata_n, 2);
    for (size_t i = 0; i < 5; i++) {
        const struct tensor_view *view = &again.tensors[i].view, *as = &written[i].view;
        cr_assert_str_eq(again.tensors[i].name, written[i].name);
        cr_assert(view->dtype == as->dtype && view->rank == as->rank && view->bytes == as->bytes);
        cr_assert_arr_eq(view->shape, as->shape, sizeof as->shape);
        cr_assert_eq(view->data, (void *)(out.data + data), "tensor %zu", i);
        data += view->bytes;
    }
    for (size_t i = 0; i < 2; i++) {
        cr_assert_str_eq(again.metadata[i].key, pairs[i].key);
        cr_assert_str_eq(again.metadata[i].value, pairs[i].value);
    }
    arena_release(&arena);
    buf_release(&out);
}

Test(safetensors_write, tells_that_a_header_does_not_fit)
{
    const struct safetensors file = FILE_OF(5, 2);
    struct buf out;
    buf_init(&out, (size_t)1 << 20);
    safetensors_header(&file, &out);
    const size_t whole = out.len;
    buf_release(&out);
    for (size_t limit = 0; limit < whole; limit++) {
        buf_init(&out, limit);
        cr_assert_eq(safetensors_header(&file, &out), 0);
        cr_assert(out.failed, "limit %zu", limit);
        buf_release(&out);
    }
    struct safetensors_tensor vast[] = {
        {"a", {.dtype = PE_F64, .rank = 1, .shape = {(size_t)-1 / 8}, .bytes = (size_t)-8}},
        {"b", {.dtype = PE_F64, .rank = 1, .shape = {1}, .bytes = 8}},
    };
    buf_init(&out, (size_t)1 << 20);
    cr_assert_eq(safetensors_header(&(struct safetensors){.tensors = vast, .tensors_n = 2}, &out),
                 0);
    cr_assert(out.failed);
    buf_release(&out);
}
