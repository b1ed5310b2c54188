// SPDX-License-Identifier: Apache-2.0
/*
 * render_txt.c: the answer for a terminal: the main tensor as an aligned table (tensors of the same
 * length stand beside one of rank 1), then the readouts, as sentences or through render_tree.c.
 * Every number is printed twice, once for its width: that is cheaper than keeping its text.
 *
 * A column has room for the digits that a number of its dtype usually takes, so that it does not
 * get narrower where the last digits happen to be zeros: 0.9950042 and 0.99950033 are as wide.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render.h"
#include "text.h"

/* Tensors of rank 1 and the same length read best side by side. */
static void add_companions(struct render_sheet *sheet, const struct answer *answer)
{
    const struct tree_tensor *main = &answer->main->as.tensor;
    const struct tree *first = answer->tensors ? answer->tensors->first : NULL;

    for (const struct tree *node = first; node; node = node->next) {
        const struct tree_tensor *tensor = &node->as.tensor;
        if (main->rank == 1 && node != answer->main && tensor->rank == 1 &&
            tensor->shape[0] == main->shape[0] && sheet->sources_n < RENDER_SOURCES_MAX)
            sheet->sources[sheet->sources_n++] = node;
    }
}

static void widen(size_t *width, size_t len)
{
    if (len > *width)
        *width = len;
}

static size_t index_width(const struct render_sheet *sheet, size_t i)
{
    size_t width = strlen(sheet->index[i]->short_name);
    struct render_label label;

    for (size_t place = 0; place < sheet->shape[sheet->index_axis[i]]; place++) {
        render_label(&label, sheet->index[i], place);
        widen(&width, label.len);
    }
    return width;
}

/* One less than always suffice. */
static const int usual_digits[PE_DTYPES_N] = {
    [PE_F64] = 16, [PE_F32] = 8, [PE_F16] = 4, [PE_BF16] = 3};

/* Length of a number with the usual digits, in the notation of pe_text_print. */
static size_t usual_len(enum pe_dtype dtype, double number)
{
    char digits[PE_TEXT_MAX];
    double rounded;

    snprintf(digits, sizeof digits, "%.*e", usual_digits[dtype] - 1, number);
    pe_text_read(digits, strlen(digits), PE_F64, &rounded, 0);
    return pe_text_print(PE_F64, &rounded, 0, digits);
}

/* How many of the usual digits the text of a number does without. */
static size_t digits_short(enum pe_dtype dtype, const char *text, size_t len)
{
    size_t usual = (size_t)usual_digits[dtype], digits = 0;

    for (size_t i = 0; i < len && text[i] != 'e'; i++)
        digits += text[i] >= (digits > 0 ? '0' : '1') && text[i] <= '9';
    return digits < usual ? usual - digits : 0;
}

static void widen_to_number(size_t *width, const struct tree_tensor *tensor, size_t i)
{
    char digits[PE_TEXT_MAX];
    size_t len = render_number(tensor, i, digits);
    size_t more = tensor->notation == PE_SHORTEST ? digits_short(tensor->dtype, digits, len) : 0;
    double number;

    widen(width, len);
    if (more == 0 || len + more <= *width)
        return; /* nearly all of them */
    number = pe_load(tensor->dtype, tensor->data, i);
    if (isfinite(number) && number != trunc(number)) /* integers are as long as they look */
        widen(width, usual_len(tensor->dtype, number));
}

/* Widths of the index columns, then of all number columns. */
static void measure(const struct render_sheet *sheet, size_t *width)
{
    struct render_label label;

    for (size_t i = 0; i < sheet->index_n; i++)
        *width++ = index_width(sheet, i);
    for (size_t s = 0; s < sheet->sources_n; s++, width += sheet->columns) {
        const struct tree_tensor *tensor = &sheet->sources[s]->as.tensor;
        for (size_t column = 0; column < sheet->columns; column++) {
            render_column_label(&label, sheet, s, column);
            width[column] = label.len;
        }
        for (size_t row = 0, i = 0; row < sheet->rows; row++)
            for (size_t column = 0; column < sheet->columns; column++, i++)
                widen_to_number(&width[column], tensor, i);
    }
}

