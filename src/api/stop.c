/* SPDX-License-Identifier: MIT */
/* The public API: dispatches that stop. A run is a dispatch on a thread of its own with an observer that
 * holds waves. This thread and the caller's take turns, so that only one of them ever does anything. */
#include "api/stop.h"

#include "api/dispatch.h"
#include "base/versioned.h"
#include "exec/run/executor.h"
#include "exec/run/program.h"
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
static void wait_for_caller(struct wm_run *run, struct wmi_wave *wave)
{
    struct wmi_executor *executor = (struct wmi_executor *)wave->worker;
    struct wmi_dispatch *dispatch = wave->group->dispatch;
    const double begin = wmi_seconds();
    wmi_suspend_reading(executor);
    give_turn(run, true);
    await_turn(run, false);
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
    bool stops = at->at_wave && !at->instructions && !at->address_count && !is_range(at) &&
                 !at->range_count && !at->executed;
    *kind = WM_STOP_WAVE;
    if (run->wave_ended || (at->executed && run->total >= at->executed)) {
        *kind = WM_STOP_STEP;
        return true;
    }
    if (!may_stop(run, wave->group->id, wave->index))
        return false;
    if (!run->counts) {
        run->counts = true;
        run->counted = name_of(wave);
    }
    if (run->left && is_named(&run->counted, wave->group->id, wave->index) && !--run->left) {
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
    };
}

static void stop(struct wm_run *run, enum wm_stop_kind kind, struct wmi_wave *wave, uint64_t pc)
{
    run->stopped = wmi_run_describe(run, kind, wave, pc, run->executed);
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
    wait_for_caller(run, wave);
}

static enum wmi_held hold(void *local, enum wmi_hold why, struct wmi_wave *wave, uint64_t pc,
                          uint64_t instructions)
{
    struct wm_run *run = local;
    enum wm_stop_kind kind;
    bool held = false;
    if (why == WMI_HOLD_INSTRUCTION) {
        run->executed = instructions;
        run->total = run->next_total++;
        run->access_lanes = run->ranges = 0;
        run->passed = false;
    }
    if (!run->begun) {
        run->begun = held = true;
        run->dispatch = wave->group->dispatch;
        wait_for_caller(run, wave);
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

/* Instructions of a wave that has ended cannot be counted: stops before the next one of any. */
static void see_end(void *local, const struct wm_event *event)
{
    struct wm_run *run = local;
    run->wave_ended |= run->at.at_wave_end && may_stop(run, event->workgroup, event->wave);
    if (!run->left || !run->counts || !is_named(&run->counted, event->workgroup, event->wave))
        return;
    run->counts = false;
    run->left = 1;
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

static void *work(void *argument)
{
    struct wm_run *run = argument;
    run->status =
        wmi_dispatch_with(&(struct wmi_dispatch_how){.function = "wm_run_begin", .holder = &run->holder},
                          run->machine, run->object, run->kernel, &run->request, &run->result, &run->diag);
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

enum wm_status wm_run_begin(struct wm_machine *machine, const struct wm_object *object,
                            const struct wm_kernel *kernel, const struct wm_dispatch *request,
                            struct wm_run **run, struct wm_diag *diag)
{
    if (!run)
        return wmi_null(diag, __func__, "run");
    *run = NULL;
    if (!request)
        return wmi_null(diag, __func__, "dispatch");
    struct wm_run *new = calloc(1, sizeof *new);
    if (!new)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a run");
    enum wm_status status =
        wmi_take_struct(&new->request, sizeof new->request, offsetof(struct wm_dispatch, arguments), request,
                        "wm_dispatch", diag);
    if (status) {
        free(new);
        return status;
    }
    new->machine = machine;
    new->object = object;
    new->kernel = kernel;
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
    };
    pthread_mutex_init(&new->lock, NULL);
    pthread_cond_init(&new->turned, NULL);
    if (pthread_create(&new->thread, NULL, work, new)) {
        destroy(new);
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for the thread of a run");
    }
    await_turn(new, true);
    if (new->over &&new->status) {
        pthread_join(new->thread, NULL);
        status = give_status(new, diag);
        destroy(new);
        return status;
    }
    *run = new;
    return WM_OK;
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

enum wm_status wm_run_to(struct wm_run *run, const struct wm_stop_at *at, struct wm_stopped *stopped,
                         struct wm_diag *diag)
{
    struct wm_stop_at copy = {.struct_size = sizeof copy};
    enum wm_status status = wmi_run_check(run, __func__, diag);
    if (status)
        return status;
    if (!stopped)
        return wmi_null(diag, __func__, "stopped");
    status =
        wmi_check_struct(stopped, sizeof *stopped, offsetof(struct wm_stopped, executed), "wm_stopped", diag);
    if (!status && run->over)
        status = wmi_fail(diag, WM_BAD_ARGUMENT, "wm_run_to: the kernel has ended");
    if (!status && at)
        status = wmi_take_struct(&copy, sizeof copy, offsetof(struct wm_stop_at, executed), at, "wm_stop_at",
                                 diag);
    if (!status)
        status = check_at(run, &copy, diag);
    if (status)
        return status;
    run->at = copy;
    run->left = copy.instructions;
    run->wave_ended = false;
    run->counts = run->wave && !copy.at_wave;
    if (run->counts)
        run->counted = name_of(run->wave);
    run->wave = run->selected = NULL;
    let_run(run);
    status = give_status(run, diag);
    if (!status)
        wmi_give_struct(stopped, &run->stopped, sizeof run->stopped);
    return status;
}
