/* SPDX-License-Identifier: MIT */
/* Steps of control flow and machine state, and how SOPP and its kin become them. */
#include "exec/control.h"

#include "base/host_float.h"
#include "exec/hwreg.h"
#include "exec/program.h"
#include "exec/smem.h"
#include "exec/workgroup.h"
#include "sem/stage.h"

#include <string.h>

/* ---- steps ---- */

static struct wmi_frame *frame_of(char *frame)
{
    return (struct wmi_frame *)frame;
}

static uint64_t scalar64(const char *frame, uint32_t offset)
{
    uint64_t value;
    memcpy(&value, frame + offset, sizeof value);
    return value;
}

static uint32_t word_at(const char *frame, uint32_t offset)
{
    uint32_t value;
    memcpy(&value, frame + offset, sizeof value);
    return value;
}

void wmi_step_set_target(struct wmi_op *op, uint64_t place)
{
    op->x = (uint32_t)place;
    op->y = (uint32_t)(place >> 32);
}

static uint64_t target_place(const struct wmi_op *op)
{
    return (uint64_t)op->y << 32 | op->x;
}

/* Goes on at `next`, unless the wave's turn is over. */
static const struct wmi_op *go(char *frame, const struct wmi_op *next)
{
    if (__builtin_expect(frame_of(frame)->left >= 0, 1))
        return next;
    wmi_wave_of(frame)->resume = next;
    return NULL;
}

/* The step at `place`; NULL, and the wave has faulted, where the program cannot grow any more. */
static const struct wmi_op *find(char *frame, uint64_t place)
{
    bool full;
    struct wmi_wave *wave = wmi_wave_of(frame);
    const struct wmi_op *step = wmi_program_at(wave->group->dispatch->program, place, &full);
    if (__builtin_expect(!step, 0))
        wmi_wave_fault(wave, &(struct wmi_fault){.kind = full ? WM_FAULT_CODE_LIMIT : WM_FAULT_NO_MEMORY,
                                                 .pc = place & ~(uint64_t)WMI_STATE_BITS,
                                                 .lanes = frame_of(frame)->exec.bits});
    return step;
}

/* Goes on at an address that the guest computed, in the state that MODE is in. */
static const struct wmi_op *jump(char *frame, uint64_t pc)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    if (pc & 3)
        return wmi_wave_fault(
            wave,
            &(struct wmi_fault){.kind = WM_FAULT_INSTRUCTION, .pc = pc, .lanes = frame_of(frame)->exec.bits});
    const uint64_t state = frame_of(frame)->mode >> WMI_MODE_STATE_SHIFT & WMI_STATE_BITS;
    const struct wmi_op *next = find(frame, pc | state);
    return next ? go(frame, next) : NULL;
}

static const struct wmi_op *take(char *frame, const struct wmi_op *op)
{
    const struct wmi_op *next = __atomic_load_n(&op->target, __ATOMIC_ACQUIRE);
    if (__builtin_expect(!next, 0)) {
        next = find(frame, target_place(op));
        if (!next)
            return NULL;
        __atomic_store_n(&((struct wmi_op *)op)->target, next, __ATOMIC_RELEASE);
    }
    return go(frame, next);
}

const struct wmi_op *wmi_step_branch(char *restrict frame, const struct wmi_op *op)
{
    frame_of(frame)->left -= op->c;
    return take(frame, op);
}

const struct wmi_op *wmi_step_count(char *restrict frame, const struct wmi_op *op)
{
    frame_of(frame)->left -= op->c;
    return op + 1;
}

const struct wmi_op *wmi_step_return(char *restrict frame, const struct wmi_op *op)
{
    (void)frame;
    return op + 1;
}

#define CONDITIONAL(name, condition)                                                                         \
    static const struct wmi_op *name(char *restrict frame, const struct wmi_op *op)                          \
    {                                                                                                        \
        struct wmi_frame *f = frame_of(frame);                                                               \
        f->left -= op->c;                                                                                    \
        return (condition) ? take(frame, op) : op + 1;                                                       \
    }

static bool mask_is_zero(const struct wmi_frame *f, unsigned slot)
{
    return f->wave_size == 32 ? !f->s[slot] : !(f->s[slot] | f->s[slot + 1]);
}

CONDITIONAL(branch_scc0, !f->s[WMI_S_SCC])
CONDITIONAL(branch_scc1, f->s[WMI_S_SCC])
CONDITIONAL(branch_vccz, mask_is_zero(f, WMI_S_VCC))
CONDITIONAL(branch_vccnz, !mask_is_zero(f, WMI_S_VCC))
CONDITIONAL(branch_execz, !f->exec.bits)
CONDITIONAL(branch_execnz, f->exec.bits)

