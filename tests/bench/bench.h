// SPDX-License-Identifier: Apache-2.0
/*
 * bench.h: what the benchmarks share: cases measured in turn, round after round, so that a noisy
 * neighbour slows all of them alike, and their medians. A figure is a ratio of two medians of one
 * run. In the environment, ROUNDS=N is how often each is measured, and BENCH=TEXT leaves out cases
 * without that text in their name, and the ratios that need them. Included by one source file per
 * program.
 */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>

#include "posenc.h"

/* Unless the environment says otherwise. */
#ifndef BENCH_ROUNDS
#define BENCH_ROUNDS 11
#endif
#define BENCH_ROUNDS_MAX 1000
/* This thread's own time, so that what else runs on the machine does not count. */
#ifndef BENCH_CLOCK
#define BENCH_CLOCK CLOCK_THREAD_CPUTIME_ID
#endif

struct bench_case {
    const char *name;
    void (*run)(void *context);
    void *context;
    double units;   /* elements that one run handles */
    double seconds; /* out: median of one run, 0 if left out */
};

/* One target: an element of case `what` in multiples of one of case `of` (as fast as, or as long
 * as), and the bound that is aimed at. */
struct bench_ratio {
    const char *target; /* "P1" */
    const char *what, *of;
    bool faster; /* true: seconds(of) / seconds(what) >= bound; else seconds(what) / .. <= bound */
    double bound;
};

static double bench_now(void)
{
    struct timespec t;
    clock_gettime(BENCH_CLOCK, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool bench_is_wanted(const struct bench_case *one)
{
    const char *wanted = getenv("BENCH");
    return !wanted || strstr(one->name, wanted);
}

static int bench_rounds(void)
{
    const char *said = getenv("ROUNDS");
    long rounds = said ? strtol(said, NULL, 10) : BENCH_ROUNDS;
    return rounds < 1 ? 1 : rounds > BENCH_ROUNDS_MAX ? BENCH_ROUNDS_MAX : (int)rounds;
}

/* Fills in the medians. One round before the first is not counted (pages, caches, frequency). */
static void bench_measure(struct bench_case *cases, size_t n)
{
    size_t rounds = (size_t)bench_rounds();
    double *seconds = calloc(n * rounds, sizeof *seconds);
    if (!seconds)
        abort();
    for (size_t round = 0; round <= rounds; round++)
        for (size_t i = 0; i < n; i++) {
            if (!bench_is_wanted(&cases[i]))
                continue;
            double start = bench_now();
            cases[i].run(cases[i].context);
            if (round > 0)
                seconds[i * rounds + round - 1] = bench_now() - start;
        }
    for (size_t i = 0; i < n; i++) {
        qsort(seconds + i * rounds, rounds, sizeof *seconds, bench_compare);
        cases[i].seconds = seconds[i * rounds + rounds / 2];
    }
    free(seconds);
}

/* Memory in large pages where the system gives them, written once, so that no fault is timed. */
static void *bench_buffer(size_t bytes)
{
    void *buffer = aligned_alloc(2 << 20, (bytes + (2 << 20) - 1) & ~(size_t)((2 << 20) - 1));
    if (!buffer)
        abort();
    madvise(buffer, bytes, MADV_HUGEPAGE);
    memset(buffer, 0, bytes);
    return buffer;
}

static const struct bench_case *bench_find(const struct bench_case *cases, size_t n,
                                           const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(cases[i].name, name) == 0)
            return &cases[i];
    abort();
}

static bool bench_has(const struct bench_ratio *ratio, const struct bench_case *cases, size_t n)
{
    return bench_find(cases, n, ratio->what)->seconds > 0 &&
           bench_find(cases, n, ratio->of)->seconds > 0;
}

static double bench_value(const struct bench_ratio *ratio, const struct bench_case *cases, size_t n)
{
    const struct bench_case *what = bench_find(cases, n, ratio->what);
    const struct bench_case *of = bench_find(cases, n, ratio->of);
    double times = what->seconds / what->units / (of->seconds / of->units);
    return ratio->faster ? 1 / times : times;
}

/* "model name" of /proc/cpuinfo, or the machine's architecture. */
static void bench_processor(char *out, size_t size)
{
    struct utsname system;
    uname(&system);
    snprintf(out, size, "%s", system.machine);
    FILE *info = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (info && fgets(line, sizeof line, info))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(out, size, "%s", strchr(line, ':') + 2);
            out[strcspn(out, "\n")] = 0;
            break;
        }
    if (info)
        fclose(info);
}

static const char *bench_compiler(void)
{
#ifdef __clang__
    return __VERSION__; /* which has the name */
#else
    return "gcc " __VERSION__;
#endif
}

static void bench_print(const struct bench_case *cases, size_t cases_n,
                        const struct bench_ratio *ratios, size_t ratios_n, const char *processor)
{
    printf("%s, %s kernels, %s, median of %d rounds\n\n", processor, pe_isa_name(),
           bench_compiler(), bench_rounds());
    printf("| case | ms | ns per element |\n| --- | ---: | ---: |\n");
    for (size_t i = 0; i < cases_n; i++)
        if (cases[i].seconds > 0)
            printf("| %s | %.3f | %.3f |\n", cases[i].name, 1e3 * cases[i].seconds,
                   1e9 * cases[i].seconds / cases[i].units);
    printf("\n| target | measured | ratio | aim | |\n| --- | --- | ---: | ---: | --- |\n");
    for (size_t i = 0; i < ratios_n; i++) {
        const struct bench_ratio *r = &ratios[i];
        if (!bench_has(r, cases, cases_n))
            continue;
        double value = bench_value(r, cases, cases_n);
        bool met = r->faster ? value >= r->bound : value <= r->bound;
        printf("| %s | %s : %s, %s | %.2f | %s %.2f | %s |\n", r->target, r->what, r->of,
               r->faster ? "times as fast" : "times as long", value, r->faster ? "≥" : "≤",
               r->bound, met ? "met" : "not met");
    }
    printf("\n");
}

/* The table on stdout, and the same as one JSON object in the file `path`. */
static int bench_report(const char *path, const struct bench_case *cases, size_t cases_n,
                        const struct bench_ratio *ratios, size_t ratios_n)
{
    char processor[256];
    bench_processor(processor, sizeof processor);
    bench_print(cases, cases_n, ratios, ratios_n, processor);

    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out)
        return path != NULL;
    fprintf(out,
            "{\"processor\":\"%s\",\"isa\":\"%s\",\"compiler\":\"%s\",\"rounds\":%d,\"cases\":[",
            processor, pe_isa_name(), bench_compiler(), bench_rounds());
    const char *comma = "";
    for (size_t i = 0; i < cases_n; i++) {
        if (cases[i].seconds == 0)
            continue;
        fprintf(out, "%s{\"name\":\"%s\",\"seconds\":%.9f,\"elements\":%.0f}", comma, cases[i].name,
                cases[i].seconds, cases[i].units);
        comma = ",";
    }
    fprintf(out, "],\"ratios\":[");
    comma = "";
    for (size_t i = 0; i < ratios_n; i++) {
        if (!bench_has(&ratios[i], cases, cases_n))
            continue;
        fprintf(out,
                "%s{\"target\":\"%s\",\"what\":\"%s\",\"of\":\"%s\",\"ratio\":%.4f,\"%s\":%.4g}",
                comma, ratios[i].target, ratios[i].what, ratios[i].of,
                bench_value(&ratios[i], cases, cases_n), ratios[i].faster ? "min" : "max",
                ratios[i].bound);
        comma = ",";
    }
    fprintf(out, "]}\n");
    return fclose(out) != 0;
}

#endif
