// SPDX-License-Identifier: Apache-2.0
/*
 * test_draw.c: the check values of the API's section on test vectors, and that every element is
 * one rounding of the exact product with the gain.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>

#include "posenc.h"

/* Seed 0, so the first draw shows the hash of the name: draw(1) = mix(hash + golden). */
Test(draw, first_draw_of_q)
{
    cr_expect_eq(pe_draw(0, "q", 1), 0xad76a3077678d994);
    /* The seed is XORed with the hash of the name. */
    cr_expect_eq(pe_draw(0xaf63ec4c860207bc, "q", 1), 0xe220a8397b1dcdaf,
                 "key 0 is the published SplitMix64 of seed 0");
}

Test(draw, first_normal_elements)
{
    static const float expected[][4] = {
        {-0.14776428f, 0.8207915f, 0.61258894f, 0.4992567f},
        {0.6431929f, 1.1119875f, -0.66275793f, -0.76729244f},
    };
    static const char *const streams[] = {"q", "k"};
    for (size_t s = 0; s < 2; s++) {
        float got[4];
        pe_fill_random(0, streams[s], PE_CONTENT_NORMAL, 1, 0, 4, PE_F32, got);
        for (size_t i = 0; i < 4; i++)
            cr_expect_eq(got[i], expected[s][i], "%s[%zu] = %.9g", streams[s], i, got[i]);
    }
}

Test(draw, first_uniform_elements)
{
    double got[2];
    pe_fill_random(0, "q", PE_CONTENT_UNIFORM, 1, 0, 2, PE_F64, got);
    cr_expect_eq(got[0], 0.3551830088080752);
    cr_expect_eq(got[1], -0.06681011973090434);
}

/* Of the elements as f32. */
Test(draw, lengths_of_q_and_k)
{
    float q[64];
    float k[64];
    pe_fill_random(0, "q", PE_CONTENT_NORMAL, 1, 0, 64, PE_F32, q);
    pe_fill_random(0, "k", PE_CONTENT_NORMAL, 1, 0, 64, PE_F32, k);
    cr_expect_eq(pe_norm(PE_F32, q, 64), 7.633050069138791);
    cr_expect_eq(pe_norm(PE_F32, k, 64), 8.041975794278475);
}

Test(draw, any_part_of_a_stream_is_the_same)
{
    double whole[100];
    double part[10];
    pe_fill_random(7, "x", PE_CONTENT_NORMAL, 0.5, 0, 100, PE_F64, whole);
    for (size_t first = 0; first <= 90; first++) {
        pe_fill_random(7, "x", PE_CONTENT_NORMAL, 0.5, first, 10, PE_F64, part);
        cr_expect_arr_eq(part, whole + first, sizeof part, "from %zu", first);
    }
}

/* The exact product by MPFR, rounded once to the dtype's precision. Only for normal results. */
static double multiply_rounding_once(double a, double b, int precision)
{
    mpfr_t product;
    mpfr_t factor;
    mpfr_init2(product, precision);
    mpfr_init2(factor, 53);
    mpfr_set_d(factor, a, MPFR_RNDN);
    mpfr_mul_d(product, factor, b, MPFR_RNDN);
    double result = mpfr_get_d(product, MPFR_RNDN);
    mpfr_clears(product, factor, (mpfr_ptr)NULL);
    return result;
}

/* Rounding the product to double first goes wrong about once in 2^(53 - 11) for f16, so gains are
 * made here whose products with element 0 fall right beside a midpoint of the format. */
Test(draw, gain_is_rounded_once)
{
    static const struct {
        enum pe_dtype dtype;
        int precision;
    } rows[] = {{PE_F64, 53}, {PE_F32, 24}, {PE_F16, 11}, {PE_BF16, 8}};
    double element;
    pe_fill_random(3, "v", PE_CONTENT_UNIFORM, 1, 0, 1, PE_F64, &element);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        for (int i = 0; i < 2000; i++) {
            double middle = 1 + (2 * (i % 100) + 1) * ldexp(1, -rows[r].precision);
            double gain = middle / element;
            for (int step = i / 100 - 10; step != 0; step += step < 0 ? 1 : -1)
                gain = nextafter(gain, step < 0 ? 0 : INFINITY);
            double cell[1];
            pe_fill_random(3, "v", PE_CONTENT_UNIFORM, gain, 0, 1, rows[r].dtype, cell);
            cr_expect_eq(pe_load(rows[r].dtype, cell, 0),
                         multiply_rounding_once(element, gain, rows[r].precision), "%s, gain %a",
                         pe_dtype_name(rows[r].dtype), gain);
        }
}

Test(draw, extreme_gains_stay_in_ieee_bounds)
{
    float f[8];
    pe_fill_random(0, "q", PE_CONTENT_NORMAL, 1e300, 0, 8, PE_F32, f);
    for (size_t i = 0; i < 8; i++)
        cr_expect(isinf(f[i]), "element %zu is %g", i, f[i]);
    pe_fill_random(0, "q", PE_CONTENT_NORMAL, 0x1p-1070, 0, 8, PE_F32, f);
    for (size_t i = 0; i < 8; i++)
        cr_expect_eq(f[i], 0.0f, "element %zu is %g", i, f[i]);
    pe_fill_random(0, "q", PE_CONTENT_NORMAL, 0, 0, 8, PE_F16, f);
    for (size_t i = 0; i < 8; i++)
        cr_expect_eq(pe_load(PE_F16, f, i), 0, "element %zu", i);
}
