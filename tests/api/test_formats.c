// SPDX-License-Identifier: Apache-2.0
/*
 * test_formats.c: one tensor in and out in every format, bit for bit: what numpy wrote comes back
 * as numpy writes it, and the same elements stand in .safetensors, .bin, csv and JSON. kind=none
 * changes nothing, so that what is asked back is what was sent.
 */
#include "call.h"
#include "files.h"

#define DATA "tests/tensor/data/"

/* The six elements of every file in tests/tensor/data, [2, 3], as make.py there has them. */
static const struct tensor_case {
    const char *file, *dtype, *upper;
    size_t size;
    uint64_t bits[6];
} cases[] = {
    {"f8",
     "f64",
     "F64",
     8,
     {0x3FF0000000000000, 0x8000000000000000, 1, 0x7FF8000000000123, 0x7FF0000000000000,
      0xFFF0000000000000}},
    {"f4", "f32", "F32", 4, {0x3F800000, 0x80000000, 1, 0x7FC00123, 0x7F800000, 0xFF800000}},
    {"f2", "f16", "F16", 2, {0x3C00, 0x8000, 1, 0x7E23, 0x7C00, 0xFC00}},
    {"u2", "bf16", "BF16", 2, {0x3F80, 0x8000, 1, 0x7FC3, 0x7F80, 0xFF80}},
};

#define CASES_N (sizeof cases / sizeof *cases)

static void elements_of(const struct tensor_case *of, char out[48])
{
    for (size_t i = 0; i < 6; i++)
        memcpy(out + i * of->size, &of->bits[i], of->size);
}

static void expect_bytes(const struct request *request, const char *got, size_t len,
                         const char *expected, size_t expected_len)
{
    cr_expect(len == expected_len && memcmp(got, expected, len) == 0,
              "%s: %zu bytes, not the %zu expected", request->target, len, expected_len);
}

/* The answer's elements, and all that says what they are. */
static void expect_elements(struct request *request, const struct tensor_case *of,
                            const char *format)
{
    char elements[48], text[600];
    const char *body = call_body(request), *data;
    size_t len = call_body_len(request), bytes = 6 * of->size;
    elements_of(of, elements);
    cr_assert_eq(request->response.status, 200, "%s: %s", request->target, body);
    if (strcmp(format, "bin") == 0) {
        snprintf(text, sizeof text, "dtype=%s; shape=\"2,3\"", of->dtype);
        cr_expect_str_eq(call_field(request, "Tensor"), text);
        expect_bytes(request, body, len, elements, bytes);
    } else if (strcmp(format, "npy") == 0) {
        struct file numpy;
        snprintf(text, sizeof text, DATA "%s-little-c.npy", of->file);
        file_load(&numpy, text);
        expect_bytes(request, body, len, numpy.bytes, numpy.len);
    } else if (strcmp(format, "safetensors") == 0) {
        json_t *header = safetensors_open(body, len, &data);
        data = safetensors_data(header, data, "y", of->upper, &len);
        expect_bytes(request, data, len, elements, bytes);
        json_decref(header);
    } else {
        int n = snprintf(text, sizeof text,
                         strcmp(format, "csv") == 0
                             ? "position,0,1,2\n0,%llu,%llu,%llu\n1,%llu,%llu,%llu\n"
                             : "\"data\":[[%llu,%llu,%llu],[%llu,%llu,%llu]]",
                         (unsigned long long)of->bits[0], (unsigned long long)of->bits[1],
                         (unsigned long long)of->bits[2], (unsigned long long)of->bits[3],
                         (unsigned long long)of->bits[4], (unsigned long long)of->bits[5]);
        cr_assert(n > 0 && n < (int)sizeof text);
        cr_expect(strstr(body, text), "%s: no %s in %s", request->target, text, body);
    }
}

