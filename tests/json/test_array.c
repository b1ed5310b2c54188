// SPDX-License-Identifier: Apache-2.0
/*
 * test_array.c: numbers from text to tensor, rounded once, in every dtype; what is refused, and
 * where it stands. Rounded values are from exact rational arithmetic (Python's fractions).
 */
#include "doc.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "reading.h"

#define OVERFLOW UINT64_MAX

static const struct {
    const char *text;
    uint64_t bits[4]; /* f64, f32, f16, bf16 */
} rows[] = {
    {"0", {0x0, 0x0, 0x0, 0x0}},
    {"-0", {0x8000000000000000, 0x80000000, 0x8000, 0x8000}},
    {"-0.0", {0x8000000000000000, 0x80000000, 0x8000, 0x8000}},
    {"1", {0x3ff0000000000000, 0x3f800000, 0x3c00, 0x3f80}},
    {"-2.5", {0xc004000000000000, 0xc0200000, 0xc100, 0xc020}},
    {"0.1", {0x3fb999999999999a, 0x3dcccccd, 0x2e66, 0x3dcd}},
    {"1e-1", {0x3fb999999999999a, 0x3dcccccd, 0x2e66, 0x3dcd}},
    {"10E-2", {0x3fb999999999999a, 0x3dcccccd, 0x2e66, 0x3dcd}},
    {"3.141592653589793238462643383279", {0x400921fb54442d18, 0x40490fdb, 0x4248, 0x4049}},
    {"16777217", {0x4170000010000000, 0x4b800000, OVERFLOW, 0x4b80}},
    {"16777217.0000000000000000000000001", {0x4170000010000000, 0x4b800001, OVERFLOW, 0x4b80}},
    {"16777219", {0x4170000030000000, 0x4b800002, OVERFLOW, 0x4b80}},
    {"1.00000005960464477539062500", {0x3ff0000010000000, 0x3f800000, 0x3c00, 0x3f80}},
    {"1.0000000596046447753906250000000001", {0x3ff0000010000000, 0x3f800001, 0x3c00, 0x3f80}},
    {"1.00000017881393432617187499999999999999999999",
     {0x3ff0000030000000, 0x3f800001, 0x3c00, 0x3f80}},
    {"2049", {0x40a0020000000000, 0x45001000, 0x6800, 0x4500}},
    {"2049.00000000000000000001", {0x40a0020000000000, 0x45001000, 0x6801, 0x4500}},
    {"2051", {0x40a0060000000000, 0x45003000, 0x6802, 0x4500}},
    {"257", {0x4070100000000000, 0x43808000, 0x5c04, 0x4380}},
    {"257.00000000000000000001", {0x4070100000000000, 0x43808000, 0x5c04, 0x4381}},
    {"259", {0x4070300000000000, 0x43818000, 0x5c0c, 0x4382}},
    {"255.5", {0x406ff00000000000, 0x437f8000, 0x5bfc, 0x4380}},
    {"65504", {0x40effc0000000000, 0x477fe000, 0x7bff, 0x4780}},
    {"65519.99999999999999999", {0x40effe0000000000, 0x477ff000, 0x7bff, 0x4780}},
    {"65520", {0x40effe0000000000, 0x477ff000, OVERFLOW, 0x4780}},
    {"-65520", {0xc0effe0000000000, 0xc77ff000, OVERFLOW, 0xc780}},
    {"3.40282356779733661637539395458142568447e38",
     {0x47effffff0000000, 0x7f7fffff, OVERFLOW, OVERFLOW}},
    {"3.40282356779733661637539395458142568448e38",
     {0x47effffff0000000, OVERFLOW, OVERFLOW, OVERFLOW}},
    {"1.7976931348623158e308", {0x7fefffffffffffff, OVERFLOW, OVERFLOW, OVERFLOW}},
    {"1.7976931348623159e308", {OVERFLOW, OVERFLOW, OVERFLOW, OVERFLOW}},
    {"3.3895313892515354e38", {0x47efe00000000000, 0x7f7f0000, OVERFLOW, 0x7f7f}},
    {"3.3961775292304601e38", {0x47eff00000000000, 0x7f7f8000, OVERFLOW, OVERFLOW}},
    {"5.9604644775390625e-8", {0x3e70000000000000, 0x33800000, 0x1, 0x3380}},
    {"2.98023223876953125e-8", {0x3e60000000000000, 0x33000000, 0x0, 0x3300}},
    {"2.980232238769531250000001e-8", {0x3e60000000000000, 0x33000000, 0x1, 0x3300}},
    {"1e-45", {0x3696d601ad376ab9, 0x1, 0x0, 0x0}},
    {"7.00649232162408535461864791644958e-46", {0x3690000000000000, 0x0, 0x0, 0x0}},
    {"7.0064923216240853546186479164495807e-46", {0x3690000000000000, 0x1, 0x0, 0x0}},
    {"4.9406564584124654e-324", {0x1, 0x0, 0x0, 0x0}},
    {"2.4703282292062327e-324", {0x0, 0x0, 0x0, 0x0}},
    {"2.4703282292062328e-324", {0x1, 0x0, 0x0, 0x0}},
    {"1e-400", {0x0, 0x0, 0x0, 0x0}},
    {"-1e-400", {0x8000000000000000, 0x80000000, 0x8000, 0x8000}},
    {"6.103515625e-5", {0x3f10000000000000, 0x38800000, 0x400, 0x3880}},
    {"6.1005353927612305e-5", {0x3f0ffc0000000000, 0x387fe000, 0x400, 0x3880}},
    {"9007199254740993", {0x4340000000000000, 0x5a000000, OVERFLOW, 0x5a00}},
    {"9007199254740993.0000000000000000000000001",
     {0x4340000000000001, 0x5a000000, OVERFLOW, 0x5a00}},
    {"1e22", {0x4480f0cf064dd592, 0x64078678, OVERFLOW, 0x6408}},
    {"1e23", {0x44b52d02c7e14af6, 0x65a96816, OVERFLOW, 0x65a9}},
    {"123456789012345678901234567890e-29", {0x3ff3c0ca428c59fb, 0x3f9e0652, 0x3cf0, 0x3f9e}},
    {"0.000000000000000000000000000000000000000000000000001e51",
     {0x3ff0000000000000, 0x3f800000, 0x3c00, 0x3f80}},
};

