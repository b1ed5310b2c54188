// SPDX-License-Identifier: Apache-2.0
/*
 * test_random.c: random specs of every kind: each is refused in words, or all that it computes is
 * finite; and what holds for scalings of any kind: a factor of 1 is no scaling, and frequencies
 * stay in their order.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "core/random_spec.h"

#define SPECS       400 /* of each kind */
#define WIDTH_MAX   256 /* of specs that are computed: channels, heads */
#define TOKENS      6
#define TEXT_MAX    4000
#define FREQUENCIES 32768

static const double some_positions[] = {0, 1, 2, 7, 100, 4095};

static void expect_finite(const char *text, const char *what, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i])) {
            cr_expect_fail("%s: %s %zu is %g", text, what, i, values[i]);
            return;
        }
}

/* ---- What a plan computes ------------------------------------------------------------------- */

static void check_frequencies(const char *text, const struct pe_plan *plan)
{
    size_t pairs = pe_spec_pairs(pe_plan_spec(plan));
    double inv_freq[WIDTH_MAX], base[WIDTH_MAX];
    pe_frequencies(
        plan, &(struct pe_frequencies){.context = 1, .inv_freq = inv_freq, .base_inv_freq = base});
    expect_finite(text, "frequency", inv_freq, pairs);
    expect_finite(text, "unscaled frequency", base, pairs);
}

static void check_rows(const char *text, const struct pe_plan *plan,
                       const struct pe_positions *positions)
{
    size_t width = pe_spec_width(pe_plan_spec(plan));
    double *table = calloc(TOKENS * width, sizeof *table);
    cr_assert_not_null(table);
    pe_table(plan, positions, PE_F64, table, width);
    expect_finite(text, "element", table, positions->n * width);
    free(table);
}

static void check_bias(const char *text, const struct pe_plan *plan,
                       const struct pe_positions *positions)
{
    const struct pe_spec *spec = pe_plan_spec(plan);
    size_t heads = pe_spec_heads(spec), elements = heads * TOKENS * pe_spec_dim(spec);
    double *bias = calloc(heads * TOKENS * TOKENS, sizeof *bias);
    double *vectors = calloc(elements + 1, sizeof *vectors);
    cr_assert(bias && vectors);
    for (size_t i = 0; i < elements; i++)
        vectors[i] = (double)(i % 7) - 3;
    if (spec->kind->properties & PE_CONTENT)
        pe_add_bias(plan, NULL, &(struct pe_vectors){vectors, vectors}, positions, positions, 0,
                    heads, 1, PE_F64, bias, bias);
    else
        pe_bias(plan, positions, positions, 0, heads, PE_F64, bias);
    expect_finite(text, "bias", bias, heads * positions->n * positions->n);
    free(bias);
    free(vectors);
}

/* False when the spec is too large to be computed here. */
static bool check_values(const char *text, const struct pe_spec *spec)
{
    if (pe_spec_dim(spec) > WIDTH_MAX || pe_spec_heads(spec) > WIDTH_MAX)
        return false;
    struct pe_positions positions = {.axes = pe_spec_axes(spec), .n = TOKENS};
    struct pe_faults faults = {0};
    for (size_t axis = 0; axis < positions.axes; axis++)
        positions.at[axis] = some_positions;
    while (!pe_positions_check(spec, &positions, "positions", &faults)) {
        cr_assert(faults.n > 0 && *faults.item[0].detail, "%s: refused without a word", text);
        if (--positions.n == 0)
            return true;
    }
    struct pe_plan *plan;
    cr_assert_eq(pe_plan_new(spec, &positions, &plan), PE_OK, "%s", text);
    if (pe_spec_pairs(spec) > 0)
        check_frequencies(text, plan);
    if (spec->kind->acts == PE_BIASES)
        check_bias(text, plan, &positions);
    else
        check_rows(text, plan, &positions);
    pe_plan_free(plan);
    return true;
}

