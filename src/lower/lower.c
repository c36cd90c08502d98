/* SPDX-License-Identifier: MIT */
/* Lowers reachable code, instruction by instruction and block by block. */
#include "lower/lower.h"

#include "base/grow.h"
#include "isa/decode/msb.h"
#include "lower/allocated.h"
#include "lower/block.h"
#include "lower/classes.h"
#include "lower/flow.h"
#include "lower/fuse.h"
#include "lower/scan.h"
#include "wavemem/wavemem.h"

#include <stdlib.h>

enum { STEPS_IN_A_ROW = 200 }; /* limits call depth if the compiler does not emit tail calls */

/* State of one wmi_lower() call. */
struct session {
    struct wmi_builder b;
    struct wmi_open_block block; /* current block, for observers */
    size_t block_start;          /* first step of the current block */
    size_t last_return;          /* last return_to_loop step that limits the call depth */
    bool paused;                 /* the previous instruction may suspend the wave */
    bool falls;                  /* the previous instruction falls through to `expected` */
    bool steady;                 /* and always, with the same EXEC; no branch leads there */
    uint64_t expected;
    struct wmi_lowered *out;
};

/* ---- one instruction ---- */

static const wmi_lower_class lowerings[] = {
    [WMI_CLASS_SALU] = wmi_lower_salu,
    [WMI_CLASS_VALU] = wmi_lower_valu,
    [WMI_CLASS_CONTROL] = wmi_lower_control,
    [WMI_CLASS_SMEM] = wmi_lower_scalar_memory,
    [WMI_CLASS_BUFFER] = wmi_lower_vector_memory,
    [WMI_CLASS_TBUFFER] = wmi_lower_vector_memory,
    [WMI_CLASS_IMAGE] = wmi_lower_image,
    [WMI_CLASS_FLAT] = wmi_lower_vector_memory,
    [WMI_CLASS_GLOBAL] = wmi_lower_vector_memory,
    [WMI_CLASS_SCRATCH] = wmi_lower_vector_memory,
    [WMI_CLASS_DS] = wmi_lower_ds,
    [WMI_CLASS_EXPORT] = wmi_lower_export,
};

/* Operands of both halves of a pair. */
static unsigned operand_count(const struct wmi_instruction *insn)
{
    return insn->operands + (insn->second_id ? insn->second_operands : 0u);
}

/* A vector source that is read from LDS at execution. */
static bool is_lds_direct(const struct wmi_instruction *insn, const struct wmi_operand *operand)
{
    return operand->reg == WMI_SPECIAL_LDS_DIRECT && operand->role == WMI_ROLE_A && operand->dwords < 2 &&
           wmi_rows[insn->id].class == WMI_CLASS_VALU;
}

/* Some special registers have no place in the frame, nor do constants wider than 64 bits. */
static bool operands_have_places(const struct wmi_instruction *insn)
{
    for (unsigned i = 0; i < operand_count(insn); i++) {
        const struct wmi_operand *operand = &insn->operand[i];
        const bool special = operand->kind == WMI_OPERAND_SPECIAL;
        const bool constant = operand->kind == WMI_OPERAND_CONSTANT || operand->kind == WMI_OPERAND_LITERAL ||
                              (special && wmi_special_slot(operand->reg) == WMI_S_NULL && !operand->written);
        if ((constant && operand->dwords > 2 && !wmi_matrix_of(insn->id)) ||
            (special && !wmi_special_slot(operand->reg) && !is_lds_direct(insn, operand)))
            return false;
    }
    return true;
}

/* AccVGPRs are the rows after the VGPRs and are lowered as VGPRs of those numbers. */
static void renumber_accumulators(const struct wmi_builder *b, struct wmi_instruction *insn)
{
    for (unsigned i = 0; i < operand_count(insn); i++) {
        struct wmi_operand *operand = &insn->operand[i];
        if (operand->kind == WMI_OPERAND_AGPR) {
            operand->kind = WMI_OPERAND_VGPR;
            operand->reg = (uint16_t)(operand->reg + b->code->options.vgprs);
        }
    }
}

static struct wmi_extent slots(unsigned slot, unsigned words)
{
    return (struct wmi_extent){4 * slot, 4 * (slot + words)};
}

