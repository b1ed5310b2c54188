// SPDX-License-Identifier: Apache-2.0
/*
 * test_gzip.c: bodies that come in gzip, made by the program of that name: what they hold is what
 * counts, and neither their size nor their end is believed.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define ROPE "{\"spec\":\"rope:dim=4\",\"positions\":[1],\"x\":[[1,2,3,4]]}"
#define MIB  ((size_t)1 << 20)

static struct e2e_daemon service;

static void start(void)
{
    static const char *const options[] = {"--max-body", "16M", NULL};
    e2e_start(&service, options);
}

static void stop(void)
{
    e2e_stop(&service);
}

TestSuite(gzip, .init = start, .fini = stop, .timeout = 60);

static struct e2e_run zipped(const char *data, size_t len)
{
    static const char *const command[] = {"gzip", "-9nc", NULL};
    struct e2e_run run = e2e_pipe(command, data, len);
    cr_assert_eq(run.status, 0);
    return run;
}

static struct e2e_answer post(const char *target, const char *coding, const char *body, size_t len)
{
    char field[60];
    const char *fields[] = {"Content-Type: application/json", field, NULL};
    snprintf(field, sizeof field, "Content-Encoding: %s", coding);
    return e2e_request(&service, "POST", target, fields, body, len);
}

Test(gzip, a_body_in_gzip_is_the_same_request)
{
    struct e2e_run body = zipped(ROPE, strlen(ROPE));
    struct e2e_answer plain = post("/v1/apply", "identity", ROPE, strlen(ROPE));
    struct e2e_answer coded = post("/v1/apply", "gzip", body.out, body.out_len);
    cr_expect_eq(plain.status, 200);
    cr_expect_eq(coded.status, 200);
    cr_expect_str_eq(coded.body, plain.body);
    e2e_answer_free(&plain);
    e2e_answer_free(&coded);
    e2e_run_free(&body);
}

/* 60,000 vectors, which are read and rotated on a worker. */
Test(gzip, a_large_body)
{
    size_t n = 60000, len = 0;
    char *text = malloc(n * 12 + 100);
    len += (size_t)sprintf(text, "{\"spec\":\"rope:dim=4\",\"x\":[");
    for (size_t i = 0; i < n; i++)
        len += (size_t)sprintf(text + len, "%s[1,2,3,4]", i ? "," : "");
    len += (size_t)sprintf(text + len, "]}");
    struct e2e_run body = zipped(text, len);
    struct e2e_answer plain = post("/v1/apply.bin", "identity", text, len);
    struct e2e_answer coded = post("/v1/apply.bin", "x-gzip", body.out, body.out_len);
    cr_expect_eq(coded.status, 200, "%s", coded.body);
    cr_expect_eq(coded.body_len, n * 4 * sizeof(double));
    cr_assert_eq(coded.body_len, plain.body_len);
    cr_expect_eq(memcmp(coded.body, plain.body, plain.body_len), 0);
    e2e_answer_free(&plain);
    e2e_answer_free(&coded);
    e2e_run_free(&body);
    free(text);
}

Test(gzip, what_is_refused)
{
    struct e2e_run good = zipped(ROPE, strlen(ROPE)), nonsense = zipped("nonsense", 8);
    good.out[good.out_len - 6] ^= 1;
    const struct {
        const char *coding, *body;
        size_t len;
        int status;
        const char *says;
    } rows[] = {
        {"br", "x", 1, 415, "unsupported-media-type"},
        {"deflate", "x", 1, 415, "unsupported-media-type"},
        {"gzip, gzip", "x", 1, 415, "unsupported-media-type"},
        {"gzip", ROPE, strlen(ROPE), 400, "not gzip"},
        {"gzip", good.out, good.out_len - 9, 400, "too early"},
        {"gzip", good.out, 5, 400, "too early"},
        {"gzip", good.out, good.out_len, 400, "checksum"},
        {"gzip", nonsense.out, nonsense.out_len, 400, "malformed-json"},
        {"identity", "nonsense", 8, 400, "malformed-json"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct e2e_answer answer = post("/v1/apply", rows[i].coding, rows[i].body, rows[i].len);
        cr_expect_eq(answer.status, rows[i].status, "row %zu: %d", i, answer.status);
        cr_expect(strstr(answer.body, rows[i].says), "row %zu: %s", i, answer.body);
        e2e_answer_free(&answer);
    }
    e2e_run_free(&good);
    e2e_run_free(&nonsense);
}

/* ---- Bombs --------------------------------------------------------------------------------- */

/* "VmHWM", in bytes. */
static size_t peak_memory(void)
{
    char path[60], line[200];
    size_t kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)service.pid);
    FILE *file = fopen(path, "r");
    cr_assert(file);
    while (fgets(line, sizeof line, file))
        sscanf(line, "VmHWM: %zu", &kib);
    fclose(file);
    cr_assert_gt(kib, 0);
    return kib << 10;
}

static void check_bomb(const char *body, size_t len)
{
    size_t memory = peak_memory();
    struct e2e_answer answer = post("/v1/apply", "gzip", body, len);
    cr_expect_eq(answer.status, 413, "%d: %s", answer.status, answer.body);
    if (!e2e_is_sanitized())
        cr_expect_lt(peak_memory() - memory, 16 * MIB + len + 8 * MIB);
    e2e_answer_free(&answer);
}

/* A mebibyte that becomes a gibibyte, as 1024 members: its end announces one mebibyte. */
Test(gzip, a_bomb_of_many_members)
{
    char *zeros = calloc(MIB, 1);
    struct e2e_run member = zipped(zeros, MIB);
    char *bomb = malloc(1024 * member.out_len);
    for (size_t i = 0; i < 1024; i++)
        memcpy(bomb + i * member.out_len, member.out, member.out_len);
    check_bomb(bomb, 1024 * member.out_len);
    e2e_run_free(&member);
    free(bomb);
    free(zeros);
}

/* And as one, which announces all of it. */
Test(gzip, a_bomb_of_one_member)
{
    static const char *const command[] = {
        "sh", "-c", "dd if=/dev/zero bs=1M count=256 2>/dev/null | gzip -1nc", NULL};
    struct e2e_run bomb = e2e_pipe(command, "", 0);
    cr_assert_eq(bomb.status, 0);
    cr_assert_lt(bomb.out_len, 2 * MIB);
    check_bomb(bomb.out, bomb.out_len);
    e2e_run_free(&bomb);
}
