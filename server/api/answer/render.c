// SPDX-License-Identifier: Apache-2.0
/*
 * render.c: the answer in the format asked for, and the view of the main tensor as rows and columns
 * that csv and txt share. The formats themselves are in json/write.c and render_X.c.
 */
#include "render.h"

#include <math.h>
#include <string.h>

#include "write.h"

bool answer_write(struct buf *out, const struct answer *answer, enum format format)
{
    switch (format) {
    case FORMAT_CSV:
        answer_write_csv(out, answer);
        break;
    case FORMAT_TXT:
        answer_write_txt(out, answer);
        break;
    default:
        json_write_tree(out, answer->root);
        buf_putc(out, '\n');
    }
    return !out->failed;
}

void render_sheet_init(struct render_sheet *sheet, const struct answer *answer)
{
    const struct tree_tensor *tensor = &answer->main->as.tensor;
    size_t leading = tensor->rank > 1 ? tensor->rank - 1 : tensor->rank;

    *sheet = (struct render_sheet){.sources = {answer->main}, .sources_n = 1, .rows = 1};
    sheet->shape = tensor->shape;
    sheet->columns = tensor->rank > 1 ? tensor->shape[tensor->rank - 1] : 1;
    sheet->across = tensor->rank > 1 ? &answer->axes[tensor->rank - 1] : NULL;
    for (size_t axis = 0; axis < leading; axis++)
        sheet->rows *= tensor->shape[axis];

    if (answer->position_axis < leading)
        sheet->index_axis[sheet->index_n++] = answer->position_axis;
    for (size_t axis = 0; axis < leading; axis++)
        if (axis != answer->position_axis)
            sheet->index_axis[sheet->index_n++] = axis;
    for (size_t i = 0; i < sheet->index_n; i++)
        sheet->index[i] = &answer->axes[sheet->index_axis[i]];
}

void render_sheet_place(const struct render_sheet *sheet, size_t row, size_t place[TREE_RANK_MAX])
{
    for (size_t axis = sheet->index_n; axis-- > 0; row /= sheet->shape[axis])
        place[axis] = row % sheet->shape[axis];
}

static size_t print_number(double number, char out[PE_TEXT_MAX])
{
    if (isnan(number)) { /* a token without a position */
        *out = '-';
        return 1;
    }
    return pe_text_print(PE_F64, &number, 0, out);
}

void render_label(struct render_label *label, const struct answer_axis *axis, size_t i)
{
    label->at = label->digits;
    if (axis->names) {
        label->at = axis->names[i];
        label->len = strlen(label->at);
    } else if (axis->labels) {
        label->len = print_number(axis->labels[i], label->digits);
        for (const double *const *more = axis->more; *more; more++) {
            label->digits[label->len++] = ';';
            label->len += print_number((*more)[i], label->digits + label->len);
        }
    } else {
        int64_t place = (int64_t)i;
        label->len = pe_text_print(PE_I64, &place, 0, label->digits);
    }
}

void render_column_label(struct render_label *label, const struct render_sheet *sheet,
                         size_t source, size_t column)
{
    if (sheet->across) {
        render_label(label, sheet->across, column);
    } else {
        label->at = sheet->sources[source]->key;
        label->len = strlen(label->at);
    }
}

size_t render_number(const struct tree_tensor *tensor, size_t i, char out[PE_TEXT_MAX])
{
    return pe_text_print_as(tensor->dtype, tensor->notation, tensor->data, i, out);
}
