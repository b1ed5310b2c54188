// SPDX-License-Identifier: Apache-2.0
/*
 * test_conditional.c: what the daemon sends to who has the answer already, expects a certain one,
 * or wants it compressed. Digests are compared with those of sha256sum.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "wire.h"

#define TABLE "/v1/table?kind=rope&dim=8&positions=0:3"
#define LARGE "/v1/table.csv?kind=sinusoidal&dim=64&positions=0:512"
#define APPLY "/v1/apply"
#define ROPE  "{\"spec\":\"rope:dim=4\",\"positions\":[1],\"x\":[[1,2,3,4]]}"
#define TAG   24

static struct e2e_daemon service;

static void start(void)
{
    e2e_start(&service, NULL);
}

static void start_without_cache(void)
{
    static const char *const options[] = {"--cache-size", "0", NULL};
    e2e_start(&service, options);
}

static void stop(void)
{
    e2e_stop(&service);
}

TestSuite(conditional, .init = start, .fini = stop, .timeout = 60);
TestSuite(conditional_without_cache, .init = start_without_cache, .fini = stop, .timeout = 60);

/* A sample of /metrics: "posenc_computations_total". */
static long metric(const char *name)
{
    struct e2e_answer metrics = e2e_request(&service, "GET", "/metrics", NULL, NULL, 0);
    char line[120];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(metrics.body, line);
    cr_assert(at, "%s", name);
    long value = strtol(at + strlen(line), NULL, 10);
    e2e_answer_free(&metrics);
    return value;
}

/* One request with at most two fields (NULL: none); a body makes it a POST. */
static struct e2e_answer ask(const char *method, const char *target, const char *field,
                             const char *other, const char *body)
{
    const char *fields[4] = {0};
    size_t n = 0;
    if (body)
        fields[n++] = "Content-Type: application/json";
    if (field)
        fields[n++] = field;
    if (other)
        fields[n++] = other;
    return e2e_request(&service, method, target, fields, body, body ? strlen(body) : 0);
}

static void tag_of(const char *target, const char *body, char tag[TAG])
{
    struct e2e_answer answer = ask(body ? "POST" : "GET", target, NULL, NULL, body);
    cr_assert_eq(answer.status, 200, "%s", answer.body);
    cr_assert(e2e_field(&answer, "ETag", tag, TAG));
    e2e_answer_free(&answer);
}

/* ---- Conditions ---------------------------------------------------------------------------- */

