// SPDX-License-Identifier: Apache-2.0
/*
 * model.h: a model's config.json as encodings. The file says little by itself: what its keys mean,
 * and what holds where it is silent, is up to the model's class. `families` has a row for each
 * class that is known. Everything that was read, supposed or left aside is noted for the answer.
 */
#ifndef API_MODEL_H
#define API_MODEL_H

#include "job.h"

#define MODEL_BYTES_MAX  ((size_t)1 << 20)
#define MODEL_SETS_MAX   4    /* parameter sets: kinds of layers that have one each */
#define MODEL_LAYERS_MAX 1024 /* layers */

/* ---- Families ----------------------------------------------------------------------------- */

enum family_scheme { SCHEME_ROPE, SCHEME_ALIBI, SCHEME_T5, SCHEME_LEARNED, SCHEME_SINUSOIDAL };

enum family_flag {
    FAMILY_INTERLEAVED = 1 << 0, /* pairs are neighbours; else halves */
    FAMILY_MLA = 1 << 1,         /* what is rotated is a slice apart, of qk_rope_head_dim */
    FAMILY_HALVES_OUT = 1 << 2,  /* rotated neighbours are left in two halves */
    FAMILY_TAIL = 1 << 3,        /* the last channels are rotated, not the first */
    FAMILY_ROTARY_DIM = 1 << 4,  /* rotary_dim counts channels */
    FAMILY_FULL_SCALED = 1 << 5, /* scaling is for layers that see everything only */
    FAMILY_FULL_NOPE = 1 << 6,   /* in models with windows, layers that see everything rotate not */
    FAMILY_NOPE_LIST = 1 << 7,   /* no_rope_layers, or one layer in four does not rotate */
    FAMILY_EMPTY_LIST = 1 << 8,  /* an empty no_rope_layers is none */
    FAMILY_FULL_FIRST = 1 << 9,  /* the first layer of a period sees everything, not the last */
    FAMILY_CHUNKED = 1 << 10,    /* rotating layers see a chunk, attention_chunk_size */
    FAMILY_TEMPERATURE = 1 << 11,   /* queries of layers that do not rotate have a temperature */
    FAMILY_YARN_LONGROPE = 1 << 12, /* a scaling of type "yarn" is LongRoPE */
    FAMILY_MAIN_COMPRESS = 1 << 13, /* parameter sets "main" and "compress" */
    FAMILY_GLOBAL_DIM = 1 << 14,    /* full layers: global_head_dim, proportional by default */
    FAMILY_AXES_MIXED = 1 << 15,    /* mrope_section: the axes take turns */
    FAMILY_TIME_LAST = 1 << 16, /* mrope_section lists height, width, time; the first two mixed */
    FAMILY_ALIBI_KEY = 1 << 17, /* a key `alibi` says whether it is that */
    FAMILY_ROWS_MORE = 1 << 18, /* the table has `reserved` rows more than positions */
    FAMILY_LAST_ZERO = 1 << 19, /* the bias of the last key is 0; else that of the first */
    FAMILY_PADDING = 1 << 20,   /* tokens stand behind padding_idx, whose row is zero */
};

struct family {
    const char *types; /* values of model_type, space-separated */
    enum family_scheme scheme;
    unsigned flags;     /* enum family_flag */
    double theta;       /* the base where the config has none; 0: 10000 */
    double local_theta; /* that of layers with a window; 0: the same */
    double partial;     /* partial_rotary_factor where the config has none; 0: 1 */
    unsigned head_dim;  /* where the config has none; 0: hidden_size / heads */
    unsigned every;     /* one layer in so many sees everything, others a window; 0: see config */
    unsigned reserved;  /* learned: first positions that no token has */
    const char *axial;  /* a vision tower: what kind=axial has for it, "layout=half"; NULL */
    const char *theta_note; /* a warning when the base is supposed; NULL */
    const char *note;       /* a warning in any case: where implementations differ; NULL */
};

/* Vision towers of Qwen-VL, whose model_type is that of the whole; by the key that gives them away.
 */
#define FAMILY_MERGING_TOWER "qwen_vl_vision"
#define MERGING_TOWER_KEY    "spatial_merge_size"

