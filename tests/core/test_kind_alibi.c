// SPDX-License-Identifier: Apache-2.0
/*
 * alibi: slopes against the golden ones and another formulation of the rule, biases against the
 * definition, each rounded once in every dtype.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "golden/golden.h"
#include "plan_from.h"
#include "ref/ref_round.h"

#define N(array) (sizeof(array) / sizeof *(array))

static const double zero[] = {0};

static struct pe_plan *alibi_plan(size_t heads)
{
    char text[40];
    snprintf(text, sizeof text, "alibi:heads=%zu", heads);
    struct pe_positions positions = positions_of(zero, 1);
    return plan_from(text, &positions);
}

Test(alibi, has_the_golden_slopes)
{
    json_t *document = golden_load("truth_alibi.json");
    const char *key;
    json_t *list;
    size_t cases = 0;
    json_object_foreach(json_object_get(document, "heads"), key, list)
    {
        size_t heads = (size_t)atoi(key);
        double wanted[128], got[128];
        cr_assert_eq(golden_list(list, wanted, N(wanted)), heads);
        struct pe_plan *plan = alibi_plan(heads);
        pe_slopes(plan, PE_F64, got);
        for (size_t h = 0; h < heads; h++)
            cr_assert(got[h] == wanted[h], "%zu heads, head %zu: %a, wanted %a", heads, h, got[h],
                      wanted[h]);
        pe_plan_free(plan);
        cases++;
    }
    cr_assert_geq(cases, 40);
    json_decref(document);
}

/* MPT's formulation: the list of the next power of two, odd places first, then even ones, cut. */
static void mpt_slope(size_t heads, size_t head, mpfr_t y)
{
    size_t n = 1;
    while (n < heads)
        n *= 2;
    size_t k = head;
    if (n != heads)
        k = head < n / 2 ? 2 * head + 1 : 2 * (head - n / 2);
    mpfr_set_ui(y, 8 * (k + 1), MPFR_RNDN);
    mpfr_div_ui(y, y, n, MPFR_RNDN);
    mpfr_neg(y, y, MPFR_RNDN);
    mpfr_exp2(y, y, MPFR_RNDN);
}

Test(alibi, has_correctly_rounded_slopes_for_any_number_of_heads)
{
    mpfr_t wanted;
    mpfr_init2(wanted, 300);
    for (size_t heads = 1; heads <= PE_HEADS_MAX; heads += heads < 129 ? 1 : 37) {
        struct pe_plan *plan = alibi_plan(heads);
        for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
            double got[PE_HEADS_MAX];
            pe_slopes(plan, dtype, got);
            for (size_t h = 0; h < heads; h++) {
                mpt_slope(heads, h, wanted);
                cr_assert(pe_load(dtype, got, h) == ref_round(dtype, wanted),
                          "%zu heads, head %zu in %s", heads, h, pe_dtype_name(dtype));
            }
        }
        pe_plan_free(plan);
    }
    mpfr_clear(wanted);
}

/* -slope |m - n| from the definition, to any precision. */
static void ref_bias(size_t heads, size_t head, double m, double n, mpfr_t y)
{
    mpfr_t distance;
    mpfr_init2(distance, 2200); /* any difference of two doubles */
    mpfr_set_d(distance, m, MPFR_RNDN);
    mpfr_sub_d(distance, distance, n, MPFR_RNDN);
    mpfr_abs(distance, distance, MPFR_RNDN);
    mpt_slope(heads, head, y);
    mpfr_mul(y, y, distance, MPFR_RNDN);
    mpfr_neg(y, y, MPFR_RNDN);
    mpfr_clear(distance);
}

Test(alibi, has_correctly_rounded_biases)
{
    static const double places[] = {0,     1,      -1,      7.5,       0.1,    1e-300, 5e-324,
                                    1e-17, 0x1p53, -0x1p53, 123456789, 1e-310, 3,      0x1p-1074};
    mpfr_t wanted;
    mpfr_init2(wanted, 3000);
    struct pe_positions positions = positions_of(places, N(places));
    static const size_t heads[] = {1, 3, 8, 12};
    for (size_t i = 0; i < N(heads); i++) {
        struct pe_plan *plan = alibi_plan(heads[i]);
        for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
            static double got[12 * N(places) * N(places)];
            pe_bias(plan, &positions, &positions, 0, heads[i], dtype, got);
            for (size_t j = 0; j < heads[i] * N(places) * N(places); j++) {
                size_t h = j / N(places) / N(places);
                double m = places[j / N(places) % N(places)], n = places[j % N(places)];
                ref_bias(heads[i], h, m, n, wanted);
                double value = pe_load(dtype, got, j);
                bool overflows = dtype == PE_F16 && mpfr_cmp_d(wanted, -65519) < 0;
                cr_assert(overflows ? isinf(value) : value == ref_round(dtype, wanted),
                          "%zu heads, head %zu in %s, from %a to %a: %a", heads[i], h,
                          pe_dtype_name(dtype), m, n, value);
                cr_assert(m != n || !signbit(value), "a bias of 0 has no sign");
            }
        }
        pe_plan_free(plan);
    }
    mpfr_clear(wanted);
}

