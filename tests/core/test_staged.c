// SPDX-License-Identifier: Apache-2.0
/*
 * test_staged.c: frequencies, angles, tables and biases of plans with stages, against one MPFR
 * operation after the other, plain double arithmetic, and errors published for the formats.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "core/plan_from.h"
#include "golden/golden.h"
#include "ref/ref_stages.h"
#include "staged.h"

#define DIM   16
#define PAIRS (DIM / 2)

/* ---- Against the reference ---------------------------------------------------------------- */

static void expect_value(const char *what, enum pe_dtype dtype, mpfr_srcptr exact, const void *out,
                         size_t i)
{
    double wanted = ref_round(dtype, exact);
    double got = pe_load(dtype, out, i);
    cr_expect_eq(got, wanted, "%s, element %zu in %s: %a, not %a", what, i, pe_dtype_name(dtype),
                 got, wanted);
}

struct example {
    const char *spec;
    struct ref_turn turn;
};

static void expect_plan(const struct example *example, const struct pe_stages *stages,
                        double position, enum pe_dtype dtype)
{
    static const size_t all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct pe_positions one = positions_of(&position, 1);
    struct pe_plan *plan = staged_plan(example->spec, stages, &one);
    double cosines[PAIRS];
    double sines[PAIRS];
    double angles[PAIRS];
    double frequencies[PAIRS];
    struct pe_frequencies f = {.dtype = dtype, .context = 1, .inv_freq = frequencies};
    pe_cos_sin(plan, &one, dtype, cosines, sines);
    pe_angles(plan, &one, all, PAIRS, PE_ANGLE, dtype, angles);
    pe_frequencies(plan, &f);
    mpfr_t c, s;
    mpfr_inits2(REF_STAGE_BITS, c, s, (mpfr_ptr)NULL);
    char what[160];
    char text[PE_STAGES_TEXT_MAX];
    pe_stages_print(stages, text, sizeof text);
    snprintf(what, sizeof what, "%s, %s, position %a", example->spec, text, position);
    for (size_t pair = 0; pair < PAIRS; pair++) {
        struct ref_turn turn = example->turn;
        turn.pair = (struct ref_pair){10000, pair, DIM};
        ref_staged_cos_sin(stages, &turn, position, c, s);
        expect_value(what, dtype, c, cosines, pair);
        expect_value(what, dtype, s, sines, pair);
        ref_staged_angle(stages, &turn, position, c);
        expect_value(what, dtype, c, angles, pair);
        ref_staged_frequency(stages, &turn, c);
        expect_value(what, dtype, c, frequencies, pair);
    }
    mpfr_clears(c, s, (mpfr_ptr)NULL);
    pe_plan_free(plan);
}

/* Stages, or none, by the digits of a number. */
static struct pe_stages some_stages(uint64_t draw)
{
    static const enum pe_dtype dtypes[] = {PE_F64, PE_F32, PE_F16, PE_BF16};
    struct pe_stages stages = {0};
    for (unsigned stage = 0; stage < PE_STAGES_N; stage++, draw /= 8)
        if (draw % 8 < 4) {
            stages.named |= 1u << stage;
            stages.dtype[stage] = dtypes[draw % 8];
        }
    return stages;
}

/* All in the range of f16, so that its angles are finite. */
static const double positions[] = {
    0,     1,     2,  3,   7,     64,  100,     257,  1023,         2049,    4095,
    16383, 65000, -1, -77, -4097, 0.5, -0.0625, 1e-3, 0x1.23456p-9, 0x1p-70, 1e-300};