/* "@" stands for the tag of the answer. */
static const struct condition {
    const char *method, *target, *field, *other, *body;
    int status;
    bool computed; /* when nothing is kept */
} conditions[] = {
    {"GET", TABLE, NULL, NULL, NULL, 200, true},
    {"GET", TABLE, "If-None-Match: @", NULL, NULL, 304, false},
    {"GET", TABLE, "If-None-Match: W/@", NULL, NULL, 304, false},
    {"GET", TABLE, "If-None-Match: \"a\", @", NULL, NULL, 304, false},
    {"GET", TABLE, "If-None-Match: \"a\"", "If-None-Match: @", NULL, 304, false},
    {"GET", TABLE, "If-None-Match: *", NULL, NULL, 304, false},
    {"GET", TABLE, "If-None-Match: \"a\"", NULL, NULL, 200, true},
    {"GET", TABLE, "If-Match: @", NULL, NULL, 200, true},
    {"GET", TABLE, "If-Match: *", NULL, NULL, 200, true},
    {"GET", TABLE, "If-Match: \"a\", @", NULL, NULL, 200, true},
    {"GET", TABLE, "If-Match: W/@", NULL, NULL, 412, false},
    {"GET", TABLE, "If-Match: \"a\"", NULL, NULL, 412, false},
    {"GET", TABLE, "If-Match: \"a\"", "If-None-Match: @", NULL, 412, false},
    {"GET", TABLE, "If-Match: @", "If-None-Match: @", NULL, 304, false},
    {"GET", TABLE, "If-Modified-Since: Mon, 30 Nov 2026 00:00:00 GMT", NULL, NULL, 200, true},
    {"GET", TABLE, "If-Unmodified-Since: Mon, 30 Nov 2020 00:00:00 GMT", NULL, NULL, 200, true},
    {"GET", TABLE, "Range: bytes=0-9", NULL, NULL, 200, true},
    {"GET", TABLE, "Range: bytes=0-9", "If-Range: @", NULL, 200, true},
    {"GET", TABLE "&dims=8", "If-None-Match: *", NULL, NULL, 400, false},
    {"GET", TABLE "&semantics=2", "If-None-Match: *", NULL, NULL, 409, false},
    {"GET", TABLE "&pin=0123456789abcdef", NULL, NULL, NULL, 409, true},
    {"GET", TABLE "&pin=0123456789abcdef", "If-None-Match: @", NULL, NULL, 409, true},
    {"HEAD", TABLE, NULL, NULL, NULL, 200, false},
    {"HEAD", TABLE, "If-None-Match: @", NULL, NULL, 304, false},
    {"HEAD", TABLE, "If-Match: \"a\"", NULL, NULL, 412, false},
    {"HEAD", TABLE, "If-Match: @", NULL, NULL, 200, false},
    {"POST", APPLY, "If-Match: @", NULL, ROPE, 200, true},
    {"POST", APPLY, "If-Match: *", NULL, ROPE, 200, true},
    {"POST", APPLY, "If-Match: \"a\"", NULL, ROPE, 412, true},
    {"POST", APPLY, "If-None-Match: @", NULL, ROPE, 412, true},
    {"POST", APPLY, "If-None-Match: *", NULL, ROPE, 412, true},
    {"POST", APPLY, "If-None-Match: \"a\"", NULL, ROPE, 200, true},
    {"GET", "/openapi.json", "If-None-Match: @", NULL, NULL, 304, false},
    {"GET", "/help", "If-None-Match: @", NULL, NULL, 304, false},
    {"GET", "/v1/encodings", "If-Match: \"a\"", NULL, NULL, 412, false},
};

static const char *with_tag(const char *field, const char *tag, char out[100])
{
    const char *at = field ? strchr(field, '@') : NULL;
    if (!at)
        return field;
    snprintf(out, 100, "%.*s%s%s", (int)(at - field), field, tag, at + 1);
    return out;
}

static void check_conditions(bool kept)
{
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
        const struct condition *row = &conditions[i];
        char tag[TAG] = "", field[100], other[100], sent[TAG];
        if ((row->field && strchr(row->field, '@')) || (row->other && strchr(row->other, '@')))
            tag_of(strncmp(row->target, TABLE, strlen(TABLE)) == 0 ? TABLE : row->target, row->body,
                   tag);
        long before = metric("posenc_computations_total");
        struct e2e_answer answer = ask(row->method, row->target, with_tag(row->field, tag, field),
                                       with_tag(row->other, tag, other), row->body);
        cr_expect_eq(answer.status, row->status, "row %zu: %d", i, answer.status);
        if (!kept)
            cr_expect_eq(metric("posenc_computations_total") - before, row->computed, "row %zu", i);
        if (answer.status == 304) {
            cr_expect_eq(answer.body_len, 0, "row %zu", i);
            cr_expect(e2e_field(&answer, "ETag", sent, sizeof sent), "row %zu", i);
        }
        if (answer.status == 304 && tag[0])
            cr_expect_str_eq(sent, tag, "row %zu", i);
        e2e_answer_free(&answer);
    }
}

Test(conditional, conditions)
{
    check_conditions(true);
}

Test(conditional_without_cache, conditions)
{
    check_conditions(false);
    cr_expect_eq(metric("posenc_answer_cache_bytes"), 0);
    cr_expect_eq(metric("posenc_answer_cache_lookups_total{result=\"miss\"}"), 0);
}

/* Everything a cache would update is there, as with the answer itself. */
Test(conditional, fields_of_not_modified)
{
    static const char *const names[] = {"Cache-Control", "ETag", "Vary",
                                        "Link",          "Date", "Posenc-Spec-Id"};
    struct e2e_answer full = ask("GET", TABLE, NULL, NULL, NULL);
    struct e2e_answer none = ask("GET", TABLE, "If-None-Match: *", NULL, NULL);
    long before = metric("posenc_not_modified_total");
    cr_assert_eq(none.status, 304);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char a[2000] = "", b[2000] = "";
        cr_expect(e2e_field(&full, names[i], a, sizeof a), "%s", names[i]);
        cr_expect(e2e_field(&none, names[i], b, sizeof b), "%s", names[i]);
        cr_expect(strcmp(names[i], "Date") == 0 || strcmp(a, b) == 0, "%s: %s, %s", names[i], a, b);
    }
    cr_expect_eq(before, 1);
    e2e_answer_free(&full);
    e2e_answer_free(&none);
}

