// SPDX-License-Identifier: Apache-2.0
/*
 * test_method.c: frequencies and angles reached as torch and ggml do, step by step in f32, against
 * the same steps in C's float with powers by MPFR.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

#include "core/plan_from.h"
#include "golden/golden.h"

#define N(array) (sizeof(array) / sizeof *(array))
#define BITS     300
#define PAIRS    64

/* base^exponent rounded to f32. */
static float power(double base, float exponent)
{
    mpfr_t x, y;
    mpfr_inits2(BITS, x, y, (mpfr_ptr)NULL);
    mpfr_set_d(x, base, MPFR_RNDN);
    mpfr_set_flt(y, exponent, MPFR_RNDN);
    mpfr_pow(x, x, y, MPFR_RNDN);
    float rounded = mpfr_get_flt(x, MPFR_RNDN);
    mpfr_clears(x, y, (mpfr_ptr)NULL);
    return rounded;
}

static struct pe_stages f32_at(enum pe_stage stage)
{
    struct pe_stages stages = {.named = 1u << stage};
    stages.dtype[stage] = PE_F32;
    return stages;
}

Test(method, reciprocal_is_that_of_a_power_in_f32)
{
    static const struct {
        const char *text;
        double base, divisor;
        bool differs; /* from one rounding, in some pair */
    } cases[] = {
        {"rope:dim=128,base=500000,freq_method=reciprocal", 500000, 1, true},
        {"rope:dim=128,freq_method=reciprocal", 10000, 1, true},
        {"rope:dim=128,base=5000,base_factor=2,freq_method=reciprocal", 10000, 1, true},
        {"rope:dim=128,scaling=linear,factor=3,freq_method=reciprocal", 10000, 3, true},
        {"rope:dim=128,scaling=dynamic,factor=2,original_max=64,context=64,freq_method=reciprocal",
         10000, 1, true},
        {"mrope:dim=128,freq_method=reciprocal", 10000, 1, true},
    };
    static const double origin[] = {0};
    struct pe_positions one = {.axes = 3, .n = 1, .at = {origin, origin, origin}};
    struct pe_stages stages = f32_at(PE_STAGE_FREQ);
    for (size_t i = 0; i < N(cases); i++) {
        double w[PAIRS], formula[PAIRS];
        struct pe_plan *plan = staged_plan(cases[i].text, &stages, &one);
        struct pe_plan *once = staged_plan("rope:dim=128", &stages, &one);
        pe_frequencies(plan, &(struct pe_frequencies){.context = 1, .inv_freq = w});
        pe_frequencies(once, &(struct pe_frequencies){.context = 1, .inv_freq = formula});
        bool differs = false;
        for (size_t k = 0; k < PAIRS; k++) {
            float reciprocal = 1 / power(cases[i].base, (float)(2 * k) / 128.0f);
            float wanted = (float)((double)reciprocal / cases[i].divisor);
            cr_expect_eq(w[k], wanted, "%s: %zu: %a, not %a", cases[i].text, k, w[k],
                         (double)wanted);
            differs |= w[k] != formula[k];
        }
        cr_expect(differs);
        pe_plan_free(plan);
        pe_plan_free(once);
    }
}

/* A larger base is that of the power; in real numbers it would be a division by another power. */
Test(method, reciprocal_takes_the_base_of_the_scaling)
{
    static const double origin[] = {0};
    struct pe_positions one = positions_of(origin, 1);
    struct pe_stages stages = f32_at(PE_STAGE_FREQ);
    double w[PAIRS];
    struct pe_plan *plan =
        staged_plan("rope:dim=128,scaling=ntk,factor=4,freq_method=reciprocal", &stages, &one);
    pe_frequencies(plan, &(struct pe_frequencies){.context = 1, .inv_freq = w});
    mpfr_t base, ratio;
    mpfr_inits2(BITS, base, ratio, (mpfr_ptr)NULL);
    for (size_t k = 0; k < PAIRS; k++) {
        mpfr_set_ui(ratio, 128, MPFR_RNDN);
        mpfr_div_ui(ratio, ratio, 126, MPFR_RNDN);
        mpfr_set_ui(base, 4, MPFR_RNDN);
        mpfr_pow(base, base, ratio, MPFR_RNDN);
        mpfr_mul_ui(base, base, 10000, MPFR_RNDN);
        mpfr_set_flt(ratio, (float)(2 * k) / 128.0f, MPFR_RNDN);
        mpfr_pow(base, base, ratio, MPFR_RNDN);
        float wanted = 1 / mpfr_get_flt(base, MPFR_RNDN);
        cr_expect_eq(w[k], wanted, "%zu: %a, not %a", k, w[k], (double)wanted);
    }
    mpfr_clears(base, ratio, (mpfr_ptr)NULL);
    pe_plan_free(plan);
}

