// SPDX-License-Identifier: Apache-2.0
/*
 * test_scores.c: /v1/scores: the table of defaults that the specification gives (computed
 * independently at 40 digits), the four terms, several encodings at once, posted vectors.
 */
#include <math.h>

#include "call.h"

static double number(const json_t *json, const char *path)
{
    char step[64];
    for (const char *c = path; *c; c += strcspn(c, "/") + (c[strcspn(c, "/")] == '/')) {
        snprintf(step, sizeof step, "%.*s", (int)strcspn(c, "/"), c);
        bool digit = step[0] >= '0' && step[0] <= '9';
        json = digit ? json_array_get(json, (size_t)atoll(step)) : json_object_get(json, step);
    }
    cr_assert(json_is_number(json), "%s", path);
    return json_number_value(json);
}

Test(scores, of_the_defaults_are_those_of_the_specification)
{
    static const struct {
        const char *spec;
        double range, min_offset, max_offset, spread, at_offset;
        double after[3];
    } rows[] = {
        {"rope",
         14.055542885604706,
         23,
         1,
         0,
         0,
         {7.6330500742064461, 7.6330500742064461, 7.6330500742064461}},
        {"rope:layout=half",
         9.6262102564697299,
         20,
         24,
         0,
         0,
         {7.6330500742064461, 7.6330500742064461, 7.6330500742064461}},
        {"sinusoidal",
         30.154414820848432,
         29,
         0,
         12.315565411636113,
         20,
         {9.6368724980344013, 10.249197854607502, 9.9325777096889912}},
        {"alibi:slope=0.5",
         15.5,
         31,
         0,
         0,
         0,
         {7.6330500742064461, 7.6330500742064461, 7.6330500742064461}},
        {"none", 0, 0, 0, 0, 0, {7.6330500742064461, 7.6330500742064461, 7.6330500742064461}},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char target[128];
        snprintf(target, sizeof target, "/v1/scores?spec=%s", rows[r].spec);
        json_t *answer = call_ask(target, NULL, 200);
        const json_t *readouts = json_object_get(answer, "readouts");
        cr_expect_eq(number(readouts, "range/overall"), rows[r].range, "%s", rows[r].spec);
        cr_expect_eq(number(readouts, "range/places/0/min_offset"), rows[r].min_offset, "%s",
                     rows[r].spec);
        cr_expect_eq(number(readouts, "range/places/0/max_offset"), rows[r].max_offset, "%s",
                     rows[r].spec);
        cr_expect_eq(number(readouts, "spread/max"), rows[r].spread, "%s: %.17g", rows[r].spec,
                     number(readouts, "spread/max"));
        cr_expect_eq(number(readouts, "spread/at_offset"), rows[r].at_offset, "%s", rows[r].spec);
        cr_expect_eq(json_is_true(json_object_get(readouts, "relative")), rows[r].spread == 0);
        cr_expect_eq(number(readouts, "norm_q/before"), 7.6330500742064461);
        for (size_t a = 0; a < 3; a++) {
            char path[32];
            snprintf(path, sizeof path, "norm_q/after/%zu", a);
            cr_expect_eq(number(readouts, path), rows[r].after[a], "%s %s", rows[r].spec, path);
        }
        json_decref(answer);
    }
}

Test(scores, of_the_example_come_out_to_the_last_digit)
{
    static const double scores[3][3] = {
        {30.937778852108232, 30.5753295296695, 28.059069443604276},
        {35.561957182597342, 34.626566727474656, 32.191024980312623},
        {41.111518060946671, 40.496675767563618, 37.109786011145474},
    };
    json_t *answer = call_ask("/v1/scores?kind=sinusoidal&dim=64&offsets=0:3", NULL, 200);
    for (int a = 0; a < 3; a++)
        for (int o = 0; o < 3; o++) {
            char path[64];
            snprintf(path, sizeof path, "tensors/scores/data/%d/%d", a, o);
            cr_expect_eq(number(answer, path), scores[a][o], "%s", path);
        }
    cr_expect_eq(number(answer, "readouts/range/overall"), 13.0524486173423953);
    cr_expect_eq(number(answer, "readouts/range/per_anchor/2"), 4.0017320498011977);
    cr_expect_eq(number(answer, "readouts/spread/max"), 10.173739208838439);
    cr_expect_eq(number(answer, "readouts/spread/mean"), 9.7152673380912515);
    json_decref(answer);
}

