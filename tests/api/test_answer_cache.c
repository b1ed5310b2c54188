// SPDX-License-Identifier: Apache-2.0
/* test_answer_cache.c: what is made once and sent again, and what is not kept. */
#include "answer_cache.h"

#include "call.h"
#include "delivery.h"
#include "metrics.h"

#define TABLE "/v1/table?kind=rope&dim=8&positions=0:3"
#define APPLY "{\"spec\":\"rope:dim=4\",\"x\":[[1,2,3,4]]}"

Test(answer_cache, an_answer_is_made_once)
{
    static const char *const targets[] = {TABLE, "/v1/table?spec=rope:dim=8&positions=0,1,2",
                                          TABLE "&semantics=1.0.0"};
    int64_t computed = metric_get(METRIC_computations), hits = metric_get(METRIC_answer_hits);
    char *first = NULL;

    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        struct request request;
        call(&request, "GET", targets[i], NULL);
        if (!first)
            first = strdup(call_body(&request));
        cr_expect_str_eq(call_body(&request), first);
        cr_expect_str_eq(request.response.content_type, "application/json");
        cr_expect(call_field(&request, "Repr-Digest"));
        cr_expect(call_field(&request, "Posenc-Spec-Id"));
        call_end(&request);
    }
    cr_expect_eq(metric_get(METRIC_computations) - computed, 1);
    cr_expect_eq(metric_get(METRIC_answer_hits) - hits, 2);
    cr_expect_gt(metric_get(METRIC_answer_bytes), (int64_t)strlen(first));
    free(first);
}

Test(answer_cache, head_knows_what_is_kept)
{
    struct request request;
    call(&request, "HEAD", TABLE, NULL);
    cr_expect_null(call_field(&request, "Repr-Digest"));
    cr_assert(request.response.stream);
    cr_expect_eq(request.response.stream->len, STREAM_LEN_UNKNOWN);
    call_end(&request);
    call(&request, "GET", TABLE, NULL);
    size_t len = strlen(call_body(&request));
    call_end(&request);
    call(&request, "HEAD", TABLE, NULL);
    cr_expect(call_field(&request, "Repr-Digest"));
    cr_expect_null(request.response.stream);
    cr_assert(request.response.blob);
    cr_expect_eq(request.response.blob->len, len);
    call_end(&request);
    call(&request, "HEAD", TABLE "&pin=0123456789abcdef", NULL);
    cr_expect_eq(request.response.status, 409);
    call_end(&request);
}

Test(answer_cache, fields_of_the_answer_are_kept_with_it)
{
    for (int i = 0; i < 2; i++) {
        struct request request;
        call(&request, "GET", "/v1/table.bin?kind=rope&dim=8&positions=0:3&dtype=f32", NULL);
        cr_expect_eq(request.response.blob->len, 3 * 8 * 4);
        cr_expect_str_eq(call_field(&request, "Tensor"), "dtype=f32; shape=\"3,8\"");
        call_end(&request);
    }
    cr_expect_eq(metric_get(METRIC_answer_hits), 1);
}

Test(answer_cache, a_post_is_not_kept)
{
    for (int i = 0; i < 2; i++) {
        struct request request;
        call(&request, "POST", "/v1/apply", APPLY);
        cr_expect_eq(request.response.status, 200);
        call_end(&request);
    }
    cr_expect_eq(metric_get(METRIC_computations), 2);
    cr_expect_eq(metric_get(METRIC_answer_bytes), 0);
    cr_expect_eq(metric_get(METRIC_answer_misses), 0);
}

/* What is asked for with the same words comes with the same fields. */
Test(answer_cache, the_same_words_get_the_same_fields)
{
    static const char *const targets[] = {TABLE, TABLE "&format=csv",
                                          "/v1/table.bin?kind=rope&dim=8&positions=0:3"};
    static const char *const names[] = {"Cache-Control", "ETag",           "Link",
                                        "Vary",          "Posenc-Spec-Id", "Posenc-Semantics",
                                        "Repr-Digest",   "Tensor"};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        struct request first, second;
        call(&first, "GET", targets[i], NULL);
        call(&second, "GET", targets[i], NULL);
        cr_expect_not(first.response.complete);
        cr_expect(second.response.complete);
        cr_expect_eq(second.response.blob, first.response.blob);
        cr_expect_str_eq(second.response.content_type, first.response.content_type);
        cr_expect_eq(second.response.headers_n, first.response.headers_n);
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            const char *a = call_field(&first, names[k]), *b = call_field(&second, names[k]);
            cr_expect((a && b && strcmp(a, b) == 0) || a == b, "%s: %s", targets[i], names[k]);
        }
        cr_expect(call_field(&second, "Server-Timing"));
        call_end(&first);
        call_end(&second);
    }
}