/* The angles, and cos and sin of them. */
static void check_iterated(const char *text, const struct pe_positions *positions, double base,
                           size_t pairs, const double *multiplier)
{
    static size_t all[300];
    static double angles[8 * 300], c[8 * 300], s[8 * 300];
    for (size_t pair = 0; pair < pairs; pair++)
        all[pair] = pair;
    struct pe_stages stages = f32_at(PE_STAGE_ANGLE);
    struct pe_plan *plan = staged_plan(text, &stages, positions);
    pe_angles(plan, positions, all, pairs, PE_ANGLE, PE_F64, angles);
    pe_cos_sin(plan, positions, PE_F64, c, s);
    float step = power((float)base, -2 / (float)(2 * pairs));
    mpfr_t cosine, sine;
    mpfr_inits2(BITS, cosine, sine, (mpfr_ptr)NULL);
    for (size_t t = 0; t < positions->n; t++) {
        float angle = (float)positions->at[0][t];
        for (size_t k = 0; k < pairs; k++) {
            float wanted = (float)(angle * multiplier[k % 4]);
            cr_expect_eq(angles[t * pairs + k], wanted, "%s: %g, %zu: %a, not %a", text,
                         positions->at[0][t], k, angles[t * pairs + k], (double)wanted);
            mpfr_set_flt(sine, wanted, MPFR_RNDN);
            mpfr_sin_cos(sine, cosine, sine, MPFR_RNDN);
            cr_expect_eq(c[t * pairs + k], mpfr_get_d(cosine, MPFR_RNDN), "%s: cos %zu", text, k);
            cr_expect_eq(s[t * pairs + k], mpfr_get_d(sine, MPFR_RNDN) + 0, "%s: sin %zu", text, k);
            angle *= step;
        }
    }
    mpfr_clears(cosine, sine, (mpfr_ptr)NULL);
    pe_plan_free(plan);
}

Test(method, iterated_is_a_running_product)
{
    static const double at[] = {0, 1, -3, 1000.5, 131071, 16777217};
    static const double ones[4] = {1, 1, 1, 1}, quarter[4] = {0.25, 0.25, 0.25, 0.25};
    static const double factors[4] = {1, 0.5, 0.25, 0};
    struct pe_positions positions = positions_of(at, N(at));
    check_iterated("rope:dim=128,base=500000,freq_method=iterated", &positions, 500000, 64, ones);
    check_iterated("rope:dim=600,freq_method=iterated", &positions, 10000, 300, ones);
    check_iterated("xpos:dim=128,freq_method=iterated", &positions, 10000, 64, ones);
    check_iterated("rope:dim=64,scaling=linear,factor=4,freq_method=iterated", &positions, 10000,
                   32, quarter);
    check_iterated("rope:dim=8,freq_factors=1+2+4+1,kept_pairs=3,freq_method=iterated", &positions,
                   10000, 4, factors);
}

/* Each axis has a product of its own, which all pairs push on. */
Test(method, iterated_runs_along_every_axis)
{
    static const double axes[3][2] = {{7, 100}, {3, 20000}, {5, 0}};
    struct pe_positions positions = {.axes = 3, .n = 2, .at = {axes[0], axes[1], axes[2]}};
    static const size_t all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    double angles[16];
    struct pe_stages stages = f32_at(PE_STAGE_ANGLE);
    struct pe_plan *plan =
        staged_plan("mrope:dim=16,sections=2+3+3,freq_method=iterated", &stages, &positions);
    pe_angles(plan, &positions, all, 8, PE_ANGLE, PE_F64, angles);
    float step = power(10000, -2 / 16.0f);
    for (size_t t = 0; t < 2; t++)
        for (size_t k = 0; k < 8; k++) {
            float angle = (float)axes[k < 2 ? 0 : k < 5 ? 1 : 2][t];
            for (size_t i = 0; i < k; i++)
                angle *= step;
            cr_expect_eq(angles[t * 8 + k], angle, "%zu, %zu: %a, not %a", t, k, angles[t * 8 + k],
                         (double)angle);
        }
    pe_plan_free(plan);
}

/* How many floats apart. */
static long steps(float a, float b)
{
    int32_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    for (size_t i = 0; i < 2; i++)
        bits[i] = bits[i] < 0 ? INT32_MIN - bits[i] : bits[i];
    return labs((long)bits[0] - bits[1]);
}

