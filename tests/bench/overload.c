// SPDX-License-Identifier: Apache-2.0
/*
 * overload.c PORT [FACTOR [SECONDS]]: what a daemon does that is offered FACTOR times the requests
 * it can serve. Requests come at fixed times whatever becomes of those before (an open loop), and
 * latency counts from those times, so that waiting to be sent is not left out. Measures one client
 * alone, the capacity, the overload, and how soon one client is served as before. overload.sh runs
 * it.
 */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <time.h>

#include "../wire.h"

#define JOB_TARGET           "/v1/table.csv?kind=rope&dim=64&positions=0:3000"
#define JOB                  "GET " JOB_TARGET " HTTP/1.1\r\nHost: h\r\n\r\n"
#define ALIVE                "GET /livez HTTP/1.1\r\nHost: h\r\n\r\n"
#define CONNECTIONS_MAX      900
#define SAMPLES_MAX          1000000
#define CAPACITY_CONNECTIONS 6
#define ALIVE_EVERY_NS       100000000

enum outcome { ACCEPTED, REFUSED, ALIVES, OUTCOMES_N };

/* Latencies in microseconds. */
struct samples {
    unsigned *us;
    size_t n;
};

static struct samples samples[OUTCOMES_N];
static unsigned long failures, unsent;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void sample_add(enum outcome outcome, uint64_t ns)
{
    struct samples *to = &samples[outcome];
    if (!to->us && !(to->us = malloc(SAMPLES_MAX * sizeof *to->us)))
        abort();
    if (to->n < SAMPLES_MAX)
        to->us[to->n++] = (unsigned)(ns / 1000);
}

static void samples_reset(void)
{
    for (size_t i = 0; i < OUTCOMES_N; i++)
        samples[i].n = 0;
    failures = unsent = 0;
}

static int compare(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

/* In milliseconds. */
static double quantile(enum outcome outcome, double q)
{
    struct samples *of = &samples[outcome];
    if (of->n == 0)
        return 0;
    qsort(of->us, of->n, sizeof *of->us, compare);
    return of->us[(size_t)(q * (double)(of->n - 1))] / 1e3;
}

/* ---- One client at a time ------------------------------------------------------------------- */

/* Status, and the time it took. */
static int ask(struct wire *wire, const char *request, uint64_t *ns)
{
    uint64_t start = now_ns();
    wire_puts(wire, request);
    struct wire_answer answer = wire_read(wire, false);
    int status = answer.status;

    *ns = now_ns() - start;
    wire_answer_free(&answer);
    return status;
}

static double alone(int port, double seconds)
{
    struct wire wire = wire_open(port);
    uint64_t until = now_ns() + (uint64_t)(seconds * 1e9), ns;

    samples_reset();
    for (size_t i = 0; now_ns() < until; i++) {
        if (i % 500 == 499) { /* connections end after a thousand */
            wire_close(&wire);
            wire = wire_open(port);
        }
        if (ask(&wire, JOB, &ns) == 200)
            sample_add(ACCEPTED, ns);
    }
    wire_close(&wire);
    return quantile(ACCEPTED, 0.99);
}

/* ---- Many ----------------------------------------------------------------------------------- */

struct slot {
    struct wire wire;
    uint64_t due_ns; /* when its request should have been sent; 0: none is under way */
    enum outcome kind;
    struct slot *next_free;
};

static struct slot slots[CONNECTIONS_MAX];
static struct slot *free_slots;
static size_t slots_n, busy;
static int epoll, port;

static void slot_free(struct slot *slot)
{
    slot->due_ns = 0;
    slot->next_free = free_slots;
    free_slots = slot;
    busy--;
}

static bool slot_open(struct slot *slot)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = slot};
    const int on = 1;

    slot->wire = wire_open(port);
    if (slot->wire.fd < 0)
        return false;
    setsockopt(slot->wire.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return epoll_ctl(epoll, EPOLL_CTL_ADD, slot->wire.fd, &event) == 0;
}

static void request_send(enum outcome kind, uint64_t due_ns)
{
    struct slot *slot = free_slots;

    if (slot)
        free_slots = slot->next_free;
    else if (slots_n < CONNECTIONS_MAX)
        slot = &slots[slots_n++];
    if (!slot) {
        unsent++;
        return;
    }
    busy++;
    slot->due_ns = due_ns;
    slot->kind = kind;
    if ((slot->wire.fd <= 0 && !slot_open(slot)) ||
        !wire_puts(&slot->wire, kind == ALIVES ? ALIVE : JOB)) {
        failures++;
        wire_close(&slot->wire);
        slot_free(slot);
    }
}

