// SPDX-License-Identifier: Apache-2.0
/*
 * safetensors.c: reads the header of a .safetensors file with the words of json/scan.h, in one pass
 * and without a tree, since it may be a mebibyte and its grammar is small.
 */
#include "safetensors.h"

#include <endian.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "scan.h"
#include "utf8.h"

#define LENGTH_BYTES 8
#define METADATA     SAFETENSORS_METADATA

/* Other dtypes of the format, and what to convert them to. */
static const struct {
    const char *name, *hint;
} others[] = {
    {"BOOL", "convert it to F32"},
    {"U8", "convert it to I64"},
    {"I8", "convert it to I64"},
    {"U16", "convert it to I64"},
    {"I16", "convert it to I64"},
    {"U32", "convert it to I64"},
    {"I32", "convert it to I64"},
    {"U64", "convert it to I64"},
    {"F4", "convert it to BF16"},
    {"F6_E2M3", "convert it to BF16"},
    {"F6_E3M2", "convert it to BF16"},
    {"F8_E5M2", "convert it to BF16"},
    {"F8_E4M3", "convert it to BF16"},
    {"F8_E8M0", "convert it to BF16"},
    {"C64", "split it into two tensors, F32"},
};

struct reader {
    struct scan scan;
    struct err scan_err; /* what scan says, to be told of the header */
    const struct tensor_source *file;
    const char *data; /* behind the header */
    size_t data_len;
    size_t data_read; /* bytes that belong to tensors read so far */
    struct arena *arena;
    struct safetensors *out;
    size_t tensors_room, metadata_room;
    bool metadata_seen;
    struct safetensors_tensor *tensor; /* being read, or NULL */
    struct err *err;
};

/* ---- Messages ------------------------------------------------------------------------------- */

/* The pointer of the tensor being read: where, '/', its name escaped (RFC 6901), cut to fit. */
static void point(const struct reader *reader, char *out, size_t size)
{
    const char *name = reader->tensor ? reader->tensor->name : "";
    size_t len = (size_t)snprintf(out, size, "%s%s", reader->file->where, *name ? "/" : "");
    for (; *name && len + 3 < size; name++)
        if (*name == '~' || *name == '/')
            len += (size_t)snprintf(out + len, size - len, "~%d", *name == '/');
        else
            out[len++] = *name;
    if (len < size)
        out[len] = '\0';
}

/* Adds malformed-tensor, about the tensor being read if there is one; returns false. */
__attribute__((format(printf, 3, 4))) static bool refuse(const struct reader *reader,
                                                         const char *hint, const char *format, ...)
{
    char says[240], where[sizeof reader->err->item[0].where];
    va_list args;
    va_start(args, format);
    vsnprintf(says, sizeof says, format, args);
    va_end(args);
    point(reader, where, sizeof where);
    if (!reader->tensor)
        return err_add(reader->err, ERR_malformed_tensor, where, hint, "%s", says);
    return err_add(reader->err, ERR_malformed_tensor, where, hint, "tensor \"%.60s\": %s",
                   reader->tensor->name, says);
}

/* Tells what the scanner has said. */
static bool refuse_json(const struct reader *reader)
{
    const struct err_item *item = &reader->scan_err.item[0];
    return refuse(reader, NULL, "the safetensors header, line %zu, column %zu: %s", item->line,
                  item->column, item->detail);
}

static bool expected(struct reader *reader, const char *what)
{
    if (reader->scan.at == reader->scan.end)
        return refuse(reader, NULL, "the safetensors header ends where %s is expected", what);
    scan_expected(&reader->scan, what);
    return refuse_json(reader);
}

static bool no_memory(const struct reader *reader)
{
    return err_add(reader->err, ERR_limit_exceeded, reader->file->where, NULL,
                   "the safetensors header needs more memory than a request may take");
}

static bool too_many(const struct reader *reader, const char *what, size_t limit)
{
    err_add(reader->err, ERR_limit_exceeded, reader->file->where, NULL,
            "the safetensors file has more than %zu %s", limit, what);
    reader->err->limit = (double)limit;
    return false;
}

/* ---- Words ---------------------------------------------------------------------------------- */

