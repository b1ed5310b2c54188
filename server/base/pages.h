// SPDX-License-Identifier: Apache-2.0
/*
 * pages.h: large memory in large pages. The first touch of a page costs the kernel the same few
 * microseconds whether it has 4 KiB or 2 MiB (and clearing it), so that writing 10 MB for the first
 * time takes 1 ms instead of 7.
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

#define PAGES_LARGE ((size_t)2 << 20)

/* Wishes for large pages in what of the memory they fit in; none below PAGES_LARGE. */
void pages_wish_large(void *memory, size_t bytes);

#endif
