/* SPDX-License-Identifier: MIT */
#include "api/request.h"

#include "api/observed.h"
#include "api/start.h"
#include "base/diag.h"
#include "base/grid.h"
#include "base/versioned.h"
#include "check/check.h"
#include "profile/cost/gpu.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LDS = 64 << 10, MAX_THREADS = 256, MAX_WORKGROUP = 1024, MAX_KERNARG = 1 << 20 };

static uint32_t at_least_one(uint32_t value)
{
    return value ? value : 1;
}

/* HIP's own kernels for copies are launched with 512 or 1024 work-items although clang says 256 of them, as
 * it does by default; the hardware does not look at that. Source: clr 6.1, rocclr/device/rocm/rocblit.cpp. */
bool wmi_is_of_hip(const struct wm_kernel *kernel)
{
    static const char stem[] = "__amd_rocclr_";
    return !strncmp(kernel->name, stem, sizeof stem - 1);
}

/* ---- the request ---- */

/* The size of clusters: the request's, or else the kernel's. */
static enum wm_status check_cluster(struct wmi_task *task)
{
    const struct wm_kernel *kernel = task->kernel;
    const uint32_t *given = task->request.cluster, *required = kernel->required_cluster;
    struct wmi_dispatch *dispatch = &task->dispatch;
    const bool asked = given[0] || given[1] || given[2];
    uint64_t size = 1;
    for (unsigned i = 0; i < 3; i++) {
        dispatch->cluster[i] = at_least_one(asked ? given[i] : required[i]);
        if (required[0] && dispatch->cluster[i] != required[i])
            return wmi_fail(task->diag, WM_BAD_ARGUMENT,
                            "clusters of %u,%u,%u workgroups; kernel '%s' requires %u,%u,%u",
                            at_least_one(given[0]), at_least_one(given[1]), at_least_one(given[2]),
                            kernel->name, required[0], required[1], required[2]);
        size *= dispatch->cluster[i];
        if (size > WMI_CLUSTER_MOST)
            return wmi_fail(task->diag, WM_BAD_ARGUMENT,
                            "a cluster of more than %u workgroups; that is the most that one has",
                            WMI_CLUSTER_MOST);
    }
    dispatch->cluster_size = (uint32_t)size;
    if (size == 1)
        return WM_OK;
    if (!wmi_target_limit(task->machine->target, WMI_LIMIT_clusters))
        return wmi_fail(task->diag, WM_BAD_ARGUMENT, "clusters of workgroups; %s has none",
                        wmi_target_name(task->machine->target));
    for (unsigned i = 0; i < 3; i++)
        if (dispatch->grid[i] % dispatch->workgroup[i] || dispatch->groups[i] % dispatch->cluster[i])
            return wmi_fail(task->diag, WM_BAD_ARGUMENT,
                            "dimension %u has %u work-items; expected a multiple of the cluster's %llu", i,
                            dispatch->grid[i],
                            (unsigned long long)dispatch->workgroup[i] * dispatch->cluster[i]);
    return WM_OK;
}

/* The geometry of the request, checked against the kernel. */
static enum wm_status check_geometry(struct wmi_task *task)
{
    const struct wm_kernel *kernel = task->kernel;
    const struct wm_dispatch *request = &task->request;
    struct wmi_dispatch *dispatch = &task->dispatch;
    const uint32_t *required = kernel->required_workgroup;
    uint64_t items = 1;
    dispatch->group_count = 1;
    for (unsigned i = 0; i < 3; i++) {
        dispatch->grid[i] = at_least_one(request->grid[i]);
        dispatch->workgroup[i] = at_least_one(request->workgroup[i]);
        dispatch->groups[i] =
            (uint32_t)(((uint64_t)dispatch->grid[i] + dispatch->workgroup[i] - 1) / dispatch->workgroup[i]);
        if (dispatch->workgroup[i] > 1024)
            return wmi_fail(task->diag, WM_BAD_ARGUMENT,
                            "workgroup dimension %u is %u; at most 1024 work-items", i,
                            dispatch->workgroup[i]);
        items *= dispatch->workgroup[i];
        if (__builtin_mul_overflow(dispatch->group_count, dispatch->groups[i], &dispatch->group_count))
            return wmi_fail(task->diag, WM_BAD_ARGUMENT, "the grid has more than 2^64 workgroups");
    }
    const bool limited =
        kernel->max_workgroup && kernel->max_workgroup < MAX_WORKGROUP && !wmi_is_of_hip(kernel);
    const uint32_t most = limited ? kernel->max_workgroup : MAX_WORKGROUP;
    if (items > most)
        return wmi_fail(task->diag, WM_BAD_ARGUMENT,
                        "workgroup of %llu work-items; kernel '%s' takes at most %u",
                        (unsigned long long)items, kernel->name, most);
    if (required[0] && (required[0] != dispatch->workgroup[0] || required[1] != dispatch->workgroup[1] ||
                        required[2] != dispatch->workgroup[2]))
        return wmi_fail(task->diag, WM_BAD_ARGUMENT, "workgroup %u,%u,%u; kernel '%s' requires %u,%u,%u",
                        dispatch->workgroup[0], dispatch->workgroup[1], dispatch->workgroup[2], kernel->name,
                        required[0], required[1], required[2]);
    const enum wm_status status = check_cluster(task);
    if (status)
        return status;
    if ((request->global_offset[0] || request->global_offset[1] || request->global_offset[2]) &&
        !wmi_kernel_has_offset(kernel))
        return wmi_fail(task->diag, WM_BAD_ARGUMENT,
                        "a global offset for kernel '%s', which does not read one (hidden_global_offset_x)",
                        kernel->name);
    return WM_OK;
}

