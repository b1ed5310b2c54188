// SPDX-License-Identifier: Apache-2.0
/* test_response.c: fields and bytes of answers as they arrive. */
#include <criterion/criterion.h>
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

TestSuite(response, .init = start, .fini = stop, .timeout = 60);

static struct wire_answer ask(struct wire *wire, const char *method, const char *target)
{
    char bytes[200];
    snprintf(bytes, sizeof bytes, "%s %s HTTP/1.1\r\nHost: h\r\n\r\n", method, target);
    wire_puts(wire, bytes);
    return wire_read(wire, strcmp(method, "HEAD") == 0);
}

/* Status, and a field with its value ("" if it may not be there); all have those of EVERY. */
static const struct {
    const char *method, *target;
    int status;
    const char *field, *value;
} cases[] = {
    {"GET", "/small", 200, "Content-Length", "10"},
    {"GET", "/small", 200, "Content-Type", "text/plain"},
    {"HEAD", "/small", 200, "Content-Length", "10"},
    {"HEAD", "/none", 404, "Content-Length", "38"},
    {"GET", "/sleep?ms=1", 200, "Settled", "yes"},
    {"GET", "/silent", 500, "Stale", ""},
    {"POST", "/small", 405, "Allow", "GET, HEAD, OPTIONS"},
    {"PUT", "/echo", 405, "Allow", "GET, HEAD, POST, OPTIONS"},
    {"OPTIONS", "/echo", 204, "Allow", "GET, HEAD, POST, OPTIONS"},
    {"OPTIONS", "/echo", 204, "Content-Length", ""},
    {"OPTIONS", "/small", 204, "Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS"},
    {"OPTIONS", "/small", 204, "Access-Control-Max-Age", "86400"},
    {"OPTIONS", "*", 204, "Allow", "GET, HEAD, POST, OPTIONS"},
    {"OPTIONS", "/none", 404, "Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS"},
    {"GET", "/small", 200, "Access-Control-Allow-Methods", ""},
    {"GET", "/small/", 308, "Location", "/small"},
    {"GET", "/small//?a=%20b", 308, "Location", "/small?a=%20b"},
    {"GET", "/things/a%20b/", 308, "Location", "/things/a%20b"},
    {"POST", "/echo/", 308, "Location", "/echo"},
    {"GET", "http://h/small/", 308, "Location", "/small"},
    {"GET", "//example.org/", 404, "Location", ""},
    {"GET", "/none/", 404, "Location", ""},
    {"GET", "/small/", 308, "Content-Length", "0"},
};

static const struct header every[] = {
    {"Access-Control-Allow-Origin", "*"},
    {"Access-Control-Expose-Headers",
     "ETag, Repr-Digest, Link, Posenc-Semantics, Posenc-Spec-Id, Retry-After, Request-Id, "
     "Server-Timing, Tensor"},
    {"Timing-Allow-Origin", "*"},
    {"Cross-Origin-Resource-Policy", "cross-origin"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Finished", "yes"},
};

Test(response, has_its_fields)
{
    struct wire wire = wire_open(toy.port);
    size_t len;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wire_answer answer = ask(&wire, cases[i].method, cases[i].target);
        const char *place = cases[i].target;
        cr_assert_eq(answer.status, cases[i].status, "%s: %d", place, answer.status);
        if (cases[i].value[0])
            cr_expect(wire_field_is(&answer, cases[i].field, cases[i].value), "%s: %s\n%s", place,
                      cases[i].field, answer.head);
        else
            cr_expect_null(wire_field(&answer, cases[i].field, &len), "%s: %s", place,
                           cases[i].field);
        for (size_t k = 0; k < sizeof every / sizeof every[0]; k++)
            cr_expect(wire_field_is(&answer, every[k].name, every[k].value), "%s: %s", place,
                      every[k].name);
        cr_expect_not_null(wire_field(&answer, "Date", &len), "%s", place);
        wire_answer_free(&answer);
    }
    wire_close(&wire);
}

Test(response, large_bodies_arrive_whole)
{
    static const size_t lens[] = {1, 16384, 100000, 2600000, 50000000};
    struct wire wire = wire_open(toy.port);

    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        char target[40];
        snprintf(target, sizeof target, "/big?bytes=%zu", lens[i]);
        struct wire_answer answer = ask(&wire, "GET", target);
        cr_assert_eq(answer.body_len, lens[i]);
        cr_expect_eq(strspn(answer.body, "x"), lens[i]);
        wire_answer_free(&answer);
        answer = ask(&wire, "HEAD", target);
        cr_expect_eq(answer.status, 200);
        wire_answer_free(&answer);
    }
    wire_close(&wire);
}

Test(response, client_that_stops_reading_harms_nobody)
{
    for (size_t i = 0; i < 4; i++) {
        struct wire wire = wire_open(toy.port);
        wire_puts(&wire, "GET /big?bytes=50000000 HTTP/1.1\r\nHost: h\r\n\r\n");
        wire_more(&wire, WIRE_WAIT_MS);
        wire_close(&wire);
    }
    struct wire wire = wire_open(toy.port);
    struct wire_answer answer = ask(&wire, "GET", "/small");
    cr_expect_eq(answer.status, 200);
    wire_answer_free(&answer);
    wire_close(&wire);
}
