/* SPDX-License-Identifier: MIT */
/* Chooses the CPU level of the vector bodies. */
#include "sem/sem.h"

#include <stdlib.h>
#include <string.h>

static enum wmi_cpu_level host_level(void)
{
#ifdef WMI_X86_LEVELS
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("f16c") || !__builtin_cpu_supports("bmi2"))
        return WMI_CPU_BASELINE;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return WMI_CPU_AVX2;
    return WMI_CPU_AVX512;
#else
    return WMI_CPU_BASELINE;
#endif
}

enum wmi_cpu_level wmi_cpu_level(void)
{
    static const char *const names[] = {"baseline", "avx2", "avx512"};
    const enum wmi_cpu_level host = host_level();
    const char *wanted = getenv("WAVEMEM_CPU");

    for (unsigned level = 0; wanted && level < host; level++)
        if (!strcmp(wanted, names[level]))
            return (enum wmi_cpu_level)level;
    return host;
}
