/* SPDX-License-Identifier: MIT */
/* Atomic operations on guest memory, implemented with host atomics: one function per operation. What they
 * compute is in sem/atomic.h.
 *
 * All are sequentially consistent, stronger than any guest scope requires. */
#include "exec/memory/atomic.h"

#include "arithmetic/host_float.h"
#include "sem/atomic.h"

/* Guest memory has no declared type. */
typedef uint32_t __attribute__((may_alias)) word;
typedef uint64_t __attribute__((may_alias)) quad;

typedef uint32_t (*function_32)(word *p, uint32_t d, uint32_t c);
typedef uint64_t (*function_64)(quad *p, uint64_t d, uint64_t c);

/* One function per width, of memory at `p`, data `d` and comparand `c`: a compiler builtin, or a
 * compare-exchange loop that stores the value of the operation's function. */
#define DIRECT_OF(name, bits, cell, builtin)                                                                 \
    static uint##bits##_t name##_##bits(cell *p, uint##bits##_t d, uint##bits##_t c)                         \
    {                                                                                                        \
        (void)c;                                                                                             \
        return builtin(p, d, __ATOMIC_SEQ_CST);                                                              \
    }
#define LOOP_BY(name, bits, cell, function)                                                                  \
    static uint##bits##_t name##_##bits(cell *p, uint##bits##_t d, uint##bits##_t c)                         \
    {                                                                                                        \
        uint##bits##_t m = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                             \
        while (!__atomic_compare_exchange_n(p, &m, function(m, d, c), true, __ATOMIC_SEQ_CST,                \
                                            __ATOMIC_SEQ_CST))                                               \
            ;                                                                                                \
        return m;                                                                                            \
    }
#define LOOP_32(name) LOOP_BY(name, 32, word, wmi_atomic_##name##_32)
#define LOOP_64(name) LOOP_BY(name, 64, quad, wmi_atomic_##name##_64)
#define DIRECT(name, builtin)                                                                                \
    DIRECT_OF(name, 32, word, builtin)                                                                       \
    DIRECT_OF(name, 64, quad, builtin)
#define LOOP(name)                                                                                           \
    LOOP_32(name)                                                                                            \
    LOOP_64(name)

DIRECT(swap, __atomic_exchange_n)
DIRECT(add, __atomic_fetch_add)
DIRECT(sub, __atomic_fetch_sub)
DIRECT(and, __atomic_fetch_and)
DIRECT(or, __atomic_fetch_or)
DIRECT(xor, __atomic_fetch_xor)
LOOP(rsub)
LOOP(cmpswap)
LOOP(smin)
LOOP(umin)
LOOP(smax)
LOOP(umax)
LOOP(inc)
LOOP(dec)
LOOP_32(csub)
LOOP_32(cond_sub)
LOOP_64(ordered_add)
LOOP(fcmpswap)
LOOP(fmin)
LOOP(fmax)

/* Sums run with the host rounding to nearest even, and with denormals kept or flushed. `volatile` keeps them
 * between the changes of the host's mode. */
#define SUM(name, bits, function, denormals)                                                                 \
    static uint##bits##_t sum_##name##_##bits(uint##bits##_t m, uint##bits##_t d, uint##bits##_t c)          \
    {                                                                                                        \
        const uint32_t mode = wmi_host_float_get();                                                          \
        volatile uint##bits##_t old = m, data = d, sum;                                                      \
        wmi_host_float_set(wmi_host_float_word(0, denormals));                                               \
        sum = function(old, data, c);                                                                        \
        wmi_host_float_set(mode);                                                                            \
        return sum;                                                                                          \
    }
enum { FLUSH = 0, KEEP = 3 };

/* Which targets keep f32 denormals: LLVM, FeatureMemoryAtomicFAddF32DenormalSupport. */
SUM(fadd, 32, wmi_atomic_fadd_32, KEEP)
SUM(fadd, 64, wmi_atomic_fadd_64, KEEP)
SUM(fadd_flush, 32, wmi_atomic_fadd_32, FLUSH)
SUM(pk_add_f16, 32, wmi_atomic_pk_add_f16_32, KEEP)
SUM(pk_add_bf16, 32, wmi_atomic_pk_add_bf16_32, KEEP)
LOOP_BY(fadd, 32, word, sum_fadd_32)
LOOP_BY(fadd, 64, quad, sum_fadd_64)
LOOP_BY(fadd_flush, 32, word, sum_fadd_flush_32)
LOOP_BY(pk_add_f16, 32, word, sum_pk_add_f16_32)
LOOP_BY(pk_add_bf16, 32, word, sum_pk_add_bf16_32)

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
