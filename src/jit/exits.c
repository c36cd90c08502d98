/* SPDX-License-Identifier: MIT */
#include "jit/exits.h"

#include "jit/cut.h"

#include "base/grow.h"
#include "jit/scalar_memory.h"
#include "lower/place.h"

static const int32_t all_active = offsetof(struct wmi_frame, exec) + offsetof(struct wmi_lanes, full);

/* Compares EXEC, as code for partial waves holds it, with all lanes. */
static void compare_exec_bits(struct wmi_stretch *s)
{
    wmi_arithmetic_memory(&s->host, 7, s->lanes == 64, WMI_FRAME, WMI_EXEC_BITS, -1);
}

/* Code for partial waves holds EXEC in k1 to k4 and in frame->exec.bits, and leaves the rest of frame->exec
 * as it was. This completes it for the interpreter. There is nothing to do if all lanes are active again, as
 * they were before. */
void wmi_exits_begin(struct wmi_compilation *c)
{
    struct wmi_stretch *s = &c->stretch;
    const unsigned row = WMI_SCRATCH;
    const int32_t place = offsetof(struct wmi_frame, exec) + offsetof(struct wmi_lanes, row);
    c->exec_rest = s->host.count;
    compare_exec_bits(s);
    wmi_set_if(&s->host, WMI_IF_EQUAL, WMI_RAX);
    const size_t partial = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    wmi_arithmetic_memory(&s->host, 7, true, WMI_FRAME, all_active, 0);
    const size_t completed = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    wmi_land(&s->host, partial);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_RAX, WMI_FRAME, all_active);
    for (unsigned i = 0; i < s->strips; i++) {
        wmi_evex(&s->host, WMI_VPTERNLOGD, row, row, wmi_zmm(row), (WMI_K_EXEC + i) | WMI_ZEROING, 0xff);
        wmi_evex_plain(&s->host, WMI_VMOVUPS_STORE, row, 0,
                       wmi_at(WMI_FRAME, place + (int32_t)(i * WMI_STRIP_BYTES)));
    }
    wmi_land(&s->host, completed);
    wmi_return(&s->host);
}

/* Before the wave leaves compiled code. */
static void complete_exec(struct wmi_compilation *c, bool partial)
{
    if (partial)
        wmi_call_back(&c->stretch.host, c->exec_rest);
}

/* What hosts without AVX-512 need where C functions enter the code, and before it leaves for them. */
static void enter_code(struct wmi_host *host)
{
    if (host->vectors->enter)
        host->vectors->enter(host);
}

static void leave_code(struct wmi_host *host)
{
    wmi_end_vectors(host);
    if (host->vectors->leave)
        host->vectors->leave(host);
}

static void pass_to(struct wmi_stretch *s, const struct wmi_op *op)
{
#ifdef WMI_STEPS_RETURN
    wmi_move_immediate(&s->host, WMI_RAX, (uintptr_t)op);
    wmi_return(&s->host);
#else
    wmi_move_immediate(&s->host, WMI_OP, (uintptr_t)op);
    wmi_jump_memory(&s->host, WMI_OP, offsetof(struct wmi_op, body));
#endif
}

/* Continues with the step as it is bound now: with its compiled code, if it has some. */
void wmi_continue_at(struct wmi_stretch *s, const struct wmi_op *op)
{
    leave_code(&s->host);
    pass_to(s, op);
}

/* Executes the step's own body, which continues with the next step. The code has been left. */
static void interpret(struct wmi_stretch *s, const struct wmi_op *op)
{
    wmi_move_immediate(&s->host, WMI_OP, (uintptr_t)op);
    wmi_move_immediate(&s->host, WMI_RAX, (uintptr_t)op->body);
    wmi_jump_register(&s->host, WMI_RAX);
}

/* Lets the jump wait for the code of its step. */
static void add_waiting(struct wmi_compilation *c, struct wmi_waiting_jump waiting)
{
    if (!wmi_grow(&c->waiting, &c->waiting_capacity, c->waiting_count, sizeof *c->waiting)) {
        c->stretch.failed = true;
        return;
    }
    size_t *first = &c->places[waiting.step].waiting;
    waiting.next = *first;
    c->waiting[c->waiting_count++] = waiting;
    *first = c->waiting_count;
}

