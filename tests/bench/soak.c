// SPDX-License-Identifier: Apache-2.0
/*
 * soak.c PORT PID [SECONDS]: good clients at full speed, bad ones and slow ones at once, for
 * SECONDS (600). Good ones ask for tables, scores and frequencies, kept answers and such as nobody
 * has asked for before, and post tensors, small and large, as JSON and as safetensors. Prints
 * memory, descriptors and threads of the daemon as they go, and fails when its resident memory,
 * averaged over a tenth of the time, leaves 5 % of that of the first tenth after a minute, when a
 * good request is not answered as it should be or by 503, or when descriptors and threads do not
 * come back to what they were before. soak.sh runs it.
 */
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "../wire.h"

#define GOOD_THREADS 4
#define BAD_THREADS  2
#define SLOW_CLIENTS 40
#define TENTH_N      60 /* samples in a tenth of the time */
#define DRIFT_MAX    0.05
#define WARM_S       60 /* until caches are full */
#define SETTLE_S     20 /* for lingering and idle connections to end */
#define PAUSE_MS     2  /* of a bad client between requests */

/* A request: its first line up to a number that is never twice the same, if it has one, and on. */
static struct good {
    const char *line, *rest; /* rest NULL: there is no number */
    int status;
    const char *type;
    char *body;
    size_t len;
} good[] = {
    {"GET /v1/table?kind=rope&dim=128&positions=0:100", NULL, 200, NULL, NULL, 0},
    {"GET /v1/scores?kind=sinusoidal", NULL, 200, NULL, NULL, 0},
    {"GET /v1/table.csv?kind=sinusoidal&dim=64&positions=0:2048&dtype=f32", NULL, 200, NULL, NULL,
     0},
    {"GET /v1/table?kind=rope&dim=64&positions=0:256&shift=", "&dtype=f32", 200, NULL, NULL, 0},
    {"GET /v1/frequencies?kind=rope&dim=128&scaling=yarn&factor=4&original_max=4096", NULL, 200,
     NULL, NULL, 0},
    {"GET /v1/encodings", NULL, 200, NULL, NULL, 0},
    {"GET /v1/scores?kind=rope&seed=", "", 200, NULL, NULL, 0},
    {"POST /v1/apply", NULL, 200, "json", NULL, 0},
    {"POST /v1/apply", NULL, 200, "json", NULL, 0},
    {"POST /v1/apply", NULL, 200, "x-safetensors", NULL, 0},
    {"GET /v1/table?kind=rope&dims=64", NULL, 400, NULL, NULL, 0},
};
#define GOOD_N (sizeof good / sizeof *good)

static const char *const bad[] = {
    "GET /livez HTTP/1.1\r\n\r\n",
    "GET /livez HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n",
    "POST /v1/apply HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
    "POST /v1/apply HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n",
    "POST /v1/apply HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n{\"spec\"", /* and leaves
                                                                                      */
    "NONSENSE\r\n\r\n",
};

static int port;
static atomic_bool over;
static atomic_ulong answered, refused, wrong;

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* ---- Bodies --------------------------------------------------------------------------------- */

#define SMALL_JSON "{\"spec\":\"rope:dim=4\",\"x\":[[1,2,3,4],[5,6,7,8]]}"
#define HEADER                                                                                     \
    "{\"__metadata__\":{\"request\":\"{\\\"spec\\\":\\\"rope\\\",\\\"axes\\\":\\\"bhtd\\\"}\"},"   \
    "\"q\":{\"dtype\":\"F32\",\"shape\":[1,32,256,128],\"data_offsets\":[0,4194304]}}"
enum { ROWS = 1024, DIM = 64, FILE_DATA = 4194304 };

/* ROWS vectors of DIM numbers. */
static void make_json(struct good *request)
{
    request->body = malloc((size_t)ROWS * DIM * 16 + 64);
    if (!request->body)
        abort();
    char *at = request->body + sprintf(request->body, "{\"spec\":\"rope\",\"x\":");
    for (int i = 0; i < ROWS * DIM; i++)
        at += sprintf(at, "%s%.9f", i == 0 ? "[[" : i % DIM == 0 ? "],[" : ",", sin(i));
    at += sprintf(at, "]]}");
    request->len = (size_t)(at - request->body);
}

static void make_file(struct good *request)
{
    size_t header = sizeof HEADER - 1;
    request->len = 8 + header + FILE_DATA;
    request->body = calloc(1, request->len);
    if (!request->body)
        abort();
    for (size_t i = 0; i < 8; i++)
        request->body[i] = (char)(header >> 8 * i);
    memcpy(request->body + 8, HEADER, header);
    for (size_t i = 0; i < FILE_DATA / sizeof(float); i++) {
        float value = (float)sin((double)i);
        memcpy(request->body + 8 + header + i * sizeof value, &value, sizeof value);
    }
}

static void make_bodies(void)
{
    struct good *post = good;
    while (!post->type)
        post++;
    post[0].body = strdup(SMALL_JSON);
    post[0].len = strlen(SMALL_JSON);
    make_json(&post[1]);
    make_file(&post[2]);
}

/* ---- Clients ------------------------------------------------------------------------------- */

static bool send_good(struct wire *wire, const struct good *request)
{
    static atomic_ulong number;
    char head[400];
    int len = snprintf(head, sizeof head, "%s", request->line);
    if (request->rest)
        len += snprintf(head + len, sizeof head - (size_t)len, "%lu%s", ++number, request->rest);
    len += snprintf(head + len, sizeof head - (size_t)len, " HTTP/1.1\r\nHost: h\r\n");
    if (request->type)
        len += snprintf(head + len, sizeof head - (size_t)len,
                        "Content-Type: application/%s\r\nContent-Length: %zu\r\n", request->type,
                        request->len);
    len += snprintf(head + len, sizeof head - (size_t)len, "\r\n");
    return wire_send(wire, head, (size_t)len) && wire_send(wire, request->body, request->len);
}