static bool take(struct reader *reader, char byte, const char *what)
{
    if (scan_next(&reader->scan) != byte)
        return expected(reader, what);
    reader->scan.at++;
    return true;
}

/* A string, unescaped into the arena, and its length; NULL if there is none. */
static const char *take_string(struct reader *reader, size_t *len, const char *what)
{
    if (scan_next(&reader->scan) != '"') {
        expected(reader, what);
        return NULL;
    }
    const char *from = reader->scan.at + 1;
    if (!scan_string(&reader->scan)) {
        refuse_json(reader);
        return NULL;
    }
    const char *end = reader->scan.at - 1;
    char *text = arena_alloc(reader->arena, (size_t)(end - from) + 1), *to = text;
    if (!text) {
        no_memory(reader);
        return NULL;
    }
    while (from < end)
        if (*from == '\\')
            to += utf8_encode(unescape(&from), to);
        else
            *to++ = *from++;
    *to = '\0';
    *len = (size_t)(to - text);
    return text;
}

/* A whole number that is no larger than 2^64 - 1. */
static bool take_size(struct reader *reader, size_t *size, const char *what)
{
    bool integer;
    int first = scan_next(&reader->scan);
    const char *start = reader->scan.at;
    if (first != '-' && (first < '0' || first > '9'))
        return expected(reader, what);
    if (!scan_number(&reader->scan, &integer))
        return refuse_json(reader);
    int len = (int)(reader->scan.at - start < 40 ? reader->scan.at - start : 40);
    if (!integer || first == '-')
        return refuse(reader, NULL, "%s must be a whole number, got %.*s", what, len, start);
    *size = 0;
    for (const char *c = start; c < reader->scan.at; c++)
        if (__builtin_mul_overflow(*size, 10, size) ||
            __builtin_add_overflow(*size, (size_t)(*c - '0'), size))
            return refuse(reader, NULL, "%s is beyond 64 bits: %.*s", what, len, start);
    return true;
}

/* Goes on to the next element between brackets, of which n were read: true at one, false at the
 * closing bracket, which is taken, and where something else stands (*ok is false then). */
static bool more(struct reader *reader, size_t n, char close, bool *ok)
{
    int byte = scan_next(&reader->scan);
    *ok = true;
    if (byte == close) {
        reader->scan.at++;
        return false;
    }
    if (n == 0)
        return true;
    *ok = take(reader, ',', close == '}' ? "',' or '}'" : "',' or ']'");
    return *ok;
}

/* A key and its colon; NULL if they are not there. */
static const char *take_key(struct reader *reader)
{
    size_t len;
    const char *key = take_string(reader, &len, "a key in quotes");
    return key && take(reader, ':', "':'") ? key : NULL;
}

/* Room for one more element of a list; the arena keeps the shorter list too. */
static bool make_room(struct reader *reader, void **list, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return true;
    size_t wanted = *room ? 2 * *room : 8;
    void *longer = arena_calloc(reader->arena, wanted, size);
    if (!longer)
        return no_memory(reader);
    if (n > 0)
        memcpy(longer, *list, n * size);
    *list = longer;
    *room = wanted;
    return true;
}

/* ---- A tensor ------------------------------------------------------------------------------- */

static bool read_dtype(struct reader *reader)
{
    size_t len;
    const char *name = take_string(reader, &len, "the dtype in quotes");
    if (!name)
        return false;
    for (enum pe_dtype i = 0; i < PE_DTYPES_N; i++)
        if (strcmp(name, safetensors_dtype(i)) == 0) {
            reader->tensor->view.dtype = i;
            return true;
        }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(name, others[i].name) == 0)
            return refuse(reader, others[i].hint, "dtype %s is not read here", name);
    return refuse(reader, "dtypes that are read: F64, F32, F16, BF16, I64",
                  "\"%.40s\" is no dtype of the format", name);
}

static bool read_shape(struct reader *reader)
{
    struct tensor_view *view = &reader->tensor->view;
    bool ok;
    if (!take(reader, '[', "a list of sizes"))
        return false;
    for (view->rank = 0; more(reader, view->rank, ']', &ok); view->rank++) {
        if (view->rank == TENSOR_RANK_MAX)
            return too_many(reader, "axes in a tensor", TENSOR_RANK_MAX);
        if (!take_size(reader, &view->shape[view->rank], "a size"))
            return false;
    }
    return ok;
}

