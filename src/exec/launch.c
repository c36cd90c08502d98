/* SPDX-License-Identifier: MIT */
/* Finds the function that fills a starting wave's frame, by CPU level and wave size. */
#include "exec/launch.h"

#include "sem/table.h"

WMI_TABLE_OF_BUILDS(launchers, wmi_start_frame);

wmi_start_frame *wmi_launcher(enum wmi_cpu_level level, unsigned lanes)
{
    return launchers[level][lanes / 64];
}