static void *good_client(void *context)
{
    size_t i = *(const size_t *)context; /* where in the list it begins */
    struct wire wire = {.fd = -1};
    for (; !over; i++) {
        const struct good *request = &good[i % GOOD_N];
        if (wire.fd < 0)
            wire = wire_open(port);
        send_good(&wire, request);
        struct wire_answer answer = wire_read(&wire, false);
        bool closes = answer.head && strstr(answer.head, "Connection: close");
        if (answer.status == request->status)
            answered++;
        else if (answer.status == 503)
            refused++;
        else
            wrong++;
        if (answer.status == 0 || closes)
            wire_close(&wire);
        wire_answer_free(&answer);
    }
    wire_close(&wire);
    return NULL;
}

static void *bad_client(void *context)
{
    size_t i = *(const size_t *)context; /* where in the list it begins */
    for (; !over; i++) {
        struct wire wire = wire_open(port);
        wire_puts(&wire, bad[i % (sizeof bad / sizeof *bad)]);
        wire_more(&wire, 20);
        wire_close(&wire);
        pause_ms(PAUSE_MS);
    }
    return NULL;
}

/* Clients that send one byte a second of a head that never ends; the daemon ends them. */
static void *slow_clients(void *context)
{
    static struct wire slow[SLOW_CLIENTS];
    (void)context;
    for (size_t i = 0; i < SLOW_CLIENTS; i++)
        slow[i].fd = -1;
    while (!over) {
        for (size_t i = 0; i < SLOW_CLIENTS; i++) {
            if (slow[i].fd >= 0 && wire_send(&slow[i], "x", 1))
                continue;
            wire_close(&slow[i]);
            slow[i] = wire_open(port);
            wire_puts(&slow[i], "GET /livez HTTP/1.1\r\nHost: h\r\nX: ");
        }
        pause_ms(1000);
    }
    for (size_t i = 0; i < SLOW_CLIENTS; i++)
        wire_close(&slow[i]);
    return NULL;
}

/* ---- The daemon, seen from outside ---------------------------------------------------------- */

struct sample {
    long rss_kb, threads, fds;
};

static struct sample take_sample(const char *pid)
{
    struct sample sample = {0};
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%s/status", pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "VmRSS:", 6) == 0)
            sample.rss_kb = strtol(line + 6, NULL, 10);
        if (strncmp(line, "Threads:", 8) == 0)
            sample.threads = strtol(line + 8, NULL, 10);
    }
    if (file)
        fclose(file);
    snprintf(path, sizeof path, "/proc/%s/fd", pid);
    DIR *folder = opendir(path);
    while (folder && readdir(folder))
        sample.fds++;
    if (folder)
        closedir(folder);
    sample.fds -= 2; /* . and .. */
    return sample;
}

static void show(const char *when, struct sample sample)
{
    printf("%-8s rss %ld kB, %ld descriptors, %ld threads; answered %lu, 503 %lu, wrong %lu\n",
           when, sample.rss_kb, sample.fds, sample.threads, atomic_load(&answered),
           atomic_load(&refused), atomic_load(&wrong));
    fflush(stdout);
}

/* Largest change of resident memory from the first warm tenth to a later one, relative. */
static double watch(const char *pid, long seconds)
{
    double reference = 0, worst = 0;
    long warm = (WARM_S * 10 + seconds - 1) / seconds + 1;
    for (long tenth = 1; tenth <= 10; tenth++) {
        struct sample sample = {0};
        double sum_kb = 0;
        char when[24];
        for (int i = 0; i < TENTH_N; i++) {
            pause_ms(seconds * 100 / TENTH_N);
            sample = take_sample(pid);
            sum_kb += (double)sample.rss_kb;
        }
        sample.rss_kb = (long)(sum_kb / TENTH_N);
        if (tenth == warm)
            reference = (double)sample.rss_kb;
        double change = tenth > warm ? fabs((double)sample.rss_kb / reference - 1) : 0;
        worst = change > worst ? change : worst;
        snprintf(when, sizeof when, "%ld s", tenth * seconds / 10);
        show(when, sample);
    }
    return worst;
}

int main(int arguments_n, char **arguments)
{
    if (arguments_n < 3)
        return 2;
    port = (int)strtol(arguments[1], NULL, 10);
    const char *pid = arguments[2];
    long seconds = arguments_n > 3 ? strtol(arguments[3], NULL, 10) : 600;
    if (seconds < 2 * WARM_S) {
        fprintf(stderr, "soak: %d seconds at least\n", 2 * WARM_S);
        return 2;
    }
    pthread_t threads[GOOD_THREADS + BAD_THREADS + 1];
    size_t n = 0;
    make_bodies();
    struct sample before = take_sample(pid);
    show("before", before);
    static size_t first[GOOD_THREADS + BAD_THREADS];
    for (; n < GOOD_THREADS + BAD_THREADS; n++) {
        first[n] = n;
        pthread_create(&threads[n], NULL, n < GOOD_THREADS ? good_client : bad_client, &first[n]);
    }
    pthread_create(&threads[n++], NULL, slow_clients, NULL);
    double drift = watch(pid, seconds);
    over = true;
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    pause_ms(SETTLE_S * 1000L);
    struct sample after = take_sample(pid);
    show("after", after);
    bool ok = drift <= DRIFT_MAX && wrong == 0 && answered > 0 && after.fds == before.fds &&
              after.threads == before.threads;
    printf("soak: memory within %.1f %% of the first warm tenth's: %s\n", 100 * drift,
           ok ? "passed" : "FAILED");
    return ok ? 0 : 1;
}
