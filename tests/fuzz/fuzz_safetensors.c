// SPDX-License-Identifier: Apache-2.0
/* fuzz_safetensors.c: any bytes as a .safetensors file; what is read and written again reads as
 * the same. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_same(const struct safetensors *a, const struct safetensors *b)
{
    assert(a->tensors_n == b->tensors_n && a->metadata_n == b->metadata_n);
    for (size_t i = 0; i < a->tensors_n; i++) {
        const struct tensor_view *v = &a->tensors[i].view, *w = &b->tensors[i].view;
        assert(strcmp(a->tensors[i].name, b->tensors[i].name) == 0);
        assert(v->dtype == w->dtype && v->rank == w->rank && v->bytes == w->bytes);
        assert(memcmp(v->shape, w->shape, v->rank * sizeof *v->shape) == 0);
        assert(memcmp(v->data, w->data, v->bytes) == 0);
    }
    for (size_t i = 0; i < a->metadata_n; i++) {
        assert(strcmp(a->metadata[i].key, b->metadata[i].key) == 0);
        assert(strcmp(a->metadata[i].value, b->metadata[i].value) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct safetensors file, again;
    struct err err = {.n = 0};
    struct buf out;
    arena_init(&arena, (size_t)4 << 20);
    buf_init(&out, (size_t)8 << 20);
    bool ok = safetensors_read(&(struct tensor_source){data, size, ""}, &arena, &file, &err);
    assert(ok == (err.n == 0));
    if (ok) {
        size_t bytes = safetensors_header(&file, &out);
        assert(!out.failed && out.len % 8 == 0 && bytes <= size);
        buf_append(&out, (const char *)data + size - bytes, bytes);
        const struct tensor_source source = {out.data, out.len, ""};
        assert(safetensors_read(&source, &arena, &again, &err));
        expect_same(&file, &again);
    }
    buf_release(&out);
    arena_release(&arena);
    return 0;
}
