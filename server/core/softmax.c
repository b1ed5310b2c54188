// SPDX-License-Identifier: Apache-2.0
/*
 * softmax.c: from scores to weights, their entropy, and sums of values by weights. What is rounded,
 * and when, is said in posenc/attention.h.
 */
#include <math.h>

#include "dd.h"
#include "exact.h"
#include "exponential.h"

/* Whether there is a largest score that others can be compared with. */
static bool find_largest(const double *scores, size_t n, size_t *largest)
{
    *largest = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(scores[i]))
            return false;
        if (scores[i] > scores[*largest])
            *largest = i;
    }
    return n > 0 && isfinite(scores[*largest]);
}

/* score - largest, exactly; where nothing is seen -infinity. */
static struct pe__dd below(double score, double largest)
{
    return isinf(score) ? (struct pe__dd){score, 0} : pe__two_sum(score, -largest);
}

void pe_softmax(const double *scores, size_t n, double *weights)
{
    size_t largest;
    if (!find_largest(scores, n, &largest)) {
        for (size_t i = 0; i < n; i++)
            weights[i] = __builtin_nan("");
        return;
    }
    double top = scores[largest]; /* which is overwritten */
    for (size_t i = 0; i < n; i++)
        weights[i] = pe__exp(below(scores[i], top));
    double sum = pe_sum(weights, n);
    for (size_t i = 0; i < n; i++)
        weights[i] /= sum;
}

void pe_attention_output(const double *weights, size_t queries, size_t keys, const double *values,
                         size_t dim, double *out)
{
    for (size_t query = 0; query < queries; query++)
        for (size_t channel = 0; channel < dim; channel++)
            out[query * dim + channel] =
                pe_dot(PE_F64, weights + query * keys, values + channel * keys, keys);
}

/* ---- Entropy ------------------------------------------------------------------------------ */

/* With x = score - largest and R the sum of e^x but for the largest one itself, the entropy is
 * ln(1 + R) - (sum of x e^x) / (1 + R). Neither part is negative, so nothing cancels. */

#define NEGLIGIBLE (-600)   /* from here on e^x is below ... */
#define LITTLE     0x1p-850 /* ... this, even times x */
#define LOG_BITS   160
#define GUARD_BITS 64 /* for as many roundings as there are scores */

/* ln(1 + x), x >= 0. */
static struct pe__ball log_ball(struct pe__ball x)
{
    MPFR_DECL_INIT(log, LOG_BITS);
    mpfr_set_d(log, x.hi, MPFR_RNDN);
    mpfr_add_d(log, log, x.lo, MPFR_RNDN);
    mpfr_log1p(log, log, MPFR_RNDN);
    struct pe__ball y = {mpfr_get_d(log, MPFR_RNDN), 0, 0};
    mpfr_sub_d(log, log, y.hi, MPFR_RNDN);
    y.lo = mpfr_get_d(log, MPFR_RNDN);
    y.eps = (x.eps + fabs(y.hi) * 0x1p-104) * PE__BALL_SLACK; /* the slope is at most 1 */
    return y;
}

static struct pe__ball entropy_ball(const double *scores, size_t n, size_t largest)
{
    struct pe__ball rest = {0, 0, 0};
    struct pe__ball weighted = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        struct pe__dd x = below(scores[i], scores[largest]);
        if (i == largest || isinf(x.hi))
            continue;
        if (x.hi < NEGLIGIBLE) {
            rest.eps += LITTLE;
            weighted.eps += LITTLE;
            continue;
        }
        struct pe__ball power = x.hi == 0 ? pe__ball_exact(1) : pe__exp_ball(x);
        rest = pe__ball_add(rest, power);
        weighted = pe__ball_add(weighted, pe__ball_mul(power, (struct pe__ball){-x.hi, -x.lo, 0}));
    }
    struct pe__ball sum = pe__ball_add(pe__ball_exact(1), rest);
    return pe__ball_add(log_ball(rest), pe__ball_div(weighted, sum));
}

/* A row, for MPFR. */
struct row {
    const double *scores;
    size_t n, largest;
};

/* e^x of score i, and x. */
static bool power_exact(const struct row *row, size_t i, mpfr_t power, mpfr_t x)
{
    if (i == row->largest || isinf(row->scores[i]))
        return false;
    mpfr_set_d(x, row->scores[i], MPFR_RNDN);
    mpfr_sub_d(x, x, row->scores[row->largest], MPFR_RNDN);
    mpfr_exp(power, x, MPFR_RNDN);
    return true;
}

static void entropy_exact(const void *context, size_t unused, mpfr_t y)
{
    const struct row *row = context;
    mpfr_t x, power, rest, weighted;
    (void)unused;
    mpfr_init2(x, PE__EXACT_BITS);
    mpfr_inits2(mpfr_get_prec(y) + GUARD_BITS, power, rest, weighted, (mpfr_ptr)NULL);
    mpfr_set_zero(rest, 1);
    mpfr_set_zero(weighted, 1);
    for (size_t i = 0; i < row->n; i++) {
        if (!power_exact(row, i, power, x))
            continue;
        mpfr_add(rest, rest, power, MPFR_RNDN);
        mpfr_mul(power, power, x, MPFR_RNDN);
        mpfr_sub(weighted, weighted, power, MPFR_RNDN);
    }
    mpfr_add_ui(power, rest, 1, MPFR_RNDN);
    mpfr_div(weighted, weighted, power, MPFR_RNDN);
    mpfr_log1p(rest, rest, MPFR_RNDN);
    mpfr_add(y, rest, weighted, MPFR_RNDN);
    mpfr_clears(x, power, rest, weighted, (mpfr_ptr)NULL);
}

double pe_softmax_entropy(const double *scores, size_t n)
{
    struct row row = {scores, n, 0};
    double entropy = __builtin_nan("");
    if (find_largest(scores, n, &row.largest) &&
        !pe__ball_round(entropy_ball(scores, n, row.largest), PE_F64, &entropy, 0))
        pe__round_exact(PE_F64, entropy_exact, &row, 0, &entropy, 0);
    return entropy;
}
