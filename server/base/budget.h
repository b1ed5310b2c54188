// SPDX-License-Identifier: Apache-2.0
/*
 * budget.h: memory that all requests share: who takes bytes says so, and is refused past the
 * maximum. What is taken shows in the metric request_memory. Any thread.
 */
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct budget {
    atomic_size_t used; /* bytes; may pass `max` by what was taken without asking */
    size_t max;
};

/* False past the maximum; nothing is taken then. */
bool budget_take(struct budget *budget, size_t bytes);
/* For small things that must not fail, and for what exists already. */
void budget_take_anyway(struct budget *budget, size_t bytes);
void budget_give(struct budget *budget, size_t bytes);

#endif
