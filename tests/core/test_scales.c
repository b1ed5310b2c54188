// SPDX-License-Identifier: Apache-2.0
/*
 * test_scales.c: what xpos multiplies q by and divides k by: powers against MPFR in every dtype,
 * and rotated vectors against their definition, (a cos t - b sin t) z^e, rounded once in f64.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "plan_from.h"
#include "ref/ref_round.h"

#define N(array) (sizeof(array) / sizeof *(array))
#define BITS     600
#define PAIRS    4
#define DIM      10 /* two channels pass through */

static const char spec[] = "xpos:dim=10,rotary_dim=8,scale_base=300,center=17.5,shift=0.25";
static const double at[] = {0, 17.25, 18, -3, 1000, 65536, 0.5, -131071, 1e-3, 40000, 1,
                            2, 3,     4,  5,  6,    7,     8,   9,       10,   11};
static const struct pe_positions places = {.axes = 1, .n = N(at), .at = {at}};

/* z^(sign e) of a pair: z = (2i + 3.2) / 11.2, e = (p + 0.25 - 17.5) / 300. */
static void reference_scale(double p, unsigned pair, int sign, mpfr_t y)
{
    mpfr_t e;
    mpfr_init2(e, BITS);
    mpfr_set_d(e, p, MPFR_RNDN);
    mpfr_sub_d(e, e, 17.25, MPFR_RNDN);
    mpfr_div_si(e, e, 300 * sign, MPFR_RNDN);
    mpfr_set_ui(y, 20 * pair + 32, MPFR_RNDN);
    mpfr_div_ui(y, y, 112, MPFR_RNDN);
    mpfr_pow(y, y, e, MPFR_RNDN);
    mpfr_clear(e);
}

Test(scales, are_powers_rounded_once)
{
    static const double largest[] = {
        [PE_F64] = 0x1p1023, [PE_F32] = 0x1p127, [PE_F16] = 65519, [PE_BF16] = 0x1p127};
    struct pe_plan *plan = plan_from(spec, &places);
    mpfr_t wanted;
    mpfr_init2(wanted, BITS);
    for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
        double got[N(at) * PAIRS];
        pe_scales(plan, &places, dtype, got);
        for (unsigned i = 0; i < N(at) * PAIRS; i++) {
            reference_scale(at[i / PAIRS], i % PAIRS, 1, wanted);
            double value = pe_load(dtype, got, i), expected = ref_round(dtype, wanted);
            bool overflows = mpfr_cmp_d(wanted, largest[dtype]) > 0;
            cr_expect(overflows ? isinf(value) : value == expected, "%s at %g, pair %u: %a, not %a",
                      pe_dtype_name(dtype), at[i / PAIRS], i % PAIRS, value, expected);
        }
    }
    mpfr_clear(wanted);
    pe_plan_free(plan);
}

/* Numbers printed for r = 8: z_0^(100/512). */
Test(scales, have_the_printed_numbers)
{
    static const double some[] = {0, 100};
    struct pe_positions two = {.axes = 1, .n = 2, .at = {some}};
    struct pe_plan *plan = plan_from("xpos:dim=8,center=0", &two);
    double got[2 * PAIRS];
    pe_scales(plan, &two, PE_F64, got);
    for (size_t pair = 0; pair < PAIRS; pair++)
        cr_expect_eq(got[pair], 1, "at the center");
    cr_expect_float_eq(got[PAIRS], 0.7829548345, 5e-11);
    pe_plan_free(plan);
}

/* ---- Rotations ---------------------------------------------------------------------------- */

/* Member 0 or 1 of a pair (a, b), turned by +-p w and scaled. */
static void reference_member(double p, unsigned pair, double a, double b, bool second, int turn,
                             int sign, mpfr_t y)
{
    mpfr_t angle, sine, scale;
    mpfr_inits2(BITS, angle, sine, scale, (mpfr_ptr)NULL);
    mpfr_set_d(angle, -2.0 * pair / 8, MPFR_RNDN);
    mpfr_ui_pow(angle, 10000, angle, MPFR_RNDN);
    mpfr_set_d(scale, p, MPFR_RNDN);
    mpfr_add_d(scale, scale, 0.25, MPFR_RNDN);
    mpfr_mul(angle, angle, scale, MPFR_RNDN);
    mpfr_mul_si(angle, angle, turn, MPFR_RNDN);
    mpfr_sin_cos(sine, y, angle, MPFR_RNDN);
    mpfr_mul_d(y, y, second ? b : a, MPFR_RNDN);
    mpfr_mul_d(sine, sine, second ? a : -b, MPFR_RNDN);
    mpfr_add(y, y, sine, MPFR_RNDN);
    reference_scale(p, pair, sign, scale);
    mpfr_mul(y, y, scale, MPFR_RNDN);
    mpfr_clears(angle, sine, scale, (mpfr_ptr)NULL);
}

static void rotate(const struct pe_apply *how, enum pe_dtype dtype, void *x, void *y)
{
    struct pe_apply job = *how;
    struct pe_view in, out;
    const size_t shape[] = {N(at), DIM};
    cr_assert(pe_view_init(&in, dtype, x, "td", shape, 2, 1));
    cr_assert(pe_view_init(&out, dtype, y, "td", shape, 2, 1));
    job.positions = &places;
    job.positions_n = 1;
    job.in = &in;
    job.out = &out;
    job.work = aligned_alloc(64, (pe_apply_work_bytes(job.plan) + 63) / 64 * 64);
    pe_apply(&job);
    free(job.work);
}

