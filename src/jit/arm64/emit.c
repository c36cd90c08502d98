/* SPDX-License-Identifier: MIT */
/* Registers: x0 has the frame, x1 the step; x8 the frame and the place of the lanes in a row, x9 the first
 * lane; x12 to x15 the sets of lanes that the part writes. v26 has EXEC of the lanes, v27 a bit for each. */
#include "jit/emit.h"
#include "jit/arm64/encode.h"

#include <string.h>

enum {
    FRAME,
    OP,
    FIRST_WORD, /* x2 to x7: values */
    ROWS = 8,
    LANE = 9,
    X_RESULT = 10,
    X_SCRATCH = 11,
    FIRST_MASK = 12, /* to x15 */
    X_A = 16,
    X_B = 17,
};
enum {
    V_EXEC = 26,
    V_BITS = 27,
    V_A = 28, /* to v30: arguments that have no register */
    V_RESULT = 31,
};
enum { CHUNK = 4, CHUNK_BYTES = 16, SLOT_BYTES = 16 };
enum { STORED_VECTORS = 24 };

static bool takes(const struct wmi_ir *ir, const struct wmi_ir_insn *insn, unsigned argument)
{
    uint64_t value;
    const bool shifts = insn->op == WMI_IR_shl || insn->op == WMI_IR_shr || insn->op == WMI_IR_sar;
    return shifts && argument == 1 && insn->type == WMI_IR_LANES &&
           wmi_ir_is_constant(ir, insn->argument[1], &value);
}

/* ---- code ---- */

static void put(struct wmi_emitter *arm, uint32_t word)
{
    wmi_put_32(&arm->host, word);
}

static void three(struct wmi_emitter *arm, uint32_t op, unsigned d, unsigned n, unsigned m)
{
    put(arm, wmi_arm64_three(op, d, n, m));
}

static void two(struct wmi_emitter *arm, uint32_t op, unsigned d, unsigned n)
{
    put(arm, wmi_arm64_two(op, d, n));
}

static void copy_vector(struct wmi_emitter *arm, unsigned d, unsigned n)
{
    if (d != n)
        three(arm, WMI_ARM64_ORR_V, d, n, n);
}

static void move_immediate(struct wmi_emitter *arm, unsigned d, uint64_t value)
{
    unsigned keeps = 0;
    for (unsigned quarter = 0; quarter < 4; quarter++) {
        const unsigned bits = value >> 16 * quarter & 0xffff;
        if (bits || (quarter == 3 && !keeps))
            put(arm, wmi_arm64_move_immediate(d, bits, quarter, keeps++));
    }
}

/* Loads or stores at base + offset, by x16 if it is far. */
static void access(struct wmi_emitter *arm, uint32_t op, unsigned t, unsigned base, uint32_t offset)
{
    const unsigned shift = wmi_arm64_access_shift(op);
    if (offset >> shift << shift != offset || offset >> shift > 0xfff) {
        if (offset >> 12)
            put(arm, wmi_arm64_add_immediate(X_A, base, offset >> 12 << 12));
        if (offset & 0xfff)
            put(arm, wmi_arm64_add_immediate(X_A, offset >> 12 ? X_A : base, offset & 0xfff));
        base = X_A;
        offset = 0;
    }
    put(arm, wmi_arm64_access(op, t, base, offset));
}

/* Replaces a branch at `from`, so that it leads to what comes next. */
static void land(struct wmi_emitter *arm, size_t from)
{
    uint32_t word;
    if (arm->host.full)
        return;
    const int32_t distance = (int32_t)((arm->host.count - from) / 4);
    memcpy(&word, arm->host.bytes + from, 4);
    word |= word >> 26 == 5 ? (uint32_t)distance & 0x3ffffff : ((uint32_t)distance & 0x7ffff) << 5;
    memcpy(arm->host.bytes + from, &word, 4);
}

static size_t branch(struct wmi_emitter *arm)
{
    put(arm, wmi_arm64_branch(0));
    return arm->host.count - 4;
}

static size_t branch_zero(struct wmi_emitter *arm, unsigned reg, bool if_zero)
{
    put(arm, wmi_arm64_branch_zero(reg, if_zero, 0));
    return arm->host.count - 4;
}

