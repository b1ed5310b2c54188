// SPDX-License-Identifier: Apache-2.0
/*
 * test_blocks.c: answers that are streamed have the bytes of smaller ones, which are not, put
 * together; whatever they are cut into.
 */
#include "call.h"

static bool append(void *context, const char *data, size_t len)
{
    buf_append(context, data, len);
    return true;
}

/* The answer to a GET, whether it is a stream or not. */
static struct buf fetch(const char *target, bool streamed)
{
    struct request request;
    struct buf bytes;

    buf_init(&bytes, (size_t)1 << 30);
    call(&request, "GET", target, NULL);
    cr_assert_eq(request.err.n, 0, "%s: %s", target, request.err.item[0].detail);
    cr_expect_eq(request.response.stream != NULL, streamed, "%s", target);
    cr_expect_eq(call_field(&request, "Repr-Digest") == NULL, streamed, "%s", target);
    cr_expect_not_null(call_field(&request, "ETag"), "%s", target);
    cr_assert(local_drain(&request, append, &bytes), "%s", target);
    if (streamed && request.response.stream->len != STREAM_LEN_UNKNOWN)
        cr_expect_eq(request.response.stream->len, bytes.len, "%s", target);
    call_end(&request);
    return bytes;
}

/* A query in which %s stands for positions, and how many of them make a long answer and a short
 * one, of which three have the elements of the long one. */
static const struct {
    const char *query;
    size_t n;
} tables[] = {
    {"kind=rope&dim=512&positions=%s", 6000},
    {"kind=rope&dim=512&value=cos&width=full&dtype=f32&positions=%s", 12000},
    {"kind=rope&dim=512&value=sin&channels=7,3,255&positions=%s", 900000},
    {"kind=sinusoidal&dim=511&dtype=bf16&channels=0:511:2&positions=%s", 60000},
    {"kind=learned&dim=600&rows=9000&dtype=f32&positions=%s", 9000},
};

/* The elements behind a head that ends with a newline (npy's does). */
static void append_elements(struct buf *out, const struct buf *npy)
{
    const char *end = memchr(npy->data, '\n', npy->len);
    cr_assert(end);
    buf_append(out, end + 1, npy->len - (size_t)(end + 1 - npy->data));
}

/* Positions [first, first + n) in a target. */
static struct buf fetch_some(const char *path, const char *query, size_t first, size_t n,
                             bool streamed)
{
    char form[300], range[60], target[400];

    snprintf(range, sizeof range, "%zu:%zu", first, first + n);
    snprintf(form, sizeof form, "%s?%s", path, query);
    snprintf(target, sizeof target, form, range);
    return fetch(target, streamed);
}

Test(blocks, bytes_are_those_of_parts)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const char *query = tables[i].query;
        const char *path = strstr(query, "bf16") ? "/v1/table.bin" : "/v1/table.npy";
        struct buf joined;
        buf_init(&joined, (size_t)1 << 30);
        for (size_t part = 0; part < 3; part++) {
            struct buf some =
                fetch_some(path, query, part * tables[i].n / 3, tables[i].n / 3, false);
            if (strstr(query, "bf16"))
                buf_append(&joined, some.data, some.len);
            else
                append_elements(&joined, &some);
            buf_release(&some);
        }
        struct buf all = fetch_some(path, query, 0, tables[i].n, true);
        cr_assert_geq(all.len, joined.len, "%s", query);
        cr_expect_leq(all.len - joined.len, 128, "%s", query);
        cr_expect(memcmp(all.data + all.len - joined.len, joined.data, joined.len) == 0, "%s",
                  query);
        buf_release(&all);
        buf_release(&joined);
    }
}

/* csv: one header, then the rows. */
Test(blocks, rows_of_csv_are_those_of_parts)
{
    static const char query[] = "kind=rope&dim=64&positions=%s";
    struct buf joined;

    buf_init(&joined, (size_t)1 << 30);
    for (size_t part = 0; part < 3; part++) {
        struct buf some = fetch_some("/v1/table.csv", query, part * 7000, 7000, false);
        size_t head =
            part == 0 ? 0 : (size_t)((char *)memchr(some.data, '\n', some.len) + 1 - some.data);
        buf_append(&joined, some.data + head, some.len - head);
        buf_release(&some);
    }
    struct buf all = fetch_some("/v1/table.csv", query, 0, 21000, true);
    cr_assert_eq(all.len, joined.len);
    cr_expect(memcmp(all.data, joined.data, all.len) == 0);
    buf_release(&all);
    buf_release(&joined);
}

