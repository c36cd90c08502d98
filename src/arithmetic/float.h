/* SPDX-License-Identifier: MIT */
/* f32 and f64 arithmetic of the vector ALU: NaNs, denormals, minimum and maximum, clamp, conversions.
 *
 * For *_lanes.c files only. The host's MXCSR holds the rounding and denormal mode of the type, so plain
 * + - * / sqrt and fused multiply-add round and flush according to MODE; this file contains the rest.
 *
 * Sources. [V] AMD "Vega" Instruction Set Architecture, chapter 12, and the same descriptions as pseudo-code
 * in the CDNA3 and CDNA4 ISA documents. [L] LLVM's AMDGPU back-end. If neither answers a question:
 * "unverified". */
#ifndef WMI_FLOAT_H
#define WMI_FLOAT_H

#include "base/vector.h"

/* Bits of the MODE register. Source: [V], "Mode register". */
enum {
    WMI_MODE_ROUND_F32 = 0x3,      /* 0 nearest even, 1 up, 2 down, 3 toward zero */
    WMI_MODE_ROUND_F64 = 0x3 << 2, /* also f16 */
    WMI_MODE_DENORMAL_IN_F32 = 1 << 4,
    WMI_MODE_DENORMAL_OUT_F32 = 1 << 5,
    WMI_MODE_DENORMAL_IN_F64 = 1 << 6, /* also f16 */
    WMI_MODE_DENORMAL_OUT_F64 = 1 << 7,
    WMI_MODE_DX10_CLAMP = 1 << 8,
    WMI_MODE_IEEE = 1 << 9,
    WMI_MODE_FP16_OVFL = 1 << 23, /* from gfx9 on: finite f16 results stop at the largest number */
};

#define WMI_SIGN_F32     0x80000000u
#define WMI_EXPONENT_F32 0x7f800000u
#define WMI_QUIET_F32    0x00400000u
#define WMI_SIGN_F64     0x8000000000000000u
#define WMI_EXPONENT_F64 0x7ff0000000000000u
#define WMI_QUIET_F64    0x0008000000000000u

/* The NaN returned by invalid operations is negative. Source: captures on gfx1201 (ROCm/rocm-systems,
 * emulation/rocjitsu); the examples in [V] (v_rsq_f32(-inf) = 0xffc00000). */
#define WMI_NAN_F32 0xffc00000u
#define WMI_NAN_F64 0xfff8000000000000u

static inline u32v wmi_is_nan_f32(f32v x)
{
    return (u32v)(x != x);
}

static inline u64v wmi_is_nan_f64(f64v x)
{
    return (u64v)(x != x);
}

static inline u32v wmi_is_signalling_f32(f32v x)
{
    return wmi_is_nan_f32(x) & (u32v)(((u32v)x & WMI_QUIET_F32) == 0);
}

static inline u64v wmi_is_signalling_f64(f64v x)
{
    return wmi_is_nan_f64(x) & (u64v)(((u64v)x & WMI_QUIET_F64) == 0);
}

/* x, quieted if it is a NaN; denormals are kept. */
static inline f32v wmi_quiet_f32(f32v x)
{
    return (f32v)((u32v)x | (wmi_is_nan_f32(x) & WMI_QUIET_F32));
}

static inline f64v wmi_quiet_f64(f64v x)
{
    return (f64v)((u64v)x | (wmi_is_nan_f64(x) & WMI_QUIET_F64));
}

/* Replaces NaN results by the first NaN operand, quieted, or else the default NaN: hosts and compilers
 * differ. Source: captures on gfx1201. */
static inline f32v wmi_nan_of_f32(f32v result, f32v a, f32v b, f32v c)
{
    const u32v fallback = wmi_select_u32(wmi_is_nan_f32(c), (u32v)c, wmi_splat_u32(WMI_NAN_F32));
    const u32v second = wmi_select_u32(wmi_is_nan_f32(b), (u32v)b, fallback);
    const u32v nan = wmi_select_u32(wmi_is_nan_f32(a), (u32v)a, second) | WMI_QUIET_F32;

    return (f32v)wmi_select_u32(wmi_is_nan_f32(result), nan, (u32v)result);
}

