// SPDX-License-Identifier: Apache-2.0
/*
 * The table of kinds: that the catalogue is complete and consistent, and each kind's own numbers:
 * frequencies, channels of pairs, integers and bits.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kind.h"
#include "plan_from.h"
#include "posenc.h"
#include "ref/ref_trig.h"

#define N(array) (sizeof(array) / sizeof *(array))

static void spec_from(const char *text, struct pe_spec *spec)
{
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse(text, spec, &faults) && pe_spec_finish(spec, &faults), "%s: %s", text,
              faults.item[0].detail);
}

/* ---- Catalogue ---------------------------------------------------------------------------- */

Test(catalogue, finds_every_kind_by_its_name)
{
    static const char *const names[] = {
#define KIND(name) #name,
#include "kinds.def"
#undef KIND
    };
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
        cr_assert(kind->axes >= 1 && kind->axes <= PE_AXES_MAX, "%s", kind->name);
        cr_assert(kind->ops, "%s", kind->name);
        size_t n = 0;
        for (; kind->references[n].title; n++)
            cr_assert(kind->references[n].year >= 1900 && *kind->references[n].id, "%s",
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
    cr_assert(row->type == PE_INT || (row->type == PE_ENUM) == (row->choices != NULL), "%s: %s",
              kind->name, row->name);
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
        {"sinusoidal:dim=64,spacing=shift,freq_shift=1", 32, 10000, 1, 31, 1},
        {"sinusoidal:dim=65,spacing=shift,freq_shift=0.5", 32, 10000, 2, 63, 1},
        {"sinusoidal:dim=6,spacing=shift,freq_shift=2.5,base=1e30", 3, 1e30, 2, 1, 1},
        {"sinusoidal:dim=64,spacing=shift,freq_shift=-1", 32, 10000, 1, 33, 1},
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
        {"sinusoidal:dim=8,order=cos_sin", 4, {0, 1, 2, 3}, {4, 5, 6, 7}},
        {"sinusoidal:dim=7,order=cos_sin", 3, {0, 1, 2}, {3, 4, 5}},
        {"sinusoidal:dim=7,order=cos_sin,odd=sin", 4, {0, 1, 2, -1}, {3, 4, 5, 6}},
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
        {"integer:dim=1,length=4", 0, 3},
        {"integer:dim=1,length=9007199254740992,shift=0.1", 0.1, 0x1p53 - 1},
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

Test(integer, of_a_sequence_of_one_is_zero)
{
    static const double at[] = {0, 1, -7};
    struct pe_positions positions = positions_of(at, N(at));
    struct pe_plan *plan = plan_from("integer:dim=1,length=1", &positions);
    double got[N(at)];
    pe_table(plan, &positions, PE_F64, got, 1);
    for (size_t i = 0; i < N(at); i++)
        cr_assert_eq(got[i], 0);
    pe_plan_free(plan);
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
