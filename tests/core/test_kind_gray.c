// SPDX-License-Identifier: Apache-2.0
/*
 * gray: every step changes one channel, and all codes differ.
 */
#include <criterion/criterion.h>

#include "rows_of.h"

Test(gray, changes_one_channel_at_every_step)
{
    enum { DIM = 6, COUNT = 1 << DIM };
    double *rows = rows_of("gray:dim=6", COUNT);
    bool seen[COUNT] = {false};
    for (size_t p = 0; p < COUNT; p++) {
        size_t code = 0, changes = 0;
        for (size_t j = 0; j < DIM; j++) {
            double bit = rows[p * DIM + j];
            cr_assert(bit == 0 || bit == 1);
            code |= (size_t)bit << j;
            changes += p > 0 && bit != rows[(p - 1) * DIM + j];
        }
        cr_expect(p == 0 || changes == 1, "%zu channels change at %zu", changes, p);
        cr_expect_not(seen[code], "code %zu comes twice", code);
        seen[code] = true;
    }
    free(rows);
}

Test(gray, starts_as_printed)
{
    static const double wanted[4][4] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 0, 0}};
    double *rows = rows_of("gray:dim=4", 4);
    double *turned = rows_of("gray:dim=4,bit_order=msb,signed=true", 4);
    for (size_t i = 0; i < 16; i++) {
        cr_expect_eq(rows[i], wanted[i / 4][i % 4], "element %zu", i);
        cr_expect_eq(turned[i], 2 * wanted[i / 4][3 - i % 4] - 1, "element %zu", i);
    }
    free(rows);
    free(turned);
}

Test(gray, has_values_for_whole_numbers_of_its_bits)
{
    cr_expect_str_empty(fault_of("gray:dim=4", 15));
    cr_expect(strstr(fault_of("gray:dim=4", 16), "0 to 2^4-1"));
    cr_expect(strstr(fault_of("gray:dim=4", -1), "0 to 2^4-1"));
}
