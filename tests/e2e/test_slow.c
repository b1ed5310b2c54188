// SPDX-License-Identifier: Apache-2.0
/*
 * test_slow.c: clients that send heads and bodies byte by byte, or hardly read their answer: each
 * loses its connection in its time, and others are served meanwhile. As slowhttptest does, with
 * fewer connections.
 */
#include <criterion/criterion.h>
#include <time.h>

#include "harness.h"
#include "wire.h"

TestSuite(slow, .timeout = 120);

#define PER_KIND 20
#define STEP_MS  200
#define END_MS   24000
/* No slow client is gone so soon: what takes longer has waited for one. How fast others are served
 * is a matter for measurements (tests/bench/RESULTS.md), not for a test. */
#define WAITS_MS 2000
#define SMALL    "GET /v1/table?kind=rope&dim=8&positions=0:4 HTTP/1.1\r\nHost: h\r\n\r\n"

enum kind { SILENT, HEADS, LINES, BODIES, CHUNKS, READERS, AFTER_ONE, KINDS_N };

/* How a kind begins, what it goes on with at each step, when it has to be over at the latest (with
 * a second for a machine that is busy), what it may have been told. */
static const struct {
    const char *name, *begins, *goes_on;
    int64_t end_ms;
    int status;
} kinds[KINDS_N] = {
    [SILENT] = {"silence", "", "", 16250, 0},
    [HEADS] = {"a head in fields", "GET / HTTP/1.1\r\nHost: h\r\n", "X: y\r\n", 11250, 408},
    [LINES] = {"a request line in bytes", "GET /", "a", 11250, 408},
    [BODIES] = {"a body",
                "POST /v1/apply HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                "Content-Length: 100000\r\n\r\n",
                "          ", 6250, 408},
    [CHUNKS] = {"a body in chunks",
                "POST /v1/apply HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                "Transfer-Encoding: chunked\r\n\r\n",
                "1\r\n \r\n", 6250, 408},
    [READERS] = {"an answer",
                 "GET /v1/table?kind=rope&dim=128&positions=0:4096 HTTP/1.1\r\nHost: h\r\n\r\n", "",
                 16250, 200},
    [AFTER_ONE] = {"a head after an answer", SMALL "GET / HTTP/1.1\r\n", "X: y\r\n", 16250, 200},
};

struct client {
    struct wire wire;
    enum kind kind;
    int64_t end_ms; /* when it lost its connection; 0: not yet */
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void client_begin(struct client *client, int port, enum kind kind)
{
    static const int small = 4096;

    *client = (struct client){.wire = wire_open(port), .kind = kind};
    cr_assert_geq(client->wire.fd, 0);
    if (kind == READERS)
        setsockopt(client->wire.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    wire_puts(&client->wire, kinds[kind].begins);
}

/* Sends or reads a little, and looks whether the connection is still there. */
static void client_step(struct client *client, int64_t ms)
{
    struct pollfd state = {.fd = client->wire.fd, .events = POLLRDHUP};
    char some[16];

    if (client->kind == READERS)
        client->end_ms = recv(state.fd, some, sizeof some, MSG_DONTWAIT) == 0 ? ms : 0;
    else
        wire_puts(&client->wire, kinds[client->kind].goes_on);
    if (poll(&state, 1, 0) == 1)
        client->end_ms = ms;
}

static void client_end(struct client *client)
{
    const char *name = kinds[client->kind].name;

    cr_expect_neq(client->end_ms, 0, "%s: the connection is still open", name);
    cr_expect_leq(client->end_ms, kinds[client->kind].end_ms, "%s: open for %ld ms", name,
                  (long)client->end_ms);
    cr_expect_geq(client->end_ms, 4750, "%s: open for only %ld ms", name, (long)client->end_ms);
    if (client->kind != READERS) {
        struct wire_answer answer = wire_read_within(&client->wire, false, 0);
        cr_expect(answer.status == kinds[client->kind].status || answer.status == 0, "%s: %d", name,
                  answer.status);
        wire_answer_free(&answer);
    }
    wire_close(&client->wire);
}

/* A request of somebody else, and how long it takes. */
static int64_t serve_another(int port)
{
    int64_t start = now_ms();
    cr_expect_eq(wire_status(port, SMALL, strlen(SMALL)), 200);
    return now_ms() - start;
}

Test(slow, clients_lose_their_connections_in_time)
{
    static struct client clients[KINDS_N * PER_KIND];
    struct e2e_daemon daemon;
    struct e2e_answer metrics;
    size_t open = KINDS_N * PER_KIND, served = 0, late = 0;

    e2e_start(&daemon, (const char *const[]){"--queue", "100", NULL});
    int64_t start = now_ms();
    for (size_t i = 0; i < KINDS_N * PER_KIND; i++)
        client_begin(&clients[i], daemon.port, (enum kind)(i % KINDS_N));
    while (open > 0 && now_ms() - start < END_MS) {
        open = 0;
        for (size_t i = 0; i < KINDS_N * PER_KIND; i++) {
            if (clients[i].end_ms == 0)
                client_step(&clients[i], now_ms() - start);
            open += clients[i].end_ms == 0;
        }
        late += serve_another(daemon.port) > WAITS_MS;
        served++;
        nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000L}, NULL);
    }
    for (size_t i = 0; i < KINDS_N * PER_KIND; i++)
        client_end(&clients[i]);
    cr_expect_eq(late, 0, "%zu of %zu requests waited behind slow clients", late, served);
    metrics = e2e_request(&daemon, "GET", "/metrics", NULL, NULL, 0);
    cr_expect_not_null(strstr(metrics.body, "timed_out_total{waiting=\"answer\"} 20\n"));
    cr_expect_not_null(strstr(metrics.body, "timed_out_total{waiting=\"body\"} 40\n"));
    cr_expect_not_null(strstr(metrics.body, "timed_out_total{waiting=\"head\"} 60\n"));
    cr_expect_not_null(strstr(metrics.body, "timed_out_total{waiting=\"idle\"} 20\n"));
    e2e_answer_free(&metrics);
    e2e_stop(&daemon);
}
