// SPDX-License-Identifier: Apache-2.0
/*
 * test_safetensors.c: files made by hand from the format's description are read; everything else
 * is refused, by name and place.
 */
#include "safetensors.h"

#include <stdint.h>
#include <stdio.h>

#include "refusal.h"

#define MEMORY ((size_t)8 << 20)

/* A file in memory of exactly its size: the length of the header, the header, n bytes of data. */
static char *make_file(const char *header, size_t n, size_t *len)
{
    uint64_t header_len = strlen(header);
    *len = 8 + header_len + n;
    char *file = malloc(*len);
    memcpy(file, &header_len, 8);
    memcpy(file + 8, header, header_len);
    for (size_t i = 0; i < n; i++)
        file[8 + header_len + i] = (char)i;
    return file;
}

static bool read_bytes(const void *bytes, size_t len, struct arena *arena, struct safetensors *out,
                       struct err *err)
{
    arena_init(arena, MEMORY);
    return safetensors_read(&(struct tensor_source){bytes, len, ""}, arena, out, err);
}

static void expect_tensor(const struct safetensors *file, const char *name, enum pe_dtype dtype,
                          const char *shape, size_t offset)
{
    const struct safetensors_tensor *tensor = safetensors_tensor(file, name);
    char text[100] = "";
    cr_assert_not_null(tensor, "%s", name);
    const struct tensor_view *view = &tensor->view;
    cr_assert_eq(view->dtype, dtype, "%s", name);
    for (size_t i = 0; i < view->rank; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), i ? ",%zu" : "%zu",
                 view->shape[i]);
    cr_assert_str_eq(text, shape, "%s", name);
    cr_assert(!view->big_endian && !view->fortran, "%s", name);
    for (size_t i = 0; i < view->bytes; i++)
        cr_assert_eq(((const char *)view->data)[i], (char)(offset + i), "%s, byte %zu", name, i);
}

/* ---- Reading -------------------------------------------------------------------------------- */

Test(safetensors, reads_every_dtype_and_rank)
{
    static const char header[] =
        "{\"h\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[0,6]},"
        "\"b\":{\"shape\":[1,1,1,1,1,1,2,1],\"data_offsets\":[6,10],\"dtype\":\"BF16\"},"
        "\"s\":{\"data_offsets\":[10,14],\"dtype\":\"F32\",\"shape\":[]},"
        "\"empty\":{\"dtype\":\"F64\",\"shape\":[4,0],\"data_offsets\":[14,14]},"
        "\"d\":{\"dtype\":\"F64\",\"shape\":[2,1],\"data_offsets\":[14,30]},"
        "\"i\":{\"dtype\":\"I64\",\"shape\":[1,2],\"data_offsets\":[30,46]}}";
    struct arena arena;
    struct safetensors file;
    struct err err = {.n = 0};
    size_t len;
    char *bytes = make_file(header, 46, &len);
    cr_assert(read_bytes(bytes, len, &arena, &file, &err), "%s", err.item[0].detail);
    cr_assert_eq(file.tensors_n, 6);
    cr_assert_eq(file.metadata_n, 0);
    cr_assert_str_eq(file.tensors[0].name, "h");
    cr_assert_str_eq(file.tensors[5].name, "i");
    expect_tensor(&file, "h", PE_F16, "3", 0);
    expect_tensor(&file, "b", PE_BF16, "1,1,1,1,1,1,2,1", 6);
    expect_tensor(&file, "s", PE_F32, "", 10);
    expect_tensor(&file, "empty", PE_F64, "4,0", 14);
    expect_tensor(&file, "d", PE_F64, "2,1", 14);
    expect_tensor(&file, "i", PE_I64, "1,2", 30);
    cr_assert_null(safetensors_tensor(&file, "x"));
    arena_release(&arena);
    free(bytes);
}

