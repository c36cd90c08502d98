/* SPDX-License-Identifier: MIT */
/* Finds the stretches of a program and makes their steps lead to host code. */
#include "compile/guess.h"
#include "compile/runs.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LEAST_STEPS = 2,       /* of a stretch that is worth its entry */
    MOST_STEPS = 512,      /* where it ends at the latest */
    MOST_BYTES = 32 << 20, /* of host code; what is left is interpreted */
};

struct wmi_host_memory {
    struct wmi_host_memory *next;
    void *code;
    size_t size, used;
};

/* A step that is to lead to the code at this offset. */
struct patch {
    size_t step, code;
};

/* Offsets of the code of a stretch that begins at a step, behind its checks, or 0: for waves with all lanes
 * active, and for others, where k1 to k4 hold EXEC. Before there is code, jumps wait for it. */
struct place {
    size_t full, partial;
    size_t waiting; /* 1 + the index of the last jump that waits, or 0 */
};

struct waiting_jump {
    size_t jump, step;
    size_t next; /* as in struct place */
    bool partial;
};

struct compilation {
    struct wmi_stretch stretch;
    struct patch *patches;
    size_t patch_count, patch_capacity;
    struct place *places; /* of all steps */
    struct waiting_jump *waiting;
    size_t waiting_count, waiting_capacity;
    size_t full_reentries;       /* the number of those of the version for full waves; the others follow */
    size_t exec_rest;            /* code that completes frame->exec: see put_exec_rest() */
    size_t launch[WMI_LAUNCHES]; /* offsets of the code for waves that start, or 0 */
};

/* ThreadSanitizer does not see that code is published by one atomic store. */
#if defined(__SANITIZE_THREAD__)
#define UNDER_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER 1
#endif
#endif

bool wmi_can_compile(enum wmi_cpu_level level)
{
#if defined(__x86_64__) && defined(__linux__) && !defined(UNDER_THREAD_SANITIZER)
#ifdef WMI_X86_LEVELS
    if (level != WMI_CPU_AVX512)
        return false;
#endif
    (void)level; /* without levels, it does not say what the host has */
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
    (void)level;
    return false;
#endif
}

/* ---- stretches ---- */

static wmi_emit_step *emitter_of(const struct wmi_step *step)
{
    wmi_emit_step *emit = wmi_vector_emitter(step);
    if (!emit)
        emit = wmi_scalar_emitter(step);
    if (!emit)
        emit = wmi_memory_emitter(step);
    return emit ? emit : wmi_lds_emitter(step);
}

/* Whether the stretch goes on behind the branch, because it leads ahead and may not be taken. */
static bool falls_through(const struct wmi_block *block, size_t at, const struct wmi_op *target)
{
    const bool back = target >= block->ops && target <= &block->ops[at];
    return block->steps[at].id != WMI_STEP_branch && !back;
}

/* The end of the stretch that begins at `from`. */
static size_t find_end(const struct wmi_block *block, size_t from)
{
    size_t i = from;
    for (; i < block->count - 1 && i - from < MOST_STEPS && (i == from || !block->leads[i]); i++) {
        const struct wmi_step *step = &block->steps[i];
        if (wmi_is_branch(step)) {
            const struct wmi_op *target = wmi_branch_target(block, i);
            if (!target)
                break;
            if (!falls_through(block, i, target))
                return i + 1;
        } else if (step->id != WMI_STEP_stage_EXEC && !emitter_of(step)) {
            break;
        }
    }
    return i;
}

/* How many steps from here on must stay as they are: a step that executes the next one, and the return to it.
 */
static unsigned steps_taken(const struct wmi_block *block, size_t at)
{
    if (!(wmi_step_facts_of(block->steps[at].id).flags & WMI_STEP_TAKES_NEXT))
        return 0;
    return at + 2 < block->count && block->steps[at + 2].id == WMI_STEP_return_to_loop ? 3 : 2;
}

/* Whether a stretch that is worth its entry begins at the step. */
static bool begins(const struct wmi_block *block, size_t at)
{
    return !steps_taken(block, at) && find_end(block, at) - at >= LEAST_STEPS;
}

/* ---- entries and exits ---- */

