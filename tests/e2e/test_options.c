// SPDX-License-Identifier: Apache-2.0
/* test_options.c: the command line: what is printed, what is refused and how, the log. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

TestSuite(options, .timeout = 60);

#define ARGUMENTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static char out[65536];

Test(options, help_fits_a_terminal_and_names_all)
{
    static const char *const names[] = {
        "--listen", "--workers",  "--max-body",   "--max-elements", "--max-text-elements",
        "--queue",  "--deadline", "--log-format", "--ready-fd",     "--print-config",
        "--help",   "--version",  "POSENC_",
    };

    cr_expect_eq(e2e_run(ARGUMENTS("--help"), NULL, out, sizeof out), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        cr_expect_not_null(strstr(out, names[i]), "%s", names[i]);
    for (const char *line = out; *line; line += strcspn(line, "\n") + 1)
        cr_expect_leq(strcspn(line, "\n"), 80, "%.*s", (int)strcspn(line, "\n"), line);
}

Test(options, version_is_one_line)
{
    cr_expect_eq(e2e_run(ARGUMENTS("--version"), NULL, out, sizeof out), 0);
    cr_expect_eq(strncmp(out, "posencd ", 8), 0, "%s", out);
    cr_expect_eq(strchr(out, '\n'), out + strlen(out) - 1);
}

/* Value and origin of an option in what --print-config has printed. */
static void expect_value(const char *name, const char *value, const char *origin)
{
    char line[128], seen_name[32], seen_value[64], seen_origin[32];

    for (const char *at = out; *at; at += strcspn(at, "\n") + 1) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        cr_assert_eq(sscanf(line, "%31s %63s %31s", seen_name, seen_value, seen_origin), 3);
        if (strcmp(seen_name, name) == 0) {
            cr_expect_str_eq(seen_value, value, "%s", name);
            cr_expect_str_eq(seen_origin, origin, "%s", name);
            return;
        }
    }
    cr_expect_fail("no %s in %s", name, out);
}

Test(options, flags_come_before_the_environment_before_defaults)
{
    cr_expect_eq(
        e2e_run(
            ARGUMENTS("--print-config", "--max-body=10MiB", "--workers", "3", "--deadline", "0.5"),
            ARGUMENTS("POSENC_MAX_BODY=1M", "POSENC_MAX_ELEMENTS=1000", "POSENC_LOG_FORMAT=json"),
            out, sizeof out),
        0);
    expect_value("listen", "127.0.0.1:8080", "default");
    expect_value("workers", "3", "flag");
    expect_value("queue", "6", "default"); /* 2 x workers */
    expect_value("max-body", "10M", "flag");
    expect_value("max-elements", "1000", "environment");
    expect_value("max-text-elements", "4M", "default");
    expect_value("deadline", "0.5", "flag");
    expect_value("log-format", "json", "environment");
    expect_value("ready-fd", "-1", "default");
}

static const struct {
    const char *arguments[3], *environment, *says;
} refused[] = {
    {{"--max-bdy", "1"}, NULL, "\"--max-bdy\" is not an option; did you mean --max-body?"},
    {{"serve"}, NULL, "\"serve\" is not an option; --help lists them"},
    {{"-h"}, NULL, "\"-h\" is not an option; --help lists them"},
    {{"--help=yes"}, NULL, "\"--help=yes\" is not an option"},
    {{"--workers"}, NULL, "--workers wants a value: THREADS"},
    {{"--workers", "257"}, NULL, "--workers (from flag): \"257\" is not a number from 0 to 256"},
    {{"--workers", "-1"}, NULL, "is not a number from 0 to 256"},
    {{"--workers", "+1"}, NULL, "is not a number from 0 to 256"},
    {{"--workers", "1.5"}, NULL, "is not a number from 0 to 256"},
    {{"--workers", "1K"}, NULL, "is not a number from 0 to 256"},
    {{"--workers", ""}, NULL, "is not a number from 0 to 256"},
    {{"--max-body", "0x1000"}, NULL, "is not a number from 1K to 16G, with K, M or G"},
    {{"--max-body", "1023"}, NULL, "is not a number from 1K to 16G"},
    {{"--max-body", "17G"}, NULL, "is not a number from 1K to 16G"},
    {{"--max-body", "99999999999999999999"}, NULL, "is not a number from 1K to 16G"},
    {{"--max-body", "1KK"}, NULL, "is not a number from 1K to 16G"},
    {{"--deadline", "0"}, NULL, "is not a number from 0.001 to 3600 seconds"},
    {{"--deadline", "nan"}, NULL, "is not a number from 0.001 to 3600 seconds"},
    {{"--deadline", "10s"}, NULL, "is not a number from 0.001 to 3600 seconds"},
    {{"--log-format", "xml"}, NULL, "\"xml\" is not one of text, json, off"},
    {{"--listen="}, NULL, "\"\" is not ADDRESS:PORT"},
    {{NULL}, "POSENC_QUEUE=many", "--queue (from environment): \"many\" is not a number from 0 to"},
};