Test(random, specs_compute_finite_numbers_or_say_why_not)
{
    for (size_t k = 0; k < pe_kinds_n(); k++) {
        size_t computed = 0;
        for (int i = 0; i < SPECS; i++) {
            char text[TEXT_MAX];
            struct pe_spec spec;
            struct pe_faults faults = {0};
            random_spec(pe_kind_at(k), text, sizeof text);
            if (read_spec(text, &spec, &faults)) {
                computed += check_values(text, &spec);
                pe_spec_release(&spec);
            } else {
                cr_expect(faults.n > 0 && *faults.item[0].detail, "%s: refused without a word",
                          text);
            }
        }
        cr_expect(computed > 4, "%s: only %zu of %d were computed", pe_kind_at(k)->name, computed,
                  SPECS);
    }
}

/* ---- Scalings ------------------------------------------------------------------------------- */

static const struct pe_param *row_of(const struct pe_kind *kind, const char *name)
{
    for (size_t i = 0; i < kind->params_n; i++)
        if (strcmp(kind->params[i].name, name) == 0)
            return &kind->params[i];
    return NULL;
}

/* Calls `visit` for every scaling of every kind that has some, with a text that names both. */
static void each_scaling(void (*visit)(const struct pe_kind *kind, const char *text,
                                       const char *scaling))
{
    size_t visited = 0;
    for (size_t k = 0; k < pe_kinds_n(); k++) {
        const struct pe_kind *kind = pe_kind_at(k);
        const struct pe_param *row = row_of(kind, "scaling");
        size_t n = row ? 1 : 0;
        for (const char *p = row ? row->choices : ""; *p; p++)
            n += *p == ' ';
        for (size_t i = 0; i < n; i++, visited++) {
            char text[128], scaling[64];
            size_t len;
            const char *name = pe_choice_name(row, (double)i, &len);
            snprintf(scaling, sizeof scaling, "%.*s", (int)len, name);
            snprintf(text, sizeof text, "%s:dim=64,scaling=%s", kind->name, scaling);
            visit(kind, text, scaling);
        }
    }
    cr_assert_gt(visited, 20);
}

/* Adds what a scaling needs so that it scales nothing: factors of 1, a context within the original
 * one. Lists have a number for each of `pairs`. */
static void add_unscaled(const struct pe_kind *kind, int pairs, char *text, size_t size)
{
    static const char *const settings[][2] = {
        {"factor", "1"}, {"original_max", "4096"}, {"context", "4096"}};
    static const char *const lists[] = {"short_factor", "long_factor"};
    size_t len = strlen(text);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (is_read(row_of(kind, settings[i][0]), text))
            len +=
                (size_t)snprintf(text + len, size - len, ",%s=%s", settings[i][0], settings[i][1]);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (!is_read(row_of(kind, lists[i]), text))
            continue;
        len += (size_t)snprintf(text + len, size - len, ",%s=1", lists[i]);
        for (int pair = 1; pair < pairs; pair++)
            len += (size_t)snprintf(text + len, size - len, "+1");
    }
}

/* cos and sin of every pair at some positions, and the frequencies: 2 * TOKENS + 1 rows. */
static size_t numbers_of(const char *text, double out[])
{
    struct pe_spec spec;
    struct pe_faults faults = {0};
    cr_assert(read_spec(text, &spec, &faults), "%s: %s", text, faults.item[0].detail);
    struct pe_positions positions = {.axes = pe_spec_axes(&spec), .n = TOKENS};
    for (size_t axis = 0; axis < positions.axes; axis++)
        positions.at[axis] = some_positions;
    struct pe_plan *plan;
    cr_assert_eq(pe_plan_new(&spec, &positions, &plan), PE_OK);
    size_t pairs = pe_spec_pairs(&spec);
    pe_cos_sin(plan, &positions, PE_F64, out, out + TOKENS * pairs);
    pe_frequencies(plan,
                   &(struct pe_frequencies){.context = 1, .inv_freq = out + 2 * TOKENS * pairs});
    pe_plan_free(plan);
    pe_spec_release(&spec);
    return (2 * TOKENS + 1) * pairs;
}

