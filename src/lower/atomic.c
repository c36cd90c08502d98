/* SPDX-License-Identifier: MIT */
/* Which operation an atomic instruction does: rows of FLAT, GLOBAL, BUFFER, SMEM and images. */
#include "lower/classes.h"

/* X(operation, how its rows end). */
#define OPERATIONS(X)                                                                                        \
    X(SWAP, swap)                                                                                            \
    X(CMPSWAP, cmpswap)                                                                                      \
    X(ADD, add)                                                                                              \
    X(SUB, sub)                                                                                              \
    X(SMIN, smin)                                                                                            \
    X(UMIN, umin)                                                                                            \
    X(SMAX, smax)                                                                                            \
    X(UMAX, umax)                                                                                            \
    X(AND, and)                                                                                              \
    X(OR, or)                                                                                                \
    X(XOR, xor)                                                                                              \
    X(INC, inc)                                                                                              \
    X(DEC, dec)

/* The operation of a row, WMI_ATOMIC_NONE when it is no atomic that we know. */
static enum wmi_atomic atomic_of(unsigned id)
{
#define ROW(prefix, operation, name)                                                                         \
    [WMI_INSN_##prefix##_atomic_##name] = WMI_ATOMIC_##operation,                                            \
    [WMI_INSN_##prefix##_atomic_##name##_x2] = WMI_ATOMIC_##operation,
#define ROWS(operation, name)                                                                                \
    ROW(flat, operation, name)                                                                               \
    ROW(global, operation, name)                                                                             \
    ROW(buffer, operation, name)                                                                             \
    ROW(s, operation, name)                                                                                  \
    ROW(s_buffer, operation, name)                                                                           \
    [WMI_INSN_image_atomic_##name] = WMI_ATOMIC_##operation,
#define LATER(operation, name)                                                                               \
    [WMI_INSN_flat_atomic_##name] = WMI_ATOMIC_##operation,                                                  \
    [WMI_INSN_global_atomic_##name] = WMI_ATOMIC_##operation,                                                \
    [WMI_INSN_buffer_atomic_##name] = WMI_ATOMIC_##operation,
#define IMAGE(operation, name) [WMI_INSN_image_atomic_##name] = WMI_ATOMIC_##operation,
    static const uint8_t operations[WMI_INSN_COUNT] = {
        /* clang-format off */
        OPERATIONS(ROWS)
        LATER(CSUB, csub) LATER(COND_SUB, cond_sub_u32)
        LATER(FCMPSWAP, fcmpswap) LATER(FCMPSWAP, fcmpswap_x2)
        LATER(FMIN, fmin) LATER(FMIN, fmin_x2) LATER(FMIN, min_f64)
        LATER(FMAX, fmax) LATER(FMAX, fmax_x2) LATER(FMAX, max_f64)
        LATER(FADD, add_f32) LATER(FADD, add_f64)
        LATER(PK_ADD_F16, pk_add_f16) LATER(PK_ADD_BF16, pk_add_bf16)
        [WMI_INSN_global_atomic_ordered_add_b64] = WMI_ATOMIC_ORDERED_ADD,
        IMAGE(RSUB, rsub) IMAGE(FCMPSWAP, fcmpswap) IMAGE(FMIN, fmin) IMAGE(FMAX, fmax)
        IMAGE(FADD, add_flt) IMAGE(PK_ADD_F16, pk_add_f16) IMAGE(PK_ADD_BF16, pk_add_bf16)
        /* clang-format on */
    };
    return id < WMI_INSN_COUNT ? (enum wmi_atomic)operations[id] : WMI_ATOMIC_NONE;
}

enum wmi_atomic wmi_lower_atomic(const struct wmi_builder *b, unsigned id)
{
    const enum wmi_atomic atomic = atomic_of(id);
    const bool flushes = !wmi_builder_limit(b, WMI_LIMIT_fadd_denormals);
    return atomic == WMI_ATOMIC_FADD && wmi_rows[id].bytes == 4 && flushes ? WMI_ATOMIC_FADD_FLUSH : atomic;
}
