// SPDX-License-Identifier: Apache-2.0
/*
 * fence.h: how much memory jansson may take for one document. A thread that is between fence_begin
 * and fence_end counts what jansson allocates and refuses what is over the budget; other threads,
 * and frees at any other time, are not concerned.
 */
#ifndef JSON_FENCE_H
#define JSON_FENCE_H

#include <stddef.h>

enum fence_result { FENCE_HELD, FENCE_OVER_BUDGET, FENCE_NO_MEMORY };

void fence_setup(void); /* once, before threads: becomes jansson's allocator, seeds its hashes */
void fence_begin(size_t bytes_max);
enum fence_result fence_end(void); /* whether an allocation was refused, and why */

#endif
