/* SPDX-License-Identifier: MIT */
/* Lowers control flow and instructions that change machine state: SOPP and its kin. */
#include "isa/decode/msb.h"
#include "lower/builder.h"
#include "lower/classes.h"
#include "lower/flow.h"
#include "wavemem/wavemem.h"

enum control {
    CONTROL_NONE, /* not executed */
    CONTROL_NOTHING,
    CONTROL_BRANCH,
    CONTROL_CONDITIONAL,
    CONTROL_END,
    CONTROL_STEP, /* a step that ends nothing and counts */
    CONTROL_GET_PC,
    CONTROL_SET_PC,
    CONTROL_SWAP_PC,
    CONTROL_CALL,
    CONTROL_GET_REGISTER,
    CONTROL_SET_REGISTER,
    CONTROL_MOVE_RELATIVE,
    CONTROL_TRAP,
    CONTROL_ILLEGAL,
    CONTROL_HALT,
    CONTROL_KILL,
    CONTROL_MESSAGE,
    CONTROL_INDEX,
    CONTROL_VSKIP,
    CONTROL_FORK,
    CONTROL_JOIN,
    CONTROL_HALVES,
    CONTROL_SIGNAL,
    CONTROL_ANSWER,
    CONTROL_MODE,
    CONTROL_MSB,
    CONTROL_ADD_PC,
    CONTROL_CLOCK,
};

