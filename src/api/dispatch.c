/* SPDX-License-Identifier: MIT */
/* The public API: running a kernel. */
#include "api/dispatch.h"

#include "api/guards.h"
#include "api/observed.h"
#include "api/shuffle.h"
#include "api/start.h"
#include "base/diag.h"
#include "base/versioned.h"
#include "check/check.h"
#include "exec/memory/gds.h"
#include "exec/run/abi.h"
#include "exec/run/environment.h"
#include "exec/run/programs.h"
#include "profile/cost/gpu.h"
#include "profile/fidelity.h"
#include "profile/trace/replay.h"
#include "report/fault.h"
#include "report/printf.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LDS = 64 << 10, MAX_THREADS = 256, MAX_WORKGROUP = 1024, MAX_KERNARG = 1 << 20 };
#define MAX_INSTRUCTIONS (UINT64_C(1) << 40)

static uint32_t at_least_one(uint32_t value)
{
    return value ? value : 1;
}

/* HIP's own kernels for copies are launched with 512 or 1024 work-items although clang says 256 of them, as
 * it does by default; the hardware does not look at that. Source: clr 6.1, rocclr/device/rocm/rocblit.cpp. */
static bool is_of_hip(const struct wm_kernel *kernel)
{
    static const char stem[] = "__amd_rocclr_";
    return !strncmp(kernel->name, stem, sizeof stem - 1);
}

/* The geometry of the request, checked against the kernel. */
static enum wm_status check_geometry(const struct wm_kernel *kernel, const struct wm_dispatch *request,
                                     struct wmi_dispatch *dispatch, struct wm_diag *diag)
{
    const uint32_t *required = kernel->required_workgroup;
    uint64_t items = 1;
    dispatch->group_count = 1;
    for (unsigned i = 0; i < 3; i++) {
        dispatch->grid[i] = at_least_one(request->grid[i]);
        dispatch->workgroup[i] = at_least_one(request->workgroup[i]);
        dispatch->groups[i] =
            (uint32_t)(((uint64_t)dispatch->grid[i] + dispatch->workgroup[i] - 1) / dispatch->workgroup[i]);
        if (dispatch->workgroup[i] > 1024)
            return wmi_fail(diag, WM_BAD_ARGUMENT, "workgroup dimension %u is %u; at most 1024 work-items", i,
                            dispatch->workgroup[i]);
        items *= dispatch->workgroup[i];
        if (__builtin_mul_overflow(dispatch->group_count, dispatch->groups[i], &dispatch->group_count))
            return wmi_fail(diag, WM_BAD_ARGUMENT, "the grid has more than 2^64 workgroups");
    }
    const bool limited = kernel->max_workgroup && kernel->max_workgroup < MAX_WORKGROUP && !is_of_hip(kernel);
    const uint32_t most = limited ? kernel->max_workgroup : MAX_WORKGROUP;
    if (items > most)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "workgroup of %llu work-items; kernel '%s' takes at most %u",
                        (unsigned long long)items, kernel->name, most);
    if (required[0] && (required[0] != dispatch->workgroup[0] || required[1] != dispatch->workgroup[1] ||
                        required[2] != dispatch->workgroup[2]))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "workgroup %u,%u,%u; kernel '%s' requires %u,%u,%u",
                        dispatch->workgroup[0], dispatch->workgroup[1], dispatch->workgroup[2], kernel->name,
                        required[0], required[1], required[2]);
    if ((request->global_offset[0] || request->global_offset[1] || request->global_offset[2]) &&
        !wmi_kernel_has_offset(kernel))
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "a global offset for kernel '%s', which does not read one (hidden_global_offset_x)",
                        kernel->name);
    return WM_OK;
}

