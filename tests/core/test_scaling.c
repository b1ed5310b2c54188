// SPDX-License-Identifier: Apache-2.0
/*
 * test_scaling.c: frequencies under every scaling: the configs of golden/hf_inv_freq.json, read by
 * their own key names, against the values at 80 digits; scalings of other libraries against
 * schemes.md's formulas evaluated here in long double; rules between parameters.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden/golden.h"
#include "plan_from.h"
#include "scaling.h"

#define PAIRS_MAX 256

static struct pe_plan *plan_of(struct pe_spec *spec)
{
    static const double origin[] = {0};
    struct pe_positions positions = {.axes = 1, .n = 1, .at = {origin}};
    struct pe_faults faults = {0};
    struct pe_plan *plan;
    cr_assert(pe_spec_finish(spec, &faults), "%s: %s", faults.item[0].param, faults.item[0].detail);
    cr_assert_eq(pe_plan_new(spec, &positions, &plan), PE_OK);
    return plan;
}

/* ---- transformers ------------------------------------------------------------------------- */

static void set(struct pe_params *params, const char *name, const json_t *value)
{
    struct pe_faults faults = {0};
    double list[PAIRS_MAX];
    if (json_is_array(value))
        pe_params_set_list(params, name, list, golden_list(value, list, PAIRS_MAX), &faults);
    else if (json_is_string(value))
        pe_params_set_text(params, name, json_string_value(value), &faults);
    else if (json_is_boolean(value))
        pe_params_set_text(params, name, json_is_true(value) ? "true" : "false", &faults);
    else if (!json_is_null(value))
        pe_params_set_number(params, name, golden_number(value), &faults);
    cr_assert_eq(faults.n, 0, "%s: %s", name, faults.item[0].detail);
}

/* A config's rope_parameters under the names they have there; where the lengths stand depends on
 * the scaling. */
static void spec_of_config(const json_t *test, struct pe_spec *spec)
{
    json_t *config = json_object_get(test, "config");
    json_t *rope = json_object_get(config, "rope_parameters");
    const char *type = json_string_value(json_object_get(rope, "rope_type"));
    const char *key;
    json_t *value;
    pe_spec_init(spec, pe_kind_find("rope", 4));
    set(&spec->params, "dim", json_object_get(config, "head_dim"));
    json_object_foreach(rope, key, value) set(&spec->params, key, value);
    json_t *longest = json_object_get(config, "max_position_embeddings");
    json_t *context = json_object_get(test, "seq_len");
    if (strcmp(type, "dynamic") == 0)
        set(&spec->params, "original_max", longest);
    if (strcmp(type, "yarn") == 0 || strcmp(type, "longrope") == 0)
        set(&spec->params, "max_position", longest);
    if (strcmp(type, "dynamic") == 0 || strcmp(type, "longrope") == 0)
        set(&spec->params, "context", context);
}

Test(scaling, truth_of_transformers_configs)
{
    json_t *configs = golden_load("hf_inv_freq.json"),
           *truth = golden_load("truth_hf_inv_freq.json");
    json_t *tests = json_object_get(configs, "cases"), *values = json_object_get(truth, "cases");
    size_t n = json_array_size(tests), checked = 0;
    cr_assert_eq(n, json_array_size(values));
    for (size_t i = 0; i < n; i++) {
        json_t *test = json_array_get(tests, i), *value = json_array_get(values, i);
        const char *name = json_string_value(json_object_get(test, "name"));
        double expected[PAIRS_MAX], got[PAIRS_MAX];
        cr_assert_str_eq(name, json_string_value(json_object_get(value, "name")));
        size_t pairs = golden_list(json_object_get(value, "inv_freq"), expected, PAIRS_MAX);
        double attention = golden_number(json_object_get(value, "attention_factor"));
        struct pe_spec spec;
        spec_of_config(test, &spec);
        struct pe_plan *plan = plan_of(&spec);
        cr_assert_eq(pe_spec_pairs(&spec), pairs, "%s", name);
        pe_frequencies(plan, &(struct pe_frequencies){.context = 1, .inv_freq = got});
        for (size_t k = 0; k < pairs; k++)
            cr_expect(memcmp(&got[k], &expected[k], sizeof *got) == 0,
                      "%s: pair %zu: %.17g, not %.17g", name, k, got[k], expected[k]);
        double factor = pe_spec_number(&spec, "attention_factor");
        cr_expect_eq(factor, attention, "%s: attention factor %.17g, not %.17g", name, factor,
                     attention);
        checked += pairs;
        pe_plan_free(plan);
        pe_spec_release(&spec);
    }
    cr_assert_gt(checked, 3000);
    json_decref(configs);
    json_decref(truth);
}

