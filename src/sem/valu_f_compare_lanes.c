/* SPDX-License-Identifier: MIT */
/* Float compares: v_cmp writes a mask. Lanes outside the set get 0. Denormals compare as zero where MODE
 * flushes inputs. */
#include "sem/float_bodies.h"

static inline void write_cmp(char *frame, const struct wmi_op *op, uint64_t bits)
{
    wmi_put_mask(frame, op->d, bits & wmi_op_lanes(frame, op)->bits);
}

/* The bits of the lanes where `truth`, a u32v of ones and zeros, holds; `loads` declares its operands. */
#define MASK_LOOP(name, inlining, loads, truth)                                                              \
    static inlining uint64_t name##_bits(char *restrict frame, const struct wmi_op *op)                      \
    {                                                                                                        \
        const uint32_t mode = ((const struct wmi_frame *)frame)->mode;                                       \
        uint64_t bits = 0;                                                                                   \
                                                                                                             \
        (void)mode;                                                                                          \
        WMI_EACH_VECTOR(at)                                                                                  \
        {                                                                                                    \
            loads;                                                                                           \
            bits |= wmi_pack((u32v)(truth)) << at / 4;                                                       \
        }                                                                                                    \
        return bits;                                                                                         \
    }

#define BODY(suffix, compute)                                                                                \
    WMI_DEFINE(v_cmp_##suffix)                                                                               \
    {                                                                                                        \
        write_cmp(frame, op, compute);                                                                       \
        return wmi_next(frame, op);                                                                          \
    }

#define COMPARE_F32(predicate, truth)                                                                        \
    MASK_LOOP(predicate##_f32, WMI_JOINED, WMI_LOAD2(f32v, f32v); (void)a; (void)b, truth)                   \
    BODY(predicate##_f32, predicate##_f32_bits(frame, op))

/* Widened halves are never denormal, so f32 flushing does not affect them. */
#define LOAD_HALVES                                                                                          \
    const f32v a = wmi_input_f16(wmi_load_u32(frame + op->a + at), mode),                                    \
               b = wmi_input_f16(wmi_load_u32(frame + op->b + at), mode);                                    \
    (void)a;                                                                                                 \
    (void)b

#define COMPARE_F16(predicate, truth)                                                                        \
    MASK_LOOP(predicate##_f16, WMI_JOINED, LOAD_HALVES, truth)                                               \
    BODY(predicate##_f16, predicate##_f16_bits(frame, op))

/* f64 under its own control word. */
#define COMPARE_F64(predicate, truth)                                                                        \
    static WMI_JOINED u64v predicate##_f64(f64v a, f64v b)                                                   \
    {                                                                                                        \
        (void)a;                                                                                             \
        (void)b;                                                                                             \
        return (u64v)(truth);                                                                                \
    }                                                                                                        \
    static WMI_JOINED u32v predicate##_f64x2(struct wmi_f64x2 a, struct wmi_f64x2 b)                         \
    {                                                                                                        \
        a.v[0] = (f64v)predicate##_f64(a.v[0], b.v[0]);                                                      \
        a.v[1] = (f64v)predicate##_f64(a.v[1], b.v[1]);                                                      \
        return wmi_low_words(a);                                                                             \
    }                                                                                                        \
    MASK_LOOP(predicate##_f64, WMI_APART, WMI_PAIR2, predicate##_f64x2(ax, bx))                              \
    BODY(predicate##_f64, under_f64(predicate##_f64_bits, frame, op))

static inline uint64_t under_f64(uint64_t (*bits_of)(char *restrict, const struct wmi_op *),
                                 char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *wave = (const struct wmi_frame *)frame;
    const uint32_t usual = wave->mxcsr32, wanted = wave->mxcsr64;

    if (usual == wanted)
        return bits_of(frame, op);
    wmi_host_float_set(wanted);
    const uint64_t bits = bits_of(frame, op);
    wmi_host_float_set(usual);
    return bits;
}

#define COMPARE_ALL(predicate, truth)                                                                        \
    COMPARE_F16(predicate, truth)                                                                            \
    COMPARE_F32(predicate, truth)                                                                            \
    COMPARE_F64(predicate, truth)

COMPARE_ALL(f, (a != a) & (a == a))
COMPARE_ALL(lt, a < b)
COMPARE_ALL(eq, a == b)
COMPARE_ALL(le, a <= b)
COMPARE_ALL(gt, a > b)
COMPARE_ALL(lg, (a < b) | (a > b))
COMPARE_ALL(ge, a >= b)
COMPARE_ALL(o, (a == a) & (b == b))
COMPARE_ALL(u, (a != a) | (b != b))
COMPARE_ALL(nge, ~(a >= b))
COMPARE_ALL(nlg, ~((a < b) | (a > b)))
COMPARE_ALL(ngt, ~(a > b))
COMPARE_ALL(nle, ~(a <= b))
COMPARE_ALL(neq, ~(a == b))
COMPARE_ALL(nlt, ~(a < b))
COMPARE_ALL(tru, (a != a) | (a == a))

/* Class: b is a mask of classes. Denormals are a class of their own, regardless of MODE. */
static inline u32v class_f32(u32v x)
{
    return wmi_class_mask(x & ~WMI_SIGN_F32, (u32v)((i32v)x < 0), 0x800000, WMI_EXPONENT_F32, WMI_QUIET_F32);
}

static inline u32v class_f16(u32v x)
{
    return wmi_class_mask(x & 0x7fff, (u32v)((x & WMI_SIGN_F16) != 0), 0x400, WMI_INFINITY_F16,
                          WMI_QUIET_F16);
}

/* Maps an f64 to an f32 of the same class: same sign, same quiet bit, same kind of exponent and fraction. */
static inline u32v class_f64(u32v low, u32v high)
{
    const u32v top = high & 0x7fffffff, below = (u32v)(low != 0);
    const u32v is_special = (u32v)(top >= 0x7ff00000), is_small = (u32v)(top < 0x100000);
    const u32v fraction = ((top & 0xfffff) << 3) | (below & 1);
    u32v kind = wmi_splat_u32(0x3f800000);

    kind = wmi_select_u32(is_special, WMI_EXPONENT_F32 | fraction, kind);
    kind = wmi_select_u32(is_small, fraction, kind);
    return class_f32((high & WMI_SIGN_F32) | kind);
}

#define LOAD_CLASS const u32v x = wmi_load_u32(frame + op->a + at), b = wmi_load_u32(frame + op->b + at)

MASK_LOOP(class_f32, WMI_JOINED, LOAD_CLASS, (class_f32(x) & b) != 0)
MASK_LOOP(class_f16, WMI_JOINED, LOAD_CLASS, (class_f16(x) & b) != 0)
MASK_LOOP(class_f64, WMI_JOINED, LOAD_CLASS;
          const u32v y = wmi_load_u32(frame + op->a + WMI_ROW_BYTES + at), (class_f64(x, y) & b) != 0)
BODY(class_f32, class_f32_bits(frame, op))
BODY(class_f16, class_f16_bits(frame, op))
BODY(class_f64, class_f64_bits(frame, op))
