// SPDX-License-Identifier: Apache-2.0
/*
 * pages.h: memory for bodies, answers and tensors of any size. What is large lies in large pages,
 * and is used again by the next who needs as much, instead of going back to the system each time:
 * that has to clear memory before it gives it away, and if it is a guest, its host has to find it
 * first. 10 MB in fresh small pages take 7 ms, in fresh large ones 1 to 20, and nothing where
 * others have been before. With all workers busy with such posts the slowest of a hundred small
 * answers took 14 ms on average and now take 7.
 *
 * Up to PAGES_KEPT bytes are used again; what does not fit in there is malloc's. Any thread, no
 * locks.
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

#define PAGES_LARGE ((size_t)2 << 20)
#define PAGES_ALIGN ((size_t)64)
#define PAGES_FROM  (PAGES_LARGE / 2) /* what is large */
#define PAGES_KEPT  (64 * PAGES_LARGE)

/* At least `bytes`, which are not cleared, at a multiple of PAGES_ALIGN; NULL without memory. */
void *pages_alloc(size_t bytes);
/* The same for another size, with the first `used` bytes of what was there before (memory may be
 * NULL, and malloc's: then it is aligned as there). NULL without memory, when nothing has changed.
 */
void *pages_resize(void *memory, size_t used, size_t bytes);
/* The same for bytes that stay for long, and so not in what is kept for use again. */
void *pages_settle(void *memory, size_t bytes);
void pages_free(void *memory); /* malloc's, too; NULL is allowed */
/* Gives back to the system what nobody has used since the last but one of such calls. */
void pages_age(void);

#endif
