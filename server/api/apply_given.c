// SPDX-License-Identifier: Apache-2.0
/*
 * apply_given.c: /v1/apply with cos and sin of the caller's, as the members of these names: a row
 * for each position, or, without positions, one for each token.
 */
#include <string.h>

#include "apply.h"
#include "sha256.h"

static bool check_pair(struct job *job, const struct apply *own)
{
    const struct tensor *cos = &own->cos, *sin = &own->sin;
    struct err *err = &job->request->err;
    if (cos->rank != sin->rank ||
        memcmp(cos->shape, sin->shape, cos->rank * sizeof *cos->shape) != 0)
        return err_add(err, ERR_shape_mismatch, sin->pointer, NULL,
                       "cos and sin must have the same shape");
    if (cos->rank < 2 || cos->rank > 3 || cos->count == 0)
        return err_add(err, ERR_shape_mismatch, cos->pointer, NULL,
                       "cos and sin must be [rows, rotary_dim/2], or [batch, tokens, "
                       "rotary_dim/2] without positions, and not empty; got rank %zu",
                       cos->rank);
    return true;
}

static bool check_kinds(struct job *job)
{
    bool ok = true;
    for (size_t s = 0; s < job->specs_n; s++) {
        const struct pe_kind *kind = job->specs[s].spec.kind;
        if (!(kind->properties & PE_TABULATED))
            ok = err_add(&job->request->err, ERR_conflicting_parameters, "/cos",
                         "for example kind=rope", "kind=%s does not take cos and sin from a table",
                         kind->name);
    }
    return ok;
}

/* Without positions each token of each batch row has a row of its own. */
static bool check_rows(struct job *job, const struct apply *own)
{
    bool placed = job_positions_given(job) || job_key(job, "k_positions")->set;
    const struct tensor *cos = &own->cos;
    struct err *err = &job->request->err;
    if (placed)
        return cos->rank == 2 ||
               err_add(err, ERR_invalid_value, cos->pointer, "leave out the positions",
                       "with positions cos and sin must be [rows, rotary_dim/2]");
    for (size_t i = 0; i < own->targets_n; i++) {
        const struct target *target = &own->target[i];
        bool batches = strchr(target->axes, 'b');
        if (cos->rank != (batches ? 3 : 2))
            return err_add(err, ERR_invalid_value, cos->pointer,
                           "give positions, or a row per token",
                           "without positions cos and sin must be [%stokens, rotary_dim/2]",
                           batches ? "batch, " : "");
        if ((batches && cos->shape[0] != target->view.batches) ||
            cos->shape[cos->rank - 2] != target->view.tokens)
            return err_add(err, ERR_shape_mismatch, cos->pointer, NULL,
                           "%zu rows of cos and sin for %zu tokens in %zu batch rows",
                           cos->count / cos->shape[cos->rank - 1], target->view.tokens,
                           target->view.batches);
    }
    return true;
}

/* cos and sin side by side, row by row. */
static const double *join(struct job *job, const struct apply *own)
{
    size_t pairs = own->cos.shape[own->cos.rank - 1], rows = own->cos.count / pairs;
    double *table = job_alloc(job, 2 * own->cos.count, sizeof *table);
    for (size_t i = 0; table && i < own->cos.count; i++) {
        size_t at = i / pairs * 2 * pairs + i % pairs;
        table[at] = pe_load(own->cos.dtype, own->cos.data, i);
        table[at + pairs] = pe_load(own->sin.dtype, own->sin.data, i);
    }
    for (size_t s = 0; table && s < job->specs_n; s++) {
        struct pe_spec *spec = &job->specs[s].spec;
        spec->table = table;
        spec->table_rows = rows;
        spec->table_cols = 2 * pairs;
        sha256_hex(table, 2 * own->cos.count * sizeof *table, 16, spec->table_digest);
    }
    return table;
}

bool apply_given_read(struct job *job, struct apply *own)
{
    bool cos, sin;
    if (!job_tensor(job, "cos", &own->cos, &cos) || !job_tensor(job, "sin", &own->sin, &sin))
        return false;
    if (!cos && !sin)
        return true;
    if (!cos || !sin)
        return err_add(&job->request->err, ERR_missing_parameter, cos ? "/sin" : "/cos", NULL,
                       "cos and sin are posted together or not at all");
    bool ok =
        job_key(job, "inverse")->number == 0 ||
        err_add(&job->request->err, ERR_conflicting_parameters, job_where(job, "inverse"), NULL,
                "cos and sin that are given need not be those of an angle, and so "
                "there is no inverse");
    ok = check_kinds(job) && check_pair(job, own) && ok;
    own->given = ok && check_rows(job, own) && join(job, own);
    return own->given;
}

bool apply_given_positions(struct job *job, struct target *target)
{
    static const char *const prefix[] = {"prefix", NULL};
    static const char because[] = "without positions each token has its own row of cos and sin";
    bool ok = job_unread(job, prefix, because);
    if (!job_positions_lists_only(job, because) || !ok)
        return false;
    size_t tokens = target->view.tokens, batches = target->view.batches;
    double *at = job_alloc(job, tokens * batches, sizeof *at);
    struct pe_positions *list = job_alloc(job, batches, sizeof *list);
    if (!at || !list)
        return false;
    for (size_t i = 0; i < tokens * batches; i++)
        at[i] = (double)i;
    for (size_t b = 0; b < batches; b++)
        list[b] = (struct pe_positions){.axes = 1, .n = tokens, .at = {at + b * tokens}};
    target->positions = (struct position_lists){
        .list = list, .lists_n = batches, .batched = batches > 1, .where = "positions"};
    return true;
}
