// SPDX-License-Identifier: Apache-2.0
/*
 * cpu.c: which kernel variants this processor can run, and the choice of one: at first use, or by
 * pe_isa_select. All variants give the same bits, so the choice only shows in the speed.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

#ifdef __x86_64__
#include <cpuid.h>

static bool has_f16c(void) /* no name for it in __builtin_cpu_supports of all compilers */
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}
#endif

size_t pe__kernels_usable(const struct pe__kernels *out[4])
{
    size_t n = 0;
    out[n++] = &pe__kernels_scalar;
    out[n++] = &pe__kernels_base;
#ifdef __x86_64__
    /* __builtin_cpu_supports covers the operating system's part too. */
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c()) {
        out[n++] = &pe__kernels_avx2;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
            out[n++] = &pe__kernels_avx512;
    }
#endif
    return n;
}

/* The usable variant of that name, or NULL. */
static const struct pe__kernels *kernels_find(const char *name)
{
    const struct pe__kernels *usable[4];
    size_t n = pe__kernels_usable(usable);
    for (size_t i = 0; i < n; i++)
        if (strcmp(usable[i]->name, name) == 0)
            return usable[i];
    return NULL;
}

static const struct pe__kernels *kernels_default(void)
{
    const char *name = getenv("POSENC_ISA");
    const struct pe__kernels *wanted = name ? kernels_find(name) : NULL;
    if (wanted)
        return wanted;
    const struct pe__kernels *usable[4];
    size_t n = pe__kernels_usable(usable);
    return usable[n - 1];
}

/* NULL until first used. Threads that meet there find the same default, so that it does not matter
 * whose is kept. */
static _Atomic(const struct pe__kernels *) chosen;

__attribute__((noinline)) static const struct pe__kernels *kernels_choose(void)
{
    const struct pe__kernels *before = NULL;
    const struct pe__kernels *wanted = kernels_default();
    return atomic_compare_exchange_strong(&chosen, &before, wanted) ? wanted : before;
}

const struct pe__kernels *pe__kernels(void)
{
    const struct pe__kernels *kernels = atomic_load_explicit(&chosen, memory_order_acquire);
    return kernels ? kernels : kernels_choose();
}

const char *pe_isa_name(void)
{
    return pe__kernels()->name;
}

bool pe_isa_select(const char *name)
{
    const struct pe__kernels *kernels = kernels_find(name);
    if (kernels)
        atomic_store_explicit(&chosen, kernels, memory_order_release);
    return kernels != NULL;
}
