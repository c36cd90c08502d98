/* SPDX-License-Identifier: MIT */
/* Host code of reciprocals and square roots, as in sem/valu_f32_special_lanes.c, and of steps that take f32
 * apart or scale it, as in base/float.h. Lanes whose result is a NaN leave for the body. */
#include "arithmetic/float.h"
#include "jit/lane_access.h"
#include "jit/vector.h"

static const uint32_t vdivps = WMI_EVEX(0x5e, WMI_MAP_0F, 0, 0), vsqrtps = WMI_EVEX(0x51, WMI_MAP_0F, 0, 0),
                      vfpclassps = WMI_EVEX(0x66, WMI_MAP_0F3A, WMI_PREFIX_66, 0);

enum { ONE = 0x3f800000 };

/* Replaces denormals by zeros of their sign. Where the host takes them for zeros, it classes them so. */
static void flush(struct wmi_stretch *s, const struct wmi_rows *d, unsigned sign)
{
    for (unsigned i = 0; i < wmi_rows_strips(s, d); i++) {
        wmi_evex(&s->host, vfpclassps, WMI_K, 0, wmi_zmm(d->reg[i]), WMI_NO_MASK,
                 WMI_IS_ZERO | WMI_IS_DENORMAL);
        wmi_evex(&s->host, WMI_VPANDD, d->reg[i], d->reg[i], wmi_zmm(sign), WMI_K, WMI_NO_IMMEDIATE);
    }
}