/* The workgroups of the grid that the request wants to run. */
static enum wm_status check_range(const struct wm_dispatch *request, struct wmi_dispatch *dispatch,
                                  struct wm_diag *diag)
{
    const uint64_t first = request->first_workgroup, all = dispatch->group_count;
    size_t seeds = 0;
    if (request->check)
        wmi_check_seeds(request->check, &seeds);
    if (first >= all || request->workgroup_count > all - first)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%llu workgroups from number %llu on; the grid has %llu",
                        (unsigned long long)request->workgroup_count, (unsigned long long)first,
                        (unsigned long long)all);
    dispatch->first_group = first;
    dispatch->run_count = request->workgroup_count ? request->workgroup_count : all - first;
    const char *needs_all = dispatch->run_count == all ? NULL
                            : request->cooperative     ? "is cooperative"
                            : seeds                    ? "is checked in other orders"
                            : request->profile && wmi_profile_takes_sample(request->profile) ? "is sampled"
                                                                                             : NULL;
    return needs_all ? wmi_fail(diag, WM_BAD_ARGUMENT, "a dispatch of some workgroups of the grid that %s",
                                needs_all)
                     : WM_OK;
}

static enum wm_status check_pointers(const char *function, const struct wm_machine *machine,
                                     const struct wm_object *object, const struct wm_kernel *kernel,
                                     const struct wmi_module *module, const struct wm_dispatch *request,
                                     const struct wm_result *result, struct wm_diag *diag)
{
    const struct {
        const void *pointer;
        const char *name;
    } needed[] = {{machine, "machine"},
                  {object, "object"},
                  {kernel, "kernel"},
                  {request, "dispatch"},
                  {result, "result"}};
    for (unsigned i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!needed[i].pointer)
            return wmi_null(diag, function, needed[i].name);
    if (!module && !wmi_module_of(machine, object))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the code object is not loaded: call wm_load first");
    if (!wmi_object_has_kernel(object, kernel))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the kernel is not one of the code object's");
    return wmi_check_struct(result, sizeof *result, offsetof(struct wm_result, violations), "wm_result",
                            diag);
}

/* What of the request is in use by a dispatch that still runs; each may be NULL. */
static void get_busy(const struct wm_dispatch *request, bool *busy[3])
{
    busy[0] = request->profile ? wmi_profile_busy(request->profile) : NULL;
    busy[1] = request->check ? wmi_check_busy(request->check) : NULL;
    busy[2] = request->fidelity ? wmi_fidelity_busy(request->fidelity) : NULL;
}

static void release(bool *const *busy, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (busy[i])
            __atomic_store_n(busy[i], false, __ATOMIC_RELEASE);
}

/* Takes the machine and what the request has in use, until finish(). */
static enum wm_status take(const char *function, struct wm_machine *machine,
                           const struct wm_dispatch *request, struct wm_diag *diag)
{
    static const char *const names[] = {"profile", "check", "fidelity report"};
    bool *busy[3];
    get_busy(request, busy);
    if (wmi_rwlock_read_state(wmi_space_rwlock(machine->space)) != WMI_READ_UNLOCKED)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "%s: called by a callback of a dispatch that is running on the machine", function);
    for (unsigned i = 0; i < 3; i++)
        if (busy[i] && __atomic_exchange_n(busy[i], true, __ATOMIC_ACQUIRE)) {
            release(busy, i);
            return wmi_fail(diag, WM_BAD_ARGUMENT, "the %s observes another dispatch that is running",
                            names[i]);
        }
    __atomic_fetch_add(&machine->running, 1, __ATOMIC_ACQUIRE);
    return WM_OK;
}

static void finish(struct wm_machine *machine, const struct wm_dispatch *request)
{
    bool *busy[3];
    get_busy(request, busy);
    release(busy, 3);
    __atomic_fetch_sub(&machine->running, 1, __ATOMIC_RELEASE);
}

