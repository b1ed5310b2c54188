// SPDX-License-Identifier: Apache-2.0
/*
 * bench_scaling.c: whole requests within the process, without sockets (P9): how much more two
 * workers answer than one in the same time, each request being the work of one of them; and what an
 * element costs in answers of 10^5 to 10^8. By the clock, since more than one thread works. Answers
 * up to 16 MiB carry a digest, a fifth of a table's time, and longer ones do not: these are
 * measured as they are and with a digest of their client's.
 */
#define BENCH_CLOCK  CLOCK_MONOTONIC
#define BENCH_ROUNDS 5
#include "bench.h"

#include <pthread.h>

#include "api.h"
#include "local.h"
#include "sha256.h"

#define WORKERS   2
#define WIDTH     128
#define ARENA_MAX ((size_t)8 << 30)
#define NS_MAX    UINT64_C(600000000000)

/* A request that is made again and again. */
struct ask {
    const char *method;
    char target[128];
    char *body; /* NULL: none */
    size_t body_len;
    size_t elements; /* of the answer */
    bool digested;   /* by the client */
};

/* So many of them in all, by so many workers. */
struct ask_run {
    struct ask ask;
    unsigned workers, requests;
};

/* What one worker has of its own: the application but for the answers it keeps, and a body, which
 * handlers may write to. */
struct worker {
    const struct ask_run *run;
    struct app app;
    char *body;
    pthread_t thread;
};

static struct app *app;
static struct worker workers[WORKERS];
static struct bench_case cases[32];
static size_t cases_n;

/* ---- Requests ----------------------------------------------------------------------------- */

/* A client that reads and forgets. */
struct client {
    size_t len;
    struct sha256 *sha; /* NULL: makes no digest */
};

static bool take(void *context, const char *data, size_t len)
{
    struct client *client = context;
    client->len += len;
    if (client->sha)
        sha256_update(client->sha, data, len);
    return true;
}

static void answer(struct worker *worker, const struct ask *ask)
{
    struct request request;
    struct sha256 sha;
    struct client client = {0, ask->digested ? &sha : NULL};
    unsigned char digest[32];
    const struct http_hooks hooks = app_hooks(&worker->app);
    const struct local_limits limits = {ARENA_MAX, SIZE_MAX, NULL, clock_ns() + NS_MAX, NULL};
    const struct local_call call = {.method = ask->method,
                                    .target = ask->target,
                                    .body = ask->body ? worker->body : NULL,
                                    .body_len = ask->body_len};
    if (ask->body)
        memcpy(worker->body, ask->body, ask->body_len);
    sha256_init(&sha);
    if (!local_begin(&request, &hooks, &limits, &call))
        abort();
    local_run(&request, &hooks);
    if (request.response.status != 200 || !local_drain(&request, take, &client) ||
        client.len < ask->elements) {
        fprintf(stderr, "%s: %d, %zu bytes\n%.*s\n", ask->target, request.response.status,
                client.len, (int)request.response.body.len, request.response.body.data);
        exit(1);
    }
    sha256_final(&sha, digest);
    local_end(&request);
}

static void *work(void *context)
{
    struct worker *worker = context;
    const struct ask_run *run = worker->run;
    for (unsigned i = 0; i < run->requests / run->workers; i++)
        answer(worker, &run->ask);
    return NULL;
}

static void run_ask(void *context)
{
    const struct ask_run *run = context;
    for (unsigned i = 0; i < run->workers; i++) {
        workers[i].run = run;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            abort();
    }
    for (unsigned i = 0; i < run->workers; i++)
        pthread_join(workers[i].thread, NULL);
}

/* ---- Cases -------------------------------------------------------------------------------- */

static struct ask table_of(size_t rows)
{
    struct ask ask = {.method = "GET", .elements = rows * WIDTH};
    snprintf(ask.target, sizeof ask.target,
             "/v1/table.json?kind=rope&dim=%d&positions=0:%zu&dtype=f32", WIDTH, rows);
    return ask;
}

