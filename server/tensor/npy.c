// SPDX-License-Identifier: Apache-2.0
/*
 * npy.c: the header of a .npy file is a dict in Python's notation. Only what numpy itself writes
 * there is understood: three keys, a string, a bool and a tuple of sizes.
 */
#include "npy.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MAGIC     "\x93NUMPY"
#define MAGIC_LEN 6
#define ALIGNMENT 64 /* of the data in files that are written */

enum { DESCR, FORTRAN_ORDER, SHAPE, KEYS_N };
static const char *const keys[KEYS_N] = {"descr", "fortran_order", "shape"};

struct npy {
    const struct tensor_source *file;
    const char *bytes;    /* the file */
    const char *at, *end; /* what is left of the header */
    bool u2_is_bf16;
    char descr[8]; /* for messages */
    struct tensor_view *view;
    struct err *err;
};

/* ---- Messages ------------------------------------------------------------------------------- */

/* Adds malformed-tensor about the byte at `at`; returns false. */
__attribute__((format(printf, 4, 5))) static bool refuse(const struct npy *npy, const char *at,
                                                         const char *hint, const char *format, ...)
{
    char says[200];
    va_list args;
    va_start(args, format);
    vsnprintf(says, sizeof says, format, args);
    va_end(args);
    return err_add(npy->err, ERR_malformed_tensor, npy->file->where, hint,
                   "npy header, byte %zu: %s", (size_t)(at - npy->bytes), says);
}

static bool expected(const struct npy *npy, const char *what)
{
    if (npy->at == npy->end)
        return refuse(npy, npy->at, NULL, "expected %s, got the end of the header", what);
    unsigned char byte = (unsigned char)*npy->at;
    if (byte < 0x20 || byte > 0x7e)
        return refuse(npy, npy->at, NULL, "expected %s, got byte 0x%02x", what, byte);
    return refuse(npy, npy->at, NULL, "expected %s, got '%c'", what, byte);
}

/* ---- Words ---------------------------------------------------------------------------------- */

/* Skips white space; the byte that follows, or -1 at the end. */
static int next(struct npy *npy)
{
    while (npy->at < npy->end && strchr(" \t\r\n", *npy->at) && *npy->at)
        npy->at++;
    return npy->at < npy->end ? (unsigned char)*npy->at : -1;
}

/* Takes this byte, behind white space. */
static bool take(struct npy *npy, char byte, const char *what)
{
    if (next(npy) != byte)
        return expected(npy, what);
    npy->at++;
    return true;
}

/* A string in either quote, without escapes: its first character and its length, or NULL. */
static const char *take_string(struct npy *npy, size_t *len, const char *what)
{
    int quote = next(npy);
    if (quote != '\'' && quote != '"') {
        expected(npy, what);
        return NULL;
    }
    const char *start = ++npy->at;
    while (npy->at < npy->end && *npy->at != quote && *npy->at != '\\' && *npy->at != '\n')
        npy->at++;
    if (npy->at < npy->end && *npy->at == quote) {
        *len = (size_t)(npy->at++ - start);
        return start;
    }
    if (npy->at < npy->end && *npy->at == '\\')
        refuse(npy, npy->at, NULL, "a backslash in a string is not read");
    else
        refuse(npy, start - 1, NULL, "the string that begins here has no end");
    return NULL;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t word_len(const struct npy *npy)
{
    const char *c = npy->at;
    while (c < npy->end && is_word(*c))
        c++;
    return (size_t)(c - npy->at);
}

static bool is(const char *text, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(text, name, len) == 0;
}

/* ---- descr ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum pe_dtype dtype;
} dtypes[] = {{"f8", PE_F64}, {"f4", PE_F32}, {"f2", PE_F16}, {"i8", PE_I64}, {"u2", PE_BF16}};

/* What the other letters of numpy stand for. */
static const struct {
    char kind;
    const char *says;
} others[] = {
    {'f', "floats of another width than 64, 32 and 16 bits"},
    {'g', "long double, which has no fixed format"},
    {'i', "integers of another width than 64 bits"},
    {'u', "unsigned integers"},
    {'b', "booleans"},
    {'c', "complex numbers"},
    {'O', "Python objects, which can hold code"},
    {'U', "text"},
    {'S', "byte strings"},
    {'a', "byte strings"},
    {'V', "bytes without a type"},
    {'M', "dates"},
    {'m', "spans of time"},
};

static const char hint_dtype[] =
    "dtypes read are f8, f4, f2 and i8, behind '<' or '>'; convert with x.astype('<f4')";

static bool refuse_descr(const struct npy *npy, const char *at, const char *text, size_t len)
{
    bool ordered = len > 0 && memchr("<>=|", *text, 4);
    const char *kind = text + ordered;
    for (size_t i = 0; kind < text + len && i < sizeof others / sizeof others[0]; i++)
        if (others[i].kind == *kind)
            return refuse(npy, at, hint_dtype, "dtype '%.*s' is not read: %s",
                          (int)(len < 40 ? len : 40), text, others[i].says);
    return refuse(npy, at, hint_dtype, "'%.*s' is no dtype of numpy", (int)(len < 40 ? len : 40),
                  text);
}

static bool read_descr(struct npy *npy)
{
    size_t len;
    int first = next(npy);
    const char *text, *at = npy->at;
    if (first == '[' || first == '(')
        return refuse(npy, npy->at, hint_dtype, "structured dtypes are not read");
    text = take_string(npy, &len, "the dtype in quotes");
    if (!text)
        return false;
    bool ordered = len > 0 && memchr("<>=|", *text, 4);
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (!is(text + ordered, len - ordered, dtypes[i].name))
            continue;
        if (dtypes[i].dtype == PE_BF16 && !npy->u2_is_bf16)
            break;
        if (!ordered)
            return refuse(npy, at, NULL,
                          "dtype '%s' does not tell its order of bytes, as '<%s' does",
                          dtypes[i].name, dtypes[i].name);
        npy->view->dtype = dtypes[i].dtype;
        npy->view->big_endian = *text == '>';
        snprintf(npy->descr, sizeof npy->descr, "%c%s", *text, dtypes[i].name);
        return true;
    }
    return refuse_descr(npy, at, text, len);
}

