// SPDX-License-Identifier: Apache-2.0
/*
 * cis_tables.c: lays out the digit tables of a set of frequencies and fills them.
 *
 * The entries of single bits ("seeds") come from MPFR: one sin_cos per pair at the lowest bit, then
 * squarings, at 256 bits. The modulus of the error doubles and grows by 2^-254 each time, up to 119
 * times, and the error of the angle is |p w| 2^-253 < 2^-135: all in all below 2^-130. Rounding to
 * hi + lo then adds 2^-108 to a component. The other entries are products of seeds, one for each
 * bit of the digit, by the kernel; cis.c proves what they are off by.
 */
#include "cis_tables.h"

#include <stdlib.h>
#include <string.h>

#include "dd.h"

#define MULTIPLE_OF_LINE 8 /* doubles in a cache line */

static size_t entries_bytes(const struct pe__cis *cis)
{
    size_t pairs = (cis->n + MULTIPLE_OF_LINE - 1) / MULTIPLE_OF_LINE * MULTIPLE_OF_LINE;
    return pairs * cis->tables_n * pe__digits_n(cis) * 4 * sizeof *cis->entries;
}

static void lay_out(struct pe__cis *cis, unsigned digit_bits)
{
    cis->digit_bits = digit_bits;
    cis->tables_n = 0;
    cis->covered = 0;
    cis->high_shift = 0;
    for (unsigned bit = 0; bit < PE__POSITION_BITS; bit += digit_bits) {
        if (!(cis->groups >> (bit / PE__DIGIT_BITS) & 1))
            continue;
        cis->shift[cis->tables_n++] = (uint8_t)bit;
        cis->covered |= (((unsigned __int128)1 << digit_bits) - 1) << bit;
        if (cis->tables_n * digit_bits == PE__DIGIT_BITS) /* the lowest group is complete */
            cis->high_shift = bit + digit_bits;
    }
}

/* The widest digits whose tables do not get too large. */
static void choose_layout(struct pe__cis *cis)
{
    static const unsigned choices[] = {6, 3, 1};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        lay_out(cis, choices[i]);
        if (entries_bytes(cis) <= PE_PLAN_BYTES_MAX / 2)
            return;
    }
}

static size_t block_width(const struct pe__cis *cis, size_t first)
{
    size_t n = cis->n - first < PE__BLOCK ? cis->n - first : PE__BLOCK;
    return (n + MULTIPLE_OF_LINE - 1) / MULTIPLE_OF_LINE * MULTIPLE_OF_LINE;
}

struct pe__cdd pe__cis_entry(const struct pe__cis *cis, size_t table, size_t digit, size_t k)
{
    size_t first = k - k % PE__BLOCK;
    size_t width = block_width(cis, first);
    size_t before = first * cis->tables_n + width * table; /* in pairs of one whole table each */
    double *x =
        cis->entries + 4 * (before * pe__digits_n(cis) + width * (digit - 1)) + k % PE__BLOCK;
    return (struct pe__cdd){x, x + width, x + 2 * width, x + 3 * width};
}

static struct pe__dd dd_from_mpfr(mpfr_srcptr x, mpfr_ptr scratch)
{
    double hi = mpfr_get_d(x, MPFR_RNDN);
    mpfr_sub_d(scratch, x, hi, MPFR_RNDN);
    return (struct pe__dd){hi, mpfr_get_d(scratch, MPFR_RNDN)};
}

void pe__cdd_set(struct pe__cdd x, mpfr_srcptr c, mpfr_srcptr s, mpfr_ptr scratch)
{
    struct pe__dd cosine = dd_from_mpfr(c, scratch);
    struct pe__dd sine = dd_from_mpfr(s, scratch);
    *x.cos_hi = cosine.hi;
    *x.cos_lo = cosine.lo;
    *x.sin_hi = sine.hi;
    *x.sin_lo = sine.lo;
}

void pe__unit_cis(enum pe__unit unit, mpfr_ptr c, mpfr_ptr s, mpfr_ptr angle)
{
    if (unit == PE__RADIANS) {
        mpfr_sin_cos(s, c, angle, MPFR_RNDN);
        return;
    }
    mpfr_t pi;
    mpfr_init2(pi, mpfr_get_prec(angle));
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_frac(angle, angle, MPFR_RNDN);
    mpfr_mul_2ui(angle, angle, 2, MPFR_RNDN);
    long quarter = mpfr_get_si(angle, MPFR_RNDN);
    mpfr_sub_si(angle, angle, quarter, MPFR_RNDN);
    mpfr_mul(angle, angle, pi, MPFR_RNDN);
    mpfr_div_2ui(angle, angle, 1, MPFR_RNDN);
    mpfr_sin_cos(s, c, angle, MPFR_RNDN);
    mpfr_clear(pi);
    quarter = (quarter + 4) % 4;
    if (quarter % 2 != 0)
        mpfr_swap(c, s);
    if (quarter == 1 || quarter == 2)
        mpfr_neg(c, c, MPFR_RNDN);
    if (quarter >= 2)
        mpfr_neg(s, s, MPFR_RNDN);
}