/* The same thousand rows of numbers again and again. */
static struct ask apply_of(size_t rows)
{
    enum { SOME = 1000 };
    static float some[SOME * WIDTH];
    struct ask ask = {.method = "POST", .target = "/v1/apply.json", .elements = rows * WIDTH};
    char *at = ask.body = malloc(1024 + rows * WIDTH * 18);
    if (!at)
        abort();
    pe_fill_random(0, "x", PE_CONTENT_NORMAL, 1, 0, SOME * WIDTH, PE_F32, some);
    at += sprintf(at,
                  "{\"spec\":{\"kind\":\"rope\",\"dim\":%d,\"layout\":\"half\"},"
                  "\"positions\":\"0:%zu\",\"x\":{\"dtype\":\"f32\",\"data\":[",
                  WIDTH, rows);
    const char *first = at;
    for (size_t row = 0; row < rows && row < SOME; row++)
        for (size_t i = 0; i < WIDTH; i++)
            at += sprintf(at, "%s%.9g%s",
                          i > 0     ? ","
                          : row > 0 ? ",["
                                    : "[",
                          (double)some[row * WIDTH + i], i + 1 < WIDTH ? "" : "]");
    size_t bytes = (size_t)(at - first);
    for (size_t row = SOME; row < rows; row += SOME) { /* rows: a multiple of SOME then */
        *at++ = ',';
        memcpy(at, first, bytes);
        at += bytes;
    }
    at += sprintf(at, "]}}");
    ask.body_len = (size_t)(at - ask.body);
    return ask;
}

static void add_case(const char *name, struct ask ask, unsigned workers_n, unsigned requests)
{
    struct ask_run *run = malloc(sizeof *run);
    if (!run)
        abort();
    *run = (struct ask_run){ask, workers_n, requests};
    cases[cases_n++] =
        (struct bench_case){name, run_ask, run, (double)(requests * ask.elements), 0};
    /* cppcheck-suppress memleak; the case keeps it */
}

static const struct bench_ratio ratios[] = {
    {"P9", "table, two workers", "table, one worker", true, 1.8},
    {"P9", "apply, two workers", "apply, one worker", true, 1.8},
    {"P9", "table of 10^8", "tables of 10^5", false, 1.15},
    {"P9", "tables of 10^5", "table of 10^8", false, 1.15},
    {"P9", "tables of 10^5", "table of 10^8 and its digest", false, 1.15},
    {"P9", "table of 10^8 and its digest", "tables of 10^5", false, 1.15},
    {"P9", "apply of 10^8", "applies of 10^5", false, 1.15},
    {"P9", "applies of 10^5", "apply of 10^8", false, 1.15},
};

/* The workers, with room for bodies as long as `ask`. */
static void hire(const struct ask *ask)
{
    const struct app_options options = {
        .elements_max = (size_t)1 << 28,
        .text_elements_max = (size_t)1 << 28,
        .body_max = SIZE_MAX,
        .memory_max = SIZE_MAX,
        .workers = WORKERS,
        .queue = 4,
        .deadline_ms = 600000,
        .connections_max = 1024,
    };
    app = app_new(&options);
    if (!app)
        abort();
    for (size_t i = 0; i < WORKERS; i++) {
        workers[i].body = bench_buffer(ask->body_len);
        if (!app_beside(&workers[i].app, app))
            abort();
    }
}

int main(int argc, char **argv)
{
    const struct ask large = apply_of(781000);
    hire(&large);
    add_case("table, one worker", table_of(8000), 1, 8);
    add_case("table, two workers", table_of(8000), 2, 8);
    add_case("apply, one worker", apply_of(8000), 1, 4);
    add_case("apply, two workers", apply_of(8000), 2, 4);
    add_case("tables of 10^5", table_of(780), 1, 100);
    add_case("tables of 10^6", table_of(7800), 1, 10);
    add_case("table of 10^7", table_of(78100), 1, 1);
    add_case("table of 10^8", table_of(781000), 1, 1);
    struct ask digested = table_of(781000);
    digested.digested = true;
    add_case("table of 10^8 and its digest", digested, 1, 1);
    add_case("applies of 10^5", apply_of(780), 1, 100);
    add_case("applies of 10^6", apply_of(8000), 1, 10);
    add_case("apply of 10^7", apply_of(78000), 1, 1);
    add_case("apply of 10^8", large, 1, 1);
    bench_measure(cases, cases_n);
    return bench_report(argc > 1 ? argv[1] : NULL, cases, cases_n, ratios,
                        sizeof ratios / sizeof *ratios);
}