static const struct {
    enum control control;
    enum wmi_step_id step;
} controls[WMI_INSN_COUNT] = {
    [WMI_INSN_s_nop] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_waitcnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_waitcnt_vscnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_waitcnt_vmcnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_waitcnt_expcnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_waitcnt_lgkmcnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_waitcnt_depctr] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_wait_idle] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_wait_event] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_wait_loadcnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_wait_storecnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_wait_samplecnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_wait_bvhcnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_wait_expcnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_wait_dscnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_wait_kmcnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_wait_loadcnt_dscnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_wait_storecnt_dscnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_wait_xcnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_wait_asynccnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_wait_tensorcnt] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_clause] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_delay_alu] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_inst_prefetch] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_singleuse_vdst] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_version] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_ttracedata_imm] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_sethalt] = {CONTROL_HALT, WMI_STEP_fault},
    [WMI_INSN_s_setkill] = {CONTROL_KILL, WMI_STEP_end},
    [WMI_INSN_s_setprio] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_setprio_inc_wg] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_sendmsg] = {CONTROL_MESSAGE, WMI_STEP_answer_doorbell}, /* nobody listens to others */
    [WMI_INSN_s_sendmsghalt] = {CONTROL_TRAP, WMI_STEP_fault},
    [WMI_INSN_s_icache_inv] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_incperflevel] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_decperflevel] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_ttracedata] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_wakeup] = {CONTROL_NOTHING, WMI_STEP_NONE},
    /* the conditional debug bits are never set */
    [WMI_INSN_s_cbranch_cdbgsys] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_cbranch_cdbguser] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_cbranch_cdbgsys_or_user] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_cbranch_cdbgsys_and_user] = {CONTROL_NOTHING, WMI_STEP_NONE},
    [WMI_INSN_s_branch] = {CONTROL_BRANCH, WMI_STEP_branch},
    [WMI_INSN_s_cbranch_scc0] = {CONTROL_CONDITIONAL, WMI_STEP_branch_scc0},
    [WMI_INSN_s_cbranch_scc1] = {CONTROL_CONDITIONAL, WMI_STEP_branch_scc1},
    [WMI_INSN_s_cbranch_vccz] = {CONTROL_CONDITIONAL, WMI_STEP_branch_vccz},
    [WMI_INSN_s_cbranch_vccnz] = {CONTROL_CONDITIONAL, WMI_STEP_branch_vccnz},
    [WMI_INSN_s_cbranch_execz] = {CONTROL_CONDITIONAL, WMI_STEP_branch_execz},
    [WMI_INSN_s_cbranch_execnz] = {CONTROL_CONDITIONAL, WMI_STEP_branch_execnz},
    [WMI_INSN_s_endpgm] = {CONTROL_END, WMI_STEP_end},
    [WMI_INSN_s_endpgm_saved] = {CONTROL_END, WMI_STEP_end},
    [WMI_INSN_s_endpgm_ordered_ps_done] = {CONTROL_END, WMI_STEP_end},
    [WMI_INSN_s_barrier] = {CONTROL_STEP, WMI_STEP_barrier},
    [WMI_INSN_s_barrier_wait] = {CONTROL_STEP, WMI_STEP_barrier_wait},
    [WMI_INSN_s_barrier_signal] = {CONTROL_SIGNAL, WMI_STEP_barrier_signal},
    [WMI_INSN_s_barrier_signal_isfirst] = {CONTROL_SIGNAL, WMI_STEP_barrier_signal_is_first},
    [WMI_INSN_s_barrier_init] = {CONTROL_SIGNAL, WMI_STEP_barrier_init},
    [WMI_INSN_s_barrier_join] = {CONTROL_SIGNAL, WMI_STEP_barrier_join},
    [WMI_INSN_s_get_barrier_state] = {CONTROL_SIGNAL, WMI_STEP_barrier_state},
    [WMI_INSN_s_barrier_leave] = {CONTROL_SIGNAL, WMI_STEP_barrier_leave},
    [WMI_INSN_s_wakeup_barrier] = {CONTROL_NOTHING, WMI_STEP_NONE}, /* waves that sleep only yield */
    [WMI_INSN_s_sleep] = {CONTROL_STEP, WMI_STEP_sleep},
    [WMI_INSN_s_sleep_var] = {CONTROL_STEP, WMI_STEP_sleep},
    [WMI_INSN_s_monitor_sleep] = {CONTROL_STEP, WMI_STEP_sleep}, /* it may wake up at any time */
    [WMI_INSN_s_trap] = {CONTROL_TRAP, WMI_STEP_fault},
    [WMI_INSN_v_illegal] = {CONTROL_ILLEGAL, WMI_STEP_fault},
    [WMI_INSN_s_code_end] = {CONTROL_ILLEGAL, WMI_STEP_fault},
    [WMI_INSN_s_getpc_b64] = {CONTROL_GET_PC, WMI_STEP_constant},
    [WMI_INSN_s_setpc_b64] = {CONTROL_SET_PC, WMI_STEP_set_pc},
    [WMI_INSN_s_swappc_b64] = {CONTROL_SWAP_PC, WMI_STEP_swap_pc},
    [WMI_INSN_s_call_b64] = {CONTROL_CALL, WMI_STEP_branch},
    [WMI_INSN_s_getreg_b32] = {CONTROL_GET_REGISTER, WMI_STEP_get_register},
    [WMI_INSN_s_setreg_b32] = {CONTROL_SET_REGISTER, WMI_STEP_set_register},
    [WMI_INSN_s_movrels_b32] = {CONTROL_MOVE_RELATIVE, WMI_STEP_move_relative_source},
    [WMI_INSN_s_movrels_b64] = {CONTROL_MOVE_RELATIVE, WMI_STEP_move_relative_source},
    [WMI_INSN_s_movreld_b32] = {CONTROL_MOVE_RELATIVE, WMI_STEP_move_relative_destination},
    [WMI_INSN_s_movreld_b64] = {CONTROL_MOVE_RELATIVE, WMI_STEP_move_relative_destination},
    [WMI_INSN_s_movrelsd_2_b32] = {CONTROL_MOVE_RELATIVE, WMI_STEP_move_relative_both},
    [WMI_INSN_s_set_gpr_idx_on] = {CONTROL_INDEX, WMI_STEP_index_on},
    [WMI_INSN_s_set_gpr_idx_off] = {CONTROL_INDEX, WMI_STEP_index_off},
    [WMI_INSN_s_set_gpr_idx_idx] = {CONTROL_INDEX, WMI_STEP_index_value},
    [WMI_INSN_s_set_gpr_idx_mode] = {CONTROL_INDEX, WMI_STEP_index_operands},
    [WMI_INSN_s_setvskip] = {CONTROL_VSKIP, WMI_STEP_set_vskip},
    [WMI_INSN_s_cbranch_g_fork] = {CONTROL_FORK, WMI_STEP_fork},
    [WMI_INSN_s_cbranch_i_fork] = {CONTROL_FORK, WMI_STEP_fork},
    [WMI_INSN_s_cbranch_join] = {CONTROL_JOIN, WMI_STEP_join},
    [WMI_INSN_s_subvector_loop_begin] = {CONTROL_HALVES, WMI_STEP_begin_halves},
    [WMI_INSN_s_subvector_loop_end] = {CONTROL_HALVES, WMI_STEP_end_halves},
    [WMI_INSN_s_round_mode] = {CONTROL_MODE, WMI_STEP_set_mode_bits},
    [WMI_INSN_s_denorm_mode] = {CONTROL_MODE, WMI_STEP_set_mode_bits},
    [WMI_INSN_s_sendmsg_rtn_b32] = {CONTROL_ANSWER, WMI_STEP_answer_clock},
    [WMI_INSN_s_sendmsg_rtn_b64] = {CONTROL_ANSWER, WMI_STEP_answer_clock},
    /* There is no trap handler to come back from: they only jump (unverified). */
    [WMI_INSN_s_rfe_b64] = {CONTROL_SET_PC, WMI_STEP_set_pc},
    [WMI_INSN_s_rfe_restore_b64] = {CONTROL_SET_PC, WMI_STEP_set_pc},
    [WMI_INSN_s_setreg_imm32_b32] = {CONTROL_SET_REGISTER, WMI_STEP_set_register},
    [WMI_INSN_s_set_vgpr_msb] = {CONTROL_MSB, WMI_STEP_NONE},
    [WMI_INSN_s_add_pc_i64] = {CONTROL_ADD_PC, WMI_STEP_set_pc},
    [WMI_INSN_s_get_shader_cycles_u64] = {CONTROL_CLOCK, WMI_STEP_scalar_clock},
};

