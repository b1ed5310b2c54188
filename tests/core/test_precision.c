// SPDX-License-Identifier: Apache-2.0
/*
 * test_precision.c: errors of pipelines that round: against the formulas computed by MPFR, what was
 * measured of libraries, the collisions of positions, and plain arithmetic on encoded vectors.
 */
#include <math.h>

#include "core/plan_from.h"
#include "golden/golden.h"
#include "ref/ref_round.h"

#define POSITIONS_MAX 512
#define BITS          400

struct measured {
    double largest[POSITIONS_MAX], rms[POSITIONS_MAX];
    int64_t worst[POSITIONS_MAX];
    double error[POSITIONS_MAX * 32]; /* of quantities with 32 errors at a position */
};

static struct pe_stages stages_of(const char *text)
{
    struct pe_stages stages;
    struct pe_faults faults = {0};
    cr_assert(pe_stages_parse(text, strlen(text), PE_F32, "stages", &stages, NULL, &faults), "%s",
              text);
    return stages;
}

/* The errors of a pipeline; `ask` has the vectors and the distance. */
static struct measured measure_with(struct pe_precision ask, const char *spec, const char *text,
                                    enum pe_quantity quantity, const double *at, size_t n)
{
    static struct measured measured;
    struct pe_stages stages = stages_of(text), of_plan = stages;
    struct pe_positions positions = positions_of(at, n);
    struct pe_plan *exact = plan_from(spec, &positions);
    of_plan.named &= PE_STAGES_OF_PLANS;
    struct pe_plan *staged = staged_plan(spec, &of_plan, &positions);
    ask.exact = exact;
    ask.staged = staged;
    ask.stages = &stages;
    ask.quantity = quantity;
    ask.positions = &positions;
    ask.max_abs_error = measured.largest;
    ask.rms_error = measured.rms;
    ask.worst = measured.worst;
    ask.error = pe_precision_count(pe_plan_spec(exact), quantity) == 32 ? measured.error : NULL;
    cr_assert_leq(n, POSITIONS_MAX);
    cr_assert_eq(pe_precision(&ask), PE_OK);
    pe_plan_free(staged);
    pe_plan_free(exact);
    return measured;
}

static struct measured measure(const char *spec, const char *text, enum pe_quantity quantity,
                               const double *at, size_t n)
{
    return measure_with((struct pe_precision){.distance = NAN}, spec, text, quantity, at, n);
}

/* ---- Against MPFR -------------------------------------------------------------------------- */

/* A stage of the reference: y rounded where it is named. */
static void round_at(const struct pe_stages *stages, enum pe_stage stage, mpfr_t y)
{
    if (stages->named >> stage & 1)
        mpfr_set_d(y, ref_round(stages->dtype[stage], y), MPFR_RNDN);
}

/* The pipeline's cosine, or its angle, of pair i of 32, base 10000. */
static void reference(const struct pe_stages *stages, double position, unsigned pair, bool angle,
                      mpfr_t y)
{
    mpfr_t w;
    mpfr_init2(w, BITS);
    mpfr_set_si(w, -(long)pair, MPFR_RNDN);
    mpfr_div_ui(w, w, 32, MPFR_RNDN);
    mpfr_ui_pow(w, 10000, w, MPFR_RNDN);
    round_at(stages, PE_STAGE_FREQ, w);
    mpfr_set_d(y, position, MPFR_RNDN);
    round_at(stages, PE_STAGE_POS, y);
    mpfr_mul(y, y, w, MPFR_RNDN);
    round_at(stages, PE_STAGE_ANGLE, y);
    if (!angle) {
        mpfr_cos(y, y, MPFR_RNDN);
        round_at(stages, PE_STAGE_TABLE, y);
    }
    mpfr_clear(w);
}

