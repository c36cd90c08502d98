/* SPDX-License-Identifier: MIT */
/* Steps of control flow: branches, barriers, the end of a wave, and divergent branches with the branch
 * stack. */
#include "exec/control/flow_steps.h"
#include "arithmetic/host_float.h"
#include "exec/control/frame_words.h"
#include "exec/control/steps.h"
#include "exec/run/dispatch.h"
#include "exec/run/program.h"
#include "isa/decode/msb.h"
#include "lower/place.h"
#include "wavemem/wavemem.h"

static uint64_t target_place(const struct wmi_op *op)
{
    return (uint64_t)op->y << 32 | op->x;
}

/* Continues at `next`, unless the wave's time slice is used up. */
static const struct wmi_op *go(char *frame, const struct wmi_op *next)
{
    if (__builtin_expect(wmi_frame_of(frame)->left >= 0, 1))
        return next;
    wmi_wave_of(frame)->resume = next;
    return NULL;
}

/* The step at `place`. If the program cannot grow, the wave faults and the result is NULL. */
static const struct wmi_op *find(char *frame, uint64_t place)
{
    bool full;
    struct wmi_wave *wave = wmi_wave_of(frame);
    const struct wmi_op *step = wmi_program_at(wave->program, place, &full);
    if (__builtin_expect(!step, 0))
        wmi_wave_fault(wave, &(struct wmi_fault){.kind = full ? WM_FAULT_CODE_LIMIT : WM_FAULT_NO_MEMORY,
                                                 .pc = wmi_pc_of(place),
                                                 .lanes = wmi_frame_of(frame)->exec.bits});
    return step;
}

/* Jumps to an address computed by the guest, in the state that MODE now has. msb: upper bits of VGPR
 * numbers. */
static const struct wmi_op *jump(char *frame, uint64_t pc, unsigned msb)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    if (pc != wmi_pc_of(pc))
        return wmi_wave_fault(wave, &(struct wmi_fault){.kind = WM_FAULT_INSTRUCTION,
                                                        .pc = pc,
                                                        .lanes = wmi_frame_of(frame)->exec.bits});
    const uint32_t state = wmi_frame_of(frame)->mode >> WMI_MODE_STATE_SHIFT & WMI_STATE_BITS;
    const uint64_t place = wmi_place_with_msb(pc, msb) | state;
    struct wmi_jump *last = &wmi_wave_of(frame)->worker->jumps[wmi_jump_index(place)];
    if (!last->step || last->place != place)
        *last = (struct wmi_jump){place, find(frame, place)};
    return last->step ? go(frame, last->step) : NULL;
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
    wmi_frame_of(frame)->left -= op->c;
    return take(frame, op);
}

const struct wmi_op *wmi_step_fall(char *restrict frame, const struct wmi_op *op)
{
    wmi_frame_of(frame)->left -= op->c;
    const struct wmi_op *next = __atomic_load_n(&op->target, __ATOMIC_ACQUIRE);
    if (__builtin_expect(!next, 0) && (next = find(frame, target_place(op))))
        __atomic_store_n(&((struct wmi_op *)op)->target, next, __ATOMIC_RELEASE);
    return next;
}

const struct wmi_op *wmi_step_count(char *restrict frame, const struct wmi_op *op)
{
    wmi_frame_of(frame)->left -= op->c;
    return op + 1;
}

const struct wmi_op *wmi_step_return_to_loop(char *restrict frame, const struct wmi_op *op)
{
    (void)frame;
    return op + 1;
}

#define CONDITIONAL(name, condition)                                                                         \
    const struct wmi_op *wmi_step_##name(char *restrict frame, const struct wmi_op *op)                      \
    {                                                                                                        \
        struct wmi_frame *f = wmi_frame_of(frame);                                                           \
        f->left -= op->c;                                                                                    \
        return (condition) ? take(frame, op) : op + 1;                                                       \
    }

CONDITIONAL(branch_scc0, !f->s[WMI_S_SCC])
CONDITIONAL(branch_scc1, f->s[WMI_S_SCC])
CONDITIONAL(branch_vccz, wmi_mask_is_zero(f, WMI_S_VCC))
CONDITIONAL(branch_vccnz, !wmi_mask_is_zero(f, WMI_S_VCC))
CONDITIONAL(branch_execz, !f->exec.bits)
CONDITIONAL(branch_execnz, f->exec.bits)

