/* SPDX-License-Identifier: MIT */
/* Macros that define vector bodies: one result per lane, written in plain C in terms of a, b and c.
 *
 *     LANES2(v_add_u32, u32, u32, u32, a + b)
 *
 * defines the body of row v_add_u32: for each lane of the set at op->lanes, d = a + b, with d, a and b of the
 * types u16 i16 u32 i32 f32 (one row) or u64 i64 f64 (two rows, low and high). A 16-bit operand is the low
 * half of its word; a 16-bit result writes zeros into the high half. The expression must not depend on the
 * lane number, may use only its operands, and is evaluated for all lanes.
 *
 * Every body has two loops, for all lanes and for some, and each loop does all of a lane's reads before its
 * writes, so d may be any of the sources.
 *
 *     LANES1 LANES2 LANES3   one, two, three sources
 *     CLAMPED2 CLAMPED3      with a second expression, used if the CLAMP bit (op->y bit 0) is set
 *     COMPARE                writes the mask of lanes where the expression is true; also defines v_cmpx
 *
 * WMI_BODY_SUFFIX is _<level>_<lanes>; files that use this header are compiled once for each. */
#ifndef WMI_BODIES_H
#define WMI_BODIES_H

#include "base/lanes.h"
#include "sem/sem.h"

/* The symbol of a row's body in this translation unit. */
#define WMI_BODY(name) WMI_BUILD_NAME(wmi_sem_##name)

/* A prototype for every body of a VALU row, so that a body without a row is an error (-Wmissing-prototypes).
 */
#define WMI_PROTOTYPE_VALU(name)                                                                             \
    const struct wmi_op *WMI_BODY(name)(char *restrict frame, const struct wmi_op *op);
#define WMI_PROTOTYPE_SALU(name)
#define WMI_PROTOTYPE_CONTROL(name)
#define WMI_PROTOTYPE_SMEM(name)
#define WMI_PROTOTYPE_BUFFER(name)
#define WMI_PROTOTYPE_TBUFFER(name)
#define WMI_PROTOTYPE_IMAGE(name)
#define WMI_PROTOTYPE_FLAT(name)
#define WMI_PROTOTYPE_GLOBAL(name)
#define WMI_PROTOTYPE_SCRATCH(name)
#define WMI_PROTOTYPE_DS(name)
#define WMI_PROTOTYPE_EXPORT(name)
#define INSN(id, class, body, todo)      WMI_PROTOTYPE_##class(body)
#define BODY(id, class, body, todo, row) WMI_PROTOTYPE_##class(body)
#include "insn.def"

/* Defines the body of row `name`. */
#define WMI_DEFINE(name) const struct wmi_op *WMI_BODY(name)(char *restrict frame, const struct wmi_op *op)

/* ---- operands ---- */

WMI_INLINE wmi_word *wmi_row(char *frame, uint32_t offset)
{
    return __builtin_assume_aligned(frame + offset, 64);
}

WMI_INLINE const struct wmi_lanes *wmi_op_lanes(const char *frame, const struct wmi_op *op)
{
    return (const struct wmi_lanes *)(frame + op->lanes);
}

/* A lane mask in the scalar file: one word for 32 lanes, two for 64. */
WMI_INLINE uint64_t wmi_get_mask(const char *frame, uint32_t offset)
{
    uint64_t bits = 0;
    memcpy(&bits, frame + offset, WMI_LANES / 8);
    return bits;
}

WMI_INLINE void wmi_put_mask(char *frame, uint32_t offset, uint64_t bits)
{
    memcpy(frame + offset, &bits, WMI_LANES / 8);
}

/* C types by operand type, with functions to read and write a lane. merge: writes only where `mask` is ones.
 */
typedef uint16_t wmi_u16;
typedef int16_t wmi_i16;
typedef uint32_t wmi_u32;
typedef int32_t wmi_i32;
typedef uint64_t wmi_u64;
typedef int64_t wmi_i64;
typedef float wmi_f32;
typedef double wmi_f64;