static int64_t immediate(const struct wmi_instruction *insn, enum wmi_role role)
{
    const struct wmi_operand *operand = wmi_operand(insn, role);
    return operand ? (int64_t)operand->value : 0;
}

/* The bits of MODE that an s_setreg or s_getreg is about. SIMM16 is register [5:0], first bit [10:6], bits -
 * 1 [15:11]; MODE is register 1. */
static uint32_t bits_of_mode(const struct wmi_instruction *insn)
{
    enum { MODE = 1 };
    const uint32_t simm16 = (uint32_t)immediate(insn, WMI_ROLE_IMM), first = simm16 >> 6 & 31;
    const uint64_t bits = ((UINT64_C(2) << (simm16 >> 11 & 31)) - 1) << first;
    return (simm16 & 63) == MODE ? (uint32_t)bits : 0;
}

/* An s_add_pc_i64 whose distance is a constant: a branch. */
static bool is_plain_add(const struct wmi_instruction *insn)
{
    const struct wmi_operand *a = wmi_operand(insn, WMI_ROLE_A);
    return (a->kind == WMI_OPERAND_CONSTANT || a->kind == WMI_OPERAND_LITERAL) && a->value % 4 == 0;
}

/* The barrier of s_barrier_wait. */
static int16_t waited_for(const struct wmi_instruction *insn)
{
    return (int16_t)immediate(insn, WMI_ROLE_IMM);
}

static bool is_m0(const struct wmi_operand *operand)
{
    return operand && operand->kind == WMI_OPERAND_SPECIAL && operand->reg == WMI_SPECIAL_M0;
}

