// SPDX-License-Identifier: Apache-2.0
/*
 * POST /v1/compare end to end: each known mistake, made here by the plain formula, is the first
 * that the diagnosis names; the numbers of the report; verdicts as status and exit status.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "e2e/harness.h"
#include "posenc.h"

#define HEADS  3
#define TOKENS 6
#define DIM    16
#define COUNT  ((size_t)HEADS * TOKENS * DIM)
#define FIRST  37 /* position of the first token */

/* ---- The plain formula ---------------------------------------------------------------------- */

/* A way to rotate vectors [head, token, channel]; zeros stand for what is usual. */
struct way {
    bool half, turned_back, exchanged, heads_as_tokens, matched_wide;
    double base, shift, divide, factor;
    int rotary, exponent, from;
    double (*position)(double), (*frequency)(double), (*angle)(double), (*table)(double);
};

static double bf16(double x)
{
    uint16_t bits;
    pe_store(PE_BF16, &bits, 0, x);
    return pe_load(PE_BF16, &bits, 0);
}

static double f16(double x)
{
    uint16_t bits;
    pe_store(PE_F16, &bits, 0, x);
    return pe_load(PE_F16, &bits, 0);
}

static double as_it_is(double x)
{
    return x;
}

static double or_else(double value, double usual)
{
    return value != 0 ? value : usual;
}

static double (*rounding(double (*given)(double)))(double)
{
    return given ? given : as_it_is;
}

/* One vector at a position, in doubles. */
static void rotate_one(const struct way *way, double position, const double *x, double *y)
{
    int rotary = way->rotary ? way->rotary : DIM, pairs = rotary / 2;
    int apart = way->matched_wide ? DIM / 2 : pairs;
    double place = rounding(way->position)(position) + way->shift;
    memcpy(y, x, DIM * sizeof *y);
    for (int i = 0; i < pairs; i++) {
        double exponent = -2.0 * i / (way->exponent ? way->exponent : rotary);
        double w = pow(or_else(way->base, 10000), exponent) / or_else(way->divide, 1);
        double t = rounding(way->angle)(place * rounding(way->frequency)(w));
        double c = rounding(way->table)(cos(t) * or_else(way->factor, 1));
        double s = rounding(way->table)(sin(t) * or_else(way->factor, 1));
        int a = way->from + (way->half ? i : 2 * i);
        int b = way->half ? a + apart : a + 1;
        double kept = c;
        s = way->turned_back ? -s : s;
        c = way->exchanged ? s : c;
        s = way->exchanged ? kept : s;
        y[a] = x[a] * c - x[b] * s;
        y[b] = x[a] * s + x[b] * c;
    }
}

static void rotate(const struct way *way, const double *x, double *y)
{
    for (int h = 0; h < HEADS; h++)
        for (int t = 0; t < TOKENS; t++) {
            size_t at = (size_t)(h * TOKENS + t) * DIM;
            rotate_one(way, FIRST + (way->heads_as_tokens ? h : t), x + at, y + at);
        }
}

/* Numbers that a float holds, of a stream by its name. */
static void draw(const char *stream, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (float)((double)(int64_t)pe_draw(0, stream, i + 1) * 0x1p-63);
}

/* ---- Requests ------------------------------------------------------------------------------- */

static struct e2e_daemon daemon_;

static void start(void)
{
    e2e_start(&daemon_, NULL);
}

static void stop(void)
{
    e2e_stop(&daemon_);
}

TestSuite(compare, .init = start, .fini = stop);

/* {"dtype":"f32","shape":[..],"data":[..]} */
static json_t *tensor(const double *values, const char *shape, size_t n)
{
    json_t *data = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(data, json_real((float)values[i]));
    return json_pack("{s:s, s:o, s:o}", "dtype", "f32", "shape", json_loads(shape, 0, NULL), "data",
                     data);
}

