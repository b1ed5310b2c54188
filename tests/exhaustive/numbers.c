// SPDX-License-Identifier: Apache-2.0
/*
 * numbers.c [THREADS [FLOATS [DOUBLES]]]: every float, and very many random doubles, as lists of
 * text and back, beside two implementations that share nothing with ours. What is printed has the
 * digits and the exponent of the compiler's charconv; the C library, charconv and we ourselves, by
 * the list and one by one, read it as the number that it was; so do we with charconv's text of as
 * many digits as any number needs. A part of the floats, and all doubles, are printed by the C
 * library too, with as many digits and with one less. The numbers after THREADS make it shorter.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/charconv.h"
#include "posenc.h"

#define THREADS_MAX 256
#define BATCH       8192
#define TEXT_BYTES  ((size_t)BATCH * (PE_TEXT_MAX + 3))
#define FAULTS_MAX  20 /* shown */

static const struct format {
    const char *name;
    enum pe_dtype dtype;
    uint64_t fraction; /* bits of it, all zero at powers of two */
    int all_digits;    /* that tell any two numbers apart */
    uint64_t count;
    uint64_t printed_every; /* so many-th is printed by the C library */
} formats[] = {
    {"f32", PE_F32, 0x7fffff, 9, (uint64_t)1 << 32, 64},
    {"f64", PE_F64, 0xfffffffffffff, 17, 200000000, 1},
};

struct run {
    const struct format *format;
    uint64_t count;
    atomic_uint_fast64_t next, failed;
};

/* ---- Both formats as bits ----------------------------------------------------------------------
 */

static double value_of(const struct format *format, uint64_t bits)
{
    return pe_load(format->dtype, &bits, 0);
}

static uint64_t bits_of(const struct format *format, double value)
{
    uint64_t bits = 0;
    pe_store(format->dtype, &bits, 0, value);
    return bits;
}

static size_t charconv_digits(const struct format *format, double value, int digits, char *out)
{
    size_t len = format->dtype == PE_F32 ? charconv_digits_f32((float)value, digits, out)
                                         : charconv_digits_f64(value, digits, out);
    out[len] = '\0';
    return len;
}

static double charconv_read(const struct format *format, const char *text, const char *end)
{
    double value = NAN;
    float narrow = NAN;
    if (format->dtype == PE_F64)
        return charconv_read_f64(text, end, &value) == end ? value : NAN;
    return charconv_read_f32(text, end, &narrow) == end ? (double)narrow : NAN;
}

static double libc_read(const struct format *format, const char *text)
{
    return format->dtype == PE_F32 ? (double)strtof(text, NULL) : strtod(text, NULL);
}

/* ---- Decimals ----------------------------------------------------------------------------------
 */

/* digits * 10^exponent, without zeros at the end. */
struct decimal {
    uint64_t digits;
    long exponent;
    int n; /* how many digits */
};

/* In any notation; up to the comma of a list or the end. */
static struct decimal decimal_of(const char *text)
{
    struct decimal decimal = {0, 0, 0};
    long zeros = 0;
    bool behind = false;
    for (; *text && *text != ',' && *text != 'e'; text++) {
        behind |= *text == '.';
        if (*text < '0' || *text > '9')
            continue;
        decimal.exponent -= behind;
        if (*text == '0') {
            zeros += decimal.digits != 0;
            continue;
        }
        for (; zeros >= 0; zeros--, decimal.n++)
            decimal.digits *= 10;
        decimal.digits += (uint64_t)(*text - '0');
        zeros = 0;
    }
    decimal.exponent += zeros + (*text == 'e' ? strtol(text + 1, NULL, 10) : 0);
    return decimal;
}

static bool is_same(struct decimal a, struct decimal b)
{
    return a.digits == b.digits && (a.digits == 0 || a.exponent == b.exponent);
}

/* Whether the C library finds the same digits nearest, and that fewer would not do. At a power of
 * two the numbers below lie closer than those above, so that nearest digits need not come back. */
