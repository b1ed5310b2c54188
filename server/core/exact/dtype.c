// SPDX-License-Identifier: Apache-2.0
/*
 * dtype.c: the element types: names, sizes, loading and storing one element. The conversions
 * themselves are in dtype.h, decimal text is in text_read.cpp and text_print.cpp.
 */
#include "dtype.h"

#include <strings.h>

static const struct {
    const char *name;
    size_t bytes;
    const char *aliases; /* space-separated, in any case; the last is numpy's */
} dtypes[PE_DTYPES_N] = {
    [PE_F64] = {"f64", 8, "f64 float64 fp64 double <f8"},
    [PE_F32] = {"f32", 4, "f32 float32 fp32 float single <f4"},
    [PE_F16] = {"f16", 2, "f16 float16 fp16 half <f2"},
    [PE_BF16] = {"bf16", 2, "bf16 bfloat16"},
    [PE_I64] = {"i64", 8, "i64 int64 <i8"},
};

size_t pe_dtype_size(enum pe_dtype dtype)
{
    return dtypes[dtype].bytes;
}

const char *pe_dtype_name(enum pe_dtype dtype)
{
    return dtypes[dtype].name;
}

static bool words_have(const char *words, const char *name, size_t len)
{
    while (*words) {
        size_t word_len = strcspn(words, " ");
        if (word_len == len && strncasecmp(words, name, len) == 0)
            return true;
        words += word_len;
        words += strspn(words, " ");
    }
    return false;
}

bool pe_dtype_parse(const char *name, size_t len, enum pe_dtype *dtype)
{
    for (size_t i = 0; i < PE_DTYPES_N; i++)
        if (words_have(dtypes[i].aliases, name, len)) {
            *dtype = (enum pe_dtype)i;
            return true;
        }
    return false;
}

double pe_load(enum pe_dtype dtype, const void *array, size_t i)
{
    switch (dtype) {
    case PE_F32:
        return ((const float *)array)[i];
    case PE_F16:
        return pe__f16_to_f64(((const uint16_t *)array)[i]);
    case PE_BF16:
        return pe__bf16_to_f64(((const uint16_t *)array)[i]);
    case PE_I64:
        return (double)((const int64_t *)array)[i];
    default:
        return ((const double *)array)[i];
    }
}

/* The nearest integer, the nearest end of the range beyond it, 0 for NaN. */
static int64_t i64_from_f64(double value)
{
    double whole = __builtin_rint(value);
    if (whole >= 0x1p63)
        return INT64_MAX;
    if (whole < -0x1p63)
        return INT64_MIN;
    return whole == whole ? (int64_t)whole : 0;
}

void pe_store(enum pe_dtype dtype, void *array, size_t i, double value)
{
    switch (dtype) {
    case PE_F32:
        ((float *)array)[i] = pe__f32_from_f64(value);
        break;
    case PE_F16:
        ((uint16_t *)array)[i] = pe__f16_from_f64(value);
        break;
    case PE_BF16:
        ((uint16_t *)array)[i] = pe__bf16_from_f64(value);
        break;
    case PE_I64:
        ((int64_t *)array)[i] = i64_from_f64(value);
        break;
    default:
        ((double *)array)[i] = value == value ? value : __builtin_nan("");
    }
}

/* The switch outside of the loop, so that each loop is one conversion and vectorises. */
void pe__load_row(enum pe_dtype dtype, const void *array, size_t first, size_t n, double *out)
{
#define LOAD(tag)                                                                                  \
    case tag:                                                                                      \
        for (size_t i = 0; i < n; i++)                                                             \
            out[i] = pe_load(tag, array, first + i);                                               \
        break
    switch (dtype) {
        LOAD(PE_F64);
        LOAD(PE_F32);
        LOAD(PE_F16);
        LOAD(PE_BF16);
    default:
        LOAD(PE_I64);
    }
#undef LOAD
}

void pe__store_row(enum pe_dtype dtype, void *array, size_t first, size_t n, const double *values)
{
#define STORE(tag)                                                                                 \
    case tag:                                                                                      \
        for (size_t i = 0; i < n; i++)                                                             \
            pe_store(tag, array, first + i, values[i]);                                            \
        break
    switch (dtype) {
        STORE(PE_F64);
        STORE(PE_F32);
        STORE(PE_F16);
        STORE(PE_BF16);
    default:
        STORE(PE_I64);
    }
#undef STORE
}