static uint64_t element_bits(const void *array, enum pe_dtype dtype, size_t i)
{
    uint64_t bits = 0; /* little-endian */
    memcpy(&bits, (const char *)array + i * pe_dtype_size(dtype), pe_dtype_size(dtype));
    return bits;
}

Test(array, rounds_each_number_once)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
            char body[200];
            snprintf(body, sizeof body, "{\"x\":[[0,1],[2, %s\n]]}", rows[i].text);
            struct reading reading;
            reading_of(&reading, body, strlen(body));
            const struct json_array *array = json_doc_array(&reading.doc, "/x");
            uint64_t out[4];
            struct err err = {0};
            bool ok = json_array_read(array, dtype, out, &err);
            cr_assert_eq(ok, rows[i].bits[dtype] != OVERFLOW, "%s as %s", rows[i].text,
                         pe_dtype_name(dtype));
            if (ok) {
                uint64_t bits = element_bits(out, dtype, 3);
                cr_assert_eq(bits, rows[i].bits[dtype], "%s as %s: 0x%" PRIx64, rows[i].text,
                             pe_dtype_name(dtype), bits);
                cr_assert_eq(pe_load(dtype, out, 2), 2);
            } else {
                cr_assert_eq(err.item[0].code, ERR_invalid_value);
                cr_assert_str_eq(err.item[0].where, "/x/1/1");
            }
            reading_release(&reading);
        }
}

