// SPDX-License-Identifier: Apache-2.0
/*
 * kind_fope.c: rotary position embedding whose pairs have sums of cosines and sines, weighted by
 * learned matrices, over the frequencies that complete a turn within the training; the pairs behind
 * these have the same numbers everywhere.
 */
#include <math.h>

#include "coordinate.h"
#include "exact.h"
#include "frequency.h"
#include "given.h"
#include "lookup.h"
#include "params.h"
#include "rows.h"
#include "value.h"

static const struct pe_param rows[] = {
    PE__ROW_DIM(2, 2),
    PE__ROW_BASE,
    {.name = "layout",
     .type = PE_ENUM,
     .choices = "half|neox|rotate_half|halves",
     .fallback = "half",
     .help = "Channels of pair i: i and i+dim/2; there is no other."},
    {.name = "max_position",
     .aliases = "max_position_embeddings",
     .type = PE_INT,
     .min = 7, /* more than 2 pi: the frequency 1 is always kept */
     .max = PE_POSITION_MAX,
     .fallback = "2048",
     .help = "Positions of the training; frequencies that complete a turn within them are kept: "
             "those above 2 pi/max_position."},
    {.name = "num_inv_freq",
     .type = PE_INT,
     .min = 1,
     .max = PE_DIM_MAX / 2,
     .flags = PE_DERIVED | PE_OPTIONAL,
     .help = "How many frequencies are kept, the first ones, at most dim/2; as max_position says "
             "without it."},
    PE__ROW_SHIFT,
};

/* ---- What is kept ------------------------------------------------------------------------- */

#define COMPARE_BITS 128

/* Whether frequency k is above 2 pi / length. The two are never equal, since one is algebraic; the
 * difference decides as soon as it is more than what the operands are off by. */
static bool completes_turn(double base, size_t k, size_t dim, double length)
{
    mpfr_t angle, turn;
    mpfr_inits2(COMPARE_BITS, angle, turn, (mpfr_ptr)0);
    for (mpfr_prec_t bits = COMPARE_BITS;; bits *= 2) {
        mpfr_set_prec(angle, bits);
        mpfr_set_prec(turn, bits);
        mpfr_const_pi(turn, MPFR_RNDN);
        mpfr_mul_2ui(turn, turn, 1, MPFR_RNDN);
        pe__frequency(base, 2 * k, dim, 1, angle);
        mpfr_mul_d(angle, angle, length, MPFR_RNDN);
        mpfr_sub(angle, angle, turn, MPFR_RNDN);
        if (!mpfr_zero_p(angle) && mpfr_get_exp(angle) > 16 - bits)
            break;
    }
    bool yes = mpfr_sgn(angle) > 0;
    mpfr_clears(angle, turn, (mpfr_ptr)0);
    return yes;
}

/* Frequencies fall from pair to pair, and the first is above. */
static size_t count_kept(double base, size_t dim, double length)
{
    size_t kept = 1, end = dim / 2;
    while (kept < end) {
        size_t middle = kept + (end - kept) / 2;
        if (completes_turn(base, middle, dim, length))
            kept = middle + 1;
        else
            end = middle;
    }
    return kept;
}

/* num_inv_freq, or what follows from max_position: one of them, or both if they agree. */
static bool settle_kept(struct pe_spec *spec, struct pe_faults *faults)
{
    struct pe_params *params = &spec->params;
    const struct pe_value *dim = pe__params_value(params, "dim");
    const struct pe_value *base = pe__params_value(params, "base");
    const struct pe_value *length = pe__params_value(params, "max_position");
    const struct pe_value *kept = pe__params_value(params, "num_inv_freq");
    if (!dim->set || !base->set || !length->set || (kept->given && !kept->set))
        return true;
    if (kept->given && kept->number > dim->number / 2)
        return pe_fault_add(faults, PE_INVALID_VALUE, "num_inv_freq", NULL,
                            "num_inv_freq must be at most dim/2 (%.0f), got %.0f", dim->number / 2,
                            kept->number);
    if (kept->given && !length->given) {
        pe__params_drop(params, "max_position");
        return true;
    }
    size_t n = count_kept(base->number, (size_t)dim->number, length->number);
    if (kept->given && kept->number != (double)n)
        return pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, "max_position",
                            "give one of the two",
                            "max_position %.0f keeps %zu frequencies, but num_inv_freq is given as "
                            "%.0f",
                            length->number, n, kept->number);
    pe__params_derive(params, "num_inv_freq", (double)n);
    return true;
}

static size_t kept_n(const struct pe_spec *spec)
{
    return (size_t)pe_spec_number(spec, "num_inv_freq");
}

static void table_size(const struct pe_spec *spec, size_t *rows_n, size_t *cols_n)
{
    const struct pe_value *kept = pe_params_get(&spec->params, "num_inv_freq");
    *cols_n = kept->set ? (size_t)kept->number : 0;
    *rows_n = 2 * *cols_n;
}