/* What an instruction with an immediate does may hang on it. */
static enum control control_of(const struct wmi_instruction *insn)
{
    enum { TRAP_DEBUG = 3, HALT = 1, KILL = 1, MESSAGE = 15, GET_DOORBELL = 10 };
    const enum control control = controls[insn->id].control;
    const struct wmi_operand *a = wmi_operand(insn, WMI_ROLE_A);
    if (insn->id == WMI_INSN_s_barrier_wait && waited_for(insn) <= 0 &&
        waited_for(insn) != WM_BARRIER_WORKGROUP && waited_for(insn) != WM_BARRIER_CLUSTER)
        return CONTROL_NOTHING; /* none, or one that a shader cannot wait for */
    switch (control) {
    case CONTROL_TRAP: /* Source: LLVM AMDGPUUsage, "Trap Handler ABI": without a debugger 3 does nothing */
        return insn->id == WMI_INSN_s_trap && immediate(insn, WMI_ROLE_IMM) == TRAP_DEBUG ? CONTROL_NOTHING
                                                                                          : control;
    case CONTROL_ADD_PC:
        return is_plain_add(insn) ? CONTROL_BRANCH : control;
    case CONTROL_HALT: /* nobody is there to wake the wave up: as a trap */
        return immediate(insn, WMI_ROLE_IMM) & HALT ? CONTROL_TRAP : CONTROL_NOTHING;
    case CONTROL_KILL:
        return immediate(insn, WMI_ROLE_IMM) & KILL ? CONTROL_END : CONTROL_NOTHING;
    case CONTROL_MESSAGE:
        return (immediate(insn, WMI_ROLE_IMM) & MESSAGE) == GET_DOORBELL ? control : CONTROL_NOTHING;
    case CONTROL_SIGNAL: /* what other registers would mean is unknown */
        return is_m0(a) || !a || a->kind == WMI_OPERAND_CONSTANT ? control : CONTROL_NONE;
    default:
        return control;
    }
}

struct wmi_flow wmi_control_flow(const struct wmi_instruction *insn)
{
    switch (controls[insn->id].control) {
    case CONTROL_ADD_PC:
        if (is_plain_add(insn))
            return (struct wmi_flow){
                .branches = true, .ends = true, .distance = immediate(insn, WMI_ROLE_A) / 4};
        return (struct wmi_flow){.ends = true, .computed = true};
    case CONTROL_MSB: /* the upper half of the operand is for debuggers */
        return (struct wmi_flow){.sets_msb = true, .msb = (uint8_t)immediate(insn, WMI_ROLE_IMM)};
    case CONTROL_BRANCH:
        return (struct wmi_flow){.branches = true, .ends = true, .distance = immediate(insn, WMI_ROLE_IMM)};
    case CONTROL_CONDITIONAL:
        return (struct wmi_flow){.branches = true, .distance = immediate(insn, WMI_ROLE_IMM)};
    case CONTROL_CALL:
        return (struct wmi_flow){.branches = true, .calls = true, .distance = immediate(insn, WMI_ROLE_IMM)};
    case CONTROL_SWAP_PC:
        return (struct wmi_flow){.computed = true, .calls = true};
    case CONTROL_HALVES:
    case CONTROL_FORK: {
        const bool direct = wmi_operand(insn, WMI_ROLE_IMM) != NULL;
        return (struct wmi_flow){
            .branches = direct, .computed = !direct, .distance = immediate(insn, WMI_ROLE_IMM)};
    }
    case CONTROL_INDEX:
        return (struct wmi_flow){
            .sets = insn->id == WMI_INSN_s_set_gpr_idx_on ? WMI_STATE_GPR_INDEX : 0,
            .clears = insn->id == WMI_INSN_s_set_gpr_idx_off ? WMI_STATE_GPR_INDEX : 0,
        };
    case CONTROL_SET_PC:
        return (struct wmi_flow){.ends = true, .computed = true};
    case CONTROL_END:
    case CONTROL_TRAP:
    case CONTROL_ILLEGAL:
        return (struct wmi_flow){.ends = true};
    default:
        return (struct wmi_flow){0};
    }
}

/* On to the address in the scalar at `place`. */
static void emit_jump(struct wmi_builder *b, uint32_t place)
{
    struct wmi_step *step = wmi_emit_counting(b, WMI_STEP_set_pc);
    step->a = place;
    step->y = b->msb;
    b->ended = true;
}