Test(staged, is_one_operation_after_the_other)
{
    static const struct example examples[] = {
        {"rope:dim=16", {.factor = 0}},
        {"rope:dim=16,direction=-1", {.direction = -1}},
        {"rope:dim=16,scaling=linear,factor=3", {.factor = 3}},
        {"rope:dim=16,shift=-3.75", {.shift = -3.75}},
    };
    static const enum pe_dtype dtypes[] = {PE_F64, PE_F32, PE_F16, PE_BF16};
    enum { ROUNDS = 700 };
    for (size_t r = 0; r < ROUNDS; r++) {
        struct pe_stages stages = some_stages(pe_draw(1, "stages", r));
        const struct example *example = &examples[r % 4];
        double position =
            positions[pe_draw(1, "positions", r) % (sizeof positions / sizeof(double))];
        expect_plan(example, &stages, position, dtypes[r / 4 % 4]);
    }
}

/* Far positions, whose angles take every digit of a double. */
Test(staged, reaches_as_far_as_positions_do)
{
    static const struct example example = {"rope:dim=16", {.factor = 0}};
    static const char *const texts[] = {
        "f32",      "f64", "freq:bf16", "angle:f64", "angle:f32,table:f32", "pos:f32,angle:bf16",
        "table:f32"};
    static const double far[] = {131072, 1e6 + 1, 0x1p31 - 1, 0x1p40 + 0x1p-8, 0x1p53, -0x1p53 + 1};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
            struct pe_stages stages = stages_from(texts[t]);
            expect_plan(&example, &stages, far[i], PE_F64);
        }
}

/* Small angles come from a series; the larger ones beside them from tables. */
/* A divisor below 1 makes an angle larger than any position. */
Test(staged, reaches_beyond_that)
{
    static const double at[] = {0x1p53, -0x1.fffffffffffffp52, 0x1p34, 3};
    struct pe_positions far = positions_of(at, 4);
    struct pe_stages stages = {.named = 1u << PE_STAGE_ANGLE, .dtype = {[PE_STAGE_ANGLE] = PE_F64}};
    struct pe_plan *plan = staged_plan("rope:dim=2,scaling=longrope,factor=2,original_max=4096,"
                                       "short_factor=1e-6,long_factor=1,attention_factor=1",
                                       &stages, &far);
    double c[4], s[4];
    pe_cos_sin(plan, &far, PE_F64, c, s);
    mpfr_t cosine, sine;
    mpfr_inits2(REF_STAGE_BITS, cosine, sine, (mpfr_ptr)NULL);
    for (size_t i = 0; i < 4; i++) {
        mpfr_set_d(cosine, 1, MPFR_RNDN);
        mpfr_div_d(cosine, cosine, 1e-6, MPFR_RNDN);
        mpfr_mul_d(cosine, cosine, at[i], MPFR_RNDN);
        mpfr_set_d(sine, mpfr_get_d(cosine, MPFR_RNDN), MPFR_RNDN);
        mpfr_sin_cos(sine, cosine, sine, MPFR_RNDN);
        expect_value("cos", PE_F64, cosine, c, i);
        expect_value("sin", PE_F64, sine, s, i);
    }
    mpfr_clears(cosine, sine, (mpfr_ptr)NULL);
    pe_plan_free(plan);
}

Test(staged, has_no_gap_between_small_and_large_angles)
{
    static const struct example example = {"rope:dim=16", {.factor = 0}};
    struct pe_stages stages = stages_from("angle:f64");
    for (int e = -1; e >= -60; e--)
        for (int i = 0; i < 3; i++)
            expect_plan(&example, &stages, ldexp(1 + (i - 1) * 0x1p-51, e), PE_F64);
}

static void expect_within(double angle, double hi, double lo, double eps, mpfr_srcptr exact)
{
    MPFR_DECL_INIT(error, 300);
    mpfr_sub_d(error, exact, hi, MPFR_RNDN);
    mpfr_sub_d(error, error, lo, MPFR_RNDN);
    cr_expect_leq(fabs(mpfr_get_d(error, MPFR_RNDN)), eps, "angle %a is off by %g, not %g", angle,
                  mpfr_get_d(error, MPFR_RNDN), eps);
}

