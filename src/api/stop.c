/* SPDX-License-Identifier: MIT */
/* The public API: dispatches that stop. A run is a dispatch on a thread of its own with an observer that
 * holds waves. This thread and the caller's take turns, so that only one of them ever does anything. */
#include "api/stop.h"

#include "api/dispatch.h"
#include "api/machine.h"
#include "api/module.h"
#include "api/packet.h"
#include "api/stop_fast.h"
#include "base/versioned.h"
#include "exec/control/steps.h"
#include "exec/observe/hold.h"
#include "exec/run/checkpoint.h"
#include "exec/run/executor.h"
#include "exec/run/program.h"
#include "exec/run/switch.h"
#include "exec/run/workgroup.h"

#include <stdlib.h>
#include <string.h>

/* ---- turns ---- */

static void give_turn(struct wm_run *run, bool to_caller)
{
    pthread_mutex_lock(&run->lock);
    run->callers_turn = to_caller;
    pthread_cond_signal(&run->turned);
    pthread_mutex_unlock(&run->lock);
}

static void await_turn(struct wm_run *run, bool of_caller)
{
    pthread_mutex_lock(&run->lock);
    while (run->callers_turn != of_caller)
        pthread_cond_wait(&run->turned, &run->lock);
    pthread_mutex_unlock(&run->lock);
}

/* Lets the run go on until it stops or ends. */
static void let_run(struct wm_run *run)
{
    give_turn(run, false);
    await_turn(run, true);
}

static bool is_callers_turn(struct wm_run *run)
{
    pthread_mutex_lock(&run->lock);
    const bool is = run->callers_turn;
    pthread_mutex_unlock(&run->lock);
    return is;
}

/* ---- on the run's thread ---- */

/* The time limit of the dispatch does not run while the caller has the turn, and the caller may change what
 * is allocated. */
static void wait_for_caller(struct wm_run *run, struct wmi_executor *executor)
{
    struct wmi_dispatch *dispatch = executor->steps.dispatch;
    const double begin = wmi_seconds();
    wmi_suspend_reading(executor);
    if (run->visit) {
        run->callers_turn = true;
        run->visit(run, run->visit_user);
        run->callers_turn = false;
    } else {
        give_turn(run, true);
        await_turn(run, false);
    }
    wmi_resume_reading(executor);
    const double waited = wmi_seconds() - begin;
    run->waited += waited;
    dispatch->started += waited;
}

static bool is_named(const struct wmi_wave_name *name, const uint32_t workgroup[3], uint32_t wave)
{
    return !memcmp(name->workgroup, workgroup, sizeof name->workgroup) && name->wave == wave;
}

static struct wmi_wave_name name_of(const struct wmi_wave *wave)
{
    const uint32_t *id = wave->group->id;
    return (struct wmi_wave_name){{id[0], id[1], id[2]}, wave->index};
}

static bool may_stop(const struct wm_run *run, const uint32_t workgroup[3], uint32_t wave)
{
    return !run->at.at_wave ||
           (!memcmp(run->at.workgroup, workgroup, sizeof run->at.workgroup) && run->at.wave == wave);
}

/* The range that is given by members of its own. */
static bool is_range(const struct wm_stop_at *at)
{
    return at->access_low || at->access_high || at->loads || at->stores || at->lds;
}

/* Whether the wave stops before the instruction at `pc`, and why. */
static bool stops_before(struct wm_run *run, const struct wmi_wave *wave, uint64_t pc,
                         enum wm_stop_kind *kind)
{
    const struct wm_stop_at *at = &run->at;
    bool stops = at->at_wave && !run->wanted && !at->address_count && !is_range(at) && !at->range_count &&
                 !at->executed && !at->checkpoint;
    *kind = WM_STOP_WAVE;
    if (run->wave_ended || (at->executed && run->total >= at->executed)) {
        *kind = WM_STOP_STEP;
        return true;
    }
    if (!may_stop(run, wave->group->id, wave->index))
        return false;
    if (run->wanted && !run->counts) {
        run->counts = true;
        run->counted = name_of(wave);
        run->target = run->executed + run->wanted - 1;
    }
    if (run->wanted && is_named(&run->counted, wave->group->id, wave->index) &&
        run->executed >= run->target) {
        *kind = WM_STOP_STEP;
        stops = true;
    }
    for (size_t i = 0; i < at->address_count; i++)
        if (at->addresses[i] == pc) {
            *kind = WM_STOP_ADDRESS;
            stops = true;
        }
    return stops;
}

