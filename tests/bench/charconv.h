// SPDX-License-Identifier: Apache-2.0
/*
 * charconv.h: numbers as text by the C++ library of the compiler, for C: what ours is measured
 * against, and compared with.
 */
#ifndef TESTS_BENCH_CHARCONV_H
#define TESTS_BENCH_CHARCONV_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CHARCONV_MAX 64 /* bytes of one number */

/* The fewest characters that read back; returns how many. No terminator. */
size_t charconv_print_f64(double value, char *out);
size_t charconv_print_f32(float value, char *out);

/* As 1.234e+56: the fewest digits that read back, or with `digits` > 0 so many. */
size_t charconv_digits_f64(double value, int digits, char *out);
size_t charconv_digits_f32(float value, int digits, char *out);

/* Reads the number that begins the text; NULL if there is none, or it is beyond the format. Returns
 * where it ends. */
const char *charconv_read_f64(const char *text, const char *end, double *value);
const char *charconv_read_f32(const char *text, const char *end, float *value);

#ifdef __cplusplus
}
#endif

#endif
