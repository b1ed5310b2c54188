// SPDX-License-Identifier: Apache-2.0
/* refusal.h: what a reader must say: one mistake, with its code, its place and these words. */
#ifndef TESTS_TENSOR_REFUSAL_H
#define TESTS_TENSOR_REFUSAL_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "view.h"

#include "err.h"

static inline void expect_refusal(const struct err *err, enum err_code code, const char *where,
                                  const char *detail)
{
    cr_assert_eq(err->n, 1, "%zu mistakes, not one: %s", err->n, detail);
    cr_assert_str_eq(err->item[0].detail, detail);
    cr_assert_eq(err->item[0].code, code, "%s: %s", detail, err_slug(err->item[0].code));
    cr_assert_str_eq(err->item[0].where, where, "%s", detail);
}

/* A copy of exactly the size, to be freed, so that a sanitizer sees a read past the end. */
static inline void *copy_of(const void *bytes, size_t len)
{
    void *copy = malloc(len ? len : 1);
    memcpy(copy, bytes, len);
    return copy;
}

#endif
