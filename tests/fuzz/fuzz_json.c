// SPDX-License-Identifier: Apache-2.0
/* fuzz_json.c: any bytes as a request body, and each array in it as a tensor of every dtype. */
#include <stdint.h>
#include <stdlib.h>

#include "doc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_doc_setup();
    struct arena arena;
    struct json_doc doc;
    struct err err = {.n = 0};
    arena_init(&arena, (size_t)1 << 20);
    bool ok = json_doc_read(&doc, (const char *)data, size, &arena, &err);
    for (size_t i = 0; ok && i < doc.arrays_n; i++)
        for (enum pe_dtype dtype = 0; dtype < PE_DTYPES_N && !doc.arrays[i].fault; dtype++) {
            void *out = malloc(doc.arrays[i].count * pe_dtype_size(dtype) + 1);
            json_array_read(&doc.arrays[i], dtype, out, &err);
            free(out);
        }
    json_doc_release(&doc);
    arena_release(&arena);
    return 0;
}
