// SPDX-License-Identifier: Apache-2.0
/*
 * test_angles.c: frequencies, wavelengths and angles against the golden files and MPFR.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/plan_from.h"
#include "golden/golden.h"
#include "ref/ref_trig.h"

#define PAIRS_MAX 256

static const double origin[] = {0};

static const enum pe_dtype dtypes[] = {PE_F64, PE_F32, PE_F16, PE_BF16};

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static struct pe_plan *frequency_plan(const char *text)
{
    struct pe_positions positions = {.axes = 2, .n = 1, .at = {origin, origin}};
    return plan_from(text, &positions);
}

/* ---- Frequencies -------------------------------------------------------------------------- */

static void check_inv_freq(const char *file, const char *text)
{
    double expected[PAIRS_MAX];
    double got[PAIRS_MAX];
    json_t *document = golden_load(file);
    size_t n = golden_list(json_object_get(document, "inv_freq"), expected, PAIRS_MAX);
    struct pe_plan *plan = frequency_plan(text);
    pe_frequencies(plan, &(struct pe_frequencies){.context = 1, .inv_freq = got});
    pe_plan_free(plan);
    cr_expect_eq(memcmp(got, expected, n * sizeof(double)), 0, "%s", file);
    json_decref(document);
}

Test(angles, truth_of_inv_freq)
{
    check_inv_freq("truth_rope_base10000_d64.json", "rope:dim=64");
    check_inv_freq("truth_rope_base10000_d64.json", "rope2d:dim=128");
    check_inv_freq("truth_rope_base10000_d128.json", "sinusoidal:dim=128");
    check_inv_freq("truth_rope_base500000_d64.json", "rope:dim=96,rotary_dim=64,base=500000");
    check_inv_freq("truth_rope_base500000_d128.json", "rope:dim=128,base=500000");
    check_inv_freq("truth_fairseq_base10000_d64.json", "sinusoidal:dim=64,spacing=endpoint");
}

Test(angles, truth_of_wavelengths)
{
    static const struct {
        const char *fact, *text;
        size_t pair;
    } facts[] = {
        {"wavelength of pair 0, d=64, base=10000", "rope:dim=64", 0},
        {"wavelength of pair 8, d=64, base=10000", "rope:dim=64", 8},
        {"wavelength of pair 16, d=64, base=10000", "sinusoidal:dim=64", 16},
        {"wavelength of pair 31, d=64, base=10000", "rope:dim=64", 31},
        {"longest wavelength d=128 base=500000 (pair 63)", "rope:dim=128,base=500000", 63},
        {"longest wavelength d=128 base=1000000 (pair 63)", "rope:dim=128,base=1000000", 63},
    };
    json_t *document = golden_load("truth_facts.json");
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        double wavelength[PAIRS_MAX];
        struct pe_plan *plan = frequency_plan(facts[i].text);
        pe_frequencies(plan, &(struct pe_frequencies){.context = 1, .wavelength = wavelength});
        pe_plan_free(plan);
        double expected =
            golden_number(json_object_get(json_object_get(document, "facts"), facts[i].fact));
        cr_expect(same(wavelength[facts[i].pair], expected), "%s: %.17g", facts[i].fact,
                  wavelength[facts[i].pair]);
    }
    json_decref(document);
}

