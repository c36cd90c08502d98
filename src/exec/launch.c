/* SPDX-License-Identifier: MIT */
/* Finds the function that fills a starting wave's frame, by CPU level and wave size. */
#include "exec/launch.h"

#include "sem/table.h"

#define DECLARE(name, level, lanes, suffix) extern wmi_start_frame name##suffix;
WMI_LANE_BUILDS(DECLARE, wmi_start_frame)

#define ENTRY(name, level, lanes, suffix) [level][lanes / 64] = name##suffix,
static wmi_start_frame *const launchers[WMI_CPU_LEVELS][2] = {WMI_LANE_BUILDS(ENTRY, wmi_start_frame)};

wmi_start_frame *wmi_launcher(enum wmi_cpu_level level, unsigned lanes)
{
    return launchers[level][lanes / 64];
}
