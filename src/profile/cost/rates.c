/* SPDX-License-Identifier: MIT */
/* How long units of a SIMD take for instructions: a row per generation.
 *
 * GCN: 16 lanes per clock, so a wave of 64 takes four clocks; the units that four SIMDs share serve each of
 * them every fourth clock (AMD, "Graphics Cores Next" white paper). Slower instructions: measured by CLRX,
 * "GCN ISA Instruction Timings", where f64 depends on the product; for 64-bit shifts and v_div_fixup_f32 it
 * has longer times than LLVM (SIQuarterSpeedModel), whose count, because they make a lower bound. gfx90a and
 * later: LLVM, SISchedule.td (SIDPFullSpeedModel, SIDPGFX940FullSpeedModel), also full rate for integer
 * products, which nobody else states. Matrix units work while the VALU executes other waves (AMD, "AMD matrix
 * cores"). RDNA: 32 lanes per clock, transcendental functions at a quarter of the rate in a unit of their own
 * (RDNA white paper); integer products and 64-bit shifts: LLVM (GFX10SpeedModel, GFX11SpeedModel). From gfx11
 * on some instructions issue both halves of a wave of 64 in one clock, or are a VOPD pair (RDNA 3 ISA): which
 * halves is not published, so all instructions at full rate count one clock. Assumed: f64 on RDNA has a unit
 * of its own, too; if not, a kernel that mixes both takes longer. Where half of the lanes of a wave of 64 is
 * inactive, RDNA may skip it, which does not count here. LDS: 64 bytes per clock and SIMD (CLRX,
 * rocprofiler-compute); RDNA: a wave of 32 a clock (RDNA 3 ISA). gfx950: twice that of gfx942 (CDNA 4 white
 * paper: read bandwidth). Conversions between f32 and integers: CLRX measured full rate, LLVM has a quarter.
 */
#include "profile/cost/rates.h"

#include "profile/cost/gpu.h"

const char *const wmi_gpu_part_names[WMI_GPU_PARTS] = {
    [WMI_GPU_MEMORY] = "memory",
    [WMI_GPU_LAST] = "Infinity Cache",
    [WMI_GPU_L2] = "L2",
    [WMI_GPU_ATOMIC] = "atomics",
    [WMI_GPU_L1] = "L1",
    [WMI_GPU_ADDRESS] = "address",
    [WMI_GPU_DATA] = "data",
    [WMI_GPU_LDS] = "LDS",
    [WMI_GPU_LDS_ISSUE] = "LDS issue",
    [WMI_GPU_ISSUE] = "issue",
    [WMI_GPU_FETCH] = "fetch",
    [WMI_GPU_VALU] = "VALU",
    [WMI_GPU_TRANS] = "transcendental",
    [WMI_GPU_DOUBLE] = "f64",
    [WMI_GPU_MATRIX] = "matrix",
    [WMI_GPU_SALU] = "SALU",
    [WMI_GPU_BRANCH] = "branch",
    [WMI_GPU_EXPORT] = "export",
    [WMI_GPU_DISPATCH] = "dispatch",
};

/* The units that all SIMDs share, which serve one each `turn` clocks. */
#define SHARED(turn)                                                                                         \
    [WMI_WORK_SALU] = {WMI_GPU_SALU, {turn, turn}}, [WMI_WORK_BRANCH] = {WMI_GPU_BRANCH, {turn, turn}},      \
    [WMI_WORK_EXPORT] = {WMI_GPU_EXPORT, {turn, turn}}
#define CDNA2                                                                                                \
    SHARED(4), [WMI_WORK_FULL] = {WMI_GPU_VALU, {0, 4}}, [WMI_WORK_MULTIPLY] = {WMI_GPU_VALU, {0, 4}},       \
               [WMI_WORK_DIVIDE] = {WMI_GPU_VALU, {0, 4}}, [WMI_WORK_WIDE] = {WMI_GPU_VALU, {0, 4}},         \
               [WMI_WORK_TRANS] = {WMI_GPU_VALU, {0, 16}},                                                   \
               [WMI_WORK_DOUBLE] = {WMI_GPU_VALU, {0, 4}, 0, true},                                          \
               [WMI_WORK_DOUBLE_MUL] = {WMI_GPU_VALU, {0, 4}, 0, true},                                      \
               [WMI_WORK_DOUBLE_TRANS] = {WMI_GPU_VALU, {0, 16}, 0, true},                                   \
               [WMI_WORK_MATRIX] = {WMI_GPU_MATRIX, {1, 1}}
