// SPDX-License-Identifier: Apache-2.0
/* spec.h: kinds of encodings, and specs: one encoding with all its parameters. See posenc.h. */
#ifndef POSENC_SPEC_H
#define POSENC_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "param.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PE_DIM_MAX   65536 /* widest row */
#define PE_HEADS_MAX 1024  /* bias kinds */

/* Choices of `layout`: channels of pair i are 2i and 2i+1, or i and i+rotary_dim/2. */
#define PE_LAYOUTS "interleaved|gptj half|neox|rotate_half|halves"

enum pe_acts { PE_ACTS_NOT, PE_ADDS, PE_ROTATES, PE_BIASES };

enum pe_property { /* bits: what is known of a kind, for the catalogue */
                   PE_RELATIVE = 1,
                   PE_KEEPS_NORM = 2,
                   PE_LEARNED = 4,
                   PE_UNBOUNDED = 8,  /* has a value at every position, however far */
                   PE_TABULATED = 16, /* cos and sin may come from a table of the caller's */
                   PE_CONTENT = 32,   /* biases are made of q and k too, as wide as dim */
                   PE_CONTEXT = 64,   /* and of the keys between the two */
};

/* What a kind can be tabulated as. */
enum pe_facet {
    PE_FACET_ENCODING,
    PE_FACET_COS,
    PE_FACET_SIN,
    PE_FACET_BOTH, /* cos and sin */
    PE_FACET_BIAS,
    PE_FACET_BUCKET, /* which of the shared biases a query and a key have */
    PE_FACET_SLOPES,
    PE_FACET_INDEX, /* the row of a learned table that they have */
    PE_FACET_INPUT, /* the number that a learned function is given */
    PE_FACETS_N
};

struct pe_reference {
    const char *title;
    int year;
    const char *id; /* "arXiv:2104.09864", or a library and file */
};

/* Who uses a kind. */
struct pe_library {
    const char *name;
    const char *use; /* models or functions, and the keys that theirs differ in */
};

/* What the catalogue says about a kind. */
struct pe_kind {
    const char *name;
    const char *aliases; /* space-separated, or NULL */
    const char *title;
    const char *formula;
    const char *help; /* two or three sentences */
    const char
        *outside; /* what becomes of positions beyond those trained on; one or two sentences */
    enum pe_acts acts;
    unsigned properties; /* enum pe_property */
    unsigned facets;     /* bits 1 << enum pe_facet; of biases, the others have those of `acts` */
    size_t axes;         /* position axes, where the parameters do not say another number */
    bool counts_pixels;  /* its coordinates count valid pixels from 1: the row and the column, and
                            where it has four axes also the last count in that column and row */
    const struct pe_param *params;
    size_t params_n;
    /* Learned tables: the parameters that a posted one gives; NULL: what others say. */
    const char *table_rows, *table_cols;
    const struct pe_library *libraries;    /* ends with a NULL name */
    const struct pe_reference *references; /* ends with a NULL title */
    const char *const *examples;           /* query strings, ends with NULL */
    const struct pe__kind_ops *ops;        /* private */
};

size_t pe_kinds_n(void);
const struct pe_kind *pe_kind_at(size_t i);
const struct pe_kind *pe_kind_find(const char *name, size_t len); /* by name or alias, or NULL */
/* The same, but an unknown name is a fault that lists the known ones and the nearest. */
const struct pe_kind *pe_kind_require(const char *name, size_t len, struct pe_faults *faults);

bool pe_kind_has_table(const struct pe_kind *kind);  /* learned, that a caller may post */
const char *pe_facet_name(enum pe_facet facet);      /* "bias" */
unsigned pe_kind_facets(const struct pe_kind *kind); /* bits 1 << enum pe_facet */

/* A complete description of one encoding. Zero it or use pe_spec_init; release it after use. */
struct pe_spec {
    const struct pe_kind *kind;
    struct pe_params params;
    /* The caller's own table, row-major, by reference: learned [rows, dim], t5 [buckets, heads],
     * fope its two matrices, one above the other; rope [rows, rotary_dim], cosines and sines of
     * positions 0, 1, ...; NULL: values come from table_seed and table_std, or from frequencies. */
    const double *table;
    size_t table_rows, table_cols;
    char table_digest[17]; /* first 16 hex digits of its SHA-256, from the caller; "" without */
};