/* Right-aligned, one space before all but the first of a line. */
static void append_aligned(struct buf *out, const char *text, size_t len, size_t width, bool first)
{
    size_t spaces = width - len + !first;

    if (!buf_reserve(out, spaces + len))
        return;
    memset(out->data + out->len, ' ', spaces);
    memcpy(out->data + out->len + spaces, text, len);
    out->len += spaces + len;
}

static void append_header(struct buf *out, const struct render_sheet *sheet, const size_t *width)
{
    struct render_label label;
    bool first = true;

    for (size_t i = 0; i < sheet->index_n; i++, first = false) {
        const char *name = sheet->index[i]->short_name;
        append_aligned(out, name, strlen(name), *width++, first);
    }
    for (size_t s = 0; s < sheet->sources_n; s++)
        for (size_t column = 0; column < sheet->columns; column++, first = false) {
            render_column_label(&label, sheet, s, column);
            append_aligned(out, label.at, label.len, *width++, first);
        }
    buf_putc(out, '\n');
}

static void append_row(struct buf *out, const struct render_sheet *sheet, const size_t *width,
                       size_t row)
{
    size_t place[TREE_RANK_MAX];
    struct render_label label;
    char digits[PE_TEXT_MAX];
    bool first = true;

    render_sheet_place(sheet, row, place);
    for (size_t i = 0; i < sheet->index_n; i++, first = false) {
        render_label(&label, sheet->index[i], place[sheet->index_axis[i]]);
        append_aligned(out, label.at, label.len, *width++, first);
    }
    for (size_t s = 0; s < sheet->sources_n; s++) {
        const struct tree_tensor *tensor = &sheet->sources[s]->as.tensor;
        for (size_t column = 0; column < sheet->columns; column++, first = false) {
            size_t i = row * sheet->columns + column;
            size_t len = render_number(tensor, i, digits);
            append_aligned(out, digits, len, *width++, first);
        }
    }
    buf_putc(out, '\n');
}

static void append_table(struct buf *out, const struct answer *answer)
{
    struct render_sheet sheet;
    size_t *width;

    render_sheet_init(&sheet, answer);
    add_companions(&sheet, answer);
    width = calloc(sheet.index_n + sheet.sources_n * sheet.columns + 1, sizeof *width);
    if (!width) {
        out->failed = true;
        return;
    }
    measure(&sheet, width);
    append_header(out, &sheet, width);
    for (size_t row = 0; row < sheet.rows && !out->failed; row++)
        append_row(out, &sheet, width, row);
    free(width);
}

static void append_sentences(struct buf *out, const char *text)
{
    size_t len = strlen(text);

    buf_append(out, text, len);
    if (len > 0 && text[len - 1] != '\n')
        buf_putc(out, '\n');
}

/* "note: ..", wrapped, below a blank line if there is something above. */
static void append_notes(struct buf *out, const struct answer *answer, bool above)
{
    const struct tree *note = answer->notes ? answer->notes->first : NULL;

    if (note && above)
        buf_putc(out, '\n');
    for (; note; note = note->next) {
        buf_puts(out, "note: ");
        text_wrap(out, 0, note->as.string);
        buf_putc(out, '\n');
    }
}

void answer_write_txt(struct buf *out, const struct answer *answer)
{
    bool readouts = answer->text_readouts || (answer->readouts && answer->readouts->first);

    if (!answer->tensors && !answer->text_readouts) { /* no envelope: all of it is readouts */
        render_tree_txt(out, answer->root);
        return;
    }
    if (answer->main)
        append_table(out, answer);
    if (answer->main && readouts)
        buf_putc(out, '\n');
    if (answer->text_readouts)
        append_sentences(out, answer->text_readouts);
    else if (answer->readouts)
        render_tree_txt(out, answer->readouts);
    append_notes(out, answer, answer->main || readouts);
}
