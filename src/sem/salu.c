/* SPDX-License-Identifier: MIT */
/* Bodies of scalar instructions: SOP1, SOP2, SOPC and SOPK, except control flow and machine state.
 *
 * Sources: AMD's ISA documents of Vega, and of CDNA 3, whose pseudo-code is more exact for the same opcodes.
 * Where they differ, the older wording is used, with a comment. */
#include "sem/sem.h"

#include <stdbool.h>

typedef uint32_t __attribute__((may_alias)) word;
/* Pairs of SGPRs are aligned to 4 bytes only. */
typedef uint64_t __attribute__((may_alias, aligned(4))) pair;

typedef uint32_t u32;
typedef int32_t i32;
typedef uint64_t u64;
typedef int64_t i64;

#define PROTOTYPE_SALU(name)                                                                                 \
    const struct wmi_op *wmi_sem_##name(char *restrict frame, const struct wmi_op *op);
#define PROTOTYPE_VALU(name)
#define PROTOTYPE_CONTROL(name)
#define PROTOTYPE_SMEM(name)
#define PROTOTYPE_BUFFER(name)
#define PROTOTYPE_TBUFFER(name)
#define PROTOTYPE_IMAGE(name)
#define PROTOTYPE_FLAT(name)
#define PROTOTYPE_GLOBAL(name)
#define PROTOTYPE_SCRATCH(name)
#define PROTOTYPE_DS(name)
#define PROTOTYPE_EXPORT(name)
#define INSN(id, class, body, todo)      PROTOTYPE_##class(body)
#define BODY(id, class, body, todo, row) PROTOTYPE_##class(body)
#include "insn.def"

#define GET_u32(place)        (*(const word *)(place))
#define GET_i32(place)        ((i32)GET_u32(place))
#define GET_u64(place)        (*(const pair *)(place))
#define GET_i64(place)        ((i64)GET_u64(place))
#define PUT_u32(place, value) (*(word *)(place) = (value))
#define PUT_i32(place, value) PUT_u32(place, (u32)(value))
#define PUT_u64(place, value) (*(pair *)(place) = (value))
#define PUT_i64(place, value) PUT_u64(place, (u64)(value))

static word *scc_of(char *frame)
{
    return &((struct wmi_frame *)frame)->s[WMI_S_SCC];
}

#define DEFINE(name) const struct wmi_op *wmi_sem_##name(char *restrict frame, const struct wmi_op *op)

/* d = expression of a and b; SCALAR2_SCC also sets SCC = the second expression, which may use d, the result.
 */
#define SCALAR2(name, D, A, B, expression)                                                                   \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        const A a = GET_##A(frame + op->a);                                                                  \
        const B b = GET_##B(frame + op->b);                                                                  \
        PUT_##D(frame + op->d, (D)(expression));                                                             \
        return wmi_next(frame, op);                                                                          \
    }

#define SCALAR2_SCC(name, D, A, B, expression, scc)                                                          \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        const A a = GET_##A(frame + op->a);                                                                  \
        const B b = GET_##B(frame + op->b);                                                                  \
        const D d = (D)(expression);                                                                         \
        PUT_##D(frame + op->d, d);                                                                           \
        *scc_of(frame) = (scc);                                                                              \
        return wmi_next(frame, op);                                                                          \
    }

#define SCALAR1(name, D, A, expression)                                                                      \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        const A a = GET_##A(frame + op->a);                                                                  \
        PUT_##D(frame + op->d, (D)(expression));                                                             \
        return wmi_next(frame, op);                                                                          \
    }

/* SCC = (result != 0). */
#define SCALAR1_SCC(name, D, A, expression)                                                                  \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        const A a = GET_##A(frame + op->a);                                                                  \
        const D d = (D)(expression);                                                                         \
        PUT_##D(frame + op->d, d);                                                                           \
        *scc_of(frame) = d != 0;                                                                             \
        return wmi_next(frame, op);                                                                          \
    }

/* SCC = expression of a and b. */
#define COMPARE(name, A, B, expression)                                                                      \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        const A a = GET_##A(frame + op->a);                                                                  \
        const B b = GET_##B(frame + op->b);                                                                  \
        *scc_of(frame) = (expression);                                                                       \
        return wmi_next(frame, op);                                                                          \
    }

