// SPDX-License-Identifier: Apache-2.0
/*
 * err.c: the columns of ERR_MAP, and appending to a list of mistakes. How a list becomes an answer
 * is the api layer's business.
 */
#include "err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct row {
    int status;
    const char *slug, *title;
} rows[ERR_CODES_N] = {
#define ERR_ROW(name, slug, status, title) [ERR_##name] = {status, slug, title},
    ERR_MAP(ERR_ROW)
#undef ERR_ROW
};

int err_status(enum err_code code)
{
    assert(code < ERR_CODES_N);
    return rows[code].status;
}

const char *err_slug(enum err_code code)
{
    assert(code < ERR_CODES_N);
    return rows[code].slug;
}

const char *err_title(enum err_code code)
{
    assert(code < ERR_CODES_N);
    return rows[code].title;
}

/* Drops a UTF-8 character whose end was cut off: text[0..size) was filled to the brim. */
static void drop_cut_character(char *text, size_t size)
{
    size_t start = size - 1;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t wanted = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (size - 1 - (start - 1) < wanted)
        text[start - 1] = '\0';
}

static void fill(char *out, size_t size, const char *format, va_list args)
{
    int len = vsnprintf(out, size, format, args);
    if (len > 0 && (size_t)len >= size)
        drop_cut_character(out, size);
}

__attribute__((format(printf, 3, 4))) static void put(char *out, size_t size, const char *format,
                                                      ...)
{
    va_list args;
    va_start(args, format);
    fill(out, size, format, args);
    va_end(args);
}

static struct err_item *append(struct err *err, enum err_code code, const char *where)
{
    size_t i = err->n++;
    if (i >= ERR_ITEMS_MAX)
        return NULL;
    struct err_item *item = &err->item[i];
    *item = (struct err_item){.code = code};
    put(item->where, sizeof item->where, "%s", where ? where : "");
    return item;
}

bool err_add(struct err *err, enum err_code code, const char *where, const char *hint,
             const char *format, ...)
{
    struct err_item *item = append(err, code, where);
    if (!item)
        return false;
    put(item->hint, sizeof item->hint, "%s", hint ? hint : "");
    va_list args;
    va_start(args, format);
    fill(item->detail, sizeof item->detail, format, args);
    va_end(args);
    return false;
}

bool err_add_at(struct err *err, enum err_code code, const char *where, size_t line, size_t column,
                const char *format, ...)
{
    struct err_item *item = append(err, code, where);
    if (!item)
        return false;
    item->line = line;
    item->column = column;
    va_list args;
    va_start(args, format);
    fill(item->detail, sizeof item->detail, format, args);
    va_end(args);
    return false;
}

void err_fact(struct err *err, const char *name, const char *text)
{
    if (text && err->facts_n < ERR_FACTS_MAX)
        err->facts[err->facts_n++] = (struct err_fact){name, text};
}
