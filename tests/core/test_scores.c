// SPDX-License-Identifier: Apache-2.0
/*
 * test_scores.c: the diagnostics that the API documents, to the last digit, published vectors, and
 * what must hold for every spec. Values of all kinds are checked in test_scores_exact.c.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scores_setup.h"
#include "golden/golden.h"

/* ---- Documented diagnostics --------------------------------------------------------------- */

/* The numbers were computed independently at 60 digits; the API's text shows 17 of them, which do
 * not always single out the nearest double. Hence more here. */

#define LENGTH_OF_Q 7.63305007420644605948881

/* The exact difference of two scores, rounded once. */
static double difference(const struct setup *setup, size_t i, size_t j)
{
    const double parts[4] = {setup->scores[i], setup->rest[i], -setup->scores[j], -setup->rest[j]};
    return 4 * pe_mean(parts, 4);
}

/* Places of the smallest and the largest of the cells [from, to). */
static void find_range(const struct setup *setup, size_t from, size_t to, size_t *min, size_t *max)
{
    *min = *max = from;
    for (size_t i = from; i < to; i++) {
        *min = setup->scores[i] < setup->scores[*min] ? i : *min;
        *max = setup->scores[i] > setup->scores[*max] ? i : *max;
    }
}

static double range_of(const struct setup *setup, size_t from, size_t to)
{
    size_t min;
    size_t max;
    find_range(setup, from, to, &min, &max);
    return difference(setup, max, min);
}

/* Largest difference over the anchors at one offset. */
static double spread_at(const struct setup *setup, size_t offset)
{
    double spread = 0;
    size_t n = setup->job.offsets_n;
    for (size_t a = 0; a < ANCHORS_N; a++)
        for (size_t b = 0; b < ANCHORS_N; b++)
            spread = fmax(spread, difference(setup, a * n + offset, b * n + offset));
    return spread;
}

static double spread_max(const struct setup *setup, size_t *at)
{
    double max = 0;
    *at = 0;
    for (size_t o = 0; o < setup->job.offsets_n; o++)
        if (spread_at(setup, o) > max) {
            max = spread_at(setup, o);
            *at = o;
        }
    return max;
}

