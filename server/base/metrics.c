// SPDX-License-Identifier: Apache-2.0
/*
 * metrics.c: the values behind metrics.def, a histogram of request durations, and their print in
 * the Prometheus text format (version 0.0.4). When to count is the callers' business.
 */
#include "metrics.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

static const struct row {
    const char *type, *name, *labels, *help;
} rows[] = {
#define METRIC(id, type, name, labels, help) {#type, "posenc_" name, labels, help},
#include "metrics.def"
#undef METRIC
};

/* Upper bounds of the duration buckets; one more bucket has none. */
static const struct bound {
    uint64_t ns;
    const char *seconds;
} bounds[] = {
    {100000, "0.0001"},  {250000, "0.00025"}, {500000, "0.0005"},  {1000000, "0.001"},
    {2500000, "0.0025"}, {5000000, "0.005"},  {10000000, "0.01"},  {25000000, "0.025"},
    {50000000, "0.05"},  {100000000, "0.1"},  {250000000, "0.25"}, {500000000, "0.5"},
    {1000000000, "1"},   {2500000000, "2.5"}, {5000000000, "5"},   {10000000000, "10"},
};
#define BOUNDS_N (sizeof bounds / sizeof bounds[0])

static atomic_int_fast64_t values[METRICS_N];
static atomic_uint_fast64_t buckets[BOUNDS_N + 1];
static atomic_uint_fast64_t duration_sum_ns;

void metric_add(enum metric metric, int64_t n)
{
    atomic_fetch_add_explicit(&values[metric], n, memory_order_relaxed);
}

int64_t metric_get(enum metric metric)
{
    return atomic_load_explicit(&values[metric], memory_order_relaxed);
}

void metric_request(int status, uint64_t duration_ns)
{
    assert(status >= 200 && status <= 599);
    metric_add(METRIC_requests_2xx + (unsigned)status / 100 - 2, 1);
    size_t i = 0;
    while (i < BOUNDS_N && duration_ns > bounds[i].ns)
        i++;
    atomic_fetch_add_explicit(&buckets[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&duration_sum_ns, duration_ns, memory_order_relaxed);
}

void metric_problem(enum err_code code)
{
    metric_add(METRIC_problem_malformed_json + (unsigned)code, 1);
}

static void print_head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_histogram(struct buf *out)
{
    static const char name[] = "posenc_request_duration_seconds";
    print_head(out, name, "histogram", "Time from the complete head to the end of the answer");
    uint64_t count = 0;
    for (size_t i = 0; i <= BOUNDS_N; i++) {
        count += atomic_load_explicit(&buckets[i], memory_order_relaxed);
        buf_printf(out, "%s_bucket{le=\"%s\"} %" PRIu64 "\n", name,
                   i < BOUNDS_N ? bounds[i].seconds : "+Inf", count);
    }
    uint64_t sum = atomic_load_explicit(&duration_sum_ns, memory_order_relaxed);
    buf_printf(out, "%s_sum %" PRIu64 ".%09" PRIu64 "\n", name, sum / 1000000000, sum % 1000000000);
    buf_printf(out, "%s_count %" PRIu64 "\n", name, count);
}

void metrics_print(struct buf *out)
{
    const char *family = "";
    for (enum metric i = 0; i < METRICS_N; i++) {
        const struct row *row = &rows[i];
        if (strcmp(row->name, family) != 0)
            print_head(out, row->name, row->type, row->help);
        family = row->name;
        bool labelled = row->labels[0] != '\0';
        buf_printf(out, "%s%s%s%s %" PRId64 "\n", row->name, labelled ? "{" : "", row->labels,
                   labelled ? "}" : "", metric_get(i));
    }
    print_histogram(out);
}

void metrics_print_build(struct buf *out, const char *version, const char *kernels)
{
    print_head(out, "posenc_build_info", "gauge", "Always 1; the labels say what runs");
    buf_printf(out, "posenc_build_info{version=\"%s\",kernels=\"%s\"} 1\n", version, kernels);
}
