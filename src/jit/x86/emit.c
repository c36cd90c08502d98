/* SPDX-License-Identifier: MIT */
/* Host code for x86-64 with AVX2. Registers: rdi has the frame; rdx the frame and the place of the lanes in a
 * row, rsi that of their bits in a set, rcx the first lane. ymm11 has EXEC of the lanes, ymm10 a bit for
 * each. */
#include "jit/emit.h"
#include "jit/host_avx2.h"

#define LANE WMI_RCX
#define BITS WMI_RSI
enum {
    V_BITS = 10,
    V_EXEC = 11,
    V_A = 12, /* to ymm14: arguments that have no register */
    V_RESULT = 15,
};
enum { CHUNK = 8, CHUNK_BYTES = 32, SLOT_BYTES = 32 };
enum {
    VROUNDPS = WMI_EVEX(0x08, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
    VDIVPS = WMI_EVEX(0x5e, WMI_MAP_0F, 0, 0),
    VSQRTPS = WMI_EVEX(0x51, WMI_MAP_0F, 0, 0),
    VCVTDQ2PS = WMI_EVEX(0x5b, WMI_MAP_0F, 0, 0),
    VPMULUDQ = WMI_EVEX(0xf4, WMI_MAP_0F, WMI_PREFIX_66, 0),
    VPMULDQ = WMI_EVEX(0x28, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VPMINSD = WMI_EVEX(0x39, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VPMAXSD = WMI_EVEX(0x3d, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VPMOVZXBD = WMI_EVEX(0x31, WMI_MAP_0F38, WMI_PREFIX_66, 0),
};
enum { TWO_16 = 0x47800000, TWO_31 = 0x4f000000, TWO_32 = 0x4f800000 }; /* as f32 */

static bool takes(const struct wmi_ir *ir, const struct wmi_ir_insn *insn, unsigned argument)
{
    uint64_t value;
    const bool shifts = insn->op == WMI_IR_shl || insn->op == WMI_IR_shr || insn->op == WMI_IR_sar;
    return shifts && argument == 1 && insn->type == WMI_IR_LANES &&
           wmi_ir_is_constant(ir, insn->argument[1], &value);
}

/* ---- values ---- */

static struct wmi_host_operand slot_of(const struct wmi_emitter *e, unsigned number)
{
    return wmi_at(WMI_RSP, (int32_t)e->registers.slot[number] * SLOT_BYTES);
}

static bool has_register(const struct wmi_emitter *e, unsigned number)
{
    return e->registers.reg[number] != WMI_IN_SLOT;
}

/* The argument as an operand, which may be in memory. */
static struct wmi_host_operand operand(const struct wmi_emitter *e, const struct wmi_ir_insn *insn,
                                       unsigned argument)
{
    const unsigned number = insn->argument[argument];
    return has_register(e, number) ? wmi_zmm(e->registers.reg[number]) : slot_of(e, number);
}

/* The register that has the argument, which is `temporary` if it comes from a slot. */
static unsigned use(struct wmi_emitter *e, const struct wmi_ir_insn *insn, unsigned argument,
                    unsigned temporary)
{
    const struct wmi_host_operand given = operand(e, insn, argument);
    if (given.in_memory)
        wmi_vex_256(&e->host, WMI_VMOVUPS_LOAD, temporary, 0, given);
    return given.in_memory ? temporary : given.reg;
}

static unsigned result(const struct wmi_emitter *e, unsigned number)
{
    return has_register(e, number) ? e->registers.reg[number] : V_RESULT;
}

static void keep(struct wmi_emitter *e, unsigned number)
{
    if (!has_register(e, number))
        wmi_vex_256(&e->host, WMI_VMOVUPS_STORE, V_RESULT, 0, slot_of(e, number));
}

/* reg = the scalar. */
static void load_word(struct wmi_emitter *e, enum wmi_gpr reg, const struct wmi_ir_insn *insn,
                      unsigned argument)
{
    const unsigned number = insn->argument[argument];
    if (has_register(e, number))
        wmi_scalar_registers(&e->host, WMI_MOV_LOAD, true, reg, e->registers.reg[number]);
    else
        wmi_scalar_memory(&e->host, WMI_MOV_LOAD, true, reg, WMI_RSP, slot_of(e, number).displacement);
}

static void keep_word(struct wmi_emitter *e, unsigned number)
{
    if (has_register(e, number))
        wmi_scalar_registers(&e->host, WMI_MOV_LOAD, true, e->registers.reg[number], WMI_RAX);
    else
        wmi_scalar_memory(&e->host, WMI_MOV_STORE, true, WMI_RAX, WMI_RSP, slot_of(e, number).displacement);
}

/* ---- scalars: computed in RAX ---- */

enum { ONE_OPERAND = 0xf7, NOT = 2, MULTIPLY = 4, MULTIPLY_SIGNED = 5, SHIFT = 0xd3, MOVSXD = 0x63 };

static const uint16_t scalar_two[WMI_IR_OPS] = {
    [WMI_IR_add] = WMI_ADD, [WMI_IR_sub] = WMI_SUB, [WMI_IR_mul] = WMI_IMUL,
    [WMI_IR_and] = WMI_AND, [WMI_IR_or] = WMI_OR,   [WMI_IR_xor] = WMI_XOR,
};

static void put_high_product(struct wmi_emitter *e, const struct wmi_ir_insn *insn)
{
    const bool is_signed = insn->op == WMI_IR_mulhi_s;
    if (insn->type == WMI_IR_DWORD) {
        wmi_scalar_registers(&e->host, ONE_OPERAND, true, is_signed ? MULTIPLY_SIGNED : MULTIPLY, WMI_RCX);
        wmi_scalar_registers(&e->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_RDX);
        return;
    }
    if (is_signed) {
        wmi_scalar_registers(&e->host, MOVSXD, true, WMI_RAX, WMI_RAX);
        wmi_scalar_registers(&e->host, MOVSXD, true, WMI_RCX, WMI_RCX);
    }
    wmi_scalar_registers(&e->host, WMI_IMUL, true, WMI_RAX, WMI_RCX);
    wmi_shift_immediate(&e->host, 5, true, WMI_RAX, 32);
}

/* Of RAX and RCX. */
static void put_scalar_two(struct wmi_emitter *e, const struct wmi_ir_insn *insn)
{
    const bool wide = insn->type == WMI_IR_DWORD;
    switch (insn->op) {
    case WMI_IR_shl:
    case WMI_IR_shr:
    case WMI_IR_sar:
        wmi_scalar_registers(&e->host, SHIFT, wide,
                             insn->op == WMI_IR_shl   ? 4
                             : insn->op == WMI_IR_shr ? 5
                                                      : 7,
                             WMI_RAX);
        break;
    case WMI_IR_mulhi_u:
    case WMI_IR_mulhi_s:
        put_high_product(e, insn);
        break;
    case WMI_IR_eq:
    case WMI_IR_lt_s:
    case WMI_IR_lt_u:
        wmi_scalar_registers(&e->host, WMI_CMP, wide, WMI_RAX, WMI_RCX);
        wmi_set_if(&e->host,
                   insn->op == WMI_IR_eq     ? WMI_IF_EQUAL
                   : insn->op == WMI_IR_lt_u ? WMI_IF_BELOW
                                             : WMI_IF_LESS,
                   WMI_RAX);
        break;
    case WMI_IR_pair:
        wmi_shift_immediate(&e->host, 4, true, WMI_RCX, 32);
        wmi_scalar_registers(&e->host, WMI_OR, true, WMI_RAX, WMI_RCX);
        break;
    default:
        wmi_scalar_registers(&e->host, scalar_two[insn->op], wide, WMI_RAX, WMI_RCX);
    }
}

static void put_splat(struct wmi_emitter *e, const struct wmi_ir_insn *insn, unsigned number)
{
    const unsigned d = result(e, number);
    load_word(e, WMI_RAX, insn, 0);
    wmi_vex_128(&e->host, VMOVD_FROM, d, 0, wmi_zmm(WMI_RAX));
    wmi_vex_256(&e->host, WMI_VPBROADCASTD, d, 0, wmi_zmm(d));
    keep(e, number);
}

static void put_once(struct wmi_emitter *e, unsigned number)
{
    const struct wmi_ir_insn *insn = &e->ir->insn[number];
    const bool wide = insn->type == WMI_IR_DWORD;
    switch (insn->op) {
    case WMI_IR_const:
        wmi_move_immediate(&e->host, WMI_RAX, insn->immediate);
        break;
    case WMI_IR_load:
        wmi_scalar_memory(&e->host, WMI_MOV_LOAD, wide, WMI_RAX, WMI_FRAME, (int32_t)insn->immediate);
        break;
    case WMI_IR_put:
        load_word(e, WMI_RAX, insn, 0);
        wmi_scalar_memory(&e->host, WMI_MOV_STORE, wide, WMI_RAX, WMI_FRAME, (int32_t)insn->immediate);
        return;
    case WMI_IR_splat:
        put_splat(e, insn, number);
        return;
    case WMI_IR_low:
        load_word(e, WMI_RAX, insn, 0);
        wmi_scalar_registers(&e->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_RAX);
        break;
    case WMI_IR_high:
        load_word(e, WMI_RAX, insn, 0);
        wmi_shift_immediate(&e->host, 5, true, WMI_RAX, 32);
        break;
    case WMI_IR_not:
        load_word(e, WMI_RAX, insn, 0);
        wmi_scalar_registers(&e->host, ONE_OPERAND, wide, NOT, WMI_RAX);
        break;
    case WMI_IR_select:
        load_word(e, WMI_RAX, insn, 2);
        load_word(e, WMI_RCX, insn, 1);
        load_word(e, WMI_RDX, insn, 0);
        wmi_scalar_registers(&e->host, WMI_TEST, false, WMI_RDX, WMI_RDX);
        wmi_scalar_registers(&e->host, WMI_CMOV + WMI_IF_NOT_EQUAL, true, WMI_RAX, WMI_RCX);
        break;
    default:
        load_word(e, WMI_RAX, insn, 0);
        load_word(e, WMI_RCX, insn, 1);
        put_scalar_two(e, insn);
    }
    keep_word(e, number);
}

/* ---- lanes ---- */

static const uint32_t lanes_two[WMI_IR_OPS] = {
    [WMI_IR_add] = WMI_VPADDD, [WMI_IR_sub] = WMI_VPSUBD,  [WMI_IR_mul] = WMI_VPMULLD,
    [WMI_IR_and] = VPAND,      [WMI_IR_or] = VPOR,         [WMI_IR_xor] = VPXOR,
    [WMI_IR_min_s] = VPMINSD,  [WMI_IR_max_s] = VPMAXSD,   [WMI_IR_min_u] = VPMINUD,
    [WMI_IR_max_u] = VPMAXUD,  [WMI_IR_eq] = VPCMPEQD,     [WMI_IR_fadd] = WMI_VADDPS,
    [WMI_IR_fsub] = VSUBPS,    [WMI_IR_fmul] = WMI_VMULPS, [WMI_IR_fdiv] = VDIVPS,
};

static const int8_t float_predicates[WMI_IR_OPS] = {
    [WMI_IR_flt] = WMI_FLOAT_LESS,
    [WMI_IR_fle] = WMI_FLOAT_NOT_ABOVE,
};

static const int8_t roundings[WMI_IR_OPS] = {
    [WMI_IR_frint] = 8, [WMI_IR_ffloor] = 9, [WMI_IR_fceil] = 10, [WMI_IR_ftrunc] = 11};

static void put_ones(struct wmi_emitter *e, unsigned reg)
{
    wmi_vex_256(&e->host, VPCMPEQD, reg, reg, wmi_zmm(reg));
}

static void put_constant(struct wmi_emitter *e, unsigned reg, uint32_t value)
{
    wmi_move_immediate(&e->host, WMI_RAX, value);
    wmi_vex_128(&e->host, VMOVD_FROM, reg, 0, wmi_zmm(WMI_RAX));
    wmi_vex_256(&e->host, WMI_VPBROADCASTD, reg, 0, wmi_zmm(reg));
}

static void put_shift(struct wmi_emitter *e, const struct wmi_ir_insn *insn, unsigned d)
{
    const unsigned a = use(e, insn, 0, V_A);
    const bool left = insn->op == WMI_IR_shl, right = insn->op == WMI_IR_shr;
    uint64_t count;
    if (wmi_ir_is_constant(e->ir, insn->argument[1], &count)) {
        wmi_avx2_shift(&e->host, left ? WMI_LEFT : right ? WMI_RIGHT : WMI_RIGHT_SIGNED, d, a, count & 31);
        return;
    }
    /* the host does not take the count modulo 32 */
    wmi_avx2_shift(&e->host, WMI_LEFT, V_RESULT, use(e, insn, 1, V_A + 1), 27);
    wmi_avx2_shift(&e->host, WMI_RIGHT, V_RESULT, V_RESULT, 27);
    wmi_vex_256(&e->host, left ? WMI_VPSLLVD : right ? WMI_VPSRLVD : WMI_VPSRAVD, d, a, wmi_zmm(V_RESULT));
}

/* Of the even words, then of the odd ones. */
static void put_lanes_high_product(struct wmi_emitter *e, const struct wmi_ir_insn *insn, unsigned d)
{
    const uint32_t multiply = insn->op == WMI_IR_mulhi_s ? VPMULDQ : VPMULUDQ;
    const unsigned a = use(e, insn, 0, V_A), b = use(e, insn, 1, V_A + 1);
    wmi_vex_256(&e->host, multiply, V_RESULT, a, wmi_zmm(b));
    wmi_vex(&e->host, WMI_SHIFT_IMMEDIATE_64, LONG, WMI_RIGHT, V_A, wmi_zmm(a), 32);
    wmi_vex(&e->host, WMI_SHIFT_IMMEDIATE_64, LONG, WMI_RIGHT, V_A + 1, wmi_zmm(b), 32);
    wmi_vex_256(&e->host, multiply, V_A, V_A, wmi_zmm(V_A + 1));
    wmi_vex(&e->host, WMI_SHIFT_IMMEDIATE_64, LONG, WMI_RIGHT, V_RESULT, wmi_zmm(V_RESULT), 32);
    wmi_vex(&e->host, VPBLENDD, LONG, d, V_RESULT, wmi_zmm(V_A), 0xaa);
}

/* a < b: not max(a, b) = a. */
static void put_less_unsigned(struct wmi_emitter *e, const struct wmi_ir_insn *insn, unsigned d)
{
    const unsigned a = use(e, insn, 0, V_A);
    wmi_vex_256(&e->host, VPMAXUD, V_RESULT, a, operand(e, insn, 1));
    wmi_vex_256(&e->host, VPCMPEQD, V_RESULT, V_RESULT, wmi_zmm(a));
    put_ones(e, V_A + 2);
    wmi_vex_256(&e->host, VPXOR, d, V_RESULT, wmi_zmm(V_A + 2));
}

static void put_fused(struct wmi_emitter *e, const struct wmi_ir_insn *insn, unsigned d)
{
    const unsigned a = use(e, insn, 0, V_A), c = use(e, insn, 2, V_A + 2);
    const struct wmi_host_operand b = operand(e, insn, 1);
    const unsigned sum = d == a || (!b.in_memory && d == b.reg) ? V_RESULT : d;
    wmi_avx2_move(&e->host, sum, c);
    wmi_vex_256(&e->host, WMI_VFMADD231PS, sum, a, b);
    wmi_avx2_move(&e->host, d, sum);
}

/* The host gives the second operand if both are zero. */
static void put_extreme(struct wmi_emitter *e, const struct wmi_ir_insn *insn, unsigned d)
{
    const bool least = insn->op == WMI_IR_fmin;
    const unsigned a = use(e, insn, 0, V_A), b = use(e, insn, 1, V_A + 1);
    wmi_vex_256(&e->host, least ? WMI_VMINPS : WMI_VMAXPS, V_RESULT, a, wmi_zmm(b));
    wmi_vex_256(&e->host, least ? WMI_VMINPS : WMI_VMAXPS, V_A + 2, b, wmi_zmm(a));
    wmi_vex_256(&e->host, least ? VPOR : VPAND, d, V_RESULT, wmi_zmm(V_A + 2));
}

static void compare(struct wmi_emitter *e, unsigned d, unsigned a, struct wmi_host_operand b, int predicate)
{
    wmi_vex(&e->host, WMI_VCMPPS, LONG, d, a, b, predicate);
}

static void put_from_unsigned(struct wmi_emitter *e, const struct wmi_ir_insn *insn, unsigned d)
{
    const unsigned a = use(e, insn, 0, V_A);
    wmi_avx2_shift(&e->host, WMI_RIGHT, V_RESULT, a, 16);
    wmi_vex_256(&e->host, VCVTDQ2PS, V_RESULT, 0, wmi_zmm(V_RESULT));
    put_constant(e, V_A + 1, TWO_16);
    wmi_vex_256(&e->host, WMI_VMULPS, V_RESULT, V_RESULT, wmi_zmm(V_A + 1));
    wmi_avx2_shift(&e->host, WMI_LEFT, V_A, a, 16);
    wmi_avx2_shift(&e->host, WMI_RIGHT, V_A, V_A, 16);
    wmi_vex_256(&e->host, VCVTDQ2PS, V_A, 0, wmi_zmm(V_A));
    wmi_vex_256(&e->host, WMI_VADDPS, d, V_RESULT, wmi_zmm(V_A));
}

/* The host gives 1 << 31 for all that is out of range. */
static void put_to_signed(struct wmi_emitter *e, const struct wmi_ir_insn *insn, unsigned d)
{
    const unsigned a = use(e, insn, 0, V_A);
    put_constant(e, V_A + 1, TWO_31);
    wmi_vex_256(&e->host, VCVTTPS2DQ, V_RESULT, 0, wmi_zmm(a));
    compare(e, V_A + 2, V_A + 1, wmi_zmm(a), WMI_FLOAT_NOT_ABOVE);
    wmi_vex_256(&e->host, VPXOR, V_RESULT, V_RESULT, wmi_zmm(V_A + 2));
    compare(e, V_A + 2, a, wmi_zmm(a), WMI_FLOAT_EQUAL);
    wmi_vex_256(&e->host, VPAND, d, V_RESULT, wmi_zmm(V_A + 2));
}

static void put_to_unsigned(struct wmi_emitter *e, const struct wmi_ir_insn *insn, unsigned d)
{
    const unsigned a = use(e, insn, 0, V_A);
    wmi_avx2_clear(&e->host, V_A + 2);
    wmi_vex_256(&e->host, WMI_VMAXPS, V_RESULT, a, wmi_zmm(V_A + 2)); /* a NaN becomes 0 */
    put_constant(e, V_A + 1, TWO_32);
    compare(e, V_A, V_A + 1, wmi_zmm(V_RESULT), WMI_FLOAT_NOT_ABOVE);
    put_constant(e, V_A + 1, TWO_31);
    compare(e, V_A + 2, V_A + 1, wmi_zmm(V_RESULT), WMI_FLOAT_NOT_ABOVE);
    wmi_vex_256(&e->host, VPAND, V_A + 1, V_A + 1, wmi_zmm(V_A + 2));
    wmi_vex_256(&e->host, VSUBPS, V_RESULT, V_RESULT, wmi_zmm(V_A + 1));
    wmi_vex_256(&e->host, VCVTTPS2DQ, V_RESULT, 0, wmi_zmm(V_RESULT));
    wmi_avx2_shift(&e->host, WMI_LEFT, V_A + 2, V_A + 2, 31);
    wmi_vex_256(&e->host, VPXOR, V_RESULT, V_RESULT, wmi_zmm(V_A + 2));
    wmi_vex_256(&e->host, VPOR, d, V_RESULT, wmi_zmm(V_A));
}

static void put_lanes_of_bits(struct wmi_emitter *e, const struct wmi_ir_insn *insn, unsigned d)
{
    load_word(e, WMI_RAX, insn, 0);
    wmi_scalar_registers(&e->host, SHIFT, true, 5, WMI_RAX); /* by the first lane */
    wmi_vex_128(&e->host, VMOVD_FROM, V_RESULT, 0, wmi_zmm(WMI_RAX));
    wmi_vex_256(&e->host, WMI_VPBROADCASTD, V_RESULT, 0, wmi_zmm(V_RESULT));
    wmi_vex_256(&e->host, VPAND, V_RESULT, V_RESULT, wmi_zmm(V_BITS));
    wmi_vex_256(&e->host, VPCMPEQD, d, V_RESULT, wmi_zmm(V_BITS));
}

/* EAX = the bits of the set, without inactive lanes. */
static void put_bits(struct wmi_emitter *e, const struct wmi_ir_insn *insn, unsigned argument)
{
    unsigned set = use(e, insn, argument, V_RESULT);
    if (e->partial) {
        wmi_vex_256(&e->host, VPAND, V_RESULT, set, wmi_zmm(V_EXEC));
        set = V_RESULT;
    }
    wmi_vex_256(&e->host, VMOVMSKPS, WMI_RAX, 0, wmi_zmm(set));
}

static void put_mask(struct wmi_emitter *e, const struct wmi_ir_insn *insn)
{
    enum { STORE_8 = 0x88 };
    put_bits(e, insn, 0);
    wmi_scalar_memory(&e->host, STORE_8, false, WMI_RAX, BITS, (int32_t)insn->immediate);
}

static void put_row(struct wmi_emitter *e, const struct wmi_ir_insn *insn)
{
    const struct wmi_host_operand home = wmi_at(WMI_ROWS, (int32_t)insn->immediate);
    unsigned value = use(e, insn, 0, V_A);
    if (e->partial && insn->op == WMI_IR_put_row) {
        wmi_vex_256(&e->host, WMI_VMOVUPS_LOAD, V_RESULT, 0, home);
        wmi_avx2_blend(&e->host, V_RESULT, V_RESULT, wmi_zmm(value), V_EXEC);
        value = V_RESULT;
    }
    wmi_vex_256(&e->host, WMI_VMOVUPS_STORE, value, 0, home);
}

static void put_repair(struct wmi_emitter *e, const struct wmi_ir_insn *insn, unsigned number, unsigned d)
{
    put_bits(e, insn, 1);
    wmi_scalar_registers(&e->host, WMI_TEST, false, WMI_RAX, WMI_RAX);
    const unsigned value = use(e, insn, 0, V_A);
    struct wmi_stub *stub = &e->stubs[e->stub_count++];
    stub->insn = number;
    stub->from = wmi_jump_if(&e->host, WMI_IF_NOT_EQUAL);
    wmi_avx2_move(&e->host, d, value);
    stub->back = e->host.count;
}

static void put_in_loop(struct wmi_emitter *e, unsigned number)
{
    const struct wmi_ir_insn *insn = &e->ir->insn[number];
    const unsigned d = result(e, number);
    switch (insn->op) {
    case WMI_IR_row:
        wmi_vex_256(&e->host, WMI_VMOVUPS_LOAD, d, 0, wmi_at(WMI_ROWS, (int32_t)insn->immediate));
        break;
    case WMI_IR_put_row:
    case WMI_IR_put_all:
        put_row(e, insn);
        return;
    case WMI_IR_put_mask:
        put_mask(e, insn);
        return;
    case WMI_IR_lanes:
        put_lanes_of_bits(e, insn, d);
        break;
    case WMI_IR_ones:
        wmi_avx2_move(&e->host, d, use(e, insn, 0, V_A));
        break;
    case WMI_IR_not:
        put_ones(e, V_RESULT);
        wmi_vex_256(&e->host, VPXOR, d, V_RESULT, operand(e, insn, 0));
        break;
    case WMI_IR_shl:
    case WMI_IR_shr:
    case WMI_IR_sar:
        put_shift(e, insn, d);
        break;
    case WMI_IR_mulhi_u:
    case WMI_IR_mulhi_s:
        put_lanes_high_product(e, insn, d);
        break;
    case WMI_IR_lt_s:
        wmi_vex_256(&e->host, VPCMPGTD, d, use(e, insn, 1, V_A), operand(e, insn, 0));
        break;
    case WMI_IR_lt_u:
        put_less_unsigned(e, insn, d);
        break;
    case WMI_IR_select:
        wmi_avx2_blend(&e->host, d, use(e, insn, 2, V_A), operand(e, insn, 1), use(e, insn, 0, V_A + 1));
        break;
    case WMI_IR_fma:
        put_fused(e, insn, d);
        break;
    case WMI_IR_fmin:
    case WMI_IR_fmax:
        put_extreme(e, insn, d);
        break;
    case WMI_IR_frint:
    case WMI_IR_ffloor:
    case WMI_IR_fceil:
    case WMI_IR_ftrunc:
        wmi_vex(&e->host, VROUNDPS, LONG, d, 0, operand(e, insn, 0), roundings[insn->op]);
        break;
    case WMI_IR_feq:
    case WMI_IR_flt:
    case WMI_IR_fle:
        compare(e, d, use(e, insn, 0, V_A), operand(e, insn, 1), float_predicates[insn->op]);
        break;
    case WMI_IR_fsqrt:
        wmi_vex_256(&e->host, VSQRTPS, d, 0, operand(e, insn, 0));
        break;
    case WMI_IR_i2f:
        wmi_vex_256(&e->host, VCVTDQ2PS, d, 0, operand(e, insn, 0));
        break;
    case WMI_IR_u2f:
        put_from_unsigned(e, insn, d);
        break;
    case WMI_IR_f2i:
        put_to_signed(e, insn, d);
        break;
    case WMI_IR_f2u:
        put_to_unsigned(e, insn, d);
        break;
    case WMI_IR_repair:
        put_repair(e, insn, number, d);
        break;
    default:
        wmi_vex_256(&e->host, lanes_two[insn->op], d, use(e, insn, 0, V_A), operand(e, insn, 1));
    }
    keep(e, number);
}

/* ---- the loop ---- */

static void before_loops(struct wmi_emitter *e, bool needs_bits)
{
    if (!needs_bits)
        return;
    wmi_move_immediate(&e->host, WMI_RAX, 0x8040201008040201);
    wmi_vex_128(&e->host, VMOVQ_FROM, V_BITS, 0, wmi_zmm(WMI_RAX));
    wmi_vex_256(&e->host, VPMOVZXBD, V_BITS, 0, wmi_zmm(V_BITS));
}

static size_t begin_loop(struct wmi_emitter *e)
{
    enum { EXEC_ROW = offsetof(struct wmi_frame, exec) + offsetof(struct wmi_lanes, row) };
    wmi_scalar_registers(&e->host, WMI_MOV_LOAD, true, WMI_ROWS, WMI_FRAME);
    wmi_scalar_registers(&e->host, WMI_MOV_LOAD, true, BITS, WMI_FRAME);
    wmi_move_immediate(&e->host, LANE, 0);
    const size_t top = e->host.count;
    if (e->partial)
        wmi_vex_256(&e->host, WMI_VMOVUPS_LOAD, V_EXEC, 0, wmi_at(WMI_ROWS, EXEC_ROW));
    return top;
}

static void end_loop(struct wmi_emitter *e, size_t top)
{
    enum { ADD = 0, CMP = 7 };
    wmi_arithmetic_immediate(&e->host, ADD, true, WMI_ROWS, CHUNK_BYTES);
    wmi_arithmetic_immediate(&e->host, ADD, true, BITS, 1);
    wmi_arithmetic_immediate(&e->host, ADD, false, LANE, CHUNK);
    wmi_arithmetic_immediate(&e->host, CMP, false, LANE, (int32_t)e->block->code->options.lanes);
    wmi_jump_back_if(&e->host, WMI_IF_BELOW, top);
}

static size_t branch_if_partial(struct wmi_emitter *e)
{
    enum { EXEC_FULL = offsetof(struct wmi_frame, exec) + offsetof(struct wmi_lanes, full), CMP = 7 };
    wmi_arithmetic_memory(&e->host, CMP, true, WMI_FRAME, EXEC_FULL, 0);
    return wmi_jump_if(&e->host, WMI_IF_EQUAL);
}

static size_t branch_if_slice_ends(struct wmi_emitter *e, uint32_t instructions)
{
    enum { SUB = 5, CMP = 7 };
    const int32_t left = offsetof(struct wmi_frame, left);
    wmi_arithmetic_memory(&e->host, CMP, true, WMI_FRAME, left, (int32_t)instructions);
    const size_t from = wmi_jump_if(&e->host, WMI_IF_LESS);
    wmi_arithmetic_memory(&e->host, SUB, true, WMI_FRAME, left, (int32_t)instructions);
    return from;
}

static size_t branch_if_zero(struct wmi_emitter *e, uint32_t place, bool wide, bool zero)
{
    enum { CMP = 7 };
    wmi_arithmetic_memory(&e->host, CMP, wide, WMI_FRAME, (int32_t)place, 0);
    return wmi_jump_if(&e->host, zero ? WMI_IF_EQUAL : WMI_IF_NOT_EQUAL);
}

static size_t branch(struct wmi_emitter *e)
{
    return wmi_jump(&e->host);
}

static void land(struct wmi_emitter *e, size_t from)
{
    wmi_land(&e->host, from);
}

/* ---- repairs ---- */

static void put_stub(struct wmi_emitter *e, const struct wmi_stub *stub)
{
    const struct wmi_ir_insn *insn = &e->ir->insn[stub->insn];
    wmi_land(&e->host, stub->from);
    for (unsigned i = 0; i < 3; i++)
        wmi_vex_256(&e->host, WMI_VMOVUPS_STORE, use(e, insn, 2 + i, V_A), 0,
                    wmi_at(WMI_ROWS, (int32_t)wmi_emit_repair_row(e, i)));
    const size_t record = wmi_code_address(&e->host, WMI_RAX);
    wmi_call_back(&e->host, e->save);
    wmi_vex_256(&e->host, WMI_VMOVUPS_LOAD, result(e, stub->insn), 0,
                wmi_at(WMI_ROWS, (int32_t)wmi_emit_repair_row(e, 3)));
    wmi_jump_back(&e->host, stub->back);
    while (e->host.count % 8 && !e->host.full)
        wmi_put_8(&e->host, 0);
    wmi_land(&e->host, record);
    wmi_emit_records(e, insn->immediate);
}

/* Executes the step at RAX. Keeps all registers but RAX and those for arguments and results. */
static void put_save(struct wmi_emitter *e)
{
    enum { KEPT = V_EXEC + 1, AND = 4, SUB = 5, BYTES = KEPT * CHUNK_BYTES + 8 * 8 };
    static const uint8_t words[] = {WMI_RDI, WMI_RSI, WMI_RDX, WMI_RCX, WMI_R8, WMI_R9, WMI_R10, WMI_R11};
    e->save = e->host.count;
    wmi_push(&e->host, WMI_RBP);
    wmi_scalar_registers(&e->host, WMI_MOV_LOAD, true, WMI_RBP, WMI_RSP);
    wmi_arithmetic_immediate(&e->host, SUB, true, WMI_RSP, BYTES);
    wmi_arithmetic_immediate(&e->host, AND, true, WMI_RSP, -CHUNK_BYTES);
    for (unsigned restores = 0; restores < 2; restores++) {
        for (unsigned i = 0; i < KEPT; i++)
            wmi_vex_256(&e->host, restores ? WMI_VMOVUPS_LOAD : WMI_VMOVUPS_STORE, i, 0,
                        wmi_at(WMI_RSP, (int32_t)i * CHUNK_BYTES));
        for (unsigned i = 0; i < sizeof words; i++)
            wmi_scalar_memory(&e->host, restores ? WMI_MOV_LOAD : WMI_MOV_STORE, true, words[i], WMI_RSP,
                              (int32_t)(KEPT * CHUNK_BYTES + 8 * i));
        if (!restores) {
            wmi_scalar_registers(&e->host, WMI_MOV_LOAD, true, WMI_OP, WMI_RAX);
            wmi_scalar_memory(&e->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_OP, offsetof(struct wmi_op, body));
            wmi_end_vectors(&e->host);
            wmi_call_register(&e->host, WMI_RAX);
        }
    }
    wmi_scalar_registers(&e->host, WMI_MOV_LOAD, true, WMI_RSP, WMI_RBP);
    wmi_pop(&e->host, WMI_RBP);
    wmi_return(&e->host);
}

/* ---- parts ---- */

static void enter(struct wmi_emitter *e, const struct wmi_op *op)
{
    enum { CMP = 7 };
    wmi_arithmetic_memory(&e->host, CMP, false, WMI_FRAME, offsetof(struct wmi_frame, mode),
                          (int32_t)e->block->mode.mode);
    const size_t same = wmi_jump_if(&e->host, WMI_IF_EQUAL);
    wmi_move_immediate(&e->host, WMI_RAX, (uintptr_t)op->body);
    wmi_jump_register(&e->host, WMI_RAX);
    wmi_land(&e->host, same);
}

static void leave(struct wmi_emitter *e, const struct wmi_op *op)
{
    wmi_end_vectors(&e->host);
#ifdef WMI_STEPS_RETURN
    wmi_move_immediate(&e->host, WMI_RAX, (uintptr_t)op);
    wmi_return(&e->host);
#else
    wmi_move_immediate(&e->host, WMI_OP, (uintptr_t)op);
    wmi_jump_memory(&e->host, WMI_OP, offsetof(struct wmi_op, body));
#endif
}

static void open(struct wmi_emitter *e, unsigned slots, bool calls)
{
    enum { SUB = 5 };
    (void)calls;
    if (slots)
        wmi_arithmetic_immediate(&e->host, SUB, true, WMI_RSP, (int32_t)slots * SLOT_BYTES);
}

static void close(struct wmi_emitter *e, unsigned slots, bool calls)
{
    enum { ADD = 0 };
    (void)calls;
    if (slots)
        wmi_arithmetic_immediate(&e->host, ADD, true, WMI_RSP, (int32_t)slots * SLOT_BYTES);
}

#define LACKS(op) (UINT64_C(1) << WMI_IR_##op)

const struct wmi_ir_host wmi_ir_avx2 = {
    .file =
        {
            .words = 0xf00, /* r8 to r11 */
            .lanes = 0x3ff,
            .takes = takes,
        },
    .lacks = LACKS(clz) | LACKS(popcount) | LACKS(bitrev),
    .begin = put_save,
    .enter = enter,
    .leave = leave,
    .open = open,
    .close = close,
    .once = put_once,
    .in_loop = put_in_loop,
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
