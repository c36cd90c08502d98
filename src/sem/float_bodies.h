/* SPDX-License-Identifier: MIT */
/* The loops of float bodies. A body is one expression over vectors `a`, `b`, `c`, which are the same lanes of
 * its source rows, with `mode`, the MODE register, and `active`, ones in the active lanes.
 *
 * Every form reads all sources of a group of lanes before it writes them to d, so d may be any source. */
#ifndef WMI_FLOAT_BODIES_H
#define WMI_FLOAT_BODIES_H

#include "arithmetic/float.h"
#include "arithmetic/half.h"
#include "arithmetic/host_float.h"
#include "sem/bodies.h"
#include "sem/sem.h"

#define WMI_EACH_VECTOR(at)                                                                                  \
    _Pragma("GCC unroll 4") for (unsigned at = 0; at < WMI_ROW_BYTES; at += WMI_VECTOR_BYTES)

#define WMI_JOINED inline __attribute__((always_inline))
#define WMI_APART  __attribute__((noinline))

/* NaN results in active lanes are rare; only then is the correct NaN determined. */
static inline f32v wmi_settle_f32(f32v result, u32v active, f32v a, f32v b, f32v c)
{
    return __builtin_expect(wmi_any_nan_f32(result, active), 0) ? wmi_nan_of_f32(result, a, b, c) : result;
}

static inline f64v wmi_settle_f64(f64v result, f64v a, f64v b, f64v c)
{
    return __builtin_expect(wmi_any((u32v)(result != result)), 0) ? wmi_nan_of_f64(result, a, b, c) : result;
}

static inline void wmi_store(char *row, u32v active, u32v x)
{
    *(u32v *)row = wmi_select_u32(active, x, *(const u32v *)row);
}

/* The loop of a body: `loads` declares the sources at `at`, the rest stores the result. It is a separate
 * function, not inlined, so that the compiler cannot move arithmetic across a change of the control word. */
#define WMI_LANE_LOOP(name, inlining, loads, ...)                                                            \
    static inlining void name##_loop(char *restrict frame, const struct wmi_op *op)                          \
    {                                                                                                        \
        const struct wmi_lanes *lanes = (const struct wmi_lanes *)(frame + op->lanes);                       \
        const uint32_t mode = ((const struct wmi_frame *)frame)->mode;                                       \
                                                                                                             \
        (void)mode;                                                                                          \
        if (lanes->full) {                                                                                   \
            WMI_EACH_VECTOR(at)                                                                              \
            {                                                                                                \
                const u32v active = wmi_splat_u32(~0u);                                                      \
                loads;                                                                                       \
                __VA_ARGS__;                                                                                 \
            }                                                                                                \
        } else {                                                                                             \
            WMI_EACH_VECTOR(at)                                                                              \
            {                                                                                                \
                const u32v active = wmi_load_u32((const char *)lanes->row + at);                             \
                loads;                                                                                       \
                __VA_ARGS__;                                                                                 \
            }                                                                                                \
        }                                                                                                    \
    }

/* The loop of plain arithmetic, the hottest bodies: computes several vectors, tests them for NaNs at once,
 * then stores them. first, second, third: sources that a NaN may come from, in this order. */
