// SPDX-License-Identifier: Apache-2.0
/*
 * cis.c: digit tables and the products of their entries; what cis.h says. The products themselves
 * are a kernel (kernels_cis.inc.c), rounding is round.c's.
 *
 * A magnitude of position is a 120-bit integer in steps of 2^-66. Its bits are cut into tables of
 * 6 (or 3, or 1) bits; the entry of table t and digit d holds cis(d 2^(shift_t - 66) w_k) of every
 * pair k as double-double. The entries of single bits ("seeds") come from MPFR; all else, the other
 * entries as well as the values, are products of seeds, one for each bit set, however they are
 * grouped. So one bound serves all:
 *
 * Error of a product. Let u = 2^-53; all hi + lo are normalised and at most 1 + O(u^2) in modulus,
 * so hi <= 1 and |lo| <= u/2. For the cosine, p = ac.hi bc.hi and q = as.hi bs.hi are exact as
 * p.hi + p.lo, and |p| + |q| <= 1 by Cauchy and Schwarz. What is lost, in units of u^2:
 *     lo lo, left out                                          2 (1/2)^2       0.5
 *     the four products hi lo, sqrt(2) u together in size,
 *         rounded, added in pairs, and the pairs               3 sqrt(2)       4.25
 *     pl + ql, at most u                                       1
 *     + cross, at most 2.42 u                                  2.42
 *     + the two-sum's low part (<= u), at most 3.42 u          3.42
 *     or, where the high parts cancel to below the low ones, that part is 0 nearly, the same sum
 *         is at most 2.42 u, and so is the error of fast_two_sum outside its domain
 * 11.6 in all, or 13 where they cancel, which cosine and sine cannot both: the modulus is off by at
 * most sqrt(11.6^2 + 13^2) < 17.5. Likewise for the sine. Errors of the factors add up (moduli 1).
 *
 * Error of a seed. One sin_cos per pair at the lowest bit, then squarings, at 256 bits: the modulus
 * of the error doubles and grows by 2^-254 each time, up to 119 times, and the error of the angle
 * is |p w| 2^-253 < 2^-135; 2^-130 covers both. Rounding to hi + lo adds u^2 / 4 to a component.
 *
 * A value with b bits set is thus off by at most (17.5 (b - 1) + 0.36 b) u^2 < 18 b u^2.
 */
#include "cis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dd.h"
#include "kernels.h"

#define DIGIT_BITS       6
#define FRACTION_BITS    66 /* of a position */
#define POSITION_BITS    (DIGIT_BITS * PE__GROUPS_N)
#define TABLES_MAX       POSITION_BITS
#define SEED_PRECISION   256
#define ERROR_PER_BIT    (18 * 0x1p-106)
#define SLOW_PRECISION   128
#define SLOW_ERROR       0x1p-107
#define EXACT_GUARD_BITS 72
#define LOST_MAX         4096 /* a component that small beside its angle is an exact zero */
#define MULTIPLE_OF_LINE 8    /* doubles in a cache line */

typedef unsigned __int128 magnitude;

struct pe__cis {
    pe__frequency_fn *frequency;
    const void *context;
    size_t n;
    uint32_t groups;
    magnitude covered;   /* the bits that the tables' groups stand for */
    unsigned high_shift; /* the bits below belong to the lowest group */
    unsigned digit_bits;
    size_t low_tables_n; /* tables of the lowest group */
    size_t tables_n;
    uint8_t shift[TABLES_MAX]; /* lowest bit of each table, ascending */
    size_t bytes;
    mpfr_t *w;        /* the frequencies to SEED_PRECISION */
    mp_limb_t *limbs; /* theirs */
    /* By blocks of PE__BLOCK pairs, in a block by table and digit (from 1), then the planes cos_hi,
     * cos_lo, sin_hi, sin_lo, each block_width() long: what a walk uses lies together. */
    double *entries;
};

/* ---- Positions ---------------------------------------------------------------------------- */

