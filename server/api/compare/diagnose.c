// SPDX-License-Identifier: Apache-2.0
/*
 * diagnose.c: which mistake explains a difference: all that is known is tried, one thing at a time,
 * and what leaves the least is kept. Of two that leave as much the more specific one was tried
 * first.
 */
#include <math.h>
#include <string.h>

#include "compare.h"

#define NEAR 0.25 /* a suspect that explains nothing must leave at most this share of the rms */

void comparing_advise(struct comparing *own, const char *sentence)
{
    if (own->advice_n < ADVICE_MAX)
        own->advice[own->advice_n++] = sentence;
}

static bool comes_nearer(const struct suspect *a, const struct suspect *b)
{
    if (a->explains != b->explains)
        return a->explains;
    return a->rms != b->rms ? a->rms < b->rms : a->order < b->order;
}

static void insert(struct comparing *own, const struct suspect *suspect)
{
    size_t i = own->suspects_n;
    while (i > 0 && comes_nearer(suspect, &own->suspects[i - 1]))
        i--;
    if (i == SUSPECTS_MAX)
        return;
    own->suspects_n += own->suspects_n < SUSPECTS_MAX;
    for (size_t k = own->suspects_n - 1; k > i; k--)
        own->suspects[k] = own->suspects[k - 1];
    own->suspects[i] = *suspect;
}

/* How much of the difference a suspect may leave; where that has no size nothing comes near. */
static double limit_of(const struct comparing *own)
{
    return own->shapes_agree && !isnan(own->result.rms) ? NEAR * own->result.rms : -1;
}

void suspect_take(struct comparing *own, const struct suspect *suspect, const struct tensor *made)
{
    const struct tensor *actual = &own->actual;
    struct suspect taken = *suspect;
    struct pe_comparison result;
    taken.order = own->tried++;
    if (made->rank != actual->rank || made->dtype == PE_I64 ||
        memcmp(made->shape, actual->shape, made->rank * sizeof *made->shape) != 0)
        return;
    pe_comparison_begin(&result, actual->dtype, made->dtype, &own->tolerance);
    pe_comparison_add(&result, actual->data, made->data, actual->count);
    pe_comparison_end(&result);
    taken.explains = result.mismatched == 0;
    taken.max_abs = result.max_abs.value;
    taken.rms = isnan(result.rms) ? INFINITY : result.rms;
    if (taken.explains ||
        (result.nonfinite_actual == result.nonfinite_expected && taken.rms <= limit_of(own)))
        insert(own, &taken);
}

/* Beside what explains the numbers all else is a worse account of them. */
static void drop_others(struct comparing *own)
{
    size_t kept = 0;
    while (kept < own->suspects_n && own->suspects[kept].explains)
        kept++;
    if (kept > 0)
        own->suspects_n = kept;
}

static void advise(struct comparing *own)
{
    if (own->suspects_n > 0 && own->suspects[0].explains)
        return;
    if (!own->has_recipe)
        comparing_advise(own, "post expected as {\"spec\": .., \"positions\": .., \"x\": ..} in "
                              "place of its numbers: then more mistakes can be tried");
    else
        comparing_advise(own, "no known mistake alone explains the numbers: compare one token at "
                              "position 1, then at 100, where fewer things can go wrong");
}

void compare_diagnose(struct comparing *own)
{
    if (own->actual.count == 0 || own->actual.count > DIAGNOSED_MAX) {
        if (own->actual.count > 0)
            comparing_advise(own, "tensors of up to 1048576 elements are diagnosed: send a part");
        return;
    }
    if (own->shapes_agree && own->result.mismatched == 0) {
        comparing_advise(own, "the numbers agree, the dtypes do not: send both in the same, or "
                              "leave strict out");
        return;
    }
    if (own->has_recipe)
        mistakes_try(own);
    guesses_try(own);
    drop_others(own);
    advise(own);
}
