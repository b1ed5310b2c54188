// SPDX-License-Identifier: Apache-2.0
/*
 * job.h: one computed request between its reading and its answer. GET and POST are read into the
 * same thing: specs, request keys, tensors; endpoints see no difference. Small ones whose plans are
 * cached run on the loop thread, all others on a worker (job.c decides).
 */
#ifndef API_JOB_H
#define API_JOB_H

#include "answer.h"
#include "api.h"
#include "blocks.h"
#include "common.h"
#include "delivery.h"
#include "doc.h"
#include "safetensors.h"

#define JOB_SPECS_MAX   8
#define JOB_OUTPUTS_MAX 20

struct aspects;
struct plan_ref;

/* A caller's tensor, in the arena. */
struct tensor {
    enum pe_dtype dtype;
    size_t rank, shape[TREE_RANK_MAX], count;
    void *data;
    const char *pointer; /* "/x" */
};

/* Positions as given: one list per batch row (lists_n 1 otherwise), one behind the other in memory
 * on each axis. */
struct position_lists {
    struct pe_positions *list;
    size_t lists_n;
    bool batched;      /* answers have a batch axis, even with one list */
    const char *text;  /* canonical, for the echo; NULL where no text says it */
    const char *where; /* parameter name or pointer, for errors */
};

struct job_spec {
    struct pe_spec spec;
    const char *tensor;  /* the member it is for ("q"), with "specs"; NULL: all */
    const char *prefix;  /* where its parameters stand: "" or "/spec/" ... */
    const char *compact; /* after job_specs_finish */
    char id[17];
    struct plan_ref *plan;
};

struct job;
struct output;

/* Makes rows [first, first + n) of an output, elements without a gap. Any thread, several at a
 * time: only `out` and `scratch` are written. */
typedef void output_fill(const struct job *job, const struct output *output, size_t first, size_t n,
                         void *out, void *scratch);

/* A tensor of the answer: what prepare says of it before it has numbers. */
struct output {
    const char *name;
    enum pe_dtype dtype;
    size_t rank, shape[TREE_RANK_MAX], count;
    struct answer_axis axes[TREE_RANK_MAX];
    size_t position_axis; /* its index column comes first in csv and txt */
    /* If its rows can be made apart from each other: */
    output_fill *fill;
    size_t what;        /* the endpoint's */
    size_t row_axes;    /* how many of the last axes make up one row; 1 unless set */
    size_t row_scratch; /* bytes of scratch for each row */
    size_t scratch;     /* and for all of them together */
    struct tree *node;  /* in the answer, from job_outputs_tree on */
};

struct job {
    struct request *request;
    struct app *app;
    const struct endpoint *endpoint;
    const struct endpoint *picture; /* what the answer becomes a picture of, `endpoint` being behind
                                       it; NULL: none */
    enum format format;
    enum format body;         /* of a POST */
    struct json_doc doc;      /* of a POST: its JSON, or {} without one */
    struct safetensors file;  /* of a POST in a binary format: its tensors */
    bool has_doc, has_json;   /* has_json: the caller wrote the document */
    struct json_doc document; /* of endpoints whose bodies are no requests */
    bool prepared;
    struct job_spec specs[JOB_SPECS_MAX];
    size_t specs_n;
    size_t beside_n; /* specs behind those that the answer is compared with: made and checked as
                        they are, but not what was asked for */
    struct pe_spec *flat_spec;          /* the one whose keys stand in the query (kind=...); NULL */
    struct pe_params keys;              /* the endpoint's own */
    struct pe_params common;            /* by enum common */
    struct pe_params *look;             /* the picture's own keys; NULL without one */
    struct pe_stages stages;            /* set by job_stages; zeroed: exact */
    const struct aspects *aspects;      /* what further tensors are of (aspects.h); NULL: none */
    struct pe_positions plan_positions; /* what plans must be fast for, set by prepare; axes 0:
                                           no plan is needed */
    struct output outputs[JOB_OUTPUTS_MAX]; /* stated by prepare through job_output */
    size_t outputs_n, main;                 /* main: which one csv, txt, npy and bin give */
    bool outputs_hidden;                    /* JSON has them in another form */
    size_t elements;                        /* of all outputs */
    size_t work; /* what computing them costs besides, in elements; set by prepare */
    /* Work on tensors where they are, set by compute: part i of parts_n, any thread. */
    void (*part)(const struct job *job, size_t i, void *scratch);
    size_t parts_n, part_scratch;
    struct stream parts;
    bool parts_done;
    struct answer answer;
    const char *canonical; /* of a GET: job_canonical() */
    struct blocks *blocks; /* the answer in its format, once it is computed; NULL before */
    uint64_t computed_ns;
    struct delivery delivery;
    void *own;                      /* the endpoint's, in the arena */
    void (*own_release)(void *own); /* gives back what of it is not, when all is sent; NULL */
};

