// SPDX-License-Identifier: Apache-2.0
/*
 * dtype.h: scalar conversions between double and the narrow formats, each rounded once (to
 * nearest, ties to even, with subnormals; overflow gives infinity). They are branch-free, so that
 * loops over them vectorise, and need the default rounding mode. Names and sizes are in dtype.c,
 * rounding from more than double precision in round.h.
 *
 * NaN: narrowing gives the one positive quiet NaN without payload, because the payload of a
 * computed NaN depends on processor and compiler; widening keeps sign and payload, made quiet.
 */
#ifndef PE_CORE_DTYPE_H
#define PE_CORE_DTYPE_H

#include <stdint.h>
#include <string.h>

#include "posenc.h"

static inline uint64_t pe__bits_from_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double pe__f64_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/*
 * Narrows to a format of 16 bits: sign, exponent, `fraction` bits; `least` is its smallest normal
 * number, `over` the power of two past its largest. With E the exponent of max(|x|, least), adding
 * 2^(E - fraction + 52) leaves |x| / 2^(E - fraction), rounded, in the low bits of the sum: one
 * rounding by the processor for normal and subnormal results alike. A carry runs into the exponent
 * field as it should, up to infinity.
 */
static inline uint16_t pe__narrow(double x, unsigned fraction, double least, double over,
                                  uint16_t nan)
{
    uint64_t bits = pe__bits_from_f64(x);
    double size = pe__f64_from_bits(bits & INT64_MAX);
    double a = size < over ? size : over;
    uint64_t e = pe__bits_from_f64(a > least ? a : least) & 0x7ff0000000000000;
    uint64_t unit = e + ((uint64_t)(52 - fraction) << 52);
    uint64_t q = pe__bits_from_f64(a + pe__f64_from_bits(unit)) - unit;
    uint64_t exponent = (e - pe__bits_from_f64(least)) >> (52 - fraction);
    uint64_t y = (bits >> 48 & 0x8000) | (exponent + q);
    return (uint16_t)(size == size ? y : nan);
}

static inline uint16_t pe__f16_from_f64(double x)
{
    return pe__narrow(x, 10, 0x1p-14, 0x1p16, 0x7e00);
}

static inline uint16_t pe__bf16_from_f64(double x)
{
    return pe__narrow(x, 7, 0x1p-126, 0x1p128, 0x7fc0);
}

static inline float pe__f32_from_f64(double x)
{
    return x == x ? (float)x : __builtin_nanf("");
}

static inline double pe__f16_to_f64(uint16_t h)
{
    uint64_t sign = (uint64_t)(h & 0x8000) << 48;
    uint64_t size = (uint64_t)(h & 0x7fff) << 42;
    /* The exponent field as it stands is too small by 1023 - 15; the product is exact. */
    uint64_t finite = pe__bits_from_f64(pe__f64_from_bits(size) * 0x1p1008);
    uint64_t quiet = (uint64_t)((h & 0x7fff) > 0x7c00) << 51;
    uint64_t special = size | 0x7ff0000000000000 | quiet;
    return pe__f64_from_bits(sign | ((h & 0x7c00) == 0x7c00 ? special : finite));
}

static inline double pe__bf16_to_f64(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* x rounded to a floating dtype, as a double. */
static inline double pe__f64_rounded(enum pe_dtype dtype, double x)
{
    switch (dtype) {
    case PE_F32:
        return pe__f32_from_f64(x);
    case PE_F16:
        return pe__f16_to_f64(pe__f16_from_f64(x));
    case PE_BF16:
        return pe__bf16_to_f64(pe__bf16_from_f64(x));
    default:
        return x;
    }
}

/* Elements [first, first + n) of an array as doubles, as pe_load does. */
void pe__load_row(enum pe_dtype dtype, const void *array, size_t first, size_t n, double *out);
/* The same for pe_store. */
void pe__store_row(enum pe_dtype dtype, void *array, size_t first, size_t n, const double *values);

#endif
