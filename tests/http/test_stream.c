// SPDX-License-Identifier: Apache-2.0
/* test_stream.c: answers that are made while they are sent: whole, cut, left, read slowly. */
#include <criterion/criterion.h>
#include <string.h>

#include "http/toy.h"
#include "wire.h"

#define BLOCK 100000
#define SLACK 200000 /* small chunks of arenas, what libmicrohttpd is given at a time */

TestSuite(stream, .timeout = 60);

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static struct wire_answer ask(struct wire *wire, const char *method, const char *target)
{
    char bytes[200];
    snprintf(bytes, sizeof bytes, "%s %s HTTP/1.1\r\nHost: h\r\n\r\n", method, target);
    wire_puts(wire, bytes);
    return wire_read(wire, strcmp(method, "HEAD") == 0);
}

/* Bytes held by requests, those of the question among them. */
static size_t memory(const struct toy *toy)
{
    struct wire wire = wire_open(toy->port);
    struct wire_answer answer = ask(&wire, "GET", "/memory");
    size_t bytes = strtoul(answer.body, NULL, 10);

    wire_answer_free(&answer);
    wire_close(&wire);
    return bytes;
}

/* Whether what streams held is given back within a few seconds. */
static bool memory_is_given_back(const struct toy *toy)
{
    for (int i = 0; i < 100 && memory(toy) > SLACK; i++)
        pause_ms(50);
    return memory(toy) <= SLACK;
}

static bool letters_are_right(const struct wire_answer *answer, size_t bytes)
{
    for (size_t i = 0; i < answer->body_len; i++)
        if (answer->body[i] != (char)('a' + i / bytes % 26))
            return false;
    return true;
}

static const struct {
    const char *target;
    size_t blocks, bytes;
} wholes[] = {
    {"/stream?blocks=1&bytes=1", 1, 1},
    {"/stream?blocks=1&bytes=1&chunked=1", 1, 1},
    {"/stream?blocks=5&bytes=3", 5, 3},
    {"/stream?blocks=5&bytes=3&chunked=1", 5, 3},
    {"/stream?blocks=9&bytes=0", 9, 1}, /* an empty answer */
    {"/stream?blocks=9&bytes=0&chunked=1", 9, 1},
    {"/stream?blocks=0&bytes=8", 0, 8},
    {"/stream?blocks=0&bytes=8&chunked=1", 0, 8},
    {"/stream?blocks=7&bytes=10&ms=20", 7, 10},
    {"/stream?blocks=7&bytes=10&ms=20&chunked=1", 7, 10},
    {"/stream?blocks=40&bytes=10&ms=5&alone=1", 40, 10},
    {"/stream?blocks=1&bytes=10&alone=1&chunked=1", 1, 10},
    {"/stream?blocks=100&bytes=65536", 100, 65536},
    {"/stream?blocks=100&bytes=65537", 100, 65537},
    {"/stream?blocks=100&bytes=65537&chunked=1", 100, 65537},
    {"/stream?blocks=3000&bytes=1000&chunked=1", 3000, 1000},
    {"/stream?blocks=20&bytes=3000000", 20, 3000000},
};

Test(stream, blocks_arrive_whole_and_in_order_whatever_the_workers)
{
    for (unsigned workers = 1; workers <= 16; workers *= 4) {
        struct http_options options = toy_options();
        options.workers = workers;
        struct toy toy = toy_start(options);
        struct wire wire = wire_open(toy.port); /* all on one connection */
        for (size_t i = 0; i < sizeof wholes / sizeof wholes[0]; i++) {
            const char *target = wholes[i].target;
            bool empty = strstr(target, "bytes=0");
            size_t len = empty ? 0 : wholes[i].blocks * wholes[i].bytes;
            struct wire_answer answer = ask(&wire, "GET", target);
            cr_expect_eq(answer.status, 200, "%s", target);
            cr_expect_eq(answer.body_len, len, "%s: %zu", target, answer.body_len);
            cr_expect(letters_are_right(&answer, wholes[i].bytes), "%s", target);
            cr_expect(wire_field_is(&answer, "Finished", "yes"));
            wire_answer_free(&answer);
            /* The same as one answer that is sent when it is complete. */
            char spread[80];
            snprintf(spread, sizeof spread, "/spread%s", strchr(target, '?'));
            answer = ask(&wire, "GET", spread);
            cr_expect_eq(answer.body_len, len, "%s: %zu", spread, answer.body_len);
            cr_expect(letters_are_right(&answer, wholes[i].bytes), "%s", spread);
            cr_expect(wire_field_is(&answer, "Spread", "yes"));
            cr_expect(wire_field_is(&answer, "Settled", "yes"));
            wire_answer_free(&answer);
        }
        wire_close(&wire);
        cr_expect_eq(toy_stop(&toy), 0);
    }
}