void wmi_put_worker(struct wmi_stretch *s)
{
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_R10, WMI_FRAME,
                      (int32_t)offsetof(struct wmi_frame, wave));
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_R10, WMI_R10, (int32_t)s->block->layout->wave_worker);
}

void wmi_put_restart(struct wmi_stretch *s, const struct wmi_op *op)
{
    if (s->left_behind != WMI_RESTARTS)
        return;
    wmi_put_worker(s);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_R10,
                      (int32_t)s->block->layout->worker_next_start);
    wmi_scalar_registers(&s->host, WMI_TEST, true, WMI_RAX, WMI_RAX);
    const size_t none = wmi_jump_if(&s->host, WMI_IF_EQUAL);
    wmi_move_immediate(&s->host, WMI_ENDED, (uintptr_t)op);
    wmi_jump_register(&s->host, WMI_RAX);
    wmi_land(&s->host, none);
}

/* The same for a step that no code has been skipped to reach: without checks, if it has code for such waves
 * or will have it. */
void wmi_go_to(struct wmi_compilation *c, const struct wmi_op *op, bool partial)
{
    struct wmi_stretch *s = &c->stretch;
    const struct wmi_block *block = s->block;
    const size_t step = (size_t)(op - block->ops);
    if (op < block->ops || op >= &block->ops[block->count]) {
        complete_exec(c, partial);
        wmi_continue_at(s, op);
        return;
    }
    struct wmi_place *place = &c->places[step];
    if (place->full) {
        wmi_jump_back(&s->host, partial ? place->partial : place->full);
    } else if (step > s->from && wmi_begins_stretch(block, step)) {
        add_waiting(c, (struct wmi_waiting_jump){wmi_jump(&s->host), step, .partial = partial});
    } else {
        complete_exec(c, partial);
        if (wmi_ends_wave(&block->steps[step]))
            wmi_put_restart(s, op);
        wmi_continue_at(s, op);
    }
}

static void land(struct wmi_compilation *c, size_t step, bool partial, bool resumes)
{
    for (size_t i = c->places[step].waiting; i; i = c->waiting[i - 1].next) {
        struct wmi_waiting_jump *waiting = &c->waiting[i - 1];
        if (waiting->jump && waiting->partial == partial && waiting->resumes == resumes) {
            wmi_land(&c->stretch.host, waiting->jump);
            waiting->jump = 0;
        }
    }
}

/* Lets the jumps to the step that wait, of the one kind, lead to what is emitted next. */
void wmi_land_waiting(struct wmi_compilation *c, size_t step, bool partial)
{
    land(c, step, partial, false);
}

void wmi_put_rows_address(struct wmi_stretch *s)
{
    wmi_scalar_memory(&s->host, WMI_LEA, true, WMI_ROWS, WMI_FRAME, (int32_t)wmi_stretch_origin(s));
}

/* Where waves go on behind s_barrier. They got there in compiled code, so that nothing needs to be checked.
 */
void wmi_put_resumption(struct wmi_compilation *c, bool partial)
{
    struct wmi_stretch *s = &c->stretch;
    if (!s->from || s->block->steps[s->from - 1].id != WMI_STEP_barrier)
        return;
    const size_t others = wmi_jump(&s->host);
    wmi_put_64(&s->host, (uintptr_t)&s->block->ops[s->from]);
    land(c, s->from, partial, true);
    enter_code(&s->host);
    wmi_put_rows_address(s);
    wmi_land(&s->host, others);
}

/* Jumps to steps that were not compiled after all. */
void wmi_put_missed(struct wmi_compilation *c)
{
    struct wmi_stretch *s = &c->stretch;
    for (size_t i = 0; i < c->waiting_count; i++) {
        const struct wmi_waiting_jump *waiting = &c->waiting[i];
        const struct wmi_op *op = &s->block->ops[waiting->step];
        if (!waiting->jump)
            continue;
        if (waiting->resumes)
            wmi_put_64(&s->host, (uintptr_t)op);
        wmi_land(&s->host, waiting->jump);
        if (!waiting->resumes) {
            complete_exec(c, waiting->partial);
            leave_code(&s->host);
        }
        pass_to(s, op);
    }
}