/* ---- fortran_order, shape ------------------------------------------------------------------- */

static bool read_fortran_order(struct npy *npy)
{
    next(npy);
    size_t len = word_len(npy);
    bool yes = is(npy->at, len, "True");
    if (!yes && !is(npy->at, len, "False"))
        return expected(npy, "True or False");
    npy->view->fortran = yes;
    npy->at += len;
    return true;
}

static bool read_size(struct npy *npy, size_t *size)
{
    const char *start = npy->at;
    size_t len = word_len(npy);
    if (len == 0 || *start < '0' || *start > '9')
        return *start == '-' ? refuse(npy, start, NULL, "a size cannot be negative")
                             : expected(npy, "a size or ')'");
    *size = 0;
    for (; npy->at < start + len; npy->at++) {
        char c = *npy->at;
        if (c == 'L')
            return refuse(npy, npy->at, "save the file again with Python 3",
                          "a size ends in L, as Python 2 wrote it");
        if (c < '0' || c > '9' || (len > 1 && *start == '0'))
            return refuse(npy, start, NULL, "a size is written in decimal digits, not as '%.*s'",
                          (int)(len < 40 ? len : 40), start);
        if (__builtin_mul_overflow(*size, 10, size) ||
            __builtin_add_overflow(*size, (size_t)(c - '0'), size))
            return refuse(npy, start, NULL, "size %.*s is beyond 64 bits",
                          (int)(len < 40 ? len : 40), start);
    }
    return true;
}

static bool read_shape(struct npy *npy)
{
    const char *start;
    struct tensor_view *view = npy->view;
    bool comma = true; /* before the next size */
    if (!take(npy, '(', "a tuple of sizes, such as (2, 3)"))
        return false;
    start = npy->at - 1;
    for (view->rank = 0; next(npy) != ')'; view->rank++) {
        if (!comma)
            return expected(npy, "',' or ')'");
        if (view->rank == TENSOR_RANK_MAX)
            return err_add(npy->err, ERR_limit_exceeded, npy->file->where, NULL,
                           "the npy file has more than %d axes", TENSOR_RANK_MAX);
        if (npy->at == npy->end)
            return expected(npy, "a size or ')'");
        if (!read_size(npy, &view->shape[view->rank]))
            return false;
        comma = next(npy) == ',';
        npy->at += comma;
    }
    npy->at++;
    if (view->rank == 1 && !comma)
        return refuse(npy, start, NULL, "(%zu) is no tuple; one axis is written (%zu,)",
                      view->shape[0], view->shape[0]);
    return true;
}

/* ---- The header ----------------------------------------------------------------------------- */

static bool read_entry(struct npy *npy, unsigned *seen)
{
    static bool (*const readers[KEYS_N])(struct npy *) = {read_descr, read_fortran_order,
                                                          read_shape};
    const char *at = npy->at;
    size_t len, i = 0;
    const char *key = take_string(npy, &len, "a key in quotes, or '}'");
    if (!key)
        return false;
    while (i < KEYS_N && !is(key, len, keys[i]))
        i++;
    if (i == KEYS_N)
        return refuse(npy, at, NULL, "'%.*s' is none of descr, fortran_order and shape",
                      (int)(len < 40 ? len : 40), key);
    if (*seen & 1u << i)
        return refuse(npy, at, NULL, "'%s' stands here a second time", keys[i]);
    *seen |= 1u << i;
    return take(npy, ':', "':'") && readers[i](npy);
}

static bool read_dict(struct npy *npy)
{
    unsigned seen = 0;
    bool comma = true; /* before the next entry */
    if (npy->at == npy->end || *npy->at != '{')
        return expected(npy, "'{'");
    npy->at++;
    while (next(npy) != '}') {
        if (!comma)
            return expected(npy, "',' or '}'");
        if (!read_entry(npy, &seen))
            return false;
        comma = next(npy) == ',';
        npy->at += comma;
    }
    for (size_t i = 0; i < KEYS_N; i++)
        if (!(seen & 1u << i))
            return refuse(npy, npy->at, NULL, "'%s' is missing", keys[i]);
    npy->at++;
    return true;
}

