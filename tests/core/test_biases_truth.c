// SPDX-License-Identifier: Apache-2.0
/*
 * Biases of kinds without a published table of numbers: each against its formula, bit for bit.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "golden_biases.h"
#include "plan_from.h"

#define N(array) (sizeof(array) / sizeof *(array))

Test(biases, are_their_formulas_rounded_once)
{
    for (size_t i = 0; i < N(golden_biases); i++) {
        struct pe_positions query = positions_of(&golden_biases[i].query, 1);
        struct pe_positions key = positions_of(&golden_biases[i].key, 1);
        struct pe_plan *plan = plan_from(golden_biases[i].spec, &query);
        double got, wanted = golden_biases[i].bias;
        pe_bias(plan, &query, &key, golden_biases[i].head, 1, PE_F64, &got);
        cr_expect(got == wanted, "%s, head %zu, %g to %g: %a, wanted %a", golden_biases[i].spec,
                  golden_biases[i].head, query.at[0][0], key.at[0][0], got, wanted);
        cr_expect(got != 0 || !signbit(got), "a bias of 0 has no sign");
        pe_plan_free(plan);
    }
}

/* None of them lies so near a tie that its double would round otherwise. */
Test(biases, are_rounded_once_to_every_format)
{
    for (size_t i = 0; i < N(golden_biases); i++) {
        struct pe_positions query = positions_of(&golden_biases[i].query, 1);
        struct pe_positions key = positions_of(&golden_biases[i].key, 1);
        struct pe_plan *plan = plan_from(golden_biases[i].spec, &query);
        for (enum pe_dtype dtype = PE_F32; dtype <= PE_BF16; dtype++) {
            double element, wanted;
            pe_bias(plan, &query, &key, golden_biases[i].head, 1, dtype, &element);
            pe_store(dtype, &wanted, 0, golden_biases[i].bias);
            cr_expect(pe_load(dtype, &element, 0) == pe_load(dtype, &wanted, 0), "%s in %s",
                      golden_biases[i].spec, pe_dtype_name(dtype));
        }
        pe_plan_free(plan);
    }
}
