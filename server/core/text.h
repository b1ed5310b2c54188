// SPDX-License-Identifier: Apache-2.0
/*
 * text.h: what the core needs of numbers as text beyond posenc.h.
 */
#ifndef PE_CORE_TEXT_H
#define PE_CORE_TEXT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sign of (the exact value of the decimal text - number): -1, 0 or 1. The text is a number of
 * JSON's grammar, `number` finite. Slow: for the rare case that a rounded value does not decide. */
int pe__text_compare(const char *text, size_t len, double number);

#ifdef __cplusplus
}
#endif

#endif
