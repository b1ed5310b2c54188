// SPDX-License-Identifier: Apache-2.0
/*
 * test_precision.c: /v1/precision: what is asked for by default, how pipelines are named and
 * echoed, the readouts, the text, and what is refused. Errors themselves are in
 * core/test_precision.
 */
#include <math.h>

#include "call.h"

static const char *text_of(struct request *request, const char *target)
{
    call(request, "GET", target, NULL);
    cr_assert_eq(request->response.status, 200, "%s", target);
    return call_body(request);
}

static const json_t *tensor(const json_t *answer, const char *name)
{
    return json_object_get(json_object_get(json_object_get(answer, "tensors"), name), "data");
}

static double cell(const json_t *answer, const char *name, size_t row, size_t column)
{
    const json_t *number = json_array_get(json_array_get(tensor(answer, name), row), column);
    cr_assert(json_is_number(number), "%s[%zu][%zu]", name, row, column);
    return json_number_value(number);
}

static const json_t *pipeline(const json_t *answer, size_t i)
{
    const json_t *list = json_object_get(json_object_get(answer, "readouts"), "pipelines");
    return json_array_get(list, i);
}

/* The table of errors of cos that users are told: two digits at four positions. */
Test(precision, tells_what_each_pipeline_costs)
{
    json_t *answer = call_ask("/v1/precision?kind=rope&dim=64&positions=16,256,4095,131072&"
                              "stages=freq:bf16;pos:bf16;table:bf16;freq:f32,angle:f32",
                              NULL, 200);
    static const double errors[4][4] = {{0.0059, 0.0419, 0.5944, 1.5863},
                                        {0, 0, 0.8700, 0},
                                        {0.0016, 0.0019, 0.0019, 0.0018},
                                        {7.5e-08, 2.4e-06, 1.4e-04, 7.6e-04}};
    for (size_t p = 0; p < 4; p++)
        for (size_t i = 0; i < 4; i++) {
            double error = cell(answer, "max_abs_error", p, i);
            double unit = errors[p][i] < 1e-3 ? errors[p][i] / 27 : 5.1e-5;
            cr_expect_float_eq(error, errors[p][i], unit, "%zu at %zu: %g", p, i, error);
            cr_expect_leq(cell(answer, "rms_error", p, i), error);
            double pair = cell(answer, "worst_pair", p, i);
            cr_expect(pair >= 0 && pair < 32);
        }
    cr_expect_str_eq(call_text(pipeline(answer, 0), "name"), "bf16-freq");
    cr_expect_str_eq(call_text(pipeline(answer, 0), "stages"), "freq:bf16");
    cr_expect_str_eq(call_text(pipeline(answer, 3), "name"), "freq:f32,angle:f32");
    const json_t *above = json_object_get(pipeline(answer, 0), "first_above");
    cr_expect_eq(json_number_value(json_object_get(above, "1e-3")), 16);
    cr_expect_eq(json_number_value(json_object_get(above, "1e-2")), 256);
    cr_expect_eq(json_number_value(json_object_get(above, "1e-1")), 4095);
    cr_expect(json_is_null(json_object_get(pipeline(answer, 0), "first_collision")));
    above = json_object_get(pipeline(answer, 3), "first_above");
    cr_expect(json_is_null(json_object_get(above, "1e-3")));
    cr_expect_eq(json_number_value(json_object_get(pipeline(answer, 1), "first_collision")), 256);
    cr_expect_eq(json_number_value(json_object_get(pipeline(answer, 1), "max_abs_error")),
                 cell(answer, "max_abs_error", 1, 2));
    cr_expect_eq(json_number_value(json_object_get(pipeline(answer, 1), "at_position")), 4095);
    json_decref(answer);
    answer = call_ask("/v1/precision?kind=rope&positions=1&stages=pos:f16", NULL, 200);
    cr_expect_eq(json_number_value(json_object_get(pipeline(answer, 0), "first_collision")), 2048);
    json_decref(answer);
}