/* The bound that rounding relies on holds, of series and tables; the first frequency is 1. */
Test(staged, knows_how_far_off_it_may_be)
{
    MPFR_DECL_INIT(c, 300);
    MPFR_DECL_INIT(s, 300);
    const double at = 1;
    struct pe_positions one = positions_of(&at, 1);
    struct pe_stages stages = stages_from("angle:f64");
    struct pe_plan *plan = staged_plan("rope:dim=2", &stages, &one);
    for (size_t i = 0; i < 3000; i++) {
        double p = ldexp(1 + (double)(pe_draw(2, "angles", i) >> 11) * 0x1p-53, (int)(i % 75) - 45);
        struct pe__planes planes;
        struct pe__pos place = {p, 0};
        double eps = pe__staged_cis_row(&(struct pe__coordinate){plan, &place, 0}, 0, 1, &planes);
        cr_expect(eps > 0 && eps < 0x1p-94);
        mpfr_set_d(c, p, MPFR_RNDN);
        mpfr_sin_cos(s, c, c, MPFR_RNDN);
        expect_within(p, planes.cos_hi[0], planes.cos_lo[0], eps, c);
        expect_within(p, planes.sin_hi[0], planes.sin_lo[0], eps, s);
    }
    pe_plan_free(plan);
}

/* ---- Plain arithmetic --------------------------------------------------------------------- */

static void expect_same_tables(const char *spec, const char *a, const char *b)
{
    enum { N = 200 };
    static double at[N];
    static double tables[2][N * DIM];
    for (size_t i = 0; i < N; i++)
        at[i] = (double)i * 331 - 5000;
    struct pe_positions list = positions_of(at, N);
    const char *texts[] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        struct pe_stages stages = stages_from(texts[i]);
        struct pe_plan *plan = staged_plan(spec, &stages, &list);
        pe_table(plan, &list, PE_F64, tables[i], DIM);
        pe_plan_free(plan);
    }
    cr_expect_arr_eq(tables[0], tables[1], sizeof tables[0], "%s: %s and %s", spec, a, b);
}

/* Without stages a staged plan is any plan; stages of what is done with it are none of its own. */
Test(staged, is_exact_where_nothing_is_named)
{
    static const double at[] = {0, 3, 4095, 0x1p40 + 1, 0.3};
    struct pe_positions list = positions_of(at, 5);
    double tables[2][5 * DIM];
    struct pe_stages none = stages_from("apply:bf16,dot:f16");
    struct pe_plan *plan = staged_plan("rope:dim=16", &none, &list);
    struct pe_plan *plain = plan_from("rope:dim=16", &list);
    pe_table(plan, &list, PE_F64, tables[0], DIM);
    pe_table(plain, &list, PE_F64, tables[1], DIM);
    cr_expect_arr_eq(tables[0], tables[1], sizeof tables[0]);
    pe_plan_free(plan);
    pe_plan_free(plain);
    expect_same_tables("rope:dim=16", "table:f64", "exact");
    expect_same_tables("sinusoidal:dim=16", "pos:f64,table:f64", "exact");
}

/* f64: the double next to the frequency, times the position, its cosine: C's own operations but for
 * the functions, which are MPFR's. */
Test(staged, in_f64_is_plain_double_arithmetic)
{
    struct pe_stages stages = stages_from("f64");
    MPFR_DECL_INIT(y, 300);
    MPFR_DECL_INIT(z, 53);
    double cosines[PAIRS];
    double sines[PAIRS];
    for (double p = 1; p < 1e9; p = floor(p * 1.9) + 1) {
        struct pe_positions one = positions_of(&p, 1);
        struct pe_plan *plan = staged_plan("rope:dim=16", &stages, &one);
        pe_cos_sin(plan, &one, PE_F64, cosines, sines);
        for (size_t pair = 0; pair < PAIRS; pair++) {
            ref_frequency(y, 10000, 2 * pair, DIM);
            double angle = p * mpfr_get_d(y, MPFR_RNDN);
            mpfr_set_d(y, angle, MPFR_RNDN);
            mpfr_cos(z, y, MPFR_RNDN);
            cr_expect_eq(cosines[pair], mpfr_get_d(z, MPFR_RNDN), "position %g, pair %zu", p, pair);
            mpfr_sin(z, y, MPFR_RNDN);
            cr_expect_eq(sines[pair], mpfr_get_d(z, MPFR_RNDN), "position %g, pair %zu", p, pair);
        }
        pe_plan_free(plan);
    }
}