static const struct wmi_op *end(char *restrict frame, const struct wmi_op *op)
{
    frame_of(frame)->left -= op->c;
    wmi_wave_of(frame)->state = WMI_WAVE_ENDED;
    return NULL;
}

/* s_barrier_signal of the workgroup's barrier; isfirst: SCC says whether it is the first. */
static const struct wmi_op *signal_barrier(char *restrict frame, const struct wmi_op *op)
{
    wmi_workgroup_signal(wmi_wave_of(frame)->group);
    return op + 1;
}

static const struct wmi_op *signal_barrier_is_first(char *restrict frame, const struct wmi_op *op)
{
    frame_of(frame)->s[WMI_S_SCC] = wmi_workgroup_signal(wmi_wave_of(frame)->group);
    return op + 1;
}

/* op->value of a step that pauses the wave is its pc. */
static const struct wmi_op *wait_for_signals(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    frame_of(frame)->left -= op->c;
    if (wave->barrier_complete) {
        wave->barrier_complete = false;
        return op + 1;
    }
    wave->state = WMI_WAVE_SIGNALS;
    wave->resume = op + 1;
    return NULL;
}

static const struct wmi_op *barrier(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    frame_of(frame)->left -= op->c;
    if (wave->group->waves_left == 1)
        return op + 1;
    wave->state = WMI_WAVE_BARRIER;
    wave->resume = op + 1;
    return NULL;
}

/* s_sleep: the others have their turn. */
static const struct wmi_op *yield(char *restrict frame, const struct wmi_op *op)
{
    frame_of(frame)->left -= op->c;
    wmi_wave_of(frame)->resume = op + 1;
    return NULL;
}

static const struct wmi_op *set_pc(char *restrict frame, const struct wmi_op *op)
{
    frame_of(frame)->left -= op->c;
    return jump(frame, scalar64(frame, op->a));
}

/* d = the address behind the instruction (op->value), then on to a. d is not EXEC. */
static const struct wmi_op *swap_pc(char *restrict frame, const struct wmi_op *op)
{
    const uint64_t target = scalar64(frame, op->a);
    frame_of(frame)->left -= op->c;
    memcpy(frame + op->d, &op->value, sizeof op->value);
    return jump(frame, target);
}

/* On to op->value in the state that MODE is in now. */
static const struct wmi_op *enter_state(char *restrict frame, const struct wmi_op *op)
{
    frame_of(frame)->left -= op->c;
    return jump(frame, op->value);
}

static const struct wmi_op *copy_32(char *restrict frame, const struct wmi_op *op)
{
    memmove(frame + op->d, frame + op->a, sizeof(uint32_t));
    return op + 1;
}

static const struct wmi_op *copy_64(char *restrict frame, const struct wmi_op *op)
{
    memmove(frame + op->d, frame + op->a, sizeof(uint64_t));
    return op + 1;
}

/* The branch stack: CSP, MODE[31:29], counts entries of four SGPRs, {EXEC, address}, from s0 on.
 * Source: Vega ISA, "Branching", pseudo-code of S_CBRANCH_G_FORK and S_CBRANCH_JOIN. */
enum { CSP_SHIFT = 29, CSP_MASK = 7 };

static uint32_t stack_depth(const struct wmi_frame *f)
{
    return f->mode >> CSP_SHIFT;
}

static void set_stack_depth(struct wmi_frame *f, uint32_t depth)
{
    f->mode = (f->mode & ~(UINT32_MAX << CSP_SHIFT)) | (depth & CSP_MASK) << CSP_SHIFT;
}

/* EXEC splits by the mask at a: the smaller part goes on first, the other is pushed. Where to go on comes
 * into the scalar at d; b is the target's address, op->value the next instruction's. */
static const struct wmi_op *fork_by_mask(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_frame *f = frame_of(frame);
    const uint64_t exec = scalar64(frame, 4 * WMI_S_EXEC), mask = scalar64(frame, op->a);
    const uint64_t pass = mask & exec, fail = ~mask & exec, target = scalar64(frame, op->b);
    uint64_t next = target;
    if (pass != exec && fail == exec) {
        next = op->value;
    } else if (pass != exec) {
        const bool fail_first = __builtin_popcountll(fail) < __builtin_popcountll(pass);
        const uint64_t now = fail_first ? fail : pass, later = fail_first ? pass : fail;
        const uint64_t entry[2] = {later, fail_first ? target : op->value};
        memcpy(&f->s[4 * stack_depth(f)], entry, sizeof entry);
        set_stack_depth(f, stack_depth(f) + 1);
        memcpy(&f->s[WMI_S_EXEC], &now, sizeof now);
        next = fail_first ? op->value : target;
    }
    memcpy(frame + op->d, &next, sizeof next);
    return op + 1;
}

