/* SPDX-License-Identifier: MIT */
/* Transcendentals of f32 and f16 as the units of gfx11 and gfx12 compute them. */
#include "arithmetic/transcendental_units.h"
#include "sem/float_bodies.h"

WMI_APPROXIMATE1(v_rcp_f32_unit, wmi_unit_rcp(a))
WMI_APPROXIMATE1(v_rsq_f32_unit, wmi_unit_rsq(a))
WMI_APPROXIMATE1(v_sqrt_f32_unit, wmi_unit_sqrt(a))
WMI_APPROXIMATE1(v_exp_f32_unit, wmi_unit_exp2(a))
WMI_APPROXIMATE1(v_log_f32_unit, wmi_unit_log2(a))
WMI_APPROXIMATE1(v_sin_f32_unit, wmi_unit_sin(a))
WMI_APPROXIMATE1(v_cos_f32_unit, wmi_unit_cos(a))

/* The infinite value of a number counts as too large for f16 with FP16_OVFL: 1 / 0, log 0. */
static inline f32v limited(f32v value, f32v x, uint32_t mode)
{
    if (__builtin_expect(!(mode & WMI_MODE_FP16_OVFL), 1))
        return value;
    const u32v finite = (u32v)(((u32v)x & WMI_EXPONENT_F32) < WMI_EXPONENT_F32);
    const u32v infinite = (u32v)(((u32v)value & ~WMI_SIGN_F32) == WMI_EXPONENT_F32);
    const u32v largest = ((u32v)value & WMI_SIGN_F32) | 0x477fe000;
    return wmi_saturate_f16((f32v)wmi_select_u32(finite & infinite, largest, (u32v)value), mode);
}

/* f16: the result of f32 rounded to nearest even, whatever MODE says; of exp and log the exact one, rounded
 * once. Source: as base/transcendental_units.h. That is also the host's 1 / x and sqrt(x), rounded a second
 * time, for all f16. */
#define UNIT_F16(name, value)                                                                                \
    WMI_F16_LOOP(name, const f32v x = WMI_LOAD_F16(a),                                                       \
                 WMI_STORE1(wmi_halves_out(wmi_narrow(limited((value), x, mode), 0), mode)))

UNIT_F16(v_rcp_f16_unit, wmi_settle_f32(1 / x, active, x, x, x))
UNIT_F16(v_rsq_f16_unit, wmi_unit_rsq(x))
UNIT_F16(v_sqrt_f16_unit, wmi_settle_f32(wmi_sqrt_f32(x), active, x, x, x))
UNIT_F16(v_log_f16_unit, wmi_log2_f32(x, false))
UNIT_F16(v_sin_f16_unit, wmi_unit_sin(x))
UNIT_F16(v_cos_f16_unit, wmi_unit_cos(x))

/* Of one number, 0x1.714p-11, the f32 nearest to 2^x lies halfway between two f16, below 2^x itself. */
static inline f32v exponential(f32v x)
{
    const u32v halfway = (u32v)((u32v)x == 0x3a38a000u) & 1;
    return (f32v)((u32v)wmi_exp2_f32(x) + halfway);
}

UNIT_F16(v_exp_f16_unit, exponential(x))