/* ---- HEAD and what is kept ----------------------------------------------------------------- */

Test(conditional, head_tells_what_is_known)
{
    char text[100];
    struct e2e_answer head = ask("HEAD", LARGE, NULL, NULL, NULL);
    cr_expect_eq(head.status, 200);
    cr_expect_not(e2e_field(&head, "Content-Length", text, sizeof text));
    cr_expect_not(e2e_field(&head, "Repr-Digest", text, sizeof text));
    e2e_answer_free(&head);
    struct e2e_answer full = ask("GET", LARGE, NULL, NULL, NULL);
    long computed = metric("posenc_computations_total");
    head = ask("HEAD", LARGE, NULL, NULL, NULL);
    cr_assert(e2e_field(&head, "Content-Length", text, sizeof text));
    cr_expect_eq(strtoul(text, NULL, 10), full.body_len);
    cr_expect(e2e_field(&head, "Repr-Digest", text, sizeof text));
    cr_expect_eq(head.body_len, 0);
    cr_expect_eq(metric("posenc_computations_total"), computed);
    e2e_answer_free(&head);
    e2e_answer_free(&full);
}

/* A connection may end behind an answer without a body, but never holds what is no head. */
Test(conditional, nothing_follows_a_head)
{
    static const struct {
        const char *method, *field;
        int status;
    } rows[] = {
        {"HEAD", "", 200}, /* of unknown length */
        {"GET", "If-None-Match: *\r\n", 304},
        {"HEAD", "If-None-Match: *\r\n", 304},
        {"GET", "", 200},
        {"HEAD", "", 200}, /* of known length */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wire wire = wire_open(service.port);
        char request[300];
        snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: h\r\n%s\r\n", rows[i].method,
                 TABLE, rows[i].field);
        cr_assert(wire_puts(&wire, request));
        bool bodiless = rows[i].status == 304 || strcmp(rows[i].method, "HEAD") == 0;
        struct wire_answer answer = wire_read(&wire, bodiless);
        cr_expect_eq(answer.status, rows[i].status, "row %zu: %d", i, answer.status);
        cr_expect_null(strstr(answer.head, "Transfer-Encoding"), "row %zu: %s", i, answer.head);
        bool ends = wire_field_is(&answer, "Connection", "close");
        wire_answer_free(&answer);
        if (ends) {
            cr_expect(wire_ends(&wire, 2000) && wire.len == 0, "row %zu: %s", i, wire.data);
        } else {
            wire_puts(&wire, "GET /livez HTTP/1.1\r\nHost: h\r\n\r\n");
            answer = wire_read(&wire, false);
            cr_expect_eq(answer.status, 200, "row %zu: %d", i, answer.status);
            wire_answer_free(&answer);
        }
        wire_close(&wire);
    }
}

Test(conditional, an_answer_is_computed_once)
{
    static const char *const spellings[] = {
        "/v1/table.csv?kind=sinusoidal&dim=64&positions=0:512",
        "/v1/table?spec=sinusoidal:dim=64&positions=0:512:1&format=csv",
        "/v1/table.csv?positions=0:512&base=1e4&d=64&kind=sin&dtype=FP64",
    };
    struct e2e_answer first = ask("GET", spellings[0], NULL, NULL, NULL);
    char tag[TAG], other[TAG];
    cr_assert(e2e_field(&first, "ETag", tag, sizeof tag));
    for (size_t i = 1; i < sizeof spellings / sizeof spellings[0]; i++) {
        struct e2e_answer again = ask("GET", spellings[i], NULL, NULL, NULL);
        cr_assert(e2e_field(&again, "ETag", other, sizeof other));
        cr_expect_str_eq(other, tag, "%s", spellings[i]);
        cr_assert_eq(again.body_len, first.body_len);
        cr_expect_eq(memcmp(again.body, first.body, first.body_len), 0);
        e2e_answer_free(&again);
    }
    cr_expect_eq(metric("posenc_computations_total"), 1);
    cr_expect_eq(metric("posenc_answer_cache_lookups_total{result=\"hit\"}"), 2);
    cr_expect_eq(metric("posenc_answer_cache_lookups_total{result=\"miss\"}"), 1);
    cr_expect_geq(metric("posenc_answer_cache_bytes"), (long)first.body_len);
    e2e_answer_free(&first);
}