const struct wmi_op *wmi_step_end(char *restrict frame, const struct wmi_op *op)
{
    wmi_frame_of(frame)->left -= op->c;
    wmi_wave_of(frame)->state = WMI_WAVE_ENDED;
    return NULL;
}

/* op->value of a step that pauses the wave is its pc. */
const struct wmi_op *wmi_step_barrier(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_frame *f = wmi_frame_of(frame), *successor = f->successor;
    f->left -= op->c;
    if (wave->group->waves_left == 1)
        return op + 1;
    wave->resume = op + 1;
    if (!successor || f->left < 0) {
        wave->state = WMI_WAVE_BARRIER;
        return NULL;
    }
    f->goes_on = wmi_resume_wave;
    wave->worker->running = successor;
    if (successor->mxcsr32 != f->mxcsr32)
        wmi_host_float_set(successor->mxcsr32);
    return wmi_wave_next_step(successor->wave);
}

/* Compiled code calls it for a wave that it has not run up to s_barrier. */
const struct wmi_op *wmi_resume_wave(char *restrict frame, const struct wmi_op *op)
{
    (void)op;
    wmi_host_float_set(wmi_frame_of(frame)->mxcsr32);
    return wmi_wave_of(frame)->resume;
}

/* s_sleep: yields to the other waves. */
const struct wmi_op *wmi_step_sleep(char *restrict frame, const struct wmi_op *op)
{
    wmi_frame_of(frame)->left -= op->c;
    wmi_wave_of(frame)->resume = op + 1;
    return NULL;
}

const struct wmi_op *wmi_step_set_pc(char *restrict frame, const struct wmi_op *op)
{
    wmi_frame_of(frame)->left -= op->c;
    return jump(frame, wmi_frame_64(frame, op->a), op->y);
}

/* d = op->value, the address of the next instruction, then jumps to a. d is not EXEC. */
const struct wmi_op *wmi_step_swap_pc(char *restrict frame, const struct wmi_op *op)
{
    const uint64_t target = wmi_frame_64(frame, op->a);
    wmi_frame_of(frame)->left -= op->c;
    memcpy(frame + op->d, &op->value, sizeof op->value);
    return jump(frame, target, op->y);
}

/* Jumps to op->value in the state that MODE now has. */
const struct wmi_op *wmi_step_enter_state(char *restrict frame, const struct wmi_op *op)
{
    wmi_frame_of(frame)->left -= op->c;
    return jump(frame, op->value, 0);
}

const struct wmi_op *wmi_step_enter_msb(char *restrict frame, const struct wmi_op *op)
{
    const uint32_t mask = op->x, bits = wmi_frame_32(frame, op->a) << (op->y >> 8) & mask;
    const uint32_t before = wmi_msb_to_mode(op->y & UINT8_MAX) << WMI_MODE_MSB_SHIFT;
    wmi_frame_of(frame)->left -= op->c;
    return jump(frame, op->value,
                wmi_msb_from_mode(((before & ~mask) | bits) >> WMI_MODE_MSB_SHIFT & UINT8_MAX));
}

/* What a trap means when no debugger is there. Source: LLVM AMDGPUUsage, "Trap Handler ABI": the runtime's
 * handler ends the dispatch and puts its queue into the error state, but goes on after number 3, which does
 * not get here. */
static const char *meaning_of_trap(uint32_t trap)
{
    static const char *const meanings[] = {
        [WMI_TRAP_HARDWARE] = "a number that belongs to the hardware",
        [WMI_TRAP_HSA_DEBUG] = "HSA's debug trap, which no handler implements",
        [WMI_TRAP_LLVM] = "llvm.trap, as of abort() or a failed assertion",
        [WMI_TRAP_BREAKPOINT] = "a debugger's breakpoint, but there is no debugger",
        [WMI_TRAP_RESERVED] = "a reserved number",
        [WMI_TRAP_HALT] = "the wave halts, and nobody lets it go on",
    };
    const char *meaning = trap < sizeof meanings / sizeof *meanings ? meanings[trap] : NULL;
    return meaning ? meaning : meanings[WMI_TRAP_RESERVED];
}

