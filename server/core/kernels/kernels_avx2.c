// SPDX-License-Identifier: Apache-2.0
/* kernels_avx2.c: the kernels at 32-byte vectors; built with -mavx2 -mfma -mf16c, x86-64 only. */
#ifdef __x86_64__
#define KERNEL_VEC   32
#define KERNEL_NAME  "avx2"
#define KERNEL_TABLE pe__kernels_avx2
#include "kernels.inc.c"
#endif
