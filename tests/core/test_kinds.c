// SPDX-License-Identifier: Apache-2.0
/*
 * The table of kinds: that the catalogue is complete and consistent, and each kind's own numbers:
 * frequencies, channels of pairs, slopes, buckets, learned values, integers and bits.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/golden.h"
#include "golden_t5.h"
#include "kind.h"
#include "plan_from.h"
#include "posenc.h"
#include "ref/ref_trig.h"

#define N(array) (sizeof(array) / sizeof *(array))

static const double zero[] = {0};

static void spec_from(const char *text, struct pe_spec *spec)
{
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse(text, spec, &faults) && pe_spec_finish(spec, &faults), "%s: %s", text,
              faults.item[0].detail);
}

/* ---- Catalogue ---------------------------------------------------------------------------- */

Test(catalogue, lists_the_kinds_in_order)
{
    static const char *const names[] = {"none", "integer", "binary", "sinusoidal", "learned",
                                        "rope", "rope2d",  "alibi",  "t5"};
    cr_assert_eq(pe_kinds_n(), N(names));
    for (size_t i = 0; i < N(names); i++) {
        cr_assert_str_eq(pe_kind_at(i)->name, names[i]);
        cr_assert_eq(pe_kind_find(names[i], strlen(names[i])), pe_kind_at(i));
    }
    cr_assert_eq(pe_kind_find("rotary", 6), &pe__kind_rope);
    cr_assert_eq(pe_kind_find("sin", 3), &pe__kind_sinusoidal);
    cr_assert_eq(pe_kind_find("rope2d", 4), &pe__kind_rope);
    cr_assert_eq(pe_kind_find("ropes", 5), NULL);
    cr_assert_eq(pe_kind_find("", 0), NULL);
}

static bool is_sentence(const char *text)
{
    return text && strlen(text) > 10 && text[strlen(text) - 1] == '.';
}

Test(catalogue, explains_every_kind)
{
    for (size_t i = 0; i < pe_kinds_n(); i++) {
        const struct pe_kind *kind = pe_kind_at(i);
        cr_assert(kind->title && *kind->title && kind->formula && *kind->formula, "%s", kind->name);
        cr_assert(is_sentence(kind->help), "%s", kind->name);
        cr_assert(kind->axes == 1 || kind->axes == 2, "%s", kind->name);
        cr_assert(kind->ops, "%s", kind->name);
        size_t n = 0;
        for (; kind->references[n].title; n++)
            cr_assert(kind->references[n].year >= 2017 && *kind->references[n].id, "%s",
                      kind->name);
        cr_assert(n > 0, "%s has no reference", kind->name);
        for (n = 0; kind->examples[n]; n++)
            cr_assert(strncmp(kind->examples[n], "/v1/", 4) == 0 &&
                          strstr(kind->examples[n], kind->name),
                      "%s: %s", kind->name, kind->examples[n]);
        cr_assert(n > 0, "%s has no example", kind->name);
    }
}

/* Names and aliases of the rows up to and including row `last`, each with a blank on both sides. */
static void list_names(const struct pe_kind *kind, size_t last, char *out, size_t size)
{
    size_t len = (size_t)snprintf(out, size, " ");
    for (size_t i = 0; i <= last; i++) {
        const struct pe_param *row = &kind->params[i];
        len += (size_t)snprintf(out + len, size - len, "%s %s%s", row->name,
                                row->aliases ? row->aliases : "", row->aliases ? " " : "");
    }
}

static bool is_listed(const char *list, const char *name, size_t len)
{
    char word[64];
    snprintf(word, sizeof word, " %.*s ", (int)len, name);
    return strstr(list, word);
}

static void check_row(const struct pe_kind *kind, size_t i)
{
    const struct pe_param *row = &kind->params[i];
    char before[1000] = " ";
    if (i > 0)
        list_names(kind, i - 1, before, sizeof before);
    cr_assert_not(is_listed(before, row->name, strlen(row->name)), "%s: two rows %s", kind->name,
                  row->name);
    cr_assert(is_sentence(row->help), "%s: %s has no help", kind->name, row->name);
    if (row->type == PE_INT || row->type == PE_REAL || row->type == PE_REALS)
        cr_assert_lt(row->min, row->max + 1, "%s: %s", kind->name, row->name);
    cr_assert_eq(row->type == PE_ENUM, row->choices != NULL, "%s: %s", kind->name, row->name);
    cr_assert(row->fallback || (row->flags & PE_OPTIONAL) || row->when, "%s: %s is required",
              kind->name, row->name);
    if (row->fallback && row->fallback[0] == '@')
        cr_assert(is_listed(before, row->fallback + 1, strlen(row->fallback + 1)), "%s: %s",
                  kind->name, row->name);
    if (row->when)
        cr_assert(is_listed(before, row->when, strcspn(row->when, "=")), "%s: %s", kind->name,
                  row->name);
}

