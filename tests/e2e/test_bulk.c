// SPDX-License-Identifier: Apache-2.0
/*
 * test_bulk.c: answers that the daemon makes while it sends them: the same bytes from one worker,
 * from four and without a network; clients that leave or dawdle cost it next to nothing.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include "harness.h"
#include "wire.h"

TestSuite(bulk, .timeout = 300);

#define WAIT_MS 60000 /* for the next bytes, however slow the build */
#define SMALL   "/v1/table?kind=rope&dim=8&positions=0:4"

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static void send_request(struct wire *wire, const char *method, const char *target)
{
    char bytes[400];
    snprintf(bytes, sizeof bytes, "%s %s HTTP/1.1\r\nHost: h\r\n\r\n", method, target);
    cr_assert(wire_puts(wire, bytes));
}

static struct wire_answer ask(int port, const char *method, const char *target)
{
    struct wire wire = wire_open(port);
    send_request(&wire, method, target);
    struct wire_answer answer = wire_read_within(&wire, strcmp(method, "HEAD") == 0, WAIT_MS);
    wire_close(&wire);
    return answer;
}

/* A value of /metrics, -1 without. */
static long metric(int port, const char *name)
{
    struct wire_answer answer = ask(port, "GET", "/metrics");
    const char *at = answer.body;
    size_t len = strlen(name);
    long value = -1;

    while (at && (at = strstr(at, name)) && (at[-1] != '\n' || at[len] != ' '))
        at += len;
    if (at)
        value = strtol(at + len, NULL, 10);
    wire_answer_free(&answer);
    return value;
}

/* More than the 16 MiB up to which an answer is made as a whole. */
static const char *const targets[] = {
    "/v1/table.npy?kind=rope&dim=512&layout=half&positions=0:5000",
    "/v1/table.safetensors?kind=rope&dim=256&value=both&channels=0:100&positions=0:12000",
    "/v1/table.bin?kind=t5&heads=6&positions=0:700",
    "/v1/table?kind=sinusoidal&dim=100&positions=0:12000",
    "/v1/table.csv?kind=rope&dim=64&dtype=f32&positions=0:34000",
    "/v1/rotation?kind=rope&dim=64&content=random&dtype=f32&positions=0:12000",
    "/v1/apply.safetensors?kind=rope&dim=64&shape=2,8,2300,64&axes=bhtd&dtype=f32&seed=5",
    "/v1/apply?kind=rope&dim=64&shape=9500,64&seed=5",
};

/* FNV-1a, 64 bits. */
static uint64_t hash(uint64_t state, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        state = (state ^ (unsigned char)data[i]) * UINT64_C(0x100000001b3);
    return state;
}

/* What the program prints for --eval. */
static uint64_t hash_of_eval(const char *target, size_t *len)
{
    char command[600], piece[65536];
    uint64_t state = UINT64_C(0xcbf29ce484222325);

    *len = 0;
    snprintf(command, sizeof command, "'%s' --eval '%s'", getenv("POSENCD"), target);
    FILE *pipe = popen(command, "r");
    cr_assert(pipe);
    for (size_t n; (n = fread(piece, 1, sizeof piece, pipe)) > 0; *len += n)
        state = hash(state, piece, n);
    cr_expect_eq(pclose(pipe), 0, "%s", command);
    return state;
}

Test(bulk, bytes_are_the_same_however_they_are_made)
{
    static const char *const workers[] = {"1", "4"};
    uint64_t hashes[2][sizeof targets / sizeof *targets];
    size_t lens[2][sizeof targets / sizeof *targets];

    for (size_t w = 0; w < 2; w++) {
        struct e2e_daemon daemon;
        e2e_start(&daemon,
                  (const char *const[]){"--workers", workers[w], "--deadline", "60", NULL});
        for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
            struct wire_answer answer = ask(daemon.port, "GET", targets[i]);
            cr_assert_eq(answer.status, 200, "%s: %d %s", targets[i], answer.status,
                         answer.body ? answer.body : "");
            hashes[w][i] = hash(UINT64_C(0xcbf29ce484222325), answer.body, answer.body_len);
            lens[w][i] = answer.body_len;
            size_t len;
            cr_expect_null(wire_field(&answer, "Repr-Digest", &len), "%s", targets[i]);
            cr_expect_not_null(wire_field(&answer, "ETag", &len), "%s", targets[i]);
            wire_answer_free(&answer);
        }
        cr_expect_eq(metric(daemon.port, "posenc_answers_streamed_total"),
                     sizeof targets / sizeof *targets);
        e2e_stop(&daemon);
    }
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        size_t len;
        uint64_t evaluated = hash_of_eval(targets[i], &len);
        cr_expect_eq(lens[0][i], lens[1][i], "%s", targets[i]);
        cr_expect_eq(lens[0][i], len, "%s", targets[i]);
        cr_expect_eq(hashes[0][i], hashes[1][i], "%s", targets[i]);
        cr_expect_eq(hashes[0][i], evaluated, "%s", targets[i]);
    }
}

