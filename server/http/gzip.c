// SPDX-License-Identifier: Apache-2.0
/*
 * gzip.c: zlib over whole buffers. zlib counts in 32 bits what it is given at a time, so input and
 * output are handed over in pieces.
 */
#include "gzip.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#define PIECE_MAX   ((size_t)1 << 30)
#define GROW_BYTES  ((size_t)64 << 10) /* least room for output */
#define GZIP_WINDOW (15 + 16)          /* zlib: the largest window, in gzip's framing */
#define MEMORY      8                  /* zlib's default */
#define RATIO_MAX   1032 /* bytes that one byte of a deflate stream may grow to, at most */
#define OS_UNKNOWN  255

/* What is left of the input, beyond what zlib was given. */
struct input {
    const unsigned char *at;
    size_t left;
};

static void feed(z_stream *stream, struct input *input)
{
    if (stream->avail_in > 0)
        return;
    size_t n = input->left < PIECE_MAX ? input->left : PIECE_MAX;
    stream->next_in = (unsigned char *)input->at; /* zlib only reads there */
    stream->avail_in = (uInt)n;
    input->at += n;
    input->left -= n;
}

/* ---- Reading -------------------------------------------------------------------------------- */

struct inflation {
    z_stream stream;
    struct input input;
    size_t len; /* of the body */
    struct buf *out;
    bool aside;       /* count what comes out, keep nothing */
    size_t aside_len; /* bytes that were not kept */
    unsigned char nowhere[16 << 10];
    struct gzip_fault *fault;
};

static enum gzip_result malformed(const struct inflation *in, const char *says)
{
    in->fault->says = says;
    in->fault->at = in->len - in->input.left - in->stream.avail_in;
    return GZIP_MALFORMED;
}

/* What zlib has found, in the words of this service. */
static const char *reason(const struct inflation *in)
{
    static const struct {
        const char *message, *says;
    } rows[] = {
        {"incorrect header check", "it does not begin with 1f 8b, so it is not gzip"},
        {"unknown compression method", "its method of compression is not deflate"},
        {"unknown header flags set", "its header has flags that are reserved"},
        {"header crc mismatch", "the checksum of its header is wrong"},
        {"incorrect data check", "the checksum of its contents is wrong"},
        {"incorrect length check", "the length at its end is not that of its contents"},
    };
    const char *message = in->stream.msg ? in->stream.msg : "";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].message, message) == 0)
            return rows[i].says;
    return "its compressed data are damaged";
}

size_t gzip_announced(const void *body, size_t len)
{
    const size_t trailer = 4;
    if (len < trailer)
        return 0;
    const unsigned char *at = (const unsigned char *)body + len - trailer;
    size_t size = at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
    return size / RATIO_MAX <= len ? size : 0;
}

/* Has zlib write behind the buffer's bytes, or aside: also where the buffer is full, since the end
 * of a member may still come without another byte. */
static enum gzip_result inflate_some(struct inflation *in, int *status)
{
    struct buf *out = in->out;
    size_t left = out->len_max - out->len;
    bool aside = in->aside || left == 0;
    if (!aside && out->len == out->capacity &&
        !buf_reserve(out, left < GROW_BYTES ? left : GROW_BYTES))
        return GZIP_NO_MEMORY;
    size_t room = aside ? sizeof in->nowhere : out->capacity - out->len;
    room = room < PIECE_MAX ? room : PIECE_MAX;
    in->stream.next_out = aside ? in->nowhere : (unsigned char *)out->data + out->len;
    in->stream.avail_out = (uInt)room;
    *status = inflate(&in->stream, Z_NO_FLUSH);
    room -= in->stream.avail_out;
    if (!aside)
        out->len += room;
    else
        in->aside_len += room;
    return in->aside_len > left ? GZIP_TOO_LARGE : GZIP_OK;
}

/* Whether another member may begin at the next byte, which is there. */
static bool begins_member(const z_stream *stream)
{
    return stream->next_in[0] == 0x1f && (stream->avail_in == 1 || stream->next_in[1] == 0x8b);
}

static enum gzip_result inflate_members(struct inflation *in)
{
    feed(&in->stream, &in->input);
    for (;;) {
        int status;
        enum gzip_result result = inflate_some(in, &status);
        if (result != GZIP_OK)
            return result;
        feed(&in->stream, &in->input);
        bool at_end = in->stream.avail_in == 0;
        if (status == Z_STREAM_END && at_end)
            return GZIP_OK;
        if (status == Z_STREAM_END) {
            if (!begins_member(&in->stream))
                return malformed(in, "what follows its end is not gzip");
            inflateReset(&in->stream);
        } else if (status == Z_MEM_ERROR) {
            return GZIP_NO_MEMORY;
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            return malformed(in, reason(in));
        } else if (at_end && in->stream.avail_out > 0) {
            return malformed(in, "it ends too early");
        }
    }
}

enum gzip_result gzip_inflate(const void *body, size_t len, struct buf *out,
                              struct gzip_fault *fault)
{
    struct inflation in = {.input = {body, len}, .len = len, .out = out, .fault = fault};
    size_t size = gzip_announced(body, len);
    in.aside = size > out->len_max - out->len;
    if (!in.aside && size > 0 && !buf_reserve(out, size))
        return GZIP_NO_MEMORY;
    if (inflateInit2(&in.stream, GZIP_WINDOW) != Z_OK)
        return GZIP_NO_MEMORY;
    enum gzip_result result = inflate_members(&in);
    inflateEnd(&in.stream);
    return result;
}

/* ---- Writing -------------------------------------------------------------------------------- */

enum gzip_result gzip_deflate(const void *data, size_t len, int level, struct buf *out)
{
    z_stream stream = {.next_in = NULL};
    gz_header header = {.os = OS_UNKNOWN};
    struct input input = {data, len};
    enum gzip_result result = GZIP_OK;
    int status = Z_OK;
    if (deflateInit2(&stream, level, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return GZIP_NO_MEMORY;
    deflateSetHeader(&stream, &header);
    while (status != Z_STREAM_END && result == GZIP_OK) {
        size_t left = out->len_max - out->len;
        feed(&stream, &input);
        if (left == 0)
            result = GZIP_TOO_LARGE;
        else if (out->len == out->capacity &&
                 !buf_reserve(out, left < GROW_BYTES ? left : GROW_BYTES))
            result = GZIP_NO_MEMORY;
        else {
            size_t room = out->capacity - out->len;
            room = room < PIECE_MAX ? room : PIECE_MAX;
            stream.next_out = (unsigned char *)out->data + out->len;
            stream.avail_out = (uInt)room;
            status = deflate(&stream, input.left > 0 ? Z_NO_FLUSH : Z_FINISH);
            out->len += room - stream.avail_out;
        }
    }
    deflateEnd(&stream);
    return result;
}