/* PE(0).PE(1) at d = 64 is the same from every anchor; the parts add up to the score. */
Test(scores, have_four_terms)
{
    json_t *answer = call_ask("/v1/scores?kind=sinusoidal&terms=1&anchors=0,17,1000", NULL, 200);
    for (int a = 0; a < 3; a++) {
        char path[64];
        snprintf(path, sizeof path, "tensors/position/data/%d/1", a);
        cr_expect_eq(number(answer, path), 30.916831661619025, "%s", path);
        for (int o = 0; o < 32; o++) {
            static const char *const names[] = {"content", "cross_q", "cross_k", "position"};
            double sum = 0, half_ulps = 0;
            for (size_t t = 0; t < 4; t++) {
                snprintf(path, sizeof path, "tensors/%s/data/%d/%d", names[t], a, o);
                double term = number(answer, path);
                sum += term;
                half_ulps += (nextafter(fabs(term), INFINITY) - fabs(term)) / 2;
            }
            snprintf(path, sizeof path, "tensors/scores/data/%d/%d", a, o);
            double score = number(answer, path);
            half_ulps += (nextafter(fabs(score), INFINITY) - fabs(score)) / 2;
            /* the sum here rounds three times itself */
            cr_expect(fabs(sum - score) <= 2 * half_ulps, "%s: %.17g, %.17g", path, sum, score);
        }
    }
    cr_expect_eq(number(answer, "readouts/term_spread/position/max"), 0);
    cr_expect_eq(number(answer, "readouts/term_spread/content/max"), 0);
    cr_expect_gt(number(answer, "readouts/term_spread/cross_q/max"), 1);
    json_decref(answer);
}

Test(scores, take_several_encodings_at_once)
{
    json_t *both = call_ask("/v1/scores?spec=rope:dim=64&spec=sinusoidal:dim=64", NULL, 200);
    json_t *one = call_ask("/v1/scores?kind=sinusoidal", NULL, 200);
    const json_t *block = json_array_get(json_object_get(both, "blocks"), 1);
    static const char *const members[] = {"spec", "spec_id", "tensors", "readouts"};
    cr_assert_eq(json_array_size(json_object_get(both, "blocks")), 2);
    for (size_t i = 0; i < 4; i++)
        cr_expect(json_equal(json_object_get(block, members[i]), json_object_get(one, members[i])),
                  "%s", members[i]);
    json_decref(both);
    json_decref(one);
}

Test(scores, take_posted_vectors)
{
    /* (1, 2).(3, 4) = 11 at offset 0; the mean of two pairs; scaled by 1/sqrt(2) and by 2 */
    static const struct {
        const char *body;
        double score;
    } rows[] = {
        {"{\"spec\":\"rope\",\"q\":[1,2],\"k\":[3,4],\"offsets\":[0]}", 11},
        {"{\"spec\":\"none\",\"q\":[[1,2],[1,0]],\"k\":[[3,4],[5,0]],\"offsets\":\"0\"}", 8},
        {"{\"spec\":\"none\",\"q\":[1,1],\"k\":[1,1],\"offsets\":0,\"scale\":\"sqrt_dim\"}",
         1.4142135623730951},
        {"{\"spec\":\"none\",\"q\":[1,2],\"k\":[3,4],\"offsets\":[0],\"scale\":2}", 22},
        {"{\"spec\":\"none\",\"q\":[1,2],\"k\":[2,4],\"offsets\":[0],\"normalize\":\"cosine\"}", 1},
        {"{\"spec\":{\"kind\":\"alibi\",\"slope\":0.5},\"q\":[1,2],\"k\":[3,4],\"offsets\":[4]}",
         9},
        {"{\"spec\":\"learned\",\"table\":[[1,0],[0,1]],\"anchors\":[1],\"offsets\":[-1],"
         "\"q\":[1,2],\"k\":[3,4]}",
         16},
        {"{\"spec\":\"none\",\"q\":{\"dtype\":\"bf16\",\"data\":[1.001,2]},\"k\":[3,4],"
         "\"offsets\":[0]}",
         11},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        json_t *answer = call_ask("/v1/scores", rows[r].body, 200);
        cr_expect_eq(number(answer, "tensors/scores/data/0/0"), rows[r].score, "%s", rows[r].body);
        json_decref(answer);
    }
}

/* Who stands at the anchor decides the sign of the distance. */
Test(scores, swap_query_and_key)
{
    json_t *query = call_ask("/v1/scores?kind=rope&offsets=-3&anchors=8", NULL, 200);
    json_t *key = call_ask("/v1/scores?kind=rope&offsets=3&anchors=8&anchor_is=key", NULL, 200);
    cr_expect_eq(number(query, "tensors/scores/data/0/0"), number(key, "tensors/scores/data/0/0"));
    json_decref(query);
    json_decref(key);
}