static void expect_unscaled(const struct pe_kind *kind, const char *text, const char *scaling)
{
    static double plain[FREQUENCIES], scaled[FREQUENCIES];
    char none[128], whole[TEXT_MAX];
    (void)scaling;
    snprintf(none, sizeof none, "%s:dim=64", kind->name);
    for (int pairs = 32; pairs > 0; pairs /= 2) { /* those that have a frequency of their own */
        struct pe_spec spec;
        struct pe_faults faults = {0};
        snprintf(whole, sizeof whole, "%s", text);
        add_unscaled(kind, pairs, whole, sizeof whole);
        if (read_spec(whole, &spec, &faults)) {
            pe_spec_release(&spec);
            break;
        }
        if (strcmp(faults.item[0].param, "scaling") == 0)
            return; /* not for this kind, and it says so */
    }
    size_t n = numbers_of(none, plain);
    cr_assert_eq(numbers_of(whole, scaled), n, "%s", whole);
    cr_expect_arr_eq(scaled, plain, n * sizeof *plain, "%s differs from %s", whole, none);
}

Test(scalings, by_a_factor_of_one_change_no_bit)
{
    each_scaling(expect_unscaled);
}

/* Of two pairs the faster one stays the faster one, or they become equal. */
static void expect_order(const char *text, const struct pe_spec *spec)
{
    double scaled[WIDTH_MAX], plain[WIDTH_MAX];
    struct pe_positions none = {.axes = pe_spec_axes(spec)};
    struct pe_plan *plan;
    cr_assert_eq(pe_plan_new(spec, &none, &plan), PE_OK);
    pe_frequencies(
        plan, &(struct pe_frequencies){.context = 1, .inv_freq = scaled, .base_inv_freq = plain});
    pe_plan_free(plan);
    for (size_t i = 0; i < pe_spec_pairs(spec); i++)
        for (size_t j = 0; j < i; j++)
            if ((plain[i] > plain[j] && scaled[i] < scaled[j]) ||
                (plain[i] < plain[j] && scaled[i] > scaled[j])) {
                cr_expect_fail("%s: pairs %zu and %zu: %g and %g become %g and %g", text, j, i,
                               plain[j], plain[i], scaled[j], scaled[i]);
                return;
            }
}

/* Adds keys of the scaling, each with a random value. */
static void add_random(const struct pe_kind *kind, char *text, size_t size)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < kind->params_n; i++) {
        const struct pe_param *row = &kind->params[i];
        char value[RANDOM_TEXT_MAX];
        if (!row->when || strncmp(row->when, "scaling=", 8) != 0 || !is_read(row, text))
            continue;
        if (row->fallback && random_below(2) != 0)
            continue;
        random_text(row, value);
        len += (size_t)snprintf(text + len, size - len, ",%s=%s", row->name, value);
    }
}

static void check_order(const struct pe_kind *kind, const char *text, const char *scaling)
{
    static const char *const ordered[] = {"linear", "ntk", "dynamic", "yarn", "llama3"};
    bool is_ordered = false;
    size_t valid = 0;
    for (size_t i = 0; i < sizeof ordered / sizeof *ordered; i++)
        is_ordered |= strcmp(ordered[i], scaling) == 0;
    for (int i = 0; is_ordered && i < SPECS; i++) {
        char whole[TEXT_MAX];
        struct pe_spec spec;
        struct pe_faults faults = {0};
        snprintf(whole, sizeof whole, "%s", text);
        add_random(kind, whole, sizeof whole);
        if (!read_spec(whole, &spec, &faults))
            continue;
        expect_order(whole, &spec);
        pe_spec_release(&spec);
        valid++;
    }
    cr_expect(!is_ordered || valid > 20, "%s: only %zu of %d were valid", text, valid, SPECS);
}

Test(scalings, keep_the_order_of_wavelengths)
{
    each_scaling(check_order);
}
