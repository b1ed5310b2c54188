// SPDX-License-Identifier: Apache-2.0
/*
 * test_sandbox.c: the daemon is confined unless told not to be, serves from many threads, and can
 * be ended. That forbidden calls end it is tests/main's; all other tests here run in the sandbox.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

TestSuite(sandbox, .timeout = 120);

#define FILTERS_N 2 /* one before anything is opened, one after */

#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A number in /proc/PID/status. */
static int status_number(pid_t pid, const char *name)
{
    char path[40], line[256];
    int number = -1;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
            number = (int)strtol(line + strlen(name) + 1, NULL, 10);
    fclose(file);
    return number;
}

/* Seccomp filters beyond those that were there before: a container has some. */
static int filters_of(pid_t pid)
{
    return status_number(pid, "Seccomp_filters") - status_number(getpid(), "Seccomp_filters");
}

/* Whether a descriptor of the process is of this kind, such as "io_uring". */
static bool has_descriptor(pid_t pid, const char *kind)
{
    char path[320], target[256];
    bool found = false;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    cr_assert_not_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        snprintf(path, sizeof path, "/proc/%d/fd/%s", (int)pid, entry->d_name);
        ssize_t len = readlink(path, target, sizeof target - 1);
        target[len > 0 ? len : 0] = '\0';
        found = found || strstr(target, kind);
    }
    closedir(folder);
    return found;
}

/* Starts the daemon with its log in `log`, which is read once it is ready. */
static void start_logged(struct e2e_daemon *daemon, const char *option, char *log, size_t size)
{
    char path[] = "/tmp/posencd-log-XXXXXX";
    int file = mkstemp(path), keep = dup(STDERR_FILENO);

    cr_assert_geq(file, 0);
    dup2(file, STDERR_FILENO);
    e2e_start(daemon, OPTIONS("--log-format", "text", option));
    dup2(keep, STDERR_FILENO);
    ssize_t len = pread(file, log, size - 1, 0);
    log[len > 0 ? len : 0] = '\0';
    close(file);
    close(keep);
    unlink(path);
}

Test(sandbox, is_on_unless_the_build_is_instrumented)
{
    struct e2e_daemon daemon;
    char log[4096];

    unsetenv("POSENC_NO_SANDBOX");
    start_logged(&daemon, NULL, log, sizeof log);
    bool off = strstr(log, "event=sandbox state=off because=\"an instrumented build") != NULL;
    cr_expect(off || strstr(log, "event=sandbox state=on\n"), "%s", log);
    cr_expect_eq(filters_of(daemon.pid), off ? 0 : FILTERS_N);
    cr_expect(off || status_number(daemon.pid, "NoNewPrivs") == 1);
    cr_expect(has_descriptor(daemon.pid, "eventpoll"));
    cr_expect(off || !has_descriptor(daemon.pid, "io_uring"));
    e2e_stop(&daemon);
}

static bool is_instrumented(void)
{
    struct e2e_daemon daemon;
    char log[4096];

    start_logged(&daemon, NULL, log, sizeof log);
    e2e_stop(&daemon);
    return strstr(log, "an instrumented build") != NULL;
}

