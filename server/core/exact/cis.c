// SPDX-License-Identifier: Apache-2.0
/*
 * cis.c: cos and sin of positions: products of entries of the digit tables (cis_tables.c), and
 * MPFR (cis_exact.c) for what these do not reach. The product itself is a kernel
 * (kernels_cis.inc.c), rounding is round.c's.
 *
 * Every value is a product of seeds, entries of a single bit, one for each bit set in the position,
 * however the tables group them; so one bound serves all:
 *
 * Error of a product. Let u = 2^-53; all hi + lo are normalised and at most 1 + O(u^2) in modulus,
 * so hi <= 1 and |lo| <= u/2. For the cosine, the products p of the high cosines and q of the high
 * sines are exact as ph + pl and qh + ql, and |p| + |q| <= 1 by Cauchy and Schwarz. What is lost,
 * in units of u^2:
 *     lo lo, left out                                           2 (1/2)^2    0.5
 *     the four products hi lo, sqrt(2) u together: rounded,
 *         added in pairs, and these added                       3 sqrt(2)    4.25
 *     pl + ql, at most u                                                     1
 *     + cross, at most 2.42 u                                                2.42
 *     + the low part of ph + qh, itself at most u: 3.42 u                    3.42
 * together 11.6. Where ph and qh cancel to less than the low parts, there is (nearly) no low part
 * of ph + qh, the last sum is at most 2.42 u, but fast_two_sum outside its domain adds as much:
 * together 13. Not both components can cancel, so that the modulus is off by at most
 * sqrt(11.6^2 + 13^2) < 17.5. The errors of the factors add up, as their moduli are 1.
 *
 * A seed is off by 2^-108 + 2^-130 in each component, 0.36 u^2 in modulus. Hence a value with b
 * bits set is off by at most (17.5 (b - 1) + 0.36 b) u^2 < 18 b u^2.
 */
#include "cis_tables.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define ERROR_PER_BIT  (18 * 0x1p-106)
#define SLOW_PRECISION 128
#define SLOW_ERROR     0x1p-107

typedef unsigned __int128 magnitude;

/* ---- Positions ---------------------------------------------------------------------------- */

/* x in steps of 2^-66; false when it is no multiple. |x| <= 2^54, so that it fits. */
static bool steps_from(double x, __int128 *steps)
{
    *steps = 0;
    if (x == 0)
        return true;
    int exponent;
    int64_t fraction = (int64_t)(frexp(x, &exponent) * 0x1p53); /* exact, x = fraction 2^(e - 53) */
    int shift = exponent - 53 + PE__FRACTION_BITS;
    if (shift >= 0) {
        *steps = (__int128)fraction * ((__int128)1 << shift);
        return true;
    }
    if (shift < -52 || fraction % (INT64_C(1) << -shift) != 0)
        return false;
    *steps = fraction / (INT64_C(1) << -shift);
    return true;
}

/* False when the position is not of PE__POSITION_BITS bits. */
static bool position_split(struct pe__pos position, magnitude *size, bool *negative)
{
    if (position.lo == 0 && fabs(position.hi) < 0x1p53 && trunc(position.hi) == position.hi) {
        *negative = position.hi < 0; /* an integer: the usual case, in a tenth of the time */
        *size = (magnitude)(uint64_t)fabs(position.hi) << PE__FRACTION_BITS;
        return true;
    }
    __int128 hi;
    __int128 lo;
    if (!steps_from(position.hi, &hi) || !steps_from(position.lo, &lo))
        return false;
    __int128 sum = hi + lo;
    *negative = sum < 0;
    *size = (magnitude)(*negative ? -sum : sum);
    return *size >> PE__POSITION_BITS == 0;
}

uint32_t pe__groups(struct pe__pos position)
{
    magnitude size;
    bool negative;
    if (!position_split(position, &size, &negative))
        return UINT32_C(1) << PE__GROUPS_N;
    uint32_t groups = 0;
    for (unsigned g = 0; size != 0; g++, size >>= PE__DIGIT_BITS)
        if (size % (1 << PE__DIGIT_BITS) != 0)
            groups |= UINT32_C(1) << g;
    return groups;
}

