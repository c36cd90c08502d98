/* SPDX-License-Identifier: MIT */
/* The public API: running a kernel. A dispatch is checked, prepared, observed, executed and finished. */
#include "api/dispatch.h"

#include "api/execute.h"
#include "api/observation.h"
#include "api/request.h"
#include "api/start.h"
#include "api/task.h"
#include "arithmetic/host_float.h"
#include "base/diag.h"
#include "base/versioned.h"
#include "exec/memory/gds.h"
#include "exec/run/environment.h"
#include "profile/fidelity.h"
#include "report/printf.h"

#define MAX_INSTRUCTIONS (UINT64_C(1) << 40)

/* ---- what a dispatch has to itself ---- */

/* What of the request is in use by a dispatch that still runs; each may be NULL. */
static void get_busy(const struct wm_dispatch *request, bool *busy[3])
{
    busy[0] = request->profile ? wmi_profile_busy(request->profile) : NULL;
    busy[1] = request->check ? wmi_check_busy(request->check) : NULL;
    busy[2] = request->fidelity ? wmi_fidelity_busy(request->fidelity) : NULL;
}

static void clear(bool *const *busy, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (busy[i])
            __atomic_store_n(busy[i], false, __ATOMIC_RELEASE);
}

/* Takes the machine and what observes the dispatch, until release(). */
static enum wm_status reserve(const struct wmi_task *task)
{
    static const char *const names[] = {"profile", "check", "fidelity report"};
    bool *busy[3];
    get_busy(&task->request, busy);
    if (wmi_rwlock_read_state(wmi_space_rwlock(task->machine->space)) != WMI_READ_UNLOCKED)
        return wmi_fail(task->diag, WM_BAD_ARGUMENT,
                        "%s: called by a callback of a dispatch that is running on the machine",
                        task->how->function);
    for (unsigned i = 0; i < 3; i++)
        if (busy[i] && __atomic_exchange_n(busy[i], true, __ATOMIC_ACQUIRE)) {
            clear(busy, i);
            return wmi_fail(task->diag, WM_BAD_ARGUMENT, "the %s observes another dispatch that is running",
                            names[i]);
        }
    __atomic_fetch_add(&task->machine->running, 1, __ATOMIC_ACQUIRE);
    return WM_OK;
}

static void release(const struct wmi_task *task)
{
    bool *busy[3];
    get_busy(&task->request, busy);
    clear(busy, 3);
    __atomic_fetch_sub(&task->machine->running, 1, __ATOMIC_RELEASE);
}

/* ---- prepare ---- */

/* Lets all workgroups be resident. A GPU has one such dispatch at a time: they share resource 0 of global
 * wave sync, which the runtime sets to the number of workgroups minus one (ROCclr, gwsInit). */
static enum wm_status cooperate(struct wmi_task *task)
{
    struct wm_machine *machine = task->machine;
    struct wmi_dispatch *dispatch = &task->dispatch;
    if (dispatch->group_count > dispatch->residents)
        return wmi_fail(task->diag, WM_UNSUPPORTED,
                        "a cooperative dispatch of %llu workgroups of kernel '%s'; %u can be unfinished at "
                        "once, by their scratch memory",
                        (unsigned long long)dispatch->group_count, task->kernel->name, dispatch->residents);
    if (__atomic_exchange_n(&machine->cooperating, true, __ATOMIC_ACQUIRE))
        return wmi_fail(task->diag, WM_BAD_ARGUMENT,
                        "another cooperative dispatch is running on the machine");
    dispatch->cooperative = true;
    wmi_gws_init(machine->gws, 0, (uint32_t)dispatch->group_count - 1);
    return WM_OK;
}

static uint32_t lane_scratch(const struct wm_kernel *kernel, const struct wm_start *start)
{
    const uint32_t own = wmi_abi_scratch_size(kernel);
    return start && start->scratch_bytes > own ? start->scratch_bytes : own;
}

/* Memory and initial registers. */
static enum wm_status prepare_abi(struct wmi_task *task)
{
    const struct wmi_dispatch_how *how = task->how;
    const struct wm_kernel *kernel = task->kernel;
    const uint32_t *workgroup = task->dispatch.workgroup;
    const uint64_t items = (uint64_t)workgroup[0] * workgroup[1] * workgroup[2];
    const struct wmi_abi_request abi = {
        .kernel = kernel,
        .dispatch = &task->request,
        .bias = task->module->bias,
        .space = task->machine->space,
        .cursor = how->cursor,
        .has_kernarg = how->has_kernarg,
        .kernarg = how->kernarg,
        .fills_hidden = how->fills_hidden,
        .apertures = &task->machine->apertures,
        .waves_per_group = (uint32_t)((items + kernel->wave_size - 1) / kernel->wave_size),
        .prints = task->request.print != NULL,
        .lane_scratch = lane_scratch(kernel, task->request.start),
        .start = task->request.start,
    };
    task->dispatch.lane_scratch = abi.lane_scratch;
    return wmi_abi_prepare(&abi, &task->memory, &task->dispatch.launch, task->diag);
}