Test(scores, documented_defaults)
{
    static const struct {
        const char *text;
        double range, spread;
        size_t min_offset, max_offset, spread_offset; /* range: of anchor 0 */
        double norms[3];
    } cases[] = {
        {"rope", 14.0555428856047063832617, 0, 23, 1, 0, {LENGTH_OF_Q, LENGTH_OF_Q, LENGTH_OF_Q}},
        {"rope:layout=half",
         9.62621025646972985404883,
         0,
         20,
         24,
         0,
         {LENGTH_OF_Q, LENGTH_OF_Q, LENGTH_OF_Q}},
        {"sinusoidal",
         30.1544148208484323598263,
         12.3155654116361125820678,
         29,
         0,
         20,
         {9.63687249803440126371903, 10.2491978546075019551309, 9.93257770968899117486318}},
        {"alibi:slope=0.5", 15.5, 0, 31, 0, 0, {LENGTH_OF_Q, LENGTH_OF_Q, LENGTH_OF_Q}},
        {"none", 0, 0, 0, 0, 0, {LENGTH_OF_Q, LENGTH_OF_Q, LENGTH_OF_Q}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct setup setup;
        setup_init(&setup, 64, 32);
        cr_assert_eq(run(&setup, cases[i].text), PE_OK);
        size_t min;
        size_t max;
        size_t at;
        find_range(&setup, 0, 32, &min, &max);
        cr_expect(same(range_of(&setup, 0, 96), cases[i].range), "%s range %.17g", cases[i].text,
                  range_of(&setup, 0, 96));
        cr_expect(min == cases[i].min_offset && max == cases[i].max_offset, "%s: %zu, %zu",
                  cases[i].text, min, max);
        cr_expect(same(spread_max(&setup, &at), cases[i].spread), "%s spread %.17g", cases[i].text,
                  spread_max(&setup, &at));
        cr_expect_eq(at, cases[i].spread_offset, "%s spread at %zu", cases[i].text, at);
        cr_expect(same(setup.job.norm_q_before, LENGTH_OF_Q));
        for (size_t a = 0; a < ANCHORS_N; a++)
            cr_expect(same(setup.norm_q_after[a], cases[i].norms[a]), "%s norm %.17g",
                      cases[i].text, setup.norm_q_after[a]);
    }
}

Test(scores, documented_sinusoidal_example)
{
    static const double expected[9] = {30.937778852108232, 30.5753295296695,   28.059069443604276,
                                       35.561957182597342, 34.626566727474656, 32.191024980312623,
                                       41.111518060946671, 40.496675767563618, 37.109786011145474};
    static const double per_anchor[3] = {2.878709408503956352119, 3.3709322022847185086,
                                         4.001732049801197680187};
    struct setup setup;
    setup_init(&setup, 64, 3);
    cr_assert_eq(run(&setup, "sinusoidal:dim=64"), PE_OK);
    for (size_t i = 0; i < 9; i++)
        cr_expect(same(setup.scores[i], expected[i]), "%zu: %.17g", i, setup.scores[i]);
    cr_expect(same(range_of(&setup, 0, 9), 13.0524486173423953175209));
    for (size_t a = 0; a < 3; a++)
        cr_expect(same(range_of(&setup, 3 * a, 3 * a + 3), per_anchor[a]), "anchor %zu", a);
    size_t at;
    cr_expect(same(spread_max(&setup, &at), 10.1737392088384389654));
    cr_expect_eq(at, 0);
    double spreads[3] = {spread_at(&setup, 0), spread_at(&setup, 1), spread_at(&setup, 2)};
    cr_expect(same(pe_mean(spreads, 3), 9.715267338091251541694), "%.17g", pe_mean(spreads, 3));
}

/* PE(m).PE(n) depends on the distance only: the position term is the same from any anchor. */
Test(scores, truth_of_position_terms)
{
    static const struct {
        const char *fact, *text;
        size_t dim;
        double offset;
    } facts[] = {
        {"PE(0).PE(0) d=64 base=10000 (sum of cos(0 w_i))", "sinusoidal:dim=64", 64, 0},
        {"PE(0).PE(1) d=64 base=10000 (sum of cos(1 w_i))", "sinusoidal:dim=64", 64, 1},
        {"PE(0).PE(2) d=64 base=10000 (sum of cos(2 w_i))", "sinusoidal:dim=64", 64, 2},
        {"PE(0).PE(3) d=64 base=10000 (sum of cos(3 w_i))", "sinusoidal:dim=64,layout=half", 64, 3},
        {"PE(0).PE(10) d=64 base=10000 (sum of cos(10 w_i))", "sinusoidal:dim=64", 64, 10},
        {"PE(0).PE(100) d=64 base=10000 (sum of cos(100 w_i))", "sinusoidal:dim=64", 64, 100},
        {"PE(0).PE(1) d=128 base=10000", "sinusoidal:dim=128", 128, 1},
    };
    json_t *document = golden_load("truth_facts.json");
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        static struct setup setup;
        setup_init(&setup, facts[i].dim, 1);
        setup.anchors[1] = 17;
        setup.anchors[2] = 100003;
        setup.offsets[0] = facts[i].offset;
        cr_assert_eq(run(&setup, facts[i].text), PE_OK);
        double expected =
            golden_number(json_object_get(json_object_get(document, "facts"), facts[i].fact));
        for (size_t a = 0; a < ANCHORS_N; a++)
            cr_expect(same(setup.terms[3][a], expected), "%s at %g: %.17g", facts[i].fact,
                      setup.anchors[a], setup.terms[3][a]);
        if (facts[i].dim == 64 && facts[i].offset == 1)
            cr_expect(same(expected, 30.916831661619025));
    }
    json_decref(document);
}

/* ---- Published vectors of rotary scores --------------------------------------------------- */

