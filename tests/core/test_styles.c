// SPDX-License-Identifier: Apache-2.0
/*
 * Position ids of padded sequences: the rules of libraries written out for small masks. The opt and
 * roberta rows are those that transformers gives (golden hf_sinusoidal).
 */
#include <criterion/criterion.h>
#include <string.h>

#include "posenc.h"

#define N(array) (sizeof(array) / sizeof *(array))

static const struct pe_style *style_named(const char *name)
{
    const struct pe_style *style = pe_style_find(name, strlen(name));
    cr_assert_not_null(style, "%s", name);
    return style;
}

Test(styles, count_tokens)
{
    static const struct {
        const char *style;
        double padding_idx;
        const char *mask;
        double ids[6];
    } cases[] = {
        {"gpt2", 0, "00111", {0, 0, 0, 1, 2}},    {"gpt2", 9, "11100", {0, 1, 2, 0, 0}},
        {"gpt2", 0, "01011", {0, 0, 0, 1, 2}},    {"opt", 1, "11111", {2, 3, 4, 5, 6}},
        {"opt", 1, "00111", {1, 1, 2, 3, 4}},     {"opt", 1, "11100", {2, 3, 4, 1, 1}},
        {"opt", 1, "01011", {1, 2, 1, 3, 4}},     {"roberta", 1, "111100", {2, 3, 4, 5, 1, 1}},
        {"roberta", 1, "00111", {1, 1, 2, 3, 4}}, {"roberta", 0, "0011", {0, 0, 1, 2}},
        {"fairseq", 5, "1101", {6, 7, 5, 8}},     {"bart", 0, "00111", {2, 3, 4, 5, 6}},
    };
    for (size_t i = 0; i < N(cases); i++) {
        bool real[6];
        double got[6];
        size_t n = strlen(cases[i].mask);
        for (size_t t = 0; t < n; t++)
            real[t] = cases[i].mask[t] == '1';
        pe_style_tokens(style_named(cases[i].style), cases[i].padding_idx, real, n, got);
        cr_expect_arr_eq(got, cases[i].ids, n * sizeof *got, "case %zu: %s %s", i, cases[i].style,
                         cases[i].mask);
    }
}

Test(styles, without_padding_all_count)
{
    double got[3];
    pe_style_tokens(style_named("roberta"), 1, NULL, 3, got);
    cr_expect_arr_eq(got, ((double[]){2, 3, 4}), sizeof got);
}

/* A chunk of 10 with 2 of them local: keys count to 8. The example of the rule, and two more
 * chunks; then chunks that are all of one length, and the largest ones. */
Test(styles, count_in_chunks)
{
    static const struct {
        struct pe_chunks chunks;
        double token;
        double wanted[PE_CHUNK_VARIANTS_N];
    } cases[] = {
        {{10, 2}, 0, {0, 0, 8, 10, 8, 10}},
        {{10, 2}, 1, {1, 1, 9, 10, 9, 11}},
        {{10, 2}, 2, {2, 2, 10, 10, 10, 12}},
        {{10, 2}, 3, {3, 3, 10, 10, 11, 13}},
        {{10, 2}, 7, {7, 7, 10, 10, 15, 17}},
        {{10, 2}, 8, {0, 0, 8, 10, 8, 10}},
        {{10, 2}, 17, {1, 1, 9, 10, 9, 11}},
        {{10, 2}, 8003, {3, 3, 10, 10, 11, 13}},
        {{4, 0}, 3, {3, 3, 4, 4, 7, 7}},
        {{4, 0}, 4, {0, 0, 4, 4, 4, 4}},
        {{10, 8}, 3, {1, 1, 3, 3, 3, 11}},
        {{10, 9}, 3, {0, 0, 1, 1, 1, 10}},
        {{262144, 8192}, 253952, {0, 0, 253952, 262144, 253952, 262144}},
        {{PE_CHUNK_SIZE_MAX, 0},
         PE_CHUNK_SIZE_MAX - 1,
         {PE_CHUNK_SIZE_MAX - 1, PE_CHUNK_SIZE_MAX - 1, PE_CHUNK_SIZE_MAX, PE_CHUNK_SIZE_MAX,
          PE_POSITION_MAX - 1, PE_POSITION_MAX - 1}},
    };
    for (size_t i = 0; i < N(cases); i++)
        for (int v = PE_CHUNK_KEY; v < PE_CHUNK_VARIANTS_N; v++)
            cr_expect_eq(
                pe_chunk_position(&cases[i].chunks, (enum pe_chunk_variant)v, cases[i].token),
                cases[i].wanted[v], "case %zu: %s", i, pe_chunk_variants()[v]);
}

Test(styles, stand_in_a_table)
{
    for (size_t i = 0; i < pe_styles_n(); i++) {
        const struct pe_style *style = pe_style_at(i);
        cr_expect_eq(style_named(style->name), style);
        cr_expect(style->axes >= 1 && style->axes <= PE_AXES_MAX);
        cr_expect_gt(strlen(style->help), 0);
    }
    cr_expect_null(pe_style_at(pe_styles_n()));
    cr_expect_null(pe_style_find("gpt", 3));
}