static inline f64v wmi_nan_of_f64(f64v result, f64v a, f64v b, f64v c)
{
    const u64v fallback = wmi_select_u64(wmi_is_nan_f64(c), (u64v)c, wmi_splat_u64(WMI_NAN_F64));
    const u64v second = wmi_select_u64(wmi_is_nan_f64(b), (u64v)b, fallback);
    const u64v nan = wmi_select_u64(wmi_is_nan_f64(a), (u64v)a, second) | WMI_QUIET_F64;

    return (f64v)wmi_select_u64(wmi_is_nan_f64(result), nan, (u64v)result);
}

/* c as the addend of a * b: an invalid product counts before a NaN in c. Source: captures on gfx1201. */
static inline f32v wmi_addend_f32(f32v a, f32v b, f32v c)
{
    return wmi_select_f32(wmi_is_nan_f32(a * b), (f32v)wmi_splat_u32(WMI_NAN_F32), c);
}

static inline f64v wmi_addend_f64(f64v a, f64v b, f64v c)
{
    return wmi_select_f64(wmi_is_nan_f64(a * b), (f64v)wmi_splat_u64(WMI_NAN_F64), c);
}

/* x with denormals replaced by zeros of their sign. */
static inline f32v wmi_flush_f32(f32v x)
{
    const u32v tiny = (u32v)(((u32v)x & WMI_EXPONENT_F32) == 0);

    return (f32v)((u32v)x & ~(tiny & ~WMI_SIGN_F32));
}

static inline f64v wmi_flush_f64(f64v x)
{
    const u64v tiny = (u64v)(((u64v)x & WMI_EXPONENT_F64) == 0);

    return (f64v)((u64v)x & ~(tiny & ~WMI_SIGN_F64));
}

/* Flushes an operand or result according to MODE, where the host's flushing does not apply. */
static inline f32v wmi_input_f32(f32v x, uint32_t mode)
{
    return mode & WMI_MODE_DENORMAL_IN_F32 ? x : wmi_flush_f32(x);
}

static inline f32v wmi_output_f32(f32v x, uint32_t mode)
{
    return mode & WMI_MODE_DENORMAL_OUT_F32 ? x : wmi_flush_f32(x);
}

static inline f64v wmi_input_f64(f64v x, uint32_t mode)
{
    return mode & WMI_MODE_DENORMAL_IN_F64 ? x : wmi_flush_f64(x);
}

static inline f64v wmi_output_f64(f64v x, uint32_t mode)
{
    return mode & WMI_MODE_DENORMAL_OUT_F64 ? x : wmi_flush_f64(x);
}

/* Replaces denormals by the smallest normal number of the same sign: both round to the same narrower number
 * in every mode, and the host does not flush the latter. */
static inline f32v wmi_raise_f32(f32v x)
{
    const u32v size = (u32v)x & ~WMI_SIGN_F32, tiny = (u32v)(size < 0x800000u) & (u32v)(size != 0);

    return (f32v)wmi_select_u32(tiny, ((u32v)x & WMI_SIGN_F32) | 0x800000u, (u32v)x);
}

static inline f64v wmi_raise_f64(f64v x)
{
    const u64v size = (u64v)x & ~WMI_SIGN_F64, tiny = (u64v)(size < 0x10000000000000u) & (u64v)(size != 0);

    return (f64v)wmi_select_u64(tiny, ((u64v)x & WMI_SIGN_F64) | 0x10000000000000u, (u64v)x);
}

/* 0 * anything = 0, otherwise as in IEEE. Source: [V], V_MUL_LEGACY_F32 ("DX9 rules"). */
static inline f32v wmi_multiply_legacy_f32(f32v a, f32v b)
{
    const u32v zero = (u32v)(a == 0) | (u32v)(b == 0);

    return (f32v)((u32v)(a * b) & ~zero);
}

/* Fused multiply-add in which 0 * anything is 0. Source: RDNA 3 ISA, V_FMA_DX9_ZERO_F32. */
static inline f32v wmi_fused_legacy_f32(f32v a, f32v b, f32v c, uint32_t mode)
{
    const u32v zero = (u32v)(a == 0) | (u32v)(b == 0);
    const f32v alone = wmi_quiet_f32(wmi_output_f32(wmi_input_f32(c, mode), mode));

    return wmi_select_f32(zero, alone, wmi_fused_f32(a, b, c));
}