/* The other part's turn, or on behind the join when the stack is as deep as at the fork: a. */
static const struct wmi_op *join(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_frame *f = frame_of(frame);
    uint64_t entry[2] = {scalar64(frame, 4 * WMI_S_EXEC), op->value};
    if (stack_depth(f) != word_at(frame, op->a)) {
        set_stack_depth(f, stack_depth(f) - 1);
        memcpy(entry, &f->s[4 * stack_depth(f)], sizeof entry);
    }
    memcpy(&f->s[WMI_S_EXEC], &entry[0], sizeof entry[0]);
    memcpy(frame + op->d, &entry[1], sizeof entry[1]);
    return op + 1;
}

const struct wmi_op *wmi_step_constant(char *restrict frame, const struct wmi_op *op)
{
    memcpy(frame + op->d, &op->value, sizeof op->value);
    return op + 1;
}

const struct wmi_op *wmi_step_mask_zero(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_frame *f = frame_of(frame);
    f->s[WMI_S_VCCZ] = mask_is_zero(f, WMI_S_VCC);
    f->s[WMI_S_EXECZ] = !f->exec.bits;
    return op + 1;
}

const struct wmi_op *wmi_step_fault(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    frame_of(frame)->left -= op->c;
    return wmi_wave_fault(
        wave, &(struct wmi_fault){.kind = op->x, .pc = op->value, .lanes = frame_of(frame)->exec.bits});
}

/* s_movrels, s_movreld: `dwords` registers (op->x) from a to d, of which one is moved on by M0 registers.
 * Past the SGPRs a source is s0 and a destination nothing. Source: CDNA 3 ISA, "Out-of-Range Behavior". */
static uint32_t moved_register(const char *frame, uint32_t offset, uint32_t dwords, uint32_t sgprs)
{
    const uint64_t first = offset / 4 + (uint64_t)((const struct wmi_frame *)frame)->s[WMI_S_M0];
    return first + dwords <= sgprs ? (uint32_t)first * 4 : UINT32_MAX;
}

static const struct wmi_op *move_relative_source(char *restrict frame, const struct wmi_op *op)
{
    const uint32_t from = moved_register(frame, op->a, op->x, op->y);
    memmove(frame + op->d, frame + (from == UINT32_MAX ? 0 : from), 4 * op->x);
    return op + 1;
}

static const struct wmi_op *move_relative_destination(char *restrict frame, const struct wmi_op *op)
{
    const uint32_t to = moved_register(frame, op->d, op->x, op->y);
    if (to != UINT32_MAX)
        memmove(frame + to, frame + op->a, 4 * op->x);
    return op + 1;
}

/* s_movrelsd_2: M0[9:0] moves the source on, M0[25:16] the destination. */
static const struct wmi_op *move_relative_both(char *restrict frame, const struct wmi_op *op)
{
    const uint32_t m0 = frame_of(frame)->s[WMI_S_M0];
    const uint32_t from = op->a / 4 + (m0 & 0x3ff), to = op->d / 4 + (m0 >> 16 & 0x3ff);
    if (to < op->y)
        frame_of(frame)->s[to] = frame_of(frame)->s[from < op->y ? from : 0];
    return op + 1;
}

/* ---- halves of a wave, one after the other ----
 * d gets where to go on, the SGPR at a keeps the half that waits; b holds the target, op->value is the next
 * instruction's address. Source: RDNA 1 ISA, S_SUBVECTOR_LOOP_BEGIN and _END. */

static const struct wmi_op *begin_halves(char *restrict frame, const struct wmi_op *op)
{
    uint32_t *exec = &frame_of(frame)->s[WMI_S_EXEC];
    uint64_t next = op->value;
    uint32_t kept;
    if (!exec[0] && !exec[1]) {
        next = scalar64(frame, op->b);
    } else if (!exec[0]) {
        kept = exec[0];
        memcpy(frame + op->a, &kept, sizeof kept);
    } else {
        kept = exec[1];
        memcpy(frame + op->a, &kept, sizeof kept);
        exec[1] = 0;
    }
    memcpy(frame + op->d, &next, sizeof next);
    return op + 1;
}

