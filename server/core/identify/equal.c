// SPDX-License-Identifier: Apache-2.0
/*
 * equal.c: whether y is x, so that nothing was done to it.
 */
#include <math.h>

#include "identify_search.h"

static bool is_equal(const struct pe__search *search)
{
    const struct pe_view *x = search->given.x;
    double *from = search->vector, *to = search->vector + x->dim;
    for (size_t batch = 0; batch < x->batches; batch++)
        for (size_t head = 0; head < x->heads; head++)
            for (size_t token = 0; token < x->tokens; token++) {
                pe__vector(x, batch, head, token, from);
                pe__vector(search->given.y, batch, head, token, to);
                for (size_t i = 0; i < x->dim; i++)
                    if (from[i] != to[i] && !(isnan(from[i]) && isnan(to[i])))
                        return false;
            }
    return true;
}

enum pe_status pe__search_equal(struct pe__search *search)
{
    struct pe_identify *job = search->job;
    struct pe__draft draft = {.kind = pe_kind_find("none", 4)};
    struct pe_candidate *found = &job->found[job->found_n];
    struct pe_spec spec;
    pe__draft_number(&draft, "dim", (double)job->x->dim);
    if (!is_equal(search) || !pe__draft_finish(search, &draft, &spec))
        return PE_OK;
    *found = (struct pe_candidate){.spec = spec, .explains = PE_EXPLAINS_BITS};
    job->found_n++;
    return PE_OK;
}