static int32_t distance_to(const struct wmi_emitter *arm, size_t place)
{
    return ((int32_t)place - (int32_t)arm->host.count) / 4;
}

/* ---- values ---- */

/* The register that has the argument, which is `temporary` if it comes from a slot. */
static unsigned use(struct wmi_emitter *arm, const struct wmi_ir_insn *insn, unsigned argument,
                    unsigned temporary)
{
    const unsigned number = insn->argument[argument];
    if (arm->registers.reg[number] != WMI_IN_SLOT)
        return arm->registers.reg[number];
    access(arm, wmi_emit_is_scalar(arm, number) ? (uint32_t)WMI_ARM64_LDR_X : WMI_ARM64_LDR_Q, temporary,
           WMI_ARM64_SP, arm->registers.slot[number] * (uint32_t)SLOT_BYTES);
    return temporary;
}

static unsigned result(const struct wmi_emitter *arm, unsigned number)
{
    const unsigned reg = arm->registers.reg[number];
    return reg != WMI_IN_SLOT ? reg : wmi_emit_is_scalar(arm, number) ? X_RESULT : V_RESULT;
}

static void keep(struct wmi_emitter *arm, unsigned number)
{
    if (arm->registers.reg[number] == WMI_IN_SLOT && arm->registers.slot[number] != WMI_NO_SLOT)
        access(arm, wmi_emit_is_scalar(arm, number) ? (uint32_t)WMI_ARM64_STR_X : WMI_ARM64_STR_Q,
               result(arm, number), WMI_ARM64_SP, arm->registers.slot[number] * (uint32_t)SLOT_BYTES);
}

/* ---- scalars ---- */

static const uint32_t scalar_three[WMI_IR_OPS] = {
    [WMI_IR_add] = WMI_ARM64_ADD, [WMI_IR_sub] = WMI_ARM64_SUB, [WMI_IR_mul] = WMI_ARM64_MUL,
    [WMI_IR_and] = WMI_ARM64_AND, [WMI_IR_or] = WMI_ARM64_ORR,  [WMI_IR_xor] = WMI_ARM64_EOR,
    [WMI_IR_shl] = WMI_ARM64_LSL, [WMI_IR_shr] = WMI_ARM64_LSR, [WMI_IR_sar] = WMI_ARM64_ASR,
};

static void put_scalar_compare(struct wmi_emitter *arm, const struct wmi_ir_insn *insn, unsigned d)
{
    const uint32_t wide = insn->type == WMI_IR_DWORD ? WMI_ARM64_64 : 0;
    const unsigned condition = insn->op == WMI_IR_eq     ? WMI_ARM64_EQ
                               : insn->op == WMI_IR_lt_u ? WMI_ARM64_LO
                                                         : WMI_ARM64_LT;
    three(arm, WMI_ARM64_SUBS | wide, WMI_ARM64_ZERO, use(arm, insn, 0, X_A), use(arm, insn, 1, X_B));
    put(arm, wmi_arm64_set(d, condition));
}

static void put_high_product(struct wmi_emitter *arm, const struct wmi_ir_insn *insn, unsigned d)
{
    const bool is_signed = insn->op == WMI_IR_mulhi_s;
    const unsigned a = use(arm, insn, 0, X_A), b = use(arm, insn, 1, X_B);
    if (insn->type == WMI_IR_DWORD) {
        three(arm, is_signed ? WMI_ARM64_SMULH : WMI_ARM64_UMULH, d, a, b);
    } else {
        three(arm, is_signed ? WMI_ARM64_SMULL : WMI_ARM64_UMULL, d, a, b);
        two(arm, (uint32_t)WMI_ARM64_LSR_32, d, d);
    }
}

static void put_scalar_access(struct wmi_emitter *arm, const struct wmi_ir_insn *insn, unsigned t)
{
    const bool wide = insn->type == WMI_IR_DWORD, loads = insn->op == WMI_IR_load;
    const uint32_t op = (uint32_t)(wide    ? loads ? WMI_ARM64_LDR_X : WMI_ARM64_STR_X
                                   : loads ? WMI_ARM64_LDR_W
                                           : WMI_ARM64_STR_W);
    access(arm, op, t, FRAME, (uint32_t)insn->immediate);
}

