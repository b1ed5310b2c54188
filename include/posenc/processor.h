// SPDX-License-Identifier: Apache-2.0
/* processor.h: variants of the code for processors. See posenc.h. */
#ifndef POSENC_PROCESSOR_H
#define POSENC_PROCESSOR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Variants: "scalar", "base" (SSE2 or NEON), "avx2", "avx512". The choice is made at first use:
 * POSENC_ISA if set and usable, else the widest usable. All give the same bits. */
const char *pe_isa_name(void);
/* Switches to a variant by name; false if it cannot run here. Not while other threads compute. */
bool pe_isa_select(const char *name);

#ifdef __cplusplus
}
#endif

#endif
