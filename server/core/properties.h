// SPDX-License-Identifier: Apache-2.0
/*
 * properties.h: what properties.c (the rows), properties_measure.c and properties_scores.c (what
 * they measure), properties_codes.c (codes of positions) and properties_fit.c (how these depend on
 * each other) share.
 */
#ifndef PE_CORE_PROPERTIES_H
#define PE_CORE_PROPERTIES_H

#include "kind.h"

/* Codes of positions, one behind the other. */
struct pe__codes_of {
    size_t n, width;
    const double *at;  /* [n] */
    double *value;     /* [n, width] */
    const bool *valid; /* [n]; NULL: all */
};

/* How codes are made. */
struct pe__coding {
    const struct pe_plan *plan;
    double last;         /* of kinds that count pixels: the count that ends each axis */
    const double *q, *k; /* of biases that are made of them */
};

/* Measuring. */
struct pe__measuring {
    struct pe_properties *job;
    struct pe__coding coding;
    struct pe__codes_of codes; /* of the positions that have one */
    double *at;                /* these */
    bool failed;               /* without memory */
};

void pe__judge(struct pe_property_found *found, bool holds);
void pe__without_meaning(struct pe_property_found *found, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void pe__set(struct pe_property_found *found, size_t i, double number)
{
    found->number[i] = number;
}

#define MEASURE(name)                                                                              \
    void pe__measure_##name(struct pe__measuring *m, struct pe_property_found *found)
MEASURE(unique);
MEASURE(bounded);
MEASURE(length_independent);
MEASURE(linear_shift);
MEASURE(extrapolates);
MEASURE(deterministic);
MEASURE(dimensions);
MEASURE(low_precision);
MEASURE(decay);
MEASURE(relative);
MEASURE(keeps_norm);
#undef MEASURE

size_t pe__code_width(const struct pe_spec *spec);
/* Whether a position has one. */
bool pe__has_code(const struct pe__coding *coding, double position);
/* Makes codes->value for positions that have one, in a dtype. False without memory. */
bool pe__codes_fill(const struct pe__coding *coding, enum pe_dtype dtype,
                    const struct pe__codes_of *codes);

/* Two codes and how far they are apart. */
struct pe__distance {
    double length;
    size_t first, second;
};
struct pe__distance pe__smallest_distance(const struct pe__codes_of *codes);
/* What is left of `to` after the best linear map from `from`, row by row: the ratio of Euclidean
 * lengths. NaN: not more rows than channels, or no memory (then *failed). */
double pe__linear_residual(const struct pe__codes_of *from, const struct pe__codes_of *to,
                           bool *failed);
/* a.b, of rows in f64. */
double pe__codes_dot(const double *a, const double *b, size_t n);
/* The slope of the line that fits value over at best. */
double pe__slope(const double *at, const double *value, size_t n);

#endif