static bool happens(struct wm_run *run, enum wmi_hold why, const struct wmi_wave *wave, uint64_t pc,
                    enum wm_stop_kind *kind)
{
    switch (why) {
    case WMI_HOLD_INSTRUCTION:
        return stops_before(run, wave, pc, kind);
    case WMI_HOLD_ACCESS:
        *kind = WM_STOP_ACCESS;
        return run->access_lanes && !run->passed;
    default:
        *kind = WM_STOP_FAULT;
        return true;
    }
}

unsigned wmi_run_state(const struct wm_run *run, const struct wmi_wave *wave, uint64_t pc)
{
    const struct wmi_code_options *options = &wmi_program_code(run->dispatch->program)->options;
    struct wm_code code;
    unsigned msb;
    if (!wmi_target_limit(options->target, WMI_LIMIT_vgpr_msb))
        return 0;
    if (wmi_program_msb_of(wave->program, wave->resume, pc, &msb))
        return msb;
    for (const struct wmi_module *module = wmi_modules(run->machine); module; module = module->next)
        if (wmi_object_code_at(module->object, pc - module->bias, &code))
            return wm_object_state(module->object, pc - module->bias);
    return 0;
}

/* What keeps a wave that has been executed before. */
static enum wm_wait wait_of(const struct wmi_wave *wave)
{
    switch (wave->state) {
    case WMI_WAVE_BARRIER:
    case WMI_WAVE_SIGNALS:
        return WM_WAIT_BARRIER;
    case WMI_WAVE_NAMED:
        return WM_WAIT_NAMED_BARRIER;
    case WMI_WAVE_CLUSTER:
        return WM_WAIT_CLUSTER;
    default:
        return wave->resume->body == wmi_step_gws_wait        ? WM_WAIT_GLOBAL
               : wave->resume->body == wmi_step_ordered_count ? WM_WAIT_ORDER
               : wave->waits                                  ? WM_WAIT_MEMORY
                                                              : WM_WAIT_NONE;
    }
}

struct wm_stopped wmi_run_describe(const struct wm_run *run, enum wm_stop_kind kind,
                                   const struct wmi_wave *wave, uint64_t pc, uint64_t instructions)
{
    const struct wmi_code_options *options = &wmi_program_code(run->dispatch->program)->options;
    const struct wmi_wave_name name = name_of(wave);
    return (struct wm_stopped){
        .struct_size = sizeof(struct wm_stopped),
        .kind = kind,
        .executed = run->total,
        .workgroup = {name.workgroup[0], name.workgroup[1], name.workgroup[2]},
        .wave = name.wave,
        .pc = pc,
        .instructions = instructions,
        .lanes = wave->frame->exec.bits,
        .wave_size = wave->frame->wave_size,
        .sgprs = wmi_target_limit(options->target, WMI_LIMIT_sgprs),
        .vgprs = options->vgprs,
        .agprs = options->agprs,
        .lds_bytes = wave->group->lds_size,
        .state = wmi_run_state(run, wave, pc),
        .waits = wait_of(wave),
    };
}

