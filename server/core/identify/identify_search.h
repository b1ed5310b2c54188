// SPDX-License-Identifier: Apache-2.0
/*
 * identify_search.h: the search for an encoding, as its parts share it. Pairs of channels
 * (phases.h) give lines of angles (turning.h); drafts are specs that might have made them, most of
 * them from a fit of their speeds (spectrum.h). A draft whose frequencies agree is kept, and in the
 * end applied to x.
 */
#ifndef PE_CORE_IDENTIFY_SEARCH_H
#define PE_CORE_IDENTIFY_SEARCH_H

#include "phases.h"
#include "turning.h"

/* Memory that is dealt out piece by piece; with at == NULL it is only counted. */
struct pe__memory {
    char *at;
    size_t used;
};

static inline void *pe__take(struct pe__memory *memory, size_t n, size_t size)
{
    const size_t alignment = 64;
    void *piece = memory->at ? memory->at + memory->used : NULL;
    memory->used += (n * size + alignment - 1) / alignment * alignment;
    return piece;
}

/* What is tried of frequencies, one after the other as long as nothing explains y: powers of a base
 * and what a factor makes of them; blends of two such series; numbers of any kind. */
enum pe__rules { PE__RULES_PLAIN, PE__RULES_BLENDS, PE__RULES_ANY };

struct pe__search {
    struct pe_identify *job;
    struct pe__given given;
    double *place[PE_AXES_MAX];   /* what given.at points to */
    uint32_t *order[PE_AXES_MAX]; /* rows along each axis, those without a position left out */
    size_t order_n;
    double reach;   /* the largest |position| */
    double unit;    /* half a unit in the last place of y, relative */
    double library; /* how far off libraries are, for each radian and besides */
    double fixed;
    bool rounds_much; /* to 16 bits: more fits, and less of it is told apart */
    size_t tried_max;
    struct pe__noise noise;
    double *vector;  /* two vectors */
    double *added;   /* [rows][dim]: y less x, the mean of all vectors of a row */
    double *vectors; /* [rows]: how many these are; 0 where there is no position */
    double padding;  /* the only place where nothing is added; NaN: none */
    void *made;      /* x encoded, in y's dtype */
    void *apply;     /* scratch of pe_apply */
    double *memory;  /* of the phases */
    struct pe__pairing pairing;
    struct pe__phases phases;
    double gain, gain_error;   /* what lengths are multiplied by */
    double origin_error;       /* how far off the places may be where lines begin */
    struct pe__turning *line;  /* [pairs], from the origin of the hypothesis at hand */
    struct pe__turning *free;  /* [pairs], without one */
    struct pe__turning *along; /* [axes][pairs], the same along each axis */
    unsigned char *axis;       /* [pairs]: the axis that a pair turns with, */
    unsigned char *axes;       /* and bits of all that explain it; all of them where none does */
    double *x, *v, *s, *z;     /* [pairs] of fits */
    uint32_t (*column)[2];     /* [pairs]: where a table has their cosines and sines */
    double fastest;            /* the largest |speed| of the spec whose pairs fitted last */
    size_t probe;              /* the pair that tells most */
    bool by_angles;            /* full turns are lost: angles are compared, not speeds */
    enum pe__rules rules;
    enum pe_twist twist;
    bool stopped;
    size_t kept; /* candidates so far */
    double cut;  /* the least cost of those that could not be tried or kept */
};

/* How far off numbers are that have this dtype. */
void pe__search_limit(struct pe__search *search, enum pe_dtype dtype);

/* ---- Drafts ------------------------------------------------------------------------------- */

#define PE__DRAFT_MAX 20 /* settings */

/* A spec to be: a later setting of a name takes the place of an earlier one. */
struct pe__draft {
    const struct pe_kind *kind;
    struct pe_setting at[PE__DRAFT_MAX];
    size_t n;
    const double *table; /* a learned one; NULL: none */
    size_t table_rows, table_cols;
};

void pe__draft_number(struct pe__draft *draft, const char *name, double number);
void pe__draft_text(struct pe__draft *draft, const char *name, const char *text);
void pe__draft_list(struct pe__draft *draft, const char *name, const double *list, size_t n);
/* The spec with what is known in place of its own settings. False if there is none, or it differs
 * from a default where that may not be; else it is released by the caller. */
bool pe__draft_finish(const struct pe__search *search, const struct pe__draft *draft,
                      struct pe_spec *spec);
