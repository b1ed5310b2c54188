// SPDX-License-Identifier: Apache-2.0
/*
 * Lists of positions: the grammar, exact decimal steps (against MPFR's rationals done by hand), the
 * limits, the canonical text and its inverse; which kinds have a value where.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posenc.h"

#define N(array)   (sizeof(array) / sizeof *(array))
#define VALUES_MAX 64

static bool parse(const char *text, double *out, size_t max, size_t *n, struct pe_faults *faults)
{
    return pe_positions_parse(text, "positions", out, max, n, faults);
}

Test(parse, understands_the_grammar)
{
    static const struct {
        const char *text;
        size_t n;
        double values[24];
    } cases[] = {
        {"7", 1, {7}},
        {"-7", 1, {-7}},
        {"-0", 1, {0}},
        {"0,8,24", 3, {0, 8, 24}},
        {"8,0,8", 3, {8, 0, 8}},
        {"0:4", 4, {0, 1, 2, 3}},
        {"0:10:4", 3, {0, 4, 8}},
        {"0:8:4", 2, {0, 4}},
        {"0:9:4", 3, {0, 4, 8}},
        {"-4:4", 8, {-4, -3, -2, -1, 0, 1, 2, 3}},
        {"4:-2:-2", 3, {4, 2, 0}},
        {"0:2:0.25", 8, {0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75}},
        {"0:1:0.1", 10, {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}},
        {"1:0:-0.25", 4, {1, 0.75, 0.5, 0.25}},
        {"0:1:0.3", 4, {0, 0.3, 0.6, 0.9}},
        {"0.5:3", 3, {0.5, 1.5, 2.5}},
        {"0:0.9", 1, {0}},
        {"1e3:5e3:2e3", 2, {1000, 3000}},
        {"0:3e-300:1e-300", 3, {0, 1e-300, 2e-300}},
        {"2^0:2^4", 5, {1, 2, 4, 8, 16}},
        {"2^-2:2^1", 4, {0.25, 0.5, 1, 2}},
        {"2^10", 1, {1024}},
        {"2^3:2^3", 1, {8}},
        {"2^52:2^53", 2, {0x1p52, 0x1p53}},
        {"0:3,10,2^5:2^6,20:22", 8, {0, 1, 2, 10, 32, 64, 20, 21}},
        {" 0, 8 ,1 : 3 ", 4, {0, 8, 1, 2}},
        {"9007199254740992", 1, {0x1p53}},
        {"-9007199254740992", 1, {-0x1p53}},
        {"9007199254740991.9", 1, {0x1p53}},
        {"4503599627370497.5", 1, {4503599627370497.5}},
        {"9007199254740990:9007199254740993", 3, {0x1p53 - 2, 0x1p53 - 1, 0x1p53}},
        {"1e-300", 1, {1e-300}},
        {"5e-324", 1, {5e-324}},
        {"1e-400", 1, {0}},
        {"0.1000000000000000055511151231257827021181583404541015625", 1, {0.1}},
    };
    for (size_t i = 0; i < N(cases); i++) {
        double out[VALUES_MAX];
        size_t n;
        struct pe_faults faults = {0};
        cr_assert(parse(cases[i].text, out, VALUES_MAX, &n, &faults), "%s: %s", cases[i].text,
                  faults.item[0].detail);
        cr_assert_eq(n, cases[i].n, "%s: %zu positions", cases[i].text, n);
        for (size_t j = 0; j < n; j++)
            cr_assert(out[j] == cases[i].values[j] && !(out[j] == 0 && signbit(out[j])),
                      "%s: number %zu is %a", cases[i].text, j, out[j]);
    }
}

#define HINT "write 7, 0,8,24, 0:128, 0:128:4, -4:4, 0:2:0.25 or 2^0:2^20"

Test(parse, refuses_in_plain_words)
{
    static const struct {
        const char *text, *detail;
    } cases[] = {
        {"", "\"\" in positions holds no position"},
        {"  ", "\"  \" in positions holds no position"},
        {"0:0", "\"0:0\" in positions holds no position"},
        {"4:0", "\"4:0\" in positions holds no position"},
        {"0:4:-1", "\"0:4:-1\" in positions holds no position"},
        {"2^4:2^0", "\"2^4:2^0\" in positions holds no position"},
        {"0:4:0", "\"0:4:0\" in positions has the step 0"},
        {"1,,2", "\"\" in positions is not a number"},
        {"1,", "\"\" in positions is not a number"},
        {"abc", "\"abc\" in positions is not a number"},
        {"NaN", "\"NaN\" in positions is not a number"},
        {"+1", "\"+1\" in positions is not a number"},
        {".5", "\".5\" in positions is not a number"},
        {"0:x", "\"x\" in positions is not a number"},
        {"0:", "\"\" in positions is not a number"},
        {":4", "\"\" in positions is not a number"},
        {"0:1:2:3", "\"0:1:2:3\" in positions has more than three parts"},
        {"0-4", "\"0-4\" in positions is not a number"},
        {"9007199254740993", "\"9007199254740993\" in positions is beyond 2^53, the largest "
                             "position"},
        {"-9007199254740993", "\"-9007199254740993\" in positions is beyond 2^53, the largest "
                              "position"},
        {"9007199254740992.0000000000000000000000000000000000001",
         "\"9007199254740992.00000000000000000000000...\" in positions is beyond 2^53, the "
         "largest position"},
        {"1e300", "\"1e300\" in positions is beyond 2^53, the largest position"},
        {"1e999", "\"1e999\" in positions is beyond 2^53, the largest position"},
        {"1e17:2e17:1e17", "\"1e17\" in positions is beyond 2^53, the largest position"},
        {"0:1e17:5e16", "\"0:1e17:5e16\" in positions is beyond 2^53, the largest position"},
        {"2^54", "\"2^54\" in positions is not a power from 2^-1074 to 2^53"},
        {"2^0.5", "\"2^0.5\" in positions is not a power from 2^-1074 to 2^53"},
        {"3^4", "\"3^4\" in positions is not a power from 2^-1074 to 2^53"},
        {"2^0:8", "\"2^0:8\" in positions is not a range of powers from 2^-1074 to 2^53 (it has "
                  "no step)"},
        {"2^0:2^8:2", "\"2^0:2^8:2\" in positions is not a range of powers from 2^-1074 to 2^53 "
                      "(it has no step)"},
        {"0:1:0.12345678901234567891", "\"0:1:0.12345678901234567891\" in positions has a number "
                                       "of more than 19 digits"},
        {"1000000000000000:1000000000000000.5:1e-30", NULL}, /* more than the limit */
        {"1e-300:5:3", "\"1e-300:5:3\" in positions has numbers too far apart in size"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        double out[VALUES_MAX];
        size_t n;
        struct pe_faults faults = {0};
        cr_assert_not(parse(cases[i].text, out, VALUES_MAX, &n, &faults), "%s", cases[i].text);
        cr_assert_eq(faults.n, 1, "%s: %zu faults", cases[i].text, faults.n);
        const struct pe_fault *fault = &faults.item[0];
        cr_assert_str_eq(fault->param, "positions");
        if (!cases[i].detail) {
            cr_assert_eq(fault->status, PE_LIMIT_EXCEEDED, "%s", cases[i].text);
            continue;
        }
        cr_assert_eq(fault->status, PE_INVALID_VALUE, "%s", cases[i].text);
        cr_assert_str_eq(fault->detail, cases[i].detail);
        cr_assert_str_eq(fault->hint, HINT);
    }
}

