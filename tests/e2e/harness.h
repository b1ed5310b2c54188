// SPDX-License-Identifier: Apache-2.0
/*
 * harness.h: the daemon as a child process, and requests to it with libcurl. The program is what
 * the environment variable POSENCD names. Everything that goes wrong here fails the test. Bytes
 * that are no proper HTTP go through wire.h.
 */
#ifndef E2E_HARNESS_H
#define E2E_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct e2e_daemon {
    pid_t pid;
    int port;
    char url[80];
};

struct e2e_answer {
    int status;
    char *head; /* status line and fields, NUL-terminated */
    char *body; /* NUL-terminated; may hold zero bytes */
    size_t body_len;
};

/* Starts the daemon on a free port, its log off unless an option says otherwise; `options` ends
 * with NULL, or is NULL. */
void e2e_start(struct e2e_daemon *daemon, const char *const *options);
/* Whether the daemon under test has the allocator of a sanitizer, which keeps memory for itself. */
bool e2e_is_sanitized(void);
/* SIGTERM to this child; fails the test unless it ends with status 0. */
void e2e_stop(struct e2e_daemon *daemon);

/* One request on a connection of its own; `fields` ("Name: value") ends with NULL, or is NULL. Any
 * thread. What came is recorded for contract.py in the file that POSENC_ANSWERS names. */
struct e2e_answer e2e_request(const struct e2e_daemon *daemon, const char *method,
                              const char *target, const char *const *fields, const char *body,
                              size_t body_len);
void e2e_answer_free(struct e2e_answer *answer);
/* Value of a field of the answer, copied to `value`; false when it is not there. */
bool e2e_field(const struct e2e_answer *answer, const char *name, char *value, size_t size);

/* Runs the program to its end with these arguments (NULL at the end): exit status, and what it
 * printed on both streams, NUL-terminated and cut at `size`. `environment` are "NAME=value" pairs
 * that are set, or NULL. */
int e2e_run(const char *const *arguments, const char *const *environment, char *out, size_t size);

/* What a program took and left behind. */
struct e2e_run {
    int status;      /* exit status; -1: a signal ended it */
    char *out, *err; /* NUL-terminated; may hold zero bytes */
    size_t out_len, err_len;
};

/* The same with bytes on standard input, and both streams apart. */
struct e2e_run e2e_run_with(const char *const *arguments, const char *input, size_t input_len);
/* The same with any program: a name or a path, then its arguments, NULL at the end. */
struct e2e_run e2e_pipe(const char *const *argv, const char *input, size_t input_len);
void e2e_run_free(struct e2e_run *run);

#endif
