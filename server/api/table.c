// SPDX-License-Identifier: Apache-2.0
/*
 * table.c: GET /v1/table: the encoding of each position; cos and sin of rotating kinds. What bias
 * kinds have instead is in table_bias.c.
 */
#include "table.h"

#include "keys.h"
#include "widths.h"

static const struct pe_param keys[] = {
    KEYS_POSITIONS("0:32", 0),
    {"channels", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Channels to give, in the grammar of positions; all without it."},
    {"value", NULL, PE_ENUM, 0, 0, 0, PE_OPTIONAL | PE_DERIVED, NULL,
     "encoding cos sin both bias bucket slopes index input", NULL,
     "What to tabulate: encoding (not for biases); cos, sin, both (rotating); of kinds that have "
     "them bias, slopes, bucket, index, input."},
    KEY_WIDTH("half", 0),
    KEY_PACK,
    KEY_WITH,
    KEY_DTYPE("Number format of the answer; f64 by default."),
    KEY_STAGES,
    {"k_positions", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Matrices: positions of the keys, where they differ from those of the queries."},
    {"queries", NULL, PE_INT, 1, PE_POSITIONS_N_MAX, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Matrices: how many queries; they are the last ones of as many tokens as there are keys."},
    {"keys", NULL, PE_INT, 1, PE_POSITIONS_N_MAX, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Matrices: how many keys, at 0, 1, ... where no positions are given."},
};

/* Names of facets as in "cos, sin or both". */
static const char *list_facets(struct job *job, unsigned facets)
{
    const char *list = "";
    for (unsigned f = 0; f < PE_FACETS_N && list; f++) {
        if (!(facets >> f & 1))
            continue;
        bool is_last = facets >> f == 1;
        const char *between = *list == '\0' ? "" : is_last ? " or " : ", ";
        list = arena_printf(&job->request->arena, "%s%s%s", list, between,
                            pe_facet_name((enum pe_facet)f));
    }
    return list;
}

static bool takes(const struct pe_spec *spec)
{
    return pe_kind_facets(spec->kind) != 0;
}

/* The value asked for, or the kind's first, or, with columns laid out, cos and sin; refused where
 * the kind has none of it. */
static bool read_value(struct job *job, struct table *own)
{
    const struct pe_kind *kind = job->specs[0].spec.kind;
    unsigned offered = pe_kind_facets(kind);
    const char *hint = kind->properties & PE_CONTENT ? "its bias is made of q and k: /v1/scores"
                                                     : list_facets(job, offered);
    bool laid_out = job_key(job, "width")->given || job_key(job, "pack")->given;
    bool both = laid_out && offered >> PE_FACET_BOTH & 1;
    job_derive(job, "value",
               both      ? PE_FACET_BOTH
               : offered ? __builtin_ctz(offered)
                         : PE_FACET_BIAS);
    own->value = (enum pe_facet)job_key(job, "value")->number;
    if (offered >> own->value & 1)
        return true;
    return err_add(&job->request->err, ERR_invalid_value, "value", hint,
                   "kind=%s has no such value", kind->name);
}

static bool is_matrix(enum pe_facet value)
{
    return value >= PE_FACET_BIAS && value != PE_FACET_SLOPES;
}

static bool has_integers(enum pe_facet value)
{
    return value == PE_FACET_BUCKET || value == PE_FACET_INDEX;
}

/* Keys that say nothing about the value asked for. */
static bool keys_read(struct job *job, enum pe_facet value)
{
    static const char *const pack[] = {"pack", NULL}, *const channels[] = {"channels", NULL};
    static const char *const dtype[] = {"dtype", NULL};
    static const char *const sides[] = {"queries", "keys", "k_positions", NULL};
    bool ok =
        value != PE_FACET_ENCODING ||
        job_unread(job, pack, "value=encoding has cos and sin in the channels of their pairs");
    if (is_matrix(value) || value == PE_FACET_SLOPES)
        ok = job_unread(job, channels, "this value has no channels") && ok;
    if (!is_matrix(value))
        ok = job_unread(job, sides, "only matrices of queries and keys have them") && ok;
    return (!has_integers(value) ||
            job_unread(job, dtype,
                       value == PE_FACET_BUCKET ? "buckets are i64" : "indices are i64")) &&
           ok;
}

/* ---- Outputs ------------------------------------------------------------------------------- */

/* The stages that can make a difference to the value asked for. */
static unsigned stages_of(enum pe_facet value)
{
    switch (value) {
    case PE_FACET_BUCKET:
    case PE_FACET_INDEX:
    case PE_FACET_INPUT:
        return 1u << PE_STAGE_POS;
    case PE_FACET_SLOPES:
        return 1u << PE_STAGE_FREQ;
    default:
        return PE_STAGES_OF_PLANS;
    }
}

/* The tensors of the value asked for. */
static void outputs_state(struct job *job, const struct table *own)
{
    bool packed = pack_of(job) != PACK_SEPARATE;
    switch (own->value) {
    case PE_FACET_ENCODING:
        aspect_state(job, ASPECT_TABLE);
        break;
    case PE_FACET_COS:
        aspect_state(job, ASPECT_COS);
        break;
    case PE_FACET_SIN:
        aspect_state(job, ASPECT_SIN);
        break;
    case PE_FACET_BOTH:
        aspect_state(job, packed ? ASPECT_TABLE : ASPECT_COS);
        if (!packed)
            aspect_state(job, ASPECT_SIN);
        break;
    case PE_FACET_BIAS:
        aspect_state(job, ASPECT_BIAS);
        break;
    case PE_FACET_SLOPES:
        aspect_state(job, ASPECT_SLOPES);
        break;
    default:
        table_matrix_state(job, own);
    }
}

/* All columns, then the chosen ones of those of the value asked for. */
static bool read_columns(struct job *job, struct table *own)
{
    struct aspects *aspects = &own->aspects;
    bool encoding = own->value == PE_FACET_ENCODING;
    struct columns *columns = encoding ? &aspects->channels : &aspects->pairs, chosen;
    if (!aspects_columns(job, aspects, NULL))
        return false;
    return !job_key(job, "channels")->set || (columns_read(job, "channels", columns->n, &chosen) &&
                                              widths_choose(job, &chosen, columns));
}

static bool prepare(struct job *job)
{
    struct table *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    if (!own)
        return false;
    const struct pe_spec *spec = &job->specs[0].spec;
    bool ok = job_specs_finish(job);
    bool known = read_value(job, own) && keys_read(job, own->value);
    bool placed = ok && known && is_matrix(own->value)
                      ? table_sides(job, own, own->value == PE_FACET_BIAS ? JOB_BATCHES_ANY : 1)
                      : job_positions(job, "positions", spec, JOB_BATCHES_ANY, &own->positions);
    if (!ok || !known || !placed)
        return false;
    bool matrix = is_matrix(own->value), integers = has_integers(own->value);
    own->aspects.positions = &own->positions;
    own->aspects.keys = matrix ? &own->keys : NULL;
    own->aspects.dtype = integers ? PE_F64 : job_dtype(job, PE_F64);
    job->aspects = &own->aspects;
    unsigned stages = stages_of(own->value) | aspects_stages(job);
    if (!job_stages(job, stages, own->aspects.dtype) || !read_columns(job, own))
        return false;
    job->plan_positions = job_positions_all(&own->positions);
    outputs_state(job, own);
    if (matrix && !table_matrix_work(job, own))
        return false;
    return aspects_with(job) && job_center(job, &own->positions) &&
           job_positions_check(job, &own->positions) &&
           (!matrix || job_positions_check(job, &own->keys));
}

const struct endpoint table_endpoint = {
    .summary = "The encoding table, or the bias matrix, at the given positions.",
    .describes = "table",
    .schema = "TableAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .specs_max = 1,
    .acts = ~0u,
    .takes = takes,
    .cache = CACHE_COMPUTED,
    .formats = FORMATS_TENSORS,
    .prepare = prepare,
};
