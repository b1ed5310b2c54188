// SPDX-License-Identifier: Apache-2.0
/*
 * Biases of kinds without a published table of numbers: each against its formula, bit for bit.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "golden_biases.h"
#include "golden_content.h"
#include "plan_from.h"

#define N(array) (sizeof(array) / sizeof *(array))

Test(biases, are_their_formulas_rounded_once)
{
    for (size_t i = 0; i < N(golden_biases); i++) {
        struct pe_positions query = positions_of(&golden_biases[i].query, 1);
        struct pe_positions key = positions_of(&golden_biases[i].key, 1);
        struct pe_plan *plan = plan_from(golden_biases[i].spec, &query);
        double got, wanted = golden_biases[i].bias;
        pe_bias(plan, &query, &key, golden_biases[i].head, 1, PE_F64, &got);
        cr_expect(got == wanted, "%s, head %zu, %g to %g: %a, wanted %a", golden_biases[i].spec,
                  golden_biases[i].head, query.at[0][0], key.at[0][0], got, wanted);
        cr_expect(got != 0 || !signbit(got), "a bias of 0 has no sign");
        pe_plan_free(plan);
    }
}

/* None of them lies so near a tie that its double would round otherwise. */
Test(biases, are_rounded_once_to_every_format)
{
    for (size_t i = 0; i < N(golden_biases); i++) {
        struct pe_positions query = positions_of(&golden_biases[i].query, 1);
        struct pe_positions key = positions_of(&golden_biases[i].key, 1);
        struct pe_plan *plan = plan_from(golden_biases[i].spec, &query);
        for (enum pe_dtype dtype = PE_F32; dtype <= PE_BF16; dtype++) {
            double element, wanted;
            pe_bias(plan, &query, &key, golden_biases[i].head, 1, dtype, &element);
            pe_store(dtype, &wanted, 0, golden_biases[i].bias);
            cr_expect(pe_load(dtype, &element, 0) == pe_load(dtype, &wanted, 0), "%s in %s",
                      golden_biases[i].spec, pe_dtype_name(dtype));
        }
        pe_plan_free(plan);
    }
}

/* ---- Of q and k --------------------------------------------------------------------------- */

/* The bias alone: what is added to a score of 0. */
static double bias_of(const struct pe_plan *plan, size_t i)
{
    struct pe_positions query = positions_of(&golden_content[i].query, 1);
    struct pe_positions key = positions_of(&golden_content[i].key, 1);
    struct pe_vectors vectors = {golden_content[i].q, golden_content[i].k};
    const double none = 0;
    double score;
    pe_add_bias(plan, NULL, &vectors, &query, &key, golden_content[i].head, 1, 1, PE_F64, &none,
                &score);
    return score;
}

Test(biases, of_content_are_their_formulas_rounded_once)
{
    for (size_t i = 0; i < N(golden_content); i++) {
        struct pe_positions query = positions_of(&golden_content[i].query, 1);
        struct pe_plan *plan = plan_from(golden_content[i].spec, &query);
        double got = bias_of(plan, i), wanted = golden_content[i].bias;
        cr_expect(got == wanted, "%s, head %zu, %g to %g: %a, wanted %a", golden_content[i].spec,
                  golden_content[i].head, golden_content[i].query, golden_content[i].key, got,
                  wanted);
        pe_plan_free(plan);
    }
}

/* Vectors belong to heads, queries and batches as the scores do. */
Test(biases, of_content_find_their_vectors)
{
    static const double at[] = {0, 1, 2};
    const double q[] = {1, 2, 3, 4, 5, 6, 7, 8}, k[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    struct pe_positions queries = positions_of(at + 1, 2), keys = positions_of(at, 3);
    struct pe_plan *plan = plan_from("deberta:heads=2,dim=1,buckets=4,table_std=1", &keys);
    const struct pe_vectors all = {q, k};
    double scores[24] = {0}; /* [2, 2, 2, 3] */
    pe_add_bias(plan, NULL, &all, &queries, &keys, 0, 2, 2, PE_F64, scores, scores);
    for (size_t i = 0; i < N(scores); i++) {
        size_t query = i / 3 % 2, key = i % 3, matrix = i / 6;
        struct pe_vectors vectors = {q + matrix * 2 + query, k + matrix * 3 + key};
        struct pe_positions m = positions_of(queries.at[0] + query, 1);
        struct pe_positions n = positions_of(keys.at[0] + key, 1);
        const double none = 0;
        double wanted;
        pe_add_bias(plan, NULL, &vectors, &m, &n, matrix % 2, 1, 1, PE_F64, &none, &wanted);
        cr_expect(scores[i] == wanted && wanted != 0, "element %zu: %a, wanted %a", i, scores[i],
                  wanted);
    }
    pe_plan_free(plan);
}

/* A score is q.k and the bias of each pair, whose mean over the pairs is rounded once. */
Test(biases, of_content_are_in_scores)
{
    static const double anchor = 7, offset = -3;
    const double q[] = {1, 0.5, -2, 0.25}, k[] = {3, -1, 0.125, 2};
    struct pe_positions positions = positions_of(&anchor, 1);
    struct pe_plan *plan = plan_from("transformer_xl:dim=2,model_dim=4,table_std=1", &positions);
    double score, norm_q, norm_k, sums[2];
    struct pe_scores job = {.plan = plan, .q = q, .k = k, .vectors_n = 2, .dim = 2};
    job.anchors = &anchor, job.offsets = &offset, job.anchors_n = job.offsets_n = 1;
    job.scale = 1, job.scores = &score, job.norm_q_after = &norm_q, job.norm_k_after = &norm_k;
    cr_assert_eq(pe_scores(&job), PE_OK);
    const double place = anchor + offset;
    struct pe_positions query = positions_of(&anchor, 1), key = positions_of(&place, 1);
    for (size_t v = 0; v < 2; v++) {
        struct pe_vectors vectors = {q + 2 * v, k + 2 * v};
        double dot = pe_dot(PE_F64, q + 2 * v, k + 2 * v, 2);
        pe_add_bias(plan, NULL, &vectors, &query, &key, 0, 1, 1, PE_F64, &dot, &sums[v]);
    }
    cr_expect_float_eq(score, (sums[0] + sums[1]) / 2, 1e-15 * fabs(score));
    pe_plan_free(plan);
}