static void stop(struct wm_run *run, enum wm_stop_kind kind, struct wmi_wave *wave, uint64_t pc)
{
    run->stopped = wmi_run_describe(run, kind, wave, pc, run->executed);
    run->stopped.waits = WM_WAIT_NONE;
    if (kind == WM_STOP_ACCESS) {
        run->stopped.access_lanes = run->access_lanes;
        run->stopped.address = run->address;
        run->stopped.ranges = run->ranges;
        run->passed = true;
    }
    if (kind == WM_STOP_FAULT) {
        run->stopped.access_lanes = wave->worker->fault.lanes;
        run->stopped.address = wave->worker->fault.low;
    }
    run->wave = run->selected = wave;
    run->pc = pc;
    wait_for_caller(run, run->executor);
}

/* Whether the wave has faulted in a step that has counted its block: such instructions are always held. */
static bool is_held_fault(const struct wm_run *run, const struct wmi_wave *wave, uint64_t pc)
{
    const unsigned kind = wave->worker->fault.kind;
    return run->held_pc == pc &&
           (kind == WM_FAULT_INSTRUCTION || kind == WM_FAULT_TODO || kind == WM_FAULT_TRAP);
}

static enum wmi_held hold(void *local, enum wmi_hold why, struct wmi_wave *wave, uint64_t pc,
                          uint64_t instructions)
{
    struct wm_run *run = local;
    enum wm_stop_kind kind;
    bool held = false;
    if (why == WMI_HOLD_INSTRUCTION) {
        run->access_lanes = run->ranges = 0;
        run->passed = false;
    }
    if (why == WMI_HOLD_FAULT)
        instructions = wmi_wave_executed_before(wave, pc);
    if (why == WMI_HOLD_INSTRUCTION || (why == WMI_HOLD_FAULT && !is_held_fault(run, wave, pc))) {
        run->executed = instructions;
        run->total = wmi_executed_by_all(wave, instructions);
        run->next_total = run->total + 1;
        run->held_pc = pc;
    }
    if (!run->ends && happens(run, why, wave, pc, &kind)) {
        stop(run, kind, wave, pc);
        held = true;
    }
    return run->cancelled ? WMI_HELD_AND_CANCELLED : held ? WMI_HELD : WMI_HELD_NOT;
}

/* Remembers which lanes touch the range. An instruction may have more than one access. */
static bool see_range(struct wm_run *run, const struct wmi_access *access, const struct wm_stop_range *range)
{
    const enum wmi_address_space space = range->lds ? WMI_SPACE_LDS : WMI_SPACE_GLOBAL;
    bool seen = false;
    if (!(access->kind == WMI_ACCESS_LOAD    ? range->loads
          : access->kind == WMI_ACCESS_STORE ? range->stores
                                             : range->loads || range->stores))
        return false;
    for (unsigned i = 0; i < access->elements; i++) {
        const struct wmi_element *e = &access->element[i];
        const uint64_t lanes = e->mask & ~(e->bad_range | e->bad_align | e->bad_aperture);
        for (uint64_t rest = e->space == space ? lanes : 0; rest; rest &= rest - 1) {
            const unsigned lane = (unsigned)__builtin_ctzll(rest);
            const uint64_t first = e->address[lane], bit = UINT64_C(1) << lane;
            if (first >= range->high || first + access->bytes - 1 < range->low)
                continue;
            if (bit < (run->access_lanes & -run->access_lanes) || !run->access_lanes)
                run->address = first;
            run->access_lanes |= bit;
            seen = true;
        }
    }
    return seen;
}

static void see_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    struct wm_run *run = local;
    const struct wm_stop_at *at = &run->at;
    (void)slot;
    if (run->ends || run->passed || access->path == WMI_PATH_CONTROL ||
        !may_stop(run, access->workgroup, access->wave))
        return;
    if (is_range(at))
        see_range(run, access,
                  &(struct wm_stop_range){at->access_low, at->access_high, at->loads, at->stores, at->lds});
    for (size_t i = 0; i < at->range_count; i++)
        if (see_range(run, access, &at->ranges[i]) && i < 64)
            run->ranges |= UINT64_C(1) << i;
}

