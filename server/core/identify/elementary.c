// SPDX-License-Identifier: Apache-2.0
/*
 * elementary.c: arctangent, logarithm, exponential and angles modulo 2 pi by series. Each reduces
 * its argument until a few terms are enough.
 */
#include "elementary.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- Arctangent --------------------------------------------------------------------------- */

/* atan(k/16) */
static const double atan_of[] = {0x0p+0,
                                 0x1.ff55bb72cfdeap-5,
                                 0x1.fd5ba9aac2f6ep-4,
                                 0x1.7b97b4bce5b02p-3,
                                 0x1.f5b75f92c80ddp-3,
                                 0x1.362773707ebccp-2,
                                 0x1.6f61941e4def1p-2,
                                 0x1.a64eec3cc23fdp-2,
                                 0x1.dac670561bb4fp-2,
                                 0x1.0657e94db30dp-1,
                                 0x1.1e00babdefeb4p-1,
                                 0x1.345f01cce37bbp-1,
                                 0x1.4978fa3269ee1p-1,
                                 0x1.5d58987169b18p-1,
                                 0x1.700a7c5784634p-1,
                                 0x1.819d0b7158a4dp-1,
                                 0x1.921fb54442d18p-1};

/* Of t in [0, 1]: atan(c) + atan((t - c) / (1 + tc)), c the nearest sixteenth. */
static double arctan_unit(double t)
{
    size_t k = (size_t)(t * 16 + 0.5);
    double c = (double)k / 16;
    double z = (t - c) / (1 + t * c), z2 = z * z, sum = 0; /* |z| <= 1/32 */
    for (int n = 11; n >= 3; n -= 2)
        sum = (1.0 / n - sum) * z2;
    return atan_of[k] + (z - z * sum);
}

double pe__arctan2(double y, double x)
{
    double a = fabs(x), b = fabs(y);
    if (a == 0 && b == 0)
        return 0;
    double angle = b <= a ? arctan_unit(b / a) : PE__PI / 2 - arctan_unit(a / b);
    if (x < 0)
        angle = PE__PI - angle;
    return y < 0 ? -angle : angle;
}

/* ---- Logarithm and exponential ------------------------------------------------------------ */

static const double ln2_hi = 0x1.62e42fee00000p-1, ln2_lo = 0x1.a39ef35793c76p-33;

double pe__plain_log(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    double t = (m - 1) / (m + 1), t2 = t * t, sum = 0; /* |t| < 0.172 */
    for (int n = 21; n >= 3; n -= 2)
        sum = (sum + 1.0 / n) * t2;
    return e * ln2_hi + (2 * t + (2 * t * sum + e * ln2_lo));
}

double pe__plain_exp(double x)
{
    if (x > 709)
        return INFINITY;
    if (x < -708)
        return 0;
    double k = floor(x / PE__LN2 + 0.5);
    double r = (x - k * ln2_hi) - k * ln2_lo, sum = 1;
    for (int n = 16; n >= 1; n--)
        sum = 1 + sum * r / n;
    return ldexp(sum, (int)k);
}

/* ---- Angles ------------------------------------------------------------------------------- */

/* 2 pi in three parts, the first two of 31 bits, so that multiples below 2^22 are exact. */
static const double turn_hi = 0x1.921fb544p+2, turn_mid = 0x1.0b4611ap-32,
                    turn_lo = 0x1.898cc51701b84p-62;

double pe__wrap(double angle)
{
    double k = floor(angle / (2 * PE__PI) + 0.5);
    return ((angle - k * turn_hi) - k * turn_mid) - k * turn_lo;
}