Test(safetensors, reads_metadata_wherever_it_stands)
{
    static const char *const headers[] = {
        "{\"__metadata__\":{\"request\":\"{\\\"a\\\":[1,2]}\",\"\":\"\\u00e9\\ud83d\\ude00\\n\"},"
        "\"x/y~\\u0041\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[0,2]}}",
        "{ \"x/y~A\" :\n{ \"dtype\" : \"F16\" , \"shape\" : [ 1 ] , \"data_offsets\" : [ 0 , 2 ] },"
        "\t\"__metadata__\" : {\"request\":\"{\\\"a\\\":[1,2]}\", \"\" : \"\303\251\360\237\230\200"
        "\\n\" }\r\n}         ",
    };
    for (size_t i = 0; i < 2; i++) {
        struct arena arena;
        struct safetensors file;
        struct err err = {.n = 0};
        size_t len;
        char *bytes = make_file(headers[i], 2, &len);
        cr_assert(read_bytes(bytes, len, &arena, &file, &err), "%s", err.item[0].detail);
        expect_tensor(&file, "x/y~A", PE_F16, "1", 0);
        cr_assert_eq(file.metadata_n, 2);
        const struct safetensors_pair *pair = safetensors_metadata(&file, "request");
        cr_assert_not_null(pair);
        cr_assert_str_eq(pair->value, "{\"a\":[1,2]}");
        cr_assert_eq(pair->value_len, strlen(pair->value));
        pair = safetensors_metadata(&file, "");
        cr_assert_not_null(pair);
        cr_assert_str_eq(pair->value, "\303\251\360\237\230\200\n");
        cr_assert_null(safetensors_metadata(&file, "Request"));
        arena_release(&arena);
        free(bytes);
    }
}

Test(safetensors, reads_files_without_tensors)
{
    static const char *const headers[] = {"{}", "{ }  ", "{\"__metadata__\":{}}"};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        struct arena arena;
        struct safetensors file;
        struct err err = {.n = 0};
        size_t len;
        char *bytes = make_file(headers[i], 0, &len);
        cr_assert(read_bytes(bytes, len, &arena, &file, &err), "%s", err.item[0].detail);
        cr_assert_eq(file.tensors_n + file.metadata_n, 0);
        arena_release(&arena);
        free(bytes);
    }
}

/* ---- What is refused ------------------------------------------------------------------------ */

#define DTYPE   "\"dtype\":\"F32\""
#define SHAPE   "\"shape\":[2,3]"
#define OFFSETS "\"data_offsets\":[0,24]"
#define X       "\"x\":{" DTYPE "," SHAPE "," OFFSETS "}"
#define TENSOR(name, shape, begin, end)                                                            \
    "\"" name "\":{" DTYPE ",\"shape\":[" shape "],\"data_offsets\":[" begin "," end "]}"
#define AT(column) "the safetensors header, line 1, column " column ": "