/* ---- Other libraries ---------------------------------------------------------------------- */

static double frequency_of(const char *text, size_t pair)
{
    static const double origin[] = {0};
    struct pe_positions positions = positions_of(origin, 1);
    double got[PAIRS_MAX];
    struct pe_plan *plan = plan_from(text, &positions);
    pe_frequencies(plan, &(struct pe_frequencies){.context = 1, .inv_freq = got});
    pe_plan_free(plan);
    return got[pair];
}

/* Values to ten digits from an evaluation of the libraries' formulas in double arithmetic. */
Test(scaling, rules_of_other_libraries)
{
    static const struct {
        const char *text;
        size_t pair;
        double w;
    } cases[] = {
        {"rope:dim=256,base=1e6,scaling=linear,factor=8", 0, 0.125},
        {"rope:dim=256,base=1e6,scaling=linear,factor=8", 1, 0.1122108916},
        {"rope:dim=128,scaling=ntk,factor=4", 0, 1},
        {"rope:dim=128,scaling=ntk,factor=4", 63, 2.886954962e-5},
        {"rope:dim=128,scaling=dynamic,factor=2,original_max=4096,context=8192", 1, 0.8509942913},
        {"rope:dim=128,scaling=dynamic,factor=2,original_max=4096,context=8192", 63,
         3.849273282e-5},
        {"rope:dim=128,scaling=ntk_fixed,factor=4", 0, 0.9785720621},
        {"rope:dim=128,scaling=ntk_fixed,factor=4", 1, 0.829250277},
        {"rope:dim=128,scaling=ntk_fixed,factor=4", 63, 2.886954962e-5},
        {"rope:dim=128,scaling=ntk_mixed,factor=4", 0, 0.9020936451},
        {"rope:dim=128,scaling=ntk_mixed,factor=4", 1, 0.738734819},
        {"rope:dim=128,scaling=ntk_mixed,factor=4", 31, 0.004700157319},
        {"rope:dim=128,scaling=ntk_mixed,factor=4", 63, 2.886954962e-5},
        {"rope:dim=128,scaling=ntk_divide,factor=4", 0, 1 / 4.088994243},
        {"rope:dim=128,base_factor=4", 63, 2.950171044e-5},
        {"rope:dim=128,base=5e5,scaling=llama3,factor=8,original_max=8192", 32, 5.24846161e-4},
        {"rope:dim=64,base=5e4,scaling=yarn,factor=32,original_max=4096,beta_fast=1", 19,
         0.001621759908},
        {"rope:dim=64,base=5e4,scaling=yarn,factor=32,original_max=4096,beta_fast=1", 20,
         3.614046774e-5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double w = frequency_of(cases[i].text, cases[i].pair);
        cr_expect(fabs(w - cases[i].w) <= 1e-9 * cases[i].w, "%s: %zu: %.12g", cases[i].text,
                  cases[i].pair, w);
    }
}

/* NTK-by-parts for 128 channels and 2048 positions: its ramps are (38, 43) and (20, 36). */
Test(scaling, ntk_by_parts)
{
    const double f = 4, b = 10000 * pow(f, 128.0 / 126);
    for (size_t k = 0; k < 64; k++) {
        double slow = fmin(fmax(((double)k - 38) / 5, 0), 1);
        double fast = fmin(fmax(((double)k - 20) / 16, 0), 1);
        double w = pow(10000, -(double)k / 64), ntk = pow(b, -(double)k / 64);
        double parts = w / f * slow + ntk * (1 - slow);
        double expected = parts * fast + w * (1 - fast);
        double got =
            frequency_of("rope:dim=128,scaling=ntk_by_parts,factor=4,original_max=2048", k);
        cr_expect(fabs(got - expected) <= 1e-12 * expected, "%zu: %.15g %.15g", k, got, expected);
    }
}

/* The step of Qwen's first generation changes behind powers of two, and nowhere else. */
Test(scaling, dynamic_step)
{
    static const struct {
        unsigned context;
        double stretch;
    } steps[] = {{1024, 1}, {2048, 1}, {2049, 3}, {3072, 3}, {4096, 3}, {4097, 7}, {8192, 7}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char text[120];
        struct pe_spec spec;
        struct pe_faults faults = {0};
        snprintf(text, sizeof text, "rope:dim=8,scaling=dynamic_step,original_max=2048,context=%u",
                 steps[i].context);
        cr_assert(pe_spec_parse(text, &spec, &faults) && pe_spec_finish(&spec, &faults));
        double expected = 10000 * pow(steps[i].stretch, 8.0 / 6);
        cr_expect_float_eq(pe_spec_effective_base(&spec), expected, 1e-9 * expected, "%s", text);
        pe_spec_release(&spec);
    }
}

Test(scaling, bases_that_it_comes_to)
{
    static const struct {
        const char *text;
        double base;
    } cases[] = {
        {"rope:dim=128", 10000},
        {"rope:dim=128,base_factor=1.5", 15000},
        {"rope:dim=128,scaling=ntk,factor=4", 40889.94243},
        {"rope:dim=128,scaling=ntk,factor=8", 82684.62264},
        {"rope:dim=128,scaling=dynamic,factor=2,original_max=4096,context=8192", 30527.73675},
        {"rope:dim=128,scaling=dynamic,factor=4,original_max=2048,context=4096", 51293.78727},
        {"rope:dim=128,scaling=dynamic,factor=4,original_max=2048,context=100", 10000},
        {"rope:dim=128,scaling=yarn,factor=4,original_max=2048", 10000},
        {"rope2d:dim=256,scaling=ntk,factor=4", 40889.94243},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pe_spec spec;
        struct pe_faults faults = {0};
        cr_assert(pe_spec_parse(cases[i].text, &spec, &faults) && pe_spec_finish(&spec, &faults));
        cr_expect_float_eq(pe_spec_effective_base(&spec), cases[i].base, 1e-9 * cases[i].base,
                           "%s: %.10g", cases[i].text, pe_spec_effective_base(&spec));
        pe_spec_release(&spec);
    }
}

/* A single division or none, rounded once. */
Test(scaling, frequencies_of_the_caller_and_divisors)
{
    static const struct {
        const char *text;
        double w[4];
    } cases[] = {
        {"rope:dim=8,freqs=3+0.1+0+1e-9", {3, 0.1, 0, 1e-9}},
        {"rope:dim=8,freqs=3+0.1+0+1e-9,freq_factors=3+0.3+7+1e30", {1, 0.1 / 0.3, 0, 1e-9 / 1e30}},
        {"rope:dim=8,freqs=3+0.1+0.5+1,scaling=none,kept_pairs=2", {3, 0.1, 0, 0}},
        {"rope:dim=8,base=16,freq_factors=1+3+5+7", {1, 0.5 / 3, 0.25 / 5, 0.125 / 7}},
        {"rope:dim=8,base=16,scaling=linear,factor=2,freq_factors=1+3+5+7",
         {0.5, 0.25 / 3, 0.125 / 5, 0.0625 / 7}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < 4; k++)
            cr_expect_eq(frequency_of(cases[i].text, k), cases[i].w[k], "%s: %zu", cases[i].text,
                         k);
}

/* A factor of 1, or a context within the original one, changes nothing. */
Test(scaling, factor_one_changes_nothing)
{
    static const char *const texts[] = {
        "rope:dim=64,scaling=linear,factor=1",
        "rope:dim=64,scaling=ntk,factor=1",
        "rope:dim=64,scaling=ntk_fixed,factor=1",
        "rope:dim=64,scaling=ntk_mixed,factor=1",
        "rope:dim=64,scaling=ntk_divide,factor=1",
        "rope:dim=64,scaling=ntk_by_parts,factor=1,original_max=512",
        "rope:dim=64,scaling=dynamic,factor=3,original_max=512,context=512",
        "rope:dim=64,scaling=dynamic_step,original_max=512,context=300",
        "rope:dim=64,scaling=yarn,factor=1,original_max=512",
        "rope:dim=64,scaling=llama3,factor=1,original_max=512",
        "rope:dim=64,scaling=proportional",
        "rope:dim=64,kept_pairs=32",
        "rope:dim=64,attention_gain=1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t k = 0; k < 32; k++)
            cr_expect_eq(frequency_of(texts[i], k), frequency_of("rope:dim=64", k), "%s: %zu",
                         texts[i], k);
}

Test(scaling, says_what_is_wrong)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"rope:scaling=ntk", "factor is required with scaling=ntk"},
        {"rope:dim=2,scaling=ntk,factor=4", "scaling=ntk needs more than two rotated channels"},
        {"rope:scaling=linear,factor=0.5", "factor must be at least 1, got 0.5"},
        {"rope:scaling=yarn,factor=4", "original_max is required with"},
        {"rope:scaling=yarn,original_max=4096,max_position=2048",
         "max_position/original_max is 0.5, as a factor it must be 1 to"},
        {"rope:scaling=yarn,factor=4,original_max=64,beta_fast=1,beta_slow=2",
         "beta_fast must be at least beta_slow (2), got 1"},
        {"rope:scaling=llama3,factor=8,original_max=8192,low_freq_factor=4,high_freq_factor=1",
         "high_freq_factor must be at least low_freq_factor (4), got 1"},
        {"rope:dim=8,scaling=longrope,factor=2,original_max=64,short_factor=1,long_factor=1+2+3+4",
         "short_factor must have a number for each of the 4 pairs, got 1"},
        {"rope:dim=2,scaling=longrope,factor=2,original_max=1,short_factor=1,long_factor=2",
         "original_max must be above 1 with scaling=longrope, got 1"},
        {"rope:base=2,base_factor=0.5", "base times base_factor must be above 1, got 2 * 0.5"},
        {"rope:dim=8,freqs=1+2+3", "freqs must have a number for each of the 4 pairs, got 3"},
        {"rope:dim=8,freq_factors=1", "freq_factors must have a number for each of the 4 pairs"},
        {"rope:dim=4,base=500,freqs=1+2", "base says nothing where the frequencies are given"},
        {"rope:dim=4,freqs=1+2,scaling=linear,factor=2", "scaling says nothing where"},
        {"rope:dim=64,rotary_dim=32,scaling=proportional",
         "with scaling=proportional pairs span the whole vector, so that rotary_dim must be dim"},
        {"rope:dim=64,kept_pairs=33", "kept_pairs must be at most rotary_dim/2 (32), got 33"},
        {"rope:dim=64,scaling=proportional,partial_rotary_factor=0.5,kept_pairs=8",
         "partial_rotary_factor of dim 64 gives kept_pairs 16, but kept_pairs is given as 8"},
        {"rope2d:scaling=proportional", "scaling=proportional is for kinds of one position axis"},
        {"rope:factor=4", "factor is not read with scaling=none"},
        {"rope:attn_factor=1", "\"attn_factor\" is not a parameter here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pe_spec spec = {0};
        struct pe_faults faults = {0};
        bool ok = pe_spec_parse(cases[i].text, &spec, &faults) && pe_spec_finish(&spec, &faults);
        cr_assert(!ok && faults.n > 0, "%s", cases[i].text);
        cr_expect(strstr(faults.item[0].detail, cases[i].says), "%s: %s", cases[i].text,
                  faults.item[0].detail);
        if (spec.kind)
            pe_spec_release(&spec);
    }
}

/* Whoever spells out what a rule gives, or the lengths instead of their ratio, has the same spec.
 */
Test(scaling, one_spec_in_all_spellings)
{
    static const char *const texts[] = {
        "rope:dim=64,scaling=yarn,factor=4,original_max=4096",
        "rope:dim=64,scaling=yarn,original_max=4096,max_position=16384",
        "rope:dim=64,scaling=yarn,factor=4,original_max=4096,attention_factor=1.138629436111989",
        "rope:d=64,rope_type=yarn,alpha=4,original_max=4096,beta_fast=32,truncate=true,mscale=0",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pe_spec spec;
        struct pe_faults faults = {0};
        char compact[200];
        cr_assert(pe_spec_parse(texts[i], &spec, &faults) && pe_spec_finish(&spec, &faults));
        pe_spec_compact(&spec, compact, sizeof compact);
        cr_expect_str_eq(compact, texts[0], "%s", texts[i]);
        pe_spec_release(&spec);
    }
}