static const struct wmi_op *end_halves(char *restrict frame, const struct wmi_op *op)
{
    uint32_t *exec = &frame_of(frame)->s[WMI_S_EXEC];
    const uint32_t kept = word_at(frame, op->a);
    uint64_t next = op->value;
    if (exec[1]) {
        exec[0] = kept;
    } else if (kept) {
        exec[1] = kept;
        memcpy(frame + op->a, &exec[0], sizeof exec[0]);
        exec[0] = 0;
        next = scalar64(frame, op->b);
    }
    memcpy(frame + op->d, &next, sizeof next);
    return op + 1;
}

/* ---- VGPR indexing and VSKIP ---- */

/* M0[7:0] is the index, M0[15:12] says of which operands; the other bits stay. The state of what follows is
 * known when it is predecoded. Source: Vega ISA, S_SET_GPR_IDX_ON and its kin. */
enum { GPR_INDEX_VALUE = 0xff, GPR_INDEX_OPERANDS = 0xf000 };

static void set_mode_state(struct wmi_frame *f, enum wmi_state state, bool on)
{
    const uint32_t bit = (uint32_t)state << WMI_MODE_STATE_SHIFT;
    f->mode = on ? f->mode | bit : f->mode & ~bit;
}

static const struct wmi_op *index_value(char *restrict frame, const struct wmi_op *op)
{
    uint32_t *m0 = &frame_of(frame)->s[WMI_S_M0];
    *m0 = (*m0 & ~(uint32_t)GPR_INDEX_VALUE) | (word_at(frame, op->a) & GPR_INDEX_VALUE);
    return op + 1;
}

static const struct wmi_op *index_operands(char *restrict frame, const struct wmi_op *op)
{
    uint32_t *m0 = &frame_of(frame)->s[WMI_S_M0];
    *m0 = (*m0 & ~(uint32_t)GPR_INDEX_OPERANDS) | (op->x << 12 & GPR_INDEX_OPERANDS);
    return op + 1;
}

static const struct wmi_op *index_on(char *restrict frame, const struct wmi_op *op)
{
    set_mode_state(frame_of(frame), WMI_STATE_GPR_INDEX, true);
    index_value(frame, op);
    return index_operands(frame, op);
}

static const struct wmi_op *index_off(char *restrict frame, const struct wmi_op *op)
{
    set_mode_state(frame_of(frame), WMI_STATE_GPR_INDEX, false);
    return op + 1;
}

static const struct wmi_op *set_vskip(char *restrict frame, const struct wmi_op *op)
{
    set_mode_state(frame_of(frame), WMI_STATE_VSKIP,
                   word_at(frame, op->a) >> (word_at(frame, op->b) & 31) & 1);
    return op + 1;
}

/* ---- hardware registers ---- */

void wmi_frame_set_mode(struct wmi_frame *frame, uint32_t mode)
{
    frame->mode = mode;
    frame->mxcsr32 = wmi_host_float_word(mode & 3, mode >> 4 & 3);
    frame->mxcsr64 = wmi_host_float_word(mode >> 2 & 3, mode >> 6 & 3);
    wmi_host_float_set(frame->mxcsr32);
}

static const struct wmi_op *get_register(char *restrict frame, const struct wmi_op *op)
{
    const uint32_t value = wmi_hwreg_read(op->data, frame_of(frame), wmi_hwreg(op->x));
    memcpy(frame + op->d, &value, sizeof value);
    return op + 1;
}

static const struct wmi_op *set_register(char *restrict frame, const struct wmi_op *op)
{
    wmi_hwreg_write(op->data, frame_of(frame), wmi_hwreg(op->x), word_at(frame, op->a));
    return op + 1;
}

/* The low bits (op->y: how many) of MODE from bit op->x on become the immediate op->value. */
static const struct wmi_op *set_mode_bits(char *restrict frame, const struct wmi_op *op)
{
    const uint32_t mask = ((1u << op->y) - 1) << op->x;
    wmi_frame_set_mode(frame_of(frame),
                       (frame_of(frame)->mode & ~mask) | ((uint32_t)op->value << op->x & mask));
    return op + 1;
}

/* The clock that s_memrealtime had before gfx11. */
static const struct wmi_op *answer_clock(char *restrict frame, const struct wmi_op *op)
{
    const uint64_t clock = wmi_wave_cycles(wmi_wave_of(frame)) / WMI_CYCLES_PER_TICK;
    memcpy(frame + op->d, &clock, op->y);
    return op + 1;
}

/* MSG_GET_DOORBELL answers in EXEC_LO, whose bit 31 says until then that the answer is not there.
 * Source: ROCr's trap handler, which asks this way. Ours is doorbell 0. */
static const struct wmi_op *answer_doorbell(char *restrict frame, const struct wmi_op *op)
{
    frame_of(frame)->s[WMI_S_EXEC] = 0;
    return op + 1;
}

