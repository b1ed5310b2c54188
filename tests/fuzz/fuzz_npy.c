// SPDX-License-Identifier: Apache-2.0
/* fuzz_npy.c: any bytes as a .npy file; what is read and written again reads as the same. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_same_again(const struct tensor_view *view)
{
    struct tensor_view again;
    struct err err = {.n = 0};
    char header[NPY_HEADER_OUT_MAX];
    size_t before = npy_header(view->dtype, view->rank, view->shape, header);
    char *file = malloc(before + view->bytes);
    memcpy(file, header, before);
    void *elements = malloc(view->bytes + 1);
    tensor_view_unpack(view, elements);
    memcpy(file + before, elements, view->bytes);
    const struct tensor_source source = {file, before + view->bytes, ""};
    assert(before % 64 == 0 && npy_read(&source, true, &again, &err));
    assert(again.dtype == view->dtype && again.rank == view->rank && again.bytes == view->bytes);
    assert(memcmp(again.shape, view->shape, sizeof view->shape) == 0);
    assert(!again.fortran && !again.big_endian && again.data == file + before);
    free(elements);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tensor_source file = {data, size, "/x"};
    struct tensor_view view;
    struct err err = {.n = 0}, none = {.n = 0};
    bool ok = npy_read(&file, true, &view, &err);
    assert(ok == (err.n == 0));
    if (ok)
        expect_same_again(&view);
    assert(!npy_read(&file, false, &view, &none) || (ok && view.dtype != PE_BF16));
    return 0;
}