/* q = 1..8, k = 8..1, base 1e4; ten decimals. */
Test(scores, published_dot_products)
{
    static const struct {
        const char *text;
        double m, n, score;
    } cases[] = {
        {"rope:dim=8", 0, 0, 120},
        {"rope:dim=8,layout=half", 0, 0, 120},
        {"rope:dim=8,layout=half", 3, 1, 39.0248080536},
        {"rope:dim=8,layout=half", 103, 101, 39.0248080536},
        {"rope:dim=8,layout=half", 1, 3, 120.3823185083},
        {"rope:dim=8", 3, 1, 77.9099670004},
        {"rope:dim=8", 103, 101, 77.9099670004},
        {"rope:dim=8", 1, 3, 98.2493446141},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct setup setup;
        setup_init(&setup, 8, 1);
        for (int j = 0; j < 8; j++) {
            setup.q[j] = j + 1;
            setup.k[j] = 8 - j;
        }
        setup.job.anchors_n = 1;
        setup.anchors[0] = cases[i].m;
        setup.offsets[0] = cases[i].n - cases[i].m;
        cr_assert_eq(run(&setup, cases[i].text), PE_OK);
        cr_expect_float_eq(setup.scores[0], cases[i].score, 0.51e-10, "%s (%g, %g): %.12g",
                           cases[i].text, cases[i].m, cases[i].n, setup.scores[0]);
    }
}

/* Mean of cos(d w_i) for r = 128; ten decimals. */
Test(scores, published_decay)
{
    static const double offsets[6] = {0, 1, 10, 100, 1000, 10000};
    static const struct {
        const char *text;
        double decay[6];
    } cases[] = {
        {"rope:dim=128",
         {1, 0.9702138095, 0.6690628578, 0.4772414797, 0.1590270021, -0.0278937801}},
        {"rope:dim=128,base=500000",
         {1, 0.9779092242, 0.7642052291, 0.6109886834, 0.4922638904, 0.1869947764}},
    };
    for (size_t i = 0; i < 2; i++) {
        static struct setup setup;
        setup_init(&setup, 128, 6);
        memcpy(setup.offsets, offsets, sizeof offsets);
        for (size_t j = 0; j < 128; j++)
            setup.q[j] = setup.k[j] = j % 2 == 0; /* the first member of each pair */
        setup.job.normalize = PE_NORMALIZE_MEAN;
        cr_assert_eq(run(&setup, cases[i].text), PE_OK);
        for (size_t o = 0; o < 6; o++)
            cr_expect_float_eq(setup.scores[o], cases[i].decay[o], 0.51e-10, "%s %g: %.12g",
                               cases[i].text, offsets[o], setup.scores[o]);
    }
}

/* ---- Properties -------------------------------------------------------------------------- */

/* The exact sum of the rounded terms is within the five half-ulps of the rounded score. */
Test(scores, terms_add_up)
{
    static struct setup setup;
    setup_init(&setup, 64, 32);
    cr_assert_eq(run(&setup, "sinusoidal"), PE_OK);
    for (size_t i = 0; i < CELLS_MAX; i++) {
        double parts[5] = {-setup.scores[i]};
        double bound = ldexp(1, ilogb(setup.scores[i]) - 53);
        for (size_t t = 0; t < 4; t++) {
            parts[t + 1] = setup.terms[t][i];
            bound += ldexp(1, ilogb(parts[t + 1]) - 53);
        }
        cr_expect_leq(fabs(5 * pe_mean(parts, 5)), bound, "cell %zu", i);
    }
}

/* A random text of a rotary spec with this layout. */
static void draw_rope(uint64_t *seed, const char *layout, size_t *dim, size_t *rotary_dim,
                      char text[128])
{
    uint64_t bits = pe_draw(6, "rope", ++*seed);
    *rotary_dim = 2 + 2 * (bits % 20);
    *dim = *rotary_dim + 2 * ((bits >> 8) % 3);
    double base = pow(10, 1 + (double)(bits >> 16 & 0xff) / 32);
    snprintf(text, 128, "rope:dim=%zu,base=%.17g,layout=%s,rotary_dim=%zu,direction=%d", *dim, base,
             layout, *rotary_dim, bits >> 63 ? 1 : -1);
}

