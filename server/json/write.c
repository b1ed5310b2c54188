// SPDX-License-Identifier: Apache-2.0
/*
 * write.c: JSON text. Digits come from pe_text_print, written where they stand in the answer; this
 * file adds the brackets, commas and quotes.
 */
#include "write.h"

#include <inttypes.h>
#include <string.h>

#include "utf8.h"

#define BLOCK (JSON_WRITE_AHEAD / JSON_ELEMENT_MAX) /* elements given room at once */

/* ---- Strings -------------------------------------------------------------------------------- */

/* How an ASCII character stands in a string: a letter behind a backslash, 'u' for a code, or 0 for
 * itself. */
static char escape_of(unsigned char c)
{
    static const char escapes[32] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    if (c < 0x20)
        return escapes[c] ? escapes[c] : 'u';
    return c == '"' || c == '\\' ? (char)c : 0;
}

/* Writes what is neither plain ASCII nor the end; returns how many bytes of text it was. */
static size_t write_character(struct buf *out, const char *text, size_t len)
{
    unsigned char c = (unsigned char)*text;
    if (c >= 0x80) {
        uint32_t code;
        size_t n = utf8_decode(text, len, &code);
        buf_append(out, n ? text : UTF8_REPLACEMENT, n ? n : strlen(UTF8_REPLACEMENT));
        return n ? n : 1;
    }
    char escape = escape_of(c);
    if (escape == 'u')
        buf_printf(out, "\\u%04x", c);
    else
        buf_append(out, (char[]){'\\', escape}, 2);
    return 1;
}

void json_write_string(struct buf *out, const char *text, size_t len)
{
    buf_putc(out, '"');
    for (size_t i = 0; i < len;) {
        size_t plain = i;
        while (plain < len && (unsigned char)text[plain] < 0x80 && !escape_of(text[plain]))
            plain++;
        buf_append(out, text + i, plain - i);
        i = plain;
        if (i < len)
            i += write_character(out, text + i, len - i);
    }
    buf_putc(out, '"');
}

/* ---- Numbers and tensors -------------------------------------------------------------------- */

/* One element in another notation than the shortest, where JSON_ELEMENT_MAX bytes are free. */
static size_t put_element(char *at, const struct tree_tensor *tensor, size_t i)
{
    size_t len = pe_text_print_as(tensor->dtype, tensor->notation, tensor->data, i, at);
    if (at[len - 1] > '9' || tensor->notation == PE_HEX) { /* no number of JSON: NaN, 0x1p+0 */
        memmove(at + 1, at, len);
        at[0] = at[len + 1] = '"';
        len += 2;
    }
    at[len] = ',';
    return len + 1;
}

/* n elements from `first` on, with commas between them. */
static void write_row(struct buf *out, const struct tree_tensor *tensor, size_t first, size_t n)
{
    for (size_t done = 0; done < n;) {
        size_t block = n - done < BLOCK ? n - done : BLOCK;
        if (!buf_reserve(out, block * JSON_ELEMENT_MAX))
            return;
        char *at = out->data + out->len;
        if (tensor->notation == PE_SHORTEST)
            at += pe_text_print_list(tensor->dtype, tensor->data, first + done, block, at);
        else
            for (size_t i = done; i < done + block; i++)
                at += put_element(at, tensor, first + i);
        out->len = (size_t)(at - out->data);
        done += block;
    }
    out->len -= n > 0; /* the last comma */
}

static void write_reals(struct buf *out, const double *at, size_t n)
{
    write_row(out, &(struct tree_tensor){.dtype = PE_F64, .data = at}, 0, n);
}

void json_write_number(struct buf *out, double number)
{
    write_reals(out, &number, 1);
}

/* How many of the innermost brackets close behind row `row`, counted from 1. */
static size_t brackets_closing(const struct tree_tensor *tensor, size_t row)
{
    size_t n = 1;
    for (size_t axis = tensor->rank - 1; axis-- > 0 && row % tensor->shape[axis] == 0; n++)
        row /= tensor->shape[axis];
    return n;
}

