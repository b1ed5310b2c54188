// SPDX-License-Identifier: Apache-2.0
/*
 * test_faults.c: a daemon that gets no memory, whose system calls fail, that has few descriptors or
 * nowhere to log: it answers rightly, says 503 or closes the connection, and goes on. The failures
 * are tests/fault/shim.c's, so they are not tried on daemons with sanitizers, which have an
 * allocator of their own.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <zlib.h>

#include "fault/faults.h"
#include "harness.h"
#include "wire.h"

TestSuite(faults, .timeout = 240);

#define DENSE_N 120  /* every one of the first allocations of a request fails once */
#define STEP    61   /* after them, one in so many */
#define CALLS_N 2000 /* more than a request makes, so that a sweep ends */
#define TEXT    1024
/* Blocks of connections that are just being closed, and of what threads keep. */
#define BLOCKS_SLACK 16

static struct faults *faults;
static struct e2e_daemon server;

/* ---- The daemon with the shim -------------------------------------------------------------- */

/* Builds the shim here, because it is part of no program. */
static void start_with_shim(const char *cache_size)
{
    char folder[] = "/tmp/posencd-faults-XXXXXX", page[TEXT], shim[TEXT], command[2 * TEXT];

    if (e2e_is_sanitized())
        cr_skip_test("the daemon's allocator is a sanitizer's");
    cr_assert(mkdtemp(folder));
    snprintf(page, sizeof page, "%s/page", folder);
    snprintf(shim, sizeof shim, "%s/shim.so", folder);
    snprintf(command, sizeof command,
             "\"${CC:-cc}\" -std=c11 -D_GNU_SOURCE -O1 -shared -fPIC -o %s tests/fault/shim.c",
             shim);
    cr_assert_eq(system(command), 0, "%s", command);
    int fd = open(page, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    cr_assert_eq(ftruncate(fd, sizeof *faults), 0);
    faults = mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert(faults != MAP_FAILED);
    close(fd);
    setenv("LD_PRELOAD", shim, 1);
    setenv("POSENC_FAULTS", page, 1);
    e2e_start(&server, (const char *const[]){"--workers", "2", "--cache-size", cache_size, NULL});
    unsetenv("LD_PRELOAD");
    unlink(page);
    unlink(shim);
    rmdir(folder);
}

static void arm(enum fault_call call, long after, long fails, int error)
{
    struct fault *fault = &faults->of[call];
    atomic_store(&fault->after, after);
    atomic_store(&fault->error, error);
    atomic_store(&fault->fails, fails);
}

/* Whether a call has failed since arm(). */
static bool disarm(enum fault_call call, long fails)
{
    return atomic_exchange(&faults->of[call].fails, 0) != fails;
}

/* ---- Requests ------------------------------------------------------------------------------ */

/* How a body is sent. Behind the header of a file there are ELEMENTS bytes of tensors. */
enum packing { JSON, GZIP, SAFETENSORS, NPY, ANSWER_IN_GZIP };
static const char *const fields[] = {
    [JSON] = "Content-Type: application/json\r\n",
    [GZIP] = "Content-Type: application/json\r\nContent-Encoding: gzip\r\n",
    [SAFETENSORS] = "Content-Type: application/x-safetensors\r\n",
    [NPY] = "Content-Type: application/x-npy\r\n",
    [ANSWER_IN_GZIP] = "Content-Type: application/json\r\nAccept-Encoding: gzip\r\n",
};
#define ELEMENTS 16

static size_t pack(enum packing packing, const char *text, char out[2 * TEXT])
{
    uint64_t len = strlen(text);
    size_t head = packing == SAFETENSORS ? 8 : packing == NPY ? 10 : 0;
    memset(out, 0, 2 * TEXT);
    if (packing == GZIP) {
        z_stream stream = {.next_in = (unsigned char *)text,
                           .avail_in = (unsigned)len,
                           .next_out = (unsigned char *)out,
                           .avail_out = 2 * TEXT};
        deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
        deflate(&stream, Z_FINISH);
        deflateEnd(&stream);
        return stream.total_out;
    }
    if (packing == NPY)
        memcpy(out, "\x93NUMPY\1", 7);
    if (head > 0) /* numpy's length has two bytes, the others are overwritten */
        memcpy(out + (packing == NPY ? 8 : 0), &len, 8);
    memcpy(out + head, text, len);
    return head + len + (head > 0 ? ELEMENTS : 0);
}

/* A number stands for each @. */
static const struct endpoint {
    const char *method, *target, *body;
    int status;  /* when nothing fails */
    bool varies; /* from one answer to the next */
    enum packing packing;
} endpoints[] = {
    {"GET", "/", NULL, 200, false, JSON},
    {"GET", "/help", NULL, 200, false, JSON},
    {"GET", "/openapi.json", NULL, 200, false, JSON},
    {"GET", "/v1", NULL, 200, false, JSON},
    {"GET", "/v1/encodings", NULL, 200, false, JSON},
    {"GET", "/v1/encodings/rope.txt", NULL, 200, false, JSON},
    {"GET", "/v1/version", NULL, 200, false, JSON},
    {"GET", "/v1/limits", NULL, 200, false, JSON},
    {"GET", "/v1/changes", NULL, 200, false, JSON},
    {"GET", "/v1/fixtures", NULL, 200, false, JSON},
    {"GET", "/problems/malformed-tensor", NULL, 200, false, JSON},
    {"GET", "/assets/posenc.js", NULL, 200, false, JSON},
    {"GET", "/livez", NULL, 200, false, JSON},
    {"GET", "/readyz?verbose", NULL, 200, true, JSON},
    {"GET", "/metrics", NULL, 200, true, JSON},
    {"OPTIONS", "/v1/table", NULL, 204, false, JSON},
    {"GET", "/v1/spec?kind=rope&shift=@", NULL, 200, false, JSON},
    {"GET", "/v1/table?kind=rope&dim=8&positions=0:4&shift=@", NULL, 200, false, JSON},
    {"GET", "/v1/table.csv?kind=sinusoidal&dim=40&positions=0:30&shift=@", NULL, 200, false, JSON},
    {"GET", "/v1/table.npy?kind=rope&dim=8&positions=0:4&shift=@", NULL, 200, false, JSON},
    {"GET", "/v1/table.bin?kind=rope&dim=8&positions=0:4&shift=@&numbers=hex", NULL, 200, false,
     JSON},
    {"GET", "/v1/table.safetensors?kind=rope&dim=8&positions=0:4&shift=@", NULL, 200, false, JSON},
    {"GET", "/v1/table?kind=rope&dim=64&positions=0:30&shift=@", NULL, 200, false, ANSWER_IN_GZIP},
    {"GET", "/v1/table.txt?kind=t5&heads=2&positions=0,9,3&table_seed=@", NULL, 200, false, JSON},
    {"GET", "/v1/frequencies?kind=rope&dim=16&base=@5", NULL, 200, false, JSON},
    {"GET", "/v1/rotation?kind=rope&dim=8&positions=0:2&shift=@", NULL, 200, false, JSON},
    {"GET", "/v1/apply?kind=rope&dim=8&positions=3,7&shift=@", NULL, 200, false, JSON},
    {"POST", "/v1/apply",
     "{\"spec\":{\"kind\":\"rope\",\"dim\":4,\"shift\":@},\"x\":[[1,2,3,4],[5,6,7,8]]}", 200, false,
     JSON},
    {"POST", "/v1/apply", "{\"spec\":\"alibi:slopes=0.5+0.25@\",\"scores\":[[[1,2]],[[3,4]]]}", 200,
     false, JSON},
    {"POST", "/v1/apply", "{\"spec\":\"rope:dim=2,shift=@\",\"x\":[[1,2,3]]}", 422, false, JSON},
    {"POST", "/v1/apply",
     "{\"spec\":{\"kind\":\"rope\",\"dim\":4,\"shift\":@},\"x\":[[1,2,3,4],[5,6,7,8]]}", 200, false,
     GZIP},
    {"POST", "/v1/apply",
     "{\"__metadata__\":{\"request\":\"{\\\"spec\\\":\\\"rope:dim=4,shift=@\\\"}\"},"
     "\"x\":{\"dtype\":\"F32\",\"shape\":[1,4],\"data_offsets\":[0,16]}}",
     200, false, SAFETENSORS},
    {"POST", "/v1/apply.csv?kind=rope&dim=8&shift=@",
     "{'descr': '>f2', 'fortran_order': True, 'shape': (1, 8), }\n", 200, false, NPY},
    {"POST", "/v1/apply", "{\"x\":{\"dtype\":\"I32\"},\"@\":{}}", 400, false, SAFETENSORS},
    {"GET", "/v1/scores?kind=rope&shift=@", NULL, 200, false, JSON},
    {"GET", "/v1/scores?kind=sinusoidal&terms=1&shift=@", NULL, 200, false, JSON},
    {"GET",
     "/v1/rotation?kind=rope2d&dim=4&grid=2x3&coords=crop&start=0,@&stop=1,9.5&class_token=last",
     NULL, 200, false, JSON},
    {"GET", "/v1/table?kind=rope&dim=4&ids=5,1,@;6,1,1&style=roberta", NULL, 200, false, JSON},
    {"GET", "/v1/positions?grid=2x3&coord_offset=@.5", NULL, 200, false, JSON},
    {"POST", "/v1/positions",
     "{\"segments\":[{\"text\":3},{\"grid\":[1,4,4]}],\"style\":\"mrope\",\"patch\":1@}", 400,
     false, JSON},
    {"POST", "/v1/positions", "{\"ids\":[[5,1],[1,@]],\"style\":\"opt\"}", 200, false, JSON},
    {"GET", "/v1/tabel?shift=@", NULL, 404, false, JSON},
    {"POST", "/v1/apply", "{\"spec\":\"rope@\"", 400, false, JSON},
};
#define ENDPOINTS_N (sizeof endpoints / sizeof endpoints[0])

static void fill_in(char out[TEXT], const char *text, long number)
{
    size_t len = 0;
    for (const char *c = text; *c; c++)
        len += (size_t)(*c == '@' ? snprintf(out + len, TEXT - len, "%ld", number)
                                  : snprintf(out + len, TEXT - len, "%c", *c));
}

/* Status 0: the connection was closed without a whole answer. It may not stay silent. The request
 * goes out in one piece: with edge-triggered epoll a send() that pretends to have failed is only
 * tried again when something else happens on the connection. */
static struct wire_answer ask(const struct endpoint *endpoint, long number)
{
    char target[TEXT] = "", text[TEXT] = "", body[2 * TEXT], request[4 * TEXT];
    fill_in(target, endpoint->target, number);
    fill_in(text, endpoint->body ? endpoint->body : "", number);
    size_t body_len = endpoint->body ? pack(endpoint->packing, text, body) : 0;
    size_t head_len = (size_t)snprintf(
        request, 2 * TEXT,
        "%s %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n%sContent-Length: %zu\r\n\r\n",
        endpoint->method, target, fields[endpoint->packing], body_len);
    memcpy(request + head_len, body, body_len);
    struct wire wire = wire_open(server.port);
    cr_assert_geq(wire.fd, 0, "%s %s: the daemon is gone", endpoint->method, target);
    wire_send(&wire, request, head_len + body_len);
    struct wire_answer answer = wire_read(&wire, endpoint->status == 204);
    cr_expect(wire_ends(&wire, WIRE_WAIT_MS), "%s %s: not closed", endpoint->method, target);
    wire_close(&wire);
    return answer;
}

/* Holds an answer during which something failed against the one that follows it. */
static void expect_fair(const struct endpoint *endpoint, const struct wire_answer *got, long number,
                        const char *what, long n)
{
    struct wire_answer wanted = ask(endpoint, number);
    size_t len;
    cr_assert_eq(wanted.status, endpoint->status, "%s after %s %ld: %d", endpoint->target, what, n,
                 wanted.status);
    if (got->status == 503 && !endpoint->varies) /* /readyz says it of itself */
        cr_expect(wire_field(got, "Retry-After", &len), "%s, %s %ld: 503 without Retry-After",
                  endpoint->target, what, n);
    else if (got->status != 0 && !endpoint->varies)
        cr_expect(got->status == wanted.status && got->body_len == wanted.body_len &&
                      memcmp(got->body, wanted.body, wanted.body_len) == 0,
                  "%s, %s %ld: %d %s", endpoint->target, what, n, got->status, got->body);
    wire_answer_free(&wanted);
}

/* Fails `fails` allocations from the n-th on, for each n; `fresh` asks for another plan each time.
 */
static void sweep_allocations(const struct endpoint *endpoint, long fails, bool fresh)
{
    bool reached = true;
    for (long n = 0; reached && n < CALLS_N; n += n < DENSE_N ? 1 : STEP) {
        long number = fresh ? n + 1 : 1;
        arm(FAULT_alloc, n, fails, ENOMEM);
        struct wire_answer got = ask(endpoint, number);
        reached = disarm(FAULT_alloc, fails);
        expect_fair(endpoint, &got, number, "allocation", n);
        wire_answer_free(&got);
    }
}

/* ---- Tests --------------------------------------------------------------------------------- */

Test(faults, an_allocation_that_fails)
{
    start_with_shim("64M");
    for (size_t i = 0; i < ENDPOINTS_N; i++)
        sweep_allocations(&endpoints[i], 1, true);
    e2e_stop(&server);
}

Test(faults, all_allocations_fail_from_some_time_on)
{
    start_with_shim("64M");
    for (size_t i = 0; i < ENDPOINTS_N; i++)
        sweep_allocations(&endpoints[i], LONG_MAX, true);
    e2e_stop(&server);
}

Test(faults, nothing_leaks_when_an_allocation_fails)
{
    start_with_shim("0"); /* or blocks would be those of answers that are kept */
    for (size_t i = 0; i < ENDPOINTS_N; i++) {
        struct wire_answer first = ask(&endpoints[i], 1); /* its plan is kept */
        wire_answer_free(&first);
        long before = atomic_load(&faults->blocks);
        sweep_allocations(&endpoints[i], 1, false);
        long after = atomic_load(&faults->blocks);
        cr_expect_leq(after, before + BLOCKS_SLACK, "%s: %ld blocks became %ld",
                      endpoints[i].target, before, after);
    }
    e2e_stop(&server);
}

/* Not among them: a recv() that takes less than has come or says EAGAIN although something has.
 * Under edge-triggered epoll the kernel does neither, and libmicrohttpd counts on it. */
static const struct {
    const char *name;
    enum fault_call call;
    int error;
    bool harmless; /* the request is answered all the same */
} failures[] = {
#define ROW(call, error, harmless)                                                                 \
    {                                                                                              \
#call " " #error, FAULT_##call, error, harmless                                            \
    }
#define SHORT 0
    ROW(accept4, EINTR, true),        ROW(accept4, EAGAIN, true),
    ROW(accept4, EMFILE, true),       ROW(accept4, ENFILE, true),
    ROW(accept4, ECONNABORTED, true), ROW(accept4, ENOBUFS, true),
    ROW(accept4, ENOMEM, true),       ROW(recv, EINTR, true),
    ROW(recv, ECONNRESET, false),     ROW(recv, ENOBUFS, false),
    ROW(recv, ENOMEM, false),         ROW(recv, EIO, false),
    ROW(send, SHORT, true),           ROW(send, EINTR, true),
    ROW(send, EAGAIN, true),          ROW(send, ECONNRESET, false),
    ROW(send, EPIPE, false),          ROW(send, ENOBUFS, false),
    ROW(sendmsg, SHORT, true),        ROW(sendmsg, EINTR, true),
    ROW(sendmsg, EAGAIN, true),       ROW(sendmsg, ECONNRESET, false),
    ROW(sendmsg, EPIPE, false),       ROW(sendmsg, ENOBUFS, false),
    ROW(epoll_wait, EINTR, true),     ROW(epoll_ctl, ENOMEM, false),
    ROW(epoll_ctl, ENOSPC, false),
};
#define FAILURES_N (sizeof failures / sizeof failures[0])

/* One after the other, each call of a kind that a request causes fails once. */
Test(faults, a_system_call_that_fails)
{
    static const struct endpoint requests[] = {
        {"GET", "/livez", NULL, 200, false, JSON},
        {"GET", "/v1/table?kind=learned&dim=60&positions=0:300&table_seed=@", NULL, 200, false,
         JSON},
        {"POST", "/v1/apply", "{\"spec\":\"rope:dim=2,shift=@\",\"x\":[[1,2]]}", 200, false, JSON},
        {"POST", "/livez", "{}", 405, false, JSON},
    };
    start_with_shim("64M");
    for (size_t i = 0; i < FAILURES_N; i++)
        for (size_t j = 0; j < sizeof requests / sizeof requests[0]; j++) {
            bool reached = true;
            for (long n = 0; reached && n < 50; n++) {
                arm(failures[i].call, n, 1, failures[i].error);
                struct wire_answer got = ask(&requests[j], n);
                reached = disarm(failures[i].call, 1);
                cr_expect(got.status != 0 || !failures[i].harmless, "%s: %s %ld",
                          requests[j].target, failures[i].name, n);
                expect_fair(&requests[j], &got, n, failures[i].name, n);
                wire_answer_free(&got);
            }
        }
    e2e_stop(&server);
}

/* Some connections are served, the others told so at once, and it works again when they have left.
 */
Test(faults, few_descriptors)
{
    static const char request[] = "GET /livez HTTP/1.1\r\nHost: h\r\n\r\n";
    struct rlimit limit = {32, 32};
    struct wire clients[14];
    size_t served = 0, n = sizeof clients / sizeof clients[0];

    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    e2e_start(&server, NULL);
    for (size_t i = 0; i < n; i++) {
        clients[i] = wire_open(server.port);
        cr_assert(wire_puts(&clients[i], request));
        struct wire_answer answer = wire_read_within(&clients[i], false, 1000);
        cr_expect(answer.status == 200 || answer.status == 503, "client %zu: %d", i, answer.status);
        served += answer.status == 200;
        wire_answer_free(&answer);
    }
    cr_expect(served > 0 && served < n, "%zu were served", served);
    for (size_t i = 0; i < n; i++)
        wire_close(&clients[i]);
    int status = 503;
    for (int i = 0; i < 100 && status == 503; i++, usleep(10000))
        status = wire_status(server.port, request, sizeof request - 1);
    cr_expect_eq(status, 200);
    e2e_stop(&server);
}

static void expect_served_without_log(int log)
{
    int keep = dup(STDERR_FILENO);
    dup2(log, STDERR_FILENO);
    close(log);
    e2e_start(&server, (const char *const[]){"--log-format", "json", NULL});
    dup2(keep, STDERR_FILENO);
    close(keep);
    for (int i = 0; i < 3; i++) {
        struct e2e_answer answer = e2e_request(&server, "GET", "/livez", NULL, NULL, 0);
        cr_expect_eq(answer.status, 200);
        e2e_answer_free(&answer);
    }
    e2e_stop(&server);
}

Test(faults, nowhere_to_log)
{
    int ends[2];
    expect_served_without_log(open("/dev/full", O_WRONLY | O_CLOEXEC));
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    close(ends[0]); /* nobody reads it */
    expect_served_without_log(ends[1]);
}