Test(parse, names_every_bad_piece)
{
    double out[VALUES_MAX];
    size_t n;
    struct pe_faults faults = {0};
    cr_assert_not(parse("1,x,2:1,3,y:4", out, VALUES_MAX, &n, &faults));
    cr_assert_eq(faults.n, 3);
    cr_assert_str_eq(faults.item[2].detail, "\"y\" in positions is not a number");
}

Test(parse, counts_past_its_room_and_up_to_the_limit)
{
    static const struct {
        const char *text;
        size_t n;          /* 0: over the limit */
        const char *count; /* as the message says it */
    } cases[] = {
        {"0:1048576", 1048576, NULL},
        {"0:1048577", 0, "1048577"},
        {"0:524288,0:524288", 1048576, NULL},
        {"0:524288,0:524288,7", 0, "1048577"},
        {"0:1:0.0000001", 0, "10000000"},
        {"0:9007199254740992", 0, "9007199254740992"},
        {"0:1e300", 0, "1e+300"},
        {"0:1e999", 0, "Infinity"},
        {"-9007199254740992:9007199254740992:1e-300", 0, NULL},
    };
    for (size_t i = 0; i < N(cases); i++) {
        double out[4] = {-1, -1, -1, -1};
        size_t n;
        struct pe_faults faults = {0};
        bool ok = parse(cases[i].text, out, 3, &n, &faults);
        cr_assert_eq(ok, cases[i].n > 0, "%s", cases[i].text);
        cr_assert_eq(out[3], -1, "%s writes past its room", cases[i].text);
        if (ok) {
            cr_assert_eq(n, cases[i].n, "%s: %zu", cases[i].text, n);
            continue;
        }
        char wanted[120];
        snprintf(wanted, sizeof wanted, "positions may hold at most 1048576 positions, got %s",
                 cases[i].count ? cases[i].count : "");
        cr_assert_eq(faults.item[0].status, PE_LIMIT_EXCEEDED, "%s", cases[i].text);
        cr_assert_eq(strncmp(faults.item[0].detail, wanted, strlen(wanted)), 0, "%s: %s",
                     cases[i].text, faults.item[0].detail);
    }
}

