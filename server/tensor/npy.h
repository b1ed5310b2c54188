// SPDX-License-Identifier: Apache-2.0
/*
 * npy.h: numpy's .npy files, versions 1.0, 2.0 and 3.0 in, 1.0 out. Read are the dtypes that
 * posenc.h has, in both byte orders ('=' and '|' are read as little-endian, as numpy does on the
 * machines this runs on) and both orders of axes; everything else is refused by name. The header
 * must be what numpy writes, up to spaces, quotes and the order of its keys.
 */
#ifndef TENSOR_NPY_H
#define TENSOR_NPY_H

#include "err.h"
#include "view.h"

#define NPY_HEADER_IN_MAX  ((size_t)64 << 10) /* bytes of a header that is read */
#define NPY_HEADER_OUT_MAX 320                /* bytes that npy_header may write */

/* Reads a whole file; the view points into it. `u2_is_bf16`: '<u2' and '>u2' hold bits of bf16;
 * else they are refused. On failure malformed-tensor (or limit-exceeded: too many axes) is added
 * with the place in the file. */
bool npy_read(const struct tensor_source *file, bool u2_is_bf16, struct tensor_view *view,
              struct err *err);

/* Writes all that comes before the elements of a little-endian, row-major file, byte by byte as
 * numpy.save does; returns its length, a multiple of 64. bf16 is written as its bits, '<u2'. */
size_t npy_header(enum pe_dtype dtype, size_t rank, const size_t *shape,
                  char out[NPY_HEADER_OUT_MAX]);

#endif
