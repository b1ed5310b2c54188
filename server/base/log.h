// SPDX-License-Identifier: Apache-2.0
/*
 * log.h: one structured line per event on stderr, as key=value text or as JSON. A line is one
 * write(2); values are escaped, so that no request can forge a line. Lines over LOG_LINE_MAX are
 * cut.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_LINE_MAX 4096

enum log_format { LOG_TEXT, LOG_JSON, LOG_OFF };

bool log_is_on(void);
void log_set_format(enum log_format format); /* before threads; default LOG_TEXT */

struct log_line {
    char text[LOG_LINE_MAX];
    unsigned len;
};

/* log_begin(&l, "request"); log_str(&l, "path", p); log_int(&l, "status", 200); log_end(&l); */
void log_begin(struct log_line *line, const char *event);
void log_str(struct log_line *line, const char *key, const char *value);
void log_int(struct log_line *line, const char *key, int64_t value);
void log_end(struct log_line *line);

#endif