Test(options, wrong_ones_are_named_with_their_range)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const char *environment[] = {refused[i].environment, NULL};
        int status = e2e_run(refused[i].arguments, environment, out, sizeof out);
        cr_expect_eq(status, 2, "%s: %d", refused[i].says, status);
        cr_expect_not_null(strstr(out, refused[i].says), "%s: %s", refused[i].says, out);
    }
}

Test(options, place_that_cannot_be_listened_on)
{
    struct e2e_daemon daemon;
    char taken[32];

    e2e_start(&daemon, NULL);
    snprintf(taken, sizeof taken, "127.0.0.1:%d", daemon.port);
    cr_expect_eq(e2e_run(ARGUMENTS("--listen", taken), NULL, out, sizeof out), 1);
    cr_expect_not_null(strstr(out, "in use"), "%s", out);
    cr_expect_eq(e2e_run(ARGUMENTS("--listen", "localhost:80"), NULL, out, sizeof out), 1);
    cr_expect_not_null(strstr(out, "numeric address"), "%s", out);
    e2e_stop(&daemon);
}

/* The daemon's log of a few requests, as it goes to the standard error stream of this process. */
static void read_log(const char *format)
{
    char path[] = "/tmp/posencd-log-XXXXXX";
    int log = mkstemp(path), keep = dup(STDERR_FILENO);
    struct e2e_daemon daemon;

    cr_assert_geq(log, 0);
    dup2(log, STDERR_FILENO);
    e2e_start(&daemon, ARGUMENTS("--log-format", format));
    struct e2e_answer good =
        e2e_request(&daemon, "GET", "/v1", ARGUMENTS("Request-Id: abc"), NULL, 0);
    struct e2e_answer bad = e2e_request(&daemon, "POST", "/v1/tab%22le%0A", NULL, "{}", 2);
    e2e_answer_free(&good);
    e2e_answer_free(&bad);
    e2e_stop(&daemon);
    dup2(keep, STDERR_FILENO);
    ssize_t len = pread(log, out, sizeof out - 1, 0);
    out[len > 0 ? len : 0] = '\0';
    close(log);
    close(keep);
    unlink(path);
}

Test(options, log_has_one_line_per_request)
{
    size_t requests = 0;

    read_log("json");
    for (char *line = out; *line; line += strlen(line) + 1) {
        line[strcspn(line, "\n")] = '\0';
        json_t *entry = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        cr_assert_not_null(entry, "%s", line);
        const char *event = json_string_value(json_object_get(entry, "event"));
        cr_assert_not_null(event, "%s", line);
        if (strcmp(event, "request") == 0) {
            bool first = requests++ == 0;
            const char *id = json_string_value(json_object_get(entry, "id"));
            const char *target = json_string_value(json_object_get(entry, "target"));
            const char *method = json_string_value(json_object_get(entry, "method"));
            const char *problem = json_string_value(json_object_get(entry, "problem"));
            cr_expect_str_eq(target, first ? "/v1" : "/v1/tab%22le%0A");
            cr_expect_str_eq(method, first ? "GET" : "POST");
            cr_expect_eq(json_integer_value(json_object_get(entry, "status")), first ? 200 : 404);
            cr_expect_str_eq(first ? id : problem, first ? "abc" : "not-found");
        }
        json_decref(entry);
    }
    cr_expect_eq(requests, 2);
}

Test(options, log_can_be_off)
{
    read_log("off");
    cr_expect_str_eq(out, "");
}
