// SPDX-License-Identifier: Apache-2.0
/*
 * test_pairs.c: pairs that do not turn (kept_pairs) among others that do: cos 1 and sin 0 exactly,
 * elements that keep their bits, scores in which they count as they are.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "apply_to.h"
#include "scores_setup.h"

#define N(array) (sizeof(array) / sizeof *(array))
#define DIM      600 /* blocks of pairs end within those that turn and those that do not */
#define PAIRS    (DIM / 2)
#define KEPT     150

static const double at[] = {0, 1, -3, 1000003, 0.1, 0x1p53};
static const struct pe_positions positions = {.axes = 1, .n = N(at), .at = {at}};

static void cos_sin(const char *spec, enum pe_dtype dtype, void *c, void *s)
{
    struct pe_plan *plan = plan_from(spec, &positions);
    pe_cos_sin(plan, &positions, dtype, c, s);
    pe_plan_free(plan);
}

Test(pairs, that_are_kept_turn_and_the_others_do_not)
{
    for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
        static double c[2][N(at) * PAIRS], s[2][N(at) * PAIRS];
        cos_sin("rope:dim=600", dtype, c[0], s[0]);
        cos_sin("rope:dim=600,kept_pairs=150", dtype, c[1], s[1]);
        for (size_t i = 0; i < N(at) * PAIRS; i++) {
            bool kept = i % PAIRS < KEPT;
            double cosine = pe_load(dtype, c[1], i), sine = pe_load(dtype, s[1], i);
            cr_expect(cosine == (kept ? pe_load(dtype, c[0], i) : 1), "cos %zu", i);
            cr_expect(kept ? sine == pe_load(dtype, s[0], i) : same(sine, 0), "sin %zu", i);
        }
    }
}

/* Each stage of a pipeline leaves an angle of 0 what it is. */
Test(pairs, do_not_turn_in_stages)
{
    static double c[N(at) * PAIRS], s[N(at) * PAIRS];
    struct pe_stages stages = {0};
    struct pe_faults faults = {0};
    cr_assert(pe_stages_parse("f32", 3, PE_F32, "stages", &stages, NULL, &faults));
    struct pe_plan *plan = staged_plan("rope:dim=600,kept_pairs=150", &stages, &positions);
    pe_cos_sin(plan, &positions, PE_F64, c, s);
    for (size_t i = 0; i < N(at) * PAIRS; i++)
        cr_expect(i % PAIRS < KEPT || (c[i] == 1 && same(s[i], 0)), "%zu: %g %g", i, c[i], s[i]);
    pe_plan_free(plan);
}

/* Elements that arithmetic would change: NaN with a payload, infinities, both zeros. */
static void fill(float *x)
{
    const uint32_t odd[] = {0x7fa00001, 0x7f800000, 0xff800000, 0x80000000, 0, 0x00000001};
    pe_fill_random(1, "x", PE_CONTENT_NORMAL, 1, 0, N(at) * DIM, PE_F32, x);
    for (size_t t = 0; t < N(at); t++)
        for (size_t j = 0; j < N(odd); j++) {
            memcpy(&x[t * DIM + 2 * KEPT + 7 * j], &odd[j], sizeof odd[j]);
            memcpy(&x[t * DIM + KEPT + 7 * j], &odd[j], sizeof odd[j]);
            memcpy(&x[t * DIM + PAIRS + KEPT + 11 * j], &odd[j], sizeof odd[j]);
        }
}

static bool is_kept(const char *spec, size_t channel)
{
    bool half = strstr(spec, "half") != NULL;
    return (half ? channel % PAIRS : channel / 2) < KEPT;
}

Test(pairs, that_do_not_turn_keep_their_bits)
{
    static const char *const specs[][2] = {
        {"rope:dim=600", "rope:dim=600,kept_pairs=150"},
        {"rope:dim=600,layout=half", "rope:dim=600,layout=half,kept_pairs=150"},
    };
    static float x[N(at) * DIM], full[N(at) * DIM], kept[N(at) * DIM];
    fill(x);
    for (size_t i = 0; i < 2 * N(specs); i++) {
        bool inverse = i % 2;
        const char *const *spec = specs[i / 2];
        memcpy(kept, x, sizeof x);
        apply_rows(spec[0], &positions, inverse, DIM, PE_F32, x, PE_F32, full);
        apply_rows(spec[1], &positions, inverse, DIM, PE_F32, kept, PE_F32, kept);
        for (size_t j = 0; j < N(at) * DIM; j++) {
            const float *expected = is_kept(spec[1], j % DIM) ? &full[j] : &x[j];
            cr_expect(memcmp(&kept[j], expected, sizeof *expected) == 0, "%s: %zu: %g, not %g",
                      spec[1], j, (double)kept[j], (double)*expected);
        }
    }
}