#define WMI_ONE_ROW(type, from_word, to_word)                                                                \
    WMI_INLINE wmi_##type wmi_get_##type(const wmi_word *row, unsigned i)                                    \
    {                                                                                                        \
        const uint32_t word = row[i];                                                                        \
        return from_word;                                                                                    \
    }                                                                                                        \
    WMI_INLINE void wmi_put_##type(wmi_word *row, unsigned i, wmi_##type value)                              \
    {                                                                                                        \
        row[i] = to_word;                                                                                    \
    }                                                                                                        \
    WMI_INLINE void wmi_merge_##type(wmi_word *row, unsigned i, wmi_##type value, uint32_t mask)             \
    {                                                                                                        \
        row[i] = ((to_word) & mask) | (row[i] & ~mask);                                                      \
    }

#define WMI_TWO_ROWS(type, from_words, to_words)                                                             \
    WMI_INLINE wmi_##type wmi_get_##type(const wmi_word *row, unsigned i)                                    \
    {                                                                                                        \
        const uint64_t words = row[i] | (uint64_t)row[i + WMI_LANES] << 32;                                  \
        return from_words;                                                                                   \
    }                                                                                                        \
    WMI_INLINE void wmi_put_##type(wmi_word *row, unsigned i, wmi_##type value)                              \
    {                                                                                                        \
        const uint64_t words = to_words;                                                                     \
        row[i] = (uint32_t)words;                                                                            \
        row[i + WMI_LANES] = (uint32_t)(words >> 32);                                                        \
    }                                                                                                        \
    WMI_INLINE void wmi_merge_##type(wmi_word *row, unsigned i, wmi_##type value, uint32_t mask)             \
    {                                                                                                        \
        const uint64_t words = to_words;                                                                     \
        row[i] = ((uint32_t)words & mask) | (row[i] & ~mask);                                                \
        row[i + WMI_LANES] = ((uint32_t)(words >> 32) & mask) | (row[i + WMI_LANES] & ~mask);                \
    }

#define WMI_BITS_AS(type, bits)                                                                              \
    (((union {                                                                                               \
         __typeof__(bits) from;                                                                              \
         type to;                                                                                            \
     }){bits})                                                                                               \
         .to)

WMI_ONE_ROW(u16, (uint16_t)word, value)
WMI_ONE_ROW(i16, (int16_t)word, (uint16_t)value)
WMI_ONE_ROW(u32, word, value)
WMI_ONE_ROW(i32, (int32_t)word, (uint32_t)value)
WMI_ONE_ROW(f32, WMI_BITS_AS(float, word), WMI_BITS_AS(uint32_t, value))
WMI_TWO_ROWS(u64, words, value)
WMI_TWO_ROWS(i64, (int64_t)words, (uint64_t)value)
WMI_TWO_ROWS(f64, WMI_BITS_AS(double, words), WMI_BITS_AS(uint64_t, value))

/* ---- bodies ---- */

/* Both loops of a body: lane i of d becomes `value`. */
#define WMI_LOOPS(D, value)                                                                                  \
    do {                                                                                                     \
        wmi_word *d = wmi_row(frame, op->d);                                                                 \
        const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);                                             \
        if (lanes->full) {                                                                                   \
            WMI_EACH_LANE                                                                                    \
            for (unsigned i = 0; i < WMI_LANES; i++)                                                         \
                wmi_put_##D(d, i, value);                                                                    \
        } else {                                                                                             \
            WMI_EACH_LANE                                                                                    \
            for (unsigned i = 0; i < WMI_LANES; i++)                                                         \
                wmi_merge_##D(d, i, value, lanes->row[i]);                                                   \
        }                                                                                                    \
    } while (0)

/* For rare cases: the masked loop only, also for full sets. */
#define WMI_MASKED_LOOP(D, value)                                                                            \
    do {                                                                                                     \
        wmi_word *d = wmi_row(frame, op->d);                                                                 \
        const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);                                             \
        WMI_EACH_LANE                                                                                        \
        for (unsigned i = 0; i < WMI_LANES; i++)                                                             \
            wmi_merge_##D(d, i, value, lanes->row[i]);                                                       \
    } while (0)

