// SPDX-License-Identifier: Apache-2.0
/*
 * tree.h: an answer before it has a representation: an ordered tree in the request's arena, built
 * by appending. Tensors are leaves that point to their data. json/write.c prints it as JSON; csv
 * and txt are printed from the same tree by api/. A node that cannot be allocated is NULL, and
 * every function accepts NULL as parent and passes it on, so that builders check once, at
 * tree_ok().
 */
#ifndef JSON_TREE_H
#define JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "posenc.h"

#define TREE_RANK_MAX 8

enum tree_type {
    TREE_OBJECT,
    TREE_ARRAY,
    TREE_STRING,
    TREE_NUMBER, /* f64; NaN and infinities print as strings */
    TREE_INTEGER,
    TREE_BOOL,
    TREE_NULL,
    TREE_REALS,  /* flat list of f64 */
    TREE_TENSOR, /* {"dtype":..,"shape":[..],"data":[[..]]} */
    TREE_RAW,    /* JSON text made elsewhere, printed as it is */
};

struct tree_tensor {
    enum pe_dtype dtype;
    size_t rank;
    size_t shape[TREE_RANK_MAX];
    const void *data;          /* dense, row-major; outlives the tree */
    enum pe_notation notation; /* of its numbers as text */
};

struct tree {
    enum tree_type type;
    const char *key; /* of a member; NULL in arrays and at the root */
    struct tree *first, *last, *next;
    struct arena *arena;
    bool *failed; /* shared by the whole tree */
    union {
        const char *string; /* TREE_STRING, TREE_RAW: NUL-terminated, outlives the tree */
        double number;
        int64_t integer;
        bool boolean;
        struct {
            const double *at;
            size_t n;
        } reals;
        struct tree_tensor tensor;
    } as;
};

struct tree *tree_new(struct arena *arena, enum tree_type type); /* a root: object or array */
bool tree_ok(const struct tree *root); /* false: some node is missing for want of memory */
/* The member of an object with this key, or NULL. */
struct tree *tree_member(const struct tree *object, const char *key);

/* Each appends to `parent`; key is NULL when the parent is an array. Strings are not copied;
 * NULL for one stands for want of memory. */
struct tree *tree_object(struct tree *parent, const char *key);
struct tree *tree_array(struct tree *parent, const char *key);
void tree_string(struct tree *parent, const char *key, const char *string);
void tree_number(struct tree *parent, const char *key, double number);
void tree_integer(struct tree *parent, const char *key, int64_t integer);
void tree_bool(struct tree *parent, const char *key, bool boolean);
void tree_null(struct tree *parent, const char *key);
void tree_reals(struct tree *parent, const char *key, const double *at, size_t n);
void tree_raw(struct tree *parent, const char *key, const char *json);
/* shape has `rank` entries; returns the node so that it can be pointed to. */
struct tree *tree_tensor(struct tree *parent, const char *key, enum pe_dtype dtype, size_t rank,
                         const size_t *shape, const void *data);

size_t tree_tensor_count(const struct tree_tensor *tensor); /* product of the shape */

#endif