static void expect_reference(const char *text, bool angle)
{
    static const double at[] = {0, 1, 7, 16, 255, 257, 4095, 131071, 1048575, -300, 0.375};
    const size_t n = sizeof at / sizeof *at;
    const struct pe_stages stages = stages_of(text), none = {0};
    enum pe_quantity quantity = angle ? PE_QUANTITY_ANGLE : PE_QUANTITY_COS;
    struct measured m = measure("rope:dim=64", text, quantity, at, n);
    mpfr_t exact, staged;
    mpfr_inits2(BITS, exact, staged, (mpfr_ptr)NULL);
    for (size_t i = 0; i < n; i++) {
        double largest = 0, squares = 0;
        unsigned worst = 0;
        for (unsigned pair = 0; pair < 32; pair++) {
            reference(&none, at[i], pair, angle, exact);
            reference(&stages, at[i], pair, angle, staged);
            mpfr_sub(staged, staged, exact, MPFR_RNDN);
            double error = fabs(mpfr_get_d(staged, MPFR_RNDN));
            error = error < 1e-100 ? 0 : error;
            cr_expect_eq(m.error[i * 32 + pair], error, "%s at %g, pair %u", text, at[i], pair);
            worst = error > largest ? pair : worst;
            largest = fmax(largest, error);
            squares += error * error;
        }
        cr_expect_eq(m.largest[i], largest, "%s at %g: %a and not %a", text, at[i], m.largest[i],
                     largest);
        cr_expect_eq(m.worst[i], worst, "%s at %g", text, at[i]);
        cr_expect_float_eq(m.rms[i], sqrt(squares / 32), 1e-14 * largest, "%s at %g", text, at[i]);
    }
    mpfr_clears(exact, staged, (mpfr_ptr)NULL);
}

Test(precision, errors_are_rounded_once)
{
    static const char *const pipelines[] = {
        "freq:bf16", "pos:bf16", "table:bf16",          "freq:f32,angle:f32",
        "table:f64", "f32",      "angle:f64,table:f16", "pos:bf16,freq:f16,table:f32",
    };
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++)
        expect_reference(pipelines[i], false);
    expect_reference("freq:bf16", true);
    expect_reference("pos:bf16,freq:f32,angle:f32", true);
}

/* ---- What others measured ------------------------------------------------------------------ */

/* Largest error of cos over the 32 pairs, two digits. */
Test(precision, of_the_usual_mistakes)
{
    static const double at[] = {16, 256, 4095, 131072};
    static const struct {
        const char *pipeline;
        double error[4];
    } rows[] = {
        {"freq:bf16", {0.0059, 0.0419, 0.5944, 1.5863}},
        {"pos:bf16", {0, 0, 0.8700, 0}},
        {"table:bf16", {0.0016, 0.0019, 0.0019, 0.0018}},
        {"freq:f32,angle:f32", {7.5e-08, 2.4e-06, 1.4e-04, 7.6e-04}},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct measured m = measure("rope:dim=64", rows[r].pipeline, PE_QUANTITY_COS, at, 4);
        for (size_t i = 0; i < 4; i++) {
            double unit = rows[r].error[i] < 1e-3 ? rows[r].error[i] / 27 : 5.1e-5;
            cr_expect_float_eq(m.largest[i], rows[r].error[i], unit, "%s at %g: %g",
                               rows[r].pipeline, at[i], m.largest[i]);
        }
    }
}

/* Largest and rms error of cos and sin near a position. Which positions were sampled is not
 * recorded. The largest error of the 128 up to each is the same within a thousandth, for it is met
 * again and again: half a unit of the table, or an angle that is off by most of its unit. It is not
 * where few pairs have it, an angle just past a power of two or one frequency that bf16 rounds
 * badly; nor is the mean over all pairs, most of which turn too slowly to come round within the
 * sample. */
Test(precision, of_what_libraries_compute)
{
    static const struct {
        const char *method, *pipeline;
        size_t positions_n;  /* beyond them its dtype has no positions */
        double largest, rms; /* how near, relative */
    } rows[] = {
        {"float64, result cast to float32", "table:f32", 5, 0.001, 0.02},
        {"float64, result cast to float16", "table:f16", 5, 0.001, 0.02},
        {"float64, result cast to bfloat16", "table:bf16", 5, 0.001, 0.02},
        {"float64 frequencies and product, angle cast to float32", "angle:f32", 5, 0.025, 0.07},
        {"inv_freq buffer cast to float16 (model.half())", "freq:f16,angle:f32,table:f32", 5, 0.001,
         0.05},
        {"inv_freq buffer cast to bfloat16 (model.bfloat16())", "freq:bf16,angle:f32,table:f32", 5,
         0.045, 0.02},
        {"positions cast to bfloat16", "pos:bf16,freq:f32,angle:f32,table:f32", 5, 0.001, 0.065},
        {"angle computed in bfloat16 (positions, frequencies, product)",
         "pos:bf16,freq:bf16,angle:bf16,table:f32", 5, 0.01, 0.065},
        {"angle computed in float16", "pos:f16,freq:f16,angle:f16,table:f32", 3, 0.001, 0.05},
    };
    json_t *golden = golden_load("peer_errors.json");
    const json_t *places = json_object_get(golden, "positions_at");
    const char *base;
    json_t *methods;
    json_object_foreach(json_object_get(golden, "bases"), base,
                        methods) for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
    {
        const json_t *method = json_object_get(methods, rows[r].method);
        cr_assert(method, "%s", rows[r].method);
        for (size_t p = 0; p < rows[r].positions_n; p += 2) {
            double at[128], largest = 0, squares = 0;
            char spec[64];
            snprintf(spec, sizeof spec, "rope:dim=128,base=%.0f", strtod(base, NULL));
            for (size_t i = 0; i < 128; i++)
                at[i] = golden_number(json_array_get(places, p)) - 128 + (double)i;
            struct measured m = measure(spec, rows[r].pipeline, PE_QUANTITY_TABLE, at, 128);
            for (size_t i = 0; i < 128; i++) {
                largest = fmax(largest, m.largest[i]);
                squares += m.rms[i] * m.rms[i] / 128;
            }
            const json_t *pair = json_array_get(method, p);
            double recorded = golden_number(json_array_get(pair, 0));
            double rms = golden_number(json_array_get(pair, 1));
            cr_expect_float_eq(largest / recorded, 1, rows[r].largest, "%s %s at %g: %g", spec,
                               rows[r].method, at[127], largest / recorded);
            cr_expect_float_eq(sqrt(squares) / rms, 1, rows[r].rms, "%s %s at %g: %g", spec,
                               rows[r].method, at[127], sqrt(squares) / rms);
        }
    }
    json_decref(golden);
}

