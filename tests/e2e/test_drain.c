// SPDX-License-Identifier: Apache-2.0
/*
 * test_drain.c: SIGTERM while many clients keep their connections busy: whatever was sent on a
 * connection that the daemon had taken is answered, and it ends in time with status 0. The
 * environment variable RUNS says how often (3 times without it).
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

#include "harness.h"
#include "wire.h"

TestSuite(drain, .timeout = 900);

#define CLIENTS   64
#define LOAD_MS   300
#define ENDS_IN_S 10

/* Answered at once, and by a job. */
#define SMALL "GET /v1/table?kind=rope&dim=64&positions=0:8 HTTP/1.1\r\nHost: h\r\n\r\n"
#define LARGE "GET /v1/table.csv?kind=rope&dim=64&positions=0:2000 HTTP/1.1\r\nHost: h\r\n\r\n"

struct client {
    int port;
    const char *request;
    unsigned answered, closes, lost;
};

/* Sends requests one after another, on one connection until it is told to close it, then on the
 * next, until there is none to be had. In a thread: no assertions here. */
static void *client_run(void *argument)
{
    struct client *client = argument;

    for (;;) {
        struct wire wire = wire_open(client->port);
        bool closing = false;
        if (wire.fd < 0)
            return NULL;
        while (!closing) {
            bool sent = wire_puts(&wire, client->request);
            struct wire_answer answer = wire_read_within(&wire, false, ENDS_IN_S * 1000);
            if (!sent || answer.status == 0) {
                client->lost++;
                closing = true;
            } else {
                client->answered++;
                closing = wire_field_is(&answer, "Connection", "close");
                client->closes += closing;
            }
            wire_answer_free(&answer);
        }
        wire_close(&wire);
    }
}

static unsigned run(unsigned number)
{
    struct e2e_daemon daemon;
    struct client clients[CLIENTS];
    pthread_t threads[CLIENTS];
    struct timespec start, end;
    unsigned answered = 0, lost = 0;
    int status = -1;

    e2e_start(&daemon, (const char *const[]){"--queue", "1000", NULL});
    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.port = daemon.port, .request = i % 8 ? SMALL : LARGE};
        cr_assert_eq(pthread_create(&threads[i], NULL, client_run, &clients[i]), 0);
    }
    nanosleep(&(struct timespec){.tv_nsec = LOAD_MS * 1000000L}, NULL);
    clock_gettime(CLOCK_MONOTONIC, &start);
    kill(daemon.pid, SIGTERM);
    waitpid(daemon.pid, &status, 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    for (size_t i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        answered += clients[i].answered;
        lost += clients[i].lost;
        cr_expect_gt(clients[i].closes, 0, "run %u: client %zu was never told to go", number, i);
    }
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "run %u: 0x%x", number, status);
    cr_expect_leq(end.tv_sec - start.tv_sec, ENDS_IN_S, "run %u", number);
    cr_expect_gt(answered, CLIENTS, "run %u: %u answers", number, answered);
    cr_expect_eq(lost, 0, "run %u: %u lost of %u", number, lost, answered + lost);
    return lost;
}

Test(drain, answers_all_that_was_sent)
{
    const char *text = getenv("RUNS");
    unsigned runs = text ? (unsigned)strtoul(text, NULL, 10) : 3, lost = 0;

    for (unsigned i = 1; i <= runs; i++)
        lost += run(i);
    printf("drain: %u runs, %d clients, %u requests lost\n", runs, CLIENTS, lost);
}
