// SPDX-License-Identifier: Apache-2.0
/* test_dialects.c: the table of dialects: every word in it is one that a kind knows. */
#include <criterion/criterion.h>
#include <string.h>

#include "posenc.h"

static bool is_among(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += len)
        if ((at == list || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

Test(dialects, names_are_those_of_the_rows)
{
    char names[] = PE_DIALECTS;
    for (size_t i = 0; i < pe_dialects_n(); i++)
        cr_expect(is_among(PE_DIALECTS, pe_dialect_at(i)->name), "%s", pe_dialect_at(i)->name);
    for (char *rest = names, *name; (name = strsep(&rest, " "));) {
        bool found = false;
        for (size_t i = 0; i < pe_dialects_n(); i++)
            found = found || strcmp(pe_dialect_at(i)->name, name) == 0;
        cr_expect(found, "%s has no row", name);
    }
}

/* The kinds of a row exist, and each key of it is set in one of them without a fault. */
Test(dialects, keys_are_those_of_the_kinds)
{
    for (size_t i = 0; i < pe_dialects_n(); i++) {
        const struct pe_dialect *row = pe_dialect_at(i);
        char keys[200], kinds[100];
        strcpy(kinds, row->kinds);
        for (char *rest = kinds, *name; (name = strsep(&rest, " "));)
            cr_expect(pe_kind_find(name, strlen(name)), "%s: there is no kind %s", row->name, name);
        strcpy(keys, row->keys);
        for (char *rest = keys, *text; (text = strsep(&rest, ","));) {
            const char *key = strsep(&text, "=");
            bool set = false;
            for (size_t k = 0; k < pe_kinds_n(); k++) {
                struct pe_spec spec;
                struct pe_faults faults = {0};
                if (!pe_dialect_has(row, pe_kind_at(k)))
                    continue;
                pe_spec_init(&spec, pe_kind_at(k));
                if (pe_params_find(&spec.params, key, strlen(key)) >= 0)
                    set = pe_params_set_text(&spec.params, key, text, &faults) || set;
                cr_expect_eq(faults.n, 0, "%s: %s=%s", row->name, key, text);
                pe_spec_release(&spec);
            }
            cr_expect(set, "%s: no kind has %s", row->name, key);
        }
    }
}

static const struct pe_dialect *row_of(const char *name, const struct pe_kind *kind)
{
    size_t i = 0;
    while (i < pe_dialects_n() &&
           (strcmp(pe_dialect_at(i)->name, name) != 0 || !pe_dialect_has(pe_dialect_at(i), kind)))
        i++;
    cr_assert_lt(i, pe_dialects_n(), "no row %s for %s", name, kind->name);
    return pe_dialect_at(i);
}

static void expect_staged(const char *name, const char *text, bool staged, const char *expected)
{
    struct pe_spec spec;
    struct pe_faults faults = {0};
    char compact[200];
    cr_assert(pe_spec_parse(text, &spec, &faults), "%s", text);
    cr_assert(pe_dialect_apply(row_of(name, spec.kind), &spec, staged, &faults), "%s",
              faults.item[0].detail);
    cr_assert(pe_spec_finish(&spec, &faults), "%s", faults.item[0].detail);
    pe_spec_compact(&spec, compact, sizeof compact);
    cr_expect_str_eq(compact, expected, "%s, %s", name, text);
    pe_spec_release(&spec);
}

static void expect_compact(const char *name, const char *text, const char *expected)
{
    expect_staged(name, text, false, expected);
}

/* Their own way to f32 comes with their stages, to frequencies that are of a series. */
Test(dialects, bring_their_method_with_their_stages)
{
    expect_staged("transformers", "rope:dim=8", true,
                  "rope:dim=8,layout=half,freq_method=reciprocal");
    expect_staged("transformers", "rope:dim=8,freq_method=exact", true, "rope:dim=8,layout=half");
    expect_staged("transformers", "rope:dim=4,freqs=1+2", true, "rope:dim=4,layout=half,freqs=1+2");
    expect_staged("transformers", "rope2d:dim=8", true, "rope2d:dim=8,layout=half");
    expect_staged("vllm", "rope:dim=8", true, "rope:dim=8,layout=half,freq_method=reciprocal");
    expect_staged("ggml", "rope:dim=8", true, "rope:dim=8,freq_method=iterated");
    expect_staged("meta", "rope:dim=8", true, "rope:dim=8");
}

Test(dialects, set_what_is_read_and_not_given)
{
    expect_compact("transformers", "rope:dim=8", "rope:dim=8,layout=half");
    expect_compact("transformers", "rope:dim=8,layout=interleaved", "rope:dim=8");
    expect_compact("meta", "rope:dim=8", "rope:dim=8");
    expect_compact("fairseq", "sinusoidal:dim=8",
                   "sinusoidal:dim=8,layout=half,spacing=endpoint,padding_idx=1");
    /* keras: only yarn reads the clamp, and its dynamic divides */
    expect_compact("keras", "rope:dim=8", "rope:dim=8,layout=half");
    expect_compact("keras", "rope:dim=8,scaling=yarn,factor=4",
                   "rope:dim=8,layout=half,scaling=yarn,factor=4,original_max=4096,truncate=false,"
                   "yarn_clamp=pairs");
    expect_compact("keras", "rope:dim=8,scaling=yarn,factor=4,truncate=true,original_max=64",
                   "rope:dim=8,layout=half,scaling=yarn,factor=4,original_max=64,yarn_clamp=pairs");
    expect_compact("keras", "rope:dim=8,scaling=dynamic,factor=4",
                   "rope:dim=8,layout=half,scaling=ntk_divide,factor=4");
    expect_compact("transformers", "rope:dim=8,scaling=dynamic,factor=4,original_max=64",
                   "rope:dim=8,layout=half,scaling=dynamic,factor=4,original_max=64");
}

Test(dialects, refuse_what_the_library_has_no_use_for)
{
    struct pe_spec spec;
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse("rope:dim=8,scaling=yarn,factor=4,original_max=64,attention_factor=2",
                            &spec, &faults));
    cr_expect_not(pe_dialect_apply(row_of("vllm", spec.kind), &spec, true, &faults));
    cr_assert_eq(faults.n, 1);
    cr_expect_str_eq(faults.item[0].param, "attention_factor");
    cr_expect_str_eq(faults.item[0].detail, "vllm has no use for attention_factor");
    pe_spec_release(&spec);
}