/* Invalidates cached broadcasts of scalars that the instruction writes, and updates the EXEC lane set. */
static void settle_writes(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const struct wmi_extent exec_words = slots(WMI_S_EXEC, 2);
    bool exec = row->flags & WMI_ROW_WRITES_EXEC;
    struct wmi_extent span;
    if (row->flags & WMI_ROW_WRITES_VCC)
        wmi_forget_broadcasts_of(b, slots(WMI_S_VCC, 2));
    if (row->flags & WMI_ROW_WRITES_SCC)
        wmi_forget_broadcasts_of(b, slots(WMI_S_SCC, 1));
    if (row->class == WMI_CLASS_CONTROL && row->flags & WMI_ROW_READS_M0)
        wmi_forget_broadcasts(b); /* s_movreld: any SGPR */
    for (unsigned i = 0; i < operand_count(insn); i++) {
        const struct wmi_operand *operand = &insn->operand[i];
        if (!operand->written || !wmi_scalar_place(operand, &span))
            continue;
        wmi_forget_broadcasts_of(b, span);
        exec |= span.from < exec_words.to && span.to > exec_words.from;
    }
    if (exec && !b->ended) {
        wmi_forget_broadcasts_of(b, exec_words);
        wmi_emit_exec(b);
    }
}

static bool is_vector(const struct wmi_row *row)
{
    return row->class != WMI_CLASS_SALU && row->class != WMI_CLASS_CONTROL && row->class != WMI_CLASS_SMEM;
}

size_t wmi_execution_counters(void)
{
    size_t count = WMI_INSN_COUNT;
    for (const struct wmi_fidelity *f = wmi_fidelities; f->id; f++)
        count++;
    return count;
}

/* Emits steps that count executions of the instruction, if an observer asks for that. */
static void emit_execution(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_observers *observers = wmi_builder_observers(b);
    bool counts = false;
    for (unsigned i = 0; i < observers->count; i++)
        counts |= observers->one[i]->execution_counters != NULL;
    if (!counts)
        return;
    const uint16_t ids[] = {insn->id, insn->second_id};
    for (unsigned i = 0; i < 2 && ids[i]; i++) {
        const struct wmi_fidelity *fidelity = wmi_fidelity_of(wmi_builder_target(b), insn, ids[i]);
        const uint32_t counter = fidelity ? WMI_INSN_COUNT + (uint32_t)(fidelity - wmi_fidelities) : ids[i];
        wmi_emit(b, WMI_STEP_count_execution)->x = counter;
    }
}

/* Whether an observer takes the instruction for a part of the one before. */
static bool joins(const struct session *s, const struct wmi_observer *observer,
                  const struct wmi_instruction *insn)
{
    return s->steady && observer->joins && observer->joins(observer->self, insn);
}

/* Emits steps that report the instruction to observers before it executes, if they ask for that. Returns a
 * bit for each that takes it for a part of the one before. */
static uint64_t emit_shown(const struct session *s, struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_observers *observers = wmi_builder_observers(b);
    uint64_t joining = 0;
    for (unsigned i = 0; i < observers->count; i++) {
        const struct wmi_observer *observer = observers->one[i];
        if (joins(s, observer, insn)) {
            joining |= UINT64_C(1) << i;
            continue;
        }
        const uint32_t number = observer->execute || observer->shadow
                                    ? observer->decoded(observer->self, b->pc, insn)
                                    : WMI_NOT_SHOWN;
        if (number == WMI_NOT_SHOWN)
            continue;
        struct wmi_step *step =
            wmi_emit(b, observer->shadow ? WMI_STEP_show_shadow : WMI_STEP_show_instruction);
        step->x = number;
        step->y = i;
        step->data = observer;
    }
    wmi_emit_event(b, WM_EVENT_INSTRUCTION);
    return joining;
}

/* The instruction has been lowered. */
static void join(const struct wmi_builder *b, uint64_t joining, const struct wmi_instruction *insn)
{
    const struct wmi_observers *observers = wmi_builder_observers(b);
    for (; joining; joining &= joining - 1) {
        const struct wmi_observer *observer = observers->one[__builtin_ctzll(joining)];
        observer->join(observer->self, b->pc, insn);
    }
}

