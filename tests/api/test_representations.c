// SPDX-License-Identifier: Apache-2.0
/*
 * test_representations.c: a tensor printed in each format is read back with the same bits, whatever
 * its dtype and shape: zeros of both signs, subnormal numbers, infinities, not-a-number; scalars,
 * tensors without an element and tensors of every rank.
 */
#include <stdint.h>
#include <stdlib.h>

#include "answers.h"
#include "doc.h"
#include "npy.h"
#include "safetensors.h"

#define ELEMENTS_MAX 12

/* 1, -0, the smallest and the largest number, the largest subnormal, a third, infinities, NaN. */
static const uint64_t bits[PE_DTYPES_N][9] = {
    [PE_F64] = {0x3ff0000000000000, 0x8000000000000000, 1, 0x7fefffffffffffff, 0x800fffffffffffff,
                0x3fd5555555555555, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000},
    [PE_F32] = {0x3f800000, 0x80000000, 1, 0x7f7fffff, 0x807fffff, 0x3eaaaaab, 0x7f800000,
                0xff800000, 0x7fc00000},
    [PE_F16] = {0x3c00, 0x8000, 1, 0x7bff, 0x83ff, 0x3555, 0x7c00, 0xfc00, 0x7e00},
    [PE_BF16] = {0x3f80, 0x8000, 1, 0x7f7f, 0x807f, 0x3eab, 0x7f80, 0xff80, 0x7fc0},
    [PE_I64] = {1, 0, 0xffffffffffffffff, 0x7fffffffffffffff, 0x8000000000000000,
                0x0020000000000001, 42, 0xfffffffffffffff6, 1000000000000},
};

static const struct shape {
    size_t rank, shape[TREE_RANK_MAX], count;
} shapes[] = {
    {0, {0}, 1},       {1, {1}, 1},
    {1, {9}, 9},       {1, {0}, 0},
    {2, {3, 3}, 9},    {2, {0, 3}, 0},
    {2, {3, 0}, 0},    {3, {2, 3, 2}, 12},
    {3, {2, 0, 3}, 0}, {8, {1, 2, 1, 1, 3, 1, 1, 2}, 12},
};

/* What was printed and is to be read. */
struct trial {
    enum pe_dtype dtype;
    const struct shape *shape;
    const char *text;
    size_t len;
    struct arena arena;
};

static bool shape_is(const struct trial *trial, size_t rank, const size_t *shape)
{
    return rank == trial->shape->rank &&
           (rank == 0 || memcmp(shape, trial->shape->shape, rank * sizeof *shape) == 0);
}

static void read_number(const struct trial *trial, const char *text, size_t len, void *out,
                        size_t i)
{
    static const struct {
        const char *name;
        size_t at; /* of its bits */
    } specials[] = {{"Infinity", 6}, {"-Infinity", 7}, {"NaN", 8}};
    if (len > 2 && *text == '"') {
        text++;
        len -= 2;
    }
    for (size_t k = 0; k < 3; k++)
        if (strlen(specials[k].name) == len && memcmp(text, specials[k].name, len) == 0) {
            size_t size = pe_dtype_size(trial->dtype);
            memcpy((char *)out + i * size, &bits[trial->dtype][specials[k].at], size);
            return;
        }
    cr_assert(pe_text_read(text, len, trial->dtype, out, i), "%.*s", (int)len, text);
}

/* ---- Readers: each sees to the shape and gives the elements ------------------------------------
 */

static void from_json(struct trial *trial, void *out)
{
    struct json_doc doc;
    struct err err = {.n = 0};
    json_doc_setup();
    cr_assert(json_doc_read(&doc, trial->text, trial->len, &trial->arena, &err), "%s",
              err.item[0].detail);
    const struct json_array *shape = json_doc_array(&doc, "/tensors/x/shape");
    const struct json_array *data = json_doc_array(&doc, "/tensors/x/data");
    double sizes[TREE_RANK_MAX];
    size_t rank = shape ? shape->count : 0;
    cr_assert(!shape || json_array_read(shape, PE_F64, sizes, &err));
    cr_assert_eq(rank, trial->shape->rank);
    for (size_t i = 0; i < rank; i++)
        cr_assert_eq(sizes[i], (double)trial->shape->shape[i]);
    if (rank == 0) {
        const char *start = strstr(trial->text, "\"data\":") + strlen("\"data\":");
        read_number(trial, start, strcspn(start, "}"), out, 0);
    } else {
        cr_assert(json_array_read(data, trial->dtype, out, &err), "%s", err.item[0].detail);
        cr_assert_eq(data->count, trial->shape->count);
        if (data->count > 0)
            cr_assert(shape_is(trial, data->rank, data->shape));
    }
    json_doc_release(&doc);
}

