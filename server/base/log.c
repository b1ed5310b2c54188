// SPDX-License-Identifier: Apache-2.0
/*
 * log.c: lines of ASCII, whatever the values hold: everything else is escaped as \uXXXX (bytes that
 * are not UTF-8 as \ufffd), so that neither a line break nor a terminal's control sequence can get
 * into the log. Each value that does not fit any more is cut at a character.
 */
#include "log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "utf8.h"

#define END_BYTES 2 /* kept free for the closing brace and the line feed */

static enum log_format chosen = LOG_TEXT;

void log_set_format(enum log_format format)
{
    chosen = format;
}

bool log_is_on(void)
{
    return chosen != LOG_OFF;
}

/* Appends all of it, if `spare` more bytes will still fit after it. */
static bool put(struct log_line *line, const char *text, size_t len, size_t spare)
{
    if (len + spare > LOG_LINE_MAX - END_BYTES - line->len)
        return false;
    memcpy(line->text + line->len, text, len);
    line->len += (unsigned)len;
    return true;
}

__attribute__((format(printf, 3, 4))) static bool put_format(struct log_line *line, size_t spare,
                                                             const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return len >= 0 && (size_t)len < sizeof text && put(line, text, (size_t)len, spare);
}

/* One character in quotes; returns the length of its escape in `out`. */
static size_t escape(uint32_t code, char out[16])
{
    if (code == '"' || code == '\\')
        return (size_t)snprintf(out, 16, "\\%c", (char)code);
    if (code >= 0x20 && code < 0x7f)
        return (size_t)snprintf(out, 16, "%c", (char)code);
    if (code < 0x10000)
        return (size_t)snprintf(out, 16, "\\u%04" PRIx32, code);
    return (size_t)snprintf(out, 16, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd7c0 + (code >> 10),
                            0xdc00 + (code & 0x3ff));
}

/* A quoted value; the opening quote is there and the closing one has its place. */
static void put_escaped(struct log_line *line, const char *value)
{
    size_t left = strlen(value);
    while (left > 0) {
        uint32_t code;
        size_t n = utf8_decode(value, left, &code);
        char text[16];
        size_t len = escape(n ? code : 0xfffd, text);
        if (!put(line, text, len, 1))
            break;
        value += n ? n : 1;
        left -= n ? n : 1;
    }
    put(line, "\"", 1, 0);
}

/* Whether logfmt can show the value without quotes. */
static bool is_plain(const char *value)
{
    if (value[0] == '\0')
        return false;
    for (const char *c = value; *c; c++)
        if (*c <= ' ' || *c >= 0x7f || *c == '"' || *c == '=' || *c == '\\')
            return false;
    return true;
}

void log_str(struct log_line *line, const char *key, const char *value)
{
    if (chosen == LOG_TEXT && is_plain(value) && strlen(value) < 200)
        put_format(line, 0, "%s%s=%s", line->len ? " " : "", key, value);
    else if (chosen == LOG_TEXT && put_format(line, 1, "%s%s=\"", line->len ? " " : "", key))
        put_escaped(line, value);
    else if (chosen == LOG_JSON && put_format(line, 1, "%c\"%s\":\"", line->len ? ',' : '{', key))
        put_escaped(line, value);
}

void log_int(struct log_line *line, const char *key, int64_t value)
{
    if (chosen == LOG_TEXT)
        put_format(line, 0, "%s%s=%" PRId64, line->len ? " " : "", key, value);
    else if (chosen == LOG_JSON)
        put_format(line, 0, "%c\"%s\":%" PRId64, line->len ? ',' : '{', key, value);
}

void log_begin(struct log_line *line, const char *event)
{
    line->len = 0;
    struct timespec now;
    struct tm utc;
    char time[40];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t len = strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(time + len, sizeof time - len, ".%03ldZ", now.tv_nsec / 1000000);
    log_str(line, "time", time);
    log_str(line, "event", event);
}

void log_end(struct log_line *line)
{
    if (chosen == LOG_OFF)
        return;
    if (chosen == LOG_JSON)
        line->text[line->len++] = '}';
    line->text[line->len++] = '\n';
    /* A log that cannot be written is no reason to fail a request. */
    ssize_t written = write(STDERR_FILENO, line->text, line->len);
    (void)written;
}