Test(alibi, takes_given_slopes)
{
    static const double at[] = {0, 3};
    struct pe_positions positions = positions_of(at, 2);
    struct pe_plan *plan = plan_from("alibi:slopes=0.5+0+0.1", &positions);
    double got[12];
    pe_bias(plan, &positions, &positions, 0, 3, PE_F64, got);
    static const double wanted[] = {0, -1.5, -1.5, 0, 0, 0, 0, 0, 0, -0.1 * 3, -0.1 * 3, 0};
    for (size_t i = 0; i < N(wanted); i++)
        cr_assert(got[i] == wanted[i], "element %zu: %a", i, got[i]);
    pe_plan_free(plan);
    plan = plan_from("alibi:slope=1e-320", &positions);
    pe_bias(plan, &positions, &positions, 0, 1, PE_F64, got);
    cr_assert(got[1] == -3 * 1e-320, "%a", got[1]);
    pe_plan_free(plan);
}

/* ---- Forms -------------------------------------------------------------------------------- */

/* What the slope multiplies: key, query, last key, shift. */
struct form {
    const char *name;
    int query, key, last, shift;
};

static const struct form forms[] = {
    {"signed", -1, 1, 0, 0}, {"last_zero", 0, 1, -1, 0}, {"key_index", 0, 1, 0, 1}};

static void ref_form(const struct form *form, size_t heads, size_t head, const double at[4],
                     mpfr_t y)
{
    const int times[] = {form->query, form->key, form->last, form->shift};
    mpfr_t sum, place;
    mpfr_inits2(2200, sum, place, (mpfr_ptr)0);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < 4; i++) {
        mpfr_set_d(place, at[i], MPFR_RNDN);
        mpfr_mul_si(place, place, times[i], MPFR_RNDN);
        mpfr_add(sum, sum, place, MPFR_RNDN);
    }
    mpt_slope(heads, head, y);
    mpfr_mul(y, y, sum, MPFR_RNDN);
    mpfr_clears(sum, place, (mpfr_ptr)0);
}

Test(alibi, has_correctly_rounded_biases_in_every_form)
{
    static const double queries_at[] = {0, 7, 4095.5, -3, 1e-300, 0x1p53};
    static const double keys_at[] = {5, 0, 0.1, -0x1p53, 3e-310, 100000, 7.25};
    static const double shift = 0.7;
    const size_t heads = 6;
    struct pe_positions queries = positions_of(queries_at, N(queries_at));
    struct pe_positions keys = positions_of(keys_at, N(keys_at));
    mpfr_t wanted;
    mpfr_init2(wanted, 3000);
    for (size_t f = 0; f < N(forms); f++) {
        char text[80];
        snprintf(text, sizeof text, "alibi:heads=6,shift=0.7,form=%s", forms[f].name);
        struct pe_plan *plan = plan_from(text, &queries);
        double got[6 * N(queries_at) * N(keys_at)];
        pe_bias(plan, &queries, &keys, 0, heads, PE_F64, got);
        for (size_t i = 0; i < N(got); i++) {
            size_t head = i / N(keys_at) / N(queries_at);
            double at[] = {queries_at[i / N(keys_at) % N(queries_at)], keys_at[i % N(keys_at)],
                           keys_at[N(keys_at) - 1], shift};
            ref_form(&forms[f], heads, head, at, wanted);
            cr_expect(got[i] == ref_round(PE_F64, wanted), "%s, head %zu, %g to %g: %a",
                      forms[f].name, head, at[0], at[1], got[i]);
        }
        pe_plan_free(plan);
    }
    mpfr_clear(wanted);
}

Test(alibi, has_another_largest_exponent)
{
    static const double wanted[] = {0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8, 0x1p-1, 0x1p-3};
    struct pe_positions positions = positions_of(zero, 1);
    struct pe_plan *plan = plan_from("alibi:heads=6,bias_max=8", &positions);
    double got[8];
    pe_slopes(plan, PE_F64, got);
    for (size_t h = 0; h < 6; h++)
        cr_expect(got[h] == wanted[h], "head %zu: %a", h, got[h]);
    pe_plan_free(plan);
    plan = plan_from("alibi:heads=6,bias_max=16,total_heads=8", &positions);
    pe_slopes(plan, PE_F64, got);
    for (size_t h = 0; h < 8; h++)
        cr_expect(got[h] == (h < 6 ? wanted[h] * wanted[h] : 0), "head %zu: %a", h, got[h]);
    pe_plan_free(plan);
}

/* Spelling out what is meant anyway is no other encoding. */
Test(alibi, is_the_same_with_defaults_spelt_out)
{
    struct pe_positions positions = positions_of(zero, 1);
    struct pe_plan *plan =
        plan_from("alibi:heads=6,bias_max=8,form=symmetric,total_heads=6", &positions);
    char text[80];
    pe_spec_compact(pe_plan_spec(plan), text, sizeof text);
    cr_expect_str_eq(text, "alibi:heads=6");
    pe_plan_free(plan);
}
