// SPDX-License-Identifier: Apache-2.0
/*
 * test_quantize.c: vectors in formats of 8 bits. All 256 codes are decoded as the formats say, and
 * what a number becomes is searched among them.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "posenc.h"

/* The value of a code with 4 + 3 or 5 + 2 bits behind the sign; NaN where it is no number. */
static double decode(enum pe_quant quant, unsigned code)
{
    unsigned fraction = quant == PE_E4M3 ? 3 : 2;
    int bias = quant == PE_E4M3 ? 7 : 15;
    int exponent = (int)(code >> fraction & (0x7fu >> fraction));
    double part = (double)(code & ((1u << fraction) - 1)) / (1u << fraction);
    double size = exponent == 0 ? ldexp(part, 1 - bias) : ldexp(1 + part, exponent - bias);
    bool special = quant == PE_E4M3 ? (code & 0x7f) == 0x7f : exponent == 31;
    if (special)
        return NAN;
    return code & 0x80 ? -size : size;
}

/* The nearest number of the format; of two the one with an even code. */
static double nearest(enum pe_quant quant, double x)
{
    unsigned best = 0;
    for (unsigned code = 0; code < 256; code++) {
        double value = decode(quant, code), now = decode(quant, best);
        if (isnan(value) || signbit(value) != signbit(x))
            continue;
        bool nearer = signbit(now) != signbit(x) || fabs(value - x) < fabs(now - x);
        bool even = fabs(value - x) == fabs(now - x) && (code & 1) == 0;
        best = nearer || even ? code : best;
    }
    return decode(quant, best);
}

Test(quantize, gives_the_nearest_number_of_a_format)
{
    for (enum pe_quant quant = PE_E4M3; quant <= PE_E5M2; quant++)
        for (int i = -4000; i <= 4000; i++) {
            /* every size from below the least subnormal number to beyond the largest, and ties */
            double x = ldexp(1 + (i & 63) / 64.0, i / 160), y;
            for (int sign = -1; sign <= 1; sign += 2) {
                double signed_x = sign * x;
                pe_quantize(quant, 1, &signed_x, &y);
                cr_expect_eq(y, nearest(quant, signed_x), "%s of %a: %a", pe_quant_name(quant),
                             signed_x, y);
            }
        }
}

Test(quantize, keeps_every_number_of_a_format)
{
    for (enum pe_quant quant = PE_E4M3; quant <= PE_E5M2; quant++)
        for (unsigned code = 0; code < 256; code++) {
            double x = decode(quant, code), y;
            if (isnan(x))
                continue;
            pe_quantize(quant, 1, &x, &y);
            cr_expect(memcmp(&x, &y, sizeof x) == 0, "code %u of %s", code, pe_quant_name(quant));
        }
}

/* Largest numbers of the formats; infinities become them, NaN stays. */
Test(quantize, saturates)
{
    const double x[] = {448, 449, 1e300, INFINITY, -INFINITY, 57344, 61440, NAN, -0.0};
    const double e4m3[] = {448, 448, 448, 448, -448, 448, 448};
    const double e5m2[] = {448, 448, 57344, 57344, -57344, 57344, 57344};
    double y[9];
    pe_quantize(PE_E4M3, 9, x, y);
    for (size_t i = 0; i < 7; i++)
        cr_expect_eq(y[i], e4m3[i], "%zu: %g", i, y[i]);
    cr_expect(isnan(y[7]) && signbit(y[8]));
    pe_quantize(PE_E5M2, 9, x, y);
    for (size_t i = 0; i < 7; i++)
        cr_expect_eq(y[i], e5m2[i], "%zu: %g", i, y[i]);
    cr_expect(isnan(y[7]) && signbit(y[8]));
}

/* The scale is the largest of the vector / 127: whole multiples of it stay, others round. */
Test(quantize, int8_has_a_scale_for_each_vector)
{
    const double x[] = {254, 2, 3, -5, -254, 0, 1e-9};
    const double expected[] = {254, 2, 4, -4, -254, 0, 0}; /* ties: 3 / 2, -5 / 2 */
    double y[7];
    pe_quantize(PE_INT8, 7, x, y);
    for (size_t i = 0; i < 7; i++)
        cr_expect_eq(y[i], expected[i], "%g: %g", x[i], y[i]);
    const double none[] = {0, -0.0};
    pe_quantize(PE_INT8, 2, none, y);
    cr_expect(y[0] == 0 && y[1] == 0 && signbit(y[1]));
    double in_place[] = {127, 0.4};
    pe_quantize(PE_INT8, 2, in_place, in_place);
    cr_expect(in_place[0] == 127 && in_place[1] == 0);
}

Test(quantize, names)
{
    enum pe_quant quant;
    for (enum pe_quant i = PE_E4M3; i < PE_QUANTS_N; i++) {
        const char *name = pe_quant_name(i);
        cr_expect(pe_quant_parse(name, strlen(name), &quant) && quant == i);
    }
    cr_expect_not(pe_quant_parse("e4m", 3, &quant));
    cr_expect_not(pe_quant_parse("int4", 4, &quant));
}
