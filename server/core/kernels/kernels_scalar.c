// SPDX-License-Identifier: Apache-2.0
/* kernels_scalar.c: the kernels one double at a time, which the other variants are held to. */
#define KERNEL_VEC   8
#define KERNEL_NAME  "scalar"
#define KERNEL_TABLE pe__kernels_scalar
#include "kernels.inc.c"
