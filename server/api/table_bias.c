// SPDX-License-Identifier: Apache-2.0
/*
 * table_bias.c: /v1/table of bias kinds: where queries and keys stand, and buckets of their pairs.
 */
#include <string.h>

#include "table.h"

/* ---- Queries and keys ---------------------------------------------------------------------- */

/* A range of positions as the text of a key. */
static bool set_range(struct job *job, const char *name, double first, double end)
{
    struct pe_value *value = job_key_edit(job, name);
    value->text = arena_printf(&job->request->arena, "%.0f:%.0f", first, end);
    value->set = value->given = true;
    return value->text != NULL;
}

/* Numbers of queries and keys where no positions are given: query a stands at a + keys - queries.
 */
static bool place_counted(struct job *job)
{
    const struct pe_value *queries = job_key(job, "queries"), *keys = job_key(job, "keys");
    double tokens = (double)pe_spec_tokens(&job->specs[0].spec);
    if (keys->set)
        tokens = keys->number;
    double first = queries->set ? tokens - queries->number : 0;
    return set_range(job, "positions", first, tokens) &&
           (first == 0 || set_range(job, "k_positions", 0, tokens));
}

/* Where tokens are placed the queries are the last of them. */
static bool cut_queries(struct job *job, struct table *own)
{
    const struct pe_positions *all = own->positions.list;
    const struct pe_value *queries = job_key(job, "queries"), *keys = job_key(job, "keys");
    if (keys->set && keys->number != (double)all->n)
        return err_add(&job->request->err, ERR_conflicting_parameters, "keys", NULL,
                       "there are %zu positions for keys=%.0f", all->n, keys->number);
    if (queries->set && queries->number > (double)all->n)
        return err_add(&job->request->err, ERR_invalid_value, "queries", NULL,
                       "queries must be at most %zu, the number of positions; got %.0f", all->n,
                       queries->number);
    own->keys = own->positions;
    if (!queries->set || queries->number == (double)all->n)
        return true;
    struct pe_value *positions = job_key_edit(job, "positions");
    if (!positions->set || own->positions.lists_n > 1) /* no text says which are the last */
        return job_positions_behind(job, &own->keys, all->n - (size_t)queries->number,
                                    &own->positions);
    *job_key_edit(job, "k_positions") =
        (struct pe_value){.given = true, .set = true, .text = positions->text};
    size_t n = (size_t)queries->number;
    struct pe_positions *last = job_alloc(job, 1, sizeof *last);
    size_t len = pe_positions_print(all->at[0] + all->n - n, n, NULL, 0);
    char *text = last ? job_alloc(job, len + 1, 1) : NULL;
    if (!text)
        return false;
    *last = tokens_slab(all, all->n - n, n);
    pe_positions_print(last->at[0], n, text, len + 1);
    own->positions.list = last;
    own->positions.text = positions->text = text;
    return true;
}

bool table_sides(struct job *job, struct table *own, size_t batches_max)
{
    static const char *const counts[] = {"queries", "keys", NULL};
    bool has_keys = job_key(job, "k_positions")->set;
    const struct pe_spec *spec = &job->specs[0].spec;
    bool counted = !has_keys && !job_positions_given(job);
    if (has_keys && !job_unread(job, counts, "k_positions says where the keys are"))
        return false;
    if (counted && !place_counted(job))
        return false;
    if (!job_positions(job, "positions", spec, has_keys ? 1 : batches_max, &own->positions))
        return false;
    bool placed = job_key(job, "k_positions")->set
                      ? job_positions(job, "k_positions", spec, 1, &own->keys)
                      : cut_queries(job, own);
    bool spelt = own->positions.lists_n == 1 && job_key(job, "positions")->set;
    for (const char *const *name = counts; spelt && *name; name++)
        *job_key_edit(job, *name) = (struct pe_value){0};
    return placed;
}

/* ---- Buckets, indices, inputs -------------------------------------------------------------- */

/* A row for each query. */
static void fill_matrix(const struct job *job, const struct output *output, size_t first, size_t n,
                        void *out, void *scratch)
{
    const struct table *own = job->own;
    const struct pe_positions *keys = own->keys.list;
    (void)scratch;
    struct pe_positions queries = tokens_slab(own->positions.list, first, n);
    if (output->dtype == PE_I64)
        pe_buckets(job_plan(job, 0), &queries, keys, out);
    else
        pe_bias_inputs(job_plan(job, 0), &queries, keys, output->dtype, out);
}

void table_matrix_state(struct job *job, const struct table *own)
{
    const struct pe_positions *queries = own->positions.list, *keys = own->keys.list;
    size_t shape[] = {queries->n, keys->n};
    enum pe_dtype dtype = own->value == PE_FACET_INPUT ? own->aspects.dtype : PE_I64;
    struct output *output = job_output(job, pe_facet_name(own->value), dtype, 2, shape);
    output->fill = fill_matrix;
    output->axes[0] = job_position_axis(&own->positions);
    output->axes[1] =
        (struct answer_axis){.name = "key", .short_name = "key", .labels = keys->at[0]};
}

bool table_matrix_work(struct job *job, const struct table *own)
{
    const struct pe_spec *spec = &job->specs[0].spec;
    size_t heads = own->value == PE_FACET_BIAS ? pe_spec_heads(spec) : 1;
    size_t factors[] = {heads, own->positions.list->n, own->keys.list->n, pe_spec_bias_work(spec)};
    return job_work(job, job_product(factors, 4), own->positions.where);
}