/* ---- lowering ---- */

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
};

static const struct {
    enum control control;
    wmi_body step;
} controls[WMI_INSN_COUNT] = {
    [WMI_INSN_s_nop] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_waitcnt] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_waitcnt_vscnt] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_waitcnt_vmcnt] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_waitcnt_expcnt] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_waitcnt_lgkmcnt] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_waitcnt_depctr] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_wait_idle] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_wait_event] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_wait_loadcnt] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_wait_storecnt] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_wait_samplecnt] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_wait_bvhcnt] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_wait_expcnt] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_wait_dscnt] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_wait_kmcnt] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_wait_loadcnt_dscnt] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_wait_storecnt_dscnt] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_clause] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_delay_alu] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_inst_prefetch] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_singleuse_vdst] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_version] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_ttracedata_imm] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_sethalt] = {CONTROL_HALT, wmi_step_fault},
    [WMI_INSN_s_setkill] = {CONTROL_KILL, end},
    [WMI_INSN_s_setprio] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_sendmsg] = {CONTROL_MESSAGE, answer_doorbell}, /* nobody listens to others */
    [WMI_INSN_s_sendmsghalt] = {CONTROL_TRAP, wmi_step_fault},
    [WMI_INSN_s_icache_inv] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_incperflevel] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_decperflevel] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_ttracedata] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_wakeup] = {CONTROL_NOTHING, NULL},
    /* the conditional debug bits are never set */
    [WMI_INSN_s_cbranch_cdbgsys] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_cbranch_cdbguser] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_cbranch_cdbgsys_or_user] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_cbranch_cdbgsys_and_user] = {CONTROL_NOTHING, NULL},
    [WMI_INSN_s_branch] = {CONTROL_BRANCH, wmi_step_branch},
    [WMI_INSN_s_cbranch_scc0] = {CONTROL_CONDITIONAL, branch_scc0},
    [WMI_INSN_s_cbranch_scc1] = {CONTROL_CONDITIONAL, branch_scc1},
    [WMI_INSN_s_cbranch_vccz] = {CONTROL_CONDITIONAL, branch_vccz},
    [WMI_INSN_s_cbranch_vccnz] = {CONTROL_CONDITIONAL, branch_vccnz},
    [WMI_INSN_s_cbranch_execz] = {CONTROL_CONDITIONAL, branch_execz},
    [WMI_INSN_s_cbranch_execnz] = {CONTROL_CONDITIONAL, branch_execnz},
    [WMI_INSN_s_endpgm] = {CONTROL_END, end},
    [WMI_INSN_s_endpgm_saved] = {CONTROL_END, end},
    [WMI_INSN_s_endpgm_ordered_ps_done] = {CONTROL_END, end},
    [WMI_INSN_s_barrier] = {CONTROL_STEP, barrier},
    [WMI_INSN_s_barrier_wait] = {CONTROL_STEP, wait_for_signals},
    [WMI_INSN_s_barrier_signal] = {CONTROL_SIGNAL, signal_barrier},
    [WMI_INSN_s_barrier_signal_isfirst] = {CONTROL_SIGNAL, signal_barrier_is_first},
    [WMI_INSN_s_sleep] = {CONTROL_STEP, yield},
    [WMI_INSN_s_sleep_var] = {CONTROL_STEP, yield},
    [WMI_INSN_s_trap] = {CONTROL_TRAP, wmi_step_fault},
    [WMI_INSN_v_illegal] = {CONTROL_ILLEGAL, wmi_step_fault},
    [WMI_INSN_s_code_end] = {CONTROL_ILLEGAL, wmi_step_fault},
    [WMI_INSN_s_getpc_b64] = {CONTROL_GET_PC, wmi_step_constant},
    [WMI_INSN_s_setpc_b64] = {CONTROL_SET_PC, set_pc},
    [WMI_INSN_s_swappc_b64] = {CONTROL_SWAP_PC, swap_pc},
    [WMI_INSN_s_call_b64] = {CONTROL_CALL, wmi_step_branch},
    [WMI_INSN_s_getreg_b32] = {CONTROL_GET_REGISTER, get_register},
    [WMI_INSN_s_setreg_b32] = {CONTROL_SET_REGISTER, set_register},
    [WMI_INSN_s_movrels_b32] = {CONTROL_MOVE_RELATIVE, move_relative_source},
    [WMI_INSN_s_movrels_b64] = {CONTROL_MOVE_RELATIVE, move_relative_source},
    [WMI_INSN_s_movreld_b32] = {CONTROL_MOVE_RELATIVE, move_relative_destination},
    [WMI_INSN_s_movreld_b64] = {CONTROL_MOVE_RELATIVE, move_relative_destination},
    [WMI_INSN_s_movrelsd_2_b32] = {CONTROL_MOVE_RELATIVE, move_relative_both},
    [WMI_INSN_s_set_gpr_idx_on] = {CONTROL_INDEX, index_on},
    [WMI_INSN_s_set_gpr_idx_off] = {CONTROL_INDEX, index_off},
    [WMI_INSN_s_set_gpr_idx_idx] = {CONTROL_INDEX, index_value},
    [WMI_INSN_s_set_gpr_idx_mode] = {CONTROL_INDEX, index_operands},
    [WMI_INSN_s_setvskip] = {CONTROL_VSKIP, set_vskip},
    [WMI_INSN_s_cbranch_g_fork] = {CONTROL_FORK, fork_by_mask},
    [WMI_INSN_s_cbranch_i_fork] = {CONTROL_FORK, fork_by_mask},
    [WMI_INSN_s_cbranch_join] = {CONTROL_JOIN, join},
    [WMI_INSN_s_subvector_loop_begin] = {CONTROL_HALVES, begin_halves},
    [WMI_INSN_s_subvector_loop_end] = {CONTROL_HALVES, end_halves},
    [WMI_INSN_s_round_mode] = {CONTROL_MODE, set_mode_bits},
    [WMI_INSN_s_denorm_mode] = {CONTROL_MODE, set_mode_bits},
    [WMI_INSN_s_sendmsg_rtn_b32] = {CONTROL_ANSWER, answer_clock},
    [WMI_INSN_s_sendmsg_rtn_b64] = {CONTROL_ANSWER, answer_clock},
    /* There is no trap handler to come back from: they only jump (unverified). */
    [WMI_INSN_s_rfe_b64] = {CONTROL_SET_PC, set_pc},
    [WMI_INSN_s_rfe_restore_b64] = {CONTROL_SET_PC, set_pc},
    [WMI_INSN_s_setreg_imm32_b32] = {CONTROL_SET_REGISTER, set_register},
};