/* Reading (called by job.c in this order). */
bool job_read(struct job *job); /* body, format, specs, keys */
bool job_body(struct job *job); /* the first of these */
/* Judges the tensors of a file, once keys are read; those for list keys become their values. */
void job_read_file(struct job *job);
/* job_dialect.c: the key `dialect`, once all other keys are read: sets those that it stands for. */
bool job_dialect_read(struct job *job);
/* The same for one spec; false if the dialect has nothing for its kind. */
bool job_dialect_set(struct job *job, struct pe_spec *spec, struct pe_faults *faults);
const char *job_dialect(const struct job *job);              /* its name; NULL: none */
bool job_is_tensor(const struct job *job, const char *name); /* a tensor member of the endpoint */
/* Where a key stands, or would: a parameter, or a pointer into the body. */
const char *job_where(const struct job *job, const char *name);
/* Called by prepare once defaults that depend on tensors are set: finishes all specs, checks that
 * the endpoint takes their kinds, makes compact forms and ids. */
bool job_specs_finish(struct job *job);
/* Of those: the compact form and the id of a spec that is finished. */
bool job_spec_name(struct job *job, struct job_spec *slot);
size_t job_product(const size_t *factors, size_t n); /* SIZE_MAX on overflow */
/* Sets what the default of a key comes to, if it was not given. Spelt out, it is no other request.
 */
void job_derive(struct job *job, const char *name, double number);
/* The dtype of the answer: what dtype= says, else `otherwise`, which is then echoed. */
enum pe_dtype job_dtype(struct job *job, enum pe_dtype otherwise);
/* In prepare, after job_specs_finish and before job_positions_check: the key `stages` of an answer
 * for which those in the set `stages` (bits) can make a difference, given tensors of dtype `own`.
 */
bool job_stages(struct job *job, unsigned stages, enum pe_dtype own);
/* The same for several pipelines between `;`, [JOB_PIPELINES_MAX]; without the key those of a text.
 */
#define JOB_PIPELINES_MAX 16
struct pipelines_ask {
    unsigned stages;
    enum pe_dtype own;
    const char *usual; /* those that make no difference to the encoding are left out */
};
bool job_pipelines(struct job *job, const struct pipelines_ask *ask, struct pe_stages *out,
                   size_t *n);
/* What people call one: a preset that comes to it, or its stages. NULL without memory. */
const char *job_pipeline_name(struct job *job, const struct pipelines_ask *ask,
                              const struct pe_stages *pipeline);
/* What the answer has to say about them; NULL: nothing. */
const char *job_stages_note(const struct pe_stages *stages);
/* In prepare: counts multiply-adds as work, within the limit of a request; else the error, at
 * `where`. */
bool job_work(struct job *job, size_t multiply_adds, const char *where);
/* Past the deadline: adds the error. Asked between slabs of work. */
bool job_expired(struct job *job);

/* Pieces for prepare. */
bool job_has_key(const struct job *job, const char *name); /* whether the endpoint does */
const struct pe_value *job_key(const struct job *job, const char *name);
struct pe_value *job_key_edit(struct job *job,
                              const char *name); /* to set what a default came to */
bool job_key_is(const struct job *job, const char *name, const char *choice); /* PE_ENUM */
/* Keys that the rest of the request leaves without effect (`names` ends with NULL): one that was
 * given is a mistake, since nothing is dropped silently. `because` completes "X has no effect: ".
 * Those that the endpoint does not have are none of its. */
bool job_unread(struct job *job, const char *const *names, const char *because);
/* Tensor member by name; *found tells whether there is one. */
bool job_tensor(struct job *job, const char *name, struct tensor *tensor, bool *found);
/* The tensor that a member anywhere in the document is, at this pointer. */
bool job_tensor_at(struct job *job, const json_t *member, const char *pointer,
                   struct tensor *tensor);
/* The same where numbers stand for indices or positions: i64 is allowed, and it must be there. */
bool job_indices(struct job *job, const char *name, struct tensor *tensor);
/* The member `table` (learned [rows, dim], t5 [buckets, heads]) into the specs that read one;
 * before job_specs_finish. */
bool job_table(struct job *job);
/* Positions of a PE_TEXT key (text, number, array, {"axes": ..}) for a spec, NULL: a plain list. Of
 * the key `positions` also what the keys say that stand in its place (KEYS_POSITIONS). At most
 * batches_max lists. */