/* ---- Exact steps -------------------------------------------------------------------------- */

static uint64_t random_below(uint64_t i, uint64_t n)
{
    return pe_draw(3, "positions", i) % n;
}

/* (start + i * step) / 10^places, rounded once. */
static double exact_value(int64_t start, int64_t step, size_t i, unsigned places)
{
    mpfr_t x, divisor;
    mpfr_inits2(2000, x, divisor, (mpfr_ptr)0);
    mpfr_set_si(x, step, MPFR_RNDN);
    mpfr_mul_ui(x, x, i, MPFR_RNDN);
    mpfr_t first;
    mpfr_init2(first, 64);
    mpfr_set_si(first, start, MPFR_RNDN);
    mpfr_add(x, x, first, MPFR_RNDN);
    mpfr_ui_pow_ui(divisor, 10, places, MPFR_RNDN);
    mpfr_div(x, x, divisor, MPFR_RNDN);
    double value = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clears(x, divisor, first, (mpfr_ptr)0);
    return value;
}

/* Decimal text of digits / 10^places. */
static void decimal_text(int64_t digits, unsigned places, char out[64])
{
    snprintf(out, 64, "%llde-%u", (long long)digits, places);
}

Test(parse, rounds_each_exact_decimal_once)
{
    for (uint64_t k = 0; k < 3000; k++) {
        unsigned places = (unsigned)random_below(6 * k, k % 10 == 0 ? 60 : 12);
        int64_t limit = places < 3 ? 1000000 : 1000000000000;
        int64_t start = (int64_t)random_below(6 * k + 1, (uint64_t)limit) - limit / 2;
        int64_t step = 1 + (int64_t)random_below(6 * k + 2, (uint64_t)limit / 50);
        size_t wanted_n = 1 + random_below(6 * k + 3, 40);
        if (k % 2)
            step = -step;
        char a[64], b[64], c[64], text[200];
        decimal_text(start, places, a);
        decimal_text(start + step * (int64_t)wanted_n - (k % 3 ? 0 : step / 2), places, b);
        decimal_text(step, places, c);
        snprintf(text, sizeof text, "%s:%s:%s", a, b, c);
        double out[VALUES_MAX];
        size_t n;
        struct pe_faults faults = {0};
        cr_assert(parse(text, out, VALUES_MAX, &n, &faults), "%s: %s", text, faults.item[0].detail);
        cr_assert_eq(n, wanted_n, "%s: %zu", text, n);
        for (size_t i = 0; i < n; i++)
            cr_assert(out[i] == exact_value(start, step, i, places), "%s: number %zu is %a", text,
                      i, out[i]);
    }
}

/* ---- Printing ----------------------------------------------------------------------------- */