static struct wmi_program *program_of(void *local, struct wmi_wave *wave, uint64_t instructions)
{
    struct wm_run *run = local;
    return wmi_run_program(run, wave, may_stop(run, wave->group->id, wave->index), instructions);
}

/* The run begins here, and can be saved. */
static bool between(void *local, struct wmi_executor *executor)
{
    struct wm_run *run = local;
    struct wmi_dispatch *dispatch = executor->steps.dispatch;
    if (!run->begun) {
        run->begun = true;
        run->dispatch = dispatch;
        run->executor = executor;
        run->fast.allowed = wmi_program_code(dispatch->program)->options.resumable && !dispatch->shuffle;
        wait_for_caller(run, executor);
    }
    if (dispatch->fault.kind == WM_FAULT_NONE)
        run->next_total = executor->instructions;
    if (!run->ends && run->at.checkpoint && executor->instructions >= run->at.checkpoint) {
        run->stopped = (struct wm_stopped){.struct_size = sizeof run->stopped,
                                           .kind = WM_STOP_CHECKPOINT,
                                           .executed = executor->instructions};
        run->wave = run->selected = NULL;
        wait_for_caller(run, executor);
    }
    if (run->cancelled && dispatch->fault.kind == WM_FAULT_NONE)
        wmi_stop_all(executor, WM_FAULT_STOPPED, 0, 0, 0);
    return !run->cancelled;
}

/* Instructions of a wave that has ended cannot be counted: stops before the next one of any. */
static void see_end(void *local, const struct wm_event *event)
{
    struct wm_run *run = local;
    run->wave_ended |= run->at.at_wave_end && may_stop(run, event->workgroup, event->wave);
    if (!run->wanted || !run->counts || !is_named(&run->counted, event->workgroup, event->wave))
        return;
    run->counts = false;
    run->wanted = 1;
}

static uint32_t no_slot(void *self, uint64_t pc, unsigned id)
{
    (void)self, (void)pc, (void)id;
    return 0;
}

static void *begin_thread(void *self)
{
    return self;
}

static void end_thread(void *self, void *local)
{
    (void)self, (void)local;
}

static enum wm_status run_packet(struct wm_run *run)
{
    struct wm_packet packet = run->packet;
    packet.result = &run->result;
    const enum wm_status status = wmi_dispatch_packet_with(run->machine, &packet, &run->holder, &run->diag);
    if (run->packet.result)
        wmi_give_struct(run->packet.result, &run->result, sizeof run->result);
    return status;
}

static enum wm_status run_dispatch(struct wm_run *run)
{
    const struct wmi_dispatch_how how = {.function = "wm_run_begin", .holder = &run->holder};
    return wmi_dispatch_with(&how, run->machine, run->object, run->kernel, &run->request, &run->result,
                             &run->diag);
}

static void *work(void *argument)
{
    struct wm_run *run = argument;
    run->status = run->has_packet ? run_packet(run) : run_dispatch(run);
    run->over = true;
    run->wave = run->selected = NULL;
    run->stopped = (struct wm_stopped){
        .struct_size = sizeof run->stopped, .kind = WM_STOP_END, .executed = run->next_total};
    give_turn(run, true);
    return NULL;
}

/* ---- beginning and end ---- */

static void destroy(struct wm_run *run)
{
    wmi_run_free_fast(run);
    pthread_cond_destroy(&run->turned);
    pthread_mutex_destroy(&run->lock);
    free(run);
}

/* Why the dispatch was not carried out. */
static enum wm_status give_status(const struct wm_run *run, struct wm_diag *diag)
{
    if (run->status && diag)
        *diag = run->diag;
    return run->status;
}