Test(precision, positions_become_one)
{
    static const struct {
        const char *pipeline;
        double first;
    } rows[] = {{"pos:bf16", 256}, {"pos:f16", 2048}, {"pos:f32", 16777216}, {"all-bf16", 256}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct pe_stages stages = stages_of(rows[r].pipeline);
        double first = pe_stages_collision(&stages);
        cr_expect_eq(first, rows[r].first, "%s: %g", rows[r].pipeline, first);
        for (int p = 0; p < first && p < 4096; p++)
            cr_assert_neq(pe_stages_position(&stages, p), pe_stages_position(&stages, p + 1));
        cr_expect_eq(pe_stages_position(&stages, first), pe_stages_position(&stages, first + 1));
    }
    struct pe_stages none = stages_of("freq:bf16"), f64 = stages_of("pos:f64");
    cr_expect(isnan(pe_stages_collision(&none)) && isnan(pe_stages_collision(&f64)));
}

/* ---- Vectors and scores -------------------------------------------------------------------- */

/* What is left of 8 bits: the difference of the vector and its quantised self, channel by channel;
 * half of the channels pass through. */
Test(precision, of_vectors_that_are_quantised)
{
    const double q[] = {1, -0.3, 100, 0.77}, at[] = {0, 3};
    struct pe_precision ask = {.q = q};
    static const char *const pipelines[] = {"quantize:e4m3", "quantize:e5m2", "quantize:int8"};
    for (size_t p = 0; p < 3; p++) {
        const char *spec = "rope:dim=4,rotary_dim=2";
        struct measured m = measure_with(ask, spec, pipelines[p], PE_QUANTITY_APPLY, at, 2);
        for (size_t i = 0; i < 2; i++) {
            double y[] = {cos(at[i]) + 0.3 * sin(at[i]), sin(at[i]) - 0.3 * cos(at[i]), 100, 0.77};
            double z[4], largest = 0, squares = 0;
            int64_t worst = 0;
            pe_quantize((enum pe_quant)p, 4, y, z);
            for (size_t c = 0; c < 4; c++) {
                double error = fabs(y[c] - z[c]);
                worst = error > largest ? (int64_t)c : worst;
                largest = fmax(largest, error);
                squares += error * error / 4;
            }
            cr_expect_float_eq(m.largest[i], largest, 1e-14);
            cr_expect_float_eq(m.rms[i], sqrt(squares), 1e-14);
            cr_expect_eq(m.worst[i], worst < 2 ? 0 : -1, "%s: %lld", pipelines[p],
                         (long long)m.worst[i]);
        }
    }
}