/* ---- Digests and pins ---------------------------------------------------------------------- */

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The digest of a field Repr-Digest as hex. */
static void digest_hex(const char *field, char hex[65])
{
    unsigned bits = 0, have = 0;
    size_t len = 0;
    cr_assert_eq(strncmp(field, "sha-256=:", 9), 0, "%s", field);
    for (const char *c = field + 9; *c != '=' && len < 64; c++) {
        const char *digit = strchr(base64, *c);
        cr_assert(digit && *c, "%s", field);
        bits = bits << 6 | (unsigned)(digit - base64);
        for (have += 6; have >= 4 && len < 64; have -= 4)
            hex[len++] = "0123456789abcdef"[bits >> (have - 4) & 15];
    }
    hex[len] = '\0';
}

Test(conditional, digests_are_those_of_sha256sum)
{
    static const struct {
        const char *target, *body, *encoding;
    } rows[] = {
        {TABLE, NULL, NULL},
        {LARGE, NULL, NULL},
        {LARGE, NULL, "Accept-Encoding: gzip"},
        {"/v1/table.safetensors?kind=rope&dim=8", NULL, NULL},
        {APPLY, ROPE, NULL},
        {"/openapi.json", NULL, NULL},
        {"/v1/table.bin?kind=rope&dim=64&positions=0:20000&dtype=f64", NULL, NULL},
    };
    static const char *const sum[] = {"sha256sum", NULL};
    static const char *const unzip[] = {"gzip", "-dc", NULL};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct e2e_answer answer = ask(rows[i].body ? "POST" : "GET", rows[i].target,
                                       rows[i].encoding, NULL, rows[i].body);
        char field[100], hex[65], pinned[300];
        struct e2e_run bytes = {0}, digest;
        cr_assert_eq(answer.status, 200);
        cr_assert(e2e_field(&answer, "Repr-Digest", field, sizeof field), "%s", rows[i].target);
        digest_hex(field, hex);
        if (rows[i].encoding) {
            cr_assert(e2e_field(&answer, "Content-Encoding", field, sizeof field));
            bytes = e2e_pipe(unzip, answer.body, answer.body_len);
            cr_assert_eq(bytes.status, 0);
        }
        digest = rows[i].encoding ? e2e_pipe(sum, bytes.out, bytes.out_len)
                                  : e2e_pipe(sum, answer.body, answer.body_len);
        cr_expect_eq(strncmp(digest.out, hex, 64), 0, "%s: %s, %.64s", rows[i].target, hex,
                     digest.out);
        e2e_run_free(&bytes);
        e2e_run_free(&digest);
        e2e_answer_free(&answer);
        if (rows[i].body || !strchr(rows[i].target, '?'))
            continue;
        snprintf(pinned, sizeof pinned, "%s&pin=%.16s", rows[i].target, hex);
        answer = ask("GET", pinned, rows[i].encoding, NULL, NULL);
        cr_expect_eq(answer.status, 200, "%s", pinned);
        cr_assert(e2e_field(&answer, "Cache-Control", field, sizeof field));
        cr_expect_str_eq(field, "public, max-age=31536000, immutable");
        e2e_answer_free(&answer);
    }
}

/* A digest over so much would come too late. */
Test(conditional, no_pin_on_more_than_16_MiB)
{
    const char *target = "/v1/table.bin?kind=rope&dim=64&positions=0:40000&pin=0123456789abcdef";
    struct e2e_answer answer = ask("GET", target, NULL, NULL, NULL);
    cr_expect_eq(answer.status, 422, "%d", answer.status);
    cr_expect(strstr(answer.body, "limit-exceeded") && strstr(answer.body, "16777216"), "%s",
              answer.body);
    e2e_answer_free(&answer);
}
