/* SPDX-License-Identifier: MIT */
/* The modifier stages, see stage.h. */
#include "sem/float_bodies.h"
#include "sem/stage.h"

#define STAGE(name) static const struct wmi_op *name(char *restrict frame, const struct wmi_op *op)

/* A stage that writes all lanes of row d, with vectors `a` from row a. */
#define PREPARE(name, value)                                                                                 \
    STAGE(name)                                                                                              \
    {                                                                                                        \
        const uint32_t mode = ((const struct wmi_frame *)frame)->mode, x = op->x;                            \
                                                                                                             \
        (void)mode;                                                                                          \
        (void)x;                                                                                             \
        WMI_EACH_VECTOR(at)                                                                                  \
        {                                                                                                    \
            WMI_LOAD1(u32v);                                                                                 \
            *(u32v *)(frame + op->d + at) = (u32v)(value);                                                   \
        }                                                                                                    \
        return wmi_next(frame, op);                                                                          \
    }

/* A stage that writes the lanes of the set; b is the old value of row d. */
#define FINISH(name, value)                                                                                  \
    STAGE(name)                                                                                              \
    {                                                                                                        \
        const uint32_t mode = ((const struct wmi_frame *)frame)->mode, x = op->x;                            \
        const char *const active_row = (const char *)wmi_op_lanes(frame, op)->row;                           \
                                                                                                             \
        (void)mode;                                                                                          \
        (void)x;                                                                                             \
        WMI_EACH_VECTOR(at)                                                                                  \
        {                                                                                                    \
            WMI_LOAD1(u32v);                                                                                 \
            const u32v b = wmi_load_u32(frame + op->d + at);                                                 \
            const u32v active = wmi_load_u32(active_row + at);                                               \
                                                                                                             \
            (void)b;                                                                                         \
            wmi_store(frame + op->d + at, active, (u32v)(value));                                            \
        }                                                                                                    \
        return wmi_next(frame, op);                                                                          \
    }

/* ---- moving ---- */

static inline void broadcast(char *frame, uint32_t d, uint32_t word_offset)
{
    uint32_t word;

    memcpy(&word, frame + word_offset, sizeof word);
    WMI_EACH_VECTOR(at)
    {
        *(u32v *)(frame + d + at) = wmi_splat_u32(word);
    }
}

STAGE(broadcast1)
{
    broadcast(frame, op->d, op->a);
    return wmi_next(frame, op);
}

STAGE(set_exec)
{
    struct wmi_frame *wave = (struct wmi_frame *)frame;

    wmi_lanes_set(&wave->exec, wmi_get_mask(frame, offsetof(struct wmi_frame, s) + 4 * WMI_S_EXEC));
    return wmi_next(frame, op);
}

/* ---- sources ---- */

/* abs clears the sign, then neg flips it. */
static inline u32v with_sign(u32v bits, uint32_t sign, uint32_t x)
{
    return (bits & ~(x & WMI_MODIFY_ABS ? sign : 0)) ^ (x & WMI_MODIFY_NEG ? sign : 0);
}

PREPARE(modify_f32, with_sign(a, WMI_SIGN_F32, x))
PREPARE(modify_f16, with_sign(a & 0xffff, WMI_SIGN_F16, x))
PREPARE(modify_v2f16, (a & ~((x & 4 ? 0x8000u : 0) | (x & 8 ? 0x80000000u : 0))) ^
                          ((x & 1 ? 0x8000u : 0) | (x & 2 ? 0x80000000u : 0)))

STAGE(modify_f64)
{
    WMI_EACH_VECTOR(at)
    {
        const u32v low = wmi_load_u32(frame + op->a + at),
                   high = wmi_load_u32(frame + op->a + WMI_ROW_BYTES + at);

        *(u32v *)(frame + op->d + at) = low;
        *(u32v *)(frame + op->d + WMI_ROW_BYTES + at) = with_sign(high, WMI_SIGN_F32, op->x);
    }
    return wmi_next(frame, op);
}

static inline u32v pack_select(u32v a, uint32_t x)
{
    const u32v low = a >> (x & 1 ? 16 : 0) & 0xffff, high = a >> (x & 2 ? 16 : 0);

    return low | high << 16;
}

PREPARE(select_halves, pack_select(a, x))
PREPARE(high_half, a >> 16)
PREPARE(widen_f16, wmi_input_f16(x ? a >> 16 : a, mode))

