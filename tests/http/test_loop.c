// SPDX-License-Identifier: Apache-2.0
/* test_loop.c: the service as a process: start, many connections, their limit, signals, drain. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <fcntl.h>
#include <string.h>

#include "http/toy.h"
#include "pace.h"
#include "wire.h"

TestSuite(loop, .timeout = 60);

#define SMALL "GET /small HTTP/1.1\r\nHost: h\r\n\r\n"
#define SLEEP "GET /sleep?ms=500 HTTP/1.1\r\nHost: h\r\n\r\n"

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

Test(loop, signals_end_it_with_status_0)
{
    static const int signals[] = {SIGTERM, SIGINT};

    for (size_t i = 0; i < 2; i++) {
        struct toy toy = toy_start(toy_options());
        int status;
        cr_expect_eq(wire_status(toy.port, SMALL, strlen(SMALL)), 200);
        kill(toy.pid, signals[i]);
        waitpid(toy.pid, &status, 0);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "signal %d", signals[i]);
    }
}

Test(loop, drain_answers_what_is_open_and_then_takes_no_more)
{
    struct toy toy = toy_start(toy_options());
    struct wire open = wire_open(toy.port), idle = wire_open(toy.port);
    int status;

    wire_puts(&idle, SMALL);
    struct wire_answer answer = wire_read(&idle, false);
    wire_answer_free(&answer);
    wire_puts(&open, SLEEP);
    pause_ms(50);
    kill(toy.pid, SIGTERM);
    pause_ms(50);
    struct wire late = wire_open(toy.port); /* still welcome, but not to stay */
    wire_puts(&late, SMALL);
    answer = wire_read(&late, false);
    cr_expect_eq(answer.status, 200);
    cr_expect(wire_field_is(&answer, "Connection", "close"));
    wire_answer_free(&answer);
    answer = wire_read(&open, false);
    cr_expect_eq(answer.status, 200);
    cr_expect_str_eq(answer.body, "slept");
    wire_answer_free(&answer);
    waitpid(toy.pid, &status, 0);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    cr_expect_eq(wire_open(toy.port).fd, -1);
    wire_close(&open);
    wire_close(&idle);
    wire_close(&late);
}

Test(loop, second_signal_ends_it_at_once)
{
    struct toy toy = toy_start(toy_options());
    struct wire open = wire_open(toy.port);
    int status;

    wire_puts(&open, "GET /stubborn?ms=30000 HTTP/1.1\r\nHost: h\r\n\r\n");
    pause_ms(50);
    kill(toy.pid, SIGTERM);
    pause_ms(50);
    kill(toy.pid, SIGTERM);
    waitpid(toy.pid, &status, 0);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    wire_close(&open);
}

Test(loop, half_a_request_does_not_keep_it_alive_for_ever)
{
    struct toy toy = toy_start(toy_options());
    struct wire half = wire_open(toy.port);
    uint64_t start = clock_ns();

    wire_puts(&half, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
    pause_ms(50);
    cr_expect_eq(toy_stop(&toy), 0);
    cr_expect_lt(clock_ns() - start, UINT64_C(10000000000));
    wire_close(&half);
}

#define MANY 500

Test(loop, keeps_many_connections)
{
    static struct wire wires[MANY];
    struct toy toy = toy_start(toy_options());

    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < MANY; i++) {
            if (round == 0)
                wires[i] = wire_open(toy.port);
            wire_puts(&wires[i], SMALL);
        }
        for (size_t i = 0; i < MANY; i++) {
            struct wire_answer answer = wire_read(&wires[i], false);
            cr_assert_eq(answer.status, 200, "connection %zu, round %zu", i, round);
            wire_answer_free(&answer);
        }
    }
    for (size_t i = 0; i < MANY; i++)
        wire_close(&wires[i]);
    cr_expect_eq(toy_stop(&toy), 0);
}

Test(loop, connections_past_the_limit_are_told_so)
{
    struct http_options options = toy_options();
    options.connections_max = 4;
    struct toy toy = toy_start(options);
    struct wire wires[6];

    for (size_t i = 0; i < 6; i++) {
        wires[i] = wire_open(toy.port);
        wire_puts(&wires[i], SMALL);
        struct wire_answer answer = wire_read(&wires[i], false);
        cr_expect_eq(answer.status, i < 4 ? 200 : 503, "connection %zu: %d", i, answer.status);
        if (i >= 4) {
            cr_expect(wire_field_is(&answer, "Retry-After", "1"));
            cr_expect_str_eq(answer.body,
                             "overloaded : 4 connections are open, which is the limit\n");
            cr_expect(wire_ends(&wires[i], WIRE_WAIT_MS));
        }
        wire_answer_free(&answer);
    }
    struct wire silent = wire_open(toy.port);
    cr_expect(wire_ends(&silent, 5000)); /* does not hold its place */
    wire_close(&silent);
    for (size_t i = 0; i < 6; i++)
        wire_close(&wires[i]);
    pause_ms(100);
    cr_expect_eq(wire_status(toy.port, SMALL, strlen(SMALL)), 200);
    cr_expect_eq(toy_stop(&toy), 0);
}