/* Without keys: 18 positions, the usual pipelines, cosines. Spelt out they are the same request. */
/* Pair by pair, the largest is the one that is told anyway. */
Test(precision, tells_the_error_of_each_pair)
{
    json_t *answer = call_ask("/v1/precision?kind=rope&dim=8&positions=3,4095&with=pair_error&"
                              "stages=freq:bf16;table:f16",
                              NULL, 200);
    for (size_t p = 0; p < 2; p++)
        for (size_t i = 0; i < 2; i++) {
            const json_t *errors =
                json_array_get(json_array_get(tensor(answer, "pair_error"), p), i);
            double largest = 0;
            size_t worst = 0;
            cr_assert_eq(json_array_size(errors), 4);
            for (size_t pair = 0; pair < 4; pair++) {
                double error = json_number_value(json_array_get(errors, pair));
                worst = error > largest ? pair : worst;
                largest = fmax(largest, error);
            }
            cr_expect_gt(largest, 0);
            cr_expect_eq(largest, cell(answer, "max_abs_error", p, i));
            cr_expect_eq((double)worst, cell(answer, "worst_pair", p, i));
        }
    json_decref(answer);
    struct request request;
    const char *csv = text_of(&request, "/v1/precision.csv?kind=rope&dim=4&positions=1&stages="
                                        "freq:f64;pos:f32&with=pair_error&select=pair_error");
    cr_expect_eq(strncmp(csv, "stages,position,0,1\nfreq:f64,1,0,", 33), 0, "%s", csv);
    call_end(&request);
}

Test(precision, has_defaults)
{
    json_t *answer = call_ask("/v1/precision?kind=rope", NULL, 200);
    const json_t *params = json_object_get(answer, "params");
    const json_t *positions = json_object_get(params, "positions");
    for (size_t i = 0; i < 18; i++)
        cr_expect_eq(json_number_value(json_array_get(positions, i)), ldexp(1, (int)i));
    cr_expect_str_eq(call_text(params, "quantity"), "cos");
    cr_expect_eq(json_array_size(json_array_get(tensor(answer, "max_abs_error"), 0)), 18);
    cr_expect_null(json_object_get(params, "content"), "cosines have no vectors");
    char target[512];
    snprintf(target, sizeof target, "/v1/precision?kind=rope&positions=2^0:2^17&stages=%s",
             call_text(params, "stages"));
    json_t *again = call_ask(target, NULL, 200);
    cr_expect(json_equal(answer, again), "%s", target);
    json_decref(again);
    json_decref(answer);
}

/* Presets that come to the same, or to nothing that this encoding has, are not measured twice. */
Test(precision, measures_each_pipeline_once)
{
    json_t *answer =
        call_ask("/v1/precision?kind=rope&stages=f32;meta;freq:f32,angle:f32,table:f32", NULL, 200);
    cr_expect_eq(json_array_size(tensor(answer, "max_abs_error")), 1);
    cr_expect_str_eq(call_text(json_object_get(answer, "params"), "stages"),
                     "freq:f32,angle:f32,table:f32");
    json_decref(answer);
    answer = call_ask("/v1/precision?kind=learned&quantity=table&positions=0:4", NULL, 200);
    cr_expect_str_eq(call_text(json_object_get(answer, "params"), "stages"),
                     "pos:f64,table:f64;table:f32;table:bf16;pos:bf16;pos:bf16,table:bf16");
    json_decref(answer);
}

/* Vectors that are kept in 8 bits: more bits, less error; an error of its own for each channel. */
Test(precision, quantises_vectors)
{
    json_t *answer =
        call_ask("/v1/precision?kind=rope&dim=64&quantity=apply&positions=100&"
                 "stages=quantize:e5m2;quantize:e4m3;quantize:int8;apply:bf16,quantize:int8",
                 NULL, 200);
    cr_expect_gt(cell(answer, "max_abs_error", 0, 0), cell(answer, "max_abs_error", 1, 0));
    cr_expect_gt(cell(answer, "max_abs_error", 1, 0), cell(answer, "max_abs_error", 2, 0));
    cr_expect_neq(cell(answer, "max_abs_error", 3, 0), cell(answer, "max_abs_error", 2, 0));
    cr_expect_str_eq(call_text(pipeline(answer, 3), "stages"), "apply:bf16,quantize:int8");
    json_decref(answer);
}

Test(precision, of_scores_depends_on_where_the_key_stands)
{
    json_t *far =
        call_ask("/v1/precision?kind=rope&quantity=score&positions=257&stages=pos:bf16", NULL, 200);
    json_t *near =
        call_ask("/v1/precision?kind=rope&quantity=score&positions=257&stages=pos:bf16&distance=2",
                 NULL, 200);
    /* 257 and 255 round to 256 and 255 */
    cr_expect_gt(cell(far, "max_abs_error", 0, 0), 0);
    cr_expect_gt(cell(near, "max_abs_error", 0, 0), 0);
    cr_expect_neq(cell(far, "max_abs_error", 0, 0), cell(near, "max_abs_error", 0, 0));
    cr_expect_eq(cell(near, "worst_pair", 0, 0), 0);
    json_decref(near);
    json_decref(far);
}