/* Notes that the wave resumes behind the s_barrier `op`, and lets its successor go on, if it has one and its
 * turn is not over. */
static void put_handover(struct wmi_compilation *c, const struct wmi_op *op, bool partial)
{
    struct wmi_stretch *s = &c->stretch;
    const int32_t instructions = (int32_t)s->block->steps[s->end].c;
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME,
                      offsetof(struct wmi_frame, successor));
    wmi_arithmetic_immediate(&s->host, 7, true, WMI_RAX, 0);
    const size_t none = wmi_jump_if(&s->host, WMI_IF_EQUAL);
    wmi_arithmetic_memory(&s->host, 5, true, WMI_FRAME, WMI_TURN_LEFT, instructions);
    const size_t over = wmi_jump_if(&s->host, WMI_IF_LESS);
    add_waiting(c, (struct wmi_waiting_jump){wmi_code_address(&s->host, WMI_R8), s->end + 1,
                                             .partial = partial, .resumes = true});
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RCX, WMI_FRAME, offsetof(struct wmi_frame, worker));
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_R8, WMI_FRAME, offsetof(struct wmi_frame, goes_on));
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_RAX, WMI_RCX,
                      (int32_t)s->block->layout->worker_running);
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, true, WMI_FRAME, WMI_RAX);
    leave_code(&s->host);
    wmi_jump_memory(&s->host, WMI_FRAME, offsetof(struct wmi_frame, goes_on));
    wmi_land(&s->host, over);
    wmi_arithmetic_memory(&s->host, 0, true, WMI_FRAME, WMI_TURN_LEFT, instructions);
    wmi_land(&s->host, none);
    wmi_continue_at(s, op);
}

/* The wave gets to s_barrier. Mostly its lanes are all active, as they were when it left the code for such
 * waves. */
void wmi_put_barrier(struct wmi_compilation *c, const struct wmi_op *op, bool partial)
{
    struct wmi_stretch *s = &c->stretch;
    size_t inactive = 0, incomplete = 0;
    if (partial) {
        compare_exec_bits(s);
        inactive = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
        wmi_arithmetic_memory(&s->host, 7, true, WMI_FRAME, all_active, 0);
        incomplete = wmi_jump_if(&s->host, WMI_IF_EQUAL);
    }
    const size_t full = s->host.count;
    put_handover(c, op, false);
    if (!partial)
        return;
    wmi_land(&s->host, inactive);
    wmi_land(&s->host, incomplete);
    complete_exec(c, partial);
    compare_exec_bits(s);
    wmi_jump_back_if(&s->host, WMI_IF_EQUAL, full);
    put_handover(c, op, true);
}

bool wmi_is_jump(const struct wmi_step *step)
{
    return step->id == WMI_STEP_set_pc || step->id == WMI_STEP_swap_pc;
}

void wmi_continue_there(struct wmi_stretch *s)
{
    leave_code(&s->host);
#ifdef WMI_STEPS_RETURN
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_OP);
    wmi_return(&s->host);
#else
    wmi_jump_memory(&s->host, WMI_OP, offsetof(struct wmi_op, body));
#endif
}

