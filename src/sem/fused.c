/* SPDX-License-Identifier: MIT */
/* Table of the fused steps by CPU level and wave size. */
#include "sem/fused.h"
#include "sem/table.h"

#define TABLE(name, level, lanes, suffix) extern const wmi_body name##suffix[WMI_FUSED_COUNT];
WMI_LANE_BUILDS(TABLE, wmi_fused_steps)

#define ENTRY(name, level, lanes, suffix) [level][lanes / 64] = name##suffix,
static const wmi_body *const steps[WMI_CPU_LEVELS][2] = {WMI_LANE_BUILDS(ENTRY, wmi_fused_steps)};

wmi_body wmi_fused(enum wmi_cpu_level level, unsigned lanes, enum wmi_fused fused)
{
    return steps[level][lanes / 64][fused];
}