static enum wm_status check_request(const struct wm_machine *machine, const struct wm_kernel *kernel,
                                    const struct wm_dispatch *request, struct wmi_dispatch *dispatch,
                                    struct wm_diag *diag)
{
    const uint32_t of_target = wmi_target_limit(machine->target, WMI_LIMIT_lds_bytes);
    const uint32_t most = of_target > MAX_LDS ? of_target : MAX_LDS;
    if (request->on_violation > WM_VIOLATION_GOES_ON)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "on_violation is %u; expected WM_VIOLATION_STOPS or _GOES_ON",
                        request->on_violation);
    if ((unsigned)request->alignment > WM_ALIGNMENT_STRICT)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "alignment %u is none of enum wm_alignment",
                        (unsigned)request->alignment);
    if ((unsigned)request->scalar_cache > WM_SCALAR_CACHE_STALE)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "scalar_cache %u is none of enum wm_scalar_cache",
                        (unsigned)request->scalar_cache);
    if (!(request->timeout >= 0))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "timeout is %g; expected seconds, or 0 for none",
                        request->timeout);
    if (request->arguments_size && !request->arguments)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "arguments_size is %llu but arguments is NULL",
                        (unsigned long long)request->arguments_size);
    if (request->arguments_size > MAX_KERNARG)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%llu bytes of arguments; at most %u",
                        (unsigned long long)request->arguments_size, MAX_KERNARG);
    const uint64_t lds = (uint64_t)kernel->lds_size + request->dynamic_lds;
    if (lds > most)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "kernel '%s' would use %llu bytes of LDS; a workgroup has %u",
                        kernel->name, (unsigned long long)lds, most);
    dispatch->lds_size = (uint32_t)lds;
    enum wm_status status = wmi_watchers_check(request, diag);
    status = status ? status : check_geometry(kernel, request, dispatch, diag);
    return status ? status : check_range(request, dispatch, diag);
}

/* Observers without state per thread are called by one thread. */
static bool wants_one_thread(const struct wm_dispatch *request)
{
    for (size_t i = 0; i < request->observer_count; i++)
        if (!request->observers[i]->begin_thread)
            return true;
    return false;
}

static unsigned thread_count(uint32_t asked)
{
    const long online = asked ? (long)asked : sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > MAX_THREADS ? MAX_THREADS : (unsigned)online;
}

/* ---- running ---- */

static bool is_reproducible(const struct wmi_dispatch *dispatch, size_t steps)
{
    const unsigned fault = dispatch->fault.kind;
    if (dispatch->in_one_order)
        return fault != WM_FAULT_TIMEOUT && fault != WM_FAULT_STOPPED;
    return fault == WM_FAULT_NONE && wmi_program_steps(dispatch->program) == steps;
}

/* NULL: none of the target is known. */
static const struct wm_gpu *product_of(const struct wm_machine *machine, const struct wm_dispatch *request)
{
    const struct wm_gpu *gpu = request->gpu;
    if (!gpu && request->profile)
        gpu = wmi_profile_gpu(request->profile);
    return gpu ? gpu : wm_gpu_default(wmi_target_name(machine->target));
}

static struct wmi_code_options code_options(const struct wm_machine *machine, const struct wmi_module *module,
                                            const struct wm_kernel *kernel,
                                            const struct wmi_dispatch *dispatch,
                                            const struct wm_dispatch *request)
{
    return (struct wmi_code_options){
        .target = wmi_target_of_waves(machine, kernel->wave_size),
        .space = machine->space,
        .entry = dispatch->launch.entry,
        .lanes = kernel->wave_size,
        .vgprs = wmi_kernel_descriptor(kernel)->vgprs,
        .agprs = wmi_kernel_descriptor(kernel)->agprs,
        .sgprs = wmi_kernel_descriptor(kernel)->sgprs,
        .observers = dispatch->observers,
        .alignment = dispatch->alignment,
        .scalar_cache = dispatch->stales.mode,
        .sramecc = machine->sramecc ? machine->sramecc : wmi_sramecc_of(wm_object_target_id(module->object)),
        .tiling = wmi_gpu_tiling(product_of(machine, request), machine->target),
    };
}

/* The program of the dispatch: the one that its check has kept, one of the machine's, or a new one. */
static struct wmi_program *take_program(struct wm_machine *machine, struct wmi_dispatch *dispatch,
                                        const struct wmi_code_options *options)
{
    struct wmi_program *program = dispatch->observed;
    dispatch->observed = NULL;
    if (!program)
        return wmi_programs_take(machine->programs, options, wmi_cpu_level());
    wmi_program_set_observers(program, &options->observers);
    return program;
}

static void give_program(struct wm_machine *machine, struct wmi_dispatch *dispatch)
{
    if (dispatch->keeps)
        dispatch->observed = dispatch->program;
    else
        wmi_programs_give(machine->programs, dispatch->program);
}

