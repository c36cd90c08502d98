/* SPDX-License-Identifier: MIT */
/* Maps a step to its function. A row without a function does not link. */
#include "exec/run/bind.h"

#include "exec/control/steps.h"
#include "exec/memory/buffer.h"
#include "exec/memory/lds.h"
#include "exec/memory/vmem.h"

/* Steps with one function for all builds, or one per build. */
#define LANE_ENTRY(name, level, lanes, suffix) [level][lanes / 64] = name##suffix,
static const wmi_body functions[WMI_STEP_BODIES][WMI_CPU_LEVELS][2] = {
#define ROW(...)
#define SAME_ENTRY(name, level, lanes, suffix) [level][lanes / 64] = name,
#define STEP(name, ...)                        [WMI_STEP_##name] = {WMI_LANE_BUILDS(SAME_ENTRY, wmi_step_##name)},
#define LANE_STEP(name, ...)                   [WMI_STEP_##name] = {WMI_LANE_BUILDS(LANE_ENTRY, wmi_step_##name)},
#include "lower/steps.def"
};

/* Families of steps with tables of their own. */
enum family { PLAIN, STAGES, FUSED_STEPS, LDS_STEPS, GLOBALS, BUFFERS };

static const uint8_t families[WMI_STEP_BODIES] = {
#define ROW(...)
#define STAGE(name, ...)  [WMI_STEP_stage_##name] = STAGES,
#define FUSED(name, ...)  [WMI_STEP_fused_##name] = FUSED_STEPS,
#define LDS(name, ...)    [WMI_STEP_lds_##name] = LDS_STEPS,
#define GLOBAL(name, ...) [WMI_STEP_global_##name] = GLOBALS,
#define BUFFER(name, ...) [WMI_STEP_buffer_##name] = BUFFERS,
#include "lower/steps.def"
};

wmi_body wmi_bind(enum wmi_step_id id, enum wmi_cpu_level level, unsigned lanes)
{
    if (id >= WMI_STEP_BODIES)
        return wmi_sem_body(level, lanes, (unsigned)(id - WMI_STEP_BODIES));
    switch ((enum family)families[id]) {
    case STAGES:
        return wmi_stage(level, lanes, (enum wmi_stage)(id - WMI_STEP_FIRST_STAGE));
    case FUSED_STEPS:
        return wmi_fused(level, lanes, (enum wmi_fused)(id - WMI_STEP_FIRST_FUSED));
    case LDS_STEPS:
        return wmi_lds_body(level, lanes, (enum wmi_lds_step)(id - WMI_STEP_FIRST_LDS + 1));
    case GLOBALS: {
        const unsigned which = id - WMI_STEP_FIRST_GLOBAL;
        return wmi_vmem_steps(level, lanes)[which / WMI_VMEM_FAST_FORMS].step[which % WMI_VMEM_FAST_FORMS];
    }
    case BUFFERS:
        return wmi_buffer_steps(level, lanes)[id - WMI_STEP_FIRST_BUFFER].step;
    default:
        return functions[id][level][lanes / 64];
    }
}

struct wmi_op wmi_bind_step(const struct wmi_step *step, enum wmi_cpu_level level, unsigned lanes)
{
    return (struct wmi_op){
        .body = wmi_bind((enum wmi_step_id)step->id, level, lanes),
        .d = step->d,
        .a = step->a,
        .b = step->b,
        .c = step->c,
        .e = step->e,
        .lanes = step->lanes,
        .x = step->x,
        .y = step->y,
        .value = step->value,
    };
}
