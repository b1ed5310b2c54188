// SPDX-License-Identifier: Apache-2.0
/*
 * test_table.c: /v1/table, /v1/frequencies, /v1/rotation and /v1/spec: shapes and values of every
 * option. Expected values are those of the papers and the specification, or plain arithmetic.
 */
#include <math.h>

#include "call.h"

static const json_t *at(const json_t *json, const char *a, const char *b, const char *c)
{
    json = json_object_get(json, a);
    json = b ? json_object_get(json, b) : json;
    return c ? json_object_get(json, c) : json;
}

static const json_t *data(const json_t *answer, const char *tensor)
{
    const json_t *found = at(answer, "tensors", tensor, "data");
    cr_assert(found, "no tensor %s", tensor);
    return found;
}

/* Element [i][j], or [i] for j < 0. */
static double element(const json_t *array, int i, int j)
{
    const json_t *row = json_array_get(array, (size_t)i);
    const json_t *one = j < 0 ? row : json_array_get(row, (size_t)j);
    cr_assert(json_is_number(one), "no element %d, %d", i, j);
    return json_number_value(one);
}

static void expect_shape(const json_t *answer, const char *tensor, const char *shape)
{
    char *text = json_dumps(at(answer, "tensors", tensor, "shape"), JSON_COMPACT);
    cr_expect_str_eq(text, shape, "%s", tensor);
    free(text);
}

Test(table, has_the_values_of_the_papers)
{
    static const struct {
        const char *target, *tensor;
        int i, j;
        double value, tolerance;
    } rows[] = {
        /* schemes: pos 1, d 4; pos 3, d 8; pos 10, d 512 */
        {"/v1/table?kind=sinusoidal&dim=4&positions=1", "table", 0, 2, 0.009999833334, 1e-12},
        {"/v1/table?kind=sinusoidal&dim=8&positions=3", "table", 0, 1, -0.9899924966, 1e-10},
        {"/v1/table?kind=sinusoidal&dim=512&positions=10", "table", 0, 3, -0.9754946427, 1e-10},
        /* halves: [sin | cos]; fairseq's denominators */
        {"/v1/table?kind=sinusoidal&dim=8&positions=1&layout=half", "table", 0, 1, 0.09983341665,
         1e-11},
        {"/v1/table?kind=sinusoidal&dim=8&positions=1&layout=half&spacing=endpoint", "table", 0, 5,
         0.998922976, 1e-9},
        /* rope's encoding: cos in the first member's channel, sin in the second's */
        {"/v1/table?kind=rope&dim=4&positions=1", "table", 0, 0, 0.5403023058681398, 0},
        {"/v1/table?kind=rope&dim=4&positions=1", "table", 0, 1, 0.8414709848078965, 0},
        {"/v1/table?kind=rope&dim=4&positions=1&layout=half", "table", 0, 2, 0.8414709848078965, 0},
        {"/v1/table?kind=rope&dim=4&positions=1&direction=-1", "table", 0, 1, -0.8414709848078965,
         0},
        {"/v1/table?kind=rope&dim=4&positions=0&shift=1", "table", 0, 1, 0.8414709848078965, 0},
        {"/v1/table?kind=rope&dim=4&positions=2&scaling=linear&factor=2", "table", 0, 1,
         0.8414709848078965, 0},
        {"/v1/table?kind=integer&dim=4&positions=-3:0", "table", 0, 3, -3, 0},
        {"/v1/table?kind=integer&dim=4&positions=3&normalize_by=4", "table", 0, 0, 0.75, 0},
        {"/v1/table?kind=binary&dim=4&positions=13", "table", 0, 1, 0, 0},
        {"/v1/table?kind=binary&dim=4&positions=13", "table", 0, 2, 1, 0},
        {"/v1/table?kind=none&dim=4&positions=13", "table", 0, 2, 0, 0},
        {"/v1/table?kind=alibi&heads=12&value=slopes", "slopes", 8, -1, 0.7071067811865476, 0},
        /* BLOOM's absolute key index, MPT's last key, queries that are the last of the keys */
        {"/v1/table?kind=t5&value=bucket&bidirectional=1&queries=10&keys=10", "bucket", 0, 8, 24,
         0},
        {"/v1/table?kind=t5&value=bucket&bidirectional=1&queries=2&keys=10", "bucket", 1, 0, 8, 0},
        {"/v1/table?kind=fire&value=input&positions=10,1000&k_positions=0,9,999", "input", 0, 0,
         0.1752547529, 5e-11},
        {"/v1/table?kind=fire&value=input&positions=10,1000&k_positions=0,9,999", "input", 0, 1,
         0.02409814608, 5e-12},
        {"/v1/table?kind=fire&value=input&positions=10,1000&k_positions=0,9,999", "input", 1, 0,
         0.9999997833, 5e-11},
        {"/v1/table?kind=fire&value=input&positions=10,1000&k_positions=0,9,999", "input", 1, 2,
         0.0206517162, 5e-11},
        {"/v1/table?kind=swin&window=2,2&value=index", "index", 2, 1, 6, 0},
        {"/v1/table?kind=alibi&heads=12&value=slopes&bias_max=4", "slopes", 1, -1, 0.5, 0},
        {"/v1/frequencies?kind=sinusoidal&dim=64", "wavelength", 31, -1, 47117.2428, 5e-5},
        {"/v1/frequencies?kind=sinusoidal&dim=64", "wavelength", 16, -1, 628.3185, 5e-5},
        {"/v1/frequencies?kind=rope&dim=128&base=500000", "inv_freq", 63, -1, 2.455140791e-6,
         5e-16},
        {"/v1/frequencies?kind=rope&dim=8&scaling=linear&factor=4", "inv_freq", 0, -1, 0.25, 0},
        {"/v1/frequencies?kind=rope&dim=8&scaling=linear&factor=4", "base_inv_freq", 0, -1, 1, 0},
        {"/v1/frequencies?kind=rope&dim=8&scaling=linear&factor=4", "band", 0, -1, 2, 0},
        {"/v1/rotation?kind=rope&dim=4&positions=7", "angle", 0, 1, 0.07, 1e-17},
        {"/v1/rotation?kind=rope&dim=4&positions=7&value=angle_mod", "angle", 0, 0,
         0.7168146928204135, 0},
        {"/v1/rotation?kind=rope&dim=4&positions=7&value=turns", "angle", 0, 0, 1.1140846016432673,
         0},
        {"/v1/rotation?kind=rope&dim=8&positions=1&pairs=3,1", "angle", 0, 0, 0.001, 0},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        json_t *answer = call_ask(rows[r].target, NULL, 200);
        double got = element(data(answer, rows[r].tensor), rows[r].i, rows[r].j);
        cr_expect(fabs(got - rows[r].value) <= rows[r].tolerance, "%s [%d][%d]: %.17g, not %.17g",
                  rows[r].target, rows[r].i, rows[r].j, got, rows[r].value);
        json_decref(answer);
    }
}

