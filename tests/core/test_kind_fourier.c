// SPDX-License-Identifier: Apache-2.0
/*
 * fourier: given, drawn and doubling frequencies of positions and their logarithms, against the
 * definition by MPFR; what is refused.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "ref/ref_round.h"
#include "rows_of.h"

#define N(array) (sizeof(array) / sizeof *(array))
#define BITS     1400

/* sin and cos of unit * w * (p or ln p). */
static void reference(const double w[2], double p, bool turns, bool logarithm, mpfr_t c, mpfr_t s)
{
    mpfr_t angle, factor;
    mpfr_inits2(BITS, angle, factor, (mpfr_ptr)NULL);
    mpfr_set_d(angle, p, MPFR_RNDN);
    if (logarithm)
        mpfr_log(angle, angle, MPFR_RNDN);
    mpfr_mul_d(angle, angle, w[0], MPFR_RNDN);
    mpfr_mul_d(angle, angle, w[1], MPFR_RNDN);
    mpfr_const_pi(factor, MPFR_RNDN);
    if (turns)
        mpfr_mul(angle, angle, factor, MPFR_RNDN);
    if (turns)
        mpfr_mul_ui(angle, angle, 2, MPFR_RNDN);
    mpfr_sin_cos(s, c, angle, MPFR_RNDN);
    mpfr_clears(angle, factor, (mpfr_ptr)NULL);
}

static const double places[] = {1, 0.1, 7.5, 1e-300, 1 + 0x1p-52, 3, 0x1p53, 1234.5, 0.999, 2};

/* Frequency k is w[k][0] * w[k][1]; sines first. */
static void check(const char *text, size_t pairs, const double w[][2], bool turns, bool logarithm)
{
    struct pe_positions positions = positions_of(places, N(places));
    struct pe_plan *plan = plan_from(text, &positions);
    mpfr_t c, s;
    mpfr_inits2(BITS, c, s, (mpfr_ptr)NULL);
    for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
        double rows[N(places) * 16];
        pe_table(plan, &positions, dtype, rows, 2 * pairs);
        for (size_t i = 0; i < N(places) * pairs; i++) {
            size_t k = i % pairs, row = i / pairs * 2 * pairs;
            reference(w[k], places[i / pairs], turns, logarithm, c, s);
            double sine = pe_load(dtype, rows, row + k);
            double cosine = pe_load(dtype, rows, row + pairs + k);
            cr_expect_eq(sine, ref_round(dtype, s), "%s in %s at %g: sine %zu is %a", text,
                         pe_dtype_name(dtype), places[i / pairs], k, sine);
            cr_expect_eq(cosine, ref_round(dtype, c), "%s in %s at %g: cosine %zu is %a", text,
                         pe_dtype_name(dtype), places[i / pairs], k, cosine);
        }
    }
    mpfr_clears(c, s, (mpfr_ptr)NULL);
    pe_plan_free(plan);
}

Test(fourier, of_given_frequencies)
{
    static const double w[][2] = {{0.5, 1}, {-1.25, 1}, {0, 1}, {1000, 1}, {1e-12, 1}, {0.3, 1}};
    const char *list = "fourier:freqs=0.5+-1.25+0+1000+1e-12+0.3";
    char text[128];
    for (int i = 0; i < 4; i++) {
        bool turns = i % 2 == 0;
        bool logarithm = i / 2 == 0;
        snprintf(text, sizeof text, "%s,angle_unit=%s,log_positions=%s", list,
                 turns ? "turn" : "radian", logarithm ? "true" : "false");
        check(text, N(w), w, turns, logarithm);
    }
}

Test(fourier, of_doubling_frequencies)
{
    static const double w[][2] = {{0.5, 1}, {1, 1}, {2, 1}, {4, 1}};
    check("fourier:dim=8,bands=powers", N(w), w, true, false);
    check("fourier:dim=8,bands=powers,log_positions=true", N(w), w, true, true);
}

Test(fourier, of_drawn_frequencies)
{
    double w[8][2];
    for (size_t k = 0; k < N(w); k++) { /* the stream's definition */
        uint64_t sum = 0;
        for (uint64_t i = 1; i <= 12; i++)
            sum += pe_draw(5, "freqs", 12 * k + i) >> 32;
        w[k][0] = (double)sum * 0x1p-32 - 6;
        w[k][1] = 0.1;
    }
    check("fourier:dim=16,freqs_seed=5,freqs_std=0.1", N(w), w, true, false);
    check("fourier:dim=16,freqs_seed=5,scale=0.1,log=true", N(w), w, true, true);
}

/* A rounded angle is that of the product of frequency and logarithm. */
Test(fourier, rounds_at_its_stages)
{
    static const double at[] = {0.1, 7.5};
    struct pe_stages stages = {.named = 1u << PE_STAGE_ANGLE,
                               .dtype = {[PE_STAGE_ANGLE] = PE_BF16}};
    struct pe_positions positions = positions_of(at, N(at));
    struct pe_plan *plan =
        staged_plan("fourier:freqs=3,log_positions=true,angle_unit=radian", &stages, &positions);
    double rows[4];
    pe_table(plan, &positions, PE_F64, rows, 2);
    mpfr_t angle, c;
    mpfr_inits2(300, angle, c, (mpfr_ptr)NULL);
    for (size_t i = 0; i < N(at); i++) {
        mpfr_set_d(angle, at[i], MPFR_RNDN);
        mpfr_log(angle, angle, MPFR_RNDN);
        mpfr_mul_ui(angle, angle, 3, MPFR_RNDN);
        mpfr_set_d(angle, ref_round(PE_BF16, angle), MPFR_RNDN);
        mpfr_sin_cos(angle, c, angle, MPFR_RNDN);
        cr_expect_eq(rows[2 * i], ref_round(PE_F64, angle), "sine at %g", at[i]);
        cr_expect_eq(rows[2 * i + 1], ref_round(PE_F64, c), "cosine at %g", at[i]);
    }
    mpfr_clears(angle, c, (mpfr_ptr)NULL);
    pe_plan_free(plan);
}

Test(fourier, refuses)
{
    static const struct {
        const char *text;
        double position;
        const char *detail;
    } cases[] = {
        {"fourier:freqs=1+2,dim=6", 0, "freqs must have dim/2 (3) numbers, got 2"},
        {"fourier:freqs=1+2,bands=powers", 0, "bands is not read with freqs"},
        {"fourier:freqs=1+2,freqs_seed=1", 0, "freqs_seed is not read with freqs"},
        {"fourier:dim=8,bands=powers,scale=2", 0, "freqs_std is not read with bands=powers"},
        {"fourier:dim=122,bands=powers", 0, "dim must be at most 120"},
        {"fourier:dim=7", 0, "dim must be even"},
        {"fourier:dim=8,log=true", 0, "greater than 0 to have a logarithm, got 0"},
        {"fourier:dim=8,log=true,shift=-1", 0.5, "greater than 0 to have a logarithm, got -0.5"},
        {"fourier:dim=8,log=true", 0.1, ""},
        {"fourier:dim=120,bands=powers", -3, ""},
    };
    for (size_t i = 0; i < N(cases); i++) {
        const char *fault = fault_of(cases[i].text, cases[i].position);
        cr_expect(strstr(fault, cases[i].detail) && !*fault == !*cases[i].detail, "%s: %s",
                  cases[i].text, fault);
    }
}
