/* SPDX-License-Identifier: MIT */
/* Selects the function that initialises a wave's frame, by CPU level and wave size. */
#include "exec/run/launch.h"

#include "sem/table.h"

WMI_TABLE_OF_BUILDS(launchers, wmi_start_frame);

wmi_start_frame *wmi_launcher(enum wmi_cpu_level level, unsigned lanes)
{
    return launchers[level][lanes / 64];
}
