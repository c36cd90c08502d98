/* SPDX-License-Identifier: MIT */
/* Finds the quick ways to show accesses, by CPU level and wave size. */
#include "exec/watch.h"

#define DECLARE(name, level, lanes, suffix)                                                                  \
    extern const struct wmi_op *name##suffix(char *restrict, const struct wmi_op *);
WMI_LANE_BUILDS(DECLARE, wmi_vmem_watch_quick)

wmi_body wmi_vmem_quick_watch(enum wmi_cpu_level level, unsigned lanes)
{
#define ENTRY(name, level, lanes, suffix) [level][lanes / 64] = name##suffix,
    static const wmi_body steps[WMI_CPU_LEVELS][2] = {WMI_LANE_BUILDS(ENTRY, wmi_vmem_watch_quick)};
    return steps[level][lanes == 64];
}
