// SPDX-License-Identifier: Apache-2.0
/*
 * test_gzip.c: members that another program made are read, what is written is read by zlib itself,
 * damage is named with its place, and nothing grows past its limit.
 */
#include "gzip.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LIMIT ((size_t)1 << 20)

/* What gzip 1.12 makes of this text with -n. */
static const char text[] = "{\"spec\":{\"kind\":\"rope\",\"dim\":4},\"x\":[[1,2,3,4]]}";
static const unsigned char member[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xab, 0x56, 0x2a, 0x2e,
    0x48, 0x4d, 0x56, 0xb2, 0xaa, 0x56, 0xca, 0xce, 0xcc, 0x4b, 0x51, 0xb2, 0x52, 0x2a,
    0xca, 0x2f, 0x48, 0x55, 0xd2, 0x51, 0x4a, 0xc9, 0xcc, 0x55, 0xb2, 0x32, 0xa9, 0xd5,
    0x51, 0xaa, 0x50, 0xb2, 0x8a, 0x8e, 0x36, 0xd4, 0x31, 0xd2, 0x31, 0xd6, 0x31, 0x89,
    0x8d, 0xad, 0x05, 0x00, 0xaf, 0x1c, 0xfc, 0x6a, 0x30, 0x00, 0x00, 0x00};

/* Inflates a copy of exactly the body's size, so that a sanitizer sees a read past its end. */
static enum gzip_result inflate_copy(const void *body, size_t len, struct buf *out,
                                     struct gzip_fault *fault)
{
    unsigned char *copy = malloc(len ? len : 1);
    memcpy(copy, body, len);
    enum gzip_result result = gzip_inflate(copy, len, out, fault);
    free(copy);
    return result;
}

static void expect_bytes(const void *body, size_t len, const void *wanted, size_t wanted_len)
{
    struct buf out;
    struct gzip_fault fault = {"", 0};
    buf_init(&out, LIMIT);
    cr_assert_eq(inflate_copy(body, len, &out, &fault), GZIP_OK, "%s", fault.says);
    cr_assert_eq(out.len, wanted_len, "%zu bytes, not %zu", out.len, wanted_len);
    cr_assert(wanted_len == 0 || memcmp(out.data, wanted, wanted_len) == 0);
    buf_release(&out);
}

static void expect_malformed(const void *body, size_t len, const char *says, size_t at)
{
    struct buf out;
    struct gzip_fault fault = {"", 0};
    buf_init(&out, LIMIT);
    cr_assert_eq(inflate_copy(body, len, &out, &fault), GZIP_MALFORMED, "%s", says);
    cr_assert_str_eq(fault.says, says);
    cr_assert_eq(fault.at, at, "%s: at %zu, not %zu", says, fault.at, at);
    buf_release(&out);
}

Test(gzip, reads_what_gzip_makes)
{
    expect_bytes(member, sizeof member, text, strlen(text));
}

Test(gzip, reads_members_one_after_another)
{
    unsigned char body[3 * sizeof member];
    char wanted[3 * sizeof text];
    for (size_t i = 0; i < 3; i++) {
        memcpy(body + i * sizeof member, member, sizeof member);
        memcpy(wanted + i * strlen(text), text, strlen(text));
        expect_bytes(body, (i + 1) * sizeof member, wanted, (i + 1) * strlen(text));
    }
}

