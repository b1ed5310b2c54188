// SPDX-License-Identifier: Apache-2.0
/*
 * fence.c: an allocator for jansson with a budget per thread. Sizes are those that the C library
 * really set aside, so that a tree of very many small nodes is not taken for a small one.
 */
#include "fence.h"

#include <jansson.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static _Thread_local struct {
    bool on;
    size_t bytes, bytes_max;
    enum fence_result result;
} fence;

/* The C library may set aside more than was asked for: that is what must fit the budget. */
static void *fenced_malloc(size_t size)
{
    size_t left = fence.on ? fence.bytes_max - fence.bytes : SIZE_MAX;
    void *at = size <= left ? malloc(size) : NULL;
    size_t usable = at ? malloc_usable_size(at) : 0;
    if (usable > left) {
        free(at);
        at = NULL;
    }
    if (!at) {
        fence.result = size <= left && usable <= left ? FENCE_NO_MEMORY : FENCE_OVER_BUDGET;
        return NULL;
    }
    if (fence.on)
        fence.bytes += usable;
    return at;
}

/* What is freed inside a fence was allocated inside it. */
static void fenced_free(void *at)
{
    if (fence.on && at)
        fence.bytes -= malloc_usable_size(at);
    free(at);
}

void fence_setup(void)
{
    json_set_alloc_funcs(fenced_malloc, fenced_free);
    json_object_seed(0); /* from the system's random numbers */
}

void fence_begin(size_t bytes_max)
{
    fence.on = true;
    fence.bytes = 0;
    fence.bytes_max = bytes_max;
    fence.result = FENCE_HELD;
}

enum fence_result fence_end(void)
{
    fence.on = false;
    return fence.result;
}
