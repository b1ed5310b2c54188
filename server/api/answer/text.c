// SPDX-License-Identifier: Apache-2.0
/* text.c: see text.h. Columns are counted in code points. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static size_t code_points(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)text[i] & 0xC0) != 0x80;
    return n;
}

/* Where the next character of `out` goes: 0 at the start of a line. */
static size_t column_now(const struct buf *out)
{
    const char *newline = out->len > 0 ? memrchr(out->data, '\n', out->len) : NULL;
    size_t start = newline ? (size_t)(newline + 1 - out->data) : 0;

    return out->len > start ? code_points(out->data + start, out->len - start) : 0;
}

static void spaces(struct buf *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_putc(out, ' ');
}

void text_column(struct buf *out, size_t column)
{
    size_t now = column_now(out);

    spaces(out, now < column ? column - now : now > 0);
}

void text_right(struct buf *out, size_t columns, const char *text)
{
    size_t width = code_points(text, strlen(text));

    spaces(out, width < columns ? columns - width : 0);
    buf_puts(out, text);
}

void text_wrap(struct buf *out, size_t indent, const char *text)
{
    const char *word = text + strspn(text, " \t\n");
    size_t column = column_now(out);
    bool joint = false; /* a space is due before the next word */

    while (*word) {
        size_t len = strcspn(word, " \t\n"), width = code_points(word, len);
        if (column + joint + width > TEXT_COLUMNS && column > indent) {
            buf_putc(out, '\n');
            spaces(out, indent);
            column = indent;
            joint = false;
        }
        if (joint)
            buf_putc(out, ' ');
        buf_append(out, word, len);
        column += joint + width;
        joint = true;
        word += len;
        word += strspn(word, " \t\n");
    }
}

void text_say(struct buf *out, const char *format, ...)
{
    char sentence[TEXT_SENTENCE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    text_wrap(out, 0, sentence);
    buf_putc(out, '\n');
}