/* The same six elements as a body in some format; returns its media type. */
static const char *make_body(const struct tensor_case *of, size_t way, struct file *file)
{
    static const char *const npy[] = {"little-c", "little-fortran", "big-c", "big-fortran"};
    char elements[48], text[400];
    size_t bytes = 6 * of->size;
    elements_of(of, elements);
    if (way < 4) {
        snprintf(text, sizeof text, DATA "%s-%s.npy", of->file, npy[way]);
        file_load(file, text);
        return "application/x-npy";
    }
    /* Spaces before the data put them at an address where they can, or cannot, be used. */
    snprintf(text, sizeof text,
             "{\"x\":{\"dtype\":\"%s\",\"shape\":[2,3],\"data_offsets\":[0,%zu]}}%*s", of->upper,
             bytes, (int)(way - 3), "");
    file_safetensors(file, text, elements, bytes);
    return "application/x-safetensors";
}

Test(formats, bits_come_through)
{
    static const char *const formats[] = {"npy", "safetensors", "bin", "csv", "json"};
    for (size_t c = 0; c < CASES_N; c++)
        for (size_t way = 0; way < 12; way++)
            for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
                struct request request;
                struct file file;
                char target[100];
                call_with.content_type = make_body(&cases[c], way, &file);
                snprintf(target, sizeof target, "/v1/apply.%s?kind=none&numbers=bits", formats[f]);
                call_bytes(&request, target, file.bytes, file.len);
                expect_elements(&request, &cases[c], formats[f]);
                call_end(&request);
            }
}

/* Through base64, and through numbers with their NaN and infinities as strings. */
Test(formats, json_bodies)
{
    static const char *const b64[] = {
        "AAAAAAAA8D8AAAAAAAAAgAEAAAAAAAAAIwEAAAAA+H8AAAAAAADwfwAAAAAAAPD/",
        "AACAPwAAAIABAAAAIwHAfwAAgH8AAID/",
        "ADwAgAEAI34AfAD8",
        "gD8AgAEAw3+Af4D/",
    };
    for (size_t c = 0; c < CASES_N; c++) {
        struct request request;
        char body[300];
        snprintf(body, sizeof body,
                 "{\"spec\":\"none\",\"x\":{\"dtype\":\"%s\",\"shape\":[2,3],\"b64\":\"%s\"}}",
                 cases[c].dtype, b64[c]);
        call(&request, "POST", "/v1/apply.bin", body);
        expect_elements(&request, &cases[c], "bin");
        call_end(&request);
        snprintf(body, sizeof body,
                 "{\"spec\":\"none\",\"x\":{\"dtype\":\"%s\",\"data\":[[1,-0.0,5e-324],"
                 "[\"NaN\",\"Infinity\",\"-Infinity\"]]}}",
                 cases[c].dtype);
        call(&request, "POST", "/v1/apply.csv", body);
        cr_expect_str_eq(call_body(&request), c == 0 ? "position,0,1,2\n0,1,-0.0,5e-324\n"
                                                       "1,NaN,Infinity,-Infinity\n"
                                                     : "position,0,1,2\n0,1,-0.0,0\n"
                                                       "1,NaN,Infinity,-Infinity\n");
        call_end(&request);
        call(&request, "POST", "/v1/apply", body);
        cr_expect(strstr(call_body(&request), c == 0 ? "[[1,-0.0,5e-324],[\"NaN\",\"Infinity\","
                                                       "\"-Infinity\"]]"
                                                     : "[[1,-0.0,0],[\"NaN\",\"Infinity\","
                                                       "\"-Infinity\"]]"),
                  "%s", call_body(&request));
        call_end(&request);
    }
}

/* ---- Every endpoint -------------------------------------------------------------------------- */

