// SPDX-License-Identifier: Apache-2.0
/*
 * test_compare.c: /v1/compare: what is close by default in each dtype, tensors in every form that
 * bodies have, verdicts as status, the report as members and as text, and what is refused. The
 * mistakes that it finds are in e2e/test_compare.
 */
#include <math.h>

#include "files.h"
#include "sha256.h"

#define PATH "/v1/compare"

static bool passes(const json_t *report)
{
    const json_t *pass = json_object_get(report, "pass");
    cr_assert(json_is_boolean(pass));
    return json_is_true(pass);
}

static double number(const json_t *object, const char *key)
{
    const json_t *found = json_object_get(object, key);
    cr_assert(json_is_number(found), "%s", key);
    return json_number_value(found);
}

/* ---- What is close -------------------------------------------------------------------------- */

/* The last number on each side of an expected one that torch.testing.assert_close lets pass, and
 * the first that it does not: |a - e| <= atol + rtol |e|, in exact fractions. */
static const struct {
    const char *dtype, *name;
    double expected, inside, outside;
} borders[] = {
    {"f16", "default for f16", 1, 1.0009765625, 1.001953125},
    {"f16", "default for f16", 1, 0.9990234375, 0.99853515625},
    {"f16", "default for f16", -2.5, -2.498046875, -2.49609375},
    {"f16", "default for f16", -2.5, -2.501953125, -2.50390625},
    {"bf16", "default for bf16", 1, 1.015625, 1.0234375},
    {"bf16", "default for bf16", 1, 0.984375, 0.98046875},
    {"bf16", "default for bf16", -2.5, -2.46875, -2.453125},
    {"bf16", "default for bf16", -2.5, -2.53125, -2.546875},
    {"f32", "default for f32", 1, 1.0000112056732178, 1.0000113248825073},
    {"f32", "default for f32", 1, 0.9999887347221375, 0.9999886751174927},
    {"f32", "default for f32", -2.5, -2.4999868869781494, -2.4999866485595703},
    {"f32", "default for f32", -2.5, -2.5000131130218506, -2.5000133514404297},
    {"f64", "default for f64", 1, 1.0000002, 1.0000002000000001},
    {"f64", "default for f64", 1, 0.9999998000000001, 0.9999998},
    {"f64", "default for f64", -2.5, -2.4999996500000004, -2.49999965},
    {"f64", "default for f64", -2.5, -2.5000003499999996, -2.50000035},
};

Test(compare, has_the_borders_of_torch_testing)
{
    for (size_t i = 0; i < sizeof borders / sizeof *borders; i++)
        for (int side = 0; side < 2; side++) {
            char body[300];
            double actual = side ? borders[i].outside : borders[i].inside;
            snprintf(body, sizeof body,
                     "{\"actual\":{\"dtype\":\"%s\",\"data\":[%.17g]},"
                     "\"expected\":{\"dtype\":\"%s\",\"data\":[%.17g]}}",
                     borders[i].dtype, actual, borders[i].dtype, borders[i].expected);
            json_t *report = call_ask(PATH, body, 200);
            cr_expect_eq(passes(report), side == 0, "%s", body);
            cr_expect_eq(number(report, "mismatched"), side, "%s", body);
            cr_expect_eq(number(json_object_get(report, "max_abs"), "actual"), actual, "%s", body);
            cr_expect_str_eq(call_text(json_object_get(report, "tolerance"), "source"),
                             borders[i].name);
            json_decref(report);
        }
}