Test(answer_cache, other_words_are_read)
{
    struct request request;
    call(&request, "GET", TABLE, NULL);
    call_end(&request);
    call_with.accept = "text/csv";
    call(&request, "GET", TABLE, NULL);
    cr_expect_str_eq(request.response.content_type, "text/csv; header=present");
    call_end(&request);
    call_with.accept = NULL;
    call_with.accept_encoding = "gzip, identity;q=0";
    call(&request, "GET", TABLE, NULL);
    cr_expect_str_eq(call_field(&request, "Content-Encoding"), "gzip");
    call_end(&request);
    call_with.accept_encoding = NULL;
    call_with.if_none_match = "*";
    call(&request, "GET", TABLE, NULL);
    cr_expect_eq(request.response.status, 304);
    call_end(&request);
    call_with.if_none_match = NULL;
    call(&request, "HEAD", TABLE, NULL);
    cr_expect_not(request.response.complete);
    call_end(&request);
    call(&request, "GET", TABLE "&pin=0123456789abcdef", NULL);
    cr_expect_eq(request.response.status, 409);
    call_end(&request);
}

/* ---- The budget ---------------------------------------------------------------------------- */

#define BUDGET ((size_t)80000)

/* Files an answer of `len` bytes under a tag of the number. */
static void keep(struct answer_cache *answers, int number, size_t len)
{
    struct request request = {.method = METHOD_GET};
    struct delivery delivery = {.digested = true};
    arena_init(&request.arena, 4096);
    buf_init(&request.response.body, len);
    for (size_t i = 0; i < len; i++)
        buf_putc(&request.response.body, 'x');
    snprintf(delivery.etag, sizeof delivery.etag, "\"1-%016d\"", number);
    answer_cache_keep(answers, &request, &delivery);
    buf_release(&request.response.body);
    blob_unref(request.response.blob);
    arena_release(&request.arena);
}

static bool has(struct answer_cache *answers, int number)
{
    struct request request = {.method = METHOD_GET};
    struct delivery delivery = {0};
    arena_init(&request.arena, 4096);
    buf_init(&request.response.body, 0);
    snprintf(delivery.etag, sizeof delivery.etag, "\"1-%016d\"", number);
    bool found = answer_cache_find(answers, &request, &delivery);
    cr_expect_eq(found, delivery.digested);
    blob_unref(request.response.blob);
    arena_release(&request.arena);
    return found;
}

Test(answer_cache, the_longest_unused_leaves_first)
{
    struct answer_cache *answers = answer_cache_new(BUDGET);
    for (int i = 0; i < 8; i++)
        keep(answers, i, 9000);
    cr_expect(has(answers, 0)); /* used again */
    keep(answers, 8, 9000);
    cr_expect(has(answers, 0));
    cr_expect_not(has(answers, 1));
    cr_expect(has(answers, 8));
    cr_expect_leq(metric_get(METRIC_answer_bytes), (int64_t)BUDGET);
    cr_expect_geq(metric_get(METRIC_answer_bytes), 8 * 9000);
    answer_cache_free(answers);
}

Test(answer_cache, one_takes_an_eighth_at_most)
{
    struct answer_cache *answers = answer_cache_new(BUDGET);
    keep(answers, 1, BUDGET / 8);
    keep(answers, 2, BUDGET / 8 + 1);
    keep(answers, 3, 0);
    cr_expect(has(answers, 1));
    cr_expect_not(has(answers, 2));
    cr_expect_not(has(answers, 3));
    answer_cache_free(answers);
}

Test(answer_cache, nothing_is_kept_without_a_budget)
{
    struct answer_cache *answers = answer_cache_new(0);
    keep(answers, 1, 1);
    cr_expect_not(has(answers, 1));
    cr_expect_eq(metric_get(METRIC_answer_misses), 0);
    answer_cache_free(answers);
}
