// SPDX-License-Identifier: Apache-2.0
/*
 * test_pinned.c: what people pin is the same on every machine: the digests of
 * proto/fixtures.sha256, as pins in URLs, as Repr-Digest, and of what --eval prints; and tags.
 * Whoever runs this test, with whatever libraries and processor, compares with the one that wrote
 * that file.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "sha256.h"

#define DIGITS 64

static struct e2e_daemon service;

static void start(void)
{
    e2e_start(&service, NULL);
}

static void stop(void)
{
    e2e_stop(&service);
}

TestSuite(pinned, .init = start, .fini = stop, .timeout = 300);

/* ---- Fixtures ------------------------------------------------------------------------------ */

static void expect_digest(const char *what, const char *bytes, size_t len, const char *digest)
{
    char seen[DIGITS + 1];
    sha256_hex(bytes, len, DIGITS, seen);
    cr_expect_str_eq(seen, digest, "%s", what);
}

static void expect_over_http(const char *name, const char *digest)
{
    char target[200], field[100], expected[100], base64[SHA256_BASE64];
    unsigned char bytes[32];

    snprintf(target, sizeof target, "/v1/fixtures/%s?pin=%.16s&semantics=1", name, digest);
    struct e2e_answer answer = e2e_request(&service, "GET", target, NULL, NULL, 0);
    cr_expect_eq(answer.status, 200, "%s: %d", target, answer.status);
    expect_digest(target, answer.body, answer.body_len, digest);
    for (size_t i = 0; i < sizeof bytes; i++)
        cr_assert_eq(sscanf(digest + 2 * i, "%2hhx", &bytes[i]), 1);
    sha256_base64(bytes, base64);
    snprintf(expected, sizeof expected, "sha-256=:%s:", base64);
    cr_expect(e2e_field(&answer, "Repr-Digest", field, sizeof field), "%s", target);
    cr_expect_str_eq(field, expected, "%s", target);
    e2e_answer_free(&answer);
}

static void expect_without_network(const char *name, const char *digest)
{
    char target[160];
    const char *const arguments[] = {"--eval", target, NULL};

    snprintf(target, sizeof target, "/v1/fixtures/%s", name);
    struct e2e_run run = e2e_run_with(arguments, "", 0);
    cr_expect_eq(run.status, 0, "%s: %s", target, run.err);
    expect_digest(target, run.out, run.out_len, digest);
    e2e_run_free(&run);
}

Test(pinned, fixtures_have_their_digests_over_http_and_without)
{
    FILE *file = fopen("proto/fixtures.sha256", "r");
    char line[200], digest[DIGITS + 1], name[100];
    size_t n = 0;

    cr_assert(file, "run from the project's root");
    for (; fgets(line, sizeof line, file); n++) {
        cr_assert_eq(sscanf(line, "%64[0-9a-f]  %99s", digest, name), 2, "%s", line);
        expect_over_http(name, digest);
        expect_without_network(name, digest);
    }
    fclose(file);
    cr_expect_geq(n, 36, "%zu", n);
}

/* ---- Tags ---------------------------------------------------------------------------------- */

/* Each tag is that of `canonical`, written by Python's hashlib: the first 16 hex digits of SHA-256
 * over the lines "1" (the version of the wire), the canonical request, the media type, the coding.
 */
static const struct {
    const char *target, *accept_encoding, *canonical, *etag;
} tags[] = {
    {"/v1/table.csv?base=1e4&d=8&kind=rotary", "Accept-Encoding: identity",
     "/v1/table?kind=rope&dim=8", "\"1-5ce2b2a9a858a1f3\""},
    {"/v1/fixtures/rope-half-d64.safetensors", "Accept-Encoding: identity",
     "/v1/apply?kind=rope&dim=64&layout=half&axes=htd&shape=2,32,64&dtype=f32",
     "\"1-1d381e83b188be96\""},
    {"/v1/table.json?kind=sinusoidal&dim=8&positions=0,1,2&dtype=FP32", "Accept-Encoding: identity",
     "/v1/table?kind=sinusoidal&dim=8&positions=0:3&dtype=f32", "\"1-6b2c6c275522c0ba\""},
    {"/v1/table.json?kind=sinusoidal&dim=8&positions=0,1,2&dtype=FP32",
     "Accept-Encoding: gzip, identity;q=0",
     "/v1/table?kind=sinusoidal&dim=8&positions=0:3&dtype=f32", "\"1-66c0dfc8f9fc96f3\""},
    {"/v1/scores.npy?spec=rope", "Accept-Encoding: identity", "/v1/scores?kind=rope&dim=64",
     "\"1-8bfbbb56892275fc\""},
};

Test(pinned, tags_follow_from_the_request_alone)
{
    char etag[64], link[4096], canonical[300];

    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        const char *const fields[] = {tags[i].accept_encoding, NULL};
        struct e2e_answer answer = e2e_request(&service, "GET", tags[i].target, fields, NULL, 0);
        cr_expect_eq(answer.status, 200, "%s", tags[i].target);
        cr_expect(e2e_field(&answer, "ETag", etag, sizeof etag));
        cr_expect_str_eq(etag, tags[i].etag, "%s", tags[i].target);
        snprintf(canonical, sizeof canonical, "<%s>; rel=\"canonical\"", tags[i].canonical);
        cr_expect(e2e_field(&answer, "Link", link, sizeof link) && strstr(link, canonical), "%s",
                  link);
        e2e_answer_free(&answer);
    }
}