/* SDWA: x is the select: 0-3 byte, 4-5 word, 6 dword; bit 3 sign-extends. Source: [V], "SDWA". */
static inline u32v sdwa_source(u32v a, uint32_t x)
{
    const uint32_t select = x & 7, bits = select < 4 ? 8 : select < 6 ? 16 : 32;
    const uint32_t from = select < 4 ? 8 * select : select == 5 ? 16 : 0;
    const u32v top = a << (32 - bits - from);

    return x & 8 ? (u32v)((i32v)top >> (32 - bits)) : top >> (32 - bits);
}

PREPARE(select_part, sdwa_source(a, x))

/* ---- DPP ---- */

/* The lane read by each lane of the vector `lane`; *valid: whether it exists. Source: [V], "DPP";
 * LLVM, AMDGPUUsage, "DPP" and SIDefines.h, DPP::DppCtrl (row_share and row_xmask from gfx10 on). */
static inline u32v dpp_source(u32v lane, uint32_t control, u32v *valid)
{
    const u32v row = lane & ~15u, in = lane & 15;
    const uint32_t n = control & 15;

    *valid = wmi_splat_u32(~0u);
    if (control < 0x100)
        return (lane & ~3u) | ((wmi_splat_u32(control) >> ((lane & 3) * 2)) & 3);
    switch (n || control >= 0x130 ? control & 0x1f0 : 0) { /* no shift or rotation by 0 */
    case 0x100:                                            /* row_shl */
        *valid = (u32v)(in + n < 16);
        return row | ((in + n) & 15);
    case 0x110: /* row_shr */
        *valid = (u32v)(in >= n);
        return row | ((in - n) & 15);
    case 0x120: /* row_ror */
        return row | ((in - n) & 15);
    case 0x150: /* row_share */
        return row | n;
    case 0x160: /* row_xmask */
        return row | (in ^ n);
    default:
        break;
    }
    switch (control) {
    case 0x130: /* wave_shl:1 */
        *valid = (u32v)(lane != WMI_LANES - 1);
        return (lane + 1) & (WMI_LANES - 1);
    case 0x134: /* wave_rol:1 */
        return (lane + 1) & (WMI_LANES - 1);
    case 0x138: /* wave_shr:1 */
        *valid = (u32v)(lane != 0);
        return (lane - 1) & (WMI_LANES - 1);
    case 0x13c: /* wave_ror:1 */
        return (lane - 1) & (WMI_LANES - 1);
    case 0x140: /* row_mirror */
        return row | (15 - in);
    case 0x141: /* row_half_mirror */
        return lane ^ 7;
    case 0x142: /* row_bcast:15, the last lane of a row to the next row */
        *valid = (u32v)(lane >= 16);
        return (row - 1) & (WMI_LANES - 1);
    case 0x143: /* row_bcast:31, lane 31 to the following rows */
        *valid = (u32v)(lane >= 32);
        return wmi_splat_u32(31);
    default: /* reserved: nothing is written */
        *valid = wmi_splat_u32(0);
        return lane;
    }
}

STAGE(dpp)
{
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const uint32_t control = op->x & 0x1ff, zero = op->x >> 16 & 1 ? ~0u : 0;
    const uint32_t inactive = op->x & WMI_DPP_FETCH_INACTIVE ? ~0u : 0;
    const uint32_t banks = op->x >> 20 & 15, rows = op->x >> 24 & 15;
    alignas(64) wmi_word index[WMI_LANES], enabled[WMI_LANES], has_source[WMI_LANES];
    u32v lane;
    uint64_t bits = 0;

    for (int i = 0; i < WMI_VECTOR_LANES; i++)
        lane[i] = (uint32_t)i;
    WMI_EACH_VECTOR(at)
    {
        u32v valid;

        *(u32v *)((char *)index + at) = dpp_source(lane, control, &valid);
        *(u32v *)((char *)has_source + at) = valid;
        lane += WMI_VECTOR_LANES;
    }
    wmi_lanes_permute(wmi_row(frame, op->d), wmi_row(frame, op->a), index);
    wmi_lanes_permute(enabled, (const wmi_word *)lanes->row, index);
    for (int i = 0; i < WMI_VECTOR_LANES; i++)
        lane[i] = (uint32_t)i;
    WMI_EACH_VECTOR(at)
    {
        const u32v source =
            wmi_load_u32((char *)has_source + at) & (wmi_load_u32((char *)enabled + at) | inactive);
        const u32v row = (u32v)((wmi_splat_u32(rows) >> (lane >> 4) & 1) != 0);
        const u32v bank = (u32v)((wmi_splat_u32(banks) >> (lane >> 2 & 3) & 1) != 0);

        *(u32v *)(frame + op->d + at) &= source;
        bits |= wmi_pack(row & bank & (source | zero)) << at / 4;
        lane += WMI_VECTOR_LANES;
    }
    wmi_lanes_set((struct wmi_lanes *)(frame + op->e), bits & lanes->bits);
    return wmi_next(frame, op);
}

