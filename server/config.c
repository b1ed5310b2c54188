// SPDX-License-Identifier: Apache-2.0
/* config.c: see config.h. Everything is read from the rows of options.def; no option has code. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "posenc.h"

/* From ACTION on: asked for on the command line only. */
enum kind { TEXT, LOG, COUNT, SIZE, SECONDS, SWITCH, ACTION, URL, ARGUMENT, ARGUMENTS };

static const struct row {
    const char *name, *fallback, *unit, *help;
    enum kind kind;
    size_t offset; /* in struct config */
    int64_t min, max;
} rows[] = {
#define OPTION(field, name, kind, fallback, min, max, unit, help)                                  \
    {name, fallback, unit, help, kind, offsetof(struct config, field), min, max},
#include "options.def"
#undef OPTION
};
#define ROWS_N (sizeof rows / sizeof rows[0])

#define HELP_COLUMNS 78
#define HELP_INDENT  6

/* ---- Values -------------------------------------------------------------------------------- */

static bool is_setting(const struct row *row)
{
    return row->kind < ACTION;
}

/* The text an option has: `given` on the command line, or the environment's, or the default. */
static const char *row_text(const struct row *row, const char *given, const char **origin)
{
    char variable[64] = "POSENC_";
    size_t len = strlen(variable);

    *origin = "flag";
    if (given)
        return given;
    for (const char *c = row->name; *c && len + 1 < sizeof variable; c++)
        variable[len++] = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    const char *text = is_setting(row) ? getenv(variable) : NULL;
    *origin = text ? "environment" : "default";
    return text ? text : row->fallback;
}

/* Digits, with a unit of 1024^n for SIZE and a fraction for SECONDS, as the number it is kept as.
 */
static bool number_parse(const struct row *row, const char *text, int64_t *value)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    double number =
        row->kind == SECONDS ? 1000 * strtod(text, &end) : (double)strtoll(text, &end, 10);
    const char *unit =
        row->kind == SIZE && *end ? strchr(units, toupper((unsigned char)*end)) : NULL;

    if (unit) {
        for (const char *u = units; u <= unit; u++)
            number *= 1024;
        end += end[1] == 'i' && end[2] == 'B' ? 3 : 1;
    }
    /* Not "+5", " 5", "0x5", "inf". */
    bool plain =
        isdigit((unsigned char)text[0]) || (text[0] == '-' && isdigit((unsigned char)text[1]));
    if (!plain || strpbrk(text, "xX") || *end || errno)
        return false;
    if (number < (double)row->min || number > (double)row->max)
        return false;
    *value = (int64_t)number;
    return true;
}

static bool value_set(struct config *config, const struct row *row, const char *text)
{
    void *field = (char *)config + row->offset;

    switch (row->kind) {
    case LOG:
        if (strcmp(text, "text") != 0 && strcmp(text, "json") != 0 && strcmp(text, "off") != 0)
            return false;
        *(const char **)field = text;
        return true;
    case TEXT:
        *(const char **)field = text;
        return *text != '\0';
    case URL:
    case ARGUMENT:
        *(const char **)field = text;
        return true;
    case ARGUMENTS: /* flags_read() has them all */
        return true;
    case ACTION:
        *(int64_t *)field = *text != '\0';
        return true;
    case SWITCH:
        *(int64_t *)field = strcmp(text, "yes") == 0 || strcmp(text, "1") == 0;
        return *(int64_t *)field || strcmp(text, "no") == 0 || strcmp(text, "0") == 0;
    default:
        return number_parse(row, text, field);
    }
}

/* A number in the form it may be given in. */
static const char *number_print(const struct row *row, int64_t value, char text[32])
{
    static const char *const units[] = {"", "K", "M", "G"};
    size_t unit = 0;

    if (row->kind == SWITCH)
        return value ? "yes" : "no";
    if (row->kind == SECONDS)
        snprintf(text, 32, "%g", (double)value / 1000);
    else {
        while (row->kind == SIZE && unit < 3 && value && value % 1024 == 0) {
            value /= 1024;
            unit++;
        }
        snprintf(text, 32, "%lld%s", (long long)value, units[unit]);
    }
    return text;
}

static void value_refuse(const struct row *row, const char *text, const char *origin)
{
    char low[32], high[32];

    fprintf(stderr, "posencd: --%s (from %s): \"%s\" is not ", row->name, origin, text);
    if (row->kind == LOG)
        fprintf(stderr, "one of text, json, off\n");
    else if (row->kind == TEXT)
        fprintf(stderr, "%s\n", row->unit);
    else if (row->kind == SWITCH)
        fprintf(stderr, "yes or no\n");
    else
        fprintf(stderr, "a number from %s to %s%s\n", number_print(row, row->min, low),
                number_print(row, row->max, high),
                row->kind == SIZE      ? ", with K, M or G for powers of 1024"
                : row->kind == SECONDS ? " seconds"
                                       : "");
}

/* ---- Flags --------------------------------------------------------------------------------- */