/* The numbers of the columns that are no index. */
static void from_csv(struct trial *trial, void *out)
{
    size_t rank = trial->shape->rank, n = 0, index_n = rank > 1 ? rank - 1 : rank;
    const char *at = strchr(trial->text, '\n') + 1;
    for (size_t field = 0; at < trial->text + trial->len;) {
        size_t len = strcspn(at, ",\n");
        if (field >= index_n)
            read_number(trial, at, len, out, n++);
        field = at[len] == '\n' ? 0 : field + 1;
        at += len + 1;
    }
    cr_assert_eq(n, trial->shape->count);
}

static void from_npy(struct trial *trial, void *out)
{
    struct tensor_view view;
    struct err err = {.n = 0};
    const struct tensor_source file = {trial->text, trial->len, ""};
    cr_assert(npy_read(&file, true, &view, &err), "%s", err.item[0].detail);
    cr_assert_eq(view.dtype, trial->dtype);
    cr_assert(shape_is(trial, view.rank, view.shape));
    tensor_view_unpack(&view, out);
}

static void from_safetensors(struct trial *trial, void *out)
{
    struct safetensors parts;
    struct err err = {.n = 0};
    const struct tensor_source file = {trial->text, trial->len, ""};
    cr_assert(safetensors_read(&file, &trial->arena, &parts, &err), "%s", err.item[0].detail);
    const struct tensor_view *view = &safetensors_tensor(&parts, "x")->view;
    cr_assert_eq(view->dtype, trial->dtype);
    cr_assert(shape_is(trial, view->rank, view->shape));
    tensor_view_unpack(view, out);
}

static void from_bytes(struct trial *trial, void *out)
{
    cr_assert_eq(trial->len, trial->shape->count * pe_dtype_size(trial->dtype));
    memcpy(out, trial->text, trial->len);
}

static const struct {
    enum format format;
    void (*read)(struct trial *trial, void *out);
} formats[] = {
    {FORMAT_JSON, from_json}, {FORMAT_CSV, from_csv},
    {FORMAT_NPY, from_npy},   {FORMAT_SAFETENSORS, from_safetensors},
    {FORMAT_BIN, from_bytes},
};

/* ---- All of them -------------------------------------------------------------------------------
 */

/* An answer with this tensor alone: a text, or a head and the elements behind it. */
static void print(struct buf *out, const struct answer *answer, enum format format)
{
    const struct tree_tensor *tensor = &answer->main->as.tensor;
    if (format == FORMAT_JSON || format == FORMAT_CSV) {
        answer_write(out, answer, format);
    } else {
        answer_write_head(out, answer, format);
        buf_append(out, tensor->data, tree_tensor_count(tensor) * pe_dtype_size(tensor->dtype));
    }
    cr_assert_not(out->failed);
}

static void expect_same_bits(enum pe_dtype dtype, const struct shape *shape, size_t row)
{
    struct answer_bench bench;
    struct buf out;
    size_t size = pe_dtype_size(dtype);
    unsigned char data[ELEMENTS_MAX * 8], again[ELEMENTS_MAX * 8] = {0};
    for (size_t i = 0; i < shape->count; i++)
        memcpy(data + i * size, &bits[dtype][(i + row) % 9], size);
    bench_init(&bench);
    bench.answer.outputs = bench.answer.tensors;
    for (size_t i = 0; i < TREE_RANK_MAX; i++)
        bench.answer.axes[i].name = "axis";
    bench_tensor(&bench, "x", dtype, shape->rank, shape->shape, data);
    buf_init(&out, (size_t)1 << 20);
    print(&out, &bench.answer, formats[row].format);
    size_t len = out.len;
    buf_putc(&out, '\0');
    struct trial trial = {.dtype = dtype, .shape = shape, .text = out.data, .len = len};
    arena_init(&trial.arena, (size_t)1 << 20);
    formats[row].read(&trial, again);
    cr_assert(memcmp(data, again, shape->count * size) == 0,
              "%s, rank %zu, %zu elements, format %zu", pe_dtype_name(dtype), shape->rank,
              shape->count, row);
    arena_release(&trial.arena);
    buf_release(&out);
    bench_release(&bench);
}

Test(representations, carry_the_same_bits)
{
    for (enum pe_dtype dtype = 0; dtype < PE_DTYPES_N; dtype++)
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
            for (size_t row = 0; row < sizeof formats / sizeof formats[0]; row++)
                expect_same_bits(dtype, &shapes[i], row);
}