/* The nested arrays of member `name` of an answer's tensors, without the outermost brackets. */
static void append_data(struct buf *out, const struct buf *json, const char *name)
{
    char key[40];

    snprintf(key, sizeof key, "\"%s\":{\"dtype\":", name);
    const char *at = memmem(json->data, json->len, key, strlen(key));
    cr_assert(at, "%s", name);
    at = strstr(at, "\"data\":[") + strlen("\"data\":[");
    buf_append(out, at, (size_t)(strstr(at, "]}") - at));
}

/* Several tensors, some of rank 3, in one JSON document, which is also well-formed. */
Test(blocks, json_is_that_of_parts)
{
    static const char query[] = "kind=rope&dim=16&content=random&dtype=f32&positions=%s";
    static const char *const names[] = {"angle", "cos", "sin", "before", "after"};
    struct buf part[3], all = fetch_some("/v1/rotation", query, 0, 45000, true);

    buf_putc(&all, '\0');
    json_error_t error;
    json_t *json = json_loads(all.data, JSON_REJECT_DUPLICATES, &error);
    cr_assert(json, "%s", error.text);
    cr_expect_eq(json_array_size(json_object_get(
                     json_object_get(json_object_get(json, "tensors"), "after"), "data")),
                 45000);
    cr_expect_not_null(json_object_get(json, "readouts"));
    cr_expect_not_null(json_object_get(json, "links"));
    json_decref(json);
    for (size_t i = 0; i < 3; i++) {
        part[i] = fetch_some("/v1/rotation", query, i * 15000, 15000, false);
        buf_putc(&part[i], '\0');
    }
    for (size_t name = 0; name < 5; name++) {
        struct buf joined, wanted;
        buf_init(&joined, (size_t)1 << 30);
        buf_init(&wanted, (size_t)1 << 30);
        for (size_t i = 0; i < 3; i++) {
            buf_puts(&joined, i > 0 ? "," : "");
            append_data(&joined, &part[i], names[name]);
        }
        append_data(&wanted, &all, names[name]);
        cr_expect_eq(joined.len, wanted.len, "%s", names[name]);
        cr_expect(memcmp(joined.data, wanted.data, wanted.len) == 0, "%s", names[name]);
        buf_release(&joined);
        buf_release(&wanted);
    }
    for (size_t i = 0; i < 3; i++)
        buf_release(&part[i]);
    buf_release(&all);
}

/* Matrices of heads x queries x keys, and safetensors with two tensors: what npy has of each. */
Test(blocks, matrices_and_files_with_several_tensors)
{
    static const char bias[] = "/v1/table.%s?kind=alibi&heads=3&positions=0:%d",
                      both[] = "/v1/table.%s?kind=rope&dim=128&value=both&positions=0:%d&select=%s";
    char target[200];

    snprintf(target, sizeof target, bias, "bin", 1000);
    struct buf all = fetch(target, true);
    const double *at = (const double *)(const void *)all.data;
    cr_assert_eq(all.len, 3u * 1000 * 1000 * 8);
    for (size_t i = 0; i < 3000000; i += 997) { /* -slope * distance, slopes 2^-(8/3 (h+1)) */
        size_t q = i / 1000 % 1000, k = i % 1000;
        double slope = -at[i / 1000000 * 1000000 + 1]; /* of query 0 and key 1 */
        double wanted = -slope * (double)(q > k ? q - k : k - q);
        cr_expect_float_eq(at[i], wanted, 1e-12, "%zu", i);
    }
    buf_release(&all);

    snprintf(target, sizeof target, both, "safetensors", 20000, "cos");
    all = fetch(target, true);
    for (size_t i = 0; i < 2; i++) {
        snprintf(target, sizeof target, both, "bin", 20000, i ? "sin" : "cos");
        struct buf one = fetch(target, false);
        cr_assert_eq(one.len, 20000u * 64 * 8);
        cr_expect(memcmp(all.data + all.len - (2 - i) * one.len, one.data, one.len) == 0);
        buf_release(&one);
    }
    buf_release(&all);
}

/* How long a text is shows when it is made: many short numbers are no long answer. */
Test(blocks, short_texts_have_digests)
{
    struct buf short_one = fetch("/v1/table?kind=binary&dim=64&positions=0:20000", false);
    cr_expect_leq(short_one.len, (size_t)3 << 20);
    buf_release(&short_one);
}

/* A pin needs a digest, and so an answer as a whole. */
Test(blocks, pinned_answers_are_not_streamed)
{
    struct request request;

    call(&request, "GET", "/v1/table.npy?kind=rope&dim=512&positions=0:6000&pin=0123456789abcdef",
         NULL);
    cr_expect_eq(request.response.status, 422);
    cr_expect_null(request.response.stream);
    call_end(&request);
}
