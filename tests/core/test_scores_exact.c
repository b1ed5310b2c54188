// SPDX-License-Identifier: Apache-2.0
/*
 * test_scores_exact.c: scores, terms and lengths of every kind, scale and normalization bit for bit
 * against a reference that encodes both vectors (ref_scores.h), for contents that the fast path
 * decides and for those that it cannot.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scores_setup.h"
#include "ref/ref_scores.h"
#include "round.h"
#include "scores_parts.h"

/* ---- Reference ---------------------------------------------------------------------------- */

/* Exact means over the vectors of one cell. */
struct ref_cell {
    mpfr_t sum, bias, length, factor;
    struct ref_vector q, k;
};

static void ref_cell_init(struct ref_cell *cell)
{
    mpfr_inits2(REF_BITS, cell->sum, cell->bias, cell->length, cell->factor, (mpfr_ptr)NULL);
    ref_vector_init(&cell->q);
    ref_vector_init(&cell->k);
}

static void ref_cell_clear(struct ref_cell *cell)
{
    mpfr_clears(cell->sum, cell->bias, cell->length, cell->factor, (mpfr_ptr)NULL);
    ref_vector_clear(&cell->q);
    ref_vector_clear(&cell->k);
}

/* cell->sum = mean over the vectors of q.k + bias, cosine if asked, at two positions. */
static void ref_mean_score(struct ref_cell *cell, const struct ref_encoding *e,
                           const struct pe_scores *job, double m, double n)
{
    mpfr_t total;
    mpfr_init2(total, REF_BITS);
    mpfr_set_zero(total, 1);
    for (size_t v = 0; v < job->vectors_n; v++) {
        ref_encode(e, job->q + v * job->dim, m, &cell->q);
        ref_encode(e, job->k + v * job->dim, n, &cell->k);
        ref_dot(&cell->q, &cell->k, job->dim, cell->sum);
        mpfr_add(cell->sum, cell->sum, cell->bias, MPFR_RNDN);
        if (job->normalize == PE_NORMALIZE_COSINE) {
            ref_length(&cell->q, job->dim, cell->length);
            mpfr_div(cell->sum, cell->sum, cell->length, MPFR_RNDN);
            ref_length(&cell->k, job->dim, cell->length);
            mpfr_div(cell->sum, cell->sum, cell->length, MPFR_RNDN);
        }
        mpfr_add(total, total, cell->sum, MPFR_RNDN);
    }
    mpfr_div_ui(cell->sum, total, job->vectors_n, MPFR_RNDN);
    mpfr_clear(total);
}

/* The factor that scale and normalize=mean stand for. */
static void ref_scale(struct ref_cell *cell, const struct pe_scores *job)
{
    mpfr_mul_d(cell->sum, cell->sum, job->scale, MPFR_RNDN);
    if (job->scale_sqrt_dim) {
        mpfr_sqrt_ui(cell->factor, job->dim, MPFR_RNDN);
        mpfr_div(cell->sum, cell->sum, cell->factor, MPFR_RNDN);
    }
    if (job->normalize == PE_NORMALIZE_MEAN) {
        mpfr_mul_ui(cell->sum, cell->sum, 2, MPFR_RNDN);
        mpfr_div_ui(cell->sum, cell->sum, job->dim, MPFR_RNDN);
    }
}

/* -slope |distance| of head 0, or 0. */
static void ref_bias(struct ref_cell *cell, double slope, double distance)
{
    mpfr_set_d(cell->bias, slope, MPFR_RNDN);
    mpfr_mul_d(cell->bias, cell->bias, -fabs(distance), MPFR_RNDN);
}

static void ref_mean_length(struct ref_cell *cell, const struct ref_encoding *e,
                            const struct pe_scores *job, const double *vectors, double position)
{
    mpfr_set_zero(cell->sum, 1);
    for (size_t v = 0; v < job->vectors_n; v++) {
        ref_encode(e, vectors + v * job->dim, position, &cell->q);
        ref_length(&cell->q, job->dim, cell->length);
        mpfr_add(cell->sum, cell->sum, cell->length, MPFR_RNDN);
    }
    mpfr_div_ui(cell->sum, cell->sum, job->vectors_n, MPFR_RNDN);
}

/* A spec in both languages. */
struct spec_case {
    const char *text;
    struct ref_encoding encoding;
    double slope;
};

