// SPDX-License-Identifier: Apache-2.0
/*
 * base64.h: bytes as text, RFC 4648 section 4 to the letter: the standard alphabet, padded with
 * '=' to a multiple of four, no line breaks, unused bits zero. So there is one text for given
 * bytes and no other.
 */
#ifndef TENSOR_BASE64_H
#define TENSOR_BASE64_H

#include "err.h"
#include "view.h"

/* Characters that n bytes make, and the most bytes that n characters make. */
#define BASE64_LEN(n)       (((n) / 3 + ((n) % 3 != 0)) * 4)
#define BASE64_BYTES_MAX(n) ((n) / 4 * 3)

/* Writes BASE64_LEN(len) characters, no terminator. */
void base64_encode(const void *data, size_t len, char *out);

/* Reads a whole text into out (BASE64_BYTES_MAX(text->len) bytes) and says how many there are. On
 * failure malformed-tensor is added: which character, where, and what is expected instead. */
bool base64_decode(const struct tensor_source *text, void *out, size_t *bytes, struct err *err);

#endif
