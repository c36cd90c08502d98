/* SPDX-License-Identifier: MIT */
#include "api/execute.h"

#include "api/observed.h"
#include "api/request.h"
#include "api/start.h"
#include "base/diag.h"
#include "exec/run/programs.h"
#include "exec/run/workgroup.h"
#include "profile/cost/gpu.h"
#include "report/fault.h"

#include <stdlib.h>

struct wmi_code_options wmi_task_code(const struct wmi_task *task)
{
    const struct wm_machine *machine = task->machine;
    const struct wmi_kernel_descriptor *descriptor = wmi_kernel_descriptor(task->kernel);
    return (struct wmi_code_options){
        .target = wmi_target_of_waves(machine, task->kernel->wave_size),
        .space = machine->space,
        .entry = task->dispatch.launch.entry,
        .lanes = task->kernel->wave_size,
        .vgprs = descriptor->vgprs + wmi_descriptor_shared_vgprs(descriptor),
        .shared_vgprs = wmi_descriptor_shared_vgprs(descriptor),
        .agprs = descriptor->agprs,
        .sgprs = descriptor->sgprs,
        .observers = task->dispatch.observers,
        .alignment = task->dispatch.alignment,
        .scalar_cache = task->dispatch.stales.mode,
        .sramecc =
            machine->sramecc ? machine->sramecc : wmi_sramecc_of(wm_object_target_id(task->module->object)),
        .tiling = wmi_gpu_tiling(wmi_request_product(task), machine->target),
        .resumable =
            task->dispatch.holder && task->dispatch.observers.count == 1 && !task->dispatch.stales.mode,
    };
}

/* The program of the dispatch: the one that its check has kept, one of the machine's, or a new one. */
static struct wmi_program *take_program(struct wmi_task *task)
{
    const struct wmi_code_options options = wmi_task_code(task);
    struct wmi_program *program = task->dispatch.observed;
    task->dispatch.observed = NULL;
    if (!program)
        return wmi_programs_take(task->machine->programs, &options, wmi_cpu_level());
    wmi_program_set_observers(program, &options.observers);
    return program;
}

static void give_program(struct wmi_task *task)
{
    struct wmi_dispatch *dispatch = &task->dispatch;
    if (dispatch->keeps)
        dispatch->observed = dispatch->program;
    else
        wmi_programs_give(task->machine->programs, dispatch->program);
}

/* What the program had before the dispatch. */
struct before {
    size_t steps;
    double compile_seconds;
};

static bool is_reproducible(const struct wmi_dispatch *dispatch, size_t steps)
{
    const unsigned fault = dispatch->fault.kind;
    if (dispatch->in_one_order)
        return fault != WM_FAULT_TIMEOUT && fault != WM_FAULT_STOPPED;
    return fault == WM_FAULT_NONE && wmi_program_steps(dispatch->program) == steps;
}

/* Fills in the result of a dispatch that has run. */
static void collect(struct wmi_task *task, const struct before *before)
{
    struct wmi_dispatch *dispatch = &task->dispatch;
    struct wm_result *result = &task->result;
    const struct wmi_module *module = task->module;
    const struct wmi_fault_place place = {task->machine->target, module->object,
                                          wmi_object_name(module->object), module->bias};
    result->wave_instructions = dispatch->instructions;
    result->waves = dispatch->waves;
    result->workgroups = dispatch->groups_done;
    result->reproducible = is_reproducible(dispatch, before->steps);
    wmi_program_add_executed(dispatch->program, dispatch->instructions);
    const struct wmi_compiled compiled = wmi_program_compiled(dispatch->program);
    result->compiled_bytes = compiled.bytes;
    result->compile_seconds = compiled.seconds - before->compile_seconds;
    result->compile_refused = compiled.refused;
    if (dispatch->fault.kind != WM_FAULT_NONE)
        wmi_report_fault(dispatch, &place, &result->fault);
    wmi_report_stales(dispatch, &place, task->request.stale, task->request.stale_user);
    result->violations = dispatch->violation.count;
    if (!result->violations)
        return;
    dispatch->fault = dispatch->violation.first;
    dispatch->fault_group = dispatch->violation.group;
    dispatch->fault_wave = dispatch->violation.wave;
    wmi_report_fault(dispatch, &place, &result->violation);
}

static enum wm_status run(struct wmi_task *task)
{
    struct wmi_dispatch *dispatch = &task->dispatch;
    struct wmi_observed observed = {task->machine, task->module, ""};
    const bool watched = dispatch->observers.count || dispatch->stales.mode;
    const double begin = wmi_seconds();
    enum wm_status status = WM_OK;
    dispatch->program = take_program(task);
    bool ok = dispatch->program && (!watched || wmi_fix_order(&observed, task->kernel, dispatch));
    if (ok && task->request.start)
        status =
            wmi_start_prepare(task->request.start, wmi_program_code(dispatch->program), dispatch, task->diag);
    if (ok && !status) {
        const struct before before = {wmi_program_steps(dispatch->program),
                                      wmi_program_compiled(dispatch->program).seconds};
        ok = wmi_dispatch_run(dispatch);
        task->result.seconds = wmi_seconds() - begin;
        if (ok)
            collect(task, &before);
    }
    free(dispatch->stales.found);
    dispatch->stales.found = NULL;
    give_program(task);
    if (!ok)
        status = wmi_fail(task->diag, WM_NO_MEMORY, "no memory to run kernel '%s'", task->kernel->name);
    return status;
}

enum wm_status wmi_execute(struct wmi_task *task)
{
    const struct wmi_dispatch *dispatch = &task->dispatch;
    struct wm_extent extent = {
        .kernel = task->kernel->name,
        .grid = {dispatch->grid[0], dispatch->grid[1], dispatch->grid[2]},
        .workgroup_size = {dispatch->workgroup[0], dispatch->workgroup[1], dispatch->workgroup[2]},
        .lds_bytes = dispatch->lds_size,
    };
    wmi_watchers_show(&task->request, WM_EVENT_DISPATCH_BEGIN, &extent);
    const enum wm_status status = run(task);
    extent.completed = !status && task->result.fault.kind == WM_FAULT_NONE;
    extent.instructions = task->result.wave_instructions;
    wmi_watchers_show(&task->request, WM_EVENT_DISPATCH_END, &extent);
    return status;
}

/* Others observe the copy. */
enum wm_status wmi_execute_again(void *user, struct wmi_dispatch *dispatch, struct wm_result *result)
{
    struct wm_diag diag;
    struct wmi_task again = *(const struct wmi_task *)user;
    again.dispatch = *dispatch;
    again.dispatch.keeps = false;
    again.dispatch.observed = NULL;
    again.result = *result;
    again.diag = &diag;
    again.request.start = again.request.start ? &again.start : NULL;
    const enum wm_status status = run(&again);
    wmi_start_release(&again.dispatch);
    *result = again.result;
    return status;
}
