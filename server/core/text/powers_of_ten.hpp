// SPDX-License-Identifier: Apache-2.0
/*
 * powers_of_ten.hpp: the first 128 bits of 10^k for every k that reading and printing doubles
 * needs, computed by the compiler: 10^k = (hi * 2^64 + lo + f) * 2^e with 0 <= f < 1 and the top
 * bit of hi set; e is power_of_ten_exponent(k).
 */
#ifndef PE_CORE_POWERS_OF_TEN_HPP
#define PE_CORE_POWERS_OF_TEN_HPP

#include <cstdint>

struct PowerOfTen {
    uint64_t hi, lo;
};

constexpr int power_of_ten_min = -342;
constexpr int power_of_ten_max = 324;

/* floor(log2(10^k)) - 127, exact for |k| <= 1233. */
constexpr int power_of_ten_exponent(int k)
{
    return (k * 1741647 >> 19) - 127;
}

/* Whether f is 0: 5^55 < 2^128. */
constexpr bool power_of_ten_is_exact(int k)
{
    return 0 <= k && k <= 55;
}

/* 5^k as a fraction with its top bit set, in 256 bits. Steps that do not fit are cut; after 342 of
 * them the error is below 2^-245, far from what the first 128 bits could notice (all of them have
 * been compared with exact integers). The factors 2^k of 10^k only move the exponent. */
struct PowerOfFive {
    uint64_t limb[4]; // highest first

    constexpr void shift_left(int n)
    {
        for (int i = 0; i < 4; i++)
            limb[i] = limb[i] << n | (i < 3 ? limb[i + 1] >> (64 - n) : 0);
    }

    constexpr void shift_right(int n, uint64_t carry)
    {
        for (int i = 3; i >= 0; i--)
            limb[i] = limb[i] >> n | (i > 0 ? limb[i - 1] : carry) << (64 - n);
    }

    constexpr void times_five()
    {
        uint64_t carry = 0;
        for (int i = 3; i >= 0; i--) {
            unsigned __int128 product = static_cast<unsigned __int128>(limb[i]) * 5 + carry;
            limb[i] = static_cast<uint64_t>(product);
            carry = static_cast<uint64_t>(product >> 64);
        }
        shift_right(carry >= 4 ? 3 : 2, carry);
    }

    constexpr void divide_by_five()
    {
        uint64_t rest = 0;
        uint64_t low = 0; // bits below the last limb, so that the shift brings in true ones
        for (int i = 0; i < 5; i++) {
            unsigned __int128 part = static_cast<unsigned __int128>(rest) << 64;
            part |= i < 4 ? limb[i] : 0;
            (i < 4 ? limb[i] : low) = static_cast<uint64_t>(part / 5);
            rest = static_cast<uint64_t>(part % 5);
        }
        int n = limb[0] >> 61 ? 2 : 3;
        shift_left(n);
        limb[3] |= low >> (64 - n);
    }
};

struct PowersOfTen {
    PowerOfTen entry[power_of_ten_max - power_of_ten_min + 1];

    constexpr PowersOfTen() : entry()
    {
        constexpr uint64_t one = uint64_t(1) << 63;
        PowerOfFive up = {{one, 0, 0, 0}};
        for (int k = 0; k <= power_of_ten_max; k++, up.times_five())
            entry[k - power_of_ten_min] = {up.limb[0], up.limb[1]};
        PowerOfFive down = {{one, 0, 0, 0}};
        for (int k = -1; k >= power_of_ten_min; k--) {
            down.divide_by_five();
            entry[k - power_of_ten_min] = {down.limb[0], down.limb[1]};
        }
    }

    constexpr PowerOfTen operator[](int k) const
    {
        return entry[k - power_of_ten_min];
    }
};

static constexpr PowersOfTen powers_of_ten;

#endif
