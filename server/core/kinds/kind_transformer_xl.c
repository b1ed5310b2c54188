// SPDX-License-Identifier: Apache-2.0
/*
 * kind_transformer_xl.c: the sinusoid of the distance, projected, in the place of the key's own
 * position; and two learned vectors of each head in that of the query's.
 */
#include <string.h>

#include "exact.h"
#include "frequency.h"
#include "heads.h"
#include "kind.h"
#include "lookup.h"
#include "params.h"
#include "rows.h"

#define FIRST_ROWS 2 /* of the table: u and v, before the projection */

static const struct pe_param rows[] = {
    PE__ROW_HEADS,
    PE__ROW_HEAD,
    PE__ROW_DIM(1, 0),
    {.name = "model_dim",
     .type = PE_INT,
     .min = 2,
     .max = PE_DIM_MAX,
     .multiple_of = 2,
     .fallback = "64",
     .help = "Channels of the sinusoid, which the projection takes; in models heads dim."},
    PE__ROW_BASE,
    {.name = "clamp",
     .aliases = "clamp_len",
     .type = PE_REAL,
     .min = 0,
     .max = PE_POSITION_MAX,
     .flags = PE_OPTIONAL | PE_OPEN_MIN,
     .help = "Largest distance that the sinusoid is taken of; without it any."},
    PE__ROW_TABLE_SEED,
    PE__ROW_TABLE_STD,
    PE__ROW_SHIFT,
};

/* ---- The sinusoid of the distance --------------------------------------------------------- */

static size_t waves_n(const struct pe_spec *spec)
{
    return (size_t)pe_spec_number(spec, "model_dim") / 2;
}

static void frequency(const struct pe_spec *spec, size_t k, bool scaled, mpfr_t w)
{
    (void)scaled;
    pe__frequency(pe_spec_number(spec, "base"), k, waves_n(spec), 1, w);
}

/* No channel of q and k turns. */
static size_t pairs_n(const struct pe_spec *spec)
{
    (void)spec;
    return 0;
}

static struct pe__pos distance_of(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    const struct pe_value *clamp = pe_params_get(&plan->spec.params, "clamp");
    struct pe__dd distance = pe__two_sum(at->query, -at->key);
    if (clamp->set && fabs(distance.hi) > clamp->number)
        distance = (struct pe__dd){distance.hi < 0 ? -clamp->number : clamp->number, 0};
    return (struct pe__pos){distance.hi, distance.lo};
}

/* ---- The table ---------------------------------------------------------------------------- */

static void table_size(const struct pe_spec *spec, size_t *rows_n, size_t *cols)
{
    *rows_n = FIRST_ROWS + 2 * waves_n(spec);
    *cols = pe_spec_heads(spec) * pe_spec_dim(spec);
}

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    static const char *const sizes[] = {"model_dim", "heads", "dim", NULL};
    bool ok = pe__lookup_check(spec, faults);
    return pe__heads_check(spec, faults) && ok && pe__lookup_fits(spec, sizes, faults);
}

static size_t work(const struct pe_spec *spec)
{
    return (2 * waves_n(spec) + 1) * pe_spec_dim(spec);
}

/* What one bias is made of. */
struct meeting {
    const struct pe_plan *plan;
    const struct pe__bias_at *at;
    const double *u, *v, *projection; /* of the head; rows of the projection are `step` apart */
    size_t dim, step, waves;
    struct pe__pos distance;
};

static struct meeting meeting_of(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    size_t dim = pe_spec_dim(&plan->spec), step = pe_spec_heads(&plan->spec) * dim;
    const double *u = pe__lookup_doubles(plan) + at->head * dim;
    return (struct meeting){plan,
                            at,
                            u,
                            u + step,
                            u + FIRST_ROWS * step,
                            dim,
                            step,
                            waves_n(&plan->spec),
                            distance_of(plan, at)};
}

/* (q + v) . row i of the projection */
static struct pe__ball projected(const struct meeting *meeting, size_t i)
{
    const double *row = meeting->projection + i * meeting->step, *q = meeting->at->q;
    struct pe__sum sum = {0};
    for (size_t c = 0; c < meeting->dim; c++)
        pe__sum_add(&sum, pe__two_sum(q[c], meeting->v[c]), (struct pe__dd){row[c], 0});
    return pe__sum_ball(&sum);
}

/* u . k */
static struct pe__ball unplaced(const struct meeting *meeting)
{
    struct pe__sum sum = {0};
    for (size_t c = 0; c < meeting->dim; c++)
        pe__sum_add(&sum, (struct pe__dd){meeting->u[c], 0}, (struct pe__dd){meeting->at->k[c], 0});
    return pe__sum_ball(&sum);
}

