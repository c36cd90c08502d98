/* SPDX-License-Identifier: MIT */
/* What a profile shows of each kernel: occupancy, caches, and the least time that each part of the GPU needs.
 */
#include "profile/kernels.h"
#include "base/text.h"
#include "profile/inside.h"
#include "profile/parts.h"
#include "profile/slots.h"
#include "profile/spread.h"
#include "profile/time/clocks.h"
#include "profile/time/dispatch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_WITH_BARRIERS = 16 /* of a compute unit: LLVM 19, AMDGPUBaseInfo, getMaxWorkGroupsPerCU */ };

/* ---- occupancy ---- */

static uint32_t less(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t divided_up(uint32_t number, uint32_t by)
{
    return (number + by - 1) / by;
}

static uint32_t items_of(const struct wmi_profile_dispatch *dispatch)
{
    return dispatch->workgroup[0] * dispatch->workgroup[1] * dispatch->workgroup[2];
}

static void limit(struct wmi_capacity *capacity, const struct wm_gpu *gpu, const char *name, uint32_t groups)
{
    capacity->limits[capacity->limit_count++] = (struct wm_occupancy_limit){
        .name = name,
        .workgroups = groups,
        .waves_per_simd = divided_up(groups * capacity->waves, gpu->simds * capacity->units)};
    if (capacity->limit && groups >= capacity->groups)
        return;
    capacity->groups = groups;
    capacity->limit = name;
}

/* Source: LLVM 19, AMDGPUBaseInfo (getEUsPerCU, getLocalMemorySize, getMaxWorkGroupsPerCU,
 * getNumWavesPerEUWithNumVGPRs, getOccupancyWithNumSGPRs). */
struct wmi_capacity wmi_capacity_of(const struct wm_gpu *gpu, const struct wmi_profile_dispatch *dispatch,
                                    unsigned wave_lanes)
{
    const uint32_t items = items_of(dispatch), waves = divided_up(items ? items : 1, wave_lanes);
    const uint32_t units = dispatch->wgp_mode ? gpu->lds_sharing : 1;
    const uint32_t rows = divided_up(dispatch->vgprs * wave_lanes, gpu->vgpr_lanes);
    const uint32_t vgprs = divided_up(rows ? rows : 1, gpu->vgpr_granule) * gpu->vgpr_granule;
    const uint32_t sgprs = dispatch->sgprs ? dispatch->sgprs : 1; /* as allocated */
    const uint32_t simds = gpu->simds * units;
    struct wmi_capacity capacity = {.units = units, .waves = waves};
    limit(&capacity, gpu, "waves", simds * gpu->waves / waves);
    limit(&capacity, gpu, "VGPRs", simds * less(gpu->waves, gpu->vgprs / vgprs) / waves);
    if (gpu->sgprs)
        limit(&capacity, gpu, "SGPRs", simds * less(gpu->waves, gpu->sgprs / sgprs) / waves);
    if (dispatch->lds_bytes)
        limit(&capacity, gpu, "LDS", gpu->lds_bytes / gpu->lds_sharing * units / dispatch->lds_bytes);
    if (waves > 1)
        limit(&capacity, gpu, "workgroups", GROUPS_WITH_BARRIERS * units);
    return capacity;
}

/* A workgroup that exceeds the hardware's resources counts as resident alone, because it is executed, too. */
static void occupy(struct wmi_kernel_profile *kernel, const struct wm_gpu *gpu, unsigned wave_lanes)
{
    const struct wmi_capacity capacity = wmi_capacity_of(gpu, &kernel->dispatch, wave_lanes);
    kernel->residence =
        (struct wmi_residence){.units = capacity.units, .groups = capacity.groups ? capacity.groups : 1};
    kernel->occupancy_limit = capacity.limit;
    memcpy(kernel->occupancy, capacity.limits, sizeof kernel->occupancy);
    kernel->occupancy_limits = capacity.limit_count;
    kernel->waves_per_simd =
        divided_up(kernel->residence.groups * capacity.waves, gpu->simds * capacity.units);
}

/* ---- dispatches ---- */

static uint64_t groups_of(const struct wmi_profile_dispatch *dispatch)
{
    uint64_t groups = 1;
    for (unsigned i = 0; i < 3; i++)
        groups *= dispatch->workgroup[i] ? divided_up(dispatch->grid[i], dispatch->workgroup[i]) : 1;
    return groups;
}

/* The work-items of so many workgroups of the dispatch, on average: those at the edges of the grid may have
 * fewer. */
static double items_of_groups(const struct wmi_profile_dispatch *dispatch, uint64_t count)
{
    const double groups = (double)groups_of(dispatch);
    double items = 1;
    for (unsigned i = 0; i < 3; i++)
        items *= dispatch->grid[i] ? dispatch->grid[i] : 1;
    return groups > 0 ? items / groups * (double)count : 0;
}

/* The sums over all instructions so far. */
static void add_up(const struct wm_profile *profile, uint64_t sum[WMI_SUM_COUNT])
{
    memset(sum, 0, WMI_SUM_COUNT * sizeof *sum);
    for (size_t slot = 0; slot < profile->count; slot++)
        for (unsigned i = 0; i < WMI_SUM_COUNT; i++)
            sum[i] += profile->instructions[slot].counts.sum[i];
}

/* What was written to memory before the dispatch, by slot. */
static void begin_written(struct wm_profile *profile)
{
    uint32_t slots = 0;
    const struct wmi_slot_use *uses = wmi_caches_uses(wmi_rounds_caches(profile->rounds), &slots);
    uint64_t *before = realloc(profile->written_before, (slots + 1) * sizeof *before);
    profile->missed |= !before;
    profile->written_slots = before ? slots : 0;
    profile->written_before = before ? before : profile->written_before;
    for (uint32_t slot = 0; slot < profile->written_slots; slot++)
        before[slot] = uses[slot].memory_written;
}

/* What lines leave the caches later, in a dispatch of another kernel, is not in the bound of this one. */
static void end_written(struct wm_profile *profile, struct wmi_kernel_profile *kernel)
{
    uint32_t slots = 0;
    const struct wmi_slot_use *uses = wmi_caches_uses(wmi_rounds_caches(profile->rounds), &slots);
    if (kernel->written_count < slots) {
        uint64_t *written = realloc(kernel->written, slots * sizeof *written);
        if (!written) {
            profile->missed = true;
            return;
        }
        memset(written + kernel->written_count, 0, (slots - kernel->written_count) * sizeof *written);
        kernel->written = written;
        kernel->written_count = slots;
    }
    for (uint32_t slot = 0; slot < slots; slot++)
        kernel->written[slot] +=
            uses[slot].memory_written - (slot < profile->written_slots ? profile->written_before[slot] : 0);
}

/* Adds to the misses by set what the caches counted since their creation, or takes it away. */
static void add_missed(struct wm_profile *profile, struct wmi_kernel_profile *kernel, bool away)
{
    for (unsigned level = 0; level < WM_CACHE_LEVELS; level++) {
        uint32_t sets;
        const uint64_t *missed = wmi_caches_missed(wmi_rounds_caches(profile->rounds), level, &sets);
        if (sets && !kernel->missed[level])
            kernel->missed[level] = calloc(sets, sizeof *kernel->missed[level]);
        profile->missed |= sets && !kernel->missed[level];
        for (uint32_t set = 0; kernel->missed[level] && set < sets; set++)
            kernel->missed[level][set] += away ? -missed[set] : missed[set];
    }
}

static struct wmi_kernel_profile *kernel_at(struct wm_profile *profile)
{
    const struct wmi_profile_dispatch *dispatch = &profile->source.dispatch;
    for (profile->kernel = 0; profile->kernel < profile->kernel_count; profile->kernel++)
        if (profile->kernels[profile->kernel].dispatch.pc == dispatch->pc)
            return &profile->kernels[profile->kernel];
    struct wmi_kernel_profile *kernels =
        realloc(profile->kernels, (profile->kernel_count + 1) * sizeof *profile->kernels);
    if (!kernels)
        return NULL;
    profile->kernels = kernels;
    struct wmi_kernel_profile *added = &kernels[profile->kernel_count++];
    *added = (struct wmi_kernel_profile){.dispatch.kernel = strdup(dispatch->kernel ? dispatch->kernel : "")};
    return added;
}

void wmi_kernels_begin(struct wm_profile *profile)
{
    struct wmi_kernel_profile *kernel = kernel_at(profile);
    if (!kernel) {
        profile->missed = true;
        return;
    }
    const char *name = kernel->dispatch.kernel;
    profile->missed |= !name;
    kernel->dispatch = profile->source.dispatch;
    kernel->dispatch.kernel = name;
    kernel->wave_lanes = profile->source.wave_lanes;
    if (profile->has_gpu && profile->source.wave_lanes)
        occupy(kernel, &profile->gpu, profile->source.wave_lanes);
    add_up(profile, kernel->counted_before);
    if (!profile->rounds)
        return;
    kernel->residence.scratch = kernel->dispatch.scratch;
    kernel->residence.scratch_bytes = kernel->dispatch.scratch_bytes;
    kernel->residence.first = kernel->dispatch.first_group;
    kernel->residence.workgroups = groups_of(&kernel->dispatch);
    wmi_rounds_begin(profile->rounds, kernel->residence, profile->source.describe);
    kernel->before = *wmi_caches_sums(wmi_rounds_caches(profile->rounds));
    begin_written(profile);
    add_missed(profile, kernel, true);
    wmi_times_begin(profile);
}

static void add_use(struct wm_cache_use *to, const struct wm_cache_use *now,
                    const struct wm_cache_use *before)
{
    to->requests += now->requests - before->requests;
    to->hits += now->hits - before->hits;
    to->bytes += now->bytes - before->bytes;
}

static void add_bounds(struct wm_profile_kernel *row, struct wmi_kernel_profile *kernel,
                       const struct wmi_cost_rules *rules);

/* Predicts the dispatch that has ended, from what it alone did. */
static void predict(struct wm_profile *profile, struct wmi_kernel_profile *kernel,
                    const struct wmi_rounds_facts *facts, const uint64_t counted[WMI_SUM_COUNT])
{
    const struct wmi_caches_sums *now = wmi_caches_sums(wmi_rounds_caches(profile->rounds));
    const struct wmi_caches_sums *before = &kernel->before;
    struct wmi_kernel_profile one = {.dispatch = kernel->dispatch,
                                     .dispatches = 1,
                                     .workgroups = facts->workgroups,
                                     .waves = facts->waves,
                                     .instructions = facts->instructions,
                                     .waves_per_simd = kernel->waves_per_simd,
                                     .wave_lanes = kernel->wave_lanes,
                                     .residence = kernel->residence};
    struct wm_profile_kernel row = {.gpu = &profile->gpu};
    for (unsigned level = 0; level < WM_CACHE_LEVELS; level++)
        for (unsigned kind = 0; kind < WMI_CACHE_KINDS; kind++)
            add_use(&one.sums.use[level][kind], &now->use[level][kind], &before->use[level][kind]);
    one.sums.memory_read = now->memory_read - before->memory_read;
    one.sums.memory_written = now->memory_written - before->memory_written;
    one.sums.flushed = now->flushed - before->flushed;
    one.hottest_atomics = wmi_caches_hottest_atomics(wmi_rounds_caches(profile->rounds));
    for (unsigned i = 0; i < WMI_SUM_COUNT; i++)
        one.counted[i] = counted[i] - kernel->counted_before[i];
    memcpy(one.work, profile->work, sizeof one.work);
    add_bounds(&row, &one, profile->source.rules);
    wmi_times_end(profile, &one, &row, &kernel->time);
}

void wmi_kernels_end(struct wm_profile *profile)
{
    if (profile->kernel >= profile->kernel_count)
        return;
    struct wmi_kernel_profile *kernel = &profile->kernels[profile->kernel];
    uint64_t counted[WMI_SUM_COUNT];
    add_up(profile, counted);
    for (unsigned i = 0; i < WMI_SUM_COUNT; i++)
        kernel->counted[i] += counted[i] - kernel->counted_before[i];
    for (unsigned i = 0; i < WMI_WORK_COUNTS; i++)
        kernel->work[i] += profile->work[i];
    kernel->dispatches++;
    if (!profile->rounds)
        return;
    const struct wmi_rounds_facts facts = wmi_rounds_facts(profile->rounds);
    kernel->work_items += items_of_groups(&kernel->dispatch, facts.workgroups);
    struct wmi_caches *caches = wmi_rounds_caches(profile->rounds);
    const struct wmi_caches_sums *now = wmi_caches_sums(caches);
    for (unsigned level = 0; level < WM_CACHE_LEVELS; level++)
        for (unsigned kind = 0; kind < WMI_CACHE_KINDS; kind++)
            add_use(&kernel->sums.use[level][kind], &now->use[level][kind], &kernel->before.use[level][kind]);
    kernel->sums.memory_read += now->memory_read - kernel->before.memory_read;
    kernel->sums.memory_written += now->memory_written - kernel->before.memory_written;
    kernel->sums.flushed += now->flushed - kernel->before.flushed;
    end_written(profile, kernel);
    add_missed(profile, kernel, false);
    kernel->dirty = wmi_caches_dirty(caches);
    kernel->hottest_atomics += wmi_caches_hottest_atomics(caches);
    wmi_sample_end(&profile->sample, &profile->sampling, &kernel->sample);
    kernel->workgroups += facts.workgroups;
    kernel->waves += facts.waves;
    kernel->instructions += facts.instructions;
    kernel->cuts |= facts.cuts;
    if (facts.most_groups > kernel->most_groups)
        kernel->most_groups = facts.most_groups;
    predict(profile, kernel, &facts, counted);
}

void wmi_kernels_destroy(struct wm_profile *profile)
{
    for (size_t i = 0; i < profile->kernel_count; i++) {
        free((char *)profile->kernels[i].dispatch.kernel);
        free(profile->kernels[i].written);
        for (unsigned level = 0; level < WM_CACHE_LEVELS; level++)
            free(profile->kernels[i].missed[level]);
    }
    free(profile->written_before);
    free(profile->before.slot);
    free(profile->kernels);
}

/* ---- bounds ---- */

/* Adds a lower bound of `clocks`, if positive; the format gives its arithmetic in words. */
static void add_bound(struct wm_profile_kernel *row, struct wmi_kernel_profile *kernel,
                      enum wmi_gpu_part part, double clocks, const char *format, ...)
{
    if (!(clocks > 0))
        return;
    char *text = kernel->arithmetic[row->bounds];
    va_list arguments;
    va_start(arguments, format);
    wmi_format_list(text, sizeof kernel->arithmetic[0], format, arguments);
    va_end(arguments);
    row->bound[row->bounds++] = (struct wm_bound){.name = wmi_gpu_part_names[part],
                                                  .clocks = clocks,
                                                  .seconds = clocks / (1e6 * row->gpu->clock_mhz),
                                                  .arithmetic = text};
}

/* The number of compute units that the dispatch can occupy: those that the waves of one workgroup use (one,
 * or both of a WGP) times the number of workgroups. */
static double units_of(const struct wmi_kernel_profile *kernel, const struct wm_gpu *gpu)
{
    const uint64_t waves = kernel->waves / kernel->dispatches,
                   each = kernel->workgroups / kernel->dispatches * kernel->residence.units,
                   units = each < waves ? each : waves;
    return (double)(units < gpu->compute_units ? units : gpu->compute_units);
}

/* Adds a bound of per-compute-unit work, assuming that it is spread evenly over all occupied compute units.
 */
static void add_unit_bound(struct wm_profile_kernel *row, struct wmi_kernel_profile *kernel,
                           enum wmi_gpu_part part, uint64_t clocks, const char *what)
{
    const double units = units_of(kernel, row->gpu);
    if (units > 0)
        add_bound(row, kernel, part, (double)clocks / units, "%llu %s / %.0f compute units",
                  (unsigned long long)clocks, what, units);
}

/* The number of SIMDs that can have waves of a dispatch. */
static double simds_of(const struct wmi_kernel_profile *kernel, const struct wm_gpu *gpu)
{
    const double waves = (double)(kernel->waves / kernel->dispatches),
                 all = units_of(kernel, gpu) * gpu->simds;
    return waves < all ? waves : all;
}

/* What the kinds of work are called in the arithmetic of a bound. */
static const char *const work_names[WMI_WORK_KINDS] = {
    [WMI_WORK_SALU] = "",
    [WMI_WORK_BRANCH] = "",
    [WMI_WORK_EXPORT] = "",
    [WMI_WORK_FULL] = "",
    [WMI_WORK_MULTIPLY] = " multiply",
    [WMI_WORK_DIVIDE] = " divide",
    [WMI_WORK_WIDE] = " 64-bit",
    [WMI_WORK_TRANS] = " transcendental",
    [WMI_WORK_DOUBLE] = " f64",
    [WMI_WORK_DOUBLE_MUL] = " f64 multiply",
    [WMI_WORK_DOUBLE_TRANS] = " f64 transcendental",
    [WMI_WORK_MATRIX] = " matrix",
};

/* Adds the bound of a unit that each SIMD has, or a share of: "(8 x 4 + 2 multiply x 16 clocks) / 4 SIMDs".
 */
static void add_simd_bound(struct wm_profile_kernel *row, struct wmi_kernel_profile *kernel,
                           const struct wmi_rates *rates, enum wmi_gpu_part part, double simds)
{
    char text[WMI_ARITHMETIC_BYTES];
    size_t length = 0;
    uint64_t clocks = 0;
    for (unsigned work = 0; work < WMI_WORK_KINDS; work++) {
        const uint32_t each = wmi_rate_clocks(rates, part, work, row->gpu, kernel->wave_lanes);
        if (!each || !kernel->work[work])
            continue;
        clocks += kernel->work[work] * each;
        if (length < sizeof text)
            length +=
                (size_t)snprintf(text + length, sizeof text - length, "%s%llu%s x %u", length ? " + " : "",
                                 (unsigned long long)kernel->work[work], work_names[work], each);
    }
    if (length)
        add_bound(row, kernel, part, (double)clocks / simds, "(%s clocks) / %.0f SIMDs", text, simds);
}

static const enum wmi_gpu_part simd_parts[] = {WMI_GPU_VALU, WMI_GPU_TRANS,  WMI_GPU_DOUBLE,
                                               WMI_GPU_SALU, WMI_GPU_BRANCH, WMI_GPU_EXPORT};

static void add_simd_bounds(struct wm_profile_kernel *row, struct wmi_kernel_profile *kernel)
{
    const struct wmi_rates *rates = wmi_rates_of(row->gpu);
    const double simds = simds_of(kernel, row->gpu);
    if (!rates || !(simds > 0))
        return;
    for (unsigned i = 0; i < sizeof simd_parts / sizeof *simd_parts; i++)
        add_simd_bound(row, kernel, rates, simd_parts[i], simds);
    const unsigned long long matrix = kernel->work[WMI_WORK_MATRIX_CLOCKS];
    add_bound(row, kernel, WMI_GPU_MATRIX, (double)matrix / simds,
              "%llu clocks of %llu matrix products / %.0f SIMDs", matrix,
              (unsigned long long)kernel->work[WMI_WORK_MATRIX], simds);
    const uint64_t dwords = kernel->work[WMI_WORK_LDS_DWORDS];
    add_bound(row, kernel, WMI_GPU_LDS_ISSUE, wmi_lds_clocks(rates, dwords, kernel->wave_lanes) / simds,
              "%llu dwords of %u lanes / (%u B per clock x %.0f SIMDs)", (unsigned long long)dwords,
              kernel->wave_lanes, rates->lds_bytes, simds);
}

static uint64_t bytes_of(const struct wm_cache_use use[WMI_CACHE_KINDS])
{
    uint64_t bytes = 0;
    for (unsigned kind = 0; kind < WMI_CACHE_KINDS; kind++)
        bytes += use[kind].bytes;
    return bytes;
}

static uint64_t requests_of(const struct wm_cache_use use[WMI_CACHE_KINDS])
{
    uint64_t requests = 0;
    for (unsigned kind = 0; kind < WMI_CACHE_KINDS; kind++)
        requests += use[kind].requests;
    return requests;
}

/* Pieces of code that a compute unit fetches per clock. */
static unsigned fetched_by(const struct wm_gpu *gpu, const struct wmi_cost_rules *rules)
{
    return rules && rules->fetch.per_simd ? gpu->simds : 1;
}

static void add_bounds(struct wm_profile_kernel *row, struct wmi_kernel_profile *kernel,
                       const struct wmi_cost_rules *rules)
{
    const struct wm_gpu *gpu = row->gpu;
    const uint64_t *sum = kernel->counted;
    const double units = units_of(kernel, gpu);
    if (units > 0)
        add_bound(row, kernel, WMI_GPU_ISSUE, (double)kernel->instructions / (units * gpu->issue),
                  "%llu instructions / (%u per clock x %.0f compute units)",
                  (unsigned long long)kernel->instructions, gpu->issue, units);
    const unsigned fetched = fetched_by(gpu, rules);
    if (units > 0)
        add_bound(row, kernel, WMI_GPU_FETCH, (double)sum[WMI_SUM_FETCHES] / (units * fetched),
                  "%llu code fetches / (%u per clock x %.0f compute units)",
                  (unsigned long long)sum[WMI_SUM_FETCHES], fetched, units);
    add_unit_bound(row, kernel, WMI_GPU_ADDRESS, sum[WMI_SUM_ADDRESS_CLOCKS], "address unit clocks");
    add_unit_bound(row, kernel, WMI_GPU_DATA, sum[WMI_SUM_DATA_CLOCKS], "clocks of the vector cache's data");
    add_unit_bound(row, kernel, WMI_GPU_L1, sum[WMI_SUM_TAG_CLOCKS], "clocks of the vector cache's tags");
    add_unit_bound(row, kernel, WMI_GPU_LDS, sum[WMI_SUM_LDS_PASSES], "LDS passes");
    add_simd_bounds(row, kernel);
    const struct wm_cache *l2 = &gpu->cache[WM_CACHE_L2];
    const uint64_t l2_bytes = bytes_of(kernel->sums.use[WM_CACHE_L2]);
    if (l2->channels && l2->clock_bytes)
        add_bound(row, kernel, WMI_GPU_L2,
                  (double)l2_bytes / ((double)l2->clock_bytes * l2->channels * gpu->xcds),
                  "%llu B / (%u B/clock x %u channels)", (unsigned long long)l2_bytes, l2->clock_bytes,
                  l2->channels * gpu->xcds);
    add_bound(row, kernel, WMI_GPU_ATOMIC, (double)kernel->hottest_atomics,
              "%llu atomic requests to one line, one per clock", (unsigned long long)kernel->hottest_atomics);
    const uint64_t last = WMI_LAST_BYTES * requests_of(kernel->sums.use[WM_CACHE_LAST]);
    if (gpu->last_bandwidth > 0)
        add_bound(row, kernel, WMI_GPU_LAST, wmi_transfer_clocks(last, gpu->last_bandwidth, gpu),
                  "%llu B / %.1f GB/s", (unsigned long long)last, gpu->last_bandwidth);
    const uint64_t memory = kernel->sums.memory_read + kernel->sums.memory_written;
    const double bandwidth = wmi_memory_bandwidth(gpu);
    add_bound(row, kernel, WMI_GPU_MEMORY, wmi_transfer_clocks(memory, bandwidth, gpu), "%llu B / %.1f GB/s",
              (unsigned long long)memory, bandwidth);
    const uint64_t started = kernel->workgroups * gpu->dispatch_clocks;
    add_bound(row, kernel, WMI_GPU_DISPATCH, (double)started / gpu->xcds,
              "%llu workgroups x %u clocks / %u dispatchers", (unsigned long long)kernel->workgroups,
              gpu->dispatch_clocks, gpu->xcds);
    for (uint32_t i = 0; i < row->bounds; i++)
        if (!row->binds || row->bound[i].clocks > row->binds->clocks)
            row->binds = &row->bound[i];
}

/* ---- rows ---- */

static void add_caches(struct wm_profile_kernel *row, const struct wmi_kernel_profile *kernel,
                       const struct wmi_caches *caches)
{
    static const char *const names[WM_CACHE_LEVELS] = {
        [WM_CACHE_VECTOR] = "vector L1",        [WM_CACHE_GL1] = "GL1", [WM_CACHE_SCALAR] = "scalar",
        [WM_CACHE_INSTRUCTION] = "instruction", [WM_CACHE_L2] = "L2",   [WM_CACHE_LAST] = "Infinity Cache",
    };
    for (unsigned level = 0; level < WM_CACHE_LEVELS; level++) {
        const uint32_t instances = wmi_caches_instances(row->gpu, level);
        if (!instances)
            continue;
        row->cache[row->caches++] = (struct wm_profile_cache){
            .name = level == WM_CACHE_VECTOR && row->gpu->vgpr_lanes == 32 ? "vector L0" : names[level],
            .level = level,
            .instances = instances,
            .read = kernel->sums.use[level][WMI_ACCESS_LOAD],
            .write = kernel->sums.use[level][WMI_ACCESS_STORE],
            .atomic = kernel->sums.use[level][WMI_ACCESS_ATOMIC],
        };
        uint32_t sets;
        wmi_caches_missed(caches, level, &sets);
        if (kernel->missed[level])
            wmi_spread(&row->cache[row->caches - 1], &row->gpu->cache[level], kernel->missed[level], sets);
    }
}

/* Fetches are counted during execution; misses come from the cache model. The log omits fetches that are
 * certain to hit. */
static void add_fetches(struct wm_profile_kernel *row, const struct wm_profile *profile)
{
    const uint32_t slot = wmi_profile_slot(profile, row->pc, WMI_FETCH_ID);
    uint32_t slots = 0;
    const struct wmi_slot_use *uses = wmi_caches_uses(wmi_rounds_caches(profile->rounds), &slots);
    if (slot >= slots)
        return;
    memcpy(row->fetch_use, uses[slot].use, sizeof row->fetch_use);
    row->fetch_memory_read = uses[slot].memory_read;
    struct wm_cache_use *use = &row->fetch_use[WM_CACHE_INSTRUCTION];
    row->fetch_missed = uses[slot].fetch_missed;
    row->fetch_late = uses[slot].fetch_late;
    const uint64_t absent = row->fetch_missed + row->fetch_late;
    use->requests = row->fetches;
    use->hits = row->fetches > absent ? row->fetches - absent : 0;
    use->bytes = row->fetches * row->fetch_bytes;
    for (uint32_t i = 0; i < row->caches; i++)
        if (row->cache[i].level == WM_CACHE_INSTRUCTION)
            row->cache[i].read = *use;
}

/* Whether the bound depends on cache hits; with --sample, the caches saw only the sampled workgroups. */
static bool by_hits(const struct wm_bound *bound)
{
    return wmi_part_of(bound) == WMI_GPU_L2 || wmi_part_of(bound) == WMI_GPU_MEMORY;
}

/* Scales the bounds of a sampled kernel to all workgroups. */
static void scale_bounds(struct wm_profile_kernel *row, struct wmi_kernel_profile *kernel)
{
    const double scale = wmi_sample_scale(&kernel->sample);
    if (scale == 1)
        return;
    for (uint32_t i = 0; i < row->bounds; i++) {
        const size_t length = strlen(kernel->arithmetic[i]);
        row->bound[i].clocks *= scale;
        row->bound[i].seconds *= scale;
        snprintf(kernel->arithmetic[i] + length, sizeof kernel->arithmetic[i] - length, " x %.4g%s", scale,
                 by_hits(&row->bound[i]) ? ", assuming the hit rates of the sample" : "");
    }
}

static struct wm_profile_executed executed_of(const uint64_t work[WMI_WORK_COUNTS])
{
    struct wm_profile_executed executed = {
        .matrix = work[WMI_WORK_MATRIX],
        .matrix_clocks = work[WMI_WORK_MATRIX_CLOCKS],
        .scalar = work[WMI_WORK_SALU],
        .branches = work[WMI_WORK_BRANCH],
        .messages = work[WMI_WORK_MESSAGE],
        .scalar_memory = work[WMI_WORK_SMEM],
        .vector_memory = work[WMI_WORK_VECTOR_MEMORY],
        .lds = work[WMI_WORK_LDS],
        .gds = work[WMI_WORK_GDS],
        .exports = work[WMI_WORK_EXPORT],
        .internal = work[WMI_WORK_INTERNAL],
        .vector_lanes = work[WMI_WORK_LANES],
    };
    for (unsigned kind = WMI_WORK_FULL; kind < WMI_WORK_KINDS; kind++)
        executed.vector += work[kind];
    return executed;
}

/* The sums of all dispatches. Rounding, and the average of dispatches of different sizes that the bound
 * takes, must not put the prediction below the bound. */
static void add_predicted(struct wm_profile_kernel *row, const struct wmi_kernel_profile *kernel)
{
    struct wm_predicted *predicted = &row->predicted;
    const double second = 1e6 * row->gpu->clock_mhz;
    unsigned longest = 0;
    if (!(kernel->time.clocks > 0))
        return;
    for (unsigned part = 0; part < WMI_TIME_PARTS; part++) {
        const double clocks = kernel->time.part[part];
        longest = clocks > kernel->time.part[longest] ? part : longest;
        if (!(clocks > 0))
            continue;
        uint32_t at = predicted->parts++;
        for (; at && predicted->part[at - 1].seconds < clocks / second; at--)
            predicted->part[at] = predicted->part[at - 1];
        predicted->part[at] = (struct wm_predicted_part){wmi_time_part_name(part), clocks / second};
    }
    predicted->seconds = kernel->time.clocks / second;
    predicted->doubled = kernel->time.doubled / second;
    predicted->launch = kernel->time.launch / second;
    predicted->factor = wmi_time_factor(row->gpu, longest);
    predicted->like = wmi_clocks_like(row->gpu);
    if (row->binds && predicted->seconds < row->binds->seconds)
        predicted->seconds = row->binds->seconds;
    if (row->binds && predicted->doubled < row->binds->seconds)
        predicted->doubled = row->binds->seconds;
}

static void fill_row(struct wm_profile_kernel *row, struct wmi_kernel_profile *kernel,
                     const struct wm_profile *profile)
{
    const struct wmi_profile_dispatch *dispatch = &kernel->dispatch;
    *row = (struct wm_profile_kernel){
        .kernel = dispatch->kernel ? dispatch->kernel : "",
        .pc = dispatch->pc,
        .dispatches = kernel->dispatches,
        .workgroups = kernel->workgroups,
        .waves = kernel->waves,
        .work_items = kernel->work_items,
        .instructions = kernel->instructions,
        .executed = executed_of(kernel->work),
        .workgroup_items = items_of(dispatch),
        .vgprs = dispatch->vgprs,
        .sgprs = dispatch->sgprs,
        .lds_bytes = dispatch->lds_bytes,
        .fetches = kernel->counted[WMI_SUM_FETCHES],
        .vector_invalidations = kernel->counted[WMI_SUM_INVALIDATIONS],
    };
    const uint32_t code = wmi_profile_slot(profile, dispatch->pc, WMI_FETCH_ID);
    if (profile->source.rules)
        row->fetch_bytes = 1u << profile->source.rules->fetch.shift;
    if (code < profile->count)
        row->code_bytes = profile->instructions[code].counts.bytes;
    if (!profile->rounds)
        return;
    row->gpu = &profile->gpu;
    row->waves_per_simd = kernel->waves_per_simd;
    row->waves_per_simd_most = profile->gpu.waves;
    row->workgroups_per_cu = kernel->residence.groups;
    row->mode = profile->gpu.lds_sharing == 1 ? NULL : dispatch->wgp_mode ? "WGP" : "CU";
    row->occupancy_limit = kernel->occupancy_limit;
    memcpy(row->occupancy, kernel->occupancy, sizeof row->occupancy);
    row->occupancy_limits = kernel->occupancy_limits;
    row->memory_read = kernel->sums.memory_read;
    row->memory_written = kernel->sums.memory_written;
    row->memory_dirty = kernel->dirty;
    row->l2_kept = profile->keeps_l2 && profile->gpu.xcds == 1;
    row->l2_flushed = kernel->sums.flushed;
    row->resident_workgroups = kernel->most_groups;
    row->resident_cut = kernel->cuts;
    row->cuts = kernel->cuts;
    row->sampled_from = kernel->sample.groups;
    row->sample_scale = wmi_sample_scale(&kernel->sample);
    row->sample_error = kernel->sample.groups ? wmi_sample_error(&kernel->sample) : 0;
    add_caches(row, kernel, wmi_rounds_caches(profile->rounds));
    add_fetches(row, profile);
    add_bounds(row, kernel, profile->source.rules);
    scale_bounds(row, kernel);
    add_predicted(row, kernel);
}

double wmi_kernel_waves_at_once(const struct wmi_kernel_profile *kernel, const struct wm_gpu *gpu)
{
    const double most = (double)kernel->waves_per_simd * gpu->simds;
    const double units = kernel->dispatches ? units_of(kernel, gpu) : 0;
    const double waves = units > 0 ? (double)kernel->waves / (double)kernel->dispatches / units : most;
    return waves < most ? waves : most;
}

void wmi_code_clocks(const struct wm_profile *profile, const struct wmi_binding *binding,
                     const struct wmi_executed *code, double clocks[WMI_GPU_PARTS])
{
    const struct wm_gpu *gpu = &profile->gpu;
    const struct wmi_rates *rates = wmi_rates_of(gpu);
    uint64_t instructions = 0;
    for (unsigned work = 0; work < WMI_WORK_KINDS; work++)
        instructions += code->work[work];
    clocks[WMI_GPU_ISSUE] = (double)instructions / (binding->units * gpu->issue);
    clocks[WMI_GPU_FETCH] = (double)code->fetches / (binding->units * fetched_by(gpu, profile->source.rules));
    clocks[WMI_GPU_MATRIX] = (double)code->work[WMI_WORK_MATRIX_CLOCKS] / binding->simds;
    for (unsigned i = 0; rates && i < sizeof simd_parts / sizeof *simd_parts; i++) {
        uint64_t sum = 0;
        for (unsigned work = 0; work < WMI_WORK_KINDS; work++)
            sum += code->work[work] * wmi_rate_clocks(rates, simd_parts[i], work, gpu, binding->wave_lanes);
        clocks[simd_parts[i]] = (double)sum / binding->simds;
    }
}

uint64_t wmi_kernel_written(const struct wmi_kernel_profile *kernel, uint32_t slot)
{
    return slot < kernel->written_count ? kernel->written[slot] : 0;
}

bool wmi_kernels_binding(const struct wm_profile *profile, uint64_t pc, struct wmi_binding *binding)
{
    const struct wm_profile_kernel *row = profile->kernel_row_count == 1 ? profile->kernel_rows : NULL;
    for (size_t i = 0; i < profile->kernel_row_count; i++)
        if (profile->kernel_rows[i].pc == pc)
            row = &profile->kernel_rows[i];
    if (!row || !row->binds)
        return false;
    const struct wmi_kernel_profile *kernel = profile->kernels;
    while (kernel->dispatch.pc != row->pc)
        kernel++;
    *binding = (struct wmi_binding){.row = row,
                                    .kernel = kernel,
                                    .part = wmi_part_of(row->binds),
                                    .clocks = row->binds->clocks / row->sample_scale,
                                    .units = units_of(kernel, row->gpu),
                                    .simds = simds_of(kernel, row->gpu),
                                    .atomics = (double)kernel->counted[WMI_SUM_ATOMIC_REQUESTS],
                                    .hottest_atomics = (double)kernel->hottest_atomics,
                                    .wave_lanes = kernel->wave_lanes};
    return true;
}

static int by_address(const void *left, const void *right)
{
    const struct wmi_kernel_profile *a = left, *b = right;
    return (a->dispatch.pc > b->dispatch.pc) - (a->dispatch.pc < b->dispatch.pc);
}

bool wmi_kernels_make(struct wm_profile *profile)
{
    profile->kernel_rows = calloc(profile->kernel_count + 1, sizeof *profile->kernel_rows);
    if (!profile->kernel_rows)
        return false;
    if (profile->kernel_count)
        qsort(profile->kernels, profile->kernel_count, sizeof *profile->kernels, by_address);
    for (size_t i = 0; i < profile->kernel_count; i++)
        if (profile->kernels[i].dispatches)
            fill_row(&profile->kernel_rows[profile->kernel_row_count++], &profile->kernels[i], profile);
    return true;
}
