/* SPDX-License-Identifier: MIT */
#include "api/observation.h"

#include "api/execute.h"
#include "api/request.h"
#include "base/diag.h"
#include "profile/cost/gpu.h"
#include "profile/fidelity.h"
#include "profile/trace/replay.h"

#include <string.h>

static void add(struct wmi_observation *observation, const struct wmi_observer *observer, const char *what)
{
    observation->own[observation->owns++] = (struct wmi_watcher){observer, what};
}

/* ---- profile ---- */

static void begin_profile(struct wmi_observation *observation, struct wmi_task *task)
{
    const struct wmi_target *target = task->machine->target;
    struct wmi_profile_source source = {
        .user = &observation->observed,
        .describe = wmi_observed_describe,
        .code = wmi_observed_code,
        .target_name = wmi_target_name(target),
        .rules = wmi_cost_rules(wmi_target_limit(target, WMI_LIMIT_cost_rules)),
        .wave_lanes = task->kernel->wave_size,
        .dispatch = wmi_occupancy_of(task->machine, task->kernel, &task->dispatch),
    };
    source.dispatch.first_group = task->dispatch.first_group;
    wmi_tell_scratch(task->machine, task->kernel, &task->dispatch, &source);
    add(observation, wmi_profile_begin(task->request.profile, &source), "profile");
    if (wmi_profile_timeline_observer(task->request.profile))
        add(observation, wmi_profile_timeline_observer(task->request.profile), "timeline");
}

static void begin_trace(const struct wmi_task *task)
{
    struct wm_profile *profile = task->request.profile;
    struct wmi_tracer *tracer = wmi_profile_tracer(profile);
    if (tracer)
        wmi_tracer_begin(tracer, profile, wmi_target_name(task->machine->target));
}

static void end_profile(struct wm_profile *profile)
{
    struct wmi_tracer *tracer = wmi_profile_tracer(profile);
    wmi_profile_end(profile);
    if (tracer)
        wmi_tracer_end(tracer, profile);
}

/* ---- check ---- */

/* Which registers have values when a wave starts. Source: exec/run/abi.c. */
static void tell_initial_registers(const struct wmi_task *task, struct wmi_check_dispatch *about)
{
    const struct wmi_kernel_descriptor *d = wmi_kernel_descriptor(task->kernel);
    about->set_sgprs = d->user_sgprs + d->workgroup_id_x + d->workgroup_id_y + d->workgroup_id_z +
                       (d->workgroup_info != 0) + (d->scratch_enabled != 0);
    about->agprs = d->agprs;
    about->set_vgprs = task->dispatch.launch.packed_ids ? 1 : task->dispatch.launch.workitem_ids;
}

/* Whether only the check watches, so that it may keep the program for the next dispatch. */
static bool is_alone(const struct wmi_task *task)
{
    const struct wm_dispatch *request = &task->request;
    size_t seeds;
    wmi_check_seeds(request->check, &seeds);
    return !request->profile && !request->fidelity && !request->observer_count && !task->dispatch.holder &&
           !seeds;
}

/* Tells the checkers what they are about to see. */
static void begin_check(struct wmi_observation *observation, struct wmi_task *task)
{
    const struct wm_kernel *kernel = task->kernel;
    const struct wmi_code_options code = wmi_task_code(task);
    struct wmi_check_observer observers[WMI_CHECKERS];
    struct wmi_dispatch *dispatch = &task->dispatch;
    struct wmi_check_dispatch about = {
        .target = wmi_target_of_waves(task->machine, kernel->wave_size),
        .space = task->machine->space,
        .kernel = kernel->name,
        .entry = dispatch->launch.entry,
        .profiled = task->request.profile,
        .sets_all = task->request.start,
        .max_items = wmi_is_of_hip(kernel) ? 0 : kernel->max_workgroup,
        .copies = wmi_is_of_hip(kernel),
        .split = wmi_kernel_descriptor(kernel)->wgp_mode || wmi_kernel_descriptor(kernel)->tg_split,
        .wave_lanes = kernel->wave_size,
        .lds_bytes = dispatch->lds_size,
        .lane_scratch = dispatch->lane_scratch,
        .scratch = dispatch->scratch_base,
        .scratch_stride = dispatch->scratch_stride,
        .wave_scratch = dispatch->scratch_piece,
        .kernarg = dispatch->arguments,
        .kernarg_bytes = (uint32_t)kernel->kernarg_size,
        .guards = observation->guards.guard,
        .guard_count = observation->guards.count,
        .code = is_alone(task) ? &code : NULL,
    };
    tell_initial_registers(task, &about);
    memcpy(about.groups, dispatch->groups, sizeof about.groups);
    memcpy(about.cluster, dispatch->cluster, sizeof about.cluster);
    memcpy(about.workgroup, dispatch->workgroup, sizeof about.workgroup);
    const unsigned count = wmi_check_begin(task->request.check, &about, observers);
    for (unsigned i = 0; i < count; i++)
        add(observation, observers[i].observer, observers[i].what);
    dispatch->keeps = about.code;
    dispatch->observed = wmi_check_take_program(task->request.check);
}