/* full: clocks of a wave of 64 at full rate. */
#define RDNA(full)                                                                                           \
    SHARED(1), [WMI_WORK_FULL] = {WMI_GPU_VALU, {1, full}}, [WMI_WORK_MULTIPLY] = {WMI_GPU_VALU, {4, 8}},    \
               [WMI_WORK_DIVIDE] = {WMI_GPU_VALU, {1, full}}, [WMI_WORK_WIDE] = {WMI_GPU_VALU, {2, 4}},      \
               [WMI_WORK_TRANS] = {WMI_GPU_TRANS, {4, 8}},                                                   \
               [WMI_WORK_DOUBLE] = {WMI_GPU_DOUBLE, {1, 2}, 0, true},                                        \
               [WMI_WORK_DOUBLE_MUL] = {WMI_GPU_DOUBLE, {1, 2}, 0, true},                                    \
               [WMI_WORK_DOUBLE_TRANS] = {WMI_GPU_DOUBLE, {1, 2}, 0, true},                                  \
               [WMI_WORK_MATRIX] = {WMI_GPU_MATRIX, {1, 1}}

static const struct wmi_rates rows[] = {
    /* gfx6 to gfx908 */
    {.rate =
         {SHARED(4), [WMI_WORK_FULL] = {WMI_GPU_VALU, {0, 4}}, [WMI_WORK_MULTIPLY] = {WMI_GPU_VALU, {0, 16}},
          [WMI_WORK_DIVIDE] = {WMI_GPU_VALU, {0, 16}}, [WMI_WORK_WIDE] = {WMI_GPU_VALU, {0, 8}},
          [WMI_WORK_TRANS] = {WMI_GPU_VALU, {0, 16}}, [WMI_WORK_DOUBLE] = {WMI_GPU_VALU, {0, 4}, 1, true},
          [WMI_WORK_DOUBLE_MUL] = {WMI_GPU_VALU, {0, 4}, 0, true},
          [WMI_WORK_DOUBLE_TRANS] = {WMI_GPU_VALU, {0, 4}, 0, true},
          [WMI_WORK_MATRIX] = {WMI_GPU_MATRIX, {1, 1}}},
     .lds_bytes = 64},
    /* gfx90a to gfx942 */
    {.rate = {CDNA2}, .lds_bytes = 64},
    /* gfx950 */
    {.rate = {CDNA2}, .lds_bytes = 128},
    /* gfx10 */
    {.rate = {RDNA(2)}, .lds_bytes = 128},
    /* gfx11 and later */
    {.rate = {RDNA(1)}, .lds_bytes = 128},
};

const struct wmi_rates *wmi_rates_of(const struct wm_gpu *gpu)
{
    const struct wmi_target *target = wmi_gpu_target(gpu);
    const unsigned row = target ? wmi_target_limit(target, WMI_LIMIT_rates) : UINT32_MAX;
    return row < sizeof rows / sizeof *rows ? &rows[row] : NULL;
}

uint32_t wmi_rate_clocks(const struct wmi_rates *rates, enum wmi_gpu_part part, enum wmi_work work,
                         const struct wm_gpu *gpu, unsigned wave_lanes)
{
    const struct wmi_rate *rate = &rates->rate[work];
    const bool issued = part == WMI_GPU_VALU && work > WMI_WORK_FULL && rate->part != part;
    if (issued)
        return rates->rate[WMI_WORK_FULL].clocks[wave_lanes != 32];
    if (rate->part != part)
        return 0;
    const uint32_t slower = rate->of_f64 ? gpu->double_rate >> rate->halves : 1;
    return rate->clocks[wave_lanes != 32] * (slower ? slower : 1);
}

double wmi_lds_clocks(const struct wmi_rates *rates, uint64_t dwords, unsigned wave_lanes)
{
    return 4.0 * (double)dwords * wave_lanes / rates->lds_bytes;
}
