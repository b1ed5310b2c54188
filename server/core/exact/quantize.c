// SPDX-License-Identifier: Apache-2.0
/* quantize.c: vectors in formats of 8 bits, and back. */
#include <math.h>
#include <string.h>

#include "posenc.h"

static const char *const names[PE_QUANTS_N] = {"e4m3", "e5m2", "int8"};

/* Of floating formats: bits behind the point, exponent of the smallest normal number, largest. */
static const struct {
    int fraction, least;
    double largest;
} formats[] = {[PE_E4M3] = {3, -6, 448}, [PE_E5M2] = {2, -14, 57344}};

#define INT8_LARGEST 127

const char *pe_quant_name(enum pe_quant quant)
{
    return names[quant];
}

bool pe_quant_parse(const char *name, size_t len, enum pe_quant *quant)
{
    for (size_t i = 0; i < PE_QUANTS_N; i++)
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0) {
            *quant = (enum pe_quant)i;
            return true;
        }
    return false;
}

/* Divisions by powers of two are exact, so that rint is the only rounding. */
static double float8(enum pe_quant quant, double x)
{
    double size = fabs(x);
    if (x == 0 || isnan(x))
        return x;
    if (size >= formats[quant].largest)
        return copysign(formats[quant].largest, x);
    int exponent = ilogb(size) > formats[quant].least ? ilogb(size) : formats[quant].least;
    double step = ldexp(1, exponent - formats[quant].fraction);
    return copysign(fmin(rint(size / step) * step, formats[quant].largest), x);
}

static void int8_vector(size_t n, const double *x, double *out)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    double scale = largest / INT8_LARGEST;
    for (size_t i = 0; i < n; i++) {
        double number = fmax(-INT8_LARGEST, fmin(rint(x[i] / scale), INT8_LARGEST));
        out[i] = scale > 0 && !isnan(x[i]) ? number * scale : x[i];
    }
}

void pe_quantize(enum pe_quant quant, size_t n, const double *x, double *out)
{
    if (quant == PE_INT8) {
        int8_vector(n, x, out);
        return;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = float8(quant, x[i]);
}
