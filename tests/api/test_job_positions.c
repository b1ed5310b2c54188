// SPDX-License-Identifier: Apache-2.0
/*
 * Where tokens stand, in all the ways to say it: the positions that an answer was made for
 * (with=positions), its shape, what it echoes, and the mistakes. Expected values are written out by
 * hand from the rules.
 */
#include "call.h"

static json_t *answer_to(const char *target, const char *body)
{
    struct request request;
    call(&request, body ? "POST" : "GET", target, body);
    json_t *json = call_json(&request);
    cr_assert_eq(request.response.status, 200, "%s %s: %s", target, body ? body : "",
                 call_body(&request));
    call_end(&request);
    return json;
}

static char *text_of(const json_t *json, const char *a, const char *b, const char *c)
{
    json = json_object_get(json, a);
    json = b ? json_object_get(json, b) : json;
    json = c ? json_object_get(json, c) : json;
    return json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
}

static void expect_member(const json_t *answer, const char *a, const char *b, const char *c,
                          const char *wanted, const char *what)
{
    char *text = text_of(answer, a, b, c);
    cr_expect_str_eq(text ? text : "nothing", wanted, "%s: %s/%s/%s", what, a, b, c ? c : "");
    free(text);
}

Test(job_positions, of_a_query)
{
    static const struct {
        const char *query, *positions;
    } cases[] = {
        {"kind=rope&dim=2&positions=0,3;1,2", "[[0,3],[1,2]]"},
        {"kind=rope2d&dim=4&positions=0,3;1,2", "[[0,3],[1,2]]"},
        {"kind=rope&dim=2&attention_mask=0,1,1&style=gpt2", "[0,0,1]"},
        {"kind=rope&dim=2&mask=0,1,1;1,1,1&style=gpt2", "[[0,0,1],[0,1,2]]"},
        {"kind=rope&dim=2&ids=7,8,1&style=roberta", "[2,3,1]"},
        {"kind=rope&dim=2&ids=7,8,0&style=gpt2&padding_idx=0", "[0,1,0]"},
        {"kind=rope&dim=2&input_ids=0:3&style=fairseq&padding_idx=0", "[0,1,2]"},
        {"kind=rope&dim=2&attention_mask=0,1,1&style=bart", "[2,3,4]"},
        {"kind=rope2d&dim=4&attention_mask=0,1,1&style=gpt2", "[[0,0,1],[0,0,1]]"},
        {"kind=rope2d&dim=4&grid=2x3", "[[0,0,0,1,1,1],[0,1,2,0,1,2]]"},
        {"kind=rope2d&dim=4&grid=02x3&grid_order=column", "[[0,1,0,1,0,1],[0,0,1,1,2,2]]"},
        {"kind=rope2d&dim=4&grid=2x4&grid_order=merge", "[[0,0,1,1,0,0,1,1],[0,1,0,1,2,3,2,3]]"},
        {"kind=rope2d&dim=4&grid=1x2&coord_offset=0.5", "[[0.5,0.5],[0.5,1.5]]"},
        {"kind=rope2d&dim=4&grid=1x3&coords=linspace", "[[-1,-1,-1],[-1,0,1]]"},
        {"kind=rope2d&dim=4&grid=1x2&coords=center", "[[0,0],[-0.5,0.5]]"},
        {"kind=rope2d&dim=4&grid=1x2&coords=center&coord_norm=max", "[[-0.5,-0.5],[-0.5,0.5]]"},
        {"kind=rope2d&dim=4&grid=1x4&coords=scaled&ref=3,2", "[[0,0,0,0],[0,0.5,1,1.5]]"},
        {"kind=rope2d&dim=4&grid=1x2&coords=crop&start=7,1&stop=8,2", "[[7,7],[1,1.5]]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char target[256];
        snprintf(target, sizeof target, "/v1/rotation?%s&with=positions", cases[i].query);
        json_t *answer = answer_to(target, NULL);
        expect_member(answer, "tensors", "positions", "data", cases[i].positions, target);
        json_decref(answer);
    }
}

/* A chunk of 10, 2 of them local: tokens count to 8. */
Test(job_positions, in_chunks)
{
    static const struct {
        const char *variant, *positions;
    } cases[] = {
        {"key", "[0,1,2,3,4,5,6,7,0]"},
        {"query", "[0,1,2,3,4,5,6,7,0]"},
        {"successive", "[8,9,10,10,10,10,10,10,8]"},
        {"inter", "[10,10,10,10,10,10,10,10,10]"},
        {"successive_critical", "[8,9,10,11,12,13,14,15,8]"},
        {"inter_critical", "[10,11,12,13,14,15,16,17,10]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char target[256];
        snprintf(target, sizeof target,
                 "/v1/rotation?kind=rope&dim=2&positions=16:25&with=positions&style=dual_chunk&"
                 "chunk_size=10&local_size=2&variant=%s",
                 cases[i].variant);
        json_t *answer = answer_to(target, NULL);
        expect_member(answer, "tensors", "positions", "data", cases[i].positions, target);
        expect_member(answer, "params", "positions", NULL, "\"16:25\"", target);
        json_decref(answer);
    }
}

/* Tokens that are counted, batch rows, and a token that stands nowhere: turned by 2 and 3 radians
 * as by positions that say so. */
Test(job_positions, in_chunks_turn_vectors)
{
#define CHUNKS                                                                                     \
    "\"style\":\"dual_chunk\",\"chunk_size\":3,\"local_size\":1,\"variant\":\"successive\""
    static const char *const same[][2] = {
        {CHUNKS, "\"positions\":[2,3,2]"},
        {CHUNKS ",\"positions\":[[5,4,3],[0,1,2]]", "\"positions\":[[3,2,3],[2,3,2]]"},
        {CHUNKS ",\"class_token\":\"first\"", "\"positions\":[2,3],\"class_token\":\"first\""},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char *y[2];
        for (size_t k = 0; k < 2; k++) {
            char body[256];
            snprintf(body, sizeof body,
                     "{\"spec\":\"rope:dim=2\",\"axes\":\"btd\",%s,\"x\":"
                     "[[[1,0],[1,0],[1,0]],[[0,1],[0,1],[0,1]]]}",
                     same[i][k]);
            json_t *answer = answer_to("/v1/apply", body);
            y[k] = text_of(answer, "tensors", "y", "data");
            json_decref(answer);
        }
        cr_expect_str_eq(y[0], y[1], "%s", same[i][0]);
        free(y[0]);
        free(y[1]);
    }
}

Test(job_positions, of_a_body)
{
    static const struct {
        const char *members, *positions;
    } cases[] = {
        {"\"positions\":[[4,5],[6,7]]", "[[4,5],[6,7]]"},
        {"\"positions\":\"4,5;6,7\"", "[[4,5],[6,7]]"},
        {"\"positions\":{\"dtype\":\"i64\",\"data\":[[4,5],[6,7]]}", "[[4,5],[6,7]]"},
        {"\"positions\":[[4,5]]", "[[4,5]]"},
        {"\"positions\":[4,5]", "[4,5]"},
        {"\"positions\":{\"axes\":[[4,5]]}", "[4,5]"},
        {"\"positions\":{\"axes\":[[[4,5],[6,7]]]}", "[[4,5],[6,7]]"},
        {"\"positions\":{\"axes\":[\"4:6\"]}", "[4,5]"},
        {"\"attention_mask\":[0,1],\"style\":\"opt\"", "[1,2]"},
        {"\"attention_mask\":[[0,1],[1,1]],\"style\":\"gpt2\"", "[[0,0],[0,1]]"},
        {"\"attention_mask\":[[0,1]],\"style\":\"gpt2\"", "[[0,0]]"},
        {"\"ids\":{\"dtype\":\"i64\",\"data\":[[5,9],[5,1]]},\"style\":\"roberta\"",
         "[[2,3],[2,1]]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[256];
        snprintf(body, sizeof body,
                 "{\"spec\":\"rope:dim=2\",\"axes\":\"btd\",\"with\":\"positions\",%s,\"x\":"
                 "[[[1,2],[3,4]],[[1,2],[3,4]]]}",
                 cases[i].members);
        json_t *answer = answer_to("/v1/apply", body);
        expect_member(answer, "tensors", "positions", "data", cases[i].positions, body);
        json_decref(answer);
    }
}

Test(job_positions, of_several_axes_in_a_body)
{
    static const char *const members[] = {
        "\"positions\":{\"axes\":[[[0,1],[2,3]],[[4,5],[6,7]]]}",
        "\"positions\":{\"dtype\":\"i64\",\"shape\":[2,2,2],\"data\":[0,1,2,3,4,5,6,7]}",
    };
    for (size_t i = 0; i < 2; i++) {
        char body[512];
        snprintf(body, sizeof body,
                 "{\"spec\":\"rope2d:dim=4\",\"axes\":\"btd\",\"with\":[\"positions\"],%s,\"x\":"
                 "[[[1,2,3,4],[5,6,7,8]],[[1,2,3,4],[5,6,7,8]]]}",
                 members[i]);
        json_t *answer = answer_to("/v1/apply", body);
        expect_member(answer, "tensors", "positions", "data", "[[[0,1],[2,3]],[[4,5],[6,7]]]",
                      body);
        json_decref(answer);
    }
}

/* Kinds that count pixels do so along rows and columns; with normalize they read the last counts
 * too. */
Test(job_positions, of_pixels)
{
    static const struct {
        const char *query, *positions, *echo;
    } cases[] = {
        {"grid=2x3", "[[1,1,1,2,2,2],[1,2,3,1,2,3]]", "{\"grid\":\"2x3\","},
        {"pixel_mask=1,1,0;1,0,0", "[[1,1,0,2,1,0],[1,2,2,1,1,1]]",
         "{\"pixel_mask\":\"1,1,0;1,0,0\","},
        {"grid=2x2&pixel_mask=1,1;1,0", "[[1,1,2,1],[1,2,1,1]]",
         "{\"grid\":\"2x2\",\"pixel_mask\":\"1,1;1,0\","},
        {"normalize=true&pixel_mask=1,1;1,0", "[[1,1,2,1],[1,2,1,1],[2,1,2,1],[2,2,1,1]]",
         "{\"pixel_mask\":\"1,1;1,0\","},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char target[256];
        snprintf(target, sizeof target, "/v1/table?kind=sine2d&dim=4&%s&with=positions",
                 cases[i].query);
        json_t *answer = answer_to(target, NULL);
        expect_member(answer, "tensors", "positions", "data", cases[i].positions, target);
        char *params = text_of(answer, "params", NULL, NULL);
        cr_expect_eq(strncmp(params, cases[i].echo, strlen(cases[i].echo)), 0, "%s: %s", target,
                     params);
        free(params);
        json_decref(answer);
    }
    json_t *answer =
        answer_to("/v1/apply", "{\"spec\":\"sine2d:dim=4\",\"pixel_mask\":[[1,1],[0,1]],"
                               "\"with\":\"positions\",\"x\":[[0,0,0,0],[0,0,0,0],[0,"
                               "0,0,0],[0,0,0,0]]}");
    expect_member(answer, "tensors", "positions", "data", "[[1,1,1,2],[1,2,0,1]]", "apply");
    json_decref(answer);
}

Test(job_positions, shape_the_answer)
{
    static const struct {
        const char *target, *tensor, *shape;
    } cases[] = {
        {"/v1/table?kind=sinusoidal&dim=4&attention_mask=1,1,1;1,1,1&style=opt", "table",
         "[2,3,4]"},
        {"/v1/table?kind=sinusoidal&dim=4&attention_mask=1,1,1&style=opt", "table", "[3,4]"},
        {"/v1/table?kind=rope&dim=4&positions=0:5;1:6&value=both", "sin", "[2,5,2]"},
        {"/v1/rotation?kind=rope&dim=4&positions=0:5;1:6&content=random", "after", "[2,5,2,2]"},
        {"/v1/table?kind=rope2d&dim=8&grid=2x3&class_token=last", "table", "[7,8]"},
        {"/v1/table?kind=alibi&heads=4&attention_mask=0,1,1;1,1,1&style=gpt2", "bias", "[2,4,3,3]"},
        {"/v1/table?kind=alibi&heads=4&attention_mask=0,1,1;1,1,1&style=gpt2&queries=1", "bias",
         "[2,4,1,3]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *answer = answer_to(cases[i].target, NULL);
        expect_member(answer, "tensors", cases[i].tensor, "shape", cases[i].shape, cases[i].target);
        json_decref(answer);
    }
}

/* A class token has the angle 0 whatever the shift, and zeros where a kind adds; it and a prefix
 * pass through. */
Test(job_positions, of_tokens_that_have_none)
{
    json_t *answer =
        answer_to("/v1/table?kind=rope&dim=2&positions=1&shift=1&class_token=first", NULL);
    expect_member(answer, "tensors", "table", "data",
                  "[[1,0],[-0.41614683654714241,0.90929742682568171]]", "first");
    json_decref(answer);
    answer = answer_to("/v1/table?kind=sinusoidal&dim=2&positions=0&class_token=last", NULL);
    expect_member(answer, "tensors", "table", "data", "[[0,1],[0,0]]", "last");
    json_decref(answer);
    answer = answer_to("/v1/apply", "{\"spec\":\"rope:dim=2\",\"prefix\":2,\"with\":\"cos\","
                                    "\"class_token\":\"last\",\"x\":[[1,2],[3,4],[1,0],[1,0],[5,"
                                    "6]]}");
    expect_member(answer, "tensors", "y", "data",
                  "[[1,2],[3,4],[1,0],[0.54030230586813977,0.8414709848078965],[5,6]]", "prefix");
    expect_member(answer, "tensors", "cos", "data", "[[1],[0.54030230586813977],[1]]",
                  "no rows of the prefix");
    expect_member(answer, "params", "positions", NULL, "\"0:2\"", "those that have one");
    json_decref(answer);
}

Test(job_positions, are_echoed_in_one_form)
{
    static const struct {
        const char *query, *params; /* members in their order, before `value` */
    } cases[] = {
        {"kind=rope&dim=2&positions=0,1,2,3;4,5,6,7", "\"positions\":\"0:4;4:8\""},
        {"kind=rope&dim=2&attention_mask=0,1,1&style=gpt2",
         "\"attention_mask\":[0,1,1],\"style\":\"gpt2\""},
        {"kind=rope&dim=2&attention_mask=0,1;1,1&style=opt",
         "\"attention_mask\":\"0,1;1,1\",\"padding_idx\":1,\"style\":\"opt\""},
        {"kind=rope2d&dim=4&grid=02x1",
         "\"grid\":\"2x1\",\"grid_order\":\"row\",\"coords\":\"index\",\"coord_offset\":0"},
        {"kind=rope2d&dim=4&grid=2x2&grid_order=merge&coords=center&class_token=last",
         "\"grid\":\"2x2\",\"grid_order\":\"merge\",\"merge\":2,\"coords\":\"center\",\"coord_"
         "norm\":\"separate\",\"class_token\":\"last\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char target[256], wanted[256];
        snprintf(target, sizeof target, "/v1/rotation?%s", cases[i].query);
        snprintf(wanted, sizeof wanted, "{%s,\"value\":", cases[i].params);
        json_t *answer = answer_to(target, NULL);
        char *text = text_of(answer, "params", NULL, NULL);
        cr_expect_eq(strncmp(text, wanted, strlen(wanted)), 0, "%s: %s", target, text);
        free(text);
        json_decref(answer);
    }
}

/* Spellings of the same positions are one request. */
Test(job_positions, have_one_canonical_request)
{
    static const char *const same[][2] = {
        {"kind=rope&dim=2&positions=0,1,2;3,4,5", "kind=rope&dim=2&positions=0:3;3:6"},
        {"kind=rope2d&dim=4&grid=2x2", "kind=rope2d&dim=4&grid=02x02&coords=index&grid_order=row"},
        {"kind=rope2d&dim=4&grid=2x2&class_token=none", "kind=rope2d&dim=4&grid=2x2"},
        {"kind=rope&dim=2&attention_mask=1,1,1&style=gpt2",
         "kind=rope&dim=2&mask=1,%201,1&style=bloom"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char *self[2];
        for (size_t k = 0; k < 2; k++) {
            char target[256];
            snprintf(target, sizeof target, "/v1/rotation?%s", same[i][k]);
            json_t *answer = answer_to(target, NULL);
            self[k] = text_of(answer, "links", "self", NULL);
            json_decref(answer);
        }
        cr_expect_str_eq(self[0], self[1]);
        free(self[0]);
        free(self[1]);
    }
}

struct mistake {
    const char *target, *body;
    int status;
    const char *where, *says;
};

static void expect_mistake(const struct mistake *mistake)
{
    struct request request;
    const char *what = mistake->body ? mistake->body : mistake->target;
    call(&request, mistake->body ? "POST" : "GET", mistake->target, mistake->body);
    json_t *problem = call_json(&request);
    cr_expect_eq(request.response.status, mistake->status, "%s: %s", what, call_body(&request));
    const json_t *error = json_array_get(json_object_get(problem, "errors"), 0);
    const char *where = json_string_value(json_object_get(error, "pointer"));
    if (!where)
        where = json_string_value(json_object_get(error, "parameter"));
    const char *says = json_string_value(json_object_get(error, "detail"));
    says = says ? says : json_string_value(json_object_get(problem, "detail"));
    cr_expect_str_eq(where ? where : "nowhere", mistake->where, "%s", what);
    cr_expect(says && strstr(says, mistake->says), "%s: %s", what, says);
    json_decref(problem);
    call_end(&request);
}

Test(job_positions, name_mistakes_of_a_query)
{
    static const struct mistake cases[] = {
        {"/v1/table?kind=rope&positions=1&grid=2x2", NULL, 400, "grid", "cannot be given together"},
        {"/v1/table?kind=rope&ids=1&attention_mask=1&style=opt", NULL, 400, "ids",
         "cannot be given together"},
        {"/v1/table?kind=rope&attention_mask=1", NULL, 400, "style", "style is missing"},
        {"/v1/table?kind=rope&attention_mask=1,2&style=opt", NULL, 400, "attention_mask",
         "from 0 to 1, got 2"},
        {"/v1/table?kind=rope&attention_mask=1,1;1&style=opt", NULL, 400, "attention_mask",
         "got 2 and 1"},
        {"/v1/table?kind=rope&attention_mask=1&style=gpt2&padding_idx=1", NULL, 400, "padding_idx",
         "no use"},
        {"/v1/table?kind=rope&style=gpt2", NULL, 400, "style", "neither attention_mask nor ids"},
        {"/v1/table?kind=rope&merge=2", NULL, 400, "merge", "merge is not read"},
        {"/v1/table?kind=rope&pixel_mask=1", NULL, 400, "pixel_mask", "counts no pixels"},
        {"/v1/table?kind=rope&grid=2x2", NULL, 400, "grid", "2 axes"},
        {"/v1/table?kind=sine2d&grid=2x3&pixel_mask=1,1;1,1", NULL, 422, "pixel_mask",
         "2x2, the grid 2x3"},
        {"/v1/table?kind=sine2d&pixel_mask=1,2;1,1", NULL, 400, "pixel_mask", "from 0 to 1"},
        {"/v1/table?kind=sine2d&grid=2x3&coords=center", NULL, 400, "coords", "row by row"},
        {"/v1/table?kind=sine2d&grid=2x3x4", NULL, 400, "grid", "3 axes"},
        {"/v1/table?kind=rope2d&grid=2x2x2", NULL, 400, "grid", "3 axes"},
        {"/v1/table?kind=rope2d&grid=2", NULL, 400, "grid", "got \"2\""},
        {"/v1/table?kind=rope2d&grid=3x2&grid_order=merge", NULL, 400, "merge", "2 x 2"},
        {"/v1/table?kind=rope2d&grid=2x2&coords=scaled", NULL, 400, "ref", "required"},
        {"/v1/table?kind=rope2d&grid=2x2&coords=scaled&ref=1", NULL, 400, "ref", "2 in all"},
        {"/v1/table?kind=rope2d&grid=2x2&ref=1,1", NULL, 400, "ref", "not read"},
        {"/v1/table?kind=rope2d&grid=2x2&coord_norm=max", NULL, 400, "coord_norm", "not read"},
        {"/v1/table?kind=alibi&heads=2&positions=0:3&class_token=last", NULL, 400, "class_token",
         "pairs of tokens"},
        {"/v1/table?kind=rope2d&positions=0:3", NULL, 400, "positions", "one list"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_mistake(&cases[i]);
}

#define CHUNKED "style=dual_chunk&chunk_size=8&local_size=1&variant=key"

Test(job_positions, name_mistakes_of_chunks)
{
    static const struct mistake cases[] = {
        {"/v1/table?kind=rope&style=dual_chunk&chunk_size=8&local_size=1", NULL, 400, "variant",
         "variant is missing"},
        {"/v1/table?kind=rope&style=dual_chunk&variant=key&local_size=1", NULL, 400, "chunk_size",
         "chunk_size is missing"},
        {"/v1/table?kind=rope&style=dual_chunk&variant=key&chunk_size=8&local_size=9", NULL, 400,
         "local_size", "less than chunk_size (8), got 9"},
        {"/v1/table?kind=rope&style=dual_chunk&variant=inner&chunk_size=8&local_size=1", NULL, 400,
         "variant", "must be one of key, query"},
        {"/v1/table?kind=rope&positions=-1&" CHUNKED, NULL, 400, "positions", "from 0"},
        {"/v1/table?kind=rope&positions=3,0.5&" CHUNKED, NULL, 400, "positions", "got 0.5"},
        {"/v1/table?kind=rope&attention_mask=1&" CHUNKED, NULL, 400, "style",
         "dual_chunk and attention_mask cannot be given together"},
        {"/v1/table?kind=rope2d&grid=2x2&" CHUNKED, NULL, 400, "style", "dual_chunk and grid"},
        {"/v1/table?kind=rope2d&positions=1;1&" CHUNKED, NULL, 400, "style", "on one axis"},
        {"/v1/table?kind=sinusoidal&" CHUNKED, NULL, 400, "style", "kind=sinusoidal is none"},
        {"/v1/table?kind=alibi&heads=2&" CHUNKED, NULL, 400, "style", "kind=alibi is none"},
        {"/v1/table?kind=rope&attention_mask=1&style=gpt2&variant=key", NULL, 400, "variant",
         "only style=dual_chunk"},
        {"/v1/table?kind=rope&local_size=0", NULL, 400, "local_size", "only style=dual_chunk"},
        {"/v1/apply?" CHUNKED, "{\"spec\":\"alibi:heads=1\",\"scores\":[[1]]}", 400, "style",
         "no effect: scores are"},
        {"/v1/apply?" CHUNKED,
         "{\"spec\":\"rope:dim=2\",\"x\":[[1,2]],\"cos\":[[1]],\"sin\":[[0]]}", 400, "style",
         "its own row of cos and sin"},
        {"/v1/apply",
         "{\"spec\":\"rope:dim=2\",\"x\":[[1,2]],\"prefix\":1,\"cos\":[[1]],\"sin\":[[0]]}", 400,
         "/prefix", "its own row of cos and sin"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_mistake(&cases[i]);
}

Test(job_positions, name_mistakes_of_a_body)
{
    static const struct mistake cases[] = {
        {"/v1/apply", "{\"spec\":\"rope:dim=2\",\"x\":[[1,2]],\"ids\":[[1,2.5]],\"style\":\"opt\"}",
         400, "/ids/0/1", "whole numbers"},
        {"/v1/apply",
         "{\"spec\":\"rope:dim=2\",\"x\":[[1,2]],\"attention_mask\":[1,7],\"style\":\"opt\"}", 400,
         "/attention_mask/1", "got 7"},
        {"/v1/apply", "{\"spec\":\"rope:dim=2\",\"x\":[[1,2]],\"prefix\":2}", 422, "/prefix",
         "the tensor has 1"},
        {"/v1/apply",
         "{\"spec\":\"rope:dim=2\",\"x\":[[1,2]],\"attention_mask\":[[1],[1]],\"style\":\"gpt2\"}",
         422, "/attention_mask", "2 batch rows"},
        {"/v1/apply", "{\"spec\":\"rope2d:dim=4\",\"x\":[[1,2,3,4]],\"positions\":[[1],[1]]}", 400,
         "/positions", "one list is wanted for each"},
        {"/v1/apply",
         "{\"spec\":\"rope2d:dim=4\",\"x\":[[1,2,3,4]],\"positions\":{\"axes\":[[1]]}}", 400,
         "/positions/axes", "2 lists"},
        {"/v1/apply",
         "{\"spec\":\"alibi:heads=1\",\"scores\":[[1]],\"attention_mask\":[1],\"style\":\"opt\"}",
         400, "/attention_mask", "no effect"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_mistake(&cases[i]);
}