/* Minimum and maximum. -0 is below +0. A number is preferred to a NaN; in IEEE mode a signalling NaN is
 * returned, quieted. Source: [V], V_MIN_F32, V_MAX_F32. gfx9 flushes denormals according to MODE; source:
 * [L], GCNSubtarget::supportsMinMaxDenormModes. */
static inline f32v wmi_min_max_nan_f32(f32v result, f32v a, f32v b, uint32_t mode)
{
    f32v r = wmi_select_f32(wmi_is_nan_f32(b), a, result);

    r = wmi_select_f32(wmi_is_nan_f32(a), b, r);
    if (mode & WMI_MODE_IEEE) {
        r = wmi_select_f32(wmi_is_signalling_f32(b), wmi_quiet_f32(b), r);
        r = wmi_select_f32(wmi_is_signalling_f32(a), wmi_quiet_f32(a), r);
    }
    return r;
}

static inline f64v wmi_min_max_nan_f64(f64v result, f64v a, f64v b, uint32_t mode)
{
    f64v r = wmi_select_f64(wmi_is_nan_f64(b), a, result);

    r = wmi_select_f64(wmi_is_nan_f64(a), b, r);
    if (mode & WMI_MODE_IEEE) {
        r = wmi_select_f64(wmi_is_signalling_f64(b), wmi_quiet_f64(b), r);
        r = wmi_select_f64(wmi_is_signalling_f64(a), wmi_quiet_f64(a), r);
    }
    return r;
}

/* Operands must not be NaNs. Both operand orders agree except for zeros of different sign, where each returns
 * the other zero: OR gives -0, AND gives +0. The result must be flushed afterwards: a flushing host compares
 * denormals as zeros. */
static inline f32v wmi_lower_f32(f32v a, f32v b)
{
    return (f32v)((u32v)wmi_lesser_f32(a, b) | (u32v)wmi_lesser_f32(b, a));
}

static inline f32v wmi_higher_f32(f32v a, f32v b)
{
    return (f32v)((u32v)wmi_greater_f32(a, b) & (u32v)wmi_greater_f32(b, a));
}

static inline f32v wmi_min_f32(f32v a, f32v b, uint32_t mode)
{
    f32v r = wmi_lower_f32(a, b);

    if (__builtin_expect(wmi_any_nan2_f32(a, b), 0))
        r = wmi_min_max_nan_f32(r, a, b, mode);
    return wmi_input_f32(r, mode);
}

static inline f32v wmi_max_f32(f32v a, f32v b, uint32_t mode)
{
    f32v r = wmi_higher_f32(a, b);

    if (__builtin_expect(wmi_any_nan2_f32(a, b), 0))
        r = wmi_min_max_nan_f32(r, a, b, mode);
    return wmi_input_f32(r, mode);
}

/* From gfx12 on: a number is preferred to any NaN; of two NaNs the first is returned, quieted.
 * Source: RDNA 4 ISA, V_MIN_NUM_F32, and captures on gfx1201. */
static inline f32v wmi_num_nan_f32(f32v result, f32v a, f32v b)
{
    const f32v first = wmi_select_f32(wmi_is_nan_f32(b), wmi_quiet_f32(a), b);

    return wmi_select_f32(wmi_is_nan_f32(a), first, wmi_select_f32(wmi_is_nan_f32(b), a, result));
}

static inline f32v wmi_min_num_f32(f32v a, f32v b, uint32_t mode)
{
    f32v r = wmi_lower_f32(a, b);

    if (__builtin_expect(wmi_any_nan2_f32(a, b), 0))
        r = wmi_num_nan_f32(r, a, b);
    return wmi_input_f32(r, mode);
}

static inline f32v wmi_max_num_f32(f32v a, f32v b, uint32_t mode)
{
    f32v r = wmi_higher_f32(a, b);

    if (__builtin_expect(wmi_any_nan2_f32(a, b), 0))
        r = wmi_num_nan_f32(r, a, b);
    return wmi_input_f32(r, mode);
}

static inline f64v wmi_min_f64(f64v a, f64v b, uint32_t mode)
{
    f64v r = (f64v)((u64v)wmi_lesser_f64(a, b) | (u64v)wmi_lesser_f64(b, a));

    if (__builtin_expect(wmi_any((u32v)(wmi_is_nan_f64(a) | wmi_is_nan_f64(b))), 0))
        r = wmi_min_max_nan_f64(r, a, b, mode);
    return wmi_input_f64(r, mode);
}

