// SPDX-License-Identifier: Apache-2.0
/*
 * test_npy.c: files that numpy wrote, element by element; headers as numpy writes them; spellings
 * that mean the same; and everything else refused, by name and place.
 */
#include "npy.h"

#include <stdint.h>
#include <stdio.h>

#include "refusal.h"

#define FILE_MAX 1024

/* Reads a copy of exactly the file's size; `out`, if there is one, gets the elements. */
static bool read_bytes(const void *bytes, size_t len, bool u2_is_bf16, struct tensor_view *view,
                       void *out, struct err *err)
{
    void *copy = copy_of(bytes, len);
    bool ok = npy_read(&(struct tensor_source){copy, len, "/x"}, u2_is_bf16, view, err);
    if (ok && out)
        tensor_view_unpack(view, out);
    free(copy);
    view->data = NULL;
    return ok;
}

/* A file of one of the versions around a header, with n zero bytes of data; returns its length. */
static size_t make_file(char out[FILE_MAX], const char *version, const char *header, size_t n)
{
    size_t len = strlen(header), before = version[0] == '1' ? 10 : 12;
    memset(out, 0, FILE_MAX);
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (char)(version[0] - '0');
    out[7] = (char)(version[2] - '0');
    out[8] = (char)(len & 0xff);
    out[9] = (char)(len >> 8);
    memcpy(out + before, header, len);
    cr_assert_leq(before + len + n, (size_t)FILE_MAX);
    return before + len + n;
}

/* ---- Files of numpy ------------------------------------------------------------------------- */

/* The six elements in every file of tests/tensor/data, as make.py there has them. */
static const struct {
    const char *name;
    enum pe_dtype dtype;
    uint64_t bits[6];
} contents[] = {
    {"f8",
     PE_F64,
     {0x3ff0000000000000, 0x8000000000000000, 1, 0x7ff8000000000123, 0x7ff0000000000000,
      0xfff0000000000000}},
    {"f4", PE_F32, {0x3f800000, 0x80000000, 1, 0x7fc00123, 0x7f800000, 0xff800000}},
    {"f2", PE_F16, {0x3c00, 0x8000, 1, 0x7e23, 0x7c00, 0xfc00}},
    {"u2", PE_BF16, {0x3f80, 0x8000, 1, 0x7fc3, 0x7f80, 0xff80}},
    {"i8",
     PE_I64,
     {1, 0xffffffffffffffff, 0x20000000000001, 0x8000000000000000, 0x7fffffffffffffff, 0}},
};

static size_t load(const char *name, char out[FILE_MAX])
{
    char path[200];
    snprintf(path, sizeof path, "tests/tensor/data/%s.npy", name);
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    size_t len = fread(out, 1, FILE_MAX, file);
    fclose(file);
    return len;
}

/* The file has n of the elements, in this shape. */
static struct tensor_view expect_file(const char *name, size_t row, size_t n)
{
    char bytes[FILE_MAX];
    unsigned char out[48];
    struct tensor_view view;
    struct err err = {.n = 0};
    size_t len = load(name, bytes), size = pe_dtype_size(contents[row].dtype);
    cr_assert(read_bytes(bytes, len, true, &view, out, &err), "%s: %s", name, err.item[0].detail);
    cr_assert_eq(view.dtype, contents[row].dtype, "%s", name);
    cr_assert_eq(view.count, n, "%s", name);
    cr_assert_eq(view.bytes, n * size, "%s", name);
    for (size_t i = 0; i < n; i++)
        cr_assert(memcmp(out + i * size, &contents[row].bits[i], size) == 0, "%s, element %zu",
                  name, i);
    return view;
}

Test(npy, reads_every_dtype_in_every_order)
{
    static const char *const orders[] = {"little-c", "little-fortran", "big-c", "big-fortran"};
    for (size_t row = 0; row < sizeof contents / sizeof contents[0]; row++)
        for (size_t i = 0; i < 4; i++) {
            char name[40];
            snprintf(name, sizeof name, "%s-%s", contents[row].name, orders[i]);
            struct tensor_view view = expect_file(name, row, 6);
            cr_assert(view.rank == 2 && view.shape[0] == 2 && view.shape[1] == 3, "%s", name);
            cr_assert_eq(view.big_endian, i >= 2, "%s", name);
            cr_assert_eq(view.fortran, i % 2, "%s", name);
        }
}

