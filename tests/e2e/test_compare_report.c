// SPDX-License-Identifier: Apache-2.0
/*
 * The report of POST /v1/compare: the numbers of the documentation; verdicts as status and exit
 * status; what does not fit.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "e2e/compare_with.h"
#include "posenc.h"

TestSuite(compare_report, .init = start, .fini = stop);

/* q of seed 0, 64 channels at position 5: expected half, actual interleaved. */
Test(compare_report, the_numbers_of_the_documentation)
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

Test(compare_report, a_file_is_judged_by_status)
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

Test(compare_report, a_failure_is_an_exit_status_and_reads_like_an_issue)
{
    const char *program = getenv("POSENCD");
    const char *const strict[] = {program,  "--eval", "/v1/compare.txt?strict=1",
                                  "--data", FAILING,  NULL};
    const char *const lenient[] = {program, "--eval", "/v1/compare.txt", "--data", FAILING, NULL};
    struct e2e_run run = e2e_pipe(strict, NULL, 0);
    cr_expect_eq(run.status, 22);
    cr_expect(strstr(run.err, "422 The tensors do not agree\n\n1 of 2 elements is not close.\n"),
              "%s", run.err);
    cr_expect(strstr(run.err, "\nFirst at [1]: 2 instead of 3.\n"), "%s", run.err);
    e2e_run_free(&run);
    run = e2e_pipe(lenient, NULL, 0);
    cr_expect_eq(run.status, 0);
    cr_expect(strncmp(run.out, "1 of 2 elements is not close.\n", 30) == 0, "%s", run.out);
    cr_expect(strstr(run.out, "\nNext: "), "%s", run.out);
    e2e_run_free(&run);
}

Test(compare_report, what_does_not_fit_is_told)
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
