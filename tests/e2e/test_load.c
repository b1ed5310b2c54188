// SPDX-License-Identifier: Apache-2.0
/*
 * test_load.c: the daemon under load and abuse: large posts beside small requests, uploads cut off,
 * many connections, a full queue, the end while working. Nothing here measures time.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

#include "harness.h"
#include "wire.h"

TestSuite(load, .timeout = 300);

#define SMALL "GET /v1/table?kind=rope&dim=8&positions=0:4 HTTP/1.1\r\nHost: h\r\n\r\n"
#define ROWS  24000
#define DIM   64

/* A post to /v1/apply with that many rows of JSON numbers, head and all; ROWS make about 10 MB. */
static char *large_post(unsigned rows, size_t *len)
{
    size_t capacity = (size_t)rows * DIM * 8 + 1000, n = 0;
    char *body = malloc(capacity), *post = malloc(capacity + 1000);

    cr_assert(body && post);
    n += (size_t)snprintf(body, capacity,
                          "{\"spec\":\"rope:dim=64\",\"x\":{\"dtype\":\"f32\","
                          "\"data\":[");
    for (unsigned i = 0; i < rows * DIM; i++)
        n += (size_t)snprintf(body + n, capacity - n, "%s0.%04u%s",
                              i % DIM ? ","
                              : i     ? ",["
                                      : "[",
                              (i * 7919) % 10000, i % DIM == DIM - 1 ? "]" : "");
    n += (size_t)snprintf(body + n, capacity - n, "]}}");
    size_t head = (size_t)snprintf(post, 1000,
                                   "POST /v1/apply HTTP/1.1\r\nHost: h\r\nContent-Type: "
                                   "application/json\r\nContent-Length: %zu\r\n\r\n",
                                   n);
    memcpy(post + head, body, n);
    free(body);
    *len = head + n;
    return post;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* ---- Large posts beside small requests ----------------------------------------------------- */

#define POSTERS 4
#define POSTS   3

struct poster {
    int port;
    const char *post;
    size_t post_len;
    int statuses[POSTS];
    size_t lens[POSTS];
    bool same; /* all answers alike */
};

static atomic_int posts_open;

/* In a thread: no assertions here. */
static void *post_some(void *argument)
{
    struct poster *poster = argument;
    struct wire wire = wire_open(poster->port);
    struct wire_answer first = {0};

    poster->same = true;
    for (size_t i = 0; i < POSTS; i++) {
        atomic_fetch_add(&posts_open, 1);
        wire_send(&wire, poster->post, poster->post_len);
        struct wire_answer answer = wire_read_within(&wire, false, 100000);
        atomic_fetch_sub(&posts_open, 1);
        poster->statuses[i] = answer.status;
        poster->lens[i] = answer.body_len;
        if (i == 0) {
            first = answer;
            continue;
        }
        poster->same &= first.body && answer.body && answer.body_len == first.body_len &&
                        memcmp(answer.body, first.body, first.body_len) == 0;
        wire_answer_free(&answer);
    }
    wire_answer_free(&first);
    wire_close(&wire);
    return NULL;
}

Test(load, small_requests_are_answered_while_large_posts_are_in_work)
{
    struct e2e_daemon daemon;
    struct poster posters[POSTERS];
    pthread_t threads[POSTERS];
    size_t len, beside = 0;

    e2e_start(&daemon, (const char *const[]){"--workers", "2", "--deadline", "200", NULL});
    cr_assert_eq(wire_status(daemon.port, SMALL, strlen(SMALL)), 200);
    char *post = large_post(ROWS, &len);
    for (size_t i = 0; i < POSTERS; i++) {
        posters[i] = (struct poster){.port = daemon.port, .post = post, .post_len = len};
        atomic_fetch_add(&posts_open, 1);
        pthread_create(&threads[i], NULL, post_some, &posters[i]);
    }
    for (size_t i = 0; i < POSTERS; i++)
        atomic_fetch_sub(&posts_open, 1);
    pause_ms(20);
    while (atomic_load(&posts_open) > 0) {
        cr_assert_eq(wire_status(daemon.port, SMALL, strlen(SMALL)), 200);
        beside += atomic_load(&posts_open) > 0;
    }
    for (size_t i = 0; i < POSTERS; i++) {
        pthread_join(threads[i], NULL);
        cr_expect(posters[i].same);
        for (size_t k = 0; k < POSTS; k++) {
            cr_expect_eq(posters[i].statuses[k], 200, "%d", posters[i].statuses[k]);
            cr_expect_gt(posters[i].lens[k], (size_t)ROWS * DIM * 4);
        }
    }
    cr_expect_gt(beside, 20);
    free(post);
    e2e_stop(&daemon);
}

/* ---- Uploads cut off, many connections ------------------------------------------------------ */

Test(load, uploads_cut_off_leave_nothing_behind)
{
    struct e2e_daemon daemon;
    size_t len;
    char *post = large_post(ROWS, &len);

    e2e_start(&daemon, NULL);
    for (size_t i = 0; i < 40; i++) {
        struct wire wire = wire_open(daemon.port);
        wire_send(&wire, post, i < 20 ? 60 * i : len / 40 * i);
        if (i % 2) { /* a reset instead of an end */
            struct linger now = {.l_onoff = 1, .l_linger = 0};
            setsockopt(wire.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        }
        wire_close(&wire);
    }
    for (size_t i = 0; i < 6; i++) { /* gone while the job runs */
        struct wire wire = wire_open(daemon.port);
        wire_send(&wire, post, len);
        wire_close(&wire);
    }
    /* Their jobs may still fill the queue, for long under a sanitizer; but not for ever. */
    int status = 0;
    for (size_t i = 0; i < 60 && status != 200; i++) {
        status = wire_status(daemon.port, SMALL, strlen(SMALL));
        if (status != 200)
            sleep(1);
    }
    cr_expect_eq(status, 200);
    free(post);
    e2e_stop(&daemon);
}

#define CONNECTIONS 500

Test(load, keeps_500_connections)
{
    static struct wire wires[CONNECTIONS];
    struct e2e_daemon daemon;

    e2e_start(&daemon, NULL);
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < CONNECTIONS; i++) {
            if (round == 0)
                wires[i] = wire_open(daemon.port);
            wire_puts(&wires[i], "GET /livez HTTP/1.1\r\nHost: h\r\n\r\n");
        }
        for (size_t i = 0; i < CONNECTIONS; i++) {
            struct wire_answer answer = wire_read(&wires[i], false);
            cr_assert_eq(answer.status, 200, "connection %zu, round %zu", i, round);
            wire_answer_free(&answer);
        }
    }
    for (size_t i = 0; i < CONNECTIONS; i++)
        wire_close(&wires[i]);
    e2e_stop(&daemon);
}

