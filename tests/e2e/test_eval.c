// SPDX-License-Identifier: Apache-2.0
/*
 * test_eval.c: posencd --eval prints, byte for byte, what the daemon answers over HTTP: answers on
 * standard output, problems on standard error, and the exit status tells which.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define ROPE "{\"spec\":{\"kind\":\"rope\",\"dim\":4},\"positions\":[1],\"x\":[[1,2,3,4]]}"

static struct e2e_daemon service;

static void start(void)
{
    e2e_start(&service, NULL);
}

static void stop(void)
{
    e2e_stop(&service);
}

TestSuite(eval, .init = start, .fini = stop, .timeout = 120);

#define ARGUMENTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Status over HTTP; for `body` it is a POST, and `type` the Content-Type that the client states. */
static const struct row {
    int status;
    const char *target, *field, *body, *type;
} rows[] = {
    {200, "/", NULL, NULL, NULL},
    {200, "/", "Accept: text/html", NULL, NULL},
    {200, "/help", NULL, NULL, NULL},
    {200, "/openapi.json", NULL, NULL, NULL},
    {200, "/v1", NULL, NULL, NULL},
    {200, "/v1/encodings/rope.txt", NULL, NULL, NULL},
    {200, "/v1/limits", NULL, NULL, NULL},
    {200, "/readyz?verbose", NULL, NULL, NULL},
    {200, "/v1/spec?kind=rope&dim=128&base=500000", NULL, NULL, NULL},
    {200, "/v1/table.csv?kind=sinusoidal&dim=8&positions=0:3", NULL, NULL, NULL},
    {200, "/v1/table.txt?kind=rope&dim=64&positions=0:2000&dtype=bf16", NULL, NULL, NULL},
    {200, "/v1/table?kind=alibi&heads=8", "Accept: text/csv", NULL, NULL},
    {200, "/v1/frequencies?kind=rope&dim=16&base=500000", NULL, NULL, NULL},
    {200, "/v1/rotation?kind=rope&dim=8", NULL, NULL, NULL},
    {200, "/v1/apply?kind=rope&dim=8&shape=2,8&seed=7", NULL, NULL, NULL},
    {200, "/v1/table.npy?kind=rope&dim=8&dtype=f16", NULL, NULL, NULL},
    {200, "/v1/table.bin?kind=rope&dim=8&dtype=bf16", NULL, NULL, NULL},
    {200, "/v1/table?kind=rope&dim=8", "Accept: application/x-safetensors", NULL, NULL},
    {200, "/v1/table.csv?kind=rope&dim=8&numbers=hex", NULL, NULL, NULL},
    {200, "/v1/table.json?kind=rope&dim=64", "Accept-Encoding: gzip", NULL, NULL},
    {200, "/v1/fixtures", NULL, NULL, NULL},
    {200, "/v1/fixtures.tar", NULL, NULL, NULL},
    {200, "/v1/changes.txt", NULL, NULL, NULL},
    {200, "/problems/not-found", NULL, NULL, NULL},
    {304, "/v1/table?kind=rope&dim=8", "If-None-Match: *", NULL, NULL},
    {409, "/v1/table?kind=rope&pin=0123456789abcdef", NULL, NULL, NULL},
    {412, "/v1/table?kind=rope", "If-Match: \"0-0\"", NULL, NULL},
    {200, "/v1/scores.txt?spec=sinusoidal:dim=64&spec=rope:dim=64&offsets=0:3", NULL, NULL, NULL},
    {200, "/v1/apply", NULL, ROPE, "application/json"},
    {200, "/v1/apply.txt", NULL, " \n" ROPE, "application/json"},
    {200, "/v1/apply", "Content-Type: application/json; charset=utf-8", ROPE, NULL},
    {308, "/v1/table/?kind=rope", NULL, NULL, NULL},
    {400, "/v1/table?kind=rope&dims=64&layuot=half", NULL, NULL, NULL},
    {400, "/v1/table?kind=rope&dims=64", "Accept: text/plain", NULL, NULL},
    {400, "/v1/table.txt?kind=rope&dim=%zz", NULL, NULL, NULL},
    {400, "/v1/apply", NULL, "{\"spec\":", "application/json"},
    {400, "/v1/apply", NULL, "", "application/json"},
    {404, "/v1/tabel", NULL, NULL, NULL},
    {404, "/v1/encodings/ropes", NULL, NULL, NULL},
    {405, "/v1/table", NULL, ROPE, "application/json"},
    {406, "/v1/table.npy?kind=rope&dtype=bf16", NULL, NULL, NULL},
    {406, "/v1/table?kind=rope&format=png", NULL, NULL, NULL},
    {415, "/v1/apply", "Content-Type: text/html", ROPE, NULL},
    {422, "/v1/table?kind=rope&dim=65536&positions=0:100000", NULL, NULL, NULL},
};

static struct e2e_answer over_http(const struct row *row)
{
    char type[100];
    const char *fields[3];
    size_t n = 0;

