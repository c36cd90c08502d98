/* SPDX-License-Identifier: MIT */
/* Tables of the plain build: bodies, stages and fused steps compiled without intrinsics. */
#include "plain.h"

#include "sem/fused.h"
#include "sem/stage.h"
#include "sem/table.h"

#undef WMI_LANE_BUILDS
#define WMI_LANE_BUILDS(BUILD, name)                                                                         \
    BUILD(name, WMI_CPU_BASELINE, 32, _plain_32)                                                             \
    BUILD(name, WMI_CPU_BASELINE, 64, _plain_64)

/* The library's own tables, compiled again for this build. */
#define wmi_sem_body(level, lanes, number) plain_sem_body(level, lanes, number)
#define wmi_row_of_body(number)            plain_row_of_body(number)
#define wmi_stage(level, lanes, stage)     plain_stage(level, lanes, stage)
#define wmi_fused(level, lanes, fused)     plain_fused(level, lanes, fused)
#include "sem/fused.c"
#include "sem/stage.c"
#include "sem/table.c"

wmi_body plain_body_of(unsigned lanes, unsigned number)
{
    return plain_sem_body(WMI_CPU_BASELINE, lanes, number);
}

wmi_body plain_stage_of(unsigned lanes, enum wmi_stage stage)
{
    return plain_stage(WMI_CPU_BASELINE, lanes, stage);
}

wmi_body plain_fused_of(unsigned lanes, enum wmi_fused fused)
{
    return plain_fused(WMI_CPU_BASELINE, lanes, fused);
}