static const struct spec_case spec_cases[] = {
    {"none:dim=12", {.kind = REF_NONE, .dim = 12}, 0},
    {"rope:dim=12", {REF_ROPE, 12, 12, 1e4, false, 1, 0, 0, 0, false}, 0},
    {"rope:dim=12,layout=half,direction=-1,base=77.5",
     {REF_ROPE, 12, 12, 77.5, true, -1, 0, 0, 0, false},
     0},
    {"rope:dim=14,rotary_dim=6,shift=0.5", {REF_ROPE, 14, 6, 1e4, false, 1, 0.5, 0, 0, false}, 0},
    {"rope:dim=14,rotary_dim=4,layout=half", {REF_ROPE, 14, 4, 1e4, true, 1, 0, 0, 0, false}, 0},
    {"sinusoidal:dim=12", {REF_SINUSOIDAL, 12, 0, 1e4, false, 1, 0, 0, 0, false}, 0},
    {"sinusoidal:dim=8,layout=half,base=100,shift=3",
     {REF_SINUSOIDAL, 8, 0, 100, true, 1, 3, 0, 0, false},
     0},
    {"sinusoidal:dim=7",
     {.kind = REF_SINUSOIDAL, .dim = 7, .base = 1e4, .direction = 1, .zero_last = true},
     0},
    {"sinusoidal:dim=7,odd=sin",
     {.kind = REF_SINUSOIDAL, .dim = 7, .base = 1e4, .direction = 1},
     0},
    {"integer:dim=5", {.kind = REF_INTEGER, .dim = 5}, 0},
    {"binary:dim=12", {.kind = REF_BINARY, .dim = 12}, 0},
    {"learned:dim=6,table_seed=9,table_std=0.3",
     {.kind = REF_LEARNED, .dim = 6, .seed = 9, .std = 0.3},
     0},
    {"alibi:slope=0.3", {.kind = REF_NONE, .dim = 11}, 0.3},
};
#define SPEC_CASES_N (sizeof spec_cases / sizeof spec_cases[0])

static bool adds(const struct ref_encoding *e)
{
    return e->kind != REF_NONE && e->kind != REF_ROPE;
}

static double place(const struct setup *setup, size_t a, size_t o)
{
    return setup->anchors[a] + setup->offsets[o];
}

/* Whether the rest is the exact sum less the score, as a float in units of the score's size. */
static bool rest_agrees(const struct ref_cell *cell, double score, double rest)
{
    mpfr_t error;
    mpfr_init2(error, REF_BITS);
    mpfr_sub_d(error, cell->sum, score, MPFR_RNDN);
    mpfr_sub_d(error, error, rest, MPFR_RNDN);
    double bound = fabs(rest) * 0x1p-23 + fabs(score) * 0x1p-148 + 0x1p-1074;
    bool ok = fabs(mpfr_get_d(error, MPFR_RNDA)) <= bound;
    mpfr_clear(error);
    return ok;
}

static void check_scores(const struct setup *setup, const struct spec_case *spec)
{
    const struct pe_scores *job = &setup->job;
    const struct ref_encoding *e = &spec->encoding;
    struct ref_cell cell;
    struct ref_cell start;
    ref_cell_init(&cell);
    ref_cell_init(&start);
    for (size_t i = 0; i < job->anchors_n * job->offsets_n; i++) {
        double anchor = setup->anchors[i / job->offsets_n];
        double other = place(setup, i / job->offsets_n, i % job->offsets_n);
        ref_bias(&cell, spec->slope, setup->offsets[i % job->offsets_n]);
        if (job->anchor_is_key)
            ref_mean_score(&cell, e, job, other, anchor);
        else
            ref_mean_score(&cell, e, job, anchor, other);
        ref_scale(&cell, job);
        if (job->normalize == PE_NORMALIZE_FIRST) {
            ref_bias(&start, spec->slope, 0);
            ref_mean_score(&start, e, job, anchor, anchor);
            ref_scale(&start, job);
            mpfr_div(cell.sum, cell.sum, start.sum, MPFR_RNDN);
        }
        cr_expect(same(setup->scores[i], ref_round(PE_F64, cell.sum)),
                  "%s, n %zu, normalize %d, cell %zu: %a", spec->text, job->vectors_n,
                  job->normalize, i, setup->scores[i]);
        cr_expect(rest_agrees(&cell, setup->scores[i], setup->rest[i]), "%s, rest of cell %zu",
                  spec->text, i);
    }
    ref_cell_clear(&cell);
    ref_cell_clear(&start);
}

