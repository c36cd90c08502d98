/* SPDX-License-Identifier: MIT */
/* Predicts how long a dispatch takes.
 *
 * Two views, and a smooth maximum of both. In the first, waves do not compete: each takes its issue times and
 * the latencies that it cannot hide, and workgroups follow one another in the places that occupancy leaves.
 * In the second, a part of the GPU is busy all the time: the clocks of the bound, with the compute unit that
 * gets most workgroups, and what can be reached of the bandwidth. Near the point where both take equally
 * long, waves queue: the norm below exceeds the maximum there (as in closed queueing networks, whose
 * asymptotes these are; Lazowska et al., "Quantitative System Performance", chapter 5). */
#include "profile/time/predict.h"

#include "profile/time/clocks.h"

#include <math.h>
#include <string.h>

enum { SECTOR = 64 /* bytes of a request to the Infinity Cache or memory */ };

/* The exponent of the norm. Fitted: docs/model.md. */
static const double norm = 2;

/* How much longer memory takes for as many reads as writes than for reads or writes alone, because its bus
 * changes direction. Fitted: docs/model.md. */
static const double both_directions = 0.2;

const char *wmi_time_part_name(unsigned part)
{
    return part < WMI_GPU_PARTS ? wmi_gpu_part_names[part] : "latency";
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

/* How often an access misses, with `requests` requests in `times` accesses: requests of one access mostly
 * miss together. */
static double misses(double missed, double requests, double times)
{
    return requests > 0 ? lesser(1, missed / requests) * lesser(1, requests / times) : 0;
}

/* What the measured latencies include besides the latency of the access, in clocks: they were measured from
 * load to load, so issuing it and the wait, and the address unit's time for a single lane. */
struct measured {
    double issue, address;
};
static struct measured measured_on(const struct wm_gpu *gpu)
{
    return gpu->vgpr_lanes == 32 ? (struct measured){2, 1} : (struct measured){8, 16};
}

/* The latency of an access, in clocks, without what issue_of() counts. */
static double latency_of(const struct wmi_time_access *access, const struct wmi_clocks *clocks,
                         const struct wm_gpu *gpu)
{
    const double mhz = gpu->clock_mhz, times = access->executions;
    const struct measured measured = measured_on(gpu);
    const bool scalar = access->path == WMI_PATH_SMEM;
    const double *requests = access->requests, *missed = access->missed;
    if (!scalar && requests[WM_CACHE_VECTOR] + requests[WM_CACHE_L2] <= 0)
        return clocks->lds - measured.issue + greater(0, access->clocks / times - measured.address);
    double latency = scalar ? clocks->scalar : clocks->l1;
    double comes = 1; /* how often it comes this far */
    if (scalar) {
        comes = misses(missed[WM_CACHE_SCALAR], requests[WM_CACHE_SCALAR], times);
        latency += comes * (clocks->l2 - clocks->l1);
    } else {
        if (access->kind == WMI_ACCESS_LOAD)
            comes = misses(missed[WM_CACHE_VECTOR], requests[WM_CACHE_VECTOR], times);
        latency += comes * ((clocks->gl1 > 0 ? clocks->gl1 : clocks->l2) - clocks->l1);
        if (clocks->gl1 > 0)
            latency += (comes *= misses(missed[WM_CACHE_GL1], requests[WM_CACHE_GL1], times)) *
                       (clocks->l2 - clocks->gl1);
        latency += greater(0, access->clocks / times - measured.address);
    }
    const double memory = mhz / 1e3 * clocks->memory, last = mhz / 1e3 * clocks->last;
    comes = lesser(comes, misses(missed[WM_CACHE_L2], requests[WM_CACHE_L2], times));
    latency += comes * ((last > 0 ? last : memory) - clocks->l2);
    if (last > 0 && requests[WM_CACHE_LAST] > 0)
        latency +=
            comes * lesser(1, access->memory_read / SECTOR / requests[WM_CACHE_LAST]) * (memory - last);
    return latency - measured.issue;
}

double wmi_time_latency(const struct wmi_time_access *access, const struct wm_gpu *gpu)
{
    const struct wmi_clocks clocks = wmi_clocks_of(gpu);
    return latency_of(access, &clocks, gpu);
}

/* The latency of the access at `at`, or of the slowest that waves wait for together with it. */
static double longest_of(const struct wmi_time_work *work, size_t at, const struct wmi_clocks *clocks)
{
    const struct wmi_time_access *access = &work->accesses[at];
    double longest = latency_of(access, clocks, work->gpu);
    for (uint32_t i = 0; i < access->beside_count; i++) {
        const struct wmi_time_access *other = &work->accesses[access->beside[i]];
        if (other->executions > 0)
            longest = greater(longest, latency_of(other, clocks, work->gpu));
    }
    return longest;
}

/* How much more all waves do together if `split` times as many share what one does `times` times. */
static double growth(double times, double split)
{
    return split / lesser(split, greater(times, 1));
}

double wmi_time_access_waits(const struct wmi_time_work *work, size_t at)
{
    const struct wmi_clocks clocks = wmi_clocks_of(work->gpu);
    const struct wmi_time_access *access = &work->accesses[at];
    if (!(access->exposed > 0) || !(access->executions > 0))
        return 0;
    return access->exposed * growth(access->executions / work->waves, greater(work->split, 1)) *
           longest_of(work, at, &clocks);
}

double wmi_time_waits(const struct wmi_time_work *work)
{
    double waits = 0;
    for (size_t i = 0; i < work->access_count; i++)
        waits += wmi_time_access_waits(work, i);
    return waits;
}

double wmi_time_together(const double busy[WMI_GPU_PARTS])
{
    static const enum wmi_gpu_part parts[] = {WMI_GPU_LDS, WMI_GPU_ADDRESS, WMI_GPU_L1, WMI_GPU_DATA};
    double most = 0;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        most = greater(most, busy[parts[i]]);
    return most;
}

/* Clocks of a compute unit for a workgroup of `groups`. Barriers keep its waves in step: all compute, then
 * all access LDS, so that the unit is busy for all of them while none of them computes. */
static double together_of(const struct wmi_time_work *work, double groups, double places)
{
    const double most = wmi_time_together(work->busy) / greater(work->split, 1);
    return work->work[WMI_WORK_BARRIERS] > 0 ? most * lesser(groups, places) / groups : 0;
}

double wmi_time_issue(const struct wm_gpu *gpu, unsigned wave_lanes, enum wmi_work kind)
{
    const struct wmi_rates *rates = wmi_rates_of(gpu);
    double clocks = gpu->vgpr_lanes == 32 ? 1 : 4; /* from one instruction to the next */
    for (unsigned part = WMI_GPU_VALU; rates && part < WMI_GPU_MATRIX; part++)
        clocks = greater(clocks, wmi_rate_clocks(rates, part, kind, gpu, wave_lanes));
    return clocks;
}

/* Clocks that a wave issues for, alone on its SIMD. */
static double issue_of(const struct wmi_time_work *work)
{
    double clocks = 0;
    for (unsigned kind = 0; kind < WMI_WORK_KINDS; kind++)
        clocks += work->work[kind] * wmi_time_issue(work->gpu, work->wave_lanes, kind);
    return clocks + work->work[WMI_WORK_MATRIX_CLOCKS];
}

/* How often a wave executes its loops, as far as they access memory: at least 1. */
static double turns_of(const struct wmi_time_work *work)
{
    double most = 1;
    for (size_t i = 0; i < work->access_count; i++)
        most = greater(most, work->accesses[i].executions / work->waves);
    return most;
}

/* Clocks for so many bytes at `bandwidth`, GB/s; 0: unknown. */
static double transfer(const struct wmi_time_work *work, double bytes, double bandwidth)
{
    return bandwidth > 0 ? work->scale * bytes * work->gpu->clock_mhz / (bandwidth * 1e3) : 0;
}

/* Clocks of memory, with the share of its bandwidth that programs usually reach. */
static double memory_clocks(const struct wmi_time_work *work, const struct wmi_clocks *clocks)
{
    const double written = work->memory_bytes > 0 ? work->memory_written / work->memory_bytes : 0;
    return transfer(work, work->memory_bytes, work->gpu->memory_bandwidth * clocks->memory_share) *
           (1 + both_directions * 4 * written * (1 - written));
}

static bool is_shared(unsigned part)
{
    return part == WMI_GPU_MEMORY || part == WMI_GPU_L2 || part == WMI_GPU_LAST || part == WMI_GPU_ATOMIC;
}

bool wmi_time_in_units(unsigned part)
{
    return !is_shared(part) && part != WMI_GPU_DISPATCH;
}

/* Parts of the same kind are no queues one after another: they work on the same accesses. */
double wmi_time_combine(const double part[WMI_TIME_PARTS])
{
    double of[3] = {part[WMI_TIME_LATENCY]}, most = 0, sum = 0;
    for (unsigned i = 0; i < WMI_TIME_PARTS; i++)
        if (i != WMI_TIME_LATENCY)
            of[1 + is_shared(i)] = greater(of[1 + is_shared(i)], part[i]);
    for (unsigned i = 0; i < 3; i++)
        most = greater(most, of[i]);
    for (unsigned i = 0; most > 0 && i < 3; i++)
        sum += pow(of[i] / most, norm);
    return most > 0 ? most * pow(sum, 1 / norm) : 0;
}

struct wmi_time wmi_time_of(const struct wmi_time_work *work)
{
    const struct wm_gpu *gpu = work->gpu;
    const struct wmi_clocks clocks = wmi_clocks_of(gpu);
    const double mhz = gpu->clock_mhz;
    struct wmi_time time = {0};
    if (!(work->waves > 0) || !(work->workgroups > 0))
        return time;
    const double split = greater(work->split, 1), waves = work->waves * split;
    const double code = split > 1 ? growth(turns_of(work), split) : 1;
    time.waits = wmi_time_waits(work) / waves;
    time.issue = issue_of(work) * code / waves;
    time.stalls = work->work[WMI_WORK_STALLS] * code / waves;
    const double counted = work->workgroups * split, groups = counted * work->scale;
    const double places = (double)gpu->compute_units / work->units; /* that a workgroup may run on */
    const double each = groups / places, most = ceil(each - 1e-9);
    time.together = together_of(work, counted, places);
    time.wave = time.issue + time.stalls + time.waits + clocks.turnaround + time.together;
    time.part[WMI_TIME_LATENCY] = time.wave * greater(1, each / work->resident);
    for (unsigned part = 0; part < WMI_GPU_PARTS; part++) {
        const double uneven = is_shared(part) || each < 1 ? 1 : most / each;
        time.part[part] = work->scale * work->busy[part] * uneven / (wmi_time_in_units(part) ? split : 1);
    }
    time.part[WMI_GPU_MEMORY] = greater(time.part[WMI_GPU_MEMORY], memory_clocks(work, &clocks));
    time.part[WMI_GPU_LAST] =
        greater(time.part[WMI_GPU_LAST], transfer(work, work->last_bytes, clocks.last_bandwidth));
    time.part[WMI_GPU_L2] /= clocks.l2_share;
    time.launch = clocks.launch * mhz / 1e3;
    time.clocks = time.launch + wmi_time_combine(time.part);
    return time;
}

/* The error table: the factor within which predictions of the calibration half were in two thirds of the
 * cases, rounded up, by product and by what takes longest; docs/model.md, "Errors". A class without cases has
 * the largest factor of its product. gpu NULL: other products, from the cases of those that nothing was
 * fitted to. */
enum { OF_LATENCY, OF_UNITS, OF_SHARED, CLASSES };
static const struct {
    const char *gpu;
    double factor[CLASSES];
} errors[] = {
    {"mi100", {1.2, 1.2, 1.2}},  {"mi210", {1.1, 1.1, 1.4}},  {"mi250x", {2.1, 2.1, 1.2}},
    {"mi300a", {1.3, 1.3, 1.2}}, {"mi300x", {1.3, 1.2, 1.3}}, {"rx6900xt", {1.2, 1.1, 1.2}},
    {NULL, {1.8, 1.8, 1.8}},
};

double wmi_time_factor(const struct wm_gpu *gpu, unsigned part)
{
    const unsigned class = part == WMI_TIME_LATENCY ? OF_LATENCY : is_shared(part) ? OF_SHARED : OF_UNITS;
    unsigned row = 0;
    while (errors[row].gpu && strcmp(errors[row].gpu, gpu->name) != 0)
        row++;
    return errors[row].factor[class];
}