/* The same, when EXEC has become what the step before left in s[126:127]. */
static void emit_exec_and_jump(struct wmi_builder *b, uint32_t place)
{
    wmi_emit_exec(b);
    emit_jump(b, place);
}

/* On behind the instruction, in whatever state it left. */
static void emit_enter_state(struct wmi_builder *b)
{
    wmi_emit_counting(b, WMI_STEP_enter_state)->value = b->next_pc;
    b->ended = true;
}

/* A control instruction that is being lowered. */
struct lowering {
    struct wmi_builder *b;
    const struct wmi_instruction *insn;
    enum control control;
    enum wmi_step_id id;
    uint32_t place, source; /* of D and A in the scalar file; 0 without them */
    uint64_t target;        /* of a branch */
};

/* Reads of MODE get the upper bits of VGPR numbers, which no register of the frame holds. */
static void add_msb(const struct lowering *l)
{
    const uint32_t simm16 = (uint32_t)immediate(l->insn, WMI_ROLE_IMM), bits = bits_of_mode(l->insn);
    const uint32_t msb = (wmi_msb_to_mode(l->b->msb) << WMI_MODE_MSB_SHIFT & bits) >> (simm16 >> 6 & 31);
    if (!msb)
        return;
    const uint32_t constant = wmi_lower_scalar_constant(l->b, msb);
    struct wmi_step *step = wmi_emit(l->b, wmi_step_of_body(WMI_INSN_s_or_b32));
    step->d = step->a = l->place;
    step->b = constant;
    step->use[WMI_OP_D] = WMI_USE_WRITE | WMI_USE_WORDS | 1;
    step->use[WMI_OP_A] = step->use[WMI_OP_B] = WMI_USE_READ | WMI_USE_WORDS | 1;
}

/* What s_setreg changes in MODE if nothing that code could notice hangs on it: permission for prefetches, the
 * replay of memory instructions, and the like. Compilers set them at the start of a kernel. */
static bool changes_nothing(const struct lowering *l)
{
    enum { UNNOTICED = 0xf << 24 };
    const uint32_t bits = bits_of_mode(l->insn);
    return wmi_builder_limit(l->b, WMI_LIMIT_vgpr_msb) && bits && !(bits & ~(uint32_t)UNNOTICED);
}

/* Hardware registers. An s_setreg may change the state that the code behind it is lowered for. */
static void lower_register(const struct lowering *l)
{
    struct wmi_builder *b = l->b;
    const bool has_msb = wmi_builder_limit(b, WMI_LIMIT_vgpr_msb), sets = l->control == CONTROL_SET_REGISTER;
    if (sets && changes_nothing(l))
        return;
    const uint32_t written = l->insn->id == WMI_INSN_s_setreg_imm32_b32
                                 ? wmi_lower_scalar_constant(b, (uint32_t)immediate(l->insn, WMI_ROLE_IMM2))
                                 : l->source;
    struct wmi_step *step = wmi_emit(b, l->id);
    step->d = l->place;
    step->a = written;
    step->x = (uint32_t)immediate(l->insn, WMI_ROLE_IMM);
    step->y = wmi_builder_limit(b, WMI_LIMIT_hardware_registers);
    step->value = b->pc;
    if (has_msb && !sets) {
        add_msb(l);
    } else if (has_msb && bits_of_mode(l->insn) & WMI_MODE_MSB) {
        step = wmi_emit_counting(b, WMI_STEP_enter_msb);
        step->a = written;
        step->x = bits_of_mode(l->insn);
        step->y = b->msb | ((uint32_t)immediate(l->insn, WMI_ROLE_IMM) >> 6 & 31) << 8;
        step->value = b->next_pc;
        b->ended = true;
    } else if (sets && bits_of_mode(l->insn) & WMI_MODE_STATE) {
        emit_enter_state(b);
    }
}