static void put_scalar_select(struct wmi_emitter *arm, const struct wmi_ir_insn *insn, unsigned d)
{
    const uint32_t wide = insn->type == WMI_IR_DWORD ? WMI_ARM64_64 : 0;
    three(arm, WMI_ARM64_SUBS, WMI_ARM64_ZERO, use(arm, insn, 0, X_A), WMI_ARM64_ZERO);
    put(arm, wmi_arm64_select(wide, d, use(arm, insn, 1, X_A), use(arm, insn, 2, X_B), WMI_ARM64_NE));
}

/* Executed once for the wave. */
static void put_once(struct wmi_emitter *arm, unsigned number)
{
    const struct wmi_ir_insn *insn = &arm->ir->insn[number];
    const uint32_t wide = insn->type == WMI_IR_DWORD ? WMI_ARM64_64 : 0;
    const unsigned d = result(arm, number);
    switch (insn->op) {
    case WMI_IR_const:
        move_immediate(arm, d, insn->immediate);
        break;
    case WMI_IR_load:
        put_scalar_access(arm, insn, d);
        break;
    case WMI_IR_put:
        put_scalar_access(arm, insn, use(arm, insn, 0, X_B));
        break;
    case WMI_IR_splat:
        two(arm, WMI_ARM64_DUP_V, d, use(arm, insn, 0, X_A));
        break;
    case WMI_IR_low:
        three(arm, WMI_ARM64_ORR, d, WMI_ARM64_ZERO, use(arm, insn, 0, X_A));
        break;
    case WMI_IR_high:
        two(arm, (uint32_t)WMI_ARM64_LSR_32, d, use(arm, insn, 0, X_A));
        break;
    case WMI_IR_pair:
        three(arm, WMI_ARM64_ORR_HIGH, d, use(arm, insn, 0, X_A), use(arm, insn, 1, X_B));
        break;
    case WMI_IR_not:
        three(arm, WMI_ARM64_ORN | wide, d, WMI_ARM64_ZERO, use(arm, insn, 0, X_A));
        break;
    case WMI_IR_mulhi_u:
    case WMI_IR_mulhi_s:
        put_high_product(arm, insn, d);
        break;
    case WMI_IR_eq:
    case WMI_IR_lt_s:
    case WMI_IR_lt_u:
        put_scalar_compare(arm, insn, d);
        break;
    case WMI_IR_select:
        put_scalar_select(arm, insn, d);
        break;
    default:
        three(arm, scalar_three[insn->op] | wide, d, use(arm, insn, 0, X_A), use(arm, insn, 1, X_B));
    }
    if (insn->op != WMI_IR_put)
        keep(arm, number);
}

/* ---- lanes ---- */

static const uint32_t lanes_three[WMI_IR_OPS] = {
    [WMI_IR_add] = WMI_ARM64_ADD_V,    [WMI_IR_sub] = WMI_ARM64_SUB_V,    [WMI_IR_mul] = WMI_ARM64_MUL_V,
    [WMI_IR_and] = WMI_ARM64_AND_V,    [WMI_IR_or] = WMI_ARM64_ORR_V,     [WMI_IR_xor] = WMI_ARM64_EOR_V,
    [WMI_IR_min_s] = WMI_ARM64_SMIN_V, [WMI_IR_max_s] = WMI_ARM64_SMAX_V, [WMI_IR_min_u] = WMI_ARM64_UMIN_V,
    [WMI_IR_max_u] = WMI_ARM64_UMAX_V, [WMI_IR_eq] = WMI_ARM64_CMEQ_V,    [WMI_IR_fadd] = WMI_ARM64_FADD_V,
    [WMI_IR_fsub] = WMI_ARM64_FSUB_V,  [WMI_IR_fmul] = WMI_ARM64_FMUL_V,  [WMI_IR_fmin] = WMI_ARM64_FMIN_V,
    [WMI_IR_fdiv] = WMI_ARM64_FDIV_V,  [WMI_IR_fmax] = WMI_ARM64_FMAX_V,  [WMI_IR_feq] = WMI_ARM64_FCMEQ_V,
};

