// SPDX-License-Identifier: Apache-2.0
/* test_local.c: requests without a network answer as the same ones over a connection do. */
#include <criterion/criterion.h>
#include <string.h>

#include "guard.h"
#include "http/toy.h"
#include "local.h"
#include "wire.h"

TestSuite(local, .timeout = 60);

#define BODY_MAX  100
#define LONG_PATH 9000

static const struct http_hooks hooks = {toy_routes, sizeof toy_routes / sizeof toy_routes[0], NULL,
                                        toy_finish, NULL};

static bool begin(struct request *request, const struct local_call *call)
{
    const struct local_limits limits = {
        .arena_max = 1 << 20, .body_max = BODY_MAX, .deadline_ns = clock_ns() + 5000000000};
    return local_begin(request, &hooks, &limits, call);
}

static bool take(void *context, const char *data, size_t len)
{
    buf_append(context, data, len);
    return true;
}

static bool refuse(void *context, const char *data, size_t len)
{
    (void)context, (void)data, (void)len;
    return false;
}

/* The whole answer, NUL-terminated, in `out`. */
static void answer(struct request *request, struct buf *out)
{
    buf_init(out, 1 << 20);
    local_run(request, &hooks);
    cr_assert(local_drain(request, take, out));
    buf_putc(out, '\0');
}

/* What both ways must agree on. POST sends "body". */
static const struct {
    const char *method, *target;
    int status;
} rows[] = {
    {"GET", "/", 200},
    {"GET", "/table.csv?a=1&b=%C3%A4", 200},
    {"GET", "/things/x%20y.json?a&b=", 200},
    {"HEAD", "/small", 200},
    {"POST", "/echo", 200},
    {"GET", "/sleep?ms=1", 200},
    {"GET", "/state", 200},
    {"GET", "/big?bytes=1000", 200},
    {"GET", "/stream?blocks=30&bytes=1000", 200},
    {"GET", "/stream?blocks=30&bytes=1000&chunked=1", 200},
    {"HEAD", "/stream?blocks=30&bytes=1000", 200},
    {"GET", "/spread?blocks=30&bytes=1000", 200},
    {"GET", "/silent", 500},
    {"GET", "/small/?a=1", 308},
    {"GET", "/nowhere", 404},
    {"GET", "/nowhere/", 404},
    {"PUT", "/small", 405},
    {"POST", "/small", 405},
    {"OPTIONS", "/echo", 204},
    {"OPTIONS", "*", 204},
    {"GET", "/small?a=%zz", 400},
    {"GET", "/small%00", 400},
    {"GET", "*", 400},
};

static struct wire_answer over_wire(int port, const char *method, const char *target)
{
    char bytes[1024];
    bool post = strcmp(method, "POST") == 0;
    int len = snprintf(bytes, sizeof bytes, "%s %s HTTP/1.1\r\nHost: h\r\n%s\r\n%s", method, target,
                       post ? "Content-Length: 4\r\n" : "", post ? "body" : "");
    struct wire wire = wire_open(port);
    wire_send(&wire, bytes, (size_t)len);
    struct wire_answer answer = wire_read(&wire, strcmp(method, "HEAD") == 0);
    wire_close(&wire);
    return answer;
}

static void expect_agreement(const struct local_call *call, const struct wire_answer *wired,
                             int status)
{
    static const char *const fields[] = {"Location", "Allow", "Finished", "Settled", "Stale"};
    struct request request;
    struct buf out;

    cr_assert(begin(&request, call));
    answer(&request, &out);
    cr_expect_eq(wired->status, status, "%s: %d", call->target, wired->status);
    cr_expect_eq(request.response.status, status, "%s: %d", call->target, request.response.status);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        size_t len = 0;
        const char *there = wire_field(wired, fields[i], &len);
        const char *here = response_find(&request, fields[i]);
        cr_expect(here && there ? strlen(here) == len && memcmp(here, there, len) == 0
                                : !here && !there,
                  "%s: %s is %s, not %s", call->target, fields[i], here, there);
    }
    cr_expect_eq(out.len - 1, wired->body_len, "%s", call->target);
    cr_expect_str_eq(out.data, wired->body, "%s", call->target);
    buf_release(&out);
    local_end(&request);
}

