// SPDX-License-Identifier: Apache-2.0
/* dots.c: sums of dot products; see dots.h. */
#include "dots.h"

#include "exact.h"

struct pe__ball pe__dots_ball(const struct pe__dots *dots)
{
    struct pe__sum sum = {0};
    for (size_t d = 0; d < dots->dots_n; d++)
        for (size_t i = 0; i < dots->n; i++)
            pe__sum_add(&sum, (struct pe__dd){dots->a[d][i], 0}, (struct pe__dd){dots->b[d][i], 0});
    return pe__sum_ball(&sum);
}

void pe__dots_exact(const struct pe__dots *dots, mpfr_t y)
{
    mpfr_t sum;
    mpfr_init2(sum, PE__EXACT_BITS);
    mpfr_set_zero(sum, 1);
    for (size_t d = 0; d < dots->dots_n; d++)
        for (size_t i = 0; i < dots->n; i++)
            pe__exact_add_product(sum, dots->a[d][i], dots->b[d][i]);
    mpfr_set(y, sum, MPFR_RNDN);
    mpfr_clear(sum);
}
