// SPDX-License-Identifier: Apache-2.0
/* exact.c: sums to any precision; see exact.h. */
#include "exact.h"

/* With p bits the error is at most 2^(e + guard - p), e the largest exponent of a term: n terms off
 * by 2^(9 + e - p), n partial sums of up to n 2^e rounded. */
void pe__exact_sum(pe__exact_fn *term, const void *context, size_t n, mpfr_t y)
{
    mpfr_prec_t guard = 10 + 2 * (64 - __builtin_clzll(n | 1));
    mpfr_prec_t bits = mpfr_get_prec(y) + guard;
    mpfr_prec_t bits_max = bits + PE__EXACT_BITS;
    mpfr_t sum;
    mpfr_t t;
    mpfr_init2(sum, bits);
    mpfr_init2(t, bits);
    for (;;) {
        mpfr_exp_t largest = mpfr_get_emin();
        mpfr_set_zero(sum, 1);
        for (size_t i = 0; i < n; i++) {
            term(context, i, t);
            if (mpfr_regular_p(t) && mpfr_get_exp(t) > largest)
                largest = mpfr_get_exp(t);
            mpfr_add(sum, sum, t, MPFR_RNDN);
        }
        if (!mpfr_number_p(sum) || largest == mpfr_get_emin())
            break; /* not finite, or no term at all */
        mpfr_exp_t lost = mpfr_zero_p(sum) ? bits : largest - mpfr_get_exp(sum);
        if (mpfr_get_prec(y) + guard + lost <= bits)
            break;
        if (bits == bits_max && lost + guard >= bits)
            mpfr_set_zero(sum, 1);
        if (bits == bits_max)
            break;
        bits = 2 * bits < bits_max ? 2 * bits : bits_max;
        mpfr_set_prec(sum, bits);
        mpfr_set_prec(t, bits);
    }
    mpfr_set(y, sum, MPFR_RNDN);
    mpfr_clears(sum, t, (mpfr_ptr)NULL);
}

void pe__exact_add_product(mpfr_t sum, double a, double b)
{
    mpfr_t product;
    mpfr_init2(product, 106);
    mpfr_set_d(product, a, MPFR_RNDN);
    mpfr_mul_d(product, product, b, MPFR_RNDN);
    mpfr_add(sum, sum, product, MPFR_RNDN);
    mpfr_clear(product);
}