/* (c + is)^2 in place. */
static void square(mpfr_ptr c, mpfr_ptr s, mpfr_ptr scratch)
{
    mpfr_mul(scratch, c, s, MPFR_RNDN);
    mpfr_sqr(c, c, MPFR_RNDN);
    mpfr_sqr(s, s, MPFR_RNDN);
    mpfr_sub(c, c, s, MPFR_RNDN);
    mpfr_mul_2ui(s, scratch, 1, MPFR_RNDN);
}

/* Sets the entries of single bits of pair k. */
static void seed_pair(struct pe__cis *cis, size_t k, mpfr_ptr c, mpfr_ptr s, mpfr_ptr scratch)
{
    unsigned bit = cis->shift[0];
    mpfr_mul_2si(scratch, cis->w[k], (long)bit - PE__FRACTION_BITS, MPFR_RNDN);
    pe__unit_cis(cis->unit, c, s, scratch);
    for (size_t table = 0; table < cis->tables_n; table++) {
        for (unsigned j = 0; j < cis->digit_bits; j++) {
            for (; bit < cis->shift[table] + j; bit++)
                square(c, s, scratch);
            pe__cdd_set(pe__cis_entry(cis, table, (size_t)1 << j, k), c, s, scratch);
        }
    }
}

/* Sets the other entries of a block from those of single bits. */
static void fill_block(struct pe__cis *cis, size_t first)
{
    size_t n = cis->n - first < PE__BLOCK ? cis->n - first : PE__BLOCK;
    for (size_t table = 0; table < cis->tables_n; table++) {
        for (size_t digit = 3; digit <= pe__digits_n(cis); digit++) {
            size_t rest = digit & (digit - 1); /* without its lowest bit */
            if (rest == 0)
                continue;
            struct pe__cdd_in a = pe__cdd_input(pe__cis_entry(cis, table, rest, first));
            struct pe__cdd_in b = pe__cdd_input(pe__cis_entry(cis, table, digit - rest, first));
            struct pe__cdd product = pe__cis_entry(cis, table, digit, first);
            pe__kernels()->cis_mul(n, &a, &b, &product);
        }
    }
}

/* ---- Factors of runs ---------------------------------------------------------------------- */

static void split(size_t n, const double *hi, const double *lo, double *coarse, double *fine)
{
    const double shifter = 0x1.8p26; /* its last bit is worth 2^-26 */
    for (size_t i = 0; i < n; i++) {
        coarse[i] = (hi[i] + shifter) - shifter;
        fine[i] = (hi[i] - coarse[i]) + lo[i];
    }
}

void pe__cis_factors(size_t n, struct pe__cdd_in x, bool are_split, double *out, size_t width)
{
    memcpy(out + PE__C * width, x.cos_hi, n * sizeof *out);
    memcpy(out + PE__S * width, x.sin_hi, n * sizeof *out);
    if (!are_split)
        return;
    split(n, x.cos_hi, x.cos_lo, out + PE__C1 * width, out + PE__C2 * width);
    split(n, x.sin_hi, x.sin_lo, out + PE__S1 * width, out + PE__S2 * width);
}

const double *pe__cis_offsets(const struct pe__cis *cis, size_t k, size_t *width)
{
    size_t first = k - k % PE__BLOCK;
    *width = block_width(cis, first);
    return cis->factors + PE__FACTORS * first * PE__OFFSETS + k % PE__BLOCK;
}

static size_t factors_bytes(const struct pe__cis *cis)
{
    bool one_table = cis->digit_bits == PE__DIGIT_BITS && cis->tables_n > 0;
    size_t pairs = (cis->n + MULTIPLE_OF_LINE - 1) / MULTIPLE_OF_LINE * MULTIPLE_OF_LINE;
    size_t bytes = pairs * PE__FACTORS * PE__OFFSETS * sizeof *cis->factors;
    return one_table && bytes <= PE_PLAN_BYTES_MAX - entries_bytes(cis) ? bytes : 0;
}