static json_t *post(const char *target, json_t *request, int status)
{
    static const char *const fields[] = {"Content-Type: application/json", NULL};
    char *body = json_dumps(request, JSON_COMPACT);
    struct e2e_answer answer = e2e_request(&daemon_, "POST", target, fields, body, strlen(body));
    cr_assert_eq(answer.status, status, "%d: %s", answer.status, answer.body);
    json_t *json = json_loads(answer.body, 0, NULL);
    cr_assert(json, "%s", answer.body);
    e2e_answer_free(&answer);
    free(body);
    json_decref(request);
    return json;
}

/* The first account of why they differ. */
static const char *first_account(const json_t *report, const char *member)
{
    const json_t *first = json_array_get(json_object_get(report, "diagnosis"), 0);
    const char *text = json_string_value(json_object_get(first, member));
    return text ? text : "";
}

/* ---- Mistakes ------------------------------------------------------------------------------- */

struct mistake {
    const char *spec;  /* of what is expected */
    struct way way;    /* what was done */
    int times;         /* how often; 0: once */
    const char *names; /* what the first account must say */
    const char *more;  /* members of the request; NULL */
};

#define ROPE "rope:dim=16"

static const struct mistake mistakes[] = {
    {ROPE, {.half = true}, 0, "layout=half", NULL},
    {ROPE ",layout=half", {.half = false}, 0, "layout=interleaved", NULL},
    {ROPE, {.turned_back = true}, 0, "direction=-1", NULL},
    {ROPE, {.exchanged = true}, 0, "cos and sin exchanged", NULL},
    {ROPE, {.base = 500000}, 0, "base=500000", NULL},
    {ROPE ",base=1e6", {0}, 0, "base=10000", NULL},
    {ROPE, {.shift = 1}, 0, "shift=1", NULL},
    {ROPE, {.shift = -1}, 0, "shift=-1", NULL},
    {ROPE, {.shift = 2}, 0, "shift=2: positions two further on", NULL},
    {ROPE ",rotary_dim=8", {0}, 0, "rotary_dim=16: rotary_dim is ignored", NULL},
    {ROPE ",layout=half,rotary_dim=8",
     {.half = true, .rotary = 8, .exponent = 16},
     0,
     "dim in the exponent",
     NULL},
    {ROPE ",layout=half,rotary_dim=8",
     {.half = true, .rotary = 8, .exponent = 16, .matched_wide = true},
     0,
     "pairs over the whole width",
     NULL},
    {ROPE ",layout=half,scaling=proportional,partial_rotary_factor=0.5",
     {.half = true, .rotary = 8},
     0,
     "pairs within the channels that turn",
     NULL},
    {ROPE, {.rotary = 8}, 0, "rotary_dim=8", NULL},
    {ROPE, {.rotary = 4}, 0, "rotary_dim=4", NULL},
    {ROPE ",rotary_dim=8", {.rotary = 8, .from = 8}, 0, "the last channels turn", NULL},
    {ROPE ",scaling=linear,factor=4", {0}, 0, "the scaling is ignored", NULL},
    {ROPE ",scaling=linear,factor=4", {.divide = 16}, 0, "the scaling applied twice", NULL},
    {ROPE ",scaling=linear,factor=4", {.divide = 0.25}, 0, "multiplied by the factor", NULL},
    {ROPE ",attention_factor=1.25", {0}, 0, "the attention factor is left out", NULL},
    {ROPE ",attention_factor=1.25", {.factor = 1.5625}, 0, "factor is applied twice", NULL},
    {ROPE, {.table = bf16}, 0, "cos and sin are kept in bf16", NULL},
    {ROPE, {.table = f16}, 0, "cos and sin are kept in f16", NULL},
    {ROPE, {.frequency = bf16}, 0, "frequencies are cast to bf16", NULL},
    {ROPE, {.frequency = f16}, 0, "frequencies are cast to f16", NULL},
    {ROPE, {.angle = bf16}, 0, "angles are made in bf16", NULL},
    {ROPE, {.angle = f16}, 0, "angles are made in f16", NULL},
    {ROPE, {.heads_as_tokens = true}, 0, "heads and tokens taken for each other", NULL},
    {ROPE, {0}, 2, "the encoding applied twice", NULL},
    {ROPE, {0}, -1, "nothing was encoded", NULL},
};