Test(scores, are_told_in_three_sentences)
{
    struct request request;
    call(&request, "GET", "/v1/scores.txt?kind=sinusoidal", NULL);
    const char *text = call_body(&request);
    cr_expect(strstr(text, "range 30.1544: "), "%s", text);
    cr_expect(strstr(text, "spread 12.3156 at offset 20: equal distances do not score equally, so "
                           "absolute position leaks\n"),
              "%s", text);
    cr_expect(strstr(text, "norm of q 7.63305 becomes 9.63687 to 10.2492"), "%s", text);
    call_end(&request);
}

/* ---- q and k with encodings of their own --------------------------------------------------- */

#define ONES    "\"q\":[1,1,1,1,1,1,1,1],\"k\":[1,1,1,1,1,1,1,1],\"anchors\":[31],\"offsets\":[-12]"
#define DYNAMIC "rope:layout=half,scaling=dynamic,factor=2,original_max=16,context="

/* Keys cached when the context was 20, a query at 32: neither is what a computation anew gives. */
Test(apart, is_computed_and_said)
{
    json_t *mixed =
        call_ask("/v1/scores",
                 "{" ONES ",\"specs\":{\"k\":\"" DYNAMIC "20\",\"q\":\"" DYNAMIC "32\"}}", 200);
    json_t *even =
        call_ask("/v1/scores",
                 "{" ONES ",\"specs\":{\"q\":\"" DYNAMIC "32\",\"k\":\"" DYNAMIC "32\"}}", 200);
    json_t *one = call_ask("/v1/scores", "{" ONES ",\"spec\":\"" DYNAMIC "32\"}", 200);
    cr_expect_float_eq(number(mixed, "tensors/scores/data/0/0"), 7.4527122129877235, 1e-14);
    cr_expect_float_eq(number(even, "tensors/scores/data/0/0"), 7.031112227732603, 1e-14);
    cr_expect_eq(number(one, "tensors/scores/data/0/0"), number(even, "tensors/scores/data/0/0"));
    cr_expect_eq(number(mixed, "specs/q/context"), 32);
    cr_expect_eq(number(mixed, "specs/k/context"), 20);
    cr_expect(json_array_size(json_object_get(mixed, "notes")) == 1);
    cr_expect_null(json_object_get(even, "notes"));
    json_decref(mixed);
    json_decref(even);
    json_decref(one);
}

Test(apart, needs_two_that_can_meet)
{
    static const struct {
        const char *more, *where;
    } wrong[] = {
        {"\"specs\":{\"q\":\"rope\"}", "/specs"},
        {"\"specs\":{\"q\":\"rope\",\"table\":\"rope\"}", "/specs"},
        {"\"specs\":{\"q\":\"rope\",\"k\":\"sinusoidal\"}", "/specs"},
        {"\"specs\":{\"q\":\"rope\",\"k\":\"rope:layout=half\"}", "/specs"},
        {"\"specs\":{\"q\":\"rope\",\"k\":\"rope:rotary_dim=4\"}", "/specs"},
        {"\"specs\":{\"q\":\"rope\",\"k\":\"rope\"},\"anchor_is\":\"key\"", "/anchor_is"},
        {"\"specs\":{\"q\":\"rope\",\"k\":\"rope\"},\"normalize\":\"first\"", "/normalize"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct request request;
        char body[400];
        snprintf(body, sizeof body, "{" ONES ",%s}", wrong[i].more);
        call(&request, "POST", "/v1/scores", body);
        json_t *problem = call_json(&request);
        cr_expect_eq(request.response.status, 400, "%s: %s", wrong[i].more, call_body(&request));
        const json_t *error = json_array_get(json_object_get(problem, "errors"), 0);
        cr_expect_str_eq(json_string_value(json_object_get(error, "pointer")), wrong[i].where, "%s",
                         wrong[i].more);
        json_decref(problem);
        call_end(&request);
    }
}

/* ---- What has none ------------------------------------------------------------------------ */

/* Where members of a pair are not turned by one angle the distance does not say the score. */
Test(scores, are_of_rotations)
{
    static const char *const wrong[] = {"kind=fope", "kind=rope&pair_table=tiled"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct request request;
        char target[100];
        snprintf(target, sizeof target, "/v1/scores?%s", wrong[i]);
        call(&request, "GET", target, NULL);
        cr_expect_eq(request.response.status, 400, "%s", wrong[i]);
        cr_expect(strstr(call_body(&request), "does not turn its pairs by one angle each"), "%s",
                  call_body(&request));
        call_end(&request);
    }
}
