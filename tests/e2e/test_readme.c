// SPDX-License-Identifier: Apache-2.0
/*
 * test_readme.c: every command in a console block of README.md is run against the daemon, as a
 * shell runs it, and prints what stands below it, byte for byte.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define TEXT_MAX ((size_t)1 << 20)

static struct e2e_daemon served;

static void start(void)
{
    e2e_start(&served, NULL);
    setenv("U", served.url, 1);
}

static void stop(void)
{
    e2e_stop(&served);
}

TestSuite(readme, .init = start, .fini = stop, .timeout = 60);

static char *read_all(FILE *file)
{
    char *text = malloc(TEXT_MAX + 1);
    cr_assert(file && text);
    text[fread(text, 1, TEXT_MAX, file)] = '\0';
    return text;
}

static void expect_output(const char *command, const char *expected)
{
    char line[4096];
    snprintf(line, sizeof line, "%s 2>/dev/null", command);
    FILE *shell = popen(line, "r"); // NOLINT(cert-env33-c): the README is for shells
    char *output = read_all(shell);
    cr_expect_eq(pclose(shell), 0, "%s fails", command);
    cr_expect_str_eq(output, expected, "%s\nprints\n%s\nbut README.md has\n%s", command, output,
                     expected);
    free(output);
}

/* Runs the commands of one block, which ends at `end`; returns how many there are. */
static size_t run_block(char *block, char *end)
{
    size_t n = 0;

    *end = '\0';
    for (char *command = block; command < end; n++) {
        cr_assert_eq(strncmp(command, "$ ", 2), 0, "no command: %.60s", command);
        char *output = strchr(command, '\n'), *next = strstr(output, "\n$ ");
        *output++ = '\0';
        char *rest = next ? next + 1 : end, kept = *rest;
        *rest = '\0';
        expect_output(command + 2, output);
        *rest = kept;
        command = rest;
    }
    return n;
}

Test(readme, examples_print_what_stands_there)
{
    static const char fence[] = "```console\n";
    FILE *file = fopen("README.md", "r");
    char *text = read_all(file);
    size_t n = 0;

    for (char *block = text; (block = strstr(block, fence));) {
        block += sizeof fence - 1;
        char *end = strstr(block, "```");
        cr_assert(end, "a block without an end");
        n += run_block(block, end);
        block = end + 1;
    }
    cr_expect_geq(n, 5, "only %zu examples", n);
    free(text);
    fclose(file);
}