Test(npy, reads_every_version_and_rank)
{
    expect_file("version-2", 1, 6);
    expect_file("version-3", 1, 6);
    cr_assert_eq(expect_file("rank-0", 1, 1).rank, 0);
    cr_assert_eq(expect_file("rank-1", 1, 6).rank, 1);
    cr_assert_eq(expect_file("rank-8", 1, 6).rank, 8);
    struct tensor_view view = expect_file("empty", 1, 0);
    cr_assert(view.rank == 2 && view.shape[0] == 0 && view.shape[1] == 3);
}

/* ---- Headers -------------------------------------------------------------------------------- */

Test(npy, writes_what_numpy_writes)
{
    static const char *const names[] = {"f8-little-c", "f4-little-c", "f2-little-c", "u2-little-c",
                                        "i8-little-c", "rank-0",      "rank-1",      "empty"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char bytes[FILE_MAX], header[NPY_HEADER_OUT_MAX];
        struct tensor_view view;
        struct err err = {.n = 0};
        size_t len = load(names[i], bytes);
        cr_assert(read_bytes(bytes, len, true, &view, NULL, &err));
        cr_assert_eq(npy_header(view.dtype, view.rank, view.shape, header), len - view.bytes);
        cr_assert_arr_eq(header, bytes, len - view.bytes, "%s", names[i]);
    }
}

