// SPDX-License-Identifier: Apache-2.0
/*
 * fope: which frequencies are kept, by mpmath's 500 bits; cosines and sines mixed by matrices
 * against mpmath and against plain sums by MPFR; what they make of vectors; what is refused.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "apply_to.h"
#include "ref/ref_round.h"
#include "rows_of.h"

#define N(array) (sizeof(array) / sizeof *(array))
#define BITS     600 /* of the sums here, which lose fewer than half to cancellation */

Test(fope, keeps_what_completes_a_turn)
{
    static const struct {
        const char *text;
        double kept;
    } cases[] = {
        {"fope:dim=64,max_position=512", 16},
        {"fope:dim=64,max_position=472", 16},
        {"fope:dim=64,max_position=471", 15},
        {"fope:dim=128", 41},
        {"fope:dim=128,base=500000,max_position=8192", 35},
        {"fope:dim=64,max_position=9007199254740992", 32},
        {"fope:dim=8,max_position=7", 1},
        {"fope:dim=2,max_position=7", 1},
        {"fope:dim=4,base=1e30,max_position=6283185307179586", 1}, /* 2 pi 10^15 is between */
        {"fope:dim=4,base=1e30,max_position=6283185307179587", 2},
        {"fope:dim=64,num_inv_freq=5", 5},
        {"fope:dim=64,max_position=512,num_inv_freq=16", 16},
    };
    for (size_t i = 0; i < N(cases); i++) {
        static const double zero = 0;
        struct pe_positions positions = positions_of(&zero, 1);
        struct pe_plan *plan = plan_from(cases[i].text, &positions);
        const struct pe_spec *spec = pe_plan_spec(plan);
        size_t pairs = pe_spec_pairs(spec), kept = 0;
        double w[64];
        pe_frequencies(plan,
                       &(struct pe_frequencies){.dtype = PE_F64, .context = 1, .inv_freq = w});
        while (kept < pairs && w[kept] > 0)
            kept++;
        cr_expect_eq(kept, (size_t)cases[i].kept, "%s: %zu", cases[i].text, kept);
        cr_expect_eq(pe_spec_number(spec, "num_inv_freq"), cases[i].kept, "%s", cases[i].text);
        for (size_t k = kept; k < pairs; k++)
            cr_expect_eq(w[k], 0, "%s: frequency %zu", cases[i].text, k);
        pe_plan_free(plan);
    }
}

/* ---- Without matrices --------------------------------------------------------------------- */

Test(fope, has_the_pairs_of_rope_and_ones)
{
    enum { COUNT = 9, DIM = 64, KEPT = 16 };
    double *rows = rows_of("fope:dim=64,max_position=512", COUNT);
    double *rope = rows_of("rope:dim=64,layout=half", COUNT);
    for (size_t i = 0; i < (size_t)COUNT * DIM; i++)
        cr_expect_eq(rows[i], i % (DIM / 2) < KEPT ? rope[i] : 1, "element %zu", i);
    free(rows);
    free(rope);
}

static void expect_multiplied_rest(enum pe_dtype dtype)
{
    enum { DIM = 8, KEPT = 1 };
    static const double at[] = {0, 1, -1e6};
    struct pe_positions positions = positions_of(at, N(at));
    double x[N(at) * DIM], y[N(at) * DIM];
    for (size_t i = 0; i < N(at) * DIM; i++)
        pe_store(dtype, x, i, (double)i - 7);
    apply_rows("fope:dim=8,num_inv_freq=1", &positions, false, DIM, dtype, x, dtype, y);
    for (size_t token = 0; token < N(at); token++)
        for (size_t pair = KEPT; pair < DIM / 2; pair++) {
            size_t i = token * DIM + pair;
            double a = (double)i - 7, b = a + DIM / 2;
            cr_expect_eq(pe_load(dtype, y, i), a - b, "element %zu", i);
            cr_expect_eq(pe_load(dtype, y, i + DIM / 2), a + b, "element %zu", i + DIM / 2);
        }
    cr_expect_eq(pe_load(dtype, y, 0), -7, "at position 0 a kept pair stays as it is");
    cr_expect_eq(pe_load(dtype, y, DIM / 2), -3);
}

Test(fope, multiplies_the_rest_by_ones)
{
    expect_multiplied_rest(PE_F64);
    expect_multiplied_rest(PE_F32);
    expect_multiplied_rest(PE_BF16);
}