Test(catalogue, has_sound_rows)
{
    for (size_t k = 0; k < pe_kinds_n(); k++) {
        const struct pe_kind *kind = pe_kind_at(k);
        cr_assert_leq(kind->params_n, PE_PARAMS_MAX);
        for (size_t i = 0; i < kind->params_n; i++)
            check_row(kind, i);
        struct pe_spec spec;
        struct pe_faults faults = {0};
        pe_spec_init(&spec, kind); /* defaults alone are a valid spec */
        cr_assert(pe_spec_finish(&spec, &faults), "%s: %s", kind->name, faults.item[0].detail);
        cr_assert_geq(pe_params_find(&spec.params, "shift", 5), 0, "%s", kind->name);
        pe_spec_release(&spec);
    }
}

/* ---- Frequencies and pairs ---------------------------------------------------------------- */

/* |w - wanted| <= 4 ulp of w. */
static void check_frequency(const char *text, size_t k, mpfr_srcptr w, mpfr_srcptr wanted)
{
    mpfr_t error;
    mpfr_init2(error, 64);
    mpfr_sub(error, w, wanted, MPFR_RNDA);
    long ulps = mpfr_zero_p(error)
                    ? -1000
                    : mpfr_get_exp(error) - (mpfr_get_exp(w) - (long)mpfr_get_prec(w));
    cr_assert_leq(ulps, 2, "%s: frequency %zu at %ld bits", text, k, (long)mpfr_get_prec(w));
    mpfr_clear(error);
}

Test(frequency, follows_its_formula_at_any_precision)
{
    static const struct {
        const char *text;
        size_t n;    /* frequencies */
        double base; /* w_k = base^(-step k / width) / divisor */
        size_t step, width;
        double divisor;
    } cases[] = {
        {"rope:dim=128,base=500000", 64, 500000, 2, 128, 1},
        {"rope:dim=2", 1, 10000, 2, 2, 1},
        {"rope:dim=80,rotary_dim=32,base=1e30", 16, 1e30, 2, 32, 1},
        {"rope:dim=80,rotary_dim=28,base=1e30", 14, 1e30, 2, 28, 1},
        {"rope:dim=64,base=1.0000000000000002", 32, 1.0000000000000002, 2, 64, 1},
        {"rope:dim=256,base=1000000,scaling=linear,factor=8", 128, 1000000, 2, 256, 8},
        {"rope:dim=6,base=100,scaling=linear,factor=1.7", 3, 100, 2, 6, 1.7},
        {"rope2d:dim=64", 16, 10000, 2, 32, 1},
        {"rope2d:dim=64,rotary_dim=16,scaling=linear,factor=3", 4, 10000, 2, 8, 3},
        {"sinusoidal:dim=64", 32, 10000, 2, 64, 1},
        {"sinusoidal:dim=7", 3, 10000, 2, 7, 1},
        {"sinusoidal:dim=7,odd=sin", 4, 10000, 2, 7, 1},
        {"sinusoidal:dim=64,spacing=endpoint", 32, 10000, 1, 31, 1},
        {"sinusoidal:dim=5,spacing=endpoint", 2, 10000, 1, 1, 1},
    };
    static const long bits[] = {64, 256, 1000, 5000};
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_spec spec;
        spec_from(cases[i].text, &spec);
        const struct pe__kind_ops *ops = spec.kind->ops;
        cr_assert_eq(ops->frequencies_n(&spec), cases[i].n, "%s", cases[i].text);
        for (size_t b = 0; b < N(bits); b++)
            for (size_t k = 0; k < cases[i].n; k += 1 + (bits[b] > 256) * 7) {
                mpfr_t w, wanted;
                mpfr_init2(w, bits[b]);
                mpfr_init2(wanted, bits[b] + 200);
                ref_frequency(wanted, cases[i].base, cases[i].step * k, cases[i].width);
                ops->frequency(&spec, k, false, w);
                check_frequency(cases[i].text, k, w, wanted);
                mpfr_div_d(wanted, wanted, cases[i].divisor, MPFR_RNDN);
                ops->frequency(&spec, k, true, w);
                check_frequency(cases[i].text, k, w, wanted);
                mpfr_clears(w, wanted, (mpfr_ptr)0);
            }
        pe_spec_release(&spec);
    }
}