/* Takes what has come on a connection; counts a complete answer. */
static void slot_read(struct slot *slot)
{
    bool more = wire_more(&slot->wire, 0);
    const char *end = slot->wire.data ? strstr(slot->wire.data, "\r\n\r\n") : NULL;
    const char *length = end ? strstr(slot->wire.data, "Content-Length: ") : NULL;

    if (length && length < end) {
        size_t len = (size_t)(end + 4 - slot->wire.data) + strtoul(length + 16, NULL, 10);
        if (slot->wire.len < len)
            return;
        bool closing =
            memmem(slot->wire.data, (size_t)(end - slot->wire.data), "Connection: close", 17);
        bool good = strncmp(slot->wire.data, "HTTP/1.1 200", 12) == 0;
        bool refused = strncmp(slot->wire.data, "HTTP/1.1 503", 12) == 0;
        if (good || refused)
            sample_add(!good                  ? REFUSED
                       : slot->kind == ALIVES ? ALIVES
                                              : ACCEPTED,
                       now_ns() - slot->due_ns);
        else
            failures++;
        slot->wire.len = 0;
        if (closing)
            wire_close(&slot->wire);
        slot_free(slot);
    } else if (!more) {
        failures += slot->due_ns != 0;
        wire_close(&slot->wire);
        if (slot->due_ns)
            slot_free(slot);
    }
}

static void wait_for_answers(int ms)
{
    struct epoll_event events[64];
    int n = epoll_wait(epoll, events, 64, ms);
    for (int i = 0; i < n; i++)
        slot_read(events[i].data.ptr);
}

/* Keeps `clients` requests under way; answers a second. */
static double capacity(double seconds, size_t clients)
{
    uint64_t start = now_ns(), until = start + (uint64_t)(seconds * 1e9);

    samples_reset();
    while (now_ns() < until) {
        while (busy < clients)
            request_send(ACCEPTED, now_ns());
        wait_for_answers(10);
    }
    double rate = (double)samples[ACCEPTED].n / seconds;
    while (busy > 0)
        wait_for_answers(10);
    return rate;
}

static void overload(double rate, double seconds)
{
    uint64_t start = now_ns(), alive_ns = start;
    size_t sent = 0, all = (size_t)(rate * seconds);

    samples_reset();
    while (sent < all) {
        for (uint64_t due; sent < all; sent++) {
            due = start + (uint64_t)((double)sent / rate * 1e9);
            if (due > now_ns())
                break;
            request_send(ACCEPTED, due);
        }
        for (; alive_ns <= now_ns(); alive_ns += ALIVE_EVERY_NS)
            request_send(ALIVES, alive_ns);
        wait_for_answers(1);
    }
}

/* Milliseconds until one client is served again within `limit_ms`, ten times in a row. */
static double recovery(double limit_ms)
{
    uint64_t start = now_ns(), good_since = 0, ns;
    struct wire wire = wire_open(port);

    for (size_t good = 0; good < 10 && now_ns() - start < 10 * UINT64_C(1000000000);) {
        uint64_t begin = now_ns();
        bool ok = ask(&wire, JOB, &ns) == 200 && (double)ns / 1e6 <= limit_ms;
        good_since = good == 0 ? begin : good_since;
        good = ok ? good + 1 : 0;
    }
    wire_close(&wire);
    return (double)(good_since - start) / 1e6;
}

int main(int arguments_n, char **arguments)
{
    double factor = arguments_n > 2 ? strtod(arguments[2], NULL) : 10;
    double seconds = arguments_n > 3 ? strtod(arguments[3], NULL) : 10;

    if (arguments_n < 2)
        return 2;
    port = (int)strtol(arguments[1], NULL, 10);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    alone(port, 0.5);
    double p99 = alone(port, 2);
    printf("alone:     %6.0f answers/s, p50 %.2f ms, p99 %.2f ms\n",
           (double)samples[ACCEPTED].n / 2, quantile(ACCEPTED, 0.5), p99);
    double rate = capacity(3, CAPACITY_CONNECTIONS);
    printf("capacity:  %6.0f answers/s\n", rate);
    overload(factor * rate, seconds);
    printf("offered:   %6.0f requests/s for %.0f s on %zu connections; %lu failed, %lu not sent\n",
           factor * rate, seconds, slots_n, failures, unsent);
    printf("accepted:  %6.0f answers/s, p50 %.2f ms, p99 %.2f ms\n",
           (double)samples[ACCEPTED].n / seconds, quantile(ACCEPTED, 0.5),
           quantile(ACCEPTED, 0.99));
    printf("503:       %6.0f answers/s, p50 %.2f ms, p99 %.2f ms\n",
           (double)samples[REFUSED].n / seconds, quantile(REFUSED, 0.5), quantile(REFUSED, 0.99));
    printf("/livez:    %6zu answers, p50 %.2f ms, p99 %.2f ms\n", samples[ALIVES].n,
           quantile(ALIVES, 0.5), quantile(ALIVES, 0.99));
    printf("recovered: after %.0f ms\n", recovery(2 * p99));
    return 0;
}
