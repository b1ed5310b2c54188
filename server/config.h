// SPDX-License-Identifier: Apache-2.0
/*
 * config.h: the options of the daemon (options.def): from flags, then from the environment, then
 * from defaults.
 */
#ifndef POSENCD_CONFIG_H
#define POSENCD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CONFIG_LIST_MAX 16

struct config_list {
    const char *at[CONFIG_LIST_MAX];
    size_t n;
};

/* TEXT, LOG, URL, ARGUMENT: what was given (URL, ARGUMENT: or NULL); ARGUMENTS: all that was; the
 * others: a number. SWITCH, ACTION: 1 if asked for. */
#define CONFIG_TEXT      const char *
#define CONFIG_LOG       const char *
#define CONFIG_COUNT     int64_t
#define CONFIG_SIZE      int64_t
#define CONFIG_SECONDS   int64_t
#define CONFIG_SWITCH    int64_t
#define CONFIG_ACTION    int64_t
#define CONFIG_URL       const char *
#define CONFIG_ARGUMENT  const char *
#define CONFIG_ARGUMENTS struct config_list

enum {
#define OPTION(field, name, kind, fallback, min, max, unit, help) CONFIG_ROW_##field,
#include "options.def"
#undef OPTION
    CONFIG_OPTIONS_N
};

struct config {
#define OPTION(field, name, kind, fallback, min, max, unit, help) CONFIG_##kind field;
#include "options.def"
#undef OPTION
    const char *origin[CONFIG_OPTIONS_N]; /* "flag", "environment" or "default", by row */
};

/* Texts point into `arguments` and the environment. False after saying on stderr which option is
 * wrong, its range and what was given. Zero workers and queue, and a healthcheck of "", are
 * replaced by what they mean. */
bool config_read(struct config *config, int arguments_n, char *const *arguments);
void config_print(FILE *out, const struct config *config); /* value and origin of each */
void config_help(FILE *out);                               /* at most 80 columns */

#endif