static bool libc_agrees(const struct format *format, uint64_t bits, struct decimal decimal)
{
    char other[CHARCONV_MAX];
    double value = value_of(format, bits);
    if (decimal.n == 0 || (bits & format->fraction) == 0)
        return true;
    snprintf(other, sizeof other, "%.*e", decimal.n - 1, value);
    if (!is_same(decimal_of(other), decimal))
        return false;
    if (decimal.n == 1)
        return true;
    snprintf(other, sizeof other, "%.*e", decimal.n - 2, value);
    return libc_read(format, other) != value;
}

/* ---- One number, and many ----------------------------------------------------------------------
 */

/* `text` is what was printed for it, with a comma behind. */
static bool is_right(const struct format *format, uint64_t i, uint64_t bits, const char *text)
{
    char other[CHARCONV_MAX + 1];
    uint64_t back = ~bits;
    double value = value_of(format, bits);
    size_t len = strcspn(text, ",");
    struct decimal decimal = decimal_of(text);
    charconv_digits(format, value, 0, other);
    if (!is_same(decimal, decimal_of(other)) || (*text == '-') != (bool)signbit(value))
        return false;
    if (bits_of(format, libc_read(format, text)) != bits ||
        bits_of(format, charconv_read(format, text, text + len)) != bits)
        return false;
    len = charconv_digits(format, value, format->all_digits, other);
    back = 0;
    if (!pe_text_read(other, len, format->dtype, &back, 0) || back != bits)
        return false;
    return i % format->printed_every != 0 || libc_agrees(format, bits, decimal);
}

/* The list back into numbers, as arrays of JSON are read. */
static void read_list(const struct format *format, const char *text, const char *end, void *out,
                      size_t n)
{
    bool held;
    for (size_t i = 0; text && i < n; i++) {
        i += pe_text_read_plain(&text, end, format->dtype, out, i, n - i);
        if (i < n)
            text = pe_text_read_next(text + (*text == ','), end, format->dtype, out, i, &held);
    }
}

struct batch {
    size_t n;
    uint64_t bits[BATCH];
    uint64_t printed[BATCH], back[BATCH]; /* as elements of the dtype */
    char text[TEXT_BYTES + 1];
};

/* Those that are printed by name are left out. */
static void fill_batch(const struct run *run, struct batch *batch, uint64_t first)
{
    const struct format *format = run->format;
    batch->n = 0;
    for (uint64_t i = first; i < run->count && i < first + BATCH; i++) {
        uint64_t bits = format->dtype == PE_F64 ? pe_draw(3, "exhaustive", i)
                        : run->count >> 32 != 0 ? i
                                                : pe_draw(3, "exhaustive", i) >> 32;
        double value = value_of(format, bits);
        if (!isfinite(value))
            continue;
        pe_store(format->dtype, batch->printed, batch->n, value);
        batch->bits[batch->n++] = bits;
    }
}

static void check_batch(struct run *run, struct batch *batch, uint64_t first)
{
    const struct format *format = run->format;
    size_t size = pe_dtype_size(format->dtype);
    size_t len = pe_text_print_list(format->dtype, batch->printed, 0, batch->n, batch->text);
    batch->text[len] = '\0';
    memset(batch->back, 0xff, sizeof batch->back);
    read_list(format, batch->text, batch->text + len, batch->back, batch->n);
    const char *text = batch->text;
    for (size_t i = 0; i < batch->n; i++, text = strchr(text, ',') + 1) {
        bool same =
            memcmp((char *)batch->back + i * size, (char *)batch->printed + i * size, size) == 0;
        if ((!same || !is_right(format, first + i, batch->bits[i], text)) &&
            atomic_fetch_add(&run->failed, 1) < FAULTS_MAX)
            fprintf(stderr, "%s %016llx: %.17g is printed as %.*s\n", format->name,
                    (unsigned long long)batch->bits[i], value_of(format, batch->bits[i]),
                    (int)strcspn(text, ","), text);
    }
}

static void *work(void *context)
{
    struct run *run = context;
    struct batch *batch = malloc(sizeof *batch);
    if (!batch)
        abort();
    for (;;) {
        uint64_t first = atomic_fetch_add(&run->next, BATCH);
        if (first >= run->count)
            break;
        fill_batch(run, batch, first);
        check_batch(run, batch, first);
    }
    free(batch);
    return NULL;
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
    fflush(stdout);
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
