// SPDX-License-Identifier: Apache-2.0
/*
 * test_fixtures.c: the digests of all fixtures are those that stand in the repository, the list
 * says what is in them, and one of them is answered as the GET it stands for.
 */
#include "assets.h"
#include "call.h"
#include "changes.h"
#include "fixtures.h"
#include "sha256.h"

TestSuite(fixtures, .timeout = 120);

#define PINNED "/v1/fixtures/rope-half-d64.csv"

/* ---- Digests ------------------------------------------------------------------------------- */

static const char remedy[] = "bytes of fixtures have changed: that takes a new semantics version. "
                             "Was it meant? Then `make fixtures`, a row in changes.def that names "
                             "them, and API_SEMANTICS_VERSION";

static bool compare_digest(void *context, const char *name, const char *data, size_t len)
{
    char digest[DIGEST_CHARS + 1];
    size_t *n = context;

    if (strcmp(name, FIXTURE_SUMS) == 0) {
        cr_expect(len == strlen(asset_fixtures_sha256) &&
                      memcmp(data, asset_fixtures_sha256, len) == 0,
                  "proto/fixtures.sha256 has other lines than there are files; %s", remedy);
        return true;
    }
    sha256_hex(data, len, DIGEST_CHARS, digest);
    const char *published = fixture_digest(name);
    cr_expect(published && memcmp(published, digest, DIGEST_CHARS) == 0, "%s: %s", name, remedy);
    ++*n;
    return true;
}

Test(fixtures, have_the_digests_that_were_published)
{
    const struct local_limits limits = {.arena_max = CALL_ARENA_MAX,
                                        .deadline_ns = clock_ns() + CALL_NS_MAX};
    struct err err = {0};
    size_t n = 0;

    call_setup();
    cr_assert(fixture_files(call_app, &limits, &err, compare_digest, &n), "%s", err.item[0].detail);
    cr_expect_eq(n, fixtures_n * FIXTURE_FORMATS_N);
    cr_expect_null(fixture_digest("rope-half-d64"));
    cr_expect_null(fixture_digest("rope-half-d64.cs"));
    cr_expect_null(fixture_digest("d64.csv"));
}

/* Digests that were written anew stand beside a new version, or the newest row is not theirs. */
Test(fixtures, change_with_the_semantics_only)
{
    char digest[DIGEST_CHARS + 1];

    sha256_hex(asset_fixtures_sha256, strlen(asset_fixtures_sha256), DIGEST_CHARS, digest);
    cr_expect_str_eq(changes[0].fixtures_sha256, digest, "the newest row of changes.def: %s",
                     remedy);
}

static bool stop_at_second(void *context, const char *name, const char *data, size_t len)
{
    size_t *n = context;
    (void)name, (void)data, (void)len;
    return ++*n < 2;
}

Test(fixtures, end_when_one_is_not_taken_or_cannot_be_made)
{
    struct local_limits limits = {.arena_max = CALL_ARENA_MAX,
                                  .deadline_ns = clock_ns() + CALL_NS_MAX};
    struct err err = {0};
    size_t n = 0;

    call_setup();
    cr_expect_not(fixture_files(call_app, &limits, &err, stop_at_second, &n));
    cr_expect_eq(n, 2);
    cr_expect_eq(err.n, 0);
    limits.arena_max = 4096;
    cr_expect_not(fixture_files(call_app, &limits, &err, stop_at_second, &n));
    cr_expect_gt(err.n, 0);
}

/* ---- The rows and the list ----------------------------------------------------------------- */

Test(fixtures, rows_are_in_the_order_of_their_files)
{
    char last[100] = "", name[100];

    for (size_t i = 0; i < fixtures_n; i++) {
        snprintf(name, sizeof name, "%s.", fixtures[i].name);
        cr_expect_lt(strcmp(last, name), 0, "%s, %s", last, name);
        memcpy(last, name, sizeof last);
        bool known = false;
        for (size_t c = 0; c < changes_n; c++)
            known |= strcmp(changes[c].version, fixtures[i].since) == 0;
        cr_expect(known, "%s: no version %s in changes.def", name, fixtures[i].since);
    }
}

/* What the list says of tensors is what the fixture has. */
static void expect_tensors(const char *name, json_t *listed, const json_t *tensors)
{
    const char *tensor;
    json_t *facts;

    cr_expect_eq(json_object_size(listed), json_object_size(tensors), "%s", name);
    json_object_foreach(listed, tensor, facts)
    {
        const json_t *there = json_object_get(tensors, tensor);
        cr_assert(there, "%s has no %s", name, tensor);
        cr_expect(json_equal(json_object_get(facts, "dtype"), json_object_get(there, "dtype")));
        cr_expect(json_equal(json_object_get(facts, "shape"), json_object_get(there, "shape")));
    }
}

Test(fixtures, list_says_what_each_holds)
{
    json_t *list = call_ask("/v1/fixtures", NULL, 200), *row;
    const json_t *rows = json_object_get(list, "fixtures");
    size_t i;

    cr_expect_eq(json_array_size(rows), fixtures_n);
    json_array_foreach(rows, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        char target[160];
        snprintf(target, sizeof target, "/v1/fixtures/%s.json", name);
        json_t *fixture = call_ask(target, NULL, 200);
        json_t *named = call_ask(json_string_value(json_object_get(row, "get")), NULL, 200);
        cr_expect(json_equal(fixture, named), "%s is not its GET", name);
        cr_expect(json_equal(json_object_get(fixture, "spec_id"), json_object_get(row, "spec_id")),
                  "%s", name);
        expect_tensors(name, json_object_get(row, "tensors"), json_object_get(fixture, "tensors"));
        cr_expect_eq(json_object_size(json_object_get(row, "sha256")), FIXTURE_FORMATS_N);
        json_decref(fixture);
        json_decref(named);
    }
    json_decref(list);
}

