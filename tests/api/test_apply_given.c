// SPDX-License-Identifier: Apache-2.0
/*
 * test_apply_given.c: /v1/apply with cos and sin of the caller's, as ONNX RotaryEmbedding has them:
 * every stored case of that operator, with tables that are no cosines too, and what must be
 * refused.
 */
#include <math.h>

#include "call.h"
#include "golden/golden.h"

/* ---- The operator -------------------------------------------------------------------------- */

/* {"dtype", "shape", "data"} under another name. */
static void put_tensor(json_t *body, const char *name, const json_t *from)
{
    if (from)
        json_object_set_new(body, name, json_deep_copy(from));
}

static int attribute(const json_t *one, const char *name)
{
    return (int)json_integer_value(json_object_get(json_object_get(one, "attributes"), name));
}

static json_t *body_of(const json_t *one)
{
    const json_t *inputs = json_object_get(one, "inputs"), *x = json_object_get(inputs, "input");
    const json_t *shape = json_object_get(x, "shape");
    bool flat = json_array_size(shape) == 3;
    int heads = flat ? attribute(one, "num_heads") : 1;
    int last = (int)json_integer_value(json_array_get(shape, json_array_size(shape) - 1));
    int rotary = attribute(one, "rotary_embedding_dim");
    json_t *body = json_pack("{s{ss si si ss} ss si}", "spec", "kind", "rope", "dim", last / heads,
                             "rotary_dim", rotary ? rotary : last / heads, "layout",
                             attribute(one, "interleaved") ? "interleaved" : "half", "axes",
                             flat ? "btd" : "bhtd", "heads", heads);
    put_tensor(body, "x", x);
    put_tensor(body, "cos", json_object_get(inputs, "cos_cache"));
    put_tensor(body, "sin", json_object_get(inputs, "sin_cache"));
    put_tensor(body, "positions", json_object_get(inputs, "position_ids"));
    return body;
}

static size_t flatten(const json_t *data, double *out, size_t n)
{
    if (!json_is_array(data)) {
        out[n] = golden_number(data);
        return n + 1;
    }
    for (size_t i = 0; i < json_array_size(data); i++)
        n = flatten(json_array_get(data, i), out, n);
    return n;
}

#define MAX 4096

/* 5e-7 max(1, |y|): what float32 arithmetic may differ by. */
static void try_case(const json_t *one)
{
    static double got[MAX], wanted[MAX];
    json_t *body = body_of(one);
    char *text = json_dumps(body, JSON_COMPACT);
    json_t *answer = call_ask("/v1/apply", text, 200);
    const json_t *y = json_object_get(json_object_get(answer, "tensors"), "y");
    const json_t *golden = json_object_get(json_object_get(one, "outputs"), "output");
    size_t n = golden_list(json_object_get(golden, "data"), wanted, MAX);
    cr_assert_eq(flatten(json_object_get(y, "data"), got, 0), n);
    for (size_t i = 0; i < n; i++)
        cr_expect(fabs(got[i] - wanted[i]) <= 5e-7 * fmax(1, fabs(wanted[i])),
                  "%s [%zu]: %g, not %g", json_string_value(json_object_get(one, "name")), i,
                  got[i], wanted[i]);
    json_decref(answer);
    json_decref(body);
    free(text);
}

Test(operator, gives_the_stored_outputs)
{
    static const char *const files[] = {"onnx_rotary_node_tests.json",
                                        "onnx_rotary_reference.json"};
    for (size_t f = 0; f < 2; f++) {
        json_t *document = golden_load(files[f]), *one;
        size_t i;
        cr_assert_eq(json_array_size(json_object_get(document, "cases")), 8);
        json_array_foreach(json_object_get(document, "cases"), i, one) try_case(one);
        json_decref(document);
    }
}

/* ---- Values -------------------------------------------------------------------------------- */

#define TABLES "\"cos\":[[1,0.5],[0.25,2]],\"sin\":[[0,0.5],[0.125,1]]"

