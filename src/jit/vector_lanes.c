/* SPDX-License-Identifier: MIT */
/* Host code of steps that move a word between a scalar and one lane of a row, active or not: in registers, if
 * the lane is a constant; else in the frame, which has all lanes of a row once it is stored. */
#include "jit/scalar_memory.h"
#include "jit/vector.h"

enum { VALIGND = WMI_EVEX(0x03, WMI_MAP_0F3A, WMI_PREFIX_66, 0) };

/* Whether the lane is a constant, and the row has a register per strip or may be loaded to them. */
static bool is_in_registers(const struct wmi_stretch *s, uint32_t b, uint32_t row, unsigned *lane)
{
    uint32_t value;
    if (!wmi_scalar_constant(s, b, &value))
        return false;
    *lane = value % s->lanes;
    return !wmi_stretch_has_base(s, row) && !wmi_stretch_is_uniform(s, row);
}

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
    unsigned lane;
    if (wmi_stretch_has_lanes(s, step->a) && is_in_registers(s, step->b, step->a, &lane)) {
        const unsigned reg = wmi_stretch_use(s, step->a, true).reg[lane / WMI_STRIP_LANES],
                       place = lane % WMI_STRIP_LANES;
        if (place)
            wmi_evex(&s->host, VALIGND, WMI_SCRATCH, reg, wmi_zmm(reg), WMI_NO_MASK, (int)place);
        wmi_evex_plain(&s->host, WMI_VMOVD_GPR, place ? WMI_SCRATCH : reg, 0, wmi_zmm(WMI_RAX));
        wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_RAX, WMI_FRAME, (int32_t)step->d);
        return true;
    }
    wmi_stretch_use_in_memory(s, step->a);
    const int32_t row = find_lane(s, step->b, step->a);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_RAX, row);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_RAX, WMI_FRAME, (int32_t)step->d);
    return true;
}

/* The word in ECX to a lane whose number is a constant. The registers may lack inactive lanes, which then are
 * in the frame; so it becomes the same there. */
static void write_register(struct wmi_stretch *s, const struct wmi_step *step, unsigned lane)
{
    wmi_stretch_hold(s, step->d);
    struct wmi_rows row = wmi_stretch_use(s, step->d, true);
    if (s->partial)
        wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_RCX, WMI_FRAME, (int32_t)(step->d + 4 * lane));
    wmi_move_immediate(&s->host, WMI_RAX, UINT64_C(1) << lane % WMI_STRIP_LANES);
    wmi_kmov_gpr(&s->host, WMI_K, WMI_RAX);
    wmi_evex(&s->host, WMI_VPBROADCASTD_GPR, row.reg[lane / WMI_STRIP_LANES], 0, wmi_zmm(WMI_RCX), WMI_K,
             WMI_NO_IMMEDIATE);
    if (!s->partial) /* else it is as dirty as before */
        wmi_stretch_write_all_lanes(s, step->d, &row);
}

bool wmi_emit_write_lane(struct wmi_stretch *s, const struct wmi_step *step)
{
    unsigned lane;
    if (is_in_registers(s, step->b, step->d, &lane)) {
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RCX, WMI_FRAME, (int32_t)step->a);
        write_register(s, step, lane);
        return true;
    }
    wmi_stretch_use_in_memory(s, step->d);
    const int32_t row = find_lane(s, step->b, step->d);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RCX, WMI_FRAME, (int32_t)step->a);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_RCX, WMI_RAX, row);
    wmi_stretch_written_in_memory(s, step->d);
    return true;
}
