// SPDX-License-Identifier: Apache-2.0
/* test_healthcheck.c: --healthcheck against the daemon, against nothing, against what never
 * answers. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

TestSuite(healthcheck, .timeout = 60);

#define ARGUMENTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static char out[4096];

/* Exit status of --healthcheck with these arguments; what it printed is in `out`. */
static int check(const char *const *arguments)
{
    return e2e_run(arguments, NULL, out, sizeof out);
}

Test(healthcheck, ready_daemon)
{
    struct e2e_daemon daemon;
    char text[3][120], variable[160];

    e2e_start(&daemon, NULL);
    snprintf(text[0], sizeof text[0], "--healthcheck=%s", daemon.url);
    snprintf(text[1], sizeof text[1], "%s/", daemon.url);
    snprintf(text[2], sizeof text[2], "0.0.0.0:%d", daemon.port);
    snprintf(variable, sizeof variable, "POSENC_LISTEN=%s", text[2]);
    cr_expect_eq(check(ARGUMENTS(text[0])), 0, "%s", out);
    cr_expect_eq(check(ARGUMENTS("--healthcheck", text[1])), 0, "%s", out);
    cr_expect_eq(check(ARGUMENTS("--healthcheck", text[2])), 0, "%s", out);
    cr_expect_eq(check(ARGUMENTS("--healthcheck", "--listen", text[2])), 0, "%s", out);
    cr_expect_eq(e2e_run(ARGUMENTS("--healthcheck"), ARGUMENTS(variable), out, sizeof out), 0, "%s",
                 out);
    cr_expect_str_eq(out, "");
    e2e_stop(&daemon);
}

Test(healthcheck, ready_daemon_on_ipv6)
{
    struct e2e_daemon daemon;

    e2e_start(&daemon, ARGUMENTS("--listen", "[::1]:0"));
    cr_expect_eq(check(ARGUMENTS("--healthcheck", daemon.url)), 0, "%s", out);
    e2e_stop(&daemon);
}

Test(healthcheck, draining_daemon_is_not_ready)
{
    const struct timespec a_moment = {0, 100000000};
    struct e2e_daemon daemon;
    int status = 0;

    e2e_start(&daemon, NULL);
    kill(daemon.pid, SIGTERM);
    nanosleep(&a_moment, NULL);
    cr_expect_eq(check(ARGUMENTS("--healthcheck", daemon.url)), 1);
    cr_expect_not_null(strstr(out, "HTTP/1.1 503"), "%s", out);
    waitpid(daemon.pid, &status, 0);
}

/* A listening socket that nobody serves, and its URL. */
static int deaf_socket(char url[80])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    cr_assert(bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, 4) == 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    snprintf(url, 80, "http://127.0.0.1:%d", ntohs(address.sin_port));
    return fd;
}

Test(healthcheck, silence_is_waited_for_three_seconds)
{
    struct timespec start, end;
    char url[80];
    int fd = deaf_socket(url);

    clock_gettime(CLOCK_MONOTONIC, &start);
    cr_expect_eq(check(ARGUMENTS("--healthcheck", url)), 1);
    clock_gettime(CLOCK_MONOTONIC, &end);
    cr_expect_not_null(strstr(out, "no answer in time"), "%s", out);
    cr_expect_geq(end.tv_sec - start.tv_sec, 2);
    close(fd);
}

/* Answers one connection with `text`. */
struct speaker {
    int fd;
    const char *text;
};

static void *speak(void *context)
{
    const struct speaker *speaker = context;
    char question[512];
    int fd = accept(speaker->fd, NULL, NULL);

    if (recv(fd, question, sizeof question, 0) > 0)
        send(fd, speaker->text, strlen(speaker->text), MSG_NOSIGNAL);
    shutdown(fd, SHUT_WR);
    while (recv(fd, question, sizeof question, 0) > 0)
        continue;
    close(fd);
    return NULL;
}

static const struct {
    const char *answer;
    int status;
    const char *says;
} speakers[] = {
    {"HTTP/1.1 200 OK\r\n\r\nok\n", 0, ""},
    {"HTTP/1.1 503 Service Unavailable\r\n\r\n", 1, ": HTTP/1.1 503 Service Unavailable\n"},
    {"HTTP/1.1 2000 OK\r\n\r\n", 1, ": HTTP/1.1 2000 OK\n"},
    {"SSH-2.0-OpenSSH_9.2\r\n", 1, ": SSH-2.0-OpenSSH_9.2\n"},
    {"", 1, ": no answer\n"},
};

Test(healthcheck, only_a_200_is_good)
{
    char url[80];
    int fd = deaf_socket(url);

    for (size_t i = 0; i < sizeof speakers / sizeof speakers[0]; i++) {
        struct speaker speaker = {fd, speakers[i].answer};
        pthread_t thread;
        cr_assert_eq(pthread_create(&thread, NULL, speak, &speaker), 0);
        cr_expect_eq(check(ARGUMENTS("--healthcheck", url)), speakers[i].status, "%s", out);
        cr_expect_not_null(strstr(out, speakers[i].says), "%s: %s", speakers[i].answer, out);
        pthread_join(thread, NULL);
    }
    close(fd);
}

static const struct {
    const char *url, *says;
} refused[] = {
    {"http://127.0.0.1:1", "127.0.0.1:1: Connection refused"},
    {"localhost:8080", "localhost:8080: not a numeric address and a port"},
    {"127.0.0.1:http", "not a numeric address and a port"},
    {"127.0.0.1:8080/readyz", "not a numeric address and a port"},
    {"https://127.0.0.1", "not a numeric address and a port"},
    {"http://", "not a numeric address and a port"},
    {"http://0123456789012345678901234567890123456789012345678901234567890123:80",
     "not http://ADDRESS:PORT"},
};

Test(healthcheck, wrong_urls_are_named)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        cr_expect_eq(check(ARGUMENTS("--healthcheck", refused[i].url)), 1, "%s", refused[i].url);
        cr_expect_not_null(strstr(out, refused[i].says), "%s: %s", refused[i].url, out);
    }
}
