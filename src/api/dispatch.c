/* SPDX-License-Identifier: MIT */
/* The public API: running a kernel. */
#include "api/observed.h"

#include "base/diag.h"
#include "check/check.h"
#include "exec/abi.h"
#include "observe/observers.h"
#include "profile/fidelity.h"
#include "profile/trace/replay.h"
#include "report/fault.h"
#include "report/printf.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LDS = 64 << 10, MAX_THREADS = 256, MAX_WORKGROUP = 1024, MAX_KERNARG = 1 << 20 };
#define MAX_INSTRUCTIONS (UINT64_C(1) << 40)

static uint32_t at_least_one(uint32_t value)
{
    return value ? value : 1;
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
    const uint32_t most = kernel->max_workgroup && kernel->max_workgroup < MAX_WORKGROUP
                              ? kernel->max_workgroup
                              : MAX_WORKGROUP;
    if (items > most)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "workgroup of %llu work-items; kernel '%s' takes at most %u",
                        (unsigned long long)items, kernel->name, most);
    if (required[0] && (required[0] != dispatch->workgroup[0] || required[1] != dispatch->workgroup[1] ||
                        required[2] != dispatch->workgroup[2]))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "workgroup %u,%u,%u; kernel '%s' requires %u,%u,%u",
                        dispatch->workgroup[0], dispatch->workgroup[1], dispatch->workgroup[2], kernel->name,
                        required[0], required[1], required[2]);
    return WM_OK;
}

static enum wm_status check_pointers(const struct wm_machine *machine, const struct wm_object *object,
                                     const struct wm_kernel *kernel, const struct wm_dispatch *request,
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
            return wmi_null(diag, "wm_dispatch", needed[i].name);
    if (request->struct_size != sizeof *request || result->struct_size != sizeof *result)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "struct_size is not that of this version of wavemem (%s)",
                        wm_version());
    if (!wmi_module_of(machine, object))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the code object is not loaded: call wm_load first");
    if (!wmi_object_has_kernel(object, kernel))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the kernel is none of the code object's");
    return WM_OK;
}

/* A handle that the dispatch uses has to be idle. */
static enum wm_status check_uses(const struct wm_machine *machine, const struct wm_dispatch *request,
                                 struct wm_diag *diag)
{
    const char *busy = request->profile && wmi_profile_use(request->profile)->running      ? "profile"
                       : request->check && wmi_check_use(request->check)->running          ? "check"
                       : request->fidelity && wmi_fidelity_use(request->fidelity)->running ? "fidelity report"
                                                                                           : NULL;
    if (busy)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the %s observes another dispatch that still runs", busy);
    return wmi_machine_idle(machine, "wm_dispatch", diag);
}

static enum wm_status check_request(const struct wm_kernel *kernel, const struct wm_dispatch *request,
                                    struct wmi_dispatch *dispatch, struct wm_diag *diag)
{
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
    if (lds > MAX_LDS)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "kernel '%s' would use %llu bytes of LDS; a workgroup has %u",
                        kernel->name, (unsigned long long)lds, MAX_LDS);
    dispatch->lds_size = (uint32_t)lds;
    return check_geometry(kernel, request, dispatch, diag);
}

static unsigned thread_count(uint32_t asked)
{
    const long online = asked ? (long)asked : sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > MAX_THREADS ? MAX_THREADS : (unsigned)online;
}

/* ---- running ---- */

/* What the words of a kernel are depends on its waves' size; an impossible one is the usual one. Hardware
 * always knows both halves of VGPRs. */
static const struct wmi_target *with_waves_of(const struct wmi_target *target, unsigned lanes)
{
    const struct wmi_target *halves = wmi_target_variant(target, lanes, true);
    const struct wmi_target *whole = halves ? halves : wmi_target_variant(target, lanes, false);
    return whole ? whole : target;
}

/* A dispatch from its request to its end. */
struct job {
    struct wm_machine *machine;
    const struct wmi_module *module;
    const struct wm_kernel *kernel;
    struct wm_dispatch request; /* a copy: callbacks may change theirs */
    struct wmi_dispatch dispatch;
    struct wmi_abi_memory memory;
    struct wmi_observed observed;
    struct wmi_observers *both; /* of profile and check; NULL: at most one of them */
};