/* s_add_pc_i64 by a register. */
static void lower_add_pc(const struct lowering *l)
{
    const uint32_t sum = wmi_lower_temporary_scalar(l->b),
                   next = wmi_lower_scalar_constant(l->b, l->b->next_pc);
    struct wmi_step *step = wmi_emit(l->b, wmi_step_of_body(WMI_INSN_s_add_nc_u64));
    step->d = sum;
    step->a = l->source;
    step->b = next;
    step->use[WMI_OP_D] = WMI_USE_WRITE | WMI_USE_WORDS | 2;
    step->use[WMI_OP_A] = step->use[WMI_OP_B] = WMI_USE_READ | WMI_USE_WORDS | 2;
    emit_jump(l->b, sum);
}

static void lower_vskip(const struct lowering *l)
{
    const uint32_t bit = wmi_lower_scalar(l->b, wmi_operand(l->insn, WMI_ROLE_B));
    struct wmi_step *step = wmi_emit(l->b, l->id);
    step->a = l->source;
    step->b = bit;
    emit_enter_state(l->b);
}

/* Forks, joins and halves of a wave: a step finds out where to go on. */
static void lower_divergence(const struct lowering *l)
{
    struct wmi_builder *b = l->b;
    const struct wmi_operand *address =
        l->control == CONTROL_HALVES ? NULL : wmi_operand(l->insn, WMI_ROLE_B);
    const uint32_t to = address ? wmi_lower_scalar(b, address) : wmi_lower_scalar_constant(b, l->target);
    const uint32_t next = wmi_lower_temporary_scalar(b);
    struct wmi_step *step = wmi_emit(b, l->id);
    step->d = next;
    step->a = l->control == CONTROL_HALVES ? l->place : l->source;
    step->b = to;
    step->value = b->next_pc;
    emit_exec_and_jump(b, next);
}

/* s_round_mode and s_denorm_mode. */
static void lower_mode(const struct lowering *l)
{
    enum { MODE_DENORMALS = 4 };
    struct wmi_step *step = wmi_emit(l->b, l->id);
    step->x = l->insn->id == WMI_INSN_s_denorm_mode ? MODE_DENORMALS : 0;
    step->y = (uint32_t)immediate(l->insn, WMI_ROLE_IMM);
    step->value = l->b->pc;
}

/* s_sendmsg_rtn: of all that can be asked only the clock is not 0. */
static void lower_answer(const struct lowering *l)
{
    enum { GET_REALTIME = 0x83, GET_CLUSTER_BARRIER_STATE = 0x88 };
    const unsigned dwords = wmi_operand(l->insn, WMI_ROLE_D)->dwords;
    const uint32_t zero = wmi_lower_scalar_constant(l->b, 0);
    const bool clock = immediate(l->insn, WMI_ROLE_A) == GET_REALTIME;
    struct wmi_step *step = wmi_emit(l->b, clock ? l->id : dwords == 2 ? WMI_STEP_copy_64 : WMI_STEP_copy_32);
    step->d = l->place;
    step->a = zero;
    step->y = 4 * dwords;
    if (immediate(l->insn, WMI_ROLE_A) != GET_CLUSTER_BARRIER_STATE)
        return;
    step = wmi_emit(l->b, WMI_STEP_barrier_state);
    step->d = l->place;
    step->x = (uint32_t)WM_BARRIER_CLUSTER;
}

static void lower_relative_move(const struct lowering *l)
{
    struct wmi_step *step = wmi_emit(l->b, l->id);
    step->d = l->place;
    step->a = l->source;
    step->x = wmi_operand(l->insn, WMI_ROLE_D)->dwords;
    step->y = wmi_builder_limit(l->b, WMI_LIMIT_sgprs);
}

/* s_swappc that leaves the return address in EXEC: the jump comes last. */
static void lower_swap_with_exec(const struct lowering *l)
{
    const uint32_t next = wmi_lower_temporary_scalar(l->b);
    struct wmi_step *step = wmi_emit(l->b, WMI_STEP_copy_64);
    step->d = next;
    step->a = l->source;
    wmi_emit_constant(l->b, l->place, l->b->next_pc);
    emit_exec_and_jump(l->b, next);
}

