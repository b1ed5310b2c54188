// SPDX-License-Identifier: Apache-2.0
/*
 * test_identify_scores.c: POST /v1/identify of score matrices. Biases are those of the definitions:
 * slopes of ALiBi are powers of two, and T5's table is one number for each bucket.
 */
#include <math.h>

#include "call.h"

#define PATH   "/v1/identify"
#define HEADS  8
#define TOKENS 9
#define MASKED (-1e30)

/* Slopes 2^-1 to 2^-8 (Press et al.) times the distance. */
static double slope_bias(size_t head, size_t query, size_t key)
{
    double distance = fabs((double)query - (double)key);
    return -ldexp(distance, -(int)head - 1);
}

/* Scores before a bias, of few bits. */
static double score(size_t head, size_t query, size_t key)
{
    return (double)((head * 7 + query * 5 + key * 3) % 16) / 8 - 1;
}

enum with { BIAS, SCORES, SCORES_AND_BIAS, MASKED_SCORES_AND_BIAS };

static json_t *matrices(size_t heads, enum with with)
{
    json_t *all = json_array();
    for (size_t head = 0; head < heads; head++) {
        json_t *rows = json_array();
        for (size_t query = 0; query < TOKENS; query++) {
            json_t *row = json_array();
            for (size_t key = 0; key < TOKENS; key++) {
                double number = with == BIAS ? 0 : score(head, query, key);
                number += with == SCORES ? 0 : slope_bias(head, query, key);
                if (with == MASKED_SCORES_AND_BIAS && key > query)
                    number = MASKED;
                json_array_append_new(row, json_real(number));
            }
            json_array_append_new(rows, row);
        }
        json_array_append_new(all, rows);
    }
    return json_pack("{s:s,s:o}", "dtype", "f64", "data", all);
}

static json_t *answer_of(json_t *body)
{
    char *text = json_dumps(body, JSON_REAL_PRECISION(17));
    json_t *answer = call_ask(PATH, text, 200);
    free(text);
    return answer;
}

/* The same in sentences; free it. */
static char *sentences_of(const json_t *body)
{
    char *text = json_dumps(body, JSON_REAL_PRECISION(17));
    char *says = call_sentences(PATH ".txt", text);
    free(text);
    return says;
}

/* What is asked, and parts of what is told. */
static void expect_answer(json_t *body, const char *confidence, const char *compact,
                          const char *part, const char *other_part)
{
    json_t *answer = answer_of(body);
    char *text = sentences_of(body);
    const json_t *best = json_object_get(answer, "best");
    cr_expect_str_eq(call_text(answer, "confidence"), confidence, "%s", text);
    cr_expect_str_eq(call_text(best, "compact"), compact);
    call_says(text, part);
    call_says(text, other_part);
    free(text);
    json_decref(answer);
    json_decref(body);
}

TestSuite(identify_scores, .timeout = 60);

Test(identify_scores, are_told_from_the_bias_itself_and_from_scores)
{
    expect_answer(json_pack("{s:s,s:o}", "axes", "hqk", "y", matrices(HEADS, BIAS)), "unique",
                  "alibi:heads=8",
                  "One encoding makes y of x:", "slopes of the rule for 8 heads with exponent 8");
    expect_answer(json_pack("{s:s,s:o,s:o}", "axes", "hqk", "x", matrices(HEADS, SCORES), "y",
                            matrices(HEADS, SCORES_AND_BIAS)),
                  "unique", "alibi:heads=8",
                  "One encoding makes y of x:", "It gives every number of y");
}

Test(identify_scores, may_be_masked)
{
    json_t *body = json_pack("{s:s,s:o,s:o}", "axes", "hqk", "x", matrices(HEADS, SCORES), "y",
                             matrices(HEADS, MASKED_SCORES_AND_BIAS));
    json_t *answer = answer_of(body), *scores = json_object_get(answer, "scores");
    cr_expect_str_eq(call_text(scores, "mask"), "causal");
    cr_expect_eq(json_integer_value(json_object_get(scores, "masked")), TOKENS * (TOKENS - 1) / 2);
    cr_expect_str_eq(call_text(scores, "depends_on"), "distance");
    json_t *offsets = json_object_get(scores, "offsets");
    cr_expect_eq(json_number_value(json_array_get(offsets, 0)), 1 - TOKENS);
    cr_expect_eq(json_number_value(json_array_get(offsets, 1)), 0);
    cr_expect(json_is_null(json_object_get(scores, "contradiction")));
    json_decref(answer);
    expect_answer(body, "unique", "alibi:heads=8", "Keys after their query are masked (36 pairs)",
                  "One encoding makes y of x:");
}

Test(identify_scores, without_a_bias_are_as_they_were)
{
    expect_answer(json_pack("{s:s,s:o,s:o}", "axes", "hqk", "x", matrices(2, SCORES), "y",
                            matrices(2, SCORES)),
                  "unique", "none:dim=64", "nothing was added",
                  "they may be in q and k: send these as vectors");
}

