// SPDX-License-Identifier: Apache-2.0
/*
 * binary: the order of the bits, signs, and which positions have a value.
 */
#include <criterion/criterion.h>

#include "rows_of.h"

#define N(array) (sizeof(array) / sizeof *(array))

Test(binary, has_its_bits_in_either_order)
{
    static const struct {
        const char *text;
        size_t dim, position;
        double row[6];
    } cases[] = {
        {"binary:dim=4", 4, 3, {1, 1, 0, 0}},
        {"binary:dim=4", 4, 6, {0, 1, 1, 0}},
        {"binary:dim=4", 4, 13, {1, 0, 1, 1}},
        {"binary:dim=4,bit_order=msb", 4, 13, {1, 1, 0, 1}},
        {"binary:dim=4,signed=true", 4, 6, {-1, 1, 1, -1}},
        {"binary:dim=6,bits=4,signed=true", 6, 6, {-1, 1, 1, -1, 0, 0}},
        {"binary:dim=6,bits=4,order=msb", 6, 3, {0, 0, 1, 1, 0, 0}},
    };
    for (size_t i = 0; i < N(cases); i++) {
        double *rows = rows_of(cases[i].text, 16);
        for (size_t j = 0; j < cases[i].dim; j++)
            cr_expect_eq(rows[cases[i].position * cases[i].dim + j], cases[i].row[j],
                         "%s at %zu, channel %zu", cases[i].text, cases[i].position, j);
        free(rows);
    }
}

Test(binary, has_values_for_whole_numbers_of_its_bits)
{
    static const double bad[] = {-1, 0.5, 16};
    cr_expect_str_empty(fault_of("binary:dim=4", 15));
    cr_expect_str_empty(fault_of("binary:dim=65", 0x1p53));
    for (size_t i = 0; i < N(bad); i++)
        cr_expect(strstr(fault_of("binary:dim=4", bad[i]), "0 to 2^4-1"), "%g", bad[i]);
    cr_expect(strstr(fault_of("binary:dim=4,bits=5", 0), "at most dim (4), got 5"));
}
