/* SPDX-License-Identifier: MIT */
/* Every scalar body against an independent implementation of the ISA documents in 128-bit integers, with the
 * examples in the CDNA 3 ISA document, and with the result in a source register. */
#include "isa/isa.h"
#include "sem/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef __int128 wide;

enum type { NONE, U32, I32, U64, I64 };

static wide number(enum type type, uint64_t bits)
{
    return type == U32   ? (wide)(uint32_t)bits
           : type == I32 ? (wide)(int32_t)bits
           : type == I64 ? (wide)(int64_t)bits
                         : (wide)bits;
}

static wide bit(wide n)
{
    return (wide)1 << n;
}

static wide low_bits(wide value, wide n)
{
    return value & (bit(n) - 1);
}

static bool leaves(enum type type, wide value)
{
    return number(type, (uint64_t)value) != value;
}

static wide sign_extended(wide value, wide n)
{
    return n && value >> (n - 1) & 1 ? value - bit(n) : value;
}

/* CDNA 3 ISA, S_BFE_*: a shifted, truncated to the width, extended from its highest bit. Widths go up to 127
 * bits; the document does not define widths beyond the register's, which count as the register's width. */
static wide field(wide a, wide b, wide bits, bool is_signed)
{
    const wide width = (b >> 16 & 127) < bits ? b >> 16 & 127 : bits;
    const wide value = low_bits(a >> b % bits, width);

    return is_signed ? sign_extended(value, width) : value;
}

static wide ones(wide value, unsigned n)
{
    wide count = 0;

    for (unsigned i = 0; i < n; i++)
        count += value >> i & 1;
    return count;
}

static wide find(wide value, int bits, bool from_low, int wanted)
{
    for (int i = 0; i < bits; i++)
        if ((value >> (from_low ? i : bits - 1 - i) & 1) == wanted)
            return i;
    return -1;
}

static wide reversed(wide value, int bits)
{
    wide result = 0;

    for (int i = 0; i < bits; i++)
        result |= (value >> i & 1) << (bits - 1 - i);
    return result;
}

/* For each non-zero group of four bits, `mark` shifted by `step` times its index. */
static wide quads(wide value, wide mark, int step)
{
    wide result = 0;

    for (int i = 0; i < 16; i++)
        if (value >> (4 * i) & 15)
            result |= mark << (step * i);
    return result;
}

static wide replicated(wide value)
{
    wide result = 0;

    for (int i = 0; i < 32; i++)
        result |= (value >> i & 1) * 3 << (2 * i);
    return result;
}

static wide absolute(wide value)
{
    return value < 0 ? -value : value;
}

static wide low_half(wide value)
{
    return low_bits(value, 16);
}

/* Inputs and outputs of an instruction: d and exec start with the old register values. */
struct state {
    wide a, b, k, d, exec;
    bool scc;
};

#define RULE(row, D, A, B, result, condition)                                                                \
    static void row(struct state *s)                                                                         \
    {                                                                                                        \
        const wide a = s->a, b = s->b, k = s->k, old = s->d, exec = s->exec;                                 \
        const bool scc = s->scc;                                                                             \
        (void)a, (void)b, (void)k, (void)old, (void)exec, (void)scc;                                         \
        const wide d = (result);                                                                             \
        s->d = d;                                                                                            \
        s->scc = (condition);                                                                                \
    }

/* The low 64 bits of a product of unsigned 64-bit numbers, from the halves of b. */
static wide low_half_product(wide a, wide b)
{
    return low_bits(a * low_bits(b, 32) + low_bits(a * (b >> 32), 32) * bit(32), 64);
}