/* The host compares for greater. */
static const uint32_t lanes_swapped[WMI_IR_OPS] = {
    [WMI_IR_lt_s] = WMI_ARM64_CMGT_V,
    [WMI_IR_lt_u] = WMI_ARM64_CMHI_V,
    [WMI_IR_flt] = WMI_ARM64_FCMGT_V,
    [WMI_IR_fle] = WMI_ARM64_FCMGE_V,
};

static const uint32_t lanes_two[WMI_IR_OPS] = {
    [WMI_IR_fsqrt] = WMI_ARM64_FSQRT_V,  [WMI_IR_not] = WMI_ARM64_NOT_V,
    [WMI_IR_clz] = WMI_ARM64_CLZ_V,      [WMI_IR_ffloor] = WMI_ARM64_FRINTM_V,
    [WMI_IR_fceil] = WMI_ARM64_FRINTP_V, [WMI_IR_ftrunc] = WMI_ARM64_FRINTZ_V,
    [WMI_IR_frint] = WMI_ARM64_FRINTN_V, [WMI_IR_i2f] = WMI_ARM64_SCVTF_V,
    [WMI_IR_u2f] = WMI_ARM64_UCVTF_V,    [WMI_IR_f2i] = WMI_ARM64_FCVTZS_V,
    [WMI_IR_f2u] = WMI_ARM64_FCVTZU_V,
};

static void put_shift(struct wmi_emitter *arm, const struct wmi_ir_insn *insn, unsigned d)
{
    const unsigned a = use(arm, insn, 0, V_A);
    uint64_t count;
    if (wmi_ir_is_constant(arm->ir, insn->argument[1], &count)) {
        count &= 31;
        if (insn->op == WMI_IR_shl)
            put(arm, wmi_arm64_vector_shift(WMI_ARM64_SHL_V, d, a, 32 + (unsigned)count));
        else if (count)
            put(arm, wmi_arm64_vector_shift(insn->op == WMI_IR_shr ? WMI_ARM64_USHR_V : WMI_ARM64_SSHR_V, d,
                                            a, 64 - (unsigned)count));
        else
            copy_vector(arm, d, a);
        return;
    }
    /* the host takes the lowest byte, and shifts right if it is negative: it gets bits [4:0] */
    const unsigned b = use(arm, insn, 1, V_A + 1);
    put(arm, wmi_arm64_vector_shift(WMI_ARM64_SHL_V, V_RESULT, b, 32 + 27));
    put(arm, wmi_arm64_vector_shift(WMI_ARM64_USHR_V, V_RESULT, V_RESULT, 64 - 27));
    if (insn->op != WMI_IR_shl)
        two(arm, WMI_ARM64_NEG_V, V_RESULT, V_RESULT);
    three(arm, insn->op == WMI_IR_sar ? WMI_ARM64_SSHL_V : WMI_ARM64_USHL_V, d, a, V_RESULT);
}

static void put_lanes_high_product(struct wmi_emitter *arm, const struct wmi_ir_insn *insn, unsigned d)
{
    const bool is_signed = insn->op == WMI_IR_mulhi_s;
    const unsigned a = use(arm, insn, 0, V_A), b = use(arm, insn, 1, V_A + 1);
    three(arm, is_signed ? WMI_ARM64_SMULL_V : WMI_ARM64_UMULL_V, V_RESULT, a, b);
    three(arm, is_signed ? WMI_ARM64_SMULL2_V : WMI_ARM64_UMULL2_V, V_A + 2, a, b);
    three(arm, WMI_ARM64_UZP2_V, d, V_RESULT, V_A + 2);
}

static void put_select(struct wmi_emitter *arm, const struct wmi_ir_insn *insn, unsigned d)
{
    copy_vector(arm, V_RESULT, use(arm, insn, 0, V_A));
    three(arm, WMI_ARM64_BSL_V, V_RESULT, use(arm, insn, 1, V_A + 1), use(arm, insn, 2, V_A + 2));
    copy_vector(arm, d, V_RESULT);
}