/* SCC = expression of a and k, the immediate. */
#define COMPARE_IMMEDIATE(name, A, immediate, expression)                                                    \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        const A a = GET_##A(frame + op->a), k = (A)(immediate);                                              \
        *scc_of(frame) = (expression);                                                                       \
        return wmi_next(frame, op);                                                                          \
    }

/* ---- arithmetic ---- */

static bool add_overflows(i32 a, i32 b)
{
    i32 result;
    return __builtin_add_overflow(a, b, &result);
}

static bool sub_overflows(i32 a, i32 b)
{
    i32 result;
    return __builtin_sub_overflow(a, b, &result);
}

SCALAR2_SCC(s_add_u32, u32, u32, u32, a + b, d < a)
SCALAR2_SCC(s_sub_u32, u32, u32, u32, a - b, a < b)
SCALAR2_SCC(s_add_i32, i32, i32, i32, (u32)a + (u32)b, add_overflows(a, b))
SCALAR2_SCC(s_sub_i32, i32, i32, i32, (u32)a - (u32)b, sub_overflows(a, b))
SCALAR2(s_mul_i32, u32, u32, u32, a *b)
SCALAR2(s_mul_hi_u32, u32, u32, u32, (u64)a *b >> 32)
SCALAR2(s_mul_hi_i32, i32, i32, i32, (i64)a *b >> 32)
SCALAR2(s_add_nc_u64, u64, u64, u64, a + b)
SCALAR2(s_sub_nc_u64, u64, u64, u64, a - b)
SCALAR2(s_mul_u64, u64, u64, u64, a *b)

DEFINE(s_addc_u32)
{
    const u64 sum = (u64)GET_u32(frame + op->a) + GET_u32(frame + op->b) + *scc_of(frame);
    PUT_u32(frame + op->d, (u32)sum);
    *scc_of(frame) = (u32)(sum >> 32);
    return wmi_next(frame, op);
}

DEFINE(s_subb_u32)
{
    const u64 difference = (u64)GET_u32(frame + op->a) - GET_u32(frame + op->b) - *scc_of(frame);
    PUT_u32(frame + op->d, (u32)difference);
    *scc_of(frame) = (u32)(difference >> 32) & 1;
    return wmi_next(frame, op);
}

/* SCC is set if a was chosen. For equal operands Vega's text ("a < b ? a : b", "a > b ? a : b") gives 0 for
 * min and for max; CDNA 3's text would give 1 for max, which contradicts reported hardware tests. */
SCALAR2_SCC(s_min_i32, i32, i32, i32, a < b ? a : b, a < b)
SCALAR2_SCC(s_min_u32, u32, u32, u32, a < b ? a : b, a < b)
SCALAR2_SCC(s_max_i32, i32, i32, i32, a > b ? a : b, a > b)
SCALAR2_SCC(s_max_u32, u32, u32, u32, a > b ? a : b, a > b)

/* The difference wraps before its sign is tested; CDNA 3 ISA, functional examples of S_ABSDIFF_I32. */
static u32 absolute(u32 value)
{
    return value >> 31 ? -value : value;
}

SCALAR2_SCC(s_absdiff_i32, u32, u32, u32, absolute(a - b), d != 0)
SCALAR1_SCC(s_abs_i32, u32, u32, absolute(a))
SCALAR1(s_sext_i32_i8, i32, u32, (int8_t)a)
SCALAR1(s_sext_i32_i16, i32, u32, (int16_t)a)

#define SHIFT_ADD(name, shift)                                                                               \
    SCALAR2_SCC(name, u32, u32, u32, (a << shift) + b, (((u64)a << shift) + b) >> 32 != 0)
SHIFT_ADD(s_lshl1_add_u32, 1)
SHIFT_ADD(s_lshl2_add_u32, 2)
SHIFT_ADD(s_lshl3_add_u32, 3)
SHIFT_ADD(s_lshl4_add_u32, 4)

/* ---- bits ---- */

