// SPDX-License-Identifier: Apache-2.0
/*
 * files.h: files of tensors for tests of the api: .safetensors written by hand, answers taken
 * apart by a reader that shares nothing with the service but jansson. Include once per program,
 * after call.h.
 */
#ifndef TESTS_API_FILES_H
#define TESTS_API_FILES_H

#include <stdint.h>

#include "call.h"

#define FILE_BYTES_MAX 65536

struct file {
    char bytes[FILE_BYTES_MAX];
    size_t len;
};

/* Header and data put together as the format says: length, JSON, data. */
static inline void file_safetensors(struct file *file, const char *header, const void *data,
                                    size_t data_len)
{
    uint64_t len = strlen(header);
    file->len = 8 + len + data_len;
    cr_assert_leq(file->len, sizeof file->bytes);
    for (size_t i = 0; i < 8; i++)
        file->bytes[i] = (char)(len >> 8 * i);
    memcpy(file->bytes + 8, header, len);
    if (data_len > 0)
        memcpy(file->bytes + 8 + len, data, data_len);
}

static inline void file_load(struct file *file, const char *path)
{
    FILE *stream = fopen(path, "rb");
    cr_assert(stream, "%s: not there", path);
    file->len = fread(file->bytes, 1, sizeof file->bytes, stream);
    fclose(stream);
}

/* The header of a .safetensors answer as JSON (json_decref), and where its data begin. */
static inline json_t *safetensors_open(const char *bytes, size_t len, const char **data)
{
    uint64_t header_len = 0;
    json_error_t error;
    cr_assert_gt(len, 8);
    for (size_t i = 0; i < 8; i++)
        header_len |= (uint64_t)(unsigned char)bytes[i] << 8 * i;
    cr_assert(header_len % 8 == 0 && header_len <= len - 8, "header of %zu in %zu bytes",
              (size_t)header_len, len);
    json_t *header = json_loadb(bytes + 8, header_len, JSON_REJECT_DUPLICATES, &error);
    cr_assert(header, "%s", error.text);
    *data = bytes + 8 + header_len;
    return header;
}

/* The bytes of one tensor; its dtype must be the one named. */
static inline const char *safetensors_data(const json_t *header, const char *data, const char *name,
                                           const char *dtype, size_t *len)
{
    const json_t *tensor = json_object_get(header, name);
    const json_t *offsets = json_object_get(tensor, "data_offsets");
    cr_assert(json_array_size(offsets) == 2, "no tensor %s", name);
    size_t begin = (size_t)json_integer_value(json_array_get(offsets, 0));
    *len = (size_t)json_integer_value(json_array_get(offsets, 1)) - begin;
    cr_expect_str_eq(json_string_value(json_object_get(tensor, "dtype")), dtype);
    return data + begin;
}

/* The data of an .npy file of version 1.0. */
static inline const char *npy_data(const char *bytes, size_t len, size_t *data_len)
{
    cr_assert(len >= 10 && memcmp(bytes, "\x93NUMPY\x01\x00", 8) == 0, "no npy 1.0");
    size_t header = (size_t)(unsigned char)bytes[8] | (size_t)(unsigned char)bytes[9] << 8;
    cr_assert_leq(10 + header, len);
    *data_len = len - 10 - header;
    return bytes + 10 + header;
}

#endif