Test(stream, spread_work_that_fails_is_a_problem)
{
    struct http_options options = toy_options();
    options.deadline_ms = 300;
    struct toy toy = toy_start(options);
    struct wire wire = wire_open(toy.port);

    struct wire_answer answer = ask(&wire, "GET", "/spread?blocks=50&bytes=1000&cut=20");
    cr_expect_eq(answer.status, 500);
    wire_answer_free(&answer);
    answer = ask(&wire, "GET", "/spread?blocks=50&bytes=1000&ms=30"); /* 0.75 s in all */
    cr_expect_eq(answer.status, 503);
    cr_expect_str_eq(answer.body, "deadline : a part of the answer was not made\n");
    wire_answer_free(&answer);
    cr_expect(memory_is_given_back(&toy));
    wire_close(&wire);
    cr_expect_eq(toy_stop(&toy), 0);
}

Test(stream, head_tells_the_length_and_makes_nothing)
{
    struct toy toy = toy_start(toy_options());
    struct wire wire = wire_open(toy.port);

    struct wire_answer answer = ask(&wire, "HEAD", "/stream?blocks=5&bytes=1000&ms=60000");
    cr_expect_eq(answer.status, 200);
    cr_expect(wire_field_is(&answer, "Content-Length", "5000"));
    wire_answer_free(&answer);
    answer = ask(&wire, "HEAD", "/stream?blocks=5&bytes=1000&ms=60000&chunked=1");
    cr_expect_eq(answer.status, 200);
    size_t len;
    cr_expect_null(wire_field(&answer, "Content-Length", &len));
    wire_answer_free(&answer);
    wire_close(&wire);
    cr_expect_eq(toy_stop(&toy), 0);
}

/* What cannot be made ends the connection, so that half an answer never looks whole. */
Test(stream, breaks_off_where_a_block_fails)
{
    static const char *const targets[] = {
        "/stream?blocks=50&bytes=1000&cut=1",
        "/stream?blocks=50&bytes=1000&cut=20",
        "/stream?blocks=50&bytes=1000&cut=20&ms=5",
        "/stream?blocks=50&bytes=1000&cut=20&chunked=1",
        "/stream?blocks=50&bytes=1000&cut=50&chunked=1",
        "/stream?blocks=50&bytes=1000&lie=1",
    };
    struct toy toy = toy_start(toy_options());

    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        struct wire wire = wire_open(toy.port);
        struct wire_answer answer = ask(&wire, "GET", targets[i]);
        cr_expect_eq(answer.status, 0, "%s", targets[i]);
        cr_expect(wire_ends(&wire, 5000), "%s", targets[i]);
        wire_answer_free(&answer);
        wire_close(&wire);
    }
    cr_expect(memory_is_given_back(&toy));
    cr_expect_eq(toy_stop(&toy), 0);
}

Test(stream, each_block_has_the_whole_deadline)
{
    struct http_options options = toy_options();
    options.deadline_ms = 300;
    struct toy toy = toy_start(options);
    struct wire wire = wire_open(toy.port);

    struct wire_answer answer = ask(&wire, "GET", "/stream?blocks=40&bytes=10&ms=40");
    cr_expect_eq(answer.body_len, 400); /* 0.8 s on two workers */
    wire_answer_free(&answer);
    answer = ask(&wire, "GET", "/stream?blocks=40&bytes=10&ms=400");
    cr_expect_eq(answer.status, 0);
    wire_answer_free(&answer);
    wire_close(&wire);
    cr_expect_eq(toy_stop(&toy), 0);
}