#define LOGIC(name, expression)                                                                              \
    SCALAR2_SCC(s_##name##_b32, u32, u32, u32, expression, d != 0)                                           \
    SCALAR2_SCC(s_##name##_b64, u64, u64, u64, expression, d != 0)
LOGIC(and, a &b)
LOGIC(or, a | b)
LOGIC(xor, a ^ b)
LOGIC(andn2, a & ~b)
LOGIC(orn2, a | ~b)
LOGIC(nand, ~(a &b))
LOGIC(nor, ~(a | b))
LOGIC(xnor, ~(a ^ b))

SCALAR2_SCC(s_lshl_b32, u32, u32, u32, a << (b & 31), d != 0)
SCALAR2_SCC(s_lshl_b64, u64, u64, u32, a << (b & 63), d != 0)
SCALAR2_SCC(s_lshr_b32, u32, u32, u32, a >> (b & 31), d != 0)
SCALAR2_SCC(s_lshr_b64, u64, u64, u32, a >> (b & 63), d != 0)
SCALAR2_SCC(s_ashr_i32, i32, i32, u32, a >> (b & 31), d != 0)
SCALAR2_SCC(s_ashr_i64, i64, i64, u32, a >> (b & 63), d != 0)
SCALAR2(s_bfm_b32, u32, u32, u32, ((1u << (a & 31)) - 1) << (b & 31))
SCALAR2(s_bfm_b64, u64, u32, u32, ((UINT64_C(1) << (a & 63)) - 1) << (b & 63))
SCALAR2(s_pack_ll_b32_b16, u32, u32, u32, (a & 0xffff) | b << 16)
SCALAR2(s_pack_lh_b32_b16, u32, u32, u32, (a & 0xffff) | (b & 0xffff0000))
SCALAR2(s_pack_hl_b32_b16, u32, u32, u32, a >> 16 | b << 16)
SCALAR2(s_pack_hh_b32_b16, u32, u32, u32, a >> 16 | (b & 0xffff0000))

/* Bit fields: b holds the first bit and, from bit 16, 7 bits of width. A field that extends beyond the
 * register is truncated; signed forms extend its top bit. */
static u32 field_width(u32 b)
{
    return b >> 16 & 0x7f;
}

static u64 field_u64(u64 value, u32 width)
{
    return width >= 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

static i64 field_i64(i64 value, u32 width)
{
    if (width == 0)
        return 0;
    return width >= 64 ? value : (i64)((u64)value << (64 - width)) >> (64 - width);
}

SCALAR2_SCC(s_bfe_u32, u32, u32, u32, field_u64(a >> (b & 31), field_width(b)), d != 0)
SCALAR2_SCC(s_bfe_i32, i32, i32, u32, field_i64(a >> (b & 31), field_width(b)), d != 0)
SCALAR2_SCC(s_bfe_u64, u64, u64, u32, field_u64(a >> (b & 63), field_width(b)), d != 0)
SCALAR2_SCC(s_bfe_i64, i64, i64, u32, field_i64(a >> (b & 63), field_width(b)), d != 0)

/* For groups of four bits: one bit per non-zero group; and those bits packed into the lowest positions. */
static u64 groups_in_use(u64 value)
{
    value |= value >> 1;
    value |= value >> 2;
    return value & UINT64_C(0x1111111111111111);
}

static u64 quad_mask(u64 value)
{
    u64 mask = 0;
    for (unsigned i = 0; i < 16; i++)
        mask |= (u64)((value >> 4 * i & 15) != 0) << i;
    return mask;
}

SCALAR1_SCC(s_not_b32, u32, u32, ~a)
SCALAR1_SCC(s_not_b64, u64, u64, ~a)
SCALAR1_SCC(s_wqm_b32, u32, u32, groups_in_use(a) * 15)
SCALAR1_SCC(s_wqm_b64, u64, u64, groups_in_use(a) * 15)
SCALAR1_SCC(s_quadmask_b32, u32, u32, quad_mask(a))
SCALAR1_SCC(s_quadmask_b64, u64, u64, quad_mask(a))
SCALAR1_SCC(s_bcnt0_i32_b32, u32, u32, __builtin_popcount(~a))
SCALAR1_SCC(s_bcnt0_i32_b64, u32, u64, __builtin_popcountll(~a))
SCALAR1_SCC(s_bcnt1_i32_b32, u32, u32, __builtin_popcount(a))
SCALAR1_SCC(s_bcnt1_i32_b64, u32, u64, __builtin_popcountll(a))

static u64 reversed(u64 value)
{
    value = (value >> 1 & UINT64_C(0x5555555555555555)) | (value & UINT64_C(0x5555555555555555)) << 1;
    value = (value >> 2 & UINT64_C(0x3333333333333333)) | (value & UINT64_C(0x3333333333333333)) << 2;
    value = (value >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (value & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    return __builtin_bswap64(value);
}

SCALAR1(s_brev_b32, u32, u32, reversed(a) >> 32)
SCALAR1(s_brev_b64, u64, u64, reversed(a))

/* Duplicates each bit: spreads the bits to even positions, then copies them to the odd ones. */
static u64 replicated(u64 value)
{
    value = (value | value << 16) & UINT64_C(0x0000ffff0000ffff);
    value = (value | value << 8) & UINT64_C(0x00ff00ff00ff00ff);
    value = (value | value << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    value = (value | value << 2) & UINT64_C(0x3333333333333333);
    value = (value | value << 1) & UINT64_C(0x5555555555555555);
    return value | value << 1;
}

SCALAR1(s_bitreplicate_b64_b32, u64, u32, replicated(a))

/* Bit positions: ff counts from the lowest bit, flbit from the highest; -1 if no bit is found. */
static u32 first_from_low(u64 value)
{
    return value ? (u32)__builtin_ctzll(value) : UINT32_MAX;
}

static u32 first_from_high(u64 value, unsigned bits)
{
    return value ? (u32)__builtin_clzll(value) - (64 - bits) : UINT32_MAX;
}

SCALAR1(s_ff0_i32_b32, u32, u32, first_from_low((u32)~a))
SCALAR1(s_ff0_i32_b64, u32, u64, first_from_low(~a))
SCALAR1(s_ff1_i32_b32, u32, u32, first_from_low(a))
SCALAR1(s_ff1_i32_b64, u32, u64, first_from_low(a))
SCALAR1(s_flbit_i32_b32, u32, u32, first_from_high(a, 32))
SCALAR1(s_flbit_i32_b64, u32, u64, first_from_high(a, 64))
SCALAR1(s_flbit_i32, u32, i32, first_from_high((u32)(a ^ a >> 31), 32))
SCALAR1(s_flbit_i32_i64, u32, i64, first_from_high((u64)(a ^ a >> 63), 64))

/* Also reads the destination. */
#define SET_BIT(name, D, expression)                                                                         \
    DEFINE(name)                                                                                             \
    {                                                                                                        \
        const u32 a = GET_u32(frame + op->a);                                                                \
        const D d = GET_##D(frame + op->d), one = 1;                                                         \
        PUT_##D(frame + op->d, expression);                                                                  \
        return wmi_next(frame, op);                                                                          \
    }
SET_BIT(s_bitset0_b32, u32, d & ~(one << (a & 31)))
SET_BIT(s_bitset0_b64, u64, d & ~(one << (a & 63)))
SET_BIT(s_bitset1_b32, u32, d | one << (a & 31))
SET_BIT(s_bitset1_b64, u64, d | one << (a & 63))

/* ---- moves ---- */

SCALAR1(s_mov_b32, u32, u32, a)
SCALAR1(s_mov_b64, u64, u64, a)
SCALAR2(s_cselect_b32, u32, u32, u32, *scc_of(frame) ? a : b)
SCALAR2(s_cselect_b64, u64, u64, u64, *scc_of(frame) ? a : b)

DEFINE(s_cmov_b32)
{
    if (*scc_of(frame))
        PUT_u32(frame + op->d, GET_u32(frame + op->a));
    return wmi_next(frame, op);
}

DEFINE(s_cmov_b64)
{
    if (*scc_of(frame))
        PUT_u64(frame + op->d, GET_u64(frame + op->a));
    return wmi_next(frame, op);
}

/* ---- SOPK: op->x is SIMM16, sign-extended ---- */

DEFINE(s_movk_i32)
{
    PUT_u32(frame + op->d, op->x);
    return wmi_next(frame, op);
}

DEFINE(s_cmovk_i32)
{
    if (*scc_of(frame))
        PUT_u32(frame + op->d, op->x);
    return wmi_next(frame, op);
}

DEFINE(s_addk_i32)
{
    const i32 a = GET_i32(frame + op->d), k = (i32)op->x;
    PUT_u32(frame + op->d, (u32)a + (u32)k);
    *scc_of(frame) = add_overflows(a, k);
    return wmi_next(frame, op);
}

DEFINE(s_mulk_i32)
{
    PUT_u32(frame + op->d, GET_u32(frame + op->d) * op->x);
    return wmi_next(frame, op);
}

COMPARE_IMMEDIATE(s_cmpk_eq_i32, i32, op->x, a == k)
COMPARE_IMMEDIATE(s_cmpk_lg_i32, i32, op->x, a != k)
COMPARE_IMMEDIATE(s_cmpk_gt_i32, i32, op->x, a > k)
COMPARE_IMMEDIATE(s_cmpk_ge_i32, i32, op->x, a >= k)
COMPARE_IMMEDIATE(s_cmpk_lt_i32, i32, op->x, a < k)
COMPARE_IMMEDIATE(s_cmpk_le_i32, i32, op->x, a <= k)
COMPARE_IMMEDIATE(s_cmpk_eq_u32, u32, (uint16_t)op->x, a == k)
COMPARE_IMMEDIATE(s_cmpk_lg_u32, u32, (uint16_t)op->x, a != k)
COMPARE_IMMEDIATE(s_cmpk_gt_u32, u32, (uint16_t)op->x, a > k)
COMPARE_IMMEDIATE(s_cmpk_ge_u32, u32, (uint16_t)op->x, a >= k)
COMPARE_IMMEDIATE(s_cmpk_lt_u32, u32, (uint16_t)op->x, a < k)
COMPARE_IMMEDIATE(s_cmpk_le_u32, u32, (uint16_t)op->x, a <= k)

/* ---- SOPC ---- */

COMPARE(s_cmp_eq_i32, i32, i32, a == b)
COMPARE(s_cmp_lg_i32, i32, i32, a != b)
COMPARE(s_cmp_gt_i32, i32, i32, a > b)
COMPARE(s_cmp_ge_i32, i32, i32, a >= b)
COMPARE(s_cmp_lt_i32, i32, i32, a < b)
COMPARE(s_cmp_le_i32, i32, i32, a <= b)
COMPARE(s_cmp_eq_u32, u32, u32, a == b)
COMPARE(s_cmp_lg_u32, u32, u32, a != b)
COMPARE(s_cmp_gt_u32, u32, u32, a > b)
COMPARE(s_cmp_ge_u32, u32, u32, a >= b)
COMPARE(s_cmp_lt_u32, u32, u32, a < b)
COMPARE(s_cmp_le_u32, u32, u32, a <= b)
COMPARE(s_cmp_eq_u64, u64, u64, a == b)
COMPARE(s_cmp_lg_u64, u64, u64, a != b)
COMPARE(s_bitcmp0_b32, u32, u32, !(a >> (b & 31) & 1))
COMPARE(s_bitcmp1_b32, u32, u32, a >> (b & 31) & 1)
COMPARE(s_bitcmp0_b64, u64, u32, !(a >> (b & 63) & 1))
COMPARE(s_bitcmp1_b64, u64, u32, a >> (b & 63) & 1)

/* ---- EXEC ----
 * saveexec: d = old EXEC; EXEC = expression of a and old EXEC; SCC = (EXEC != 0).
 * wrexec: d = new EXEC. Lowering appends the step that refreshes frame->exec. */
#define WRITE_EXEC_BITS(name, bits, saved, expression)                                                       \
    DEFINE(name##_b##bits)                                                                                   \
    {                                                                                                        \
        char *place = frame + offsetof(struct wmi_frame, s) + 4 * WMI_S_EXEC;                                \
        const u##bits a = GET_u##bits(frame + op->a), exec = GET_u##bits(place), result = (expression);      \
        PUT_u##bits(frame + op->d, saved);                                                                   \
        PUT_u##bits(place, result);                                                                          \
        *scc_of(frame) = result != 0;                                                                        \
        return wmi_next(frame, op);                                                                          \
    }
#define WRITE_EXEC(name, saved, expression)                                                                  \
    WRITE_EXEC_BITS(name, 32, saved, expression)                                                             \
    WRITE_EXEC_BITS(name, 64, saved, expression)
WRITE_EXEC(s_and_saveexec, exec, a &exec)
WRITE_EXEC(s_or_saveexec, exec, a | exec)
WRITE_EXEC(s_xor_saveexec, exec, a ^ exec)
WRITE_EXEC(s_andn2_saveexec, exec, a & ~exec)
WRITE_EXEC(s_orn2_saveexec, exec, a | ~exec)
WRITE_EXEC(s_nand_saveexec, exec, ~(a &exec))
WRITE_EXEC(s_nor_saveexec, exec, ~(a | exec))
WRITE_EXEC(s_xnor_saveexec, exec, ~(a ^ exec))
WRITE_EXEC(s_andn1_saveexec, exec, ~a &exec)
WRITE_EXEC(s_orn1_saveexec, exec, ~a | exec)
WRITE_EXEC(s_andn1_wrexec, result, ~a &exec)
WRITE_EXEC(s_andn2_wrexec, result, a & ~exec)
