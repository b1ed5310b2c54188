// SPDX-License-Identifier: Apache-2.0
/* test_body.c: bodies within their limit, past it, and cut off. The toy service takes 1 MiB. */
#include <criterion/criterion.h>
#include <string.h>

#include "http/toy.h"
#include "wire.h"

#define LIMIT ((size_t)1 << 20)

static struct toy toy;

static void start(void)
{
    toy = toy_start(toy_options());
    cr_assert_gt(toy.port, 0);
}

static void stop(void)
{
    cr_expect_eq(toy_stop(&toy), 0);
}

TestSuite(body, .init = start, .fini = stop, .timeout = 60);

/* Sends a head and `len` bytes counting up, in chunks of `chunk` bytes unless that is 0; stops when
 * the peer takes no more. */
static void send_body(struct wire *wire, const char *start_line, size_t len, size_t chunk)
{
    char *data = malloc(len + 1), text[200];

    for (size_t i = 0; i < len; i++)
        data[i] = (char)(i % 251);
    if (chunk)
        snprintf(text, sizeof text, "%s\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
                 start_line);
    else
        snprintf(text, sizeof text, "%s\r\nHost: h\r\nContent-Length: %zu\r\n\r\n", start_line,
                 len);
    bool open = wire_puts(wire, text) && (chunk || wire_send(wire, data, len));
    for (size_t at = 0; open && chunk && at < len; at += chunk) {
        size_t n = len - at < chunk ? len - at : chunk;
        snprintf(text, sizeof text, "%zx\r\n", n);
        open = wire_puts(wire, text) && wire_send(wire, data + at, n) && wire_puts(wire, "\r\n");
    }
    if (open && chunk)
        wire_puts(wire, "0\r\n\r\n");
    free(data);
}

static void expect_echo(const struct wire_answer *answer, size_t len)
{
    cr_expect_eq(answer->status, 200, "%zu bytes: %d", len, answer->status);
    cr_assert_eq(answer->body_len, len);
    for (size_t i = 0; i < len; i++)
        cr_assert_eq(answer->body[i], (char)(i % 251), "byte %zu of %zu", i, len);
}

Test(body, comes_whole_in_any_size)
{
    static const size_t lens[] = {1,     63,    64,     65,        1000, 65535,
                                  65536, 65537, 131073, LIMIT - 1, LIMIT};
    struct wire wire = wire_open(toy.port);

    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++)
        for (size_t chunk = 0; chunk <= 100000; chunk = chunk ? 10 * chunk : 1000) {
            send_body(&wire, "POST /echo HTTP/1.1", lens[i], chunk);
            struct wire_answer answer = wire_read(&wire, false);
            expect_echo(&answer, lens[i]);
            wire_answer_free(&answer);
        }
    wire_close(&wire);
}

static void expect_too_large(struct wire *wire)
{
    struct wire_answer answer = wire_read(wire, false);

    cr_expect_eq(answer.status, 413, "%d", answer.status);
    cr_assert_not_null(answer.body);
    cr_expect_not_null(strstr(answer.body, "1048576"), "%s", answer.body);
    cr_expect(wire_field_is(&answer, "Connection", "close"));
    cr_expect(wire_ends(wire, WIRE_WAIT_MS));
    wire_answer_free(&answer);
}

Test(body, announced_too_large_is_refused_before_it_is_sent)
{
    static const char *const expectations[] = {"", "Expect: 100-continue\r\n"};

    for (size_t i = 0; i < 2; i++) {
        struct wire wire = wire_open(toy.port);
        char head[200];
        snprintf(head, sizeof head,
                 "POST /echo HTTP/1.1\r\nHost: h\r\n%sContent-Length: %zu\r\n\r\n", expectations[i],
                 LIMIT + 1);
        wire_puts(&wire, head);
        expect_too_large(&wire);
        wire_close(&wire);
    }
}

Test(body, too_large_is_told_to_a_client_that_keeps_sending)
{
    for (size_t chunk = 0; chunk <= 100000; chunk += 50000)
        for (size_t round = 0; round < 5; round++) {
            struct wire wire = wire_open(toy.port);
            send_body(&wire, "POST /echo HTTP/1.1", 20 * LIMIT, chunk);
            expect_too_large(&wire);
            wire_close(&wire);
        }
}

Test(body, waits_for_its_go_ahead)
{
    struct wire wire = wire_open(toy.port);

    wire_puts(&wire, "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                     "Content-Length: 3\r\n\r\n");
    struct wire_answer interim = wire_read(&wire, false);
    cr_expect_eq(interim.status, 100);
    wire_puts(&wire, "abc");
    struct wire_answer answer = wire_read(&wire, false);
    cr_expect_eq(answer.status, 200);
    cr_expect_str_eq(answer.body, "abc");
    wire_answer_free(&interim);
    wire_answer_free(&answer);
    wire_close(&wire);
}

Test(body, of_a_get_is_read_and_ignored_up_to_a_bound)
{
    static const struct {
        size_t len;
        int status;
    } cases[] = {{1, 200}, {65536, 200}, {65537, 413}, {1 << 20, 413}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t chunk = 0; chunk <= 1000; chunk += 1000) {
            struct wire wire = wire_open(toy.port);
            send_body(&wire, "GET /small HTTP/1.1", cases[i].len, chunk);
            struct wire_answer answer = wire_read(&wire, false);
            cr_expect_eq(answer.status, cases[i].status, "%zu bytes in chunks of %zu: %d",
                         cases[i].len, chunk, answer.status);
            wire_answer_free(&answer);
            wire_close(&wire);
        }
}

Test(body, cut_off_anywhere_leaves_no_trace)
{
    for (size_t i = 0; i < 60; i++) {
        struct wire wire = wire_open(toy.port);
        char head[200];
        snprintf(head, sizeof head, "POST /echo HTTP/1.1\r\nHost: h\r\n%s\r\n\r\n",
                 i % 2 ? "Content-Length: 1000000" : "Transfer-Encoding: chunked");
        wire_send(&wire, head, i < 20 ? 4 * i : strlen(head));
        for (size_t k = 0; i >= 20 && k < i - 20; k++)
            wire_puts(&wire, "1000\r\n0123456789");
        if (i % 3 == 0) { /* a reset instead of an end */
            struct linger now = {.l_onoff = 1, .l_linger = 0};
            setsockopt(wire.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        }
        wire_close(&wire);
    }
    struct wire wire = wire_open(toy.port);
    send_body(&wire, "POST /echo HTTP/1.1", 1000, 0);
    struct wire_answer answer = wire_read(&wire, false);
    expect_echo(&answer, 1000);
    wire_answer_free(&answer);
    wire_close(&wire);
}