/* x in steps of 2^-66; false when it is no multiple. |x| <= 2^54, so that it fits. */
static bool steps_from(double x, __int128 *steps)
{
    int exponent;
    int64_t fraction = (int64_t)(frexp(x, &exponent) * 0x1p53); /* exact, x = fraction 2^(e - 53) */
    int shift = exponent - 53 + FRACTION_BITS;
    *steps = 0;
    if (fraction == 0)
        return true;
    if (shift >= 0) {
        *steps = (__int128)fraction * ((__int128)1 << shift);
        return true;
    }
    if (shift < -52 || fraction % (INT64_C(1) << -shift) != 0)
        return false;
    *steps = fraction >> -shift;
    return true;
}

/* False when the position is not of POSITION_BITS bits. */
static bool position_split(struct pe__pos position, magnitude *size, bool *negative)
{
    __int128 hi;
    __int128 lo;
    if (!steps_from(position.hi, &hi) || !steps_from(position.lo, &lo))
        return false;
    __int128 sum = hi + lo;
    *negative = sum < 0;
    *size = (magnitude)(*negative ? -sum : sum);
    return *size >> POSITION_BITS == 0;
}

uint32_t pe__groups(struct pe__pos position)
{
    magnitude size;
    bool negative;
    if (!position_split(position, &size, &negative))
        return UINT32_C(1) << PE__GROUPS_N;
    uint32_t groups = 0;
    for (unsigned g = 0; size != 0; g++, size >>= DIGIT_BITS)
        if (size % (1 << DIGIT_BITS) != 0)
            groups |= UINT32_C(1) << g;
    return groups;
}

static int bits_set(magnitude x)
{
    return __builtin_popcountll((uint64_t)x) + __builtin_popcountll((uint64_t)(x >> 64));
}

/* ---- Layout of the tables ----------------------------------------------------------------- */

static size_t digits_n(const struct pe__cis *cis)
{
    return ((size_t)1 << cis->digit_bits) - 1;
}

static size_t entries_bytes(const struct pe__cis *cis)
{
    size_t pairs = (cis->n + MULTIPLE_OF_LINE - 1) / MULTIPLE_OF_LINE * MULTIPLE_OF_LINE;
    return pairs * cis->tables_n * digits_n(cis) * 4 * sizeof *cis->entries;
}

