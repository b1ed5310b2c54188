// SPDX-License-Identifier: Apache-2.0
/*
 * test_job_body.c: files of tensors as bodies: which tensors a request has, what may stand beside
 * them and where, and what is said when file, metadata and query do not fit together.
 */
#include "call.h"
#include "files.h"

#define TENSOR(name, dtype, shape, begin, end)                                                     \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" begin "," end   \
    "]}"
#define X          TENSOR("x", "F32", "[2,2]", "0", "16")
#define REQUEST(t) "\"__metadata__\":{\"format\":\"pt\",\"request\":\"" t "\"},"
#define ROPE       "{\\\"spec\\\":\\\"rope:dim=2\\\"}"

/* What all files hold: four numbers of f32, two of i64, 2^53 + 1. */
struct data {
    float x[4];
    int64_t positions[2], beyond[2];
};
static const struct data data = {{1, 2, 3, 4}, {5, 0}, {1, 9007199254740993}};

static const struct row {
    const char *target, *header; /* without braces */
    size_t bytes;                /* of data */
    int status;
    const char *says; /* somewhere in the answer */
} rows[] = {
    /* Beside the tensors: in the metadata, in the query, in both. */
    {"/v1/apply.csv", REQUEST(ROPE) X, 16, 200, "position,0,1\n0,1,2\n1,-1.744977,4.685622\n"},
    {"/v1/apply.csv?spec=rope:dim=2", X, 16, 200, "1,-1.744977,4.685622\n"},
    {"/v1/apply.csv?kind=rope", X, 16, 200, "1,-1.744977,4.685622\n"},
    {"/v1/apply.csv?positions=1,0", REQUEST(ROPE) X, 16, 200, "1,-1.1426396,1.9220756\n0,3,4\n"},
    {"/v1/apply?inverse=true", REQUEST("{\\\"spec\\\":\\\"none\\\",\\\"inverse\\\":true}") X, 16,
     200, "\"inverse\\\":true"},
    {"/v1/apply?inverse=true", REQUEST("{\\\"spec\\\":\\\"none\\\",\\\"inverse\\\":false}") X, 16,
     400, "inverse is given twice, as true and as false"},
    {"/v1/apply?spec=none", REQUEST(ROPE) X, 16, 400,
     "an encoding is given in the query and in the body"},
    {"/v1/apply.json", REQUEST("{\\\"spec\\\":\\\"none\\\",\\\"format\\\":\\\"csv\\\"}") X, 16, 400,
     "format is \\\"json\\\" and \\\"csv\\\" in one request"},
    {"/v1/apply", REQUEST("{\\\"spec\\\":\\\"none\\\",\\\"format\\\":\\\"csv\\\"}") X, 16, 200,
     "position,0,1\n0,1,2\n"},
    {"/v1/apply", REQUEST("{\\\"spec\\\":\\\"none\\\",\\\"format\\\":3}") X, 16, 400,
     "must be the name of a format"},
    {"/v1/apply", X, 16, 400, "kind is missing"},
    {"/v1/apply", REQUEST("{}") X, 16, 400, "\"pointer\":\"/spec\""},
    {"/v1/apply", REQUEST("[]") X, 16, 400, "must be a JSON object"},
    {"/v1/apply", REQUEST("{\\\"spec\\\":") X, 16, 400, "malformed-json"},
    {"/v1/apply", REQUEST("{\\\"spec\\\":{\\\"kind\\\":\\\"rope\\\",\\\"dims\\\":2}}") X, 16, 400,
     "\"pointer\":\"/spec/dims\""},
    /* Which tensors. */
    {"/v1/apply?kind=none", TENSOR("z", "F32", "[2,2]", "0", "16"), 16, 400,
     "\\\"z\\\" is no tensor of POST /v1/apply"},
    {"/v1/apply?kind=none", TENSOR("z", "F32", "[2,2]", "0", "16"), 16, 400,
     "[\"x\",\"q\",\"k\",\"scores\",\"table\",\"cos\",\"sin\",\"positions\",\"grid\","},
    {"/v1/apply?kind=none", TENSOR("axes", "F32", "[2,2]", "0", "16"), 16, 400, "is no tensor"},
    {"/v1/apply", REQUEST("{\\\"spec\\\":\\\"none\\\",\\\"x\\\":[1,2]}") X, 16, 400,
     "is a tensor of the file and is given beside it too"},
    {"/v1/apply?kind=none", TENSOR("x", "I64", "[2]", "0", "16"), 16, 400,
     "dtype must be one of f64, f32, f16, bf16; got \\\"i64\\\""},
    {"/v1/apply?kind=none", "", 0, 400, "a tensor is missing"},
    {"/v1/apply?kind=none", TENSOR("x", "F32", "[]", "0", "4"), 4, 422, "rank 0"},
    {"/v1/scores.csv?kind=none&offsets=0:2&anchors=0",
     TENSOR("q", "F32", "[2]", "0", "8") "," TENSOR("k", "F32", "[2]", "8", "16"), 16, 200,
     "anchor,0,1\n0,11,11\n"},
    /* Positions as a tensor. */
    {"/v1/apply.csv?kind=rope", X "," TENSOR("positions", "I64", "[2]", "16", "32"), 32, 200,
     "5,2.2015107,-0.3915999\n0,3,4\n"},
    {"/v1/apply.csv?kind=rope&positions=5,0", X, 16, 200, "5,2.2015107,-0.3915999\n0,3,4\n"},
    {"/v1/apply?kind=rope&positions=5,0", X "," TENSOR("positions", "I64", "[2]", "16", "32"), 32,
     400, "is a tensor of the file and is given beside it too"},
    {"/v1/apply?kind=rope", X "," TENSOR("positions", "I64", "[2,1]", "16", "32"), 32, 422,
     "positions must be one flat list here"},
    {"/v1/apply?kind=rope", X "," TENSOR("positions", "F32", "[4]", "16", "32"), 32, 422,
     "4 positions (in 1 lists) for 2 tokens"},
    {"/v1/apply?kind=rope", X "," TENSOR("k_positions", "I64", "[2]", "16", "32"), 32, 400,
     "there is no k"},
};