Test(table, has_the_shapes_of_the_contract)
{
    static const struct {
        const char *target, *tensor, *shape;
    } rows[] = {
        {"/v1/table?kind=sinusoidal", "table", "[32,64]"},
        {"/v1/table?kind=rope&dim=8&rotary_dim=4&positions=0:5", "table", "[5,4]"},
        {"/v1/table?kind=rope&dim=8&value=cos&positions=0:5", "cos", "[5,4]"},
        {"/v1/table?kind=rope&dim=8&value=both&positions=0:5", "sin", "[5,4]"},
        {"/v1/table?kind=rope&dim=8&value=both&width=full&positions=0:5", "sin", "[5,8]"},
        {"/v1/table?kind=rope&dim=8&channels=0,2,5&positions=0:5", "table", "[5,3]"},
        {"/v1/table?kind=rope2d&dim=8&grid=2x3", "table", "[6,8]"},
        {"/v1/table?kind=alibi&heads=3&positions=0:4", "bias", "[3,4,4]"},
        {"/v1/table?kind=t5&positions=0:4&value=bucket", "bucket", "[4,4]"},
        {"/v1/table?kind=alibi&heads=3&queries=2&keys=5", "bias", "[3,2,5]"},
        {"/v1/table?kind=alibi&heads=2&total_heads=3&positions=0:4&queries=1", "bias", "[3,1,4]"},
        {"/v1/table?kind=t5&value=bucket&positions=0&k_positions=-6:7", "bucket", "[1,13]"},
        {"/v1/rotation?kind=rope&dim=8&positions=0:5", "cos", "[5,4]"},
        {"/v1/rotation?kind=rope&dim=8&positions=0:5&content=random&pairs=0:2", "after", "[5,2,2]"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        json_t *answer = call_ask(rows[r].target, NULL, 200);
        expect_shape(answer, rows[r].tensor, rows[r].shape);
        json_decref(answer);
    }
}

Test(table, chooses_channels_and_repeats_pairs)
{
    json_t *all = call_ask("/v1/table?kind=rope&dim=8&positions=3,9", NULL, 200);
    json_t *some = call_ask("/v1/table?kind=rope&dim=8&positions=3,9&channels=6,1", NULL, 200);
    cr_expect_eq(element(data(some, "table"), 1, 0), element(data(all, "table"), 1, 6));
    cr_expect_eq(element(data(some, "table"), 0, 1), element(data(all, "table"), 0, 1));
    json_t *half = call_ask("/v1/table?kind=rope&dim=8&positions=3&value=cos", NULL, 200);
    json_t *repeated =
        call_ask("/v1/table?kind=rope&dim=8&positions=3&value=cos&width=full", NULL, 200);
    json_t *tiled = call_ask(
        "/v1/table?kind=rope&dim=8&positions=3&value=cos&width=full&layout=half", NULL, 200);
    for (int c = 0; c < 8; c++) {
        double each = element(data(half, "cos"), 0, c / 2);
        cr_expect_eq(element(data(repeated, "cos"), 0, c), each, "interleaved %d", c);
        each = element(data(half, "cos"), 0, c % 4);
        cr_expect_eq(element(data(tiled, "cos"), 0, c), each, "half %d", c);
    }
    json_t *answers[] = {all, some, half, repeated, tiled};
    for (size_t i = 0; i < 5; i++)
        json_decref(answers[i]);
}

/* Row positions turn the first half of the pairs, columns the second; or they alternate. */
Test(table, puts_two_axes_into_their_pairs)
{
    json_t *row = call_ask("/v1/table?kind=rope2d&dim=8&positions=3;0&value=sin", NULL, 200);
    json_t *alternate = call_ask(
        "/v1/table?kind=rope2d&dim=8&positions=3;0&value=sin&axes_split=alternate", NULL, 200);
    json_t *line = call_ask("/v1/table?kind=rope&dim=4&positions=3&value=sin", NULL, 200);
    for (int i = 0; i < 2; i++) {
        double expected = element(data(line, "sin"), 0, i);
        cr_expect_eq(element(data(row, "sin"), 0, i), expected, "blocks, pair %d", i);
        cr_expect_eq(element(data(row, "sin"), 0, 2 + i), 0);
        cr_expect_eq(element(data(alternate, "sin"), 0, 2 * i), expected, "pair %d", 2 * i);
        cr_expect_eq(element(data(alternate, "sin"), 0, 2 * i + 1), 0);
    }
    json_decref(row);
    json_decref(alternate);
    json_decref(line);
}

Test(table, spells_bias_matrices)
{
    json_t *alibi = call_ask("/v1/table?kind=alibi&heads=8&positions=0:4", NULL, 200);
    const json_t *head = json_array_get(data(alibi, "bias"), 1);
    cr_expect_eq(element(head, 0, 3), -0.75, "slope 1/4 over a distance of 3");
    cr_expect_eq(element(head, 3, 0), -0.75);
    cr_expect_eq(element(head, 2, 2), 0);
    json_t *t5 = call_ask("/v1/table?kind=t5&positions=0,16,113,200&value=bucket", NULL, 200);
    cr_expect_eq(element(data(t5, "bucket"), 1, 0), 16);
    cr_expect_eq(element(data(t5, "bucket"), 2, 0), 31);
    cr_expect_eq(element(data(t5, "bucket"), 0, 3), 0, "a key in the future");
    json_decref(alibi);
    json_decref(t5);
}

/* Query, JSON and compact text are three spellings of one thing. */
Test(spec, has_one_id_in_every_spelling)
{
    static const char *const targets[] = {
        "/v1/spec?kind=rope&dim=128&base=500000&layout=half",
        "/v1/spec?kind=rotary&head_dim=128&rope_theta=5e5&layout=neox&rotary_dim=128&scaling=none",
        "/v1/spec?spec=rope:dim=128,base=500000,layout=half",
    };
    json_t *first = call_ask(targets[0], NULL, 200);
    cr_expect_str_eq(json_string_value(json_object_get(first, "compact")),
                     "rope:dim=128,base=500000,layout=half");
    for (size_t i = 1; i < 3; i++) {
        json_t *other = call_ask(targets[i], NULL, 200);
        cr_expect(json_equal(json_object_get(first, "spec"), json_object_get(other, "spec")));
        cr_expect(json_equal(json_object_get(first, "spec_id"), json_object_get(other, "spec_id")));
        json_decref(other);
    }
    struct request request;
    call(&request, "POST", "/v1/apply",
         "{\"spec\":{\"kind\":\"rope\",\"dim\":128,\"base\":500000,\"layout\":\"half\"},"
         "\"x\":{\"shape\":[1,128],\"data\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
         "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
         "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
         "1,1,1,1,1,1,1,1,1,1,1,1,1]}}");
    json_t *posted = call_json(&request);
    cr_expect(json_equal(json_object_get(first, "spec_id"), json_object_get(posted, "spec_id")),
              "%s", call_body(&request));
    json_decref(posted);
    json_decref(first);
    call_end(&request);
}

Test(spec, is_echoed_as_the_contract_shows)
{
    struct request request;
    call(&request, "GET", "/v1/spec?kind=rope&dim=64", NULL);
    static const char expected[] =
        "{\"semantics\":\"1\",\"spec\":{\"kind\":\"rope\",\"dim\":64,\"base\":10000,"
        "\"layout\":\"interleaved\",\"rotary_dim\":64,\"direction\":1,\"shift\":0,"
        "\"scaling\":\"none\",\"attention_factor\":1},\"compact\":\"rope:dim=64\","
        "\"spec_id\":\"";
    cr_expect_eq(strncmp(call_body(&request), expected, sizeof expected - 1), 0, "%s",
                 call_body(&request));
    call_end(&request);
}

/* The links of an answer lead to the same answer. */
Test(table, links_to_itself)
{
    static const char *const targets[] = {
        "/v1/table?spec=rope:dim=8,layout=half&positions=0,1,2,3&dtype=f64&value=both",
        "/v1/table?kind=alibi&slopes=0.5,0.25&heads=2&positions=0:4",
        "/v1/scores?spec=rope:dim=64&spec=alibi:slope=0.5&offsets=0,1,2",
        "/v1/apply?kind=rope&dim=8&shape=2,3,8&axes=htd&seed=7&dtype=f32",
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        json_t *answer = call_ask(targets[i], NULL, 200);
        json_t *again = call_ask(json_string_value(at(answer, "links", "self", NULL)), NULL, 200);
        cr_expect(
            json_equal(json_object_get(answer, "tensors"), json_object_get(again, "tensors")));
        cr_expect(json_equal(json_object_get(answer, "links"), json_object_get(again, "links")),
                  "%s", targets[i]);
        json_decref(answer);
        json_decref(again);
    }
}

/* Where a position has two coordinates, csv and txt show both. */
Test(table, labels_rows_by_both_coordinates)
{
    struct request request;
    call(&request, "GET", "/v1/table.csv?kind=rope2d&dim=4&grid=2x2&channels=0,2", NULL);
    cr_expect_str_eq(call_body(&request), "position,0,2\n0;0,1,1\n0;1,1,0.5403023058681398\n"
                                          "1;0,0.5403023058681398,1\n"
                                          "1;1,0.5403023058681398,0.5403023058681398\n");
    call_end(&request);
}

/* Matrices of fewer queries than keys: those of a decoder with a cache, and of other projects. */
Test(table, has_biases_of_queries_at_the_end_of_the_keys)
{
    static const struct {
        const char *target;
        size_t n;
        double bias[8];
    } rows[] = {
        {"/v1/table?kind=alibi&heads=2&form=key_index&queries=1&keys=3",
         6,
         {0, 0.0625, 0.125, 0, 0.00390625, 0.0078125}},
        {"/v1/table?kind=alibi&heads=2&form=last_zero&queries=1&keys=3",
         6,
         {-0.125, -0.0625, 0, -0.0078125, -0.00390625, 0}},
        {"/v1/table?kind=alibi&slope=0.5&queries=2&keys=3", 6, {-0.5, 0, -0.5, -1, -0.5, 0}},
        {"/v1/table?kind=alibi&slope=0.5&queries=2&positions=2,3,7", 6, {-0.5, 0, -2, -2.5, -2, 0}},
        {"/v1/table?kind=alibi&slope=0.5&positions=2,3&k_positions=4", 2, {-1, -0.5}},
        {"/v1/table?kind=alibi&slope=0.5&queries=3&keys=1", 3, {-1, -0.5, 0}},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        json_t *answer = call_ask(rows[r].target, NULL, 200);
        size_t i = 0, j, h;
        json_t *head, *row, *value;
        json_array_foreach(data(answer, "bias"), h, head)
        {
            size_t q;
            json_array_foreach(head, q, row)
            {
                json_array_foreach(row, j, value)
                {
                    cr_expect_eq(json_number_value(value), rows[r].bias[i], "%s, element %zu",
                                 rows[r].target, i);
                    i++;
                }
            }
        }
        cr_expect_eq(i, rows[r].n, "%s: %zu elements", rows[r].target, i);
        json_decref(answer);
    }
}