static struct pe__ball bias(const struct pe_plan *plan, const struct pe__bias_at *at)
{
    struct meeting meeting = meeting_of(plan, at);
    struct pe__ball sum = unplaced(&meeting);
    struct pe__planes planes;
    for (size_t first = 0; first < meeting.waves; first += PE__BLOCK) {
        size_t n = meeting.waves - first < PE__BLOCK ? meeting.waves - first : PE__BLOCK;
        struct pe__walk walk = {.valid = false};
        double eps = pe__cis_row(plan->cis, &walk, meeting.distance, first, n, &planes);
        for (size_t k = 0; k < n; k++) {
            struct pe__ball s = {planes.sin_hi[k], planes.sin_lo[k], eps};
            struct pe__ball c = {planes.cos_hi[k], planes.cos_lo[k], eps};
            s = pe__ball_mul(s, projected(&meeting, first + k));
            c = pe__ball_mul(c, projected(&meeting, meeting.waves + first + k));
            sum = pe__ball_add(sum, pe__ball_add(s, c));
        }
    }
    return sum;
}

/* ---- By MPFR ------------------------------------------------------------------------------ */

/* Channel i of the sinusoid. */
static void wave_exact(const struct meeting *meeting, size_t i, mpfr_t y)
{
    bool is_cos = i >= meeting->waves;
    if (meeting->distance.hi == 0)
        mpfr_set_ui(y, is_cos, MPFR_RNDN);
    else
        pe__cis_exact(meeting->plan->cis, meeting->distance, i % meeting->waves, is_cos ? y : NULL,
                      is_cos ? NULL : y);
}

/* Term 0: u . k; then those of the channels. */
static void term_exact(const void *context, size_t i, mpfr_t y)
{
    const struct meeting *meeting = context;
    mpfr_t sum;
    mpfr_init2(sum, PE__EXACT_BITS);
    mpfr_set_zero(sum, 1);
    for (size_t c = 0; c < meeting->dim; c++) {
        const double *row = meeting->projection + (i - 1) * meeting->step;
        pe__exact_add_product(sum, i == 0 ? meeting->u[c] : meeting->at->q[c],
                              i == 0 ? meeting->at->k[c] : row[c]);
        if (i > 0)
            pe__exact_add_product(sum, meeting->v[c], row[c]);
    }
    mpfr_set_ui(y, 1, MPFR_RNDN);
    if (i > 0)
        wave_exact(meeting, i - 1, y);
    mpfr_mul(y, y, sum, MPFR_RNDN);
    mpfr_clear(sum);
}

static void bias_exact(const struct pe_plan *plan, const struct pe__bias_at *at, mpfr_t y)
{
    struct meeting meeting = meeting_of(plan, at);
    pe__exact_sum(term_exact, &meeting, 1 + 2 * meeting.waves, y);
}

/* ---- Catalogue ---------------------------------------------------------------------------- */

static const struct pe_reference references[] = {
    {"Transformer-XL: Attentive Language Models Beyond a Fixed-Length Context", 2019,
     "arXiv:1901.02860"},
    {0},
};

static const struct pe_library libraries[] = {
    {"transformers", "XLNet, which has a term for segments too"},
    {0},
};

static const char *const examples[] = {
    "/v1/scores?kind=transformer_xl&table_std=0.1",
    "/v1/scores?kind=transformer_xl&clamp=8&scale=sqrt_dim",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .work = work,
    .frequencies_n = waves_n,
    .frequency = frequency,
    .pairs_n = pairs_n,
    .bias = bias,
    .bias_exact = bias_exact,
    .table_size = table_size,
    .constants = pe__lookup_constants,
};

const struct pe_kind pe__kind_transformer_xl = {
    .name = "transformer_xl",
    .aliases = "xlnet",
    .title = "Relative sinusoids (Transformer-XL)",
    .formula = "score(m,n) = (q_m + u).k_n + (q_m + v).(W R(m-n)), R = [sin | cos] of (m-n) "
               "base^(-2i/model_dim)",
    .help = "Adds to each attention score the product of the query and the projected sinusoid of "
            "the distance, with learned u and v for each head. The table is [2 + model_dim, heads "
            "dim]: u, v, then what each channel of the sinusoid is projected to. It is posted, or "
            "drawn from table_seed.",
    .outside = "Without end, but the sinusoids of longer distances have not been trained; XLNet "
               "may clamp distances.",
    .acts = PE_BIASES,
    .properties = PE_RELATIVE | PE_KEEPS_NORM | PE_LEARNED | PE_UNBOUNDED | PE_CONTENT,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