static void add_patch(struct compilation *c, size_t step)
{
    if (!wmi_grow(&c->patches, &c->patch_capacity, c->patch_count, sizeof *c->patches)) {
        c->stretch.failed = true;
        return;
    }
    c->patches[c->patch_count++] = (struct patch){step, c->stretch.host.count};
}

static const int32_t exec_bits = offsetof(struct wmi_frame, exec) + offsetof(struct wmi_lanes, bits),
                     all_active = offsetof(struct wmi_frame, exec) + offsetof(struct wmi_lanes, full);

/* Code for partial waves holds EXEC in k1 to k4 and in frame->exec.bits, and leaves the rest of frame->exec
 * as it was. This completes it for the interpreter. */
static void put_exec_rest(struct compilation *c)
{
    struct wmi_stretch *s = &c->stretch;
    const unsigned row = WMI_SCRATCH;
    const int32_t place = offsetof(struct wmi_frame, exec) + offsetof(struct wmi_lanes, row);
    c->exec_rest = s->host.count;
    wmi_arithmetic_memory(&s->host, 7, s->lanes == 64, WMI_FRAME, exec_bits, -1);
    wmi_set_if(&s->host, WMI_IF_EQUAL, WMI_RAX);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_RAX, WMI_FRAME, all_active);
    for (unsigned i = 0; i < s->strips; i++) {
        wmi_evex(&s->host, WMI_VPTERNLOGD, row, row, wmi_zmm(row), (WMI_K_EXEC + i) | WMI_ZEROING, 0xff);
        wmi_evex_plain(&s->host, WMI_VMOVUPS_STORE, row, 0,
                       wmi_at(WMI_FRAME, place + (int32_t)(i * WMI_STRIP_BYTES)));
    }
    wmi_return(&s->host);
}

/* Before the wave leaves compiled code. */
static void complete_exec(struct compilation *c, bool partial)
{
    if (partial)
        wmi_call_back(&c->stretch.host, c->exec_rest);
}

/* Continues with the step as it is bound now: with its compiled code, if it has some. */
static void continue_at(struct wmi_stretch *s, const struct wmi_op *op)
{
    wmi_end_vectors(&s->host);
#ifdef WMI_STEPS_RETURN
    wmi_move_immediate(&s->host, WMI_RAX, (uintptr_t)op);
    wmi_return(&s->host);
#else
    wmi_move_immediate(&s->host, WMI_OP, (uintptr_t)op);
    wmi_jump_memory(&s->host, WMI_OP, offsetof(struct wmi_op, body));
#endif
}

/* Executes the step's own body, which continues with the next step. */
static void interpret(struct wmi_stretch *s, const struct wmi_op *op)
{
    wmi_end_vectors(&s->host);
    wmi_move_immediate(&s->host, WMI_OP, (uintptr_t)op);
    wmi_move_immediate(&s->host, WMI_RAX, (uintptr_t)op->body);
    wmi_jump_register(&s->host, WMI_RAX);
}

/* The same for a step that no code has been skipped to reach: without checks, if it has code for such waves
 * or will have it. */
static void go_to(struct compilation *c, const struct wmi_op *op, bool partial)
{
    struct wmi_stretch *s = &c->stretch;
    const struct wmi_block *block = s->block;
    const size_t step = (size_t)(op - block->ops);
    if (op < block->ops || op >= &block->ops[block->count]) {
        complete_exec(c, partial);
        continue_at(s, op);
        return;
    }
    struct place *place = &c->places[step];
    if (place->full) {
        wmi_jump_back(&s->host, partial ? place->partial : place->full);
    } else if (step > s->from && begins(block, step) &&
               wmi_grow(&c->waiting, &c->waiting_capacity, c->waiting_count, sizeof *c->waiting)) {
        c->waiting[c->waiting_count++] =
            (struct waiting_jump){wmi_jump(&s->host), step, place->waiting, partial};
        place->waiting = c->waiting_count;
    } else {
        complete_exec(c, partial);
        continue_at(s, op);
    }
}

/* Lets the jumps to the step that wait, of the one kind, lead to what is emitted next. */
static void land_waiting(struct compilation *c, size_t step, bool partial)
{
    for (size_t i = c->places[step].waiting; i; i = c->waiting[i - 1].next) {
        struct waiting_jump *waiting = &c->waiting[i - 1];
        if (waiting->jump && waiting->partial == partial) {
            wmi_land(&c->stretch.host, waiting->jump);
            waiting->jump = 0;
        }
    }
}

