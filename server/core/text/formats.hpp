// SPDX-License-Identifier: Apache-2.0
/*
 * formats.hpp: the binary formats of the floating dtypes, for reading and printing them.
 */
#ifndef PE_CORE_FORMATS_HPP
#define PE_CORE_FORMATS_HPP

// Significand bits, with the hidden one, and exponent of the smallest normal number.
struct Format {
    int bits, exponent_min;
};

// By enum pe_dtype: f64, f32, f16, bf16.
static constexpr Format formats[] = {{53, -1022}, {24, -126}, {11, -14}, {8, -126}};

#endif