static bool check_numbers(const struct pe_spec *spec, struct pe_faults *faults)
{
    char shown[PE__SHOWN_MAX];
    for (size_t i = 0; spec->table && i < spec->table_rows * spec->table_cols; i++)
        if (!(fabs(spec->table[i]) <= PE__GIVEN_MAX))
            return pe_fault_add(faults, PE_INVALID_VALUE, "table", NULL,
                                "table must have finite numbers of at most 2^100; got %s in row "
                                "%zu",
                                pe__show_number(spec->table[i], shown), i / spec->table_cols);
    return true;
}

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    bool ok = settle_kept(spec, faults);
    return ok && pe__lookup_check(spec, faults) && check_numbers(spec, faults);
}

/* ---- Frequencies -------------------------------------------------------------------------- */

static size_t pairs_n(const struct pe_spec *spec)
{
    return pe_spec_dim(spec) / 2;
}

/* 0 for those that are not kept. */
static void frequency(const struct pe_spec *spec, size_t k, bool scaled, mpfr_t w)
{
    if (scaled && k >= kept_n(spec))
        mpfr_set_zero(w, 1);
    else
        pe__frequency(pe_spec_number(spec, "base"), 2 * k, pe_spec_dim(spec), 1, w);
}

static void pair_channels(const struct pe_spec *spec, size_t pair, size_t *c, size_t *s)
{
    *c = pair;
    *s = pair + pairs_n(spec);
}

/* ---- Sums --------------------------------------------------------------------------------- */

/* The matrices, [kept, kept]: row k has what frequency k gives to each pair. */
struct matrices {
    const double *cosine, *sine;
    size_t kept;
};

static struct matrices matrices_of(const struct pe_spec *spec)
{
    size_t kept = kept_n(spec);
    return (struct matrices){spec->table, spec->table + kept * kept, kept};
}

/* Two multiply-adds for each frequency and pair. */
static size_t work(const struct pe_spec *spec)
{
    size_t kept = kept_n(spec);
    return spec->table ? 2 * kept * kept : 0;
}

/* The sums of a block of pairs, and what they are off by because their cosines and sines are. */
struct sums {
    size_t first, n;
    struct pe__sum cosine[PE__BLOCK], sine[PE__BLOCK];
    double lost[PE__BLOCK];
};

/* Frequency k: its cosine and sine, off by eps. */
static void add_frequency(struct sums *sums, const struct matrices *matrices, size_t k,
                          struct pe__dd cosine, struct pe__dd sine, double eps)
{
    const double *of_cosine = matrices->cosine + k * matrices->kept + sums->first;
    const double *of_sine = matrices->sine + k * matrices->kept + sums->first;
    for (size_t j = 0; j < sums->n; j++) {
        pe__sum_add(&sums->cosine[j], cosine, (struct pe__dd){of_cosine[j], 0});
        pe__sum_add(&sums->sine[j], sine, (struct pe__dd){of_sine[j], 0});
        sums->lost[j] += eps * fmax(fabs(of_cosine[j]), fabs(of_sine[j]));
    }
}

static double take_sum(const struct pe__sum *sum, double lost, double *hi, double *lo)
{
    struct pe__ball ball = pe__sum_ball(sum);
    *hi = ball.hi;
    *lo = ball.lo;
    return ball.eps + lost;
}

/* Pairs [first, first + n) of the kept ones. A walk serves one block of frequencies. */
static double mix(const struct pe__coordinate *coordinate, struct pe__walk *walk, size_t first,
                  size_t n, struct pe__planes *out)
{
    struct matrices matrices = matrices_of(&coordinate->plan->spec);
    struct sums sums = {.first = first, .n = n};
    struct pe__planes *part = out; /* until the sums are taken */
    for (size_t k = 0; k < matrices.kept; k += PE__BLOCK) {
        size_t block = matrices.kept - k < PE__BLOCK ? matrices.kept - k : PE__BLOCK;
        if (matrices.kept > PE__BLOCK)
            walk->valid = false;
        double eps = pe__plan_cis_row(coordinate, walk, k, block, part);
        for (size_t i = 0; i < block; i++)
            add_frequency(&sums, &matrices, k + i,
                          (struct pe__dd){part->cos_hi[i], part->cos_lo[i]},
                          (struct pe__dd){part->sin_hi[i], part->sin_lo[i]}, eps);
    }
    double largest = 0;
    for (size_t j = 0; j < n; j++) {
        double lost = sums.lost[j] * 1.001;
        double c = take_sum(&sums.cosine[j], lost, &out->cos_hi[j], &out->cos_lo[j]);
        double s = take_sum(&sums.sine[j], lost, &out->sin_hi[j], &out->sin_lo[j]);
        if (!(c <= INFINITY && s <= INFINITY)) /* nothing is known of a cosine times 0 */
            return INFINITY;
        largest = fmax(largest, fmax(c, s));
    }
    return largest;
}