Test(scores, depend_on_the_offset_only)
{
    static struct setup setup;
    uint64_t seed = 0;
    for (size_t round = 0; round < 40; round++) {
        char text[128];
        size_t dim;
        size_t rotary_dim;
        draw_rope(&seed, round % 2 ? "half" : "interleaved", &dim, &rotary_dim, text);
        setup_init(&setup, dim, 8);
        double anchors[3];
        pe_fill_random(round, "a", PE_CONTENT_NORMAL, 1e6, 0, 3, PE_F64, anchors);
        memcpy(setup.anchors, anchors, sizeof anchors);
        pe_fill_random(round, "o", PE_CONTENT_NORMAL, 100, 0, 8, PE_F64, setup.offsets);
        setup.job.anchor_is_key = round % 3 == 0;
        cr_assert_eq(run(&setup, text), PE_OK);
        for (size_t i = 0; i < 24; i++)
            cr_expect(same(setup.scores[i], setup.scores[i % 8]), "%s cell %zu", text, i);
        for (size_t a = 0; a < 3; a++)
            cr_expect(same(setup.norm_q_after[a], setup.job.norm_q_before), "%s", text);
    }
}

/* The half-split operator is the interleaved one behind a permutation of channels. */
Test(scores, layouts_are_related_by_the_permutation)
{
    static struct setup inter;
    static struct setup half;
    uint64_t seed = 100;
    for (size_t round = 0; round < 40; round++) {
        char text[128];
        size_t dim;
        size_t r;
        uint64_t again = seed;
        draw_rope(&seed, "interleaved", &dim, &r, text);
        setup_init(&inter, dim, 8);
        cr_assert_eq(run(&inter, text), PE_OK);
        setup_init(&half, dim, 8);
        for (size_t i = 0; i < r / 2; i++) {
            half.q[i] = inter.q[2 * i];
            half.k[i] = inter.k[2 * i];
            half.q[i + r / 2] = inter.q[2 * i + 1];
            half.k[i + r / 2] = inter.k[2 * i + 1];
        }
        draw_rope(&again, "half", &dim, &r, text);
        cr_assert_eq(run(&half, text), PE_OK);
        cr_expect_eq(memcmp(half.scores, inter.scores, 24 * sizeof(double)), 0, "%s", text);
    }
}

/* Swapping the places, or the direction, negates the distance. */
Test(scores, mirrored)
{
    static struct setup plain;
    static struct setup swapped;
    static struct setup turned;
    setup_init(&plain, 32, 9);
    setup_init(&swapped, 32, 9);
    setup_init(&turned, 32, 9);
    for (size_t o = 0; o < 9; o++) {
        plain.offsets[o] = (double)o - 4;
        turned.offsets[o] = swapped.offsets[o] = 4 - (double)o;
    }
    swapped.job.anchor_is_key = true;
    cr_assert_eq(run(&plain, "rope:dim=32"), PE_OK);
    cr_assert_eq(run(&swapped, "rope:dim=32"), PE_OK);
    cr_assert_eq(run(&turned, "rope:dim=32,direction=-1"), PE_OK);
    cr_expect_eq(memcmp(plain.scores, swapped.scores, 27 * sizeof(double)), 0);
    cr_expect_eq(memcmp(plain.scores, turned.scores, 27 * sizeof(double)), 0);
}

/* t5: q.k plus the value of the offset's bucket, which lies behind the query for negative ones. */
Test(scores, t5_reads_the_bucket_of_the_offset)
{
    static struct setup setup;
    setup_init(&setup, 16, 9);
    for (size_t o = 0; o < 9; o++)
        setup.offsets[o] = (double)o * 5 - 20;
    setup.job.head = 2;
    cr_assert_eq(run(&setup, "t5:heads=3,table_std=1"), PE_OK);
    struct pe_positions query = positions_of((const double[]){0}, 1);
    struct pe_positions keys = positions_of(setup.offsets, 9);
    struct pe_plan *plan = plan_from("t5:heads=3,table_std=1", &query);
    double bias[9]; /* seeded values times 1 are doubles */
    pe_bias(plan, &query, &keys, 2, 1, PE_F64, bias);
    pe_plan_free(plan);
    double content = pe_dot(PE_F64, setup.q, setup.k, 16);
    for (size_t i = 0; i < 27; i++) {
        double expected = content + bias[i % 9];
        cr_expect_float_eq(setup.scores[i], expected, fabs(expected) * 0x1p-51, "%zu", i);
    }
    cr_expect_neq(setup.scores[0], setup.scores[1]);
}