/* Headers of numpy.save, also on both sides of the shape that needs 64 bytes more. */
Test(npy, pads_as_numpy_does)
{
    static const struct {
        size_t rank, shape[TENSOR_RANK_MAX];
        const char *dict;
        size_t len;
    } rows[] = {
        {2, {3, 4}, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }", 128},
        {2, {2621, 401}, "{'descr': '<f8', 'fortran_order': False, 'shape': (2621, 401), }", 128},
        {1, {3}, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", 128},
        {0, {0}, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 128},
        {5,
         {7, 1111111111111111111, 11111111111, 1, 1},
         "{'descr': '<f8', 'fortran_order': False, 'shape': (7, 1111111111111111111, 11111111111, "
         "1, 1), }",
         128},
        {5,
         {7, 1111111111111111111, 111111111111, 1, 1},
         "{'descr': '<f8', 'fortran_order': False, 'shape': (7, 1111111111111111111, "
         "111111111111, 1, 1), }",
         192},
        {8,
         {-1, -1, -1, -1, -1, -1, -1, -1},
         "{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551615, "
         "18446744073709551615, 18446744073709551615, 18446744073709551615, "
         "18446744073709551615, 18446744073709551615, 18446744073709551615, "
         "18446744073709551615), }",
         256},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char header[NPY_HEADER_OUT_MAX], wanted[NPY_HEADER_OUT_MAX];
        size_t dict_len = strlen(rows[i].dict);
        memset(wanted, ' ', sizeof wanted);
        memcpy(wanted, "\x93NUMPY\x01\x00", 8);
        wanted[8] = (char)(rows[i].len - 10);
        wanted[9] = 0;
        memcpy(wanted + 10, rows[i].dict, dict_len);
        wanted[rows[i].len - 1] = '\n';
        cr_assert_eq(npy_header(PE_F64, rows[i].rank, rows[i].shape, header), rows[i].len);
        cr_assert_arr_eq(header, wanted, rows[i].len, "%s", rows[i].dict);
    }
}

/* What numpy.save makes of the doubles 0 to 11, three rows of four. */
Test(npy, writes_a_whole_file_byte_by_byte)
{
    static const char hex[] =
        "934e554d5059010076007b276465736372273a20273c6638272c2027666f727472616e5f6f72646572273a20"
        "46616c73652c20277368617065273a2028332c2034292c207d20202020202020202020202020202020202020"
        "2020202020202020202020202020202020202020202020202020202020202020202020202020200a00000000"
        "00000000000000000000f03f0000000000000040000000000000084000000000000010400000000000001440"
        "00000000000018400000000000001c4000000000000020400000000000002240000000000000244000000000"
        "00002640";
    char file[FILE_MAX];
    size_t len = npy_header(PE_F64, 2, (const size_t[]){3, 4}, file);
    for (int i = 0; i < 12; i++, len += sizeof(double))
        memcpy(file + len, &(double){i}, sizeof(double));
    cr_assert_eq(strlen(hex), 2 * len);
    for (size_t i = 0; i < len; i++) {
        unsigned byte = 0;
        cr_assert_eq(sscanf(hex + 2 * i, "%2x", &byte), 1);
        cr_assert_eq((unsigned char)file[i], byte, "byte %zu", i);
    }
}

Test(npy, reads_other_spellings_of_the_same)
{
    static const char *const headers[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
        "{'descr': '=f4', 'fortran_order': False, 'shape': (2, 3), }\n",
        "{'descr': '|f4', 'fortran_order': False, 'shape': (2, 3), }\n",
        "{'shape': (2, 3), 'descr': '<f4', 'fortran_order': False}\n",
        "{\"fortran_order\":False,\"shape\":(2,3,),\"descr\":\"<f4\"}\n",
        "{ 'descr' : '<f4' ,\n\t'fortran_order' : False ,\r\n 'shape' : ( 2 , 3 , ) , }     \n",
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        for (char version[] = "1.0"; version[0] <= '3'; version[0]++) {
            char file[FILE_MAX];
            struct tensor_view view;
            struct err err = {.n = 0};
            size_t len = make_file(file, version, headers[i], 24);
            cr_assert(read_bytes(file, len, false, &view, NULL, &err), "%s: %s", headers[i],
                      err.item[0].detail);
            cr_assert(view.dtype == PE_F32 && !view.big_endian && !view.fortran);
            cr_assert(view.rank == 2 && view.shape[0] == 2 && view.shape[1] == 3);
        }
}

/* The data begin where the header ends, and may be used there if they are aligned. */
Test(npy, points_into_the_file)
{
    _Alignas(64) char file[FILE_MAX];
    struct tensor_view view;
    struct err err = {.n = 0};
    size_t shape[] = {2, 3}, len = npy_header(PE_F64, 2, shape, file);
    cr_assert(npy_read(&(struct tensor_source){file, len + 48, ""}, false, &view, &err));
    cr_assert_eq(view.data, (void *)(file + len));
    cr_assert(tensor_view_in_place(&view));
}

/* ---- What is refused ------------------------------------------------------------------------ */

#define D "'descr': '<f4', "
#define F "'fortran_order': False, "
#define S "'shape': (2, 3), "

/* Headers, beginning at byte 10 and followed by 24 bytes of data. */
static const struct {
    const char *header, *detail;
} bad_headers[] = {
    {"", "npy header, byte 10: expected '{', got the end of the header"},
    {"\n", "npy header, byte 10: expected '{', got byte 0x0a"},
    {" {" D F S "}\n", "npy header, byte 10: expected '{', got ' '"},
    {"[" D F S "]\n", "npy header, byte 10: expected '{', got '['"},
    {"{" D F S, "npy header, byte 68: expected a key in quotes, or '}', got the end of the header"},
    {"{" D F S "}", "npy header, byte 69: expected spaces and one newline up to the end of the "
                    "header, got the end of the header"},
    {"{" D F S "}  ", "npy header, byte 71: expected spaces and one newline up to the end of the "
                      "header, got the end of the header"},
    {"{" D F S "}\n\n", "npy header, byte 69: expected spaces and one newline up to the end of "
                        "the header, got byte 0x0a"},
    {"{" D F S "}, 1\n", "npy header, byte 69: expected spaces and one newline up to the end of "
                         "the header, got ','"},
    {"{" D F S "}}\n", "npy header, byte 69: expected spaces and one newline up to the end of the "
                       "header, got '}'"},
    {"{" D F S "}\xc2\xa0\n", "npy header, byte 69: expected spaces and one newline up to the end "
                              "of the header, got byte 0xc2"},
    {"{}\n", "npy header, byte 11: 'descr' is missing"},
    {"{" F S "}\n", "npy header, byte 52: 'descr' is missing"},
    {"{" D S "}\n", "npy header, byte 44: 'fortran_order' is missing"},
    {"{" D F "}\n", "npy header, byte 51: 'shape' is missing"},
    {"{" D F S D "}\n", "npy header, byte 68: 'descr' stands here a second time"},
    {"{" D F S F "}\n", "npy header, byte 68: 'fortran_order' stands here a second time"},
    {"{" D F S S "}\n", "npy header, byte 68: 'shape' stands here a second time"},
    {"{" D F S "'order': 'C', }\n",
     "npy header, byte 68: 'order' is none of descr, fortran_order and shape"},
    {"{" D F S ", }\n", "npy header, byte 68: expected a key in quotes, or '}', got ','"},
    {"{, " D F S "}\n", "npy header, byte 11: expected a key in quotes, or '}', got ','"},
    {"{'descr' '<f4', " F S "}\n", "npy header, byte 19: expected ':', got '''"},
    {"{'descr': '<f4' " F S "}\n", "npy header, byte 26: expected ',' or '}', got '''"},
    {"{descr: '<f4', " F S "}\n", "npy header, byte 11: expected a key in quotes, or '}', got 'd'"},
    {"{'desc\\x72': '<f4', " F S "}\n", "npy header, byte 16: a backslash in a string is not read"},
    {"{'descr: '<f4', " F S "}\n",
     "npy header, byte 11: 'descr: ' is none of descr, fortran_order and shape"},
    {"{'descr': '<f4, }\n", "npy header, byte 20: the string that begins here has no end"},
    {"{'descr': \"<f4', " F S "}\n", "npy header, byte 20: the string that begins here has no end"},
    {"{'descr': '<f4", "npy header, byte 20: the string that begins here has no end"},
    {"{'descr': <f4, " F S "}\n", "npy header, byte 20: expected the dtype in quotes, got '<'"},
    {"{'descr': u'<f4', " F S "}\n", "npy header, byte 20: expected the dtype in quotes, got 'u'"},
    {"{'descr': [('a', '<f4')], " F S "}\n", "npy header, byte 20: structured dtypes are not read"},
    {"{'descr': ('<f4', (2,)), " F S "}\n", "npy header, byte 20: structured dtypes are not read"},
    {"{'descr': 'f4', " F S "}\n",
     "npy header, byte 20: dtype 'f4' does not tell its order of bytes, as '<f4' does"},
    {"{'descr': '', " F S "}\n", "npy header, byte 20: '' is no dtype of numpy"},
    {"{'descr': '<', " F S "}\n", "npy header, byte 20: '<' is no dtype of numpy"},
    {"{'descr': '<<f4', " F S "}\n", "npy header, byte 20: '<<f4' is no dtype of numpy"},
    {"{'descr': 'x4', " F S "}\n", "npy header, byte 20: 'x4' is no dtype of numpy"},
    {"{'descr': '<f16', " F S "}\n", "npy header, byte 20: dtype '<f16' is not read: floats of "
                                     "another width than 64, 32 and 16 bits"},
    {"{'descr': '<g', " F S "}\n",
     "npy header, byte 20: dtype '<g' is not read: long double, which has no fixed format"},
    {"{'descr': '<i4', " F S "}\n",
     "npy header, byte 20: dtype '<i4' is not read: integers of another width than 64 bits"},
    {"{'descr': '<u8', " F S "}\n",
     "npy header, byte 20: dtype '<u8' is not read: unsigned integers"},
    {"{'descr': '<u2', " F S "}\n",
     "npy header, byte 20: dtype '<u2' is not read: unsigned integers"},
    {"{'descr': '|b1', " F S "}\n", "npy header, byte 20: dtype '|b1' is not read: booleans"},
    {"{'descr': '<c8', " F S "}\n",
     "npy header, byte 20: dtype '<c8' is not read: complex numbers"},
    {"{'descr': '|O', " F S "}\n",
     "npy header, byte 20: dtype '|O' is not read: Python objects, which can hold code"},
    {"{'descr': '<U1', " F S "}\n", "npy header, byte 20: dtype '<U1' is not read: text"},
    {"{'descr': '|S4', " F S "}\n", "npy header, byte 20: dtype '|S4' is not read: byte strings"},
    {"{'descr': '|a4', " F S "}\n", "npy header, byte 20: dtype '|a4' is not read: byte strings"},
    {"{'descr': '|V2', " F S "}\n",
     "npy header, byte 20: dtype '|V2' is not read: bytes without a type"},
    {"{'descr': '<M8[ns]', " F S "}\n", "npy header, byte 20: dtype '<M8[ns]' is not read: dates"},
    {"{'descr': '<m8[s]', " F S "}\n",
     "npy header, byte 20: dtype '<m8[s]' is not read: spans of time"},
    {"{" D "'fortran_order': false, " S "}\n",
     "npy header, byte 44: expected True or False, got 'f'"},
    {"{" D "'fortran_order': 0, " S "}\n", "npy header, byte 44: expected True or False, got '0'"},
    {"{" D "'fortran_order': 'False', " S "}\n",
     "npy header, byte 44: expected True or False, got '''"},
    {"{" D "'fortran_order': Falsely, " S "}\n",
     "npy header, byte 44: expected True or False, got 'F'"},
    {"{" D F "'shape': [2, 3], }\n",
     "npy header, byte 60: expected a tuple of sizes, such as (2, 3), got '['"},
    {"{" D F "'shape': 6, }\n",
     "npy header, byte 60: expected a tuple of sizes, such as (2, 3), got '6'"},
    {"{" D F "'shape': (6), }\n", "npy header, byte 60: (6) is no tuple; one axis is written (6,)"},
    {"{" D F "'shape': (2 3), }\n", "npy header, byte 63: expected ',' or ')', got '3'"},
    {"{" D F "'shape': (2,, 3), }\n", "npy header, byte 63: expected a size or ')', got ','"},
    {"{" D F "'shape': (,), }\n", "npy header, byte 61: expected a size or ')', got ','"},
    {"{" D F "'shape': (2, 3\n",
     "npy header, byte 66: expected ',' or ')', got the end of the header"},
    {"{" D F "'shape': (2, \n",
     "npy header, byte 65: expected a size or ')', got the end of the header"},
    {"{" D F "'shape': (-2, -3), }\n", "npy header, byte 61: a size cannot be negative"},
    {"{" D F "'shape': (+2, 3), }\n", "npy header, byte 61: expected a size or ')', got '+'"},
    {"{" D F "'shape': (2.0, 3), }\n", "npy header, byte 62: expected ',' or ')', got '.'"},
    {"{" D F "'shape': (2L, 3L), }\n",
     "npy header, byte 62: a size ends in L, as Python 2 wrote it"},
    {"{" D F "'shape': (0x2, 3), }\n",
     "npy header, byte 61: a size is written in decimal digits, not as '0x2'"},
    {"{" D F "'shape': (02, 3), }\n",
     "npy header, byte 61: a size is written in decimal digits, not as '02'"},
    {"{" D F "'shape': (1_0, 3), }\n",
     "npy header, byte 61: a size is written in decimal digits, not as '1_0'"},
    {"{" D F "'shape': (2e0, 3), }\n",
     "npy header, byte 61: a size is written in decimal digits, not as '2e0'"},
    {"{" D F "'shape': (True, 3), }\n", "npy header, byte 61: expected a size or ')', got 'T'"},
    {"{" D F "'shape': ('2', 3), }\n", "npy header, byte 61: expected a size or ')', got '''"},
    {"{" D F "'shape': ((2, 3), ), }\n", "npy header, byte 61: expected a size or ')', got '('"},
    {"{" D F "'shape': (18446744073709551616,), }\n",
     "npy header, byte 61: size 18446744073709551616 is beyond 64 bits"},
    {"{" D F "'shape': (4294967296, 4294967296), }\n",
     "the shape of the npy file asks for more bytes than 64 bits can count"},
    {"{" D F "'shape': (0, 9223372036854775808), }\n",
     "the shape of the npy file asks for more bytes than 64 bits can count"},
    {"{" D F "'shape': (2, 4), }\n",
     "the npy file has 24 bytes of data, 8 elements of '<f4' are 32"},
    {"{" D F "'shape': (5,), }\n", "the npy file has 24 bytes of data, 5 elements of '<f4' are 20"},
    {"{" D F "'shape': (), }\n", "the npy file has 24 bytes of data, 1 elements of '<f4' are 4"},
    {"{" D F "'shape': (0, 3), }\n",
     "the npy file has 24 bytes of data, 0 elements of '<f4' are 0"},
    {"{'descr': '>f8', " F S "}\n",
     "the npy file has 24 bytes of data, 6 elements of '>f8' are 48"},
};

Test(npy, refuses_headers_by_name_and_place)
{
    for (size_t i = 0; i < sizeof bad_headers / sizeof bad_headers[0]; i++) {
        char file[FILE_MAX];
        struct tensor_view view;
        struct err err = {.n = 0};
        size_t len = make_file(file, "1.0", bad_headers[i].header, 24);
        cr_assert_not(read_bytes(file, len, false, &view, NULL, &err), "%s", bad_headers[i].header);
        expect_refusal(&err, ERR_malformed_tensor, "/x", bad_headers[i].detail);
    }
}

/* What stands before the header. */
Test(npy, refuses_what_is_no_npy_file)
{
#define BYTES(text) text, sizeof(text) - 1
    static const struct {
        const char *bytes;
        size_t len;
        const char *detail;
    } rows[] = {
        {BYTES(""), "this is no npy file: it does not begin with \\x93NUMPY"},
        {BYTES("\x93NUMP"), "this is no npy file: it does not begin with \\x93NUMPY"},
        {BYTES("\x93numpy\1\0\0\0"), "this is no npy file: it does not begin with \\x93NUMPY"},
        {BYTES("{\"x\":[1,2,3]}"), "this is no npy file: it does not begin with \\x93NUMPY"},
        {BYTES("PK\3\4\24\0\0\0\0\0\0\0"),
         "this is no npy file: it does not begin with \\x93NUMPY"},
        {BYTES("\x93NUMPY"), "the npy file ends after 6 bytes, before its header begins"},
        {BYTES("\x93NUMPY\1\0\x76"), "the npy file ends after 9 bytes, before its header begins"},
        {BYTES("\x93NUMPY\2\0\x76\0\0"),
         "the npy file ends after 11 bytes, before its header begins"},
        {BYTES("\x93NUMPY\0\0\2\0{}"),
         "npy header, byte 6: version 0.0 is none of 1.0, 2.0 and 3.0"},
        {BYTES("\x93NUMPY\1\1\2\0{}"),
         "npy header, byte 6: version 1.1 is none of 1.0, 2.0 and 3.0"},
        {BYTES("\x93NUMPY\4\0\2\0\0\0{}"),
         "npy header, byte 6: version 4.0 is none of 1.0, 2.0 and 3.0"},
        {BYTES("\x93NUMPY\xff\xff\2\0\0\0{}"),
         "npy header, byte 6: version 255.255 is none of 1.0, 2.0 and 3.0"},
        {BYTES("\x93NUMPY\1\0\3\0{}"),
         "npy header, byte 8: a header of 3 bytes is announced, 2 are left in the file"},
        {BYTES("\x93NUMPY\2\0\0\0\1\0{}"),
         "npy header, byte 8: a header of 65536 bytes is announced, 2 are left in the file"},
        {BYTES("\x93NUMPY\2\0\1\0\1\0{}"),
         "npy header, byte 8: a header of 65537 bytes is over the limit of 65536"},
        {BYTES("\x93NUMPY\3\0\xff\xff\xff\xff{}"),
         "npy header, byte 8: a header of 4294967295 bytes is over the limit of 65536"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tensor_view view;
        struct err err = {.n = 0};
        cr_assert_not(read_bytes(rows[i].bytes, rows[i].len, false, &view, NULL, &err), "%s",
                      rows[i].detail);
        expect_refusal(&err, ERR_malformed_tensor, "/x", rows[i].detail);
    }
}

Test(npy, refuses_more_axes_than_there_can_be)
{
    char file[FILE_MAX];
    struct tensor_view view;
    struct err err = {.n = 0};
    size_t len = make_file(file, "1.0", "{" D F "'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1), }\n", 4);
    cr_assert_not(read_bytes(file, len, false, &view, NULL, &err));
    expect_refusal(&err, ERR_limit_exceeded, "/x", "the npy file has more than 8 axes");
}

/* A file that is cut short is refused wherever the cut is. */
Test(npy, refuses_every_beginning_of_a_file)
{
    char file[FILE_MAX];
    size_t len = load("f8-big-fortran", file);
    for (size_t cut = 0; cut < len; cut++) {
        struct tensor_view view;
        struct err err = {.n = 0};
        cr_assert_not(read_bytes(file, cut, false, &view, NULL, &err), "%zu bytes", cut);
        cr_assert_eq(err.item[0].code, ERR_malformed_tensor);
    }
}

Test(npy, takes_u2_for_bf16_only_when_told)
{
    char file[FILE_MAX];
    struct tensor_view view;
    struct err err = {.n = 0};
    size_t len = load("u2-big-c", file);
    cr_assert(read_bytes(file, len, true, &view, NULL, &err));
    cr_assert_eq(view.dtype, PE_BF16);
    cr_assert_not(read_bytes(file, len, false, &view, NULL, &err));
    expect_refusal(&err, ERR_malformed_tensor, "/x",
                   "npy header, byte 20: dtype '>u2' is not read: unsigned integers");
    cr_assert_str_eq(err.item[0].hint, "dtypes read are f8, f4, f2 and i8, behind '<' or '>'; "
                                       "convert with x.astype('<f4')");
}