/* Whether the steps from `first` on always lead to the next instruction, with the same EXEC. */
static bool is_steady(const struct wmi_builder *b, size_t first)
{
    const unsigned others = WMI_STEP_LEAVES | WMI_STEP_BRANCHES | WMI_STEP_PAUSES | WMI_STEP_FAULTS |
                            WMI_STEP_ENDS_WAVE | WMI_STEP_TAKES_NEXT;
    for (size_t i = first; i < b->count; i++)
        if (wmi_step_facts_of(b->steps[i].id).flags & others ||
            wmi_step_writes_scalars(&b->steps[i], slots(WMI_S_EXEC, 2), wmi_builder_lanes(b)))
            return false;
    return !b->out_of_memory;
}

/* Emits steps that report completion to the observers that were shown an access, if they ask for that. */
static void emit_done(struct wmi_builder *b)
{
    const struct wmi_observers *observers = wmi_builder_observers(b);
    for (unsigned i = 0; b->shown && i < observers->count; i++)
        if (observers->one[i]->done)
            wmi_emit(b, WMI_STEP_show_done)->y = i;
}

static bool loads_clear_halves(const struct wmi_builder *b)
{
    const enum wmi_sramecc sramecc = b->code->options.sramecc;
    return sramecc == WMI_SRAMECC_UNSAID ? wmi_builder_limit(b, WMI_LIMIT_d16_clears)
                                         : sramecc == WMI_SRAMECC_ON;
}

/* With SRAM-ECC, loads of 16 bits write whole registers: the half that has no value becomes 0. Source: LLVM,
 * GCNSubtarget::d16PreservesUnusedBits; that it is 0 is unverified. */
static void clear_unused_half(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const struct wmi_operand *d = wmi_operand(insn, WMI_ROLE_D);
    if (!(row->flags & WMI_ROW_D16) || row->memory != WMI_MEMORY_LOAD || !d || d->kind != WMI_OPERAND_VGPR ||
        !loads_clear_halves(b) || row->elements % 2 == 0)
        return;
    bool ok = true;
    struct wmi_step *step = wmi_emit(b, wmi_step_of_body(WMI_INSN_v_and_b32));
    step->d = step->a = wmi_lower_vgpr(b, d->reg + row->elements / 2u, 1, &ok);
    step->b = wmi_lower_vector_constant(b, row->flags & WMI_ROW_D16_HI ? 0xffff0000 : 0xffff, 1);
    step->lanes = offsetof(struct wmi_frame, exec);
    step->use[WMI_OP_D] = WMI_USE_READ | WMI_USE_WRITE | WMI_USE_ROWS | 1;
    step->use[WMI_OP_A] = step->use[WMI_OP_B] = WMI_USE_READ | WMI_USE_ROWS | 1;
}

/* The lanes in which the last step from `start` on writes the row. */
static uint32_t written_lanes(const struct wmi_builder *b, size_t start, uint32_t row)
{
    for (size_t i = b->count; i > start; i--)
        if (b->steps[i - 1].d == row && (b->steps[i - 1].use[WMI_OP_D] & (WMI_USE_WRITE | WMI_USE_KIND)) ==
                                            (WMI_USE_WRITE | WMI_USE_ROWS))
            return b->steps[i - 1].lanes;
    return offsetof(struct wmi_frame, exec);
}

/* Waves of 64 lanes execute an instruction for the lower half of their lanes, and then for the upper one.
 * Both see the same values in shared VGPRs. Here each half has its own copy, and what one writes is copied to
 * the other's. Not exact where an instruction of both halves reads the shared VGPR that it writes. Sources:
 * LLVM AMDGPUUsage, SHARED_VGPR_COUNT; Mesa, aco_lower_to_hw_instr.cpp, emit_gfx10_wave64_bpermute(). */
static void share_rows(struct wmi_builder *b, const struct wmi_instruction *insn, size_t start)
{
    const struct wmi_code_options *options = &b->code->options;
    const unsigned own = options->vgprs - options->shared_vgprs;
    for (unsigned i = 0; i < operand_count(insn) && options->shared_vgprs; i++) {
        const struct wmi_operand *operand = &insn->operand[i];
        if (operand->kind != WMI_OPERAND_VGPR || !operand->written)
            continue;
        for (unsigned reg = operand->reg; reg < operand->reg + operand->dwords; reg++) {
            bool ok = true;
            if (reg < own)
                continue;
            const uint32_t row = wmi_lower_vgpr(b, reg, 1, &ok), lanes = written_lanes(b, start, row);
            struct wmi_step *step = wmi_emit(b, WMI_STEP_share_halves);
            step->d = row;
            step->lanes = lanes;
        }
    }
}