/* Tolerances that are given, alone and together; steps beside them; what is no number. */
Test(compare, is_as_tolerant_as_it_is_told)
{
    static const struct {
        const char *members;
        bool pass;
        const char *source;
    } rows[] = {
        {"\"actual\":[1.5],\"expected\":[1],\"atol\":0.5,\"rtol\":0", true, "given"},
        {"\"actual\":[1.5],\"expected\":[1],\"atol\":0.49,\"rtol\":0", false, "given"},
        {"\"actual\":[3],\"expected\":[2],\"rtol\":0.5", true,
         "partly given, else default for f64"},
        {"\"actual\":[2],\"expected\":[3],\"rtol\":0.33", false,
         "partly given, else default for f64"},
        {"\"actual\":[1.0000000000000002],\"expected\":[1],\"atol\":0,\"rtol\":0", false, "given"},
        {"\"actual\":[1.0000000000000002],\"expected\":[1],\"atol\":0,\"rtol\":0,\"max_ulp\":1",
         true, "given"},
        {"\"actual\":[1.0000000000000004],\"expected\":[1],\"atol\":0,\"rtol\":0,\"max_ulp\":1",
         false, "given"},
        {"\"actual\":[\"Infinity\"],\"expected\":[\"Infinity\"]", true, "default for f64"},
        {"\"actual\":[\"Infinity\"],\"expected\":[\"-Infinity\"]", false, "default for f64"},
        {"\"actual\":[1],\"expected\":[\"Infinity\"],\"rtol\":1", false,
         "partly given, else default for f64"},
        {"\"actual\":[\"NaN\"],\"expected\":[\"NaN\"]", false, "default for f64"},
        {"\"actual\":[\"NaN\"],\"expected\":[\"NaN\"],\"equal_nan\":true", true, "default for f64"},
        {"\"actual\":{\"dtype\":\"bf16\",\"data\":[1.0078125]},\"expected\":[1]", true,
         "default for bf16"},
        {"\"actual\":[1.0078125],\"expected\":{\"dtype\":\"f16\",\"data\":[1]}", false,
         "default for f16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[300];
        snprintf(body, sizeof body, "{%s}", rows[i].members);
        json_t *report = call_ask(PATH, body, 200);
        cr_expect_eq(passes(report), rows[i].pass, "%s", body);
        cr_expect_str_eq(call_text(json_object_get(report, "tolerance"), "source"), rows[i].source,
                         "%s", body);
        json_decref(report);
    }
}

/* ---- Forms ---------------------------------------------------------------------------------- */

/* [1, 2] at position 1 by base^0 = 1: (cos 1 - 2 sin 1, sin 1 + 2 cos 1). */
#define TURNED "-1.1426396637476532,1.922075596544176"

/* The same question with the numbers posted, made by an apply, and made by a GET. */
Test(compare, expects_numbers_or_what_makes_them)
{
    static const char *const expected[] = {
        "[[" TURNED "]]",
        "{\"data\":[" TURNED "],\"shape\":[1,2]}",
        "{\"spec\":\"rope:dim=2\",\"positions\":[1],\"x\":[[1,2]]}",
        "{\"spec\":{\"kind\":\"rope\",\"dim\":2},\"positions\":\"1\",\"x\":{\"data\":[[1,2]]}}",
        "{\"spec\":\"rope:dim=2\",\"positions\":[1]},\"x\":[[1,2]]", /* beside it */
        "{\"get\":\"/v1/apply?kind=rope&dim=2&positions=1\"},\"x\":[[1,2]]",
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char body[400];
        snprintf(body, sizeof body, "{\"actual\":[[" TURNED "]],\"expected\":%s}", expected[i]);
        json_t *report = call_ask(PATH, body, 200);
        cr_expect(passes(report), "%s", body);
        cr_expect_lt(number(json_object_get(report, "max_abs"), "value"), 1e-15, "%s", body);
        json_decref(report);
    }
    json_t *table = call_ask(PATH,
                             "{\"actual\":[[0,1],[0.8414709848078965,0.5403023058681398]],"
                             "\"expected\":{\"get\":\"/v1/table?kind=sinusoidal&dim=2&"
                             "positions=0:2\"},\"atol\":0,\"rtol\":0}",
                             200);
    cr_expect(passes(table));
    json_decref(table);
}

/* Files bring both tensors, or one and what the other is made of; their request says the rest. */
static bool digest(void *sha, const char *data, size_t len)
{
    sha256_update(sha, data, len);
    return true;
}

/* The pin that a GET may have. */
static void pin_of(const char *get, char pin[17])
{
    struct request request;
    struct sha256 sha;
    unsigned char bytes[32];
    sha256_init(&sha);
    call(&request, "GET", get, NULL);
    cr_assert(local_drain(&request, digest, &sha));
    call_end(&request);
    sha256_final(&sha, bytes);
    sha256_digits(bytes, 16, pin);
}

/* What is expected is made as .safetensors, and its pin is of those bytes. */
Test(compare, holds_what_is_made_to_its_pin)
{
    static const char *const get = "/v1/table.safetensors?spec=rope:dim=2&positions=1&dtype=f32";
    char pin[17], body[256];
    pin_of(get, pin);
    snprintf(body, sizeof body, "{\"actual\":[[0.5,0.8]],\"expected\":{\"get\":\"%s&pin=%s\"}}",
             get, pin);
    json_t *report = call_ask(PATH, body, 200);
    cr_expect_not(passes(report));
    json_decref(report);
    pin[0] = pin[0] == '0' ? '1' : '0';
    snprintf(body, sizeof body, "{\"actual\":[[0.5,0.8]],\"expected\":{\"get\":\"%s&pin=%s\"}}",
             get, pin);
    call_refused(&(struct call_refusal){PATH, body, 409, "/expected/get", "other bytes"});
}

Test(compare, reads_files)
{
    static const struct {
        const char *rest, *first, *second;
        bool pass;
    } rows[] = {
        {"{}", "actual", "expected", false},
        {"{\\\"rtol\\\":1}", "actual", "expected", true},
        {"{\\\"expected\\\":{\\\"spec\\\":\\\"none\\\"}}", "actual", "x", false},
        {"{\\\"expected\\\":{\\\"spec\\\":\\\"none\\\"},\\\"atol\\\":2}", "actual", "x", true},
    };
    static const float values[] = {1, 2, 2, 4};
    static struct file file;
    call_with.content_type = "application/x-safetensors";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char header[500];
        struct request request;
        snprintf(header, sizeof header,
                 "{\"__metadata__\":{\"request\":\"%s\"},\"%s\":{\"dtype\":\"F32\",\"shape\":[1,2],"
                 "\"data_offsets\":[0,8]},\"%s\":{\"dtype\":\"F32\",\"shape\":[1,2],"
                 "\"data_offsets\":[8,16]}}",
                 rows[i].rest, rows[i].first, rows[i].second);
        file_safetensors(&file, header, values, sizeof values);
        call_bytes(&request, PATH, file.bytes, file.len);
        cr_expect_eq(request.response.status, 200, "%s", call_body(&request));
        json_t *report = call_json(&request); /* the report is no tensor: JSON it stays */
        cr_expect_eq(passes(report), rows[i].pass, "%s", rows[i].rest);
        json_decref(report);
        call_end(&request);
    }
    call_with.content_type = "application/x-npy"; /* one tensor, where two are compared */
    struct request request;
    call_bytes(&request, PATH, "\x93NUMPY", 6);
    cr_expect_eq(request.response.status, 415);
    cr_expect(strstr(call_body(&request), "application/x-safetensors"), "%s", call_body(&request));
    call_end(&request);
}

