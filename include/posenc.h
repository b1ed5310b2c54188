// SPDX-License-Identifier: Apache-2.0
/*
 * posenc.h: positional encodings of transformers, every value rounded once from the exact formula.
 *
 * The order of use: describe an encoding (`struct pe_spec`), make an immutable plan for the
 * positions in question (`pe_plan_new`, the only call that computes frequencies and allocates),
 * then fill tables, rotate tensors or compute scores into memory of your own. Nothing here logs,
 * locks, reads a clock or keeps state between calls. A plan may be shared by any number of threads.
 *
 * Exactness: tables, biases, sums, norms and scores are the real-number value of the formula,
 * rounded to nearest, ties to even, to the dtype asked for. `pe_apply` in f32, f16 and bf16 is a
 * fixed sequence of double operations instead, rounded once at the end. Hence the same bits on
 * every processor, compiler and thread count.
 *
 * Needs libc and MPFR, which ends the process when one of its small allocations fails; a program
 * that must not end gives GMP functions that do not (mp_set_memory_functions) before the first
 * call. All functions are prefixed pe_; those marked (any thread) keep no state.
 */
#ifndef POSENC_H
#define POSENC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Limits ------------------------------------------------------------------------------- */

#define PE_POSITION_MAX    9007199254740992.0 /* 2^53: largest |position| */
#define PE_POSITIONS_N_MAX ((size_t)1 << 20)  /* positions in one list */
#define PE_DIM_MAX         65536              /* widest row */
#define PE_HEADS_MAX       1024               /* bias kinds */
#define PE_AXES_MAX        2                  /* position axes of a kind */
#define PE_PARAMS_MAX      48                 /* parameters of one kind or request */
#define PE_FAULTS_MAX      16                 /* faults kept of one request */

/* ---- Number formats ----------------------------------------------------------------------- */

/* Element types of tensors. IEEE binary64, binary32, binary16, bfloat16; 64-bit integers. */
enum pe_dtype { PE_F64, PE_F32, PE_F16, PE_BF16, PE_I64, PE_DTYPES_N };

size_t pe_dtype_size(enum pe_dtype dtype);      /* bytes: 8, 4, 2, 2, 8 */
const char *pe_dtype_name(enum pe_dtype dtype); /* "f64", "f32", "f16", "bf16", "i64" */
/* Reads a name or alias (f32, float32, FP32, F32, <f4, ...). False when it names no dtype. */
bool pe_dtype_parse(const char *name, size_t len, enum pe_dtype *dtype);

/* Element i of an array as a double (exact but for i64 beyond 2^53). */
double pe_load(enum pe_dtype dtype, const void *array, size_t i);
/* Rounds once (to nearest, ties to even; overflow gives infinity) and stores as element i. */
void pe_store(enum pe_dtype dtype, void *array, size_t i, double value);

/*
 * Numbers as text. Reading takes a number of JSON's grammar, `len` bytes without a terminator, and
 * rounds its exact decimal value once to the dtype. False when it overflows to infinity (which is
 * stored all the same) or the text is no such number (NaN is stored). i64 takes integers only,
 * also as 1.0 or 1e3; else false, and the nearest end or the integer part is stored. Printing gives
 * the fewest digits that read back in that dtype and of those the nearest, in the notation of
 * ECMAScript's Number::toString (RFC 8785), but -0 as -0.0; NaN and infinities as NaN, Infinity,
 * -Infinity without quotes. Returns the length.
 */
#define PE_TEXT_MAX 40 /* bytes that printing one number may write (it returns at most 25) */
enum pe_notation {
    PE_SHORTEST, /* as said above */
    PE_EXACT,    /* 17, 9, 5 or 4 digits (f64, f32, f16, bf16) of the stored value, zeros at the end
                    left out; i64 in full */
    PE_HEX,      /* 0x1.8p+1, subnormal numbers too with a leading 1; i64 0x2a, -0x2a */
    PE_BITS,     /* the stored bits as an unsigned integer, NaN and infinities too */
};
bool pe_text_read(const char *text, size_t len, enum pe_dtype dtype, void *array, size_t i);
size_t pe_text_print(enum pe_dtype dtype, const void *array, size_t i, char out[PE_TEXT_MAX]);
size_t pe_text_print_as(enum pe_dtype dtype, enum pe_notation notation, const void *array, size_t i,
                        char out[PE_TEXT_MAX]);

/* ---- Faults ------------------------------------------------------------------------------- */