static void lower_instruction(struct session *s, struct wmi_instruction *insn)
{
    struct wmi_builder *b = &s->b;
    const size_t start = b->count;
    const struct wmi_instruction shown = *insn; /* with AccVGPRs as such */
    b->temporaries = b->lane_sets = b->scalar_temporaries = 0;
    b->shape = 0;
    b->shown = NULL;
    b->operation = 0;
    if (wmi_builder_observers(b)->count && wmi_rows[insn->id].memory == WMI_MEMORY_ATOMIC)
        b->operation = (uint8_t)wmi_lower_operation(b, insn->id);
    b->uncounted++;
    if (b->count - s->last_return >= STEPS_IN_A_ROW) {
        s->last_return = b->count;
        wmi_emit(b, WMI_STEP_return_to_loop);
    }
    if (b->state & WMI_STATE_VSKIP && is_vector(&wmi_rows[insn->id]))
        return;
    b->beyond = 0;
    if (wmi_find_unallocated(b->code, insn, &(struct wmi_unallocated){0})) {
        b->held = b->code->options.resumable;
        wmi_emit_hold(b, b->uncounted - 1);
        wmi_emit_fault(b, WM_FAULT_INSTRUCTION);
        return;
    }
    b->held |= b->code->options.resumable && wmi_code_holds_accesses(b->code, insn);
    const uint64_t joining = emit_shown(s, b, insn);
    b->depth = wmi_block_depth(b, &s->block, insn);
    renumber_accumulators(b, insn);
    emit_execution(b, insn);
    wmi_emit_hold(b, b->uncounted - 1);
    const wmi_lower_class lower = lowerings[wmi_rows[insn->id].class];
    if (!lower || !operands_have_places(insn) || !lower(b, insn)) {
        if (!b->out_of_memory)
            b->count = start;
        wmi_forget_broadcasts(b);
        b->held = b->code->options.resumable;
        wmi_emit_hold(b, b->uncounted - 1);
        wmi_emit_fault(b, b->beyond ? WM_FAULT_INSTRUCTION : WM_FAULT_TODO);
        return;
    }
    clear_unused_half(b, insn);
    share_rows(b, insn, start);
    settle_writes(b, insn);
    emit_done(b);
    join(b, joining, &shown);
    s->steady = is_steady(b, start);
}

/* ---- blocks ---- */

/* Emits a branch to `place`, which is resolved when first taken. */
static void emit_goto(struct session *s, uint64_t place)
{
    wmi_block_runs_on(&s->b, &s->block, wmi_pc_of(place));
    const bool resumable = s->b.code->options.resumable;
    wmi_step_set_target(wmi_emit_counting(&s->b, resumable ? WMI_STEP_fall : WMI_STEP_branch), place);
}

/* Completes the steps since the last leader. */
static void finish_block(struct session *s)
{
    if (!s->b.code->options.resumable)
        wmi_fuse(&s->b, s->block_start);
    if (s->last_return > s->b.count)
        s->last_return = s->b.count;
}

/* Begins a block at `place`, which branches may enter. */
static void begin_block(struct session *s, uint64_t place)
{
    struct wmi_builder *b = &s->b;
    if (s->falls && b->uncounted)
        wmi_emit_counting(b, WMI_STEP_count);
    if (s->falls)
        wmi_block_runs_on(b, &s->block, wmi_pc_of(place));
    finish_block(s);
    s->steady = false;
    wmi_forget_broadcasts(b);
    s->out->leaders[s->out->leader_count++] = (struct wmi_leader){place, b->count};
    s->block_start = b->count;
    wmi_block_begin(b, &s->block, wmi_pc_of(place), false);
}

/* Whether one of the steps from `first` on may suspend the wave. */
static bool pauses(const struct wmi_builder *b, size_t first)
{
    for (size_t i = first; i < b->count; i++)
        if (wmi_step_facts_of(b->steps[i].id).flags & WMI_STEP_PAUSES)
            return true;
    return false;
}

/* Behind a pause, a wave may come from another program: nothing is known of its temporary rows. */
static void note_resume(struct session *s, uint64_t place)
{
    struct wmi_lowered *out = s->out;
    wmi_forget_broadcasts(&s->b);
    if (wmi_grow(&out->resumes, &out->resume_capacity, out->resume_count, sizeof *out->resumes))
        out->resumes[out->resume_count++] = (struct wmi_leader){place, s->b.count};
    else
        s->b.out_of_memory = true;
}

