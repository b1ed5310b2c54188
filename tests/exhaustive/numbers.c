// SPDX-License-Identifier: Apache-2.0
/*
 * numbers.c [THREADS [FLOATS [DOUBLES]]]: every float, and very many random doubles, as text and
 * back, beside the C library: what is printed comes back by strtof and strtod and by our own
 * reader, fewer digits would not, and of as many digits they are the nearest. About an hour on
 * two cores; the numbers after THREADS make it shorter.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posenc.h"

#define THREADS_MAX 256
#define TEXT_MAX    64
#define DIGITS_MAX  24
#define BATCH       65536
#define FAULTS_MAX  20 /* shown */

static const struct format {
    const char *name;
    enum pe_dtype dtype;
    size_t bytes;
    uint64_t fraction; /* bits of it, all zero at powers of two */
    uint64_t count;
} formats[] = {
    {"f32", PE_F32, 4, 0x7fffff, (uint64_t)1 << 32},
    {"f64", PE_F64, 8, 0xfffffffffffff, 200000000},
};

struct run {
    const struct format *format;
    uint64_t count;
    atomic_uint_fast64_t next, failed;
};

/* The significant digits of a decimal, without zeros at either end; returns how many. */
static size_t digits_of(const char *text, char out[DIGITS_MAX])
{
    size_t n = 0;
    for (const char *c = text; *c && *c != 'e'; c++)
        if (*c >= '0' && *c <= '9' && (n > 0 || *c != '0') && n < DIGITS_MAX)
            out[n++] = *c;
    while (n > 0 && out[n - 1] == '0')
        n--;
    return n;
}

/* The value that the C library reads, as bits of the format. */
static uint64_t bits_read(const struct format *format, const char *text)
{
    uint64_t bits = 0;
    if (format->dtype == PE_F32) {
        float value = strtof(text, NULL);
        memcpy(&bits, &value, sizeof value);
    } else {
        double value = strtod(text, NULL);
        memcpy(&bits, &value, sizeof value);
    }
    return bits;
}

static double value_of(const struct format *format, uint64_t bits)
{
    return pe_load(format->dtype, &bits, 0);
}

/* Whether the text has no more digits than needed, and the nearest ones. At a power of two the
 * numbers below lie closer than those above, so that nearest digits need not come back. */
static bool is_shortest(const struct format *format, uint64_t bits, const char *text)
{
    char digits[DIGITS_MAX], nearest[DIGITS_MAX], other[TEXT_MAX];
    size_t n = digits_of(text, digits);
    double value = value_of(format, bits);
    if (n == 0 || (bits & format->fraction) == 0)
        return true;
    snprintf(other, sizeof other, "%.*e", (int)n - 1, value);
    size_t nearest_n = digits_of(other, nearest);
    if (nearest_n != n || memcmp(nearest, digits, n) != 0)
        return false;
    if (n == 1)
        return true;
    snprintf(other, sizeof other, "%.*e", (int)n - 2, value);
    return bits_read(format, other) != bits;
}

static bool is_right(const struct format *format, uint64_t bits)
{
    char text[TEXT_MAX];
    uint64_t back = 0;
    size_t len = pe_text_print(format->dtype, &bits, 0, text);
    text[len] = '\0';
    if (!isfinite(value_of(format, bits))) /* printed by name */
        return true;
    return bits_read(format, text) == bits && pe_text_read(text, len, format->dtype, &back, 0) &&
           back == bits && is_shortest(format, bits, text);
}

static void *work(void *context)
{
    struct run *run = context;
    const struct format *format = run->format;
    for (;;) {
        uint64_t first = atomic_fetch_add(&run->next, BATCH);
        for (uint64_t i = first; i < run->count && i < first + BATCH; i++) {
            uint64_t bits = format->bytes == 8      ? pe_draw(3, "exhaustive", i)
                            : run->count >> 32 != 0 ? i
                                                    : pe_draw(3, "exhaustive", i) >> 32;
            if (!is_right(format, bits) && atomic_fetch_add(&run->failed, 1) < FAULTS_MAX)
                fprintf(stderr, "%s %016llx: %.17g\n", format->name, (unsigned long long)bits,
                        value_of(format, bits));
        }
        if (first >= run->count)
            return NULL;
    }
}

static uint64_t run_format(const struct format *format, uint64_t count, size_t threads_n)
{
    struct run run = {.format = format, .count = count};
    pthread_t threads[THREADS_MAX];
    for (size_t i = 0; i < threads_n; i++)
        if (pthread_create(&threads[i], NULL, work, &run) != 0)
            abort();
    for (size_t i = 0; i < threads_n; i++)
        pthread_join(threads[i], NULL);
    printf("%s: %llu passed, %llu failed\n", format->name, (unsigned long long)(count - run.failed),
           (unsigned long long)run.failed);
    return run.failed;
}

int main(int arguments_n, char **arguments)
{
    size_t threads_n = arguments_n > 1 ? strtoul(arguments[1], NULL, 10) : 1;
    uint64_t failed = 0;
    if (threads_n < 1 || threads_n > THREADS_MAX)
        return EXIT_FAILURE;
    for (int i = 0; i < 2; i++) {
        uint64_t count =
            arguments_n > 2 + i ? strtoull(arguments[2 + i], NULL, 10) : formats[i].count;
        failed += run_format(&formats[i], count, threads_n);
    }
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