Test(gzip, reads_a_header_with_everything_in_it)
{
    static unsigned char extra[] = "extra", name[] = "name", comment[] = "comment";
    gz_header header = {.text = 1,
                        .time = 1234567890,
                        .extra = extra,
                        .extra_len = 5,
                        .name = name,
                        .comment = comment,
                        .hcrc = 1};
    unsigned char body[200];
    z_stream stream = {.next_in = (unsigned char *)text,
                       .avail_in = sizeof text - 1,
                       .next_out = body,
                       .avail_out = sizeof body};
    cr_assert_eq(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    deflateSetHeader(&stream, &header);
    cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    expect_bytes(body, sizeof body - stream.avail_out, text, strlen(text));
    body[12] ^= 1; /* in the extra field */
    const size_t header_len = 10 + 2 + 5 + sizeof name + sizeof comment + 2;
    expect_malformed(body, sizeof body - stream.avail_out, "the checksum of its header is wrong",
                     header_len);
    deflateEnd(&stream);
}

Test(gzip, tells_that_a_body_ends_too_early)
{
    for (size_t len = 0; len < sizeof member; len++)
        expect_malformed(member, len, "it ends too early", len);
    unsigned char body[2 * sizeof member];
    memcpy(body, member, sizeof member);
    memcpy(body + sizeof member, member, sizeof member);
    for (size_t len = sizeof member + 1; len < sizeof body; len++)
        expect_malformed(body, len, "it ends too early", len);
}

Test(gzip, tells_what_is_damaged)
{
    static const struct {
        size_t at;
        unsigned char bits; /* that are turned over there */
        const char *says;
        size_t seen;
    } rows[] = {
        {0, 0x01, "it does not begin with 1f 8b, so it is not gzip", 2},
        {1, 0x80, "it does not begin with 1f 8b, so it is not gzip", 2},
        {2, 0x01, "its method of compression is not deflate", 4},
        {3, 0x20, "its header has flags that are reserved", 4},
        {3, 0x80, "its header has flags that are reserved", 4},
        {10, 0x04, "its compressed data are damaged", 11},
        {sizeof member - 8, 0x01, "the checksum of its contents is wrong", sizeof member - 4},
        {sizeof member - 5, 0x80, "the checksum of its contents is wrong", sizeof member - 4},
        {sizeof member - 4, 0x01, "the length at its end is not that of its contents",
         sizeof member},
        {sizeof member - 2, 0x80, "the length at its end is not that of its contents",
         sizeof member},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned char body[sizeof member];
        memcpy(body, member, sizeof member);
        body[rows[i].at] ^= rows[i].bits;
        expect_malformed(body, sizeof body, rows[i].says, rows[i].seen);
    }
    expect_malformed(text, strlen(text), "it does not begin with 1f 8b, so it is not gzip", 2);
}

Test(gzip, tells_what_follows_its_end)
{
    static const char *const tails[] = {"\n", "x", "\x1e\x8b", "\x1f\x8a\x08", "{}"};
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        unsigned char body[sizeof member + 8];
        memcpy(body, member, sizeof member);
        memcpy(body + sizeof member, tails[i], strlen(tails[i]));
        expect_malformed(body, sizeof member + strlen(tails[i]), "what follows its end is not gzip",
                         sizeof member);
    }
    unsigned char zeros[sizeof member + 8] = {0};
    memcpy(zeros, member, sizeof member);
    expect_malformed(zeros, sizeof zeros, "what follows its end is not gzip", sizeof member);
}

/* ---- Limits --------------------------------------------------------------------------------- */

Test(gzip, grows_to_its_limit_and_no_further)
{
    unsigned char body[2 * sizeof member];
    memcpy(body, member, sizeof member);
    memcpy(body + sizeof member, member, sizeof member);
    const size_t whole = 2 * strlen(text);
    for (size_t limit = 0; limit < whole + 3; limit++) {
        struct buf out;
        struct gzip_fault fault;
        buf_init(&out, limit);
        enum gzip_result result = inflate_copy(body, sizeof body, &out, &fault);
        cr_assert_eq(result, limit < whole ? GZIP_TOO_LARGE : GZIP_OK, "limit %zu", limit);
        cr_assert_leq(out.capacity, limit);
        cr_assert(limit < whole || out.len == whole);
        buf_release(&out);
    }
}