/* Begin and end of the data, counted from the end of the header. */
static bool read_offsets(struct reader *reader, size_t offsets[2])
{
    return take(reader, '[', "a list of two offsets") &&
           take_size(reader, &offsets[0], "an offset") && take(reader, ',', "','") &&
           take_size(reader, &offsets[1], "an offset") && take(reader, ']', "']'");
}

static bool read_member(struct reader *reader, unsigned *seen, size_t offsets[2])
{
    static const char *const keys[] = {"dtype", "shape", "data_offsets"};
    const char *key = take_key(reader);
    unsigned i = 0;
    if (!key)
        return false;
    while (i < 3 && strcmp(key, keys[i]) != 0)
        i++;
    if (i == 3)
        return refuse(reader, NULL, "key \"%.40s\" is none of dtype, shape and data_offsets", key);
    if (*seen & 1u << i)
        return refuse(reader, NULL, "%s is given twice", key);
    *seen |= 1u << i;
    return i == 0   ? read_dtype(reader)
           : i == 1 ? read_shape(reader)
                    : read_offsets(reader, offsets);
}

/* Whether the data are where and as long as they must be. */
static bool place(struct reader *reader, const size_t offsets[2])
{
    struct tensor_view *view = &reader->tensor->view;
    size_t begin = offsets[0], end = offsets[1], expect = reader->data_read;
    if (!tensor_view_measure(view))
        return refuse(reader, NULL, "the shape asks for more bytes than 64 bits can count");
    if (begin != expect)
        return refuse(reader, "data stand in the order of the header, without gaps",
                      "the data begin at %zu and not at %zu, %s", begin, expect,
                      expect == 0      ? "where data begin"
                      : begin < expect ? "so that tensors overlap or are out of order"
                                       : "which leaves a hole");
    if (end < begin)
        return refuse(reader, NULL, "the data end at %zu, before they begin at %zu", end, begin);
    if (end > reader->data_len)
        return refuse(reader, NULL, "the data end at %zu, the file has only %zu bytes of data", end,
                      reader->data_len);
    if (end - begin != view->bytes)
        return refuse(reader, NULL, "data_offsets span %zu bytes, %zu elements of %s are %zu",
                      end - begin, view->count, safetensors_dtype(view->dtype), view->bytes);
    view->data = reader->data + begin;
    reader->data_read = end;
    return true;
}

static bool read_tensor(struct reader *reader, const char *name)
{
    struct safetensors *out = reader->out;
    unsigned seen = 0;
    size_t offsets[2], n;
    bool ok;
    if (safetensors_tensor(out, name))
        return refuse(reader, NULL, "tensor \"%.60s\" stands twice in the safetensors header",
                      name);
    if (out->tensors_n == SAFETENSORS_ENTRIES_MAX)
        return too_many(reader, "tensors", SAFETENSORS_ENTRIES_MAX);
    if (!make_room(reader, (void **)&out->tensors, out->tensors_n, &reader->tensors_room,
                   sizeof *out->tensors))
        return false;
    reader->tensor = &out->tensors[out->tensors_n];
    reader->tensor->name = name;
    if (!take(reader, '{', "an object with dtype, shape and data_offsets"))
        return false;
    for (n = 0; more(reader, n, '}', &ok); n++)
        if (!read_member(reader, &seen, offsets))
            return false;
    if (!ok)
        return false;
    if (seen != 7)
        return refuse(reader, NULL, "%s is missing",
                      !(seen & 1)   ? "dtype"
                      : !(seen & 2) ? "shape"
                                    : "data_offsets");
    if (!place(reader, offsets))
        return false;
    reader->tensor = NULL;
    out->tensors_n++;
    return true;
}

/* ---- __metadata__ and the header as a whole ------------------------------------------------- */