/* The number of binary digits from the first to the last that is 1, x > 0. */
static int bits_n(magnitude x)
{
    uint64_t high = (uint64_t)(x >> 64);
    uint64_t low = (uint64_t)x;
    int end = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll(low);
    return end - (low ? __builtin_ctzll(low) : 64 + __builtin_ctzll(high));
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

/* An entry of the tables; digit 0: none. */
struct digit {
    size_t table, value;
};

/* How many pairs from pair i of the block on have their entries in one block of the tables; it may
 * begin anywhere, so that it takes those of two. */
static size_t entries_n(const struct block *block, size_t i)
{
    size_t n = PE__BLOCK - (block->first + i) % PE__BLOCK;
    return n < block->n - i ? n : block->n - i;
}

static struct pe__cdd_in entry_from(const struct block *block, struct digit digit, size_t i)
{
    return pe__cdd_input(pe__cis_entry(block->cis, digit.table, digit.value, block->first + i));
}

static void copy_entry(const struct block *block, struct digit digit, struct pe__planes *out)
{
    for (size_t i = 0, n; i < block->n; i += n) {
        n = entries_n(block, i);
        copy(n, entry_from(block, digit, i), planes_at(out, i));
    }
}

/* out = x * an entry; x, which may be out, NULL stands for another entry. */
static void multiply_entry(const struct block *block, const struct pe__planes *x,
                           struct digit other, struct digit digit, struct pe__planes *out)
{
    for (size_t i = 0, n; i < block->n; i += n) {
        n = entries_n(block, i);
        struct pe__cdd_in factor = x ? planes_from(x, i) : entry_from(block, other, i);
        struct pe__cdd_in entry = entry_from(block, digit, i);
        struct pe__cdd product = planes_at(out, i);
        pe__kernels()->cis_mul(n, &factor, &entry, &product);
    }
}

/* out = x * the entries of all digits in `bits`, x NULL stands for 1; returns where the product is:
 * out, or still x when there are no digits. */
static const struct pe__planes *multiply(const struct block *block, magnitude bits,
                                         const struct pe__planes *x, struct pe__planes *out)
{
    const struct pe__cis *cis = block->cis;
    struct digit first = {0, 0}; /* without an x: the product so far */
    for (size_t table = 0; table < cis->tables_n && bits >> cis->shift[table] != 0; table++) {
        struct digit digit = {table, (size_t)(bits >> cis->shift[table]) & pe__digits_n(cis)};
        if (digit.value == 0)
            continue;
        if (!x && first.value == 0) {
            first = digit;
            continue;
        }
        multiply_entry(block, x, first, digit, out);
        x = out;
    }
    if (x || first.value == 0)
        return x;
    copy_entry(block, first, out);
    return out;
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

/* Frequency k into lane i. */
static double lane_by_mpfr(const struct pe__cis *cis, struct pe__pos position, size_t k,
                           struct pe__planes *out, size_t i)
{
    mpfr_t c, s, scratch;
    mpfr_inits2(SLOW_PRECISION, c, s, scratch, (mpfr_ptr)NULL);
    pe__cis_exact(cis, position, k, c, s);
    pe__cdd_set(planes_at(out, i), c, s, scratch);
    mpfr_clears(c, s, scratch, (mpfr_ptr)NULL);
    return SLOW_ERROR;
}

static double row_by_mpfr(const struct block *block, struct pe__pos position,
                          struct pe__planes *out)
{
    for (size_t i = 0; i < block->n; i++)
        lane_by_mpfr(block->cis, position, block->first + i, out, i);
    return SLOW_ERROR;
}

/* The product of the digits `high`, kept in the walk. */
static void walk_to(struct pe__walk *walk, const struct block *block, magnitude high)
{
    if (walk->valid && walk->high == high)
        return;
    multiply(block, high, NULL, &walk->prefix);
    walk->high = high;
    walk->valid = true;
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
    walk_to(walk, &block, high);
    const struct pe__planes *prefix = high != 0 ? &walk->prefix : NULL;
    const struct pe__planes *product = multiply(&block, size - high, prefix, out);
    assert(product); /* there is a digit */
    if (product != out)
        copy(n, planes_from(product, 0), planes_at(out, 0));
    if (negative)
        conjugate(n, out);
    return bits_n(size) * ERROR_PER_BIT;
}

/* ---- Runs --------------------------------------------------------------------------------- */

/* The bit behind those of a run. */
static unsigned run_end(const struct pe__cis *cis)
{
    return cis->shift[0] + PE__RUN_BITS;
}

static void begin_run(struct pe__run *run, bool negative, magnitude high, unsigned digit)
{
    run->negative = negative;
    run->high = high;
    run->least = run->most = digit;
    memset(run->token, PE__RUN, sizeof run->token);
}

bool pe__run_add(const struct pe__cis *cis, struct pe__run *run, struct pe__pos position)
{
    magnitude size;
    bool negative;
    if (!cis->factors || !position_split(position, &size, &negative) || size == 0 ||
        (size & ~cis->covered) != 0)
        return false;
    magnitude high = size >> run_end(cis) << run_end(cis);
    unsigned digit = (unsigned)(size >> cis->shift[0]) % PE__RUN;
    if (run->n == 0)
        begin_run(run, negative, high, digit);
    if (high != run->high || negative != run->negative || run->token[digit] < PE__RUN)
        return false;
    run->token[digit] = (uint8_t)run->n++;
    run->last = digit;
    run->least = digit < run->least ? digit : run->least;
    run->most = digit > run->most ? digit : run->most;
    return true;
}

void pe__run_add_next(const struct pe__cis *cis, struct pe__run *run, size_t n)
{
    bool has_all = (cis->covered >> cis->high_shift & 1) != 0; /* digits of PE__RUN_BITS bits */
    unsigned least = run->high == 0;                           /* position 0 is in no run */
    unsigned most = has_all ? PE__RUN - 1 : (1 << PE__DIGIT_BITS) - 1;
    size_t room = run->negative ? run->last - least : most - run->last;
    if (cis->shift[0] != PE__FRACTION_BITS) /* another digit than that of ones */
        return;
    n = n < room ? n : room;
    if (run->negative) {
        run->last = run->least -= (unsigned)n;
        for (size_t i = 0; i < n; i++)
            run->token[run->last + i] = (uint8_t)(run->n + n - 1 - i);
    } else {
        run->last = run->most += (unsigned)n;
        for (size_t i = 0; i < n; i++)
            run->token[run->last - n + 1 + i] = (uint8_t)(run->n + i);
    }
    run->n += n;
}

/* The factors of the run's centre, of which `digit` is the digit; conjugated when the sines are
 * those of the opposite direction. */
static void make_centre(const struct block *block, struct pe__walk *walk, const struct pe__run *run,
                        size_t digit, bool opposite, bool are_split, double *out)
{
    const struct pe__cis *cis = block->cis;
    struct pe__planes product;
    const struct pe__planes *centre = &walk->prefix;
    size_t low = digit & pe__digits_n(cis);
    magnitude high = run->high | (magnitude)(digit - low) << cis->shift[0];
    walk_to(walk, block, high);
    if (low != 0) {
        const struct digit none = {0, 0}, lowest = {0, low};
        if (high != 0)
            multiply_entry(block, &walk->prefix, none, lowest, &product);
        else
            copy_entry(block, lowest, &product);
        centre = &product;
    }
    pe__cis_factors(block->n, planes_from(centre, 0), are_split, out, PE__BLOCK);
    if (opposite)
        for (size_t i = 0; i < block->n; i++) {
            out[PE__S * PE__BLOCK + i] *= -1;
            out[PE__S1 * PE__BLOCK + i] *= -1;
            out[PE__S2 * PE__BLOCK + i] *= -1;
        }
}

/* The tokens of a run by how far they are from its centre; returns how many steps there are. Of a
 * conjugated centre what lies behind is ahead. */
static size_t make_steps(const struct pe__run *run, size_t centre, bool opposite,
                         uint8_t token[2][PE__OFFSETS])
{
    size_t ahead_n = run->most - centre;
    size_t behind_n = centre - run->least;
    memset(token, PE__RUN, 2 * sizeof *token);
    for (size_t i = 0; i <= ahead_n; i++)
        token[opposite][i] = run->token[centre + i];
    for (size_t i = 1; i <= behind_n; i++)
        token[!opposite][i] = run->token[centre - i];
    return (ahead_n > behind_n ? ahead_n : behind_n) + 1;
}

/* Whether values of the token on one side of a step are in doubt. To see that of all of them at
 * once takes a tenth of a run's time. */
static bool is_bad(enum pe_dtype dtype, const struct pe__run_job *job, size_t step, size_t side)
{
    const uint8_t none = PE__RUN;
    bool doubt[2];
    struct pe__run_job one = *job;
    one.steps_n = 1;
    one.token[side] += step;
    one.token[!side] = &none;
    one.offsets += step * PE__FACTORS * job->width;
    one.doubt = doubt;
    return pe__kernels()->run[dtype](&one);
}

static void find_bad(enum pe_dtype dtype, const struct pe__run_job *job, bool bad[PE__RUN + 1])
{
    memset(bad, 0, (PE__RUN + 1) * sizeof *bad);
    for (size_t step = 0; step < job->steps_n; step++)
        for (size_t side = 0; side < 2 && job->doubt[step]; side++)
            bad[job->token[side][step]] = is_bad(dtype, job, step, side);
}

bool pe__cis_run(const struct pe__cis *cis, struct pe__walk *walk, const struct pe__run *run,
                 size_t first, size_t n, const struct pe__run_out *out, bool bad[PE__RUN + 1])
{
    const struct block block = {cis, first, n};
    _Alignas(PE__FACTORS_ALIGNED) double centre[PE__FACTORS * PE__BLOCK];
    uint8_t token[2][PE__OFFSETS];
    bool doubt[PE__OFFSETS + 1] = {false};
    bool opposite = run->negative != out->backwards;
    size_t middle = (run->least + run->most + 1) / 2;
    make_centre(&block, walk, run, middle, opposite, out->dtype == PE_F64, centre);
    struct pe__run_job job = {
        .n = n,
        .steps_n = make_steps(run, middle, opposite, token),
        .token = {token[0], token[1]},
        .centre = centre,
        .sine_first = out->sine_first,
        .step = out->step,
        .row_bytes = out->row_stride * pe_dtype_size(out->dtype),
        .first = out->first,
        .second = out->second,
        .stream = out->stream,
        .doubt = doubt,
    };
    job.offsets = pe__cis_offsets(cis, first, &job.width);
    if (!pe__kernels()->run[out->dtype](&job))
        return true;
    find_bad(out->dtype, &job, bad);
    return false;
}

/* ---- Angles ------------------------------------------------------------------------------- */

#define DOUBLE_BITS 53
#define ANGLE_MAX   0x1p54 /* those from here on are left to MPFR */

/* The entries of one table for every lane's digit, 1 where that is 0. False if they all are. */
static bool gather_entries(const struct pe__cis *cis, size_t table, size_t n,
                           const magnitude *sizes, struct pe__planes *out)
{
    bool any = false;
    set_one(n, out);
    for (size_t j = 0; j < n; j++) {
        size_t digit = (size_t)(sizes[j] >> cis->shift[table]) & pe__digits_n(cis);
        if (digit == 0)
            continue;
        struct pe__cdd entry = pe__cis_entry(cis, table, digit, 0);
        out->cos_hi[j] = *entry.cos_hi;
        out->cos_lo[j] = *entry.cos_lo;
        out->sin_hi[j] = *entry.sin_hi;
        out->sin_lo[j] = *entry.sin_lo;
        any = true;
    }
    return any;
}

double pe__cis_angles(const struct pe__cis *cis, size_t n, const double *angles,
                      struct pe__planes *out)
{
    magnitude sizes[PE__BLOCK];
    struct pe__planes entries;
    bool negative;
    for (size_t j = 0; j < n; j++) {
        double angle = fabs(angles[j]) < ANGLE_MAX ? angles[j] : 0;
        bool split = position_split((struct pe__pos){angle, 0}, &sizes[j], &negative);
        assert(split && (sizes[j] & ~cis->covered) == 0);
        (void)split;
    }
    set_one(n, out);
    for (size_t table = 0; table < cis->tables_n; table++) {
        if (!gather_entries(cis, table, n, sizes, &entries))
            continue;
        struct pe__cdd_in x = planes_from(out, 0);
        struct pe__cdd_in y = planes_from(&entries, 0);
        struct pe__cdd product = planes_at(out, 0);
        pe__kernels()->cis_mul(n, &x, &y, &product);
    }
    for (size_t j = 0; j < n; j++) {
        if (fabs(angles[j]) >= ANGLE_MAX) {
            lane_by_mpfr(cis, (struct pe__pos){angles[j], 0}, 0, out, j);
        } else if (angles[j] < 0) {
            out->sin_hi[j] = -out->sin_hi[j];
            out->sin_lo[j] = -out->sin_lo[j];
        }
    }
    return (DOUBLE_BITS + (double)cis->tables_n) * ERROR_PER_BIT;
}