Test(print, is_canonical)
{
    static const struct {
        const char *text, *canonical;
    } cases[] = {
        {"7", "7"},
        {"-0", "0"},
        {"0:2", "0,1"},
        {"0,1,2", "0:3"},
        {"0:128", "0:128"},
        {"0:128:1", "0:128"},
        {"0:126:4", "0:128:4"},
        {"0:2:0.25", "0:2:0.25"},
        {"0:1:0.1", "0:1:0.1"},
        {"0:0.95:0.1", "0:1:0.1"},
        {"0.1,0.2,0.3", "0.1:0.4:0.1"},
        {"4:-2:-2", "4:-2:-2"},
        {"3:0:-1", "3:0:-1"},
        {"-4:4", "-4:4"},
        {"0,8,24", "0,8,24"},
        {"5,5,5", "5,5,5"},
        {"1,2,4,8", "1,2,4,8"},
        {"2^0:2^3", "1,2,4,8"},
        {"1e20,0", NULL},
        {"1e-7:4e-7:1e-7", "1e-7:4e-7:1e-7"},
        {"0:3e-300:1e-300", "0:3e-300:1e-300"},
        {"9007199254740990:9007199254740993", "9007199254740990,9007199254740991,9007199254740992"},
        {"9007199254740992:9007199254740989:-1", "9007199254740992:9007199254740989:-1"},
        {"0:1:0.333333333333333333", "0,0.3333333333333333,0.6666666666666666,1"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        double out[VALUES_MAX * 2];
        size_t n;
        struct pe_faults faults = {0};
        char text[200];
        if (!cases[i].canonical) {
            cr_assert_not(parse(cases[i].text, out, N(out), &n, &faults));
            continue;
        }
        cr_assert(parse(cases[i].text, out, N(out), &n, &faults), "%s", cases[i].text);
        pe_positions_print(out, n, text, sizeof text);
        cr_assert_str_eq(text, cases[i].canonical, "%s: %s", cases[i].text, text);
    }
}

Test(print, returns_the_length_it_needs)
{
    static const double list[] = {0, 0.5, 24};
    const char *whole = "0,0.5,24";
    for (size_t size = 0; size <= strlen(whole) + 1; size++) {
        char out[40];
        memset(out, '#', sizeof out);
        cr_assert_eq(pe_positions_print(list, 3, out, size), strlen(whole));
        cr_assert(size == 0 || (strncmp(out, whole, size - 1) == 0 && out[size - 1] == '\0'));
        cr_assert_eq(out[size], '#', "writes past %zu bytes", size);
    }
    char out[4] = "abc";
    cr_assert_eq(pe_positions_print(list, 0, out, sizeof out), 0);
    cr_assert_str_eq(out, "");
}

static void check_inverse(const double *at, size_t n)
{
    char text[VALUES_MAX * 30], again[VALUES_MAX * 30];
    double back[VALUES_MAX];
    size_t back_n;
    struct pe_faults faults = {0};
    pe_positions_print(at, n, text, sizeof text);
    cr_assert(parse(text, back, VALUES_MAX, &back_n, &faults), "%s: %s", text,
              faults.item[0].detail);
    cr_assert_eq(back_n, n, "%s: %zu", text, back_n);
    for (size_t i = 0; i < n; i++)
        cr_assert(back[i] == at[i], "%s: number %zu is %a, was %a", text, i, back[i], at[i]);
    pe_positions_print(back, n, again, sizeof again);
    cr_assert_str_eq(text, again);
}

/* Decimal steps, binary steps, steps with an ulp's disturbance, and no steps at all. */
Test(print, is_undone_by_parse)
{
    for (uint64_t k = 0; k < 20000; k++) {
        double at[VALUES_MAX];
        size_t n = 1 + random_below(5 * k, 40);
        double start = (double)random_below(5 * k + 1, 4000) - 2000;
        double step = (double)random_below(5 * k + 2, 400) - 200;
        double unit = pow(10, -(double)random_below(5 * k + 3, 20));
        for (size_t i = 0; i < n; i++) {
            at[i] = (start + step * (double)i) * unit;
            if (k % 4 == 1)
                at[i] = ldexp(start + step * (double)i, -(int)(k % 60));
            if (k % 4 == 2 && i > 1 && random_below(5 * k + 4 + i, 8) == 0)
                at[i] = nextafter(at[i], INFINITY);
            if (k % 4 == 3)
                at[i] = ldexp((double)random_below(k + i, (uint64_t)1 << 53), -(int)(k % 200));
        }
        check_inverse(at, n);
    }
}

/* ---- Which kinds have a value where ------------------------------------------------------- */

Test(check, says_where_there_is_no_value)
{
    static const struct {
        const char *spec;
        double position;
        const char *detail; /* NULL: there is a value */
    } cases[] = {
        {"learned", 0, NULL},
        {"learned", 2047, NULL},
        {"learned", 2048,
         "there is no value at position 2048: the table has the positions 0 to "
         "2047"},
        {"learned", -1, "there is no value at position -1: the table has the positions 0 to 2047"},
        {"learned", 0.5,
         "there is no value at position 0.5: the table has the positions 0 to "
         "2047"},
        {"learned:shift=0.5", 0.5, NULL},
        {"learned:rows=4,shift=2", 2,
         "there is no value at position 4: the table has the "
         "positions 0 to 3"},
        {"learned:shift=1e-30", 7,
         "there is no value at position 7: the table has the positions "
         "0 to 2047"},
        {"binary:dim=4", 15, NULL},
        {"binary:dim=4", 16, "4 bits hold the integers 0 to 2^4-1, not the position 16"},
        {"binary:dim=4", -1, "4 bits hold the integers 0 to 2^4-1, not the position -1"},
        {"binary:dim=4", 1.5, "4 bits hold the integers 0 to 2^4-1, not the position 1.5"},
        {"binary:dim=64", 0x1p53, NULL},
        {"binary:dim=64,shift=9007199254740992", 0x1p53, NULL},
        {"binary:dim=54,shift=9007199254740992", 0x1p53 - 1, NULL},
        {"binary:dim=54,shift=9007199254740992", 0x1p53,
         "54 bits hold the integers 0 to 2^54-1, not the position 18014398509481984"},
        {"binary:dim=64,shift=0.5", 0x1p53,
         "64 bits hold the integers 0 to 2^64-1, not the "
         "position 9007199254740992"},
        {"t5", -5, NULL},
        {"t5:shift=0.5", 5, NULL},
        {"t5", 0.5, "positions must be integers for t5, got 0.5"},
        {"rope", 0.5, NULL},
        {"sinusoidal", -1e-300, NULL},
        {"integer", 0.25, NULL},
        {"alibi", 0.25, NULL},
        {"none", 0.25, NULL},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_spec spec;
        struct pe_faults faults = {0};
        cr_assert(pe_spec_parse(cases[i].spec, &spec, &faults) && pe_spec_finish(&spec, &faults),
                  "%s", cases[i].spec);
        double at[] = {1, cases[i].position};
        if (spec.kind->acts == PE_ADDS && pe_spec_number(&spec, "shift") != 0)
            at[0] = at[1];
        struct pe_positions positions = {1, 2, {at}};
        bool ok = pe_positions_check(&spec, &positions, "positions", &faults);
        cr_assert_eq(ok, !cases[i].detail, "%s at %g", cases[i].spec, cases[i].position);
        if (!ok)
            cr_assert_str_eq(faults.item[0].detail, cases[i].detail);
        pe_spec_release(&spec);
    }
}

Test(positions, end_where_none_has_a_value)
{
    static const struct {
        const char *spec;
        double end;
    } cases[] = {
        {"binary:dim=4", 16},
        {"binary:dim=4,shift=6", 10},
        {"gray:dim=1", 2},
        {"one_hot:dim=5", 5},
        {"haar:dim=8,length=32", 32},
        {"learned", 2048},
        {"learned:rows=1", 1},
        {"learned:rows=7,reserved=2", 0},
        {"swin:window=3+5", 15},
        {"rope:max_positions=100", 100},
        {"binary:dim=64", INFINITY},
        {"rope", INFINITY},
        {"mrope", INFINITY},
        {"t5", INFINITY},
        {"none", INFINITY},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_spec spec;
        struct pe_faults faults = {0};
        cr_assert(pe_spec_parse(cases[i].spec, &spec, &faults) && pe_spec_finish(&spec, &faults),
                  "%s", cases[i].spec);
        cr_expect_eq(pe_positions_end(&spec), cases[i].end, "%s: %g", cases[i].spec,
                     pe_positions_end(&spec));
        pe_spec_release(&spec);
    }
}