/* enum wmi_trap of s_trap, s_sethalt and s_sendmsghalt. */
static uint32_t trap_of(const struct wmi_instruction *insn)
{
    const uint32_t number = (uint32_t)immediate(insn, WMI_ROLE_IMM) & 255;
    if (insn->id != WMI_INSN_s_trap)
        return WMI_TRAP_HALT;
    return number < WMI_TRAP_RESERVED ? number : WMI_TRAP_RESERVED;
}

/* What is one step that counts, and may end the block. */
static void lower_flow(const struct lowering *l)
{
    struct wmi_builder *b = l->b;
    struct wmi_step *step = wmi_emit_counting(b, l->id);
    step->d = l->place;
    step->a = l->source;
    step->value = l->control == CONTROL_SWAP_PC ? b->next_pc : b->pc;
    switch (l->control) {
    case CONTROL_SET_PC:
    case CONTROL_SWAP_PC:
        step->y = b->msb;
        break;
    case CONTROL_BRANCH:
    case CONTROL_CALL:
    case CONTROL_CONDITIONAL:
        wmi_step_set_target(step, wmi_place_with_msb(l->target | b->state, b->msb));
        step->value = 0; /* not known yet where that is */
        break;
    case CONTROL_TRAP:
        step->x = WM_FAULT_TRAP;
        step->y = trap_of(l->insn);
        break;
    case CONTROL_ILLEGAL:
        step->x = WM_FAULT_INSTRUCTION;
        break;
    default:
        break;
    }
    b->ended = l->control != CONTROL_CONDITIONAL && l->control != CONTROL_STEP;
}

/* Split barriers. */
static void lower_signal(const struct lowering *l)
{
    struct wmi_step *step = wmi_emit(l->b, l->id);
    step->d = l->place;
    step->x = (uint32_t)immediate(l->insn, WMI_ROLE_A);
    step->y = is_m0(wmi_operand(l->insn, WMI_ROLE_A)) ? WMI_SIGNAL_IN_M0 : 0;
    step->y |= wmi_builder_limit(l->b, WMI_LIMIT_clusters) ? WMI_SIGNAL_KEEPS_SCC : 0;
}

/* Shows that the wave arrives at a barrier: the workgroup's, or a named one. */
static void emit_arrive(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const bool split = insn->id != WMI_INSN_s_barrier, in_m0 = split && is_m0(wmi_operand(insn, WMI_ROLE_A));
    const int32_t number = split ? (int32_t)immediate(insn, WMI_ROLE_A) : WM_BARRIER_WORKGROUP;
    if (!in_m0 && number <= 0 && number != WM_BARRIER_WORKGROUP && number != WM_BARRIER_CLUSTER)
        return; /* does nothing */
    struct wmi_step *step = wmi_emit_event(b, WM_EVENT_BARRIER_ARRIVE);
    if (!step)
        return;
    step->a = (uint32_t)number;
    step->b = !split;
    step->y = in_m0 ? WMI_BARRIER_IN_M0 : WMI_BARRIER_IN_STEP;
}

/* Shows observers what comes before the instruction is carried out, */
static void emit_events(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    struct wmi_step *step = NULL;
    switch (insn->id) {
    case WMI_INSN_s_barrier:
    case WMI_INSN_s_barrier_signal:
    case WMI_INSN_s_barrier_signal_isfirst:
        emit_arrive(b, insn);
        break;
    case WMI_INSN_s_sendmsg:
    case WMI_INSN_s_sendmsghalt:
        step = wmi_emit_event(b, WM_EVENT_MESSAGE);
        if (step)
            step->a = (uint16_t)immediate(insn, WMI_ROLE_IMM);
        break;
    case WMI_INSN_s_sendmsg_rtn_b32:
    case WMI_INSN_s_sendmsg_rtn_b64:
        step = wmi_emit_event(b, WM_EVENT_MESSAGE);
        if (step)
            step->a = (uint32_t)immediate(insn, WMI_ROLE_A);
        break;
    case WMI_INSN_s_icache_inv:
        wmi_lower_invalidation(b, insn);
        break;
    default:
        break;
    }
}