static bool read_pair(struct reader *reader)
{
    struct safetensors *out = reader->out;
    struct safetensors_pair pair = {.key = take_key(reader)};
    if (!pair.key)
        return false;
    if (safetensors_metadata(out, pair.key))
        return refuse(reader, NULL, "\"%.60s\" stands twice in " METADATA, pair.key);
    if (out->metadata_n == SAFETENSORS_ENTRIES_MAX)
        return too_many(reader, "entries in " METADATA, SAFETENSORS_ENTRIES_MAX);
    if (!make_room(reader, (void **)&out->metadata, out->metadata_n, &reader->metadata_room,
                   sizeof pair))
        return false;
    pair.value = take_string(reader, &pair.value_len, "a string, as all of " METADATA);
    if (!pair.value)
        return false;
    out->metadata[out->metadata_n++] = pair;
    return true;
}

static bool read_metadata(struct reader *reader)
{
    bool ok;
    if (reader->metadata_seen)
        return refuse(reader, NULL, METADATA " stands twice in the safetensors header");
    reader->metadata_seen = true;
    if (!take(reader, '{', "an object of strings in " METADATA))
        return false;
    while (more(reader, reader->out->metadata_n, '}', &ok))
        if (!read_pair(reader))
            return false;
    return ok;
}

static bool read_header(struct reader *reader)
{
    bool ok;
    reader->scan.at++; /* the brace */
    for (size_t n = 0; more(reader, n, '}', &ok); n++) {
        const char *key = take_key(reader);
        if (!key ||
            !(strcmp(key, METADATA) == 0 ? read_metadata(reader) : read_tensor(reader, key)))
            return false;
    }
    if (!ok)
        return false;
    while (reader->scan.at < reader->scan.end && *reader->scan.at == ' ')
        reader->scan.at++;
    return reader->scan.at == reader->scan.end ||
           expected(reader, "nothing but spaces behind the closing brace");
}

/* Finds header and data by the length in front. */
static bool find_header(struct reader *reader)
{
    const struct tensor_source *file = reader->file;
    const char *bytes = file->bytes;
    uint64_t len = 0;
    if (file->len < LENGTH_BYTES)
        return refuse(reader, NULL,
                      "a safetensors file begins with 8 bytes of length, this one has %zu bytes",
                      file->len);
    memcpy(&len, bytes, LENGTH_BYTES);
    len = le64toh(len);
    if (len > SAFETENSORS_HEADER_MAX)
        return refuse(reader, NULL,
                      "a safetensors header of %" PRIu64 " bytes is over the limit of %zu", len,
                      SAFETENSORS_HEADER_MAX);
    if (len > file->len - LENGTH_BYTES)
        return refuse(reader, NULL,
                      "a safetensors header of %" PRIu64 " bytes is announced, %zu are left in "
                      "the file",
                      len, file->len - LENGTH_BYTES);
    const char *header = bytes + LENGTH_BYTES;
    reader->data = header + len;
    reader->data_len = file->len - LENGTH_BYTES - len;
    reader->scan = (struct scan){header, reader->data, header, &reader->scan_err};
    return (len > 0 && *header == '{') || expected(reader, "'{' at once");
}

bool safetensors_read(const struct tensor_source *file, struct arena *arena,
                      struct safetensors *out, struct err *err)
{
    struct reader reader = {.file = file, .arena = arena, .out = out, .err = err};
    *out = (struct safetensors){.tensors_n = 0};
    if (!find_header(&reader) || !read_header(&reader))
        return false;
    if (reader.data_read != reader.data_len)
        return refuse(&reader, NULL, "%zu bytes behind the last tensor belong to none",
                      reader.data_len - reader.data_read);
    return true;
}

const struct safetensors_tensor *safetensors_tensor(const struct safetensors *file,
                                                    const char *name)
{
    for (size_t i = 0; i < file->tensors_n; i++)
        if (strcmp(file->tensors[i].name, name) == 0)
            return &file->tensors[i];
    return NULL;
}

const struct safetensors_pair *safetensors_metadata(const struct safetensors *file, const char *key)
{
    for (size_t i = 0; i < file->metadata_n; i++)
        if (strcmp(file->metadata[i].key, key) == 0)
            return &file->metadata[i];
    return NULL;
}
