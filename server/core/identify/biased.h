// SPDX-License-Identifier: Apache-2.0
/*
 * biased.h: the search for the bias that score matrices were given, as its parts share it. What y
 * has more than x is known within bounds, for each head and pair of a query and a key; pairs of one
 * offset form a group, whose level is what all of them may have in common. Steps propose specs that
 * agree with the bounds; each is computed by the core's own functions and held against all pairs.
 */
#ifndef PE_CORE_BIASED_H
#define PE_CORE_BIASED_H

#include <math.h>

#include "identify_search.h"

/* What there is to say of a spec: what a rule gives, numbers of its own for each head, a table. */
enum { PE__COST_RULE = 1, PE__COST_NUMBERS = 12, PE__COST_TABLE = 12 };

#define PE__BIASED_TABLES ((size_t)1 << 19) /* numbers of all tables that are recovered */

#define PE__SUMS_UNIT  1e-6    /* how far off the terms of a sum are, whatever y is rounded to */
#define PE__SHORT_UNIT 0x1p-20 /* y of a larger unit is of 16 bits */

struct pe__bounds {
    double middle, width; /* middle NaN: nothing is known */
};

struct pe__biased {
    struct pe__search search; /* of it only what drafts read */
    struct pe_biased *scores;
    const double *query, *key; /* positions */
    size_t heads, queries, keys;
    size_t pairs;          /* queries * keys */
    double unit;           /* half a unit in the last place of y */
    double library;        /* how far off libraries are, in parts of the bias */
    struct pe__bounds *at; /* [heads][pairs] */
    uint32_t *order;       /* pairs by their offset */
    uint32_t *group;       /* [pairs] */
    uint32_t *example;     /* [groups]: one of its pairs */
    double *offset;        /* [groups]: key - query, rising */
    size_t groups;
    struct pe__bounds *level; /* [heads][groups]; only where the distance decides */
    double *made;             /* [heads][groups] or [heads][keys], of the spec that is judged */
    double *tables;           /* PE__BIASED_TABLES */
    size_t tables_n;
    enum pe_status status;
};

/* ---- Reading (biased_read.c) ---------------------------------------------------------------- */

void pe__biased_read(struct pe__biased *biased);
/* The bounds of both; false if they cannot be of one number that libraries compute alike. */
bool pe__bounds_meet(const struct pe__biased *biased, struct pe__bounds *bounds,
                     const struct pe__bounds *other);
/* How far off a spec's bias may be that is wanted within the bounds. */
static inline double pe__off(const struct pe__biased *biased, const struct pe__bounds *at)
{
    return (1 - biased->library) * (at->width + biased->library * fabs(at->middle));
}
static inline struct pe__bounds pe__level(const struct pe__biased *biased, size_t head,
                                          size_t group)
{
    return biased->level[head * biased->groups + group];
}

/* ---- Judging (biased_judge.c) --------------------------------------------------------------- */

/* Computes a draft's biases and keeps it. Whether it explains every pair. */
bool pe__biased_offer(struct pe__biased *biased, const struct pe__draft *draft, double cost,
                      bool open);
/* A draft of the kind with as many heads as there are. */
struct pe__draft pe__biased_draft(const struct pe__biased *biased, const char *kind);
/* Whether to go on: there is memory and time. */
bool pe__biased_goes_on(struct pe__biased *biased);
/* Whether a rule explains all, so that nothing with numbers of its own can compete. */
bool pe__biased_is_ruled(const struct pe__biased *biased);
void pe__biased_conclude(struct pe__biased *biased);

/* ---- Tables (biased_tables.c) --------------------------------------------------------------- */

/* Rows [rows][heads] of bounds that grow narrower with every pair that shows one. */
struct pe__shown {
    struct pe__bounds *at;
    size_t rows;
};

/* An empty one; false if there is no room. */
bool pe__shown_new(struct pe__biased *biased, size_t rows, struct pe__shown *out);
/* Offers the draft with that table, or with a seed that draws it. Whether it explains. */
bool pe__shown_offer(struct pe__biased *biased, struct pe__draft *draft,
                     const struct pe__shown *shown, double cost, bool open);

/* ---- Steps ---------------------------------------------------------------------------------- */

void pe__biased_alibi(struct pe__biased *biased);
void pe__biased_kerple(struct pe__biased *biased);
void pe__biased_sandwich(struct pe__biased *biased);
void pe__biased_t5(struct pe__biased *biased);
void pe__biased_swin(struct pe__biased *biased);

#endif