static const struct {
    const char *path, *query, *main, *dtype;
} endpoints[] = {
    {"/v1/table", "kind=rope&dim=8&positions=0:5&dtype=f32", "table", "F32"},
    {"/v1/table", "kind=rope&dim=8&positions=0:5&value=both&dtype=bf16", "cos", "BF16"},
    {"/v1/table", "kind=t5&positions=0:5&value=bucket", "bucket", "I64"},
    {"/v1/table", "kind=alibi&heads=3&positions=0:5&dtype=f16", "bias", "F16"},
    {"/v1/frequencies", "kind=rope&dim=8", "inv_freq", "F64"},
    {"/v1/frequencies", "kind=rope&dim=8&select=band", "band", "I64"},
    {"/v1/frequencies", "kind=rope&dim=6&dtype=f16", "inv_freq", "F16"},
    {"/v1/frequencies", "kind=rope&dim=6&dtype=f32", "inv_freq", "F32"},
    {"/v1/rotation", "kind=rope&dim=8&positions=0:5&content=random", "angle", "F64"},
    {"/v1/rotation", "kind=rope&dim=8&positions=0:5&content=random&select=after", "after", "F64"},
    {"/v1/apply", "kind=rope&dim=8&positions=0:5&dtype=f32", "y", "F32"},
    {"/v1/apply", "kind=rope&dim=8&positions=0:5&dtype=f32&select=x", "x", "F32"},
    {"/v1/scores", "kind=sinusoidal&dim=8&offsets=0:5&terms=1", "scores", "F64"},
    {"/v1/scores", "spec=rope:dim=8&spec=sinusoidal:dim=8&offsets=0:5", "scores", "F64"},
};

static void get(struct request *request, const char *path, const char *suffix, const char *query)
{
    char target[200];
    snprintf(target, sizeof target, "%s.%s?%s", path, suffix, query);
    call(request, "GET", target, NULL);
    cr_assert_eq(request->response.status, 200, "%s: %s", target, call_body(request));
}

/* Every tensor stands where its elements can be used in place. */
static void expect_alignment(const struct request *request, const json_t *header)
{
    const char *name;
    json_t *tensor;
    json_object_foreach((json_t *)header, name, tensor)
    {
        const char *dtype = json_string_value(json_object_get(tensor, "dtype"));
        const json_t *offsets = json_object_get(tensor, "data_offsets");
        json_int_t size = !dtype ? 1 : strstr(dtype, "64") ? 8 : strstr(dtype, "32") ? 4 : 2;
        cr_expect_eq(json_integer_value(json_array_get(offsets, 0)) % size, 0, "%s: %s",
                     request->target, name);
    }
}

Test(formats, endpoints_give_the_same_elements)
{
    for (size_t i = 0; i < sizeof endpoints / sizeof *endpoints; i++) {
        struct request bin, npy, file;
        size_t len;
        const char *data;
        get(&bin, endpoints[i].path, "bin", endpoints[i].query);
        get(&file, endpoints[i].path, "safetensors", endpoints[i].query);
        cr_expect_str_eq(bin.response.content_type, "application/octet-stream");
        cr_expect_str_eq(file.response.content_type, "application/x-safetensors");
        json_t *header = safetensors_open(call_body(&file), call_body_len(&file), &data);
        expect_alignment(&file, header);
        data = safetensors_data(header, data, endpoints[i].main, endpoints[i].dtype, &len);
        expect_bytes(&file, data, len, call_body(&bin), call_body_len(&bin));
        char query[160];
        snprintf(query, sizeof query, "%s&numbers=bits", endpoints[i].query);
        get(&npy, endpoints[i].path, "npy", query);
        cr_expect_str_eq(npy.response.content_type, "application/x-npy");
        data = npy_data(call_body(&npy), call_body_len(&npy), &len);
        expect_bytes(&npy, data, len, call_body(&bin), call_body_len(&bin));
        json_decref(header);
        call_end(&bin);
        call_end(&npy);
        call_end(&file);
    }
}

