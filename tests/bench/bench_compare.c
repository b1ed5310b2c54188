// SPDX-License-Identifier: Apache-2.0
/*
 * bench_compare.c: what it costs to compare, beside the apply that made the numbers: requests with
 * 1 M elements of f32 in safetensors, made within the process.
 */
#include "bench.h"

#include "api.h"
#include "local.h"
#include "safetensors.h"

#define ELEMENTS ((size_t)1 << 20)
#define BYTES    (ELEMENTS * sizeof(float))
#define HEADER   4096

static struct app *app;

struct posted {
    const char *target;
    char *body; /* answered where it is: an apply makes its tensor there */
    size_t len;
};

static bool count(void *context, const char *data, size_t len)
{
    (void)data;
    *(size_t *)context += len;
    return true;
}

/* The bytes of the answer are made, and not kept. */
static size_t post(const struct posted *posted)
{
    static const struct header type = {"Content-Type", "application/x-safetensors"};
    const struct local_call call = {"POST", posted->target, &type, 1, posted->body, posted->len};
    const struct local_limits limits = {
        .arena_max = 1 << 30, .body_max = 1 << 30, .deadline_ns = clock_ns() + (uint64_t)60e9};
    const struct http_hooks hooks = app_hooks(app);
    struct request request;
    size_t bytes = 0;
    if (!local_begin(&request, &hooks, &limits, &call))
        abort();
    local_run(&request, &hooks);
    if (request.err.n > 0 || !local_drain(&request, count, &bytes))
        abort();
    local_end(&request);
    return bytes;
}

static void run(void *context)
{
    post(context);
}

/* Names of tensors [64, 128, 128], heads and tokens first, and the elements of each. */
static struct posted posted_new(const char *target, const char *request, const char *const *names,
                                const float *const *values, size_t n)
{
    struct safetensors_tensor tensors[3] = {0};
    struct safetensors_pair rest = {"request", request, strlen(request)};
    const struct safetensors file = {tensors, n, &rest, 1};
    struct posted posted = {.target = target, .body = bench_buffer(HEADER + n * BYTES)};
    struct buf head;
    for (size_t i = 0; i < n; i++)
        tensors[i] = (struct safetensors_tensor){names[i],
                                                 {.dtype = PE_F32,
                                                  .rank = 3,
                                                  .shape = {64, 128, 128},
                                                  .count = ELEMENTS,
                                                  .bytes = BYTES}};
    buf_init(&head, HEADER);
    safetensors_header(&file, &head);
    memcpy(posted.body, head.data, head.len);
    posted.len = head.len;
    buf_release(&head);
    for (size_t i = 0; i < n; i++, posted.len += BYTES)
        memcpy(posted.body + posted.len, values[i], BYTES);
    return posted;
}

#define ROPE "{\"spec\":\"rope:dim=128\",\"positions\":\"0:128\",\"axes\":\"htd\"}"

int main(int argc, char **argv)
{
    const struct app_options options = {.elements_max = 32 << 20,
                                        .text_elements_max = 4 << 20,
                                        .body_max = 1 << 30,
                                        .workers = 1,
                                        .deadline_ms = 60000};
    float *x = bench_buffer(BYTES), *near = bench_buffer(BYTES);
    for (size_t i = 0; i < ELEMENTS; i++) {
        x[i] = (float)((double)(int64_t)pe_draw(0, "x", i + 1) * 0x1p-63);
        near[i] = x[i] * (1 + (float)(i % 3) * 0x1p-23F);
    }
    app = app_new(&options);
    if (!app)
        return 1;
    const char *const of_x[] = {"x"}, *const of_both[] = {"actual", "expected"};
    struct posted apply =
        posted_new("/v1/apply.safetensors", ROPE, of_x, (const float *const[]){x}, 1);
    struct posted both =
        posted_new("/v1/compare", "{}", of_both, (const float *const[]){near, x}, 2);
    struct posted made =
        posted_new("/v1/compare", "{\"diagnose\":false,\"expected\":" ROPE "}",
                   (const char *const[]){"actual", "x"}, (const float *const[]){near, x}, 2);
    struct bench_case cases[] = {
        {"apply, 1 M f32", run, &apply, ELEMENTS, 0},
        {"compare, 2 x 1 M f32", run, &both, ELEMENTS, 0},
        {"apply and compare", run, &made, ELEMENTS, 0},
    };
    static const struct bench_ratio ratios[] = {
        {"compare", "compare, 2 x 1 M f32", "apply, 1 M f32", false, 3},
        {"compare", "apply and compare", "apply, 1 M f32", false, 3},
    };
    size_t n = sizeof cases / sizeof *cases;
    bench_measure(cases, n);
    int status =
        bench_report(argc > 1 ? argv[1] : NULL, cases, n, ratios, sizeof ratios / sizeof *ratios);
    app_free(app);
    return status;
}
