// SPDX-License-Identifier: Apache-2.0
/* tree.c: building an answer's tree in an arena. */
#include "tree.h"

#include <assert.h>
#include <string.h>

static struct tree *append(struct tree *parent, const char *key, enum tree_type type)
{
    if (!parent)
        return NULL;
    assert(parent->type == TREE_OBJECT || parent->type == TREE_ARRAY);
    assert((parent->type == TREE_OBJECT) == (key != NULL));
    struct tree *node = arena_calloc(parent->arena, 1, sizeof *node);
    if (!node) {
        *parent->failed = true;
        return NULL;
    }
    node->type = type;
    node->key = key;
    node->arena = parent->arena;
    node->failed = parent->failed;
    *(parent->last ? &parent->last->next : &parent->first) = node;
    parent->last = node;
    return node;
}

struct tree *tree_new(struct arena *arena, enum tree_type type)
{
    struct tree *root = arena_calloc(arena, 1, sizeof *root);
    bool *failed = arena_calloc(arena, 1, sizeof *failed);
    if (!root || !failed)
        return NULL;
    root->type = type;
    root->arena = arena;
    root->failed = failed;
    return root;
}

bool tree_ok(const struct tree *root)
{
    return root && !*root->failed;
}

struct tree *tree_member(const struct tree *object, const char *key)
{
    if (!object || object->type != TREE_OBJECT)
        return NULL;
    for (struct tree *node = object->first; node; node = node->next)
        if (strcmp(node->key, key) == 0)
            return node;
    return NULL;
}

struct tree *tree_object(struct tree *parent, const char *key)
{
    return append(parent, key, TREE_OBJECT);
}

struct tree *tree_array(struct tree *parent, const char *key)
{
    return append(parent, key, TREE_ARRAY);
}

void tree_string(struct tree *parent, const char *key, const char *string)
{
    struct tree *node = append(parent, key, TREE_STRING);
    if (node && !string)
        *node->failed = true;
    else if (node)
        node->as.string = string;
}

void tree_number(struct tree *parent, const char *key, double number)
{
    struct tree *node = append(parent, key, TREE_NUMBER);
    if (node)
        node->as.number = number;
}

void tree_integer(struct tree *parent, const char *key, int64_t integer)
{
    struct tree *node = append(parent, key, TREE_INTEGER);
    if (node)
        node->as.integer = integer;
}

void tree_bool(struct tree *parent, const char *key, bool boolean)
{
    struct tree *node = append(parent, key, TREE_BOOL);
    if (node)
        node->as.boolean = boolean;
}

void tree_null(struct tree *parent, const char *key)
{
    append(parent, key, TREE_NULL);
}

void tree_reals(struct tree *parent, const char *key, const double *at, size_t n)
{
    struct tree *node = append(parent, key, TREE_REALS);
    if (node) {
        node->as.reals.at = at;
        node->as.reals.n = n;
    }
}

void tree_raw(struct tree *parent, const char *key, const char *json)
{
    struct tree *node = append(parent, key, TREE_RAW);
    if (node)
        node->as.string = json;
}

struct tree *tree_tensor(struct tree *parent, const char *key, enum pe_dtype dtype, size_t rank,
                         const size_t *shape, const void *data)
{
    assert(rank <= TREE_RANK_MAX);
    struct tree *node = append(parent, key, TREE_TENSOR);
    if (!node)
        return NULL;
    node->as.tensor = (struct tree_tensor){.dtype = dtype, .rank = rank, .data = data};
    for (size_t axis = 0; axis < rank; axis++)
        node->as.tensor.shape[axis] = shape[axis];
    return node;
}

size_t tree_tensor_count(const struct tree_tensor *tensor)
{
    size_t count = 1;
    for (size_t axis = 0; axis < tensor->rank; axis++)
        count *= tensor->shape[axis];
    return count;
}
