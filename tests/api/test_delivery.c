// SPDX-License-Identifier: Apache-2.0
/*
 * test_delivery.c: which requests have one tag, what is answered without computing, and what a
 * caller may expect of an answer.
 */
#include "delivery.h"

#include "call.h"

#include "metrics.h"
#include "sha256.h"

#define TABLE "/v1/table?kind=rope&dim=8&positions=0:3"
#define APPLY "{\"spec\":\"rope:dim=4\",\"x\":[[1,2,3,4]]}"

/* Copies a field of the answer to one request. */
static void field_of(const char *method, const char *target, const char *body, const char *field,
                     char *out, size_t size)
{
    struct request request;
    call(&request, method, target, body);
    const char *value = call_field(&request, field);
    cr_assert_eq(request.response.status, 200, "%s: %s", target, call_body(&request));
    snprintf(out, size, "%s", value ? value : "");
    call_end(&request);
}

static void etag_of(const char *target, char out[ETAG_BYTES])
{
    field_of("GET", target, NULL, "ETag", out, ETAG_BYTES);
}

/* ---- The tag ------------------------------------------------------------------------------- */

Test(delivery, spellings_of_one_request_have_one_tag)
{
    static const char *const groups[][10] = {
        {TABLE, "/v1/table?positions=0:3&dim=8&kind=rope",
         "/v1/table?spec=rope:dim=8&positions=0:3",
         "/v1/table?kind=rotary&d=8&positions=0,1,2&theta=1e4",
         "/v1/table?kind=rope&dim=8&positions=0:3:1&dtype=float64&value=encoding&stages=exact",
         "/v1/table.json?kind=rope&dim=8&positions=0:3&layout=interleaved&rotary_dim=8&numbers="
         "shortest",
         TABLE "&select=table", "/v1/table?kind=rope&dim=8&positions=0:3&format=json&semantics=1"},
        {"/v1/table?kind=alibi&heads=2", "/v1/table?kind=alibi&heads=2&value=bias&positions=0:32"},
        {"/v1/table?kind=t5&buckets=32", "/v1/table?kind=t5", "/v1/table?spec=t5&dtype=FP64"},
        {"/v1/scores?kind=none", "/v1/scores?spec=none&tolerance=1e-12&anchors=0,8,24&gain=1.0",
         "/v1/scores?kind=none&dim=64&scale=none&content=random&offsets=0:32"},
        {"/v1/scores?kind=none&scale=0.5", "/v1/scores?kind=none&scale=0.50",
         "/v1/scores?kind=none&scale=5e-1"},
        {"/v1/scores?spec=rope&spec=alibi", "/v1/scores?spec=rope:dim=64&spec=alibi:heads=1"},
        {"/v1/apply?kind=rope&dim=4", "/v1/apply?kind=rope&dim=4&positions=0:32",
         "/v1/apply?kind=rope&dim=4&dtype=f64&seed=0&content=random"},
        {"/v1/apply?kind=rope&dim=4&shape=3,4",
         "/v1/apply?kind=rope&dim=4&shape=3,4&positions=0:3"},
        {"/v1/frequencies?kind=rope", "/v1/frequencies?kind=rope&dtype=f64"},
        {"/v1/rotation?kind=rope&dim=8", "/v1/rotation?kind=rope&dim=8&value=angle"},
        {"/v1/spec?kind=rope", "/v1/spec?spec=rope:dim=64,base=10000"},
    };
    char seen[sizeof groups / sizeof groups[0]][ETAG_BYTES];

    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        etag_of(groups[i][0], seen[i]);
        cr_expect_eq(strlen(seen[i]), strlen("\"1-0123456789abcdef\""), "%s", seen[i]);
        cr_expect_eq(strncmp(seen[i], "\"1-", 3), 0, "%s", seen[i]);
        for (size_t j = 1; j < 10 && groups[i][j]; j++) {
            char etag[ETAG_BYTES];
            etag_of(groups[i][j], etag);
            cr_expect_str_eq(etag, seen[i], "%s and %s", groups[i][0], groups[i][j]);
        }
        for (size_t j = 0; j < i; j++)
            cr_expect_str_neq(seen[i], seen[j], "%s and %s", groups[i][0], groups[j][0]);
    }
}