/* ---- Posts that all workers take part in ---------------------------------------------------- */

#define HEADS  8
#define TOKENS 4096
#define DIM    64

/* q of [heads, tokens, dim] as f32 in a file: 8 MiB, several parts of work. */
static char *post_file(size_t *len)
{
    size_t bytes = (size_t)HEADS * TOKENS * DIM * sizeof(float);
    char header[600], *post = malloc(bytes + 2000);
    int n = snprintf(header, sizeof header,
                     "{\"__metadata__\":{\"request\":\"{\\\"spec\\\":\\\"rope:dim=64\\\","
                     "\\\"axes\\\":\\\"htd\\\"}\"},\"q\":{\"dtype\":\"F32\",\"shape\":[%d,%d,%d],"
                     "\"data_offsets\":[0,%zu]}}",
                     HEADS, TOKENS, DIM, bytes);
    cr_assert(post);
    while (n % 8 != 0)
        header[n++] = ' ';
    uint64_t size = (uint64_t)n;
    size_t at = (size_t)sprintf(post,
                                "POST /v1/apply HTTP/1.1\r\nHost: h\r\nContent-Type: "
                                "application/x-safetensors\r\nContent-Length: %zu\r\n\r\n",
                                8 + size + bytes);
    memcpy(post + at, &size, 8);
    memcpy(post + at + 8, header, size);
    at += 8 + size;
    for (size_t i = 0; i < bytes / sizeof(float); i++) {
        float x = (float)(i * 7919 % 10007) / 4096;
        memcpy(post + at + i * sizeof x, &x, sizeof x);
    }
    *len = at + bytes;
    return post;
}

/* The same numbers, fewer of them, as JSON: some 2 MB. */
static char *post_json(size_t *len)
{
    size_t rows = 4000, capacity = rows * DIM * 12 + 1000, at = 0;
    char *body = malloc(capacity), *post = malloc(capacity + 1000);
    cr_assert(body && post);
    at += (size_t)sprintf(body,
                          "{\"spec\":\"rope:dim=64\",\"x\":{\"dtype\":\"f32\",\"shape\":[%zu,%d],"
                          "\"data\":[",
                          rows, DIM);
    for (size_t i = 0; i < rows * DIM; i++)
        at += (size_t)sprintf(body + at, "%s%.7g", i > 0 ? "," : "",
                              (double)(i * 7919 % 10007) / 4096);
    at += (size_t)sprintf(body + at, "]}}");
    size_t head = (size_t)sprintf(post,
                                  "POST /v1/apply HTTP/1.1\r\nHost: h\r\nContent-Type: "
                                  "application/json\r\nContent-Length: %zu\r\n\r\n",
                                  at);
    memcpy(post + head, body, at);
    free(body);
    *len = head + at;
    return post;
}

Test(bulk, posts_have_the_same_answer_from_all_workers_as_from_one)
{
    static const char *const workers[] = {"1", "4"};
    struct wire_answer answers[2][2];
    size_t len[2];
    char *posts[2] = {post_file(&len[0]), post_json(&len[1])};

    for (size_t w = 0; w < 2; w++) {
        struct e2e_daemon daemon;
        e2e_start(&daemon,
                  (const char *const[]){"--workers", workers[w], "--deadline", "60", NULL});
        struct wire wire = wire_open(daemon.port);
        for (size_t i = 0; i < 2; i++) {
            wire_send(&wire, posts[i], len[i]);
            answers[w][i] = wire_read_within(&wire, false, WAIT_MS);
            cr_expect_eq(answers[w][i].status, 200, "%s", answers[w][i].body);
        }
        wire_close(&wire);
        cr_expect_eq(metric(daemon.port, "posenc_jobs_finished_total") > 6, w == 1);
        e2e_stop(&daemon);
    }
    for (size_t i = 0; i < 2; i++) {
        cr_expect_eq(answers[0][i].body_len, answers[1][i].body_len);
        cr_expect(memcmp(answers[0][i].body, answers[1][i].body, answers[0][i].body_len) == 0);
        wire_answer_free(&answers[0][i]);
        wire_answer_free(&answers[1][i]);
        free(posts[i]);
    }
}