void pe_spec_init(struct pe_spec *spec, const struct pe_kind *kind);
void pe_spec_release(struct pe_spec *spec);
/* After scaling: the base of the frequencies, NaN where they are given; what cos and sin are times.
 */
double pe_spec_effective_base(const struct pe_spec *spec);
double pe_spec_attention(const struct pe_spec *spec);
/* What a softmax scale is multiplied by, where that has a part of the attention factor. */
double pe_spec_softmax(const struct pe_spec *spec);
/* scaling=yarn: the term above the line of its attention factor, by mscale. NaN without it. */
double pe_spec_mscale(const struct pe_spec *spec);
/* scaling=dynamic and dynamic_step: the number whose power multiplies the base. NaN without. */
double pe_spec_ntk_alpha(const struct pe_spec *spec);
/* After all keys are set: defaults, then the rules between parameters. */
bool pe_spec_finish(struct pe_spec *spec, struct pe_faults *faults);
/* The compact form "rope:dim=64,layout=half": defaults left out (except dim), keys in table
 * order. Returns the length it needs, as snprintf does. */
size_t pe_spec_compact(const struct pe_spec *spec, char *out, size_t size);
/* Reads a compact form ("rope:dim=64,layout=half", "rope") into a spec that is not yet
 * initialised; call pe_spec_finish after. All faults of the text are collected; on failure the
 * spec needs no release. */
bool pe_spec_parse(const char *text, struct pe_spec *spec, struct pe_faults *faults);
double pe_spec_number(const struct pe_spec *spec, const char *name); /* a row of the kind */
size_t pe_spec_dim(const struct pe_spec *spec);   /* width of a row; 0 for bias kinds */
size_t pe_spec_axes(const struct pe_spec *spec);  /* position axes; after pe_spec_finish */
size_t pe_spec_pairs(const struct pe_spec *spec); /* frequencies: rotary_dim/2, dim/2; else 0 */
/* Rotating kinds: the channels of a pair's first and second member in a table of rotary_dim; and in
 * vectors, before they are rotated and after. */
void pe_spec_pair_channels(const struct pe_spec *spec, size_t pair, size_t *first, size_t *second);
void pe_spec_pair_members(const struct pe_spec *spec, size_t pair, bool after, size_t *first,
                          size_t *second);
/* The position axis that a pair turns with. */
size_t pe_spec_pair_axis(const struct pe_spec *spec, size_t pair);
/* Whether positions are used as they are, but for the shift. */
bool pe_spec_shifts_only(const struct pe_spec *spec);
/* Whether a rotating kind turns pairs by one angle each: with pair_table=matched, and fope never.
 */
bool pe_spec_turns(const struct pe_spec *spec);
bool pe_spec_is_given(const struct pe_spec *spec); /* whether cos and sin are the caller's */
/* Where a position comes to, scaled, shifted and clamped, rounded to a double. */
double pe_spec_place(const struct pe_spec *spec, double position);
/* Polar kinds, which rotate too, but make two channels of each: as a length at an angle. */
bool pe_spec_is_polar(const struct pe_spec *spec);
bool pe_spec_has_phases(const struct pe_spec *spec); /* and the angles of k have offsets */
size_t pe_spec_width(const struct pe_spec *spec);    /* of encoded vectors: dim, polar 2 dim */
bool pe_spec_has_scales(const struct pe_spec *spec); /* xpos: q and k are multiplied too */
size_t pe_spec_heads(const struct pe_spec *spec);    /* bias kinds; else 1 */
/* Bias kinds: multiply-adds that one bias costs; else 0. */
size_t pe_spec_bias_work(const struct pe_spec *spec);
/* The same of the cosines and sines of one position where they are mixed (fope); else 0. */
size_t pe_spec_mixing_work(const struct pe_spec *spec);
/* How many positions a kind has from 0 on, where these are few (a window's); else 32, to show. */
size_t pe_spec_tokens(const struct pe_spec *spec);

#ifdef __cplusplus
}
#endif

#endif
