// SPDX-License-Identifier: Apache-2.0
/*
 * accept.c: reads the fields Accept, Accept-Encoding and Accept-Language: lists of ranges with
 * qualities. What there is to choose from is the caller's business.
 */
#include "accept.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* How closely a range fits the type: 0 not at all, 1 any type, 2 any subtype, 3 exactly. */
static int range_fit(const char *range, size_t len, const char *type)
{
    size_t main_len = (size_t)(strchr(type, '/') - type) + 1;

    if (len == 3 && memcmp(range, "*/*", 3) == 0)
        return 1;
    if (len == main_len + 1 && range[main_len] == '*' && strncasecmp(range, type, main_len) == 0)
        return 2;
    return len == strlen(type) && strncasecmp(range, type, len) == 0 ? 3 : 0;
}

/* The same for a content coding: 1 any, 2 exactly. */
static int coding_fit(const char *range, size_t len, const char *coding)
{
    if (len == 1 && *range == '*')
        return 1;
    return len == strlen(coding) && strncasecmp(range, coding, len) == 0 ? 2 : 0;
}

/* The same for a language: 1 any, 2 a variety of it, 3 exactly. */
static int language_fit(const char *range, size_t len, const char *language)
{
    size_t main_len = strlen(language);

    if (len > main_len && range[main_len] == '-' && strncasecmp(range, language, main_len) == 0)
        return 2;
    return len == main_len && strncasecmp(range, language, len) == 0 ? 3
           : len == 1 && *range == '*'                               ? 1
                                                                     : 0;
}

/* "0", "0.5", "1.000" in thousandths; -1 if it is no qvalue. */
static int read_quality(const char *text, size_t len)
{
    int quality = 0;

    if (len == 0 || len > 5 || (text[0] != '0' && text[0] != '1') || (len > 1 && text[1] != '.'))
        return -1;
    for (size_t i = 0, unit = 1000; i < len; i++) {
        if (i == 1)
            continue;
        if (text[i] < '0' || text[i] > '9')
            return -1;
        quality += (text[i] - '0') * (int)unit;
        unit /= 10;
    }
    return quality <= ACCEPT_BEST ? quality : -1;
}

static const char *trim(const char *text, size_t *len)
{
    while (*len > 0 && (*text == ' ' || *text == '\t'))
        text++, --*len;
    while (*len > 0 && (text[*len - 1] == ' ' || text[*len - 1] == '\t'))
        --*len;
    return text;
}

/* The quality among the parameters after a range, -1 if it is not well-formed. */
static int element_quality(const char *parameters, const char *end)
{
    while (parameters < end) {
        const char *name = parameters + 1;
        const char *next = memchr(name, ';', (size_t)(end - name));
        size_t len = (size_t)((next ? next : end) - name);
        name = trim(name, &len);
        if (len >= 2 && (name[0] == 'q' || name[0] == 'Q') && name[1] == '=')
            return read_quality(name + 2, len - 2);
        parameters = next ? next : end;
    }
    return ACCEPT_BEST;
}

/* The quality of the element that fits best, `unnamed` if none does. */
static int list_quality(const char *list, const char *what,
                        int (*fit_of)(const char *range, size_t len, const char *what), int unnamed)
{
    int best_fit = 0, quality = unnamed;

    for (const char *element = list; *element;) {
        const char *end = element + strcspn(element, ",");
        const char *parameters = memchr(element, ';', (size_t)(end - element));
        parameters = parameters ? parameters : end;
        size_t len = (size_t)(parameters - element);
        const char *range = trim(element, &len);
        int fit = fit_of(range, len, what);
        int q = element_quality(parameters, end);
        if (fit > best_fit && q >= 0) {
            best_fit = fit;
            quality = q;
        }
        element = *end ? end + 1 : end;
    }
    return quality;
}

int accept_quality(const char *accept, const char *type)
{
    if (!accept || accept[strspn(accept, " \t,")] == '\0')
        return ACCEPT_BEST;
    return list_quality(accept, type, range_fit, 0);
}

int accept_coding(const char *accept, const char *coding)
{
    return list_quality(accept, coding, coding_fit, ACCEPT_UNNAMED);
}

int accept_language(const char *accept, const char *language)
{
    return list_quality(accept, language, language_fit, ACCEPT_UNNAMED);
}
