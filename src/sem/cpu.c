/* SPDX-License-Identifier: MIT */
/* Chooses the CPU level of the vector bodies. */
#include "sem/cpu.h"

#include "sem/sem.h"

#include <limits.h>
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

/* The level of this name, or `otherwise`. */
static unsigned level_named(const char *name, unsigned otherwise)
{
    static const char *const names[] = {"baseline", "avx2", "avx512"};
    for (unsigned level = 0; level < sizeof names / sizeof *names; level++)
        if (!strcmp(name, names[level]))
            return level;
    return otherwise;
}

bool wmi_has_cpu_level(const char *name)
{
#ifdef WMI_X86_LEVELS
    const unsigned most = host_level();
#else
    const unsigned most = WMI_CPU_LEVELS - 1; /* this build has one level under all names */
#endif
    return level_named(name, UINT_MAX) <= most;
}

enum wmi_cpu_level wmi_cpu_level(void)
{
    const unsigned host = host_level();
    const char *wanted = getenv(WMI_CPU_VARIABLE);
    const unsigned level = wanted ? level_named(wanted, host) : host;
    return (enum wmi_cpu_level)(level < host ? level : host);
}