static void prepare(struct wm_run *new)
{
    new->result.struct_size = sizeof new->result;
    new->holder = (struct wmi_observer){
        .self = new,
        .events = WM_EVENT_WAVE_END,
        .lds_moves = true,
        .thread_begin = begin_thread,
        .thread_end = end_thread,
        .access = see_access,
        .instruction = no_slot,
        .event = see_end,
        .hold = hold,
        .program = program_of,
        .between = between,
    };
    new->fast.watcher = (struct wmi_observer){
        .self = new,
        .lds_moves = true,
        .allows_compiled = true,
        .stops = true,
        .thread_begin = begin_thread,
        .thread_end = end_thread,
        .access = see_access,
        .instruction = no_slot,
    };
    pthread_mutex_init(&new->lock, NULL);
    pthread_cond_init(&new->turned, NULL);
}

/* Starts the thread of a run whose dispatch is known, and waits until it has come to the first instruction.
 * Frees the run if it cannot. */
static enum wm_status start(struct wm_run *new, struct wm_run **run, struct wm_diag *diag)
{
    prepare(new);
    if (pthread_create(&new->thread, NULL, work, new)) {
        destroy(new);
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for the thread of a run");
    }
    await_turn(new, true);
    if (new->over &&new->status) {
        pthread_join(new->thread, NULL);
        const enum wm_status status = give_status(new, diag);
        destroy(new);
        return status;
    }
    *run = new;
    return WM_OK;
}

static struct wm_run *new_run(struct wm_machine *machine, struct wm_diag *diag)
{
    struct wm_run *new = calloc(1, sizeof *new);
    if (new)
        new->machine = machine;
    else
        wmi_fail(diag, WM_NO_MEMORY, "no memory for a run");
    return new;
}

enum wm_status wm_run_begin(struct wm_machine *machine, const struct wm_object *object,
                            const struct wm_kernel *kernel, const struct wm_dispatch *request,
                            struct wm_run **run, struct wm_diag *diag)
{
    if (!run)
        return wmi_null(diag, __func__, "run");
    *run = NULL;
    if (!request)
        return wmi_null(diag, __func__, "dispatch");
    struct wm_run *new = new_run(machine, diag);
    if (!new)
        return WM_NO_MEMORY;
    const enum wm_status status =
        wmi_take_struct(&new->request, sizeof new->request, offsetof(struct wm_dispatch, arguments), request,
                        "wm_dispatch", diag);
    if (status) {
        free(new);
        return status;
    }
    new->object = object;
    new->kernel = kernel;
    return start(new, run, diag);
}

enum wm_status wm_run_begin_packet(struct wm_machine *machine, const struct wm_packet *packet,
                                   struct wm_run **run, struct wm_diag *diag)
{
    if (!run)
        return wmi_null(diag, __func__, "run");
    *run = NULL;
    if (!machine || !packet)
        return wmi_null(diag, __func__, machine ? "packet" : "machine");
    struct wm_run *new = new_run(machine, diag);
    if (!new)
        return WM_NO_MEMORY;
    const enum wm_status status =
        wmi_take_struct(&new->packet, sizeof new->packet, offsetof(struct wm_packet, private_segment_size),
                        packet, "wm_packet", diag);
    if (status) {
        free(new);
        return status;
    }
    new->has_packet = true;
    return start(new, run, diag);
}

enum wm_status wmi_run_check(struct wm_run *run, const char *function, struct wm_diag *diag)
{
    if (!run)
        return wmi_null(diag, function, "run");
    return is_callers_turn(run) ? WM_OK
                                : wmi_fail(diag, WM_BAD_ARGUMENT, "%s: the run is not stopped", function);
}

enum wm_status wm_run_end(struct wm_run *run, bool cancel, struct wm_result *result, struct wm_diag *diag)
{
    enum wm_status status = wmi_run_check(run, __func__, diag);
    if (status)
        return status;
    run->ends = true;
    run->cancelled = cancel;
    run->at = (struct wm_stop_at){0};
    if (!run->over)
        wmi_run_choose_fast(run);
    if (!run->over)
        let_run(run);
    pthread_join(run->thread, NULL);
    status = give_status(run, diag);
    if (!status && result)
        status = wmi_check_struct(result, sizeof *result, offsetof(struct wm_result, violations), "wm_result",
                                  diag);
    if (!status && result) {
        run->result.seconds -= run->waited;
        wmi_give_struct(result, &run->result, sizeof run->result);
    }
    destroy(run);
    return status;
}

