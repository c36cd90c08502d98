/* SPDX-License-Identifier: MIT */
/* The summary above the rows of a kernel: product, occupancy, caches, lower bound of the time. */
#include "tool/report/summary.h"

#include "tool/report/table.h"
#include "tool/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tool_time_text(double seconds, char text[TOOL_SHORT])
{
    static const struct {
        double least, scale;
        const char *unit;
    } units[] = {{1, 1, "s"}, {1e-3, 1e3, "ms"}, {1e-6, 1e6, "us"}, {0, 1e9, "ns"}};
    size_t i = 0;
    while (i + 1 < sizeof units / sizeof *units && seconds < units[i].least)
        i++;
    snprintf(text, TOOL_SHORT, "%.3g %s", seconds * units[i].scale, units[i].unit);
}

void tool_bytes_text(uint64_t bytes, char text[TOOL_SHORT])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t i = 0;
    for (; value >= 10240 && i + 1 < sizeof units / sizeof *units; i++)
        value /= 1024;
    snprintf(text, TOOL_SHORT, i ? "%.1f %s" : "%.0f %s", value, units[i]);
}

void tool_memory_text(const struct wm_profile_kernel *kernel, char text[4 * TOOL_SHORT])
{
    char read[TOOL_SHORT], written[TOOL_SHORT], left[TOOL_SHORT];
    tool_bytes_text(kernel->memory_read, read);
    tool_bytes_text(kernel->memory_written, written);
    tool_bytes_text(kernel->memory_dirty, left);
    const int length = snprintf(text, 4 * TOOL_SHORT, "%s read, %s written", read, written);
    if (kernel->memory_dirty)
        snprintf(text + length, 4 * TOOL_SHORT - (size_t)length, ", %s left in the caches", left);
}

struct wm_cache_use tool_cache_use(const struct wm_profile_cache *cache)
{
    return (struct wm_cache_use){
        .requests = cache->read.requests + cache->write.requests + cache->atomic.requests,
        .hits = cache->read.hits + cache->write.hits + cache->atomic.hits,
        .bytes = cache->read.bytes + cache->write.bytes + cache->atomic.bytes,
    };
}

bool tool_sample_text(const struct wm_profile_kernel *kernel, char text[TOOL_SENTENCES])
{
    char error[80] = "too few rounds to estimate the error";
    if (kernel->sampled_from <= kernel->workgroups)
        return false;
    if (kernel->sample_error >= 0)
        snprintf(error, sizeof error, "+- %.1f%% (95%%)", 100 * kernel->sample_error);
    snprintf(text, TOOL_SENTENCES,
             "%" PRIu64 " of %" PRIu64
             " workgroups were observed, and counts are theirs. Multiply what instructions request by %.3g "
             "for all workgroups: %s. Do not extrapolate hits and memory traffic: the caches saw the sample "
             "only",
             kernel->workgroups, kernel->sampled_from, kernel->sample_scale, error);
    return true;
}

const struct tool_cut tool_cuts[] = {
    {WM_CUT_ROUND, "round", "the log of all resident workgroups would exceed 128 MiB", false},
    {WM_CUT_WORKGROUP, "workgroup", "the caches saw only the first GiB of a workgroup's log", true},
    {WM_CUT_REGIONS, "regions",
     "more than 62 regions of 4 GiB were accessed; the others are modelled as aliases of the first", true},
    {WM_CUT_NO_MEMORY, "no_memory", "the host ran out of memory for part of the log", true},
};
const size_t tool_cut_count = sizeof tool_cuts / sizeof *tool_cuts;

bool tool_cut_text(const struct wm_profile_kernel *kernel, char text[TOOL_SENTENCES])
{
    int length = 0;
    const char *before = "";
    *text = 0;
    for (size_t i = 0; i < tool_cut_count; i++)
        if (kernel->cuts & tool_cuts[i].cut) {
            length += snprintf(text + length, (size_t)(TOOL_SENTENCES - length), "%s%s", before,
                               tool_cuts[i].meaning);
            before = "; ";
            if (tool_cuts[i].cut == WM_CUT_ROUND)
                length += snprintf(text + length, (size_t)(TOOL_SENTENCES - length),
                                   ", so at most %" PRIu64 " workgroups were modelled at once",
                                   kernel->resident_workgroups);
        }
    return kernel->cuts;
}