/* The first fixtures that were promised, each in f32 if it has a dtype at all. */
Test(fixtures, first_set_is_there)
{
    static const char *const names[] = {"sinusoidal-d64",
                                        "sinusoidal-endpoint-d64",
                                        "rope-half-d64",
                                        "rope-interleaved-d64",
                                        "rope-partial-d64-r32",
                                        "rope-linear",
                                        "rope2d-14x14",
                                        "alibi-h8",
                                        "alibi-h12",
                                        "t5-b32",
                                        "learned-d64",
                                        "scores-default"};

    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        const struct fixture *found = NULL;
        for (size_t i = 0; i < fixtures_n; i++)
            if (strcmp(fixtures[i].name, names[n]) == 0)
                found = &fixtures[i];
        cr_assert(found, "%s", names[n]);
        cr_expect(strstr(found->target, "dtype=f32") || strstr(found->target, "/v1/scores"));
    }
}

/* A list does not get shorter because this daemon could not compute all of it. */
Test(fixtures, list_does_not_depend_on_limits)
{
    struct app_options options = {.elements_max = 1, .text_elements_max = 1};
    struct app *app = app_new(&options);

    call_setup();
    cr_assert(app);
    cr_expect(app->fixtures->len == call_app->fixtures->len &&
              memcmp(app->fixtures->data, call_app->fixtures->data, app->fixtures->len) == 0);
    app_free(app);
}

Test(fixtures, text_list_fits_a_terminal)
{
    struct request request;

    call(&request, "GET", "/v1/fixtures.txt", NULL);
    const char *body = call_body(&request);
    for (size_t i = 0; i < fixtures_n; i++)
        cr_expect_not_null(strstr(body, fixtures[i].name), "%s", fixtures[i].name);
    for (const char *line = body; *line; line += strcspn(line, "\n") + 1)
        cr_expect_leq(strcspn(line, "\n"), 80, "%.*s", (int)strcspn(line, "\n"), line);
    call_end(&request);
}

/* ---- One ----------------------------------------------------------------------------------- */

static const struct {
    int status;
    const char *target, *says;
} rows[] = {
    {200, PINNED, NULL},
    {200, "/v1/fixtures/rope-half-d64?format=csv", NULL},
    {200, "/v1/fixtures/rope-half-d64.npy", NULL},
    {200, "/v1/fixtures/rope-half-d64.txt?semantics=" API_SEMANTICS_VERSION, NULL},
    {400, PINNED "?dtype=f16",
     "\\\"dtype\\\" is not a parameter of GET /v1/fixtures/rope-half-d64"},
    {400, PINNED "?positions=0:3&kind=rope", "are not parameters"},
    {400, PINNED "?format=json", "conflicting-parameters"},
    {404, "/v1/fixtures/rope-haf-d64.csv", "did you mean \\\"/v1/fixtures/rope-half-d64\\\"?"},
    {404, "/v1/fixtures/x", "GET /v1/fixtures lists all fixtures"},
    {406, "/v1/fixtures/rope-half-d64.svg", "not-acceptable"},
    {406, "/v1/fixtures/rope-half-d64-bf16.npy", "safetensors"},
    {409, PINNED "?semantics=2", "semantics-mismatch"},
    {409, PINNED "?pin=0123456789abcdef", "\"instance\":\"" PINNED},
};

Test(fixtures, one_is_its_get_with_a_name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call(&request, "GET", rows[i].target, NULL);
        const char *body = call_body(&request);
        cr_expect_eq(request.response.status, rows[i].status, "%s: %d %s", rows[i].target,
                     request.response.status, body);
        if (rows[i].says)
            cr_expect_not_null(strstr(body, rows[i].says), "%s: %s", rows[i].target, body);
        call_end(&request);
    }
}

/* Caches and tests take both for the same thing, and the published digest is the one to pin. */
Test(fixtures, one_has_the_tag_and_the_pin_of_its_get)
{
    char target[200];
    struct request named, request;
    const char *digest = fixture_digest("rope-half-d64.csv");

    call(&request, "GET", PINNED, NULL);
    call(&named, "GET",
         "/v1/apply.csv?kind=rope&dim=64&layout=half&positions=0:32&shape=2,32,64&axes=htd"
         "&dtype=f32",
         NULL);
    cr_expect_str_eq(call_field(&request, "ETag"), call_field(&named, "ETag"));
    cr_expect_str_eq(call_field(&request, "Repr-Digest"), call_field(&named, "Repr-Digest"));
    cr_expect_str_eq(call_field(&request, "Cache-Control"), call_field(&named, "Cache-Control"));
    cr_expect_str_eq(call_body(&request), call_body(&named));
    call_with.if_none_match = call_field(&named, "ETag");
    struct request again;
    call(&again, "GET", PINNED, NULL);
    call_with.if_none_match = NULL;
    cr_expect_eq(again.response.status, 304);
    call_end(&again);
    call_end(&request);
    call_end(&named);

    cr_assert(digest);
    snprintf(target, sizeof target, PINNED "?pin=%.16s", digest);
    call(&request, "GET", target, NULL);
    cr_expect_eq(request.response.status, 200, "%s", call_body(&request));
    cr_expect_not_null(strstr(call_field(&request, "Cache-Control"), "immutable"));
    call_end(&request);
}
