// SPDX-License-Identifier: Apache-2.0
/*
 * test_kernels.c: every usable kernel variant gives the bits of the scalar one, over all lengths to
 * two vectors and three, unaligned, in place, with guards around the outputs; the scalar product is
 * held to its proven bound; and the choice of a variant. The rotation kernels are in test_apply.c.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

#define LANES_MAX  8
#define LENGTH_MAX (2 * LANES_MAX + 3)
#define SKEW_MAX   3 /* elements before the first, so that starts are unaligned */
#define GUARD      8 /* elements around an output */
#define ROOM       (GUARD + SKEW_MAX + LENGTH_MAX + GUARD)
#define STRIDE_MAX 3

/* Four planes in memory of their own. */
struct cdd {
    double cos_hi[ROOM], cos_lo[ROOM], sin_hi[ROOM], sin_lo[ROOM];
};

static struct pe__cdd planes_at(struct cdd *x, size_t i)
{
    return (struct pe__cdd){x->cos_hi + i, x->cos_lo + i, x->sin_hi + i, x->sin_lo + i};
}

static struct pe__cdd_in planes_from(const struct cdd *x, size_t i)
{
    return (struct pe__cdd_in){x->cos_hi + i, x->cos_lo + i, x->sin_hi + i, x->sin_lo + i};
}

static void set_lane(struct cdd *x, size_t i, mpfr_srcptr angle)
{
    mpfr_t c, s, rest;
    mpfr_inits2(200, c, s, rest, (mpfr_ptr)NULL);
    mpfr_sin_cos(s, c, angle, MPFR_RNDN);
    x->cos_hi[i] = mpfr_get_d(c, MPFR_RNDN);
    mpfr_sub_d(rest, c, x->cos_hi[i], MPFR_RNDN);
    x->cos_lo[i] = mpfr_get_d(rest, MPFR_RNDN);
    x->sin_hi[i] = mpfr_get_d(s, MPFR_RNDN);
    mpfr_sub_d(rest, s, x->sin_hi[i], MPFR_RNDN);
    x->sin_lo[i] = mpfr_get_d(rest, MPFR_RNDN);
    mpfr_clears(c, s, rest, (mpfr_ptr)NULL);
}

/* Random angles; in every fourth lane they add up to nearly a multiple of a quarter turn, so that
 * one component of the product cancels. */
static void set_factors(struct cdd *a, struct cdd *b, uint64_t seed)
{
    mpfr_t x, y;
    mpfr_inits2(200, x, y, (mpfr_ptr)NULL);
    for (size_t i = 0; i < ROOM; i++) {
        double u = (double)(pe_draw(seed, "a", i + 1) >> 11) * 0x1p-50;
        double v = (double)(pe_draw(seed, "b", i + 1) >> 11) * 0x1p-50;
        mpfr_set_d(x, u, MPFR_RNDN);
        if (i % 4 == 0) {
            mpfr_const_pi(y, MPFR_RNDN);
            mpfr_mul_d(y, y, (double)(i / 4 % 4) / 2, MPFR_RNDN);
            mpfr_sub(y, y, x, MPFR_RNDN);
            mpfr_add_d(y, y, ldexp(v - 4, -(int)(4 * i)), MPFR_RNDN);
        } else {
            mpfr_set_d(y, v, MPFR_RNDN);
        }
        set_lane(a, i, x);
        set_lane(b, i, y);
    }
    mpfr_clears(x, y, (mpfr_ptr)NULL);
}

static void multiply(const struct pe__kernels *kernels, size_t n, struct pe__cdd_in a,
                     struct pe__cdd_in b, struct pe__cdd out)
{
    kernels->cis_mul(n, &a, &b, &out);
}

static void set_value(mpfr_ptr x, const double *hi, const double *lo, size_t i)
{
    mpfr_set_d(x, hi[i], MPFR_RNDN);
    mpfr_add_d(x, x, lo[i], MPFR_RNDN);
}