bool tool_loses_accesses(const struct wm_profile_kernel *kernel)
{
    bool loses = false;
    for (size_t i = 0; i < tool_cut_count; i++)
        loses |= tool_cuts[i].loses && kernel->cuts & tool_cuts[i].cut;
    return loses;
}

void tool_occupancy_text(const struct wm_profile_kernel *kernel, char text[TOOL_SENTENCES])
{
    char lds[TOOL_SHORT];
    tool_bytes_text(kernel->lds_bytes, lds);
    snprintf(text, TOOL_SENTENCES,
             "%" PRIu32 " of %" PRIu32 " waves per SIMD%s%s%s%s%s (%" PRIu32 " VGPRs, %" PRIu32
             " SGPRs per wave; %" PRIu32 " work-items, %s of LDS per workgroup)",
             kernel->waves_per_simd, kernel->waves_per_simd_most, kernel->mode ? " in " : "",
             kernel->mode ? kernel->mode : "", kernel->mode ? " mode" : "",
             kernel->occupancy_limit ? ", limited by " : "",
             kernel->occupancy_limit ? kernel->occupancy_limit : "", kernel->vgprs, kernel->sgprs,
             kernel->workgroup_items, lds);
}

enum { HOT = 4, HOT_MISSES = 1024 }; /* at most 1/HOT of the parts, of so many misses */

/* Prints where misses gather, if half of them fall into a quarter of the sets or channels or fewer. */
static void print_hot(const struct wm_profile_cache *cache, const char *parts, uint32_t count, uint32_t hot,
                      uint32_t hottest)
{
    if (count && cache->set_misses >= HOT_MISSES && hot * HOT <= count)
        tool_print_labelled("hot", TOOL_PLAIN,
                            "half of the %" PRIu64 " misses of %s are in %u of %u %s; most in %u",
                            cache->set_misses, cache->name, hot, count, parts, hottest);
}

static void print_caches(const struct wm_profile_kernel *kernel)
{
    char memory[4 * TOOL_SHORT], *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    for (uint32_t i = 0; i < kernel->caches; i++) {
        const struct wm_cache_use use = tool_cache_use(&kernel->cache[i]);
        if (!use.requests)
            continue;
        fprintf(out, "%s%s %.1f%% of %" PRIu64, ftell(out) ? ", " : "", kernel->cache[i].name,
                100 * (double)use.hits / (double)use.requests, use.requests);
        if (kernel->cache[i].level == WM_CACHE_VECTOR && kernel->vector_invalidations)
            fprintf(out, " (invalidated %" PRIu64 " times by waves)", kernel->vector_invalidations);
    }
    fclose(out);
    if (size)
        tool_print_labelled("hits", TOOL_PLAIN, "%s", text);
    free(text);
    for (uint32_t i = 0; i < kernel->caches; i++) {
        const struct wm_profile_cache *cache = &kernel->cache[i];
        print_hot(cache, "sets", cache->sets, cache->hot_sets, cache->hot_set);
        print_hot(cache, "channels", cache->channels, cache->hot_channels, cache->hot_channel);
    }
    tool_memory_text(kernel, memory);
    tool_print_labelled("memory", TOOL_PLAIN, "%s", memory);
}

void tool_fetches_text(const struct wm_profile_kernel *kernel, char text[TOOL_SENTENCES])
{
    const uint64_t cache = kernel->gpu->cache[WM_CACHE_INSTRUCTION].bytes;
    char code[TOOL_SHORT], holds[TOOL_SHORT];
    const bool exceeds = cache && kernel->code_bytes > cache;
    tool_bytes_text(kernel->code_bytes, code);
    tool_bytes_text(cache, holds);
    snprintf(text, TOOL_SENTENCES, "%s, %" PRIu64 " fetches of %" PRIu32 " B%s%s", code, kernel->fetches,
             kernel->fetch_bytes, exceeds ? "; the instruction cache holds " : "", exceeds ? holds : "");
}

