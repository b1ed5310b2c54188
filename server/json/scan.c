// SPDX-License-Identifier: Apache-2.0
/*
 * scan.c: strings, numbers and words of JSON, checked to the letter, and error messages that say
 * what was expected, what was found and, for the usual slips, what to write instead.
 */
#include "scan.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

/* ---- Places and messages -------------------------------------------------------------------- */

void scan_place(const struct scan *scan, const char *at, size_t *line, size_t *column)
{
    const char *start = scan->body;
    *line = 1;
    *column = 1;
    for (const char *c = start; (c = memchr(c, '\n', (size_t)(at - c))); start = ++c)
        ++*line;
    for (const char *c = start; c < at; c++)
        *column += ((unsigned char)*c & 0xc0) != 0x80; /* a character counts at its first byte */
}

bool scan_fail(const struct scan *scan, const char *at, const char *format, ...)
{
    char says[200];
    size_t line, column;
    va_list args;
    va_start(args, format);
    vsnprintf(says, sizeof says, format, args);
    va_end(args);
    scan_place(scan, at, &line, &column);
    return err_add_at(scan->err, ERR_malformed_json, NULL, line, column, "%s", says);
}

/* What to write instead of something that people write. */
static const char *advice(const char *got, size_t len)
{
    static const char number[] = "; a number begins with a digit or '-'";
    static const char special[] = "; write \"NaN\", \"Infinity\" or \"-Infinity\", in quotes";
    static const char comment[] = "; JSON has no comments";
    static const struct {
        const char *got, *says;
    } rows[] = {
        {"NaN", special},
        {"nan", special},
        {"Infinity", special},
        {"inf", special},
        {"Inf", special},
        {"True", "; write true"},
        {"None", "; write null"},
        {"False", "; write false"},
        {"undefined", "; write null"},
        {"+", number},
        {".", number},
        {"/", comment},
        {"#", comment},
        {"'", "; strings stand in double quotes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strlen(rows[i].got) == len && memcmp(rows[i].got, got, len) == 0)
            return rows[i].says;
    return "";
}

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t word_len(const struct scan *scan)
{
    const char *c = scan->at;
    while (c < scan->end && in_word(*c))
        c++;
    return (size_t)(c - scan->at);
}

bool scan_expected(const struct scan *scan, const char *what)
{
    uint32_t code = 0;
    size_t left = (size_t)(scan->end - scan->at);
    size_t len = left ? utf8_decode(scan->at, left, &code) : 0;
    if (left == 0)
        return scan_fail(scan, scan->at, "expected %s, got the end of the body", what);
    if (len == 0)
        return scan_fail(scan, scan->at, "expected %s, got byte 0x%02x, which is not UTF-8", what,
                         (unsigned char)*scan->at);
    if (code == 0)
        return scan_fail(scan, scan->at, "expected %s, got a zero byte", what);
    if (code == 0xfeff)
        return scan_fail(scan, scan->at, "expected %s, got a byte order mark", what);
    if (code < 0x20 || code == 0x7f)
        return scan_fail(scan, scan->at, "expected %s, got control character U+%04X", what, code);
    size_t word = word_len(scan);
    if (word > 0)
        len = word < 20 ? word : 20;
    return scan_fail(scan, scan->at, "expected %s, got '%.*s'%s", what, (int)len, scan->at,
                     advice(scan->at, len));
}

int scan_next(struct scan *scan)
{
    const char *c = scan->at;
    while (c < scan->end && (*c == ' ' || *c == '\n' || *c == '\r' || *c == '\t'))
        c++;
    scan->at = c;
    return c < scan->end ? (unsigned char)*c : -1;
}

/* ---- Strings -------------------------------------------------------------------------------- */

/* Four hexadecimal digits, or -1. */
static int hex4(const char *at, const char *end)
{
    if (end - at < 4)
        return -1;
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'                 ? c - '0'
                    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                         : -1;
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

static bool is_high(int code)
{
    return code >= 0xd800 && code <= 0xdbff;
}

static bool is_low(int code)
{
    return code >= 0xdc00 && code <= 0xdfff;
}

/* The length of the escape at `at` (the backslash), or 0 after saying what is wrong. */
static size_t escape_len(const struct scan *scan, const char *at)
{
    const char *end = scan->end;
    if (end - at < 2 || !memchr("\"\\/bfnrtu", at[1], 9)) {
        scan_fail(scan, at, "a backslash in a string stands before one of \"\\/bfnrtu only");
        return 0;
    }
    if (at[1] != 'u')
        return 2;
    int code = hex4(at + 2, end);
    int low = end - at >= 8 && at[6] == '\\' && at[7] == 'u' ? hex4(at + 8, end) : -1;
    if (code > 0 && !is_high(code) && !is_low(code))
        return 6;
    if (is_high(code) && is_low(low))
        return 12;
    if (code < 0)
        scan_fail(scan, at, "\\u in a string needs four hexadecimal digits");
    else if (code == 0)
        scan_fail(scan, at, "\\u0000 is not allowed in a string");
    else
        scan_fail(scan, at, "\\u%.4s is half of a surrogate pair", at + 2);
    return 0;
}

/* The length of the character at `at`, which is not plain ASCII, or 0 after saying what is wrong.
 */
static size_t character_len(const struct scan *scan, const char *at)
{
    unsigned char byte = (unsigned char)*at;
    if (byte == '\\')
        return escape_len(scan, at);
    uint32_t code;
    size_t len = byte < 0x20 ? 0 : utf8_decode(at, (size_t)(scan->end - at), &code);
    if (byte == 0)
        scan_fail(scan, at, "a zero byte is not allowed in a string");
    else if (byte < 0x20)
        scan_fail(scan, at, "control character U+%04X must be escaped in a string", byte);
    else if (len == 0)
        scan_fail(scan, at, "byte 0x%02x in a string is not UTF-8", byte);
    return len;
}

bool scan_string(struct scan *scan)
{
    const char *c = scan->at + 1;
    while (c < scan->end && *c != '"') {
        bool plain = (unsigned char)*c >= 0x20 && (unsigned char)*c < 0x80 && *c != '\\';
        size_t len = plain ? 1 : character_len(scan, c);
        if (len == 0)
            return false;
        c += len;
    }
    if (c == scan->end)
        return scan_fail(scan, scan->at, "the string that begins here has no end");
    scan->at = c + 1;
    return true;
}

unsigned unescape(const char **at)
{
    static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
    char c = (*at)[1];
    if (c != 'u') {
        *at += 2;
        const char *name = strchr(names, c);
        return (unsigned char)(name ? meant[name - names] : c);
    }
    int code = hex4(*at + 2, *at + 6);
    *at += 6;
    if (!is_high(code))
        return (unsigned)code;
    int low = hex4(*at + 2, *at + 6);
    *at += 6;
    return 0x10000u + ((unsigned)(code - 0xd800) << 10) + (unsigned)(low - 0xdc00);
}

/* ---- Numbers and words ---------------------------------------------------------------------- */

/* Skips digits, eight at a time. */
static const char *digits_end(const char *at, const char *end)
{
    while (end - at >= 8) {
        size_t n = eight_digits(at);
        at += n;
        if (n < 8)
            return at;
    }
    while (at < end && is_digit(*at))
        at++;
    return at;
}

/* The end of one or more digits, or NULL if there is none. */
static const char *some_digits_end(const char *at, const char *end)
{
    return at < end && is_digit(*at) ? digits_end(at + 1, end) : NULL;
}

const char *number_end(const char *at, const char *end, bool *integer)
{
    at += at < end && *at == '-';
    const char *start = at;
    at = some_digits_end(at, end);
    *integer = true;
    if (!at || (*start == '0' && at > start + 1))
        return NULL;
    if (at < end && *at == '.') {
        *integer = false;
        at = some_digits_end(at + 1, end);
    }
    if (at && at < end && (*at | 32) == 'e') {
        *integer = false;
        at++;
        at += at < end && (*at == '+' || *at == '-');
        at = some_digits_end(at, end);
    }
    return at;
}

/* Says where and why the number at scan->at, which is malformed, is so. */
static bool explain_number(struct scan *scan)
{
    scan->at += *scan->at == '-';
    const char *digits = some_digits_end(scan->at, scan->end);
    if (!digits)
        return scan_expected(scan, "a digit after '-'");
    if (*scan->at == '0' && digits > scan->at + 1)
        return scan_fail(scan, scan->at, "a number must not begin with a needless zero");
    scan->at = digits;
    if (*scan->at == '.') {
        scan->at++;
        digits = some_digits_end(scan->at, scan->end);
        if (!digits)
            return scan_expected(scan, "a digit after the decimal point");
        scan->at = digits;
    }
    scan->at++; /* e or E: nothing else is left that can be wrong */
    scan->at += scan->at < scan->end && (*scan->at == '+' || *scan->at == '-');
    return scan_expected(scan, "a digit in the exponent");
}

bool scan_number(struct scan *scan, bool *integer)
{
    const char *end = number_end(scan->at, scan->end, integer);
    if (!end)
        return explain_number(scan);
    scan->at = end;
    return true;
}

bool scan_word(struct scan *scan)
{
    static const char *const words[] = {"true", "false", "null"};
    size_t len = word_len(scan);
    for (int i = 0; i < 3; i++)
        if (strlen(words[i]) == len && memcmp(words[i], scan->at, len) == 0) {
            scan->at += len;
            return true;
        }
    return false;
}

bool integer_is_inexact(const char *text, size_t len)
{
    static const char limit[] = "9007199254740992"; /* 2^53 */
    bool minus = *text == '-';
    text += minus;
    len -= minus;
    return len > 16 || (len == 16 && memcmp(text, limit, 16) > 0);
}

size_t special_len(const char *at, const char *end)
{
    static const char *const words[] = {"\"NaN\"", "\"Infinity\"", "\"-Infinity\""};
    for (int i = 0; i < 3; i++) {
        size_t len = strlen(words[i]);
        if ((size_t)(end - at) >= len && memcmp(at, words[i], len) == 0)
            return len;
    }
    return 0;
}