/* Channels as "cosine or first/sine or second" of each pair. */
Test(pairs, have_their_channels)
{
    static const struct {
        const char *text;
        size_t n;
        int c[5], s[5]; /* -1: none */
    } cases[] = {
        {"rope:dim=8", 4, {0, 2, 4, 6}, {1, 3, 5, 7}},
        {"rope:dim=8,layout=half", 4, {0, 1, 2, 3}, {4, 5, 6, 7}},
        {"rope:dim=8,rotary_dim=4,layout=half", 2, {0, 1}, {2, 3}},
        {"rope2d:dim=8,layout=half", 4, {0, 1, 2, 3}, {4, 5, 6, 7}},
        {"rope2d:dim=8", 4, {0, 2, 4, 6}, {1, 3, 5, 7}},
        {"sinusoidal:dim=8", 4, {1, 3, 5, 7}, {0, 2, 4, 6}},
        {"sinusoidal:dim=8,layout=half", 4, {4, 5, 6, 7}, {0, 1, 2, 3}},
        {"sinusoidal:dim=7", 3, {1, 3, 5}, {0, 2, 4}},
        {"sinusoidal:dim=7,layout=half", 3, {3, 4, 5}, {0, 1, 2}},
        {"sinusoidal:dim=7,odd=sin", 4, {1, 3, 5, -1}, {0, 2, 4, 6}},
        {"sinusoidal:dim=7,odd=sin,layout=half", 4, {4, 5, 6, -1}, {0, 1, 2, 3}},
        {"sinusoidal:dim=1,odd=sin", 1, {-1}, {0}},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_spec spec;
        spec_from(cases[i].text, &spec);
        cr_assert_eq(pe_spec_pairs(&spec), cases[i].n, "%s", cases[i].text);
        for (size_t pair = 0; pair < cases[i].n; pair++) {
            size_t c, s;
            spec.kind->ops->pair_channels(&spec, pair, &c, &s);
            cr_assert_eq(c, (size_t)cases[i].c[pair], "%s, pair %zu", cases[i].text, pair);
            cr_assert_eq(s, (size_t)cases[i].s[pair], "%s, pair %zu", cases[i].text, pair);
        }
        pe_spec_release(&spec);
    }
}

Test(pairs, of_rope2d_turn_with_their_axes)
{
    static const struct {
        const char *text;
        size_t axis[4], k[4];
    } cases[] = {
        {"rope2d:dim=8", {0, 0, 1, 1}, {0, 1, 0, 1}},
        {"rope2d:dim=8,axes_split=alternate", {0, 1, 0, 1}, {0, 0, 1, 1}},
        {"rope2d:dim=16,rotary_dim=8", {0, 0, 1, 1}, {0, 1, 0, 1}},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_spec spec;
        spec_from(cases[i].text, &spec);
        for (size_t pair = 0; pair < 4; pair++) {
            size_t axis, k;
            spec.kind->ops->pair_source(&spec, pair, &axis, &k);
            cr_assert(axis == cases[i].axis[pair] && k == cases[i].k[pair], "%s, pair %zu",
                      cases[i].text, pair);
        }
        pe_spec_release(&spec);
    }
}

/* ---- alibi -------------------------------------------------------------------------------- */

static struct pe_plan *alibi_plan(size_t heads)
{
    char text[40];
    snprintf(text, sizeof text, "alibi:heads=%zu", heads);
    struct pe_positions positions = positions_of(zero, 1);
    return plan_from(text, &positions);
}