#define NONZERO (low_bits(d, 64) != 0)
#define ROWS(ROW)                                                                                            \
    ROW(s_add_u32, U32, U32, U32, a + b, leaves(U32, d))                                                     \
    ROW(s_sub_u32, U32, U32, U32, a - b, leaves(U32, d))                                                     \
    ROW(s_add_i32, I32, I32, I32, a + b, leaves(I32, d))                                                     \
    ROW(s_sub_i32, I32, I32, I32, a - b, leaves(I32, d))                                                     \
    ROW(s_addc_u32, U32, U32, U32, a + b + scc, leaves(U32, d))                                              \
    ROW(s_subb_u32, U32, U32, U32, a - b - scc, leaves(U32, d))                                              \
    ROW(s_min_i32, I32, I32, I32, a < b ? a : b, a < b)                                                      \
    ROW(s_min_u32, U32, U32, U32, a < b ? a : b, a < b)                                                      \
    ROW(s_max_i32, I32, I32, I32, a > b ? a : b, a > b)                                                      \
    ROW(s_max_u32, U32, U32, U32, a > b ? a : b, a > b)                                                      \
    ROW(s_cselect_b32, U32, U32, U32, scc ? a : b, scc)                                                      \
    ROW(s_cselect_b64, U64, U64, U64, scc ? a : b, scc)                                                      \
    ROW(s_and_b32, U32, U32, U32, a &b, NONZERO)                                                             \
    ROW(s_and_b64, U64, U64, U64, a &b, NONZERO)                                                             \
    ROW(s_or_b32, U32, U32, U32, a | b, NONZERO)                                                             \
    ROW(s_or_b64, U64, U64, U64, a | b, NONZERO)                                                             \
    ROW(s_xor_b32, U32, U32, U32, (a | b) - (a & b), NONZERO)                                                \
    ROW(s_xor_b64, U64, U64, U64, (a | b) - (a & b), NONZERO)                                                \
    ROW(s_andn2_b32, U32, U32, U32, a - (a & b), NONZERO)                                                    \
    ROW(s_andn2_b64, U64, U64, U64, a - (a & b), NONZERO)                                                    \
    ROW(s_orn2_b32, U32, U32, U32, low_bits(a | (-1 - b), 32), NONZERO)                                      \
    ROW(s_orn2_b64, U64, U64, U64, a | (-1 - b), NONZERO)                                                    \
    ROW(s_nand_b32, U32, U32, U32, low_bits(-1 - (a & b), 32), NONZERO)                                      \
    ROW(s_nand_b64, U64, U64, U64, -1 - (a & b), NONZERO)                                                    \
    ROW(s_nor_b32, U32, U32, U32, low_bits(-1 - (a | b), 32), NONZERO)                                       \
    ROW(s_nor_b64, U64, U64, U64, -1 - (a | b), NONZERO)                                                     \
    ROW(s_xnor_b32, U32, U32, U32, low_bits(-1 - ((a | b) - (a & b)), 32), NONZERO)                          \
    ROW(s_xnor_b64, U64, U64, U64, -1 - ((a | b) - (a & b)), NONZERO)                                        \
    ROW(s_lshl_b32, U32, U32, U32, low_bits(a *bit(b % 32), 32), NONZERO)                                    \
    ROW(s_lshl_b64, U64, U64, U32, low_bits(a, 64 - b % 64) * bit(b % 64), NONZERO)                          \
    ROW(s_lshr_b32, U32, U32, U32, a / bit(b % 32), NONZERO)                                                 \
    ROW(s_lshr_b64, U64, U64, U32, a / bit(b % 64), NONZERO)                                                 \
    ROW(s_ashr_i32, I32, I32, U32, a >> b % 32, NONZERO)                                                     \
    ROW(s_ashr_i64, I64, I64, U32, a >> b % 64, NONZERO)                                                     \
    ROW(s_bfm_b32, U32, U32, U32, (bit(a % 32) - 1) * bit(b % 32), scc)                                      \
    ROW(s_bfm_b64, U64, U32, U32, (bit(a % 64) - 1) << b % 64, scc)                                          \
    ROW(s_mul_i32, I32, I32, I32, a *b, scc)                                                                 \
    ROW(s_bfe_u32, U32, U32, U32, field(a, b, 32, false), NONZERO)                                           \
    ROW(s_bfe_i32, I32, I32, U32, field(a, b, 32, true), NONZERO)                                            \
    ROW(s_bfe_u64, U64, U64, U32, field(a, b, 64, false), NONZERO)                                           \
    ROW(s_bfe_i64, I64, I64, U32, field(a, b, 64, true), NONZERO)                                            \
    ROW(s_absdiff_i32, U32, I32, I32, absolute(number(I32, (uint64_t)(a - b))), NONZERO)                     \
    ROW(s_mul_hi_u32, U32, U32, U32, a *b >> 32, scc)                                                        \
    ROW(s_mul_hi_i32, I32, I32, I32, a *b >> 32, scc)                                                        \
    ROW(s_lshl1_add_u32, U32, U32, U32, a * 2 + b, leaves(U32, d))                                           \
    ROW(s_lshl2_add_u32, U32, U32, U32, a * 4 + b, leaves(U32, d))                                           \
    ROW(s_lshl3_add_u32, U32, U32, U32, a * 8 + b, leaves(U32, d))                                           \
    ROW(s_lshl4_add_u32, U32, U32, U32, a * 16 + b, leaves(U32, d))                                          \
    ROW(s_pack_ll_b32_b16, U32, U32, U32, low_half(a) + low_half(b) * bit(16), scc)                          \
    ROW(s_pack_lh_b32_b16, U32, U32, U32, low_half(a) + (b >> 16) * bit(16), scc)                            \
    ROW(s_pack_hh_b32_b16, U32, U32, U32, (a >> 16) + (b >> 16) * bit(16), scc)                              \
    ROW(s_pack_hl_b32_b16, U32, U32, U32, (a >> 16) + low_half(b) * bit(16), scc)                            \
    ROW(s_add_nc_u64, U64, U64, U64, a + b, scc)                                                             \
    ROW(s_sub_nc_u64, U64, U64, U64, a - b, scc)                                                             \
    ROW(s_mul_u64, U64, U64, U64, low_half_product(a, b), scc)                                               \
    ROW(s_mov_b32, U32, U32, NONE, a, scc)                                                                   \
    ROW(s_mov_b64, U64, U64, NONE, a, scc)                                                                   \
    ROW(s_cmov_b32, U32, U32, NONE, scc ? a : old, scc)                                                      \
    ROW(s_cmov_b64, U64, U64, NONE, scc ? a : old, scc)                                                      \
    ROW(s_not_b32, U32, U32, NONE, bit(32) - 1 - a, NONZERO)                                                 \
    ROW(s_not_b64, U64, U64, NONE, -1 - a, NONZERO)                                                          \
    ROW(s_wqm_b32, U32, U32, NONE, quads(a, 15, 4), NONZERO)                                                 \
    ROW(s_wqm_b64, U64, U64, NONE, quads(a, 15, 4), NONZERO)                                                 \
    ROW(s_brev_b32, U32, U32, NONE, reversed(a, 32), scc)                                                    \
    ROW(s_brev_b64, U64, U64, NONE, reversed(a, 64), scc)                                                    \
    ROW(s_bcnt0_i32_b32, U32, U32, NONE, 32 - ones(a, 32), NONZERO)                                          \
    ROW(s_bcnt0_i32_b64, U32, U64, NONE, 64 - ones(a, 64), NONZERO)                                          \
    ROW(s_bcnt1_i32_b32, U32, U32, NONE, ones(a, 32), NONZERO)                                               \
    ROW(s_bcnt1_i32_b64, U32, U64, NONE, ones(a, 64), NONZERO)                                               \
    ROW(s_ff0_i32_b32, I32, U32, NONE, find(a, 32, true, 0), scc)                                            \
    ROW(s_ff0_i32_b64, I32, U64, NONE, find(a, 64, true, 0), scc)                                            \
    ROW(s_ff1_i32_b32, I32, U32, NONE, find(a, 32, true, 1), scc)                                            \
    ROW(s_ff1_i32_b64, I32, U64, NONE, find(a, 64, true, 1), scc)                                            \
    ROW(s_flbit_i32_b32, I32, U32, NONE, find(a, 32, false, 1), scc)                                         \
    ROW(s_flbit_i32_b64, I32, U64, NONE, find(a, 64, false, 1), scc)                                         \
    ROW(s_flbit_i32, I32, I32, NONE, find(a, 32, false, a >= 0), scc)                                        \
    ROW(s_flbit_i32_i64, I32, I64, NONE, find(a, 64, false, a >= 0), scc)                                    \
    ROW(s_sext_i32_i8, I32, U32, NONE, sign_extended(low_bits(a, 8), 8), scc)                                \
    ROW(s_sext_i32_i16, I32, U32, NONE, sign_extended(low_bits(a, 16), 16), scc)                             \
    ROW(s_bitset0_b32, U32, U32, NONE, old & (-1 - bit(a % 32)), scc)                                        \
    ROW(s_bitset0_b64, U64, U32, NONE, old & (-1 - bit(a % 64)), scc)                                        \
    ROW(s_bitset1_b32, U32, U32, NONE, old | bit(a % 32), scc)                                               \
    ROW(s_bitset1_b64, U64, U32, NONE, old | bit(a % 64), scc)                                               \
    ROW(s_quadmask_b32, U32, U32, NONE, quads(a, 1, 1), NONZERO)                                             \
    ROW(s_quadmask_b64, U64, U64, NONE, quads(a, 1, 1), NONZERO)                                             \
    ROW(s_abs_i32, U32, I32, NONE, absolute(a), NONZERO)                                                     \
    ROW(s_bitreplicate_b64_b32, U64, U32, NONE, replicated(a), scc)                                          \
    ROW(s_cmp_eq_i32, NONE, I32, I32, 0, a == b)                                                             \
    ROW(s_cmp_lg_i32, NONE, I32, I32, 0, a != b)                                                             \
    ROW(s_cmp_gt_i32, NONE, I32, I32, 0, a > b)                                                              \
    ROW(s_cmp_ge_i32, NONE, I32, I32, 0, !(a < b))                                                           \
    ROW(s_cmp_lt_i32, NONE, I32, I32, 0, a < b)                                                              \
    ROW(s_cmp_le_i32, NONE, I32, I32, 0, !(a > b))                                                           \
    ROW(s_cmp_eq_u32, NONE, U32, U32, 0, a == b)                                                             \
    ROW(s_cmp_lg_u32, NONE, U32, U32, 0, a != b)                                                             \
    ROW(s_cmp_gt_u32, NONE, U32, U32, 0, a > b)                                                              \
    ROW(s_cmp_ge_u32, NONE, U32, U32, 0, !(a < b))                                                           \
    ROW(s_cmp_lt_u32, NONE, U32, U32, 0, a < b)                                                              \
    ROW(s_cmp_le_u32, NONE, U32, U32, 0, !(a > b))                                                           \
    ROW(s_cmp_eq_u64, NONE, U64, U64, 0, a == b)                                                             \
    ROW(s_cmp_lg_u64, NONE, U64, U64, 0, a != b)                                                             \
    ROW(s_bitcmp0_b32, NONE, U32, U32, 0, (a / bit(b % 32)) % 2 == 0)                                        \
    ROW(s_bitcmp1_b32, NONE, U32, U32, 0, (a / bit(b % 32)) % 2 == 1)                                        \
    ROW(s_bitcmp0_b64, NONE, U64, U32, 0, (a / bit(b % 64)) % 2 == 0)                                        \
    ROW(s_bitcmp1_b64, NONE, U64, U32, 0, (a / bit(b % 64)) % 2 == 1)                                        \
    ROW(s_movk_i32, I32, NONE, NONE, k, scc)                                                                 \
    ROW(s_cmovk_i32, U32, NONE, NONE, scc ? k : old, scc)                                                    \
    ROW(s_cmpk_eq_i32, NONE, I32, NONE, 0, a == k)                                                           \
    ROW(s_cmpk_lg_i32, NONE, I32, NONE, 0, a != k)                                                           \
    ROW(s_cmpk_gt_i32, NONE, I32, NONE, 0, a > k)                                                            \
    ROW(s_cmpk_ge_i32, NONE, I32, NONE, 0, !(a < k))                                                         \
    ROW(s_cmpk_lt_i32, NONE, I32, NONE, 0, a < k)                                                            \
    ROW(s_cmpk_le_i32, NONE, I32, NONE, 0, !(a > k))                                                         \
    ROW(s_cmpk_eq_u32, NONE, U32, NONE, 0, a == low_half(k))                                                 \
    ROW(s_cmpk_lg_u32, NONE, U32, NONE, 0, a != low_half(k))                                                 \
    ROW(s_cmpk_gt_u32, NONE, U32, NONE, 0, a > low_half(k))                                                  \
    ROW(s_cmpk_ge_u32, NONE, U32, NONE, 0, !(a < low_half(k)))                                               \
    ROW(s_cmpk_lt_u32, NONE, U32, NONE, 0, a < low_half(k))                                                  \
    ROW(s_cmpk_le_u32, NONE, U32, NONE, 0, !(a > low_half(k)))                                               \
    ROW(s_addk_i32, I32, NONE, NONE, number(I32, (uint64_t)old) + k, leaves(I32, d))                         \
    ROW(s_mulk_i32, I32, NONE, NONE, number(I32, (uint64_t)old) * k, scc)