#define WMI_ARITHMETIC_LOOP(name, inlining, loads, value, first, second, third)                              \
    static WMI_JOINED void name##_pass(char *restrict frame, const struct wmi_op *op, const char *set,       \
                                       bool full)                                                            \
    {                                                                                                        \
        enum { CHUNK = WMI_ROW_BYTES / WMI_VECTOR_BYTES < 4 ? 2 : 4 };                                       \
                                                                                                             \
        _Pragma("GCC unroll 4") for (unsigned from = 0; from < WMI_ROW_BYTES;                                \
                                     from += CHUNK * WMI_VECTOR_BYTES)                                       \
        {                                                                                                    \
            f32v r[CHUNK];                                                                                   \
            u32v active[CHUNK];                                                                              \
            _Pragma("GCC unroll 4") for (unsigned k = 0; k < CHUNK; k++)                                     \
            {                                                                                                \
                const unsigned at = from + k * WMI_VECTOR_BYTES;                                             \
                loads;                                                                                       \
                r[k] = (value);                                                                              \
                if (!full) {                                                                                 \
                    active[k] = wmi_load_u32(set + at);                                                      \
                    r[k] = (f32v)((u32v)r[k] & active[k]);                                                   \
                }                                                                                            \
            }                                                                                                \
            bool nan = wmi_any_nan2_f32(r[0], r[1]);                                                         \
            if (CHUNK == 4)                                                                                  \
                nan |= wmi_any_nan2_f32(r[CHUNK - 2], r[CHUNK - 1]);                                         \
            if (__builtin_expect(nan, 0))                                                                    \
                for (unsigned k = 0; k < CHUNK; k++) {                                                       \
                    const unsigned at = from + k * WMI_VECTOR_BYTES;                                         \
                    loads;                                                                                   \
                    r[k] = wmi_nan_of_f32(r[k], first, second, third);                                       \
                }                                                                                            \
            _Pragma("GCC unroll 4") for (unsigned k = 0; k < CHUNK; k++)                                     \
            {                                                                                                \
                char *const d = frame + op->d + from + k * WMI_VECTOR_BYTES;                                 \
                *(u32v *)d = full ? (u32v)r[k] : wmi_select_u32(active[k], (u32v)r[k], *(const u32v *)d);    \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static inlining void name##_loop(char *restrict frame, const struct wmi_op *op)                          \
    {                                                                                                        \
        const struct wmi_lanes *lanes = (const struct wmi_lanes *)(frame + op->lanes);                       \
                                                                                                             \
        if (lanes->full)                                                                                     \
            name##_pass(frame, op, (const char *)lanes->row, true);                                          \
        else                                                                                                 \
            name##_pass(frame, op, (const char *)lanes->row, false);                                         \
    }

/* The body: under the wave's f32 control word, or under `word`. */
#define WMI_PLAIN(name)                                                                                      \
    const struct wmi_op *WMI_BODY(name)(char *restrict frame, const struct wmi_op *op)                       \
    {                                                                                                        \
        name##_loop(frame, op);                                                                              \
        return wmi_next(frame, op);                                                                          \
    }

#define WMI_UNDER(name, word)                                                                                \
    const struct wmi_op *WMI_BODY(name)(char *restrict frame, const struct wmi_op *op)                       \
    {                                                                                                        \
        const struct wmi_frame *wave = (const struct wmi_frame *)frame;                                      \
        const uint32_t usual = wave->mxcsr32, wanted = (word);                                               \
                                                                                                             \
        if (usual == wanted) {                                                                               \
            name##_loop(frame, op);                                                                          \
            return wmi_next(frame, op);                                                                      \
        }                                                                                                    \
        wmi_host_float_set(wanted);                                                                          \
        name##_loop(frame, op);                                                                              \
        wmi_host_float_set(usual);                                                                           \
        return wmi_next(frame, op);                                                                          \
    }

#define WMI_LOAD1(ta)     const ta a = (ta)wmi_load_u32(frame + op->a + at)
#define WMI_LOAD2(ta, tb) WMI_LOAD1(ta), b = (ta)(tb)wmi_load_u32(frame + op->b + at)
#define WMI_LOAD3(ta)                                                                                        \
    WMI_LOAD1(ta), b = (ta)wmi_load_u32(frame + op->b + at), c = (ta)wmi_load_u32(frame + op->c + at)
#define WMI_STORE1(value) wmi_store(frame + op->d + at, active, (u32v)(value))

/* One-row results from one, two or three rows, read as vectors of type t. */
#define WMI_ROWS1(name, t, value)                                                                            \
    WMI_LANE_LOOP(name, WMI_JOINED, WMI_LOAD1(t), WMI_STORE1(value))                                         \
    WMI_PLAIN(name)
#define WMI_ROWS2(name, t, value)                                                                            \
    WMI_LANE_LOOP(name, WMI_JOINED, WMI_LOAD2(t, t), WMI_STORE1(value))                                      \
    WMI_PLAIN(name)
#define WMI_ROWS3(name, t, value)                                                                            \
    WMI_LANE_LOOP(name, WMI_JOINED, WMI_LOAD3(t), WMI_STORE1(value))                                         \
    WMI_PLAIN(name)

/* Approximations: round to nearest regardless of MODE (unverified; no document says otherwise). */
#define WMI_APPROXIMATE1(name, value)                                                                        \
    WMI_LANE_LOOP(name, WMI_APART, WMI_LOAD1(f32v), WMI_STORE1(value))                                       \
    WMI_UNDER(name, wmi_host_float_nearest(usual))

#define WMI_ARITHMETIC2(name, value, first, second)                                                          \
    WMI_ARITHMETIC_LOOP(name, WMI_JOINED, WMI_LOAD2(f32v, f32v), value, first, second, second)               \
    WMI_PLAIN(name)
#define WMI_ARITHMETIC3(name, value, first, second, third)                                                   \
    WMI_ARITHMETIC_LOOP(name, WMI_JOINED, WMI_LOAD3(f32v), value, first, second, third)                      \
    WMI_PLAIN(name)

/* f32 that always flushes denormals: v_mad, v_mac. Source: [L], "v_mad_f32 does not support denormals". */
#define WMI_FLUSHED3(name, value)                                                                            \
    WMI_LANE_LOOP(name, WMI_APART, WMI_LOAD3(f32v), WMI_STORE1(value))                                       \
    WMI_UNDER(name, wmi_host_float_flush(usual))
#define WMI_FLUSHED_ARITHMETIC3(name, value, first, second, third)                                           \
    WMI_ARITHMETIC_LOOP(name, WMI_APART, WMI_LOAD3(f32v), value, first, second, third)                       \
    WMI_UNDER(name, wmi_host_float_flush(usual))

/* The loop of a body that computes with f16 while the host rounds to nearest. Specialized for the MODE that
 * compilers set (nearest even, denormals enabled), for all and for some lanes; one loop for all other MODEs.
 */
#define WMI_F16_LOOP(name, loads, ...)                                                                       \
    static WMI_JOINED void name##_pass(char *restrict frame, const struct wmi_op *op, const uint32_t mode,   \
                                       bool full)                                                            \
    {                                                                                                        \
        const char *const set = (const char *)wmi_op_lanes(frame, op)->row;                                  \
                                                                                                             \
        (void)mode;                                                                                          \
        WMI_EACH_VECTOR(at)                                                                                  \
        {                                                                                                    \
            const u32v active = full ? wmi_splat_u32(~0u) : wmi_load_u32(set + at);                          \
            loads;                                                                                           \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
    }                                                                                                        \
    static WMI_APART void name##_loop(char *restrict frame, const struct wmi_op *op)                         \
    {                                                                                                        \
        const uint32_t mode = ((const struct wmi_frame *)frame)->mode;                                       \
        const uint32_t denormals = WMI_MODE_DENORMAL_IN_F64 | WMI_MODE_DENORMAL_OUT_F64;                     \
        const uint32_t other = mode & ~(uint32_t)(WMI_MODE_ROUND_F64 | denormals);                           \
                                                                                                             \
        if (__builtin_expect(mode != (other | denormals), 0))                                                \
            name##_pass(frame, op, mode, false);                                                             \
        else if (wmi_op_lanes(frame, op)->full)                                                              \
            name##_pass(frame, op, other | denormals, true);                                                 \
        else                                                                                                 \
            name##_pass(frame, op, other | denormals, false);                                                \
    }                                                                                                        \
    WMI_UNDER(name, wmi_host_float_nearest(usual))

/* Words from words that contain halves: a, b, c. */
#define WMI_HALVES1(name, value) WMI_F16_LOOP(name, WMI_LOAD1(u32v), WMI_STORE1(value))
#define WMI_HALVES2(name, value) WMI_F16_LOOP(name, WMI_LOAD2(u32v, u32v), WMI_STORE1(value))
#define WMI_HALVES3(name, value) WMI_F16_LOOP(name, WMI_LOAD3(u32v), WMI_STORE1(value))

/* f16 from f16: x, y, z are the operands as f32, `value` the result before it is rounded once to f16. */
#define WMI_LOAD_F16(source)   wmi_input_f16(wmi_load_u32(frame + op->source + at), mode)
#define WMI_STORE_F16(value)   WMI_STORE1(wmi_output_f16((value), mode))
#define WMI_F16_1(name, value) WMI_F16_LOOP(name, const f32v x = WMI_LOAD_F16(a), WMI_STORE_F16(value))
#define WMI_F16_2(name, value)                                                                               \
    WMI_F16_LOOP(name, const f32v x = WMI_LOAD_F16(a); const f32v y = WMI_LOAD_F16(b), WMI_STORE_F16(value))
#define WMI_F16_3(name, value)                                                                               \
    WMI_F16_LOOP(name, const f32v x = WMI_LOAD_F16(a); const f32v y = WMI_LOAD_F16(b);                       \
                 const f32v z = WMI_LOAD_F16(c), WMI_STORE_F16(value))

/* The same for both halves of packed operands, op_sel and neg already applied. */
#define WMI_LOAD_V2F16(source) wmi_input_both_f16(frame + op->source + at, mode)
#define WMI_STORE_V2F16(value)                                                                               \
    WMI_STORE1(wmi_halves_out(wmi_narrow_both(wmi_saturate_both(value, mode), wmi_rounding_f16(mode)), mode))
#define WMI_V2F16_2(name, value)                                                                             \
    WMI_F16_LOOP(                                                                                            \
        name, const struct wmi_f32x2 ax = WMI_LOAD_V2F16(a); const struct wmi_f32x2 bx = WMI_LOAD_V2F16(b);  \
        struct wmi_f32x2 r, for (int i = 0; i < 2; i++) {                                                    \
            const f32v x = ax.v[i], y = bx.v[i];                                                             \
            r.v[i] = (value);                                                                                \
        } WMI_STORE_V2F16(r))
#define WMI_V2F16_3(name, value)                                                                             \
    WMI_F16_LOOP(                                                                                            \
        name, const struct wmi_f32x2 ax = WMI_LOAD_V2F16(a); const struct wmi_f32x2 bx = WMI_LOAD_V2F16(b);  \
        const struct wmi_f32x2 cx = WMI_LOAD_V2F16(c); struct wmi_f32x2 r, for (int i = 0; i < 2; i++) {     \
            const f32v x = ax.v[i], y = bx.v[i], z = cx.v[i];                                                \
            r.v[i] = (value);                                                                                \
        } WMI_STORE_V2F16(r))

/* f64 results from f64 sources, under the f64 control word; `value` is evaluated for each half of the lanes.
 */
#define WMI_PAIR(source) wmi_load_f64(frame + op->source + at, WMI_ROW_BYTES)
#define WMI_STORE_PAIR(pair)                                                                                 \
    wmi_store(frame + op->d + at, active, wmi_low_words(pair));                                              \
    wmi_store(frame + op->d + WMI_ROW_BYTES + at, active, wmi_high_words(pair))

#define WMI_WHOLE(...) __VA_ARGS__
#define WMI_PAIRS(name, loads, picks, value)                                                                 \
    WMI_PAIRS_UNDER(name, wave->mxcsr64, WMI_WHOLE(loads), picks, value)
#define WMI_PAIRS_UNDER(name, word, loads, picks, value)                                                     \
    WMI_LANE_LOOP(                                                                                           \
        name, WMI_APART, WMI_WHOLE(loads; struct wmi_f64x2 r), for (int i = 0; i < 2; i++) {                 \
            picks;                                                                                           \
            r.v[i] = (f64v)(value);                                                                          \
        } WMI_STORE_PAIR(r))                                                                                 \
    WMI_UNDER(name, word)

#define WMI_PAIR1 const struct wmi_f64x2 ax = WMI_PAIR(a)
#define WMI_PAIR2 WMI_PAIR1, bx = WMI_PAIR(b)
#define WMI_PAIR3 WMI_PAIR2, cx = WMI_PAIR(c)
#define WMI_PICK1 const f64v a = ax.v[i]
#define WMI_PICK2                                                                                            \
    WMI_PICK1;                                                                                               \
    const f64v b = bx.v[i]
#define WMI_PICK3                                                                                            \
    WMI_PICK2;                                                                                               \
    const f64v c = cx.v[i]

#define WMI_PAIRS1(name, value) WMI_PAIRS(name, WMI_PAIR1, WMI_PICK1, value)
#define WMI_APPROXIMATE_PAIRS1(name, value)                                                                  \
    WMI_PAIRS_UNDER(name, wmi_host_float_nearest(wave->mxcsr64), WMI_PAIR1, WMI_PICK1, value)
#define WMI_PAIRS2(name, value) WMI_PAIRS(name, WMI_PAIR2, WMI_PICK2, value)
#define WMI_PAIRS3(name, value) WMI_PAIRS(name, WMI_PAIR3, WMI_PICK3, value)

#endif