/* Headers, followed by 24 bytes of data. */
static const struct {
    const char *header, *where, *detail;
} bad_headers[] = {
    /* JSON */
    {"", "", "the safetensors header ends where '{' at once is expected"},
    {" {" X "}", "", AT("1") "expected '{' at once, got ' '"},
    {"[" X "]", "", AT("1") "expected '{' at once, got '['"},
    {"\xef\xbb\xbf{" X "}", "", AT("1") "expected '{' at once, got a byte order mark"},
    {"{" X, "", "the safetensors header ends where ',' or '}' is expected"},
    {"{" X ",}", "", AT("58") "expected a key in quotes, got '}'"},
    {"{" X "}}", "", AT("58") "expected nothing but spaces behind the closing brace, got '}'"},
    {"{" X "}\n", "",
     AT("58") "expected nothing but spaces behind the closing brace, got control "
              "character U+000A"},
    {"{" X "} {}", "", AT("59") "expected nothing but spaces behind the closing brace, got '{'"},
    {"{'x':{}}", "", AT("2") "expected a key in quotes, got '''; strings stand in double quotes"},
    {"{\"x\"}", "", AT("5") "expected ':', got '}'"},
    {"{\"x\" {}}", "", AT("6") "expected ':', got '{'"},
    {"{\"x:{}}", "", AT("2") "the string that begins here has no end"},
    {"{\"\xff\":{}}", "", AT("3") "byte 0xff in a string is not UTF-8"},
    {"{\"a\\u0000\":{}}", "", AT("4") "\\u0000 is not allowed in a string"},
    {"{\"a\\ud800\":{}}", "", AT("4") "\\ud800 is half of a surrogate pair"},
    {"{\"a\tb\":{}}", "", AT("4") "control character U+0009 must be escaped in a string"},
    {"{\"a\\x41\":{}}", "",
     AT("4") "a backslash in a string stands before one of \"\\/bfnrtu only"},
    /* a tensor's object */
    {"{\"x\":[]}", "/x",
     "tensor \"x\": " AT("6") "expected an object with dtype, shape and data_offsets, got '['"},
    {"{\"x\":null}", "/x",
     "tensor \"x\": " AT("6") "expected an object with dtype, shape and data_offsets, got 'null'"},
    {"{\"x\":{}}", "/x", "tensor \"x\": dtype is missing"},
    {"{\"x\":{" SHAPE "," OFFSETS "}}", "/x", "tensor \"x\": dtype is missing"},
    {"{\"x\":{" DTYPE "," OFFSETS "}}", "/x", "tensor \"x\": shape is missing"},
    {"{\"x\":{" DTYPE "," SHAPE "}}", "/x", "tensor \"x\": data_offsets is missing"},
    {"{\"x\":{" DTYPE "," SHAPE "," OFFSETS ",\"strides\":[3,1]}}", "/x",
     "tensor \"x\": key \"strides\" is none of dtype, shape and data_offsets"},
    {"{\"x\":{" DTYPE "," SHAPE "," OFFSETS "," DTYPE "}}", "/x",
     "tensor \"x\": dtype is given twice"},
    {"{\"x\":{" DTYPE "," SHAPE "," OFFSETS ",\"sh\\u0061pe\":[6]}}", "/x",
     "tensor \"x\": shape is given twice"},
    {"{\"x\":{" DTYPE "," OFFSETS "," OFFSETS "}}", "/x",
     "tensor \"x\": data_offsets is given twice"},
    {"{\"x\":{" DTYPE "," SHAPE "," OFFSETS "]}", "/x",
     "tensor \"x\": " AT("56") "expected ',' or '}', got ']'"},
    {"{" X "," X "}", "", "tensor \"x\" stands twice in the safetensors header"},
    {"{" X ",\"\\u0078\":{}}", "", "tensor \"x\" stands twice in the safetensors header"},
    /* dtype */
    {"{\"x\":{\"dtype\":32}}", "/x",
     "tensor \"x\": " AT("15") "expected the dtype in quotes, got '32'"},
    {"{\"x\":{\"dtype\":\"f32\"}}", "/x", "tensor \"x\": \"f32\" is no dtype of the format"},
    {"{\"x\":{\"dtype\":\"<f4\"}}", "/x", "tensor \"x\": \"<f4\" is no dtype of the format"},
    {"{\"x\":{\"dtype\":\"\"}}", "/x", "tensor \"x\": \"\" is no dtype of the format"},
    {"{\"x\":{\"dtype\":\"I32\"}}", "/x", "tensor \"x\": dtype I32 is not read here"},
    {"{\"x\":{\"dtype\":\"U8\"}}", "/x", "tensor \"x\": dtype U8 is not read here"},
    {"{\"x\":{\"dtype\":\"BOOL\"}}", "/x", "tensor \"x\": dtype BOOL is not read here"},
    {"{\"x\":{\"dtype\":\"F8_E4M3\"}}", "/x", "tensor \"x\": dtype F8_E4M3 is not read here"},
    {"{\"x\":{\"dtype\":\"C64\"}}", "/x", "tensor \"x\": dtype C64 is not read here"},
    /* shape */
    {"{\"x\":{\"shape\":6}}", "/x", "tensor \"x\": " AT("15") "expected a list of sizes, got '6'"},
    {"{\"x\":{\"shape\":[\"6\"]}}", "/x", "tensor \"x\": " AT("16") "expected a size, got '\"'"},
    {"{\"x\":{\"shape\":[6,]}}", "/x", "tensor \"x\": " AT("18") "expected a size, got ']'"},
    {"{\"x\":{\"shape\":[2 3]}}", "/x", "tensor \"x\": " AT("18") "expected ',' or ']', got '3'"},
    {"{\"x\":{\"shape\":[-6]}}", "/x", "tensor \"x\": a size must be a whole number, got -6"},
    {"{\"x\":{\"shape\":[-0]}}", "/x", "tensor \"x\": a size must be a whole number, got -0"},
    {"{\"x\":{\"shape\":[6.0]}}", "/x", "tensor \"x\": a size must be a whole number, got 6.0"},
    {"{\"x\":{\"shape\":[6e0]}}", "/x", "tensor \"x\": a size must be a whole number, got 6e0"},
    {"{\"x\":{\"shape\":[06]}}", "/x",
     "tensor \"x\": " AT("16") "a number must not begin with a needless zero"},
    {"{\"x\":{\"shape\":[[6]]}}", "/x", "tensor \"x\": " AT("16") "expected a size, got '['"},
    {"{\"x\":{\"shape\":[18446744073709551616]}}", "/x",
     "tensor \"x\": a size is beyond 64 bits: 18446744073709551616"},
    {"{" TENSOR("x", "4294967296,4294967296", "0", "24") "}", "/x",
     "tensor \"x\": the shape asks for more bytes than 64 bits can count"},
    {"{" TENSOR("x", "4294967296,0,4294967296", "0", "0") "}", "/x",
     "tensor \"x\": the shape asks for more bytes than 64 bits can count"},
    /* data_offsets */
    {"{\"x\":{\"data_offsets\":24}}", "/x",
     "tensor \"x\": " AT("22") "expected a list of two offsets, got '24'"},
    {"{\"x\":{\"data_offsets\":[]}}", "/x",
     "tensor \"x\": " AT("23") "expected an offset, got ']'"},
    {"{\"x\":{\"data_offsets\":[0]}}", "/x", "tensor \"x\": " AT("24") "expected ',', got ']'"},
    {"{\"x\":{\"data_offsets\":[0,8,24]}}", "/x",
     "tensor \"x\": " AT("26") "expected ']', got ','"},
    {"{\"x\":{\"data_offsets\":[0,null]}}", "/x",
     "tensor \"x\": " AT("25") "expected an offset, got 'null'"},
    {"{" TENSOR("x", "6", "0", "24.0") "}", "/x",
     "tensor \"x\": an offset must be a whole number, got 24.0"},
    {"{" TENSOR("x", "6", "0", "99999999999999999999") "}", "/x",
     "tensor \"x\": an offset is beyond 64 bits: 99999999999999999999"},
    {"{" TENSOR("x", "5", "4", "24") "}", "/x",
     "tensor \"x\": the data begin at 4 and not at 0, where data begin"},
    {"{" TENSOR("x", "6", "24", "0") "}", "/x",
     "tensor \"x\": the data begin at 24 and not at 0, where data begin"},
    {"{" TENSOR("x", "2", "0", "8") "," TENSOR("y/~z", "3", "12", "24") "}", "/y~1~0z",
     "tensor \"y/~z\": the data begin at 12 and not at 8, which leaves a hole"},
    {"{" TENSOR("x", "3", "0", "12") "," TENSOR("y", "4", "8", "24") "}", "/y",
     "tensor \"y\": the data begin at 8 and not at 12, so that tensors overlap or are out of "
     "order"},
    {"{" TENSOR("x", "3", "12", "24") "," TENSOR("y", "3", "0", "12") "}", "/x",
     "tensor \"x\": the data begin at 12 and not at 0, where data begin"},
    {"{" TENSOR("x", "6", "0", "24") "," TENSOR("y", "6", "0", "24") "}", "/y",
     "tensor \"y\": the data begin at 0 and not at 24, so that tensors overlap or are out of "
     "order"},
    {"{" TENSOR("x", "3", "0", "12") "," TENSOR("y", "0", "12", "8") "}", "/y",
     "tensor \"y\": the data end at 8, before they begin at 12"},
    {"{" TENSOR("x", "7", "0", "28") "}", "/x",
     "tensor \"x\": the data end at 28, the file has only 24 bytes of data"},
    {"{" TENSOR("x", "2,2", "0", "24") "}", "/x",
     "tensor \"x\": data_offsets span 24 bytes, 4 elements of F32 are 16"},
    {"{" TENSOR("x", "", "0", "24") "}", "/x",
     "tensor \"x\": data_offsets span 24 bytes, 1 elements of F32 are 4"},
    {"{" TENSOR("x", "0", "0", "24") "}", "/x",
     "tensor \"x\": data_offsets span 24 bytes, 0 elements of F32 are 0"},
    {"{" TENSOR("x", "5", "0", "20") "}", "", "4 bytes behind the last tensor belong to none"},
    {"{}", "", "24 bytes behind the last tensor belong to none"},
    /* __metadata__ */
    {"{\"__metadata__\":[]," X "}", "",
     AT("17") "expected an object of strings in __metadata__, got '['"},
    {"{\"__metadata__\":null," X "}", "",
     AT("17") "expected an object of strings in __metadata__, got 'null'"},
    {"{\"__metadata__\":{\"a\":1}," X "}", "",
     AT("22") "expected a string, as all of __metadata__, got '1'"},
    {"{\"__metadata__\":{\"a\":{\"b\":\"c\"}}," X "}", "",
     AT("22") "expected a string, as all of __metadata__, got '{'"},
    {"{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}," X "}", "", "\"a\" stands twice in __metadata__"},
    {"{\"__metadata__\":{\"a\":\"\",}," X "}", "", AT("25") "expected a key in quotes, got '}'"},
    {"{\"__metadata__\":{}," X ",\"__metadata__\":{}}", "",
     "__metadata__ stands twice in the safetensors header"},
};

