// SPDX-License-Identifier: Apache-2.0
/* pages.c: see pages.h. */
#include "pages.h"

#include <stdint.h>
#include <sys/mman.h>

void pages_wish_large(void *memory, size_t bytes)
{
    size_t before = -(uintptr_t)memory % PAGES_LARGE;
    size_t room = bytes > before ? (bytes - before) / PAGES_LARGE * PAGES_LARGE : 0;

    if (room > 0)
        madvise((char *)memory + before, room, MADV_HUGEPAGE); /* only a wish */
}
