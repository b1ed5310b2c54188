// SPDX-License-Identifier: Apache-2.0
/* fuzz_spec.c: any text as a compact spec; what is printed of one reads back as the same. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "posenc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The compact form of what a text says (to be freed), or NULL when it is refused, with a reason. */
static char *canonical(const char *text)
{
    struct pe_spec spec;
    struct pe_faults faults = {.n = 0};
    char *compact = NULL;
    bool read = pe_spec_parse(text, &spec, &faults);
    bool ok = read && pe_spec_finish(&spec, &faults);
    assert(ok == (faults.n == 0));
    if (ok) {
        size_t len = pe_spec_compact(&spec, NULL, 0);
        compact = malloc(len + 1);
        assert(compact && pe_spec_compact(&spec, compact, len + 1) == len &&
               strlen(compact) == len);
    }
    if (read)
        pe_spec_release(&spec);
    return compact;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);
    char *first = canonical(text), *second = first ? canonical(first) : NULL;
    assert(!first || (second && strcmp(first, second) == 0));
    free(text);
    free(first);
    free(second);
    return 0;
}
