// SPDX-License-Identifier: Apache-2.0
/*
 * test_apply_polar.c: vectors made polar, against the definition by MPFR, softplus(x) cos(m w + d)
 * and sin, rounded once in every dtype: sizes far apart, angles that a phase takes back, tokens
 * without a position.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "plan_from.h"
#include "ref/ref_round.h"

#define N(array) (sizeof(array) / sizeof *(array))
#define BITS     1500
#define DIM      5

static const double at[] = {0, 1, 2, -3, 0.5, 1e6, 131071.25, 6};
static const double deltas[DIM] = {-1, 0, -0.5, -6.25, -2};
static const char plain[] = "pope:dim=5,base=1024,shift=0.5,position_scale=0.5";
static const char phased[] =
    "pope:dim=5,base=1024,shift=0.5,position_scale=0.5,deltas=-1+0+-0.5+-6.25+-2";

static void make_polar(const struct pe_apply *how, const struct pe_positions *positions,
                       enum pe_dtype from, void *x, enum pe_dtype to, void *y)
{
    struct pe_apply job = *how;
    struct pe_view in, out;
    cr_assert(pe_view_init(&in, from, x, "td", (size_t[]){positions->n, DIM}, 2, 1));
    cr_assert(pe_view_init(&out, to, y, "td", (size_t[]){positions->n, 2 * DIM}, 2, 1));
    job.positions = positions;
    job.positions_n = 1;
    job.in = &in;
    job.out = &out;
    job.work = aligned_alloc(64, (pe_apply_work_bytes(job.plan) + 63) / 64 * 64);
    cr_assert_not_null(job.work);
    pe_apply(&job);
    free(job.work);
}

/* Channel j < DIM with cos, DIM + j with sin. */
static void reference(double p, size_t channel, double x, bool is_key, mpfr_t y)
{
    size_t j = channel % DIM;
    mpfr_t angle, size;
    mpfr_inits2(BITS, angle, size, (mpfr_ptr)NULL);
    mpfr_set_si(size, -2 * (long)j, MPFR_RNDN); /* 1024^(-j/5) = 2^(-2j) */
    mpfr_exp2(size, size, MPFR_RNDN);
    mpfr_set_d(angle, p * 0.5 + 0.5, MPFR_RNDN);
    mpfr_mul(angle, angle, size, MPFR_RNDN);
    mpfr_add_d(angle, angle, is_key ? deltas[j] : 0, MPFR_RNDN);
    if (channel < DIM)
        mpfr_cos(y, angle, MPFR_RNDN);
    else
        mpfr_sin(y, angle, MPFR_RNDN);
    mpfr_set_d(size, x, MPFR_RNDN);
    mpfr_exp(size, size, MPFR_RNDN);
    mpfr_add_ui(size, size, 1, MPFR_RNDN);
    mpfr_log(size, size, MPFR_RNDN);
    mpfr_mul(y, y, size, MPFR_RNDN);
    mpfr_clears(angle, size, (mpfr_ptr)NULL);
}

static const double xs[] = {0.5, -1, 0, 3.75, -20, 40, -0.125, 11, -90, 700};

static void check(const char *text, bool is_key, enum pe_dtype from, enum pe_dtype to)
{
    struct pe_positions positions = positions_of(at, N(at));
    struct pe_plan *plan = plan_from(text, &positions);
    double x[N(at) * DIM], y[2 * N(at) * DIM];
    mpfr_t wanted;
    mpfr_init2(wanted, BITS);
    for (size_t i = 0; i < N(at) * DIM; i++)
        pe_store(from, x, i, xs[i * 3 % N(xs)]);
    make_polar(&(struct pe_apply){.plan = plan, .is_key = is_key}, &positions, from, x, to, y);
    for (size_t i = 0; i < 2 * N(at) * DIM; i++) {
        size_t token = i / (2 * DIM), channel = i % (2 * DIM);
        double value = pe_load(from, x, token * DIM + channel % DIM), got = pe_load(to, y, i);
        reference(at[token], channel, value, is_key && text == phased, wanted);
        double expected = ref_round(to, wanted);
        cr_expect(got == expected && !signbit(got) == !signbit(expected),
                  "%s %d %s to %s: %g at %g, channel %zu: %a, not %a", text, is_key,
                  pe_dtype_name(from), pe_dtype_name(to), value, at[token], channel, got, expected);
    }
    mpfr_clear(wanted);
    pe_plan_free(plan);
}

Test(polar, is_the_definition_rounded_once)
{
    for (enum pe_dtype to = PE_F64; to <= PE_BF16; to++)
        for (int how = 0; how < 4; how++) {
            check(how & 1 ? phased : plain, how & 2, PE_F64, to);
            check(how & 1 ? phased : plain, how & 2, to, to);
        }
}

/* A tie of the narrow format with a little more behind it: e^-800 decides. */
Test(polar, rounds_ties_by_what_is_left)
{
    static const double zero = 0;
    struct pe_positions positions = positions_of(&zero, 1);
    struct pe_plan *plan = plan_from("pope:dim=5", &positions);
    double x[DIM] = {0x1.000001p9, 0x1.000003p9, 0x1.01p10, 0x1p200, 1};
    float y[2 * DIM];
    make_polar(&(struct pe_apply){.plan = plan}, &positions, PE_F64, x, PE_F32, y);
    cr_expect_eq(y[0], 0x1.000002p9F, "%a", (double)y[0]);
    cr_expect_eq(y[1], 0x1.000004p9F, "%a", (double)y[1]);
    cr_expect_eq(y[2], 0x1.01p10F, "%a", (double)y[2]);
    cr_expect(isinf(y[3]));
    for (size_t j = DIM; j < 2 * DIM; j++)
        cr_expect(y[j] == 0 && !signbit(y[j]));
    pe_plan_free(plan);
}

/* Angles 0 and nothing to turn; numbers that are none. */
Test(polar, tokens_without_a_position_stay_at_the_angle_0)
{
    const double places[] = {NAN, 3};
    struct pe_positions positions = positions_of(places, 2);
    for (int is_key = 0; is_key < 2; is_key++) {
        struct pe_plan *plan = plan_from(phased, &positions);
        double x[2 * DIM] = {0, 0, 0, 0, 0, INFINITY, -INFINITY, NAN, -1e300, 1e300}, y[4 * DIM];
        make_polar(&(struct pe_apply){.plan = plan, .is_key = is_key}, &positions, PE_F64, x,
                   PE_F64, y);
        for (size_t j = 0; j < DIM; j++) {
            cr_expect_eq(y[j], 0x1.62e42fefa39efp-1, "ln 2");
            cr_expect_eq(y[DIM + j], 0);
        }
        const double *next = y + 2 * DIM;
        cr_expect(isinf(next[0]) && isinf(next[DIM]));
        cr_expect(next[1] == 0 && next[DIM + 1] == 0);
        cr_expect(isnan(next[2]) && isnan(next[DIM + 2]));
        cr_expect(next[3] == 0 && next[DIM + 3] == 0);
        cr_expect(isfinite(next[4]) &&
                  fabs(hypot(next[4] / 1e300, next[DIM + 4] / 1e300) - 1) < 1e-15);
        pe_plan_free(plan);
    }
}