/* ---- Errors ------------------------------------------------------------------------------- */

Test(scores, division_by_zero)
{
    static const char *const texts[] = {"rope:dim=8", "none:dim=8", "alibi"};
    static struct setup setup;
    for (size_t i = 0; i < 3; i++) {
        setup_init(&setup, 8, 2);
        memset(setup.q, 0, sizeof setup.q);
        setup.job.normalize = PE_NORMALIZE_COSINE;
        cr_expect_eq(run(&setup, texts[i]), PE_INVALID_VALUE, "%s", texts[i]);
        setup.job.normalize = PE_NORMALIZE_FIRST;
        cr_expect_eq(run(&setup, texts[i]), PE_INVALID_VALUE, "%s", texts[i]);
    }
    setup_init(&setup, 8, 2);
    setup.job.normalize = PE_NORMALIZE_FIRST;
    setup.job.scale = 0;
    cr_expect_eq(run(&setup, "rope:dim=8"), PE_INVALID_VALUE);
    setup.job.normalize = PE_NORMALIZE_NONE;
    cr_expect_eq(run(&setup, "rope:dim=8"), PE_OK);
    cr_expect(same(setup.scores[1], 0));
}

/* At offset 0 the encoded query is -key's opposite: the cosine is -1, the length is exact. */
Test(scores, codes_that_cancel_the_content)
{
    static struct setup setup;
    setup_init(&setup, 4, 1);
    setup.job.anchors_n = 1;
    setup.anchors[0] = 3;
    for (size_t i = 0; i < 4; i++)
        setup.q[i] = -3; /* integer adds 3 */
    cr_assert_eq(run(&setup, "integer:dim=4"), PE_OK);
    cr_expect(same(setup.norm_q_after[0], 0));
    cr_expect(same(setup.scores[0], 0));
    setup.job.normalize = PE_NORMALIZE_COSINE;
    cr_expect_eq(run(&setup, "integer:dim=4"), PE_INVALID_VALUE);
}

static bool stop_at_third(void *context)
{
    return ++*(int *)context == 3;
}

/* A caller can end a long job: outputs before that point are there. */
Test(scores, end_when_the_caller_says_so)
{
    static const double q[] = {1, 2}, k[] = {3, 4}, anchors[] = {0}, offsets[] = {0, 1, 2, 3};
    double scores[4] = {0}, q_after[1], k_after[4];
    int asked = 0;
    struct pe_spec spec = {0};
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse("rope:dim=2", &spec, &faults) && pe_spec_finish(&spec, &faults));
    struct pe_plan *plan;
    struct pe_positions positions = {.axes = 1, .n = 4, .at = {offsets}};
    cr_assert_eq(pe_plan_new(&spec, &positions, &plan), PE_OK);
    struct pe_scores job = {
        .plan = plan,
        .q = q,
        .k = k,
        .vectors_n = 1,
        .dim = 2,
        .anchors = anchors,
        .anchors_n = 1,
        .offsets = offsets,
        .offsets_n = 4,
        .scale = 1,
        .stop = stop_at_third,
        .stop_context = &asked,
        .scores = scores,
        .norm_q_after = q_after,
        .norm_k_after = k_after,
    };
    cr_expect_eq(pe_scores(&job), PE_STOPPED);
    cr_expect_eq(asked, 3);
    cr_expect_eq(scores[0], 11);
    cr_expect_neq(scores[1], 0);
    cr_expect_eq(scores[2], 0);
    pe_plan_free(plan);
    pe_spec_release(&spec);
}
