// SPDX-License-Identifier: Apache-2.0
/* test_log.c: what a line looks like, and that no value can break out of it. */
#include "log.h"

#include <criterion/criterion.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TIME_RE "20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\.[0-9]{3}Z"

/* What one line with this value looks like on stderr. */
static size_t logged(enum log_format format, const char *value, char *out, size_t size)
{
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    log_set_format(format);
    struct log_line line;
    log_begin(&line, "request");
    log_str(&line, "target", value);
    log_int(&line, "status", -404);
    log_end(&line);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    size_t len = fread(out, 1, size - 1, file);
    fclose(file);
    out[len] = '\0';
    return len;
}

static void assert_matches(const char *text, const char *pattern)
{
    regex_t regex;
    cr_assert_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    cr_assert_eq(regexec(&regex, text, 0, NULL, 0), 0, "%s does not match %s", text, pattern);
    regfree(&regex);
}

Test(log, writes_text_and_json)
{
    char out[LOG_LINE_MAX + 1];
    logged(LOG_TEXT, "/v1/table", out, sizeof out);
    assert_matches(out, "^time=" TIME_RE " event=request target=/v1/table status=-404\n$");
    logged(LOG_JSON, "/v1/table", out, sizeof out);
    assert_matches(out, "^\\{\"time\":\"" TIME_RE
                        "\",\"event\":\"request\",\"target\":\"/v1/table\",\"status\":-404\\}\n$");
    cr_assert_eq(logged(LOG_OFF, "/v1/table", out, sizeof out), 0);
}

static const struct {
    const char *value, *text, *json;
} rows[] = {
    {"", "\"\"", "\"\""},
    {"two words", "\"two words\"", "\"two words\""},
    {"a=b", "\"a=b\"", "\"a=b\""},
    {"say \"hi\"", "\"say \\\"hi\\\"\"", "\"say \\\"hi\\\"\""},
    {"a\\b", "\"a\\\\b\"", "\"a\\\\b\""},
    {"x\nevent=request", "\"x\\u000aevent=request\"", "\"x\\u000aevent=request\""},
    {"\r\t\x1b[31m\x7f", "\"\\u000d\\u0009\\u001b[31m\\u007f\"",
     "\"\\u000d\\u0009\\u001b[31m\\u007f\""},
    {"\xc2\x85\xe2\x80\xa8", "\"\\u0085\\u2028\"", "\"\\u0085\\u2028\""},
    {"\xf0\x9d\x84\x9e", "\"\\ud834\\udd1e\"", "\"\\ud834\\udd1e\""},
    {"\xff\xc3(", "\"\\ufffd\\ufffd(\"", "\"\\ufffd\\ufffd(\""},
};

Test(log, escapes_values)
{
    char out[LOG_LINE_MAX + 1], wanted[200];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        logged(LOG_TEXT, rows[i].value, out, sizeof out);
        snprintf(wanted, sizeof wanted, " target=%s status=-404\n", rows[i].text);
        cr_assert_not_null(strstr(out, wanted), "row %zu: %s", i, out);
        logged(LOG_JSON, rows[i].value, out, sizeof out);
        snprintf(wanted, sizeof wanted, ",\"target\":%s,\"status\":-404}\n", rows[i].json);
        cr_assert_not_null(strstr(out, wanted), "row %zu: %s", i, out);
    }
}

/* Every length around the limit, of bytes that need the longest escapes and of plain ones. */
Test(log, cuts_long_lines_so_that_they_stay_lines)
{
    static const char *const units[] = {"a", " ", "\n", "\"", "\xf0\x9d\x84\x9e"};
    char value[LOG_LINE_MAX + 200], out[2 * LOG_LINE_MAX];
    for (size_t unit = 0; unit < sizeof units / sizeof units[0]; unit++)
        for (size_t times = 300; times * strlen(units[unit]) < LOG_LINE_MAX + 100; times++) {
            value[0] = '\0';
            for (size_t k = 0, n = strlen(units[unit]); k < times; k++)
                memcpy(value + k * n, units[unit], n + 1);
            for (int format = LOG_TEXT; format <= LOG_JSON; format++) {
                size_t len = logged(format, value, out, sizeof out);
                cr_assert_leq(len, LOG_LINE_MAX);
                cr_assert_eq(memchr(out, '\n', len), out + len - 1, "one line feed, at the end");
                const char *end = format == LOG_JSON ? "}\n" : "\n";
                cr_assert_str_eq(out + len - strlen(end), end);
                size_t quotes = 0;
                for (char *c = out; *c; c += 1 + (*c == '\\'))
                    quotes += *c == '"';
                cr_assert_eq(quotes % 2, 0, "a quote is open: %s", out);
            }
        }
}
