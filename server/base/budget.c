// SPDX-License-Identifier: Apache-2.0
/* budget.c: see budget.h. The counter guards no other memory, so relaxed order does. */
#include "budget.h"

#include "metrics.h"

bool budget_take(struct budget *budget, size_t bytes)
{
    size_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);

    do {
        if (used > budget->max || bytes > budget->max - used)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&budget->used, &used, used + bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    metric_add(METRIC_request_memory, (int64_t)bytes);
    return true;
}

void budget_take_anyway(struct budget *budget, size_t bytes)
{
    atomic_fetch_add_explicit(&budget->used, bytes, memory_order_relaxed);
    metric_add(METRIC_request_memory, (int64_t)bytes);
}

void budget_give(struct budget *budget, size_t bytes)
{
    atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
    metric_add(METRIC_request_memory, -(int64_t)bytes);
}
