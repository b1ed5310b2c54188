// SPDX-License-Identifier: Apache-2.0
/* test_selftest.c: the golden numbers come out under every instruction set that runs here. */
#include <criterion/criterion.h>

#include "posenc.h"
#include "selftest.h"

Test(selftest, all_right_with_every_kernel)
{
    static const char *const names[] = {"scalar", "base", "avx2", "avx512"};
    size_t tried = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *wrong;
        if (!pe_isa_select(names[i]))
            continue;
        cr_expect_eq(selftest_run(&wrong), SELFTEST_N, "%s: %s is wrong", names[i], wrong);
        cr_expect_null(wrong);
        tried++;
    }
    cr_expect_geq(tried, 2);
}