/* Jumps to steps that were not compiled after all. */
static void put_missed(struct compilation *c)
{
    struct wmi_stretch *s = &c->stretch;
    for (size_t i = 0; i < c->waiting_count; i++) {
        if (!c->waiting[i].jump)
            continue;
        wmi_land(&s->host, c->waiting[i].jump);
        complete_exec(c, c->waiting[i].partial);
        continue_at(s, &s->block->ops[c->waiting[i].step]);
    }
}

static const int32_t turn_left = offsetof(struct wmi_frame, left);

/* The wave's turn is over; it resumes with the step. */
static void pause_at(struct wmi_stretch *s, const struct wmi_op *op)
{
    wmi_end_vectors(&s->host);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, offsetof(struct wmi_frame, wave));
    wmi_move_immediate(&s->host, WMI_RCX, (uintptr_t)op);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_RCX, WMI_RAX,
                      (int32_t)s->block->layout->wave_resume);
    wmi_move_immediate(&s->host, WMI_RAX, 0);
    wmi_return(&s->host);
}

/* Notes whether something has written the VGPRs since the wave started. */
static void set_pristine(struct wmi_stretch *s, bool pristine)
{
    wmi_move_immediate(&s->host, WMI_RAX, pristine);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_RAX, WMI_FRAME,
                      offsetof(struct wmi_frame, pristine));
}

static void load_held(struct wmi_stretch *s, const struct wmi_reentry *back)
{
    for (unsigned i = 0; i < back->count; i++)
        wmi_stretch_load(s, &back->held[i]);
}

static const struct wmi_reentry *find_reentry(const struct wmi_reentries *reentries, size_t from, size_t to,
                                              size_t step)
{
    for (size_t i = from; i < to; i++)
        if (reentries->one[i].step == step)
            return &reentries->one[i];
    return NULL;
}

/* The step of an exit is not executed yet: by the code for waves that did not start here, if there is some.
 */
static void do_step(struct wmi_stretch *s, const struct wmi_exit *leave)
{
    const struct wmi_reentry *point =
        leave->version == WMI_LAUNCH
            ? find_reentry(&s->points, 0, s->points.count, (size_t)(leave->op - s->block->ops))
            : NULL;
    if (point) {
        load_held(s, point);
        wmi_jump_back(&s->host, point->code);
    } else {
        interpret(s, leave->op);
    }
}

/* frame->exec.bits <- the EXEC words; k1 to k4 hold EXEC from now on. */
static void put_exec(struct wmi_stretch *s)
{
    const int32_t words = offsetof(struct wmi_frame, s) + 4 * WMI_S_EXEC;
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, s->lanes == 64, WMI_RAX, WMI_FRAME, words);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_RAX, WMI_FRAME, exec_bits);
    for (unsigned i = 0; i < s->strips; i++)
        wmi_kmov_load(&s->host, WMI_K_EXEC + i, WMI_FRAME, words + (int32_t)(2 * i));
}

/* EXEC has become partial: the code for partial waves goes on. */
static void go_over(struct compilation *c, const struct wmi_op *op)
{
    struct wmi_stretch *s = &c->stretch;
    const struct wmi_reentry *partial =
        find_reentry(&s->reentries, c->full_reentries, s->reentries.count, (size_t)(op - s->block->ops));
    put_exec(s);
    if (partial) {
        load_held(s, partial);
        wmi_jump_back(&s->host, partial->code);
    } else {
        complete_exec(c, true);
        continue_at(s, op);
    }
}

static void put_exit(struct compilation *c, const struct wmi_exit *leave)
{
    struct wmi_stretch *s = &c->stretch;
    const bool partial = leave->version == WMI_PARTIAL;
    wmi_land(&s->host, leave->jump);
    if (leave->version == WMI_LAUNCH)
        set_pristine(s, false);
    for (unsigned i = 0; i < leave->count; i++)
        wmi_stretch_store(s, &leave->dirty[i]);
    switch (leave->kind) {
    case WMI_EXIT_INTERPRETS:
        complete_exec(c, partial);
        do_step(s, leave);
        break;
    case WMI_EXIT_CONTINUES:
        go_to(c, leave->op, partial);
        break;
    case WMI_EXIT_CHANGES_EXEC:
        go_over(c, leave->op);
        break;
    case WMI_EXIT_BRANCHES: {
        wmi_arithmetic_memory(&s->host, 7, true, WMI_FRAME, turn_left, 0);
        const size_t over = wmi_jump_if(&s->host, WMI_IF_LESS);
        go_to(c, leave->op, partial);
        wmi_land(&s->host, over);
        complete_exec(c, partial);
        pause_at(s, leave->op);
        break;
    }
    case WMI_EXIT_PAUSES:
        complete_exec(c, partial);
        pause_at(s, leave->op);
        break;
    }
}

