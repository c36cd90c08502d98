/* SPDX-License-Identifier: MIT */
/* The steps of base/dot_step.h for a vector of sums, in integers of 32 bits: exact while exponents are
 * moderate.
 *
 * For *_lanes.c files only. The host must round to nearest even and keep denormals. */
#ifndef WMI_DOT_VECTOR_H
#define WMI_DOT_VECTOR_H

#include "arithmetic/dot_step.h"
#include "arithmetic/half.h"
#include "base/lanes.h"

enum {
    WMI_DOT_NO_EXPONENT = -2000, /* of zeros; added twice, it is still below all others */
    WMI_DOT_MOST_EXPONENT = 110, /* of C, or of a product: sums of these are finite */
};

/* Factors: magnitudes times 2^(fraction - e), exponents, and signs (all ones: negative). */
struct wmi_dot_factors {
    i32v m, e, sign;
};

/* Magnitudes are shifted left by `align`; `top` gets ones where a factor is infinite or NaN. */
WMI_INLINE struct wmi_dot_factors wmi_dot_split(u32v x, const struct wmi_dot_format *f, bool flushes,
                                                unsigned align, u32v *top)
{
    const uint32_t ones = (1u << f->exponent) - 1, hidden = 1u << f->fraction;
    const uint32_t least_top = f->infinities ? ones << f->fraction : (hidden << f->exponent) - 1;
    const u32v field = x >> f->fraction & ones, fraction = x & (hidden - 1);
    const u32v is_normal = (u32v)(field != 0), denormal = flushes ? wmi_splat_u32(0) : fraction;
    const u32v m = wmi_select_u32(is_normal, fraction | hidden, denormal);
    const u32v encoded = wmi_select_u32(is_normal, field, wmi_splat_u32(1)) - f->bias;
    *top |= (u32v)((x & ((hidden << f->exponent) - 1)) >= least_top);
    return (struct wmi_dot_factors){
        .m = (i32v)(m << align),
        .e = (i32v)wmi_select_u32((u32v)(m != 0), encoded, wmi_splat_u32((uint32_t)WMI_DOT_NO_EXPONENT)),
        .sign = (i32v)(x << (31 - f->exponent - f->fraction)) >> 31,
    };
}

/* Products in units of 2^(e - 24): magnitudes with signs beside them (gfx11), or signed ones (gfx12). */
struct wmi_dot_products {
    i32v m[WMI_DOT_PRODUCTS], e[WMI_DOT_PRODUCTS], sign[WMI_DOT_PRODUCTS];
};

/* A sum in units of 2^(unit - 24). */
struct wmi_dot_sums {
    i32v value, unit;
};

/* wmi_dot_step_11(). least: that of the exponents with which C counts. */
WMI_INLINE struct wmi_dot_sums wmi_dot_sum_11(const struct wmi_dot_products *x, u32v c, int32_t least)
{
    const i32v field = (i32v)(c >> 23 & 0xff), negative = (i32v)c >> 31;
    const u32v counts = (u32v)(field != 0);
    const u32v mc = ((c & 0x7fffff) | 0x800000) << 3 & counts;
    const i32v own = field - 129, floored = wmi_greater_i32(own, (i32v){0} + (least - 2));
    const i32v of_c =
        (i32v)wmi_select_u32(counts, (u32v)floored, wmi_splat_u32((uint32_t)WMI_DOT_NO_EXPONENT));
    const i32v unit = wmi_greater_i32(of_c, wmi_greater_i32(x->e[0], x->e[1]));
    const u32v c_part = wmi_shift_right_u32(mc, unit - own);
    const i32v first = (i32v)wmi_shift_right_u32((u32v)x->m[0], unit - x->e[0]) ^ x->sign[0] ^ negative;
    const i32v second = (i32v)wmi_shift_right_u32((u32v)x->m[1], unit - x->e[1]) ^ x->sign[1] ^ negative;
    const i32v sum = (i32v)c_part + first + second;
    const i32v any = unit > WMI_DOT_NO_EXPONENT / 2;
    return (struct wmi_dot_sums){((sum ^ negative) - negative) & any, unit};
}

