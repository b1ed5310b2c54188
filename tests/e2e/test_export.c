// SPDX-License-Identifier: Apache-2.0
/*
 * test_export.c: posencd --export-fixtures and /v1/fixtures.tar as people use them: with sha256sum,
 * tar and cmp. What is in a folder already is never replaced.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

static struct e2e_daemon service;
static char work[] = "/tmp/posencd-export-XXXXXX";

static void start(void)
{
    e2e_start(&service, NULL);
    cr_assert(mkdtemp(work));
    setenv("WORK", work, 1);
    setenv("U", service.url, 1);
}

/* Exit status of a shell command, run in the folder. */
static int shell(const char *command)
{
    char line[1000];
    snprintf(line, sizeof line, "cd \"$WORK\" && %s", command);
    int status = system(line); // NOLINT(cert-env33-c): the tools of users
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void stop(void)
{
    cr_expect_eq(shell("rm -rf \"$WORK\""), 0);
    e2e_stop(&service);
}

TestSuite(export, .init = start, .fini = stop, .timeout = 120);

#define PROGRAM "\"$POSENCD\" "

Test(export, writes_what_the_archive_holds)
{
    cr_expect_eq(shell(PROGRAM "--export-fixtures out"), 0);
    cr_expect_eq(shell("cd out && sha256sum -c --quiet SHA256SUMS"), 0);
    cr_expect_eq(shell("test $(ls -A out | wc -l) = $(($(wc -l <out/SHA256SUMS) + 1))"), 0,
                 "more files than SHA256SUMS has lines");
    cr_expect_eq(shell("curl -sf $U/v1/fixtures.tar | tar xf - && diff -r out posenc-fixtures"), 0);
    cr_expect_eq(shell("curl -sf --compressed $U/v1/fixtures.tar | sha256sum >a && "
                       "curl -sf $U/v1/fixtures.tar | sha256sum >b && cmp a b"),
                 0);
    cr_expect_eq(shell("cmp out/SHA256SUMS \"$OLDPWD/proto/fixtures.sha256\""), 0,
                 "this daemon's fixtures are not those of the repository");
}

Test(export, keeps_what_is_there)
{
    cr_expect_eq(shell(PROGRAM "--export-fixtures out"), 0);
    cr_expect_eq(shell("stat -c %i out/* >before && sleep 0.01 && " PROGRAM
                       "--export-fixtures out && stat -c %i out/* | cmp - before"),
                 0, "files that are right are written again");
    cr_expect_eq(shell("echo mine >out/t5-b32.csv && rm out/alibi-h8.json"), 0);
    cr_expect_eq(shell(PROGRAM "--export-fixtures out 2>says"), 1);
    cr_expect_eq(shell("grep -q 't5-b32.csv: differs' says && test $(wc -l <says) = 1"), 0);
    cr_expect_eq(shell("test \"$(cat out/t5-b32.csv)\" = mine && test -f out/alibi-h8.json"), 0);
}

static const struct {
    const char *command, *says;
    int status;
} failures[] = {
    {"--export-fixtures nowhere/at/all", "No such file or directory", 1},
    {"--export-fixtures says", "Not a directory", 1},
    {"--max-text-elements 100 --export-fixtures out", "the limit is 100", 70},
    {"--export-fixtures", "--export-fixtures wants a value", 2},
};

Test(export, says_why_it_fails)
{
    char command[300];

    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        snprintf(command, sizeof command, PROGRAM "%s 2>says", failures[i].command);
        cr_expect_eq(shell(command), failures[i].status, "%s", failures[i].command);
        snprintf(command, sizeof command, "grep -q -- '%s' says", failures[i].says);
        cr_expect_eq(shell(command), 0, "%s", failures[i].command);
    }
}