/* Checks what compiled code assumes. Returns the jump taken by waves with inactive lanes. */
static size_t put_check(struct wmi_stretch *s, size_t step)
{
    wmi_arithmetic_memory(&s->host, 7, false, WMI_FRAME, offsetof(struct wmi_frame, mode),
                          (int32_t)s->block->mode.mode);
    const size_t usual = wmi_jump_if(&s->host, WMI_IF_EQUAL);
    interpret(s, &s->block->ops[step]);
    wmi_land(&s->host, usual);
    wmi_scalar_memory(&s->host, WMI_LEA, true, WMI_ROWS, WMI_FRAME, (int32_t)wmi_stretch_origin(s));
    wmi_arithmetic_memory(&s->host, 7, true, WMI_FRAME, all_active, 0);
    return wmi_jump_if(&s->host, WMI_IF_EQUAL);
}

static void load_exec(struct wmi_stretch *s)
{
    for (unsigned i = 0; i < s->strips; i++)
        wmi_kmov_load(&s->host, WMI_K_EXEC + i, WMI_FRAME, exec_bits + (int32_t)(2 * i));
}

/* Loads what the code at the reentry expects. */
static void put_reentry(struct wmi_stretch *s, const struct wmi_reentry *back, bool partial)
{
    if (partial)
        load_exec(s);
    load_held(s, back);
    wmi_jump_back(&s->host, back->code);
}

/* ---- branches ---- */

/* Compares with 0 what the branch depends on; returns the condition under which it is not taken. */
static enum wmi_condition put_condition(struct wmi_stretch *s, const struct wmi_step *step)
{
    const int32_t scc = offsetof(struct wmi_frame, s) + 4 * WMI_S_SCC,
                  vcc = offsetof(struct wmi_frame, s) + 4 * WMI_S_VCC;
    switch (step->id) {
    case WMI_STEP_branch_scc0:
    case WMI_STEP_branch_scc1:
        wmi_arithmetic_memory(&s->host, 7, false, WMI_FRAME, scc, 0);
        return step->id == WMI_STEP_branch_scc0 ? WMI_IF_NOT_EQUAL : WMI_IF_EQUAL;
    case WMI_STEP_branch_vccz:
    case WMI_STEP_branch_vccnz:
        wmi_arithmetic_memory(&s->host, 7, s->lanes == 64, WMI_FRAME, vcc, 0);
        return step->id == WMI_STEP_branch_vccz ? WMI_IF_NOT_EQUAL : WMI_IF_EQUAL;
    default:
        wmi_arithmetic_memory(&s->host, 7, true, WMI_FRAME, exec_bits, 0);
        return step->id == WMI_STEP_branch_execz ? WMI_IF_NOT_EQUAL : WMI_IF_EQUAL;
    }
}

static void count_block(struct wmi_stretch *s)
{
    wmi_arithmetic_memory(&s->host, 5, true, WMI_FRAME, turn_left, (int32_t)s->block->steps[s->at].c);
}

/* Counts the block, and leaves if the branch is not taken or the turn is over. */
static void put_branch(struct wmi_stretch *s, const struct wmi_op *target)
{
    const struct wmi_step *step = &s->block->steps[s->at];
    count_block(s);
    if (step->id != WMI_STEP_branch) {
        const enum wmi_condition not_taken = put_condition(s, step);
        wmi_stretch_exit_at(s, wmi_jump_if(&s->host, not_taken), WMI_EXIT_CONTINUES,
                            &s->block->ops[s->at + 1]);
    }
    wmi_arithmetic_memory(&s->host, 7, true, WMI_FRAME, turn_left, 0);
    wmi_stretch_exit_at(s, wmi_jump_if(&s->host, WMI_IF_LESS), WMI_EXIT_PAUSES, target);
}