/* Conditions are judged without a byte being made; HEAD as well. */
Test(bulk, tags_and_heads_make_nothing)
{
    struct e2e_daemon daemon;
    e2e_start(&daemon, NULL);
    struct wire_answer answer = ask(daemon.port, "HEAD", targets[0]);
    size_t len;
    const char *tag = wire_field(&answer, "ETag", &len);
    cr_expect_eq(answer.status, 200);
    cr_assert(tag);

    char bytes[600];
    struct wire wire = wire_open(daemon.port);
    snprintf(bytes, sizeof bytes, "GET %s HTTP/1.1\r\nHost: h\r\nIf-None-Match: %.*s\r\n\r\n",
             targets[0], (int)len, tag);
    wire_puts(&wire, bytes);
    struct wire_answer again = wire_read_within(&wire, false, WAIT_MS);
    cr_expect_eq(again.status, 304);
    cr_expect_eq(metric(daemon.port, "posenc_answers_streamed_total"), 0);
    cr_expect_eq(metric(daemon.port, "posenc_computations_total"), 0);
    wire_answer_free(&answer);
    wire_answer_free(&again);
    wire_close(&wire);
    e2e_stop(&daemon);
}

/* Two workers: three blocks of about 128 KiB, and what they are made from. */
#define HELD_MAX (1L << 20)

static bool falls_to(int port, long bytes)
{
    for (int i = 0; i < 300 && metric(port, "posenc_request_memory_bytes") > bytes; i++)
        pause_ms(100);
    return metric(port, "posenc_request_memory_bytes") <= bytes;
}

/* Far more than the limit on memory, in the little that a slow client is worth; others are served.
 */
Test(bulk, slow_readers_hold_a_few_blocks)
{
    struct e2e_daemon daemon;
    struct wire slow[8];
    e2e_start(&daemon, (const char *const[]){"--workers", "2", "--max-memory", "64M", NULL});

    for (size_t i = 0; i < 8; i++) {
        int little = 4096;
        slow[i] = wire_open(daemon.port);
        setsockopt(slow[i].fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
        send_request(&slow[i], "GET",
                     i % 2 ? "/v1/table.bin?kind=rope&dim=512&positions=0:60000"
                           : "/v1/table?kind=rope&dim=64&positions=0:60000");
        cr_assert(wire_more(&slow[i], WAIT_MS));
    }
    pause_ms(500);
    long held = metric(daemon.port, "posenc_request_memory_bytes");
    cr_expect_leq(held, 8 * (HELD_MAX + 60000 * 8 * 2), "%ld bytes", held);
    for (size_t i = 0; i < 50; i++) {
        struct wire_answer answer = ask(daemon.port, "GET", SMALL);
        cr_expect_eq(answer.status, 200);
        wire_answer_free(&answer);
    }
    struct wire_answer answer = ask(daemon.port, "GET", targets[0]); /* a quick one passes by */
    cr_expect_eq(answer.status, 200);
    wire_answer_free(&answer);
    for (size_t i = 0; i < 8; i++)
        wire_close(&slow[i]);
    cr_expect(falls_to(daemon.port, 64 << 10));
    e2e_stop(&daemon);
}

Test(bulk, clients_that_leave_are_soon_forgotten)
{
    struct e2e_daemon daemon;
    e2e_start(&daemon, (const char *const[]){"--workers", "2", NULL});

    for (size_t i = 0; i < 24; i++) {
        struct wire wire = wire_open(daemon.port);
        send_request(&wire, "GET", targets[i % (sizeof targets / sizeof *targets)]);
        for (size_t pieces = 0; pieces < i % 3; pieces++)
            wire_more(&wire, WAIT_MS);
        wire_close(&wire);
    }
    cr_expect(falls_to(daemon.port, 64 << 10));
    cr_expect_eq(metric(daemon.port, "posenc_jobs_running"), 0);
    cr_expect_eq(metric(daemon.port, "posenc_jobs_waiting"), 0);
    e2e_stop(&daemon);
}

/* SIGTERM in the middle of an answer: it comes to its end first. */
Test(bulk, drain_sends_what_was_begun)
{
    struct e2e_daemon daemon;
    e2e_start(&daemon, (const char *const[]){"--workers", "2", NULL});
    struct wire wire = wire_open(daemon.port);

    send_request(&wire, "GET", "/v1/table.bin?kind=rope&dim=512&positions=0:20000");
    cr_assert(wire_more(&wire, WAIT_MS));
    kill(daemon.pid, SIGTERM);
    struct wire_answer answer = wire_read_within(&wire, false, WAIT_MS);
    cr_expect_eq(answer.body_len, 20000u * 512 * 8);
    wire_answer_free(&answer);
    wire_close(&wire);
    int status;
    cr_expect_eq(waitpid(daemon.pid, &status, 0), daemon.pid);
    cr_expect_eq(status, 0);
}