/* Result in EXEC; d is the old one, or (wrexec) the new one. */
#define EXEC_ROWS(ROW)                                                                                       \
    ROW(s_and_saveexec, old, a &exec)                                                                        \
    ROW(s_or_saveexec, old, a | exec)                                                                        \
    ROW(s_xor_saveexec, old, (a | exec) - (a & exec))                                                        \
    ROW(s_andn2_saveexec, old, a - (a & exec))                                                               \
    ROW(s_orn2_saveexec, old, a | (-1 - exec))                                                               \
    ROW(s_nand_saveexec, old, -1 - (a & exec))                                                               \
    ROW(s_nor_saveexec, old, -1 - (a | exec))                                                                \
    ROW(s_xnor_saveexec, old, -1 - ((a | exec) - (a & exec)))                                                \
    ROW(s_andn1_saveexec, old, exec - (a & exec))                                                            \
    ROW(s_orn1_saveexec, old, (-1 - a) | exec)                                                               \
    ROW(s_andn1_wrexec, now, exec - (a & exec))                                                              \
    ROW(s_andn2_wrexec, now, a - (a & exec))

/* In wave32 the high half of EXEC is kept. */
#define EXEC_RULE_BITS(row, bits, kept, result)                                                              \
    static void row##_b##bits(struct state *s)                                                               \
    {                                                                                                        \
        const wide a = s->a, exec = low_bits(s->exec, bits), old = exec, now = low_bits((result), bits);     \
        (void)old;                                                                                           \
        s->exec = s->exec - exec + now;                                                                      \
        s->scc = now != 0;                                                                                   \
        s->d = (kept);                                                                                       \
    }