/* What is expected of vectors, with more members of the request. */
static json_t *expected_of(const char *spec, const char *more, const double *x)
{
    json_t *expected = json_pack("{s:s, s:s, s:s, s:o}", "spec", spec, "positions", "37:43", "axes",
                                 "htd", "x", tensor(x, "[3,6,16]", COUNT));
    json_t *members = more ? json_loads(more, 0, NULL) : NULL;
    if (members)
        json_object_update(expected, members);
    json_decref(members);
    return expected;
}

Test(compare, each_known_mistake_is_named_first)
{
    double x[COUNT], y[COUNT], twice[COUNT];
    draw("x", x, COUNT);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *mistake = &mistakes[i];
        rotate(&mistake->way, x, y);
        rotate(&mistake->way, y, twice);
        const double *actual = mistake->times == 2 ? twice : mistake->times < 0 ? x : y;
        json_t *report = post("/v1/compare",
                              json_pack("{s:o, s:o}", "actual", tensor(actual, "[3,6,16]", COUNT),
                                        "expected", expected_of(mistake->spec, mistake->more, x)),
                              200);
        cr_expect_not(json_is_true(json_object_get(report, "pass")));
        const char *says = first_account(report, "says");
        cr_expect(strstr(says, mistake->names) && strncmp(says, "actual ", 7) == 0,
                  "%s, should name %s: \"%s\"", mistake->spec, mistake->names, says);
        json_decref(report);
    }
}

/* ---- Other kinds, other tensors ------------------------------------------------------------- */

/* Requests whose `actual` is what another request answers. */
static const struct {
    const char *made_by, *expected, *names;
} requests[] = {
    {"/v1/table?kind=sinusoidal&dim=8&positions=1:9",
     "/v1/table?kind=sinusoidal&dim=8&positions=0:8", "shift=1"},
    {"/v1/table?kind=sinusoidal&dim=8&positions=0:8&layout=half",
     "/v1/table?kind=sinusoidal&dim=8&positions=0:8", "layout=half"},
    {"/v1/table?kind=sinusoidal&dim=8&positions=0:8&spacing=endpoint",
     "/v1/table?kind=sinusoidal&dim=8&positions=0:8", "spacing=endpoint"},
    {"/v1/table?kind=learned&dim=8&positions=2:10", "/v1/table?kind=learned&dim=8&positions=0:8",
     "shift=2: positions two further on, as behind the reserved rows"},
    {"/v1/table?kind=rope&dim=8&stages=pos:bf16&positions=300:308",
     "/v1/table?kind=rope&dim=8&positions=300:308", "positions are cast to bf16"},
    {"/v1/table?kind=alibi&heads=4&positions=0:6&stages=table:bf16",
     "/v1/table?kind=alibi&heads=4&positions=0:6", "table:bf16"},
    {"/v1/apply?kind=mrope&dim=16&sections=3,3,2&shape=6,16&"
     "positions=0:6;5:11;3:9&axes_split=interleaved",
     "/v1/apply?kind=mrope&dim=16&sections=3,3,2&shape=6,16&positions=0:6;5:11;3:9",
     "axes_split=interleaved: pairs dealt out to the axes in another order"},
    {"/v1/apply?kind=mrope&dim=16&sections=3,3,2&shape=6,16&"
     "positions=0:6;5:11;3:9&section_axes=0,2,1",
     "/v1/apply?kind=mrope&dim=16&sections=3,3,2&shape=6,16&positions=0:6;5:11;3:9",
     "blocks read other axes"},
    {"/v1/apply?kind=rope&dim=16&scaling=yarn&factor=4&original_max=64&shape=6,16&"
     "positions=100:106&attention_factor=1",
     "/v1/"
     "apply?kind=rope&dim=16&scaling=yarn&factor=4&original_max=64&shape=6,16&positions=100:106",
     "the attention factor is left out"},
    {"/v1/apply?kind=rope&dim=16&shape=6,16&positions=100:106",
     "/v1/apply?kind=rope&dim=16&scaling=llama3&factor=8&original_max=64&shape=6,16&"
     "positions=100:106",
     "the scaling is ignored"},
};

