// SPDX-License-Identifier: Apache-2.0
/*
 * aspects_fill.h: what makes the numbers of aspects, and what that shares with aspects.c, which
 * says who has them and in which shape.
 */
#ifndef API_ASPECTS_FILL_H
#define API_ASPECTS_FILL_H

#include <string.h>

#include "aspects.h"
#include "widths.h"

output_fill aspect_cos;
output_fill aspect_sin;
output_fill aspect_table;
output_fill aspect_angle;
output_fill aspect_scale;
output_fill aspect_inv_freq;
output_fill aspect_base_inv_freq;
output_fill aspect_positions;
output_fill aspect_axis;
output_fill aspect_passthrough;
output_fill aspect_bias;
output_fill aspect_slopes;

static inline const struct pe_spec *aspects_spec(const struct job *job)
{
    return &job->specs[job->aspects->spec].spec;
}

/* Whether `table` is cos and sin in one. */
static inline bool aspects_packed(const struct job *job)
{
    return aspects_spec(job)->kind->acts == PE_ROTATES && pack_of(job) != PACK_SEPARATE;
}

/* The pairs from which on frequencies are 0. */
static inline size_t aspects_kept(const struct pe_spec *spec)
{
    int row = pe_params_find(&spec->params, "kept_pairs", strlen("kept_pairs"));
    bool some = row >= 0 && pe_params_applies(&spec->params, (size_t)row);
    return some ? (size_t)spec->params.value[row].number : pe_spec_pairs(spec);
}

/* Those of the first list; all have as many. */
static inline const struct pe_positions *aspects_keys(const struct job *job)
{
    const struct aspects *own = job->aspects;
    return (own->keys ? own->keys : own->positions)->list;
}

#endif