/* Behind the dict: spaces, and a newline at the very end. */
static bool read_padding(struct npy *npy)
{
    while (npy->at < npy->end && *npy->at == ' ')
        npy->at++;
    if (npy->end - npy->at != 1 || *npy->at != '\n')
        return expected(npy, "spaces and one newline up to the end of the header");
    npy->at++;
    return true;
}

/* Finds the header by what stands before it. */
static bool find_header(struct npy *npy)
{
    const unsigned char *bytes = npy->file->bytes;
    size_t len = npy->file->len;
    if (len < MAGIC_LEN || memcmp(bytes, MAGIC, MAGIC_LEN) != 0)
        return err_add(npy->err, ERR_malformed_tensor, npy->file->where, NULL,
                       "this is no npy file: it does not begin with \\x93NUMPY");
    npy->at = npy->bytes + MAGIC_LEN;
    npy->end = npy->bytes + len;
    size_t before = len > MAGIC_LEN && bytes[MAGIC_LEN] > 1 ? 12 : 10;
    if (len < before)
        return err_add(npy->err, ERR_malformed_tensor, npy->file->where, NULL,
                       "the npy file ends after %zu bytes, before its header begins", len);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return refuse(npy, npy->at, NULL, "version %u.%u is none of 1.0, 2.0 and 3.0", bytes[6],
                      bytes[7]);
    size_t size = bytes[8] | (size_t)bytes[9] << 8;
    if (before == 12)
        size |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (size > NPY_HEADER_IN_MAX)
        return refuse(npy, npy->bytes + 8, NULL, "a header of %zu bytes is over the limit of %zu",
                      size, NPY_HEADER_IN_MAX);
    if (size > len - before)
        return refuse(npy, npy->bytes + 8, NULL,
                      "a header of %zu bytes is announced, %zu are left in the file", size,
                      len - before);
    npy->at = npy->bytes + before;
    npy->end = npy->at + size;
    return true;
}

/* The data are what is left of the file, no more and no less. */
static bool read_data(struct npy *npy)
{
    struct tensor_view *view = npy->view;
    size_t left = npy->file->len - (size_t)(npy->end - npy->bytes);
    if (!tensor_view_measure(view))
        return err_add(npy->err, ERR_malformed_tensor, npy->file->where, NULL,
                       "the shape of the npy file asks for more bytes than 64 bits can count");
    if (left != view->bytes)
        return err_add(npy->err, ERR_malformed_tensor, npy->file->where, NULL,
                       "the npy file has %zu bytes of data, %zu elements of '%s' are %zu", left,
                       view->count, npy->descr, view->bytes);
    view->data = npy->end;
    return true;
}

bool npy_read(const struct tensor_source *file, bool u2_is_bf16, struct tensor_view *view,
              struct err *err)
{
    struct npy npy = {
        .file = file, .bytes = file->bytes, .u2_is_bf16 = u2_is_bf16, .view = view, .err = err};
    *view = (struct tensor_view){.rank = 0};
    return find_header(&npy) && read_dict(&npy) && read_padding(&npy) && read_data(&npy);
}

/* ---- Writing -------------------------------------------------------------------------------- */

size_t npy_header(enum pe_dtype dtype, size_t rank, const size_t *shape,
                  char out[NPY_HEADER_OUT_MAX])
{
    static const char *const descrs[PE_DTYPES_N] = {"<f8", "<f4", "<f2", "<u2", "<i8"};
    assert(rank <= TENSOR_RANK_MAX);
    const size_t room = NPY_HEADER_OUT_MAX, before = MAGIC_LEN + 4;
    size_t len = before, first_len = 0;
    len += (size_t)snprintf(out + len, room - len,
                            "{'descr': '%s', 'fortran_order': False, 'shape': (", descrs[dtype]);
    for (size_t i = 0; i < rank; i++) {
        size_t digits = (size_t)snprintf(out + len, room - len, "%zu", shape[i]);
        first_len = i == 0 ? digits : first_len;
        len += digits;
        len += (size_t)snprintf(out + len, room - len, "%s",
                                i + 1 < rank ? ", "
                                : rank == 1  ? ","
                                             : "");
    }
    len += (size_t)snprintf(out + len, room - len, "), }");
    /* numpy leaves room for the first size to grow to 21 digits, then pads; the last is a newline,
     * and where that would fit exactly there are 64 spaces more. */
    size_t total = len + (rank > 0 ? 21 - first_len : 0) + 1;
    total += ALIGNMENT - total % ALIGNMENT;
    memset(out + len, ' ', total - len);
    out[total - 1] = '\n';
    memcpy(out, MAGIC "\x01\x00", MAGIC_LEN + 2);
    out[MAGIC_LEN + 2] = (char)((total - before) & 0xff);
    out[MAGIC_LEN + 3] = (char)((total - before) >> 8);
    return total;
}
