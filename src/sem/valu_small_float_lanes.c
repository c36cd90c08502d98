/* SPDX-License-Identifier: MIT */
/* Conversions from and to floats of 8 bits: base/small_float.h. */
#include "arithmetic/small_float.h"
#include "sem/bodies.h"

/* f32 of the lowest byte of a. Lowering has moved there what SDWA or op_sel selects. */
#define WIDEN(name, format)                                                                                  \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_word *a = wmi_row(frame, op->a);                                                           \
        wmi_word r[WMI_LANES];                                                                               \
        for (unsigned i = 0; i < WMI_LANES; i++)                                                             \
            r[i] = wmi_f32_of_small(a[i], format);                                                           \
        WMI_MASKED_LOOP(u32, r[i]);                                                                          \
        return wmi_next(frame, op);                                                                          \
    }

/* CLAMP chooses another format. Source: CDNA 5 ISA, "Conversion to/from E5M3"; unverified of negative
 * numbers, which lose their sign here. */
static enum wmi_small_float chosen(const struct wmi_op *op, enum wmi_small_float format)
{
    return format == WMI_FP8_OCP && op->y & 1 ? WMI_E5M3 : format;
}

WMI_DEFINE(v_cvt_f32_fp8_scale)
{
    const wmi_word *a = wmi_row(frame, op->a);
    wmi_word r[WMI_LANES];
    for (unsigned i = 0; i < WMI_LANES; i++)
        r[i] = wmi_f32_of_small(a[i] & 0xff, chosen(op, WMI_FP8_OCP));
    WMI_MASKED_LOOP(u32, r[i]);
    return wmi_next(frame, op);
}

/* The two lowest bytes of a. */
#define WIDEN_PAIR(name, format)                                                                             \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_word *a = wmi_row(frame, op->a);                                                           \
        uint64_t r[WMI_LANES];                                                                               \
        for (unsigned i = 0; i < WMI_LANES; i++)                                                             \
            r[i] = wmi_f32_of_small(a[i], format) | (uint64_t)wmi_f32_of_small(a[i] >> 8, format) << 32;     \
        WMI_MASKED_LOOP(u64, r[i]);                                                                          \
        return wmi_next(frame, op);                                                                          \
    }

static bool saturates(const char *frame)
{
    return ((const struct wmi_frame *)(const void *)frame)->mode >> 23 & 1; /* FP16_OVFL */
}

/* Two results in the half of d that op_sel[3] selects; the other half stays. */
#define NARROW_PAIR(name, format)                                                                            \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b),                               \
                       *from = wmi_row(frame, op->d);                                                        \
        const struct wmi_small_rounding rounding = {.saturates = saturates(frame)};                          \
        const unsigned at = op->x >> (WMI_X_OP_SEL + 3) & 1 ? 16 : 0;                                        \
        wmi_word r[WMI_LANES];                                                                               \
        for (unsigned i = 0; i < WMI_LANES; i++)                                                             \
            r[i] = (from[i] & ~(0xffffu << at)) |                                                            \
                   ((wmi_small_of_f32(a[i], chosen(op, format), &rounding) & 0xff) |                         \
                    (wmi_small_of_f32(b[i], chosen(op, format), &rounding) & 0xff) << 8)                     \
                       << at;                                                                                \
        WMI_MASKED_LOOP(u32, r[i]);                                                                          \
        return op + 1;                                                                                       \
    }

/* One result, rounded with the random bits b, in the byte of d that op_sel[3:2] selects; the others stay. */
#define NARROW_RANDOM(name, format)                                                                          \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b),                               \
                       *from = wmi_row(frame, op->d);                                                        \
        const bool saturated = saturates(frame);                                                             \
        const unsigned at = 8 * (op->x >> (WMI_X_OP_SEL + 2) & 3);                                           \
        wmi_word r[WMI_LANES];                                                                               \
        for (unsigned i = 0; i < WMI_LANES; i++) {                                                           \
            const struct wmi_small_rounding rounding = {true, saturated, b[i]};                              \
            r[i] = (from[i] & ~(0xffu << at)) |                                                              \
                   (wmi_small_of_f32(a[i], chosen(op, format), &rounding) & 0xff) << at;                     \
        }                                                                                                    \
        WMI_MASKED_LOOP(u32, r[i]);                                                                          \
        return op + 1;                                                                                       \
    }

/* f16 or bf16 in the low half, rounded with the random bits b. A NaN stays quiet. */
#define NARROW_HALF(name, format, saturated)                                                                 \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b);                               \
        const unsigned drop = 23 - wmi_small_layouts[format].fraction, cut = drop > 13 ? 16 : 13;            \
        wmi_word r[WMI_LANES];                                                                               \
        for (unsigned i = 0; i < WMI_LANES; i++) {                                                           \
            const struct wmi_small_rounding rounding = {true, saturated, b[i]};                              \
            const bool nan = (a[i] & 0x7fffffff) > 0x7f800000;                                               \
            const uint32_t quiet = (a[i] >> 16 & 0x8000) | (cut == 16 ? 0x7fc0 : 0x7e00);                    \
            r[i] = nan ? quiet : wmi_small_of_f32(a[i], format, &rounding);                                  \
        }                                                                                                    \
        WMI_MASKED_LOOP(u32, r[i]);                                                                          \
        return op + 1;                                                                                       \
    }

WIDEN(v_cvt_f32_fp8, WMI_FP8_FNUZ)
WIDEN(v_cvt_f32_bf8, WMI_BF8_FNUZ)
WIDEN(v_cvt_f32_fp8_ocp, WMI_FP8_OCP)
WIDEN(v_cvt_f32_bf8_ocp, WMI_BF8_OCP)
WIDEN_PAIR(v_cvt_pk_f32_fp8, WMI_FP8_FNUZ)
WIDEN_PAIR(v_cvt_pk_f32_bf8, WMI_BF8_FNUZ)
WIDEN_PAIR(v_cvt_pk_f32_fp8_ocp, WMI_FP8_OCP)
WIDEN_PAIR(v_cvt_pk_f32_bf8_ocp, WMI_BF8_OCP)
NARROW_PAIR(v_cvt_pk_fp8_f32, WMI_FP8_FNUZ)
NARROW_PAIR(v_cvt_pk_bf8_f32, WMI_BF8_FNUZ)
NARROW_PAIR(v_cvt_pk_fp8_f32_ocp, WMI_FP8_OCP)
NARROW_PAIR(v_cvt_pk_bf8_f32_ocp, WMI_BF8_OCP)
NARROW_RANDOM(v_cvt_sr_fp8_f32, WMI_FP8_FNUZ)
NARROW_RANDOM(v_cvt_sr_bf8_f32, WMI_BF8_FNUZ)
NARROW_RANDOM(v_cvt_sr_fp8_f32_ocp, WMI_FP8_OCP)
NARROW_RANDOM(v_cvt_sr_bf8_f32_ocp, WMI_BF8_OCP)
NARROW_HALF(v_cvt_sr_f16_f32, WMI_SMALL_F16, saturates(frame))
NARROW_HALF(v_cvt_sr_bf16_f32, WMI_SMALL_BF16, false)