static double mixed(const struct pe__coordinate *coordinate, struct pe__walk *walk, size_t first,
                    size_t n, struct pe__planes *out)
{
    const struct pe_spec *spec = &coordinate->plan->spec;
    size_t kept = kept_n(spec), turning = first >= kept ? 0 : kept - first;
    double eps = 0;
    turning = turning < n ? turning : n;
    if (turning > 0)
        eps = spec->table ? mix(coordinate, walk, first, turning, out)
                          : pe__plan_cis_row(coordinate, walk, first, turning, out);
    for (size_t j = turning; j < n; j++) {
        out->cos_hi[j] = out->sin_hi[j] = 1;
        out->cos_lo[j] = out->sin_lo[j] = 0;
    }
    return eps;
}

/* A sum's terms for MPFR. */
struct terms {
    const struct pe__coordinate *coordinate;
    const double *column; /* of a matrix */
    size_t step;
    bool is_sine;
};

static void term_exact(const void *context, size_t k, mpfr_t y)
{
    const struct terms *terms = context;
    pe__plan_cis_exact(terms->coordinate, k, terms->is_sine ? NULL : y, terms->is_sine ? y : NULL);
    mpfr_mul_d(y, y, terms->column[k * terms->step], MPFR_RNDN);
}

#define GUARD_BITS 8 /* that a sum may have lost */

static void mix_exact(const struct pe__coordinate *coordinate, size_t pair, bool is_sine, mpfr_t y)
{
    struct matrices matrices = matrices_of(&coordinate->plan->spec);
    const double *matrix = is_sine ? matrices.sine : matrices.cosine;
    struct terms terms = {coordinate, matrix + pair, matrices.kept, is_sine};
    mpfr_t sum;
    mpfr_init2(sum, mpfr_get_prec(y) + GUARD_BITS);
    pe__exact_sum(term_exact, &terms, matrices.kept, sum);
    mpfr_set(y, sum, MPFR_RNDN);
    mpfr_clear(sum);
}

static void mixed_exact(const struct pe__coordinate *coordinate, size_t pair, mpfr_ptr c,
                        mpfr_ptr s)
{
    const struct pe_spec *spec = &coordinate->plan->spec;
    if (pair < kept_n(spec) && !spec->table) {
        pe__plan_cis_exact(coordinate, pair, c, s);
        return;
    }
    for (int is_sine = 0; is_sine < 2; is_sine++) {
        mpfr_ptr y = is_sine ? s : c;
        if (y && pair < kept_n(spec))
            mix_exact(coordinate, pair, is_sine, y);
        else if (y)
            mpfr_set_ui(y, 1, MPFR_RNDN);
    }
}

static const struct pe_library libraries[] = {
    {"vLLM", "fope.py; its matrices are one pair for all key heads, or with fope_sep_head one for "
             "each: a request for each head then"},
    {0},
};

static const struct pe_reference references[] = {
    {"Fourier Position Embedding: Enhancing Attention's Periodic Extension for Length "
     "Generalization",
     2024, "arXiv:2412.17739"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=fope&dim=8&max_position=512&positions=0:4",
    "/v1/frequencies?kind=fope&dim=64&max_position=512",
    "/v1/apply?kind=fope&dim=8&num_inv_freq=2&positions=0:4",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .frequencies_n = pairs_n,
    .frequency = frequency,
    .pairs_n = pairs_n,
    .pair_channels = pair_channels,
    .mixed = mixed,
    .mixed_exact = mixed_exact,
    .work = work,
    .table_size = table_size,
};

const struct pe_kind pe__kind_fope = {
    .name = "fope",
    .title = "Fourier position embedding (FoPE)",
    .formula = "w_i = base^(-2i/dim), kept while w_i > 2 pi/max_position; c = [cos(p w) A_cos, 1, "
               "..], s = [sin(p w) A_sin, 1, ..]; (a,b) -> (a c - b s, a s + b c)",
    .help = "Multiplies each pair of channels of q and k by weighted sums of cosines and sines in "
            "place of those of one angle. The frequencies that complete no turn within the "
            "training are left out, and their pairs multiplied by 1 and 1 at all positions. The "
            "matrices are posted as table, A_cos above A_sin, each with a row and a column for "
            "every frequency kept; without it they are the identity, and the kept pairs those of "
            "rope.",
    .outside = "Has a value everywhere. All frequencies that are left completed turns in training, "
               "so that no angle is new.",
    .acts = PE_ROTATES,
    .properties = PE_LEARNED | PE_UNBOUNDED,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