static void put_fused(struct wmi_emitter *arm, const struct wmi_ir_insn *insn, unsigned d)
{
    const unsigned a = use(arm, insn, 0, V_A), b = use(arm, insn, 1, V_A + 1), c = use(arm, insn, 2, V_A + 2);
    const unsigned sum = d == a || d == b ? V_RESULT : d;
    copy_vector(arm, sum, c);
    three(arm, WMI_ARM64_FMLA_V, sum, a, b);
    copy_vector(arm, d, sum);
}

static void put_popcount(struct wmi_emitter *arm, const struct wmi_ir_insn *insn, unsigned d)
{
    two(arm, WMI_ARM64_CNT_V, d, use(arm, insn, 0, V_A));
    two(arm, WMI_ARM64_UADDLP_B, d, d);
    two(arm, WMI_ARM64_UADDLP_H, d, d);
}

static void put_lanes_of_bits(struct wmi_emitter *arm, const struct wmi_ir_insn *insn, unsigned d)
{
    three(arm, WMI_ARM64_LSR | WMI_ARM64_64, X_SCRATCH, use(arm, insn, 0, X_A), LANE);
    two(arm, WMI_ARM64_DUP_V, d, X_SCRATCH);
    three(arm, WMI_ARM64_CMTST_V, d, d, V_BITS);
}

static void put_mask(struct wmi_emitter *arm, const struct wmi_ir_insn *insn)
{
    const unsigned which = arm->masks++;
    unsigned mask = use(arm, insn, 0, V_A);
    if (arm->partial) {
        three(arm, WMI_ARM64_AND_V, V_RESULT, mask, V_EXEC);
        mask = V_RESULT;
    }
    three(arm, WMI_ARM64_AND_V, V_RESULT, mask, V_BITS);
    two(arm, WMI_ARM64_ADDV, V_RESULT, V_RESULT);
    two(arm, WMI_ARM64_UMOV, X_SCRATCH, V_RESULT);
    three(arm, WMI_ARM64_LSL | WMI_ARM64_64, X_SCRATCH, X_SCRATCH, LANE);
    three(arm, WMI_ARM64_ORR | WMI_ARM64_64, FIRST_MASK + which, FIRST_MASK + which, X_SCRATCH);
}

static void put_row(struct wmi_emitter *arm, const struct wmi_ir_insn *insn)
{
    unsigned value = use(arm, insn, 0, V_A);
    if (arm->partial && insn->op == WMI_IR_put_row) {
        access(arm, WMI_ARM64_LDR_Q, V_RESULT, ROWS, (uint32_t)insn->immediate);
        three(arm, WMI_ARM64_BIT_V, V_RESULT, value, V_EXEC);
        value = V_RESULT;
    }
    access(arm, WMI_ARM64_STR_Q, value, ROWS, (uint32_t)insn->immediate);
}

static void put_repair(struct wmi_emitter *arm, unsigned number, unsigned d)
{
    const struct wmi_ir_insn *insn = &arm->ir->insn[number];
    unsigned bad = use(arm, insn, 1, V_A + 1);
    if (arm->partial) {
        three(arm, WMI_ARM64_AND_V, V_A + 1, bad, V_EXEC);
        bad = V_A + 1;
    }
    two(arm, WMI_ARM64_UMAXV, V_A + 1, bad);
    two(arm, WMI_ARM64_UMOV, X_SCRATCH, V_A + 1);
    /* The stub takes the arguments where they are, so d must be none of them. */
    const unsigned value = use(arm, insn, 0, V_RESULT);
    struct wmi_stub *stub = &arm->stubs[arm->stub_count++];
    stub->insn = number;
    stub->from = branch_zero(arm, X_SCRATCH, false);
    copy_vector(arm, d, value);
    stub->back = arm->host.count;
}