/* Writes every active lane. Lanes whose source is inactive read 0 (unverified). */
STAGE(dpp8)
{
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const uint32_t inactive = op->x & WMI_DPP8_FETCH_INACTIVE ? ~0u : 0;
    alignas(64) wmi_word index[WMI_LANES], enabled[WMI_LANES];

    for (unsigned i = 0; i < WMI_LANES; i++)
        index[i] = (i & ~7u) | (op->x >> 3 * (i & 7) & 7);
    wmi_lanes_permute(wmi_row(frame, op->d), wmi_row(frame, op->a), index);
    wmi_lanes_permute(enabled, (const wmi_word *)lanes->row, index);
    WMI_EACH_VECTOR(at)
    {
        *(u32v *)(frame + op->d + at) &= wmi_load_u32((char *)enabled + at) | inactive;
    }
    wmi_lanes_set((struct wmi_lanes *)(frame + op->e), lanes->bits);
    return wmi_next(frame, op);
}

STAGE(first_lane)
{
    memcpy(frame + op->d, frame + op->a, sizeof(uint32_t));
    return wmi_next(frame, op);
}

/* ---- results ---- */

FINISH(op_sel_low, (a & 0xffff) | (b & 0xffff0000))
FINISH(op_sel_high, (a << 16) | (b & 0xffff))

/* x bits 0-2: the part that receives the low bits of a; bits 3-4: the rest becomes 0, or the sign above the
 * part (0 below), or is preserved. Source: [V], "SDWA", DST_UNUSED. */
static inline u32v sdwa_result(u32v a, u32v b, uint32_t x)
{
    enum { SEXT = 1, PRESERVE = 2 };
    const uint32_t select = x & 7, bits = select < 4 ? 8 : select < 6 ? 16 : 32;
    const uint32_t at = select < 4 ? 8 * select : select == 5 ? 16 : 0;
    const uint32_t part = (bits == 32 ? ~0u : (1u << bits) - 1) << at;
    const u32v placed = a << at & part;

    switch (x >> 3 & 3) {
    case SEXT:
        return (u32v)((i32v)(a << (32 - bits)) >> (32 - bits)) << at;
    case PRESERVE:
        return placed | (b & ~part);
    default:
        return placed;
    }
}

FINISH(place_part, sdwa_result(a, b, x))

FINISH(clamp_f32, wmi_clamp_f32((f32v)a, mode))
FINISH(clamp_f16, wmi_narrow(wmi_clamp_f32(wmi_widen(a), mode), 0))
FINISH(clamp_v2f16, wmi_narrow(wmi_clamp_f32(wmi_widen(a), mode), 0) |
                        wmi_narrow(wmi_clamp_f32(wmi_widen(a >> 16), mode), 0) << 16)

/* Output modifiers scale the rounded result; zeros and denormals become +0, what becomes tiny a zero of its
 * sign, NaNs stay as they are. Before gfx12 they have no effect in IEEE mode or if denormal results are
 * allowed; x says where they always act. Source: [V], "Output modifiers"; captures on gfx1010, gfx1030,
 * gfx1100 and gfx1201 (ROCm/rocm-systems, emulation/rocjitsu). */
static inline float factor(uint32_t x)
{
    static const float factors[4] = {1, 2, 4, 0.5f};

    return factors[x & 3];
}

static inline bool omod_acts(uint32_t x, uint32_t mode, uint32_t denormals)
{
    return x & WMI_OMOD_ALWAYS || !(mode & (WMI_MODE_IEEE | denormals));
}

static inline f32v omod_f32(f32v a, uint32_t x, uint32_t mode)
{
    if (!omod_acts(x, mode, WMI_MODE_DENORMAL_OUT_F32))
        return a;
    const u32v r = (u32v)wmi_flush_f32(a * factor(x)), tiny = (u32v)(((u32v)a & WMI_EXPONENT_F32) == 0);

    return wmi_select_f32(wmi_is_nan_f32(a), a, (f32v)(r & ~tiny));
}

