// SPDX-License-Identifier: Apache-2.0
/* identify.h: which encoding makes y of x. See posenc.h. */
#ifndef POSENC_IDENTIFY_H
#define POSENC_IDENTIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "apply.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PE_IDENTIFY_ELEMENTS_MAX ((size_t)1 << 20) /* of x, and of y */
#define PE_IDENTIFY_DIM_MAX      2048              /* channels */
#define PE_IDENTIFY_TRIED_MAX                                                                      \
    20000 /* encodings whose frequencies are compared; an eighth in 16 bits */
#define PE_IDENTIFY_FOUND_MAX 16 /* encodings that are kept, and applied to x */

/* A parameter that is known: text, a list, or else a number. */
struct pe_setting {
    const char *name;
    const char *text;
    const double *list;
    size_t list_n;
    double number;
};

/* How well an encoding explains y. */
enum pe_explains {
    PE_EXPLAINS_NOT,
    PE_EXPLAINS_LIMITS, /* every pair of every vector, as far as libraries are off that compute in
                           y's dtype */
    PE_EXPLAINS_BITS,   /* every element, to the bit */
};

/* What else was done to the vectors. */
enum pe_twist {
    PE_TWIST_NONE,
    PE_TWIST_SWAPPED, /* cosines and sines changed places */
    PE_TWIST_KEY,     /* k, which is divided by what q is multiplied by */
};

struct pe_candidate {
    struct pe_spec spec;     /* finished */
    struct pe_stages stages; /* where numbers are rounded on the way */
    unsigned methods;        /* with stages, to the bit: those of freq_method, 1 << their index */
    enum pe_twist twist;
    enum pe_explains explains;
    double rms;       /* of y less what the encoding makes of x, over all elements */
    double max_abs;   /* the largest of these differences */
    double phase_rms; /* the same of the factors of pairs; negative until it is known */
    double fastest;   /* radians per position of its fastest pair */
    double cost;      /* how much there is to say; of equals the simplest comes first */
    bool open;        /* so may be others like it, with numbers in between */
    bool axes_open;   /* pairs may as well turn with other axes, which say the same here */
    size_t nth;       /* of all that were kept, from 1 on */
};

enum pe_confidence {
    PE_IDENTIFIED_NOT,       /* nothing that was tried explains y */
    PE_IDENTIFIED_AMBIGUOUS, /* several do, which give other numbers elsewhere */
    PE_IDENTIFIED_UNIQUE,
};

struct pe_identify {
    const struct pe_view *x, *y; /* same sizes; dim <= PE_IDENTIFY_DIM_MAX */
    const struct pe_positions *positions;
    size_t positions_n;  /* lists: 1, or as many as batches */
    enum pe_dtype dtype; /* that y was rounded to, whatever its own is */
    const char *kind;    /* the only one to be tried; NULL: any */
    const struct pe_setting *known;
    size_t known_n;
    const char *const *search;   /* parameters that may be other than their defaults, besides the
                                    known   ones; ends with NULL. NULL: all */
    void *work;                  /* pe_identify_work_bytes, 64-byte aligned */
    bool (*stop)(void *context); /* asked now and then; true: PE_STOPPED. NULL: never */
    void *stop_context;
    /* what was found, released by pe_identify_release */
    enum pe_confidence confidence;
    struct pe_candidate found[PE_IDENTIFY_FOUND_MAX]; /* the best first */
    size_t found_n;
    size_t rivals_n; /* of these, from the first on, as good as it; without those that only spell it
                        otherwise */
    size_t tried;
    bool more, axes_open;       /* rivals are `open`, or could not all be kept; are `axes_open` */
    double base_low, base_high; /* where bases of the best kind may lie; 0: not known */
    size_t distinct;            /* different positions */
    bool adds; /* y less x is the same for all vectors of a position, of which there are several */
};

/* ---- Biases of scores ---------------------------------------------------------------------- */

#define PE_IDENTIFY_MASKED (-1e9) /* scores so low, and the lowest of f16, are masked */

enum pe_masked {
    PE_MASKED_NOT,
    PE_MASKED_CAUSAL, /* exactly the keys after their query */
    PE_MASKED_SOME,
};

/* What a bias is made of, as far as matrices tell. */
enum pe_hangs_on {
    PE_HANGS_ON_DISTANCE, /* key - query alone */
    PE_HANGS_ON_PLACES,   /* both positions */
    PE_HANGS_ON_BATCH,    /* something else: q and k */
};

/* A pair of a query and a key beyond the limits, by number: its bias, and what a spec makes. */
struct pe_contradiction {
    size_t head, query, key;
    double bias, made;
};

/* Score matrices before and after, [batches, heads, queries, keys] without gaps. */
struct pe_biased {
    enum pe_dtype x_dtype, y_dtype;
    const void *x, *y; /* x NULL: y is the bias itself */
    size_t batches, heads;
    const struct pe_positions *queries, *keys; /* one axis each; n >= 1 */
    /* what was seen */
    enum pe_masked masked;
    size_t masked_n; /* pairs of a query and a key */
    enum pe_hangs_on hangs_on;
    size_t distances_n;                    /* different ones that are not masked */
    double first, last;                    /* the least and the greatest key - query */
    struct pe_contradiction contradiction; /* the first that the nearest spec meets */
};

size_t pe_identify_bias_work_bytes(const struct pe_biased *scores);
/* Of `job` the members x, y, positions and positions_n are not read; nor are stages. Tables that
 * were recovered are in job->work, NaN where no pair has shown the number. */
enum pe_status pe_identify_bias(struct pe_biased *scores, struct pe_identify *job);

/* ---- Asking -------------------------------------------------------------------------------- */

size_t pe_identify_work_bytes(const struct pe_view *x, size_t positions_n);
enum pe_status pe_identify(struct pe_identify *job);
void pe_identify_release(struct pe_identify *job);
/* Whether two specs give the same numbers at every position where both have any, by whatever
 * parameters. */
bool pe_spec_same_numbers(const struct pe_spec *a, const struct pe_spec *b);

#ifdef __cplusplus
}
#endif

#endif
