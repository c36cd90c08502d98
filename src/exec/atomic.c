/* SPDX-License-Identifier: MIT */
/* Atomic operations on guest memory, implemented with host atomics: one function per operation. Float
 * operations are in atomic_float.c.
 *
 * Source: Vega ISA, "FLAT, Scratch and Global instructions": the result of each operation. All are
 * sequentially consistent, stronger than any guest scope requires. */
#include "exec/atomic.h"
#include "exec/atomic_float.h"

/* Guest memory has no declared type. */
typedef uint32_t __attribute__((may_alias)) word;
typedef uint64_t __attribute__((may_alias)) quad;

typedef uint32_t (*function_32)(word *p, uint32_t d, uint32_t c);
typedef uint64_t (*function_64)(quad *p, uint64_t d, uint64_t c);

/* One function per width, of memory at `p`, data `d` and comparand `c`: a compiler builtin, or a
 * compare-exchange loop that stores `next`, an expression of the old value `m`. */
#define DIRECT_OF(name, bits, cell, expression)                                                              \
    static uint##bits##_t name##_##bits(cell *p, uint##bits##_t d, uint##bits##_t c)                         \
    {                                                                                                        \
        (void)c;                                                                                             \
        return expression;                                                                                   \
    }
#define LOOP_OF(name, bits, cell, next)                                                                      \
    static uint##bits##_t name##_##bits(cell *p, uint##bits##_t d, uint##bits##_t c)                         \
    {                                                                                                        \
        typedef int##bits##_t integer;                                                                       \
        uint##bits##_t m = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                             \
        (void)c, (void)(integer)0;                                                                           \
        while (!__atomic_compare_exchange_n(p, &m, next, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))          \
            ;                                                                                                \
        return m;                                                                                            \
    }
#define DIRECT(name, expression)                                                                             \
    DIRECT_OF(name, 32, word, expression)                                                                    \
    DIRECT_OF(name, 64, quad, expression)
#define LOOP(name, next)                                                                                     \
    LOOP_OF(name, 32, word, next)                                                                            \
    LOOP_OF(name, 64, quad, next)

DIRECT(swap, __atomic_exchange_n(p, d, __ATOMIC_SEQ_CST))
DIRECT(add, __atomic_fetch_add(p, d, __ATOMIC_SEQ_CST))
DIRECT(sub, __atomic_fetch_sub(p, d, __ATOMIC_SEQ_CST))
DIRECT(and, __atomic_fetch_and(p, d, __ATOMIC_SEQ_CST))
DIRECT(or, __atomic_fetch_or(p, d, __ATOMIC_SEQ_CST))
DIRECT(xor, __atomic_fetch_xor(p, d, __ATOMIC_SEQ_CST))
LOOP(rsub, d - m)
LOOP(cmpswap, m == c ? d : m)
LOOP(smin, (integer)m < (integer)d ? m : d)
LOOP(umin, m < d ? m : d)
LOOP(smax, (integer)m > (integer)d ? m : d)
LOOP(umax, m > d ? m : d)
LOOP(inc, m >= d ? 0 : m + 1)
LOOP(dec, m == 0 || m > d ? d : m - 1)

/* Source: LLVM, FeatureMemoryAtomicFAddF32DenormalSupport and AMD's names of the rows; RDNA 4 ISA,
 * BUFFER_ATOMIC_SUB_CLAMP_U32 and BUFFER_ATOMIC_COND_SUB_U32. */
LOOP_OF(csub, 32, word, m >= d ? m - d : 0)
LOOP_OF(cond_sub, 32, word, m >= d ? m - d : m)
LOOP_OF(fcmpswap, 32, word, wmi_fequal_32(m, c) ? d : m)
LOOP_OF(fcmpswap, 64, quad, wmi_fequal_64(m, c) ? d : m)
LOOP_OF(fmin, 32, word, wmi_fmin_32(m, d))
LOOP_OF(fmin, 64, quad, wmi_fmin_64(m, d))
LOOP_OF(fmax, 32, word, wmi_fmax_32(m, d))
LOOP_OF(fmax, 64, quad, wmi_fmax_64(m, d))
LOOP_OF(fadd, 32, word, wmi_fadd_32(m, d))
LOOP_OF(fadd, 64, quad, wmi_fadd_64(m, d))
LOOP_OF(fadd_flush, 32, word, wmi_fadd_flush_32(m, d))
LOOP_OF(pk_add_f16, 32, word, wmi_pk_add_f16_32(m, d))
LOOP_OF(pk_add_bf16, 32, word, wmi_pk_add_bf16_32(m, d))

/* The low half is the number of the wave whose turn it is. Source: RDNA 4 ISA, GLOBAL_ATOMIC_ORDERED_ADD_B64;
 * VGT_GS_MAX_WAVE_ID, where it wraps, is assumed to be all ones. */
LOOP_OF(ordered_add, 64, quad,
        (uint32_t)m == (uint32_t)d
            ? (uint64_t)((uint32_t)(m >> 32) + (uint32_t)(d >> 32)) << 32 | (uint32_t)(m + 1)
            : m)

/* X(operation, name of its function and suffix of its rows). */
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

uint32_t wmi_atomic_32(enum wmi_atomic operation, unsigned char *host, uint32_t data, uint32_t compare)
{
#define ENTRY(operation, name) [WMI_ATOMIC_##operation] = name##_32,
    static const function_32 functions[WMI_ATOMIC_COUNT] = {
        OPERATIONS(ENTRY) ENTRY(RSUB, rsub) ENTRY(CSUB, csub) ENTRY(COND_SUB, cond_sub)
            ENTRY(FCMPSWAP, fcmpswap) ENTRY(FMIN, fmin) ENTRY(FMAX, fmax) ENTRY(FADD, fadd)
                ENTRY(FADD_FLUSH, fadd_flush) ENTRY(PK_ADD_F16, pk_add_f16) ENTRY(PK_ADD_BF16, pk_add_bf16)};
#undef ENTRY
    return functions[operation]((word *)host, data, compare);
}

uint64_t wmi_atomic_64(enum wmi_atomic operation, unsigned char *host, uint64_t data, uint64_t compare)
{
#define ENTRY(operation, name) [WMI_ATOMIC_##operation] = name##_64,
    static const function_64 functions[WMI_ATOMIC_COUNT] = {
        OPERATIONS(ENTRY) ENTRY(RSUB, rsub) ENTRY(FCMPSWAP, fcmpswap) ENTRY(FMIN, fmin) ENTRY(FMAX, fmax)
            ENTRY(FADD, fadd) ENTRY(ORDERED_ADD, ordered_add)};
#undef ENTRY
    return functions[operation]((quad *)host, data, compare);
}
