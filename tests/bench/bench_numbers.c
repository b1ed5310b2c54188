// SPDX-License-Identifier: Apache-2.0
/*
 * bench_numbers.c: reading and printing whole JSON arrays of numbers, against jansson, against the
 * C library and the compiler's charconv converting the same numbers one by one, and against memcpy
 * of the text (P3): from an array of the dtype to text and back, whatever stands between. One
 * thread. The numbers are uniform in [-10, 10) with all bits of their dtype in use.
 */
#include "bench.h"

#include <jansson.h>

#include "arena.h"
#include "charconv.h"
#include "doc.h"
#include "write.h"

enum { NUMBERS = 200000 };

/* The numbers in one dtype, as an array and as text. */
struct numbers {
    enum pe_dtype dtype;
    void *values;
    double *read;       /* where jansson's reader puts them */
    struct buf text;    /* JSON array of them, as we print it */
    struct buf printed; /* where we print it again */
    char *copy;         /* room for the text */
    const char *libc;   /* printf format that keeps every bit */
    double checksum;
};

static struct arena arena;

/* jansson's own speed is measured with the plain allocator, ours with the fenced one. */
static json_malloc_t fenced_malloc;
static json_free_t fenced_free;

static void read_ours(void *context)
{
    struct numbers *numbers = context;
    struct err err = {0};
    struct json_doc doc;
    arena_init(&arena, (size_t)64 << 20);
    json_set_alloc_funcs(fenced_malloc, fenced_free);
    if (!json_doc_read(&doc, numbers->text.data, numbers->text.len, &arena, &err) ||
        !json_array_read(json_doc_array(&doc, ""), numbers->dtype, numbers->values, &err)) {
        fprintf(stderr, "our own text is not read: %s\n", err.item[0].detail);
        exit(1);
    }
    json_doc_release(&doc);
    arena_release(&arena);
}

/* Only the conversion, of text whose grammar has been checked. */
static void convert_ours(void *context)
{
    struct numbers *numbers = context;
    const char *at = numbers->text.data, *end = numbers->text.data + numbers->text.len;
    bool held;
    for (size_t i = 0; i < NUMBERS; i++) {
        i += pe_text_read_plain(&at, end, numbers->dtype, numbers->values, i, NUMBERS - i);
        if (i < NUMBERS)
            at = pe_text_read_next(at + strspn(at, "[,"), end, numbers->dtype, numbers->values, i,
                                   &held);
    }
}

static void read_jansson(void *context)
{
    struct numbers *numbers = context;
    json_set_alloc_funcs(malloc, free);
    json_t *root = json_loadb(numbers->text.data, numbers->text.len, 0, NULL);
    if (json_array_size(root) != NUMBERS)
        abort();
    for (size_t i = 0; i < NUMBERS; i++)
        numbers->read[i] = json_number_value(json_array_get(root, i));
    json_decref(root);
}

static void read_strtod(void *context)
{
    struct numbers *numbers = context;
    double sum = 0;
    char *at = numbers->text.data + 1;
    for (size_t i = 0; i < NUMBERS; i++) {
        sum += strtod(at, &at);
        at++;
    }
    numbers->checksum = sum;
}

static void read_charconv(void *context)
{
    struct numbers *numbers = context;
    const char *at = numbers->text.data + 1, *end = numbers->text.data + numbers->text.len;
    for (size_t i = 0; i < NUMBERS; i++, at++)
        at = numbers->dtype == PE_F64
                 ? charconv_read_f64(at, end, numbers->read + i)
                 : charconv_read_f32(at, end, (float *)(void *)numbers->read + i);
}

static void print_charconv(void *context)
{
    struct numbers *numbers = context;
    const double *wide = numbers->values;
    const float *narrow = numbers->values;
    char *at = numbers->copy;
    for (size_t i = 0; i < NUMBERS; i++) {
        at += numbers->dtype == PE_F64 ? charconv_print_f64(wide[i], at)
                                       : charconv_print_f32(narrow[i], at);
        *at++ = ',';
    }
}

static void print_ours(void *context)
{
    struct numbers *numbers = context;
    struct tree_tensor tensor = {numbers->dtype, 1, {NUMBERS}, numbers->values, PE_SHORTEST};
    struct buf *out = &numbers->printed;
    out->len = 0; /* written over, as the blocks of an answer are */
    json_write_tensor_data(out, &tensor);
    if (out->failed || out->len != numbers->text.len)
        abort();
}

