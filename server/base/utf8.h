// SPDX-License-Identifier: Apache-2.0
/* utf8.h: one character at a time out of bytes that may not be UTF-8, and back. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, what stands for bytes that are not UTF-8 */

/* Reads the character at text (len >= 1 bytes): its length in bytes, 1..4, and *code; 0 when it is
 * not UTF-8 (RFC 3629: no overlong form, no surrogate, nothing past U+10FFFF) or is cut off. */
size_t utf8_decode(const char *text, size_t len, uint32_t *code);
/* Writes a character (a scalar value up to U+10FFFF); returns its length. */
size_t utf8_encode(uint32_t code, char out[4]);

#endif
