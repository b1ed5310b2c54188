// SPDX-License-Identifier: Apache-2.0
/* fuzz_number.c: any text as a number of every dtype against MPFR; printed, it reads as the same.
 */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "../core/text_reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_round_trip(enum pe_dtype dtype, const void *value)
{
    char text[PE_TEXT_MAX];
    int64_t again = 0;
    size_t len = pe_text_print(dtype, value, 0, text);
    assert(len > 0 && len <= 25 && pe_text_read(text, len, dtype, &again, 0));
    assert(memcmp(&again, value, pe_dtype_size(dtype)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);
    size_t len = strlen(text);
    bool decided = len - strcspn(text, "eE") < 18; /* MPFR goes wrong past a long exponent */
    for (enum pe_dtype dtype = 0; dtype < PE_DTYPES_N; dtype++) {
        uint64_t value = 0;
        bool ok = pe_text_read(text, len, dtype, &value, 0);
        double number = pe_load(dtype, &value, 0);
        if (decided && dtype != PE_I64 && !isnan(number))
            assert(number == read_by_mpfr(text, dtype) && ok == (isfinite(number) != 0));
        if (ok)
            expect_round_trip(dtype, &value);
        if (size >= sizeof value)
            memcpy(&value, data, sizeof value);
        if (size >= sizeof value && isfinite(pe_load(dtype, &value, 0)))
            expect_round_trip(dtype, &value);
    }
    free(text);
    return 0;
}