/* What JSON says beside the tensors stands in the metadata, texts as they are. */
Test(formats, metadata_is_the_envelope)
{
    static const char *const members[] = {"semantics", "spec", "spec_id", "params", "readouts"};
    for (size_t i = 0; i + 1 < sizeof endpoints / sizeof *endpoints; i++) {
        struct request json, file;
        const char *data;
        get(&json, endpoints[i].path, "json", endpoints[i].query);
        get(&file, endpoints[i].path, "safetensors", endpoints[i].query);
        json_t *envelope = call_json(&json);
        json_t *header = safetensors_open(call_body(&file), call_body_len(&file), &data);
        const json_t *metadata = json_object_get(header, "__metadata__");
        cr_expect_eq(json_object_size(metadata), 5);
        for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
            const char *text = json_string_value(json_object_get(metadata, members[m]));
            const json_t *member = json_object_get(envelope, members[m]);
            json_t *value =
                json_is_string(member) ? json_string(text) : json_loads(text ? text : "", 0, NULL);
            if (strcmp(members[m], "readouts") == 0 && strcmp(endpoints[i].path, "/v1/apply") == 0)
                cr_expect_eq(json_object_size(value), 0, "norms are for JSON and txt");
            else
                cr_expect(json_equal(value, member), "%s: %s", members[m], text);
            json_decref(value);
        }
        cr_expect_str_eq(call_field(&file, "Posenc-Spec-Id"),
                         json_string_value(json_object_get(envelope, "spec_id")));
        cr_expect_str_eq(call_field(&file, "Posenc-Semantics"), API_SEMANTICS_VERSION);
        json_decref(envelope);
        json_decref(header);
        call_end(&json);
        call_end(&file);
    }
}

/* ---- Which format ---------------------------------------------------------------------------- */

Test(formats, the_answer_takes_the_format_of_the_request)
{
    static const struct {
        const char *type, *accept, *target, *media;
    } rows[] = {
        {"application/x-npy", NULL, "/v1/apply?kind=none", "application/x-npy"},
        {"application/x-npy", "*/*", "/v1/apply?kind=none", "application/x-npy"},
        {"application/x-npy", "*/*;q=0.8", "/v1/apply?kind=none", "application/x-npy"},
        {"application/x-npy", "application/*", "/v1/apply?kind=none", "application/x-npy"},
        {"application/x-npy", "text/*", "/v1/apply?kind=none", "text/plain; charset=utf-8"},
        {"application/x-npy", "application/json, */*;q=0.1", "/v1/apply?kind=none",
         "application/json"},
        {"application/x-npy", NULL, "/v1/apply.json?kind=none", "application/json"},
        {"Application/X-Npy; charset=x", NULL, "/v1/apply?kind=none&format=bin",
         "application/octet-stream"},
        {"application/octet-stream", NULL, "/v1/apply.npy?kind=none", "application/x-npy"},
        {"application/octet-stream", NULL, "/v1/apply?kind=none&format=npy", "application/x-npy"},
    };
    struct file file;
    file_load(&file, DATA "f4-little-c.npy");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct request request;
        call_with.content_type = rows[i].type;
        call_with.accept = rows[i].accept;
        call_bytes(&request, rows[i].target, file.bytes, file.len);
        cr_expect_eq(request.response.status, 200, "row %zu: %s", i, call_body(&request));
        cr_expect_str_eq(request.response.content_type, rows[i].media, "row %zu", i);
        call_end(&request);
    }
}

/* One request each that is refused, with part of what is said. */
Test(formats, refusals)
{
    static const struct {
        const char *type, *target;
        int status;
        const char *says;
    } rows[] = {
        {"application/octet-stream", "/v1/apply?kind=none", 415, "suffix .safetensors or .npy"},
        {"application/octet-stream", "/v1/apply.bin?kind=none", 415, "application/x-npy"},
        {"application/x-npy", "/v1/scores?kind=none", 415, "application/x-safetensors"},
        {"text/csv", "/v1/apply?kind=none", 415, "text/csv"},
        {"application/x-npy", "/v1/apply.npy?kind=none&dtype=bf16", 406, ".safetensors"},
        {"application/x-npy", "/v1/apply.npy?kind=none&format=csv", 400, "conflicting-parameters"},
        {"application/x-npy", "/v1/apply", 400, "kind is missing"},
        {"application/x-safetensors", "/v1/apply?kind=none", 400, "malformed-tensor"},
        {"application/x-npy", "/v1/apply?kind=none&select=z", 400, "no tensor \\\"z\\\", but y"},
    };
    struct file file;
    file_load(&file, DATA "f4-little-c.npy");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct request request;
        call_with.content_type = rows[i].type;
        call_bytes(&request, rows[i].target, file.bytes, file.len);
        cr_expect_eq(request.response.status, rows[i].status, "row %zu: %s", i,
                     call_body(&request));
        cr_expect(strstr(call_body(&request), rows[i].says), "row %zu: %s", i, call_body(&request));
        call_end(&request);
    }
}