/* wmi_dot_step_12(), with products in groups of `group`. */
WMI_INLINE struct wmi_dot_sums wmi_dot_sum_12(const struct wmi_dot_products *x, unsigned count,
                                              unsigned group, u32v c, int32_t least)
{
    const i32v field = (i32v)(c >> 23 & 0xff), negative = (i32v)c >> 31;
    const u32v is_normal = (u32v)(field != 0);
    const u32v mc = ((c & 0x7fffff) | (is_normal & 0x800000)) << 3;
    const i32v own = field - (i32v)(is_normal & 1) - 128; /* of max(field, 1) - 129 */
    i32v unit = wmi_greater_i32(own, (i32v){0} + (least - 2)), sum = (i32v){0};
    i32v part[WMI_DOT_PRODUCTS], part_unit[WMI_DOT_PRODUCTS];
    for (unsigned first = 0; first < count; first += group) {
        i32v e = x->e[first], s = (i32v){0};
        for (unsigned t = first + 1; t < first + group; t++)
            e = wmi_greater_i32(e, x->e[t]);
        for (unsigned t = first; t < first + group; t++)
            s += wmi_shift_right_i32(x->m[t], e - x->e[t]);
        part[first] = s;
        part_unit[first] = e;
        unit = wmi_greater_i32(unit, e);
    }
    for (unsigned first = 0; first < count; first += group)
        sum += wmi_shift_right_i32(part[first], unit - part_unit[first]);
    const i32v shift = unit - own, cut = wmi_shift_right_i32((i32v)(mc ^ (u32v)negative) - negative, shift);
    const i32v vanishes = (i32v)(wmi_shift_right_u32(mc, shift) == 0) & (unit > -126 + 24);
    return (struct wmi_dot_sums){sum + (cut & ~vanishes), unit};
}

/* What a sum is rounded to; bf16 is cut off from f32. */
enum wmi_dot_to { WMI_DOT_TO_F32, WMI_DOT_TO_BF16, WMI_DOT_TO_F16 };

/* wmi_dot_round(). Sets *wide where the exponent is not one of a normal number, or with gfx11's rules returns
 * 0 there. */
WMI_INLINE u32v wmi_dot_rounded(struct wmi_dot_sums x, bool flushes, enum wmi_dot_to to, u32v *wide)
{
    i32v value = x.value;
    if (to == WMI_DOT_TO_F16) {
        /* A conversion to f32 rounds to 24 bits: of more, only whether the rest is zero matters. */
        const i32v negative = value >> 31, m = (value ^ negative) - negative;
        const i32v odd = (m >> 5 << 5) | ((i32v)((m & 31) != 0) & 32);
        const i32v kept = (i32v)wmi_select_u32((u32v)(m >= 1 << 24), (u32v)odd, (u32v)m);
        value = (kept ^ negative) - negative;
    }
    const u32v bits = (u32v) __builtin_convertvector(value, f32v), sign = bits & 0x80000000u;
    const u32v magnitude = (bits & 0x7fffffff) + (u32v)((x.unit - 24) << 23);
    const u32v is_normal = (u32v)((i32v)magnitude >= 0x800000), nonzero = (u32v)(value != 0);
    const u32v whole = (sign | magnitude) & is_normal & nonzero;
    if (!flushes)
        *wide |= nonzero & ~is_normal;
    if (to == WMI_DOT_TO_BF16)
        return whole >> 16;
    if (to == WMI_DOT_TO_F16) {
        const u32v narrow = wmi_narrow((f32v)whole, 0);
        *wide |= (u32v)((narrow & 0x7fff) >= WMI_INFINITY_F16);
        return narrow;
    }
    return whole;
}

/* One step: products of `count` factors, of which group are aligned with each other first (0: gfx11), and C.
 * *wide gets ones where the result is not exact. */
WMI_INLINE u32v wmi_dot_vector_step(const struct wmi_dot_factors *a, const struct wmi_dot_factors *b,
                                    unsigned count, unsigned group, enum wmi_dot_to to, u32v c, u32v *wide)
{
    const int32_t least = to == WMI_DOT_TO_F16 ? -14 : -126;
    const u32v addend = to == WMI_DOT_TO_F16 ? (u32v)wmi_widen(c) : to == WMI_DOT_TO_BF16 ? c << 16 : c;
    struct wmi_dot_products x = {0};
    for (unsigned t = 0; t < count; t++) {
        x.m[t] = a[t].m * b[t].m;
        x.e[t] = a[t].e + b[t].e;
        x.sign[t] = a[t].sign ^ b[t].sign;
        if (group)
            x.m[t] = (x.m[t] ^ x.sign[t]) - x.sign[t];
    }
    return wmi_dot_rounded(group ? wmi_dot_sum_12(&x, count, group, addend, least)
                                 : wmi_dot_sum_11(&x, addend, least),
                           !group && to != WMI_DOT_TO_F16, to, wide);
}

#endif