static void write_repeated(struct buf *out, char c, size_t n)
{
    while (n-- > 0)
        buf_putc(out, c);
}

/* The tensor up to its first axis of length 0, beyond which nothing is written. */
static struct tree_tensor tensor_seen(const struct tree_tensor *tensor)
{
    struct tree_tensor seen = *tensor;
    for (seen.rank = 0; seen.rank < tensor->rank;)
        if (tensor->shape[seen.rank++] == 0)
            break;
    return seen;
}

size_t json_tensor_rows(const struct tree_tensor *tensor)
{
    struct tree_tensor seen = tensor_seen(tensor);
    size_t rows = 1;
    for (size_t axis = 0; axis + 1 < seen.rank; axis++)
        rows *= seen.shape[axis];
    return rows;
}

void json_write_tensor_rows(struct buf *out, const struct tree_tensor *tensor, size_t first,
                            size_t n)
{
    struct tree_tensor seen = tensor_seen(tensor);
    size_t width = seen.rank > 0 ? seen.shape[seen.rank - 1] : 1;
    for (size_t row = first; row < first + n && !out->failed; row++) {
        if (row > 0)
            buf_putc(out, ',');
        write_repeated(out, '[', row > 0 ? brackets_closing(&seen, row) : seen.rank);
        write_row(out, tensor, (row - first) * width, width);
        write_repeated(out, ']', seen.rank > 0 ? brackets_closing(&seen, row + 1) : 0);
    }
}

void json_write_tensor_data(struct buf *out, const struct tree_tensor *tensor)
{
    json_write_tensor_rows(out, tensor, 0, json_tensor_rows(tensor));
}

void json_write_tensor_head(struct buf *out, const struct tree_tensor *tensor)
{
    buf_printf(out, "{\"dtype\":\"%s\",\"shape\":[", pe_dtype_name(tensor->dtype));
    for (size_t axis = 0; axis < tensor->rank; axis++)
        buf_printf(out, "%s%zu", axis ? "," : "", tensor->shape[axis]);
    buf_puts(out, "],\"data\":");
}

/* ---- Trees ---------------------------------------------------------------------------------- */

static void write_tensor(struct buf *out, const struct tree_tensor *tensor)
{
    json_write_tensor_head(out, tensor);
    json_write_tensor_data(out, tensor);
    buf_putc(out, '}');
}

void json_write_key(struct buf *out, const char *key)
{
    json_write_string(out, key, strlen(key));
    buf_putc(out, ':');
}

static void write_children(struct buf *out, const struct tree *tree)
{
    bool object = tree->type == TREE_OBJECT;
    buf_putc(out, object ? '{' : '[');
    for (const struct tree *node = tree->first; node; node = node->next) {
        if (node != tree->first)
            buf_putc(out, ',');
        if (object)
            json_write_key(out, node->key);
        json_write_tree(out, node);
    }
    buf_putc(out, object ? '}' : ']');
}

void json_write_tree(struct buf *out, const struct tree *tree)
{
    switch (tree->type) {
    case TREE_OBJECT:
    case TREE_ARRAY:
        write_children(out, tree);
        break;
    case TREE_STRING:
        json_write_string(out, tree->as.string, strlen(tree->as.string));
        break;
    case TREE_NUMBER:
        json_write_number(out, tree->as.number);
        break;
    case TREE_INTEGER:
        buf_printf(out, "%" PRId64, tree->as.integer);
        break;
    case TREE_BOOL:
        buf_puts(out, tree->as.boolean ? "true" : "false");
        break;
    case TREE_NULL:
        buf_puts(out, "null");
        break;
    case TREE_REALS:
        buf_putc(out, '[');
        write_reals(out, tree->as.reals.at, tree->as.reals.n);
        buf_putc(out, ']');
        break;
    case TREE_TENSOR:
        write_tensor(out, &tree->as.tensor);
        break;
    case TREE_RAW:
        buf_puts(out, tree->as.string);
        break;
    }
}
