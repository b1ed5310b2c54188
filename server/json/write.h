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
void json_write_tensor_data(struct buf *out, const struct tree_tensor *tensor);

#endif
