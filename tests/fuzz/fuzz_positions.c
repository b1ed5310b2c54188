// SPDX-License-Identifier: Apache-2.0
/* fuzz_positions.c: any text as positions; what is printed of them reads back as the same. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "posenc.h"

#define MAX 2048

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static double at[MAX], again[MAX];
    struct pe_faults faults = {.n = 0};
    size_t n, again_n;
    char *text = strndup((const char *)data, size);
    bool ok = pe_positions_parse(text, "positions", at, MAX, &n, &faults);
    assert(ok == (faults.n == 0) && (!ok || (n > 0 && n <= PE_POSITIONS_N_MAX)));
    if (ok && n <= MAX) {
        for (size_t i = 0; i < n; i++)
            assert(fabs(at[i]) <= PE_POSITION_MAX && (at[i] != 0 || !signbit(at[i])));
        size_t len = pe_positions_print(at, n, NULL, 0);
        char *printed = malloc(len + 1);
        assert(printed && pe_positions_print(at, n, printed, len + 1) == len);
        assert(strlen(printed) == len);
        assert(pe_positions_parse(printed, "positions", again, MAX, &again_n, &faults));
        assert(again_n == n && memcmp(at, again, n * sizeof *at) == 0);
        free(printed);
    }
    free(text);
    return 0;
}