/* Where the dispatch's memory is. */
static void set_memory(struct wmi_task *task)
{
    const struct wmi_abi_memory *memory = &task->memory;
    const struct wm_start *start = task->request.start;
    struct wmi_dispatch *dispatch = &task->dispatch;
    dispatch->space = task->machine->space;
    dispatch->apertures = task->machine->apertures;
    dispatch->gws = task->machine->gws;
    dispatch->pool = task->machine->pool;
    dispatch->scratch_stride = memory->scratch_stride;
    dispatch->scratch_piece = memory->scratch_piece;
    dispatch->scratch = memory->scratch_host;
    dispatch->arguments = task->how->has_kernarg ? task->how->kernarg : memory->kernarg;
    dispatch->scratch_base = start && start->scratch_waves ? start->scratch_address : memory->scratch;
    dispatch->scratch_bytes = memory->scratch_bytes;
    dispatch->residents = memory->places < WMI_RESIDENT_LIMIT ? memory->places : WMI_RESIDENT_LIMIT;
    dispatch->residents /= dispatch->cluster_size;
}

static void set_options(struct wmi_task *task)
{
    const struct wm_dispatch *request = &task->request;
    struct wmi_dispatch *dispatch = &task->dispatch;
    dispatch->threads = wmi_request_threads(task);
    dispatch->goes_on = request->on_violation == WM_VIOLATION_GOES_ON;
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
}

/* Gives back what prepare() took. */
static void discard(struct wmi_task *task)
{
    if (task->dispatch.cooperative)
        __atomic_store_n(&task->machine->cooperating, false, __ATOMIC_RELEASE);
    wmi_start_release(&task->dispatch);
    wmi_abi_release(task->machine->space, &task->memory);
}

/* Whether the host can compute in the MODE with which waves start. */
static enum wm_status check_mode(const struct wmi_task *task)
{
    const uint32_t mode = task->dispatch.launch.mode;
    if (wmi_host_float_has(mode & 3, mode >> 4 & 3) && wmi_host_float_has(mode >> 2 & 3, mode >> 6 & 3))
        return WM_OK;
    return wmi_fail(
        task->diag, WM_UNSUPPORTED,
        "kernel '%s' needs a mode of rounding or denormals (MODE 0x%x) that this host's CPU does not have; "
        ".amdhsa_float_denorm_mode_32 3 keeps the denormals of f32",
        task->kernel->name, mode);
}

static enum wm_status prepare(struct wmi_task *task)
{
    enum wm_status status = wmi_request_fit(task);
    if (!status)
        status = prepare_abi(task);
    if (status)
        return status;
    set_memory(task);
    set_options(task);
    status = check_mode(task);
    if (!status && task->request.cooperative)
        status = cooperate(task);
    if (status)
        discard(task);
    return status;
}

/* ---- finish ---- */

static void print(const struct wmi_task *task)
{
    const uint64_t buffer = task->memory.printf;
    size_t count;
    if (!buffer || !task->request.print)
        return;
    const char *const *formats = wmi_object_printf(task->module->object, &count);
    wmi_print_buffer(formats, count, wmi_space_host(task->machine->space, buffer, WMI_PRINTF_BYTES),
                     WMI_PRINTF_BYTES, task->request.print, task->request.print_user);
}

/* ---- all steps ---- */

static enum wm_status run(struct wmi_task *task)
{
    struct wmi_observation observation;
    struct wmi_read_lock read_lock;
    enum wm_status status = prepare(task);
    if (status)
        return status;
    task->dispatch.read_lock = &read_lock;
    wmi_rwlock_read(wmi_space_rwlock(task->machine->space), &read_lock);
    status = wmi_observation_begin(&observation, task);
    if (!status)
        status = wmi_execute(task);
    wmi_observation_end(&observation, task);
    if (!status)
        print(task);
    wmi_rwlock_read_unlock(&read_lock);
    discard(task);
    return status;
}

enum wm_status wmi_dispatch_with(const struct wmi_dispatch_how *how, struct wm_machine *machine,
                                 const struct wm_object *object, const struct wm_kernel *kernel,
                                 const struct wm_dispatch *request, struct wm_result *result,
                                 struct wm_diag *diag)
{
    struct wmi_task task = {.how = how,
                            .machine = machine,
                            .kernel = kernel,
                            .dispatch = {.holder = how->holder},
                            .result = {.struct_size = sizeof task.result},
                            .diag = diag};
    enum wm_status status = wmi_request_take(&task, object, request, result);
    status = status ? status : wmi_environment_check(diag);
    status = status ? status : reserve(&task);
    if (status)
        return status;
    task.module = how->module ? how->module : wmi_module_of(machine, object);
    status = run(&task);
    release(&task);
    wmi_give_struct(result, &task.result, sizeof task.result);
    return status;
}

enum wm_status wm_dispatch(struct wm_machine *machine, const struct wm_object *object,
                           const struct wm_kernel *kernel, const struct wm_dispatch *request,
                           struct wm_result *result, struct wm_diag *diag)
{
    return wmi_dispatch_with(&(struct wmi_dispatch_how){.function = __func__}, machine, object, kernel,
                             request, result, diag);
}