Test(safetensors, refuses_headers_by_name_and_place)
{
    for (size_t i = 0; i < sizeof bad_headers / sizeof bad_headers[0]; i++) {
        struct arena arena;
        struct safetensors file;
        struct err err = {.n = 0};
        size_t len;
        char *bytes = make_file(bad_headers[i].header, 24, &len);
        cr_assert_not(read_bytes(bytes, len, &arena, &file, &err), "%s", bad_headers[i].header);
        expect_refusal(&err, ERR_malformed_tensor, bad_headers[i].where, bad_headers[i].detail);
        arena_release(&arena);
        free(bytes);
    }
}

Test(safetensors, hints_at_the_dtype_to_use)
{
    static const char *const rows[][2] = {
        {"I32", "convert it to I64"},
        {"U64", "convert it to I64"},
        {"BOOL", "convert it to F32"},
        {"F8_E5M2", "convert it to BF16"},
        {"C64", "split it into two tensors, F32"},
        {"float32", "dtypes that are read: F64, F32, F16, BF16, I64"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena arena;
        struct safetensors file;
        struct err err = {.n = 0};
        char header[100];
        size_t len;
        snprintf(header, sizeof header, "{\"x\":{\"dtype\":\"%s\"}}", rows[i][0]);
        char *bytes = make_file(header, 0, &len);
        cr_assert_not(read_bytes(bytes, len, &arena, &file, &err));
        cr_assert_str_eq(err.item[0].hint, rows[i][1]);
        arena_release(&arena);
        free(bytes);
    }
}

Test(safetensors, refuses_a_length_that_cannot_be)
{
    static const struct {
        uint64_t header_len;
        size_t len; /* of the file */
        const char *detail;
    } rows[] = {
        {0, 0, "a safetensors file begins with 8 bytes of length, this one has 0 bytes"},
        {2, 7, "a safetensors file begins with 8 bytes of length, this one has 7 bytes"},
        {0, 8, "the safetensors header ends where '{' at once is expected"},
        {3, 10, "a safetensors header of 3 bytes is announced, 2 are left in the file"},
        {1 << 20, 10, "a safetensors header of 1048576 bytes is announced, 2 are left in the file"},
        {(1 << 20) + 1, 10, "a safetensors header of 1048577 bytes is over the limit of 1048576"},
        {UINT64_MAX, 10,
         "a safetensors header of 18446744073709551615 bytes is over the limit of 1048576"},
        {0x0200000000000000, 10,
         "a safetensors header of 144115188075855872 bytes is over the limit of 1048576"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena arena;
        struct safetensors file;
        struct err err = {.n = 0};
        char whole[10];
        memcpy(whole, &rows[i].header_len, 8);
        memcpy(whole + 8, "{}", 2);
        char *bytes = copy_of(whole, rows[i].len);
        cr_assert_not(read_bytes(bytes, rows[i].len, &arena, &file, &err));
        expect_refusal(&err, ERR_malformed_tensor, "", rows[i].detail);
        arena_release(&arena);
        free(bytes);
    }
}

/* A file that is cut short is refused wherever the cut is. */
Test(safetensors, refuses_every_beginning_of_a_file)
{
    size_t len;
    char *bytes = make_file("{\"__metadata__\":{\"a\":\"b\"}," X "}", 24, &len);
    for (size_t cut = 0; cut < len; cut++) {
        struct arena arena;
        struct safetensors file;
        struct err err = {.n = 0};
        char *part = copy_of(bytes, cut);
        cr_assert_not(read_bytes(part, cut, &arena, &file, &err), "%zu bytes", cut);
        cr_assert_eq(err.item[0].code, ERR_malformed_tensor);
        arena_release(&arena);
        free(part);
    }
    free(bytes);
}

/* ---- Limits --------------------------------------------------------------------------------- */

/* A header with n members, whose names are their numbers, between two texts. */
static char *make_header(const char *before, const char *value, size_t n, const char *after)
{
    struct buf out;
    buf_init(&out, (size_t)2 << 20);
    buf_puts(&out, before);
    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "%s\"%zu\":%s", i ? "," : "", i, value);
    buf_puts(&out, after);
    buf_putc(&out, '\0');
    cr_assert_not(out.failed);
    return out.data;
}

Test(safetensors, reads_as_much_as_its_limits_allow)
{
    static const char empty[] = "{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}";
    static const struct {
        const char *before, *value;
        size_t n;
        const char *after, *detail;
    } rows[] = {
        {"{", empty, 256, "}", NULL},
        {"{", empty, 257, "}", "the safetensors file has more than 256 tensors"},
        {"{\"__metadata__\":{", "\"\"", 256, "}}", NULL},
        {"{\"__metadata__\":{", "\"\"", 257, "}}",
         "the safetensors file has more than 256 entries in __metadata__"},
        {"{\"x\":{\"shape\":[1,1,1,1,1,1,1,1,1]}}", "", 0, "",
         "the safetensors file has more than 8 axes in a tensor"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena arena;
        struct safetensors file;
        struct err err = {.n = 0};
        size_t len;
        char *header = make_header(rows[i].before, rows[i].value, rows[i].n, rows[i].after);
        char *bytes = make_file(header, 0, &len);
        bool ok = read_bytes(bytes, len, &arena, &file, &err);
        cr_assert_eq(ok, rows[i].detail == NULL, "row %zu: %s", i, err.item[0].detail);
        if (ok)
            cr_assert_eq(file.tensors_n + file.metadata_n, rows[i].n);
        else
            expect_refusal(&err, ERR_limit_exceeded, "", rows[i].detail);
        arena_release(&arena);
        free(header);
        free(bytes);
    }
}

/* A header of 1 MiB is read, be it one long string or spaces; an arena too small for it is told. */
Test(safetensors, reads_the_longest_header)
{
    for (int padded = 0; padded < 2; padded++) {
        struct arena arena;
        struct safetensors file;
        struct err err = {.n = 0};
        char *header = malloc(SAFETENSORS_HEADER_MAX + 1);
        const char *start = padded ? "{}" : "{\"__metadata__\":{\"a\":\"";
        size_t len;
        memset(header, padded ? ' ' : 'x', SAFETENSORS_HEADER_MAX);
        memcpy(header, start, strlen(start));
        if (!padded)
            memcpy(header + SAFETENSORS_HEADER_MAX - 3, "\"}}", 3);
        header[SAFETENSORS_HEADER_MAX] = '\0';
        char *bytes = make_file(header, 0, &len);
        cr_assert(read_bytes(bytes, len, &arena, &file, &err), "%s", err.item[0].detail);
        cr_assert_eq(file.metadata_n, !padded);
        cr_assert(padded || file.metadata[0].value_len == SAFETENSORS_HEADER_MAX - 3 - 22);
        arena_release(&arena);
        arena_init(&arena, (size_t)1 << 19);
        bool ok = safetensors_read(&(struct tensor_source){bytes, len, ""}, &arena, &file, &err);
        cr_assert_eq(ok, padded);
        if (!ok)
            expect_refusal(&err, ERR_limit_exceeded, "",
                           "the safetensors header needs more memory than a request may take");
        arena_release(&arena);
        free(header);
        free(bytes);
    }
}

/* Wherever the arena is full, that is what is said. */
Test(safetensors, tells_that_memory_ends)
{
    static const char empty[] = "{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}";
    char after[600];
    size_t len, refused = 0, cap = 0;
    snprintf(after, sizeof after, ",\"__metadata__\":{\"%0250d\":\"%0250d\"}}", 1, 2);
    char *header = make_header("{", empty, 200, after), *bytes = make_file(header, 0, &len);
    for (bool ok = false; !ok; cap += 512) {
        struct arena arena;
        struct safetensors file;
        struct err err = {.n = 0};
        arena_init(&arena, cap);
        ok = safetensors_read(&(struct tensor_source){bytes, len, ""}, &arena, &file, &err);
        if (!ok)
            expect_refusal(&err, ERR_limit_exceeded, "",
                           "the safetensors header needs more memory than a request may take");
        refused += !ok;
        arena_release(&arena);
    }
    cr_assert_gt(refused, 10);
    cr_assert_lt(cap, MEMORY);
    free(header);
    free(bytes);
}
