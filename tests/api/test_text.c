// SPDX-License-Identifier: Apache-2.0
/* test_text.c: lines end before column 80, whatever the words. */
#include <criterion/criterion.h>
#include <string.h>

#include "text.h"

#define TEN "123456789 "

static void expect_wrapped(const char *before, size_t indent, const char *text,
                           const char *expected)
{
    struct buf out;
    buf_init(&out, 4096);
    buf_puts(&out, before);
    text_wrap(&out, indent, text);
    cr_expect(!out.failed && out.len == strlen(expected) &&
                  (out.len == 0 || memcmp(out.data, expected, out.len) == 0),
              "got \"%.*s\", expected \"%s\"", (int)out.len, out.data, expected);
    buf_release(&out);
}

Test(text, wrap)
{
    expect_wrapped("", 0, "one  two\nthree\t", "one two three");
    expect_wrapped("", 0, "", "");
    expect_wrapped("* ", 2, "word", "* word");
    /* 79 columns fill a line, as do 80; 81 do not. */
    expect_wrapped("", 2, TEN TEN TEN TEN TEN TEN TEN "123456789",
                   TEN TEN TEN TEN TEN TEN TEN "123456789");
    expect_wrapped("", 2, TEN TEN TEN TEN TEN TEN TEN "1234567890",
                   TEN TEN TEN TEN TEN TEN TEN "1234567890");
    expect_wrapped("", 2, TEN TEN TEN TEN TEN TEN TEN "12345678901",
                   TEN TEN TEN TEN TEN TEN "123456789\n  12345678901");
    /* The line that stands there counts, after its last newline only. */
    expect_wrapped("a\n" TEN TEN TEN TEN TEN TEN TEN, 4, "12345678901 b",
                   "a\n" TEN TEN TEN TEN TEN TEN TEN "\n    12345678901 b");
    /* A code point is one column. */
    expect_wrapped(TEN TEN TEN TEN TEN TEN TEN, 0,
                   "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4",
                   TEN TEN TEN TEN TEN TEN TEN "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4");
}

Test(text, a_long_word_stands_alone)
{
    char text[120] = "* a ", expected[120] = "* a\n  ";
    memset(text + 4, 'x', 100);
    memset(expected + 6, 'x', 100);
    expect_wrapped("* ", 2, text + 2, expected);
    expect_wrapped("", 0, text + 4, text + 4);
}

Test(text, column)
{
    static const struct {
        const char *before, *after;
        size_t column;
    } rows[] = {
        {"", "", 0}, {"", "   ", 3}, {"ab", "ab ", 3}, {"abc", "abc ", 3}, {"abcd\n", "abcd\n ", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf out;
        buf_init(&out, 4096);
        buf_puts(&out, rows[i].before);
        text_column(&out, rows[i].column);
        cr_expect(out.len == strlen(rows[i].after) &&
                      (out.len == 0 || memcmp(out.data, rows[i].after, out.len) == 0),
                  "\"%s\" to column %zu: \"%.*s\"", rows[i].before, rows[i].column, (int)out.len,
                  out.data);
        buf_release(&out);
    }
}

/* Columns are letters, not bytes; what is wider stays whole. */
Test(text, to_the_right)
{
    static const struct {
        const char *text, *after;
        size_t columns;
    } rows[] = {{"ab", "|  ab", 4},
                {"abc", "|abc", 3},
                {"abcd", "|abcd", 3},
                {"\xc3\xa4", "|  \xc3\xa4", 3},
                {"", "|  ", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf out;
        buf_init(&out, 4096);
        buf_putc(&out, '|');
        text_right(&out, rows[i].columns, rows[i].text);
        cr_expect(out.len == strlen(rows[i].after) && memcmp(out.data, rows[i].after, out.len) == 0,
                  "\"%s\": \"%.*s\"", rows[i].text, (int)out.len, out.data);
        buf_release(&out);
    }
}