static void make_vectors(double *x)
{
    for (size_t i = 0; i < N(at) * DIM; i++)
        x[i] = sin((double)i * 1.7) * 3 + 0.125;
}

Test(scales, multiply_q_and_divide_k)
{
    struct pe_plan *plan = plan_from(spec, &places);
    double x[N(at) * DIM], y[N(at) * DIM];
    make_vectors(x);
    mpfr_t wanted;
    mpfr_init2(wanted, BITS);
    for (int way = 0; way < 4; way++) {
        struct pe_apply how = {.plan = plan, .is_key = way & 1, .inverse = way & 2};
        int sign = how.is_key == how.inverse ? 1 : -1;
        rotate(&how, PE_F64, x, y);
        for (size_t i = 0; i < N(x); i++) {
            size_t channel = i % DIM, first = i - channel % 2;
            unsigned pair = (unsigned)channel / 2;
            if (channel >= 8) {
                cr_expect_eq(y[i], x[i], "channel %zu", channel);
                continue;
            }
            reference_member(at[i / DIM], pair, x[first], x[first + 1], channel % 2,
                             how.inverse ? -1 : 1, sign, wanted);
            cr_expect_eq(y[i], mpfr_get_d(wanted, MPFR_RNDN), "way %d at %g, channel %zu: %a", way,
                         at[i / DIM], channel, y[i]);
        }
    }
    mpfr_clear(wanted);
    pe_plan_free(plan);
}

/* In f32: within the rounding of doubles; with an apply stage, two roundings of products more. */
Test(scales, are_in_every_rotation)
{
    struct pe_plan *plan = plan_from(spec, &places);
    const struct pe_stages stages = {.named = 1u << PE_STAGE_APPLY,
                                     .dtype = {[PE_STAGE_APPLY] = PE_F32}};
    double x[N(at) * DIM], exact[N(at) * DIM];
    float narrow[N(at) * DIM], y[N(at) * DIM];
    make_vectors(x);
    for (size_t i = 0; i < N(x); i++)
        x[i] = narrow[i] = (float)x[i];
    for (int staged = 0; staged < 2; staged++) {
        struct pe_apply how = {.plan = plan, .is_key = true, .stages = staged ? &stages : NULL};
        rotate(&(struct pe_apply){.plan = plan, .is_key = true}, PE_F64, x, exact);
        rotate(&how, PE_F32, narrow, y);
        for (size_t i = 0; i < N(x); i++) {
            size_t first = i - i % 2;
            double length = hypot(exact[first], exact[first + 1]);
            if (length > 1e-30 && length < 1e37)
                cr_expect_float_eq(y[i], exact[i], length * (staged ? 2e-7 : 6.1e-8), "%zu", i);
        }
    }
    pe_plan_free(plan);
}

/* q and k that both are where they stand: the product depends on the distance, and fades with it.
 */
Test(scales, leave_products_to_the_distance)
{
    struct pe_plan *plan = plan_from("xpos:dim=10,rotary_dim=8,center=3", &places);
    double x[N(at) * DIM], q[N(at) * DIM], k[N(at) * DIM];
    for (size_t i = 0; i < N(x); i++)
        x[i] = i % 2 == 0;
    rotate(&(struct pe_apply){.plan = plan}, PE_F64, x, q);
    rotate(&(struct pe_apply){.plan = plan, .is_key = true}, PE_F64, x, k);
    for (size_t m = 0; m < N(at); m++)
        for (size_t n = 0; n < N(at); n++) {
            double got = 0, wanted = 0, size = 0, distance = at[m] - at[n];
            if (fabs(at[m]) > 2000 || fabs(at[n]) > 2000)
                continue;
            for (size_t channel = 0; channel < 8; channel++)
                got += q[m * DIM + channel] * k[n * DIM + channel];
            for (unsigned pair = 0; pair < PAIRS; pair++) {
                double z = pow((2 * pair + 3.2) / 11.2, distance / 512);
                wanted += z * cos(distance * pow(10000, -2.0 * pair / 8));
                size += z;
            }
            cr_expect_float_eq(got, wanted, 1e-11 * size, "%g and %g", at[m], at[n]);
        }
    pe_plan_free(plan);
}

Test(scales, have_an_end)
{
    static const double far[] = {245217, 245218, -245218};
    struct pe_spec limited;
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse("xpos:center=0", &limited, &faults) &&
              pe_spec_finish(&limited, &faults));
    for (size_t i = 0; i < N(far); i++) {
        struct pe_positions one = {.axes = 1, .n = 1, .at = {far + i}};
        cr_expect_eq(pe_positions_check(&limited, &one, "positions", &faults), i == 0, "%g",
                     far[i]);
    }
    cr_expect_str_eq(faults.item[0].detail,
                     "position 245218 is 245218 from the center, with scale_base 512 it may be at "
                     "most 245217");
    pe_spec_release(&limited);
}
