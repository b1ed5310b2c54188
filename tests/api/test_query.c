// SPDX-License-Identifier: Apache-2.0
/* test_query.c: query strings come back as they were, and stay readable. */
#include "call.h"
#include "target.h"

Test(query, encodes_what_must_be)
{
    static const struct {
        const char *before, *value, *after;
    } rows[] = {
        {"", "rope", "?name=rope"},
        {"/v1/table", "0:4", "/v1/table?name=0:4"},
        {"?a=1", "0,8,24", "?a=1&name=0,8,24"},
        {"/p?a=1&b=2", "rope:dim=64,f=1+2", "/p?a=1&b=2&name=rope:dim=64,f=1+2"},
        {"", "2^0:2^20", "?name=2%5E0:2%5E20"},
        {"", "0:4;0:4", "?name=0:4;0:4"},
        {"", "a b&c#d%e\"f'g<h>", "?name=a%20b%26c%23d%25e%22f%27g%3Ch%3E"},
        {"", "\xc3\xa4\n", "?name=%C3%A4%0A"},
        {"", "", "?name="},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf out;
        buf_init(&out, 4096);
        buf_puts(&out, rows[i].before);
        api_query_append(&out, "name", rows[i].value);
        cr_expect(out.len == strlen(rows[i].after) && memcmp(out.data, rows[i].after, out.len) == 0,
                  "%s: %.*s", rows[i].value, (int)out.len, out.data);
        buf_release(&out);
    }
}

Test(query, every_byte_comes_back)
{
    char value[256] = "";
    for (int byte = 1; byte < 128; byte++)
        value[byte - 1] = (char)byte;
    struct buf out;
    buf_init(&out, 4096);
    buf_puts(&out, "/");
    api_query_append(&out, "name", value);
    api_query_append(&out, "n\xc3\xa4me&", "x");
    buf_putc(&out, '\0');

    struct arena arena;
    struct err err = {0};
    struct target target;
    arena_init(&arena, 1 << 20);
    cr_assert(target_parse(&target, out.data, &arena, &err) && err.n == 0, "%s",
              err.item[0].detail);
    cr_assert_eq(target.args_n, 2);
    cr_expect_str_eq(target.args[0].value, value);
    cr_expect_str_eq(target.args[1].name, "n\xc3\xa4me&");
    arena_release(&arena);
    buf_release(&out);
}