/* All columns, every dtype, from the definitions. */
Test(angles, frequencies_against_mpfr)
{
    static const struct {
        const char *text;
        double base, factor;
        size_t width;
    } cases[] = {
        {"rope:dim=2", 1e4, 1, 2},
        {"rope:dim=80,base=123.456", 123.456, 1, 80},
        {"rope:dim=64,scaling=linear,factor=1", 1e4, 1, 64},
        {"rope:dim=64,scaling=linear,factor=3.7", 1e4, 3.7, 64},
        {"rope:dim=512,base=1e8,scaling=linear,factor=16", 1e8, 16, 512},
        {"sinusoidal:dim=7", 1e4, 1, 7},
    };
    const double context = 4096.5;
    mpfr_t w;
    mpfr_t turn;
    mpfr_inits2(400, w, turn, (mpfr_ptr)NULL);
    mpfr_const_pi(turn, MPFR_RNDN);
    mpfr_mul_ui(turn, turn, 2, MPFR_RNDN);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pe_plan *plan = frequency_plan(cases[i].text);
        for (size_t t = 0; t < 4; t++) {
            enum pe_dtype dtype = dtypes[t];
            double scaled[PAIRS_MAX], base[PAIRS_MAX], wavelength[PAIRS_MAX], turns[PAIRS_MAX];
            int64_t band[PAIRS_MAX];
            pe_frequencies(plan, &(struct pe_frequencies){dtype, context, scaled, base, wavelength,
                                                          turns, band});
            for (size_t pair = 0; pair < cases[i].width / 2; pair++) {
                ref_frequency(w, cases[i].base, 2 * pair, cases[i].width);
                bool ok = same(pe_load(dtype, base, pair), ref_round(dtype, w));
                mpfr_div_d(w, w, cases[i].factor, MPFR_RNDN);
                ok &= same(pe_load(dtype, scaled, pair), ref_round(dtype, w));
                mpfr_div(w, turn, w, MPFR_RNDN);
                if (pe_load(dtype, wavelength, pair) != INFINITY)
                    ok &= same(pe_load(dtype, wavelength, pair), ref_round(dtype, w));
                mpfr_d_div(w, context, w, MPFR_RNDN);
                ok &= same(pe_load(dtype, turns, pair), ref_round(dtype, w));
                ok &= band[pair] == (cases[i].factor > 1 ? 2 : 0);
                cr_expect(ok, "%s %s pair %zu", cases[i].text, pe_dtype_name(dtype), pair);
            }
        }
        pe_plan_free(plan);
    }
    mpfr_clears(w, turn, (mpfr_ptr)NULL);
}

/* ---- Angles ------------------------------------------------------------------------------- */

static const double positions_at[] = {0,
                                      1,
                                      -1,
                                      2.5,
                                      710, /* next to 113 turns at pair 0 */
                                      -710,
                                      6134899525417045.0, /* half a turn but for 2^-52 */
                                      9007199254740992.0,
                                      -9007199254740991.0,
                                      1e-300,
                                      -1e-300,
                                      0.1};
#define POSITIONS_N (sizeof positions_at / sizeof positions_at[0])

/* Turns of base^(-2 pair/64) * p in all, or less the whole ones, and back to radians. */
static void angle_by_mpfr(enum pe_angle form, double position, size_t pair, mpfr_t y)
{
    mpfr_t turn;
    mpfr_t whole;
    mpfr_inits2(mpfr_get_prec(y), turn, whole, (mpfr_ptr)NULL);
    mpfr_const_pi(turn, MPFR_RNDN);
    mpfr_mul_ui(turn, turn, 2, MPFR_RNDN);
    ref_frequency(y, 1e4, 2 * pair, 64);
    mpfr_mul_d(y, y, position, MPFR_RNDN);
    if (form == PE_ANGLE_MOD) {
        mpfr_div(whole, y, turn, MPFR_RNDN);
        mpfr_floor(whole, whole);
        mpfr_mul(whole, whole, turn, MPFR_RNDN);
        mpfr_sub(y, y, whole, MPFR_RNDN);
    } else if (form == PE_TURNS) {
        mpfr_div(y, y, turn, MPFR_RNDN);
    }
    mpfr_clears(turn, whole, (mpfr_ptr)NULL);
}

