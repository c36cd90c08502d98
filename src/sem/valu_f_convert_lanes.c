/* SPDX-License-Identifier: MIT */
/* Conversions from, to and between float types. Conversions to integers round toward zero unless their name
 * says otherwise, saturate, and convert NaNs to 0; CLAMP affects exceptions only. Source: [V], V_CVT_I32_F32
 * and related. */
#include "sem/float_bodies.h"

/* ---- f32 and 32-bit integers ---- */

WMI_ROWS1(v_cvt_f32_i32, u32v, wmi_f32_of_i32(a))
WMI_ROWS1(v_cvt_f32_u32, u32v, wmi_f32_of_u32(a))
WMI_ROWS1(v_cvt_i32_f32, f32v, wmi_i32_of_f32(a))
WMI_ROWS1(v_cvt_u32_f32, f32v, wmi_u32_of_f32(a))

/* floor(x + 1/2), without rounding the sum. */
static inline f32v nearest_up(f32v x)
{
    const f32v low = wmi_round_f32(x, WMI_ROUND_DOWN);
    const u32v half = (u32v)(x - low >= 0.5f);

    return wmi_select_f32(half, low + 1, low);
}

/* A NaN counts as an infinity of its sign. Source: captures on gfx1201 (ROCm/rocm-systems,
 * emulation/rocjitsu). */
static inline u32v saturated(f32v x, f32v whole)
{
    return wmi_i32_of_f32(whole) | (wmi_is_nan_f32(x) & (0x7fffffff + ((u32v)x >> 31)));
}

WMI_ROWS1(v_cvt_rpi_i32_f32, f32v, saturated(a, nearest_up(a)))
WMI_ROWS1(v_cvt_flr_i32_f32, f32v, saturated(a, wmi_round_f32(a, WMI_ROUND_DOWN)))
/* A signed 4-bit offset in sixteenths. */
WMI_ROWS1(v_cvt_off_f32_i4, u32v, wmi_f32_of_i32((u32v)((i32v)(a << 28) >> 28)) * 0.0625f)
WMI_ROWS1(v_cvt_f32_ubyte0, u32v, wmi_f32_of_i32(a & 0xff))
WMI_ROWS1(v_cvt_f32_ubyte1, u32v, wmi_f32_of_i32(a >> 8 & 0xff))
WMI_ROWS1(v_cvt_f32_ubyte2, u32v, wmi_f32_of_i32(a >> 16 & 0xff))
WMI_ROWS1(v_cvt_f32_ubyte3, u32v, wmi_f32_of_i32(a >> 24))

/* Replaces byte b of the word `rest` by x as u8, saturated, rounded to nearest even whatever MODE says.
 * Source: bjacob/goc, RX 9070. */
static inline u32v with_byte(f32v x, u32v byte, u32v rest)
{
    const f32v low = (f32v)((u32v)x & (u32v)(x > 0));
    const f32v limited = wmi_select_f32((u32v)(low > 255), wmi_splat_f32(255), low);
    const u32v value = (u32v) __builtin_convertvector(wmi_round_f32(limited, WMI_ROUND_EVEN), i32v);
    const u32v shift = (byte & 3) * 8;

    return (rest & ~(wmi_splat_u32(0xff) << shift)) | (value << shift);
}

WMI_ROWS3(v_cvt_pk_u8_f32, f32v, with_byte(a, (u32v)b, (u32v)c))
WMI_ROWS2(v_cvt_pkaccum_u8_f32, f32v, with_byte(a, (u32v)b, wmi_load_u32(frame + op->d + at)))

/* ---- f64 ---- */

/* A one-row result from both halves of the lanes. */
#define FROM_F64(name, value)                                                                                \
    WMI_LANE_LOOP(                                                                                           \
        name, WMI_JOINED, WMI_PAIR1, u32half r[2]; for (int i = 0; i < 2; i++) {                             \
            WMI_PICK1;                                                                                       \
            r[i] = (u32half)(value);                                                                         \
        } WMI_STORE1(wmi_whole_u32(r[0], r[1])))                                                             \
    WMI_PLAIN(name)

FROM_F64(v_cvt_i32_f64, wmi_i32_of_f64(a))
FROM_F64(v_cvt_u32_f64, wmi_u32_of_f64(a))
/* Rounds as f32; source: [L], which lists it among the instructions without FPDPRounding. */
FROM_F64(v_cvt_f32_f64, __builtin_convertvector(wmi_raise_f64(wmi_input_f64(a, mode)), f32half))
FROM_F64(v_frexp_exp_i32_f64,
         __builtin_convertvector((i64v)wmi_frexp_exponent_f64(wmi_input_f64(a, mode)), i32half))

/* A two-row result; h: half of the lanes of row a. */
#define TO_F64(name, value)                                                                                  \
    WMI_LANE_LOOP(                                                                                           \
        name, WMI_JOINED, WMI_WHOLE(const u32v a = wmi_load_u32(frame + op->a + at); struct wmi_f64x2 r),    \
        for (int i = 0; i < 2; i++) {                                                                        \
            const u32half h = wmi_half_u32(a, i);                                                            \
            r.v[i] = (value);                                                                                \
        } WMI_STORE_PAIR(r))                                                                                 \
    WMI_PLAIN(name)

TO_F64(v_cvt_f64_i32, wmi_f64_of_i32(h))
TO_F64(v_cvt_f64_u32, wmi_f64_of_u32(h))
TO_F64(v_cvt_f64_f32, __builtin_convertvector((f32half)h, f64v))