/* Others are left to the step's body: places that are not known, and waves whose turn is over. */
void wmi_put_jump(struct wmi_compilation *c, const struct wmi_op *op, bool partial)
{
    enum { ENTRY_SHIFT = 4 };
    static_assert(sizeof(struct wmi_jump) == 1 << ENTRY_SHIFT, "the shift");
    struct wmi_stretch *s = &c->stretch;
    const struct wmi_step *step = &s->block->steps[op - s->block->ops];
    const int32_t jumps = (int32_t)s->block->layout->worker_jumps,
                  state = s->block->mode.mode >> WMI_MODE_STATE_SHIFT & WMI_STATE_BITS;
    complete_exec(c, partial);
    wmi_scalars_load_pair(s, WMI_RAX, step->a);
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, false, WMI_RCX, WMI_RAX);
    wmi_shift_immediate(&s->host, 5, false, WMI_RCX, WMI_JUMP_SHIFT);
    wmi_scalar_registers(&s->host, WMI_XOR, false, WMI_RCX, WMI_RAX);
    wmi_shift_immediate(&s->host, 4, false, WMI_RCX, ENTRY_SHIFT - 2);
    wmi_arithmetic_immediate(&s->host, 4, false, WMI_RCX, (WMI_JUMPS - 1) << ENTRY_SHIFT);
    if (state) /* a sum, so that an address with low bits is no place */
        wmi_arithmetic_immediate(&s->host, 0, true, WMI_RAX, state);
    if (step->y) { /* the upper bits of VGPR numbers: see wmi_place_with_msb() */
        wmi_move_immediate(&s->host, WMI_R8, (uint64_t)step->y << WMI_PLACE_MSB_SHIFT);
        wmi_scalar_registers(&s->host, WMI_XOR, true, WMI_RAX, WMI_R8);
    }
    wmi_scalar_memory(&s->host, WMI_ADD, true, WMI_RCX, WMI_FRAME, offsetof(struct wmi_frame, worker));
    wmi_scalar_memory(&s->host, WMI_CMP, true, WMI_RAX, WMI_RCX,
                      jumps + (int32_t)offsetof(struct wmi_jump, place));
    const size_t other = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_OP, WMI_RCX,
                      jumps + (int32_t)offsetof(struct wmi_jump, step));
    wmi_scalar_registers(&s->host, WMI_TEST, true, WMI_OP, WMI_OP);
    const size_t none = wmi_jump_if(&s->host, WMI_IF_EQUAL);
    wmi_arithmetic_memory(&s->host, 7, true, WMI_FRAME, WMI_TURN_LEFT, (int32_t)step->c);
    const size_t over = wmi_jump_if(&s->host, WMI_IF_LESS);
    wmi_arithmetic_memory(&s->host, 5, true, WMI_FRAME, WMI_TURN_LEFT, (int32_t)step->c);
    if (step->id == WMI_STEP_swap_pc) {
        wmi_move_immediate(&s->host, WMI_RAX, step->value);
        wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_RAX, WMI_FRAME, (int32_t)step->d);
    }
    wmi_continue_there(s);
    wmi_land(&s->host, other);
    wmi_land(&s->host, none);
    wmi_land(&s->host, over);
    wmi_continue_at(s, op);
}

/* The wave's turn is over; it resumes with the step. */
static void pause_at(struct wmi_stretch *s, const struct wmi_op *op)
{
    leave_code(&s->host);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, offsetof(struct wmi_frame, wave));
    wmi_move_immediate(&s->host, WMI_RCX, (uintptr_t)op);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_RCX, WMI_RAX,
                      (int32_t)s->block->layout->wave_resume);
    wmi_move_immediate(&s->host, WMI_RAX, 0);
    wmi_return(&s->host);
}

void wmi_set_pristine(struct wmi_stretch *s, enum wmi_pristine pristine)
{
    wmi_move_immediate(&s->host, WMI_RAX, pristine);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_RAX, WMI_FRAME,
                      offsetof(struct wmi_frame, compiled.pristine));
}

static void load_held(struct wmi_stretch *s, const struct wmi_reentry *back)
{
    if (back->mask.is_held)
        wmi_stretch_load_mask(s, back->mask.place);
    for (unsigned i = 0; i < back->count; i++)
        wmi_stretch_load(s, &back->held[i]);
}

const struct wmi_reentry *wmi_find_reentry(const struct wmi_reentries *reentries, size_t from, size_t to,
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
            ? wmi_find_reentry(&s->points, 0, s->points.count, (size_t)(leave->op - s->block->ops))
            : NULL;
    if (point) {
        load_held(s, point);
        wmi_jump_back(&s->host, point->code);
    } else {
        leave_code(&s->host);
        interpret(s, leave->op);
    }
}