/* Counts the block, and leaves if the branch is taken. */
static void put_branch_ahead(struct wmi_stretch *s, const struct wmi_op *target)
{
    enum { NOT = 1 }; /* of a condition */
    count_block(s);
    const enum wmi_condition not_taken = put_condition(s, &s->block->steps[s->at]);
    wmi_stretch_exit_at(s, wmi_jump_if(&s->host, not_taken ^ NOT), WMI_EXIT_BRANCHES, target);
}

static void compare_exec(struct wmi_stretch *s, int32_t value)
{
    wmi_arithmetic_memory(&s->host, 7, s->lanes == 64, WMI_FRAME,
                          (int32_t)(offsetof(struct wmi_frame, s) + 4 * WMI_S_EXEC), value);
}

/* Leaves, with the EXEC that the current step makes valid. */
static void leave_with_exec_if(struct wmi_stretch *s, enum wmi_condition condition)
{
    wmi_stretch_exit_at(s, wmi_jump_if(&s->host, condition), WMI_EXIT_CHANGES_EXEC,
                        &s->block->ops[s->at + 1]);
}

/* EXEC changes. Waves that are in code for full ones, and are not full any more, leave it for the other code.
 */
static void change_exec(struct wmi_stretch *s)
{
    if (s->partial) {
        wmi_stretch_leave_lanes(s);
        put_exec(s);
    } else {
        compare_exec(s, -1);
        leave_with_exec_if(s, WMI_IF_NOT_EQUAL);
    }
    s->has_changed_exec = true;
    wmi_stretch_come_back(s);
}

/* Whether the kernel starts with this stretch. */
static bool is_entry(const struct wmi_stretch *s)
{
    return &s->block->ops[s->from] == s->block->entry;
}

enum outcome { REACHES_END, BRANCHES, ALWAYS_LEAVES };

/* ---- EXEC of waves that start ---- */

/* The number of the step where the branch behind the current step leads if no lane is active, or 0. */
static size_t place_without_lanes(const struct wmi_stretch *s)
{
    const struct wmi_block *block = s->block;
    const size_t next = s->at + 1;
    if (next >= block->count || block->steps[next].id != WMI_STEP_branch_execz)
        return 0;
    const struct wmi_op *target = wmi_branch_target(block, next);
    return target > &block->ops[next] && target < &block->ops[block->count] ? (size_t)(target - block->ops)
                                                                            : 0;
}

static bool ends_wave(const struct wmi_step *step)
{
    return wmi_step_facts_of(step->id).flags & WMI_STEP_ENDS_WAVE;
}

/* Whether the wave only ends there. */
static bool is_end(const struct wmi_block *block, size_t at)
{
    while (at + 1 < block->count && block->steps[at].id == WMI_STEP_count)
        at++;
    return ends_wave(&block->steps[at]);
}

/* Whether what stands there is without effect on lanes until EXEC changes. */
static bool waits_for_exec(const struct wmi_block *block, size_t at)
{
    for (; at < block->count - 1 && block->steps[at].id != WMI_STEP_stage_EXEC; at++) {
        const struct wmi_step *step = &block->steps[at];
        if (!wmi_scalar_emitter(step) ||
            !(step->id == WMI_STEP_count || wmi_step_facts_of(step->id).flags & WMI_STEP_PURE))
            return false;
    }
    return at < block->count - 1;
}

/* Whether the current step makes EXEC valid for the lanes that did not take the first way of two: none in
 * waves of which all lanes took it. */
static bool begins_second_way(const struct wmi_stretch *s)
{
    const struct wmi_step *steps = s->block->steps;
    const uint32_t exec = offsetof(struct wmi_frame, s) + 4 * WMI_S_EXEC;
    if (s->at == s->from)
        return false;
    switch ((int)steps[s->at - 1].id) {
    case WMI_STEP_BODIES + WMI_INSN_s_andn2_saveexec_b64:
    case WMI_STEP_BODIES + WMI_INSN_s_andn2_saveexec_b32:
        return true;
    case WMI_STEP_BODIES + WMI_INSN_s_xor_b64:
    case WMI_STEP_BODIES + WMI_INSN_s_xor_b32:
        return steps[s->at - 1].d == exec;
    default:
        return false;
    }
}

