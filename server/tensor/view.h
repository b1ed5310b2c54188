// SPDX-License-Identifier: Apache-2.0
/*
 * view.h: a tensor as it stands in a file: dtype, shape, and where its elements are, in whichever
 * order of bytes and of axes. npy.h and safetensors.h find views; whoever computes takes the
 * elements in place where they already are as it needs them, else has them unpacked.
 */
#ifndef TENSOR_VIEW_H
#define TENSOR_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "posenc.h"

#define TENSOR_RANK_MAX 8

/* What a reader reads, and the JSON pointer under which it reports mistakes ("" for the body). */
struct tensor_source {
    const void *bytes;
    size_t len;
    const char *where;
};

struct tensor_view {
    enum pe_dtype dtype;
    size_t rank; /* <= TENSOR_RANK_MAX; 0: one element */
    size_t shape[TENSOR_RANK_MAX];
    size_t count;     /* elements: the product of the shape */
    size_t bytes;     /* of all elements */
    const void *data; /* points into the file; aligned to nothing */
    bool big_endian;
    bool fortran; /* the first axis varies fastest */
};

/* Sets count and bytes from dtype, rank and shape; false when they do not fit size_t. An axis of
 * size 0 makes them 0, but the product of the others must fit all the same, so that strides do. */
bool tensor_view_measure(struct tensor_view *view);

/* Whether the data can be used where it is: little-endian, row-major and aligned to its dtype. */
bool tensor_view_in_place(const struct tensor_view *view);

/* Writes the elements to out (view->bytes, aligned to the dtype), little-endian and row-major. */
void tensor_view_unpack(const struct tensor_view *view, void *out);

#endif