static json_t *get_tensor(const char *target)
{
    struct e2e_answer answer = e2e_request(&daemon_, "GET", target, NULL, NULL, 0);
    cr_assert_eq(answer.status, 200, "%s: %s", target, answer.body);
    json_t *json = json_loads(answer.body, 0, NULL);
    json_t *tensors = json_object_get(json, "tensors");
    const char *name =
        json_object_get(tensors, "y") ? "y" : json_object_iter_key(json_object_iter(tensors));
    json_t *made = json_incref(json_object_get(tensors, name));
    json_decref(json);
    e2e_answer_free(&answer);
    return made;
}

Test(compare, of_answers_too)
{
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        json_t *report = post("/v1/compare",
                              json_pack("{s:o, s:{s:s}}", "actual", get_tensor(requests[i].made_by),
                                        "expected", "get", requests[i].expected),
                              200);
        const char *says = first_account(report, "says");
        cr_expect(strstr(says, requests[i].names), "%s: \"%s\"", requests[i].names, says);
        json_decref(report);
    }
}

static double value(size_t i)
{
    return (float)sin(1.0 + 3.0 * (double)i);
}

Test(compare, tensors_alone_tell_what_became_of_them)
{
    double e[24], exchanged[24], a[24];
    for (size_t i = 0; i < 24; i++)
        e[i] = value(i);
    for (size_t i = 0; i < 24; i++)
        exchanged[i] = e[i % 4 * 6 + i / 4];
    static const struct {
        const char *shape, *names;
    } moved[] = {{"[4,6]", "channels of its halves interleaved"},
                 {"[4,6]", "sign of every second channel"},
                 {"[4,6]", "halves of its channels exchanged"},
                 {"[4,6]", "times 3"},
                 {"[4,6]", "one further on along axis 0"},
                 {"[4,6]", "rounded to bf16"},
                 {"[6,4]", "axes 0 and 1 exchanged"},
                 {"[2,12]", "in another shape"}};
    static const size_t to_neighbours[] = {0, 3, 1, 4, 2, 5};
    for (size_t kind = 0; kind < sizeof moved / sizeof *moved; kind++) {
        for (size_t i = 0; i < 24; i++) {
            size_t c = i % 6, row = i - c;
            double same = e[i];
            const double of[] = {
                e[row + to_neighbours[c]], c % 2 ? -same : same, e[row + (c + 3) % 6], 3 * same,
                e[(i + 6) % 24],           bf16(same),           exchanged[i],         same};
            a[i] = of[kind];
        }
        const char *shape = moved[kind].shape, *wanted = moved[kind].names;
        json_t *report = post("/v1/compare",
                              json_pack("{s:o, s:o}", "actual", tensor(a, shape, 24), "expected",
                                        tensor(e, "[4,6]", 24)),
                              200);
        const char *says = first_account(report, "says");
        cr_expect(strstr(says, wanted), "%s: \"%s\"", wanted, says);
        json_decref(report);
    }
}

/* ---- Numbers and verdicts ------------------------------------------------------------------- */