/* What a tag stands for has the same bytes, whatever the spelling. */
Test(delivery, one_tag_means_the_same_bytes)
{
    static const char *const targets[] = {
        TABLE, "/v1/table?spec=rope:dim=8&positions=0,1,2&dtype=FP64&value=encoding",
        "/v1/table?kind=rotary&d=8&positions=0:3:1&semantics=1.0&theta=1e4"};
    char first[80];

    field_of("GET", targets[0], NULL, "Repr-Digest", first, sizeof first);
    for (size_t i = 1; i < sizeof targets / sizeof targets[0]; i++) {
        char digest[80];
        field_of("GET", targets[i], NULL, "Repr-Digest", digest, sizeof digest);
        cr_expect_str_eq(digest, first, "%s", targets[i]);
    }
}

Test(delivery, formats_have_tags_of_their_own)
{
    static const char *const targets[] = {
        "/v1/table?kind=none&dim=4", "/v1/table.csv?kind=none&dim=4",
        "/v1/table.txt?kind=none&dim=4", "/v1/table?kind=none&dim=4&numbers=hex"};
    char etags[4][ETAG_BYTES], etag[ETAG_BYTES];

    for (size_t i = 0; i < 4; i++) {
        etag_of(targets[i], etags[i]);
        for (size_t j = 0; j < i; j++)
            cr_expect_str_neq(etags[i], etags[j], "%s and %s", targets[i], targets[j]);
    }
    etag_of("/v1/table?kind=none&dim=4&format=csv", etag);
    cr_expect_str_eq(etag, etags[1]);
    call_with.accept = "text/csv";
    etag_of("/v1/table?kind=none&dim=4", etag);
    cr_expect_str_eq(etag, etags[1]);
}

/* ---- Conditions ---------------------------------------------------------------------------- */

Test(delivery, conditions)
{
    static const struct {
        const char *method, *target, *match, *none; /* "@": the tag of the answer */
        int status, computed;
    } rows[] = {
        {"GET", TABLE, NULL, NULL, 200, 1},
        {"GET", TABLE, NULL, "@", 304, 0},
        {"GET", TABLE, NULL, "*", 304, 0},
        {"GET", TABLE, NULL, "\"other\", W/@", 304, 0},
        {"GET", TABLE, NULL, "\"other\"", 200, 1},
        {"GET", TABLE, "@", NULL, 200, 1},
        {"GET", TABLE, "*", NULL, 200, 1},
        {"GET", TABLE, "W/@", NULL, 412, 0},
        {"GET", TABLE, "\"other\"", NULL, 412, 0},
        {"GET", TABLE, "\"other\"", "@", 412, 0},
        {"GET", TABLE, "@", "@", 304, 0},
        {"HEAD", TABLE, NULL, NULL, 200, 0},
        {"HEAD", TABLE, NULL, "@", 304, 0},
        {"HEAD", TABLE, "\"other\"", NULL, 412, 0},
        /* what is wrong without the condition is wrong with it */
        {"GET", TABLE "&x=1", NULL, "*", 400, 0},
        {"GET", TABLE "&semantics=2", NULL, "*", 409, 0},
    };
    char etag[ETAG_BYTES];
    call_with.no_cache = true;
    etag_of(TABLE, etag);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *const fields[] = {rows[i].match, rows[i].none};
        char text[2][80];
        for (size_t f = 0; f < 2; f++) {
            const char *at = fields[f] ? strchr(fields[f], '@') : NULL;
            snprintf(text[f], sizeof text[f], "%.*s%s", at ? (int)(at - fields[f]) : 70,
                     fields[f] ? fields[f] : "", at ? etag : "");
        }
        call_with.if_match = rows[i].match ? text[0] : NULL;
        call_with.if_none_match = rows[i].none ? text[1] : NULL;
        int64_t before = metric_get(METRIC_computations);
        struct request request;
        call(&request, rows[i].method, rows[i].target, NULL);
        cr_expect_eq(request.response.status, rows[i].status, "row %zu: %d", i,
                     request.response.status);
        cr_expect_eq(metric_get(METRIC_computations) - before, rows[i].computed, "row %zu", i);
        const char *sent = call_field(&request, "ETag");
        if (rows[i].status < 400)
            cr_expect(sent && strcmp(sent, etag) == 0, "row %zu: %s", i, sent ? sent : "none");
        else
            cr_expect_null(sent, "row %zu", i);
        call_end(&request);
    }
}