/* ---- Verdicts ------------------------------------------------------------------------------- */

/* A comparison that was made is 200; strict, a failed one is a problem with the same members. */
Test(compare, strictly_fails_with_a_status)
{
    static const char *const bodies[] = {
        "{\"actual\":[1,2],\"expected\":[1,3],\"strict\":true}",
        "{\"actual\":[1,2],\"expected\":[[1,2]],\"strict\":true}",
        "{\"actual\":{\"dtype\":\"f32\",\"data\":[1,2]},\"expected\":[1,2],\"strict\":true}",
    };
    json_t *lenient = call_ask(PATH, "{\"actual\":[1,2],\"expected\":[1,3]}", 200);
    json_t *by_query = call_ask(PATH "?strict=1", "{\"actual\":[1,2],\"expected\":[1,3]}", 422);
    const char *key;
    json_t *value;
    json_object_foreach(lenient, key, value)
        cr_expect(json_equal(json_object_get(by_query, key), value), "%s", key);
    cr_expect_str_eq(call_text(by_query, "type"), "/problems/comparison-failed");
    cr_expect_str_eq(call_text(by_query, "detail"), "1 of 2 elements is not close.");
    json_decref(by_query);
    json_decref(lenient);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        json_t *problem = call_ask(PATH, bodies[i], 422);
        cr_expect_not(passes(problem), "%s", bodies[i]);
        json_decref(problem);
    }
    json_t *same = call_ask(PATH "?strict=1", "{\"actual\":[1,2],\"expected\":[1,2]}", 200);
    cr_expect(passes(same));
    json_decref(same);
}