static void print_jansson(void *context)
{
    struct numbers *numbers = context;
    json_set_alloc_funcs(malloc, free);
    json_t *array = json_array();
    for (size_t i = 0; i < NUMBERS; i++)
        json_array_append_new(array, json_real(pe_load(numbers->dtype, numbers->values, i)));
    free(json_dumps(array, JSON_COMPACT));
    json_decref(array);
}

static void print_libc(void *context)
{
    struct numbers *numbers = context;
    char *at = numbers->copy;
    for (size_t i = 0; i < NUMBERS; i++)
        at += snprintf(at, 40, numbers->libc, pe_load(numbers->dtype, numbers->values, i)) + 1;
}

static void copy_text(void *context)
{
    struct numbers *numbers = context;
    memcpy(numbers->copy, numbers->text.data, numbers->text.len);
}

static void make_numbers(struct numbers *numbers, enum pe_dtype dtype, const char *libc)
{
    *numbers = (struct numbers){.dtype = dtype, .libc = libc};
    numbers->values = bench_buffer(NUMBERS * sizeof(double));
    numbers->copy = bench_buffer(NUMBERS * (size_t)40);
    for (size_t i = 0; i < NUMBERS; i++) {
        double uniform = (double)(int64_t)pe_draw(0, "x", i + 1) * 0x1p-63;
        pe_store(dtype, numbers->values, i, 10 * uniform);
    }
    struct tree_tensor tensor = {dtype, 1, {NUMBERS}, numbers->values, PE_SHORTEST};
    buf_init(&numbers->text, (size_t)64 << 20);
    buf_init(&numbers->printed, (size_t)64 << 20);
    numbers->read = bench_buffer(NUMBERS * sizeof(double));
    json_write_tensor_data(&numbers->text, &tensor);
    if (numbers->text.failed)
        abort();
}

static const struct bench_ratio ratios[] = {
    {"P3", "read f64", "jansson read f64", true, 12},
    {"P3", "print f64", "jansson print f64", true, 12},
    {"P3", "read f64", "strtod f64", true, 4},
    {"P3", "read f32", "strtod f32", true, 4},
    {"P3", "print f64", "%.17g f64", true, 4},
    {"P3", "print f32", "%.9g f32", true, 4},
    {"charconv", "convert f64", "charconv read f64", true, 1},
    {"charconv", "convert f32", "charconv read f32", true, 1},
    {"charconv", "print f64", "charconv print f64", true, 1},
    {"charconv", "print f32", "charconv print f32", true, 1},
};

int main(int argc, char **argv)
{
    static struct numbers f64;
    static struct numbers f32;
    json_set_alloc_funcs(malloc, free);
    make_numbers(&f64, PE_F64, "%.17g");
    make_numbers(&f32, PE_F32, "%.9g");
    json_doc_setup();
    json_get_alloc_funcs(&fenced_malloc, &fenced_free);

    struct bench_case cases[] = {
        {"read f64", read_ours, &f64, NUMBERS, 0},
        {"jansson read f64", read_jansson, &f64, NUMBERS, 0},
        {"strtod f64", read_strtod, &f64, NUMBERS, 0},
        {"convert f64", convert_ours, &f64, NUMBERS, 0},
        {"charconv read f64", read_charconv, &f64, NUMBERS, 0},
        {"read f32", read_ours, &f32, NUMBERS, 0},
        {"strtod f32", read_strtod, &f32, NUMBERS, 0},
        {"convert f32", convert_ours, &f32, NUMBERS, 0},
        {"charconv read f32", read_charconv, &f32, NUMBERS, 0},
        {"print f64", print_ours, &f64, NUMBERS, 0},
        {"jansson print f64", print_jansson, &f64, NUMBERS, 0},
        {"%.17g f64", print_libc, &f64, NUMBERS, 0},
        {"charconv print f64", print_charconv, &f64, NUMBERS, 0},
        {"print f32", print_ours, &f32, NUMBERS, 0},
        {"%.9g f32", print_libc, &f32, NUMBERS, 0},
        {"charconv print f32", print_charconv, &f32, NUMBERS, 0},
        {"memcpy of the f64 text", copy_text, &f64, NUMBERS, 0},
    };
    size_t n = sizeof cases / sizeof *cases;
    bench_measure(cases, n);
    return bench_report(argc > 1 ? argv[1] : NULL, cases, n, ratios,
                        sizeof ratios / sizeof *ratios);
}
