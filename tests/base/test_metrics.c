// SPDX-License-Identifier: Apache-2.0
/* test_metrics.c: counting, and the Prometheus text format. */
#include "metrics.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *print(void)
{
    struct buf buf;
    buf_init(&buf, 1 << 20);
    metrics_print(&buf);
    metrics_print_build(&buf, "0.1.0", "avx2");
    buf_putc(&buf, '\0');
    cr_assert_not(buf.failed);
    return buf.data;
}

/* Whether the text has this line. */
static bool has_line(const char *text, const char *line)
{
    size_t len = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at++)
        if ((at == text || at[-1] == '\n') && at[len] == '\n')
            return true;
    return false;
}

Test(metrics, counts)
{
    metric_add(METRIC_jobs_running, 3);
    metric_add(METRIC_jobs_running, -2);
    metric_add(METRIC_plan_hits, 7);
    metric_problem(ERR_malformed_json);
    metric_problem(ERR_deadline);
    metric_problem(ERR_deadline);
    cr_assert_eq(metric_get(METRIC_jobs_running), 1);
    char *text = print();
    cr_assert(has_line(text, "posenc_jobs_running 1"));
    cr_assert(has_line(text, "posenc_plan_cache_lookups_total{result=\"hit\"} 7"));
    cr_assert(has_line(text, "posenc_plan_cache_lookups_total{result=\"miss\"} 0"));
    cr_assert(has_line(text, "posenc_problems_total{type=\"malformed-json\"} 1"));
    cr_assert(has_line(text, "posenc_problems_total{type=\"deadline\"} 2"));
    cr_assert(has_line(text, "posenc_build_info{version=\"0.1.0\",kernels=\"avx2\"} 1"));
    free(text);
}

Test(metrics, a_problem_of_each_code_has_its_row)
{
    for (enum err_code code = 0; code < ERR_CODES_N; code++) {
        for (enum err_code times = 0; times <= code; times++)
            metric_problem(code);
    }
    char *text = print();
    for (enum err_code code = 0; code < ERR_CODES_N; code++) {
        char line[100];
        snprintf(line, sizeof line, "posenc_problems_total{type=\"%s\"} %d", err_slug(code),
                 (int)code + 1);
        cr_assert(has_line(text, line), "%s", line);
    }
    free(text);
}

Test(metrics, requests_fill_totals_and_histogram)
{
    metric_request(200, 99999);
    metric_request(204, 100000);
    metric_request(304, 100001);
    metric_request(404, 2000000);
    metric_request(503, 60000000000);
    char *text = print();
    cr_assert(has_line(text, "posenc_requests_total{class=\"2xx\"} 2"));
    cr_assert(has_line(text, "posenc_requests_total{class=\"3xx\"} 1"));
    cr_assert(has_line(text, "posenc_requests_total{class=\"4xx\"} 1"));
    cr_assert(has_line(text, "posenc_requests_total{class=\"5xx\"} 1"));
    cr_assert(has_line(text, "posenc_request_duration_seconds_bucket{le=\"0.0001\"} 2"));
    cr_assert(has_line(text, "posenc_request_duration_seconds_bucket{le=\"0.00025\"} 3"));
    cr_assert(has_line(text, "posenc_request_duration_seconds_bucket{le=\"0.001\"} 3"));
    cr_assert(has_line(text, "posenc_request_duration_seconds_bucket{le=\"0.0025\"} 4"));
    cr_assert(has_line(text, "posenc_request_duration_seconds_bucket{le=\"10\"} 4"));
    cr_assert(has_line(text, "posenc_request_duration_seconds_bucket{le=\"+Inf\"} 5"));
    cr_assert(has_line(text, "posenc_request_duration_seconds_count 5"));
    cr_assert(has_line(text, "posenc_request_duration_seconds_sum 60.002300000"));
    free(text);
}

/* The family a sample or a # line belongs to. */
static void family_of(const char *line, char *out, size_t size)
{
    static const char *const suffixes[] = {"_bucket", "_sum", "_count"};
    const char *name = line[0] == '#' ? line + 7 : line;
    snprintf(out, size, "%.*s", (int)strcspn(name, "{ "), name);
    size_t len = strlen(out);
    for (int i = 0; i < 3; i++) {
        size_t tail = strlen(suffixes[i]);
        if (strstr(out, "duration") && len > tail && strcmp(out + len - tail, suffixes[i]) == 0)
            out[len - tail] = '\0';
    }
}

Test(metrics, every_line_is_prometheus_text)
{
    regex_t sample, comment;
    regcomp(&sample,
            "^posenc_[a-z_]+(\\{[a-z]+=\"[^\"\\\\]*\"(,[a-z]+=\"[^\"\\\\]*\")*\\})? "
            "-?[0-9]+(\\.[0-9]+)?$",
            REG_EXTENDED | REG_NOSUB);
    regcomp(&comment,
            "^# (HELP posenc_[a-z_]+ [A-Z0-9].*|TYPE posenc_[a-z_]+ "
            "(counter|gauge|histogram))$",
            REG_EXTENDED | REG_NOSUB);
    char *text = print(), *rest = text, *line;
    char family[100] = "";
    while ((line = strsep(&rest, "\n")) && rest) {
        char name[100];
        family_of(line, name, sizeof name);
        bool head = strncmp(line, "# HELP", 6) == 0;
        cr_assert_eq(regexec(line[0] == '#' ? &comment : &sample, line, 0, NULL, 0), 0, "%s", line);
        cr_assert(head || strcmp(name, family) == 0, "stands outside its family: %s", line);
        if (!head)
            continue;
        snprintf(family, sizeof family, "%s", name);
        char again[120];
        snprintf(again, sizeof again, "# HELP %s ", family);
        cr_assert_null(strstr(rest, again), "a family stands twice: %s", line);
        char type[120];
        snprintf(type, sizeof type, "# TYPE %s ", family);
        cr_assert_eq(strncmp(rest, type, strlen(type)), 0, "no type behind: %s", line);
    }
    cr_assert_str_eq(line, "", "the text ends with a line feed");
    regfree(&sample);
    regfree(&comment);
    free(text);
}

static void *count_many(void *unused)
{
    for (int i = 0; i < 100000; i++)
        metric_add(METRIC_elements, 2);
    return unused;
}

Test(metrics, counts_from_many_threads)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, count_many, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(metric_get(METRIC_elements), 800000);
}