Test(alibi, has_the_golden_slopes)
{
    json_t *document = golden_load("truth_alibi.json");
    const char *key;
    json_t *list;
    size_t cases = 0;
    json_object_foreach(json_object_get(document, "heads"), key, list)
    {
        size_t heads = (size_t)atoi(key);
        double wanted[128], got[128];
        cr_assert_eq(golden_list(list, wanted, N(wanted)), heads);
        struct pe_plan *plan = alibi_plan(heads);
        pe_slopes(plan, PE_F64, got);
        for (size_t h = 0; h < heads; h++)
            cr_assert(got[h] == wanted[h], "%zu heads, head %zu: %a, wanted %a", heads, h, got[h],
                      wanted[h]);
        pe_plan_free(plan);
        cases++;
    }
    cr_assert_geq(cases, 40);
    json_decref(document);
}

/* MPT's formulation: the list of the next power of two, odd places first, then even ones, cut. */
static void mpt_slope(size_t heads, size_t head, mpfr_t y)
{
    size_t n = 1;
    while (n < heads)
        n *= 2;
    size_t k = head;
    if (n != heads)
        k = head < n / 2 ? 2 * head + 1 : 2 * (head - n / 2);
    mpfr_set_ui(y, 8 * (k + 1), MPFR_RNDN);
    mpfr_div_ui(y, y, n, MPFR_RNDN);
    mpfr_neg(y, y, MPFR_RNDN);
    mpfr_exp2(y, y, MPFR_RNDN);
}

Test(alibi, has_correctly_rounded_slopes_for_any_number_of_heads)
{
    mpfr_t wanted;
    mpfr_init2(wanted, 300);
    for (size_t heads = 1; heads <= PE_HEADS_MAX; heads += heads < 129 ? 1 : 37) {
        struct pe_plan *plan = alibi_plan(heads);
        for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
            double got[PE_HEADS_MAX];
            pe_slopes(plan, dtype, got);
            for (size_t h = 0; h < heads; h++) {
                mpt_slope(heads, h, wanted);
                cr_assert(pe_load(dtype, got, h) == ref_round(dtype, wanted),
                          "%zu heads, head %zu in %s", heads, h, pe_dtype_name(dtype));
            }
        }
        pe_plan_free(plan);
    }
    mpfr_clear(wanted);
}

/* -slope |m - n| from the definition, to any precision. */
static void ref_bias(size_t heads, size_t head, double m, double n, mpfr_t y)
{
    mpfr_t distance;
    mpfr_init2(distance, 2200); /* any difference of two doubles */
    mpfr_set_d(distance, m, MPFR_RNDN);
    mpfr_sub_d(distance, distance, n, MPFR_RNDN);
    mpfr_abs(distance, distance, MPFR_RNDN);
    mpt_slope(heads, head, y);
    mpfr_mul(y, y, distance, MPFR_RNDN);
    mpfr_neg(y, y, MPFR_RNDN);
    mpfr_clear(distance);
}

Test(alibi, has_correctly_rounded_biases)
{
    static const double places[] = {0,     1,      -1,      7.5,       0.1,    1e-300, 5e-324,
                                    1e-17, 0x1p53, -0x1p53, 123456789, 1e-310, 3,      0x1p-1074};
    mpfr_t wanted;
    mpfr_init2(wanted, 3000);
    struct pe_positions positions = positions_of(places, N(places));
    static const size_t heads[] = {1, 3, 8, 12};
    for (size_t i = 0; i < N(heads); i++) {
        struct pe_plan *plan = alibi_plan(heads[i]);
        for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
            static double got[12 * N(places) * N(places)];
            pe_bias(plan, &positions, &positions, 0, heads[i], dtype, got);
            for (size_t j = 0; j < heads[i] * N(places) * N(places); j++) {
                size_t h = j / N(places) / N(places);
                double m = places[j / N(places) % N(places)], n = places[j % N(places)];
                ref_bias(heads[i], h, m, n, wanted);
                double value = pe_load(dtype, got, j);
                bool overflows = dtype == PE_F16 && mpfr_cmp_d(wanted, -65519) < 0;
                cr_assert(overflows ? isinf(value) : value == ref_round(dtype, wanted),
                          "%zu heads, head %zu in %s, from %a to %a: %a", heads[i], h,
                          pe_dtype_name(dtype), m, n, value);
                cr_assert(m != n || !signbit(value), "a bias of 0 has no sign");
            }
        }
        pe_plan_free(plan);
    }
    mpfr_clear(wanted);
}

