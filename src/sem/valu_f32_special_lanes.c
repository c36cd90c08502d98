/* SPDX-License-Identifier: MIT */
/* f32 and f16 transcendentals, the steps of division, and cube map coordinates. */
#include "arithmetic/division.h"
#include "arithmetic/transcendental.h"
#include "sem/float_bodies.h"

#define ONE(x) wmi_settle_f32(x, active, a, a, a)

/* Correctly rounded, where the hardware is within 1 ulp; denormals flushed. Source: [V], V_RCP_F32 and
 * following. */
static inline f32v invalid(f32v result, f32v x)
{
    const u32v made = wmi_is_nan_bits_f32(result) & ~wmi_is_nan_bits_f32(x);
    const f32v r = wmi_select_f32(made, (f32v)wmi_splat_u32(WMI_NAN_F32), result);

    return wmi_select_f32(wmi_is_nan_bits_f32(x), wmi_quiet_bits_f32(x), r);
}

static inline f32v reciprocal(f32v x)
{
    return wmi_flush_f32(1 / wmi_flush_f32(x));
}

/* The square root of the reciprocal: in this order the first rounding error is halved. Large numbers are
 * scaled to avoid denormal reciprocals. */
static inline f32v reciprocal_root(f32v x)
{
    const f32v number = wmi_flush_f32(x);
    const u32v large = (u32v)(number >= 0x1p100f);
    const f32v r = wmi_sqrt_f32(1 / wmi_select_f32(large, number * 0x1p-64f, number));
    const f32v root = wmi_select_f32((u32v)(number == 0), 1 / number, r); /* -0 gives -inf */
    const f32v scaled = wmi_select_f32(large, root * 0x1p-32f, root);

    return invalid(wmi_select_f32((u32v)(number < 0), (f32v)wmi_splat_u32(WMI_NAN_F32), scaled), x);
}

/* gfx6 and gfx7 replace infinite results by the largest number, or by zero. Source: Southern Islands ISA,
 * V_LOG_CLAMP_F32 and related; CLRX, "GcnInstrsVop1". That zeros keep the sign is unverified. */
static inline f32v bounded(f32v x, uint32_t magnitude)
{
    const u32v sign = (u32v)x & wmi_splat_u32(0x80000000);
    const u32v infinite = (u32v)(((u32v)x ^ sign) == wmi_splat_u32(0x7f800000));

    return wmi_select_f32(infinite, (f32v)(sign | wmi_splat_u32(magnitude)), x);
}
enum { LARGEST = 0x7f7fffff };

WMI_APPROXIMATE1(v_log_clamp_f32, bounded(wmi_log2_f32(a, true), LARGEST))
WMI_APPROXIMATE1(v_rcp_clamp_f32, bounded(ONE(reciprocal(a)), LARGEST))
WMI_APPROXIMATE1(v_rcp_legacy_f32, bounded(ONE(reciprocal(a)), 0))
WMI_APPROXIMATE1(v_rsq_clamp_f32, bounded(reciprocal_root(a), LARGEST))
WMI_APPROXIMATE1(v_rsq_legacy_f32, bounded(reciprocal_root(a), 0))

WMI_APPROXIMATE1(v_rcp_f32, ONE(reciprocal(a)))
WMI_APPROXIMATE1(v_rcp_iflag_f32, ONE(reciprocal(a)))
WMI_APPROXIMATE1(v_rsq_f32, reciprocal_root(a))
WMI_APPROXIMATE1(v_sqrt_f32, invalid(wmi_sqrt_f32(wmi_flush_f32(a)), a))
WMI_APPROXIMATE1(v_exp_f32, wmi_exp2_f32(a))
WMI_APPROXIMATE1(v_exp_legacy_f32, wmi_exp2_f32(a))
WMI_APPROXIMATE1(v_log_f32, wmi_log2_f32(a, true))
WMI_APPROXIMATE1(v_log_legacy_f32, wmi_log2_f32(a, true))
WMI_APPROXIMATE1(v_sin_f32, wmi_sine_f32(a))
WMI_APPROXIMATE1(v_cos_f32, wmi_cosine_f32(a))

/* f16 computed in f32: rounded twice, well within the hardware's 1 ulp. Denormals according to MODE. */
WMI_F16_1(v_rcp_f16, 1 / x)
WMI_F16_1(v_sqrt_f16, invalid(wmi_sqrt_f32(x), x))
WMI_F16_1(v_rsq_f16, invalid(1 / wmi_sqrt_f32(x), x))
WMI_F16_1(v_log_f16, wmi_log2_f32(x, false))
WMI_F16_1(v_exp_f16, wmi_exp2_f32(x))
WMI_F16_1(v_sin_f16, wmi_sine_f32(x))
WMI_F16_1(v_cos_f16, wmi_cosine_f32(x))

/* a: the quotient or the value to scale, b: denominator, c: numerator. */
WMI_ROWS3(v_div_fixup_f32, f32v, wmi_div_fixup_f32(a, b, c, mode))