static inline f64v wmi_max_f64(f64v a, f64v b, uint32_t mode)
{
    f64v r = (f64v)((u64v)wmi_greater_f64(a, b) & (u64v)wmi_greater_f64(b, a));

    if (__builtin_expect(wmi_any((u32v)(wmi_is_nan_f64(a) | wmi_is_nan_f64(b))), 0))
        r = wmi_min_max_nan_f64(r, a, b, mode);
    return wmi_input_f64(r, mode);
}

/* IEEE 754-2019 minimum and maximum, which return any NaN. Source: RDNA 4 ISA, V_MINIMUM_F32 and related. */
static inline f32v wmi_nan_wins_f32(f32v result, f32v a, f32v b)
{
    const u32v nan = wmi_is_nan_f32(a) | wmi_is_nan_f32(b);

    return wmi_nan_of_f32(wmi_select_f32(nan, (f32v)wmi_splat_u32(WMI_NAN_F32), result), a, b, b);
}

static inline f32v wmi_minimum_f32(f32v a, f32v b, uint32_t mode)
{
    return wmi_input_f32(wmi_nan_wins_f32(wmi_lower_f32(a, b), a, b), mode);
}

static inline f32v wmi_maximum_f32(f32v a, f32v b, uint32_t mode)
{
    return wmi_input_f32(wmi_nan_wins_f32(wmi_higher_f32(a, b), a, b), mode);
}

static inline f64v wmi_nan_wins_f64(f64v result, f64v a, f64v b)
{
    const u64v nan = wmi_is_nan_f64(a) | wmi_is_nan_f64(b);

    return wmi_nan_of_f64(wmi_select_f64(nan, (f64v)wmi_splat_u64(WMI_NAN_F64), result), a, b, b);
}

static inline f64v wmi_minimum_f64(f64v a, f64v b, uint32_t mode)
{
    const f64v r = (f64v)((u64v)wmi_lesser_f64(a, b) | (u64v)wmi_lesser_f64(b, a));

    return wmi_input_f64(wmi_nan_wins_f64(r, a, b), mode);
}

static inline f64v wmi_maximum_f64(f64v a, f64v b, uint32_t mode)
{
    const f64v r = (f64v)((u64v)wmi_greater_f64(a, b) & (u64v)wmi_greater_f64(b, a));

    return wmi_input_f64(wmi_nan_wins_f64(r, a, b), mode);
}

/* The median, with -0 below +0 (captures on gfx1201); with a NaN operand, the minimum of the three. Source:
 * [V], V_MED3_F32. */
static inline f32v wmi_median_f32(f32v a, f32v b, f32v c, uint32_t mode)
{
    const f32v high = wmi_higher_f32(a, b), top = wmi_input_f32(wmi_higher_f32(high, c), mode);
    const u32v is_a = (u32v)((u32v)top == (u32v)wmi_input_f32(a, mode));
    const u32v is_b = (u32v)((u32v)top == (u32v)wmi_input_f32(b, mode));
    f32v r = wmi_select_f32(is_b, wmi_higher_f32(a, c), high);

    r = wmi_input_f32(wmi_select_f32(is_a, wmi_higher_f32(b, c), r), mode);
    if (__builtin_expect(wmi_any_nan2_f32(a, b) || wmi_any_nan2_f32(c, c), 0)) {
        const u32v nan = wmi_is_nan_f32(a) | wmi_is_nan_f32(b) | wmi_is_nan_f32(c);
        r = wmi_select_f32(nan, wmi_min_f32(wmi_min_f32(a, b, mode), c, mode), r);
    }
    return r;
}

/* Clamps to [0, 1]; a NaN becomes 0 with DX10_CLAMP, else is kept. Source: [V], "Clamp". That -0 gives +0:
 * [L] folds max(x, 0), unverified. */
static inline f32v wmi_clamp_f32(f32v x, uint32_t mode)
{
    const u32v nan = wmi_is_nan_f32(x);
    const f32v low = (f32v)((u32v)x & (u32v)((i32v)x > 0) & ~nan); /* integer test: the host may flush */
    const f32v r = wmi_select_f32((u32v)(low > 1), wmi_splat_f32(1), low);

    return mode & WMI_MODE_DX10_CLAMP ? r : wmi_select_f32(nan, x, r);
}

