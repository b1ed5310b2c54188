// SPDX-License-Identifier: Apache-2.0
/*
 * safetensors.h: .safetensors files: the length of a JSON header (8 bytes, little-endian), the
 * header, and the elements of all tensors, little-endian and row-major. Reading checks all of it:
 * strict JSON without a key given twice, nothing but dtype, shape and data_offsets for a tensor,
 * strings only in __metadata__, and data that follow one another in the order of the header from
 * the first byte to the last, each as long as its shape says.
 *
 * The format aligns no data: behind a tensor of a small dtype the next may stand at any byte.
 */
#ifndef TENSOR_SAFETENSORS_H
#define TENSOR_SAFETENSORS_H

#include "arena.h"
#include "buf.h"
#include "err.h"
#include "view.h"

#define SAFETENSORS_HEADER_MAX  ((size_t)1 << 20) /* bytes of JSON, with padding */
#define SAFETENSORS_ENTRIES_MAX 256 /* tensors in a file, and also entries of __metadata__ */

#define SAFETENSORS_METADATA "__metadata__"

struct safetensors_tensor {
    const char *name;
    struct tensor_view view;
};

struct safetensors_pair {
    const char *key, *value;
    size_t value_len;
};

struct safetensors {
    struct safetensors_tensor *tensors; /* in the order of the file */
    size_t tensors_n;
    struct safetensors_pair *metadata;
    size_t metadata_n;
};

/* Reads a whole file. Views point into it; names and metadata are NUL-terminated UTF-8 in the
 * arena (no string contains a zero byte). On failure malformed-tensor, or limit-exceeded for too
 * many entries, axes or bytes of memory, is added; it names the tensor, and `where` with it. */
bool safetensors_read(const struct tensor_source *file, struct arena *arena,
                      struct safetensors *out, struct err *err);

/* The tensor or the value of this name, or NULL. */
const struct safetensors_tensor *safetensors_tensor(const struct safetensors *file,
                                                    const char *name);
const struct safetensors_pair *safetensors_metadata(const struct safetensors *file,
                                                    const char *key);

/* The name of a dtype in files: "F64", "F32", "F16", "BF16", "I64". */
const char *safetensors_dtype(enum pe_dtype dtype);

/* Appends all that comes before the data: __metadata__ first (left out without pairs), then the
 * tensors in the order given, their data to follow in that order without a gap; padded with spaces
 * to a multiple of 8. Of the views only dtype, rank, shape and bytes are looked at. Returns the
 * bytes of data that must follow; the buffer remembers a failure. */
size_t safetensors_header(const struct safetensors *file, struct buf *out);

#endif