/* --eval in the middle of an answer that nobody reads to its end. */
static pid_t start_eval(void)
{
    int ends[2];
    char byte;

    cr_assert_eq(pipe(ends), 0);
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(getenv("POSENCD"), "posencd", "--eval", "/v1/table.bin?kind=rope&positions=0:100000",
              (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    cr_assert_eq(read(ends[0], &byte, 1), 1); /* the other end stays open: it waits */
    return pid;
}

Test(sandbox, holds_a_request_without_a_network_too)
{
    unsetenv("POSENC_NO_SANDBOX");
    bool off = is_instrumented();
    pid_t pid = start_eval();

    cr_expect_eq(filters_of(pid), off ? 0 : 1);
    cr_expect(off || status_number(pid, "NoNewPrivs") == 1);
    kill(pid, SIGKILL);
    cr_expect_eq(waitpid(pid, NULL, 0), pid);
}

Test(sandbox, can_be_switched_off)
{
    struct e2e_daemon daemon;
    char log[4096];

    start_logged(&daemon, "--no-sandbox", log, sizeof log);
    cr_expect_eq(filters_of(daemon.pid), 0);
    cr_expect_null(strstr(log, "event=sandbox"), "%s", log);
    e2e_stop(&daemon);
    setenv("POSENC_NO_SANDBOX", "1", 1);
    start_logged(&daemon, NULL, log, sizeof log);
    cr_expect_eq(filters_of(daemon.pid), 0);
    e2e_stop(&daemon);
}

#define CLIENTS_N  24
#define REQUESTS_N 3

struct client {
    const struct e2e_daemon *daemon;
    int statuses[REQUESTS_N];
};

static void *ask_for_work(void *context)
{
    struct client *client = context;

    for (size_t i = 0; i < REQUESTS_N; i++) {
        struct e2e_answer answer =
            e2e_request(client->daemon, "GET",
                        "/v1/table?kind=rope&dim=256&positions=0:512&dtype=f32", NULL, NULL, 0);
        client->statuses[i] = answer.status;
        e2e_answer_free(&answer);
    }
    return NULL;
}

Test(sandbox, holds_all_that_many_threads_need)
{
    struct e2e_daemon daemon;
    struct client clients[CLIENTS_N];
    pthread_t threads[CLIENTS_N];

    e2e_start(&daemon, OPTIONS("--workers", "16", "--queue", "32", "--deadline", "60"));
    for (size_t i = 0; i < CLIENTS_N; i++) {
        clients[i].daemon = &daemon;
        cr_assert_eq(pthread_create(&threads[i], NULL, ask_for_work, &clients[i]), 0);
    }
    for (size_t i = 0; i < CLIENTS_N; i++) {
        pthread_join(threads[i], NULL);
        for (size_t k = 0; k < REQUESTS_N; k++)
            cr_expect_eq(clients[i].statuses[k], 200, "%d", clients[i].statuses[k]);
    }
    e2e_stop(&daemon);
}

static size_t append_rows(char *body, size_t len, size_t size, const char *name, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        len += (size_t)snprintf(body + len, size - len, "%s[1,2]", i == 0 ? name : ",");
    return len;
}

/* Of more than 1024 bytes, for which the C library asks how much memory there is. */
Test(sandbox, lets_long_lists_be_sorted)
{
    struct e2e_daemon daemon;
    char body[8192];
    size_t len = append_rows(body, 0, sizeof body, "{\"x\":[", 400);

    len = append_rows(body, len, sizeof body, "],\"y\":[", 400);
    len += (size_t)snprintf(body + len, sizeof body - len, "]}");
    e2e_start(&daemon, NULL);
    struct e2e_answer answer =
        e2e_request(&daemon, "GET", "/v1/rotation?kind=rope&dim=8&positions=0:400&stages=all-bf16",
                    NULL, NULL, 0);
    cr_expect_eq(answer.status, 200, "%d", answer.status);
    e2e_answer_free(&answer);
    answer = e2e_request(&daemon, "POST", "/v1/identify", OPTIONS("Content-Type: application/json"),
                         body, len);
    cr_expect_eq(answer.status, 200, "%s", answer.body);
    e2e_answer_free(&answer);
    e2e_stop(&daemon);
}

Test(sandbox, lets_a_second_signal_end_the_daemon)
{
    const struct timespec while_draining = {0, 100000000};
    struct e2e_daemon daemon;
    int status = 0;

    e2e_start(&daemon, NULL);
    kill(daemon.pid, SIGTERM);
    nanosleep(&while_draining, NULL);
    kill(daemon.pid, SIGTERM);
    waitpid(daemon.pid, &status, 0);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "0x%x", (unsigned)status);
}
