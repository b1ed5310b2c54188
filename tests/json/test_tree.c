// SPDX-License-Identifier: Apache-2.0
/* test_tree.c: order, look-up, and building without memory. */
#include "tree.h"

#include <criterion/criterion.h>
#include <string.h>

Test(tree, keeps_the_order_of_appending)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct tree *root = tree_new(&arena, TREE_OBJECT);
    static const double reals[] = {1, 2};
    static const size_t shape[] = {2, 3};
    struct tree *object = tree_object(root, "object"), *array = tree_array(root, "array");
    tree_string(object, "string", "s");
    tree_number(array, NULL, 0.5);
    tree_integer(array, NULL, -7);
    tree_bool(array, NULL, true);
    tree_null(array, NULL);
    tree_reals(root, "reals", reals, 2);
    tree_raw(root, "raw", "{}");
    struct tree *tensor = tree_tensor(root, "tensor", PE_F64, 2, shape, reals);
    cr_assert(tree_ok(root));

    static const struct {
        const char *key;
        enum tree_type type;
    } members[] = {{"object", TREE_OBJECT},
                   {"array", TREE_ARRAY},
                   {"reals", TREE_REALS},
                   {"raw", TREE_RAW},
                   {"tensor", TREE_TENSOR}};
    const struct tree *node = root->first;
    for (size_t i = 0; i < 5; i++, node = node->next) {
        cr_assert_str_eq(node->key, members[i].key);
        cr_assert_eq(node->type, members[i].type, "%s", node->key);
        cr_assert_eq(tree_member(root, members[i].key), node);
    }
    cr_assert_null(node);
    static const enum tree_type elements[] = {TREE_NUMBER, TREE_INTEGER, TREE_BOOL, TREE_NULL};
    node = array->first;
    for (size_t i = 0; i < 4; i++, node = node->next)
        cr_assert(node->type == elements[i] && !node->key, "element %zu", i);

    cr_assert_str_eq(tree_member(object, "string")->as.string, "s");
    cr_assert_null(tree_member(root, "string"), "look-up does not descend");
    cr_assert_null(tree_member(array, "string"));
    cr_assert_null(tree_member(NULL, "string"));
    cr_assert_eq(tensor->as.tensor.shape[1], 3);
    cr_assert_eq(tensor->as.tensor.data, reals);
    arena_release(&arena);
}

Test(tree, counts_elements_of_tensors)
{
    static const struct {
        struct tree_tensor tensor;
        size_t count;
    } rows[] = {{{.rank = 0}, 1},
                {{.rank = 1, .shape = {5}}, 5},
                {{.rank = 3, .shape = {2, 3, 4}}, 24},
                {{.rank = 3, .shape = {2, 0, 4}}, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_assert_eq(tree_tensor_count(&rows[i].tensor), rows[i].count, "row %zu", i);
}

/* One tree with a node of every type; returns the root, NULL without memory for it. */
static struct tree *build(struct arena *arena)
{
    static const double real = 1;
    struct tree *root = tree_new(arena, TREE_OBJECT);
    struct tree *list = tree_array(tree_object(root, "a"), "b");
    tree_string(list, NULL, "s");
    tree_number(list, NULL, 1);
    tree_integer(list, NULL, 1);
    tree_bool(list, NULL, false);
    tree_null(list, NULL);
    tree_reals(list, NULL, &real, 1);
    tree_raw(list, NULL, "0");
    tree_tensor(list, NULL, PE_F64, 0, NULL, &real);
    return root;
}

Test(tree, knows_that_a_node_is_missing)
{
    struct arena arena;
    arena_init(&arena, (size_t)1 << 20);
    cr_assert(tree_ok(build(&arena)));
    arena_release(&arena);
    cr_assert_not(tree_ok(NULL));

    size_t failed = 0, cap = 0;
    for (bool ok = false; !ok; cap += 8) {
        arena_init(&arena, cap);
        ok = tree_ok(build(&arena));
        failed += !ok;
        arena_release(&arena);
    }
    cr_assert_gt(failed, 11, "each of the nodes is missed at some cap");
}