/* ---- With matrices ------------------------------------------------------------------------ */

static struct pe_plan *plan_with(const char *text, const struct pe_stages *stages,
                                 const double *table, size_t kept,
                                 const struct pe_positions *positions)
{
    struct pe_spec spec;
    struct pe_faults faults = {0};
    struct pe_plan *plan;
    cr_assert(pe_spec_parse(text, &spec, &faults), "%s", text);
    spec.table = table;
    spec.table_rows = 2 * kept;
    spec.table_cols = kept;
    bool ok = pe_spec_finish(&spec, &faults);
    cr_assert(ok, "%s: %s", faults.item[0].param, faults.item[0].detail);
    cr_assert_eq(pe_plan_staged(&spec, stages, positions, &plan), PE_OK);
    pe_spec_release(&spec);
    return plan;
}

Test(fope, mixes_as_mpmath_does)
{
    enum { KEPT = 3, PAIRS = 5 };
    static const double table[2 * KEPT * KEPT] = {
        1,   -0.5,  0.25, 0.3,  2,  -1,  -0.7, 0.1, 0.6, /* A_cos */
        0.9, 0.125, -3,   1e-3, -1, 0.5, 2,    0.2, -0.4,
    };
    static const double at[] = {1, -7.25, 100003};
    static const double wanted[N(at)][2][KEPT] = {
        {{0.13676318004627416, 1.804750972315993, -0.25258053651311013},
         {0.8077141587867848, -0.04761952244736404, -2.455546123522446}},
        {{0.0023067530665854016, 0.6330974648755182, 0.3227024975168676},
         {-1.1038988068288598, 0.7732679943926462, 2.085498131087491}},
        {{0.5061864902714731, -2.4613506028104224, 1.3968110847389374},
         {-2.0924198300910093, -0.14301764384036858, 0.8797803612512763}},
    };
    struct pe_positions positions = positions_of(at, N(at));
    struct pe_plan *plan =
        plan_with("fope:dim=10,num_inv_freq=3", &(struct pe_stages){0}, table, KEPT, &positions);
    double c[N(at) * PAIRS], s[N(at) * PAIRS];
    pe_cos_sin(plan, &positions, PE_F64, c, s);
    for (size_t token = 0; token < N(at); token++)
        for (size_t pair = 0; pair < PAIRS; pair++) {
            size_t i = token * PAIRS + pair;
            cr_expect_eq(c[i], pair < KEPT ? wanted[token][0][pair] : 1, "cosine %zu: %.17g", i,
                         c[i]);
            cr_expect_eq(s[i], pair < KEPT ? wanted[token][1][pair] : 1, "sine %zu: %.17g", i,
                         s[i]);
        }
    pe_plan_free(plan);
}

/* More frequencies than one block has, sums that cancel; in the last pairs numbers of other sizes.
 */
enum { WIDE = 150, WIDE_PAIRS = 160, WIDE_DIM = 2 * WIDE_PAIRS };
#define WIDE_SPEC "fope:dim=320,num_inv_freq=150"

static double *wide_table(void)
{
    double *table = malloc((size_t)2 * WIDE * WIDE * sizeof *table);
    cr_assert(table);
    pe_fill_random(1, "table", PE_CONTENT_NORMAL, 1, 0, (size_t)2 * WIDE * WIDE, PE_F64, table);
    for (size_t k = 0; k < (size_t)2 * WIDE; k++) {
        table[k * WIDE] = k % WIDE == 0 ? 1 : k % WIDE == 1 ? -1 : 0; /* of two neighbours */
        table[k * WIDE + WIDE - 1] *= 0x1p90;
        table[k * WIDE + WIDE - 2] *= 0x1p-140;
        table[k * WIDE + WIDE - 3] = 0;
    }
    return table;
}

static const double wide_at[] = {0, 3, -12345.678, 0x1p-40, 1e9};

/* Cosines and sines of all frequencies at these positions. */
struct ref {
    const double *table;
    mpfr_t cis[N(wide_at)][WIDE][2];
};

static void ref_init(struct ref *ref, const double *table)
{
    MPFR_DECL_INIT(w, BITS);
    ref->table = table;
    for (size_t k = 0; k < WIDE; k++)
        for (size_t token = 0; token < N(wide_at); token++) {
            mpfr_ptr c = ref->cis[token][k][0], s = ref->cis[token][k][1];
            mpfr_inits2(BITS, c, s, (mpfr_ptr)0);
            mpfr_set_si(c, -2 * (long)k, MPFR_RNDN);
            mpfr_div_ui(c, c, WIDE_DIM, MPFR_RNDN);
            mpfr_ui_pow(w, 10000, c, MPFR_RNDN);
            mpfr_mul_d(w, w, wide_at[token], MPFR_RNDN);
            mpfr_sin_cos(s, c, w, MPFR_RNDN);
        }
}

