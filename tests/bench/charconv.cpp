// SPDX-License-Identifier: Apache-2.0
/* charconv.cpp: see charconv.h. */
#include "charconv.h"

#include <charconv>

namespace
{

template <typename T> std::size_t print(T value, char *out)
{
    return static_cast<std::size_t>(std::to_chars(out, out + CHARCONV_MAX, value).ptr - out);
}

template <typename T> std::size_t digits_of(T value, int digits, char *out)
{
    char *end = out + CHARCONV_MAX;
    constexpr auto form = std::chars_format::scientific;
    auto stop = digits > 0 ? std::to_chars(out, end, value, form, digits - 1)
                           : std::to_chars(out, end, value, form);
    return static_cast<std::size_t>(stop.ptr - out);
}

template <typename T> const char *read(const char *text, const char *end, T *value)
{
    auto stop = std::from_chars(text, end, *value);
    return stop.ec == std::errc() ? stop.ptr : nullptr;
}

} // namespace

size_t charconv_print_f64(double value, char *out)
{
    return print(value, out);
}

size_t charconv_print_f32(float value, char *out)
{
    return print(value, out);
}

size_t charconv_digits_f64(double value, int digits, char *out)
{
    return digits_of(value, digits, out);
}

size_t charconv_digits_f32(float value, int digits, char *out)
{
    return digits_of(value, digits, out);
}

const char *charconv_read_f64(const char *text, const char *end, double *value)
{
    return read(text, end, value);
}

const char *charconv_read_f32(const char *text, const char *end, float *value)
{
    return read(text, end, value);
}
