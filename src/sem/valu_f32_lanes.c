/* SPDX-License-Identifier: MIT */
/* f32 arithmetic of the vector ALU: sums, products, minimum, maximum, rounding, scaling. */
#include "sem/float_bodies.h"

/* The result, with NaNs settled among the sources of the instruction. */
#define ONE(x)   wmi_settle_f32(x, active, a, a, a)
#define TWO(x)   wmi_settle_f32(x, active, a, b, b)
#define THREE(x) wmi_settle_f32(x, active, a, b, wmi_addend_f32(a, b, c))

WMI_ARITHMETIC2(v_add_f32, a + b, a, b)
WMI_ARITHMETIC2(v_sub_f32, a - b, a, b)
WMI_ARITHMETIC2(v_subrev_f32, b - a, a, b)
WMI_ARITHMETIC2(v_mul_f32, (a * b), a, b)
WMI_ROWS2(v_mul_legacy_f32, f32v, TWO(wmi_multiply_legacy_f32(a, b)))
WMI_ROWS2(v_min_f32, f32v, wmi_min_f32(a, b, mode))
WMI_ROWS2(v_max_f32, f32v, wmi_max_f32(a, b, mode))
WMI_ROWS2(v_min_num_f32, f32v, wmi_min_num_f32(a, b, mode))
WMI_ROWS2(v_max_num_f32, f32v, wmi_max_num_f32(a, b, mode))
/* A single compare, so a NaN gives b. Source: Southern Islands ISA; LLVM, combineFMinMaxLegacy. */
WMI_ROWS2(v_min_legacy_f32, f32v, wmi_input_f32(wmi_select_f32((u32v)(a < b), a, b), mode))
WMI_ROWS2(v_max_legacy_f32, f32v, wmi_input_f32(wmi_select_f32((u32v)(a >= b), a, b), mode))

WMI_ARITHMETIC3(v_fma_f32, wmi_fused_f32(a, b, c), a, b, wmi_addend_f32(a, b, c))
WMI_ARITHMETIC3(v_fmac_f32, wmi_fused_f32(a, b, c), a, b, wmi_addend_f32(a, b, c))
WMI_ARITHMETIC3(v_fmamk_f32, wmi_fused_f32(a, c, b), a, c, wmi_addend_f32(a, c, b))
WMI_ARITHMETIC3(v_fmaak_f32, wmi_fused_f32(a, b, c), a, b, wmi_addend_f32(a, b, c))
WMI_ROWS3(v_min3_f32, f32v, wmi_min_f32(wmi_min_f32(a, b, mode), c, mode))
WMI_ROWS3(v_max3_f32, f32v, wmi_max_f32(wmi_max_f32(a, b, mode), c, mode))
WMI_ROWS3(v_med3_f32, f32v, wmi_median_f32(a, b, c, mode))
WMI_ROWS3(v_maxmin_f32, f32v, wmi_min_f32(wmi_max_f32(a, b, mode), c, mode))
WMI_ROWS3(v_minmax_f32, f32v, wmi_max_f32(wmi_min_f32(a, b, mode), c, mode))
WMI_ROWS2(v_minimum_f32, f32v, wmi_minimum_f32(a, b, mode))
WMI_ROWS2(v_maximum_f32, f32v, wmi_maximum_f32(a, b, mode))
WMI_ROWS3(v_minimum3_f32, f32v, wmi_minimum_f32(wmi_minimum_f32(a, b, mode), c, mode))
WMI_ROWS3(v_maximum3_f32, f32v, wmi_maximum_f32(wmi_maximum_f32(a, b, mode), c, mode))
WMI_ROWS3(v_maximumminimum_f32, f32v, wmi_minimum_f32(wmi_maximum_f32(a, b, mode), c, mode))
WMI_ROWS3(v_minimummaximum_f32, f32v, wmi_maximum_f32(wmi_minimum_f32(a, b, mode), c, mode))

/* If one factor is 0, a NaN in the other does not reach the result. */
static inline f32v fused_legacy(f32v a, f32v b, f32v c, u32v active, uint32_t mode)
{
    const f32v r = wmi_fused_legacy_f32(a, b, c, mode);

    return wmi_select_f32((u32v)(a == 0) | (u32v)(b == 0), r, THREE(r));
}

/* Denormals are flushed whatever MODE says. Source: bjacob/goc, RX 9070, V_FMA_DX9_ZERO_F32. */
#define WITHOUT_DENORMALS (mode & ~(uint32_t)(WMI_MODE_DENORMAL_IN_F32 | WMI_MODE_DENORMAL_OUT_F32))
WMI_FLUSHED3(v_fma_legacy_f32, fused_legacy(a, b, c, active, WITHOUT_DENORMALS))
WMI_FLUSHED3(v_fmac_legacy_f32, fused_legacy(a, b, c, active, WITHOUT_DENORMALS))

