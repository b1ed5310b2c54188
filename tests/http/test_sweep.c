// SPDX-License-Identifier: Apache-2.0
/* test_sweep.c: a client that ends its side in the middle of a request is noticed. */
#include <criterion/criterion.h>
#include <string.h>

#include "http/toy.h"
#include "wire.h"

TestSuite(sweep, .timeout = 60);

Test(sweep, half_closed_uploads_are_given_up)
{
    static const char *const heads[] = {
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent",
    };
    struct toy toy = toy_start(toy_options());
    struct wire wires[30];

    for (size_t i = 0; i < 30; i++) {
        wires[i] = wire_open(toy.port);
        wire_puts(&wires[i], heads[i % 3]);
        shutdown(wires[i].fd, SHUT_WR);
    }
    for (size_t i = 0; i < 30; i++) {
        cr_expect(wire_ends(&wires[i], 5000), "%s", heads[i % 3]);
        cr_expect_eq(wires[i].len, 0, "%s", wires[i].data);
        wire_close(&wires[i]);
    }
    cr_expect_eq(toy_stop(&toy), 0);
}

Test(sweep, half_closed_complete_requests_are_answered)
{
    struct toy toy = toy_start(toy_options());
    struct wire wire = wire_open(toy.port);

    wire_puts(&wire, "GET /sleep?ms=1500 HTTP/1.1\r\nHost: h\r\n\r\n");
    shutdown(wire.fd, SHUT_WR);
    struct wire_answer answer = wire_read(&wire, false);
    cr_expect_eq(answer.status, 200);
    cr_expect_str_eq(answer.body, "slept");
    wire_answer_free(&answer);
    wire_close(&wire);
    cr_expect_eq(toy_stop(&toy), 0);
}