/* Kinds with several axes stand at the position on all of them. */
Test(precision, of_several_axes)
{
    json_t *grid = call_ask(
        "/v1/precision?kind=axial&dim=8&sections=2,2&positions=300&stages=bf16-pos", NULL, 200);
    json_t *line =
        call_ask("/v1/precision?kind=rope&dim=4&positions=300&stages=bf16-pos", NULL, 200);
    cr_expect_eq(cell(grid, "max_abs_error", 0, 0), cell(line, "max_abs_error", 0, 0));
    json_decref(line);
    json_decref(grid);
}

Test(precision, is_told_in_sentences)
{
    struct request request;
    const char *text = text_of(&request, "/v1/precision.txt?kind=rope&dim=64&positions=16,4095&"
                                         "stages=bf16-freq;bf16-pos;table:bf16");
    static const char *const lines[] = {
        "The largest error of cos, rope:dim=64:\n\n",
        "\n pos bf16-freq bf16-pos bf16-table\n  16    0.0059        0    0.00163\n",
        "bf16-freq: off by at most 0.594, at position 4095, pair ",
        "It passes 0.001 at",
        "Positions 256 and 257 become the\n  same number.",
        "positions\n  get lost: ",
        "\nNext: quantity=score tells",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect(strstr(text, lines[i]), "%s\n%s", lines[i], text);
    call_end(&request);
    text = text_of(&request, "/v1/precision.txt?kind=rope&positions=1,100000&stages=angle:f16");
    cr_expect(
        strstr(text, "angle:f16: an angle is beyond the range of its stage, at position 100000"),
        "%s", text);
    call_end(&request);
    text = text_of(&request, "/v1/precision.txt?kind=rope&dim=4&quantity=apply&positions=1,2&"
                             "stages=quantize:e5m2;quantize:int8;f32");
    cr_expect(strstr(text, "\nOf those that keep 8 bits quantize:int8 errs least, by 0.0"), "%s",
              text);
    cr_expect(strstr(text, "quantize:e5m2 most, by 0.0"), "%s", text);
    call_end(&request);
    text = text_of(&request, "/v1/precision.txt?kind=rope&positions=1&select=rms_error");
    cr_expect(strstr(text, "stages"), "another tensor is the table: %s", text);
    call_end(&request);
}

Test(precision, refuses)
{
    static const struct {
        const char *query, *where, *says;
        int status;
    } rows[] = {
        {"kind=learned", "quantity", "kind=learned has no cosines", 400},
        {"kind=alibi&quantity=apply", "quantity", "no encoded vectors", 400},
        {"kind=fope&quantity=angle", "quantity", "not those of one angle", 400},
        {"kind=rope2d&quantity=score", "kind", "2 position axes", 400},
        {"kind=none", "kind", "no place in /v1/precision", 400},
        {"kind=rope&stages=pos:f16", "positions", "beyond the range of the stage pos:f16", 400},
        {"kind=rope&stages=f32;quantize:int8", "stages", "\"quantize\" has no effect", 400},
        {"kind=rope&stages=f32;;f64", "stages", "got \"\"", 400},
        {"kind=rope&stages=quantize:fp8&quantity=apply", "stages", "e4m3, e5m2, int8", 400},
        {"kind=rope&content=ones", "content", "only vectors have content", 400},
        {"kind=rope&distance=3", "distance", "distance", 400},
        {"kind=rope&quantity=table&with=pair_error", "with", "quantity=cos", 400},
        {"kind=rope&with=error", "with", "pair_error", 400},
        {"kind=rope&quantity=tan", "quantity", "cos, sin, table", 400},
        {"kind=binary&quantity=table&positions=0.5", "positions", "0.5", 400},
        {"kind=rope&dim=4096&positions=0:100000", "positions", "limit", 422},
        {"kind=rope&positions=0:10000&stages=f64", "positions", "multiply-adds", 422},
        {"kind=rope&quantity=score&positions=0:70000&stages=f32", "positions", "multiply-adds",
         422},
        {"kind=rope&stages=f64;f32;pos:f64;pos:f32;freq:f64;freq:f32;freq:f16;freq:bf16;angle:f64;"
         "angle:f32;angle:f16;angle:bf16;table:f64;table:f32;table:f16;table:bf16;pos:bf16",
         "stages", "more than 16", 422},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char target[400];
        snprintf(target, sizeof target, "/v1/precision?%s", rows[r].query);
        call_refused(
            &(struct call_refusal){target, NULL, rows[r].status, rows[r].where, rows[r].says});
    }
}