/* cos of a case, both halves of which or every two neighbours are the same. */
static void check_recorded(const json_t *item, const char *layout, bool repeated)
{
    float own[8 * PAIRS], own_sin[8 * PAIRS];
    double at[8], recorded[2 * 8 * PAIRS];
    const json_t *ids = json_object_get(json_object_get(item, "inputs"), "position_ids");
    const json_t *cos = json_object_get(json_object_get(item, "outputs"), "cos");
    double dim = golden_number(json_object_get(item, "head_dim"));
    const json_t *part = json_object_get(item, "rotary_dim");
    size_t n = golden_list(json_object_get(ids, "data"), at, N(at));
    size_t values = golden_list(json_object_get(cos, "data"), recorded, N(recorded));
    size_t width = values / n, pairs = width / 2;
    char text[200];
    snprintf(text, sizeof text,
             "rope:dim=%.0f,rotary_dim=%.0f,base=%.0f,layout=%s,freq_method=reciprocal", dim,
             part ? golden_number(part) : dim, golden_number(json_object_get(item, "rope_theta")),
             layout);
    struct pe_positions positions = positions_of(at, n);
    struct pe_stages stages = {.named = 1u << PE_STAGE_FREQ | 1u << PE_STAGE_ANGLE};
    stages.dtype[PE_STAGE_FREQ] = stages.dtype[PE_STAGE_ANGLE] = PE_F32;
    struct pe_plan *plan = staged_plan(text, &stages, &positions);
    cr_assert_eq(pairs, pe_spec_pairs(pe_plan_spec(plan)));
    pe_cos_sin(plan, &positions, PE_F32, own, own_sin);
    for (size_t i = 0; i < n * pairs; i++) {
        float theirs = (float)recorded[i / pairs * width + (repeated ? 2 : 1) * (i % pairs)];
        cr_expect_leq(steps(own[i], theirs), dim > 32 ? 32 : 1, "%s: %g, pair %zu: %.9g, not %.9g",
                      text, at[i / pairs], i % pairs, (double)own[i], (double)theirs);
    }
    pe_plan_free(plan);
}

/* torch's own pow and cos are a little off too. */
Test(method, reciprocal_is_next_to_what_transformers_computed)
{
    static const struct {
        const char *kind, *layout;
        bool repeated;
        size_t cases;
    } kinds[] = {{"llama half", "half", false, 5},
                 {"cohere interleaved", "interleaved", true, 2},
                 {"neox half partial", "half", false, 2}};
    json_t *golden = golden_load("hf_rope_apply.json"), *item;
    for (size_t k = 0; k < N(kinds); k++) {
        size_t i, seen = 0;
        json_array_foreach(
            json_object_get(golden, "cases"), i,
            item) if (strcmp(json_string_value(json_object_get(item, "kind")), kinds[k].kind) == 0)
        {
            check_recorded(item, kinds[k].layout, kinds[k].repeated);
            seen++;
        }
        cr_expect_eq(seen, kinds[k].cases, "%s: %zu", kinds[k].kind, seen);
    }
    json_decref(golden);
}

Test(method, says_which_stage_it_needs)
{
    static const struct {
        const char *spec, *stages, *says;
    } cases[] = {
        {"rope:freq_method=reciprocal", "freq:f32,table:bf16", NULL},
        {"rope:freq_method=iterated", "angle:f32", NULL},
        {"rope", "exact", NULL},
        {"rope:freq_method=reciprocal", "exact",
         "freq_method=reciprocal is a way to numbers in f32 and needs the stage freq:f32"},
        {"rope:freq_method=reciprocal", "freq:bf16", "needs the stage freq:f32"},
        {"rope:freq_method=iterated", "table:f32",
         "freq_method=iterated is a way to numbers in f32 and needs the stage angle:f32"},
        {"rope:freq_method=iterated", "freq:f32,angle:f32",
         "freq_method=iterated makes angles from angles"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_spec spec;
        struct pe_faults faults = {0};
        struct pe_stages stages;
        cr_assert(pe_spec_parse(cases[i].spec, &spec, &faults) && pe_spec_finish(&spec, &faults));
        cr_assert(pe_stages_parse(cases[i].stages, strlen(cases[i].stages), PE_F32, "stages",
                                  &stages, NULL, &faults));
        bool fit = pe_stages_fit(&stages, PE_STAGES_OF_PLANS, &spec, &faults);
        cr_expect(fit == (cases[i].says == NULL), "%s, %s", cases[i].spec, cases[i].stages);
        cr_expect(fit || strstr(faults.item[0].detail, cases[i].says), "%s", faults.item[0].detail);
        pe_spec_release(&spec);
    }
}
