// SPDX-License-Identifier: Apache-2.0
/* test_request.c: requests as bytes to a service with toy routes, and what comes back. */
#include <criterion/criterion.h>
#include <microhttpd.h>
#include <string.h>

#include "http/toy.h"
#include "wire.h"

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

TestSuite(request, .init = start, .fini = stop, .timeout = 60);

#define GET  "GET /small HTTP/1.1\r\n"
#define POST "POST /echo HTTP/1.1\r\n"
#define HOST "Host: h\r\n"
#define EVIL "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"

/* Bytes that are no request, or could be understood as two: one answer, then the end. Where
 * libmicrohttpd 1.0 refuses itself, `other` is its way (0: just the end). */
static const struct {
    int status, other;
    const char *bytes;
    size_t len;
} refused[] = {
#define REFUSED_OR(status, other, bytes)                                                           \
    {                                                                                              \
        status, other, bytes, sizeof bytes - 1                                                     \
    }
#define REFUSED(status, bytes) REFUSED_OR(status, status, bytes)
    REFUSED(400, GET "\r\n"),
    REFUSED(400, GET HOST HOST "\r\n"),
    REFUSED(400, GET HOST "X : y\r\n\r\n"),
    REFUSED(400, GET HOST "X: a\0b\r\n\r\n"),
    REFUSED(400, GET HOST "\0GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"),
    REFUSED(400, GET HOST "X: a\r\n b\r\n\r\n"),
    REFUSED(400, GET HOST "X: a\rb\r\n\r\n"),
    REFUSED(400, GET HOST "X: a\nY: b\r\n\r\n"),
    REFUSED(400, "GET  /small HTTP/1.1\r\n" HOST "\r\n"),
    REFUSED(400, "GET /sm all HTTP/1.1\r\n" HOST "\r\n"),
    REFUSED(400, "GET /small HTTP/1.1 \r\n" HOST "\r\n"),
    REFUSED(400, "GET /small#x HTTP/1.1\r\n" HOST "\r\n"),
    REFUSED_OR(400, 0, "GET /sm\0all HTTP/1.1\r\n" HOST "\r\n"),
    REFUSED(400, "GET * HTTP/1.1\r\n" HOST "\r\n"),
    REFUSED(400, POST HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" EVIL),
    REFUSED(400, POST HOST "Content-Length: 0\r\nContent-Length: 35\r\n\r\n" EVIL),
    REFUSED(400, POST HOST "Content-Length : 35\r\n\r\n" EVIL),
    REFUSED(400, POST HOST "Content-Len: 35\r\n gth\r\nX: y\r\n\r\n" EVIL),
    REFUSED(400, POST HOST "Content-Length: 35\r\n x\r\n\r\n" EVIL),
    REFUSED(400, POST HOST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" EVIL),
    REFUSED_OR(501, 400, POST HOST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" EVIL),
    REFUSED_OR(501, 400, POST HOST "Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n" EVIL),
    REFUSED(400,
            POST HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" EVIL),
    REFUSED(400, "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" EVIL),
    REFUSED(415, POST HOST "Content-Encoding: br2\r\nContent-Length: 1\r\n\r\nx"),
    REFUSED(404, "POST /none HTTP/1.1\r\n" HOST "Content-Length: 35\r\n\r\n" EVIL),
    REFUSED(405, "DELETE /echo HTTP/1.1\r\n" HOST "Content-Length: 35\r\n\r\n" EVIL),
};

Test(request, ambiguous_ones_are_refused_and_the_connection_closed)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct wire wire = wire_open(toy.port);
        wire_send(&wire, refused[i].bytes, refused[i].len);
        struct wire_answer answer = wire_read(&wire, false);
        cr_expect(answer.status == refused[i].status || answer.status == refused[i].other,
                  "%zu: %d\n%s", i, answer.status, refused[i].bytes);
        cr_expect(!answer.head || wire_field_is(&answer, "Connection", "close"), "%zu", i);
        cr_expect(wire_ends(&wire, WIRE_WAIT_MS), "%zu", i);
        cr_expect_eq(wire.len, 0, "%zu: more than one answer: %s", i, wire.data);
        wire_answer_free(&answer);
        wire_close(&wire);
    }
}

/* Version 1.0 at its strict level refuses chunk extensions. */
#if MHD_VERSION < 0x01000000
#define EXTENSION ";x=\"y\""
#else
#define EXTENSION ""
#endif

/* Good requests, and mistakes that leave the connection usable: all on one connection. */
static const struct {
    const char *bytes;
    int status;
    const char *body;
} answered[] = {
    {GET HOST "\r\n", 200, "/small - -"},
    {"\r\n" GET HOST "\r\n", 200, "/small - -"},
    {"GET http://other/small?x=1 HTTP/1.1\r\n" HOST "\r\n", 200, "/small - - x=1"},
    {"GET /things/a%20b.csv?c=%2B+&d HTTP/1.1\r\n" HOST "\r\n", 200, "/things/a b a b csv c=++ d="},
    {"GET /table.xml HTTP/1.1\r\n" HOST "\r\n", 404,
     "not-found : there is nothing at /table.xml\n"},
    {"GET /small?x=%zz&y=%g HTTP/1.1\r\n" HOST "\r\n", 400,
     "invalid-value x: the value has \"%zz\" at byte 0, which is no percent-encoded byte\n"
     "invalid-value y: the value has \"%g\" at byte 0, which is no percent-encoded byte\n"},
    {"GET /%00 HTTP/1.1\r\n" HOST "\r\n", 400,
     "bad-request : the path has \"%00\" at byte 1, which is a zero byte\n"},
    {"DELETE /small HTTP/1.1\r\n" HOST "\r\n", 405,
     "method-not-allowed : the method is not one of GET, HEAD, OPTIONS\n"},
    {POST HOST "Content-Length: 3\r\n\r\nabc", 200, "abc"},
    {POST HOST "Content-Length: 0\r\n\r\n", 200, ""},
    {POST HOST "\r\n", 200, ""},
    {POST HOST "Transfer-Encoding: chunked\r\n\r\n2" EXTENSION
               "\r\nab\r\n01\r\nc\r\n0\r\nX: y\r\n\r\n",
     200, "abc"},
    {"GET /small HTTP/1.1\r\n" HOST "Content-Length: 35\r\n\r\n" EVIL, 200, "/small - -"},
    {"GET /small HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n23\r\n" EVIL "\r\n0\r\n\r\n",
     200, "/small - -"},
    {"GET /silent HTTP/1.1\r\n" HOST "\r\n", 500,
     "internal : the handler failed without saying why\n"},
    {"GET /state HTTP/1.1\r\n" HOST "\r\n", 200, "state"},
    {"GET /sleep?ms=1 HTTP/1.1\r\n" HOST "\r\n", 200, "slept"},
};

Test(request, others_are_answered_in_order_on_one_connection)
{
    struct wire wire = wire_open(toy.port);

    for (int pipelined = 0; pipelined <= 1; pipelined++) {
        for (size_t i = 0; pipelined && i < sizeof answered / sizeof answered[0]; i++)
            wire_puts(&wire, answered[i].bytes);
        for (size_t i = 0; i < sizeof answered / sizeof answered[0]; i++) {
            if (!pipelined)
                wire_puts(&wire, answered[i].bytes);
            struct wire_answer answer = wire_read(&wire, false);
            cr_assert_eq(answer.status, answered[i].status, "%s", answered[i].bytes);
            cr_expect_str_eq(answer.body, answered[i].body, "%s", answered[i].bytes);
            wire_answer_free(&answer);
        }
    }
    wire_close(&wire);
}

Test(request, arrives_byte_by_byte)
{
    static const char bytes[] = POST HOST "Transfer-Encoding: chunked\r\n\r\n2" EXTENSION
                                          "\r\nab\r\n1\r\nc\r\n0\r\nX: y\r\n\r\n";
    struct wire wire = wire_open(toy.port);

    for (size_t i = 0; i < sizeof bytes - 1; i++) {
        wire_send(&wire, bytes + i, 1);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    struct wire_answer answer = wire_read(&wire, false);
    cr_expect_eq(answer.status, 200);
    cr_expect_str_eq(answer.body, "abc");
    wire_answer_free(&answer);
    wire_close(&wire);
}

/* Request-Id of an answer to a request with these fields; "" without. */
static void id_of_answer(const char *target, const char *fields, char id[80])
{
    struct wire wire = wire_open(toy.port);
    char bytes[400];
    size_t len = 0;

    snprintf(bytes, sizeof bytes, "GET %s HTTP/1.1\r\n" HOST "%s\r\n", target, fields);
    wire_puts(&wire, bytes);
    struct wire_answer answer = wire_read(&wire, false);
    const char *value = wire_field(&answer, "Request-Id", &len);
    snprintf(id, 80, "%.*s", (int)len, value ? value : "");
    wire_answer_free(&answer);
    wire_close(&wire);
}

Test(request, id_is_the_clients_or_our_own)
{
    static const char trace[] = "0af7651916cd43dd8448eb211c80319c";
    char id[80], other[80];

    id_of_answer("/small", "", id);
    cr_expect_str_eq(id, "");
    id_of_answer("/small", "Request-Id: a-B.9_~:+/=@  \r\n", id);
    cr_expect_str_eq(id, "a-B.9_~:+/=@");
    id_of_answer("/small",
                 "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n", id);
    cr_expect_str_eq(id, trace);
    id_of_answer("/small", "Request-Id: a b\r\n", id); /* not taken over */
    cr_expect_str_eq(id, "");
    id_of_answer("/none", "", id); /* errors always have one */
    id_of_answer("/none", "", other);
    cr_expect_eq(strspn(id, "0123456789abcdef"), 32);
    cr_expect_eq(strlen(id), 32);
    cr_expect_str_neq(id, other);
}

/* The answer to a GET on a service with one worker and a deadline of 100 ms. */
static struct wire_answer hasty_answer(struct wire *wire, const char *target)
{
    char bytes[100];
    snprintf(bytes, sizeof bytes, "GET %s HTTP/1.1\r\n" HOST "\r\n", target);
    wire_puts(wire, bytes);
    return wire_read(wire, false);
}

Test(request, slow_work_meets_its_deadline)
{
    struct http_options options = toy_options();
    options.deadline_ms = 100;
    options.workers = 1;
    struct toy hasty = toy_start(options);
    struct wire first = wire_open(hasty.port), second = wire_open(hasty.port);

    struct wire_answer ran = hasty_answer(&first, "/sleep?ms=3000");
    cr_expect_eq(ran.status, 503);
    cr_expect_str_eq(ran.body, "deadline : slept too long\n");
    cr_expect_not(wire_field_is(&ran, "Settled", "yes"));
    wire_puts(&first, "GET /stubborn?ms=500 HTTP/1.1\r\n" HOST "\r\n");
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* it has the worker now */
    struct wire_answer waited = hasty_answer(&second, "/sleep?ms=1");
    cr_expect_eq(waited.status, 503);
    cr_expect_str_eq(waited.body,
                     "deadline : the request waited for a worker until its deadline of 100 ms\n");
    cr_expect(wire_field_is(&waited, "Retry-After", "1"));
    wire_answer_free(&ran);
    wire_answer_free(&waited);
    wire_close(&first);
    wire_close(&second);
    cr_expect_eq(toy_stop(&hasty), 0);
}

Test(request, full_queue_is_said_and_small_ones_pass_by)
{
    struct wire busy[5];
    int done = 0, refusals = 0;

    for (size_t i = 0; i < 5; i++) { /* 2 workers, 2 in the queue */
        busy[i] = wire_open(toy.port);
        wire_puts(&busy[i], "GET /sleep?ms=300 HTTP/1.1\r\n" HOST "\r\n");
    }
    for (size_t i = 0; i < 20; i++)
        cr_expect_eq(wire_status(toy.port, GET HOST "\r\n", strlen(GET HOST "\r\n")), 200);
    for (size_t i = 0; i < 5; i++) {
        struct wire_answer answer = wire_read(&busy[i], false);
        done += answer.status == 200 && wire_field_is(&answer, "Settled", "yes");
        if (answer.status == 503) {
            refusals++;
            cr_expect(wire_field_is(&answer, "Retry-After", "1"));
            cr_expect_str_eq(answer.body,
                             "overloaded : 4 jobs are running or waiting, which is the limit\n");
        }
        wire_answer_free(&answer);
        wire_close(&busy[i]);
    }
    cr_expect_eq(done, 4);
    cr_expect_eq(refusals, 1);
}

Test(request, client_leaves_while_its_job_runs)
{
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < 4; i++) {
            struct wire wire = wire_open(toy.port);
            wire_puts(&wire, "GET /sleep?ms=50 HTTP/1.1\r\n" HOST "\r\n");
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
            wire_close(&wire);
        }
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        cr_expect_eq(wire_status(toy.port, GET HOST "\r\n", strlen(GET HOST "\r\n")), 200);
    }
}
