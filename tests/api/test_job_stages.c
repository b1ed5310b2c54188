// SPDX-License-Identifier: Apache-2.0
/*
 * test_job_stages.c: the key `stages`: how it is echoed, what it is worth to each endpoint, what is
 * refused. Numbers are those of the cases that users reported, or of plain arithmetic.
 */
#include <math.h>

#include "call.h"

static const char *echoed(const json_t *answer)
{
    const char *text =
        json_string_value(json_object_get(json_object_get(answer, "params"), "stages"));
    return text ? text : "";
}

static double value(const json_t *answer, const char *tensor, size_t i)
{
    const json_t *data =
        json_object_get(json_object_get(json_object_get(answer, "tensors"), tensor), "data");
    while (json_is_array(json_array_get(data, 0)))
        data = json_array_get(data, 0);
    const json_t *number = json_array_get(data, i);
    cr_assert(json_is_number(number), "no %s[%zu]", tensor, i);
    return json_number_value(number);
}

/* A preset keeps the stages that count; spelling them out is the same request. */
Test(job_stages, are_echoed_spelt_out)
{
    static const struct {
        const char *target, *echo;
    } rows[] = {
        {"/v1/table?kind=rope&dim=4", "exact"},
        {"/v1/table?kind=rope&dim=4&stages=exact", "exact"},
        {"/v1/table?kind=rope&dim=4&stages=f32", "freq:f32,angle:f32,table:f32"},
        {"/v1/table?kind=rope&dim=4&stages=table:FP32,freq:float32,angle:f32",
         "freq:f32,angle:f32,table:f32"},
        {"/v1/table?kind=rope&dim=4&stages=all-bf16", "pos:bf16,freq:bf16,angle:bf16,table:bf16"},
        {"/v1/table?kind=rope&dim=4&stages=transformers&dtype=f16", "freq:f32,angle:f32,table:f16"},
        {"/v1/table?kind=rope&dim=4&stages=f16-apply", "exact"},
        {"/v1/table?kind=learned&dim=4&stages=all-bf16", "pos:bf16,table:bf16"},
        {"/v1/table?kind=alibi&stages=bf16-freq", "freq:bf16"},
        {"/v1/table?kind=alibi&value=slopes&stages=all-bf16", "freq:bf16"},
        {"/v1/table?kind=t5&value=bucket&stages=all-bf16", "pos:bf16"},
        {"/v1/frequencies?kind=rope&dim=4&stages=all-bf16", "freq:bf16"},
        {"/v1/rotation?kind=rope&dim=4&stages=f64", "pos:f64,freq:f64,angle:f64,table:f64"},
        {"/v1/rotation?kind=rope&dim=4&stages=meta&content=ones",
         "freq:f32,angle:f32,table:f32,apply:f32"},
        {"/v1/apply?kind=rope&dim=4&dtype=bf16&stages=transformers",
         "freq:f32,angle:f32,table:bf16,apply:bf16"},
        {"/v1/apply?kind=none&dim=4&stages=f64", "exact"},
        {"/v1/scores?kind=none&stages=all-bf16", "dot:bf16"},
        {"/v1/scores?spec=none&spec=rope:dim=64&stages=freq:f32,dot:f32", "freq:f32,dot:f32"},
        {"/v1/scores?kind=alibi&stages=f64",
         "pos:f64,freq:f64,angle:f64,table:f64,apply:f64,dot:f64"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        json_t *answer = call_ask(rows[r].target, NULL, 200);
        cr_expect_str_eq(echoed(answer), rows[r].echo, "%s: %s", rows[r].target, echoed(answer));
        const char *self =
            json_string_value(json_object_get(json_object_get(answer, "links"), "self"));
        json_t *again = call_ask(self, NULL, 200);
        cr_expect(json_equal(answer, again), "%s", self);
        json_decref(answer);
        json_decref(again);
    }
}

Test(job_stages, refuses_what_makes_no_difference)
{
    static const struct {
        const char *target, *type, *detail;
    } rows[] = {
        {"/v1/table?kind=rope&dim=4&stages=frq:f32", "/problems/invalid-value", "got \"frq\""},
        {"/v1/table?kind=rope&dim=4&stages=", "/problems/invalid-value", "transformers"},
        {"/v1/table?kind=rope&dim=4&stages=freq:f32,freq:f16", "/problems/conflicting-parameters",
         "freq is given as f32 and as f16"},
        {"/v1/table?kind=rope&dim=4&stages=f32,apply:f32", "/problems/conflicting-parameters",
         "the stage \"apply\" has no effect"},
        {"/v1/table?kind=learned&dim=4&stages=freq:f32", "/problems/conflicting-parameters",
         "kind=learned"},
        {"/v1/frequencies?kind=rope&dim=4&stages=table:f32", "/problems/conflicting-parameters",
         "the stage \"table\""},
        {"/v1/rotation?kind=rope&dim=4&stages=apply:f32", "/problems/conflicting-parameters",
         "the stage \"apply\""},
        {"/v1/apply?kind=rope&dim=4&stages=dot:f32", "/problems/conflicting-parameters",
         "the stage \"dot\""},
        {"/v1/scores?kind=t5&stages=angle:f32", "/problems/conflicting-parameters",
         "the stage \"angle\""},
        {"/v1/table?kind=rope&dim=4&positions=65520&stages=pos:f16", "/problems/invalid-value",
         "65520 is beyond the range"},
        {"/v1/table?kind=learned&dim=4&positions=2047&stages=pos:bf16", "/problems/invalid-value",
         "no value at position 2048"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        json_t *problem = call_ask(rows[r].target, NULL, 400);
        cr_expect_str_eq(json_string_value(json_object_get(problem, "type")), rows[r].type, "%s",
                         rows[r].target);
        const char *detail = json_string_value(json_object_get(problem, "detail"));
        cr_expect(strstr(detail, rows[r].detail), "%s: %s", rows[r].target, detail);
        json_decref(problem);
    }
}

Test(job_stages, names_the_member_of_a_body)
{
    static const char *const bodies[] = {
        "{\"spec\":\"rope:dim=4\",\"x\":[1,2,3,4],\"stages\":{\"freq\":\"f32\"}}",
        "{\"spec\":\"rope:dim=4\",\"x\":[1,2,3,4],\"stages\":\"frq:f32\"}",
        "{\"spec\":\"rope:dim=4\",\"x\":[1,2,3,4],\"stages\":\"dot:f32\"}",
    };
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
        json_t *problem = call_ask("/v1/apply", bodies[b], 400);
        const json_t *first = json_array_get(json_object_get(problem, "errors"), 0);
        cr_expect_str_eq(json_string_value(json_object_get(first, "pointer")), "/stages");
        json_decref(problem);
    }
}

/* Plans are kept for later requests: one with stages must not be taken for another. */
Test(job_stages, do_not_meet_in_the_cache)
{
    static const char *const stages[] = {"exact", "freq:bf16", "pos:bf16", "angle:f32",
                                         "table:f16"};
    enum { N = sizeof stages / sizeof *stages };
    json_t *first[N];
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < N; i++) {
            char target[128];
            snprintf(target, sizeof target, "/v1/table?kind=rope&dim=8&positions=257&stages=%s",
                     stages[i]);
            json_t *answer = call_ask(target, NULL, 200);
            if (round == 0)
                first[i] = answer;
            else
                cr_expect(json_equal(answer, first[i]), "%s", stages[i]);
            for (size_t j = 0; round == 0 && j < i; j++)
                cr_expect_neq(value(answer, "table", 2), value(first[j], "table", 2), "%s and %s",
                              stages[i], stages[j]);
            if (round == 1)
                json_decref(answer);
        }
    for (size_t i = 0; i < N; i++)
        json_decref(first[i]);
}