/* Reserves what the ABI wants in guest memory, and fills the dispatch from the request. */
static enum wm_status prepare(struct job *job, struct wm_diag *diag)
{
    const struct wm_dispatch *request = &job->request;
    struct wmi_dispatch *d = &job->dispatch;
    const uint64_t items = (uint64_t)d->workgroup[0] * d->workgroup[1] * d->workgroup[2];
    const struct wmi_abi_request abi = {
        .kernel = job->kernel,
        .dispatch = request,
        .bias = job->module->bias,
        .space = job->machine->space,
        .apertures = &job->machine->apertures,
        .waves_per_group = (uint32_t)((items + job->kernel->wave_size - 1) / job->kernel->wave_size),
        .threads = thread_count(request->threads),
        .prints = request->print != NULL,
    };
    const enum wm_status status = wmi_abi_prepare(&abi, &job->memory, &d->launch, diag);
    if (status)
        return status;
    const struct wmi_abi_memory *memory = &job->memory;
    d->threads = memory->threads;
    d->scratch_stride = memory->scratch_stride;
    d->scratch_piece = memory->scratch_piece;
    d->scratch = memory->scratch ? wmi_space_host(job->machine->space, memory->scratch, 1) : NULL;
    d->scratch_base = memory->scratch;
    d->goes_on = request->on_violation == WM_VIOLATION_GOES_ON;
    d->residents = memory->residents < WMI_RESIDENT_LIMIT ? memory->residents : WMI_RESIDENT_LIMIT;
    d->max_instructions = request->max_instructions ? request->max_instructions : MAX_INSTRUCTIONS;
    d->timeout = request->timeout;
    d->alignment = request->alignment;
    d->stales.mode = request->scalar_cache;
    pthread_mutex_init(&d->stales.lock, NULL);
    d->progress = request->progress;
    d->progress_user = request->progress_user;
    return WM_OK;
}

/* Whoever observes the dispatch begins with it. */
static enum wm_status begin_observers(struct job *job, struct wm_diag *diag)
{
    const struct wm_dispatch *request = &job->request;
    const struct wmi_target *target = job->machine->target;
    const struct wmi_observer *profile = NULL, *check = NULL;
    if (request->fidelity)
        job->dispatch.executed = wmi_fidelity_counters(request->fidelity);
    if (request->profile)
        profile = wmi_profile_begin(
            request->profile, &(struct wmi_profile_source){
                                  .user = &job->observed,
                                  .describe = wmi_observed_describe,
                                  .code = wmi_observed_code,
                                  .target_name = wmi_target_name(target),
                                  .rules = wmi_cost_rules(wmi_target_limit(target, WMI_LIMIT_cost_rules)),
                                  .wave_lanes = job->kernel->wave_size,
                                  .dispatch = wmi_occupancy_of(job->machine, job->kernel, &job->dispatch),
                              });
    if (request->check)
        check = wmi_check_begin(request->check, with_waves_of(target, job->kernel->wave_size));
    if (profile && wmi_profile_tracer(request->profile))
        wmi_tracer_begin(wmi_profile_tracer(request->profile), request->profile, wmi_target_name(target));
    job->dispatch.observer = check ? check : profile;
    if (!profile || !check)
        return WM_OK;
    job->both = wmi_observers_create(check, profile);
    if (!job->both)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory to watch kernel '%s'", job->kernel->name);
    job->dispatch.observer = wmi_observers_as_one(job->both);
    return WM_OK;
}

static void end_observers(struct job *job)
{
    const struct wm_dispatch *request = &job->request;
    wmi_observers_destroy(job->both);
    if (request->profile)
        wmi_profile_end(request->profile);
    if (request->profile && wmi_profile_tracer(request->profile))
        wmi_tracer_end(wmi_profile_tracer(request->profile), request->profile);
    if (request->check)
        wmi_check_end(request->check, wmi_observed_describe, &job->observed);
}

static void report(struct job *job, struct wm_result *result)
{
    struct wmi_dispatch *d = &job->dispatch;
    const struct wmi_module *module = job->module;
    const struct wmi_fault_place place = {job->machine->target, module->object,
                                          wmi_object_name(module->object), module->bias};
    result->wave_instructions = d->instructions;
    result->waves = d->waves;
    result->workgroups = d->groups_done;
    if (d->fault.kind != WM_FAULT_NONE)
        wmi_report_fault(d, &place, &result->fault);
    wmi_report_stales(d, &place, job->request.stale, job->request.stale_user);
    result->violations = d->violation.count;
    if (result->violations) {
        d->fault = d->violation.first;
        d->fault_group = d->violation.group;
        d->fault_wave = d->violation.wave;
        wmi_report_fault(d, &place, &result->violation);
    }
}