static int64_t immediate(const struct wmi_instruction *insn, enum wmi_role role)
{
    const struct wmi_operand *operand = wmi_operand(insn, role);
    return operand ? (int64_t)operand->value : 0;
}

/* Whether an s_setreg can change the state that code is predecoded for. */
static bool sets_state(const struct wmi_hwreg_rules *rules, const struct wmi_instruction *insn)
{
    return wmi_hwreg_writes_state(rules, wmi_hwreg((uint32_t)immediate(insn, WMI_ROLE_IMM)), WMI_MODE_STATE);
}

/* What an instruction with an immediate does may hang on it. */
static enum control control_of(const struct wmi_instruction *insn)
{
    enum { TRAP_DEBUG = 3, HALT = 1, KILL = 1, MESSAGE = 15, GET_DOORBELL = 10 };
    enum { WORKGROUP_BARRIER = -1, NO_BARRIER = 0 };
    const enum control control = controls[insn->id].control;
    const int16_t barrier = (int16_t)immediate(insn, WMI_ROLE_IMM);
    if (insn->id == WMI_INSN_s_barrier_wait && barrier != WORKGROUP_BARRIER)
        return barrier == NO_BARRIER ? CONTROL_NOTHING : CONTROL_NONE;
    switch (control) {
    case CONTROL_TRAP: /* Source: LLVM AMDGPUUsage, "Trap Handler ABI": without a debugger 3 does nothing */
        return insn->id == WMI_INSN_s_trap && immediate(insn, WMI_ROLE_IMM) == TRAP_DEBUG ? CONTROL_NOTHING
                                                                                          : control;
    case CONTROL_HALT: /* nobody is there to wake the wave up: as a trap */
        return immediate(insn, WMI_ROLE_IMM) & HALT ? CONTROL_TRAP : CONTROL_NOTHING;
    case CONTROL_KILL:
        return immediate(insn, WMI_ROLE_IMM) & KILL ? CONTROL_END : CONTROL_NOTHING;
    case CONTROL_MESSAGE:
        return (immediate(insn, WMI_ROLE_IMM) & MESSAGE) == GET_DOORBELL ? control : CONTROL_NOTHING;
    case CONTROL_SIGNAL: /* -1 is the workgroup's barrier, 0 none at all; the others are not executed yet */
        if (wmi_operand(insn, WMI_ROLE_A)->kind != WMI_OPERAND_CONSTANT)
            return CONTROL_NONE;
        switch ((int32_t)immediate(insn, WMI_ROLE_A)) {
        case WORKGROUP_BARRIER:
            return control;
        case NO_BARRIER:
            return CONTROL_NOTHING;
        default:
            return CONTROL_NONE;
        }
    default:
        return control;
    }
}