/* q of seed 0, 64 channels at position 5: expected half, actual interleaved. */
Test(compare, the_numbers_of_the_documentation)
{
    double q[64];
    for (size_t i = 0; i < 64; i++) {
        uint64_t sum = 0;
        for (uint64_t k = 1; k <= 12; k++)
            sum += pe_draw(0, "q", 12 * i + k) >> 32;
        q[i] = (float)((double)sum * 0x1p-32 - 6);
    }
    static const char *const wanted[] = {
        "\"elements\":64,\"mismatched\":64,\"mismatched_ratio\":1",
        "\"max_abs\":{\"value\":3.0935447216033936,\"index\":[9],\"actual\":2.231677770614624,"
        "\"expected\":-0.8618669509887695}",
        "\"max_rel\":{\"value\":13.27091703425659,\"index\":[14]}",
        "\"max_ulp\":{\"value\":2139462603,\"sign_change\":true,\"index\":[34]}",
        "\"first_mismatch\":{\"index\":[0],\"actual\":0.7451617121696472,"
        "\"expected\":-1.6971642971038818}",
        "\"ulp_histogram\":{\"0\":0,\"1\":0,\"2-3\":0,\"4-15\":0,\">15\":64}",
        "\"cosine\":0.5485070650415148,\"rms\":0.906668649057858",
        "\"nonfinite\":{\"actual\":0,\"expected\":0}",
        "\"diagnosis\":[{\"says\":\"actual equals expected computed with layout=interleaved\","
        "\"max_abs\":0,\"spec\":\"rope:dim=64,layout=interleaved\"}]",
    };
    json_t *x = tensor(q, "[64]", 64);
    json_t *made =
        post("/v1/apply",
             json_pack("{s:s, s:[i], s:O}", "spec", "rope:dim=64", "positions", 5, "x", x), 200);
    json_t *request = json_pack("{s:O, s:{s:s, s:[i], s:o}}", "actual",
                                json_object_get(json_object_get(made, "tensors"), "y"), "expected",
                                "spec", "rope:dim=64,layout=half", "positions", 5, "x", x);
    char *body = json_dumps(request, JSON_COMPACT);
    struct e2e_answer answer =
        e2e_request(&daemon_, "POST", "/v1/compare", NULL, body, strlen(body));
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        cr_expect(strstr(answer.body, wanted[i]), "%s: %s", wanted[i], answer.body);
    e2e_answer_free(&answer);
    free(body);
    json_decref(request);
    json_decref(made);
}

/* A file of tensors as libraries write it: f32 of rank 1, one after the other. */
static size_t write_file(char *out, const char *names[], const float *const values[], size_t n,
                         size_t each, const char *metadata)
{
    char header[1000];
    int len = snprintf(header, sizeof header, "{\"__metadata__\":{\"request\":\"%s\"}", metadata);
    for (size_t i = 0; i < n; i++)
        len += snprintf(header + len, sizeof header - (size_t)len,
                        ",\"%s\":{\"dtype\":\"F32\",\"shape\":[%zu],\"data_offsets\":[%zu,%zu]}",
                        names[i], each, i * each * 4, (i + 1) * each * 4);
    len += snprintf(header + len, sizeof header - (size_t)len, "}");
    uint64_t size = (uint64_t)len;
    memcpy(out, &size, 8);
    memcpy(out + 8, header, (size_t)len);
    for (size_t i = 0; i < n; i++)
        memcpy(out + 8 + len + i * each * 4, values[i], each * 4);
    return 8 + (size_t)len + n * each * 4;
}

Test(compare, a_file_is_judged_by_status)
{
    static const char *const fields[] = {"Content-Type: application/x-safetensors", NULL};
    float x[4] = {1, 2, 3, 4}, y[4];
    char file[2000];
    for (int i = 0; i < 2; i++) {
        double t = 5 * pow(10000, -0.5 * i);
        y[2 * i] = (float)(x[2 * i] * cos(t) - x[2 * i + 1] * sin(t));
        y[2 * i + 1] = (float)(x[2 * i] * sin(t) + x[2 * i + 1] * cos(t));
    }
    static const struct {
        const char *rest, *names[2];
        int status;
    } files[] = {
        {"{\\\"expected\\\":{\\\"spec\\\":\\\"rope:dim=4\\\",\\\"positions\\\":[5]}}",
         {"actual", "x"},
         200},
        {"{\\\"expected\\\":{\\\"get\\\":\\\"/v1/apply?kind=rope&dim=4&positions=5\\\"}}",
         {"actual", "x"},
         200},
        {"{\\\"expected\\\":{\\\"spec\\\":\\\"rope:dim=4\\\",\\\"positions\\\":[6]}}",
         {"actual", "x"},
         422},
        {"{}", {"actual", "expected"}, 422},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const float *const values[] = {y, x};
        const char *names[] = {files[i].names[0], files[i].names[1]};
        size_t len = write_file(file, names, values, 2, 4, files[i].rest);
        struct e2e_answer answer =
            e2e_request(&daemon_, "POST", "/v1/compare?strict=1", fields, file, len);
        cr_expect_eq(answer.status, files[i].status, "%zu: %s", i, answer.body);
        cr_expect(strstr(answer.body, answer.status == 200 ? "\"pass\":true" : "\"pass\":false"));
        cr_expect(answer.status == 200 || strstr(answer.body, "/problems/comparison-failed"));
        e2e_answer_free(&answer);
    }
}