static void check_lengths(const struct setup *setup, const struct spec_case *spec)
{
    const struct pe_scores *job = &setup->job;
    const struct ref_encoding *e = &spec->encoding;
    const struct ref_encoding none = {.kind = REF_NONE, .dim = e->dim};
    struct ref_cell cell;
    ref_cell_init(&cell);
    ref_mean_length(&cell, &none, job, job->q, 0);
    cr_expect(same(job->norm_q_before, ref_round(PE_F64, cell.sum)), "%s", spec->text);
    ref_mean_length(&cell, &none, job, job->k, 0);
    cr_expect(same(job->norm_k_before, ref_round(PE_F64, cell.sum)), "%s", spec->text);
    for (size_t a = 0; a < job->anchors_n; a++) {
        ref_mean_length(&cell, e, job, job->q, setup->anchors[a]);
        cr_expect(same(setup->norm_q_after[a], ref_round(PE_F64, cell.sum)), "%s, anchor %zu",
                  spec->text, a);
    }
    for (size_t i = 0; i < job->anchors_n * job->offsets_n; i++) {
        ref_mean_length(&cell, e, job, job->k,
                        place(setup, i / job->offsets_n, i % job->offsets_n));
        cr_expect(same(setup->norm_k_after[i], ref_round(PE_F64, cell.sum)), "%s, cell %zu",
                  spec->text, i);
    }
    ref_cell_clear(&cell);
}

/* q.k, q.E, E.k and E.E with the vectors or codes taken apart. */
static void check_terms(const struct setup *setup, const struct spec_case *spec)
{
    static const double zeros[VECTORS_MAX * REF_DIM_MAX];
    const struct pe_scores *job = &setup->job;
    const struct ref_encoding *e = &spec->encoding;
    const struct ref_encoding none = {.kind = REF_NONE, .dim = e->dim};
    struct ref_cell cell;
    ref_cell_init(&cell);
    for (size_t i = 0; i < job->anchors_n * job->offsets_n; i++) {
        double anchor = setup->anchors[i / job->offsets_n];
        double other = place(setup, i / job->offsets_n, i % job->offsets_n);
        double m = job->anchor_is_key ? other : anchor;
        double n = job->anchor_is_key ? anchor : other;
        for (size_t t = 0; t < 4; t++) {
            bool code_q = t == 2 || t == 3;
            bool code_k = t == 1 || t == 3;
            mpfr_set_zero(cell.bias, 1);
            for (size_t v = 0; v < job->vectors_n; v++) {
                size_t first = v * job->dim;
                ref_encode(code_q ? e : &none, (code_q ? zeros : job->q) + first, m, &cell.q);
                ref_encode(code_k ? e : &none, (code_k ? zeros : job->k) + first, n, &cell.k);
                ref_dot(&cell.q, &cell.k, job->dim, cell.sum);
                mpfr_add(cell.bias, cell.bias, cell.sum, MPFR_RNDN);
            }
            mpfr_div_ui(cell.bias, cell.bias, job->vectors_n, MPFR_RNDN);
            cr_expect(same(setup->terms[t][i], ref_round(PE_F64, cell.bias)),
                      "%s, term %zu of cell %zu: %a", spec->text, t, i, setup->terms[t][i]);
        }
    }
    ref_cell_clear(&cell);
}

static void check_all(const struct setup *setup, const struct spec_case *spec)
{
    check_scores(setup, spec);
    check_lengths(setup, spec);
    if (adds(&spec->encoding))
        check_terms(setup, spec);
}

static void setup_for(struct setup *setup, const struct spec_case *spec, size_t vectors_n)
{
    static const double offsets[] = {0, 1, 7, 100, 2};
    setup_init(setup, spec->encoding.dim, 5);
    memcpy(setup->offsets, offsets, sizeof offsets);
    setup->job.vectors_n = vectors_n;
    size_t n = vectors_n * spec->encoding.dim;
    pe_fill_random(4, "q", PE_CONTENT_NORMAL, 1, 0, n, PE_F64, setup->q);
    pe_fill_random(4, "k", PE_CONTENT_UNIFORM, 3, 0, n, PE_F64, setup->k);
}

/* ---- Against the reference ---------------------------------------------------------------- */

Test(scores_exact, every_kind)
{
    static struct setup setup;
    for (size_t i = 0; i < SPEC_CASES_N; i++)
        for (size_t vectors_n = 1; vectors_n <= 3; vectors_n++) {
            setup_for(&setup, &spec_cases[i], vectors_n);
            setup.job.anchor_is_key = vectors_n == 2;
            cr_assert_eq(run(&setup, spec_cases[i].text), PE_OK);
            check_all(&setup, &spec_cases[i]);
        }
}

Test(scores_exact, scale_and_normalize)
{
    static struct setup setup;
    for (size_t i = 0; i < SPEC_CASES_N; i++)
        for (int normalize = PE_NORMALIZE_NONE; normalize <= PE_NORMALIZE_FIRST; normalize++) {
            setup_for(&setup, &spec_cases[i], 1 + (i + (size_t)normalize) % 2);
            setup.job.normalize = (enum pe_normalize)normalize;
            setup.job.scale = i % 3 == 0 ? 1 : -0.37;
            setup.job.scale_sqrt_dim = i % 2;
            setup.job.anchor_is_key = i % 5 == 1;
            cr_assert_eq(run(&setup, spec_cases[i].text), PE_OK);
            check_scores(&setup, &spec_cases[i]);
        }
}