/* Of each lane: x, flushed; 0 in inactive lanes. */
static struct wmi_rows flushed(struct wmi_stretch *s, const struct wmi_rows *x, unsigned sign)
{
    struct wmi_rows d = wmi_stretch_result(s, x->uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        wmi_evex(&s->host, WMI_VMOVDQA32, d.reg[i], 0, wmi_rows_operand(s, x, i),
                 wmi_vector_active_or_zero(s, d.uniform, i), WMI_NO_IMMEDIATE);
    flush(s, &d, sign);
    return d;
}

static unsigned sign_bits(struct wmi_stretch *s)
{
    return wmi_vector_splat(s, WMI_SIGN_F32);
}

/* d = instruction(a, d), which takes the host longer the more lanes there are. Every fourth lane of a single
 * register is the same. */
static void put_slow(struct wmi_stretch *s, uint32_t instruction, unsigned a, const struct wmi_rows *d)
{
    const uint32_t vshuff32x4 = WMI_EVEX(0x23, WMI_MAP_0F3A, WMI_PREFIX_66, 0);
    const unsigned first = d->reg[0];
    if (!d->uniform) {
        for (unsigned i = 0; i < s->strips; i++)
            wmi_evex_plain(&s->host, instruction, d->reg[i], a, wmi_zmm(d->reg[i]));
        return;
    }
    wmi_evex_plain(&s->host, instruction | WMI_EVEX_128, first, a, wmi_zmm(first));
    wmi_evex(&s->host, vshuff32x4, first, first, wmi_zmm(first), WMI_NO_MASK, 0);
}

bool wmi_emit_reciprocal(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    const unsigned sign = sign_bits(s);
    struct wmi_rows d = flushed(s, &a, sign);
    put_slow(s, vdivps, wmi_vector_splat(s, ONE), &d);
    wmi_vector_leave_for_nan(s, &d);
    flush(s, &d, sign); /* denormal results are rare, but possible */
    wmi_stretch_write(s, step->d, &d);
    return true;
}

bool wmi_emit_root(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    struct wmi_rows d = flushed(s, &a, sign_bits(s));
    put_slow(s, vsqrtps, 0, &d);
    wmi_vector_leave_for_nan(s, &d);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* Of positive numbers, zero and infinity: the root of the reciprocal. Large numbers are scaled before and
 * after, because their reciprocal would be denormal. */
bool wmi_emit_reciprocal_root(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { LARGE = 0x71800000, DOWN = 0x1f800000, DOWN_ROOT = 0x2f800000 }; /* 2^100, 2^-64, 2^-32 */
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    struct wmi_rows d = flushed(s, &a, sign_bits(s));
    const struct wmi_rows infinity = wmi_vector_uniform(wmi_vector_splat(s, WMI_EXPONENT_F32));
    wmi_vector_leave_if(s, WMI_VPCMPUD, &d, &infinity, WMI_ABOVE); /* negative, or a NaN */
    const unsigned one = wmi_vector_splat(s, ONE), large = wmi_vector_splat(s, LARGE),
                   down = wmi_vector_splat(s, DOWN), down_root = wmi_vector_splat(s, DOWN_ROOT);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const unsigned reg = d.reg[i];
        wmi_vector_compare(s, WMI_VPCMPUD, WMI_K, reg, wmi_zmm(large), WMI_NO_MASK, WMI_NOT_BELOW);
        wmi_evex(&s->host, WMI_VMULPS, reg, reg, wmi_zmm(down), WMI_K, WMI_NO_IMMEDIATE);
        wmi_evex_plain(&s->host, vdivps, reg, one, wmi_zmm(reg));
        wmi_evex_plain(&s->host, vsqrtps, reg, 0, wmi_zmm(reg));
        wmi_evex(&s->host, WMI_VMULPS, reg, reg, wmi_zmm(down_root), WMI_K, WMI_NO_IMMEDIATE);
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* ---- exponents ---- */

/* The source as the wave's MODE has it. */
static struct wmi_rows input(struct wmi_stretch *s, uint32_t row)
{
    const struct wmi_rows a = wmi_stretch_use(s, row, true);
    return s->block->mode.mode & WMI_MODE_DENORMAL_IN_F32 ? a : flushed(s, &a, sign_bits(s));
}

/* Without AVX-512, exponents and significands are taken from the bits of normal numbers. A wave with another
 * one in an active lane leaves for the body. */
enum { LEAST_EXPONENT = 1, NORMAL_EXPONENTS = 254, HALF_EXPONENT = 126 };

/* A test that all active lanes are those of normal numbers. */
struct normal {
    unsigned highest, most; /* registers */
    bool has_some;
};

static struct normal begin_normal(struct wmi_stretch *s)
{
    const unsigned highest = wmi_stretch_register(s);
    return (struct normal){highest, wmi_vector_splat(s, NORMAL_EXPONENTS - 1), false};
}

/* The register has exponents, minus the least one of normal numbers. */
static void add_exponents(struct wmi_stretch *s, struct normal *n, unsigned reg, bool uniform, unsigned strip)
{
    wmi_access_highest(s, n->highest, reg, wmi_vector_active(s, uniform, strip), !n->has_some);
    n->has_some = true;
}

static void end_normal(struct wmi_stretch *s, const struct normal *n)
{
    wmi_test_above(&s->host, n->highest, n->most, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

/* d = the exponent of x, minus the least one of normal numbers. */
static void take_exponent(struct wmi_stretch *s, unsigned d, unsigned x, unsigned least)
{
    wmi_vector_shift(s, WMI_LEFT, d, wmi_zmm(x), 1);
    wmi_vector_shift(s, WMI_RIGHT, d, wmi_zmm(d), 24);
    wmi_evex_plain(&s->host, WMI_VPSUBD, d, d, wmi_zmm(least));
}

static bool emit_significand_part(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    struct normal n = begin_normal(s);
    const unsigned least = wmi_vector_splat(s, LEAST_EXPONENT),
                   kept = wmi_vector_splat(s, WMI_SIGN_F32 | ~(WMI_SIGN_F32 | WMI_EXPONENT_F32)),
                   half = wmi_vector_splat(s, HALF_EXPONENT << 23);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const unsigned x = wmi_rows_register(&a, i), reg = d.reg[i];
        take_exponent(s, reg, x, least);
        add_exponents(s, &n, reg, d.uniform, i);
        wmi_evex_plain(&s->host, WMI_VPANDD, reg, x, wmi_zmm(kept));
        wmi_evex_plain(&s->host, WMI_VPORD, reg, reg, wmi_zmm(half));
    }
    end_normal(s, &n);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

static bool emit_exponent_part(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    struct normal n = begin_normal(s);
    const unsigned least = wmi_vector_splat(s, LEAST_EXPONENT),
                   bias = wmi_vector_splat(s, HALF_EXPONENT - LEAST_EXPONENT);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        take_exponent(s, d.reg[i], wmi_rows_register(&a, i), least);
        add_exponents(s, &n, d.reg[i], d.uniform, i);
        wmi_evex_plain(&s->host, WMI_VPSUBD, d.reg[i], d.reg[i], wmi_zmm(bias));
    }
    end_normal(s, &n);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* Also the result must be normal. */
static bool emit_scale_of_parts(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, true);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform && b.uniform);
    struct normal n = begin_normal(s);
    const unsigned least = wmi_vector_splat(s, LEAST_EXPONENT);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const unsigned x = wmi_rows_register(&a, i), by = wmi_rows_register(&b, i), reg = d.reg[i];
        take_exponent(s, reg, x, least);
        add_exponents(s, &n, reg, d.uniform, i);
        wmi_evex_plain(&s->host, WMI_VPADDD, reg, reg, wmi_zmm(by));
        add_exponents(s, &n, reg, d.uniform, i);
        wmi_vector_shift(s, WMI_LEFT, reg, wmi_zmm(by), 23);
        wmi_evex_plain(&s->host, WMI_VPADDD, reg, reg, wmi_zmm(x));
    }
    end_normal(s, &n);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

bool wmi_emit_significand(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { HALF_TO_ONE = 2 }; /* of VGETMANTPS: the interval; the sign is kept */
    const uint32_t vgetmantps = WMI_EVEX(0x26, WMI_MAP_0F3A, WMI_PREFIX_66, 0);
    if (!wmi_has_avx512(s))
        return emit_significand_part(s, step);
    const struct wmi_rows a = input(s, step->a);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        wmi_evex(&s->host, vgetmantps, d.reg[i], 0, wmi_zmm(wmi_rows_register(&a, i)),
                 wmi_vector_active_or_zero(s, d.uniform, i), HALF_TO_ONE);
    wmi_vector_leave_for_nan(s, &d);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const struct wmi_host_operand from = wmi_zmm(wmi_rows_register(&a, i));
        wmi_evex(&s->host, vfpclassps, WMI_K, 0, from, WMI_NO_MASK, WMI_IS_ZERO | WMI_IS_INFINITE);
        wmi_evex(&s->host, WMI_VMOVDQA32, d.reg[i], 0, from, WMI_K, WMI_NO_IMMEDIATE);
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

bool wmi_emit_exponent(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vgetexpps = WMI_EVEX(0x42, WMI_MAP_0F38, WMI_PREFIX_66, 0),
                   vcvttps2dq = WMI_EVEX(0x5b, WMI_MAP_0F, WMI_PREFIX_F3, 0);
    if (!wmi_has_avx512(s))
        return emit_exponent_part(s, step);
    const struct wmi_rows a = input(s, step->a);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    const unsigned ones = wmi_vector_splat(s, UINT32_MAX);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const struct wmi_host_operand from = wmi_zmm(wmi_rows_register(&a, i));
        const unsigned reg = d.reg[i];
        wmi_evex_plain(&s->host, vgetexpps, reg, 0, from);
        wmi_evex_plain(&s->host, vcvttps2dq, reg, 0, wmi_zmm(reg));
        wmi_evex_plain(&s->host, WMI_VPSUBD, reg, reg, wmi_zmm(ones));
        wmi_evex(&s->host, vfpclassps, WMI_K, 0, from, WMI_NO_MASK,
                 WMI_IS_NAN | WMI_IS_ZERO | WMI_IS_INFINITE);
        wmi_evex(&s->host, WMI_VPXORD, reg, reg, wmi_zmm(reg), WMI_K, WMI_NO_IMMEDIATE);
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* a * 2^b */
bool wmi_emit_scale(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vscalefps = WMI_EVEX(0x2c, WMI_MAP_0F38, WMI_PREFIX_66, 0),
                   vcvtdq2ps = WMI_EVEX(0x5b, WMI_MAP_0F, 0, 0);
    if (!wmi_has_avx512(s))
        return emit_scale_of_parts(s, step);
    const struct wmi_rows a = input(s, step->a), b = wmi_stretch_use(s, step->b, false);
    struct wmi_rows power = wmi_stretch_result(s, b.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &power); i++)
        wmi_evex_plain(&s->host, vcvtdq2ps, power.reg[i], 0, wmi_rows_operand(s, &b, i));
    struct wmi_rows d = wmi_vector_two(s, vscalefps, &a, &power, true);
    wmi_vector_leave_for_nan(s, &d);
    wmi_stretch_write(s, step->d, &d);
    return true;
}
