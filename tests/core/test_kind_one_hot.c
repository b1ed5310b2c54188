// SPDX-License-Identifier: Apache-2.0
/*
 * one_hot: the rows of the identity, and an end.
 */
#include <criterion/criterion.h>

#include "rows_of.h"

Test(one_hot, is_the_identity)
{
    enum { DIM = 200 };
    double *rows = rows_of("one_hot:dim=200", DIM);
    for (size_t i = 0; i < (size_t)DIM * DIM; i++)
        cr_assert_eq(rows[i], i / DIM == i % DIM, "row %zu, channel %zu", i / DIM, i % DIM);
    free(rows);
}

Test(one_hot, has_as_many_positions_as_channels)
{
    static const double bad[] = {-1, 0.5, 8};
    cr_expect_str_empty(fault_of("one_hot:dim=8", 7));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect(strstr(fault_of("one_hot:dim=8", bad[i]), "positions 0 to 7"), "%g", bad[i]);
}
