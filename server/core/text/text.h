// SPDX-License-Identifier: Apache-2.0
/*
 * text.h: what the core needs of numbers as text beyond posenc.h.
 */
#ifndef PE_CORE_TEXT_H
#define PE_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sign of (the exact value of the decimal text - number): -1, 0 or 1. The text is a number of
 * JSON's grammar, `number` finite. Slow: for the rare case that a rounded value does not decide. */
int pe__text_compare(const char *text, size_t len, double number);

/* The exact decimal value digits * 10^exponent; zero has the exponent 0. */
struct pe__decimal {
    __int128 digits;
    int64_t exponent;
};

/* Reads a number of JSON's grammar exactly. False when it is none, or has more than 19 significant
 * digits. */
bool pe__text_decimal(const char *text, size_t len, struct pe__decimal *decimal);
/* The double nearest to it; infinite past the largest. */
double pe__text_value(struct pe__decimal decimal);

#ifdef __cplusplus
}
#endif

#endif