Test(alibi, takes_given_slopes)
{
    static const double at[] = {0, 3};
    struct pe_positions positions = positions_of(at, 2);
    struct pe_plan *plan = plan_from("alibi:slopes=0.5+0+0.1", &positions);
    double got[12];
    pe_bias(plan, &positions, &positions, 0, 3, PE_F64, got);
    static const double wanted[] = {0, -1.5, -1.5, 0, 0, 0, 0, 0, 0, -0.1 * 3, -0.1 * 3, 0};
    for (size_t i = 0; i < N(wanted); i++)
        cr_assert(got[i] == wanted[i], "element %zu: %a", i, got[i]);
    pe_plan_free(plan);
    plan = plan_from("alibi:slope=1e-320", &positions);
    pe_bias(plan, &positions, &positions, 0, 1, PE_F64, got);
    cr_assert(got[1] == -3 * 1e-320, "%a", got[1]);
    pe_plan_free(plan);
}

/* ---- t5 ----------------------------------------------------------------------------------- */

static struct pe_plan *t5_plan(int buckets, double max_distance, bool bidirectional)
{
    char text[120];
    snprintf(text, sizeof text, "t5:buckets=%d,max_distance=%.0f,bidirectional=%d", buckets,
             max_distance, bidirectional);
    struct pe_positions positions = positions_of(zero, 1);
    return plan_from(text, &positions);
}

/* Bucket of a relative position, key - query, with the query at different places. */
static int64_t bucket_of(const struct pe_plan *plan, double relative)
{
    double query = relative > 0 ? -3 : 5, key = query + relative;
    struct pe_positions queries = positions_of(&query, 1), keys = positions_of(&key, 1);
    int64_t bucket;
    pe_buckets(plan, &queries, &keys, &bucket);
    return bucket;
}

Test(t5, has_the_buckets_that_transformers_gave)
{
    for (size_t c = 0; c < N(golden_t5); c++) {
        const struct golden_t5 *golden = &golden_t5[c];
        struct pe_plan *plan =
            t5_plan(golden->buckets, golden->max_distance, golden->bidirectional);
        for (size_t i = 0; i < golden->n; i++) {
            long end = i + 1 < golden->n ? golden->at[i + 1].relative : golden->last + 1;
            if (!golden->dense)
                end = golden->at[i].relative + 1;
            for (long relative = golden->at[i].relative; relative < end; relative++)
                cr_assert_eq(bucket_of(plan, (double)relative), golden->at[i].bucket,
                             "%d buckets to %d, relative %ld: %ld", golden->buckets,
                             golden->max_distance, relative,
                             (long)bucket_of(plan, (double)relative));
        }
        pe_plan_free(plan);
    }
}

/* The rule with exact powers: how many j have a^far * near^j >= max^j * near^far. */
static int64_t ref_far_bucket(size_t near, size_t far, double max_distance, double a)
{
    mpfr_t left, right;
    mpfr_inits2(60000, left, right, (mpfr_ptr)0);
    mpfr_set_d(left, a, MPFR_RNDN);
    mpfr_pow_ui(left, left, far, MPFR_RNDN);
    mpfr_ui_pow_ui(right, near, far, MPFR_RNDN);
    int64_t j = 0;
    for (; j + 1 < (int64_t)far; j++) {
        mpfr_mul_ui(left, left, near, MPFR_RNDN);
        mpfr_mul_d(right, right, max_distance, MPFR_RNDN);
        if (mpfr_cmp(left, right) < 0)
            break;
    }
    mpfr_clears(left, right, (mpfr_ptr)0);
    return (int64_t)near + j;
}

/* Around every edge, also where the edge is an integer exactly (max/near a power of 2). */
Test(t5, draws_its_edges_by_integers)
{
    static const struct {
        int buckets;
        double max_distance;
    } cases[] = {{32, 128}, {32, 16384}, {64, 0x1p53}, {8, 5},   {2, 2},       {3, 2},     {5, 100},
                 {6, 24},   {12, 4374},  {16, 8192},   {9, 1e9}, {100, 12345}, {512, 4096}};
    for (size_t c = 0; c < N(cases); c++) {
        size_t near = (size_t)cases[c].buckets / 2, far = (size_t)cases[c].buckets - near;
        double max_distance = cases[c].max_distance;
        struct pe_plan *plan = t5_plan(cases[c].buckets, max_distance, false);
        for (size_t j = 0; j < far; j += 1 + (far > 40) * 17) {
            double ratio = max_distance / (double)near;
            double edge = floor((double)near * pow(ratio, (double)j / (double)far));
            for (double a = fmax(edge - 2, (double)near); a <= edge + 2; a++)
                cr_assert_eq(bucket_of(plan, -a), ref_far_bucket(near, far, max_distance, a),
                             "%d buckets to %.0f, distance %.0f: %ld", cases[c].buckets,
                             max_distance, a, (long)bucket_of(plan, -a));
        }
        cr_assert_eq(bucket_of(plan, -0x1p53), cases[c].buckets - 1);
        cr_assert_eq(bucket_of(plan, 7), 0, "keys after the query");
        pe_plan_free(plan);
    }
}