Test(local, answers_as_over_a_connection)
{
    struct toy toy = toy_start(toy_options());

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char body[64] __attribute__((aligned(64))) = "body";
        struct local_call call = {.method = rows[i].method, .target = rows[i].target};
        if (strcmp(call.method, "POST") == 0) {
            call.body = body;
            call.body_len = 4;
        }
        struct wire_answer wired = over_wire(toy.port, call.method, call.target);
        expect_agreement(&call, &wired, rows[i].status);
        wire_answer_free(&wired);
    }
    cr_expect_eq(toy_stop(&toy), 0);
}

static enum err_code refusal(const struct local_call *call)
{
    struct request request;
    cr_assert(begin(&request, call));
    local_run(&request, &hooks);
    cr_assert_eq(request.err.n, 1);
    enum err_code code = request.err.item[0].code;
    cr_expect_eq(request.response.status, err_status(code));
    cr_expect_str_eq(response_find(&request, "Finished"), "yes");
    local_end(&request);
    return code;
}

Test(local, keeps_the_limits)
{
    char target[LONG_PATH], value[2 * HEAD_BYTES_MAX], body[192] __attribute__((aligned(64))) = "";
    struct header fields[HEAD_FIELDS_MAX + 1];

    memset(target, 'a', sizeof target - 1);
    target[0] = '/';
    target[sizeof target - 1] = '\0';
    cr_expect_eq(refusal(&(struct local_call){.method = "GET", .target = target}),
                 ERR_uri_too_long);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        fields[i] = (struct header){"X", "y"};
    struct local_call call = {.method = "POST", .target = "/echo", .fields = fields};
    call.fields_n = HEAD_FIELDS_MAX + 1;
    cr_expect_eq(refusal(&call), ERR_headers_too_large);
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    fields[0].value = value;
    call.fields_n = 1;
    cr_expect_eq(refusal(&call), ERR_headers_too_large);
    fields[0] = (struct header){"Bad name", "v"};
    cr_expect_eq(refusal(&call), ERR_bad_request);
    call.fields_n = 0;
    call.body = body;
    call.body_len = BODY_MAX + 1;
    cr_expect_eq(refusal(&call), ERR_body_too_large);
    call.body_len = BODY_MAX;
    struct request request;
    struct buf out;
    cr_assert(begin(&request, &call));
    answer(&request, &out);
    cr_expect_eq(out.len, BODY_MAX + 1);
    buf_release(&out);
    local_end(&request);
}

Test(local, fields_reach_the_handler_without_blanks)
{
    const struct header fields[] = {{"Accept", "text/plain \t"}, {"accept", "second"}};
    struct local_call call = {.method = "GET", .target = "/small", .fields = fields, .fields_n = 2};
    struct request request;

    cr_assert(begin(&request, &call));
    cr_expect_str_eq(request_header(&request, "ACCEPT"), "text/plain, second");
    cr_expect_null(request_header(&request, "Host"));
    local_end(&request);
}

Test(local, an_answer_that_is_not_taken)
{
    struct local_call call = {.method = "GET", .target = "/small"};
    struct request request;

    cr_assert(begin(&request, &call));
    local_run(&request, &hooks);
    cr_expect_not(local_drain(&request, refuse, NULL));
    request.response.body.failed = true; /* as without memory */
    struct buf out;
    buf_init(&out, 100);
    cr_expect_not(local_drain(&request, take, &out));
    cr_expect_eq(out.len, 0);
    local_end(&request);

    call.target = "/stream?blocks=9&bytes=10&cut=4";
    cr_assert(begin(&request, &call));
    local_run(&request, &hooks);
    cr_expect_not(local_drain(&request, take, &out));
    cr_expect_eq(out.len, 30);
    local_end(&request);
    buf_release(&out);
}

Test(local, without_memory_for_the_head)
{
    const struct local_limits limits = {.arena_max = 8, .body_max = BODY_MAX};
    struct local_call call = {.method = "GET", .target = "/small"};
    struct request request;

    cr_expect_not(local_begin(&request, &hooks, &limits, &call));
}

Test(local, the_deadline_and_the_end_of_the_service)
{
    struct local_call call = {.method = "GET", .target = "/sleep?ms=60000"};
    atomic_bool hurry = true;
    struct local_limits limits = {
        .arena_max = 1 << 20, .body_max = BODY_MAX, .deadline_ns = clock_ns() + 20000000};
    struct request request;

    for (int i = 0; i < 2; i++) {
        cr_assert(local_begin(&request, &hooks, &limits, &call));
        local_run(&request, &hooks);
        cr_expect_eq(request.response.status, 503);
        local_end(&request);
        limits.deadline_ns = UINT64_MAX;
        limits.hurry = &hurry;
    }
}
