// SPDX-License-Identifier: Apache-2.0
/* answers.h: answers made by hand, for tests of the formats. Include once per test program. */
#ifndef TESTS_API_ANSWERS_H
#define TESTS_API_ANSWERS_H

#include <criterion/criterion.h>
#include <string.h>

#include "answer.h"

struct answer_bench {
    struct arena arena;
    struct answer answer;
};

static inline void bench_init(struct answer_bench *bench)
{
    arena_init(&bench->arena, (size_t)1 << 30);
    bench->answer = (struct answer){.root = tree_new(&bench->arena, TREE_OBJECT)};
    bench->answer.params = tree_object(bench->answer.root, "params");
    bench->answer.tensors = tree_object(bench->answer.root, "tensors");
    bench->answer.readouts = tree_object(bench->answer.root, "readouts");
}

/* A tensor of rank <= 4; the first one is the main tensor. Sizes end with 0 only if rank says so.
 */
static inline void bench_tensor(struct answer_bench *bench, const char *name, enum pe_dtype dtype,
                                size_t rank, const size_t *shape, const void *data)
{
    struct tree *node = tree_tensor(bench->answer.tensors, name, dtype, rank, shape, data);
    if (!bench->answer.main)
        bench->answer.main = node;
}

static inline void bench_expect(struct answer_bench *bench, enum format format,
                                const char *expected)
{
    struct buf out;
    buf_init(&out, (size_t)1 << 30);
    cr_assert(answer_write(&out, &bench->answer, format));
    cr_expect(out.len == strlen(expected) && memcmp(out.data, expected, out.len) == 0,
              "got\n%.*s\nexpected\n%s", (int)out.len, out.data, expected);
    buf_release(&out);
}

static inline void bench_release(struct answer_bench *bench)
{
    arena_release(&bench->arena);
}

#endif