static enum wm_status run(struct wm_machine *machine, const struct wmi_module *module,
                          const struct wm_kernel *kernel, struct wmi_dispatch *dispatch,
                          const struct wm_dispatch *request, struct wm_result *result, struct wm_diag *diag)
{
    const struct wmi_code_options options = code_options(machine, module, kernel, dispatch, request);
    const double begin = wmi_seconds();
    dispatch->program = take_program(machine, dispatch, &options);
    struct wmi_observed observed = {machine, module, ""};
    const bool watched = dispatch->observers.count || dispatch->stales.mode;
    bool ok = dispatch->program && (!watched || wmi_fix_order(&observed, kernel, dispatch));
    if (ok && request->start) {
        const enum wm_status status =
            wmi_start_prepare(request->start, wmi_program_code(dispatch->program), dispatch, diag);
        if (status) {
            give_program(machine, dispatch);
            return status;
        }
    }
    const size_t steps = ok ? wmi_program_steps(dispatch->program) : 0;
    const double compiling =
        ok ? wmi_program_compiled(dispatch->program).seconds : 0; /* before this dispatch */
    ok = ok && wmi_dispatch_run(dispatch);
    result->seconds = wmi_seconds() - begin;
    const struct wmi_fault_place place = {machine->target, module->object, wmi_object_name(module->object),
                                          module->bias};
    if (ok) {
        result->wave_instructions = dispatch->instructions;
        result->waves = dispatch->waves;
        result->workgroups = dispatch->groups_done;
        result->reproducible = is_reproducible(dispatch, steps);
        wmi_program_add_executed(dispatch->program, dispatch->instructions);
        const struct wmi_compiled compiled = wmi_program_compiled(dispatch->program);
        result->compiled_bytes = compiled.bytes;
        result->compile_seconds = compiled.seconds - compiling;
        result->compile_refused = compiled.refused;
        if (dispatch->fault.kind != WM_FAULT_NONE)
            wmi_report_fault(dispatch, &place, &result->fault);
        wmi_report_stales(dispatch, &place, request->stale, request->stale_user);
        result->violations = dispatch->violation.count;
        if (result->violations) {
            dispatch->fault = dispatch->violation.first;
            dispatch->fault_group = dispatch->violation.group;
            dispatch->fault_wave = dispatch->violation.wave;
            wmi_report_fault(dispatch, &place, &result->violation);
        }
    }
    free(dispatch->stales.found);
    give_program(machine, dispatch);
    return ok ? WM_OK : wmi_fail(diag, WM_NO_MEMORY, "no memory to run kernel '%s'", kernel->name);
}

/* The same, between the events of the dispatch. */
static enum wm_status run_shown(struct wm_machine *machine, const struct wmi_module *module,
                                const struct wm_kernel *kernel, struct wmi_dispatch *dispatch,
                                const struct wm_dispatch *request, struct wm_result *result,
                                struct wm_diag *diag)
{
    struct wm_extent extent = {
        .kernel = kernel->name,
        .grid = {dispatch->grid[0], dispatch->grid[1], dispatch->grid[2]},
        .workgroup_size = {dispatch->workgroup[0], dispatch->workgroup[1], dispatch->workgroup[2]},
        .lds_bytes = dispatch->lds_size,
    };
    wmi_watchers_show(request, WM_EVENT_DISPATCH_BEGIN, &extent);
    const enum wm_status status = run(machine, module, kernel, dispatch, request, result, diag);
    extent.completed = !status && result->fault.kind == WM_FAULT_NONE;
    extent.instructions = result->wave_instructions;
    wmi_watchers_show(request, WM_EVENT_DISPATCH_END, &extent);
    return status;
}

/* What it takes to run a dispatch again. */
struct rerun {
    struct wm_machine *machine;
    const struct wmi_module *module;
    const struct wm_kernel *kernel;
    const struct wm_dispatch *request;
};

