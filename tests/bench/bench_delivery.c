// SPDX-License-Identifier: Apache-2.0
/*
 * bench_delivery.c: what stands between an answer and the wire: its digest and its content coding,
 * beside memcpy of the same bytes.
 */
#include "bench.h"

#include "buf.h"
#include "gzip.h"
#include "sha256.h"
#include "sha256_blocks.h"
#include "tree.h"
#include "write.h"

#define BYTES  ((size_t)16 << 20)
#define VALUES ((size_t)1 << 16)

static unsigned char *bytes, *copy;
static struct buf text, inflated;
static struct buf coded[10];

static void copy_bytes(void *context)
{
    (void)context;
    memcpy(copy, bytes, BYTES);
}

static void digest(void *context)
{
    unsigned char out[32];
    (void)context;
    sha256_digest(bytes, BYTES, out);
    copy[0] = out[0];
}

static void digest_portably(void *context)
{
    uint32_t state[8] = {0};
    (void)context;
    sha256_blocks_portable(state, bytes, BYTES / 64);
    copy[0] = (unsigned char)state[0];
}

static void deflate_text(void *context)
{
    int level = *(const int *)context;
    coded[level].len = 0;
    if (gzip_deflate(text.data, text.len, level, &coded[level]) != GZIP_OK)
        abort();
}

static void inflate_text(void *context)
{
    struct gzip_fault fault;
    (void)context;
    inflated.len = 0;
    if (gzip_inflate(coded[1].data, coded[1].len, &inflated, &fault) != GZIP_OK)
        abort();
}

/* What a table of cosines is as JSON. */
static void make_text(void)
{
    double *values = bench_buffer(VALUES * sizeof *values);
    for (size_t i = 0; i < VALUES; i++)
        values[i] = (double)(int64_t)pe_draw(0, "x", i + 1) * 0x1p-63;
    struct tree_tensor tensor = {.dtype = PE_F64, .rank = 1, .shape = {VALUES}, .data = values};
    buf_init(&text, BYTES);
    json_write_tensor_data(&text, &tensor);
    if (text.failed)
        abort();
}

int main(int argc, char **argv)
{
    static int levels[] = {1, 6};
    bytes = bench_buffer(BYTES);
    copy = bench_buffer(BYTES);
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)pe_draw(0, "x", i + 1);
    make_text();
    buf_init(&inflated, BYTES);
    for (size_t i = 0; i < sizeof coded / sizeof *coded; i++)
        buf_init(&coded[i], BYTES);

    struct bench_case cases[] = {
        {"memcpy of 16 MiB", copy_bytes, NULL, (double)BYTES, 0},
        {"SHA-256", digest, NULL, (double)BYTES, 0},
        {"SHA-256 in C", digest_portably, NULL, (double)BYTES, 0},
        {"gzip 1 of numbers", deflate_text, &levels[0], (double)text.len, 0},
        {"gzip 6 of numbers", deflate_text, &levels[1], (double)text.len, 0},
        {"gunzip of numbers", inflate_text, NULL, (double)text.len, 0},
    };
    static const struct bench_ratio ratios[] = {
        {"digest", "SHA-256", "SHA-256 in C", true, 3},
        {"coding", "gzip 1 of numbers", "gzip 6 of numbers", true, 3},
    };
    size_t n = sizeof cases / sizeof *cases;
    bench_measure(cases, n);
    printf("gzip leaves %.1f %% at level 1, %.1f %% at level 6\n\n",
           100.0 * (double)coded[1].len / (double)text.len,
           100.0 * (double)coded[6].len / (double)text.len);
    return bench_report(argc > 1 ? argv[1] : NULL, cases, n, ratios,
                        sizeof ratios / sizeof *ratios);
}