/* What a library's own functions may be off by is said where functions are rounded. */
Test(job_stages, notes_that_libraries_may_differ)
{
    static const struct {
        const char *target;
        bool noted;
    } rows[] = {
        {"/v1/table?kind=rope&dim=4", false},
        {"/v1/table?kind=rope&dim=4&stages=pos:bf16", false},
        {"/v1/table?kind=rope&dim=4&stages=freq:f32", true},
        {"/v1/table?kind=rope&dim=4&stages=table:f32", true},
        {"/v1/apply?kind=rope&dim=4&stages=f16-apply", false},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        json_t *answer = call_ask(rows[r].target, NULL, 200);
        const json_t *note = json_array_get(json_object_get(answer, "notes"), 0);
        cr_expect_eq(note != NULL, rows[r].noted, "%s", rows[r].target);
        if (note)
            cr_expect(strstr(json_string_value(note), "one unit in the last place"));
        json_decref(answer);
    }
}

/* Reported: half precision of the phase, bf16 of the frequencies; exact values beside them. */
Test(job_stages, shows_what_was_reported)
{
    static const struct {
        const char *target, *tensor;
        size_t i;
        double value;
    } rows[] = {
        {"/v1/rotation?kind=rope&dim=32&positions=1857&stages=freq:f16,angle:f16", "angle", 1,
         1045},
        {"/v1/rotation?kind=rope&dim=32&positions=1857&stages=freq:f16,angle:f16", "cos", 1,
         -0.40816462057732356},
        {"/v1/rotation?kind=rope&dim=32&positions=1857", "cos", 1, 0.3066928098187106},
        {"/v1/frequencies?kind=rope&dim=16&stages=bf16-freq", "inv_freq", 1, 0.31640625},
        {"/v1/frequencies?kind=rope&dim=16&stages=bf16-freq", "inv_freq", 7, 0.000316619873046875},
        {"/v1/rotation?kind=rope&dim=16&positions=4095&stages=bf16-freq", "cos", 1,
         0.22152286236269625},
        {"/v1/rotation?kind=rope&dim=16&positions=4095&stages=bf16-freq", "cos", 7,
         0.27081343885130915},
        {"/v1/rotation?kind=rope&dim=16&positions=4095", "cos", 1, 0.8158905773569427},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        json_t *answer = call_ask(rows[r].target, NULL, 200);
        double got = value(answer, rows[r].tensor, rows[r].i);
        cr_expect_float_eq(got, rows[r].value, 1e-11 * fmax(1, fabs(rows[r].value)), "%s: %.17g",
                           rows[r].target, got);
        json_decref(answer);
    }
}