static void fill_factors(struct pe__cis *cis, size_t first)
{
    size_t n = cis->n - first < PE__BLOCK ? cis->n - first : PE__BLOCK;
    size_t width = block_width(cis, first);
    double *x = cis->factors + PE__FACTORS * first * PE__OFFSETS;
    for (size_t k = 0; k < n; k++)
        x[PE__C * width + k] = x[PE__C1 * width + k] = 1; /* offset 0; the others are 0 */
    for (size_t digit = 1; digit <= pe__digits_n(cis); digit++) {
        x += PE__FACTORS * width;
        pe__cis_factors(n, pe__cdd_input(pe__cis_entry(cis, 0, digit, first)), true, x, width);
    }
    struct pe__planes planes; /* the one behind the last digit */
    struct pe__cdd next = {planes.cos_hi, planes.cos_lo, planes.sin_hi, planes.sin_lo};
    struct pe__cdd_in one = pe__cdd_input(pe__cis_entry(cis, 0, 1, first));
    struct pe__cdd_in last = pe__cdd_input(pe__cis_entry(cis, 0, pe__digits_n(cis), first));
    pe__kernels()->cis_mul(n, &last, &one, &next);
    pe__cis_factors(n, pe__cdd_input(next), true, x + PE__FACTORS * width, width);
}

_Static_assert(PE__OFFSETS == (1 << PE__DIGIT_BITS) + 1, "offsets are the digits and one more");

/* ---- All of it ---------------------------------------------------------------------------- */

static void fill_tables(struct pe__cis *cis)
{
    mpfr_t c, s, scratch;
    mpfr_inits2(PE__SEED_PRECISION, c, s, scratch, (mpfr_ptr)NULL);
    for (size_t k = 0; k < cis->n; k++)
        seed_pair(cis, k, c, s, scratch);
    mpfr_clears(c, s, scratch, (mpfr_ptr)NULL);
    for (size_t first = 0; first < cis->n; first += PE__BLOCK) {
        fill_block(cis, first);
        if (cis->factors)
            fill_factors(cis, first);
    }
}

static void fill_frequencies(struct pe__cis *cis)
{
    size_t limbs_n = mpfr_custom_get_size(PE__SEED_PRECISION) / sizeof *cis->limbs;
    mpfr_t w; /* the function may exchange its limbs */
    mpfr_init2(w, PE__SEED_PRECISION);
    for (size_t k = 0; k < cis->n; k++) {
        mp_limb_t *limbs = cis->limbs + k * limbs_n;
        mpfr_custom_init(limbs, PE__SEED_PRECISION);
        mpfr_custom_init_set(cis->w[k], MPFR_ZERO_KIND, 0, PE__SEED_PRECISION, limbs);
        cis->frequency(cis->context, k, w);
        mpfr_set(cis->w[k], w, MPFR_RNDN);
    }
    mpfr_clear(w);
}

/* Allocates what the layout needs; at least something of each, for n = 0 or no groups. */
static bool allocate(struct pe__cis *cis)
{
    size_t limbs_bytes = cis->n * mpfr_custom_get_size(PE__SEED_PRECISION);
    size_t w_bytes = cis->n * sizeof *cis->w;
    size_t table_bytes = entries_bytes(cis);
    size_t factor_bytes = factors_bytes(cis);
    cis->bytes = sizeof *cis + limbs_bytes + w_bytes + table_bytes + factor_bytes;
    cis->limbs = malloc(limbs_bytes + 1);
    cis->w = malloc(w_bytes + 1);
    cis->entries = aligned_alloc(64, table_bytes + 64);
    if (factor_bytes > 0) {
        /* At least a vector more, as kernels read whole ones; a multiple, as the allocator asks. */
        factor_bytes += 2 * PE__FACTORS_ALIGNED - factor_bytes % PE__FACTORS_ALIGNED;
        cis->factors = aligned_alloc(PE__FACTORS_ALIGNED, factor_bytes);
        if (cis->factors)
            memset(cis->factors, 0, factor_bytes);
    }
    return cis->limbs && cis->w && cis->entries && (cis->factors || factor_bytes == 0);
}

struct pe__cis *pe__cis_new(pe__frequency_fn *frequency, const void *context, enum pe__unit unit,
                            size_t n, uint32_t groups)
{
    struct pe__cis *cis = calloc(1, sizeof *cis);
    if (!cis)
        return NULL;
    cis->frequency = frequency;
    cis->context = context;
    cis->unit = unit;
    cis->n = n;
    cis->groups = groups;
    choose_layout(cis);
    if (!allocate(cis)) {
        pe__cis_free(cis);
        return NULL;
    }
    fill_frequencies(cis);
    if (cis->tables_n > 0)
        fill_tables(cis);
    return cis;
}

void pe__cis_free(struct pe__cis *cis)
{
    if (!cis)
        return;
    free(cis->entries);
    free(cis->factors);
    free(cis->w);
    free(cis->limbs);
    free(cis);
}

size_t pe__cis_bytes(const struct pe__cis *cis)
{
    return cis->bytes;
}

uint32_t pe__cis_groups(const struct pe__cis *cis)
{
    return cis->groups;
}

bool pe__cis_is_zero(const struct pe__cis *cis, size_t k)
{
    return mpfr_zero_p(cis->w[k]);
}