static bool name_refuse(const char *argument)
{
    const char *names[ROWS_N], *near = NULL;
    char name[64];

    for (size_t i = 0; i < ROWS_N; i++)
        names[i] = rows[i].name;
    if (strncmp(argument, "--", 2) == 0) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
        near = pe_nearest_name(name, names, ROWS_N);
    }
    fprintf(stderr, "posencd: \"%s\" is not an option; ", argument);
    if (near)
        fprintf(stderr, "did you mean --%s?\n", near);
    else
        fprintf(stderr, "--help lists them\n");
    return false;
}

static const struct row *row_find(const char *argument, size_t *name_len)
{
    if (strncmp(argument, "--", 2) != 0)
        return NULL;
    *name_len = strcspn(argument + 2, "=");
    for (size_t i = 0; i < ROWS_N; i++)
        if (strlen(rows[i].name) == *name_len && memcmp(rows[i].name, argument + 2, *name_len) == 0)
            return &rows[i];
    return NULL;
}

static bool list_add(struct config *config, const struct row *row, const char *text)
{
    struct config_list *list = (struct config_list *)((char *)config + row->offset);

    if (list->n == CONFIG_LIST_MAX) {
        fprintf(stderr, "posencd: --%s is given more than %d times\n", row->name, CONFIG_LIST_MAX);
        return false;
    }
    list->at[list->n++] = text;
    return true;
}

/* Notes the text of each option on the command line: --name text, --name=text. */
static bool flags_read(struct config *config, const char *given[ROWS_N], int n,
                       char *const *arguments)
{
    for (int i = 1; i < n; i++) {
        size_t len;
        const struct row *row = row_find(arguments[i], &len);
        if (!row)
            return name_refuse(arguments[i]);
        const char *equals = arguments[i][2 + len] ? arguments[i] + 3 + len : NULL;
        bool alone = row->kind == ACTION || row->kind == SWITCH;
        if (alone && equals)
            return name_refuse(arguments[i]);
        if (alone)
            given[row - rows] = "yes";
        else if (equals)
            given[row - rows] = equals;
        else if (row->kind == URL && (i + 1 == n || arguments[i + 1][0] == '-'))
            given[row - rows] = "";
        else if (i + 1 < n)
            given[row - rows] = arguments[++i];
        else {
            fprintf(stderr, "posencd: --%s wants a value: %s\n", row->name, row->unit);
            return false;
        }
        if (row->kind == ARGUMENTS && !list_add(config, row, given[row - rows]))
            return false;
    }
    return true;
}

/* Values that stand for others, and those that make no sense together. */
static bool config_resolve(struct config *config)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (config->workers == 0)
        config->workers = processors < 1 ? 1 : processors > 256 ? 256 : processors;
    if (config->queue == 0)
        config->queue = 2 * config->workers;
    if (config->healthcheck && !*config->healthcheck)
        config->healthcheck = config->listen;
    if (config->eval || (!config->data && config->header.n == 0))
        return true;
    fprintf(stderr, "posencd: --%s goes with --eval\n", config->data ? "data" : "header");
    return false;
}

bool config_read(struct config *config, int arguments_n, char *const *arguments)
{
    const char *given[ROWS_N] = {NULL};

    *config = (struct config){0};
    if (!flags_read(config, given, arguments_n, arguments))
        return false;
    for (size_t i = 0; i < ROWS_N; i++) {
        const char *origin, *text = row_text(&rows[i], given[i], &origin);
        config->origin[i] = origin;
        if (!value_set(config, &rows[i], text)) {
            value_refuse(&rows[i], text, origin);
            return false;
        }
    }
    return config_resolve(config);
}

/* ---- Printing ------------------------------------------------------------------------------ */

void config_print(FILE *out, const struct config *config)
{
    for (size_t i = 0; i < ROWS_N; i++) {
        const void *field = (const char *)config + rows[i].offset;
        char text[32];
        if (!is_setting(&rows[i]))
            continue;
        const char *value = rows[i].kind == TEXT || rows[i].kind == LOG
                                ? *(const char *const *)field
                                : number_print(&rows[i], *(const int64_t *)field, text);
        fprintf(out, "%-20s %-22s %s\n", rows[i].name, value, config->origin[i]);
    }
}

/* Words in lines of at most HELP_COLUMNS, each indented. */
static void print_wrapped(FILE *out, const char *text)
{
    size_t column = 0;

    while (*text) {
        size_t len = strcspn(text, " ");
        if (column == 0 || column + 1 + len > HELP_COLUMNS) {
            fprintf(out, "%s%*s", column ? "\n" : "", HELP_INDENT, "");
            column = HELP_INDENT;
        } else {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)len, text);
        column += len;
        text += len + (text[len] == ' ');
    }
    fputc('\n', out);
}

void config_help(FILE *out)
{
    fputs("usage: posencd [--OPTION VALUE]...\n\n"
          "Serves exact positional encodings of transformers over HTTP. An option that is\n"
          "not given is taken from the environment (POSENC_MAX_BODY for --max-body).\n\n",
          out);
    for (size_t i = 0; i < ROWS_N; i++) {
        fprintf(out, "  --%s%s%s", rows[i].name, *rows[i].unit ? " " : "", rows[i].unit);
        if (rows[i].kind != SWITCH && is_setting(&rows[i]))
            fprintf(out, "  (default %s)", rows[i].fallback);
        fputc('\n', out);
        print_wrapped(out, rows[i].help);
    }
}