Test(given, is_taken_as_it_is)
{
    static const struct {
        const char *body, *y;
    } rows[] = {
        {"\"spec\":\"rope:dim=4\",\"positions\":[1,0],\"x\":[[1,2,3,4],[1,2,3,4]]," TABLES,
         "[[0,0.625,2,11],[1,2,-0.5,3.5]]"},
        {"\"spec\":\"rope:dim=4,layout=half\",\"positions\":[1],\"x\":[[1,2,3,4]]," TABLES,
         "[[-0.125,0,0.875,10]]"},
        /* without batches a row for each token */
        {"\"spec\":\"rope:dim=4,layout=half\",\"x\":[[1,2,3,4],[1,2,3,4]]," TABLES,
         "[[1,-1,3,3],[-0.125,0,0.875,10]]"},
        {"\"spec\":\"rope:dim=4,layout=half,direction=-1\",\"positions\":[1],\"x\":[[1,2,3,4]]"
         "," TABLES,
         "[[0.625,8,0.625,6]]"},
        {"\"spec\":\"rope:dim=6,rotary_dim=4,layout=half\",\"positions\":[1],"
         "\"x\":[[1,2,3,4,5,6]]," TABLES,
         "[[-0.125,0,0.875,10,5,6]]"},
        {"\"spec\":\"rope:dim=4,layout=half\",\"axes\":\"btd\",\"x\":[[[1,2,3,4]],[[1,2,3,4]]],"
         "\"cos\":[[[1,0.5]],[[0.25,2]]],\"sin\":[[[0,0.5]],[[0.125,1]]]",
         "[[[1,-1,3,3]],[[-0.125,0,0.875,10]]]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[400];
        snprintf(body, sizeof body, "{%s}", rows[i].body);
        json_t *answer = call_ask("/v1/apply", body, 200), *wanted = json_loads(rows[i].y, 0, NULL);
        double got[16], numbers[16];
        const json_t *y = json_object_get(json_object_get(answer, "tensors"), "y");
        size_t n = flatten(json_object_get(y, "data"), got, 0);
        cr_assert_eq(flatten(wanted, numbers, 0), n);
        for (size_t k = 0; k < n; k++)
            cr_expect_eq(got[k], numbers[k], "%s [%zu]: %g", rows[i].body, k, got[k]);
        json_decref(answer);
        json_decref(wanted);
    }
}

/* Other tables are another spec, and no table is echoed as if it had a base. */
Test(given, is_part_of_the_spec)
{
    static const char *const bodies[] = {
        "{\"spec\":\"rope:dim=2\",\"positions\":[0],\"x\":[[1,2]],\"cos\":[[1]],\"sin\":[[0]]}",
        "{\"spec\":\"rope:dim=2\",\"positions\":[0],\"x\":[[1,2]],\"cos\":[[1]],\"sin\":[[1]]}",
    };
    json_t *answers[2];
    for (size_t i = 0; i < 2; i++) {
        answers[i] = call_ask("/v1/apply", bodies[i], 200);
        const json_t *spec = json_object_get(answers[i], "spec");
        cr_expect(json_object_get(spec, "table"));
        cr_expect_null(json_object_get(spec, "base"));
        cr_expect_null(json_object_get(spec, "scaling"));
    }
    cr_expect_not(
        json_equal(json_object_get(answers[0], "spec_id"), json_object_get(answers[1], "spec_id")));
    json_decref(answers[0]);
    json_decref(answers[1]);
}

Test(given, refuses_what_does_not_fit)
{
    static const struct {
        const char *body, *where;
        int status;
    } wrong[] = {
        {"\"spec\":\"rope:dim=4\",\"positions\":[2],\"x\":[[1,2,3,4]]," TABLES, "/positions", 400},
        {"\"spec\":\"rope:dim=4\",\"positions\":[-1],\"x\":[[1,2,3,4]]," TABLES, "/positions", 400},
        {"\"spec\":\"rope:dim=4\",\"positions\":[0.5],\"x\":[[1,2,3,4]]," TABLES, "/positions",
         400},
        {"\"spec\":\"rope:dim=8,rotary_dim=8\",\"positions\":[0],\"x\":[[1,2,3,4,5,6,7,8]]," TABLES,
         "/cos", 400},
        {"\"spec\":{\"kind\":\"rope\",\"dim\":4,\"base\":100},\"positions\":[0],\"x\":[[1,2,3,4]]"
         "," TABLES,
         "/spec/base", 400},
        {"\"spec\":\"rope:dim=4\",\"positions\":[0],\"inverse\":true,\"x\":[[1,2,3,4]]," TABLES,
         "/inverse", 400},
        {"\"spec\":\"rope2d:dim=4\",\"positions\":\"0;0\",\"x\":[[1,2,3,4]]," TABLES, "/cos", 400},
        {"\"spec\":\"rope:dim=4\",\"positions\":[0],\"x\":[[1,2,3,4]],\"cos\":[[1,1]]", "/sin",
         400},
        {"\"spec\":\"rope:dim=4\",\"positions\":[0],\"x\":[[1,2,3,4]],\"cos\":[[1,1]],"
         "\"sin\":[[1,1],[1,1]]",
         "/sin", 422},
        {"\"spec\":\"rope:dim=4\",\"positions\":[0],\"x\":[[1,2,3,4]],\"cos\":[[1,\"NaN\"]],"
         "\"sin\":[[1,1]]",
         "/cos", 400},
        /* no ids and a table for ids; ids and rows for tokens */
        {"\"spec\":\"rope:dim=4\",\"axes\":\"btd\",\"x\":[[[1,2,3,4]]]," TABLES, "/cos", 400},
        {"\"spec\":\"rope:dim=4\",\"axes\":\"btd\",\"positions\":[0],\"x\":[[[1,2,3,4]]],"
         "\"cos\":[[[1,1]]],\"sin\":[[[1,1]]]",
         "/cos", 400},
        {"\"spec\":\"rope:dim=4\",\"x\":[[1,2,3,4]]," TABLES, "/cos", 422},
        {"\"spec\":\"rope:dim=4\",\"positions\":[0],\"x\":[[1,2,3,4]],\"stages\":\"freq:"
         "f32\"," TABLES,
         "/stages", 400},
        {"\"spec\":\"rope:dim=4\",\"positions\":[0],\"x\":[[1,2,3,4]],\"with\":\"inv_"
         "freq\"," TABLES,
         "/with", 400},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char body[400];
        snprintf(body, sizeof body, "{%s}", wrong[i].body);
        json_t *problem = call_ask("/v1/apply", body, wrong[i].status);
        const json_t *one = json_array_get(json_object_get(problem, "errors"), 0);
        cr_expect_str_eq(json_string_value(json_object_get(one, "pointer")), wrong[i].where, "%s",
                         wrong[i].body);
        json_decref(problem);
    }
}