static void send(const char *target, const char *header, size_t bytes, struct request *request)
{
    char braced[1200];
    static struct file file;
    snprintf(braced, sizeof braced, "{%.*s}", (int)strlen(header), header);
    if (bytes == 0)
        snprintf(braced, sizeof braced, "{}");
    file_safetensors(&file, braced, &data, bytes);
    call_with.content_type = "application/x-safetensors";
    call_bytes(request, target, file.bytes, file.len);
}

/* Whether the text stands in the answer, whose bytes may be any. */
static bool holds(const struct request *request, const char *body, const char *text)
{
    return memmem(body, call_body_len(request), text, strlen(text)) != NULL;
}

Test(job_body, files_and_what_stands_beside_them)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct request request;
        send(rows[i].target, rows[i].header, rows[i].bytes, &request);
        const char *body = call_body(&request);
        cr_expect_eq(request.response.status, rows[i].status, "row %zu, %s: %s", i, rows[i].target,
                     body);
        cr_expect(holds(&request, body, rows[i].says), "row %zu, %s: %s", i, rows[i].target, body);
        call_end(&request);
    }
}

/* An i64 between doubles is refused, not rounded. */
Test(job_body, positions_beyond_2_53)
{
    struct request request;
    send("/v1/apply?kind=rope",
         X "," TENSOR("q", "F32", "[2,2]", "16", "32") "," TENSOR("positions", "I64", "[2]", "32",
                                                                  "48"),
         48, &request);
    cr_expect(holds(&request, call_body(&request), "at most 2^53"), "%s", call_body(&request));
    call_end(&request);
}

