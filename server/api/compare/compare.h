// SPDX-License-Identifier: Apache-2.0
/*
 * compare.h: what compare.c (POST /v1/compare), diagnose.c (which mistake explains a difference),
 * mistakes.c and guesses.c (those that are known) and report.c (what is said) share.
 */
#ifndef API_COMPARE_H
#define API_COMPARE_H

#include "recipe.h"

#define SUSPECTS_MAX  3
#define ADVICE_MAX    4
#define DIAGNOSED_MAX ((size_t)1 << 20) /* elements of tensors that are diagnosed */

/* Something that may have made `actual` of what is expected, and how near it comes. */
struct suspect {
    const char *says; /* "expected computed with layout=interleaved": what `actual` seems to be */
    const char *spec; /* compact, that it takes; NULL: it is not that of an encoding */
    const char *key, *value; /* of the request, beside the spec; NULL */
    bool explains;           /* all elements are close */
    size_t order;            /* of two that come as near the first is taken */
    double max_abs, rms;
};

struct comparing {
    struct job *job;
    struct tensor actual, expected;
    bool has_recipe;
    struct recipe recipe;
    struct pe_tolerance tolerance;
    bool tolerance_given, diagnose, strict;
    bool shapes_agree, pass;
    struct pe_comparison result; /* if they do */
    struct suspect suspects[SUSPECTS_MAX];
    size_t suspects_n, tried;
    const char *advice[ADVICE_MAX]; /* what to do next */
    size_t advice_n;
};

/* A suspect with the tensor that it makes, of the shape and dtype of what is expected or another
 * one: kept if it is among those that come nearest. */
void suspect_take(struct comparing *own, const struct suspect *suspect, const struct tensor *made);
/* Appends a sentence. */
void comparing_advise(struct comparing *own, const char *sentence);

/* Tries all that is known. */
void compare_diagnose(struct comparing *own);
/* Of what is expected by a recipe: known ways to compute it otherwise. */
void mistakes_try(struct comparing *own);
/* Of any two tensors: what may have become of one on its way. */
void guesses_try(struct comparing *own);

/* The report as the members of the answer, and as text, with the verdict as its first sentence or
 * without; NULL without memory. */
void report_tree(const struct comparing *own, struct tree *root);
const char *report_text(const struct comparing *own, bool with_verdict);
/* In one sentence, without a full stop. */
const char *report_verdict(const struct comparing *own);
/* The sentence that a suspect is. */
const char *suspect_says(const struct comparing *own, const struct suspect *suspect);

#endif