static enum wm_status run_again(void *user, struct wmi_dispatch *dispatch, struct wm_result *result)
{
    const struct rerun *again = user;
    struct wm_diag diag;
    dispatch->keeps = false; /* others observe it now */
    dispatch->observed = NULL;
    const enum wm_status status =
        run(again->machine, again->module, again->kernel, dispatch, again->request, result, &diag);
    wmi_start_release(dispatch);
    return status;
}

/* Which registers have values when a wave starts. Source: exec/run/abi.c. */
static void tell_initial_registers(const struct wm_kernel *kernel, const struct wmi_dispatch *dispatch,
                                   struct wmi_check_dispatch *about)
{
    const struct wmi_kernel_descriptor *d = wmi_kernel_descriptor(kernel);
    about->set_sgprs = d->user_sgprs + d->workgroup_id_x + d->workgroup_id_y + d->workgroup_id_z +
                       (d->workgroup_info != 0) + (d->scratch_enabled != 0);
    about->agprs = d->agprs;
    about->set_vgprs = dispatch->launch.packed_ids ? 1 : dispatch->launch.workitem_ids;
}

/* Tells the checkers what they are about to see. Returns how many observers they have. */
static size_t begin_check(const struct wm_machine *machine, const struct wmi_module *module,
                          const struct wm_kernel *kernel, struct wmi_dispatch *dispatch,
                          const struct wmi_guards *guards, const struct wm_dispatch *request,
                          struct wmi_watcher *own)
{
    struct wmi_check_dispatch about = {
        .target = wmi_target_of_waves(machine, kernel->wave_size),
        .space = machine->space,
        .kernel = kernel->name,
        .entry = dispatch->launch.entry,
        .profiled = request->profile,
        .sets_all = request->start,
        .max_items = is_of_hip(kernel) ? 0 : kernel->max_workgroup,
        .copies = is_of_hip(kernel),
        .wgp_mode = wmi_kernel_descriptor(kernel)->wgp_mode,
        .wave_lanes = kernel->wave_size,
        .lds_bytes = dispatch->lds_size,
        .lane_scratch = dispatch->lane_scratch,
        .scratch = dispatch->scratch_base,
        .scratch_stride = dispatch->scratch_stride,
        .wave_scratch = dispatch->scratch_piece,
        .kernarg = dispatch->arguments,
        .kernarg_bytes = (uint32_t)kernel->kernarg_size,
        .guards = guards->guard,
        .guard_count = guards->count,
    };
    const struct wmi_code_options code = code_options(machine, module, kernel, dispatch, request);
    size_t seeds;
    wmi_check_seeds(request->check, &seeds);
    if (!request->profile && !request->fidelity && !request->observer_count && !dispatch->holder && !seeds)
        about.code = &code;
    tell_initial_registers(kernel, dispatch, &about);
    struct wmi_check_observer observers[WMI_CHECKERS];
    memcpy(about.groups, dispatch->groups, sizeof about.groups);
    memcpy(about.workgroup, dispatch->workgroup, sizeof about.workgroup);
    const unsigned count = wmi_check_begin(request->check, &about, observers);
    for (unsigned i = 0; i < count; i++)
        own[i] = (struct wmi_watcher){observers[i].observer, observers[i].what};
    dispatch->keeps = about.code;
    dispatch->observed = wmi_check_take_program(request->check);
    return count;
}