/* Rounded twice, denormals flushed. madmk and madak, like fmamk and fmaak above, have their literal in c. */
WMI_FLUSHED_ARITHMETIC3(v_mad_f32, (a * b) + c, a, b, wmi_addend_f32(a, b, c))
WMI_FLUSHED_ARITHMETIC3(v_mac_f32, (a * b) + c, a, b, wmi_addend_f32(a, b, c))
WMI_FLUSHED_ARITHMETIC3(v_madmk_f32, (a * c) + b, a, c, wmi_addend_f32(a, c, b))
WMI_FLUSHED_ARITHMETIC3(v_madak_f32, (a * b) + c, a, b, wmi_addend_f32(a, b, c))
WMI_FLUSHED3(v_mad_legacy_f32, wmi_settle_f32(wmi_multiply_legacy_f32(a, b) + c, active, a, b, c))
WMI_FLUSHED3(v_mac_legacy_f32, wmi_settle_f32(wmi_multiply_legacy_f32(a, b) + c, active, a, b, c))
WMI_FLUSHED_ARITHMETIC3(v_mad_mix_f32, (a * b) + c, a, b, wmi_addend_f32(a, b, c))

/* The written half is the sum as f16, clamped if op->y bit 0 is set; the other half is kept. */
static inline u32v mixed_half(f32v sum, const struct wmi_op *op, uint32_t mode)
{
    return wmi_output_f16(wmi_raise_f32(op->y & 1 ? wmi_clamp_f32(sum, mode) : sum), mode);
}

WMI_FLUSHED3(v_mad_mixlo_f16,
             (wmi_load_u32(frame + op->d + at) & 0xffff0000u) | mixed_half(THREE(a * b + c), op, mode))
WMI_FLUSHED3(v_mad_mixhi_f16,
             (wmi_load_u32(frame + op->d + at) & 0xffffu) | mixed_half(THREE(a * b + c), op, mode) << 16)

/* The same rounded once, and denormals according to MODE. Source: captures on gfx1100 and gfx1201
 * (ROCm/rocm-systems, emulation/rocjitsu, valu_fp_mode_test). */
static inline u32v fused_half(f32v a, f32v b, f32v c, u32v active, const struct wmi_op *op, uint32_t mode)
{
    return mixed_half(THREE(wmi_fused_for_f16(a, b, c, mode)), op, mode);
}

WMI_ARITHMETIC3(v_fma_mix_f32, wmi_fused_f32(a, b, c), a, b, wmi_addend_f32(a, b, c))
WMI_LANE_LOOP(v_fma_mixlo_f16, WMI_APART, WMI_LOAD3(f32v),
              WMI_STORE1((wmi_load_u32(frame + op->d + at) & 0xffff0000u) |
                         fused_half(a, b, c, active, op, mode)))
WMI_UNDER(v_fma_mixlo_f16, wmi_host_float_nearest(usual))
WMI_LANE_LOOP(v_fma_mixhi_f16, WMI_APART, WMI_LOAD3(f32v),
              WMI_STORE1((wmi_load_u32(frame + op->d + at) & 0xffffu) | fused_half(a, b, c, active, op, mode)
                                                                            << 16))
WMI_UNDER(v_fma_mixhi_f16, wmi_host_float_nearest(usual))

WMI_ROWS1(v_trunc_f32, f32v, wmi_quiet_f32(wmi_round_f32(wmi_input_f32(a, mode), WMI_ROUND_ZERO)))
WMI_ROWS1(v_ceil_f32, f32v, wmi_quiet_f32(wmi_round_f32(wmi_input_f32(a, mode), WMI_ROUND_UP)))
WMI_ROWS1(v_rndne_f32, f32v, wmi_quiet_f32(wmi_round_f32(wmi_input_f32(a, mode), WMI_ROUND_EVEN)))
WMI_ROWS1(v_floor_f32, f32v, wmi_quiet_f32(wmi_round_f32(wmi_input_f32(a, mode), WMI_ROUND_DOWN)))
WMI_ROWS1(v_fract_f32, f32v, ONE(wmi_fract_f32(wmi_input_f32(a, mode))))
WMI_ROWS1(v_frexp_mant_f32, f32v, wmi_frexp_significand_f32(wmi_input_f32(a, mode)))
WMI_ROWS1(v_frexp_exp_i32_f32, f32v, wmi_frexp_exponent_f32(wmi_input_f32(a, mode)))
WMI_ROWS2(v_ldexp_f32, f32v, wmi_scale_f32(wmi_input_f32(a, mode), (i32v)b))