#define EXEC_RULE(row, kept, result)                                                                         \
    EXEC_RULE_BITS(row, 32, kept, result)                                                                    \
    EXEC_RULE_BITS(row, 64, kept, result)

ROWS(RULE)
EXEC_ROWS(EXEC_RULE)

static const struct row {
    const char *name;
    enum wmi_insn_id id;
    enum type d, a, b;
    void (*rule)(struct state *s);
} rows[] = {
#define ENTRY(row, D, A, B, result, condition) {#row, WMI_INSN_##row, D, A, B, row},
#define EXEC_ENTRY(row, kept, result)                                                                        \
    {#row "_b32", WMI_INSN_##row##_b32, U32, U32, NONE, row##_b32},                                          \
        {#row "_b64", WMI_INSN_##row##_b64, U64, U64, NONE, row##_b64},
    ROWS(ENTRY) EXEC_ROWS(EXEC_ENTRY)};

/* ---- the check ---- */

enum { SLOT_A = 10, SLOT_B = 13, SLOT_D = 17 }; /* odd: register pairs need not be aligned */

static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t pick(uint64_t *state)
{
    static const uint64_t edges[] = {0,          1,          2,          31,          32,         63,
                                     64,         0x7f,       0x80,       0xffff,      0x8000,     0x200000,
                                     0x400010,   0x7f0000,   0x7fffffff, 0x80000000,  0x80000001, 0xffffffff,
                                     0x60000,    0x1f001f,   0x20001f,   0x100000000, INT64_MAX,  1ull << 63,
                                     UINT64_MAX, 0x10000000, 0x00f00000, 0xfffffffe};
    const uint64_t random = random_bits(state), choice = random_bits(state) % 4;

    return choice == 0   ? random
           : choice == 1 ? random % 64 - 16
                         : edges[random % (sizeof edges / sizeof *edges)];
}

static uint64_t get(const struct wmi_frame *frame, unsigned slot)
{
    uint64_t bits;

    memcpy(&bits, &frame->s[slot], 8);
    return bits;
}

static void put(struct wmi_frame *frame, unsigned slot, uint64_t bits)
{
    memcpy(&frame->s[slot], &bits, 8);
}

/* The step after the tested one. */
static const struct wmi_op *stop(char *restrict frame, const struct wmi_op *op)
{
    (void)frame;
    return op;
}

static struct wmi_frame frame;

static void check(const struct row *row, uint64_t a, uint64_t b, int16_t k, bool scc, unsigned slot_d,
                  uint64_t *state)
{
    const wmi_body body = wmi_sem_body(WMI_CPU_BASELINE, 64, row->id);
    const uint64_t exec = pick(state);

    if (!body)
        fail_msg("%s has no body", row->name);
    memset(&frame, 0, sizeof frame);
    put(&frame, SLOT_D, random_bits(state));
    put(&frame, SLOT_A, a);
    put(&frame, SLOT_B, b);
    put(&frame, WMI_S_EXEC, exec);
    frame.s[WMI_S_SCC] = scc;
    const struct wmi_frame before = frame;
    const uint64_t old = get(&frame, slot_d);

    struct state s = {number(row->a, a),
                      number(row->b, b),
                      k,
                      row->d == U32 || row->d == I32 ? (uint32_t)old : old,
                      exec,
                      scc};
    row->rule(&s);
    const uint64_t d = row->d == NONE                   ? old
                       : row->d == U32 || row->d == I32 ? (old & ~0xffffffffull) | (uint32_t)s.d
                                                        : (uint64_t)s.d;

    const struct wmi_op ops[] = {{.body = body,
                                  .d = row->d == NONE ? 4 * WMI_S_NULL : 4 * slot_d,
                                  .a = 4 * SLOT_A,
                                  .b = 4 * SLOT_B,
                                  .x = (uint32_t)k},
                                 {.body = stop}};
    assert_ptr_equal(body((char *)&frame, &ops[0]), &ops[1]);
    if (get(&frame, slot_d) != d || frame.s[WMI_S_SCC] != s.scc ||
        get(&frame, WMI_S_EXEC) != (uint64_t)s.exec)
        fail_msg(
            "%s a 0x%llx b 0x%llx k %d scc %d exec 0x%llx old 0x%llx: d 0x%llx scc %u exec 0x%llx, expected "
            "0x%llx %d 0x%llx",
            row->name, (unsigned long long)a, (unsigned long long)b, k, scc, (unsigned long long)exec,
            (unsigned long long)old, (unsigned long long)get(&frame, slot_d), frame.s[WMI_S_SCC],
            (unsigned long long)get(&frame, WMI_S_EXEC), (unsigned long long)d, s.scc,
            (unsigned long long)s.exec);
    /* Everything else is unchanged. */
    frame.s[WMI_S_SCC] = before.s[WMI_S_SCC];
    put(&frame, slot_d, get(&before, slot_d));
    put(&frame, WMI_S_EXEC, exec);
    assert_memory_equal(frame.s, before.s, sizeof frame.s);
}

static void rows_follow_the_documents(void **unused)
{
    uint64_t state = 3;

    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned round = 0; round < 3000; round++) {
            const uint64_t a = pick(&state), b = round % 5 ? pick(&state) : a;
            static const unsigned places[] = {SLOT_D, SLOT_A, SLOT_B};
            check(&rows[i], a, b, (int16_t)pick(&state), round & 1, places[round / 2 % 3], &state);
        }
}

/* Every scalar row with a body must be in the table above. */
static void no_row_is_forgotten(void **unused)
{
    (void)unused;
    for (enum wmi_insn_id id = WMI_INSN_NONE + 1; id < WMI_INSN_COUNT; id++) {
        bool found = false;
        /* Scalar floats run the vector bodies, which tests/levels tests. */
        if (wmi_rows[id].class != WMI_CLASS_SALU || wmi_rows[id].flags & WMI_ROW_ONE_LANE ||
            !wmi_sem_body(WMI_CPU_BASELINE, 64, id))
            continue;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            found |= rows[i].id == id;
        if (!found)
            fail_msg("%s is not tested", wmi_rows[id].name);
    }
}

/* The examples of the CDNA 3 ISA document. */
static void documented_examples_hold(void **unused)
{
    static const struct {
        enum wmi_insn_id id;
        uint32_t a, b, d;
    } examples[] = {
        {WMI_INSN_s_absdiff_i32, 0x00000002, 0x00000005, 0x00000003},
        {WMI_INSN_s_absdiff_i32, 0xffffffff, 0x00000000, 0x00000001},
        {WMI_INSN_s_absdiff_i32, 0x80000000, 0x00000000, 0x80000000},
        {WMI_INSN_s_absdiff_i32, 0x80000000, 0x00000001, 0x7fffffff},
        {WMI_INSN_s_absdiff_i32, 0x80000000, 0xffffffff, 0x7fffffff},
        {WMI_INSN_s_absdiff_i32, 0x80000000, 0xfffffffe, 0x7ffffffe},
        {WMI_INSN_s_bcnt0_i32_b32, 0x00000000, 0x00000000, 0x00000020},
        {WMI_INSN_s_bcnt0_i32_b32, 0xcccccccc, 0x00000000, 0x00000010},
        {WMI_INSN_s_bcnt0_i32_b32, 0xffffffff, 0x00000000, 0x00000000},
        {WMI_INSN_s_bcnt1_i32_b32, 0x00000000, 0x00000000, 0x00000000},
        {WMI_INSN_s_bcnt1_i32_b32, 0xcccccccc, 0x00000000, 0x00000010},
        {WMI_INSN_s_bcnt1_i32_b32, 0xffffffff, 0x00000000, 0x00000020},
        {WMI_INSN_s_ff0_i32_b32, 0xaaaaaaaa, 0x00000000, 0x00000000},
        {WMI_INSN_s_ff0_i32_b32, 0x55555555, 0x00000000, 0x00000001},
        {WMI_INSN_s_ff0_i32_b32, 0x00000000, 0x00000000, 0x00000000},
        {WMI_INSN_s_ff0_i32_b32, 0xffffffff, 0x00000000, 0xffffffff},
        {WMI_INSN_s_ff0_i32_b32, 0xfffeffff, 0x00000000, 0x00000010},
        {WMI_INSN_s_ff1_i32_b32, 0xaaaaaaaa, 0x00000000, 0x00000001},
        {WMI_INSN_s_ff1_i32_b32, 0x55555555, 0x00000000, 0x00000000},
        {WMI_INSN_s_ff1_i32_b32, 0x00000000, 0x00000000, 0xffffffff},
        {WMI_INSN_s_ff1_i32_b32, 0xffffffff, 0x00000000, 0x00000000},
        {WMI_INSN_s_ff1_i32_b32, 0x00010000, 0x00000000, 0x00000010},
        {WMI_INSN_s_flbit_i32_b32, 0x00000000, 0x00000000, 0xffffffff},
        {WMI_INSN_s_flbit_i32_b32, 0x0000cccc, 0x00000000, 0x00000010},
        {WMI_INSN_s_flbit_i32_b32, 0xffff3333, 0x00000000, 0x00000000},
        {WMI_INSN_s_flbit_i32_b32, 0x7fffffff, 0x00000000, 0x00000001},
        {WMI_INSN_s_flbit_i32_b32, 0x80000000, 0x00000000, 0x00000000},
        {WMI_INSN_s_flbit_i32_b32, 0xffffffff, 0x00000000, 0x00000000},
        {WMI_INSN_s_flbit_i32, 0x00000000, 0x00000000, 0xffffffff},
        {WMI_INSN_s_flbit_i32, 0x0000cccc, 0x00000000, 0x00000010},
        {WMI_INSN_s_flbit_i32, 0xffff3333, 0x00000000, 0x00000010},
        {WMI_INSN_s_flbit_i32, 0x7fffffff, 0x00000000, 0x00000001},
        {WMI_INSN_s_flbit_i32, 0x80000000, 0x00000000, 0x00000001},
        {WMI_INSN_s_flbit_i32, 0xffffffff, 0x00000000, 0xffffffff},
        {WMI_INSN_s_abs_i32, 0x00000001, 0x00000000, 0x00000001},
        {WMI_INSN_s_abs_i32, 0x7fffffff, 0x00000000, 0x7fffffff},
        {WMI_INSN_s_abs_i32, 0x80000000, 0x00000000, 0x80000000},
        {WMI_INSN_s_abs_i32, 0x80000001, 0x00000000, 0x7fffffff},
        {WMI_INSN_s_abs_i32, 0x80000002, 0x00000000, 0x7ffffffe},
        {WMI_INSN_s_abs_i32, 0xffffffff, 0x00000000, 0x00000001},
    };

    (void)unused;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct wmi_op ops[] = {{.d = 4 * SLOT_D, .a = 4 * SLOT_A, .b = 4 * SLOT_B}, {.body = stop}};
        memset(&frame, 0, sizeof frame);
        frame.s[SLOT_A] = examples[i].a;
        frame.s[SLOT_B] = examples[i].b;
        wmi_sem_body(WMI_CPU_BASELINE, 64, examples[i].id)((char *)&frame, ops);
        assert_int_equal(frame.s[SLOT_D], examples[i].d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_follow_the_documents),
        cmocka_unit_test(no_row_is_forgotten),
        cmocka_unit_test(documented_examples_hold),
    };

    return cmocka_run_group_tests_name("scalar bodies", tests, NULL, NULL);
}