Test(array, says_what_is_too_large_and_where)
{
    static const struct {
        const char *body, *array;
        enum pe_dtype dtype;
        const char *where, *says;
    } refused[] = {
        {"[1,2,1e400]", "", PE_F64, "/2", "1e400 is beyond the largest number of f64"},
        {"{\"x\":{\"data\":[[1],[2],[-65520],[1e9]]}}", "/x/data", PE_F16, "/x/data/2/0",
         "-65520 is beyond the largest number of f16"},
        {"{\"q\":[[[1,2],[3,4]],[[5,6],[7,1e39]]]}", "/q", PE_BF16, "/q/1/1/1",
         "1e39 is beyond the largest number of bf16"},
        {"[1,12345678901234567890123456789012345678901234567890]", "", PE_F32, "/1",
         "1234567890123456789012345678901234567890... is beyond the largest number of f32"},
        {"[1,2.5]", "", PE_I64, "/1", "2.5 is not an integer that i64 can hold"},
        {"[9223372036854775808]", "", PE_I64, "/0",
         "9223372036854775808 is not an integer that i64 can hold"},
        {"[3,\"NaN\"]", "", PE_I64, "/1", "\"NaN\" is not an integer that i64 can hold"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct reading reading;
        reading_of(&reading, refused[i].body, strlen(refused[i].body));
        double out[16];
        struct err err = {0};
        cr_assert_not(json_array_read(json_doc_array(&reading.doc, refused[i].array),
                                      refused[i].dtype, out, &err),
                      "%s", refused[i].body);
        cr_assert_eq(err.n, 1);
        cr_assert_eq(err.item[0].code, ERR_invalid_value);
        cr_assert_str_eq(err.item[0].where, refused[i].where, "%s", err.item[0].where);
        cr_assert_str_eq(err.item[0].detail, refused[i].says, "%s", err.item[0].detail);
        reading_release(&reading);
    }
}

Test(array, reads_integers_exactly)
{
    static const char body[] =
        "[0,-1,9007199254740993,9223372036854775807,-9223372036854775808,2e3]";
    static const int64_t wanted[] = {0, -1, 9007199254740993, INT64_MAX, INT64_MIN, 2000};
    struct reading reading;
    reading_of(&reading, body, strlen(body));
    int64_t out[6];
    cr_assert(json_array_read(&reading.doc.arrays[0], PE_I64, out, &reading.err));
    cr_assert_arr_eq(out, wanted, sizeof wanted);
    reading_release(&reading);
}

Test(array, reads_special_values)
{
    static const char body[] = "[[\"NaN\" , \"Infinity\"],[\"-Infinity\",\"NaN\"]]";
    struct reading reading;
    reading_of(&reading, body, strlen(body));
    for (enum pe_dtype dtype = PE_F64; dtype <= PE_BF16; dtype++) {
        uint64_t out[4];
        cr_assert(json_array_read(&reading.doc.arrays[0], dtype, out, &reading.err));
        cr_assert(isnan(pe_load(dtype, out, 0)) && isnan(pe_load(dtype, out, 3)));
        cr_assert_eq(pe_load(dtype, out, 1), INFINITY);
        cr_assert_eq(pe_load(dtype, out, 2), -INFINITY);
    }
    reading_release(&reading);
}

Test(array, reads_nothing_out_of_nothing)
{
    static const char body[] = "[[],[ ],[\n]]";
    struct reading reading;
    reading_of(&reading, body, strlen(body));
    char guard = 'g';
    cr_assert(json_array_read(&reading.doc.arrays[0], PE_F64, &guard, &reading.err));
    cr_assert_eq(guard, 'g');
    reading_release(&reading);
}

/* Random finite doubles and floats, with enough digits, in odd but legal spacing. */
Test(array, gives_back_random_numbers)
{
    static const char *const between[] = {",", ", ", " ,", "\n,\t", ",\r\n  "};
    enum { N = 40000 };
    uint64_t random = 88172645463325252u, *wanted = malloc(N * sizeof *wanted);
    double *out = malloc(N * sizeof *out);
    char *body = malloc(N * 40);
    for (enum pe_dtype dtype = PE_F64; dtype <= PE_F32; dtype++) {
        size_t len = (size_t)sprintf(body, "[ ");
        for (size_t i = 0; i < N; i++) {
            double value;
            do {
                random ^= random << 13, random ^= random >> 7, random ^= random << 17;
                memcpy((char *)wanted + i * pe_dtype_size(dtype), &random, pe_dtype_size(dtype));
                value = pe_load(dtype, wanted, i);
            } while (!isfinite(value));
            len += (size_t)sprintf(body + len, "%s%.*g", i ? between[random % 5] : "",
                                   dtype == PE_F64 ? 17 : 9, value);
        }
        len += (size_t)sprintf(body + len, "]");
        struct reading reading;
        reading_of(&reading, body, len);
        cr_assert_eq(reading.doc.arrays[0].count, N);
        cr_assert(json_array_read(&reading.doc.arrays[0], dtype, out, &reading.err));
        for (size_t i = 0; i < N; i++)
            cr_assert_eq(element_bits(out, dtype, i), element_bits(wanted, dtype, i),
                         "%s, element %zu", pe_dtype_name(dtype), i);
        reading_release(&reading);
    }
    free(body);
    free(out);
    free(wanted);
}