Test(t5, looks_values_up_by_bucket_and_head)
{
    static const double at[] = {0, 1, 40};
    static const double table[] = {10, 11, 20, 21, 30, 31, 40, 41};
    struct pe_spec spec;
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse("t5:max_distance=10", &spec, &faults));
    spec.table = table;
    spec.table_rows = 4;
    spec.table_cols = 2;
    cr_assert(pe_spec_finish(&spec, &faults), "%s", faults.item[0].detail);
    struct pe_positions positions = positions_of(at, 3);
    struct pe_plan *plan;
    cr_assert_eq(pe_plan_new(&spec, &positions, &plan), PE_OK);
    double got[18];
    pe_bias(plan, &positions, &positions, 0, 2, PE_F64, got);
    static const double wanted[] = {10, 10, 10, 20, 10, 10, 40, 40, 10,
                                    11, 11, 11, 21, 11, 11, 41, 41, 11};
    for (size_t i = 0; i < N(wanted); i++)
        cr_assert(got[i] == wanted[i], "element %zu: %g", i, got[i]);
    pe_plan_free(plan);
    pe_spec_release(&spec);
}

/* ---- Learned values ----------------------------------------------------------------------- */

/* Element i of the normal stream "table", from its definition, times std, rounded to dtype. */
static double ref_learned(uint64_t seed, uint64_t i, double std, enum pe_dtype dtype)
{
    mpfr_t y;
    mpfr_init2(y, 200);
    mpfr_set_ui(y, 0, MPFR_RNDN);
    for (uint64_t k = 1; k <= 12; k++)
        mpfr_add_ui(y, y, pe_draw(seed, "table", 12 * i + k) >> 32, MPFR_RNDN);
    mpfr_mul_2si(y, y, -32, MPFR_RNDN);
    mpfr_sub_ui(y, y, 6, MPFR_RNDN);
    mpfr_mul_d(y, y, std, MPFR_RNDN);
    double value = ref_round(dtype, y);
    mpfr_clear(y);
    return value;
}

Test(learned, has_seeded_rows)
{
    static const double at[] = {0, 1, 2047, 77};
    static const struct {
        const char *text;
        uint64_t seed;
        double std;
    } cases[] = {
        {"learned:dim=200", 0, 0.02},
        {"learned:dim=5,table_seed=9007199254740992,table_std=1", (uint64_t)1 << 53, 1},
        {"learned:dim=3,table_seed=7,table_std=0", 7, 0},
        {"learned:dim=7,table_std=1e-300", 0, 1e-300},
        {"learned:dim=200,table_std=1e-310", 0, 1e-310},
        {"learned:dim=200,table_std=1e-320", 0, 1e-320},
    };
    for (size_t c = 0; c < N(cases); c++) {
        struct pe_positions positions = positions_of(at, N(at));
        struct pe_plan *plan = plan_from(cases[c].text, &positions);
        size_t dim = pe_spec_dim(pe_plan_spec(plan));
        for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
            static double got[N(at) * 200];
            pe_table(plan, &positions, dtype, got, dim);
            for (size_t i = 0; i < N(at) * dim; i++) {
                uint64_t element = (uint64_t)at[i / dim] * dim + i % dim;
                double wanted = ref_learned(cases[c].seed, element, cases[c].std, dtype);
                cr_assert(pe_load(dtype, got, i) == wanted, "%s in %s, element %zu: %a, wanted %a",
                          cases[c].text, pe_dtype_name(dtype), i, pe_load(dtype, got, i), wanted);
            }
        }
        pe_plan_free(plan);
    }
}

