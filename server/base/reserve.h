// SPDX-License-Identifier: Apache-2.0
/*
 * reserve.h: memory for libraries that end the process when an allocation fails. It is malloc's as
 * long as there is some; then it comes from a reserve that was put aside at the start. GMP is such
 * a library (and through it MPFR): the functions have the types of its mp_set_memory_functions,
 * where the caller knows the size of a block. Any thread.
 *
 * One reserve per process, since those functions have no context.
 */
#ifndef BASE_RESERVE_H
#define BASE_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

/* Puts `bytes` aside; before threads. False without memory. A second call changes nothing. */
bool reserve_open(size_t bytes);

/* Never NULL: the process ends when the reserve is used up as well. */
void *reserve_malloc(size_t size);
void *reserve_realloc(void *block, size_t old_size, size_t size);
void reserve_free(void *block, size_t size);

/* Straight from the reserve; NULL when it has no such piece. Freed by reserve_free. */
void *reserve_take(size_t size);

#endif
