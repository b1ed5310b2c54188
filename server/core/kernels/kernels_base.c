// SPDX-License-Identifier: Apache-2.0
/* kernels_base.c: the kernels at 16-byte vectors without flags: SSE2 on x86-64, NEON on AArch64. */
#define KERNEL_VEC   16
#define KERNEL_NAME  "base"
#define KERNEL_TABLE pe__kernels_base
#include "kernels.inc.c"
