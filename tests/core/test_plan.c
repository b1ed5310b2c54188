// SPDX-License-Identifier: Apache-2.0
/*
 * test_plan.c: a plan owns its spec, says what it covers and how much memory it takes, and gives
 * the same values for positions that it was not made for.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "core/plan_from.h"

static const char *const specs[] = {
    "none",         "integer", "binary", "sinusoidal",       "learned",
    "rope:dim=128", "rope2d",  "alibi",  "alibi:slopes=1+2", "t5:heads=4",
};
#define SPECS_N (sizeof specs / sizeof specs[0])

static struct pe_spec parse(const char *text)
{
    struct pe_spec spec;
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse(text, &spec, &faults) && pe_spec_finish(&spec, &faults), "%s", text);
    return spec;
}

/* The plan's spec is a copy: it says the same after the original is gone. */
Test(plan, owns_its_spec)
{
    static const double at[] = {0, 1};
    struct pe_positions positions = positions_of(at, 2);
    for (size_t i = 0; i < SPECS_N; i++) {
        char before[200];
        char after[200];
        struct pe_spec spec = parse(specs[i]);
        pe_spec_compact(&spec, before, sizeof before);
        struct pe_plan *plan;
        cr_assert_eq(pe_plan_new(&spec, &positions, &plan), PE_OK);
        for (size_t j = 0; j < spec.params.rows_n; j++)
            if (spec.params.value[j].list)
                memset(spec.params.value[j].list, 0, spec.params.value[j].list_n * sizeof(double));
        pe_spec_release(&spec);
        pe_spec_compact(pe_plan_spec(plan), after, sizeof after);
        cr_expect_str_eq(after, before);
        pe_plan_free(plan);
    }
}

Test(plan, free_of_null)
{
    pe_plan_free(NULL);
}

/* At least 32 bytes for each pair, digit and digit group; no more than the limit. */
Test(plan, counts_its_memory)
{
    static const double at[] = {0, 63, 4095, 9007199254740992.0};
    struct pe_positions few = positions_of(at, 2);
    struct pe_positions two = positions_of(at, 3);
    struct pe_plan *plan = plan_from("rope:dim=128", &few);
    size_t few_bytes = pe_plan_bytes(plan);
    pe_plan_free(plan);
    plan = plan_from("rope:dim=128", &two);
    size_t two_bytes = pe_plan_bytes(plan);
    pe_plan_free(plan);
    cr_expect_geq(few_bytes, 64 * 63 * 32);
    cr_expect_geq(two_bytes, few_bytes + 64 * 63 * 32);
    cr_expect_lt(two_bytes, 2 * few_bytes + 4096);

    double many[53];
    for (int i = 0; i < 53; i++)
        many[i] = (double)(1ll << i) + 1.0 / (double)(1ll << i);
    struct pe_positions wide = positions_of(many, 53);
    plan = plan_from("rope:dim=65536", &wide);
    cr_expect_leq(pe_plan_bytes(plan), PE_PLAN_BYTES_MAX);
    pe_plan_free(plan);
    plan = plan_from("alibi:heads=1000", &few);
    cr_expect_geq(pe_plan_bytes(plan), 1000 * 2 * sizeof(double));
    pe_plan_free(plan);
}

Test(plan, covers_the_groups_it_was_made_for)
{
    static const double small[] = {0, 1, 63};
    static const double middle[] = {64, 4000};
    static const double half[] = {0.5};
    static const double off_grid[] = {1e-300, 5};
    struct pe_positions s = positions_of(small, 3);
    struct pe_positions m = positions_of(middle, 2);
    struct pe_positions h = positions_of(half, 1);
    struct pe_positions o = positions_of(off_grid, 2);
    struct pe_plan *plan = plan_from("rope", &s);
    cr_expect(pe_plan_covers(plan, &s));
    cr_expect_not(pe_plan_covers(plan, &m));
    cr_expect_not(pe_plan_covers(plan, &h));
    cr_expect(pe_plan_covers(plan, &o), "no table would help 1e-300");
    pe_plan_free(plan);
    plan = plan_from("rope:shift=64", &s);
    cr_expect(pe_plan_covers(plan, &s));
    cr_expect(pe_plan_covers(plan, &m), "with the shift they stay below 64^2");
    pe_plan_free(plan);
    plan = plan_from("alibi", &s);
    cr_expect(pe_plan_covers(plan, &m));
    pe_plan_free(plan);
}

Test(plan, other_positions_are_correct_too)
{
    static const double made_for[] = {0, 1};
    static const double asked[] = {0, 1, 64, 4097.5, -9007199254740991.0, 1e-7, 0.1};
    double expected[7 * 64];
    double got[7 * 64];
    static const char *const kinds[] = {"rope", "rope2d", "sinusoidal", "rope:shift=0.25"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct pe_positions few = {.axes = 2, .n = 2, .at = {made_for, made_for}};
        struct pe_positions all = {.axes = 2, .n = 7, .at = {asked, asked}};
        struct pe_plan *plan = plan_from(kinds[i], &all);
        pe_table(plan, &all, PE_F64, expected, 64);
        pe_plan_free(plan);
        plan = plan_from(kinds[i], &few);
        pe_table(plan, &all, PE_F64, got, 64);
        pe_plan_free(plan);
        cr_expect_eq(memcmp(got, expected, sizeof got), 0, "%s", kinds[i]);
    }
}

Test(plan, posted_table_is_referenced)
{
    static const double table[6] = {1, 2, 3, 4, 5, 0.1};
    static const double at[] = {2, 0};
    struct pe_positions positions = positions_of(at, 2);
    struct pe_faults faults = {0};
    struct pe_spec spec;
    cr_assert(pe_spec_parse("learned:dim=2", &spec, &faults));
    spec.table = table;
    spec.table_rows = 3;
    spec.table_cols = 2;
    cr_assert(pe_spec_finish(&spec, &faults), "%s", faults.item[0].detail);
    struct pe_plan *plan;
    cr_assert_eq(pe_plan_new(&spec, &positions, &plan), PE_OK);
    pe_spec_release(&spec);
    double out[4];
    pe_table(plan, &positions, PE_F64, out, 2);
    cr_expect(out[0] == 5 && out[1] == 0.1 && out[2] == 1 && out[3] == 2);
    pe_plan_free(plan);
}