/* ---- f16 ---- */

/* Rounds as f16. Source: [L], FPDPRounding. */
WMI_ROWS1(v_cvt_f16_f32, f32v, wmi_output_f16(wmi_input_f32(a, mode), mode))
WMI_ROWS1(v_cvt_f32_f16, u32v, wmi_input_f16(a, mode))
WMI_HALVES1(v_cvt_f16_u16, wmi_output_f16(wmi_f32_of_i32(a & 0xffff), mode))
WMI_HALVES1(v_cvt_f16_i16, wmi_output_f16(wmi_f32_of_i32((u32v)((i32v)(a << 16) >> 16)), mode))
WMI_ROWS1(v_cvt_u16_f16, u32v, wmi_limit_i32((i32v)wmi_i32_of_f32(wmi_widen(a)), 0, 0xffff))
WMI_ROWS1(v_cvt_i16_f16, u32v,
          (u32v)wmi_limit_i32((i32v)wmi_i32_of_f32(wmi_widen(a)), -0x8000, 0x7fff) & 0xffff)

/* Two f32 as 16-bit integers. */
WMI_ROWS2(v_cvt_pk_i16_f32, f32v,
          ((u32v)wmi_limit_i32((i32v)wmi_i32_of_f32(a), -0x8000, 0x7fff) & 0xffff) |
              (u32v)wmi_limit_i32((i32v)wmi_i32_of_f32(b), -0x8000, 0x7fff) << 16)
WMI_ROWS2(v_cvt_pk_u16_f32, f32v,
          (u32v)wmi_limit_i32((i32v)wmi_i32_of_f32(a), 0, 0xffff) |
              (u32v)wmi_limit_i32((i32v)wmi_i32_of_f32(b), 0, 0xffff) << 16)

/* Two f32 as f16, rounded toward zero. Source: [V], V_CVT_PKRTZ_F16_F32. */
static inline u32v toward_zero(f32v x, uint32_t mode)
{
    return wmi_halves_out(wmi_narrow(wmi_input_f32(x, mode), 3), mode);
}

WMI_ROWS2(v_cvt_pkrtz_f16_f32, f32v, toward_zero(a, mode) | toward_zero(b, mode) << 16)

/* Two f32 as f16 or bf16, to nearest even whatever MODE says. Source: CDNA 4 ISA, V_CVT_PK_F16_F32 and
 * V_CVT_PK_BF16_F32. */
static inline u32v to_bf16(u32v x)
{
    const u32v nan = (u32v)((x & 0x7fffffff) > WMI_EXPONENT_F32);
    return wmi_select_u32(nan, x | WMI_QUIET_F32, x + 0x7fff + (x >> 16 & 1)) >> 16;
}

WMI_ROWS2(v_cvt_pk_f16_f32, f32v, wmi_narrow(a, 0) | wmi_narrow(b, 0) << 16)
WMI_ROWS2(v_cvt_pk_bf16_f32, u32v, to_bf16(a) | to_bf16(b) << 16)

/* Exact; NaNs become quiet. */
static inline u32v from_bf16(u32v x)
{
    const u32v wide = x << 16;
    return wide | ((u32v)((wide & 0x7fffffff) > WMI_EXPONENT_F32) & WMI_QUIET_F32);
}

WMI_ROWS1(v_cvt_f32_bf16, u32v, from_bf16(a))

/* ---- normalized integers ---- */

/* [-1, 1] times 2^15 - 1 and [0, 1] times 2^16 - 1, rounded to nearest even; NaN gives 0. The product is
 * computed as a difference, which add_odd rounds only once. The rounding mode is unverified. */
static inline u32v signed_norm(f32v x)
{
    const f32v low = wmi_select_f32((u32v)(x < -1), wmi_splat_f32(-1), x);
    const f32v r = wmi_select_f32((u32v)(low > 1), wmi_splat_f32(1), low);
    const f32v scaled = wmi_add_odd(r * 32768, (f32v)((u32v)r ^ WMI_SIGN_F32));

    return wmi_i32_of_f32(wmi_round_f32(scaled, WMI_ROUND_EVEN)) & 0xffff;
}

static inline u32v unsigned_norm(f32v x)
{
    const f32v low = (f32v)((u32v)x & (u32v)(x > 0));
    const f32v r = wmi_select_f32((u32v)(low > 1), wmi_splat_f32(1), low);
    const f32v scaled = wmi_add_odd(r * 65536, (f32v)((u32v)r ^ WMI_SIGN_F32));

    return wmi_i32_of_f32(wmi_round_f32(scaled, WMI_ROUND_EVEN));
}

WMI_HALVES2(v_cvt_pknorm_i16_f32, signed_norm((f32v)a) | signed_norm((f32v)b) << 16)
WMI_HALVES2(v_cvt_pknorm_u16_f32, unsigned_norm((f32v)a) | unsigned_norm((f32v)b) << 16)
WMI_HALVES2(v_cvt_pknorm_i16_f16, signed_norm(wmi_widen(a)) | signed_norm(wmi_widen(b)) << 16)
WMI_HALVES2(v_cvt_pknorm_u16_f16, unsigned_norm(wmi_widen(a)) | unsigned_norm(wmi_widen(b)) << 16)
WMI_HALVES1(v_cvt_norm_i16_f16, signed_norm(wmi_widen(a)))
WMI_HALVES1(v_cvt_norm_u16_f16, unsigned_norm(wmi_widen(a)))
