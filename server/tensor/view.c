// SPDX-License-Identifier: Apache-2.0
/*
 * view.c: sizes of a tensor in a file, and its elements in the order that everything else here
 * counts on. A block of two axes is copied at a time, tile by tile where the file's order is the
 * other one, so that both sides stay in the cache.
 */
#include "view.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define TILE 32 /* elements a side; 32 rows of 32 doubles are 8 KiB */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian, and so are we");

bool tensor_view_measure(struct tensor_view *view)
{
    size_t product = 1;
    bool empty = false;
    for (size_t i = 0; i < view->rank; i++) {
        size_t size = view->shape[i];
        empty = empty || size == 0;
        if (__builtin_mul_overflow(product, size ? size : 1, &product))
            return false;
    }
    if (__builtin_mul_overflow(product, pe_dtype_size(view->dtype), &view->bytes))
        return false;
    view->count = empty ? 0 : product;
    view->bytes = empty ? 0 : view->bytes;
    return true;
}

/* Whether the order of the axes makes no difference. */
static bool is_row_major(const struct tensor_view *view)
{
    size_t wide = 0; /* axes of more than one element */
    for (size_t i = 0; i < view->rank; i++)
        wide += view->shape[i] > 1;
    return !view->fortran || wide < 2;
}

bool tensor_view_in_place(const struct tensor_view *view)
{
    return !view->big_endian && is_row_major(view) &&
           (uintptr_t)view->data % pe_dtype_size(view->dtype) == 0;
}

/* A block of rows x columns elements; the strides are in bytes, those of `to` between rows. */
struct block {
    const char *from;
    char *to;
    size_t rows, columns;
    size_t from_row, from_column, to_row;
    bool swap;
};

/* Copies the tile whose corner is at (row, column). */
#define COPY_TILE(bits)                                                                            \
    static void copy_tile_##bits(const struct block *block, size_t row, size_t column)             \
    {                                                                                              \
        size_t rows = block->rows - row < TILE ? block->rows : row + TILE;                         \
        size_t columns = block->columns - column < TILE ? block->columns : column + TILE;          \
        for (size_t i = row; i < rows; i++)                                                        \
            for (size_t j = column; j < columns; j++) {                                            \
                uint##bits##_t value;                                                              \
                memcpy(&value, block->from + i * block->from_row + j * block->from_column,         \
                       sizeof value);                                                              \
                value = block->swap ? __builtin_bswap##bits(value) : value;                        \
                memcpy(block->to + i * block->to_row + j * sizeof value, &value, sizeof value);    \
            }                                                                                      \
    }
COPY_TILE(16)
COPY_TILE(32)
COPY_TILE(64)

static void copy_block(const struct block *block, size_t size)
{
    for (size_t i = 0; i < block->rows; i += TILE)
        for (size_t j = 0; j < block->columns; j += TILE)
            if (size == 2)
                copy_tile_16(block, i, j);
            else if (size == 4)
                copy_tile_32(block, i, j);
            else
                copy_tile_64(block, i, j);
}

/* Copies the blocks of the first and the last axis, which are the far and the near one on either
 * side, for every index of the axes between. */
static void copy_fortran(const struct tensor_view *view, char *out)
{
    assert(view->rank >= 2);
    size_t size = pe_dtype_size(view->dtype), last = view->rank - 1;
    size_t from[TENSOR_RANK_MAX] = {size}, to[TENSOR_RANK_MAX] = {0}; /* steps in bytes */
    size_t index[TENSOR_RANK_MAX] = {0};
    to[last] = size;
    for (size_t i = 1; i <= last; i++) {
        from[i] = from[i - 1] * view->shape[i - 1];
        to[last - i] = to[last - i + 1] * view->shape[last - i + 1];
    }
    struct block block = {.from = view->data,
                          .rows = view->shape[0],
                          .columns = view->shape[last],
                          .from_row = from[0],
                          .from_column = from[last],
                          .to_row = to[0],
                          .swap = view->big_endian};
    block.to = out;
    for (size_t axis = 1; axis > 0;) {
        copy_block(&block, size);
        for (axis = last - 1; axis > 0; axis--) {
            block.from += from[axis];
            block.to += to[axis];
            if (++index[axis] < view->shape[axis])
                break;
            block.from -= from[axis] * index[axis];
            block.to -= to[axis] * index[axis];
            index[axis] = 0;
        }
    }
}

void tensor_view_unpack(const struct tensor_view *view, void *out)
{
    if (view->count == 0)
        return;
    if (!is_row_major(view)) {
        copy_fortran(view, out);
    } else if (!view->big_endian) {
        memcpy(out, view->data, view->bytes);
    } else {
        size_t size = pe_dtype_size(view->dtype);
        copy_block(&(struct block){view->data, out, 1, view->count, 0, size, 0, true}, size);
    }
}