#define LANES1(name, D, A, expression)                                                                       \
    WMI_INLINE wmi_##D name##_of(wmi_##A a)                                                                  \
    {                                                                                                        \
        return (wmi_##D)(expression);                                                                        \
    }                                                                                                        \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_word *a = wmi_row(frame, op->a);                                                           \
        WMI_LOOPS(D, name##_of(wmi_get_##A(a, i)));                                                          \
        return wmi_next(frame, op);                                                                          \
    }

#define WMI_FUNCTION2(name, D, A, B, expression)                                                             \
    WMI_INLINE wmi_##D name(wmi_##A a, wmi_##B b)                                                            \
    {                                                                                                        \
        return (wmi_##D)(expression);                                                                        \
    }

#define LANES2(name, D, A, B, expression)                                                                    \
    WMI_FUNCTION2(name##_of, D, A, B, expression)                                                            \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b);                               \
        WMI_LOOPS(D, name##_of(wmi_get_##A(a, i), wmi_get_##B(b, i)));                                       \
        return wmi_next(frame, op);                                                                          \
    }

#define CLAMPED2(name, D, A, B, expression, clamped)                                                         \
    WMI_FUNCTION2(name##_of, D, A, B, expression)                                                            \
    WMI_FUNCTION2(name##_clamped, D, A, B, clamped)                                                          \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b);                               \
        if (__builtin_expect(op->y & 1, 0))                                                                  \
            WMI_MASKED_LOOP(D, name##_clamped(wmi_get_##A(a, i), wmi_get_##B(b, i)));                        \
        else                                                                                                 \
            WMI_LOOPS(D, name##_of(wmi_get_##A(a, i), wmi_get_##B(b, i)));                                   \
        return wmi_next(frame, op);                                                                          \
    }

#define WMI_FUNCTION3(name, D, A, B, C, expression)                                                          \
    WMI_INLINE wmi_##D name(wmi_##A a, wmi_##B b, wmi_##C c)                                                 \
    {                                                                                                        \
        return (wmi_##D)(expression);                                                                        \
    }

#define LANES3(name, D, A, B, C, expression)                                                                 \
    WMI_FUNCTION3(name##_of, D, A, B, C, expression)                                                         \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b), *c = wmi_row(frame, op->c);   \
        WMI_LOOPS(D, name##_of(wmi_get_##A(a, i), wmi_get_##B(b, i), wmi_get_##C(c, i)));                    \
        return wmi_next(frame, op);                                                                          \
    }

#define CLAMPED3(name, D, A, B, C, expression, clamped)                                                      \
    WMI_FUNCTION3(name##_of, D, A, B, C, expression)                                                         \
    WMI_FUNCTION3(name##_clamped, D, A, B, C, clamped)                                                       \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b), *c = wmi_row(frame, op->c);   \
        if (__builtin_expect(op->y & 1, 0))                                                                  \
            WMI_MASKED_LOOP(D, name##_clamped(wmi_get_##A(a, i), wmi_get_##B(b, i), wmi_get_##C(c, i)));     \
        else                                                                                                 \
            WMI_LOOPS(D, name##_of(wmi_get_##A(a, i), wmi_get_##B(b, i), wmi_get_##C(c, i)));                \
        return wmi_next(frame, op);                                                                          \
    }

/* v_cmp_<suffix>: writes a bit per lane of the set to the mask at d, 0 for other lanes. The loop stores words
 * for wmi_lanes_pack(): collecting bits in the loop is ten times slower. */
#define COMPARE(suffix, A, B, expression)                                                                    \
    WMI_DEFINE(v_cmp_##suffix)                                                                               \
    {                                                                                                        \
        const wmi_word *row_a = wmi_row(frame, op->a), *row_b = wmi_row(frame, op->b);                       \
        wmi_word hit[WMI_LANES];                                                                             \
        WMI_EACH_LANE                                                                                        \
        for (unsigned i = 0; i < WMI_LANES; i++) {                                                           \
            const wmi_##A a = wmi_get_##A(row_a, i);                                                         \
            const wmi_##B b = wmi_get_##B(row_b, i);                                                         \
            (void)a, (void)b;                                                                                \
            hit[i] = (expression) ? UINT32_MAX : 0;                                                          \
        }                                                                                                    \
        wmi_put_mask(frame, op->d, wmi_lanes_pack(hit) & wmi_op_lanes(frame, op)->bits);                     \
        return wmi_next(frame, op);                                                                          \
    }

#endif
