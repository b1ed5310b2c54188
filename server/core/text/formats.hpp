// SPDX-License-Identifier: Apache-2.0
/*
 * formats.hpp: the binary formats of the floating dtypes, for reading and printing them.
 */
#ifndef PE_CORE_FORMATS_HPP
#define PE_CORE_FORMATS_HPP

// Significand bits, with the hidden one; exponent of the smallest normal number; decimal digits that
// a number is printed from, enough for any and one of two counts, so that the work is that for whole
// words; how many less 2^(bits + 4) has.
struct Format {
    int bits, exponent_min, digits, spare_digits;
};

// By enum pe_dtype: f64, f32, f16, bf16.
static constexpr Format formats[] = {
    {53, -1022, 17, 0}, {24, -126, 9, 0}, {11, -14, 9, 4}, {8, -126, 9, 5}};

#endif