struct wmi_flow wmi_control_flow(const struct wmi_instruction *insn)
{
    switch (controls[insn->id].control) {
    case CONTROL_NOTHING:
        return (struct wmi_flow){.nothing = true};
    case CONTROL_BRANCH:
        return (struct wmi_flow){.branches = true, .ends = true, .distance = immediate(insn, WMI_ROLE_IMM)};
    case CONTROL_CONDITIONAL:
    case CONTROL_CALL: /* comes back behind itself */
        return (struct wmi_flow){.branches = true, .distance = immediate(insn, WMI_ROLE_IMM)};
    case CONTROL_HALVES:
    case CONTROL_FORK:
        return (struct wmi_flow){.branches = wmi_operand(insn, WMI_ROLE_IMM) != NULL,
                                 .distance = immediate(insn, WMI_ROLE_IMM)};
    case CONTROL_INDEX:
        return (struct wmi_flow){
            .sets = insn->id == WMI_INSN_s_set_gpr_idx_on ? WMI_STATE_GPR_INDEX : 0,
            .clears = insn->id == WMI_INSN_s_set_gpr_idx_off ? WMI_STATE_GPR_INDEX : 0,
        };
    case CONTROL_END:
        return (struct wmi_flow){.ends = true, .wave_ends = true};
    case CONTROL_SET_PC:
    case CONTROL_TRAP:
    case CONTROL_ILLEGAL:
        return (struct wmi_flow){.ends = true};
    default:
        return (struct wmi_flow){0};
    }
}

static void emit_constant(struct wmi_builder *b, uint32_t place, uint64_t value)
{
    struct wmi_op *op = wmi_emit(b, wmi_step_constant);
    op->d = place;
    op->value = value;
}

static struct wmi_op *emit_counting(struct wmi_builder *b, wmi_body step)
{
    const uint32_t count = wmi_builder_take_count(b);
    struct wmi_op *op = wmi_emit(b, step);
    op->c = count;
    return op;
}

static void emit_exec(struct wmi_builder *b)
{
    wmi_emit(b, wmi_stage(wmi_builder_level(b), wmi_builder_lanes(b), WMI_STAGE_EXEC));
}

/* EXEC becomes what the step before left in s[126:127]; then on to the address in the scalar at `place`. */
static void emit_exec_and_jump(struct wmi_builder *b, uint32_t place)
{
    emit_exec(b);
    emit_counting(b, set_pc)->a = place;
    wmi_builder_end_block(b);
}

/* On behind the instruction, in whatever state it left. */
static void emit_enter_state(struct wmi_builder *b)
{
    emit_counting(b, enter_state)->value = wmi_builder_next_pc(b);
    wmi_builder_end_block(b);
}