/* Runs the kernel before the eyes of its profile, checks and observers. */
static enum wm_status run_observed(struct wm_machine *machine, const struct wmi_module *module,
                                   const struct wm_kernel *kernel, struct wmi_dispatch *dispatch,
                                   const struct wm_dispatch *request, struct wm_result *result,
                                   struct wm_diag *diag)
{
    const struct wmi_target *target = machine->target;
    struct wmi_observed observed = {machine, module, ""};
    struct wmi_watcher own[4 + WMI_CHECKERS];
    struct wmi_watchers watchers;
    struct wmi_shuffle shuffle;
    const struct wmi_observer *stores;
    struct wmi_guards guards = {0};
    size_t owns = 0;
    if (request->check && !wmi_guards_create(&guards, machine, module, kernel, dispatch))
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a check");
    if (dispatch->holder)
        own[owns++] = (struct wmi_watcher){dispatch->holder, "run"};
    if (request->profile) {
        struct wmi_profile_source source = {
            .user = &observed,
            .describe = wmi_observed_describe,
            .code = wmi_observed_code,
            .target_name = wmi_target_name(target),
            .rules = wmi_cost_rules(wmi_target_limit(target, WMI_LIMIT_cost_rules)),
            .wave_lanes = kernel->wave_size,
            .dispatch = wmi_occupancy_of(machine, kernel, dispatch),
        };
        source.dispatch.first_group = dispatch->first_group;
        wmi_tell_scratch(machine, kernel, dispatch, &source);
        own[owns++] = (struct wmi_watcher){wmi_profile_begin(request->profile, &source), "profile"};
    }
    if (request->check)
        owns += begin_check(machine, module, kernel, dispatch, &guards, request, &own[owns]);
    if (request->fidelity)
        own[owns++] = (struct wmi_watcher){wmi_fidelity_observer(request->fidelity), "fidelity"};
    const char *missed = wmi_shuffle_begin(&shuffle, machine, request->check, dispatch, &stores);
    if (stores)
        own[owns++] = (struct wmi_watcher){stores, "shuffle"};
    struct wmi_tracer *tracer = request->profile ? wmi_profile_tracer(request->profile) : NULL;
    if (tracer)
        wmi_tracer_begin(tracer, request->profile, wmi_target_name(target));
    enum wm_status status = wmi_watchers_create(&watchers, own, owns, request, diag);
    if (!status) {
        struct rerun again = {machine, module, kernel, request};
        dispatch->observers = watchers.observers;
        status = run_shown(machine, module, kernel, dispatch, request, result, diag);
        missed = missed ? missed : wmi_shuffle_end(&shuffle, result, run_again, &again);
        if (missed)
            wmi_add_incomplete(result, "check", missed);
    }
    if (request->profile)
        wmi_profile_end(request->profile);
    if (tracer)
        wmi_tracer_end(tracer, request->profile);
    const struct wmi_check_ran ran = {result->workgroups, result->waves, result->wave_instructions};
    if (request->check) {
        wmi_check_end(request->check, &ran, wmi_observed_describe, wmi_observed_inlined,
                      wmi_observed_variable, &observed);
        wmi_check_keep_program(request->check, dispatch->observed);
        dispatch->observed = NULL;
    }
    wmi_watchers_ask(&watchers, result);
    if (request->check && wmi_check_incomplete(request->check))
        wmi_add_incomplete(result, "check", wmi_check_incomplete(request->check));
    if (dispatch->stales.lost)
        wmi_add_incomplete(result, "scalar cache", "no memory for all that it found");
    if (wmi_object_lost(module->object))
        wmi_add_incomplete(result, "code object", "no memory for symbols and lines");
    wmi_watchers_destroy(&watchers);
    wmi_guards_destroy(&guards);
    return status;
}

static uint32_t lane_scratch(const struct wm_kernel *kernel, const struct wm_start *start)
{
    const uint32_t own = wmi_abi_scratch_size(kernel);
    return start && start->scratch_bytes > own ? start->scratch_bytes : own;
}

static enum wm_status check_gpu(const struct wm_machine *machine, const struct wm_gpu *gpu,
                                struct wm_diag *diag)
{
    char what[64];
    const enum wm_status status = wmi_gpu_check(gpu, diag);
    snprintf(what, sizeof what, "the code object is for %s", wmi_target_name(machine->target));
    return status ? status : wmi_gpu_fits(gpu, machine->target, what, diag);
}

/* ---- cooperative dispatches ---- */

