// SPDX-License-Identifier: Apache-2.0
/*
 * test_kind_axial.c: bands that are no powers of a base, and angles in turns, against numbers
 * printed by the libraries and MPFR. What blocks are is test_sections.c's.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "plan_from.h"
#include "ref/ref_round.h"

#define N(array) (sizeof(array) / sizeof *(array))

static const double origin[] = {0};
static const struct pe_positions nowhere = {.axes = 2, .n = 1, .at = {origin, origin}};

Test(axial, has_the_bands_of_its_libraries)
{
    static const struct {
        const char *text;
        double inv_freq[4]; /* of the first pairs */
        double within;
    } rows[] = {
        /* rotary-embedding-torch, freqs_for="pixel" */
        {"axial:dim=16,bands=linear,max_freq=10", {3.14159, 7.33038, 11.51917, 15.70796}, 5e-6},
        {"axial:dim=16,bands=linear", {3.14159, 7.33038, 11.51917, 15.70796}, 5e-6},
        /* timm, pixel_freq_bands */
        {"axial:dim=16,bands=linear,max_freq=224",
         {3.14159, 119.38052, 235.61945, 351.85838},
         5e-6},
        {"axial:dim=16,bands=log",
         {0x1.921fb54442d18p1, 4.820284528 * 0x1.921fb54442d18p1, 23.23514293 * 0x1.921fb54442d18p1,
          112 * 0x1.921fb54442d18p1},
         5e-8},
        {"axial:dim=4,bands=linear", {0x1.921fb54442d18p1, 0x1.921fb54442d18p1}, 0},
        {"axial:dim=4,bands=log", {0x1.921fb54442d18p1, 0x1.921fb54442d18p1}, 0},
        {"axial:dim=8,bands=constant", {1, 1, 1, 1}, 0},
        /* Llama 4 vision, DINOv3, FLUX, by their formulas */
        {"axial:dim=88", {1, 0.6579332247, 0.4328761281, 0.2848035868}, 5e-9},
        {"axial:dim=64,base=100", {1, 0.7498942093, 0.5623413252, 0.42169650}, 5e-9},
        {"axial:dim=128,sections=8+28+28", {1, 0.316227766, 0.1, 0.0316227766}, 5e-10},
    };
    for (size_t i = 0; i < N(rows); i++) {
        double got[64];
        struct pe_plan *plan = plan_from(rows[i].text, &nowhere);
        size_t pairs = pe_spec_pairs(pe_plan_spec(plan));
        pe_frequencies(plan, &(struct pe_frequencies){.context = 1, .inv_freq = got});
        for (size_t pair = 0; pair < (pairs < 4 ? pairs : 4); pair++)
            cr_expect_float_eq(got[pair], rows[i].inv_freq[pair], rows[i].within,
                               "%s, pair %zu: %.17g", rows[i].text, pair, got[pair]);
        pe_plan_free(plan);
    }
}

/* pi (1 + (m - 1) k / (s - 1)), rounded once. */
Test(axial, rounds_bands_once)
{
    double got[8];
    struct pe_plan *plan = plan_from("axial:dim=16,sections=8,bands=linear,max_freq=3.7", &nowhere);
    pe_frequencies(plan, &(struct pe_frequencies){.context = 1, .inv_freq = got});
    pe_plan_free(plan);
    mpfr_t w, pi;
    mpfr_inits2(300, w, pi, (mpfr_ptr)NULL);
    mpfr_const_pi(pi, MPFR_RNDN);
    for (unsigned k = 0; k < 8; k++) {
        mpfr_set_d(w, 3.7 / 2, MPFR_RNDN);
        mpfr_sub_ui(w, w, 1, MPFR_RNDN);
        mpfr_mul_ui(w, w, k, MPFR_RNDN);
        mpfr_div_ui(w, w, 7, MPFR_RNDN);
        mpfr_add_ui(w, w, 1, MPFR_RNDN);
        mpfr_mul(w, w, pi, MPFR_RNDN);
        cr_expect_eq(got[k], mpfr_get_d(w, MPFR_RNDN), "frequency %u", k);
    }
    mpfr_clears(w, pi, (mpfr_ptr)NULL);
}

Test(axial, reads_no_base_with_other_bands)
{
    static const char *const keys[] = {"base=100", "base_factor=2", "spectrum=global",
                                       "scaling=linear", "freqs=1+1"};
    for (size_t i = 0; i < N(keys); i++) {
        char text[80];
        struct pe_spec spec;
        struct pe_faults faults = {0};
        snprintf(text, sizeof text, "axial:dim=4,bands=constant,%s", keys[i]);
        cr_assert(pe_spec_parse(text, &spec, &faults));
        cr_expect_not(pe_spec_finish(&spec, &faults), "%s", text);
        cr_expect_eq(faults.item[0].status, PE_UNKNOWN_PARAMETER, "%s", text);
        pe_spec_release(&spec);
    }
}