/* The workgroups of the grid that the request wants to run. */
static enum wm_status check_range(struct wmi_task *task)
{
    const struct wm_dispatch *request = &task->request;
    struct wmi_dispatch *dispatch = &task->dispatch;
    const uint64_t first = request->first_workgroup, all = dispatch->group_count;
    size_t seeds = 0;
    if (request->check)
        wmi_check_seeds(request->check, &seeds);
    if (first >= all || request->workgroup_count > all - first)
        return wmi_fail(task->diag, WM_BAD_ARGUMENT, "%llu workgroups from number %llu on; the grid has %llu",
                        (unsigned long long)request->workgroup_count, (unsigned long long)first,
                        (unsigned long long)all);
    dispatch->first_group = first;
    dispatch->run_count = request->workgroup_count ? request->workgroup_count : all - first;
    const char *needs_all = dispatch->run_count == all ? NULL
                            : request->cooperative     ? "is cooperative"
                            : first % dispatch->cluster_size || dispatch->run_count % dispatch->cluster_size
                                ? "is in clusters, of which some are cut"
                            : seeds ? "is checked in other orders"
                            : request->profile && wmi_profile_takes_sample(request->profile) ? "is sampled"
                                                                                             : NULL;
    return needs_all ? wmi_fail(task->diag, WM_BAD_ARGUMENT,
                                "a dispatch of some workgroups of the grid that %s", needs_all)
                     : WM_OK;
}

static enum wm_status check_pointers(const struct wmi_task *task, const struct wm_object *object,
                                     const struct wm_dispatch *request, const struct wm_result *result)
{
    const struct {
        const void *pointer;
        const char *name;
    } needed[] = {{task->machine, "machine"},
                  {object, "object"},
                  {task->kernel, "kernel"},
                  {request, "dispatch"},
                  {result, "result"}};
    for (unsigned i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!needed[i].pointer)
            return wmi_null(task->diag, task->how->function, needed[i].name);
    if (!task->how->module && !wmi_module_of(task->machine, object))
        return wmi_fail(task->diag, WM_BAD_ARGUMENT, "the code object is not loaded: call wm_load first");
    if (!wmi_object_has_kernel(object, task->kernel))
        return wmi_fail(task->diag, WM_BAD_ARGUMENT, "the kernel is not one of the code object's");
    return wmi_check_struct(result, sizeof *result, offsetof(struct wm_result, violations), "wm_result",
                            task->diag);
}

static enum wm_status check_options(const struct wm_dispatch *request, struct wm_diag *diag)
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
    return WM_OK;
}

static enum wm_status check_lds(struct wmi_task *task)
{
    const uint32_t of_target = wmi_target_limit(task->machine->target, WMI_LIMIT_lds_bytes);
    const uint32_t most = of_target > MAX_LDS ? of_target : MAX_LDS;
    const uint64_t lds = (uint64_t)task->kernel->lds_size + task->request.dynamic_lds;
    if (lds > most)
        return wmi_fail(task->diag, WM_BAD_ARGUMENT,
                        "kernel '%s' would use %llu bytes of LDS; a workgroup has %u", task->kernel->name,
                        (unsigned long long)lds, most);
    task->dispatch.lds_size = (uint32_t)lds;
    return WM_OK;
}