/* ---- A full queue, the end ------------------------------------------------------------------ */

#define CROWD 8

Test(load, full_queue_is_503_with_retry_after)
{
    struct e2e_daemon daemon;
    struct wire wires[CROWD];
    size_t len, done = 0, refused = 0;
    char *post = large_post(ROWS, &len);

    e2e_start(&daemon,
              (const char *const[]){"--workers", "1", "--queue", "1", "--deadline", "200", NULL});
    for (size_t i = 0; i < CROWD; i++) { /* all but the last byte, so that they end together */
        wires[i] = wire_open(daemon.port);
        wire_send(&wires[i], post, len - 1);
    }
    for (size_t i = 0; i < CROWD; i++)
        wire_send(&wires[i], post + len - 1, 1);
    for (size_t i = 0; i < CROWD; i++) {
        struct wire_answer answer = wire_read_within(&wires[i], false, 100000);
        done += answer.status == 200;
        refused += answer.status == 503 && wire_field_is(&answer, "Retry-After", "1") &&
                   strstr(answer.body, "/problems/overloaded");
        wire_answer_free(&answer);
        wire_close(&wires[i]);
    }
    cr_expect_eq(done + refused, CROWD);
    cr_expect_geq(done, 2);
    cr_expect_geq(refused, 1);
    free(post);
    e2e_stop(&daemon);
}