#define FAILING "{\"actual\":[1,2],\"expected\":[1,3]}"

Test(compare, a_failure_is_an_exit_status_and_reads_like_an_issue)
{
    const char *program = getenv("POSENCD");
    const char *const strict[] = {program,  "--eval", "/v1/compare.txt?strict=1",
                                  "--data", FAILING,  NULL};
    const char *const lenient[] = {program, "--eval", "/v1/compare.txt", "--data", FAILING, NULL};
    struct e2e_run run = e2e_pipe(strict, NULL, 0);
    cr_expect_eq(run.status, 22);
    cr_expect(strstr(run.err, "422 The tensors do not agree\n\n1 of 2 elements are not close.\n"),
              "%s", run.err);
    cr_expect(strstr(run.err, "\nFirst at [1]: 2 instead of 3.\n"), "%s", run.err);
    e2e_run_free(&run);
    run = e2e_pipe(lenient, NULL, 0);
    cr_expect_eq(run.status, 0);
    cr_expect(strncmp(run.out, "1 of 2 elements are not close.\n", 31) == 0, "%s", run.out);
    cr_expect(strstr(run.out, "\nNext: "), "%s", run.out);
    e2e_run_free(&run);
}

Test(compare, what_does_not_fit_is_told)
{
    static const struct {
        const char *request, *says;
        int status;
    } cases[] = {
        {"{\"actual\":[1,2],\"expected\":[[1,2]]}", "\"pass\":false", 200},
        {"{\"actual\":[1,2],\"expected\":[[1,2]],\"strict\":true}", "the shape is [2], expected",
         422},
        {"{\"actual\":{\"dtype\":\"f32\",\"data\":[1]},\"expected\":[1]}", "\"pass\":true", 200},
        {"{\"actual\":{\"dtype\":\"f32\",\"data\":[1]},\"expected\":[1],\"strict\":true}",
         "the dtype is f32, expected f64", 422},
        {"{\"actual\":[\"NaN\"],\"expected\":[\"NaN\"],\"equal_nan\":true}", "\"pass\":true", 200},
        {"{\"actual\":[],\"expected\":[]}", "\"pass\":true", 200},
        {"{\"actual\":[1]}", "/expected", 400},
        {"{\"expected\":[1]}", "/actual", 400},
        {"{\"actual\":[1],\"expected\":{\"get\":\"http://example.org/\"}}",
         "nothing is fetched from elsewhere", 400},
        {"{\"actual\":[1],\"expected\":{\"get\":\"/v1/version\"}}", "/expected/get", 406},
        {"{\"actual\":[1],\"expected\":{\"get\":\"/v1/table?kind=rop\"}}", "did you mean", 400},
        {"{\"actual\":[1],\"expected\":{\"spec\":\"rope:dim=3\",\"x\":[1,2,3]}}",
         "\"pointer\":\"/expected/spec\"", 400},
        {"{\"actual\":[1],\"expected\":[1],\"x\":[1]}", "\\\"x\\\" has no effect", 400},
        {"{\"actual\":[1],\"expected\":[1],\"rtol\":-1}", "rtol must be", 400},
        {"{\"actual\":[1],\"expected\":[2],\"diagnose\":false}", "\"diagnosis\":[]", 200},
        {"{\"actual\":[1],\"expected\":{\"get\":\"/v1/positions?grid=2x2\"}}", "i64", 400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct e2e_answer answer = e2e_request(&daemon_, "POST", "/v1/compare", NULL,
                                               cases[i].request, strlen(cases[i].request));
        cr_expect(answer.status == cases[i].status && strstr(answer.body, cases[i].says),
                  "%s: %d %s", cases[i].request, answer.status, answer.body);
        e2e_answer_free(&answer);
    }
}
