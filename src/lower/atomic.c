/* SPDX-License-Identifier: MIT */
/* Maps atomic instructions (FLAT, GLOBAL, BUFFER, SMEM, images) to their operations. */
#include "lower/classes.h"

/* X(operation, suffix of the row names). */
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

/* The operation of a row; WMI_ATOMIC_NONE if the row is not a known atomic. */
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

bool wmi_atomic_commutes(unsigned id)
{
    switch (atomic_of(id)) {
    case WMI_ATOMIC_ADD:
    case WMI_ATOMIC_SUB:
    case WMI_ATOMIC_SMIN:
    case WMI_ATOMIC_UMIN:
    case WMI_ATOMIC_SMAX:
    case WMI_ATOMIC_UMAX:
    case WMI_ATOMIC_AND:
    case WMI_ATOMIC_OR:
    case WMI_ATOMIC_XOR:
    case WMI_ATOMIC_FMIN:
    case WMI_ATOMIC_FMAX:
        return true;
    default: /* sums of floats are rounded; INC and DEC commute with equal limits only */
        return false;
    }
}

enum wm_atomic wmi_lower_operation(const struct wmi_builder *b, unsigned id)
{
    static const uint8_t operations[WMI_ATOMIC_COUNT] = {
        [WMI_ATOMIC_SWAP] = WM_ATOMIC_SWAP,
        [WMI_ATOMIC_CMPSWAP] = WM_ATOMIC_COMPARE_SWAP,
        [WMI_ATOMIC_ADD] = WM_ATOMIC_ADD,
        [WMI_ATOMIC_SUB] = WM_ATOMIC_SUB,
        [WMI_ATOMIC_RSUB] = WM_ATOMIC_REVERSE_SUB,
        [WMI_ATOMIC_SMIN] = WM_ATOMIC_SIGNED_MIN,
        [WMI_ATOMIC_UMIN] = WM_ATOMIC_UNSIGNED_MIN,
        [WMI_ATOMIC_SMAX] = WM_ATOMIC_SIGNED_MAX,
        [WMI_ATOMIC_UMAX] = WM_ATOMIC_UNSIGNED_MAX,
        [WMI_ATOMIC_AND] = WM_ATOMIC_AND,
        [WMI_ATOMIC_OR] = WM_ATOMIC_OR,
        [WMI_ATOMIC_XOR] = WM_ATOMIC_XOR,
        [WMI_ATOMIC_INC] = WM_ATOMIC_INC,
        [WMI_ATOMIC_DEC] = WM_ATOMIC_DEC,
        [WMI_ATOMIC_CSUB] = WM_ATOMIC_SUB_CLAMP,
        [WMI_ATOMIC_COND_SUB] = WM_ATOMIC_COND_SUB,
        [WMI_ATOMIC_FCMPSWAP] = WM_ATOMIC_FLOAT_COMPARE_SWAP,
        [WMI_ATOMIC_FMIN] = WM_ATOMIC_FLOAT_MIN,
        [WMI_ATOMIC_FMAX] = WM_ATOMIC_FLOAT_MAX,
        [WMI_ATOMIC_FADD] = WM_ATOMIC_FLOAT_ADD,
        [WMI_ATOMIC_FADD_FLUSH] = WM_ATOMIC_FLOAT_ADD,
        [WMI_ATOMIC_PK_ADD_F16] = WM_ATOMIC_PACKED_ADD_F16,
        [WMI_ATOMIC_PK_ADD_BF16] = WM_ATOMIC_PACKED_ADD_BF16,
        [WMI_ATOMIC_ORDERED_ADD] = WM_ATOMIC_ORDERED_ADD,
    };
    return wmi_rows[id].class == WMI_CLASS_DS ? wmi_lower_lds_operation(id)
                                              : (enum wm_atomic)operations[wmi_lower_atomic(b, id)];
}

enum wmi_atomic wmi_lower_atomic(const struct wmi_builder *b, unsigned id)
{
    const enum wmi_atomic atomic = atomic_of(id);
    const bool flushes = !wmi_builder_limit(b, WMI_LIMIT_fadd_denormals);
    return atomic == WMI_ATOMIC_FADD && wmi_rows[id].bytes == 4 && flushes ? WMI_ATOMIC_FADD_FLUSH : atomic;
}
