// SPDX-License-Identifier: Apache-2.0
/*
 * render_csv.c: the main tensor as csv (RFC 4180 with \n): a header row, index columns first, then
 * the numbers as in JSON, but NaN and infinities without quotes. Other tensors and the readouts are
 * left to json and txt.
 */
#include <string.h>

#include "render.h"

static bool must_quote(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (strchr(",\"\r\n", text[i]))
            return true;
    return false;
}

static void append_field(struct buf *out, const char *text, size_t len)
{
    if (!must_quote(text, len)) {
        buf_append(out, text, len);
        return;
    }
    buf_putc(out, '"');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            buf_putc(out, '"');
        buf_putc(out, text[i]);
    }
    buf_putc(out, '"');
}

static void append_header(struct buf *out, const struct render_sheet *sheet)
{
    struct render_label label;

    for (size_t i = 0; i < sheet->index_n; i++) {
        if (i > 0)
            buf_putc(out, ',');
        append_field(out, sheet->index[i]->name, strlen(sheet->index[i]->name));
    }
    for (size_t column = 0; column < sheet->columns && !out->failed; column++) {
        if (sheet->index_n + column > 0)
            buf_putc(out, ',');
        render_column_label(&label, sheet, 0, column);
        append_field(out, label.at, label.len);
    }
    buf_putc(out, '\n');
}

static void append_row(struct buf *out, const struct render_sheet *sheet, size_t row)
{
    const struct tree_tensor *tensor = &sheet->sources[0]->as.tensor;
    size_t place[TREE_RANK_MAX];
    struct render_label label;

    render_sheet_place(sheet, row, place);
    for (size_t i = 0; i < sheet->index_n; i++) {
        if (i > 0)
            buf_putc(out, ',');
        render_label(&label, sheet->index[i], place[sheet->index_axis[i]]);
        append_field(out, label.at, label.len);
    }
    for (size_t column = 0; column < sheet->columns; column++) {
        if (sheet->index_n + column > 0)
            buf_putc(out, ',');
        if (buf_reserve(out, PE_TEXT_MAX))
            out->len += render_number(tensor, row * sheet->columns + column, out->data + out->len);
    }
    buf_putc(out, '\n');
}

void answer_write_csv(struct buf *out, const struct answer *answer)
{
    struct render_sheet sheet;

    if (!answer->main)
        return;
    render_sheet_init(&sheet, answer);
    append_header(out, &sheet);
    for (size_t row = 0; row < sheet.rows && !out->failed; row++)
        append_row(out, &sheet, row);
}
