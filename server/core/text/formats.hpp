// SPDX-License-Identifier: Apache-2.0
/*
 * formats.hpp: the binary formats of the floating dtypes, for reading and printing them.
 */
#ifndef PE_CORE_FORMATS_HPP
#define PE_CORE_FORMATS_HPP

// Significand bits, with the hidden one; exponent of the smallest normal number; how many decimal
// digits 2^(bits + 4) has less than that of doubles, 17.
struct Format {
    int bits, exponent_min, spare_digits;
};

// By enum pe_dtype: f64, f32, f16, bf16.
static constexpr Format formats[] = {
    {53, -1022, 0}, {24, -126, 8}, {11, -14, 12}, {8, -126, 13}};

#endif
