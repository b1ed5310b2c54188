// SPDX-License-Identifier: Apache-2.0
/*
 * digits.hpp: decimal digits in machine words, and powers of ten that are exact.
 */
#ifndef PE_CORE_DIGITS_HPP
#define PE_CORE_DIGITS_HPP

#include <cstdint>
#include <cstring>

static constexpr double exact_powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// clang-format off
static constexpr uint64_t integer_powers_of_ten[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000,
    100000000000, 1000000000000, 10000000000000, 100000000000000, 1000000000000000,
    10000000000000000, 100000000000000000};
// clang-format on

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "eight_digits counts on it");

inline bool is_digit(char c)
{
    return static_cast<unsigned char>(c - '0') < 10;
}

// Eight bytes of text; digits become 0 to 9, the first one is the lowest byte.
inline uint64_t load_eight(const char *p)
{
    uint64_t bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return bytes ^ 0x3030303030303030;
}

// The number that eight bytes 0 to 9 stand for (the first one is the lowest byte).
inline uint64_t eight_digits(uint64_t bytes)
{
    bytes = bytes * 10 + (bytes >> 8); // pairs in the bytes 0, 2, 4, 6
    constexpr uint64_t mask = 0x000000FF000000FF;
    bytes = (bytes & mask) * (100 + (uint64_t(1000000) << 32)) +
            (bytes >> 16 & mask) * (1 + (uint64_t(10000) << 32));
    return bytes >> 32;
}

// How many of the eight bytes are 0 to 9 before the first that is not.
inline int leading_digits(uint64_t bytes)
{
    // What is none has a bit in its upper half, or gets one from 6 more. A carry out of a byte only
    // spoils those behind the first that is none.
    uint64_t wrong = (bytes | (bytes + 0x0606060606060606)) & 0xF0F0F0F0F0F0F0F0;
    return wrong ? __builtin_ctzll(wrong) / 8 : 8;
}

#endif