static void put_lanes(struct wmi_emitter *arm, unsigned number)
{
    const struct wmi_ir_insn *insn = &arm->ir->insn[number];
    const unsigned d = result(arm, number);
    switch (insn->op) {
    case WMI_IR_row:
        access(arm, WMI_ARM64_LDR_Q, d, ROWS, (uint32_t)insn->immediate);
        break;
    case WMI_IR_put_row:
    case WMI_IR_put_all:
        put_row(arm, insn);
        return;
    case WMI_IR_put_mask:
        put_mask(arm, insn);
        return;
    case WMI_IR_lanes:
        put_lanes_of_bits(arm, insn, d);
        break;
    case WMI_IR_ones:
        copy_vector(arm, d, use(arm, insn, 0, V_A));
        break;
    case WMI_IR_shl:
    case WMI_IR_shr:
    case WMI_IR_sar:
        put_shift(arm, insn, d);
        break;
    case WMI_IR_mulhi_u:
    case WMI_IR_mulhi_s:
        put_lanes_high_product(arm, insn, d);
        break;
    case WMI_IR_select:
        put_select(arm, insn, d);
        break;
    case WMI_IR_fma:
        put_fused(arm, insn, d);
        break;
    case WMI_IR_popcount:
        put_popcount(arm, insn, d);
        break;
    case WMI_IR_bitrev:
        two(arm, WMI_ARM64_RBIT_V, d, use(arm, insn, 0, V_A));
        two(arm, WMI_ARM64_REV32_V, d, d);
        break;
    case WMI_IR_repair:
        put_repair(arm, number, d);
        break;
    default:
        if (lanes_two[insn->op])
            two(arm, lanes_two[insn->op], d, use(arm, insn, 0, V_A));
        else if (lanes_swapped[insn->op])
            three(arm, lanes_swapped[insn->op], d, use(arm, insn, 1, V_A + 1), use(arm, insn, 0, V_A));
        else
            three(arm, lanes_three[insn->op], d, use(arm, insn, 0, V_A), use(arm, insn, 1, V_A + 1));
    }
    keep(arm, number);
}

/* ---- the loop ---- */

/* The register with the bits that the loop makes of the instruction's set of lanes, for each of these. */
static void clear_or_store_masks(struct wmi_emitter *arm, bool stores)
{
    const uint32_t op = (uint32_t)(arm->block->code->options.lanes == 64 ? WMI_ARM64_STR_X : WMI_ARM64_STR_W);
    unsigned reg = FIRST_MASK;
    for (unsigned i = 0; i < arm->ir->count; i++) {
        if (!wmi_emit_is_in_loop(arm, i) || arm->ir->insn[i].op != WMI_IR_put_mask)
            continue;
        if (stores)
            access(arm, op, reg++, FRAME, (uint32_t)arm->ir->insn[i].immediate);
        else
            three(arm, WMI_ARM64_ORR | WMI_ARM64_64, reg++, WMI_ARM64_ZERO, WMI_ARM64_ZERO);
    }
}

static size_t begin_loop(struct wmi_emitter *arm)
{
    enum { EXEC_ROW = offsetof(struct wmi_frame, exec) + offsetof(struct wmi_lanes, row) };
    three(arm, WMI_ARM64_ORR | WMI_ARM64_64, ROWS, WMI_ARM64_ZERO, FRAME);
    three(arm, WMI_ARM64_ORR | WMI_ARM64_64, LANE, WMI_ARM64_ZERO, WMI_ARM64_ZERO);
    clear_or_store_masks(arm, false);
    const size_t top = arm->host.count;
    if (arm->partial)
        access(arm, WMI_ARM64_LDR_Q, V_EXEC, ROWS, EXEC_ROW);
    return top;
}

static void end_loop(struct wmi_emitter *arm, size_t top)
{
    put(arm, wmi_arm64_add_immediate(ROWS, ROWS, CHUNK_BYTES));
    put(arm, wmi_arm64_add_immediate(LANE, LANE, CHUNK));
    put(arm, wmi_arm64_compare_immediate(LANE, arm->block->code->options.lanes));
    put(arm, wmi_arm64_branch_if(WMI_ARM64_LO, distance_to(arm, top)));
    clear_or_store_masks(arm, true);
}

/* v27 = 1, 2, 4, 8. */
static void before_loops(struct wmi_emitter *arm, bool needs_bits)
{
    if (!needs_bits)
        return;
    move_immediate(arm, X_SCRATCH, 1 | UINT64_C(2) << 32);
    two(arm, (uint32_t)WMI_ARM64_FMOV_D_X, V_BITS, X_SCRATCH);
    move_immediate(arm, X_SCRATCH, 4 | UINT64_C(8) << 32);
    two(arm, WMI_ARM64_INS_D1_X, V_BITS, X_SCRATCH);
}

