// SPDX-License-Identifier: Apache-2.0
/*
 * bench_compare.c: what it costs to compare, beside the apply that made the numbers: requests with
 * 1 M elements of f32 in safetensors, made within the process.
 */
#include "bench_post.h"

#include "safetensors.h"

#define ELEMENTS ((size_t)1 << 20)
#define BYTES    (ELEMENTS * sizeof(float))
#define HEADER   4096

static struct app *app;

/* Names of tensors [64, 128, 128], heads and tokens first, and the elements of each. */
static struct post post_new(const char *target, const char *request, const char *const *names,
                            const float *const *values, size_t n)
{
    struct safetensors_tensor tensors[3] = {0};
    struct safetensors_pair rest = {"request", request, strlen(request)};
    const struct safetensors file = {tensors, n, &rest, 1};
    struct post post = {app, target, "application/x-safetensors", bench_buffer(HEADER + n * BYTES),
                        0,   NULL};
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
    memcpy(post.body, head.data, head.len);
    post.len = head.len;
    buf_release(&head);
    for (size_t i = 0; i < n; i++, post.len += BYTES)
        memcpy(post.body + post.len, values[i], BYTES);
    return post;
}

#define ROPE "{\"spec\":\"rope:dim=128\",\"positions\":\"0:128\",\"axes\":\"htd\"}"

int main(int argc, char **argv)
{
    float *x = bench_buffer(BYTES), *near = bench_buffer(BYTES);
    for (size_t i = 0; i < ELEMENTS; i++) {
        x[i] = (float)((double)(int64_t)pe_draw(0, "x", i + 1) * 0x1p-63);
        near[i] = x[i] * (1 + (float)(i % 3) * 0x1p-23F);
    }
    app = post_app();
    const char *const of_x[] = {"x"}, *const of_both[] = {"actual", "expected"};
    struct post apply = post_new("/v1/apply.safetensors", ROPE, of_x, (const float *const[]){x}, 1);
    struct post both = post_new("/v1/compare", "{}", of_both, (const float *const[]){near, x}, 2);
    struct post made =
        post_new("/v1/compare", "{\"diagnose\":false,\"expected\":" ROPE "}",
                 (const char *const[]){"actual", "x"}, (const float *const[]){near, x}, 2);
    struct bench_case cases[] = {
        {"apply, 1 M f32", post_run, &apply, ELEMENTS, 0},
        {"compare, 2 x 1 M f32", post_run, &both, ELEMENTS, 0},
        {"apply and compare", post_run, &made, ELEMENTS, 0},
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