/* By model_type, else by the name of the class in `architectures`; NULL. Either may be NULL. */
const struct family *family_find(const char *model_type, const char *architecture);
size_t families_n(void);
const struct family *family_at(size_t i);

/* ---- Reading a config ---------------------------------------------------------------------- */

/* An object of the config and where it stands; object NULL: there is none. */
struct node {
    const json_t *object;
    const char *pointer; /* "" for the whole */
};

/* A value of the config. */
struct found {
    const json_t *json; /* NULL: absent, or null */
    const char *pointer;
    const struct json_array *array; /* numbers */
};

/* One parameter set and the encoding that it becomes. */
struct set {
    const char *name;        /* "all", "full_attention", ... */
    struct node dict;        /* rope_parameters, or the part of it for these layers */
    bool nested;             /* it is a part */
    bool unscaled;           /* only the base of it is for these layers */
    const char *theta_names; /* where the base stands outside of it */
    double theta;            /* and what it is without */
    struct job_spec *slot;
    const char *where[PE_PARAMS_MAX];       /* pointers of the encoding's parameters */
    double mscale_all_dim;                  /* of a scaling; 0: none */
    double temperature, temperature_length; /* of all its queries; 0: none */
};

struct model {
    struct job *job;
    const struct json_doc *doc;
    struct node root, config; /* config: that of the text model */
    const char *type;         /* model_type; "" without one */
    const struct family *family;
    bool lenient; /* unknown keys and contradictions are warnings */
    struct set sets[MODEL_SETS_MAX];
    size_t sets_n;
    struct tree *answer, *specs, *params, *tensors, *readouts, *read, *assumed, *warnings;
};

/* The config's value by one of these names (space-separated). Two that are there must agree. */
struct found model_find(struct model *model, const struct node *node, const char *names);
/* The same for a type; another type is a mistake, noted. False: not there, or wrong. */
bool model_number(struct model *model, const struct node *node, const char *names, double *number,
                  const char **pointer);
bool model_bool(struct model *model, const struct node *node, const char *names, bool *value,
                const char **pointer);
const char *model_string(struct model *model, const struct node *node, const char *names,
                         const char **pointer);
/* An object; object NULL if there is none. */
struct node model_node(struct model *model, const struct node *node, const char *name);
const char *model_pointer(struct model *model, const struct node *node, const char *name);
/* Whether two values say the same; numbers do in any notation. Numeric arrays are left aside. */
bool model_same(const json_t *a, const json_t *b);
/* A number as text, in the arena. */
const char *model_text(struct model *model, double number);

/* Notes of the answer; the same note comes once. */
void model_read(struct model *model, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void model_assume(struct model *model, const char *key, const char *value, const char *because);
void model_warn(struct model *model, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A mistake, which lenient=1 makes a warning. */
void model_complain(struct model *model, enum err_code code, const char *pointer, const char *hint,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Sets a parameter of the encoding from what stands at `pointer`, or by supposition. */
void set_number(struct model *model, struct set *set, const char *key, double number,
                const char *pointer);
void set_word(struct model *model, struct set *set, const char *key, const char *word,
              const char *pointer);
void set_list(struct model *model, struct set *set, const char *key, const struct found *list);
/* Where a parameter would stand that the config does not have. */
void set_place(struct set *set, const char *key, const char *pointer);
void set_assumed(struct model *model, struct set *set, const char *key, const char *value,
                 const char *because);
/* Starts the encoding of a set. */
void set_begin(struct model *model, struct set *set, const char *kind);

/* ---- What is read, each in its own file ----------------------------------------------------- */

/* Finds config and family. */
bool model_begin(struct model *model, struct job *job);
/* model_sets.c: the parameter sets of a rotating model; then model_rope.c, what each of them says.
 */
void model_sets(struct model *model);
void model_rope(struct model *model, struct set *set);
/* model_dims.c: widths of a rotating model's heads, and what of them rotates. */
void model_dims(struct model *model, struct set *set);
bool model_heads(struct model *model, double *heads, const char **pointer);
/* model_other.c: encodings that do not rotate. */
void model_other(struct model *model);
/* model_layers.c: what each layer does, once the sets are read. */
void model_layers(struct model *model);

#endif