Test(delivery, not_modified_carries_the_fields_of_the_answer)
{
    static const char *const fields[] = {"Cache-Control", "ETag",           "Link",
                                         "Vary",          "Posenc-Spec-Id", "Posenc-Semantics"};
    struct request full, short_one;

    call(&full, "GET", TABLE, NULL);
    call_with.if_none_match = "*";
    call(&short_one, "GET", TABLE, NULL);
    cr_assert_eq(short_one.response.status, 304);
    cr_expect_eq(short_one.response.body.len, 0);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        cr_assert(call_field(&full, fields[i]), "%s", fields[i]);
        cr_assert(call_field(&short_one, fields[i]), "%s", fields[i]);
        cr_expect_str_eq(call_field(&short_one, fields[i]), call_field(&full, fields[i]));
    }
    call_end(&full);
    call_end(&short_one);
}

Test(delivery, a_post_has_the_tag_of_its_bytes)
{
    char etag[ETAG_BYTES], other[ETAG_BYTES], digest[80];
    field_of("POST", "/v1/apply", APPLY, "ETag", etag, sizeof etag);
    field_of("POST", "/v1/apply", "{\"x\":[[1,2,3,4]],\"spec\":{\"kind\":\"rope\",\"dim\":4}}",
             "ETag", other, sizeof other);
    cr_expect_str_eq(other, etag);
    field_of("POST", "/v1/apply", "{\"spec\":\"rope:dim=4\",\"x\":[[1,2,3,5]]}", "ETag", other,
             sizeof other);
    cr_expect_str_neq(other, etag);
    field_of("POST", "/v1/apply", APPLY, "Repr-Digest", digest, sizeof digest);
    cr_expect_eq(strncmp(digest, "sha-256=:", 9), 0, "%s", digest);
    field_of("POST", "/v1/apply", APPLY, "Link", digest, sizeof digest);
    cr_expect_str_eq(digest, "");

    const struct {
        const char *match, *none;
        int status;
    } rows[] = {{etag, NULL, 200},        {"\"other\"", NULL, 412}, {NULL, etag, 412},
                {NULL, "\"other\"", 200}, {NULL, "*", 412},         {"*", NULL, 200}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call_with.if_match = rows[i].match;
        call_with.if_none_match = rows[i].none;
        call(&request, "POST", "/v1/apply", APPLY);
        cr_expect_eq(request.response.status, rows[i].status, "row %zu: %d", i,
                     request.response.status);
        cr_expect_str_eq(call_field(&request, "Cache-Control"), "no-store");
        call_end(&request);
    }
}

/* ---- Digest, pin, semantics ---------------------------------------------------------------- */

static void pin_of(const char *target, char pin[17])
{
    struct request request;
    call(&request, "GET", target, NULL);
    const char *body = call_body(&request);
    unsigned char digest[32];
    char field[80], base64[SHA256_BASE64];
    sha256_digest(body, strlen(body), digest);
    sha256_base64(digest, base64);
    snprintf(field, sizeof field, "sha-256=:%s:", base64);
    cr_expect_str_eq(call_field(&request, "Repr-Digest"), field);
    sha256_hex(body, strlen(body), 16, pin);
    call_end(&request);
}

Test(delivery, a_pin_is_right_or_loud)
{
    char pin[17], target[200], wrong[] = "0123456789abcdef";
    struct request request;
    pin_of(TABLE, pin);

    snprintf(target, sizeof target, "%s&pin=%s", TABLE, pin);
    call(&request, "GET", target, NULL);
    cr_expect_eq(request.response.status, 200);
    cr_expect_str_eq(call_field(&request, "Cache-Control"), "public, max-age=31536000, immutable");
    cr_expect_null(strstr(call_body(&request), pin));
    cr_expect_null(strstr(call_field(&request, "Link"), "pin="));
    call_end(&request);

    snprintf(target, sizeof target, "%s&pin=%s", TABLE, wrong);
    call(&request, "GET", target, NULL);
    cr_expect_eq(request.response.status, 409);
    cr_expect_str_eq(call_field(&request, "Cache-Control"), "no-store");
    json_t *problem = call_json(&request);
    const struct {
        const char *key, *value;
    } members[] = {{"type", "/problems/pin-mismatch"},
                   {"expected", wrong},
                   {"actual", pin},
                   {"semantics", "1.0.0"},
                   {"changes", "/v1/changes"}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const char *value = json_string_value(json_object_get(problem, members[i].key));
        cr_expect(value && strcmp(value, members[i].value) == 0, "%s: %s", members[i].key,
                  value ? value : "none");
    }
    json_decref(problem);
    call_end(&request);
}

