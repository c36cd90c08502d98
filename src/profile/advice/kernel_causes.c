/* SPDX-License-Identifier: MIT */
/* The causes in a kernel as a whole: code, occupancy, size of grid and workgroups. */
#include "profile/advice/causes.h"
#include "profile/parts.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

/* ---- code ---- */

/* The bytes of instruction fetches from L2 or memory. */
static uint64_t code_bytes(const struct wm_profile_kernel *kernel, bool memory)
{
    return memory ? kernel->fetch_memory_read : kernel->fetch_use[WM_CACHE_L2].bytes;
}

static uint64_t all_bytes(const struct wm_profile_kernel *kernel, bool memory)
{
    uint64_t bytes = kernel->memory_read + kernel->memory_written;
    for (uint32_t i = 0; i < kernel->caches && !memory; i++)
        if (kernel->cache[i].level == WM_CACHE_L2)
            bytes =
                kernel->cache[i].read.bytes + kernel->cache[i].write.bytes + kernel->cache[i].atomic.bytes;
    return bytes;
}

/* It is worth mentioning if it is most of what bounds the kernel. */
static bool code(const struct wmi_binding *binding, struct wmi_after *after)
{
    const struct wm_profile_kernel *kernel = binding->row;
    const bool exceeds = kernel->code_bytes > kernel->gpu->cache[WM_CACHE_INSTRUCTION].bytes;
    const enum wmi_gpu_part binds = wmi_part_of(kernel->binds);
    bool most = binds == WMI_GPU_FETCH;
    for (unsigned memory = 0; memory < 2; memory++) {
        const enum wmi_gpu_part part = memory ? WMI_GPU_MEMORY : WMI_GPU_L2;
        const uint64_t all = all_bytes(kernel, memory), fetched = code_bytes(kernel, memory);
        if (!all || fetched > all)
            continue;
        most |= binds == part && exceeds && 2 * fetched >= all;
        after->clocks[part] *= 1 - (double)fetched / (double)all;
    }
    after->clocks[WMI_GPU_FETCH] = 0;
    return most;
}

static void say_code(const struct wmi_binding *binding, struct wmi_texts *t)
{
    const struct wm_profile_kernel *kernel = binding->row;
    const uint64_t holds = kernel->gpu->cache[WM_CACHE_INSTRUCTION].bytes;
    const bool exceeds = holds && kernel->code_bytes > holds;
    wmi_format(t->verdict, sizeof t->verdict, "instruction fetch, which is in no row's share");
    wmi_format(
        t->numbers, sizeof t->numbers,
        "%.4g B of code are fetched per executed instruction; %.4g KiB of code%s %.4g KiB",
        kernel->instructions ? (double)kernel->fetches * kernel->fetch_bytes / (double)kernel->instructions
                             : 0,
        (double)kernel->code_bytes / 1024,
        exceeds ? " exceed the instruction cache of" : ", the instruction cache holds", (double)holds / 1024);
    wmi_format(t->change, sizeof t->change,
               exceeds ? "reduce unrolling and inlining until the loops fit into the instruction cache"
                       : "shorter encodings, fewer taken branches and more work per wave reduce it");
}

/* ---- how the kernel is started ---- */

static uint32_t waves_of(const struct wm_profile_kernel *kernel, unsigned wave_lanes)
{
    return (kernel->workgroup_items + wave_lanes - 1) / wave_lanes;
}

static bool partial_waves(const struct wmi_binding *binding, struct wmi_after *after)
{
    const struct wm_profile_kernel *kernel = binding->row;
    const double full =
        (double)kernel->workgroup_items / (waves_of(kernel, binding->wave_lanes) * binding->wave_lanes);
    for (unsigned part = 0; part < WMI_GPU_PARTS; part++)
        if (wmi_time_in_units(part) && part != WMI_GPU_L1 &&
            part != WMI_GPU_DATA) /* these serve active lanes only */
            after->clocks[part] *= full;
    return kernel->workgroup_items % binding->wave_lanes;
}

static void say_partial_waves(const struct wmi_binding *binding, struct wmi_texts *t)
{
    const struct wm_profile_kernel *kernel = binding->row;
    const uint32_t waves = waves_of(kernel, binding->wave_lanes);
    wmi_format(t->verdict, sizeof t->verdict, "workgroups do not fill their waves");
    wmi_format(t->numbers, sizeof t->numbers, "%u work-items in %u wave%s of %u lanes",
               kernel->workgroup_items, waves, waves == 1 ? "" : "s", binding->wave_lanes);
    wmi_format(t->change, sizeof t->change, "make the workgroup size a multiple of %u", binding->wave_lanes);
}

/* Active lanes are compared with those that waves begin with, on average: waves that begin partly filled are
 * the cause `partial-waves`. */
static bool idle_lanes(const struct wmi_binding *binding, struct wmi_after *after)
{
    const struct wm_profile_kernel *kernel = binding->row;
    enum { MATTERS = 10 }; /* percent of the lanes */
    static const enum wmi_gpu_part served[] = {WMI_GPU_VALU, WMI_GPU_TRANS, WMI_GPU_DOUBLE, WMI_GPU_ISSUE};
    const struct wm_profile_executed *executed = &kernel->executed;
    const double most = kernel->waves ? kernel->work_items / (double)kernel->waves : 0;
    if (!executed->vector || !(most > 0))
        return false;
    const double used = (double)executed->vector_lanes / ((double)executed->vector * most);
    for (unsigned i = 0; i < sizeof served / sizeof *served; i++)
        after->clocks[served[i]] *= used < 1 ? used : 1;
    for (unsigned kind = WMI_WORK_FULL; kind < WMI_WORK_KINDS; kind++)
        after->saved += (used < 1 ? 1 - used : 0) * (double)binding->kernel->work[kind] *
                        wmi_time_issue(kernel->gpu, binding->wave_lanes, kind);
    return 100 * used < 100 - MATTERS;
}