/* Contents for which the fast path cannot decide: ties, sums that cancel, numbers beyond the range
 * of double products. */
Test(scores_exact, hard_contents)
{
    static struct setup setup;
    for (size_t i = 0; i < SPEC_CASES_N; i++)
        for (size_t content = 0; content < 6; content++) {
            size_t dim = spec_cases[i].encoding.dim;
            setup_for(&setup, &spec_cases[i], 2);
            for (size_t j = 0; j < 2 * dim; j++) {
                double *q = &setup.q[j];
                double *k = &setup.k[j];
                switch (content) {
                case 0: /* unit vectors, different ones */
                    *q = j % dim == 0;
                    *k = j % dim == 2;
                    break;
                case 1:
                    *q = *k = 1;
                    break;
                case 2: /* the second vector undoes the first */
                    *q = j < dim ? *q : -setup.q[j - dim];
                    *k = j < dim ? *k : setup.k[j - dim];
                    break;
                case 3:
                    *q *= 1e150;
                    *k *= j % 2 ? 1e-150 : 1e150;
                    break;
                case 4:
                    *q *= 1e-170;
                    *k *= 1e-170;
                    break;
                default:
                    *q = 0;
                }
            }
            cr_assert_eq(run(&setup, spec_cases[i].text), PE_OK);
            check_all(&setup, &spec_cases[i]);
        }
}

/* ---- MPFR alone --------------------------------------------------------------------------- */

static double output_by_mpfr(const struct pe__parts *parts, enum pe__output output)
{
    double value;
    pe__round_exact(PE_F64, pe__cell_exact, &parts->cell, output, &value, 0);
    return value;
}

static void check_cell_by_mpfr(const struct setup *setup, const struct spec_case *spec,
                               struct pe__parts *parts, size_t i)
{
    const struct pe_scores *job = &setup->job;
    size_t a = i / job->offsets_n;
    pe__choose_anchor(parts, setup->anchors[a]);
    pe__choose_place(parts, setup->anchors[a], setup->offsets[i % job->offsets_n]);
    parts->cell.rounded = setup->scores[i];
    bool ok = same(output_by_mpfr(parts, PE__SCORE), setup->scores[i]);
    ok &= same(output_by_mpfr(parts, PE__LENGTH_Q), job->norm_q_before);
    ok &= same(output_by_mpfr(parts, PE__LENGTH_K), job->norm_k_before);
    double rest = ldexp(output_by_mpfr(parts, PE__REST), ilogb(setup->scores[i]));
    ok &= fabs(rest - setup->rest[i]) <= fabs(rest) * 0x1p-24;
    if (adds(&spec->encoding)) {
        ok &= same(output_by_mpfr(parts, PE__LENGTH_Q_AFTER), setup->norm_q_after[a]);
        ok &= same(output_by_mpfr(parts, PE__LENGTH_K_AFTER), setup->norm_k_after[i]);
        for (unsigned t = 0; t < PE__TERMS_N; t++)
            ok &= same(output_by_mpfr(parts, t), setup->terms[t][i]);
    }
    cr_expect(ok, "%s, normalize %d, cell %zu", spec->text, job->normalize, i);
}

/* What the fast path decides is what MPFR would have said. */
Test(scores_exact, agrees_with_the_fast_path)
{
    static struct setup setup;
    for (size_t i = 0; i < SPEC_CASES_N; i++)
        for (int normalize = PE_NORMALIZE_NONE; normalize <= PE_NORMALIZE_FIRST; normalize++) {
            setup_for(&setup, &spec_cases[i], 2);
            setup.job.normalize = (enum pe_normalize)normalize;
            setup.job.scale_sqrt_dim = true;
            cr_assert_eq(run(&setup, spec_cases[i].text), PE_OK);
            struct pe_positions positions = positions_of(setup.offsets, 5);
            struct pe_plan *plan = plan_from(spec_cases[i].text, &positions);
            setup.job.plan = plan;
            struct pe__parts parts;
            cr_assert(pe__parts_init(&parts, &setup.job));
            for (size_t cell = 1; cell < 15; cell += 4)
                check_cell_by_mpfr(&setup, &spec_cases[i], &parts, cell);
            cr_expect_not(parts.divides_by_zero);
            pe__parts_release(&parts);
            pe_plan_free(plan);
        }
}