static void end_check(struct wmi_observation *observation, struct wmi_task *task)
{
    struct wm_check *check = task->request.check;
    const struct wmi_check_ran ran = {task->result.workgroups, task->result.waves,
                                      task->result.wave_instructions};
    wmi_check_end(check, &ran, wmi_observed_describe, wmi_observed_inlined, wmi_observed_variable,
                  &observation->observed);
    wmi_check_keep_program(check, task->dispatch.observed);
    task->dispatch.observed = NULL;
}

/* ---- all ---- */

enum wm_status wmi_observation_begin(struct wmi_observation *observation, struct wmi_task *task)
{
    const struct wm_dispatch *request = &task->request;
    struct wmi_dispatch *dispatch = &task->dispatch;
    const struct wmi_observer *stores;
    *observation = (struct wmi_observation){.observed = {task->machine, task->module, ""}};
    if (request->check &&
        !wmi_guards_create(&observation->guards, task->machine, task->module, task->kernel, dispatch))
        return wmi_fail(task->diag, WM_NO_MEMORY, "no memory for a check");
    if (dispatch->holder)
        add(observation, dispatch->holder, "run");
    if (request->profile)
        begin_profile(observation, task);
    if (request->check)
        begin_check(observation, task);
    if (request->fidelity)
        add(observation, wmi_fidelity_observer(request->fidelity), "fidelity");
    observation->missed =
        wmi_shuffle_begin(&observation->shuffle, task->machine, request->check, dispatch, &stores);
    if (stores)
        add(observation, stores, "shuffle");
    if (request->profile)
        begin_trace(task);
    const enum wm_status status =
        wmi_watchers_create(&observation->watchers, observation->own, observation->owns, request, task->diag);
    dispatch->observers = observation->watchers.observers;
    observation->complete = !status;
    return status;
}

/* Tells the result what the observers, or the machine, have missed. */
static void report_missing(const struct wmi_observation *observation, struct wmi_task *task)
{
    const struct wm_check *check = task->request.check;
    if (observation->missed)
        wmi_add_incomplete(&task->result, "check", observation->missed);
    wmi_watchers_ask(&observation->watchers, &task->result);
    if (check && wmi_check_incomplete(check))
        wmi_add_incomplete(&task->result, "check", wmi_check_incomplete(check));
    if (task->dispatch.stales.lost)
        wmi_add_incomplete(&task->result, "scalar cache", "no memory for all that it found");
    if (wmi_object_lost(task->module->object))
        wmi_add_incomplete(&task->result, "code object", "no memory for symbols and lines");
}

void wmi_observation_end(struct wmi_observation *observation, struct wmi_task *task)
{
    if (observation->complete && !observation->missed)
        observation->missed = wmi_shuffle_end(&observation->shuffle, &task->result, wmi_execute_again, task);
    if (task->request.profile && observation->owns)
        end_profile(task->request.profile);
    if (task->request.check && observation->owns)
        end_check(observation, task);
    report_missing(observation, task);
    wmi_watchers_destroy(&observation->watchers);
    wmi_guards_destroy(&observation->guards);
}