static void say_idle_lanes(const struct wmi_binding *binding, struct wmi_texts *t)
{
    const struct wm_profile_kernel *kernel = binding->row;
    const struct wm_profile_executed *executed = &kernel->executed;
    wmi_format(t->verdict, sizeof t->verdict, "diverging branches leave lanes of the VALU idle");
    wmi_format(t->numbers, sizeof t->numbers,
               "%.3g of %u lanes are active on average in %" PRIu64 " vector instructions",
               (double)executed->vector_lanes / (double)executed->vector, binding->wave_lanes,
               executed->vector);
    wmi_format(
        t->change, sizeof t->change,
        "let the lanes of a wave take the same branch, and loop equally often: sort or bin the work by it");
}

static bool few_workgroups(const struct wmi_binding *binding, struct wmi_after *after)
{
    const struct wm_profile_kernel *kernel = binding->row;
    for (unsigned part = 0; part < WMI_GPU_PARTS; part++)
        if (wmi_time_in_units(part))
            after->clocks[part] *= binding->units / kernel->gpu->compute_units;
    after->predicted = binding->kernel->time.filled / (1e6 * kernel->gpu->clock_mhz);
    return binding->units < kernel->gpu->compute_units;
}

static void say_few_workgroups(const struct wmi_binding *binding, struct wmi_texts *t)
{
    const struct wm_profile_kernel *kernel = binding->row;
    wmi_format(t->verdict, sizeof t->verdict, "the grid does not fill the GPU");
    wmi_format(t->numbers, sizeof t->numbers, "%.0f of %u compute units have work", binding->units,
               kernel->gpu->compute_units);
    wmi_format(t->change, sizeof t->change, "start more workgroups: smaller ones, or less work for each");
}

/* Atomics on one line, one of each wave at most; of more, the cause `atomics` tells. What remains is one of
 * each workgroup. */
static bool workgroup_atomics(const struct wmi_binding *binding, struct wmi_after *after)
{
    const struct wm_profile_kernel *kernel = binding->row;
    const double requests = after->clocks[WMI_GPU_ATOMIC];
    after->clocks[WMI_GPU_ATOMIC] = (double)kernel->workgroups;
    return requests > (double)kernel->workgroups && requests <= (double)kernel->waves;
}

static void say_workgroup_atomics(const struct wmi_binding *binding, struct wmi_texts *t)
{
    const struct wm_profile_kernel *kernel = binding->row;
    wmi_format(t->verdict, sizeof t->verdict, "all waves update the same addresses");
    wmi_format(t->numbers, sizeof t->numbers, "%u waves of each workgroup make atomic requests to one line",
               waves_of(kernel, binding->wave_lanes));
    wmi_format(t->change, sizeof t->change, "combine them in LDS, and update memory once per workgroup");
}

/* The bound has no latency, so it does not change; the predicted time does. */
static bool occupancy(const struct wmi_binding *binding, struct wmi_after *after)
{
    const struct wm_profile_kernel *kernel = binding->row;
    after->predicted = kernel->predicted.doubled;
    return kernel->occupancy_limit && 2 * kernel->waves_per_simd < kernel->waves_per_simd_most &&
           strcmp(kernel->occupancy_limit, "waves") && strcmp(kernel->occupancy_limit, "workgroups");
}

static void say_occupancy(const struct wmi_binding *binding, struct wmi_texts *t)
{
    const struct wm_profile_kernel *kernel = binding->row;
    const struct wm_gpu *gpu = kernel->gpu;
    const char *limit = kernel->occupancy_limit;
    const uint32_t waves = 2 * kernel->waves_per_simd, groups = 2 * kernel->workgroups_per_cu;
    wmi_format(t->verdict, sizeof t->verdict, "%s limit%s the occupancy", limit,
               strcmp(limit, "LDS") ? "" : "s");
    wmi_format(t->numbers, sizeof t->numbers,
               "%u of %u waves per SIMD; %u VGPRs and %u SGPRs per wave, %u B of LDS per workgroup",
               kernel->waves_per_simd, kernel->waves_per_simd_most, kernel->vgprs, kernel->sgprs,
               kernel->lds_bytes);
    if (!strcmp(limit, "LDS") && groups) /* of a compute unit, or in WGP mode of all that share it */
        wmi_format(t->change, sizeof t->change,
                   "with at most %u B of LDS per workgroup twice as many workgroups fit",
                   gpu->lds_bytes / (kernel->mode && !strcmp(kernel->mode, "CU") ? gpu->lds_sharing : 1) /
                       groups);
    else if (!strcmp(limit, "VGPRs") && waves)
        wmi_format(t->change, sizeof t->change, "with at most %u VGPRs twice as many waves fit",
                   gpu->vgprs / waves / gpu->vgpr_granule * gpu->vgpr_granule * gpu->vgpr_lanes /
                       binding->wave_lanes);
    else
        wmi_format(t->change, sizeof t->change, "with fewer %s more waves fit", limit);
}

const struct wmi_kernel_cause wmi_kernel_causes[] = {
    {"code", code, say_code},
    {"partial-waves", partial_waves, say_partial_waves},
    {"idle-lanes", idle_lanes, say_idle_lanes},
    {"few-workgroups", few_workgroups, say_few_workgroups},
    {"workgroup-atomics", workgroup_atomics, say_workgroup_atomics},
    {"occupancy", occupancy, say_occupancy},
};
const size_t wmi_kernel_cause_count = sizeof wmi_kernel_causes / sizeof *wmi_kernel_causes;
