// SPDX-License-Identifier: Apache-2.0
/* properties.h: what one wishes of an encoding, measured. See posenc.h. */
#ifndef POSENC_PROPERTIES_H
#define POSENC_PROPERTIES_H

#include <stdbool.h>
#include <stddef.h>

#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum pe_wish {
    PE_WISH_UNIQUE,
    PE_WISH_BOUNDED,
    PE_WISH_LENGTH_INDEPENDENT,
    PE_WISH_LINEAR_SHIFT,
    PE_WISH_EXTRAPOLATES,
    PE_WISH_DETERMINISTIC,
    PE_WISH_DECAY,
    PE_WISH_RELATIVE,
    PE_WISH_KEEPS_NORM,
    PE_WISH_DIMENSIONS,
    PE_WISH_LOW_PRECISION,
    PE_WISHES_N
};

#define PE_WISH_NUMBERS_MAX 4

/* What is said of a property, whatever the encoding. */
struct pe_wish_row {
    const char *name;                         /* "linear_shift" */
    const char *means;                        /* what is measured, and when the property holds */
    const char *holds, *fails;                /* a verdict in words */
    const char *numbers[PE_WISH_NUMBERS_MAX]; /* their names; NULL behind the last */
};
const struct pe_wish_row *pe_wish_row(enum pe_wish wish);

enum pe_verdict { PE_FAILS, PE_HOLDS, PE_NO_MEANING };

struct pe_property_found {
    enum pe_verdict verdict;
    double number[PE_WISH_NUMBERS_MAX]; /* NaN: there is none */
    char reason[160];                   /* of PE_NO_MEANING */
};

/* Measures all. Kinds that add or rotate have a code for each position, a row of their table; of
 * kinds with several axes the one of the same position on all of them. The code of bias kinds is
 * the bias of a query there and a key at 0, for one head. Codes are taken in f64, and sums of them
 * in a fixed order. */
struct pe_properties {
    const struct pe_plan *plan;
    const double *at; /* [n], n >= 1: positions; those without a value are left out */
    size_t n;
    double trained;              /* positions below are those that a model was trained on */
    const double *q, *k;         /* [dim]: vectors to encode */
    size_t dim;                  /* of biases, which have none of their own */
    bool (*stop)(void *context); /* asked between properties and rows; true: PE_STOPPED */
    void *stop_context;
    /* outputs */
    struct pe_property_found found[PE_WISHES_N];
    double *decay; /* [n]: mean score of codes that are i steps apart, of that of a code with itself
                      where that is not 0; NaN where there is none */
    size_t measured_n; /* positions that have a value */
};
/* Multiply-adds, roughly. */
size_t pe_properties_work(const struct pe_spec *spec, size_t n);
/* PE_NO_MEMORY, PE_STOPPED; PE_INVALID_VALUE: fewer than two positions have a value. */
enum pe_status pe_properties(struct pe_properties *job);

#ifdef __cplusplus
}
#endif

#endif
