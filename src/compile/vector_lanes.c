/* SPDX-License-Identifier: MIT */
/* Host code of steps that move a word between a scalar and one lane of a row, active or not: in the frame,
 * which has all lanes of a row once it is stored. */
#include "compile/vector.h"

/* RAX = the place of the lane in b, which counts modulo the wave size, in a row at RAX + the result. */
static int32_t find_lane(struct wmi_stretch *s, uint32_t b, uint32_t row)
{
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_FRAME, (int32_t)b);
    wmi_arithmetic_immediate(&s->host, 4, false, WMI_RAX, (int32_t)s->lanes - 1);
    wmi_shift_immediate(&s->host, 4, false, WMI_RAX, 2);
    wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_RAX, WMI_FRAME);
    return (int32_t)row;
}

bool wmi_emit_read_lane(struct wmi_stretch *s, const struct wmi_step *step)
{
    wmi_stretch_use_in_memory(s, step->a);
    const int32_t row = find_lane(s, step->b, step->a);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_RAX, row);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_RAX, WMI_FRAME, (int32_t)step->d);
    return true;
}

bool wmi_emit_write_lane(struct wmi_stretch *s, const struct wmi_step *step)
{
    wmi_stretch_use_in_memory(s, step->d);
    const int32_t row = find_lane(s, step->b, step->d);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RCX, WMI_FRAME, (int32_t)step->a);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_RCX, WMI_RAX, row);
    wmi_stretch_written_in_memory(s, step->d);
    return true;
}
