// SPDX-License-Identifier: Apache-2.0
/* test_render_tree.c: nested readouts as lines. */
#include "answers.h"

#include <math.h>

#include "render.h"

Test(render_tree, names_values_and_lists)
{
    struct arena arena;
    struct buf out;
    const double reals[] = {1.5, -0.0, NAN};
    arena_init(&arena, 1 << 20);
    struct tree *root = tree_new(&arena, TREE_OBJECT);
    tree_string(root, "text", "a b");
    tree_number(root, "number", 0.1);
    tree_number(root, "infinite", INFINITY);
    tree_integer(root, "integer", -7);
    tree_bool(root, "yes", true);
    tree_bool(root, "no", false);
    tree_null(root, "nothing");
    tree_reals(root, "reals", reals, 3);
    tree_raw(root, "raw", "[1,2]");
    struct tree *nested = tree_object(tree_object(root, "norm"), "q");
    tree_number(nested, "before", 2);
    tree_object(root, "empty");
    struct tree *flat = tree_array(root, "flat");
    tree_integer(flat, NULL, 1);
    tree_string(flat, NULL, "two");
    struct tree *blocks = tree_array(root, "blocks");
    for (int i = 0; i < 2; i++)
        tree_integer(tree_object(blocks, NULL), "range", 10 + i);
    struct tree *lists = tree_array(root, "lists");
    tree_reals(lists, NULL, reals, 2);
    tree_array(root, "none");

    buf_init(&out, 1 << 20);
    render_tree_txt(&out, root);
    static const char expected[] = "text: a b\n"
                                   "number: 0.1\n"
                                   "infinite: Infinity\n"
                                   "integer: -7\n"
                                   "yes: true\n"
                                   "no: false\n"
                                   "nothing: null\n"
                                   "reals: 1.5 -0.0 NaN\n"
                                   "raw: [1,2]\n"
                                   "norm.q.before: 2\n"
                                   "flat: 1 two\n"
                                   "blocks.0.range: 10\n"
                                   "blocks.1.range: 11\n"
                                   "lists.0: 1.5 -0.0\n"
                                   "none:\n";
    cr_expect(out.len == sizeof expected - 1 && memcmp(out.data, expected, out.len) == 0, "%.*s",
              (int)out.len, out.data);
    buf_release(&out);
    arena_release(&arena);
}