static inline f64v wmi_clamp_f64(f64v x, uint32_t mode)
{
    const u64v nan = wmi_is_nan_f64(x);
    const f64v low = (f64v)((u64v)x & (u64v)((i64v)x > 0) & ~nan);
    const f64v r = wmi_select_f64((u64v)(low > 1), wmi_splat_f64(1), low);

    return mode & WMI_MODE_DX10_CLAMP ? r : wmi_select_f64(nan, x, r);
}

/* Toward zero, saturating, NaN gives 0. Source: [V], V_CVT_I32_F32 and related. */
static inline u32v wmi_i32_of_f32(f32v x)
{
    const u32v above = (u32v)(x >= 2147483648.0f), below = (u32v)(x < -2147483648.0f);
    const f32v safe = (f32v)((u32v)x & ~(above | below | wmi_is_nan_f32(x)));
    const u32v r = (u32v) __builtin_convertvector(safe, i32v);

    return r | (above & 0x7fffffffu) | (below & 0x80000000u);
}

static inline u32v wmi_u32_of_f32(f32v x)
{
    const u32v above = (u32v)(x >= 4294967296.0f), big = (u32v)(x >= 2147483648.0f), positive = (u32v)(x > 0);
    const f32v half = (f32v)((u32v)wmi_splat_f32(2147483648.0f) & big);
    const f32v safe = (f32v)((u32v)(x - half) & positive & ~above);
    const u32v r = (u32v) __builtin_convertvector(safe, i32v) ^ (big & 0x80000000u);

    return (r & positive) | above;
}

/* The same for a vector of f64. */
static inline u32half wmi_i32_of_f64(f64v x)
{
    const u64v above = (u64v)(x >= 2147483648.0), below = (u64v)(x <= -2147483649.0);
    const f64v high = wmi_select_f64(above, wmi_splat_f64(2147483647.0), x);
    const f64v safe = wmi_select_f64(below, wmi_splat_f64(-2147483648.0), high);

    return (u32half) __builtin_convertvector((f64v)((u64v)safe & ~wmi_is_nan_f64(x)), i32half);
}

static inline u32half wmi_u32_of_f64(f64v x)
{
    const u64v above = (u64v)(x >= 4294967296.0), positive = (u64v)(x > 0);
    const f64v high = wmi_select_f64(above, wmi_splat_f64(4294967295.0), x);
    const f64v safe = wmi_round_f64((f64v)((u64v)high & positive), WMI_ROUND_ZERO);
    const u64v big = (u64v)(safe >= 2147483648.0);
    const f64v half = (f64v)((u64v)wmi_splat_f64(2147483648.0) & big);

    return (u32half) __builtin_convertvector(safe - half, i32half) ^
           (__builtin_convertvector(big, u32half) & 0x80000000u);
}

/* Rounded once, in the host's mode. The sign is cleared because clang converts small numbers by a subtraction
 * that gives -0 for 0 when rounding down. */
static inline f32v wmi_f32_of_u32(u32v x)
{
    const f32v r = __builtin_convertvector((i32v)(x >> 16), f32v) * 65536.0f +
                   __builtin_convertvector((i32v)(x & 0xffff), f32v);

    return (f32v)((u32v)r & ~WMI_SIGN_F32);
}

static inline f32v wmi_f32_of_i32(u32v x)
{
    return __builtin_convertvector((i32v)x, f32v);
}

static inline f64v wmi_f64_of_i32(u32half x)
{
    return __builtin_convertvector((i32half)x, f64v);
}

static inline f64v wmi_f64_of_u32(u32half x)
{
    const f64v r = __builtin_convertvector((i32half)(x ^ 0x80000000u), f64v) + 2147483648.0;

    return (f64v)((u64v)r & ~WMI_SIGN_F64); /* -0 to 0, as above */
}

/* x - floor(x), below 1; +0 for integers, in all rounding modes (captures on gfx1201). Source: [V],
 * V_FRACT_F32
 * ("obey round mode, result clamped to 0x3f7fffff"). */
static inline f32v wmi_fract_f32(f32v x)
{
    const f32v r = x - wmi_round_f32(x, WMI_ROUND_DOWN);

    return wmi_select_f32((u32v)(r >= 1), (f32v)wmi_splat_u32(0x3f7fffff), (f32v)((u32v)r & ~WMI_SIGN_F32));
}

