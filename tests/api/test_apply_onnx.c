// SPDX-License-Identifier: Apache-2.0
/*
 * test_apply_onnx.c: names=onnx: what comes is what the operator RotaryEmbedding takes and gives,
 * by its definition: rows of the caches by position_ids, or one for each token; the two products
 * and their sum, rounded once.
 */
#include <math.h>

#include "call.h"
#include "posenc.h"

#define MAX 1024

struct tensor {
    size_t rank, shape[4], n;
    double at[MAX];
};

static double rounded(enum pe_dtype dtype, double y)
{
    double room;
    pe_store(dtype, &room, 0, y);
    return pe_load(dtype, &room, 0);
}

static void flatten(const json_t *data, struct tensor *out)
{
    if (json_is_number(data))
        out->at[out->n++] = json_number_value(data);
    for (size_t i = 0; i < json_array_size(data); i++)
        flatten(json_array_get(data, i), out);
}

static bool tensor_of(const json_t *answer, const char *name, struct tensor *out)
{
    const json_t *tensor = json_object_get(json_object_get(answer, "tensors"), name);
    const json_t *shape = json_object_get(tensor, "shape");
    *out = (struct tensor){.rank = json_array_size(shape)};
    for (size_t i = 0; i < out->rank; i++)
        out->shape[i] = (size_t)json_integer_value(json_array_get(shape, i));
    flatten(json_object_get(tensor, "data"), out);
    const char *name_of = json_string_value(json_object_get(tensor, "dtype"));
    enum pe_dtype dtype = PE_I64;
    bool known = !name_of || pe_dtype_parse(name_of, strlen(name_of), &dtype);
    for (size_t i = 0; dtype != PE_I64 && i < out->n; i++) /* digits enough for the dtype */
        out->at[i] = rounded(dtype, out->at[i]);
    return tensor && known;
}

/* Attributes of the operator. */
struct operator
{
    const char *fixture;
    size_t heads, dim, rotary;
    bool interleaved, ids;
};

/* Where head h of token s of batch b begins. */
static size_t start_of(const struct operator* op, const struct tensor *x, size_t b, size_t h,
                       size_t s)
{
    if (x->rank == 3)
        return (b * x->shape[1] + s) * x->shape[2] + h * op->dim;
    return ((b * x->shape[1] + h) * x->shape[2] + s) * x->shape[3];
}

static void try_operator(const struct operator* op, enum pe_dtype dtype)
{
    static struct tensor x, y, cosines, sines, ids;
    char target[100];
    snprintf(target, sizeof target, "/v1/fixtures/%s%s%s.json", op->fixture,
             dtype == PE_F32 ? "" : "-", dtype == PE_F32 ? "" : pe_dtype_name(dtype));
    json_t *answer = call_ask(target, NULL, 200);
    cr_assert(tensor_of(answer, "X", &x) && tensor_of(answer, "Y", &y));
    cr_assert(tensor_of(answer, "cos_cache", &cosines) && tensor_of(answer, "sin_cache", &sines));
    cr_assert_eq(tensor_of(answer, "position_ids", &ids), op->ids);
    size_t half = op->rotary / 2, tokens = x.shape[x.rank - 2];
    cr_assert_eq(cosines.rank, op->ids ? 2 : 3);
    cr_assert_eq(cosines.shape[cosines.rank - 1], half);
    for (size_t i = 0; i < x.n / op->dim; i++) {
        size_t b = i / (op->heads * tokens), h = i / tokens % op->heads, s = i % tokens;
        size_t row = op->ids ? (size_t)ids.at[b * tokens + s] : b * tokens + s;
        size_t at = start_of(op, &x, b, h, s);
        for (size_t j = op->rotary; j < op->dim; j++)
            cr_expect_eq(y.at[at + j], x.at[at + j]);
        for (size_t j = 0; j < half; j++) {
            size_t first = at + (op->interleaved ? 2 * j : j);
            size_t second = op->interleaved ? first + 1 : first + half;
            double c = cosines.at[row * half + j], w = sines.at[row * half + j];
            double real = rounded(dtype, c * x.at[first] - w * x.at[second]);
            double imag = rounded(dtype, w * x.at[first] + c * x.at[second]);
            cr_expect(y.at[first] == real && y.at[second] == imag, "%s %zu %zu %zu %zu", target, b,
                      h, s, j);
        }
    }
    json_decref(answer);
}

Test(onnx, fixtures_are_what_the_operator_does)
{
    static const struct operator operators[] = {
        {"rope-onnx-3d", 3, 8, 8, false, true},
        {"rope-onnx-4d", 3, 8, 8, false, true},
        {"rope-onnx-interleaved", 3, 8, 4, true, false},
    };
    for (size_t i = 0; i < 3; i++) {
        try_operator(&operators[i], PE_F32);
        try_operator(&operators[i], PE_F16);
        try_operator(&operators[i], PE_BF16);
    }
}

/* Of a POST, whose x is the caller's: the same names, in the dtype of x. */
Test(onnx, names_what_is_made_of_posted_tensors)
{
    static struct tensor y, cosines, ids;
    json_t *answer =
        call_ask("/v1/apply",
                 "{\"spec\":\"rope:dim=2\",\"names\":\"onnx\",\"axes\":\"btd\",\"with\":"
                 "[\"cos\",\"positions\"],\"x\":{\"dtype\":\"f32\",\"data\":[[[1,0],[1,0]]]}}",
                 200);
    cr_assert(tensor_of(answer, "Y", &y) && tensor_of(answer, "cos_cache", &cosines) &&
              tensor_of(answer, "position_ids", &ids));
    cr_expect(y.at[2] == cosines.at[1] && cosines.at[1] == (double)0.5403023F);
    cr_expect(ids.rank == 2 && ids.at[0] == 0 && ids.at[1] == 1);
    cr_expect_null(json_object_get(json_object_get(answer, "tensors"), "X"));
    json_decref(answer);
}

Test(onnx, refuses_what_the_operator_has_not)
{
    static const struct {
        const char *target, *parameter;
    } wrong[] = {
        {"/v1/apply?kind=sinusoidal&dim=4&names=onnx&shape=1,2,4&axes=btd", "names"},
        {"/v1/apply?kind=rope&dim=4&names=onnx&positions=0:2", "axes"},
        {"/v1/apply?kind=rope&dim=4&names=onnx&shape=2,2,4&axes=htd", "axes"},
        {"/v1/apply?kind=rope&dim=4&names=onnx&shape=1,2,4&axes=btd&with=cos&width=tiled", "width"},
        {"/v1/apply?kind=rope&dim=4&names=onnx&shape=1,2,4&axes=btd&positions=1,2&with=positions",
         "with"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_t *problem = call_ask(wrong[i].target, NULL, 400);
        const json_t *one = json_array_get(json_object_get(problem, "errors"), 0);
        cr_expect_str_eq(json_string_value(json_object_get(one, "parameter")), wrong[i].parameter,
                         "%s", wrong[i].target);
        json_decref(problem);
    }
}
