// SPDX-License-Identifier: Apache-2.0
/* safetensors_write.c: the header of a .safetensors file, and the names that both directions use.
 */
#include <endian.h>
#include <string.h>

#include "safetensors.h"
#include "write.h"

#define LENGTH_BYTES 8
#define ALIGNMENT    8 /* of the data, by spaces behind the header */

const char *safetensors_dtype(enum pe_dtype dtype)
{
    static const char *const names[PE_DTYPES_N] = {"F64", "F32", "F16", "BF16", "I64"};
    return names[dtype];
}

static void write_key(struct buf *out, const char *key)
{
    json_write_string(out, key, strlen(key));
    buf_putc(out, ':');
}

static void write_metadata(const struct safetensors *file, struct buf *out)
{
    write_key(out, SAFETENSORS_METADATA);
    for (size_t i = 0; i < file->metadata_n; i++) {
        buf_putc(out, i == 0 ? '{' : ',');
        write_key(out, file->metadata[i].key);
        json_write_string(out, file->metadata[i].value, file->metadata[i].value_len);
    }
    buf_putc(out, '}');
}

static void write_tensor(const struct safetensors_tensor *tensor, size_t begin, struct buf *out)
{
    const struct tensor_view *view = &tensor->view;
    write_key(out, tensor->name);
    buf_printf(out, "{\"dtype\":\"%s\",\"shape\":[", safetensors_dtype(view->dtype));
    for (size_t i = 0; i < view->rank; i++)
        buf_printf(out, "%s%zu", i ? "," : "", view->shape[i]);
    buf_printf(out, "],\"data_offsets\":[%zu,%zu]}", begin, begin + view->bytes);
}

size_t safetensors_header(const struct safetensors *file, struct buf *out)
{
    size_t start = out->len, data = 0;
    buf_append(out, "\0\0\0\0\0\0\0\0", LENGTH_BYTES);
    buf_putc(out, '{');
    if (file->metadata_n > 0)
        write_metadata(file, out);
    for (size_t i = 0; i < file->tensors_n; i++) {
        if (i > 0 || file->metadata_n > 0)
            buf_putc(out, ',');
        write_tensor(&file->tensors[i], data, out);
        out->failed =
            __builtin_add_overflow(data, file->tensors[i].view.bytes, &data) || out->failed;
    }
    buf_putc(out, '}');
    while ((out->len - start) % ALIGNMENT != 0 && !out->failed)
        buf_putc(out, ' ');
    if (out->failed)
        return 0;
    uint64_t len = htole64(out->len - start - LENGTH_BYTES);
    memcpy(out->data + start, &len, LENGTH_BYTES);
    return data;
}