/* ---- repairs ---- */

static void put_stub(struct wmi_emitter *arm, const struct wmi_stub *stub)
{
    const struct wmi_ir_insn *insn = &arm->ir->insn[stub->insn];
    land(arm, stub->from);
    for (unsigned i = 0; i < 3; i++)
        access(arm, WMI_ARM64_STR_Q, use(arm, insn, 2 + i, V_A), ROWS, wmi_emit_repair_row(arm, i));
    const size_t address = arm->host.count;
    put(arm, 0);
    put(arm, wmi_arm64_call(distance_to(arm, arm->save)));
    access(arm, WMI_ARM64_LDR_Q, result(arm, stub->insn), ROWS, wmi_emit_repair_row(arm, 3));
    put(arm, wmi_arm64_branch(distance_to(arm, stub->back)));
    while (arm->host.count % 8 && !arm->host.full)
        put(arm, 0);
    if (!arm->host.full) {
        const uint32_t word = wmi_arm64_address_near(X_B, (int32_t)(arm->host.count - address));
        memcpy(arm->host.bytes + address, &word, 4);
    }
    wmi_emit_records(arm, insn->immediate);
}

/* Executes the step at x17. Keeps all registers. */
static void put_save(struct wmi_emitter *arm)
{
    enum { WORDS = 18, BYTES = STORED_VECTORS * 16 + WORDS * 8 };
    arm->save = arm->host.count;
    for (unsigned restores = 0; restores < 2; restores++) {
        const uint32_t q = restores ? WMI_ARM64_LDR_Q : WMI_ARM64_STR_Q,
                       x = (uint32_t)(restores ? WMI_ARM64_LDR_X : WMI_ARM64_STR_X);
        if (!restores)
            put(arm, wmi_arm64_subtract_immediate(WMI_ARM64_SP, WMI_ARM64_SP, BYTES));
        for (unsigned i = 0; i < STORED_VECTORS; i++)
            access(arm, q, i < 8 ? i : i + 8, WMI_ARM64_SP, 16 * i);
        for (unsigned i = 0; i < 16; i++)
            access(arm, x, i, WMI_ARM64_SP, STORED_VECTORS * 16 + 8 * i);
        access(arm, x, WMI_ARM64_LINK, WMI_ARM64_SP, STORED_VECTORS * 16 + 8 * 16);
        if (restores) {
            put(arm, wmi_arm64_add_immediate(WMI_ARM64_SP, WMI_ARM64_SP, BYTES));
            put(arm, (uint32_t)WMI_ARM64_RET | WMI_ARM64_LINK << 5);
        } else {
            three(arm, WMI_ARM64_ORR | WMI_ARM64_64, OP, WMI_ARM64_ZERO, X_B);
            access(arm, (uint32_t)WMI_ARM64_LDR_X, X_A, OP, offsetof(struct wmi_op, body));
            two(arm, (uint32_t)WMI_ARM64_BLR, 0, X_A);
        }
    }
}

/* ---- parts ---- */

static void enter(struct wmi_emitter *arm, const struct wmi_op *op)
{
    access(arm, (uint32_t)WMI_ARM64_LDR_W, X_RESULT, FRAME, offsetof(struct wmi_frame, mode));
    move_immediate(arm, X_SCRATCH, arm->block->mode.mode);
    three(arm, WMI_ARM64_SUBS, WMI_ARM64_ZERO, X_RESULT, X_SCRATCH);
    put(arm, wmi_arm64_branch_if(WMI_ARM64_EQ, 0));
    const size_t same = arm->host.count - 4;
    move_immediate(arm, X_A, (uintptr_t)op->body);
    two(arm, (uint32_t)WMI_ARM64_BR, 0, X_A);
    land(arm, same);
}