enum wm_status wmi_request_take(struct wmi_task *task, const struct wm_object *object,
                                const struct wm_dispatch *given, struct wm_result *result)
{
    struct wm_dispatch *request = &task->request;
    struct wm_diag *diag = task->diag;
    enum wm_status status = check_pointers(task, object, given, result);
    if (!status)
        status = wmi_take_struct(request, sizeof *request, offsetof(struct wm_dispatch, arguments), given,
                                 "wm_dispatch", diag);
    if (!status)
        status = wmi_start_take(request->start, &task->start, diag);
    if (status)
        return status;
    request->start = request->start ? &task->start : NULL;
    wmi_give_struct(result, &task->result, sizeof task->result);
    status = check_options(request, diag);
    status = status ? status : check_lds(task);
    status = status ? status : wmi_watchers_check(request, diag);
    status = status ? status : check_geometry(task);
    return status ? status : check_range(task);
}

/* Observers without state per thread are called by one thread. */
static bool wants_one_thread(const struct wm_dispatch *request)
{
    for (size_t i = 0; i < request->observer_count; i++)
        if (!request->observers[i]->begin_thread)
            return true;
    return false;
}

unsigned wmi_request_threads(const struct wmi_task *task)
{
    const struct wm_dispatch *request = &task->request;
    if (task->dispatch.holder || wants_one_thread(request) ||
        (request->check && wmi_check_in_order(request->check)))
        return 1;
    const long threads = request->threads ? (long)request->threads : sysconf(_SC_NPROCESSORS_ONLN);
    return threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : (unsigned)threads;
}

/* ---- products ---- */

const struct wm_gpu *wmi_request_product(const struct wmi_task *task)
{
    const struct wm_gpu *gpu = task->request.gpu;
    if (!gpu && task->request.profile)
        gpu = wmi_profile_gpu(task->request.profile);
    return gpu ? gpu : wm_gpu_default(wmi_target_name(task->machine->target));
}

static enum wm_status check_gpu(const struct wmi_task *task, const struct wm_gpu *gpu)
{
    char what[64];
    const enum wm_status status = wmi_gpu_check(gpu, task->diag);
    snprintf(what, sizeof what, "the code object is for %s", wmi_target_name(task->machine->target));
    return status ? status : wmi_gpu_fits(gpu, task->machine->target, what, task->diag);
}

/* The grid of a cooperative dispatch must fit on the product, all at once. */
static enum wm_status check_cooperative(struct wmi_task *task)
{
    const struct wm_gpu *gpu = wmi_request_product(task);
    const struct wm_kernel *kernel = task->kernel;
    if (!gpu)
        return wmi_fail(task->diag, WM_UNSUPPORTED,
                        "a cooperative dispatch on %s: no product of this target is known; name another one",
                        wmi_target_name(task->machine->target));
    if (!task->request.gpu) { /* the profile's may be of another target */
        const enum wm_status status = check_gpu(task, gpu);
        if (status)
            return status;
    }
    const struct wmi_profile_dispatch needs = wmi_occupancy_of(task->machine, kernel, &task->dispatch);
    const struct wmi_capacity capacity = wmi_capacity_of(gpu, &needs, kernel->wave_size);
    const uint64_t most = (uint64_t)(gpu->compute_units / capacity.units) * capacity.groups;
    if (task->dispatch.group_count <= most)
        return WM_OK;
    return wmi_fail(task->diag, WM_BAD_ARGUMENT,
                    "a cooperative dispatch of %llu workgroups; %s (%s) holds %llu of kernel '%s' at "
                    "once: %u on %s of its %u compute units, limited by %s",
                    (unsigned long long)task->dispatch.group_count, gpu->title, gpu->name,
                    (unsigned long long)most, kernel->name, capacity.groups,
                    capacity.units > 1 ? "each pair" : "each", gpu->compute_units, capacity.limit);
}

enum wm_status wmi_request_fit(struct wmi_task *task)
{
    const struct wm_dispatch *request = &task->request;
    enum wm_status status = WM_OK;
    if (request->profile)
        status = wmi_choose_gpu(request->profile, task->machine->target, task->diag);
    if (!status && request->gpu)
        status = check_gpu(task, request->gpu);
    return !status && request->cooperative ? check_cooperative(task) : status;
}