/* Counts the block of the branch behind the current step. Leaves if the turn is over then. */
static void count_branch(struct wmi_stretch *s)
{
    const int32_t instructions = (int32_t)s->block->steps[s->at + 1].c;
    wmi_arithmetic_memory(&s->host, 7, true, WMI_FRAME, turn_left, instructions);
    leave_with_exec_if(s, WMI_IF_LESS);
    wmi_arithmetic_memory(&s->host, 5, true, WMI_FRAME, turn_left, instructions);
}

/* EXEC changes in a wave that started here. It goes on if all lanes are active; or ends if none is and
 * nothing is left to do; or goes on behind the second way of two. */
static void change_exec_of_started(struct wmi_stretch *s)
{
    const size_t place = place_without_lanes(s);
    if (place && begins_second_way(s) && waits_for_exec(s->block, place)) {
        compare_exec(s, 0);
        leave_with_exec_if(s, WMI_IF_NOT_EQUAL);
        count_branch(s);
        s->at = place - 1;
    } else if (place && is_end(s->block, place)) {
        compare_exec(s, -1);
        const size_t full = wmi_jump_if(&s->host, WMI_IF_EQUAL);
        compare_exec(s, 0);
        leave_with_exec_if(s, WMI_IF_NOT_EQUAL);
        count_branch(s);
        wmi_stretch_restore_spilled(s);
        continue_at(s, &s->block->ops[place]);
        wmi_land(&s->host, full);
    } else {
        compare_exec(s, -1);
        leave_with_exec_if(s, WMI_IF_NOT_EQUAL);
    }
}

/* Whether a later branch leads back to the step. */
static bool is_loop_head(const struct wmi_block *block, size_t at)
{
    enum { LONGEST = 2048 }; /* steps of a loop; heads of longer ones are not worth the search */
    for (size_t i = at; block->leads[at] && i + 1 < block->count && i - at < LONGEST; i++)
        if (wmi_is_branch(&block->steps[i]) && wmi_branch_target(block, i) == &block->ops[at])
            return true;
    return false;
}

/* Code for waves that start goes on where branches lead, too, but not into loops. */
static bool ends_launch(const struct wmi_stretch *s)
{
    const struct wmi_block *block = s->block;
    const struct wmi_step *step = &block->steps[s->at];
    if (s->at == s->from)
        return false;
    if (s->at - s->from >= MOST_STEPS || is_loop_head(block, s->at))
        return true;
    return wmi_is_branch(step) ? !wmi_branch_target(block, s->at)
                               : step->id != WMI_STEP_stage_EXEC && !emitter_of(step);
}

/* ---- steps ---- */

/* The code of the steps up to the end, or to a branch that is likely to be taken. */
static enum outcome put_steps(struct wmi_stretch *s)
{
    for (s->at = s->from; s->at < s->end && !s->failed; s->at++) {
        const struct wmi_step *step = &s->block->steps[s->at];
        if (s->version == WMI_LAUNCH && ends_launch(s)) {
            s->end = s->at;
            break;
        }
        if (s->version == WMI_FULL && is_entry(s))
            wmi_stretch_note(s, &s->points, s->at);
        if (wmi_is_branch(step)) {
            const struct wmi_op *target = wmi_branch_target(s->block, s->at);
            if (!falls_through(s->block, s->at, target))
                return BRANCHES;
            put_branch_ahead(s, target);
        } else if (step->id == WMI_STEP_stage_EXEC && s->version == WMI_LAUNCH) {
            change_exec_of_started(s);
        } else if (step->id == WMI_STEP_stage_EXEC) {
            change_exec(s);
        } else if (!(s->version == WMI_LAUNCH && wmi_runs_emit(s, step)) && !emitter_of(step)(s, step)) {
            wmi_stretch_end_step(s);
            wmi_stretch_exit_at(s, wmi_jump(&s->host), WMI_EXIT_INTERPRETS, &s->block->ops[s->at]);
            if (s->version == WMI_LAUNCH) /* nothing comes back */
                return ALWAYS_LEAVES;
            wmi_stretch_forget(s);
            wmi_stretch_come_back(s);
        }
        wmi_stretch_end_step(s);
    }
    return REACHES_END;
}