Test(formats, bits_of_bf16_are_read_from_npy_only_when_asked_for)
{
    struct request request;
    struct file file;
    file_load(&file, DATA "u2-little-c.npy");
    call_with.content_type = "application/x-npy";
    call_bytes(&request, "/v1/apply.bin?kind=none", file.bytes, file.len);
    cr_expect_eq(request.response.status, 400);
    cr_expect(strstr(call_body(&request), "malformed-tensor"), "%s", call_body(&request));
    call_end(&request);
}

/* ---- Empty, and without axes ----------------------------------------------------------------- */

Test(formats, empty_tensors)
{
    static const struct {
        const char *format, *expected;
    } rows[] = {
        {"csv", "position,0,1,2\n"},
        {"txt", "pos 0 1 2\n"},
        {"bin", ""},
    };
    struct request request;
    struct file empty;
    file_load(&empty, DATA "empty.npy"); /* [0, 3] */
    call_with.content_type = "application/x-npy";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char target[60];
        snprintf(target, sizeof target, "/v1/apply.%s?kind=sinusoidal", rows[i].format);
        call_bytes(&request, target, empty.bytes, empty.len);
        cr_expect_eq(request.response.status, 200, "%s", call_body(&request));
        cr_expect_str_eq(call_body(&request), rows[i].expected);
        call_end(&request);
    }
    call_bytes(&request, "/v1/apply?kind=sinusoidal", empty.bytes, empty.len);
    expect_bytes(&request, call_body(&request), call_body_len(&request), empty.bytes, empty.len);
    call_end(&request);
    call_bytes(&request, "/v1/apply.json?kind=sinusoidal", empty.bytes, empty.len);
    cr_expect(strstr(call_body(&request), "{\"dtype\":\"f32\",\"shape\":[0,3],\"data\":[]}"), "%s",
              call_body(&request));
    call_end(&request);
}

