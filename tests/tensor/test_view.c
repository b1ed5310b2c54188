// SPDX-License-Identifier: Apache-2.0
/*
 * test_view.c: sizes and their overflows, what may be used in place, and both orders of axes and
 * bytes against a reference that finds each element by its index.
 */
#include "view.h"

#include <stdint.h>

#include "refusal.h"

Test(view, measures)
{
    const size_t half = (size_t)1 << 63, third = (size_t)1 << 32;
    const struct {
        struct tensor_view view;
        bool fits;
        size_t count, bytes;
    } rows[] = {
        {{.dtype = PE_F64, .rank = 0}, true, 1, 8},
        {{.dtype = PE_BF16, .rank = 1, .shape = {5}}, true, 5, 10},
        {{.dtype = PE_F32, .rank = 3, .shape = {2, 3, 4}}, true, 24, 96},
        {{.dtype = PE_F32, .rank = 3, .shape = {2, 0, 4}}, true, 0, 0},
        {{.dtype = PE_F16, .rank = 1, .shape = {half - 1}}, true, half - 1, 2 * (half - 1)},
        {{.dtype = PE_F16, .rank = 1, .shape = {half}}, false, 0, 0},
        {{.dtype = PE_F16, .rank = 2, .shape = {third, third}}, false, 0, 0},
        {{.dtype = PE_F16, .rank = 3, .shape = {third, 0, third}}, false, 0, 0},
        {{.dtype = PE_F64, .rank = 2, .shape = {0, half}}, false, 0, 0},
        {{.dtype = PE_I64, .rank = 2, .shape = {0, half / 8 - 1}}, true, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tensor_view view = rows[i].view;
        cr_assert_eq(tensor_view_measure(&view), rows[i].fits, "row %zu", i);
        cr_assert(!rows[i].fits || view.count == rows[i].count, "row %zu: %zu", i, view.count);
        cr_assert(!rows[i].fits || view.bytes == rows[i].bytes, "row %zu: %zu", i, view.bytes);
    }
}

Test(view, is_used_in_place_where_that_is_right)
{
    static const double data[2];
    const char *bytes = (const char *)data;
    const struct {
        struct tensor_view view;
        bool in_place;
    } rows[] = {
        {{.dtype = PE_F64, .rank = 2, .shape = {2, 3}, .data = bytes}, true},
        {{.dtype = PE_F64, .rank = 2, .shape = {2, 3}, .data = bytes + 4}, false},
        {{.dtype = PE_F32, .rank = 2, .shape = {2, 3}, .data = bytes + 4}, true},
        {{.dtype = PE_F32, .rank = 2, .shape = {2, 3}, .data = bytes + 2}, false},
        {{.dtype = PE_BF16, .rank = 2, .shape = {2, 3}, .data = bytes + 2}, true},
        {{.dtype = PE_F16, .rank = 2, .shape = {2, 3}, .data = bytes + 1}, false},
        {{.dtype = PE_F64, .rank = 1, .shape = {1}, .data = bytes, .big_endian = true}, false},
        {{.dtype = PE_F64, .rank = 2, .shape = {2, 3}, .data = bytes, .fortran = true}, false},
        {{.dtype = PE_F64, .rank = 2, .shape = {1, 3}, .data = bytes, .fortran = true}, true},
        {{.dtype = PE_F64, .rank = 0, .data = bytes, .fortran = true}, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_assert_eq(tensor_view_in_place(&rows[i].view), rows[i].in_place, "row %zu", i);
}

/* Byte b of element i (row-major) as the file has it, by its definition. */
static unsigned char byte_in_file(const struct tensor_view *view, size_t i, size_t b)
{
    size_t size = pe_dtype_size(view->dtype), index[TENSOR_RANK_MAX], at = 0;
    for (size_t axis = view->rank; axis-- > 0; i /= view->shape[axis])
        index[axis] = i % view->shape[axis];
    for (size_t n = 0; n < view->rank; n++) {
        size_t axis = view->fortran ? view->rank - 1 - n : n;
        at = at * view->shape[axis] + index[axis];
    }
    return ((const unsigned char *)view->data)[at * size + (view->big_endian ? size - 1 - b : b)];
}

static void expect_unpacked(struct tensor_view view)
{
    cr_assert(tensor_view_measure(&view));
    size_t size = pe_dtype_size(view.dtype);
    unsigned char *file = malloc(view.bytes + 1), *out = malloc(view.bytes ? view.bytes : 1);
    for (size_t i = 0; i < view.bytes + 1; i++)
        file[i] = (unsigned char)(i * 2654435761u >> 13);
    view.data = file + 1; /* never aligned */
    tensor_view_unpack(&view, out);
    for (size_t i = 0; i < view.count; i++)
        for (size_t b = 0; b < size; b++)
            cr_assert_eq(out[i * size + b], byte_in_file(&view, i, b), "%s, element %zu of %zu",
                         pe_dtype_name(view.dtype), i, view.count);
    free(file);
    free(out);
}

Test(view, unpacks_any_order)
{
    static const struct tensor_view shapes[] = {
        {.rank = 0},
        {.rank = 1, .shape = {0}},
        {.rank = 1, .shape = {7}},
        {.rank = 2, .shape = {1, 9}},
        {.rank = 2, .shape = {5, 3}},
        {.rank = 2, .shape = {31, 33}},
        {.rank = 2, .shape = {64, 32}},
        {.rank = 2, .shape = {3, 0}},
        {.rank = 3, .shape = {2, 3, 4}},
        {.rank = 3, .shape = {40, 2, 35}},
        {.rank = 4, .shape = {2, 1, 3, 2}},
        {.rank = 5, .shape = {3, 2, 1, 4, 2}},
        {.rank = 8, .shape = {2, 1, 3, 2, 1, 2, 2, 3}},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (enum pe_dtype dtype = 0; dtype < PE_DTYPES_N; dtype++)
            for (unsigned order = 0; order < 4; order++) {
                struct tensor_view view = shapes[i];
                view.dtype = dtype;
                view.big_endian = order & 1;
                view.fortran = order & 2;
                expect_unpacked(view);
            }
}
