// SPDX-License-Identifier: Apache-2.0
/*
 * test_kind_pope.c: frequencies and tables of the polar kind by their definition; deltas are
 * checked, and are of no table.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "rows_of.h"

#define N(array) (sizeof(array) / sizeof *(array))

/* base^(-j/dim), as many as channels. */
Test(pope, has_a_frequency_for_every_channel)
{
    static const double wanted[] = {1, 0.046415888336127789, 0.0021544346900318837};
    static const double zero = 0;
    struct pe_positions positions = positions_of(&zero, 1);
    struct pe_plan *plan = plan_from("pope:dim=3", &positions);
    double inv_freq[3];
    cr_expect_eq(pe_spec_pairs(pe_plan_spec(plan)), 3);
    cr_expect_eq(pe_spec_width(pe_plan_spec(plan)), 6);
    pe_frequencies(plan, &(struct pe_frequencies){.context = 1, .inv_freq = inv_freq});
    for (size_t j = 0; j < 3; j++)
        cr_expect_eq(inv_freq[j], wanted[j], "%zu: %.17g", j, inv_freq[j]);
    pe_plan_free(plan);
}

Test(pope, tabulates_all_cosines_before_all_sines)
{
    static const char *const texts[] = {"pope:dim=2", "pope:dim=2,deltas=-1+-2"};
    static const double at[] = {0, 2};
    static const double wanted[] = {1,
                                    1,
                                    0,
                                    0,
                                    -0.41614683654714239,
                                    0.99980000666657778,
                                    0.90929742682568170,
                                    0.019998666693333079};
    struct pe_positions positions = positions_of(at, N(at));
    for (size_t i = 0; i < N(texts); i++) {
        struct pe_plan *plan = plan_from(texts[i], &positions);
        double table[N(wanted)], c[4], s[4];
        pe_table(plan, &positions, PE_F64, table, 4);
        pe_cos_sin(plan, &positions, PE_F64, c, s);
        for (size_t j = 0; j < N(wanted); j++) {
            cr_expect_eq(table[j], wanted[j], "%s, %zu: %.17g", texts[i], j, table[j]);
            cr_expect_eq((j % 4 < 2 ? c : s)[j / 4 * 2 + j % 2], wanted[j]);
        }
        pe_plan_free(plan);
    }
}

Test(pope, refuses)
{
    cr_expect(strstr(fault_of("pope:dim=3,deltas=0+-1", 0), "each of the 3 channels, got 2"));
    cr_expect(strstr(fault_of("pope:dim=1,deltas=0.5", 0), "at most 0, got 0.5"));
    cr_expect(strstr(fault_of("pope:dim=1,deltas=-6.2832", 0), "at least -6.28"));
    cr_expect_str_empty(fault_of("pope:dim=1,deltas=-6.283185307179586", 1e6));
}