/* Whether two specs have the same kind and parameters. */
bool pe__same_parameters(const struct pe_spec *a, const struct pe_spec *b);
/* Whether a parameter is known. */
bool pe__search_knows(const struct pe__search *search, const char *name);
/* Whether its speeds are those of the lines; the pair `probe` is looked at first. */
bool pe__search_fits(struct pe__search *search, const struct pe_spec *spec);
/* Whether a pair stands at every place where this speed has turned it to. */
bool pe__search_turned_by(const struct pe__search *search, size_t pair, double speed,
                          double origin);
/* How many of the first pairs stand at every place where their speeds have turned them to. */
size_t pe__search_head(const struct pe__search *search, const struct pe_spec *spec);
/* Keeps the spec if they are, else releases it. Whether they are. */
bool pe__search_offer(struct pe__search *search, struct pe_spec *spec);

/* Candidates kept since some number of them (`kept`): whether any is open; that they are, or their
 * axes. */
bool pe__search_is_open(const struct pe__search *search, size_t since);
void pe__search_open(struct pe__search *search, size_t since, bool axes);

/* What a spec that adds without frequencies adds at a position to channels [first, first + n).
 * False if it has no value there. */
bool pe__added_value(const struct pe_spec *spec, double position, size_t first, size_t n,
                     double *out);

/* Radians per position of a pair, with the sign of its direction, and the place where its angle is
 * 0. */
double pe__speed_of(const struct pe_spec *spec, size_t pair);
double pe__origin_of(const struct pe_spec *spec);

/* ---- Hypotheses --------------------------------------------------------------------------- */

/* Drafts by the speeds of the lines: `draft` says all but base, scaling and attention. */
void pe__spectrum_propose(struct pe__search *search, const struct pe__draft *draft);

/* The lines of all pairs along every axis, and what lengths are multiplied by. */
void pe__search_free_lines(struct pe__search *search);
/* Those along the axes that a spec deals the pairs out to. False if another axis must be meant, or
 * its pairs are not those of the search. */
bool pe__search_take_axes(struct pe__search *search, const struct pe_spec *spec);
/* Drafts by these lines, from wherever they may begin. */
void pe__search_propose(struct pe__search *search, const struct pe__draft *draft);
/* All ways in which pairs may be dealt out to several axes. */
void pe__search_deal(struct pe__search *search, const struct pe__draft *draft);
/* Places where they may all begin, 0 first; how many, and whether there are more. */
#define PE__ORIGINS_MAX 12
size_t pe__search_origins(struct pe__search *search, double out[PE__ORIGINS_MAX], bool *more);
/* The lines from such a place on. */
void pe__search_lines(struct pe__search *search, double origin);

/* Places that are functions of the positions; NULL: they are these. */
typedef double pe__place_fn(const void *context, const struct pe_positions *list, size_t token,
                            size_t axis);
void pe__search_places(struct pe__search *search, pe__place_fn *place, const void *context);

/* All ways of pairing channels, with frequencies of these rules. */
enum pe_status pe__search_pairs(struct pe__search *search, enum pe__rules rules);

/* Whether y is x; x turned pair by pair, by frequencies of a rule, by such that are rounded on the
 * way, by any; and with lengths multiplied by powers of the position; x with something added:
 * drafts of all that may be. */
enum pe_status pe__search_equal(struct pe__search *search);
enum pe_status pe__search_turned(struct pe__search *search);
enum pe_status pe__search_rounded(struct pe__search *search);
enum pe_status pe__search_turned_anyhow(struct pe__search *search);
enum pe_status pe__search_faded(struct pe__search *search);
enum pe_status pe__search_added(struct pe__search *search);

/* ---- Verdict ------------------------------------------------------------------------------ */

#define PE__APPLY_BYTES ((size_t)1 << 21) /* scratch of pe_apply */

/* Applies what was kept since the last time, while the phases are those of its pairs. */
enum pe_status pe__search_judge(struct pe__search *search);
/* One of them, by the phases and limits at hand. */
enum pe_status pe__search_judge_one(struct pe__search *search, struct pe_candidate *candidate);
/* Sets `explains` of a candidate that comes to y to the bit. */
enum pe_status pe__search_try_bits(struct pe__search *search, struct pe_candidate *candidate);
/* Whether something that was judged does. */
bool pe__search_is_explained(const struct pe__search *search);
/* Sorts what was judged, the best first, and says how sure it is. */
void pe__search_conclude(struct pe__search *search);
/* Whether one of the best comes to y to the bit if it is rounded on the way as libraries do. */
enum pe_status pe__search_name_stages(struct pe__search *search);

#endif