static void ref_clear(struct ref *ref)
{
    for (size_t i = 0; i < N(wide_at) * WIDE; i++)
        mpfr_clears(ref->cis[i / WIDE][i % WIDE][0], ref->cis[i / WIDE][i % WIDE][1], (mpfr_ptr)0);
}

/* Cosine or sine of a pair, as a plain sum. */
static void ref_mixed(struct ref *ref, size_t token, size_t pair, bool is_sine, mpfr_t sum)
{
    MPFR_DECL_INIT(term, BITS);
    mpfr_set_ui(sum, pair < WIDE ? 0 : 1, MPFR_RNDN);
    for (size_t k = 0; pair < WIDE && k < WIDE; k++) {
        double factor = ref->table[((is_sine ? WIDE : 0) + k) * WIDE + pair];
        mpfr_mul_d(term, ref->cis[token][k][is_sine], factor, MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
    }
}

static void compare_wide(enum pe_dtype dtype, const struct pe_stages *stages,
                         enum pe_dtype table_in)
{
    double *table = wide_table();
    struct pe_positions positions = positions_of(wide_at, N(wide_at));
    struct pe_plan *plan = plan_with(WIDE_SPEC, stages, table, WIDE, &positions);
    double c[N(wide_at) * WIDE_PAIRS], s[N(wide_at) * WIDE_PAIRS], rows[N(wide_at) * WIDE_DIM];
    MPFR_DECL_INIT(y, BITS);
    struct ref ref;
    ref_init(&ref, table);
    pe_cos_sin(plan, &positions, dtype, c, s);
    pe_table(plan, &positions, dtype, rows, WIDE_DIM);
    for (size_t i = 0; i < N(wide_at) * WIDE_PAIRS; i++)
        for (int sine = 0; sine < 2; sine++) {
            size_t token = i / WIDE_PAIRS, pair = i % WIDE_PAIRS;
            ref_mixed(&ref, token, pair, sine, y);
            double wanted = ref_round(table_in, y);
            size_t channel = token * WIDE_DIM + pair + (sine ? WIDE_PAIRS : 0);
            double got = pe_load(dtype, sine ? s : c, i);
            cr_expect(got == wanted && !signbit(got) == !signbit(wanted),
                      "position %g, pair %zu, %d: %.17g, not %.17g", wide_at[token], pair, sine,
                      got, wanted);
            cr_expect_eq(pe_load(dtype, rows, channel), got, "channel %zu", channel);
        }
    ref_clear(&ref);
    pe_plan_free(plan);
    free(table);
}

Test(fope, sums_are_rounded_once)
{
    compare_wide(PE_F64, &(struct pe_stages){0}, PE_F64);
    compare_wide(PE_F32, &(struct pe_stages){0}, PE_F32);
}

Test(fope, table_stage_rounds_sums)
{
    const struct pe_stages stages = {.named = 1u << PE_STAGE_TABLE,
                                     .dtype = {[PE_STAGE_TABLE] = PE_BF16}};
    compare_wide(PE_F64, &stages, PE_BF16);
}

/* f64 is a c - b s and a s + b c of the exact sums, rounded once. */
Test(fope, multiplies_vectors)
{
    static const struct pe_stages none;
    double *table = wide_table();
    struct pe_positions positions = positions_of(wide_at, N(wide_at));
    struct pe_plan *plan = plan_with(WIDE_SPEC, &none, table, WIDE, &positions);
    size_t shape[] = {N(wide_at), WIDE_DIM};
    double x[N(wide_at) * WIDE_DIM], y[N(wide_at) * WIDE_DIM];
    struct pe_view in, out;
    pe_fill_random(2, "x", PE_CONTENT_NORMAL, 1, 0, N(x), PE_F64, x);
    cr_assert(pe_view_init(&in, PE_F64, x, "td", shape, 2, 1));
    cr_assert(pe_view_init(&out, PE_F64, y, "td", shape, 2, 1));
    void *work = aligned_alloc(64, (pe_apply_work_bytes(plan) + 63) / 64 * 64);
    cr_assert(work);
    pe_apply(&(struct pe_apply){plan, &positions, 1, false, &in, &out, work, &none, false});
    MPFR_DECL_INIT(c, BITS);
    MPFR_DECL_INIT(s, BITS);
    struct ref ref;
    ref_init(&ref, table);
    for (size_t i = 0; i < N(y); i++) {
        size_t token = i / WIDE_DIM, channel = i % WIDE_DIM, pair = channel % WIDE_PAIRS;
        bool second = channel >= WIDE_PAIRS;
        double a = x[token * WIDE_DIM + pair], b = x[token * WIDE_DIM + pair + WIDE_PAIRS];
        ref_mixed(&ref, token, pair, false, c);
        ref_mixed(&ref, token, pair, true, s);
        mpfr_mul_d(c, c, second ? b : a, MPFR_RNDN);
        mpfr_mul_d(s, s, second ? a : -b, MPFR_RNDN);
        mpfr_add(c, c, s, MPFR_RNDN);
        cr_expect_eq(y[i], ref_round(PE_F64, c), "token %zu, channel %zu: %.17g", token, channel,
                     y[i]);
    }
    ref_clear(&ref);
    free(work);
    pe_plan_free(plan);
    free(table);
}

/* ---- What is refused ---------------------------------------------------------------------- */

Test(fope, refuses_what_does_not_fit)
{
    static const struct {
        const char *text, *detail;
    } cases[] = {
        {"fope:dim=64,num_inv_freq=33", "num_inv_freq must be at most dim/2 (32), got 33"},
        {"fope:dim=64,num_inv_freq=5,max_position=512",
         "max_position 512 keeps 16 frequencies, but num_inv_freq is given as 5"},
        {"fope:dim=64,max_position=6", "max_position must be at least 7, got 6"},
    };
    for (size_t i = 0; i < N(cases); i++)
        cr_expect_str_eq(fault_of(cases[i].text, 0), cases[i].detail);
    cr_expect_str_neq(fault_of("fope:dim=64,layout=interleaved", 0), "");
    cr_expect_str_eq(fault_of("fope:dim=64", -0x1p53), "");
}

/* The fault of a table for two kept frequencies. */
static const char *table_fault(const double *table, size_t rows, size_t cols)
{
    static char detail[sizeof((struct pe_fault *)NULL)->detail];
    struct pe_spec spec;
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse("fope:dim=8,num_inv_freq=2", &spec, &faults));
    spec.table = table;
    spec.table_rows = rows;
    spec.table_cols = cols;
    bool ok = pe_spec_finish(&spec, &faults);
    snprintf(detail, sizeof detail, "%s", ok ? "" : faults.item[0].detail);
    pe_spec_release(&spec);
    return detail;
}