/* A block that branches to itself: the first iteration finds out what is worth a register, the others keep it
 * there. */
static void put_loop(struct wmi_stretch *s, const struct wmi_op *target)
{
    struct wmi_kept kept;
    put_branch(s, target);
    wmi_stretch_keep(s, &kept);
    const size_t head = s->host.count;
    put_steps(s);
    put_branch(s, target);
    wmi_stretch_match(s, &kept);
    wmi_jump_back(&s->host, head);
}

/* Where a wave goes from the end of a version. */
static void put_end(struct compilation *c)
{
    struct wmi_stretch *s = &c->stretch;
    const bool ends = ends_wave(&s->block->steps[s->end]);
    wmi_stretch_flush(s, s->end);
    if (s->version == WMI_LAUNCH && ends)
        wmi_stretch_restore_spilled(s);
    else if (s->version == WMI_LAUNCH)
        set_pristine(s, false);
    go_to(c, &s->block->ops[s->end], s->partial);
}

/* The code for waves of the kind; exits and reentries are left to be put. */
static void put_version(struct compilation *c, enum wmi_version version)
{
    struct wmi_stretch *s = &c->stretch;
    s->version = version;
    s->partial = version == WMI_PARTIAL;
    wmi_stretch_forget(s);
    if (s->partial)
        load_exec(s);
    if (version != WMI_LAUNCH) {
        *(s->partial ? &c->places[s->from].partial : &c->places[s->from].full) = s->host.count;
        land_waiting(c, s->from, s->partial);
    }
    const enum outcome outcome = put_steps(s);
    if (outcome == REACHES_END)
        put_end(c);
    if (outcome != BRANCHES)
        return;
    const struct wmi_op *target = wmi_branch_target(s->block, s->at);
    if (target == &s->block->ops[s->from] && version != WMI_LAUNCH) {
        put_loop(s, target);
        return;
    }
    put_branch(s, target);                 /* the step behind it may read temporary rows */
    wmi_stretch_flush(s, s->block->count); /* the target may read every VGPR, and no temporary row */
    if (version == WMI_LAUNCH)
        set_pristine(s, false);
    go_to(c, target, s->partial);
}

static void put_stretch(struct compilation *c)
{
    struct wmi_stretch *s = &c->stretch;
    s->exit_count = s->reentries.count = s->points.count = 0;
    add_patch(c, s->from);
    const size_t inactive = put_check(s, s->from);
    put_version(c, WMI_FULL);
    const size_t of_full = c->full_reentries = s->reentries.count;
    wmi_land(&s->host, inactive);
    put_version(c, WMI_PARTIAL);
    wmi_stretch_put_asides(s);
    for (size_t i = 0; i < s->exit_count; i++)
        put_exit(c, &s->exits[i]);
    for (size_t step = s->from + 1; step < s->end; step++) {
        const struct wmi_reentry *full = find_reentry(&s->reentries, 0, of_full, step),
                                 *partial = find_reentry(&s->reentries, of_full, s->reentries.count, step);
        if (!partial)
            continue;
        add_patch(c, step);
        const size_t to_partial = put_check(s, step);
        if (full)
            put_reentry(s, full, false);
        wmi_land(&s->host, to_partial);
        put_reentry(s, partial, true); /* of full waves too, if they have no code of their own here */
    }
}

/* The first stretch of the kernel for waves that start in it. Others go to its usual code. */
static void put_launch(struct compilation *c, enum wmi_launch_code kind)
{
    struct wmi_stretch *s = &c->stretch;
    s->exit_count = 0;
    s->whole_waves = kind == WMI_LAUNCH_WAVES;
    c->launch[kind] = s->host.count;
    const size_t inactive = put_check(s, s->from);
    set_pristine(s, true);
    s->end = s->block->count - 1;
    wmi_spread_begin(&s->host);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_R10, WMI_FRAME,
                      (int32_t)offsetof(struct wmi_frame, wave));
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_R10, WMI_R10, (int32_t)s->block->layout->wave_worker);
    put_version(c, WMI_LAUNCH);
    wmi_stretch_put_asides(s);
    for (size_t i = 0; i < s->exit_count; i++)
        put_exit(c, &s->exits[i]);
    wmi_land(&s->host, inactive);
    continue_at(s, &s->block->ops[s->from]);
}