const struct wmi_op *wmi_step_fault(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    wmi_frame_of(frame)->left -= op->c;
    return wmi_wave_fault(
        wave, &(struct wmi_fault){.kind = op->x,
                                  .pc = op->value,
                                  .lanes = wmi_frame_of(frame)->exec.bits,
                                  .rows = op->x == WM_FAULT_INSTRUCTION ? op->y : 0,
                                  .detail = op->x == WM_FAULT_TRAP ? meaning_of_trap(op->y) : NULL});
}

/* The branch stack: CSP, MODE[31:29], counts entries of four SGPRs, {EXEC, address}, starting at s0. Source:
 * Vega ISA, "Branching", pseudo-code of S_CBRANCH_G_FORK and S_CBRANCH_JOIN. */
enum { CSP_SHIFT = 29, CSP_MASK = 7 };

static uint32_t stack_depth(const struct wmi_frame *f)
{
    return f->mode >> CSP_SHIFT;
}

static void set_stack_depth(struct wmi_frame *f, uint32_t depth)
{
    f->mode = (f->mode & ~(UINT32_MAX << CSP_SHIFT)) | (depth & CSP_MASK) << CSP_SHIFT;
}

/* Splits EXEC by the mask at a: the smaller part continues, the other is pushed. d receives the next pc; b is
 * the target's address, op->value the address of the next instruction. */
const struct wmi_op *wmi_step_fork(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_frame *f = wmi_frame_of(frame);
    const uint64_t exec = wmi_frame_64(frame, 4 * WMI_S_EXEC), mask = wmi_frame_64(frame, op->a);
    const uint64_t pass = mask & exec, fail = ~mask & exec, target = wmi_frame_64(frame, op->b);
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

/* Resumes the other part, or continues after the join if the stack depth equals the depth at the fork, at
 * a. */
const struct wmi_op *wmi_step_join(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_frame *f = wmi_frame_of(frame);
    uint64_t entry[2] = {wmi_frame_64(frame, 4 * WMI_S_EXEC), op->value};
    if (stack_depth(f) != wmi_frame_32(frame, op->a)) {
        set_stack_depth(f, stack_depth(f) - 1);
        memcpy(entry, &f->s[4 * stack_depth(f)], sizeof entry);
    }
    memcpy(&f->s[WMI_S_EXEC], &entry[0], sizeof entry[0]);
    memcpy(frame + op->d, &entry[1], sizeof entry[1]);
    return op + 1;
}

/* ---- halves of a wave, one after the other ----
 * d receives the next pc, the SGPR at a saves the pending half of EXEC; b is the target's address, op->value
 * the address of the next instruction. Source: RDNA 1 ISA, S_SUBVECTOR_LOOP_BEGIN and _END. */

const struct wmi_op *wmi_step_share_halves(char *restrict frame, const struct wmi_op *op)
{
    enum { HALF = 32 };
    const uint64_t upper = ((const struct wmi_lanes *)(frame + op->lanes))->bits >> HALF;
    uint32_t *row = (uint32_t *)(frame + op->d);
    for (unsigned lane = 0; lane < HALF; lane++)
        if (upper >> lane & 1)
            row[lane] = row[lane + HALF];
        else
            row[lane + HALF] = row[lane];
    return op + 1;
}

const struct wmi_op *wmi_step_begin_halves(char *restrict frame, const struct wmi_op *op)
{
    uint32_t *exec = &wmi_frame_of(frame)->s[WMI_S_EXEC];
    uint64_t next = op->value;
    uint32_t kept;
    if (!exec[0] && !exec[1]) {
        next = wmi_frame_64(frame, op->b);
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

const struct wmi_op *wmi_step_end_halves(char *restrict frame, const struct wmi_op *op)
{
    uint32_t *exec = &wmi_frame_of(frame)->s[WMI_S_EXEC];
    const uint32_t kept = wmi_frame_32(frame, op->a);
    uint64_t next = op->value;
    if (exec[1]) {
        exec[0] = kept;
    } else if (kept) {
        exec[1] = kept;
        memcpy(frame + op->a, &exec[0], sizeof exec[0]);
        exec[0] = 0;
        next = wmi_frame_64(frame, op->b);
    }
    memcpy(frame + op->d, &next, sizeof next);
    return op + 1;
}