/* Tensors of other shapes are reported, without numbers that have no meaning then. */
Test(compare, reports_shapes_and_dtypes)
{
    json_t *report = call_ask(
        PATH, "{\"actual\":{\"dtype\":\"f16\",\"data\":[1,2,3]},\"expected\":[[1,2]]}", 200);
    cr_expect_not(passes(report));
    cr_expect(!json_object_get(report, "elements") && !json_object_get(report, "max_abs"));
    cr_expect_str_eq(call_text(json_object_get(report, "dtype"), "actual"), "f16");
    cr_expect_str_eq(call_text(json_object_get(report, "dtype"), "expected"), "f64");
    const json_t *shape = json_object_get(report, "shape");
    cr_expect_eq(json_array_size(json_object_get(shape, "actual")), 1);
    cr_expect_eq(json_array_size(json_object_get(shape, "expected")), 2);
    json_decref(report);
}

Test(compare, diagnoses_unless_it_is_told_not_to)
{
    static const char body[] = "{\"actual\":[[1,2,3,4]],\"expected\":[[1,3,2,4]]}";
    json_t *report = call_ask(PATH, body, 200);
    const json_t *first = json_array_get(json_object_get(report, "diagnosis"), 0);
    cr_expect(strstr(call_text(first, "says"), "layout half became interleaved"), "%s",
              call_text(first, "says"));
    cr_expect_eq(number(first, "max_abs"), 0);
    json_decref(report);
    report = call_ask(PATH "?diagnose=false", body, 200);
    cr_expect_eq(json_array_size(json_object_get(report, "diagnosis")), 0);
    json_decref(report);
    report = call_ask(PATH, "{\"actual\":[1,2],\"expected\":[1,2]}", 200);
    cr_expect_eq(json_array_size(json_object_get(report, "diagnosis")), 0, "nothing is to explain");
    json_decref(report);
}

/* What explains the numbers keeps the tolerance: of a mistake that only comes near it is said so.
 */
Test(compare, tells_what_explains_from_what_resembles)
{
    json_t *report = call_ask(PATH,
                              "{\"actual\":[[-1.14,1.92]],\"expected\":{\"spec\":\"rope:dim=2\","
                              "\"positions\":[0],\"x\":[[1,2]]}}",
                              200);
    const json_t *first = json_array_get(json_object_get(report, "diagnosis"), 0);
    cr_expect(
        strncmp(call_text(first, "says"), "nearest comes expected computed with shift=1", 44) == 0,
        "%s", call_text(first, "says"));
    cr_expect_str_eq(call_text(first, "spec"), "rope:dim=2,shift=1");
    const json_t *advice = json_array_get(json_object_get(report, "advice"), 0);
    cr_expect(strstr(json_string_value(advice), "no known mistake alone explains"));
    json_decref(report);
}

/* ---- As text -------------------------------------------------------------------------------- */

static void expect_text(const char *body, const char *const *lines)
{
    struct request request;
    call(&request, "POST", PATH ".txt", body);
    const char *text = call_body(&request);
    cr_expect_eq(request.response.status, 200, "%s", text);
    for (; *lines; lines++)
        cr_expect(strstr(text, *lines), "%s\n%s", *lines, text);
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        cr_expect_leq(strcspn(line, "\n"), 80, "%s", line);
    call_end(&request);
}

Test(compare, reads_like_an_issue)
{
    expect_text(
        "{\"actual\":[[1,2],[3,4.5]],\"expected\":[[1,2],[3,4]]}",
        (const char *const[]){
            "1 of 4 elements is not close.\n",
            "\nTolerance: atol 1e-07 + rtol 1e-07 of |expected| (default for f64).\n",
            "\nFirst at [1, 1]: 4.5 instead of 4.\n",
            "\nLargest difference 0.5 at [1, 1]: 4.5 instead of 4.\n",
            "\nLargest relative difference 0.125 at [1, 1].\n",
            "\nMost steps apart, from one f64 to the next: 562949953421312 at [1, 1].\n",
            "\nElements by steps: 3 with 0, 0 with 1, 0 with 2-3, 0 with 4-15, 1 with >15.\n",
            "\nCosine 0.9", "\nNext: post expected as ", NULL});
    expect_text("{\"actual\":[[1,2]],\"expected\":{\"spec\":\"rope:dim=2\",\"positions\":[1],"
                "\"x\":[[" TURNED "]],\"inverse\":true},\"max_ulp\":4}",
                (const char *const[]){"All 2 elements are close.\n", ", or 4 steps (default",
                                      "\nNext: keep this request as a test", NULL});
    expect_text("{\"actual\":[[" TURNED "]],\"expected\":{\"spec\":\"rope:dim=2\","
                "\"positions\":[0],\"x\":[[1,2]]}}",
                (const char *const[]){
                    "2 of 2 elements are not close; actual equals expected computed with shift=1:\n"
                    "positions counted from another one.\n",
                    "\nWhat explains it:\n* actual equals expected computed with shift=1: ",
                    "\n  spec: rope:dim=2,shift=1\n",
                    "\nNext: repair what made actual; or, if this is how it shall be, expect it "
                    "with\n  the spec rope:dim=2,shift=1.\n",
                    NULL});
    expect_text("{\"actual\":[1,\"NaN\"],\"expected\":[1,2]}",
                (const char *const[]){"\nFirst at [1]: NaN instead of 2.\n",
                                      "\nNo two numbers differ.\n",
                                      "\nNaN or infinite: 1 in actual, 0 in expected.\n", NULL});
    expect_text("{\"actual\":[1],\"expected\":[-1]}",
                (const char *const[]){"1 of 1 elements is not close; actual equals expected with "
                                      "the other sign.\n",
                                      " to the next: 9.21e+18 at [0].\n",
                                      "\nNext: repair what made actual; or, if this is how it "
                                      "shall be, expect it so.\n",
                                      NULL});
    expect_text("{\"actual\":[1,2],\"expected\":[[1,2]]}",
                (const char *const[]){"The shape is [2], expected [1, 2]; actual equals expected "
                                      "in another shape",
                                      NULL});
}