/* Whether hi + lo is p q + sign r t, off by at most 13 * 2^-106, and normalised or tiny. */
static bool is_sum_of_products(mpfr_t p, mpfr_t q, int sign, mpfr_t r, mpfr_t t, double hi,
                               double lo)
{
    mpfr_t x, y;
    mpfr_inits2(1000, x, y, (mpfr_ptr)NULL);
    mpfr_mul(x, p, q, MPFR_RNDN);
    mpfr_mul(y, r, t, MPFR_RNDN);
    mpfr_mul_si(y, y, sign, MPFR_RNDN);
    mpfr_add(x, x, y, MPFR_RNDN);
    mpfr_sub_d(x, x, hi, MPFR_RNDN);
    mpfr_sub_d(x, x, lo, MPFR_RNDN);
    mpfr_abs(x, x, MPFR_RNDN);
    bool near = mpfr_cmp_d(x, 13 * 0x1p-106) <= 0;
    mpfr_clears(x, y, (mpfr_ptr)NULL);
    return near && (hi + lo == hi || fabs(hi) < 0x1p-50);
}

Test(kernels, scalar_product_keeps_its_bound)
{
    mpfr_t ac, as, bc, bs;
    mpfr_inits2(400, ac, as, bc, bs, (mpfr_ptr)NULL);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct cdd a;
        struct cdd b;
        struct cdd out;
        set_factors(&a, &b, seed);
        multiply(&pe__kernels_scalar, ROOM, planes_from(&a, 0), planes_from(&b, 0),
                 planes_at(&out, 0));
        for (size_t i = 0; i < ROOM; i++) {
            set_value(ac, a.cos_hi, a.cos_lo, i);
            set_value(as, a.sin_hi, a.sin_lo, i);
            set_value(bc, b.cos_hi, b.cos_lo, i);
            set_value(bs, b.sin_hi, b.sin_lo, i);
            cr_assert(is_sum_of_products(ac, bc, -1, as, bs, out.cos_hi[i], out.cos_lo[i]),
                      "cosine, seed %zu, lane %zu", (size_t)seed, i);
            cr_assert(is_sum_of_products(as, bc, 1, ac, bs, out.sin_hi[i], out.sin_lo[i]),
                      "sine, seed %zu, lane %zu", (size_t)seed, i);
        }
    }
    mpfr_clears(ac, as, bc, bs, (mpfr_ptr)NULL);
}

/* One length and skew: out of place, then over either factor. What is compared is all of the
 * memory, so that a store outside of the n lanes shows. */
static void compare_products(const struct pe__kernels *kernels, const struct cdd *a,
                             const struct cdd *b, size_t n, size_t skew)
{
    size_t at = GUARD + skew;
    for (int where = 0; where < 3; where++) {
        struct cdd x[2] = {*a, *a};
        struct cdd y[2] = {*b, *b};
        struct cdd out[2];
        memset(out, 0xa5, sizeof out);
        for (int i = 0; i < 2; i++) {
            struct cdd *target = where == 0 ? &out[i] : where == 1 ? &x[i] : &y[i];
            multiply(i == 0 ? &pe__kernels_scalar : kernels, n, planes_from(&x[i], at),
                     planes_from(&y[i], at + 1), planes_at(target, at + (where == 2)));
        }
        cr_assert(memcmp(&x[0], &x[1], sizeof *x) == 0 && memcmp(&y[0], &y[1], sizeof *y) == 0 &&
                      memcmp(&out[0], &out[1], sizeof *out) == 0,
                  "%s: n %zu, skew %zu, %s", kernels->name, n, skew,
                  (const char *[]){"out of place", "over a", "over b"}[where]);
    }
}

Test(kernels, products_are_the_same_in_all_variants)
{
    const struct pe__kernels *usable[4];
    size_t usable_n = pe__kernels_usable(usable);
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct cdd a;
        struct cdd b;
        set_factors(&a, &b, seed);
        for (size_t v = 0; v < usable_n; v++)
            for (size_t n = 0; n <= LENGTH_MAX; n++)
                for (size_t skew = 0; skew < SKEW_MAX; skew++)
                    compare_products(usable[v], &a, &b, n, skew);
    }
}