Test(pairs, that_do_not_turn_keep_their_numbers_in_f64)
{
    static double x[N(at) * DIM], full[N(at) * DIM], kept[N(at) * DIM];
    pe_fill_random(1, "x", PE_CONTENT_NORMAL, 1e30, 0, N(at) * DIM, PE_F64, x);
    apply_rows("rope:dim=600", &positions, false, DIM, PE_F64, x, PE_F64, full);
    apply_rows("rope:dim=600,kept_pairs=150", &positions, false, DIM, PE_F64, x, PE_F64, kept);
    for (size_t j = 0; j < N(at) * DIM; j++)
        cr_expect(same(kept[j], is_kept("", j % DIM) ? full[j] : x[j]), "%zu", j);
}

/* With nothing kept there is no encoding; else the score is that of the pairs that turn plus the
 * plain product of the others. */
Test(pairs, that_do_not_turn_are_content_in_scores)
{
    static struct setup none, some, part;
    setup_init(&none, 16, OFFSETS_MAX);
    setup_init(&some, 16, OFFSETS_MAX);
    setup_init(&part, 16, OFFSETS_MAX);
    cr_assert_eq(run(&none, "rope:dim=16,kept_pairs=0"), PE_OK);
    double dot = pe_dot(PE_F64, none.q, none.k, 16);
    for (size_t i = 0; i < ANCHORS_N * OFFSETS_MAX; i++)
        cr_expect(same(none.scores[i], dot), "%zu: %g, not %g", i, none.scores[i], dot);

    cr_assert_eq(run(&some, "rope:dim=16,kept_pairs=3"), PE_OK);
    memset(part.q + 6, 0, 10 * sizeof *part.q);
    cr_assert_eq(run(&part, "rope:dim=16"), PE_OK);
    double rest = pe_dot(PE_F64, some.q + 6, some.k + 6, 10);
    for (size_t i = 0; i < ANCHORS_N * OFFSETS_MAX; i++)
        cr_expect_float_eq(some.scores[i], part.scores[i] + rest, 1e-14, "%zu", i);
}

/* Gemma's proportional frequencies: numbers of a published description of them. */
Test(pairs, of_proportional_span_the_vector)
{
    static const struct {
        const char *text;
        size_t pairs, turning, pair;
        double w;
    } cases[] = {
        {"rope:dim=512,base=1e6,scaling=proportional,partial_rotary_factor=0.25", 256, 64, 1,
         0.9474635257},
        {"rope:dim=512,base=1e6,scaling=proportional,kept_pairs=64", 256, 64, 63, 0.03337624694},
        {"rope:dim=256,base=1e6,scaling=proportional,partial_rotary_factor=0.25", 128, 32, 1,
         0.8976871324},
        {"rope:dim=256,base=1e6,kept_pairs=32", 128, 32, 1, 0.8976871324},
        {"rope:dim=256,base=1e6,scaling=proportional,factor=2,kept_pairs=32", 128, 32, 1,
         0.8976871324 / 2},
        {"rope:dim=10,scaling=proportional,partial_rotary_factor=0.5", 5, 2, 0, 1},
    };
    for (size_t i = 0; i < N(cases); i++) {
        double w[256];
        struct pe_plan *plan = plan_from(cases[i].text, &positions);
        pe_frequencies(plan, &(struct pe_frequencies){.context = 1, .inv_freq = w});
        cr_expect_eq(pe_spec_pairs(pe_plan_spec(plan)), cases[i].pairs);
        for (size_t k = 0; k < cases[i].pairs; k++)
            cr_expect((w[k] > 0) == (k < cases[i].turning), "%s: %zu", cases[i].text, k);
        cr_expect_float_eq(w[cases[i].pair], cases[i].w, 1e-10, "%s: %.12g", cases[i].text,
                           w[cases[i].pair]);
        pe_plan_free(plan);
    }
}