/* One head of eight: the first of many numbers of heads has the slope 1/2. */
Test(identify_scores, of_one_head_leave_the_rule_open)
{
    json_t *body = json_pack("{s:s,s:o}", "axes", "hqk", "y", matrices(1, BIAS));
    json_t *answer = answer_of(body);
    const json_t *ambiguous = json_object_get(answer, "ambiguous");
    cr_expect_str_eq(call_text(answer, "confidence"), "ambiguous");
    cr_assert_gt(json_array_size(ambiguous), 0);
    cr_expect_gt(strlen(call_text(json_array_get(ambiguous, 0), "send")), 10);
    json_decref(answer);
    json_decref(body);
}

/* A number for each distance by no rule; learned buckets are as many numbers. */
Test(identify_scores, by_no_rule_have_their_table_given_back)
{
    static const char body[] = "{\"axes\":\"qk\",\"dtype\":\"f64\",\"y\":["
                               "[0.25,3.5,-2.125],[1.75,0.25,3.5],[-4.5,1.75,0.25]]}";
    json_t *answer = call_ask(PATH, body, 200), *best = json_object_get(answer, "best");
    const json_t *table = json_object_get(best, "table");
    static const double seen[] = {0.25, 1.75, -4.5, 3.5, -2.125};
    cr_expect_str_eq(call_text(answer, "confidence"), "ambiguous");
    cr_expect_str_eq(call_text(json_object_get(best, "spec"), "kind"), "t5");
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        bool found = false;
        for (size_t row = 0; row < json_array_size(table); row++) {
            const json_t *number = json_array_get(json_array_get(table, row), 0);
            found = found || (json_is_number(number) && json_number_value(number) == seen[i]);
        }
        cr_expect(found, "%g is not in the table", seen[i]);
    }
    json_decref(answer);
}

/* The same but for one number, which no distance explains. */
Test(identify_scores, that_contradict_themselves_are_told_where)
{
    json_t *y = matrices(HEADS, BIAS);
    json_t *row = json_array_get(json_array_get(json_object_get(y, "data"), 2), 5);
    json_array_set_new(row, 3, json_real(7));
    json_t *body = json_pack("{s:s,s:o}", "axes", "hqk", "y", y);
    json_t *answer = answer_of(body);
    const json_t *scores = json_object_get(answer, "scores");
    const json_t *against = json_object_get(scores, "contradiction");
    cr_expect_str_eq(call_text(answer, "confidence"), "none");
    cr_expect_str_eq(call_text(scores, "depends_on"), "places");
    size_t head = (size_t)json_integer_value(json_object_get(against, "head"));
    size_t query = (size_t)json_number_value(json_object_get(against, "query"));
    size_t key = (size_t)json_number_value(json_object_get(against, "key"));
    bool changed = head == 2 && query == 5 && key == 3;
    cr_expect_eq(json_number_value(json_object_get(against, "bias")),
                 changed ? 7 : slope_bias(head, query, key));
    char *text = sentences_of(body);
    call_says(text, " contradicts: between the query at ");
    call_says(text, "the bias is not the same at equal distances");
    free(text);
    json_decref(answer);
    json_decref(body);
}

Test(identify_scores, are_refused_where_they_make_no_sense)
{
    static const struct call_refusal refusals[] = {
        {PATH, "{\"axes\":\"hqk\",\"y\":[[1,2]]}", 422, "/y", "y has 2 axes"},
        {PATH, "{\"axes\":\"hqk\"}", 400, "/y", "the scores with the bias, or the bias itself"},
        {PATH, "{\"axes\":\"qk\",\"y\":[[1,2]],\"heads\":2}", 400, "/heads", "has no effect"},
        {PATH, "{\"axes\":\"qk\",\"y\":[[1,2]],\"x\":[[1]]}", 422, "/y", "x has [1, 1]"},
        {PATH, "{\"axes\":\"qk\",\"y\":[[1,2]],\"k_positions\":[1,2,3]}", 422, "/k_positions",
         "3 positions for 2"},
        {PATH, "{\"axes\":\"qk\",\"y\":[[1,2]],\"grid\":\"2x2\"}", 400, "/grid", "has no effect"},
        {PATH, "{\"x\":[[1,2]],\"y\":[[1,2]],\"k_positions\":[1]}", 400, "/k_positions",
         "axes=hqk says"},
        {PATH, "{\"axes\":\"qk\",\"y\":[[1,2]],\"known\":\"rope:dim=4\"}", 400, "/known",
         "adds nothing to scores"},
        {PATH, "{\"axes\":\"qk\",\"y\":[[1,2]],\"known\":{\"kind\":\"shaw\"}}", 400, "/known",
         "made of q and k"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        call_refused(&refusals[i]);
}
