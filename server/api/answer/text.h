// SPDX-License-Identifier: Apache-2.0
/* text.h: plain text for a terminal. */
#ifndef API_TEXT_H
#define API_TEXT_H

#include "buf.h"

#define TEXT_COLUMNS 80

/* Appends words, starting where the last line of `out` stands and breaking it before it passes
 * TEXT_COLUMNS; later lines start with `indent` spaces. White space separates words and is not
 * kept. A word longer than a line stands alone on it. */
void text_wrap(struct buf *out, size_t indent, const char *text);
/* Appends a sentence of at most TEXT_SENTENCE_MAX - 1 bytes (what is longer is cut), wrapped, and
 * ends its line. */
#define TEXT_SENTENCE_MAX 1200
__attribute__((format(printf, 2, 3))) void text_say(struct buf *out, const char *format, ...);
/* Appends text, right-aligned in so many columns if it is narrower. */
void text_right(struct buf *out, size_t columns, const char *text);
/* Spaces up to a column of the last line; at least one if the line has reached it already. */
void text_column(struct buf *out, size_t column);

#endif