/* ---- Refusals ------------------------------------------------------------------------------- */

#define EXPECTS(members) "{\"actual\":[1],\"expected\":{" members "}}"

Test(compare, refuses)
{
    static const struct call_refusal rows[] = {
        {PATH, "{\"expected\":[1]}", 400, "/actual", "what is to be judged"},
        {PATH, "{\"actual\":[1]}", 400, "/expected", "what to compare with"},
        {PATH, "{\"actual\":[1],\"expected\":[1],\"tolerance\":1}", 400, "/tolerance", "parameter"},
        {PATH, "{\"actual\":[1],\"expected\":[1],\"rtol\":-1}", 400, "/rtol", "rtol must be"},
        {PATH, "{\"actual\":[1],\"expected\":[1],\"max_ulp\":0.5}", 400, "/max_ulp", "integer"},
        {PATH, "{\"actual\":[1],\"expected\":[1],\"strict\":\"yes\"}", 400, "/strict", "true"},
        {PATH "?rtol=0", "{\"actual\":[1],\"expected\":[1],\"rtol\":1}", 400, "/rtol", "twice"},
        {PATH, "{\"actual\":[1],\"expected\":[1],\"x\":[1]}", 400, "/x", "no encoding"},
        {PATH, "{\"actual\":{\"dtype\":\"i64\",\"data\":[1]},\"expected\":[1]}", 400,
         "/actual/dtype", "i64"},
        {PATH, "{\"actual\":[[1],[2,3]],\"expected\":[1]}", 400, "/actual/1", "length 2"},
        {PATH, EXPECTS("\"get\":\"http://example.org/\""), 400, "/expected/get",
         "nothing is fetched from elsewhere"},
        {PATH, EXPECTS("\"get\":\"/v1/version\""), 406, "/expected/get", ""},
        {PATH, EXPECTS("\"get\":\"/v1/tabel?kind=rope\""), 404, "/expected/get", ""},
        {PATH, EXPECTS("\"get\":\"/v1/table?kind=rop\""), 400, "/expected/get", "did you mean"},
        {PATH, EXPECTS("\"get\":\"/v1/positions?grid=2x2\""), 400, "/expected/get", "i64"},
        {PATH, EXPECTS("\"spec\":\"rope:dim=3\",\"x\":[[1,2,3]]"), 400, "/expected/spec", "even"},
        {PATH, EXPECTS("\"spec\":\"rope\",\"positions\":[0]"), 400, "/expected",
         "a tensor is missing"},
        {PATH, "{\"actual\":[1],\"expected\":{\"spec\":\"none\",\"x\":[1]},\"x\":[1]}", 400, "/x",
         "beside it"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        call_refused(&rows[i]);
    struct request request;
    call(&request, "GET", PATH, NULL);
    cr_expect_eq(request.response.status, 405);
    call_end(&request);
    call(&request, "POST", PATH ".csv", "{\"actual\":[1],\"expected\":[1]}");
    cr_expect_eq(request.response.status, 406, "a report is no table");
    call_end(&request);
}