bool job_positions(struct job *job, const char *name, const struct pe_spec *spec,
                   size_t batches_max, struct position_lists *out);
#define JOB_BATCHES_ANY PE_POSITIONS_N_MAX
/* Whether the request says where tokens stand, by any key. */
bool job_positions_given(const struct job *job);
/* 0, 1, ... on all axes for as many tokens, less those that have no position. */
bool job_positions_count(struct job *job, const struct pe_spec *spec, size_t tokens,
                         struct position_lists *out);
/* Of the rows or columns of scores: one list of n positions by the key of this name, counted from
 * `first` where it is not given. */
bool job_positions_side(struct job *job, const char *name, const struct pe_spec *spec, size_t n,
                        double first, struct position_lists *out);
/* How many tokens of each list have no position: class_token, prefix. */
size_t job_positions_around(const struct job *job);
/* Refuses the keys in place of `positions` and around it; as job_unread. */
bool job_positions_lists_only(struct job *job, const char *because);
/* All lists as one. */
struct pe_positions job_positions_all(const struct position_lists *lists);
/* The lists without their first tokens. */
bool job_positions_behind(struct job *job, const struct position_lists *lists, size_t first,
                          struct position_lists *out);
/* Whether the key is given as a list without a position, which only a tensor without tokens has. */
bool job_positions_empty(const struct job *job, const char *name);
/* The axis of positions for csv and txt: the positions themselves, "row;col" where there are
 * several axes. */
struct answer_axis job_position_axis(const struct position_lists *positions);
bool job_positions_check(struct job *job, const struct position_lists *positions);
/* Before the check, for all lists of a request: they give scales the center that none was given. */
bool job_center(struct job *job, const struct position_lists *positions);

/* Memory of the request; adds an error and gives NULL past the cap. */
void *job_alloc(struct job *job, size_t n, size_t size);
/* The same, aligned to 64 bytes. */
void *job_scratch(struct job *job, size_t bytes);
/* Scratch for pe_apply with this plan, aligned as it wants. NULL as job_alloc. */
void *job_apply_work(struct job *job, const struct pe_plan *plan);
/* Bytes of such scratch for a spec of the job, up to the next aligned one. In compute. */
size_t job_apply_scratch(const struct job *job, size_t spec);

/* In prepare: states a tensor of the answer; its axes are the caller's to name. */
struct output *job_output(struct job *job, const char *name, enum pe_dtype dtype, size_t rank,
                          const size_t *shape);
/* The one of that name; NULL: there is none. */
struct output *job_output_named(struct job *job, const char *name);
/* After prepare: the main tensor by select=, and the limit on elements (limit-exceeded with cost
 * and limit). */
bool job_outputs_finish(struct job *job);
/* dtype=f32; shape="2,2": what the main tensor's bytes are, for a field; NULL without memory. */
const char *job_tensor_field(const struct job *job);
/* All outputs as nodes of the answer's tree, still without data. */
void job_outputs_tree(struct job *job);
/* numbers= */
enum pe_notation job_notation(const struct job *job);
/* Elements of one row of an output. */
size_t job_output_row(const struct output *output);
/* After compute: makes all outputs that have `fill`, slab by slab. */
bool job_outputs_fill(struct job *job);
/* In compute: memory for an output. NULL as job_alloc. */
void *job_output_data(struct job *job, const char *name);
/* In compute: an output that is where `data` is, or will be. */
void job_output_place(struct job *job, const char *name, void *data);
/* Whether somebody reads the readouts as sentences: in .txt, or with a picture. */
bool job_in_words(const struct job *job);
/* What the answer is offered as. */
unsigned job_formats(const struct job *job);
/* The plan of spec i. */
const struct pe_plan *job_plan(const struct job *job, size_t i);

/* The path and the query that mean the same answer: the spec in its compact form, then the keys
 * that differ from their defaults. NULL with an error without memory. */
const char *job_canonical(struct job *job);
/* answer parts made for every endpoint: spec, spec_id, params from the key rows, links. */
void job_answer_begin(struct job *job);
void job_answer_end(struct job *job);
/* A sentence about the answer. */
void job_note(struct job *job, const char *note);
/* {"kind":..,"dim":..} with every parameter that applies. */
void job_spec_tree(struct tree *parent, const char *key, const struct pe_spec *spec);
/* A spec as the query keys of a URL, from its compact form: "?kind=rope&dim=64". */
void job_spec_query(struct buf *out, const char *compact);

#endif
