/* SPDX-License-Identifier: MIT */
/* Atomic operations on guest memory, as atomics of the host: which row is which, and one function for each.
 *
 * Source: Vega ISA, "FLAT, Scratch and Global instructions": what each makes of memory and data. All are
 * sequentially consistent, more than any scope of the guest asks for. */
#include "exec/vmem.h"

/* Guest memory has no declared type. */
typedef uint32_t __attribute__((may_alias)) word;
typedef uint64_t __attribute__((may_alias)) quad;

typedef uint32_t (*function_32)(word *p, uint32_t d, uint32_t c);
typedef uint64_t (*function_64)(quad *p, uint64_t d, uint64_t c);

/* One function per width, of memory at `p`, data `d` and comparison `c`: by a builtin of the compiler, or by
 * trying to put `next`, made from what memory holds in `m`, in its place. */
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
LOOP(cmpswap, m == c ? d : m)
LOOP(smin, (integer)m < (integer)d ? m : d)
LOOP(umin, m < d ? m : d)
LOOP(smax, (integer)m > (integer)d ? m : d)
LOOP(umax, m > d ? m : d)
LOOP(inc, m >= d ? 0 : m + 1)
LOOP(dec, m == 0 || m > d ? d : m - 1)

/* X(operation, the name of its function, and how its rows end). */
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
    static const function_32 functions[WMI_ATOMIC_COUNT] = {OPERATIONS(ENTRY)};
#undef ENTRY
    return functions[operation]((word *)host, data, compare);
}

uint64_t wmi_atomic_64(enum wmi_atomic operation, unsigned char *host, uint64_t data, uint64_t compare)
{
#define ENTRY(operation, name) [WMI_ATOMIC_##operation] = name##_64,
    static const function_64 functions[WMI_ATOMIC_COUNT] = {OPERATIONS(ENTRY)};
#undef ENTRY
    return functions[operation]((quad *)host, data, compare);
}

enum wmi_atomic wmi_atomic_of(unsigned id)
{
#define ROW(prefix, operation, name)                                                                         \
    [WMI_INSN_##prefix##_atomic_##name] = WMI_ATOMIC_##operation,                                            \
    [WMI_INSN_##prefix##_atomic_##name##_x2] = WMI_ATOMIC_##operation,
#define ROWS(operation, name)                                                                                \
    ROW(flat, operation, name)                                                                               \
    ROW(global, operation, name)                                                                             \
    ROW(buffer, operation, name)                                                                             \
    ROW(s, operation, name)                                                                                  \
    ROW(s_buffer, operation, name)
    static const uint8_t operations[WMI_INSN_COUNT] = {OPERATIONS(ROWS)};
    return id < WMI_INSN_COUNT ? (enum wmi_atomic)operations[id] : WMI_ATOMIC_NONE;
}