/* ---- running on ---- */

static enum wm_status check_wave(const struct wm_run *run, const struct wm_stop_at *at, struct wm_diag *diag)
{
    const struct wmi_dispatch *d = run->dispatch;
    const uint32_t *w = at->workgroup, *size = d->workgroup;
    const uint32_t lanes = wmi_program_code(d->program)->options.lanes;
    const uint32_t waves = (size[0] * size[1] * size[2] + lanes - 1) / lanes;
    if (w[0] >= d->groups[0] || w[1] >= d->groups[1] || w[2] >= d->groups[2])
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "wm_run_to: workgroup (%u,%u,%u); the grid has %u x %u x %u workgroups", w[0], w[1],
                        w[2], d->groups[0], d->groups[1], d->groups[2]);
    if (at->wave >= waves)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "wm_run_to: wave %u; a workgroup has %u", at->wave, waves);
    return WM_OK;
}

static enum wm_status check_range(uint64_t low, uint64_t high, bool loads, bool stores, struct wm_diag *diag)
{
    if (low >= high)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "wm_run_to: the range of accesses [0x%llx, 0x%llx) is empty; expected low < high",
                        (unsigned long long)low, (unsigned long long)high);
    if (!loads && !stores)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "wm_run_to: a range of accesses, but neither loads nor stores");
    return WM_OK;
}

static enum wm_status check_at(const struct wm_run *run, const struct wm_stop_at *at, struct wm_diag *diag)
{
    enum wm_status status = WM_OK;
    if (at->address_count && !at->addresses)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "wm_run_to: address_count is %zu but addresses is NULL",
                        at->address_count);
    if (at->range_count && !at->ranges)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "wm_run_to: range_count is %zu but ranges is NULL",
                        at->range_count);
    if (at->at_wave_end && !at->at_wave)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "wm_run_to: at_wave_end without at_wave");
    if (is_range(at))
        status = check_range(at->access_low, at->access_high, at->loads, at->stores, diag);
    for (size_t i = 0; i < at->range_count && !status; i++) {
        const struct wm_stop_range *range = &at->ranges[i];
        status = check_range(range->low, range->high, range->loads, range->stores, diag);
    }
    if (status)
        return status;
    return at->at_wave ? check_wave(run, at, diag) : WM_OK;
}

/* Which wave's instructions are counted, if it exists already. The one that is stopped has been held before
 * its next instruction; others have not been before theirs. */
static void begin_counting(struct wm_run *run)
{
    const struct wm_stop_at *at = &run->at;
    const struct wmi_wave *wave = run->wave;
    run->wanted = at->instructions;
    run->wave_ended = run->counts = false;
    if (wave && at->at_wave)
        wave = wmi_wave_find(wave, at->workgroup, at->wave);
    if (!wave)
        return;
    run->counts = true;
    run->counted = name_of(wave);
    run->target =
        wave == run->wave ? run->stopped.instructions + run->wanted : wave->instructions + run->wanted - 1;
}

/* ---- checkpoints ---- */

enum wm_status wm_run_save(struct wm_run *run, struct wm_checkpoint **checkpoint, struct wm_diag *diag)
{
    const enum wm_status status = wmi_run_check(run, __func__, diag);
    if (status)
        return status;
    if (!checkpoint)
        return wmi_null(diag, __func__, "checkpoint");
    *checkpoint = NULL;
    if (run->over || run->stopped.kind != WM_STOP_CHECKPOINT)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "wm_run_save: the run is not stopped with CHECKPOINT");
    if (!wmi_checkpoint_is_possible(run->executor))
        return wmi_fail(
            diag, WM_UNSUPPORTED,
            "wm_run_save: a wave waits within an instruction (global wave sync, ordered count), or "
            "the dispatch has a modelled scalar cache or another observer, whose state is not saved");
    *checkpoint = wmi_checkpoint_save(run->executor);
    return *checkpoint ? WM_OK : wmi_fail(diag, WM_NO_MEMORY, "no memory for a checkpoint");
}