/* The vector 1..8 at position 3, half-split, in the three pipelines of bf16 models. */
Test(job_stages, tells_pipelines_apart)
{
    static const struct {
        const char *stages;
        double y[8];
    } rows[] = {
        {"transformers", {-1.6953125, 0.1484375, 2.796875, 3.96875, -4.78125, 6.34375, 7.09375, 8}},
        {"bf16-table", {-1.6953125, 0.14453125, 2.796875, 3.96875, -4.8125, 6.34375, 7.09375, 8}},
        {"meta", {-1.6953125, 0.1376953125, 2.78125, 3.96875, -4.8125, 6.3125, 7.09375, 8}},
        {"f32", {-1.6953125, 0.1376953125, 2.78125, 3.96875, -4.8125, 6.3125, 7.09375, 8}},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char body[256];
        snprintf(body, sizeof body,
                 "{\"spec\":\"rope:dim=8,layout=half\",\"positions\":[3],\"stages\":\"%s\","
                 "\"x\":{\"dtype\":\"bf16\",\"data\":[[1,2,3,4,5,6,7,8]]}}",
                 rows[r].stages);
        json_t *answer = call_ask("/v1/apply", body, 200);
        for (size_t i = 0; i < 8; i++) { /* the shortest decimals, back to what they stand for */
            uint16_t y;
            pe_store(PE_BF16, &y, 0, value(answer, "y", i));
            cr_expect_eq(pe_load(PE_BF16, &y, 0), rows[r].y[i], "%s [%zu]", rows[r].stages, i);
        }
        json_decref(answer);
    }
}

