// SPDX-License-Identifier: Apache-2.0
/* test_scan.c: words of JSON against slow, obvious definitions; places in a body. */
#include "scan.h"

#include <criterion/criterion.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* RFC 8259's number by regular expression: the longest match at the beginning, or 0. */
static size_t number_len_by_regex(const regex_t *regex, const char *text)
{
    regmatch_t match;
    return regexec(regex, text, 1, &match, 0) == 0 ? (size_t)match.rm_eo : 0;
}

/* Where number_end stops early or goes on, the text is no JSON anyway: 01, 1., 1e+ are malformed
 * whatever follows, although a shorter number could be read from them. */
static bool is_cut_short(const char *text, size_t len)
{
    char next = text[len];
    size_t sign = text[0] == '-', plain = strcspn(text, ".eE"), mantissa = strcspn(text, "eE");
    return (next == '.' && plain == len) || ((next | 32) == 'e' && mantissa == len) ||
           (len == sign + 1 && text[sign] == '0' && next >= '0' && next <= '9');
}

static void check_number(const regex_t *regex, const char *text)
{
    size_t len = strlen(text);
    char *exact = malloc(len ? len : 1); /* so that a sanitizer sees a read past the end */
    memcpy(exact, text, len);
    bool integer;
    const char *end = number_end(exact, exact + len, &integer);
    size_t wanted = number_len_by_regex(regex, text);
    if (wanted > 0 && is_cut_short(text, wanted))
        wanted = 0;
    cr_assert_eq(end ? (size_t)(end - exact) : 0, wanted, "\"%s\": not %zu", text, wanted);
    if (end)
        cr_assert_eq(integer, strcspn(text, ".eE") >= wanted, "\"%s\"", text);
    free(exact);
}

Test(scan, numbers_are_those_of_the_grammar)
{
    regex_t regex;
    regcomp(&regex, "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?", REG_EXTENDED);
    static const char alphabet[] = "0123456789012345678901234567890123456789-+.eE,] /:";
    unsigned random = 7;
    for (int i = 0; i < 300000; i++) {
        char text[40];
        size_t len = 0;
        do {
            random = random * 1103515245 + 12345;
            text[len++] = alphabet[(random >> 16) % (sizeof alphabet - 1)];
        } while (len < 39 && (random >> 8) % 16);
        text[len] = '\0';
        check_number(&regex, text);
    }
    for (size_t digits = 1; digits < 40; digits++) { /* every byte behind every count of digits */
        for (int next = 1; next < 256; next++) {
            char text[50] = "1111111111111111111111111111111111111111";
            text[digits] = (char)next;
            text[digits + 1] = '\0';
            if (next < 0x80)
                check_number(&regex, text);
        }
    }
    regfree(&regex);
}

Test(scan, digits_stop_at_every_other_byte)
{
    for (size_t at = 1; at < 20; at++)
        for (int next = 0; next < 256; next++) {
            char text[21] = "11111111111111111111";
            text[at] = (char)next;
            bool integer;
            const char *end = number_end(text, text + 20, &integer);
            if (next >= '0' && next <= '9')
                cr_assert_eq(end, text + 20);
            else if (next != '.' && (next | 32) != 'e')
                cr_assert_eq(end, text + at, "byte 0x%02x at %zu", next, at);
        }
}

Test(scan, integers_beyond_2_to_the_53_are_inexact)
{
    static const struct {
        const char *text;
        bool inexact;
    } rows[] = {{"0", false},
                {"-1", false},
                {"999999999999999", false},
                {"9007199254740991", false},
                {"9007199254740992", false},
                {"-9007199254740992", false},
                {"9007199254740993", true},
                {"-9007199254740993", true},
                {"9999999999999999", true},
                {"10000000000000000", true},
                {"-123456789012345678901234567890", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_assert_eq(integer_is_inexact(rows[i].text, strlen(rows[i].text)), rows[i].inexact, "%s",
                     rows[i].text);
}

Test(scan, special_values_are_whole_strings)
{
    static const struct {
        const char *text;
        size_t len;
    } rows[] = {{"\"NaN\"", 5},
                {"\"Infinity\",", 10},
                {"\"-Infinity\"]", 11},
                {"\"NaN", 0},
                {"\"nan\"", 0},
                {"\"+Infinity\"", 0},
                {"\"-NaN\"", 0},
                {"NaN", 0},
                {"\"Infinity\\\"", 0},
                {"\"\"", 0},
                {"", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_assert_eq(special_len(rows[i].text, rows[i].text + strlen(rows[i].text)), rows[i].len,
                     "%s", rows[i].text);
}

Test(scan, escapes_stand_for_their_characters)
{
    static const struct {
        const char *text;
        unsigned code;
    } rows[] = {{"\\\"", '"'},
                {"\\\\", '\\'},
                {"\\/", '/'},
                {"\\b", '\b'},
                {"\\f", '\f'},
                {"\\n", '\n'},
                {"\\r", '\r'},
                {"\\t", '\t'},
                {"\\u0041", 'A'},
                {"\\u00e9", 0xe9},
                {"\\u00E9", 0xe9},
                {"\\u20aC", 0x20ac},
                {"\\uFFFF", 0xffff},
                {"\\ud834\\udd1e", 0x1d11e},
                {"\\uDBFF\\uDFFF", 0x10ffff}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *at = rows[i].text;
        cr_assert_eq(unescape(&at), rows[i].code, "%s", rows[i].text);
        cr_assert_eq(*at, '\0', "%s is left at %s", rows[i].text, at);
    }
}

Test(scan, places_count_lines_and_characters)
{
    static const char body[] = "{\n\n  \"\xe2\x82\xac\xc3\xa9\": x\r\n]";
    static const struct {
        size_t offset, line, column;
    } rows[] = {{0, 1, 1}, {1, 1, 2},  {2, 2, 1},  {3, 3, 1},   {5, 3, 3},  {6, 3, 4},
                {9, 3, 5}, {11, 3, 6}, {14, 3, 9}, {16, 3, 11}, {17, 4, 1}, {18, 4, 2}};
    struct scan scan = {.body = body, .end = body + sizeof body - 1};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t line, column;
        scan_place(&scan, body + rows[i].offset, &line, &column);
        cr_assert(line == rows[i].line && column == rows[i].column, "offset %zu: %zu:%zu",
                  rows[i].offset, line, column);
    }
}
