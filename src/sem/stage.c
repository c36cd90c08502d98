/* SPDX-License-Identifier: MIT */
/* Table of the modifier stages by CPU level and wave size. */
#include "sem/stage.h"
#include "sem/table.h"

/* Each build of stage_lanes.c has a table. */
#define STAGES(name, level, lanes, suffix) extern const wmi_body name##suffix[WMI_STAGES];
WMI_LANE_BUILDS(STAGES, wmi_stages)

#define ENTRY(name, level, lanes, suffix) [level][lanes / 64] = name##suffix,
static const wmi_body *const stages[WMI_CPU_LEVELS][2] = {WMI_LANE_BUILDS(ENTRY, wmi_stages)};

wmi_body wmi_stage(enum wmi_cpu_level level, unsigned lanes, enum wmi_stage stage)
{
    return stages[level][lanes / 64][stage];
}
