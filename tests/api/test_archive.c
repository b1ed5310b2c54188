// SPDX-License-Identifier: Apache-2.0
/*
 * test_archive.c: /v1/fixtures.tar read as POSIX describes ustar: the files that their own URLs
 * give, in order, and nothing that would differ from one archive to the next.
 */
#include "assets.h"
#include "call.h"
#include "fixtures.h"

TestSuite(archive, .timeout = 60);

#define TAR    "/v1/fixtures.tar"
#define FOLDER "posenc-fixtures/"
#define BLOCK  512

struct bytes {
    const char *data;
    size_t len;
};

static struct bytes bytes_of(const struct request *request)
{
    const struct response *response = &request->response;
    const struct blob *blob = response->blob;
    return blob ? (struct bytes){blob->data, blob->len}
                : (struct bytes){response->body.data, response->body.len};
}

static bool same(struct bytes a, struct bytes b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

static unsigned long octal(const char *field, size_t size)
{
    char text[13] = "", *end;
    memcpy(text, field, size);
    unsigned long value = strtoul(text, &end, 8);
    cr_assert(end > text && (*end == '\0' || *end == ' '), "%.12s is no octal number", text);
    return value;
}

/* The header's own sum, taken with blanks in its place. */
static void expect_checksum(const char *header)
{
    unsigned long sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= 148 && i < 156 ? ' ' : (unsigned char)header[i];
    cr_expect_eq(octal(header + 148, 8), sum);
}

/* Offsets as in the standard's table of ustar header fields. */
static size_t expect_header(const char *header, const char *name)
{
    cr_expect_eq(strncmp(header, FOLDER, strlen(FOLDER)), 0, "%.100s", header);
    cr_expect_str_eq(header + strlen(FOLDER), name);
    cr_expect_eq(octal(header + 100, 8), 0644);
    cr_expect_eq(octal(header + 108, 8), 0);
    cr_expect_eq(octal(header + 116, 8), 0);
    cr_expect_eq(octal(header + 136, 12), 0);
    cr_expect_eq(header[156], '0');
    cr_expect_eq(memcmp(header + 257, "ustar\00000", 8), 0);
    expect_checksum(header);
    return octal(header + 124, 12);
}

static void expect_file(const char *name, struct bytes file)
{
    char target[160];
    struct request request;

    snprintf(target, sizeof target, "/v1/fixtures/%s", name);
    call(&request, "GET", target, NULL);
    cr_expect(same(bytes_of(&request), file), "%s", name);
    call_end(&request);
}

static bool is_zero(const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (data[i])
            return false;
    return true;
}

Test(archive, holds_what_each_url_gives)
{
    struct request request;
    call(&request, "GET", TAR, NULL);
    cr_assert_eq(request.response.status, 200, "%s", call_body(&request));
    cr_expect_str_eq(request.response.content_type, "application/x-tar");
    const struct bytes body = bytes_of(&request);
    const struct bytes sums = {asset_fixtures_sha256, strlen(asset_fixtures_sha256)};
    const char *at = body.data, *end = at + body.len;

    cr_assert_eq(body.len % BLOCK, 0);
    for (size_t i = 0; i <= fixtures_n * FIXTURE_FORMATS_N; i++) {
        char name[100] = FIXTURE_SUMS;
        if (i < fixtures_n * FIXTURE_FORMATS_N)
            snprintf(name, sizeof name, "%s.%s", fixtures[i / FIXTURE_FORMATS_N].name,
                     format_suffix(fixture_formats[i % FIXTURE_FORMATS_N]));
        cr_assert_leq(at + BLOCK, end);
        size_t len = expect_header(at, name), padded = (len + BLOCK - 1) / BLOCK * BLOCK;
        at += BLOCK;
        cr_assert_leq(padded, (size_t)(end - at));
        if (strcmp(name, FIXTURE_SUMS) != 0)
            expect_file(name, (struct bytes){at, len});
        else
            cr_expect(same((struct bytes){at, len}, sums));
        cr_expect(is_zero(at + len, padded - len), "%s: padding", name);
        at += padded;
    }
    cr_expect_eq(end - at, 2 * BLOCK);
    cr_expect(is_zero(at, (size_t)(end - at)));
    call_end(&request);
}

Test(archive, has_the_same_bytes_and_tag_every_time)
{
    struct request first, second;

    call(&first, "GET", TAR, NULL);
    struct app *app = call_app;
    call_app = NULL; /* another application, as after a restart */
    call(&second, "GET", TAR, NULL);
    cr_expect_gt(bytes_of(&first).len, 0);
    cr_expect(same(bytes_of(&first), bytes_of(&second)));
    cr_expect_str_eq(call_field(&first, "ETag"), call_field(&second, "ETag"));
    cr_expect_str_eq(call_field(&first, "Repr-Digest"), call_field(&second, "Repr-Digest"));
    call_end(&first);
    call_end(&second);
    app_free(app);
}

/* Preconditions and HEAD are answered by the published digests, without an archive. */
static const struct {
    const char *method, *match, *none_match;
    int status;
} rows[] = {
    {"GET", NULL, NULL, 200},      {"HEAD", NULL, NULL, 200},      {"GET", NULL, "*", 304},
    {"GET", NULL, "tag", 304},     {"HEAD", NULL, "tag", 304},     {"GET", "tag", NULL, 200},
    {"GET", "\"1-0\"", NULL, 412}, {"HEAD", "\"1-0\"", NULL, 412}, {"GET", NULL, "\"1-0\"", 200},
};

Test(archive, preconditions)
{
    struct request head;
    call(&head, "HEAD", TAR, NULL);
    const char *tag = call_field(&head, "ETag");
    cr_assert(tag);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call_with.if_match = rows[i].match && *rows[i].match == 't' ? tag : rows[i].match;
        call_with.if_none_match =
            rows[i].none_match && *rows[i].none_match == 't' ? tag : rows[i].none_match;
        call(&request, rows[i].method, TAR, NULL);
        cr_expect_eq(request.response.status, rows[i].status, "%zu: %d", i,
                     request.response.status);
        if (rows[i].status == 304)
            cr_expect_eq(bytes_of(&request).len, 0, "%zu", i);
        call_end(&request);
    }
    call_with.if_match = call_with.if_none_match = NULL;
    call_end(&head);
}

Test(archive, refuses_parameters_and_says_what_it_cannot_make)
{
    struct request request;

    call(&request, "GET", TAR "?format=zip", NULL);
    cr_expect_eq(request.response.status, 400);
    call_end(&request);
    call_setup();
    call_app->options.text_elements_max = 100;
    call(&request, "GET", TAR, NULL);
    cr_expect_eq(request.response.status, 422, "%s", call_body(&request));
    cr_expect_not_null(strstr(call_body(&request), "the limit is 100"));
    call_end(&request);
}
