// SPDX-License-Identifier: Apache-2.0
/* test_answers.c: what is made once and sent again, and what is not kept. */
#include "answers.h"

#include "call.h"
#include "metrics.h"

#define TABLE "/v1/table?kind=rope&dim=8&positions=0:3"
#define APPLY "{\"spec\":\"rope:dim=4\",\"x\":[[1,2,3,4]]}"

Test(delivery, an_answer_is_made_once)
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

Test(delivery, head_knows_what_is_kept)
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

Test(delivery, fields_of_the_answer_are_kept_with_it)
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

Test(delivery, a_post_is_not_kept)
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
