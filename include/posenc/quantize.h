// SPDX-License-Identifier: Apache-2.0
/* quantize.h: vectors in fewer bits than a dtype has. See posenc.h. */
#ifndef POSENC_QUANTIZE_H
#define POSENC_QUANTIZE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What caches of keys are kept in. e4m3 and e5m2: the formats of 8 bits of the Open Compute Project
 * (OFP8), without a scale: to nearest, ties to even, with subnormals; what is beyond the largest
 * number (448, 57344) becomes that. int8: whole numbers from -127 to 127 with one scale per vector,
 * its largest absolute value / 127; each number is the nearest to x / scale, ties to even.
 */
enum pe_quant { PE_E4M3, PE_E5M2, PE_INT8, PE_QUANTS_N };
const char *pe_quant_name(enum pe_quant quant); /* "e4m3" */
bool pe_quant_parse(const char *name, size_t len, enum pe_quant *quant);
/* A vector as it comes back: of int8 number * scale, the scale and each product rounded to f64. NaN
 * stays. out may be x. */
void pe_quantize(enum pe_quant quant, size_t n, const double *x, double *out);

#ifdef __cplusplus
}
#endif

#endif