/* The grid must fit on the product, all at once. */
static enum wm_status check_fit(const struct wm_machine *machine, const struct wm_kernel *kernel,
                                const struct wm_dispatch *request, struct wmi_dispatch *dispatch,
                                struct wm_diag *diag)
{
    const struct wm_gpu *gpu = product_of(machine, request);
    if (!gpu)
        return wmi_fail(diag, WM_UNSUPPORTED,
                        "a cooperative dispatch on %s: no product of this target is known; name another one",
                        wmi_target_name(machine->target));
    if (!request->gpu) { /* the profile's may be of another target */
        const enum wm_status status = check_gpu(machine, gpu, diag);
        if (status)
            return status;
    }
    const struct wmi_profile_dispatch needs = wmi_occupancy_of(machine, kernel, dispatch);
    const struct wmi_capacity capacity = wmi_capacity_of(gpu, &needs, kernel->wave_size);
    const uint64_t most = (uint64_t)(gpu->compute_units / capacity.units) * capacity.groups;
    return dispatch->group_count <= most
               ? WM_OK
               : wmi_fail(diag, WM_BAD_ARGUMENT,
                          "a cooperative dispatch of %llu workgroups; %s (%s) holds %llu of kernel '%s' at "
                          "once: %u on "
                          "%s of its %u compute units, limited by %s",
                          (unsigned long long)dispatch->group_count, gpu->title, gpu->name,
                          (unsigned long long)most, kernel->name, capacity.groups,
                          capacity.units > 1 ? "each pair" : "each", gpu->compute_units, capacity.limit);
}

/* Lets all workgroups be resident. A GPU has one such dispatch at a time: they share resource 0 of global
 * wave sync, which the runtime sets to the number of workgroups minus one (ROCclr, gwsInit). */
static enum wm_status cooperate(struct wm_machine *machine, const struct wm_kernel *kernel,
                                struct wmi_dispatch *dispatch, struct wm_diag *diag)
{
    if (dispatch->group_count > dispatch->residents)
        return wmi_fail(diag, WM_UNSUPPORTED,
                        "a cooperative dispatch of %llu workgroups of kernel '%s'; %u can be unfinished at "
                        "once, by their "
                        "scratch memory",
                        (unsigned long long)dispatch->group_count, kernel->name, dispatch->residents);
    if (__atomic_exchange_n(&machine->cooperating, true, __ATOMIC_ACQUIRE))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "another cooperative dispatch is running on the machine");
    dispatch->cooperative = true;
    wmi_gws_init(machine->gws, 0, (uint32_t)dispatch->group_count - 1);
    return WM_OK;
}