    snprintf(type, sizeof type, "Content-Type: %s", row->type ? row->type : "");
    if (row->field)
        fields[n++] = row->field;
    if (row->type)
        fields[n++] = type;
    fields[n] = NULL;
    return e2e_request(&service, row->body ? "POST" : "GET", row->target, fields, row->body,
                       row->body ? strlen(row->body) : 0);
}

static struct e2e_run without_network(const struct row *row)
{
    const char *arguments[8] = {"--eval", row->target};
    size_t n = 2;

    if (row->field) {
        arguments[n++] = "--header";
        arguments[n++] = row->field;
    }
    if (row->body) {
        arguments[n++] = "--data";
        arguments[n++] = "@-";
    }
    return e2e_run_with(arguments, row->body ? row->body : "", row->body ? strlen(row->body) : 0);
}

static void expect_bytes(const char *target, const char *what, const char *bytes, size_t len,
                         const struct e2e_answer *answer)
{
    cr_expect(len == answer->body_len && memcmp(bytes, answer->body, len) == 0,
              "%s: %s has\n%.300s\nand HTTP\n%.300s", target, what, bytes, answer->body);
}

Test(eval, prints_what_http_sends)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *target = rows[i].target;
        int status = rows[i].status;
        struct e2e_answer answer = over_http(&rows[i]);
        struct e2e_run run = without_network(&rows[i]);

        cr_expect_eq(answer.status, status, "%s: %d", target, answer.status);
        cr_expect_eq(run.status, status < 400 ? 0 : 22, "%s: exit status %d", target, run.status);
        if (status < 400) {
            expect_bytes(target, "standard output", run.out, run.out_len, &answer);
            cr_expect_eq(run.err_len, 0, "%s: %s", target, run.err);
        } else {
            expect_bytes(target, "standard error", run.err, run.err_len, &answer);
            cr_expect_eq(run.out_len, 0, "%s: %s", target, run.out);
        }
        e2e_answer_free(&answer);
        e2e_run_free(&run);
    }
}

/* Where the body comes from makes no difference. */
Test(eval, takes_a_body_as_text_as_a_file_and_from_a_pipe)
{
    char path[] = "/tmp/posencd-eval-XXXXXX", at_path[64], out[3][4096];
    int file = mkstemp(path);

    cr_assert_eq(write(file, ROPE, strlen(ROPE)), (ssize_t)strlen(ROPE));
    snprintf(at_path, sizeof at_path, "@%s", path);
    const char *const data[] = {ROPE, at_path, "@-"};
    for (size_t i = 0; i < 3; i++) {
        struct e2e_run run =
            e2e_run_with(ARGUMENTS("--eval", "/v1/apply", "--data", data[i]), ROPE, strlen(ROPE));
        cr_expect_eq(run.status, 0, "%s: %s", data[i], run.err);
        snprintf(out[i], sizeof out[i], "%s", run.out);
        e2e_run_free(&run);
    }
    cr_expect_neq(strlen(out[0]), 0);
    cr_expect_str_eq(out[0], out[1]);
    cr_expect_str_eq(out[0], out[2]);
    close(file);
    unlink(path);
}

/* Bodies larger than one read, and than the limit. */
Test(eval, keeps_to_the_limits_of_the_daemon)
{
    static const char start[] = "{\"spec\":\"rope:dim=4\",\"x\":[[1,2,3,4]";
    static const char more[] = ",[1,2,3,4]", end[] = "]}";
    size_t rows_n = 50000, len = 0;
    char *text = malloc(sizeof start + rows_n * sizeof more + sizeof end), limit[32], says[100];
    cr_assert(text);
    len += (size_t)sprintf(text, "%s", start);
    for (size_t i = 0; i < rows_n; i++)
        len += (size_t)sprintf(text + len, "%s", more);
    len += (size_t)sprintf(text + len, "%s", end);
    struct e2e_run run =
        e2e_run_with(ARGUMENTS("--eval", "/v1/apply.csv", "--data", "@-"), text, len);
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect_gt(run.out_len, rows_n * 10);
    e2e_run_free(&run);

    snprintf(limit, sizeof limit, "%zu", len - 1);
    run = e2e_run_with(ARGUMENTS("--max-body", limit, "--eval", "/v1/apply.txt", "--data", "@-"),
                       text, len);
    cr_expect_eq(run.status, 22, "%s", run.err);
    snprintf(says, sizeof says, "the body has %zu bytes, the limit is %s", len, limit);
    cr_expect_not_null(strstr(run.err, says), "%s", run.err);
    e2e_run_free(&run);
    free(text);

    run = e2e_run_with(
        ARGUMENTS("--deadline", "0.001", "--eval", "/v1/table.txt?kind=rope&positions=0:60000"), "",
        0);
    cr_expect_eq(run.status, 70, "%d: %s", run.status, run.err);
    cr_expect_not_null(strstr(run.err, "the deadline of 1 ms"), "%s", run.err);
    cr_expect_eq(run.out_len, 0);
    e2e_run_free(&run);
}

