// SPDX-License-Identifier: Apache-2.0
/* test_target.c: forms of the request target, decoding and the split of the query. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "target.h"

/* What a target reads as: "path | name=value name=value", or "code where code where". */
static const struct {
    const char *raw, *reads;
} targets[] = {
    {"/", "/ |"},
    {"/v1/table", "/v1/table |"},
    {"/a%20b%2fc", "/a b/c |"},
    {"/%E2%82%AC", "/\xe2\x82\xac |"},
    {"/a+b?c+d=e+f", "/a+b | c+d=e+f"},
    {"/?", "/ |"},
    {"/?&&a=1&&b&c=&", "/ | a=1 b= c="},
    {"/?a=1=2", "/ | a=1=2"},
    {"/?=5", "/ | =5"},
    {"/?a=b?c", "/ | a=b?c"},
    {"/?a%3Db=c%26d", "/ | a=b=c&d"},
    {"/?a=%2541", "/ | a=%41"},
    {"http://host", "/ |"},
    {"http://host/p?q=1", "/p | q=1"},
    {"HTTPS://host:1?q=1", "/ | q=1"},
    {"*", "* |"},
    {"", "bad-request"},
    {"v1/table", "bad-request"},
    {"host:80", "bad-request"},
    {"http://", "bad-request"},
    {"http:///p", "bad-request"},
    {"ftp://host/p", "bad-request"},
    {"/%", "bad-request"},
    {"/%4", "bad-request"},
    {"/%zz", "bad-request"},
    {"/%4z", "bad-request"},
    {"/%00", "bad-request"},
    {"/%c0%ae", "bad-request"},       /* overlong */
    {"/%ed%a0%80", "bad-request"},    /* surrogate */
    {"/%f4%90%80%80", "bad-request"}, /* past U+10FFFF */
    {"/%e2%82", "bad-request"},       /* cut off */
    {"/?a=%zz&b=1&c=%00&%ff=2&d=%e2", "invalid-value a invalid-value c invalid-value "
                                      "invalid-value d"},
};

static void describe(const struct target *target, const struct err *err, char *out, size_t size)
{
    size_t len = 0;
    for (size_t i = 0; i < err->n; i++)
        len += (size_t)snprintf(out + len, size - len, "%s%s%s%s", i ? " " : "",
                                err_slug(err->item[i].code), err->item[i].where[0] ? " " : "",
                                err->item[i].where);
    if (err->n)
        return;
    len = (size_t)snprintf(out, size, "%s |", target->path);
    for (size_t i = 0; i < target->args_n; i++)
        len += (size_t)snprintf(out + len, size - len, " %s=%s", target->args[i].name,
                                target->args[i].value);
}

Test(target, reads_and_refuses)
{
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        struct arena arena;
        struct err err = {0};
        struct target target;
        char seen[256];

        arena_init(&arena, 1 << 20);
        bool ok = target_parse(&target, targets[i].raw, &arena, &err);
        describe(&target, &err, seen, sizeof seen);
        cr_expect_str_eq(seen, targets[i].reads, "%s", targets[i].raw);
        cr_expect_eq(ok, err.n == 0, "%s", targets[i].raw);
        arena_release(&arena);
    }
}

Test(target, bad_escape_is_shown_with_its_place)
{
    struct arena arena;
    struct err err = {0};
    struct target target;

    arena_init(&arena, 1 << 20);
    target_parse(&target, "/?base=1%g7", &arena, &err);
    cr_expect_str_eq(err.item[0].detail,
                     "the value has \"%g7\" at byte 1, which is no percent-encoded byte");
    arena_release(&arena);
}

Test(target, number_of_parameters_is_limited)
{
    char raw[2 + 2 * (REQUEST_ARGS_MAX + 1) + 1] = "/?";
    struct arena arena;

    for (size_t n = REQUEST_ARGS_MAX; n <= REQUEST_ARGS_MAX + 1; n++) {
        struct err err = {0};
        struct target target;
        for (size_t i = 0; i < n; i++)
            memcpy(raw + 2 + 2 * i, "a&", 3);
        arena_init(&arena, 1 << 20);
        bool ok = target_parse(&target, raw, &arena, &err);
        cr_expect_eq(ok, n == REQUEST_ARGS_MAX);
        cr_expect(ok || err.item[0].code == ERR_bad_request);
        arena_release(&arena);
    }
}

Test(target, memory_cap_is_an_error)
{
    struct arena arena;
    struct err err = {0};
    struct target target;

    arena_init(&arena, 64);
    cr_expect_not(target_parse(
        &target, "/?aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=1", &arena, &err));
    cr_expect_eq(err.item[0].code, ERR_internal);
    arena_release(&arena);
}