static void lay_out(struct pe__cis *cis, unsigned digit_bits)
{
    cis->digit_bits = digit_bits;
    cis->low_tables_n = DIGIT_BITS / digit_bits;
    cis->tables_n = 0;
    cis->covered = 0;
    cis->high_shift = 0;
    for (unsigned bit = 0; bit < POSITION_BITS; bit += digit_bits) {
        if (!(cis->groups >> (bit / DIGIT_BITS) & 1))
            continue;
        cis->shift[cis->tables_n++] = (uint8_t)bit;
        cis->covered |= (((magnitude)1 << digit_bits) - 1) << bit;
        if (cis->tables_n == cis->low_tables_n)
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

/* The entry of a digit (not 0) from pair k to the end of k's block. */
static struct pe__cdd entry_at(const struct pe__cis *cis, size_t table, size_t digit, size_t k)
{
    size_t first = k - k % PE__BLOCK;
    size_t width = block_width(cis, first);
    size_t before = first * cis->tables_n + width * table; /* in pairs of one whole table each */
    double *x = cis->entries + 4 * (before * digits_n(cis) + width * (digit - 1)) + k % PE__BLOCK;
    return (struct pe__cdd){x, x + width, x + 2 * width, x + 3 * width};
}

static struct pe__cdd_in as_input(struct pe__cdd x)
{
    return (struct pe__cdd_in){x.cos_hi, x.cos_lo, x.sin_hi, x.sin_lo};
}

/* ---- Building ----------------------------------------------------------------------------- */

static struct pe__dd dd_from_mpfr(mpfr_srcptr x, mpfr_ptr scratch)
{
    double hi = mpfr_get_d(x, MPFR_RNDN);
    mpfr_sub_d(scratch, x, hi, MPFR_RNDN);
    return (struct pe__dd){hi, mpfr_get_d(scratch, MPFR_RNDN)};
}

static void set_lane(struct pe__cdd x, size_t i, mpfr_srcptr c, mpfr_srcptr s, mpfr_ptr scratch)
{
    struct pe__dd cosine = dd_from_mpfr(c, scratch);
    struct pe__dd sine = dd_from_mpfr(s, scratch);
    x.cos_hi[i] = cosine.hi;
    x.cos_lo[i] = cosine.lo;
    x.sin_hi[i] = sine.hi;
    x.sin_lo[i] = sine.lo;
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
    mpfr_mul_2si(scratch, cis->w[k], (long)bit - FRACTION_BITS, MPFR_RNDN);
    mpfr_sin_cos(s, c, scratch, MPFR_RNDN);
    for (size_t table = 0; table < cis->tables_n; table++) {
        for (unsigned j = 0; j < cis->digit_bits; j++) {
            for (; bit < cis->shift[table] + j; bit++)
                square(c, s, scratch);
            set_lane(entry_at(cis, table, (size_t)1 << j, k), 0, c, s, scratch);
        }
    }
}

/* Sets the other entries of a block from those of single bits. */
static void fill_block(struct pe__cis *cis, size_t first)
{
    size_t n = cis->n - first < PE__BLOCK ? cis->n - first : PE__BLOCK;
    for (size_t table = 0; table < cis->tables_n; table++) {
        for (size_t digit = 3; digit <= digits_n(cis); digit++) {
            size_t rest = digit & (digit - 1); /* without its lowest bit */
            if (rest == 0)
                continue;
            struct pe__cdd_in a = as_input(entry_at(cis, table, rest, first));
            struct pe__cdd_in b = as_input(entry_at(cis, table, digit - rest, first));
            struct pe__cdd product = entry_at(cis, table, digit, first);
            pe__kernels()->cis_mul(n, &a, &b, &product);
        }
    }
}

static void fill_tables(struct pe__cis *cis)
{
    mpfr_t c, s, scratch;
    mpfr_inits2(SEED_PRECISION, c, s, scratch, (mpfr_ptr)NULL);
    for (size_t k = 0; k < cis->n; k++)
        seed_pair(cis, k, c, s, scratch);
    mpfr_clears(c, s, scratch, (mpfr_ptr)NULL);
    for (size_t first = 0; first < cis->n; first += PE__BLOCK)
        fill_block(cis, first);
}

static void fill_frequencies(struct pe__cis *cis)
{
    size_t limbs_n = mpfr_custom_get_size(SEED_PRECISION) / sizeof *cis->limbs;
    mpfr_t w; /* the function may exchange its limbs */
    mpfr_init2(w, SEED_PRECISION);
    for (size_t k = 0; k < cis->n; k++) {
        mp_limb_t *limbs = cis->limbs + k * limbs_n;
        mpfr_custom_init(limbs, SEED_PRECISION);
        mpfr_custom_init_set(cis->w[k], MPFR_ZERO_KIND, 0, SEED_PRECISION, limbs);
        cis->frequency(cis->context, k, w);
        mpfr_set(cis->w[k], w, MPFR_RNDN);
    }
    mpfr_clear(w);
}

/* Allocates what the layout needs; at least something of each, for n = 0 or no groups. */
static bool allocate(struct pe__cis *cis)
{
    size_t limbs_bytes = cis->n * mpfr_custom_get_size(SEED_PRECISION);
    size_t w_bytes = cis->n * sizeof *cis->w;
    size_t table_bytes = entries_bytes(cis);
    cis->bytes = sizeof *cis + limbs_bytes + w_bytes + table_bytes;
    cis->limbs = malloc(limbs_bytes + 1);
    cis->w = malloc(w_bytes + 1);
    cis->entries = aligned_alloc(64, table_bytes + 64);
    return cis->limbs && cis->w && cis->entries;
}

struct pe__cis *pe__cis_new(pe__frequency_fn *frequency, const void *context, size_t n,
                            uint32_t groups)
{
    struct pe__cis *cis = calloc(1, sizeof *cis);
    if (!cis)
        return NULL;
    cis->frequency = frequency;
    cis->context = context;
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

/* ---- Values ------------------------------------------------------------------------------- */

/* The pairs that a call is about. */
struct block {
    const struct pe__cis *cis;
    size_t first, n;
};

static struct pe__cdd planes_at(struct pe__planes *x, size_t i)
{
    return (struct pe__cdd){x->cos_hi + i, x->cos_lo + i, x->sin_hi + i, x->sin_lo + i};
}

static struct pe__cdd_in planes_from(const struct pe__planes *x, size_t i)
{
    return (struct pe__cdd_in){x->cos_hi + i, x->cos_lo + i, x->sin_hi + i, x->sin_lo + i};
}

static void copy(size_t n, struct pe__cdd_in from, struct pe__cdd to)
{
    memcpy(to.cos_hi, from.cos_hi, n * sizeof(double));
    memcpy(to.cos_lo, from.cos_lo, n * sizeof(double));
    memcpy(to.sin_hi, from.sin_hi, n * sizeof(double));
    memcpy(to.sin_lo, from.sin_lo, n * sizeof(double));
}

/* out = x * entry; x NULL stands for 1, out may be x. The block may begin anywhere, so that it
 * takes the entries of two blocks of the tables. */
static void multiply_entry(const struct block *block, size_t table, size_t digit,
                           const struct pe__planes *x, struct pe__planes *out)
{
    for (size_t i = 0, n; i < block->n; i += n) {
        size_t k = block->first + i;
        n = PE__BLOCK - k % PE__BLOCK;
        if (n > block->n - i)
            n = block->n - i;
        struct pe__cdd_in entry = as_input(entry_at(block->cis, table, digit, k));
        struct pe__cdd product = planes_at(out, i);
        if (x) {
            struct pe__cdd_in factor = planes_from(x, i);
            pe__kernels()->cis_mul(n, &factor, &entry, &product);
        } else {
            copy(n, entry, product);
        }
    }
}

/* out = x * the entries of all digits in `bits`; returns where the product is: out, or still x when
 * there are no digits. */
static const struct pe__planes *multiply(const struct block *block, magnitude bits,
                                         const struct pe__planes *x, struct pe__planes *out)
{
    const struct pe__cis *cis = block->cis;
    for (size_t table = 0; table < cis->tables_n && bits >> cis->shift[table] != 0; table++) {
        size_t digit = (size_t)(bits >> cis->shift[table]) & digits_n(cis);
        if (digit == 0)
            continue;
        multiply_entry(block, table, digit, x, out);
        x = out;
    }
    return x;
}

static void conjugate(size_t n, struct pe__planes *x)
{
    for (size_t i = 0; i < n; i++) {
        x->sin_hi[i] = -x->sin_hi[i];
        x->sin_lo[i] = -x->sin_lo[i];
    }
}

static void set_one(size_t n, struct pe__planes *out)
{
    for (size_t i = 0; i < n; i++) {
        out->cos_hi[i] = 1;
        out->cos_lo[i] = 0;
        out->sin_hi[i] = 0;
        out->sin_lo[i] = 0;
    }
}

static double row_by_mpfr(const struct block *block, struct pe__pos position,
                          struct pe__planes *out)
{
    mpfr_t c, s, scratch;
    mpfr_inits2(SLOW_PRECISION, c, s, scratch, (mpfr_ptr)NULL);
    for (size_t i = 0; i < block->n; i++) {
        pe__cis_exact(block->cis, position, block->first + i, c, s);
        set_lane(planes_at(out, i), 0, c, s, scratch);
    }
    mpfr_clears(c, s, scratch, (mpfr_ptr)NULL);
    return SLOW_ERROR;
}

double pe__cis_row(const struct pe__cis *cis, struct pe__walk *walk, struct pe__pos position,
                   size_t first, size_t n, struct pe__planes *out)
{
    const struct block block = {cis, first, n};
    magnitude size;
    bool negative;
    if (!position_split(position, &size, &negative) || (size & ~cis->covered) != 0)
        return row_by_mpfr(&block, position, out);
    if (size == 0) {
        set_one(n, out);
        return 0;
    }
    magnitude high = size >> cis->high_shift << cis->high_shift;
    if (!walk->valid || walk->high != high) {
        multiply(&block, high, NULL, &walk->prefix);
        walk->high = high;
        walk->valid = true;
    }
    const struct pe__planes *prefix = high != 0 ? &walk->prefix : NULL;
    const struct pe__planes *product = multiply(&block, size - high, prefix, out);
    if (product != out)
        copy(n, planes_from(product, 0), planes_at(out, 0));
    if (negative)
        conjugate(n, out);
    return bits_set(size) * ERROR_PER_BIT;
}

/* ---- Exact values ------------------------------------------------------------------------- */

/* position * w_k, off by at most 10 * 2^-precision of itself. */
static void set_angle(mpfr_ptr angle, const struct pe__cis *cis, struct pe__pos position, size_t k)
{
    mpfr_prec_t precision = mpfr_get_prec(angle);
    mpfr_set_d(angle, position.hi, MPFR_RNDN);
    mpfr_add_d(angle, angle, position.lo, MPFR_RNDN);
    if (precision <= SEED_PRECISION) {
        mpfr_mul(angle, angle, cis->w[k], MPFR_RNDN);
        return;
    }
    mpfr_t w;
    mpfr_init2(w, precision);
    cis->frequency(cis->context, k, w);
    mpfr_mul(angle, angle, w, MPFR_RNDN);
    mpfr_clear(w);
}

/* Rounds a component x of the angle into y (NULL: nobody asks) and returns true, or false when x is
 * not good enough for it. The angle is off by 2^(exponent + 3.4 - precision), so the relative error
 * of x is at most 2^(lost + 4.4 - precision); two more bits make room for the roundings. */
static bool settle(mpfr_ptr y, mpfr_srcptr angle, mpfr_srcptr x)
{
    if (!y)
        return true;
    long angle_exponent = mpfr_zero_p(angle) ? 0 : mpfr_get_exp(angle);
    long lost = mpfr_zero_p(x) ? LOST_MAX + 1 : angle_exponent - mpfr_get_exp(x);
    if (lost > LOST_MAX) { /* but noise */
        mpfr_set_zero(y, 1);
        return true;
    }
    if (mpfr_get_prec(x) < mpfr_get_prec(y) + (lost > 0 ? lost : 0) + 2)
        return false;
    mpfr_set(y, x, MPFR_RNDN);
    return true;
}

void pe__cis_exact(const struct pe__cis *cis, struct pe__pos position, size_t k, mpfr_ptr c,
                   mpfr_ptr s)
{
    mpfr_prec_t precision = EXACT_GUARD_BITS + (c ? mpfr_get_prec(c) : mpfr_get_prec(s));
    mpfr_t angle, cosine, sine;
    mpfr_inits2(precision, angle, cosine, sine, (mpfr_ptr)NULL);
    for (;;) {
        set_angle(angle, cis, position, k);
        mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
        if (settle(c, angle, cosine) && settle(s, angle, sine))
            break;
        precision *= 2;
        mpfr_set_prec(angle, precision);
        mpfr_set_prec(cosine, precision);
        mpfr_set_prec(sine, precision);
    }
    mpfr_clears(angle, cosine, sine, (mpfr_ptr)NULL);
}