/* ---- Binary bodies and long answers -------------------------------------------------------- */

/* A safetensors file of one tensor x, [1, 4] in f32, and the request that goes with it. */
static size_t safetensors_make(char out[1000])
{
    static const char head[] = "{\"__metadata__\":{\"request\":\"{\\\"spec\\\":\\\"rope:dim=4\\\","
                               "\\\"positions\\\":[1]}\"},"
                               "\"x\":{\"dtype\":\"F32\",\"shape\":[1,4],\"data_offsets\":[0,16]}}";
    const uint64_t len = sizeof head - 1;
    const float x[4] = {1, 2, 3, 4};

    memcpy(out, &len, sizeof len);
    memcpy(out + sizeof len, head, len);
    memcpy(out + sizeof len + len, x, sizeof x);
    return sizeof len + len + sizeof x;
}

/* The type of a body is told by its first bytes: the answer is that to a client who states it. */
static void expect_told(const char *target, const char *type, const char *body, size_t len)
{
    char field[100];
    const char *const fields[] = {field, NULL};

    snprintf(field, sizeof field, "Content-Type: %s", type);
    struct e2e_answer answer = e2e_request(&service, "POST", target, fields, body, len);
    struct e2e_run run = e2e_run_with(ARGUMENTS("--eval", target, "--data", "@-"), body, len);
    cr_expect_eq(answer.status, 200, "%s: %s", type, answer.body);
    cr_expect_eq(run.status, 0, "%s: %s", type, run.err);
    expect_bytes(type, "standard output", run.out, run.out_len, &answer);
    e2e_answer_free(&answer);
    e2e_run_free(&run);
}

Test(eval, tells_binary_bodies_by_their_first_bytes)
{
    char file[1000];

    expect_told("/v1/apply", "application/x-safetensors", file, safetensors_make(file));
    struct e2e_run table = e2e_run_with(
        ARGUMENTS("--eval", "/v1/table.npy?kind=sinusoidal&dim=4&positions=0:3"), "", 0);
    cr_assert_eq(table.status, 0, "%s", table.err);
    expect_told("/v1/apply?kind=rope&dim=4", "application/x-npy", table.out, table.out_len);
    e2e_run_free(&table);
}

/* Largest resident memory of --eval, in KiB; its output goes nowhere. */
static long memory_of(const char *target)
{
    struct rusage usage;
    int status = -1;
    pid_t pid = fork();

    cr_assert_geq(pid, 0);
    if (pid == 0) {
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        execl(getenv("POSENCD"), "posencd", "--max-elements", "1G", "--deadline", "600", "--eval",
              target, (char *)NULL);
        _exit(127);
    }
    cr_assert_eq(wait4(pid, &status, 0, &usage), pid);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: 0x%x", target, (unsigned)status);
    return usage.ru_maxrss;
}

Test(eval, long_answers_are_printed_while_they_are_made)
{
    long few = memory_of("/v1/table.bin?kind=rope&dim=128&positions=0:100&dtype=f32");
    long many = memory_of("/v1/table.bin?kind=rope&dim=128&positions=0:200000&dtype=f32");

    cr_expect_lt(many - few, 32 << 10, "%ld KiB, then %ld KiB for 100 MB", few, many);
}

/* ---- Failures ------------------------------------------------------------------------------ */

/* What is wrong before there is a request. */
static const struct {
    int status;
    const char *const arguments[6];
    const char *says;
} misuses[] = {
    {2, {"--eval"}, "--eval wants a value"},
    {2, {"--data", "{}"}, "--data goes with --eval"},
    {2, {"--header", "Accept: */*"}, "--header goes with --eval"},
    {2, {"--eval", "/v1", "--header", "Accept"}, "\"Accept\" is not NAME: VALUE"},
    {1, {"--eval", "/v1/apply", "--data", "@/nowhere/at/all"}, "No such file or directory"},
    {1, {"--eval", "/v1/apply", "--data", "@/"}, "Is a directory"},
};

Test(eval, names_what_is_wrong_with_the_command)
{
    for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++) {
        struct e2e_run run = e2e_run_with(misuses[i].arguments, "", 0);
        cr_expect_eq(run.status, misuses[i].status, "%s: %d", misuses[i].says, run.status);
        cr_expect_not_null(strstr(run.err, misuses[i].says), "%s", run.err);
        cr_expect_eq(run.out_len, 0);
        e2e_run_free(&run);
    }
}

Test(eval, output_that_cannot_be_written)
{
    char command[512];

    snprintf(command, sizeof command, "\"%s\" --eval /help >/dev/full 2>/dev/null",
             getenv("POSENCD"));
    int status = system(command); // NOLINT(cert-env33-c): our own program
    cr_expect_eq(WEXITSTATUS(status), 1, "%d", status);
}
