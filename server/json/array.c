// SPDX-License-Identifier: Apache-2.0
/*
 * array.c: the numbers of a lifted array, from their text straight into a buffer. The walk has
 * checked the grammar and the shape, so that here only elements matter.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "doc.h"
#include "scan.h"

/* JSON pointer of element i. */
static void element_pointer(const struct json_array *array, size_t i, char *out, size_t size)
{
    size_t index[JSON_RANK_MAX] = {0};
    for (size_t axis = array->rank; axis-- > 0; i /= array->shape[axis])
        index[axis] = i % array->shape[axis];
    size_t len = (size_t)snprintf(out, size, "%s", array->pointer);
    for (size_t axis = 0; axis < array->rank && len < size; axis++)
        len += (size_t)snprintf(out + len, size - len, "/%zu", index[axis]);
}

static bool refuse(const struct json_array *array, size_t i, enum pe_dtype dtype, const char *text,
                   size_t len, struct err *err)
{
    char pointer[512];
    element_pointer(array, i, pointer, sizeof pointer);
    return err_add(err, ERR_invalid_value, pointer, NULL,
                   dtype == PE_I64 ? "%.*s%s is not an integer that %s can hold"
                                   : "%.*s%s is beyond the largest number of %s",
                   len < 40 ? (int)len : 40, text, len < 40 ? "" : "...", pe_dtype_name(dtype));
}

/* Stores "NaN", "Infinity" or "-Infinity" (at the opening quote). */
static bool store_special(const char *text, enum pe_dtype dtype, void *out, size_t i)
{
    if (dtype == PE_I64)
        return false;
    double value = text[1] == 'N' ? NAN : text[1] == 'I' ? INFINITY : -INFINITY;
    pe_store(dtype, out, i, value);
    return true;
}

static bool is_between(char c)
{
    return c == ',' || c == ' ' || c == '[' || c == ']' || c == '\n' || c == '\r' || c == '\t';
}

static bool read_all(const struct json_array *array, enum pe_dtype dtype, bool overflow_inf,
                     void *out, struct err *err)
{
    assert(!array->fault);
    const char *at = array->text, *end = array->text + array->len;
    for (size_t i = 0; i < array->count; i++) {
        i += pe_text_read_plain(&at, end, dtype, out, i, array->count - i);
        if (i == array->count)
            break;
        while (is_between(*at))
            at++;
        const char *stop;
        bool held;
        if (*at == '"') {
            stop = at + special_len(at, end);
            held = store_special(at, dtype, out, i);
        } else {
            stop = pe_text_read_next(at, end, dtype, out, i, &held);
        }
        if (!held && (dtype == PE_I64 || !overflow_inf)) /* it has been stored as infinite */
            return refuse(array, i, dtype, at, (size_t)(stop - at), err);
        at = stop;
    }
    return true;
}

bool json_array_read(const struct json_array *array, enum pe_dtype dtype, void *out,
                     struct err *err)
{
    return read_all(array, dtype, false, out, err);
}

bool json_array_read_inf(const struct json_array *array, enum pe_dtype dtype, void *out,
                         struct err *err)
{
    return read_all(array, dtype, true, out, err);
}