static enum wm_status run(struct job *job, struct wm_result *result, struct wm_diag *diag)
{
    struct wmi_dispatch *d = &job->dispatch;
    const struct wmi_kernel_descriptor *descriptor = wmi_kernel_descriptor(job->kernel);
    const struct wmi_program_options options = {
        .target = with_waves_of(job->machine->target, job->kernel->wave_size),
        .space = job->machine->space,
        .entry = d->launch.entry,
        .lanes = job->kernel->wave_size,
        .vgprs = descriptor->vgprs,
        .agprs = descriptor->agprs,
        .level = wmi_cpu_level(),
        .observer = d->observer,
        .alignment = d->alignment,
        .scalar_cache = d->stales.mode,
        .counts = d->executed,
    };
    const double begin = wmi_seconds();
    d->program = wmi_program_create(&options);
    const bool ok = d->program && wmi_dispatch_run(d);
    result->seconds = wmi_seconds() - begin;
    if (ok)
        report(job, result);
    free(d->stales.found);
    wmi_program_destroy(d->program);
    return ok ? WM_OK : wmi_fail(diag, WM_NO_MEMORY, "no memory to run kernel '%s'", job->kernel->name);
}

static void print(const struct job *job)
{
    const struct wm_dispatch *request = &job->request;
    size_t count;
    const char *const *formats = wmi_object_printf(job->module->object, &count);
    if (job->memory.printf && request->print)
        wmi_print_buffer(formats, count,
                         wmi_space_host(job->machine->space, job->memory.printf, WMI_PRINTF_BYTES),
                         WMI_PRINTF_BYTES, request->print, request->print_user);
}

static void begin_uses(const struct job *job)
{
    const struct wm_dispatch *request = &job->request;
    job->machine->use.running = true;
    if (request->profile)
        wmi_profile_use(request->profile)->running = true;
    if (request->check)
        wmi_check_use(request->check)->running = true;
    if (request->fidelity)
        wmi_fidelity_use(request->fidelity)->running = true;
}

/* Destroys what callbacks wanted to. */
static void end_uses(const struct job *job)
{
    const struct wm_dispatch *request = &job->request;
    if (request->profile && wmi_use_end(wmi_profile_use(request->profile)))
        wm_profile_destroy(request->profile);
    if (request->check && wmi_use_end(wmi_check_use(request->check)))
        wm_check_destroy(request->check);
    if (request->fidelity && wmi_use_end(wmi_fidelity_use(request->fidelity)))
        wm_fidelity_destroy(request->fidelity);
    if (wmi_use_end(&job->machine->use))
        wm_machine_destroy(job->machine);
}

enum wm_status wm_dispatch(struct wm_machine *machine, const struct wm_object *object,
                           const struct wm_kernel *kernel, const struct wm_dispatch *request,
                           struct wm_result *result, struct wm_diag *diag)
{
    enum wm_status status = check_pointers(machine, object, kernel, request, result, diag);
    if (status)
        return status;
    *result = (struct wm_result){.struct_size = sizeof *result};
    const struct wmi_module *module = wmi_module_of(machine, object);
    struct job job = {.machine = machine,
                      .module = module,
                      .kernel = kernel,
                      .request = *request,
                      .dispatch = {.space = machine->space, .apertures = machine->apertures},
                      .observed = {machine, module, ""}};
    status = check_uses(machine, request, diag);
    status = status ? status : check_request(kernel, request, &job.dispatch, diag);
    if (!status && request->profile)
        status = wmi_choose_gpu(request->profile, machine->target, diag);
    status = status ? status : prepare(&job, diag);
    if (status)
        return status;
    begin_uses(&job);
    status = begin_observers(&job, diag);
    status = status ? status : run(&job, result, diag);
    end_observers(&job);
    if (!status)
        print(&job);
    wmi_abi_release(machine->space, &job.memory);
    end_uses(&job);
    return status;
}