static inline f64v wmi_fract_f64(f64v x)
{
    const f64v r = x - wmi_round_f64(x, WMI_ROUND_DOWN);

    return wmi_select_f64((u64v)(r >= 1), (f64v)wmi_splat_u64(0x3fefffffffffffff),
                          (f64v)((u64v)r & ~WMI_SIGN_F64));
}

/* The biased exponent and the fraction of x as if the exponent range had no lower limit.
 * Zeros, infinities and NaNs keep their bits, with exponent 0 and 255. */
static inline u32v wmi_normalize_f32(f32v x, f32v *fraction)
{
    const u32v bits = (u32v)x & ~WMI_SIGN_F32, sign = (u32v)x & WMI_SIGN_F32;
    const u32v tiny = (u32v)(bits < 0x800000u) & (u32v)(bits != 0);

    *fraction = x;
    if (__builtin_expect(!wmi_any(tiny), 1))
        return bits >> 23;
    /* The fraction of a denormal is a small integer, which the host converts exactly in every mode. */
    const u32v scaled = (u32v) __builtin_convertvector((i32v)bits, f32v);
    const u32v wide = wmi_select_u32(tiny, scaled, bits);

    *fraction = (f32v)(sign | wide);
    return (wide >> 23) - (tiny & 149);
}

static inline u64v wmi_normalize_f64(f64v x, f64v *fraction)
{
    const u64v bits = (u64v)x & ~WMI_SIGN_F64, sign = (u64v)x & WMI_SIGN_F64;
    const u64v tiny = (u64v)(bits < 0x10000000000000u) & (u64v)(bits != 0);

    *fraction = x;
    if (__builtin_expect(!wmi_any((u32v)tiny), 1))
        return bits >> 52;
    /* 2^52 + fraction has this integer in the fraction bits of a normal number. */
    const u64v scaled = (u64v)((f64v)(bits | 0x4330000000000000u) - 4503599627370496.0);
    const u64v wide = wmi_select_u64(tiny, scaled, bits);

    *fraction = (f64v)(sign | wide);
    return (wide >> 52) - (tiny & 1074);
}

/* Significand in [0.5, 1) and exponent; zeros, infinities and NaNs are their own significand with exponent 0.
 * Source: [V], V_FREXP_MANT_F32, V_FREXP_EXP_I32_F32. */
static inline f32v wmi_frexp_significand_f32(f32v x)
{
    f32v wide;
    const u32v exponent = wmi_normalize_f32(x, &wide);
    const u32v special = (u32v)(exponent == 255) | (u32v)(((u32v)x & ~WMI_SIGN_F32) == 0);
    const u32v half = ((u32v)wide & ~WMI_EXPONENT_F32) | 0x3f000000u;

    return wmi_quiet_f32((f32v)wmi_select_u32(special, (u32v)x, half));
}

static inline u32v wmi_frexp_exponent_f32(f32v x)
{
    f32v wide;
    const u32v exponent = wmi_normalize_f32(x, &wide);
    const u32v special = (u32v)(exponent == 255) | (u32v)(((u32v)x & ~WMI_SIGN_F32) == 0);

    return (exponent - 126) & ~special;
}

static inline f64v wmi_frexp_significand_f64(f64v x)
{
    f64v wide;
    const u64v exponent = wmi_normalize_f64(x, &wide);
    const u64v special = (u64v)(exponent == 2047) | (u64v)(((u64v)x & ~WMI_SIGN_F64) == 0);
    const u64v half = ((u64v)wide & ~WMI_EXPONENT_F64) | 0x3fe0000000000000u;

    return wmi_quiet_f64((f64v)wmi_select_u64(special, (u64v)x, half));
}

static inline u64v wmi_frexp_exponent_f64(f64v x)
{
    f64v wide;
    const u64v exponent = wmi_normalize_f64(x, &wide);
    const u64v special = (u64v)(exponent == 2047) | (u64v)(((u64v)x & ~WMI_SIGN_F64) == 0);

    return (exponent - 1022) & ~special;
}

static inline i32v wmi_limit_i32(i32v x, int32_t low, int32_t high)
{
    const u32v under = (u32v)(x < low), over = (u32v)(x > high);

    x = (i32v)wmi_select_u32(under, wmi_splat_u32((uint32_t)low), (u32v)x);
    return (i32v)wmi_select_u32(over, wmi_splat_u32((uint32_t)high), (u32v)x);
}