/* Lowers the instruction at `place` as part of the current block. */
static void lower_place(struct session *s, uint64_t place)
{
    struct wmi_builder *b = &s->b;
    struct wmi_instruction insn;
    b->pc = wmi_pc_of(place);
    b->state = place & WMI_STATE_BITS;
    b->msb = wmi_msb_of(place);
    b->ended = false;
    b->held = b->code->options.resumable && wmi_code_holds(b->code, b->pc);
    if (s->paused)
        note_resume(s, place);
    const size_t first = b->count;
    wmi_block_goes_on(b, &s->block, b->pc);
    if (wmi_code_decode(b->code, b->pc, &insn)) {
        const struct wmi_flow flow = wmi_control_flow(&insn);
        b->next_pc = b->pc + 4u * insn.dwords;
        s->expected = wmi_next_place(place, insn.dwords, &flow);
        wmi_extend_vgprs(&insn, b->msb);
        lower_instruction(s, &insn);
        wmi_block_takes(b, &s->block, &insn, &flow);
    } else {
        b->held = b->code->options.resumable;
        wmi_emit_hold(b, b->uncounted);
        wmi_emit_fault(b, WM_FAULT_INSTRUCTION);
    }
    s->falls = !b->ended;
    s->paused = s->falls && b->code->options.resumable && pauses(b, first);
    if (b->ended) {
        wmi_block_end(b, &s->block);
        b->uncounted = 0;
    }
}

/* ---- shadows ---- */

/* Whether a step only computes in its frame and continues with the next step, so that a shadow can execute
 * it. */
static bool is_for_shadows(const struct wmi_step *step)
{
    const unsigned others = WMI_STEP_LEAVES | WMI_STEP_BRANCHES | WMI_STEP_PAUSES | WMI_STEP_FAULTS |
                            WMI_STEP_ENDS_WAVE | WMI_STEP_TAKES_NEXT;
    const unsigned flags = wmi_step_facts_of(step->id).flags;
    return !(flags & others) && step->id != WMI_STEP_return_to_loop &&
           (flags & WMI_STEP_PURE || step->id == WMI_STEP_lds_swizzle || step->id == WMI_STEP_lds_permute ||
            step->id == WMI_STEP_lds_bpermute);
}

/* Stores in a step that shows an instruction to shadows which of the steps up to the next such step they
 * execute. */
static void mark_for_shadows(const struct wmi_builder *b, size_t at)
{
    struct wmi_step *show = &b->steps[at];
    uint64_t mask = 0;
    for (size_t i = at + 1; i < b->count && b->steps[i].id != WMI_STEP_show_shadow; i++) {
        if (!is_for_shadows(&b->steps[i]))
            continue;
        if (i - at > 64)
            show->a = 1;
        else
            mask |= UINT64_C(1) << (i - at - 1);
    }
    show->d = (uint32_t)mask;
    show->e = (uint32_t)(mask >> 32);
}

bool wmi_lower(struct wmi_code *code, uint64_t entry, const struct wmi_place_map *known, size_t limit,
               struct wmi_lowered *lowered)
{
    struct wmi_scan scan = {0};
    struct session s = {.b = {.code = code}, .out = lowered};
    *lowered = (struct wmi_lowered){0};
    wmi_scan(&scan, code, &code->words, known, entry, limit);
    lowered->leaders = malloc((scan.count + 1) * sizeof *lowered->leaders);
    const bool ok = lowered->leaders && !scan.out_of_memory;
    for (size_t i = 0; ok && i < scan.count; i++) {
        const struct wmi_reached *found = &scan.found[i];
        if (s.falls && s.expected != found->place) {
            emit_goto(&s, s.expected);
            s.falls = s.paused = false;
        }
        if (found->leader || !s.falls)
            begin_block(&s, found->place);
        lower_place(&s, found->place);
    }
    if (s.falls)
        emit_goto(&s, s.expected);
    finish_block(&s);
    for (size_t i = 0; i < s.b.count; i++)
        if (s.b.steps[i].id == WMI_STEP_show_shadow)
            mark_for_shadows(&s.b, i);
    lowered->steps = s.b.steps;
    lowered->count = s.b.count;
    wmi_scan_free(&scan);
    return ok && !s.b.out_of_memory;
}

void wmi_lowered_free(struct wmi_lowered *lowered)
{
    free(lowered->steps);
    free(lowered->leaders);
    free(lowered->resumes);
}