Test(angles, forms_against_mpfr)
{
    static const size_t pairs[] = {0, 1, 31, 8};
    static const enum pe_angle forms[] = {PE_ANGLE, PE_ANGLE_MOD, PE_TURNS};
    struct pe_positions positions = positions_of(positions_at, POSITIONS_N);
    struct pe_plan *plan = frequency_plan("rope:dim=64,direction=-1,shift=0");
    mpfr_t y;
    mpfr_init2(y, 1400);
    for (size_t f = 0; f < 3; f++)
        for (size_t t = 0; t < 2; t++) {
            double got[POSITIONS_N * 4];
            pe_angles(plan, &positions, pairs, 4, forms[f], dtypes[t], got);
            for (size_t i = 0; i < POSITIONS_N * 4; i++) {
                double position = positions_at[i / 4] == 0 ? 0 : -positions_at[i / 4];
                angle_by_mpfr(forms[f], position, pairs[i % 4], y);
                cr_expect(same(pe_load(dtypes[t], got, i), ref_round(dtypes[t], y)),
                          "form %zu, %a, pair %zu: %a", f, positions_at[i / 4], pairs[i % 4],
                          pe_load(dtypes[t], got, i));
            }
        }
    mpfr_clear(y);
    pe_plan_free(plan);
}

/* Near, far, fractional positions: most are settled by balls, some by MPFR. */
Test(angles, random_positions)
{
    enum { N = 300 };
    static const size_t pairs[] = {0, 3, 17, 31};
    static const enum pe_angle forms[] = {PE_ANGLE, PE_ANGLE_MOD, PE_TURNS};
    double at[N];
    for (size_t i = 0; i < N; i++) {
        uint64_t bits = pe_draw(1, "angles", i + 1);
        at[i] = ldexp((double)((int64_t)bits >> 11), -(int)(bits % 80));
    }
    struct pe_positions positions = positions_of(at, N);
    struct pe_plan *plan = frequency_plan("rope:dim=64");
    mpfr_t y;
    mpfr_init2(y, 400);
    for (size_t f = 0; f < 3; f++) {
        double got[N * 4];
        pe_angles(plan, &positions, pairs, 4, forms[f], PE_F64, got);
        for (size_t i = 0; i < N * 4; i++) {
            angle_by_mpfr(forms[f], at[i / 4], pairs[i % 4], y);
            cr_expect(same(got[i], ref_round(PE_F64, y)), "form %zu, %a, pair %zu: %a", f,
                      at[i / 4], pairs[i % 4], got[i]);
        }
    }
    mpfr_clear(y);
    pe_plan_free(plan);
}

Test(angles, reduced_angles_stay_below_a_turn)
{
    static const size_t pairs[] = {0, 5, 30};
    struct pe_positions positions = positions_of(positions_at, POSITIONS_N);
    struct pe_plan *plan = frequency_plan("rope:dim=64");
    double got[POSITIONS_N * 3];
    pe_angles(plan, &positions, pairs, 3, PE_ANGLE_MOD, PE_F64, got);
    for (size_t i = 0; i < POSITIONS_N * 3; i++)
        cr_expect(got[i] >= 0 && got[i] <= 0x1.921fb54442d18p+2, "%a", got[i]);
    pe_plan_free(plan);
}

/* Pairs of either axis turn with their own coordinate; a shift counts. */
Test(angles, axes_and_shift)
{
    static const double rows[] = {3};
    static const double cols[] = {10};
    static const size_t pairs[] = {0, 16, 31};
    struct pe_positions positions = {.axes = 2, .n = 1, .at = {rows, cols}};
    struct pe_plan *plan = frequency_plan("rope2d:dim=64,shift=0.5");
    double got[3];
    pe_angles(plan, &positions, pairs, 3, PE_ANGLE, PE_F64, got);
    cr_expect_eq(got[0], 3.5);
    cr_expect_eq(got[1], 10.5);
    mpfr_t y;
    mpfr_init2(y, 200);
    ref_frequency(y, 1e4, 30, 32);
    mpfr_mul_d(y, y, 10.5, MPFR_RNDN);
    cr_expect(same(got[2], ref_round(PE_F64, y)));
    mpfr_clear(y);
    pe_plan_free(plan);
}