/* Runs a request that makes sense. */
static enum wm_status run_request(const struct wmi_dispatch_how *how, struct wm_machine *machine,
                                  const struct wmi_module *module, const struct wm_kernel *kernel,
                                  struct wmi_dispatch *dispatch, const struct wm_dispatch *request,
                                  struct wm_result *result, struct wm_diag *diag)
{
    struct wmi_abi_memory memory;
    struct wmi_read_lock read_lock;
    enum wm_status status =
        request->profile ? wmi_choose_gpu(request->profile, machine->target, diag) : WM_OK;
    if (status)
        return status;
    const bool alone = dispatch->holder || wants_one_thread(request) ||
                       (request->check && wmi_check_in_order(request->check));
    dispatch->threads = alone ? 1 : thread_count(request->threads);
    if (request->gpu && (status = check_gpu(machine, request->gpu, diag)))
        return status;
    if (request->cooperative && (status = check_fit(machine, kernel, request, dispatch, diag)))
        return status;
    const uint64_t items = (uint64_t)dispatch->workgroup[0] * dispatch->workgroup[1] * dispatch->workgroup[2];
    const struct wmi_abi_request abi = {
        .kernel = kernel,
        .dispatch = request,
        .bias = module->bias,
        .space = machine->space,
        .cursor = how->cursor,
        .has_kernarg = how->has_kernarg,
        .kernarg = how->kernarg,
        .fills_hidden = how->fills_hidden,
        .apertures = &machine->apertures,
        .waves_per_group = (uint32_t)((items + kernel->wave_size - 1) / kernel->wave_size),
        .prints = request->print != NULL,
        .lane_scratch = lane_scratch(kernel, request->start),
        .start = request->start,
    };
    status = wmi_abi_prepare(&abi, &memory, &dispatch->launch, diag);
    if (status)
        return status;
    dispatch->scratch_stride = memory.scratch_stride;
    dispatch->scratch_piece = memory.scratch_piece;
    dispatch->scratch = memory.scratch_host;
    dispatch->arguments = how->has_kernarg ? how->kernarg : memory.kernarg;
    dispatch->scratch_base =
        abi.start && abi.start->scratch_waves ? abi.start->scratch_address : memory.scratch;
    dispatch->scratch_bytes = memory.scratch_bytes;
    dispatch->lane_scratch = abi.lane_scratch;
    dispatch->goes_on = request->on_violation == WM_VIOLATION_GOES_ON;
    dispatch->residents = memory.places < WMI_RESIDENT_LIMIT ? memory.places : WMI_RESIDENT_LIMIT;
    dispatch->max_instructions = request->max_instructions ? request->max_instructions : MAX_INSTRUCTIONS;
    dispatch->timeout = request->timeout;
    dispatch->alignment = request->alignment;
    dispatch->stales.mode = request->scalar_cache;
    pthread_mutex_init(&dispatch->stales.lock, NULL);
    dispatch->progress = request->progress;
    dispatch->progress_user = request->progress_user;
    dispatch->waits_for_others = request->waits_for_others;
    dispatch->others = request->others;
    dispatch->others_user = request->others_user;
    dispatch->read_lock = &read_lock;
    if (request->cooperative && (status = cooperate(machine, kernel, dispatch, diag))) {
        wmi_start_release(dispatch);
        wmi_abi_release(machine->space, &memory);
        return status;
    }
    wmi_rwlock_read(wmi_space_rwlock(machine->space), &read_lock);
    status = run_observed(machine, module, kernel, dispatch, request, result, diag);
    if (status == WM_OK && memory.printf && request->print) {
        size_t count;
        const char *const *formats = wmi_object_printf(module->object, &count);
        wmi_print_buffer(formats, count, wmi_space_host(machine->space, memory.printf, WMI_PRINTF_BYTES),
                         WMI_PRINTF_BYTES, request->print, request->print_user);
    }
    wmi_rwlock_read_unlock(&read_lock);
    if (dispatch->cooperative)
        __atomic_store_n(&machine->cooperating, false, __ATOMIC_RELEASE);
    wmi_start_release(dispatch);
    wmi_abi_release(machine->space, &memory);
    return status;
}

enum wm_status wmi_dispatch_with(const struct wmi_dispatch_how *how, struct wm_machine *machine,
                                 const struct wm_object *object, const struct wm_kernel *kernel,
                                 const struct wm_dispatch *given, struct wm_result *given_result,
                                 struct wm_diag *diag)
{
    struct wm_dispatch request; /* a copy: a callback may change the caller's */
    struct wm_start start;
    struct wm_result result = {.struct_size = sizeof result};
    enum wm_status status =
        check_pointers(how->function, machine, object, kernel, how->module, given, given_result, diag);
    if (!status)
        status = wmi_take_struct(&request, sizeof request, offsetof(struct wm_dispatch, arguments), given,
                                 "wm_dispatch", diag);
    if (!status)
        status = wmi_start_take(request.start, &start, diag);
    if (status)
        return status;
    request.start = request.start ? &start : NULL;
    wmi_give_struct(given_result, &result, sizeof result);
    struct wmi_dispatch dispatch = {.space = machine->space,
                                    .apertures = machine->apertures,
                                    .gws = machine->gws,
                                    .pool = machine->pool,
                                    .holder = how->holder};
    status = check_request(machine, kernel, &request, &dispatch, diag);
    status = status ? status : wmi_environment_check(diag);
    status = status ? status : take(how->function, machine, &request, diag);
    if (status)
        return status;
    const struct wmi_module *module = how->module ? how->module : wmi_module_of(machine, object);
    status = run_request(how, machine, module, kernel, &dispatch, &request, &result, diag);
    finish(machine, &request);
    wmi_give_struct(given_result, &result, sizeof result);
    return status;
}

enum wm_status wm_dispatch(struct wm_machine *machine, const struct wm_object *object,
                           const struct wm_kernel *kernel, const struct wm_dispatch *request,
                           struct wm_result *result, struct wm_diag *diag)
{
    return wmi_dispatch_with(&(struct wmi_dispatch_how){.function = __func__}, machine, object, kernel,
                             request, result, diag);
}
