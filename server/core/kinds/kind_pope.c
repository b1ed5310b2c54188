// SPDX-License-Identifier: Apache-2.0
/*
 * kind_pope.c: polar position embedding: every channel becomes a length, by softplus, at an angle
 * of the position alone, so that content and position do not mix.
 */
#include <math.h>

#include "frequency.h"
#include "kind.h"
#include "params.h"
#include "rows.h"

#define TURN 6.283185307179586 /* 2 pi, rounded down */

static const struct pe_param rows[] = {
    PE__ROW_DIM(1, 1),
    PE__ROW_BASE,
    {.name = "deltas",
     .type = PE_REALS,
     .min = -TURN,
     .max = 0,
     .flags = PE_OPTIONAL,
     .help = "Learned radians that are added to the angles of k in one head, channel by channel; 0 "
             "without it."},
    PE__ROWS_PLACE,
};

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *dim = pe__params_value(&spec->params, "dim");
    const struct pe_value *deltas = pe__params_value(&spec->params, "deltas");
    if (!dim->set || !deltas->set || deltas->list_n == (size_t)dim->number)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, "deltas", NULL,
                        "deltas must have a number for each of the %.0f channels, got %zu",
                        dim->number, deltas->list_n);
}

/* Each channel has one. */
static size_t pairs_n(const struct pe_spec *spec)
{
    return pe_spec_dim(spec);
}

static void frequency(const struct pe_spec *spec, size_t k, bool scaled, mpfr_t w)
{
    (void)scaled;
    pe__frequency(pe_spec_number(spec, "base"), k, pe_spec_dim(spec), 1, w);
}

static void pair_channels(const struct pe_spec *spec, size_t pair, size_t *c, size_t *s)
{
    *c = pair;
    *s = pe_spec_dim(spec) + pair;
}

/* ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|), whose last term does not vanish. */
static void radius(double x, mpfr_t y)
{
    mpfr_set_d(y, -fabs(x), MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDU);
    mpfr_log1p(y, y, MPFR_RNDU);
    if (x > 0)
        mpfr_add_d(y, y, x, MPFR_RNDU);
}

static double phase(const struct pe_spec *spec, size_t pair)
{
    return pe_params_get(&spec->params, "deltas")->list[pair];
}

#define PHASE_BITS 160

static void split(const mpfr_t x, mpfr_t rest, double *hi, double *lo)
{
    *hi = mpfr_get_d(x, MPFR_RNDN);
    mpfr_sub_d(rest, x, *hi, MPFR_RNDN);
    *lo = mpfr_get_d(rest, MPFR_RNDN);
}

/* Cosines of the deltas, then their sines. */
static size_t constants(const struct pe_spec *spec, double *hi, double *lo)
{
    size_t dim = pe_spec_dim(spec);
    if (!pe_params_get(&spec->params, "deltas")->set)
        return 0;
    MPFR_DECL_INIT(c, PHASE_BITS);
    MPFR_DECL_INIT(s, PHASE_BITS);
    MPFR_DECL_INIT(rest, PHASE_BITS);
    for (size_t i = 0; hi && i < dim; i++) {
        mpfr_set_d(rest, phase(spec, i), MPFR_RNDN);
        mpfr_sin_cos(s, c, rest, MPFR_RNDN);
        split(c, rest, &hi[i], &lo[i]);
        split(s, rest, &hi[dim + i], &lo[dim + i]);
    }
    return 2 * dim;
}

static const struct pe_library libraries[] = {
    {"x-transformers", "PolarEmbedding (polar_pos_emb): deltas is its learned bias"},
    {0},
};

static const struct pe_reference references[] = {
    {"Decoupling the \"What\" and \"Where\" With Polar Coordinate Positional Embeddings", 2025,
     "arXiv:2509.10534"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=pope&dim=8&positions=0:4",
    "/v1/apply?kind=pope&dim=8&positions=0:4",
    "/v1/frequencies?kind=pope&dim=8",
    NULL,
};

static const struct pe__polar polar = {
    .radius = radius,
    .phase = phase,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .frequencies_n = pairs_n,
    .frequency = frequency,
    .pairs_n = pairs_n,
    .pair_channels = pair_channels,
    .polar = &polar,
    .constants = constants,
};

const struct pe_kind pe__kind_pope = {
    .name = "pope",
    .aliases = "polar",
    .title = "Polar position embedding (PoPE)",
    .formula = "t_j = p*base^(-j/dim), j < dim; q -> [softplus(q_j) cos t_j | softplus(q_j) sin "
               "t_j], k the same with t_j + deltas_j",
    .help = "Makes two channels of each: a length, softplus of the channel, at an angle that the "
            "position alone decides, with as many frequencies as there are channels. What a key "
            "says and where it stands do not mix. The table holds cos and sin alone, all cosines "
            "first; deltas turn the keys of /v1/apply.",
    .outside = "Has a value everywhere. Slow channels reach new angles beyond the range of "
               "training.",
    .acts = PE_ROTATES,
    .properties = PE_RELATIVE | PE_UNBOUNDED,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
