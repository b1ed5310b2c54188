// SPDX-License-Identifier: Apache-2.0
/*
 * nearest.h: collects candidates for what a misspelt name was meant to be. Near enough are at most
 * a third of its letters, and never more than three edits; and what it abbreviates by no more than
 * half.
 */
#ifndef PE_CORE_NEAREST_H
#define PE_CORE_NEAREST_H

#include "span.h"

struct pe__nearest {
    struct pe__span name;
    struct pe__span best; /* text NULL while there is none */
    size_t distance;
};

void pe__nearest_init(struct pe__nearest *nearest, struct pe__span name);
/* Of equally near ones the first offered stays. */
void pe__nearest_offer(struct pe__nearest *nearest, struct pe__span candidate);
/* Offers every piece of a list; NULL offers nothing. */
void pe__nearest_offer_list(struct pe__nearest *nearest, const char *list, char separator);

#endif