/* Sums hi + lo of all sizes, some of them ties or zeros of the narrow formats. */
static void set_sums(double *hi, double *lo, uint64_t seed)
{
    for (size_t i = 0; i < ROOM; i++) {
        uint64_t bits = pe_draw(seed, "sums", i + 1);
        int keep = (int)(bits % 7) * 9; /* leading bits of the fraction */
        uint64_t fraction = bits >> 12 & ~(uint64_t)0 << (52 - (keep < 52 ? keep : 52));
        int exponent = i % 5 ? -(int)(bits >> 20 & 15) : (int)(bits >> 20 & 2047) - 1074;
        double x = ldexp(1 + (double)fraction * 0x1p-52, exponent);
        hi[i] = i % 11 == 0 || isinf(x) ? 0 : bits & 128 ? -x : x;
        lo[i] = i % 3 == 0 ? 0 : hi[i] * (i % 3 == 1 ? 0x1p-54 : -0x1.8p-56);
    }
}

struct rounded {
    _Alignas(8) unsigned char out[8 * ROOM * STRIDE_MAX];
    uint16_t bad[ROOM];
};

static void compare_roundings(const struct pe__kernels *kernels, enum pe_dtype dtype,
                              const double *hi, const double *lo, double eps, size_t n)
{
    size_t size = pe_dtype_size(dtype);
    for (size_t stride = 1; stride <= STRIDE_MAX; stride++) {
        for (size_t skew = 0; skew < SKEW_MAX; skew++) {
            struct rounded x[2];
            memset(x, 0xa5, sizeof x);
            void *first[2] = {x[0].out + (GUARD + skew) * size, x[1].out + (GUARD + skew) * size};
            size_t bad_n = pe__kernels_scalar.round_row[dtype](n, hi + skew, lo + skew, eps,
                                                               first[0], stride, x[0].bad);
            cr_assert_eq(
                kernels->round_row[dtype](n, hi + skew, lo + skew, eps, first[1], stride, x[1].bad),
                bad_n);
            cr_assert_eq(memcmp(&x[0], &x[1], sizeof *x), 0, "%s, %s: n %zu, stride %zu, skew %zu",
                         kernels->name, pe_dtype_name(dtype), n, stride, skew);
        }
    }
}

Test(kernels, roundings_are_the_same_in_all_variants)
{
    static const double bounds[] = {0, 0x1p-100, 0x1p-52, 0x1p-20};
    const struct pe__kernels *usable[4];
    size_t usable_n = pe__kernels_usable(usable);
    for (uint64_t seed = 0; seed < 8; seed++) {
        double hi[ROOM];
        double lo[ROOM];
        set_sums(hi, lo, seed);
        for (size_t v = 0; v < usable_n; v++)
            for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++)
                for (size_t n = 0; n <= LENGTH_MAX; n++)
                    compare_roundings(usable[v], dtype, hi, lo, bounds[seed % 4], n);
    }
}

Test(kernels, variants_are_chosen_by_name)
{
    const struct pe__kernels *usable[4];
    size_t n = pe__kernels_usable(usable);
    cr_assert_geq(n, 2);
    cr_assert_str_eq(usable[0]->name, "scalar");
    cr_assert_str_eq(usable[1]->name, "base");
    unsetenv("POSENC_ISA");
    cr_assert_str_eq(pe_isa_name(), usable[n - 1]->name, "the widest, by default");
    for (size_t i = 0; i < n; i++) {
        cr_assert(pe_isa_select(usable[i]->name));
        cr_assert_str_eq(pe_isa_name(), usable[i]->name);
        cr_assert_eq(pe__kernels(), usable[i]);
    }
    cr_assert(!pe_isa_select("mmx"));
    cr_assert(!pe_isa_select(""));
    cr_assert_str_eq(pe_isa_name(), usable[n - 1]->name, "a refused name changes nothing");
}

Test(kernels, the_environment_overrides_the_default)
{
    setenv("POSENC_ISA", "base", 1);
    cr_assert_str_eq(pe_isa_name(), "base");
    setenv("POSENC_ISA", "scalar", 1);
    cr_assert_str_eq(pe_isa_name(), "base", "the choice is made once");
}

Test(kernels, an_unknown_name_in_the_environment_is_ignored)
{
    const struct pe__kernels *usable[4];
    size_t n = pe__kernels_usable(usable);
    setenv("POSENC_ISA", "mmx", 1);
    cr_assert_str_eq(pe_isa_name(), usable[n - 1]->name);
}