Test(staged, every_variant_gives_the_same_bits)
{
    static const char *const variants[] = {"scalar", "base", "avx2", "avx512"};
    static const char *const texts[] = {"f32", "f64", "all-bf16", "freq:f16,angle:f16,table:f16"};
    static double at[100];
    static float first[100 * 64];
    static float other[100 * 64];
    for (size_t i = 0; i < 100; i++)
        at[i] = (double)i * 611;
    struct pe_positions list = positions_of(at, 100);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
            if (!pe_isa_select(variants[v]))
                continue;
            struct pe_stages stages = stages_from(texts[t]);
            struct pe_plan *plan = staged_plan("rope:dim=64,layout=half", &stages, &list);
            pe_table(plan, &list, PE_F32, v == 0 ? first : other, 64);
            cr_expect(v == 0 || memcmp(first, other, sizeof first) == 0, "%s, %s", texts[t],
                      variants[v]);
            pe_plan_free(plan);
        }
}

/* ---- Published errors --------------------------------------------------------------------- */

/* Largest |error of cos| over the 32 pairs of dim 64, base 10000. */
static double worst_error(const char *text, double position)
{
    double wanted[32];
    double got[32];
    double sines[32];
    struct pe_positions one = positions_of(&position, 1);
    struct pe_plan *plan = plan_from("rope:dim=64", &one);
    pe_cos_sin(plan, &one, PE_F64, wanted, sines);
    pe_plan_free(plan);
    struct pe_stages stages = stages_from(text);
    plan = staged_plan("rope:dim=64", &stages, &one);
    pe_cos_sin(plan, &one, PE_F64, got, sines);
    pe_plan_free(plan);
    double worst = 0;
    for (size_t pair = 0; pair < 32; pair++)
        worst = fmax(worst, fabs(got[pair] - wanted[pair]));
    return worst;
}

Test(staged, is_as_wrong_as_published)
{
    static const struct {
        double position, freq_bf16, pos_bf16, table_bf16, f32;
    } rows[] = {
        {16, 0.0059, 0, 0.0016, 7.5e-8},
        {256, 0.0419, 0, 0.0019, 2.4e-6},
        {4095, 0.5944, 0.8700, 0.0019, 1.4e-4},
        {131072, 1.5863, 0, 0.0018, 7.6e-4},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double p = rows[r].position;
        cr_expect_float_eq(worst_error("freq:bf16", p), rows[r].freq_bf16, 0.00005, "%g", p);
        cr_expect_float_eq(worst_error("pos:bf16", p), rows[r].pos_bf16, 0.00005, "%g", p);
        cr_expect_float_eq(worst_error("table:bf16", p), rows[r].table_bf16, 0.00005, "%g", p);
        cr_expect_float_eq(worst_error("freq:f32,angle:f32", p), rows[r].f32, rows[r].f32 * 0.04,
                           "%g: %g", p, worst_error("freq:f32,angle:f32", p));
    }
}

/* A library's frequencies are those of the freq stage but for what its pow is off by; the exact
 * ones are those of 80 digits. */
