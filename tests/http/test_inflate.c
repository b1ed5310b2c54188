// SPDX-License-Identifier: Apache-2.0
/*
 * test_inflate.c: bodies in gzip: what they hold, where it lies, what it may take, and over a
 * connection. The toy service takes 1 MiB.
 */
#include "inflate.h"

#include <criterion/criterion.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "gzip.h"
#include "http/toy.h"
#include "wire.h"

#define LIMIT ((size_t)1 << 20)

/* Appends `len` bytes that count up, as one member. */
static void add_member(struct buf *out, size_t len)
{
    char *data = malloc(len + 1);
    for (size_t i = 0; i < len; i++)
        data[i] = (char)(i % 251);
    cr_assert_eq(gzip_deflate(data, len, 6, out), GZIP_OK);
    free(data);
}

static struct buf member(size_t len)
{
    struct buf body;
    buf_init(&body, (size_t)64 << 20);
    add_member(&body, len);
    return body;
}

Test(inflate, what_it_holds_lies_aligned_and_is_counted)
{
    static const size_t lens[] = {0, 1, 63, 64, 65, 100000, LIMIT - 1, LIMIT};
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++)
        for (size_t members = 1; members <= 2; members++) {
            struct budget memory = {.max = 4 * LIMIT};
            struct buf body = member(lens[i] / members), out;
            struct err err = {0};
            if (members == 2)
                add_member(&body, lens[i] - lens[i] / 2);
            cr_assert(body_inflate(body.data, body.len, LIMIT, &memory, &out, &err), "%s",
                      err.item[0].detail);
            cr_expect_eq(out.len, lens[i]);
            cr_expect_eq((uintptr_t)out.data % 64, 0);
            cr_expect_eq(memory.used, out.capacity);
            for (size_t k = 0; k < lens[i] / members; k++)
                cr_assert_eq((unsigned char)out.data[k], k % 251);
            buf_release(&out);
            buf_release(&body);
        }
}

Test(inflate, what_is_refused)
{
    enum { WHOLE, CUT, DAMAGED, PLAIN };
    static const struct {
        size_t len, memory;
        int how;
        enum err_code code;
    } rows[] = {
        {LIMIT + 1, 4 * LIMIT, WHOLE, ERR_body_too_large},
        {(size_t)64 * LIMIT, 4 * LIMIT, WHOLE, ERR_body_too_large},
        {1000, 4 * LIMIT, CUT, ERR_bad_request},
        {1000, 4 * LIMIT, DAMAGED, ERR_bad_request},
        {1000, 4 * LIMIT, PLAIN, ERR_bad_request},
        {100000, 50000, WHOLE, ERR_overloaded},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct budget memory = {.max = rows[i].memory};
        struct buf body = member(rows[i].len), out;
        struct err err = {0};
        body.len -= rows[i].how == CUT ? 5 : 0;
        body.data[rows[i].how == DAMAGED ? body.len / 2 : rows[i].how == PLAIN ? 0 : 9] ^= 0x55;
        cr_expect_not(body_inflate(body.data, body.len, LIMIT, &memory, &out, &err), "row %zu", i);
        cr_expect_eq(err.item[0].code, rows[i].code, "row %zu: %s", i, err.item[0].detail);
        cr_expect_eq(memory.used, 0, "row %zu", i);
        cr_expect_null(out.data);
        buf_release(&body);
    }
}

/* ---- Over a connection --------------------------------------------------------------------- */

static struct wire_answer post(struct wire *wire, const char *fields, const struct buf *body)
{
    char head[200];
    snprintf(head, sizeof head, "POST /echo HTTP/1.1\r\nHost: h\r\n%sContent-Length: %zu\r\n\r\n",
             fields, body->len);
    cr_assert(wire_puts(wire, head) && wire_send(wire, body->data, body->len));
    return wire_read(wire, false);
}

Test(inflate, over_a_connection, .timeout = 60)
{
    static const struct {
        size_t len;
        const char *fields;
        int status;
    } rows[] = {
        {100, "Content-Encoding: gzip\r\n", 200},
        {LIMIT, "Content-Encoding: x-gzip\r\n", 200},
        {LIMIT + 1, "Content-Encoding: gzip\r\n", 413},
        {100, "Content-Encoding: br\r\n", 415},
        {100, "Content-Encoding: gzip\r\n", 200},
    };
    struct toy toy = toy_start(toy_options());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wire wire = wire_open(toy.port);
        struct buf body = member(rows[i].len);
        struct wire_answer answer = post(&wire, rows[i].fields, &body);
        cr_expect_eq(answer.status, rows[i].status, "row %zu: %d", i, answer.status);
        if (rows[i].status == 200)
            cr_expect_eq(answer.body_len, rows[i].len);
        if (rows[i].status == 415)
            cr_expect(wire_field_is(&answer, "Accept-Encoding", "gzip"), "%s", answer.head);
        wire_answer_free(&answer);
        buf_release(&body);
        wire_close(&wire);
    }
    cr_expect_eq(toy_stop(&toy), 0);
}

/* A body that was refused takes nothing from the next request of its connection. */
Test(inflate, the_connection_goes_on, .timeout = 60)
{
    struct toy toy = toy_start(toy_options());
    struct wire wire = wire_open(toy.port);
    for (int i = 0; i < 4; i++) {
        struct buf body = member(1000);
        body.data[body.len / 2] ^= i % 2 ? 0x55 : 0;
        struct wire_answer answer = post(&wire, "Content-Encoding: gzip\r\n", &body);
        cr_expect_eq(answer.status, i % 2 ? 400 : 200, "%d: %d", i, answer.status);
        wire_answer_free(&answer);
        buf_release(&body);
    }
    wire_close(&wire);
    cr_expect_eq(toy_stop(&toy), 0);
}