enum wm_status wm_run_restore(struct wm_run *run, const struct wm_checkpoint *checkpoint,
                              struct wm_diag *diag)
{
    const enum wm_status status = wmi_run_check(run, __func__, diag);
    if (status)
        return status;
    if (!checkpoint)
        return wmi_null(diag, __func__, "checkpoint");
    if (run->over || run->has_gone_on)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "wm_run_restore: the run has gone on already");
    if (!wmi_checkpoint_fits(run->executor, checkpoint))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "wm_run_restore: the checkpoint is of another dispatch");
    return wmi_checkpoint_restore(run->executor, checkpoint)
               ? WM_OK
               : wmi_fail(diag, WM_NO_MEMORY, "no memory to restore a checkpoint");
}

size_t wm_checkpoint_bytes(const struct wm_checkpoint *checkpoint)
{
    return checkpoint ? wmi_checkpoint_bytes(checkpoint) : 0;
}

void wm_checkpoint_destroy(struct wm_checkpoint *checkpoint)
{
    wmi_checkpoint_free(checkpoint);
}

/* What the run goes to next. */
static enum wm_status choose(struct wm_run *run, const struct wm_stop_at *at, struct wm_diag *diag)
{
    struct wm_stop_at copy = {.struct_size = sizeof copy};
    enum wm_status status = at ? wmi_take_struct(&copy, sizeof copy, offsetof(struct wm_stop_at, executed),
                                                 at, "wm_stop_at", diag)
                               : WM_OK;
    if (!status)
        status = check_at(run, &copy, diag);
    if (status)
        return status;
    run->at = copy;
    run->has_gone_on = true;
    begin_counting(run);
    wmi_run_choose_fast(run);
    run->wave = run->selected = NULL;
    return WM_OK;
}

enum wm_status wm_run_to(struct wm_run *run, const struct wm_stop_at *at, struct wm_stopped *stopped,
                         struct wm_diag *diag)
{
    enum wm_status status = wmi_run_check(run, __func__, diag);
    if (status)
        return status;
    if (!stopped)
        return wmi_null(diag, __func__, "stopped");
    status =
        wmi_check_struct(stopped, sizeof *stopped, offsetof(struct wm_stopped, executed), "wm_stopped", diag);
    if (!status && run->over)
        status = wmi_fail(diag, WM_BAD_ARGUMENT, "wm_run_to: the kernel has ended");
    if (!status)
        status = choose(run, at, diag);
    if (status)
        return status;
    let_run(run);
    status = give_status(run, diag);
    if (!status)
        wmi_give_struct(stopped, &run->stopped, sizeof run->stopped);
    return status;
}

/* ---- without a thread ---- */

enum wm_status wmi_run_visiting(struct wm_machine *machine, const struct wm_object *object,
                                const struct wm_kernel *kernel, const struct wm_dispatch *request,
                                wmi_run_visitor *visit, void *user, struct wm_result *result,
                                struct wm_diag *diag)
{
    struct wm_run *run = new_run(machine, diag);
    if (!run)
        return WM_NO_MEMORY;
    run->request = *request;
    run->object = object;
    run->kernel = kernel;
    run->visit = visit;
    run->visit_user = user;
    prepare(run);
    work(run);
    const enum wm_status status = give_status(run, diag);
    *result = run->result;
    destroy(run);
    return status;
}

const struct wm_stopped *wmi_run_stopped(const struct wm_run *run)
{
    return run->wave ? &run->stopped : NULL;
}

enum wm_status wmi_run_next(struct wm_run *run, const struct wm_stop_at *at, struct wm_diag *diag)
{
    return choose(run, at, diag);
}