static inline i64v wmi_limit_i64(i64v x, int64_t low, int64_t high)
{
    const u64v under = (u64v)(x < low), over = (u64v)(x > high);

    x = (i64v)wmi_select_u64(under, wmi_splat_u64((uint64_t)low), (u64v)x);
    return (i64v)wmi_select_u64(over, wmi_splat_u64((uint64_t)high), (u64v)x);
}

/* x * 2^n, rounded once: scales the significand exactly to a normal number, then rounds in the last
 * multiplication. */
static inline f32v wmi_scale_f32(f32v x, i32v n)
{
    f32v wide;
    const u32v field = ((u32v)x >> 23) & 255;

    /* Between normal numbers only the exponent changes. */
    if (__builtin_expect(!wmi_any((u32v)(field - 1 >= 254) | (u32v)(field + (u32v)n - 1 >= 254)), 1))
        return (f32v)((u32v)x + ((u32v)n << 23));
    const u32v exponent = wmi_normalize_f32(x, &wide);
    const u32v special = (u32v)(exponent == 255) | (u32v)(((u32v)x & ~WMI_SIGN_F32) == 0);
    const i32v total = wmi_limit_i32((i32v)exponent + wmi_limit_i32(n, -1000, 1000), -100, 400);
    const i32v first = wmi_limit_i32(total, 1, 254), second = total - first;
    const f32v scaled = (f32v)(((u32v)wide & ~WMI_EXPONENT_F32) | (u32v)first << 23);
    const f32v factor = (f32v)((u32v)(wmi_limit_i32(second, -120, 120) + 127) << 23);

    return wmi_select_f32(special, wmi_quiet_f32(x), scaled * factor);
}

static inline f64v wmi_scale_f64(f64v x, i64v n)
{
    f64v wide;
    const u64v field = ((u64v)x >> 52) & 2047;

    /* Between normal numbers only the exponent changes. */
    if (__builtin_expect(!wmi_any((u32v)((u64v)(field - 1 >= 2046) | (u64v)(field + (u64v)n - 1 >= 2046))),
                         1))
        return (f64v)((u64v)x + ((u64v)n << 52));
    const u64v exponent = wmi_normalize_f64(x, &wide);
    const u64v special = (u64v)(exponent == 2047) | (u64v)(((u64v)x & ~WMI_SIGN_F64) == 0);
    const i64v total = wmi_limit_i64((i64v)exponent + wmi_limit_i64(n, -8000, 8000), -1000, 3000);
    const i64v first = wmi_limit_i64(total, 1, 2046), second = total - first;
    const f64v scaled = (f64v)(((u64v)wide & ~WMI_EXPONENT_F64) | (u64v)first << 52);
    const f64v factor = (f64v)((u64v)(wmi_limit_i64(second, -1000, 1000) + 1023) << 52);

    return wmi_select_f64(special, wmi_quiet_f64(x), scaled * factor);
}

/* The class of x as a bit of v_cmp_class. Source: [V], V_CMP_CLASS_F32. */
static inline u32v wmi_class_mask(u32v magnitude, u32v negative, uint32_t smallest_normal, uint32_t infinity,
                                  uint32_t quiet)
{
    u32v positive_class = wmi_splat_u32(1 << 8), negative_class = wmi_splat_u32(1 << 3);
    const u32v denormal = (u32v)(magnitude < smallest_normal), zero = (u32v)(magnitude == 0);
    const u32v infinite = (u32v)(magnitude == infinity), nan = (u32v)(magnitude > infinity);
    const u32v is_quiet = (u32v)((magnitude & quiet) != 0);

    positive_class = wmi_select_u32(denormal, wmi_splat_u32(1 << 7), positive_class);
    negative_class = wmi_select_u32(denormal, wmi_splat_u32(1 << 4), negative_class);
    positive_class = wmi_select_u32(zero, wmi_splat_u32(1 << 6), positive_class);
    negative_class = wmi_select_u32(zero, wmi_splat_u32(1 << 5), negative_class);
    positive_class = wmi_select_u32(infinite, wmi_splat_u32(1 << 9), positive_class);
    negative_class = wmi_select_u32(infinite, wmi_splat_u32(1 << 2), negative_class);
    const u32v number = wmi_select_u32(negative, negative_class, positive_class);

    return wmi_select_u32(nan, (is_quiet & 2) | (~is_quiet & 1), number);
}

#endif