Test(learned, has_posted_rows)
{
    static const double table[] = {1, 2, 3, 4, 5, 0.1};
    static const double at[] = {1, 0};
    struct pe_spec spec;
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse("learned:shift=1", &spec, &faults));
    spec.table = table;
    spec.table_rows = 3;
    spec.table_cols = 2;
    cr_assert(pe_spec_finish(&spec, &faults));
    struct pe_positions positions = positions_of(at, 2);
    struct pe_plan *plan;
    cr_assert_eq(pe_plan_new(&spec, &positions, &plan), PE_OK);
    float got[4];
    pe_table(plan, &positions, PE_F32, got, 2);
    cr_assert(got[0] == 5 && got[1] == 0.1f && got[2] == 3 && got[3] == 4);
    pe_plan_free(plan);
    pe_spec_release(&spec);
}

/* ---- none, integer, binary ---------------------------------------------------------------- */

Test(none, adds_nothing)
{
    static const double at[] = {0, 5};
    struct pe_positions positions = positions_of(at, 2);
    struct pe_plan *plan = plan_from("none:dim=3", &positions);
    double got[] = {9, 9, 9, 9, 9, 9};
    pe_table(plan, &positions, PE_F64, got, 3);
    for (size_t i = 0; i < N(got); i++)
        cr_assert_eq(got[i], 0);
    pe_plan_free(plan);
}

Test(integer, is_the_rounded_quotient)
{
    static const double at[] = {
        0,      1,      2,      3,        -7,     257,    0.1,   0.5,
        0x1p53, 1e-300, 1e-310, 1.7e-322, 5e-324, 8191.5, 10000, 123456789.125};
    static const struct {
        const char *text;
        double shift, divisor;
    } cases[] = {
        {"integer:dim=2", 0, 1},
        {"integer:dim=1,shift=0.1", 0.1, 1},
        {"integer:dim=1,normalize_by=3", 0, 3},
        {"integer:dim=1,normalize_by=0.1", 0, 0.1},
        {"integer:dim=1,normalize_by=0.003", 0, 0.003},
        {"integer:dim=1,normalize_by=128", 0, 128},
        {"integer:dim=1,normalize_by=0.1,shift=1e-17", 1e-17, 0.1},
        {"integer:dim=1,normalize_by=9007199254740992,shift=-1", -1, 0x1p53},
    };
    mpfr_t wanted;
    mpfr_init2(wanted, 3000);
    for (size_t c = 0; c < N(cases); c++) {
        struct pe_positions positions = positions_of(at, N(at));
        struct pe_plan *plan = plan_from(cases[c].text, &positions);
        size_t dim = pe_spec_dim(pe_plan_spec(plan));
        for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
            double got[2 * N(at)];
            pe_table(plan, &positions, dtype, got, dim);
            for (size_t i = 0; i < N(at) * dim; i++) {
                mpfr_set_d(wanted, at[i / dim], MPFR_RNDN);
                mpfr_add_d(wanted, wanted, cases[c].shift, MPFR_RNDN);
                mpfr_div_d(wanted, wanted, cases[c].divisor, MPFR_RNDN);
                double value = pe_load(dtype, got, i);
                bool overflows = dtype == PE_F16 && mpfr_cmp_d(wanted, 65519) > 0;
                cr_assert(overflows ? isinf(value) : value == ref_round(dtype, wanted),
                          "%s in %s at %g: %a", cases[c].text, pe_dtype_name(dtype), at[i / dim],
                          value);
            }
        }
        pe_plan_free(plan);
    }
    mpfr_clear(wanted);
}

Test(binary, has_the_lowest_bit_first)
{
    static const double at[] = {0, 1, 6, 13, 0x1p53 - 1, 0x1p53};
    struct pe_positions positions = positions_of(at, N(at));
    struct pe_plan *plan = plan_from("binary:dim=70,shift=3", &positions);
    static double got[N(at) * 70];
    pe_table(plan, &positions, PE_F64, got, 70);
    for (size_t i = 0; i < N(at) * 70; i++) {
        uint64_t p = (uint64_t)at[i / 70] + 3;
        size_t bit = i % 70;
        cr_assert(got[i] == (double)(bit < 64 ? p >> bit & 1 : 0), "%g, bit %zu: %g", at[i / 70],
                  bit, got[i]);
    }
    pe_plan_free(plan);
}
