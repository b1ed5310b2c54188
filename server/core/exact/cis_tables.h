// SPDX-License-Identifier: Apache-2.0
/*
 * cis_tables.h: the digit tables of a set of frequencies, shared by cis_tables.c, which lays them
 * out and fills them, and cis.c, which multiplies their entries.
 *
 * The magnitude of a position is a 120-bit integer in steps of 2^-66. Its bits are cut into tables
 * of 6 (or 3, or 1) bits; the entry of table t and digit d holds cis(d 2^(shift[t] - 66) w_k) of
 * every pair k as double-double.
 */
#ifndef PE_CORE_CIS_TABLES_H
#define PE_CORE_CIS_TABLES_H

#include "cis.h"
#include "kernels.h"

#define PE__DIGIT_BITS     6
#define PE__FRACTION_BITS  66
#define PE__POSITION_BITS  (PE__DIGIT_BITS * PE__GROUPS_N)
#define PE__SEED_PRECISION 256

struct pe__cis {
    pe__frequency_fn *frequency;
    const void *context;
    enum pe__unit unit;
    size_t n;
    uint32_t groups;
    unsigned __int128 covered; /* the bits that the tables stand for */
    unsigned high_shift;       /* the bits below are of the lowest group */
    unsigned digit_bits;
    size_t tables_n;
    uint8_t shift[PE__POSITION_BITS]; /* lowest bit of each table, ascending */
    size_t bytes;
    mpfr_t *w;        /* the frequencies to PE__SEED_PRECISION */
    mp_limb_t *limbs; /* theirs */
    /* By blocks of PE__BLOCK pairs, in a block by table and digit (from 1), then the planes cos_hi,
     * cos_lo, sin_hi, sin_lo: what a walk uses lies together. */
    double *entries;
    /* 0 to PE__OFFSETS - 1 steps of the lowest group as factors of runs (kernels.h): by blocks of
     * pairs, in a block by offset, then the planes. NULL unless that group is one table, and all
     * is at most PE_PLAN_BYTES_MAX. */
    double *factors;
};

/* How far tokens of a run can lie from its centre: half of its digits. */
#define PE__OFFSETS (PE__RUN / 2 + 1)

/* In bytes. Loads wait for earlier stores whose addresses are the same in their lowest 12 bits: 64
 * bytes before such a multiple, each would be one of the next pairs that meets the rows just
 * written, 1.3 x the time. */
#define PE__FACTORS_ALIGNED 512

/* The factors of hi + lo of n pairs, to planes `width` apart; those that are split only if asked
 * for. */
void pe__cis_factors(size_t n, struct pe__cdd_in x, bool are_split, double *out, size_t width);
/* Those of offset 0 in the block of pair k, from that pair on; *width: of its planes. */
const double *pe__cis_offsets(const struct pe__cis *cis, size_t k, size_t *width);

/* Digits of one table that have an entry: all but 0. */
static inline size_t pe__digits_n(const struct pe__cis *cis)
{
    return ((size_t)1 << cis->digit_bits) - 1;
}

/* The entry of a digit, from pair k to the end of k's block. */
struct pe__cdd pe__cis_entry(const struct pe__cis *cis, size_t table, size_t digit, size_t k);

static inline struct pe__cdd_in pe__cdd_input(struct pe__cdd x)
{
    return (struct pe__cdd_in){x.cos_hi, x.cos_lo, x.sin_hi, x.sin_lo};
}

/* cos and sin of an angle; in turns from its distance to the next quarter, which is exact, so that
 * quarters give 0 and 1. Off by less than a relative 2^(2 - precision). `angle` is destroyed. */
void pe__unit_cis(enum pe__unit unit, mpfr_ptr c, mpfr_ptr s, mpfr_ptr angle);

/* Sets the first lane of x; c and s have at least 107 bits. scratch: of their precision. */
void pe__cdd_set(struct pe__cdd x, mpfr_srcptr c, mpfr_srcptr s, mpfr_ptr scratch);

#endif