Test(formats, empty_and_single_json_tensors)
{
    static const struct {
        const char *body;
        int status;
        const char *says;
    } rows[] = {
        {"\"spec\":\"rope:dim=4\",\"x\":{\"shape\":[0,4],\"data\":[]}", 200, "\"shape\":[0,4]"},
        {"\"spec\":\"rope:dim=4\",\"x\":{\"shape\":[0,4],\"data\":[]},\"positions\":[]", 200,
         "\"data\":[]"},
        {"\"spec\":\"rope2d:dim=4\",\"x\":{\"shape\":[0,4],\"data\":[]}", 200, "\"data\":[]"},
        {"\"spec\":\"rope2d:dim=4\",\"x\":{\"shape\":[0,4],\"data\":[]},\"positions\":{\"axes\":"
         "[[],[]]}",
         200, "\"data\":[]"},
        {"\"spec\":\"rope:dim=4\",\"axes\":\"btd\",\"x\":{\"shape\":[2,0,4],\"data\":[[],[]]}", 200,
         "\"data\":[[],[]]"},
        {"\"spec\":\"rope:dim=4\",\"axes\":\"btd\",\"x\":{\"shape\":[0,2,4],\"dtype\":\"f16\","
         "\"b64\":\"\"}",
         200, "\"dtype\":\"f16\",\"shape\":[0,2,4],\"data\":[]"},
        {"\"spec\":\"alibi\",\"scores\":{\"shape\":[1,0,3],\"data\":[[]]}", 200,
         "\"shape\":[1,0,3],\"data\":[[]]"},
        {"\"spec\":\"rope:dim=4\",\"x\":{\"shape\":[0,4],\"data\":[]},\"positions\":[1]", 422,
         "1 positions (in 1 lists) for 0 tokens"},
        {"\"spec\":\"rope:dim=4\",\"x\":{\"shape\":[1,0],\"data\":[[]]}", 422, "0 channels"},
        {"\"spec\":\"rope\",\"x\":{\"data\":5}", 422, "rank 0"},
        {"\"spec\":\"rope\",\"x\":{\"shape\":[],\"data\":[5]}", 422, "rank 0"},
        {"\"spec\":\"rope\",\"x\":{\"shape\":[2,0,3],\"data\":[[],[],[]]}", 400,
         "shape asks for 0 elements in 3 axes, data has 0 in 2"},
        {"\"spec\":\"rope\",\"q\":[],\"k\":[]", 400, "dim must be at least 2, got 0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct request request;
        char body[300];
        snprintf(body, sizeof body, "{%s}", rows[i].body);
        call(&request, "POST", "/v1/apply", body);
        cr_expect_eq(request.response.status, rows[i].status, "%s: %s", body, call_body(&request));
        cr_expect(strstr(call_body(&request), rows[i].says), "%s: %s", body, call_body(&request));
        call_end(&request);
    }
}

/* ---- Limits and notations -------------------------------------------------------------------- */

/* Text is larger and slower than bytes, and so has a lower limit. */
Test(formats, limits_are_those_of_the_format)
{
    static const struct {
        const char *target;
        int status;
    } rows[] = {
        {"/v1/table.csv?kind=none&dim=8&positions=0:524289", 422},
        {"/v1/table.json?kind=none&dim=8&positions=0:524289", 422},
        {"/v1/table.npy?kind=none&dim=8&positions=0:524289&dtype=f16", 200},
        {"/v1/table.bin?kind=none&dim=64&positions=0:524289", 422},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct request request;
        call(&request, "HEAD", rows[i].target, NULL);
        cr_expect_eq(request.response.status, rows[i].status, "%s", rows[i].target);
        call_end(&request);
    }
}

Test(formats, a_header_has_room_for_1_mib)
{
    struct request request;
    call(&request, "GET", "/v1/scores.safetensors?kind=rope&dim=2&anchors=0:64&offsets=0:1024",
         NULL);
    cr_expect_eq(request.response.status, 422);
    cr_expect(strstr(call_body(&request), "limit-exceeded"), "%s", call_body(&request));
    call_end(&request);
}

Test(formats, notations)
{
    static const struct {
        const char *target, *expected;
    } rows[] = {
        {"/v1/table.csv?kind=integer&dim=2&positions=0.1,-3&dtype=f32&numbers=exact",
         "position,0,1\n0.1,0.100000001,0.100000001\n-3,-3,-3\n"},
        {"/v1/table.csv?kind=integer&dim=2&positions=0.1,-3&dtype=f32&numbers=hex",
         "position,0,1\n0.1,0x1.99999ap-4,0x1.99999ap-4\n-3,-0x1.8p+1,-0x1.8p+1\n"},
        {"/v1/table.csv?kind=integer&dim=2&positions=0.1,-3&dtype=f32&numbers=bits",
         "position,0,1\n0.1,1036831949,1036831949\n-3,3225419776,3225419776\n"},
        {"/v1/table.txt?kind=integer&dim=2&positions=0.1,-3&dtype=f32&numbers=hex",
         "pos             0             1\n0.1 0x1.99999ap-4 0x1.99999ap-4\n -3     -0x1.8p+1     "
         "-0x1.8p+1\n"},
        {"/v1/rotation.csv?kind=rope&dim=2&positions=0&select=cos", "position,0\n0,1\n"},
        {"/v1/frequencies.csv?kind=rope&dim=4&scaling=linear&factor=2&select=band&numbers=hex",
         "pair,band\n0,0x2\n1,0x2\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct request request;
        call(&request, "GET", rows[i].target, NULL);
        cr_expect_str_eq(call_body(&request), rows[i].expected, "%s: %s", rows[i].target,
                         call_body(&request));
        call_end(&request);
    }
    struct request request;
    call(&request, "GET", "/v1/table?kind=integer&dim=1&positions=0.5&numbers=hex", NULL);
    cr_expect(strstr(call_body(&request), "\"data\":[[\"0x1p-1\"]]"), "%s", call_body(&request));
    call_end(&request);
}