static inline u32v omod_f16(u32v a, uint32_t x, uint32_t mode)
{
    const u32v half = a & 0xffff, magnitude = a & 0x7fff;
    if (!omod_acts(x, mode, WMI_MODE_DENORMAL_OUT_F64))
        return half;
    const u32v tiny = (u32v)(magnitude < 0x400), nan = (u32v)(magnitude > WMI_INFINITY_F16);
    const u32v r = wmi_flush_f16(wmi_output_f16(wmi_widen(half) * factor(x), mode));

    return wmi_select_u32(nan, half, r & ~tiny);
}

FINISH(omod_row_f32, omod_f32((f32v)a, x, mode))
FINISH(omod_row_f16, omod_f16(a, x, mode))

static inline f64v omod_f64(f64v a, uint32_t x, uint32_t mode)
{
    if (!omod_acts(x, mode, WMI_MODE_DENORMAL_OUT_F64))
        return a;
    const u64v r = (u64v)wmi_flush_f64(a * (double)factor(x)),
               tiny = (u64v)(((u64v)a & WMI_EXPONENT_F64) == 0);

    return wmi_select_f64(wmi_is_nan_f64(a), a, (f64v)(r & ~tiny));
}

/* The f64 stages, under the f64 control word. */
#define FINISH_F64(name, value)                                                                              \
    static WMI_APART void name##_loop(char *restrict frame, const struct wmi_op *op)                         \
    {                                                                                                        \
        const uint32_t mode = ((const struct wmi_frame *)frame)->mode;                                       \
        const char *const active_row = (const char *)wmi_op_lanes(frame, op)->row;                           \
                                                                                                             \
        WMI_EACH_VECTOR(at)                                                                                  \
        {                                                                                                    \
            const u32v active = wmi_load_u32(active_row + at);                                               \
            struct wmi_f64x2 r = WMI_PAIR(a);                                                                \
                                                                                                             \
            for (int i = 0; i < 2; i++) {                                                                    \
                const f64v a = r.v[i];                                                                       \
                r.v[i] = (value);                                                                            \
            }                                                                                                \
            WMI_STORE_PAIR(r);                                                                               \
        }                                                                                                    \
    }                                                                                                        \
    STAGE(name)                                                                                              \
    {                                                                                                        \
        const struct wmi_frame *wave = (const struct wmi_frame *)frame;                                      \
        const uint32_t usual = wave->mxcsr32, wanted = wave->mxcsr64;                                        \
                                                                                                             \
        if (usual != wanted)                                                                                 \
            wmi_host_float_set(wanted);                                                                      \
        name##_loop(frame, op);                                                                              \
        if (usual != wanted)                                                                                 \
            wmi_host_float_set(usual);                                                                       \
        return wmi_next(frame, op);                                                                          \
    }

FINISH_F64(clamp_f64, wmi_clamp_f64(a, mode))
FINISH_F64(omod_row_f64, omod_f64(a, op->x, mode))

extern const wmi_body WMI_BUILD_NAME(wmi_stages)[WMI_STAGES];
const wmi_body WMI_BUILD_NAME(wmi_stages)[WMI_STAGES] = {
    [WMI_STAGE_BROADCAST] = broadcast1,
    [WMI_STAGE_MODIFY_F32] = modify_f32,
    [WMI_STAGE_MODIFY_F64] = modify_f64,
    [WMI_STAGE_MODIFY_F16] = modify_f16,
    [WMI_STAGE_MODIFY_V2F16] = modify_v2f16,
    [WMI_STAGE_PACK_SELECT] = select_halves,
    [WMI_STAGE_HIGH_HALF] = high_half,
    [WMI_STAGE_WIDEN_F16] = widen_f16,
    [WMI_STAGE_OP_SEL_LOW] = op_sel_low,
    [WMI_STAGE_OP_SEL_HIGH] = op_sel_high,
    [WMI_STAGE_DPP] = dpp,
    [WMI_STAGE_DPP8] = dpp8,
    [WMI_STAGE_FIRST_LANE] = first_lane,
    [WMI_STAGE_SDWA_SOURCE] = select_part,
    [WMI_STAGE_SDWA_RESULT] = place_part,
    [WMI_STAGE_CLAMP_F32] = clamp_f32,
    [WMI_STAGE_CLAMP_F64] = clamp_f64,
    [WMI_STAGE_CLAMP_F16] = clamp_f16,
    [WMI_STAGE_CLAMP_V2F16] = clamp_v2f16,
    [WMI_STAGE_OMOD_F32] = omod_row_f32,
    [WMI_STAGE_OMOD_F64] = omod_row_f64,
    [WMI_STAGE_OMOD_F16] = omod_row_f16,
    [WMI_STAGE_EXEC] = set_exec,
};