void wmi_put_exec(struct wmi_stretch *s, bool in_rax, const struct wmi_reentry *full)
{
    const int32_t words = offsetof(struct wmi_frame, s) + 4 * WMI_S_EXEC;
    if (!in_rax)
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, s->lanes == 64, WMI_RAX, WMI_FRAME, words);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_RAX, WMI_FRAME, WMI_EXEC_BITS);
    if (full) {
        wmi_arithmetic_immediate(&s->host, 7, s->lanes == 64, WMI_RAX, -1);
        const size_t partial = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
        wmi_arithmetic_memory(&s->host, 7, true, WMI_FRAME, all_active, 0);
        if (full->count || full->mask.is_held)
            wmi_stretch_exit_at(s, wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL), WMI_EXIT_REJOINS,
                                &s->block->ops[full->step]);
        else
            wmi_jump_back_if(&s->host, WMI_IF_NOT_EQUAL, full->code);
        wmi_land(&s->host, partial);
    }
    wmi_kmov_gpr(&s->host, WMI_K_EXEC, WMI_RAX);
    for (unsigned i = 1; i < s->strips; i++)
        wmi_kshift_right(&s->host, WMI_K_EXEC + i, WMI_K_EXEC, i * WMI_STRIP_LANES);
}

/* EXEC has become partial: the code for partial waves goes on. */
static void go_over(struct wmi_compilation *c, const struct wmi_op *op, bool exec_in_rax)
{
    struct wmi_stretch *s = &c->stretch;
    const struct wmi_reentry *partial =
        wmi_find_reentry(&s->reentries, c->full_reentries, s->reentries.count, (size_t)(op - s->block->ops));
    wmi_put_exec(s, exec_in_rax, NULL);
    if (partial) {
        load_held(s, partial);
        wmi_jump_back(&s->host, partial->code);
    } else {
        complete_exec(c, true);
        wmi_continue_at(s, op);
    }
}

void wmi_put_exit(struct wmi_compilation *c, const struct wmi_exit *leave)
{
    struct wmi_stretch *s = &c->stretch;
    const bool partial = leave->version == WMI_PARTIAL;
    wmi_land(&s->host, leave->jump);
    if (leave->version == WMI_LAUNCH)
        wmi_set_pristine(s, s->left_behind);
    for (unsigned i = 0; i < leave->count; i++)
        wmi_stretch_store(s, &leave->dirty[i]);
    switch (leave->kind) {
    case WMI_EXIT_INTERPRETS:
        complete_exec(c, partial);
        do_step(s, leave);
        break;
    case WMI_EXIT_CONTINUES:
        wmi_go_to(c, leave->op, partial);
        break;
    case WMI_EXIT_CHANGES_EXEC:
        go_over(c, leave->op, leave->exec_in_rax);
        break;
    case WMI_EXIT_REJOINS: {
        const struct wmi_reentry *full =
            wmi_find_reentry(&s->rejoins, 0, s->rejoins.count, wmi_step_number(s->block, leave->op));
        load_held(s, full);
        wmi_jump_back(&s->host, full->code);
        break;
    }
    case WMI_EXIT_BRANCHES: {
        wmi_arithmetic_memory(&s->host, 7, true, WMI_FRAME, WMI_TURN_LEFT, 0);
        const size_t over = wmi_jump_if(&s->host, WMI_IF_LESS);
        wmi_go_to(c, leave->op, partial);
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
size_t wmi_put_check(struct wmi_stretch *s, size_t step)
{
    wmi_arithmetic_memory(&s->host, 7, false, WMI_FRAME, offsetof(struct wmi_frame, mode),
                          (int32_t)s->block->mode.mode);
    const size_t usual = wmi_jump_if(&s->host, WMI_IF_EQUAL);
    interpret(s, &s->block->ops[step]);
    wmi_land(&s->host, usual);
    enter_code(&s->host);
    wmi_put_rows_address(s);
    wmi_arithmetic_memory(&s->host, 7, true, WMI_FRAME, all_active, 0);
    return wmi_jump_if(&s->host, WMI_IF_EQUAL);
}

void wmi_load_exec(struct wmi_stretch *s)
{
    for (unsigned i = 0; i < s->strips; i++)
        wmi_kmov_load(&s->host, WMI_K_EXEC + i, WMI_FRAME, WMI_EXEC_BITS + (int32_t)(2 * i));
}

/* Loads what the code at the reentry expects. The wave may not have found its private memory. */
void wmi_put_reentry(struct wmi_stretch *s, const struct wmi_reentry *back, bool partial)
{
    wmi_store_immediate(&s->host, true, WMI_FRAME, offsetof(struct wmi_frame, compiled.private_found), 0);
    if (partial)
        wmi_load_exec(s);
    load_held(s, back);
    wmi_jump_back(&s->host, back->code);
}
