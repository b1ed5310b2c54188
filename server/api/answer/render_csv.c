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

/* `at`: where the row begins in the tensor's data. */
static void append_row(struct buf *out, const struct render_sheet *sheet,
                       const struct tree_tensor *tensor, size_t row, size_t at)
{
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
            out->len += render_number(tensor, at + column, out->data + out->len);
    }
    buf_putc(out, '\n');
}

/* Bytes of the longest label of an axis, quoted, with a comma. */
static size_t label_max(const struct answer_axis *axis, size_t n)
{
    size_t longest = PE_AXES_MAX * PE_TEXT_MAX;

    for (size_t i = 0; axis->names && i < n; i++)
        if (2 * strlen(axis->names[i]) > longest)
            longest = 2 * strlen(axis->names[i]);
    return longest + 3;
}

void answer_write_csv_header(struct buf *out, const struct answer *answer)
{
    struct render_sheet sheet;

    render_sheet_init(&sheet, answer);
    append_header(out, &sheet);
}

void answer_write_csv_rows(struct buf *out, const struct answer *answer, const void *data,
                           size_t first, size_t n)
{
    struct tree_tensor tensor = answer->main->as.tensor;
    struct render_sheet sheet;

    tensor.data = data;
    render_sheet_init(&sheet, answer);
    for (size_t i = 0; i < n && !out->failed; i++)
        append_row(out, &sheet, &tensor, first + i, i * sheet.columns);
}

size_t answer_csv_row_max(const struct answer *answer)
{
    struct render_sheet sheet;
    size_t bytes = 1;

    render_sheet_init(&sheet, answer);
    for (size_t i = 0; i < sheet.index_n; i++)
        bytes += label_max(sheet.index[i], sheet.shape[sheet.index_axis[i]]);
    return bytes + sheet.columns * (PE_TEXT_MAX + 1);
}

void answer_write_csv(struct buf *out, const struct answer *answer)
{
    struct render_sheet sheet;

    if (!answer->main)
        return;
    render_sheet_init(&sheet, answer);
    answer_write_csv_header(out, answer);
    answer_write_csv_rows(out, answer, answer->main->as.tensor.data, 0, sheet.rows);
}