enum pe_status {
    PE_OK,
    PE_UNKNOWN_PARAMETER,
    PE_MISSING_PARAMETER,
    PE_INVALID_VALUE,
    PE_CONFLICTING_PARAMETERS,
    PE_SHAPE_MISMATCH,
    PE_LIMIT_EXCEEDED,
    PE_NO_MEMORY,
    PE_STOPPED, /* by the caller's own `stop` */
};

/* One mistake in what the caller gave: which parameter, what is wrong with which value, a hint. */
struct pe_fault {
    enum pe_status status;
    char param[32];
    char detail[240]; /* lower-case start, names the limit and the value received, no full stop */
    char hint[160];   /* may be empty */
};

/* The mistakes of one request, in the order found. Those past PE_FAULTS_MAX are only counted. */
struct pe_faults {
    size_t n;
    struct pe_fault item[PE_FAULTS_MAX];
};

/* Appends a fault (printf-style detail) and returns false, for `return pe_fault_add(...)`.
 * `hint` may be NULL. */
bool pe_fault_add(struct pe_faults *faults, enum pe_status status, const char *param,
                  const char *hint, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- Parameters --------------------------------------------------------------------------- */

enum pe_type {
    PE_INT,   /* integer, |value| <= 2^53 */
    PE_REAL,  /* finite double */
    PE_BOOL,  /* false or true (text also 0 or 1) */
    PE_ENUM,  /* one of `choices`; the value is its index */
    PE_REALS, /* list of finite doubles */
    PE_TEXT,  /* free text with a grammar of its own (positions, shapes) */
};

enum pe_param_flag {
    PE_OPTIONAL = 1, /* may be absent although it has no default */
    PE_OPEN_MIN = 2, /* min itself is not allowed */
    PE_REPEATED = 4, /* request keys only: may be given several times (spec=) */
    PE_SCALAR = 16,  /* PE_TEXT: one word or number, never a list */
    PE_DERIVED = 8,  /* the default comes from another parameter; the echo always shows it */
};

/* One parameter: the single place where its name, type, range, default and meaning stand. Rows that
 * `fallback` or `when` name come earlier in the table. */
struct pe_param {
    const char *name;
    const char *aliases; /* other spellings, space-separated, or NULL */
    enum pe_type type;
    double min, max;      /* inclusive (see PE_OPEN_MIN); of each element for PE_REALS */
    unsigned multiple_of; /* PE_INT: 0 or the divisor asked for */
    unsigned flags;       /* enum pe_param_flag */
    const char *fallback; /* default in text form; "@dim" copies dim; NULL: none */
    const char *choices;  /* PE_ENUM: "interleaved|gptj half|neox|rotate_half": choice|alias... */
    const char *when;     /* "scaling=linear|ntk": only read then; NULL: always */
    const char *help;     /* one sentence for the catalogue, with unit */
};

struct pe_value {
    bool given;       /* by the caller, rather than the default */
    bool set;         /* has a value at all */
    double number;    /* PE_INT, PE_REAL, PE_BOOL (0, 1), PE_ENUM (index of the choice) */
    const char *text; /* PE_TEXT: the caller's memory */
    double *list;     /* PE_REALS: owned, freed by pe_params_release */
    size_t list_n;
};

/* Values for a table of rows; `rows` outlives it. */
struct pe_params {
    const struct pe_param *rows;
    size_t rows_n; /* <= PE_PARAMS_MAX */
    struct pe_value value[PE_PARAMS_MAX];
};

void pe_params_init(struct pe_params *params, const struct pe_param *rows, size_t rows_n);
void pe_params_release(struct pe_params *params);
/* Row number of a name or alias, or -1. */
int pe_params_find(const struct pe_params *params, const char *name, size_t len);
/* Sets by text, number or list: type, range and divisibility are checked, and a second value that
 * differs from the first is PE_CONFLICTING_PARAMETERS. `name` may be an alias; one that is not
 * known is PE_UNKNOWN_PARAMETER with the nearest known one as hint. List text separates by `,`
 * or `+`. Text of PE_TEXT rows is kept by reference. False: a fault was added, the value is not
 * used. */
bool pe_params_set_text(struct pe_params *params, const char *name, const char *text,
                        struct pe_faults *faults);
bool pe_params_set_number(struct pe_params *params, const char *name, double number,
                          struct pe_faults *faults);
bool pe_params_set_list(struct pe_params *params, const char *name, const double *list, size_t n,
                        struct pe_faults *faults);
/* Fills defaults, refuses parameters whose `when` does not hold, names the missing ones. False when
 * it found something, or a given value was refused before. */
bool pe_params_finish(struct pe_params *params, struct pe_faults *faults);
/* Value by full name; the row must exist. */
const struct pe_value *pe_params_get(const struct pe_params *params, const char *name);
/* Name of the choice that a PE_ENUM value stands for (static memory, `len` bytes). */
const char *pe_choice_name(const struct pe_param *row, double index, size_t *len);
/* Whether row i has a value and its `when` holds, so that the echo shows it (after finish). */
bool pe_params_applies(const struct pe_params *params, size_t i);
/* Prints one value in text form (lists joined by `separator`); returns the length it needs, as
 * snprintf does. */
size_t pe_value_print(const struct pe_param *row, const struct pe_value *value, char separator,
                      char *out, size_t size);
/* Nearest of `n` names by edit distance, or NULL when none is near enough to be meant. */
const char *pe_nearest_name(const char *name, const char *const *names, size_t n);

/* ---- Kinds and specs ---------------------------------------------------------------------- */

enum pe_acts { PE_ACTS_NOT, PE_ADDS, PE_ROTATES, PE_BIASES };

enum pe_property { /* bits: what is known of a kind, for the catalogue */
                   PE_RELATIVE = 1,
                   PE_KEEPS_NORM = 2,
                   PE_LEARNED = 4,
                   PE_UNBOUNDED = 8, /* has a value at every position, however far */
};

struct pe_reference {
    const char *title;
    int year;
    const char *id; /* "arXiv:2104.09864", or a library and file */
};

/* What the catalogue says about a kind. */
struct pe_kind {
    const char *name;
    const char *aliases; /* space-separated, or NULL */
    const char *title;
    const char *formula;
    const char *help; /* two or three sentences */
    enum pe_acts acts;
    unsigned properties; /* enum pe_property */
    size_t axes;         /* position axes: 1, or 2 for rope2d */
    const struct pe_param *params;
    size_t params_n;
    const struct pe_reference *references; /* ends with a NULL title */
    const char *const *examples;           /* query strings, ends with NULL */
    const struct pe__kind_ops *ops;        /* private */
};

size_t pe_kinds_n(void);
const struct pe_kind *pe_kind_at(size_t i);
const struct pe_kind *pe_kind_find(const char *name, size_t len); /* by name or alias, or NULL */
/* The same, but an unknown name is a fault that lists the known ones and the nearest. */
const struct pe_kind *pe_kind_require(const char *name, size_t len, struct pe_faults *faults);

/* A complete description of one encoding. Zero it or use pe_spec_init; release it after use. */
struct pe_spec {
    const struct pe_kind *kind;
    struct pe_params params;
    /* The caller's own table (learned [rows, dim], t5 [buckets, heads], row-major), by reference;
     * NULL: values come from table_seed and table_std. */
    const double *table;
    size_t table_rows, table_cols;
    char table_digest[17]; /* first 16 hex digits of its SHA-256, from the caller; "" without */
};

void pe_spec_init(struct pe_spec *spec, const struct pe_kind *kind);
void pe_spec_release(struct pe_spec *spec);
/* After scaling: the base of the frequencies, where there is one; what cos and sin are times. */
double pe_spec_effective_base(const struct pe_spec *spec);
double pe_spec_attention(const struct pe_spec *spec);
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
size_t pe_spec_pairs(const struct pe_spec *spec); /* frequencies: rotary_dim/2, dim/2; else 0 */
/* Rotating kinds: the channels of a pair's first and second member. */
void pe_spec_pair_channels(const struct pe_spec *spec, size_t pair, size_t *first, size_t *second);
size_t pe_spec_heads(const struct pe_spec *spec); /* bias kinds; else 1 */

/* ---- Positions ---------------------------------------------------------------------------- */

/* n tokens with one coordinate per axis: at[axis][token]; doubles, |p| <= PE_POSITION_MAX. */
struct pe_positions {
    size_t axes, n;
    const double *at[PE_AXES_MAX];
};

/* Reads "7", "0,8,24", "0:128:4", "-4:4", "0:2:0.25", "2^0:2^20" (and mixtures separated by
 * commas) for one axis. Stores at most `max` values in `out`; *n is how many there are. A value is
 * the double nearest to its exact decimal value; integers beyond 2^53 are refused. */
bool pe_positions_parse(const char *text, const char *param, double *out, size_t max, size_t *n,
                        struct pe_faults *faults);
/* The canonical text: constant step and three or more values as a range, else a list. Returns the
 * length it needs, as snprintf does. */
size_t pe_positions_print(const double *at, size_t n, char *out, size_t size);
/* Whether this kind has a value at each position (learned, binary); `param` names the culprit. */
bool pe_positions_check(const struct pe_spec *spec, const struct pe_positions *positions,
                        const char *param, struct pe_faults *faults);

/* ---- Stages ------------------------------------------------------------------------------- */

/* Where a pipeline rounds on purpose, as libraries that compute in f32 or bf16 do. Each stage that
 * is named is one correctly rounded operation on what the stage before it gave (in f64: plain
 * double arithmetic); the others are exact. */
enum pe_stage {
    PE_STAGE_POS,   /* the position as given, before the shift */
    PE_STAGE_FREQ,  /* the frequency after its scaling; of alibi the slope */
    PE_STAGE_ANGLE, /* position (with shift) times frequency; of alibi distance times slope */
    PE_STAGE_TABLE, /* cos and sin; of kinds without frequencies and of biases the value */
    PE_STAGE_APPLY, /* every product and sum of rotating and adding */
    PE_STAGE_DOT,   /* the products and the running sum of q.k, channel by channel */
    PE_STAGES_N
};

/* Those of a plan; the others belong to what is done with it. */
#define PE_STAGES_OF_PLANS                                                                         \
    (1u << PE_STAGE_POS | 1u << PE_STAGE_FREQ | 1u << PE_STAGE_ANGLE | 1u << PE_STAGE_TABLE)

/* Zeroed: exact. */
struct pe_stages {
    unsigned named;                   /* bits 1 << enum pe_stage */
    enum pe_dtype dtype[PE_STAGES_N]; /* of the named ones: any but PE_I64 */
};

/* A name for stages. */
struct pe_preset {
    const char *name;
    const char *stages; /* spelt out; the dtype T is that of the tensors (see pe_stages_parse) */
    const char *help;   /* what computes like this */
};
size_t pe_presets_n(void);
const struct pe_preset *pe_preset_at(size_t i);
const char *pe_stage_name(enum pe_stage stage); /* "pos" */

/* Reads "exact", or stages and presets: "freq:f32,table:bf16", "f32,apply:f32". T stands for `own`,
 * in the table stage for f32 if that is f64, since cos and sin are computed in f32 there. *spelt
 * (may be NULL): the stages named by themselves, as bits. Faults name `param`. */
bool pe_stages_parse(const char *text, size_t len, enum pe_dtype own, const char *param,
                     struct pe_stages *stages, unsigned *spelt, struct pe_faults *faults);
/* The canonical text: stages in their order, or "exact". Returns the length it needs, as snprintf
 * does. */
#define PE_STAGES_TEXT_MAX 72 /* bytes, with the NUL */
size_t pe_stages_print(const struct pe_stages *stages, char *out, size_t size);
/* The stages that a kind has, as bits; others make no difference to it. */
unsigned pe_kind_stages(const struct pe_kind *kind);
/* The position that the pos stage gives; infinite beyond the range of its dtype. */
double pe_stages_position(const struct pe_stages *stages, double position);
/* pe_positions_check for the positions that the pos stage gives, which must be finite. */
bool pe_stages_check(const struct pe_stages *stages, const struct pe_spec *spec,
                     const struct pe_positions *positions, const char *param,
                     struct pe_faults *faults);

/* ---- Plans -------------------------------------------------------------------------------- */

/* Frequencies and digit tables of one spec: immutable, shared by threads, freed by the caller. */
struct pe_plan;

/* Makes a plan that is fast for positions like `positions` (the same digit groups); others are
 * correct too, but slow. The spec must be finished; it is copied, a posted table is referenced.
 * PE_NO_MEMORY is the only failure. At most PE_PLAN_BYTES_MAX are allocated. */
#define PE_PLAN_BYTES_MAX ((size_t)256 << 20)
enum pe_status pe_plan_new(const struct pe_spec *spec, const struct pe_positions *positions,
                           struct pe_plan **plan);
/* The same with the stages of plans, as far as the kind has them: all that is computed from it is
 * exact but for these. Positions must have passed pe_stages_check. */
enum pe_status pe_plan_staged(const struct pe_spec *spec, const struct pe_stages *stages,
                              const struct pe_positions *positions, struct pe_plan **plan);
void pe_plan_free(struct pe_plan *plan);
const struct pe_spec *pe_plan_spec(const struct pe_plan *plan);
size_t pe_plan_bytes(const struct pe_plan *plan);
/* Whether the plan has all digit groups that these positions need. */
bool pe_plan_covers(const struct pe_plan *plan, const struct pe_positions *positions);

/* ---- Tables ------------------------------------------------------------------------------- */

/* The encoding: row i of out (row_stride elements apart, >= width) is that of token i. Adding
 * kinds and none: width dim. Rotating kinds: width rotary_dim, cos in the channel of each pair's
 * first member, sin in the second's. dtype: any but PE_I64. Positions have passed
 * pe_positions_check. */
void pe_table(const struct pe_plan *plan, const struct pe_positions *positions, enum pe_dtype dtype,
              void *out, size_t row_stride);
/* Rotating kinds: cos and sin, each [n, pairs] dense. */
void pe_cos_sin(const struct pe_plan *plan, const struct pe_positions *positions,
                enum pe_dtype dtype, void *cos_out, void *sin_out);
/* Bias kinds: out[h][i][j], h in [first, first + heads_n), dense, -slope*|m - n| or the bucket's
 * value, query at m = queries->at[0][i], key at n = keys->at[0][j]. */
void pe_bias(const struct pe_plan *plan, const struct pe_positions *queries,
             const struct pe_positions *keys, size_t first, size_t heads_n, enum pe_dtype dtype,
             void *out);
/* t5: bucket numbers [queries, keys]. */
void pe_buckets(const struct pe_plan *plan, const struct pe_positions *queries,
                const struct pe_positions *keys, int64_t *out);
/* alibi: slopes [heads] of all heads. */
void pe_slopes(const struct pe_plan *plan, enum pe_dtype dtype, void *out);

/* Frequencies of rotating kinds and sinusoidal, each [pairs] in `dtype`; radians per position,
 * positions. turns = context / wavelength; band 0 kept, 2 divided. */
struct pe_frequencies {
    enum pe_dtype dtype; /* any but PE_I64 */
    double context;      /* positions, > 0 */
    void *inv_freq, *base_inv_freq, *wavelength, *turns;
    int64_t *band;
};
void pe_frequencies(const struct pe_plan *plan, const struct pe_frequencies *out);

/* The angle direction*p*w of each token and chosen pair, [n, pairs_n]. */
enum pe_angle { PE_ANGLE, PE_ANGLE_MOD, PE_TURNS }; /* radians; in [0, 2 pi); full turns */
void pe_angles(const struct pe_plan *plan, const struct pe_positions *positions,
               const size_t *pairs, size_t pairs_n, enum pe_angle form, enum pe_dtype dtype,
               void *out);

/* ---- Apply -------------------------------------------------------------------------------- */

/* A tensor seen as batch x head x token x channel: strides in elements, channels dense. */
struct pe_view {
    enum pe_dtype dtype; /* any but PE_I64 */
    void *data;
    size_t batches, heads, tokens, dim;
    size_t batch_stride, head_stride, token_stride;
};

/* Sees a dense row-major tensor by its axes ("d", "td", "bhtd", "bthd", "htd", "thd", "btd");
 * with "btd" `heads` splits the last axis (else 1). False when rank or divisibility do not fit. */
bool pe_view_init(struct pe_view *view, enum pe_dtype dtype, void *data, const char *axes,
                  const size_t *shape, size_t rank, size_t heads);

struct pe_apply {
    const struct pe_plan *plan;           /* rotating, adding or none; dim equals in->dim */
    const struct pe_positions *positions; /* [tokens] for all batches, or one per batch */
    size_t positions_n;                   /* 1, or in->batches */
    bool inverse;                         /* undo: rotate backwards, subtract */
    const struct pe_view *in, *out; /* same sizes; out may be in when the dtypes are equal; else
                                       inputs are taken exactly and rounded once to out's */
    void *work;                     /* pe_apply_work_bytes, 64-byte aligned */
    const struct pe_stages *stages; /* the apply stage: its dtype for every operation, then out's;
                                       NULL: exact */
};
size_t pe_apply_work_bytes(const struct pe_plan *plan);
/* Rotates the first rotary_dim channels and passes the rest through, or adds. Position 0 gives
 * back the input's bits. f64 is correctly rounded; f32, f16 and bf16 are computed in double from
 * correctly rounded cos and sin (or table values) and rounded once. */
void pe_apply(const struct pe_apply *job);

/* Bias kinds: scores [.., heads, queries, keys] + bias, rounded once, with an apply stage to that
 * and then to dtype (stages NULL: exact); batches dense matrices of heads_n heads starting with
 * head `first`. out may be in. */
void pe_add_bias(const struct pe_plan *plan, const struct pe_stages *stages,
                 const struct pe_positions *queries, const struct pe_positions *keys, size_t first,
                 size_t heads_n, size_t batches, enum pe_dtype dtype, const void *in, void *out);

/* ---- Sums --------------------------------------------------------------------------------- */

/* Correctly rounded to f64 whatever the order: a.b and the Euclidean length. Elements must be
 * finite for an exact answer; else IEEE's NaN or infinity. */
double pe_dot(enum pe_dtype dtype, const void *a, const void *b, size_t n);
double pe_norm(enum pe_dtype dtype, const void *a, size_t n);
/* The mean of n >= 1 finite doubles of normal size. Allocates and is slow: for readouts. */
double pe_mean(const double *a, size_t n);

/* ---- Scores ------------------------------------------------------------------------------- */

enum pe_normalize { PE_NORMALIZE_NONE, PE_NORMALIZE_COSINE, PE_NORMALIZE_MEAN, PE_NORMALIZE_FIRST };

/* q.k of encoded vectors against offset: the query at the anchor, the key at anchor + offset
 * (swapped with anchor_is_key). All outputs are f64, correctly rounded means over the n vectors. */
struct pe_scores {
    const struct pe_plan *plan; /* one position axis */
    const double *q, *k;        /* [vectors_n, dim] */
    size_t vectors_n, dim;
    const double *anchors, *offsets;
    size_t anchors_n, offsets_n;
    bool anchor_is_key;
    size_t head;                    /* bias kinds */
    const struct pe_stages *stages; /* apply (of biases the addition) and dot; NULL: exact */
    bool scale_sqrt_dim;            /* divide by sqrt(dim) */
    double scale;                   /* multiply by it; 1 for none */
    enum pe_normalize normalize;
    bool (*stop)(void *context); /* asked before each score; true: PE_STOPPED, outputs half done */
    void *stop_context;
    /* outputs */
    double *scores;   /* [anchors_n, offsets_n] */
    double *rest;     /* same shape, may be NULL: exact score - score, to the 24 bits of a float
                         in units of the score's size; with it differences of scores can be
                         rounded once as well: 4 * pe_mean({a, a_rest, -b, -b_rest}, 4) */
    double *terms[4]; /* content, cross_q, cross_k, position: same shape, each may be
                         NULL; adding kinds only; unscaled, not normalized */
    double norm_q_before, norm_k_before;
    /* lengths encoded: of q at each anchor, of k at anchor + offset, also with anchor_is_key */
    double *norm_q_after; /* [anchors_n] */
    double *norm_k_after; /* [anchors_n, offsets_n] */
};
/* Positions anchor + offset must have passed pe_positions_check. PE_NO_MEMORY, or PE_INVALID_VALUE
 * when a normalization divides by zero. */
enum pe_status pe_scores(struct pe_scores *job);

/* ---- Test vectors ------------------------------------------------------------------------- */

/* SplitMix64 in counter form: draw(k) = mix((seed ^ fnv1a(stream)) + k * golden), k = 1, 2, ... */
enum pe_content { PE_CONTENT_NORMAL, PE_CONTENT_UNIFORM };
uint64_t pe_draw(uint64_t seed, const char *stream, uint64_t k);
/* Elements [first, first + n) of the stream times gain, rounded once to dtype. */
void pe_fill_random(uint64_t seed, const char *stream, enum pe_content content, double gain,
                    size_t first, size_t n, enum pe_dtype dtype, void *out);

/* ---- Processor ---------------------------------------------------------------------------- */

/* Variants: "scalar", "base" (SSE2 or NEON), "avx2", "avx512". The choice is made at first use:
 * POSENC_ISA if set and usable, else the widest usable. All give the same bits. */
const char *pe_isa_name(void);
/* Switches to a variant by name; false if it cannot run here. Not while other threads compute. */
bool pe_isa_select(const char *name);

#ifdef __cplusplus
}
#endif

#endif