/* ---- Turns -------------------------------------------------------------------------------- */

/* A row of DINOv3: coordinates -1/2 and 1/2, angles -pi and -2.355862139 and so on. */
Test(axial, turns_by_whole_circles)
{
    static const double at[] = {-0.5, 0.5, 0.25, 1, -3, 0x1p53, 0.1};
    struct pe_positions places = {.axes = 2, .n = N(at), .at = {at, at}};
    struct pe_plan *plan = plan_from("axial:dim=64,base=100,angle_unit=turn", &places);
    static const double cosine[] = {-1, -1, 0, 1, 1, 1}, sine[] = {0, 0, 1, 0, 0, 0};
    double c[N(at) * 32], s[N(at) * 32], angle[N(at) * 2];
    pe_cos_sin(plan, &places, PE_F64, c, s);
    for (size_t i = 0; i < N(cosine); i++)
        cr_expect(c[32 * i] == cosine[i] && s[32 * i] == sine[i], "at %g", at[i]);
    pe_angles(plan, &places, (size_t[]){0, 1}, 2, PE_ANGLE, PE_F64, angle);
    cr_expect_float_eq(angle[0], -M_PI, 0);
    cr_expect_float_eq(angle[1], -2.355862139, 5e-10);
    pe_angles(plan, &places, (size_t[]){0, 1}, 2, PE_TURNS, PE_F64, angle);
    cr_expect_eq(angle[0], -0.5);
    cr_expect_eq(angle[2 * 6], 0.1);
    pe_angles(plan, &places, (size_t[]){0, 1}, 2, PE_ANGLE_MOD, PE_F64, angle);
    cr_expect_eq(angle[0], M_PI);
    cr_expect_eq(angle[2 * 5], 0, "no whole turn is left over");
    cr_expect_eq(angle[2 * 4], 0, "nor is one backwards");
    double inv_freq[32], wavelength[32], turns[32];
    pe_frequencies(
        plan, &(struct pe_frequencies){
                  .context = 8, .inv_freq = inv_freq, .wavelength = wavelength, .turns = turns});
    cr_expect(inv_freq[0] == 1 && wavelength[0] == 1 && turns[0] == 8);
    cr_expect_float_eq(inv_freq[15], 0.01333521432, 5e-12);
    pe_plan_free(plan);
}

/* Every cosine and sine, near and far, against MPFR; with the angle rounded too. */
Test(axial, turns_against_mpfr)
{
    static const double at[] = {0.3, -0.7, 1e-3, 12.34, 0x1p30 + 0.375};
    struct pe_positions places = {.axes = 2, .n = N(at), .at = {at, at}};
    static const struct pe_stages rounded = {.named = 1u << PE_STAGE_ANGLE,
                                             .dtype = {[PE_STAGE_ANGLE] = PE_F32}};
    mpfr_t w, x, turn, sine;
    mpfr_inits2(400, w, x, turn, sine, (mpfr_ptr)NULL);
    mpfr_const_pi(turn, MPFR_RNDN);
    mpfr_mul_ui(turn, turn, 2, MPFR_RNDN);
    for (int staged = 0; staged < 2; staged++) {
        struct pe_plan *plan = staged_plan("axial:dim=16,base=100,angle_unit=turn",
                                           staged ? &rounded : &(struct pe_stages){0}, &places);
        double c[N(at) * 8], s[N(at) * 8];
        pe_cos_sin(plan, &places, PE_F64, c, s);
        for (size_t i = 0; i < N(c); i++) {
            size_t k = i % 4;
            mpfr_set_d(w, -(double)k / 4, MPFR_RNDN);
            mpfr_set_ui(x, 100, MPFR_RNDN);
            mpfr_pow(w, x, w, MPFR_RNDN);
            mpfr_mul_d(x, w, at[i / 8], MPFR_RNDN);
            mpfr_mul(x, x, turn, MPFR_RNDN);
            if (staged)
                mpfr_set_d(x, ref_round(PE_F32, x), MPFR_RNDN);
            mpfr_sin_cos(sine, x, x, MPFR_RNDN);
            cr_expect_eq(c[i], mpfr_get_d(x, MPFR_RNDN), "cos %zu, staged %d", i, staged);
            cr_expect_eq(s[i], mpfr_get_d(sine, MPFR_RNDN), "sin %zu, staged %d", i, staged);
        }
        pe_plan_free(plan);
    }
    mpfr_clears(w, x, turn, sine, (mpfr_ptr)NULL);
}
