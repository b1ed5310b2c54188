// SPDX-License-Identifier: Apache-2.0
/*
 * scores_apart.c: /v1/scores where q and k have encodings of their own, "specs": {"q": .., "k":
 * ..}: keys that were cached at another context than that of the query, say.
 */
#include <string.h>

#include "scores.h"

bool scores_apart_read(struct job *job, bool *apart)
{
    struct err *err = &job->request->err;
    *apart = job->specs[0].tensor != NULL;
    if (!*apart)
        return true;
    bool q = false, k = false;
    for (size_t s = 0; s < job->specs_n; s++) {
        q = q || strcmp(job->specs[s].tensor, "q") == 0;
        k = k || strcmp(job->specs[s].tensor, "k") == 0;
    }
    if (!q || !k || job->specs_n != 2)
        return err_add(err, ERR_invalid_value, "/specs", "one for q and one for k",
                       "specs by tensor must name q and k, and no other");
    if (strcmp(job->specs[0].tensor, "k") == 0) {
        struct job_spec of_k = job->specs[0];
        job->specs[0] = job->specs[K_SPEC];
        job->specs[K_SPEC] = of_k;
    }
    bool ok =
        job_key_is(job, "anchor_is", "query") ||
        err_add(err, ERR_conflicting_parameters, job_where(job, "anchor_is"), "anchor_is=query",
                "with encodings of their own the query stands at the anchor");
    return (!job_key_is(job, "normalize", "first") ||
            err_add(err, ERR_conflicting_parameters, job_where(job, "normalize"),
                    "none, cosine or mean",
                    "with encodings of their own no score is the one at offset 0")) &&
           ok;
}

/* Of a pair, before they are rotated or after. */
static bool same_members(const struct pe_spec *a, const struct pe_spec *b, size_t pair, bool after)
{
    size_t a1, a2, b1, b2;
    pe_spec_pair_members(a, pair, after, &a1, &a2);
    pe_spec_pair_members(b, pair, after, &b1, &b2);
    return a1 == b1 && a2 == b2;
}

static bool same_channels(const struct pe_spec *a, const struct pe_spec *b)
{
    bool same = pe_spec_pairs(a) == pe_spec_pairs(b);
    for (size_t i = 0; same && i < pe_spec_pairs(a); i++)
        same = same_members(a, b, i, false) && same_members(a, b, i, true);
    return same;
}

bool scores_apart_check(struct job *job)
{
    const struct pe_spec *q = &job->specs[0].spec, *k = &job->specs[K_SPEC].spec;
    struct err *err = &job->request->err;
    if (q->kind->acts != PE_ROTATES || k->kind->acts != PE_ROTATES)
        return err_add(err, ERR_invalid_value, "/specs", "for example rope",
                       "q and k may have encodings of their own where both rotate; got %s and %s",
                       q->kind->name, k->kind->name);
    return same_channels(q, k) ||
           err_add(err, ERR_invalid_value, "/specs", "the same layout and rotary_dim",
                   "the encodings of q and k must pair the same channels");
}

void scores_apart_tell(struct job *job)
{
    struct tree *specs = tree_object(job->answer.root, "specs");
    job_spec_tree(specs, "q", &job->specs[0].spec);
    job_spec_tree(specs, "k", &job->specs[K_SPEC].spec);
    if (strcmp(job->specs[0].id, job->specs[K_SPEC].id) != 0)
        job_note(job, "q and k have different encodings, so that a score depends on where both "
                      "stand, not on their distance alone.");
}