static void put_all(struct compilation *c)
{
    struct wmi_stretch *s = &c->stretch;
    const struct wmi_block *block = s->block;
    wmi_put_64(&s->host, 0); /* where UBSan looks for the type of the first function */
    put_exec_rest(c);
    for (size_t i = 0; i + 1 < block->count && s->host.count < MOST_BYTES && !s->failed && !s->host.full;) {
        const unsigned taken = steps_taken(block, i);
        if (taken) {
            i += taken;
            continue;
        }
        const size_t end = find_end(block, i);
        if (end - i >= LEAST_STEPS) {
            s->from = i;
            s->end = end;
            put_stretch(c);
            for (unsigned kind = 0; is_entry(s) && kind < WMI_LAUNCHES; kind++)
                put_launch(c, (enum wmi_launch_code)kind);
        }
        i = end > i ? end : i + 1;
    }
    put_missed(c);
}

/* ---- memory ---- */

/* Copies the code to memory that can be executed and not written. */
static struct wmi_host_memory *make_executable(const struct wmi_host *host, bool *refused)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (host->count + page - 1) / page * page;
    struct wmi_host_memory *memory = malloc(sizeof *memory);
    if (!memory)
        return NULL;
    *memory = (struct wmi_host_memory){.size = size, .used = host->count};
    memory->code = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory->code == MAP_FAILED) {
        free(memory);
        return NULL;
    }
    memcpy(memory->code, host->bytes, host->count);
    if (mprotect(memory->code, size, PROT_READ | PROT_EXEC)) {
        munmap(memory->code, size);
        free(memory);
        *refused = true;
        return NULL;
    }
    return memory;
}

void wmi_host_memory_free(struct wmi_host_memory *memory)
{
    for (struct wmi_host_memory *next; memory; memory = next) {
        next = memory->next;
        munmap(memory->code, memory->size);
        free(memory);
    }
}

size_t wmi_host_memory_size(const struct wmi_host_memory *memory)
{
    size_t size = 0;
    for (; memory; memory = memory->next)
        size += memory->used;
    return size;
}

static wmi_body body_at(const unsigned char *code, size_t offset)
{
    const union {
        const unsigned char *code;
        wmi_body body;
    } entry = {.code = code + offset};
    return entry.body;
}

static void apply_patches(const struct compilation *c, const unsigned char *code)
{
    for (size_t i = 0; i < c->patch_count; i++)
        __atomic_store_n(&c->stretch.block->ops[c->patches[i].step].body, body_at(code, c->patches[i].code),
                         __ATOMIC_RELEASE);
}

bool wmi_compile(const struct wmi_block *block, struct wmi_host_memory **memory,
                 wmi_body launch[WMI_LAUNCHES], bool *refused)
{
    struct compilation *c = calloc(1, sizeof *c);
    bool ok = false;
    if (!c)
        return false;
    c->stretch.guess = malloc(block->count);
    c->places = calloc(block->count, sizeof *c->places);
    if (!c->stretch.guess || !c->places) {
        free(c->stretch.guess);
        free(c->places);
        free(c);
        return false;
    }
    wmi_guess_strides(block, c->stretch.guess);
    c->stretch.block = block;
    c->stretch.lanes = block->code->options.lanes;
    c->stretch.strips = c->stretch.lanes / WMI_STRIP_LANES;
    c->stretch.row_bytes = block->code->row_bytes;
    put_all(c);
    if (!c->stretch.failed && !c->stretch.host.full) {
        struct wmi_host_memory *made = c->patch_count ? make_executable(&c->stretch.host, refused) : NULL;
        if (made) {
            made->next = *memory;
            *memory = made;
            apply_patches(c, made->code);
            for (unsigned i = 0; i < WMI_LAUNCHES; i++)
                if (c->launch[i])
                    launch[i] = body_at(made->code, c->launch[i]);
        }
        ok = made || !c->patch_count;
    }
    free(c->stretch.guess);
    free(c->stretch.host.bytes);
    free(c->stretch.asides);
    free(c->stretch.aside_jumps);
    free(c->stretch.aside_bytes.bytes);
    free(c->stretch.exits);
    free(c->stretch.reentries.one);
    free(c->stretch.points.one);
    free(c->patches);
    free(c->places);
    free(c->waiting);
    free(c);
    return ok;
}