WMI_DEFINE(v_div_scale_f32)
{
    const struct wmi_lanes *lanes = (const struct wmi_lanes *)(frame + op->lanes);
    const uint32_t mode = ((const struct wmi_frame *)frame)->mode;
    uint64_t bits = 0;

    WMI_EACH_VECTOR(at)
    {
        u32v post;
        WMI_LOAD3(f32v);
        const f32v r = wmi_div_scale_f32(a, b, c, mode, &post);

        bits |= wmi_pack(post) << at / 4;
        wmi_store(frame + op->d + at, wmi_load_u32((const char *)lanes->row + at), (u32v)r);
    }
    wmi_put_mask(frame, op->e, bits & lanes->bits);
    return wmi_next(frame, op);
}

static inline u32v vcc_lanes(const char *frame, unsigned at)
{
    return wmi_expand(wmi_get_mask(frame, 4 * WMI_S_VCC) >> at / 4);
}

WMI_ROWS3(v_div_fmas_f32, f32v,
          wmi_settle_f32(wmi_div_fmas_f32(a, b, c, vcc_lanes(frame, at), mode), active, a, b, c))

/* Lighting: no light, or a NaN, gives the smallest number. Source: RDNA 3 ISA,
 * V_MULLIT_F32. A factor of 0 gives +0, also with infinity: measured on gfx1201 (bjacob/goc). */
static inline f32v lit(f32v a, f32v b, f32v c, u32v active)
{
    const u32v dark = (u32v)(b <= -0x1.fffffep127f) | wmi_is_nan_f32(b) | ~(u32v)(c > 0);
    const u32v zero = (u32v)(a == 0) | (u32v)(b == 0);
    const f32v product = wmi_select_f32(zero, wmi_splat_f32(0), wmi_settle_f32(a * b, active, a, b, b));

    return wmi_select_f32(dark, wmi_splat_f32(-0x1.fffffep127f), product);
}

WMI_ROWS3(v_mullit_f32, f32v, lit(a, b, c, active))

/* Cube maps. a, b, c: x, y, z of the direction. Source: [V], V_CUBEID_F32 and following. Comparisons take
 * denormals as zeros, coordinates stay as they are, whatever MODE says: captures on gfx1201 (bjacob/goc). */
struct axes {
    u32v z, y; /* if z is set, the major axis is z; else if y is set, y; else x */
};

static inline struct axes major_axis(f32v x, f32v y, f32v z)
{
    const f32v ax = wmi_flush_f32((f32v)((u32v)x & ~WMI_SIGN_F32));
    const f32v ay = wmi_flush_f32((f32v)((u32v)y & ~WMI_SIGN_F32));
    const f32v az = wmi_flush_f32((f32v)((u32v)z & ~WMI_SIGN_F32));
    const u32v is_z = (u32v)(az >= ax) & (u32v)(az >= ay);

    return (struct axes){is_z, (u32v)(ay >= ax) & ~is_z};
}

static inline f32v of_axis(struct axes axes, f32v x, f32v y, f32v z)
{
    return wmi_select_f32(axes.z, z, wmi_select_f32(axes.y, y, x));
}

static inline u32v is_below_zero(f32v x)
{
    return (u32v)(wmi_flush_f32(x) < 0);
}

/* Negates x where the sign bit of `mask` is set. */
static inline f32v negated_if(f32v x, u32v mask)
{
    return (f32v)((u32v)x ^ (mask & WMI_SIGN_F32));
}

static inline f32v cube_face(f32v x, f32v y, f32v z)
{
    const f32v one = wmi_splat_f32(1);

    return of_axis(major_axis(x, y, z), (f32v)((u32v)one & is_below_zero(x)),
                   2 + (f32v)((u32v)one & is_below_zero(y)), 4 + (f32v)((u32v)one & is_below_zero(z)));
}

static inline f32v cube_s(f32v x, f32v y, f32v z)
{
    return of_axis(major_axis(x, y, z), negated_if(z, ~is_below_zero(x)), x, negated_if(x, is_below_zero(z)));
}

static inline f32v cube_t(f32v x, f32v y, f32v z)
{
    const f32v minus = negated_if(y, wmi_splat_u32(~0u));

    return of_axis(major_axis(x, y, z), minus, negated_if(z, is_below_zero(y)), minus);
}

/* Zeros of both signs give +0. */
static inline f32v cube_major(f32v x, f32v y, f32v z)
{
    const f32v major = wmi_flush_f32(of_axis(major_axis(x, y, z), x, y, z));

    return (f32v)((u32v)wmi_quiet_f32(2 * major) & ~(u32v)(major == 0));
}

WMI_ROWS3(v_cubeid_f32, f32v, cube_face(a, b, c))
WMI_ROWS3(v_cubesc_f32, f32v, wmi_quiet_f32(cube_s(a, b, c)))
WMI_ROWS3(v_cubetc_f32, f32v, wmi_quiet_f32(cube_t(a, b, c)))
WMI_ROWS3(v_cubema_f32, f32v, cube_major(a, b, c))
