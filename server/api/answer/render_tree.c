// SPDX-License-Identifier: Apache-2.0
/*
 * render_tree.c: a tree without tensors for a terminal: one line per value, `name: value`, nested
 * names joined by dots, lists of plain values on one line.
 */
#include "render.h"

/* The way from the root to a node: names or, in arrays, numbers. */
struct trail {
    const struct trail *above;
    const char *key;
    size_t i;
};

static void append_trail(struct buf *out, const struct trail *trail)
{
    if (trail->above) {
        append_trail(out, trail->above);
        buf_putc(out, '.');
    }
    if (trail->key)
        buf_puts(out, trail->key);
    else
        buf_printf(out, "%zu", trail->i);
}

static void append_number(struct buf *out, double number)
{
    if (buf_reserve(out, PE_TEXT_MAX))
        out->len += pe_text_print(PE_F64, &number, 0, out->data + out->len);
}

static void append_reals(struct buf *out, const double *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_putc(out, ' ');
        append_number(out, at[i]);
    }
}

static void append_scalar(struct buf *out, const struct tree *node)
{
    switch (node->type) {
    case TREE_STRING:
    case TREE_RAW:
        buf_puts(out, node->as.string);
        break;
    case TREE_NUMBER:
        append_number(out, node->as.number);
        break;
    case TREE_INTEGER:
        buf_printf(out, "%lld", (long long)node->as.integer);
        break;
    case TREE_BOOL:
        buf_puts(out, node->as.boolean ? "true" : "false");
        break;
    case TREE_REALS:
        append_reals(out, node->as.reals.at, node->as.reals.n);
        break;
    default:
        buf_puts(out, "null");
    }
}

static bool is_branch(const struct tree *node)
{
    return node->type == TREE_OBJECT || node->type == TREE_ARRAY;
}

/* Whether an array fits one line: none of its elements has members of its own. */
static bool is_flat(const struct tree *node)
{
    if (node->type != TREE_ARRAY)
        return !is_branch(node);
    for (const struct tree *child = node->first; child; child = child->next)
        if (is_branch(child) || child->type == TREE_REALS)
            return false;
    return true;
}

static void append_lines(struct buf *out, const struct tree *node, const struct trail *trail)
{
    size_t i = 0;

    if (is_flat(node)) {
        append_trail(out, trail);
        buf_putc(out, ':');
        if (node->type != TREE_ARRAY) {
            buf_putc(out, ' ');
            append_scalar(out, node);
        }
        for (const struct tree *child = node->first; child; child = child->next) {
            buf_putc(out, ' ');
            append_scalar(out, child);
        }
        buf_putc(out, '\n');
        return;
    }
    for (const struct tree *child = node->first; child; child = child->next)
        append_lines(out, child, &(struct trail){trail, child->key, i++});
}

void render_tree_txt(struct buf *out, const struct tree *tree)
{
    size_t i = 0;

    for (const struct tree *child = tree->first; child; child = child->next)
        append_lines(out, child, &(struct trail){NULL, child->key, i++});
}