bool wmi_lower_control(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    enum { MODE_DENORMALS = 4, GET_REALTIME = 0x83 };
    const enum control control = control_of(insn);
    const struct wmi_operand *d = wmi_operand(insn, WMI_ROLE_D), *a = wmi_operand(insn, WMI_ROLE_A);
    const uint32_t place = d ? wmi_lower_scalar(b, d) : 0, source = a ? wmi_lower_scalar(b, a) : 0;
    const uint64_t target = wmi_builder_next_pc(b) + (uint64_t)(4 * wmi_control_flow(insn).distance);
    const uint64_t target_place = target | wmi_builder_state(b);
    struct wmi_op *op;
    wmi_body answer;
    uint32_t zero;

    switch (control) {
    case CONTROL_NONE:
        return false;
    case CONTROL_NOTHING:
        return true;
    case CONTROL_GET_PC:
        emit_constant(b, place, wmi_builder_next_pc(b));
        return true;
    case CONTROL_GET_REGISTER:
    case CONTROL_SET_REGISTER: {
        const uint32_t written = insn->id == WMI_INSN_s_setreg_imm32_b32
                                     ? wmi_lower_scalar_constant(b, (uint32_t)immediate(insn, WMI_ROLE_IMM2))
                                     : source;
        const struct wmi_hwreg_rules *rules =
            wmi_hwreg_rules(wmi_builder_limit(b, WMI_LIMIT_hardware_registers));
        op = wmi_emit(b, controls[insn->id].step);
        op->d = place;
        op->a = written;
        op->x = (uint32_t)immediate(insn, WMI_ROLE_IMM);
        op->data = rules;
        if (control == CONTROL_SET_REGISTER && sets_state(rules, insn))
            emit_enter_state(b);
        return true;
    }
    case CONTROL_MESSAGE:
        wmi_emit(b, controls[insn->id].step);
        emit_exec(b);
        return true;
    case CONTROL_INDEX:
        op = wmi_emit(b, controls[insn->id].step);
        op->a = source;
        op->x = (uint32_t)immediate(insn, WMI_ROLE_IMM);
        return true;
    case CONTROL_VSKIP: {
        const uint32_t bit = wmi_lower_scalar(b, wmi_operand(insn, WMI_ROLE_B));
        op = wmi_emit(b, controls[insn->id].step);
        op->a = source;
        op->b = bit;
        emit_enter_state(b);
        return true;
    }
    case CONTROL_FORK:
    case CONTROL_JOIN: {
        const struct wmi_operand *address = wmi_operand(insn, WMI_ROLE_B);
        const uint32_t to = address ? wmi_lower_scalar(b, address) : wmi_lower_scalar_constant(b, target);
        const uint32_t next = wmi_lower_temporary_scalar(b);
        op = wmi_emit(b, controls[insn->id].step);
        op->d = next;
        op->a = source;
        op->b = to;
        op->value = wmi_builder_next_pc(b);
        emit_exec_and_jump(b, next);
        return true;
    }
    case CONTROL_HALVES: {
        const uint32_t to = wmi_lower_scalar_constant(b, target), next = wmi_lower_temporary_scalar(b);
        op = wmi_emit(b, controls[insn->id].step);
        op->d = next;
        op->a = place;
        op->b = to;
        op->value = wmi_builder_next_pc(b);
        emit_exec_and_jump(b, next);
        return true;
    }
    case CONTROL_MODE:
        op = wmi_emit(b, controls[insn->id].step);
        op->x = insn->id == WMI_INSN_s_denorm_mode ? MODE_DENORMALS : 0;
        op->y = MODE_DENORMALS;
        op->value = (uint64_t)immediate(insn, WMI_ROLE_IMM);
        return true;
    case CONTROL_SIGNAL:
        wmi_emit(b, controls[insn->id].step);
        return true;
    case CONTROL_ANSWER: /* of all that can be asked only the clock is not 0 */
        answer = immediate(insn, WMI_ROLE_A) == GET_REALTIME ? controls[insn->id].step
                 : d->dwords == 2                            ? copy_64
                                                             : copy_32;
        zero = wmi_lower_scalar_constant(b, 0);
        op = wmi_emit(b, answer);
        op->d = place;
        op->a = zero;
        op->y = 4 * d->dwords;
        return true;
    case CONTROL_MOVE_RELATIVE:
        op = wmi_emit(b, controls[insn->id].step);
        op->d = place;
        op->a = source;
        op->x = d->dwords;
        op->y = wmi_builder_limit(b, WMI_LIMIT_sgprs);
        return true;
    case CONTROL_SWAP_PC:
        if (place == 4 * WMI_S_EXEC) {
            const uint32_t next = wmi_lower_temporary_scalar(b);
            op = wmi_emit(b, copy_64);
            op->d = next;
            op->a = source;
            emit_constant(b, place, wmi_builder_next_pc(b));
            emit_exec_and_jump(b, next);
            return true;
        }
        break;
    case CONTROL_CALL:
        emit_constant(b, place, wmi_builder_next_pc(b));
        if (place == 4 * WMI_S_EXEC)
            emit_exec(b);
        break;
    default:
        break;
    }

    op = emit_counting(b, controls[insn->id].step);
    op->d = place;
    op->a = source;
    switch (control) {
    case CONTROL_BRANCH:
    case CONTROL_CALL:
        wmi_step_set_target(op, target_place);
        wmi_builder_end_block(b);
        break;
    case CONTROL_CONDITIONAL:
        wmi_step_set_target(op, target_place);
        break;
    case CONTROL_STEP:
        op->value = wmi_builder_pc(b);
        break;
    case CONTROL_SWAP_PC:
        op->value = wmi_builder_next_pc(b);
        wmi_builder_end_block(b);
        break;
    case CONTROL_TRAP:
    case CONTROL_ILLEGAL:
        op->x = control == CONTROL_TRAP ? WM_FAULT_TRAP : WM_FAULT_INSTRUCTION;
        op->value = wmi_builder_pc(b);
        wmi_builder_end_block(b);
        break;
    case CONTROL_END:
    case CONTROL_SET_PC:
        wmi_builder_end_block(b);
        break;
    default:
        break;
    }
    return true;
}
