// SPDX-License-Identifier: Apache-2.0
/*
 * job_positions_chunks.c: style=dual_chunk, by which tokens that are numbered from 0 stand where
 * dual chunk attention rotates a key, or a query by one of its variants.
 */
#include <math.h>

#include "places.h"

static const char *const names[] = {"chunk_size", "local_size", "variant", NULL};

bool chunks_asked(const struct job *job)
{
    return job_has_key(job, "style") && job_key_is(job, "style", "dual_chunk");
}

bool chunks_unread(struct job *job)
{
    return job_unread(job, names, "only style=dual_chunk counts in chunks");
}

static bool refuse_missing(struct job *job, const char *name, const char *hint)
{
    return job_key(job, name)->set ||
           err_add(&job->request->err, ERR_missing_parameter, job_where(job, name), hint,
                   "%s is missing: style=dual_chunk counts in chunks", name);
}

bool chunks_read(struct job *job, struct pe_chunks *chunks)
{
    static const char hint[] = "dual_chunk_attention_config of the model's config";
    bool ok = refuse_missing(job, "chunk_size", hint);
    if (!refuse_missing(job, "local_size", hint) || !ok)
        return false;
    chunks->size = job_key(job, "chunk_size")->number;
    chunks->local = job_key(job, "local_size")->number;
    return chunks->local < chunks->size ||
           err_add(&job->request->err, ERR_invalid_value, job_where(job, "local_size"), NULL,
                   "local_size must be less than chunk_size (%.0f), got %.0f", chunks->size,
                   chunks->local);
}

bool places_in_chunks(struct job *job, const char *where, struct places *places)
{
    struct pe_chunks chunks = {0};
    bool ok = refuse_missing(job, "variant", "for example variant=query, or variant=key");
    if (!chunks_read(job, &chunks) || !ok)
        return false;
    enum pe_chunk_variant variant = (enum pe_chunk_variant)job_key(job, "variant")->number;
    for (size_t i = 0; i < places->batches * places->n; i++) {
        double token = places->at[i];
        if (!(token >= 0 && token == trunc(token)))
            return err_add(&job->request->err, ERR_invalid_value, where, NULL,
                           "style=dual_chunk counts tokens from 0, in whole numbers; got %g",
                           token);
        places->at[i] = pe_chunk_position(&chunks, variant, token);
    }
    return true;
}