Test(staged, has_the_frequencies_of_transformers)
{
    const double zero[] = {0};
    struct pe_positions at = positions_of(zero, 1);
    struct pe_stages f32 = stages_from("freq:f32");
    json_t *golden = golden_load("selections/inv_freq_units.json");
    const json_t *cases = json_object_get(golden, "cases");
    cr_assert_geq(json_array_size(cases), 7);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *item = json_array_get(cases, i);
        const char *spec = json_string_value(json_object_get(item, "spec"));
        double units = golden_number(json_object_get(item, "units"));
        double peer[64];
        double truth[64];
        double frequencies[64];
        size_t n = golden_list(json_object_get(item, "inv_freq"), peer, 64);
        cr_assert_eq(golden_list(json_object_get(item, "truth"), truth, 64), n);
        struct pe_frequencies out = {.dtype = PE_F64, .context = 1, .inv_freq = frequencies};
        struct pe_plan *plan = staged_plan(spec, &f32, &at);
        pe_frequencies(plan, &out);
        for (size_t pair = 0; pair < n; pair++)
            cr_expect_leq(fabs(frequencies[pair] - (double)(float)peer[pair]),
                          units * ldexp(1, ilogb(truth[pair]) - 23), "%s, pair %zu", spec, pair);
        pe_plan_free(plan);
        plan = plan_from(spec, &at);
        pe_frequencies(plan, &out);
        cr_expect_arr_eq(frequencies, truth, n * sizeof(double), "%s", spec);
        pe_plan_free(plan);
    }
    json_decref(golden);
}

/* ---- Ends --------------------------------------------------------------------------------- */

/* 65520 and more is infinite in f16, and has no cosine; a frequency below its least is 0. */
Test(staged, goes_beyond_the_range_of_f16)
{
    static const size_t pairs[] = {0, 1};
    const double at[] = {1e6};
    double angles[2];
    double cosines[2];
    double sines[2];
    struct pe_positions one = positions_of(at, 1);
    struct pe_stages stages = stages_from("angle:f16");
    struct pe_plan *plan = staged_plan("rope:dim=4,direction=-1", &stages, &one);
    pe_angles(plan, &one, pairs, 2, PE_ANGLE, PE_F64, angles);
    pe_cos_sin(plan, &one, PE_F64, cosines, sines);
    cr_expect_eq(angles[0], -INFINITY);
    cr_expect_eq(angles[1], -10000, "1e6 / 100, in steps of 8");
    cr_expect(isnan(cosines[0]) && isnan(sines[0]));
    cr_expect_leq(fabs(cosines[1]), 1);
    pe_angles(plan, &one, pairs, 2, PE_ANGLE_MOD, PE_F64, angles);
    cr_expect(isnan(angles[0]) && angles[1] >= 0 && angles[1] < 6.3);
    pe_plan_free(plan);

    stages = stages_from("freq:f16");
    plan = staged_plan("rope:dim=4,base=1e30", &stages, &one);
    double frequencies[2];
    double wavelengths[2];
    pe_frequencies(plan, &(struct pe_frequencies){.dtype = PE_F64,
                                                  .context = 1,
                                                  .inv_freq = frequencies,
                                                  .wavelength = wavelengths});
    pe_cos_sin(plan, &one, PE_F64, cosines, sines);
    cr_expect_eq(frequencies[1], 0);
    cr_expect_eq(wavelengths[1], INFINITY);
    cr_expect(cosines[1] == 1 && sines[1] == 0);
    pe_plan_free(plan);
}

/* ---- Kinds without pairs ------------------------------------------------------------------ */

static double bias_of(const char *spec, const char *text, double m, double n)
{
    struct pe_stages stages = stages_from(text);
    struct pe_positions query = positions_of(&m, 1);
    struct pe_positions key = positions_of(&n, 1);
    struct pe_plan *plan = staged_plan(spec, &stages, &query);
    double bias;
    pe_bias(plan, &query, &key, 0, 1, PE_F64, &bias);
    pe_plan_free(plan);
    return bias;
}

