// SPDX-License-Identifier: Apache-2.0
/* kernels_avx512.c: the kernels at 64-byte vectors; built with -mavx512{f,dq,bw,vl} -mfma, x86-64
 * only. */
#ifdef __x86_64__
#define KERNEL_VEC   64
#define KERNEL_NAME  "avx512"
#define KERNEL_TABLE pe__kernels_avx512
#include "kernels.inc.c"
#endif
