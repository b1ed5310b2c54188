// SPDX-License-Identifier: Apache-2.0
/*
 * draw.c: the normative test vectors: SplitMix64 (Steele, Lea, Flood 2014) in counter form, keyed
 * by a seed and the FNV-1a hash of the tensor's name. Integers only, so that any language gives the
 * same bits. Which tensor takes which stream is the caller's business.
 */
#include "dd.h"
#include "dtype.h"

static uint64_t hash_fnv1a(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return hash;
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint64_t draw(uint64_t key, uint64_t k)
{
    return mix(key + k * 0x9e3779b97f4a7c15);
}

uint64_t pe_draw(uint64_t seed, const char *stream, uint64_t k)
{
    return draw(seed ^ hash_fnv1a(stream), k);
}

/* In [-1, 1), exact. */
static double draw_uniform(uint64_t key, uint64_t i)
{
    return (double)(draw(key, i + 1) >> 11) * 0x1p-52 - 1;
}

/* Irwin-Hall: twelve uniform numbers less six have mean 0 and variance 1. Exact. */
static double draw_normal(uint64_t key, uint64_t i)
{
    uint64_t sum = 0;
    for (uint64_t j = 1; j <= 12; j++)
        sum += draw(key, 12 * i + j) >> 32;
    return (double)sum * 0x1p-32 - 6;
}

/* a * b rounded to odd: between two doubles the one with an odd last bit, so that rounding it again
 * to a shorter format gives what rounding the exact product once would. */
static double multiply_odd(double a, double b)
{
    struct pe__dd product = pe__two_prod(a, b);
    uint64_t bits = pe__bits_from_f64(product.hi);
    if (product.lo == 0 || (bits & 1))
        return product.hi;
    bool past = (product.lo < 0) == (product.hi > 0); /* hi is rounded away from zero */
    return pe__f64_from_bits(past ? bits - 1 : bits + 1);
}

void pe_fill_random(uint64_t seed, const char *stream, enum pe_content content, double gain,
                    size_t first, size_t n, enum pe_dtype dtype, void *out)
{
    uint64_t key = seed ^ hash_fnv1a(stream);
    for (size_t i = 0; i < n; i++) {
        double value = content == PE_CONTENT_UNIFORM ? draw_uniform(key, first + i)
                                                     : draw_normal(key, first + i);
        pe_store(dtype, out, i, dtype == PE_F64 ? value * gain : multiply_odd(value, gain));
    }
}
