// SPDX-License-Identifier: Apache-2.0
/* number.h: numbers: the formats of elements, and numbers as text. See posenc.h. */
#ifndef POSENC_NUMBER_H
#define POSENC_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types of tensors. IEEE binary64, binary32, binary16, bfloat16; 64-bit integers. */
enum pe_dtype { PE_F64, PE_F32, PE_F16, PE_BF16, PE_I64, PE_DTYPES_N };

size_t pe_dtype_size(enum pe_dtype dtype);      /* bytes: 8, 4, 2, 2, 8 */
const char *pe_dtype_name(enum pe_dtype dtype); /* "f64", "f32", "f16", "bf16", "i64" */
/* Reads a name or alias (f32, float32, FP32, F32, <f4, ...). False when it names no dtype. */
bool pe_dtype_parse(const char *name, size_t len, enum pe_dtype *dtype);

/* Element i of an array as a double (exact but for i64 beyond 2^53). */
double pe_load(enum pe_dtype dtype, const void *array, size_t i);
/* Rounds once (to nearest, ties to even; overflow gives infinity) and stores as element i. */
void pe_store(enum pe_dtype dtype, void *array, size_t i, double value);

/*
 * Numbers as text. Reading takes a number of JSON's grammar, `len` bytes without a terminator, and
 * rounds its exact decimal value once to the dtype. False when it overflows to infinity (which is
 * stored all the same) or the text is no such number (NaN is stored). i64 takes integers only,
 * also as 1.0 or 1e3; else false, and the nearest end or the integer part is stored. Printing gives
 * the fewest digits that read back in that dtype and of those the nearest, in the notation of
 * ECMAScript's Number::toString (RFC 8785), but -0 as -0.0; NaN and infinities as NaN, Infinity,
 * -Infinity without quotes. Returns the length.
 */
#define PE_TEXT_MAX 40 /* bytes that printing one number may write (it returns at most 25) */
enum pe_notation {
    PE_SHORTEST, /* as said above */
    PE_EXACT,    /* 17, 9, 5 or 4 digits (f64, f32, f16, bf16) of the stored value, zeros at the end
                    left out; i64 in full */
    PE_HEX,      /* 0x1.8p+1, subnormal numbers too with a leading 1; i64 0x2a, -0x2a */
    PE_BITS,     /* the stored bits as an unsigned integer, NaN and infinities too */
};
bool pe_text_read(const char *text, size_t len, enum pe_dtype dtype, void *array, size_t i);
/* The same for a number followed by other text: returns where it stops, or NULL if none begins
 * here. *held: what pe_text_read returns. */
const char *pe_text_read_next(const char *text, const char *end, enum pe_dtype dtype, void *array,
                              size_t i, bool *held);
/* Reads numbers of JSON's grammar, checked before, with commas, brackets and white space between
 * them, into n elements from the first: as many as come in the usual form and dtypes. Returns how
 * many that were, and moves *text behind them and what follows; the next one is for
 * pe_text_read_next. */
size_t pe_text_read_plain(const char **text, const char *end, enum pe_dtype dtype, void *array,
                          size_t first, size_t n);
size_t pe_text_print(enum pe_dtype dtype, const void *array, size_t i, char out[PE_TEXT_MAX]);
/* The list of n elements from the first: their text, in quotes where that is no number, and a comma
 * behind each. Returns the length; up to PE_TEXT_MAX + 3 bytes are written for each. */
size_t pe_text_print_list(enum pe_dtype dtype, const void *array, size_t first, size_t n,
                          char *out);
size_t pe_text_print_as(enum pe_dtype dtype, enum pe_notation notation, const void *array, size_t i,
                        char out[PE_TEXT_MAX]);

#ifdef __cplusplus
}
#endif

#endif