/* q.k of vectors turned by the distance, and of their quantised selves. */
Test(precision, of_scores)
{
    const double q[] = {1, 0.25}, k[] = {-0.5, 2}, at[] = {0, 5, 300};
    struct pe_precision ask = {.q = q, .k = k, .distance = NAN};
    struct measured m = measure_with(ask, "rope:dim=2", "quantize:e5m2", PE_QUANTITY_SCORE, at, 3);
    for (size_t i = 0; i < 3; i++) {
        double c = cos(at[i]), s = sin(at[i]);
        double y[] = {c - 0.25 * s, s + 0.25 * c}, z[2], kept[2];
        pe_quantize(PE_E5M2, 2, y, z);
        pe_quantize(PE_E5M2, 2, k, kept);
        double exact = y[0] * k[0] + y[1] * k[1], staged = z[0] * kept[0] + z[1] * kept[1];
        cr_expect_float_eq(m.largest[i], fabs(staged - exact), 1e-14, "at %g: %g", at[i],
                           m.largest[i]);
        cr_expect_eq(m.rms[i], m.largest[i]);
    }
    /* positions of the same rounding have the right distance */
    ask.distance = 0;
    m = measure_with(ask, "rope:dim=2", "pos:bf16", PE_QUANTITY_SCORE, at, 3);
    cr_expect(m.largest[0] == 0 && m.largest[1] == 0 && m.largest[2] == 0);
    /* 257 and 256 become one number: the score of distance 0 for that of 1 */
    const double far[] = {257};
    ask.distance = 1;
    m = measure_with(ask, "rope:dim=2", "pos:bf16", PE_QUANTITY_SCORE, far, 1);
    double same = q[0] * k[0] + q[1] * k[1];
    double apart = same * cos(1) + (q[0] * k[1] - q[1] * k[0]) * sin(1);
    cr_expect_float_eq(m.largest[0], fabs(apart - same), 1e-14, "%g", m.largest[0]);
}

/* An angle beyond the range of its stage has no cosine. */
Test(precision, of_what_is_no_number)
{
    const double at[] = {1, 100000};
    struct measured m = measure("rope:dim=4", "angle:f16", PE_QUANTITY_COS, at, 2);
    cr_expect(m.largest[0] >= 0 && m.largest[0] < 1e-3);
    cr_expect(isnan(m.largest[1]) && isnan(m.rms[1]));
    cr_expect_eq(m.worst[1], 0);
}

/* Every kind has what it has, and says what it has not. */
Test(precision, of_every_kind)
{
    const double at[] = {0, 1, 40};
    double vector[64];
    for (size_t i = 0; i < 64; i++)
        vector[i] = cos((double)i);
    struct pe_positions positions = {.axes = 1, .n = 3};
    for (size_t axis = 0; axis < PE_AXES_MAX; axis++)
        positions.at[axis] = at;
    for (size_t k = 0; k < pe_kinds_n(); k++)
        for (enum pe_quantity quantity = PE_QUANTITY_COS; quantity < PE_QUANTITIES_N; quantity++) {
            const struct pe_kind *kind = pe_kind_at(k);
            struct pe_faults faults = {0};
            struct pe_spec spec;
            struct pe_plan *plan;
            struct measured m;
            pe_spec_init(&spec, kind);
            cr_assert(pe_spec_finish(&spec, &faults), "%s", kind->name);
            bool has = pe_precision_check(&spec, quantity, &faults);
            cr_expect_eq(has, faults.n == 0, "%s", kind->name);
            positions.axes = pe_spec_axes(&spec);
            if (has) {
                const struct pe_stages none = {0};
                cr_assert_eq(pe_plan_new(&spec, &positions, &plan), PE_OK);
                struct pe_precision job = {.exact = plan,
                                           .staged = plan,
                                           .stages = &none,
                                           .quantity = quantity,
                                           .positions = &positions,
                                           .q = vector,
                                           .k = vector,
                                           .dim = 64,
                                           .distance = NAN,
                                           .max_abs_error = m.largest,
                                           .rms_error = m.rms,
                                           .worst = m.worst};
                cr_assert_eq(pe_precision(&job), PE_OK);
                for (size_t i = 0; i < 3; i++)
                    cr_expect(m.largest[i] == 0 && m.rms[i] == 0, "%s is as exact as itself",
                              kind->name);
                pe_plan_free(plan);
            }
            pe_spec_release(&spec);
        }
}

static bool stop_at_once(void *context)
{
    ++*(int *)context;
    return true;
}

Test(precision, stops_when_told)
{
    const double at = 1;
    int asked = 0;
    struct pe_positions positions = positions_of(&at, 1);
    struct pe_plan *plan = plan_from("rope:dim=4", &positions);
    const struct pe_stages none = {0};
    struct measured m;
    struct pe_precision job = {.exact = plan,
                               .staged = plan,
                               .stages = &none,
                               .positions = &positions,
                               .stop = stop_at_once,
                               .stop_context = &asked,
                               .max_abs_error = m.largest,
                               .rms_error = m.rms,
                               .worst = m.worst};
    cr_expect_eq(pe_precision(&job), PE_STOPPED);
    cr_expect_eq(asked, 1);
    pe_plan_free(plan);
}