/* Reported: positions that collapse in bf16, an arange that repeats itself. */
Test(job_stages, counts_the_positions_that_are_left)
{
    static const struct {
        const char *target;
        size_t n;
        double positions[10], distinct, moved, spacing;
    } rows[] = {
        {"/v1/"
         "rotation?kind=rope&dim=4&positions=65536,65537,65792,65793,66048,66049&stages=pos:bf16",
         6,
         {65536, 65536, 65536, 66048, 66048, 66048},
         2,
         65537,
         512},
        {"/v1/rotation?kind=rope&dim=4&positions=256:266&stages=bf16-pos",
         10,
         {256, 256, 258, 260, 260, 260, 262, 264, 264, 264},
         5,
         257,
         2},
        {"/v1/rotation?kind=rope&dim=4&positions=2047:2050&stages=pos:f16",
         3,
         {2047, 2048, 2048},
         2,
         2049,
         2},
        {"/v1/rotation?kind=rope&dim=4&positions=16777216:16777218&stages=pos:f32",
         2,
         {16777216, 16777216},
         1,
         16777217,
         2},
        {"/v1/rotation?kind=rope&dim=4&positions=0,1e-7&stages=pos:f16",
         2,
         {0, 0x1p-23},
         2,
         1e-7,
         0x1p-24},
        {"/v1/rotation?kind=rope&dim=4&positions=0,7&stages=pos:f64", 2, {0, 7}, 2, -1, 0x1p-50},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        json_t *answer = call_ask(rows[r].target, NULL, 200);
        const json_t *readouts = json_object_get(answer, "readouts");
        for (size_t i = 0; i < rows[r].n; i++)
            cr_expect_eq(value(answer, "positions", i), rows[r].positions[i], "%s [%zu]",
                         rows[r].target, i);
        cr_expect_eq(json_number_value(json_object_get(readouts, "distinct_positions")),
                     rows[r].distinct, "%s", rows[r].target);
        const json_t *moved = json_object_get(readouts, "first_unrepresentable");
        cr_expect_eq(json_is_null(moved) ? -1 : json_number_value(moved), rows[r].moved, "%s",
                     rows[r].target);
        cr_expect_eq(json_number_value(json_object_get(readouts, "spacing")), rows[r].spacing, "%s",
                     rows[r].target);
        json_decref(answer);
    }
    json_t *grid =
        call_ask("/v1/rotation?kind=rope2d&dim=4&positions=257;3&stages=pos:bf16", NULL, 200);
    cr_expect_eq(value(grid, "positions", 0), 256, "an axis is a row");
    json_decref(grid);
    json_t *plain = call_ask("/v1/rotation?kind=rope&dim=4", NULL, 200);
    cr_expect_null(json_object_get(json_object_get(plain, "tensors"), "positions"));
    json_decref(plain);
}

static double spread(const char *target)
{
    json_t *answer = call_ask(target, NULL, 200);
    const json_t *node = json_object_get(json_object_get(answer, "readouts"), "spread");
    double max = json_number_value(json_object_get(node, "max"));
    json_decref(answer);
    return max;
}

/* Where each vector is rotated to its own place in floating point, equal distances no longer score
 * equally, the less so the fewer bits there are. */
Test(job_stages, lets_scores_show_where_they_were_computed)
{
    double f64 = spread("/v1/scores?kind=rope&stages=f64");
    double f32 = spread("/v1/scores?kind=rope&stages=f32");
    double bf16 = spread("/v1/scores?kind=rope&stages=all-bf16");
    cr_expect_eq(spread("/v1/scores?kind=rope"), 0);
    cr_expect_eq(spread("/v1/scores?kind=rope&stages=freq:bf16"), 0, "still a rotation");
    cr_expect(f64 > 0 && f64 < 1e-13, "%g", f64);
    cr_expect(f32 > 1e-8 && f32 < 1e-4, "%g", f32);
    cr_expect(bf16 > 1e-2 && bf16 < 1, "%g", bf16);
}