/* A member of n MiB of zero bytes, made from one of them, and the length it announces. */
static unsigned char *make_bomb(size_t n, size_t announces, size_t *len)
{
    static unsigned char zeros[1 << 20];
    unsigned char piece[4096];
    z_stream stream = {
        .next_in = zeros, .avail_in = sizeof zeros, .next_out = piece, .avail_out = sizeof piece};
    cr_assert_eq(deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    cr_assert_eq(deflate(&stream, Z_FULL_FLUSH), Z_OK);
    cr_assert_eq(stream.avail_in, 0);
    deflateEnd(&stream);
    size_t piece_len = sizeof piece - stream.avail_out;
    unsigned char *bomb = malloc(10 + n * piece_len + 10), *at = bomb + 10;
    memcpy(bomb, member, 10);
    uint32_t crc = 0, one = (uint32_t)crc32(0, zeros, sizeof zeros);
    for (size_t i = 0; i < n; i++, at += piece_len) {
        memcpy(at, piece, piece_len);
        crc = (uint32_t)crc32_combine(crc, one, sizeof zeros);
    }
    memcpy(at, "\x03\x00", 2); /* an empty last block */
    memcpy(at + 2, &crc, 4);
    memcpy(at + 6, &(uint32_t){(uint32_t)announces}, 4);
    *len = (size_t)(at + 10 - bomb);
    return bomb;
}

Test(gzip, refuses_a_bomb_without_taking_memory)
{
    struct buf out;
    struct gzip_fault fault;
    size_t len;
    unsigned char *bomb = make_bomb(1024, (size_t)1 << 30, &len);
    cr_assert_leq(len, (size_t)2 << 20);
    buf_init(&out, (size_t)64 << 20);
    cr_assert_eq(gzip_inflate(bomb, len, &out, &fault), GZIP_TOO_LARGE);
    cr_assert_eq(out.capacity, 0);
    free(bomb);
    bomb = make_bomb(1024, 5, &len); /* one that lies */
    cr_assert_eq(gzip_inflate(bomb, len, &out, &fault), GZIP_TOO_LARGE);
    cr_assert_leq(out.capacity, (size_t)64 << 20);
    buf_release(&out);
    free(bomb);
}

Test(gzip, reads_a_body_that_just_fits)
{
    struct buf out;
    struct gzip_fault fault;
    size_t len;
    unsigned char *body = make_bomb(4, (size_t)4 << 20, &len);
    buf_init(&out, (size_t)4 << 20);
    cr_assert_eq(gzip_inflate(body, len, &out, &fault), GZIP_OK);
    cr_assert_eq(out.len, (size_t)4 << 20);
    cr_assert_eq(out.capacity, out.len);
    for (size_t i = 0; i < out.len; i++)
        cr_assert_eq(out.data[i], 0);
    buf_release(&out);
    free(body);
}

/* The last bytes of a body that was cut off are no length, even if they look like a large one. */
Test(gzip, is_not_misled_by_the_end_of_a_cut_body)
{
    struct buf packed, out;
    struct gzip_fault fault = {"", 0};
    unsigned char *noise = malloc(LIMIT);
    uint32_t state = 1;
    for (size_t i = 0; i < LIMIT; i++)
        noise[i] = (unsigned char)((state = state * 1664525 + 1013904223) >> 24);
    buf_init(&packed, 2 * LIMIT);
    cr_assert_eq(gzip_deflate(noise, LIMIT, 6, &packed), GZIP_OK);
    for (size_t cut = 1; cut < 200; cut++) {
        buf_init(&out, LIMIT);
        cr_assert_eq(gzip_inflate(packed.data, packed.len - 1000 * cut, &out, &fault),
                     GZIP_MALFORMED);
        cr_assert_str_eq(fault.says, "it ends too early");
        buf_release(&out);
    }
    buf_release(&packed);
    free(noise);
}

/* ---- Writing -------------------------------------------------------------------------------- */

/* What zlib reads from one member; returns the length. */
static size_t by_zlib(const struct buf *packed, unsigned char *out, size_t room)
{
    z_stream stream = {.next_in = (unsigned char *)packed->data,
                       .avail_in = (uInt)packed->len,
                       .next_out = out,
                       .avail_out = (uInt)room};
    cr_assert_eq(inflateInit2(&stream, 31), Z_OK);
    cr_assert_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
    cr_assert_eq(stream.avail_in, 0);
    inflateEnd(&stream);
    return room - stream.avail_out;
}

Test(gzip, writes_what_zlib_reads)
{
    static unsigned char data[300000], again[sizeof data + 1];
    static const size_t lengths[] = {0, 1, 2, 100, 65535, 65536, 65537, sizeof data};
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * i >> 7);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (int level = 1; level <= 9; level++) {
            struct buf packed, twice;
            buf_init(&packed, LIMIT);
            buf_init(&twice, LIMIT);
            cr_assert_eq(gzip_deflate(data, lengths[i], level, &packed), GZIP_OK);
            cr_assert_eq(gzip_deflate(data, lengths[i], level, &twice), GZIP_OK);
            cr_assert_eq(packed.len, twice.len);
            cr_assert_arr_eq(packed.data, twice.data, packed.len);
            cr_assert_arr_eq(packed.data, "\x1f\x8b\x08\0\0\0\0\0", 8, "no name and no time");
            cr_assert_eq((unsigned char)packed.data[9], 255, "no operating system");
            cr_assert_eq(by_zlib(&packed, again, sizeof again), lengths[i]);
            cr_assert(memcmp(again, data, lengths[i]) == 0);
            expect_bytes(packed.data, packed.len, data, lengths[i]);
            buf_release(&packed);
            buf_release(&twice);
        }
}

Test(gzip, writes_behind_what_is_there_and_to_its_limit)
{
    struct buf packed;
    buf_init(&packed, LIMIT);
    buf_puts(&packed, "head");
    cr_assert_eq(gzip_deflate(text, strlen(text), 6, &packed), GZIP_OK);
    cr_assert_arr_eq(packed.data, "head", 4);
    expect_bytes(packed.data + 4, packed.len - 4, text, strlen(text));
    const size_t whole = packed.len - 4;
    buf_release(&packed);
    for (size_t limit = 0; limit < whole + 2; limit++) {
        buf_init(&packed, limit);
        cr_assert_eq(gzip_deflate(text, strlen(text), 6, &packed),
                     limit < whole ? GZIP_TOO_LARGE : GZIP_OK, "limit %zu", limit);
        buf_release(&packed);
    }
}
