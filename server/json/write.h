// SPDX-License-Identifier: Apache-2.0
/* write.h: prints JSON, append-only: strings escaped, numbers shortest, tensors from their data. */
#ifndef JSON_WRITE_H
#define JSON_WRITE_H

#include "buf.h"
#include "tree.h"

/* The whole tree without white space (RFC 8785 number notation; no final newline). */
void json_write_tree(struct buf *out, const struct tree *tree);
/* A quoted, escaped string; bytes are valid UTF-8 or come out as U+FFFD. */
void json_write_string(struct buf *out, const char *text, size_t len);
/* A number, or "NaN", "Infinity", "-Infinity" in quotes. */
void json_write_number(struct buf *out, double number);
/* Nested arrays of a dense tensor. Room is made for some elements at a time, so that the limit of
 * the buffer may be met up to JSON_WRITE_AHEAD bytes early. */
#define JSON_WRITE_AHEAD 4096
#define JSON_ELEMENT_MAX (PE_TEXT_MAX + 3) /* bytes of one: digits or a word, quotes, a comma */
void json_write_tensor_data(struct buf *out, const struct tree_tensor *tensor);

/* The same a few rows at a time, a row being what the last axis holds: rows [first, first + n) with
 * the brackets and commas around them. tensor->data are the elements from row `first` on. */
void json_write_tensor_rows(struct buf *out, const struct tree_tensor *tensor, size_t first,
                            size_t n);
size_t json_tensor_rows(const struct tree_tensor *tensor);
/* What stands in front of the nested arrays in a tree; a closing brace stands behind them. */
void json_write_tensor_head(struct buf *out, const struct tree_tensor *tensor);
/* "key": in front of a member. */
void json_write_key(struct buf *out, const char *key);

#endif