Test(loop, one_address_can_be_kept_from_taking_all)
{
    struct http_options options = toy_options();
    options.peer_connections_max = 2;
    struct toy toy = toy_start(options);
    struct wire wires[3];

    for (size_t i = 0; i < 3; i++) {
        wires[i] = wire_open(toy.port);
        wire_puts(&wires[i], SMALL);
        struct wire_answer answer = wire_read(&wires[i], false);
        cr_expect_eq(answer.status, i < 2 ? 200 : 429, "connection %zu: %d", i, answer.status);
        if (i == 2) {
            cr_expect(wire_field_is(&answer, "Retry-After", "1"));
            cr_expect_str_eq(answer.body, "rate-limited : your address has more than 2 "
                                          "connections open, which is the limit\n");
            cr_expect(wire_ends(&wires[i], WIRE_WAIT_MS));
        }
        wire_answer_free(&answer);
    }
    wire_close(&wires[0]);
    pause_ms(100);
    cr_expect_eq(wire_status(toy.port, SMALL, strlen(SMALL)), 200);
    for (size_t i = 1; i < 3; i++)
        wire_close(&wires[i]);
    cr_expect_eq(toy_stop(&toy), 0);
}

#define MIB ((size_t)1 << 20)

/* A request that others leave no memory for is refused before its body is read; small ones are
 * served, and so is it when they are done. */
Test(loop, requests_share_the_memory)
{
    struct http_options options = toy_options();
    options.body_max = 4 * MIB;
    options.memory_max = 5 * MIB;
    struct toy toy = toy_start(options);
    struct wire first = wire_open(toy.port), second = wire_open(toy.port);
    char *body = calloc(1, 3 * MIB);
    static const char post[] = "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3145728\r\n\r\n";

    wire_puts(&first, post);
    wire_send(&first, body, 2 * MIB);
    pause_ms(100);
    wire_puts(&second, post);
    struct wire_answer answer = wire_read(&second, false);
    cr_expect_eq(answer.status, 503);
    cr_expect(wire_field_is(&answer, "Retry-After", "1"));
    cr_expect_str_eq(answer.body, "overloaded : no memory for a body of 3145728 bytes beside "
                                  "other requests\n");
    cr_expect(wire_ends(&second, WIRE_WAIT_MS));
    wire_answer_free(&answer);
    cr_expect_eq(wire_status(toy.port, SMALL, strlen(SMALL)), 200);
    wire_send(&first, body, MIB);
    answer = wire_read(&first, false);
    cr_expect_eq(answer.status, 200);
    cr_expect_eq(answer.body_len, 3 * MIB);
    wire_answer_free(&answer);
    wire_close(&second);
    second = wire_open(toy.port);
    wire_puts(&second, post);
    wire_send(&second, body, 3 * MIB);
    answer = wire_read(&second, false);
    cr_expect_eq(answer.status, 200);
    wire_answer_free(&answer);
    wire_close(&first);
    wire_close(&second);
    free(body);
    cr_expect_eq(toy_stop(&toy), 0);
}

Test(loop, connection_ends_after_so_many_requests)
{
    struct toy toy = toy_start(toy_options());
    struct wire wire = wire_open(toy.port);

    for (size_t i = 1; i <= CONNECTION_REQUESTS_MAX; i++) {
        wire_puts(&wire, i == CONNECTION_REQUESTS_MAX ? SMALL SMALL : SMALL);
        struct wire_answer answer = wire_read(&wire, false);
        cr_assert_eq(answer.status, 200, "request %zu", i);
        cr_expect_eq(wire_field_is(&answer, "Connection", "close"), i == CONNECTION_REQUESTS_MAX,
                     "request %zu", i);
        wire_answer_free(&answer);
    }
    cr_expect(wire_ends(&wire, WIRE_WAIT_MS));
    cr_expect_eq(wire.len, 0);
    wire_close(&wire);
    cr_expect_eq(toy_stop(&toy), 0);
}

Test(loop, does_not_start_where_it_cannot_listen)
{
    struct toy toy = toy_start(toy_options());
    struct http_options options = toy_options();
    const struct http_hooks hooks = {toy_routes, 1, NULL, toy_finish, NULL};
    char text[40];

    cr_redirect_stderr();
    snprintf(text, sizeof text, "127.0.0.1:%d", toy.port);
    options.listen = text;
    cr_expect_null(http_start(&options, &hooks));
    options.listen = "nowhere";
    cr_expect_null(http_start(&options, &hooks));
    cr_expect_eq(toy_stop(&toy), 0);
}

/* One endless chunk extension fills libmicrohttpd's buffer; the loop must neither spin nor stop. */
Test(loop, endless_chunk_extension_costs_little)
{
    struct toy toy = toy_start(toy_options());
    struct wire wire = wire_open(toy.port);
    static char extension[60000];
    char path[64], text[256] = "";
    long user = 0, system = 0;

    memset(extension, 'a', sizeof extension);
    wire_puts(&wire, "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;");
    wire_send(&wire, extension, sizeof extension);
    pause_ms(1500);
    cr_expect_eq(wire_status(toy.port, SMALL, strlen(SMALL)), 200);
    snprintf(path, sizeof path, "/proc/%d/stat", (int)toy.pid);
    FILE *stat = fopen(path, "r");
    cr_assert_not_null(fgets(text, sizeof text, stat));
    fclose(stat);
    cr_assert_eq(sscanf(strrchr(text, ')') + 1,
                        " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system),
                 2);
    cr_expect_lt(user + system, 70, "%ld + %ld hundredths of a second", user, system);
    wire_close(&wire);
    cr_expect_eq(toy_stop(&toy), 0);
}