/* rope2d: one row of positions for each axis, as {"axes": ..} says it in JSON. */
Test(job_body, positions_of_two_axes)
{
    struct request file, json;
    static const double zeros_and_one[4] = {0, 1, 1, 0};
    static struct file body;
    char header[400];
    snprintf(header, sizeof header, "{%s,%s}", TENSOR("positions", "F64", "[2,2]", "0", "32"),
             TENSOR("x", "F64", "[2,4]", "32", "96"));
    double both[12] = {0, 1, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    memcpy(both, zeros_and_one, sizeof zeros_and_one);
    file_safetensors(&body, header, both, sizeof both);
    call_with.content_type = "application/x-safetensors";
    call_bytes(&file, "/v1/apply.json?kind=rope2d", body.bytes, body.len);
    call_with.content_type = NULL;
    call(&json, "POST", "/v1/apply",
         "{\"spec\":\"rope2d:dim=4\",\"positions\":{\"axes\":[[0,1],[1,0]]},"
         "\"x\":[[1,2,3,4],[5,6,7,8]]}");
    cr_expect_eq(file.response.status, 200);
    cr_expect_str_eq(call_body(&file), call_body(&json));
    call_end(&file);
    call_end(&json);
}

/* Members of a tensor in JSON, one mistake each. */
Test(job_body, base64_in_json)
{
    static const struct {
        const char *x;
        int status;
        const char *says;
    } tensors[] = {
        {"{\"dtype\":\"bf16\",\"shape\":[1,2],\"b64\":\"gD8AQA==\"}", 200, "\"data\":[[1,2]]"},
        {"{\"dtype\":\"bf16\",\"shape\":[1,2],\"b64\":\"gD8AQA\"}", 400, "malformed-tensor"},
        {"{\"dtype\":\"bf16\",\"shape\":[1,2],\"b64\":\"gD8AQEBA\"}", 400,
         "shape and dtype ask for 4 bytes, b64 has 6"},
        {"{\"shape\":[1,2],\"b64\":\"gD8AQA==\"}", 400, "\"pointer\":\"/x/dtype\""},
        {"{\"dtype\":\"bf16\",\"b64\":\"gD8AQA==\"}", 400, "\"pointer\":\"/x/shape\""},
        {"{\"dtype\":\"bf16\",\"shape\":[1,2],\"b64\":\"gD8AQA==\",\"data\":[[1,2]]}", 400,
         "a tensor has data or b64, not both"},
        {"{\"dtype\":\"bf16\",\"shape\":[1,2],\"b64\":[1,2]}", 400, "malformed-tensor"},
        {"{\"dtype\":\"i64\",\"data\":[[1,2]]}", 400, "got \\\"i64\\\""},
        {"{\"dtype\":\"f16\",\"data\":[[1,65520]]}", 400, "\"pointer\":\"/x/data/0/1\""},
        {"{\"dtype\":\"f32\",\"base64\":\"gD8AQA==\"}", 400, "unknown-parameter"},
    };
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        struct request request;
        char body[300];
        snprintf(body, sizeof body, "{\"spec\":\"none\",\"x\":%s}", tensors[i].x);
        call_with.content_type = NULL;
        call(&request, "POST", "/v1/apply", body);
        cr_expect_eq(request.response.status, tensors[i].status, "%s: %s", body,
                     call_body(&request));
        cr_expect(strstr(call_body(&request), tensors[i].says), "%s: %s", body,
                  call_body(&request));
        call_end(&request);
    }
}

/* Past the largest number, infinite on request; what only rounds down to it is not past it. */
Test(job_body, overflow)
{
    struct request request;
    call_with.content_type = NULL;
    call(&request, "POST", "/v1/apply.csv",
         "{\"spec\":\"none\",\"overflow\":\"inf\",\"x\":{\"dtype\":\"f16\",\"data\":[[65519,65520,"
         "-1e999]]}}");
    cr_expect_str_eq(call_body(&request), "position,0,1,2\n0,65500,Infinity,-Infinity\n");
    call_end(&request);
}