Test(fope, tables_are_two_square_matrices)
{
    double table[8] = {1, 0, 0, 1, 1, 0, 0, 1};
    cr_expect_str_eq(table_fault(table, 4, 2), "");
    cr_expect_str_eq(table_fault(table, 2, 2), "table must be [4, 2], got [2, 2]");
    cr_expect_str_eq(table_fault(table, 2, 4), "table must be [4, 2], got [2, 4]");
    table[5] = 0x1p101;
    cr_expect_str_eq(table_fault(table, 4, 2),
                     "table must have finite numbers of at most 2^100; got "
                     "2.535301200456459e+30 in row 2");
    table[5] = NAN;
    cr_expect_str_neq(table_fault(table, 4, 2), "");
}

Test(fope, turns_no_pair_by_one_angle)
{
    static const double zero = 0;
    struct pe_positions positions = positions_of(&zero, 1);
    double table[8] = {1, 0, 0, 1, 1, 0, 0, 1};
    struct pe_plan *plain = plan_from("fope:dim=8,num_inv_freq=2", &positions);
    struct pe_plan *mixed =
        plan_with("fope:dim=8,num_inv_freq=2", &(struct pe_stages){0}, table, 2, &positions);
    cr_expect(!pe_spec_turns(pe_plan_spec(plain)));
    cr_expect_eq(pe_spec_mixing_work(pe_plan_spec(plain)), 0);
    cr_expect_eq(pe_spec_mixing_work(pe_plan_spec(mixed)), 8);
    cr_expect(!pe_spec_is_given(pe_plan_spec(mixed)));
    pe_plan_free(plain);
    pe_plan_free(mixed);
}