/* With two workers: one block being sent, two ahead. */
Test(stream, slow_reader_holds_a_few_blocks_and_hinders_nobody)
{
    struct toy toy = toy_start(toy_options());
    struct wire slow[4];

    for (size_t i = 0; i < 4; i++) {
        int little = 4096;
        slow[i] = wire_open(toy.port);
        setsockopt(slow[i].fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
        wire_puts(&slow[i], "GET /stream?blocks=1000&bytes=100000 HTTP/1.1\r\nHost: h\r\n\r\n");
    }
    pause_ms(500);
    size_t held = memory(&toy);
    cr_expect_geq(held, 4 * 3 * 2 * BLOCK);
    cr_expect_leq(held, 4 * (3 * 2 * BLOCK + SLACK), "%zu bytes", held);
    struct wire wire = wire_open(toy.port);
    struct wire_answer answer = ask(&wire, "GET", "/stream?blocks=100&bytes=100000");
    cr_expect_eq(answer.body_len, 100 * BLOCK);
    wire_answer_free(&answer);
    wire_close(&wire);
    for (size_t i = 0; i < 4; i++)
        wire_close(&slow[i]);
    cr_expect(memory_is_given_back(&toy));
    cr_expect_eq(toy_stop(&toy), 0);
}

Test(stream, is_given_up_when_the_client_leaves)
{
    struct toy toy = toy_start(toy_options());

    for (size_t i = 0; i < 12; i++) {
        struct wire wire = wire_open(toy.port);
        wire_puts(&wire, i % 2 ? "GET /stream?blocks=9999&bytes=70000 HTTP/1.1\r\nHost: h\r\n\r\n"
                               : "GET /stream?blocks=9999&bytes=10&ms=50&chunked=1 HTTP/1.1\r\n"
                                 "Host: h\r\n\r\n");
        if (i % 4 < 2)
            wire_more(&wire, WIRE_WAIT_MS);
        wire_close(&wire);
    }
    cr_expect(memory_is_given_back(&toy));
    cr_expect_eq(toy_stop(&toy), 0);
}

Test(stream, is_refused_when_others_hold_the_memory)
{
    struct http_options options = toy_options();
    options.memory_max = (size_t)1 << 20;
    struct toy toy = toy_start(options);
    struct wire wire = wire_open(toy.port);

    struct wire_answer answer = ask(&wire, "GET", "/stream?blocks=100&bytes=300000");
    cr_expect_eq(answer.status, 503);
    cr_expect(wire_field_is(&answer, "Retry-After", "1"));
    cr_expect_str_eq(answer.body,
                     "overloaded : no memory for blocks of 300000 bytes beside other requests\n");
    wire_answer_free(&answer);
    answer = ask(&wire, "GET", "/stream?blocks=100&bytes=30000");
    cr_expect_eq(answer.body_len, 3000000);
    wire_answer_free(&answer);
    wire_close(&wire);
    cr_expect_eq(toy_stop(&toy), 0);
}

/* Its blocks are no jobs of the queue: with the queue full of them others are still let in. */
Test(stream, leaves_the_queue_to_others)
{
    struct toy toy = toy_start(toy_options());
    struct wire streams[8], wire = wire_open(toy.port);

    for (size_t i = 0; i < 8; i++) {
        streams[i] = wire_open(toy.port);
        wire_puts(&streams[i], "GET /stream?blocks=20&bytes=10&ms=5 HTTP/1.1\r\nHost: h\r\n\r\n");
    }
    pause_ms(50);
    struct wire_answer answer = ask(&wire, "GET", "/sleep?ms=1");
    cr_expect_eq(answer.status, 200);
    wire_answer_free(&answer);
    wire_close(&wire);
    for (size_t i = 0; i < 8; i++) {
        answer = wire_read(&streams[i], false);
        cr_expect_eq(answer.body_len, 200);
        wire_answer_free(&answer);
        wire_close(&streams[i]);
    }
    cr_expect_eq(toy_stop(&toy), 0);
}

Test(stream, drain_waits_for_its_end)
{
    struct toy toy = toy_start(toy_options());
    struct wire wire = wire_open(toy.port), left = wire_open(toy.port);

    wire_puts(&wire, "GET /stream?blocks=60&bytes=10&ms=50 HTTP/1.1\r\nHost: h\r\n\r\n");
    wire_puts(&left, "GET /stream?blocks=60&bytes=10&ms=2000 HTTP/1.1\r\nHost: h\r\n\r\n");
    pause_ms(100);
    wire_close(&left); /* with blocks that are still being made */
    kill(toy.pid, SIGTERM);
    struct wire_answer answer = wire_read(&wire, false);
    cr_expect_eq(answer.body_len, 600);
    wire_answer_free(&answer);
    wire_close(&wire);
    int status = -1;
    waitpid(toy.pid, &status, 0);
    cr_expect_eq(status, 0);
}

/* A stream without end is cut when the grace time is over. */
Test(stream, drain_does_not_wait_for_ever)
{
    struct toy toy = toy_start(toy_options());
    struct wire quick = wire_open(toy.port), slow = wire_open(toy.port);

    wire_puts(&quick, "GET /stream?blocks=99999&bytes=10&ms=1 HTTP/1.1\r\nHost: h\r\n\r\n");
    wire_puts(&slow, "GET /stream?blocks=99999&bytes=90000 HTTP/1.1\r\nHost: h\r\n\r\n");
    pause_ms(100);
    cr_expect_eq(toy_stop(&toy), 0);
    cr_expect(wire_ends(&quick, 5000));
    wire_close(&quick);
    wire_close(&slow);
}
