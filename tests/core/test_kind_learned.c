// SPDX-License-Identifier: Apache-2.0
/*
 * learned: seeded values against their definition, posted ones.
 */
#include <criterion/criterion.h>

#include "ref/ref_round.h"
#include "rows_of.h"

#define N(array) (sizeof(array) / sizeof *(array))

/* Element i of the normal stream "table", from its definition, times std, rounded to dtype. */
static double ref_learned(uint64_t seed, uint64_t i, double std, enum pe_dtype dtype)
{
    mpfr_t y;
    mpfr_init2(y, 200);
    mpfr_set_ui(y, 0, MPFR_RNDN);
    for (uint64_t k = 1; k <= 12; k++)
        mpfr_add_ui(y, y, pe_draw(seed, "table", 12 * i + k) >> 32, MPFR_RNDN);
    mpfr_mul_2si(y, y, -32, MPFR_RNDN);
    mpfr_sub_ui(y, y, 6, MPFR_RNDN);
    mpfr_mul_d(y, y, std, MPFR_RNDN);
    double value = ref_round(dtype, y);
    mpfr_clear(y);
    return value;
}

Test(learned, has_seeded_rows)
{
    static const double at[] = {0, 1, 2047, 77};
    static const struct {
        const char *text;
        uint64_t seed;
        double std;
    } cases[] = {
        {"learned:dim=200", 0, 0.02},
        {"learned:dim=5,table_seed=9007199254740992,table_std=1", (uint64_t)1 << 53, 1},
        {"learned:dim=3,table_seed=7,table_std=0", 7, 0},
        {"learned:dim=7,table_std=1e-300", 0, 1e-300},
        {"learned:dim=200,table_std=1e-310", 0, 1e-310},
        {"learned:dim=200,table_std=1e-320", 0, 1e-320},
    };
    for (size_t c = 0; c < N(cases); c++) {
        struct pe_positions positions = positions_of(at, N(at));
        struct pe_plan *plan = plan_from(cases[c].text, &positions);
        size_t dim = pe_spec_dim(pe_plan_spec(plan));
        for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
            static double got[N(at) * 200];
            pe_table(plan, &positions, dtype, got, dim);
            for (size_t i = 0; i < N(at) * dim; i++) {
                uint64_t element = (uint64_t)at[i / dim] * dim + i % dim;
                double wanted = ref_learned(cases[c].seed, element, cases[c].std, dtype);
                cr_assert(pe_load(dtype, got, i) == wanted, "%s in %s, element %zu: %a, wanted %a",
                          cases[c].text, pe_dtype_name(dtype), i, pe_load(dtype, got, i), wanted);
            }
        }
        pe_plan_free(plan);
    }
}

Test(learned, has_posted_rows)
{
    static const double table[] = {1, 2, 3, 4, 5, 0.1};
    static const double at[] = {1, 0};
    struct pe_spec spec;
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse("learned:shift=1", &spec, &faults));
    spec.table = table;
    spec.table_rows = 3;
    spec.table_cols = 2;
    cr_assert(pe_spec_finish(&spec, &faults));
    struct pe_positions positions = positions_of(at, 2);
    struct pe_plan *plan;
    cr_assert_eq(pe_plan_new(&spec, &positions, &plan), PE_OK);
    float got[4];
    pe_table(plan, &positions, PE_F32, got, 2);
    cr_assert(got[0] == 5 && got[1] == 0.1f && got[2] == 3 && got[3] == 4);
    pe_plan_free(plan);
    pe_spec_release(&spec);
}

/* As in OPT: the first token's row is number 2, and a padded slot's 1. */
Test(learned, reserves_its_first_rows)
{
    static const double at[] = {0, 1, -1};
    struct pe_positions positions = positions_of(at, 3);
    double *plain = rows_of("learned:dim=4,rows=8", 8);
    struct pe_plan *plan =
        plan_from("learned:dim=4,rows=8,shift=2,reserved=2,padding_idx=1", &positions);
    double got[12];
    pe_table(plan, &positions, PE_F64, got, 4);
    for (size_t j = 0; j < 4; j++) {
        cr_expect_eq(got[j], plain[2 * 4 + j]);
        cr_expect_eq(got[4 + j], plain[3 * 4 + j]);
        cr_expect_eq(got[8 + j], 0, "padding: %g", got[8 + j]);
    }
    pe_plan_free(plan);
    free(plain);
}

Test(learned, refuses_rows_that_no_token_has)
{
    static const struct {
        const char *text;
        double position;
        const char *detail;
    } cases[] = {
        {"learned:rows=8,shift=2,reserved=2", 0, ""},
        {"learned:rows=8,shift=2,reserved=2", -1,
         "position 1 is a reserved row: the table has "
         "the positions 2 to 7"},
        {"learned:rows=8,shift=2,reserved=2", 6,
         "no value at position 8: the table has the "
         "positions 2 to 7"},
        {"learned:rows=8,shift=2", -1, ""},
        {"learned:rows=8,shift=2,reserved=2,padding_idx=1", -1, ""},
        {"learned:rows=8,shift=2,reserved=2,padding_idx=1", -2, "position 0 is a reserved row"},
        {"learned:rows=8,reserved=8", 0, "reserved must be less than rows (8), got 8"},
        {"learned:rows=8,padding_idx=9", 0, "padding_idx must be less than rows (8), got 9"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        const char *fault = fault_of(cases[i].text, cases[i].position);
        cr_expect(strstr(fault, cases[i].detail) && !*fault == !*cases[i].detail, "%s: %s",
                  cases[i].text, fault);
    }
}
