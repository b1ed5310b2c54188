// SPDX-License-Identifier: Apache-2.0
/*
 * identify_scores.c: score matrices in place of vectors: which bias they were given. Read here, and
 * what they show besides is answered here; the rest of the answer is that of identify.c.
 */
#include <math.h>
#include <string.h>

#include "identify.h"
#include "sha256.h"

#define TABLE_MAX 16384 /* numbers of a recovered table that are answered */

static const char *const axes_names[] = {"qk", "hqk", "bhqk"};

/* ---- Reading ------------------------------------------------------------------------------- */

bool identify_scores_asked(struct job *job, struct identify *own)
{
    for (size_t i = 0; i < sizeof axes_names / sizeof *axes_names; i++)
        if (job_key_is(job, "axes", axes_names[i]))
            own->axes = axes_names[i];
    return own->of_scores = own->axes != NULL;
}

static bool read_matrices(struct job *job, struct identify *own)
{
    struct err *err = &job->request->err;
    struct tensor *x = &own->x, *y = &own->y;
    bool has_x, has_y, ok = job_tensor(job, "x", x, &has_x);
    if (!job_tensor(job, "y", y, &has_y) || !ok)
        return false;
    if (!has_y)
        return err_add(err, ERR_missing_parameter, "/y", "for example \"y\": [[0,-0.5],[-0.5,0]]",
                       "\"y\" is missing: the scores with the bias, or the bias itself");
    if (y->rank != strlen(own->axes))
        return err_add(err, ERR_shape_mismatch, y->pointer, NULL,
                       "y has %zu axes, and axes=%s names %zu", y->rank, own->axes,
                       strlen(own->axes));
    if (y->count == 0)
        return err_add(err, ERR_shape_mismatch, y->pointer, NULL, "y has no elements");
    if (y->count > PE_IDENTIFY_ELEMENTS_MAX) {
        err->cost = (double)y->count;
        err->limit = (double)PE_IDENTIFY_ELEMENTS_MAX;
        return err_add(err, ERR_limit_exceeded, y->pointer, "some queries and keys are enough",
                       "y has %zu elements; at most %zu are looked at", y->count,
                       PE_IDENTIFY_ELEMENTS_MAX);
    }
    own->biased.x = has_x ? x->data : NULL;
    own->biased.x_dtype = x->dtype;
    own->biased.y = y->data;
    own->biased.y_dtype = y->dtype;
    if (!has_x ||
        (x->rank == y->rank && memcmp(x->shape, y->shape, x->rank * sizeof *x->shape) == 0))
        return true;
    const char *one = identify_shape(job, x), *other = identify_shape(job, y);
    return err_add(err, ERR_shape_mismatch, y->pointer, "y is what became of x, score by score",
                   "x and y must have the same shape, x has %s and y %s", one ? one : "another",
                   other ? other : "another");
}

static bool read_heads(struct job *job, struct identify *own)
{
    const struct tensor *y = &own->y;
    own->biased.heads = y->rank > 2 ? y->shape[y->rank - 3] : 1;
    own->biased.batches = y->rank > 3 ? y->shape[0] : 1;
    if (own->biased.heads <= PE_HEADS_MAX)
        return true;
    job->request->err.limit = PE_HEADS_MAX;
    return err_add(&job->request->err, ERR_limit_exceeded, y->pointer, NULL,
                   "y has %zu heads; at most %d are looked at", own->biased.heads, PE_HEADS_MAX);
}

/* A kind that is known must be one that scores alone can show. */
static bool check_kind(struct job *job, const struct identify *own)
{
    const char *name = own->result.kind;
    const struct pe_kind *kind = name ? pe_kind_find(name, strlen(name)) : NULL;
    bool shown = !kind || kind->acts == PE_ACTS_NOT ||
                 (kind->acts == PE_BIASES && !(kind->properties & PE_CONTENT));
    return shown ||
           err_add(&job->request->err, ERR_conflicting_parameters, "/known",
                   kind->acts == PE_BIASES ? "compare with /v1/apply, which takes q and k"
                                           : "send the vectors as x and y, without axes=qk",
                   "kind=%s %s", name,
                   kind->acts == PE_BIASES ? "is made of q and k: scores alone do not tell it"
                                           : "adds nothing to scores");
}