/* A tag says nothing of a pin: it is looked at even when the client has the answer. */
static void check_pins_under_conditions(void)
{
    char pin[17], target[200];
    struct request request;
    pin_of(TABLE, pin);
    call_with.if_none_match = "*";
    snprintf(target, sizeof target, "%s&pin=%s", TABLE, pin);
    call(&request, "GET", target, NULL);
    cr_expect_eq(request.response.status, 304);
    cr_expect_eq(request.response.body.len, 0);
    cr_expect_str_eq(call_field(&request, "Cache-Control"), "public, max-age=31536000, immutable");
    call_end(&request);
    call(&request, "GET", TABLE "&pin=0123456789abcdef", NULL);
    cr_expect_eq(request.response.status, 409);
    call_end(&request);
}

Test(delivery, a_condition_does_not_hide_a_wrong_pin)
{
    check_pins_under_conditions();
}

Test(delivery, a_condition_does_not_hide_a_wrong_pin_without_a_cache)
{
    call_with.no_cache = true;
    check_pins_under_conditions();
}

Test(delivery, semantics)
{
    static const struct {
        const char *version;
        int status;
    } rows[] = {{"1", 200},   {"1.0", 200},   {"1.0.0", 200}, {"2", 409},  {"1.1", 409},
                {"0", 409},   {"1.0.1", 409}, {"10", 409},    {"01", 409}, {"1.0.0.0", 400},
                {"one", 400}, {"", 400},      {"1.", 400}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char target[120];
        struct request request;
        snprintf(target, sizeof target, "/v1/spec?kind=rope&semantics=%s", rows[i].version);
        call(&request, "GET", target, NULL);
        cr_expect_eq(request.response.status, rows[i].status, "%s: %d", rows[i].version,
                     request.response.status);
        if (rows[i].status == 409)
            cr_expect_eq(request.err.item[0].code, ERR_semantics_mismatch);
        call_end(&request);
    }
}

/* ---- Links --------------------------------------------------------------------------------- */

Test(delivery, links)
{
    struct request request;
    call(&request, "GET", "/v1/table.csv?positions=0,1,2&kind=rope&dim=8", NULL);
    const char *link = call_field(&request, "Link");
    static const char *const parts[] = {
        "</openapi.json>; rel=\"service-desc\"",
        "</v1/encodings/rope>; rel=\"describedby\"",
        "</v1/table?kind=rope&dim=8&positions=0:3>; rel=\"canonical\"",
        "</v1/table.json?kind=rope&dim=8&positions=0:3>; rel=\"alternate\"; "
        "type=\"application/json\"",
        "</v1/table.txt?kind=rope&dim=8&positions=0:3>; rel=\"alternate\"; "
        "type=\"text/plain; charset=utf-8\"",
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        cr_expect(strstr(link, parts[i]), "%s lacks %s", link, parts[i]);
    cr_expect_null(strstr(link, "table.csv"), "%s", link);
    call_end(&request);
}

Test(delivery, long_requests_have_few_links)
{
    struct buf target;
    struct request request;
    buf_init(&target, 8000);
    buf_puts(&target, "/v1/table?kind=none&dim=1&positions=0,2");
    while (target.len < 7000)
        buf_printf(&target, ",%zu", target.len * target.len);
    buf_putc(&target, '\0');
    call(&request, "GET", target.data, NULL);
    cr_expect_eq(request.response.status, 200);
    cr_expect_str_eq(call_field(&request, "Link"),
                     "</openapi.json>; rel=\"service-desc\", </v1/encodings/none>; "
                     "rel=\"describedby\"");
    call_end(&request);
    buf_release(&target);
}