static void leave(struct wmi_emitter *arm, const struct wmi_op *op)
{
#ifdef WMI_STEPS_RETURN
    move_immediate(arm, FRAME, (uintptr_t)op);
    put(arm, (uint32_t)WMI_ARM64_RET | WMI_ARM64_LINK << 5);
#else
    move_immediate(arm, OP, (uintptr_t)op);
    access(arm, (uint32_t)WMI_ARM64_LDR_X, X_A, OP, offsetof(struct wmi_op, body));
    two(arm, (uint32_t)WMI_ARM64_BR, 0, X_A);
#endif
}

static size_t branch_if_partial(struct wmi_emitter *arm)
{
    enum { EXEC_FULL = offsetof(struct wmi_frame, exec) + offsetof(struct wmi_lanes, full) };
    access(arm, (uint32_t)WMI_ARM64_LDR_X, X_SCRATCH, FRAME, EXEC_FULL);
    return branch_zero(arm, X_SCRATCH, true);
}

static size_t branch_if_slice_ends(struct wmi_emitter *arm, uint32_t instructions)
{
    const uint32_t left = offsetof(struct wmi_frame, left);
    access(arm, (uint32_t)WMI_ARM64_LDR_X, X_RESULT, FRAME, left);
    move_immediate(arm, X_SCRATCH, instructions);
    three(arm, WMI_ARM64_SUBS | WMI_ARM64_64, X_RESULT, X_RESULT, X_SCRATCH);
    put(arm, wmi_arm64_branch_if(WMI_ARM64_LT, 0));
    const size_t from = arm->host.count - 4;
    access(arm, (uint32_t)WMI_ARM64_STR_X, X_RESULT, FRAME, left);
    return from;
}

static size_t branch_if_zero(struct wmi_emitter *arm, uint32_t place, bool wide, bool zero)
{
    access(arm, (uint32_t)(wide ? WMI_ARM64_LDR_X : WMI_ARM64_LDR_W), X_SCRATCH, FRAME, place);
    return branch_zero(arm, X_SCRATCH, zero);
}

static uint32_t stack_bytes(unsigned slots, bool calls)
{
    return (slots + calls) * (uint32_t)SLOT_BYTES;
}

/* An immediate has 12 bits, or 12 bits above these. */
static void move_stack(struct wmi_emitter *arm, uint32_t bytes, bool down)
{
    const uint32_t parts[] = {bytes & 0xfff, bytes & ~UINT32_C(0xfff)};
    for (unsigned i = 0; i < 2; i++)
        if (parts[i])
            put(arm, down ? wmi_arm64_subtract_immediate(WMI_ARM64_SP, WMI_ARM64_SP, parts[i])
                          : wmi_arm64_add_immediate(WMI_ARM64_SP, WMI_ARM64_SP, parts[i]));
}

static void open(struct wmi_emitter *arm, unsigned slots, bool calls)
{
    const uint32_t bytes = stack_bytes(slots, calls);
    move_stack(arm, bytes, true);
    if (calls)
        access(arm, (uint32_t)WMI_ARM64_STR_X, WMI_ARM64_LINK, WMI_ARM64_SP, bytes - SLOT_BYTES);
}

static void close(struct wmi_emitter *arm, unsigned slots, bool calls)
{
    const uint32_t bytes = stack_bytes(slots, calls);
    if (calls)
        access(arm, (uint32_t)WMI_ARM64_LDR_X, WMI_ARM64_LINK, WMI_ARM64_SP, bytes - SLOT_BYTES);
    move_stack(arm, bytes, false);
}

const struct wmi_ir_host wmi_ir_arm64 = {
    .file =
        {
            .words = 0xfc,       /* x2 to x7 */
            .lanes = 0x03ff00ff, /* v0 to v7, v16 to v25 */
            .takes = takes,
        },
    .begin = put_save,
    .enter = enter,
    .leave = leave,
    .open = open,
    .close = close,
    .once = put_once,
    .in_loop = put_lanes,
    .before_loops = before_loops,
    .begin_loop = begin_loop,
    .end_loop = end_loop,
    .branch_if_partial = branch_if_partial,
    .branch_if_slice_ends = branch_if_slice_ends,
    .branch_if_zero = branch_if_zero,
    .branch = branch,
    .land = land,
    .stub = put_stub,
};