bool identify_scores_prepare(struct job *job, struct identify *own)
{
    static const char because[] = "scores are [heads, queries, keys], with a batch axis or without";
    static const char *const unread[] = {"heads", "prefix", NULL};
    bool ok = job_unread(job, unread, because);
    ok = job_positions_lists_only(job, because) && ok;
    ok = check_kind(job, own) && ok;
    if (!read_matrices(job, own) || !read_heads(job, own) || !ok)
        return false;
    size_t rank = own->y.rank, queries = own->y.shape[rank - 2], keys = own->y.shape[rank - 1];
    /* A shorter query side ends where the keys end, as in decoding with a cache. */
    if (!job_positions_side(job, "k_positions", NULL, keys, 0, &own->keys) ||
        !job_positions_side(job, "positions", NULL, queries, (double)keys - (double)queries,
                            &own->positions))
        return false;
    own->biased.queries = own->positions.list;
    own->biased.keys = own->keys.list;
    own->dtype =
        job_key(job, "dtype")->given ? job_dtype(job, PE_F64) : identify_narrowest(&own->y);
    return true;
}

/* ---- Computing ----------------------------------------------------------------------------- */

bool identify_scores_run(struct job *job, struct identify *own)
{
    struct pe_identify *result = &own->result;
    if (!identify_begin(job, own, pe_identify_bias_work_bytes(&own->biased)))
        return false;
    enum pe_status status = pe_identify_bias(&own->biased, result);
    for (size_t i = 0; i < result->found_n; i++) {
        struct pe_spec *spec = &result->found[i].spec;
        if (spec->table)
            sha256_hex(spec->table, spec->table_rows * spec->table_cols * sizeof *spec->table, 16,
                       spec->table_digest);
    }
    return identify_ended(job, status);
}

/* ---- The answer ---------------------------------------------------------------------------- */

void identify_scores_write(struct job *job, const struct identify *own, struct tree *root)
{
    static const char *const masks[] = {"none", "causal", "some"};
    static const char *const made_of[] = {"distance", "places", "batch"};
    const struct pe_biased *scores = &own->biased;
    struct tree *node = tree_object(root, "scores");
    double *offsets = job_alloc(job, 2, sizeof *offsets);
    if (!offsets)
        return;
    offsets[0] = scores->first;
    offsets[1] = scores->last;
    tree_string(node, "mask", masks[scores->masked]);
    tree_integer(node, "masked", (int64_t)scores->masked_n);
    tree_string(node, "depends_on", made_of[scores->hangs_on]);
    tree_reals(node, "offsets", offsets, 2);
    if (own->result.found_n == 0 || own->result.rivals_n > 0) {
        tree_null(node, "contradiction");
        return;
    }
    struct tree *against = tree_object(node, "contradiction");
    const struct pe_contradiction *at = &scores->contradiction;
    tree_integer(against, "head", (int64_t)at->head);
    tree_number(against, "query", scores->queries->at[0][at->query]);
    tree_number(against, "key", scores->keys->at[0][at->key]);
    tree_number(against, "bias", at->bias);
    tree_number(against, "made", at->made);
}

void identify_scores_table(const struct identify *own, struct tree *best)
{
    const struct pe_spec *spec = &own->result.found[0].spec;
    if (!spec->table || spec->table_rows * spec->table_cols > TABLE_MAX)
        return;
    struct tree *rows = tree_array(best, "table");
    for (size_t i = 0; i < spec->table_rows; i++) {
        struct tree *row = tree_array(rows, NULL);
        for (size_t k = 0; k < spec->table_cols; k++) {
            double number = spec->table[i * spec->table_cols + k];
            if (isnan(number))
                tree_null(row, NULL);
            else
                tree_number(row, NULL, number);
        }
    }
}