static bool waits_for_named(const struct wmi_instruction *insn)
{
    return insn->id == WMI_INSN_s_barrier_wait && waited_for(insn) > 0;
}

static bool waits_for_cluster(const struct wmi_instruction *insn)
{
    return insn->id == WMI_INSN_s_barrier_wait && waited_for(insn) == WM_BARRIER_CLUSTER;
}

/* and that the wave goes on behind a barrier. */
static void emit_leave(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const bool waits = insn->id == WMI_INSN_s_barrier || insn->id == WMI_INSN_s_barrier_wait;
    struct wmi_step *step = waits ? wmi_emit_event(b, WM_EVENT_BARRIER_LEAVE) : NULL;
    if (!step)
        return;
    step->a = (uint32_t)(waits_for_cluster(insn) ? WM_BARRIER_CLUSTER : WM_BARRIER_WORKGROUP);
    step->y = waits_for_named(insn) ? WMI_BARRIER_JOINED : WMI_BARRIER_IN_STEP;
}

static enum wmi_step_id step_of(const struct wmi_instruction *insn)
{
    if (insn->id == WMI_INSN_s_add_pc_i64)
        return WMI_STEP_branch;
    return waits_for_named(insn)     ? WMI_STEP_barrier_wait_named
           : waits_for_cluster(insn) ? WMI_STEP_barrier_wait_cluster
                                     : controls[insn->id].step;
}

bool wmi_lower_control(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_operand *d = wmi_operand(insn, WMI_ROLE_D), *a = wmi_operand(insn, WMI_ROLE_A);
    const struct lowering l = {
        .b = b,
        .insn = insn,
        .control = control_of(insn),
        .id = step_of(insn),
        .place = d ? wmi_lower_scalar(b, d) : 0,
        .source = a ? wmi_lower_scalar(b, a) : 0,
        .target = b->next_pc + (uint64_t)(4 * wmi_control_flow(insn).distance),
    };
    struct wmi_step *step;
    if (l.control != CONTROL_NONE)
        emit_events(b, insn);
    switch (l.control) {
    case CONTROL_NONE:
        return false;
    case CONTROL_NOTHING:
    case CONTROL_MSB:
        break;
    case CONTROL_ADD_PC:
        lower_add_pc(&l);
        break;
    case CONTROL_CLOCK:
        step = wmi_emit(b, l.id);
        step->d = l.place;
        step->x = 1;
        break;
    case CONTROL_GET_PC:
        wmi_emit_constant(b, l.place, b->next_pc);
        break;
    case CONTROL_GET_REGISTER:
    case CONTROL_SET_REGISTER:
        lower_register(&l);
        break;
    case CONTROL_MESSAGE:
        wmi_emit(b, l.id);
        wmi_emit_exec(b);
        break;
    case CONTROL_INDEX:
        step = wmi_emit(b, l.id);
        step->a = l.source;
        step->x = (uint32_t)immediate(insn, WMI_ROLE_IMM);
        break;
    case CONTROL_VSKIP:
        lower_vskip(&l);
        break;
    case CONTROL_FORK:
    case CONTROL_JOIN:
    case CONTROL_HALVES:
        lower_divergence(&l);
        break;
    case CONTROL_MODE:
        lower_mode(&l);
        break;
    case CONTROL_SIGNAL:
        lower_signal(&l);
        break;
    case CONTROL_ANSWER:
        lower_answer(&l);
        break;
    case CONTROL_MOVE_RELATIVE:
        lower_relative_move(&l);
        break;
    case CONTROL_SWAP_PC:
        if (l.place == 4 * WMI_S_EXEC)
            lower_swap_with_exec(&l);
        else
            lower_flow(&l);
        break;
    case CONTROL_CALL:
        wmi_emit_constant(b, l.place, b->next_pc);
        if (l.place == 4 * WMI_S_EXEC)
            wmi_emit_exec(b);
        lower_flow(&l);
        break;
    default:
        lower_flow(&l);
        emit_leave(b, insn);
        break;
    }
    return true;
}