Test(load, ends_with_status_0_after_answering)
{
    struct e2e_daemon daemon;
    size_t len;
    int status = -1;
    char *post = large_post(ROWS / 10, &len);

    e2e_start(&daemon, NULL);
    struct wire wire = wire_open(daemon.port);
    wire_send(&wire, post, len);
    kill(daemon.pid, SIGTERM);
    struct wire_answer answer = wire_read(&wire, false);
    cr_expect_eq(answer.status, 200);
    wire_answer_free(&answer);
    wire_close(&wire);
    waitpid(daemon.pid, &status, 0);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    free(post);
}

/* ---- Refusals ------------------------------------------------------------------------------- */

Test(load, too_large_is_refused_before_the_body_is_sent)
{
    struct e2e_daemon daemon;

    e2e_start(&daemon, (const char *const[]){"--max-body", "1M", NULL});
    struct wire wire = wire_open(daemon.port);
    wire_puts(&wire, "POST /v1/apply HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                     "Content-Length: 1048577\r\n\r\n");
    struct wire_answer answer = wire_read(&wire, false);
    cr_expect_eq(answer.status, 413);
    cr_expect(wire_field_is(&answer, "Content-Type", "application/problem+json"));
    cr_expect_not_null(strstr(answer.body, "/problems/body-too-large"));
    cr_expect(wire_ends(&wire, WIRE_WAIT_MS));
    wire_answer_free(&answer);
    wire_close(&wire);
    e2e_stop(&daemon);
}

#define TABLE "GET /v1/table?kind=rope HTTP/1.1\r\n"
#define APPLY "POST /v1/apply HTTP/1.1\r\n"
#define HOST  "Host: h\r\n"
#define EVIL  "GET /v1 HTTP/1.1\r\nHost: h\r\n\r\n"

static const struct {
    const char *bytes;
    int status, other; /* other: libmicrohttpd 1.0's own */
} ambiguous[] = {
    {APPLY HOST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" EVIL, 400, 400},
    {APPLY HOST "Content-Length: 0\r\nContent-Length: 29\r\n\r\n" EVIL, 400, 400},
    {APPLY HOST "Content-Length: 29\r\nContent-Length: 29\r\n\r\n" EVIL, 400, 400},
    {APPLY HOST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" EVIL, 501, 400},
    {APPLY HOST "Content-Length : 29\r\n\r\n" EVIL, 400, 400},
    {APPLY HOST "Content-Length: 29\r\n x\r\n\r\n" EVIL, 400, 400},
    {TABLE "\r\n" EVIL, 400, 400},
    {TABLE HOST HOST "\r\n" EVIL, 400, 400},
    {TABLE HOST "X : y\r\n\r\n" EVIL, 400, 400},
};

Test(load, ambiguous_requests_get_one_answer_and_the_end)
{
    struct e2e_daemon daemon;

    e2e_start(&daemon, NULL);
    for (size_t i = 0; i < sizeof ambiguous / sizeof ambiguous[0]; i++) {
        struct wire wire = wire_open(daemon.port);
        wire_puts(&wire, ambiguous[i].bytes);
        struct wire_answer answer = wire_read(&wire, false);
        cr_expect(answer.status == ambiguous[i].status || answer.status == ambiguous[i].other,
                  "%d: %s", answer.status, ambiguous[i].bytes);
        cr_expect(wire_ends(&wire, WIRE_WAIT_MS), "%s", ambiguous[i].bytes);
        cr_expect_eq(wire.len, 0, "%s: then %s", ambiguous[i].bytes, wire.data);
        wire_answer_free(&answer);
        wire_close(&wire);
    }
    e2e_stop(&daemon);
}