/* A slope of 0.3 is 0.30078125 in bf16, a distance of 257 becomes 256. */
Test(staged, rounds_biases_where_they_are_made)
{
    cr_expect_eq(bias_of("alibi:slope=0.3", "exact", 0, 10), -3);
    cr_expect_eq(bias_of("alibi:slope=0.3", "freq:bf16", 0, 10), -3.0078125);
    cr_expect_eq(bias_of("alibi:slope=0.3", "freq:bf16,angle:bf16", 0, 10), -3);
    cr_expect_eq(bias_of("alibi:slope=0.25", "pos:bf16", 0, 257), -64);
    cr_expect_eq(bias_of("alibi:slope=0.25", "pos:bf16", 257, 1), -63.75);
    cr_expect_eq(bias_of("alibi:slope=0.25", "angle:bf16", 257, 0), -64, "64.25 in steps of 0.5");
    cr_expect_eq(bias_of("alibi:slope=0.25", "table:f16", 257, 0), -64.25);
    double value = bias_of("t5:heads=1", "exact", 5, 3);
    float rounded = (float)value;
    cr_expect_neq(value, (double)rounded);
    cr_expect_eq(bias_of("t5:heads=1", "table:f32", 5, 3), (double)rounded);
    cr_expect_eq(bias_of("t5:heads=1", "pos:bf16", 257, 254),
                 bias_of("t5:heads=1", "exact", 256, 254));
}

Test(staged, rounds_slopes_and_buckets)
{
    static const double at[] = {0, 257};
    struct pe_positions list = positions_of(at, 2);
    struct pe_stages stages = stages_from("all-bf16");
    struct pe_plan *plan = staged_plan("alibi:heads=12", &stages, &list);
    double slopes[12];
    pe_slopes(plan, PE_F64, slopes);
    cr_expect_eq(slopes[8], 0.70703125, "2^-0.5 with 8 bits");
    pe_plan_free(plan);
    plan = staged_plan("t5:buckets=600,max_distance=1000", &stages, &list);
    int64_t buckets[4];
    pe_buckets(plan, &list, &list, buckets);
    cr_expect_eq(buckets[2], 256);
    pe_plan_free(plan);
}

Test(staged, rounds_rows)
{
    const double at[] = {257};
    struct pe_positions one = positions_of(at, 1);
    struct pe_stages stages = stages_from("table:bf16");
    struct pe_stages moved = stages_from("pos:bf16");
    double row[4];
    double exact[4];
    struct pe_plan *plan = staged_plan("integer:dim=4", &stages, &one);
    pe_table(plan, &one, PE_F64, row, 4);
    cr_expect_eq(row[3], 256);
    pe_plan_free(plan);
    plan = plan_from("learned:dim=4", &one);
    pe_table(plan, &one, PE_F64, exact, 4);
    pe_plan_free(plan);
    plan = staged_plan("learned:dim=4", &stages, &one);
    pe_table(plan, &one, PE_F64, row, 4);
    for (size_t i = 0; i < 4; i++) {
        uint16_t bits;
        pe_store(PE_BF16, &bits, 0, exact[i]);
        cr_expect_eq(row[i], pe_load(PE_BF16, &bits, 0));
    }
    pe_plan_free(plan);
    plan = staged_plan("learned:dim=4", &moved, &one);
    pe_table(plan, &one, PE_F64, row, 4);
    pe_plan_free(plan);
    const double before[] = {256};
    struct pe_positions other = positions_of(before, 1);
    plan = plan_from("learned:dim=4", &other);
    pe_table(plan, &other, PE_F64, exact, 4);
    cr_expect_arr_eq(row, exact, sizeof row);
    pe_plan_free(plan);
}

/* Rows and columns are rounded each on its own axis. */
Test(staged, rounds_both_axes)
{
    static const double rows[] = {257};
    static const double columns[] = {3};
    static const double moved[] = {256};
    struct pe_positions at = {.axes = 2, .n = 1, .at = {rows, columns}};
    struct pe_positions there = {.axes = 2, .n = 1, .at = {moved, columns}};
    struct pe_stages stages = stages_from("pos:bf16,angle:f32");
    struct pe_stages angles = stages_from("angle:f32");
    double a[8];
    double b[8];
    struct pe_plan *plan = staged_plan("rope2d:dim=8", &stages, &at);
    pe_table(plan, &at, PE_F64, a, 8);
    pe_plan_free(plan);
    plan = staged_plan("rope2d:dim=8", &angles, &there);
    pe_table(plan, &there, PE_F64, b, 8);
    pe_plan_free(plan);
    cr_expect_arr_eq(a, b, sizeof a);
}