size_t tool_bounds(const struct wm_profile_kernel *kernel, const struct wm_bound *bounds[WM_PROFILE_BOUNDS])
{
    size_t count = 0;
    for (uint32_t i = 0; i < kernel->bounds; i++) {
        size_t at = count++;
        for (; at && bounds[at - 1]->seconds < kernel->bound[i].seconds; at--)
            bounds[at] = bounds[at - 1];
        bounds[at] = &kernel->bound[i];
    }
    return count;
}

/* The parts of the GPU that bound the kernel less than the longest, in one line. */
static void print_other_bounds(const struct wm_profile_kernel *kernel)
{
    const struct wm_bound *bounds[WM_PROFILE_BOUNDS];
    const size_t count = tool_bounds(kernel, bounds);
    char time[TOOL_SHORT], *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    for (size_t i = 1; i < count; i++) {
        tool_time_text(bounds[i]->seconds, time);
        fprintf(out, "%s%s %s", ftell(out) ? ", " : "", bounds[i]->name, time);
    }
    fclose(out);
    if (size)
        tool_print_labelled("others", TOOL_PLAIN, "%s", text);
    free(text);
}

bool tool_predicted_text(const struct wm_profile_kernel *kernel, char text[TOOL_SENTENCES])
{
    const struct wm_predicted *predicted = &kernel->predicted;
    char time[TOOL_SHORT], least[TOOL_SHORT];
    if (!(predicted->seconds > 0))
        return false;
    tool_time_text(predicted->seconds, time);
    tool_time_text(kernel->binds ? kernel->binds->seconds : 0, least);
    snprintf(text, TOOL_SENTENCES, "%s (x/÷ %.2g%s%s), bound by %s, at least %s", time, predicted->factor,
             predicted->like ? ", latencies of " : "", predicted->like ? predicted->like : "",
             predicted->parts ? predicted->part[0].name : "launch", least);
    return true;
}

static void print_bounds(const struct wm_profile_kernel *kernel)
{
    char time[TOOL_SHORT];
    if (!kernel->binds)
        return;
    tool_time_text(kernel->binds->seconds, time);
    tool_print_labelled("at least", TOOL_PLAIN, "%s, bound by %s: %s", time, kernel->binds->name,
                        kernel->binds->arithmetic);
    print_other_bounds(kernel);
}

void tool_summary_text(const struct wm_profile_kernel *kernel)
{
    char text[TOOL_SENTENCES];
    if (!kernel || !kernel->gpu)
        return;
    tool_print_labelled("on", TOOL_PLAIN, "%s (%s)%s%s", kernel->gpu->title, kernel->gpu->name,
                        kernel->gpu->unverified ? "; unverified: " : "",
                        kernel->gpu->unverified ? kernel->gpu->unverified : "");
    tool_print_labelled("ran", TOOL_PLAIN,
                        "%" PRIu64 " dispatch%s, %" PRIu64 " workgroups, %" PRIu64 " waves, %" PRIu64
                        " instructions",
                        kernel->dispatches, kernel->dispatches == 1 ? "" : "es", kernel->workgroups,
                        kernel->waves, kernel->instructions);
    if (tool_sample_text(kernel, text))
        tool_print_labelled("sample", TOOL_PLAIN, "%s", text);
    if (tool_cut_text(kernel, text))
        tool_print_labelled(tool_loses_accesses(kernel) ? "incomplete" : "cut", TOOL_PLAIN, "%s", text);
    tool_occupancy_text(kernel, text);
    tool_print_labelled("occupancy", TOOL_PLAIN, "%s", text);
    if (kernel->fetches) {
        tool_fetches_text(kernel, text);
        tool_print_labelled("code", TOOL_PLAIN, "%s", text);
    }
    print_caches(kernel);
    print_bounds(kernel);
}
