// SPDX-License-Identifier: Apache-2.0
/*
 * job_table.c: the caller's own table in place of the seeded one, for the kinds that look one up.
 * Its digest becomes part of the compact form, and so of the spec id.
 */
#include <string.h>

#include "job.h"
#include "sha256.h"

static void set_size(struct pe_spec *spec, const char *name, size_t n, struct pe_faults *faults)
{
    if (name)
        pe_params_set_number(&spec->params, name, (double)n, faults);
}

/* Rows and columns are the kind's own parameters: a given one that differs is a conflict. */
static bool table_into(struct job *job, struct pe_spec *spec, const struct tensor *table)
{
    struct pe_faults faults = {0};
    spec->table = table->data;
    spec->table_rows = table->shape[0];
    spec->table_cols = table->shape[1];
    sha256_hex(table->data, table->count * sizeof(double), 16, spec->table_digest);
    set_size(spec, spec->kind->table_rows, table->shape[0], &faults);
    set_size(spec, spec->kind->table_cols, table->shape[1], &faults);
    api_faults_at(&job->request->err, &faults, "/table");
    return faults.n == 0;
}

bool job_table(struct job *job)
{
    struct err *err = &job->request->err;
    struct tensor table;
    bool found, read = false, ok = true;
    if (!job_tensor(job, "table", &table, &found))
        return false;
    if (!found)
        return true;
    if (table.rank != 2 || table.count == 0 || table.dtype != PE_F64)
        return err_add(err, ERR_shape_mismatch, "/table", NULL,
                       "table must be f64 of rank 2, not empty: [rows, dim] for learned, [buckets, "
                       "heads] for t5; got %s of rank %zu",
                       pe_dtype_name(table.dtype), table.rank);
    for (size_t s = 0; s < job->specs_n; s++)
        if (pe_kind_has_table(job->specs[s].spec.kind)) {
            ok = table_into(job, &job->specs[s].spec, &table) && ok;
            read = true;
        }
    if (read)
        return ok;
    return err_add(err, ERR_unknown_parameter, "/table", NULL,
                   "kind=%s has no table of its own to be given", job->specs[0].spec.kind->name);
}
