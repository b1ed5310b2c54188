// SPDX-License-Identifier: Apache-2.0
/*
 * operation.h: one product or one sum, rounded once to a dtype: what a processor with that format
 * would give. The exact result of two doubles is a sum of two doubles (dd.h), which round.h rounds
 * without going through double on the way; in f64 the processor's own operation is that already.
 * Results come as doubles, which hold every value of the other dtypes. NaN and infinities are
 * IEEE's.
 */
#ifndef PE_CORE_OPERATION_H
#define PE_CORE_OPERATION_H

#include "ball.h"
#include "round.h"

double pe__product(enum pe_dtype dtype, double a, double b);
double pe__sum(enum pe_dtype dtype, double a, double b);

/* A real number that takes part in an operation: a ball, and what computes it where that leaves a
 * doubt (with a double, which leaves none, not used). */
struct pe__operand {
    struct pe__ball ball;
    pe__exact_fn *exact;
    const void *context;
    size_t i;
};

static inline struct pe__operand pe__operand_of(double x)
{
    return (struct pe__operand){.ball = pe__ball_exact(x)};
}

/* The number itself to the precision of y, as a pe__exact_fn does. */
void pe__operand_exact(const struct pe__operand *x, mpfr_t y);

/* The same of real numbers. */
double pe__product_of(enum pe_dtype dtype, const struct pe__operand *a,
                      const struct pe__operand *b);
double pe__sum_of(enum pe_dtype dtype, const struct pe__operand *a, const struct pe__operand *b);

#endif
