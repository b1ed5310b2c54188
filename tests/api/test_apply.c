// SPDX-License-Identifier: Apache-2.0
/*
 * test_apply.c: /v1/apply: the contract's examples, axes, positions per batch row, q and k, score
 * matrices, posted tables, mixed cosines and sines, and the way back.
 */
#include <math.h>

#include "call.h"

static json_t *post(const char *body)
{
    struct request request;
    call(&request, "POST", "/v1/apply", body);
    json_t *json = call_json(&request);
    cr_assert_eq(request.response.status, 200, "%s: %s", body, call_body(&request));
    call_end(&request);
    return json;
}

static char *tensor_text(const json_t *answer, const char *name)
{
    return json_dumps(
        json_object_get(json_object_get(json_object_get(answer, "tensors"), name), "data"),
        JSON_COMPACT);
}

static const json_t *tensor(const json_t *answer, const char *name)
{
    const json_t *found =
        json_object_get(json_object_get(json_object_get(answer, "tensors"), name), "data");
    cr_assert(found, "%s", name);
    return found;
}

Test(apply, gives_the_bytes_of_the_contract)
{
    static const struct {
        const char *body, *part;
    } rows[] = {
        {"{\"spec\":{\"kind\":\"rope\",\"dim\":4,\"layout\":\"half\"},\"positions\":[1],"
         "\"x\":{\"dtype\":\"f32\",\"data\":[[1,2,3,4]]}}",
         "\"tensors\":{\"y\":{\"dtype\":\"f32\",\"shape\":[1,4],\"data\":[[-1.9841106,1.9599006,"
         "2.4623778,4.0197997]]}},\"readouts\":{\"norm\":{\"before\":[5.477225575051661,"
         "5.477225575051661],\"after\":["},
        {"{\"spec\":{\"kind\":\"rope\",\"dim\":4},\"positions\":[1],"
         "\"x\":{\"dtype\":\"f32\",\"data\":[[1,2,3,4]]}}",
         "\"data\":[[-1.1426396,1.9220756,2.9598505,4.0297995]]"},
        /* the query meets the vector of the distance: rows of the table for -1, 0, 1 */
        {"{\"spec\":\"shaw:max_distance=1\",\"table\":[[1,0],[0,1],[10,10]],\"q\":[[1,2],[3,4]],"
         "\"k\":[[0,0],[0,0]],\"scores\":[[0,0],[1,1]]}",
         "\"scores_out\":{\"dtype\":\"f64\",\"shape\":[2,2],\"data\":[[2,30],[4,5]]}"},
        /* gates of logits 0, 1, -1 sum up to 1.5, 1 and 0.269 from each key on; a key after the
         * query is at 0 */
        {"{\"spec\":\"cope:max_pos=4\",\"table\":[[0],[1],[10],[100]],\"q\":[[1]],"
         "\"k\":[[0],[1],[-1]],\"scores\":[[0,0,0]]}",
         "\"data\":[[5.5,1,0.2689414213699951]]"},
        {"{\"spec\":\"cope:max_pos=2\",\"table\":[[7],[1]],\"q\":[[1]],\"positions\":[1],"
         "\"k\":[[0],[1],[-1]],\"scores\":[[1,1,1]]}",
         "\"data\":[[2,3.613648528219971,8]]"},
        {"{\"spec\":\"alibi:heads=2\",\"scores\":[[[1,2],[3,4]],[[5,6],[7,8]]]}",
         "\"scores_out\":{\"dtype\":\"f64\",\"shape\":[2,2,2],\"data\":[[[1,1.9375],[2.9375,4]],"
         "[[5,5.99609375],[6.99609375,8]]]}"},
        {"{\"spec\":\"learned\",\"table\":[[0.5,1],[2,4]],\"positions\":[1,0],\"x\":[[1,1],[1,1]]}",
         "\"data\":[[3,5],[1.5,2]]"},
        {"{\"spec\":\"none\",\"x\":{\"dtype\":\"f16\",\"data\":[[1,\"NaN\",\"-Infinity\",-0.0]]}}",
         "\"data\":[[1,\"NaN\",\"-Infinity\",-0.0]]"},
        {"{\"spec\":\"integer\",\"positions\":3,\"x\":[1,2]}", "\"shape\":[2],\"data\":[4,5]"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct request request;
        call(&request, "POST", "/v1/apply", rows[r].body);
        cr_expect(strstr(call_body(&request), rows[r].part), "%s", call_body(&request));
        call_end(&request);
    }
}

/* The same numbers under any order of the axes. */
Test(apply, knows_the_axes)
{
    json_t *bhtd = post("{\"spec\":\"rope\",\"axes\":\"bhtd\",\"x\":"
                        "[[[[1,2],[3,4],[5,6]],[[7,8],[9,10],[11,12]]]]}");
    json_t *bthd = post("{\"spec\":\"rope\",\"axes\":\"bthd\",\"x\":"
                        "[[[[1,2],[7,8]],[[3,4],[9,10]],[[5,6],[11,12]]]]}");
    json_t *btd = post("{\"spec\":\"rope\",\"axes\":\"btd\",\"heads\":2,\"x\":"
                       "[[[1,2,7,8],[3,4,9,10],[5,6,11,12]]]}");
    for (size_t h = 0; h < 2; h++)
        for (size_t t = 0; t < 3; t++)
            for (size_t d = 0; d < 2; d++) {
                const json_t *a = json_array_get(tensor(bhtd, "y"), 0);
                const json_t *b = json_array_get(tensor(bthd, "y"), 0);
                const json_t *c = json_array_get(tensor(btd, "y"), 0);
                a = json_array_get(json_array_get(json_array_get(a, h), t), d);
                b = json_array_get(json_array_get(json_array_get(b, t), h), d);
                c = json_array_get(json_array_get(c, t), 2 * h + d);
                cr_expect(json_equal(a, b) && json_equal(a, c), "head %zu token %zu", h, t);
            }
    json_decref(bhtd);
    json_decref(bthd);
    json_decref(btd);
}

/* q and k with different numbers of heads side by side, as some libraries lay them out. */
Test(apply, counts_the_heads_that_share_the_last_axis)
{
    json_t *shared = post("{\"spec\":\"rope:dim=2\",\"axes\":\"td\",\"positions\":[5,6],"
                          "\"q\":[[1,2,7,8],[3,4,9,10]],\"k\":[[1,2],[3,4]]}");
    json_t *apart = post("{\"spec\":\"rope:dim=2\",\"axes\":\"htd\",\"positions\":[5,6],"
                         "\"x\":[[[1,2],[3,4]],[[7,8],[9,10]]]}");
    const json_t *heads = tensor(apart, "y"), *q = tensor(shared, "q_out");
    cr_expect(json_equal(tensor(shared, "k_out"), json_array_get(heads, 0)));
    for (size_t i = 0; i < 8; i++)
        cr_expect(json_equal(
            json_array_get(json_array_get(q, i / 4), i % 4),
            json_array_get(json_array_get(json_array_get(heads, i / 2 % 2), i / 4), i % 2)));
    json_decref(shared);
    json_decref(apart);
    struct request request; /* not where nobody says so */
    call(&request, "POST", "/v1/apply", "{\"spec\":\"rope:dim=2\",\"x\":[[1,2,7,8]]}");
    cr_expect_eq(request.response.status, 422);
    call_end(&request);
}

Test(apply, takes_positions_per_batch_row_and_for_k)
{
    json_t *rows = post("{\"spec\":\"rope\",\"axes\":\"btd\",\"positions\":[[5,6],[0,1]],"
                        "\"x\":[[[1,2],[3,4]],[[1,2],[3,4]]]}");
    json_t *first = post("{\"spec\":\"rope\",\"positions\":[5,6],\"x\":[[1,2],[3,4]]}");
    json_t *second = post("{\"spec\":\"rope\",\"x\":[[1,2],[3,4]]}");
    cr_expect(json_equal(json_array_get(tensor(rows, "y"), 0), tensor(first, "y")));
    cr_expect(json_equal(json_array_get(tensor(rows, "y"), 1), tensor(second, "y")));
    json_t *both = post("{\"spec\":\"rope\",\"positions\":[5,6],\"k_positions\":\"0:2\","
                        "\"q\":[[1,2],[3,4]],\"k\":[[1,2],[3,4]]}");
    cr_expect(json_equal(tensor(both, "q_out"), tensor(first, "y")));
    cr_expect(json_equal(tensor(both, "k_out"), tensor(second, "y")));
    json_t *specs = post("{\"specs\":{\"q\":\"rope:dim=2,shift=5\",\"k\":\"rope:dim=2\"},"
                         "\"q\":[[1,2],[3,4]],\"k\":[[1,2],[3,4]]}");
    cr_expect(json_equal(tensor(specs, "q_out"), tensor(first, "y")));
    cr_expect(json_equal(tensor(specs, "k_out"), tensor(second, "y")));
    json_t *answers[] = {rows, first, second, both, specs};
    for (size_t i = 0; i < 5; i++)
        json_decref(answers[i]);
}

/* Two axes: {"axes": [rows, columns]}, as numbers and as text. */
Test(apply, takes_positions_of_two_axes)
{
    json_t *numbers = post("{\"spec\":\"rope2d\",\"positions\":{\"axes\":[[3,0],[0,4]]},"
                           "\"x\":[[1,2,3,4],[1,2,3,4]]}");
    json_t *text = post("{\"spec\":\"rope2d\",\"positions\":{\"axes\":[\"3,0\",\"0,4\"]},"
                        "\"x\":[[1,2,3,4],[1,2,3,4]]}");
    json_t *line = post("{\"spec\":\"rope\",\"positions\":[3],\"x\":[[1,2]]}");
    cr_expect(json_equal(tensor(numbers, "y"), tensor(text, "y")));
    const json_t *first = json_array_get(tensor(numbers, "y"), 0);
    for (size_t i = 0; i < 2; i++)
        cr_expect(json_equal(json_array_get(first, i),
                             json_array_get(json_array_get(tensor(line, "y"), 0), i)));
    cr_expect_eq(json_number_value(json_array_get(first, 2)), 3, "column 0 turns nothing");
    json_decref(numbers);
    json_decref(text);
    json_decref(line);
}

Test(apply, finds_the_way_back)
{
    json_t *there = post("{\"spec\":\"rope\",\"positions\":[12345],\"x\":[[0.1,0.2,0.3,0.4]]}");
    char body[512];
    char *y = tensor_text(there, "y");
    snprintf(body, sizeof body,
             "{\"spec\":\"rope\",\"positions\":[12345],\"inverse\":true,\"x\":%s}", y);
    json_t *back = post(body);
    static const double x[] = {0.1, 0.2, 0.3, 0.4};
    for (size_t i = 0; i < 4; i++) {
        double got = json_number_value(json_array_get(json_array_get(tensor(back, "y"), 0), i));
        double larger = x[i | 1];
        cr_expect(fabs(got - x[i]) <= 2 * (nextafter(larger, 1) - larger), "%zu: %.17g", i, got);
    }
    free(y);
    json_decref(there);
    json_decref(back);
}

/* Two channels of each, all cosines of a head before its sines; the angles of k have deltas. */
Test(apply, answers_twice_as_wide_for_polar_kinds)
{
    json_t *answer = post("{\"spec\":\"pope:dim=2,deltas=-2+-0.5\",\"positions\":[2],"
                          "\"axes\":\"td\",\"q\":[[0.5,-1,-1,0.5]],\"k\":[[0.5,-1]]}");
    /* By mpmath; angles are 2 and 0.02. */
    static const double q_wanted[] = {
        -0.40535905551993226, 0.3131990372691026,  0.8857256952450913,  0.006264816076467998,
        -0.13036286027212787, 0.97388217527703064, 0.28484804638339079, 0.019480240940265032};
    static const double k_wanted[] = {0.97407698418010668, 0.27786152632993432, 0,
                                      -0.14465772379089858};
    const json_t *q = json_array_get(tensor(answer, "q_out"), 0);
    const json_t *k = json_array_get(tensor(answer, "k_out"), 0);
    cr_assert(json_array_size(q) == 8 && json_array_size(k) == 4);
    for (size_t i = 0; i < 8; i++)
        cr_expect_float_eq(json_number_value(json_array_get(q, i)), q_wanted[i], 1e-15, "q %zu", i);
    for (size_t i = 0; i < 4; i++)
        cr_expect_float_eq(json_number_value(json_array_get(k, i)), k_wanted[i], 1e-15, "k %zu", i);
    json_decref(answer);
}

/* What a kind that makes two channels of one cannot do, and how much it may cost. */
Test(apply, refuses_what_polar_kinds_have_not)
{
    static const struct {
        const char *target, *said;
    } rows[] = {
        {"/v1/apply?kind=pope&inverse=true", "there is no inverse"},
        {"/v1/apply?kind=pope&stages=apply:f32", "the stage \\\"apply\\\" has no"},
        {"/v1/apply?kind=pope&dim=2&deltas=0,-1&stages=table:f32",
         "the stage \\\"table\\\" has no"},
        {"/v1/apply?kind=pope&names=onnx", "names=onnx is for what RotaryEmbedding"},
        {"/v1/apply?kind=pope&with=passthrough", "is nothing that pope has"},
        {"/v1/apply?kind=pope&dim=2&deltas=0", "each of the 2 channels, got 1"},
        {"/v1/apply?kind=pope&deltas=-7", "deltas must be at least -6.28"},
        {"/v1/apply?kind=pope&shape=4097,64", "the limit is 2147483648"},
        {"/v1/rotation?kind=pope&content=ones", "no pairs of them"},
        {"/v1/scores?kind=pope", "vectors twice as wide"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct request request;
        call(&request, "GET", rows[r].target, NULL);
        cr_expect(request.response.status == 400 || request.response.status == 422);
        cr_expect(strstr(call_body(&request), rows[r].said), "%s", call_body(&request));
        call_end(&request);
    }
}

/* GET: seeded test vectors, the check values of the specification. */
Test(apply, seeds_test_vectors)
{
    struct request request;
    call(&request, "GET", "/v1/apply?kind=rope&dim=128&positions=0:4&shape=2,8,4,128&axes=bhtd",
         NULL);
    json_t *answer = call_json(&request);
    char *shape = json_dumps(
        json_object_get(json_object_get(json_object_get(answer, "tensors"), "y"), "shape"),
        JSON_COMPACT);
    cr_expect_str_eq(shape, "[2,8,4,128]");
    const json_t *x = tensor(answer, "x"), *y = tensor(answer, "y");
    for (int i = 0; i < 2; i++) { /* down to the first row of the first head, position 0 */
        x = json_array_get(x, 0);
        y = json_array_get(y, 0);
    }
    cr_expect(json_equal(json_array_get(x, 0), json_array_get(y, 0)), "position 0 turns nothing");
    cr_expect(!json_equal(json_array_get(x, 1), json_array_get(y, 1)));
    free(shape);
    json_decref(answer);
    call_end(&request);
}

/* The answer's dtype is the input's unless asked otherwise; then it is rounded once. */
Test(apply, rounds_to_the_dtype_asked_for)
{
    json_t *answer = post("{\"spec\":\"rope\",\"dtype\":\"f32\",\"positions\":[1],"
                          "\"x\":[[1,2,3,4]]}");
    static const double expected[] = {-1.1426396, 1.9220756, 2.9598505, 4.0297995};
    const json_t *y = json_array_get(tensor(answer, "y"), 0);
    for (size_t i = 0; i < 4; i++) /* shortest digits of a float: not those of a double */
        cr_expect_eq(json_number_value(json_array_get(y, i)), expected[i], "%zu", i);
    json_decref(answer);
}

/* ---- Mixed cosines and sines -------------------------------------------------------------- */

#define FOPE "\"spec\":\"fope:dim=8,num_inv_freq=2\",\"table\":[[1,0.5],[0.25,-2],[0.125,0],[3,1]]"

/* At position 0 the cosines are the sums of the columns of the first matrix, the sines 0. */
Test(mixed, takes_two_matrices)
{
    json_t *answer = post("{" FOPE ",\"x\":[[1,2,3,4,5,6,7,8]],\"with\":[\"cos\",\"sin\"]}");
    static const struct {
        const char *name;
        double row[8];
    } wanted[] = {
        {"y", {1.25, -3, -4, -4, 6.25, -9, 10, 12}},
        {"cos", {1.25, -1.5, 1, 1}},
        {"sin", {0, 0, 1, 1}},
    };
    for (size_t t = 0; t < sizeof wanted / sizeof *wanted; t++) {
        const json_t *row = json_array_get(tensor(answer, wanted[t].name), 0);
        size_t n = json_array_size(row);
        cr_assert_eq(n, t == 0 ? 8 : 4);
        for (size_t i = 0; i < n; i++)
            cr_expect_eq(json_number_value(json_array_get(row, i)), wanted[t].row[i], "%s %zu",
                         wanted[t].name, i);
    }
    const char *table =
        json_string_value(json_object_get(json_object_get(answer, "spec"), "table"));
    cr_expect(table && strncmp(table, "sha256:", 7) == 0);
    json_decref(answer);
}

static void expect_refused(const char *body, const char *where, const char *detail)
{
    struct request request;
    call(&request, "POST", "/v1/apply", body);
    json_t *problem = call_json(&request);
    const json_t *error = json_array_get(json_object_get(problem, "errors"), 0);
    const char *said = json_string_value(json_object_get(error, "detail"));
    cr_expect_geq(request.response.status, 400, "%.200s", body);
    cr_expect_str_eq(json_string_value(json_object_get(error, "pointer")), where, "%.200s", body);
    cr_expect(strstr(said, detail), "%s", said);
    json_decref(problem);
    call_end(&request);
}

Test(mixed, has_no_inverse)
{
    expect_refused("{" FOPE ",\"x\":[[1,2,3,4,5,6,7,8]],\"inverse\":true}", "/inverse",
                   "does not turn its pairs by one angle each");
    expect_refused("{\"spec\":\"rope:dim=4,pair_table=tiled\",\"x\":[[1,2,3,4]],\"inverse\":true}",
                   "/inverse", "does not turn its pairs by one angle each");
    expect_refused("{\"spec\":\"fope:dim=8\",\"x\":[[1,2,3,4,5,6,7,8]],\"cos\":[[1,1,1,1]],"
                   "\"sin\":[[0,0,0,0]]}",
                   "/cos", "kind=fope does not take cos and sin");
}

/* Rows of ones as JSON; returns the end. */
static char *put_ones(char *at, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows * cols; i++) {
        *at++ = i % cols ? ',' : '[';
        *at++ = '1';
        if (i % cols == cols - 1) {
            *at++ = ']';
            *at++ = ',';
        }
    }
    at[-1] = ']'; /* of the rows */
    return at;
}

/* 2^31 multiply-adds are the limit: 2 * 600^2 for each of 2983 tokens are more. */
Test(mixed, has_a_limit)
{
    enum { KEPT = 600, DIM = 2 * KEPT, TOKENS = 2983 };
    char *body = malloc((size_t)(TOKENS + 2 * KEPT) * (2 * DIM + 2) + 200);
    cr_assert(body);
    char *at = body + sprintf(body, "{\"spec\":\"fope:num_inv_freq=%d\",\"table\":[", KEPT);
    at = put_ones(at, (size_t)2 * KEPT, KEPT);
    at += sprintf(at, ",\"x\":[");
    at = put_ones(at, TOKENS, DIM);
    strcpy(at, "}");
    expect_refused(body, "/x", "2147760000 multiply-adds would be needed");
    free(body);
}
