// SPDX-License-Identifier: Apache-2.0
/* test_families.c: the table of model classes: names lead to rows, each to one. */
#include <criterion/criterion.h>
#include <string.h>

#include "model.h"

Test(families, names_are_unique_and_found)
{
    for (size_t i = 0; i < families_n(); i++) {
        char types[512];
        cr_assert_lt(strlen(family_at(i)->types), sizeof types);
        strcpy(types, family_at(i)->types);
        for (char *rest = types, *type; (type = strsep(&rest, " "));) {
            cr_assert(*type, "row %zu: two spaces", i);
            cr_expect_eq(family_find(type, NULL), family_at(i), "%s stands in two rows", type);
        }
    }
}

Test(families, classes_have_the_names_of_their_types)
{
    static const struct {
        const char *architecture, *type;
    } rows[] = {
        {"LlamaForCausalLM", "llama"},
        {"GPTNeoXForCausalLM", "gpt_neox"},
        {"GPT2LMHeadModel", "gpt2"},
        {"GptOssForCausalLM", "gpt_oss"},
        {"ChatGLMModel", "chatglm"},
        {"T5ForConditionalGeneration", "t5"},
        {"Qwen2MoeForCausalLM", "qwen2_moe"},
        {"DeepseekV3ForCausalLM", "deepseek_v3"},
        {"RWForCausalLM", "RefinedWeb"},
        {"XLMRobertaForMaskedLM", "xlm_roberta"},
        {"ModernBertForSequenceClassification", "modernbert"},
        {"BloomModel", "bloom"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct family *family = family_find(NULL, rows[i].architecture);
        cr_assert(family, "%s", rows[i].architecture);
        cr_expect_eq(family, family_find(rows[i].type, NULL), "%s", rows[i].architecture);
    }
}

Test(families, others_are_not_known)
{
    char longest[2000];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    static const char *const names[] = {"", "llam", "llamas", "_", "Model", "ForCausalLM"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cr_expect_null(family_find(names[i], NULL), "%s", names[i]);
        cr_expect_null(family_find(NULL, names[i]), "%s", names[i]);
    }
    cr_expect_null(family_find(longest, longest));
    cr_expect_null(family_find(NULL, NULL));
}

Test(families, a_type_goes_before_a_class)
{
    cr_expect_eq(family_find("glm", "LlamaForCausalLM"), family_find("glm", NULL));
    cr_expect_eq(family_find("mine", "LlamaForCausalLM"), family_find("llama", NULL));
}
