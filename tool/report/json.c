/* SPDX-License-Identifier: MIT */
/* The report of `prof` as JSON. */
#include "tool/report/advice.h"
#include "tool/report/document.h"
#include "tool/report/lines.h"
#include "tool/report/summary.h"

#include <inttypes.h>
#include <stdlib.h>

static void set_count(json_t *object, const char *key, uint64_t count)
{
    json_object_set_new(object, key, json_integer((json_int_t)count));
}

/* The lanes that conflict on a bank in the worst execution; null: no conflict. */
static json_t *json_conflict(const struct wm_profile_row *row)
{
    char lanes[256];
    if (row->lds_depth < 2)
        return json_null();
    return json_pack("{s:I, s:I, s:s}", "dwords", (json_int_t)row->lds_depth, "bank",
                     (json_int_t)row->lds_bank, "lanes", tool_lane_list(row->lds_lanes, lanes));
}

static json_t *json_row(const struct wm_profile_row *row)
{
    json_t *object = json_object();
    json_object_set_new(object, "kernel", tool_json_text(tool_row_kernel(row)));
    json_object_set_new(object, "text", tool_json_text(row->text ? row->text : ""));
    json_object_set_new(object, "path", json_string(row->path ? row->path : ""));
    json_object_set_new(object, "operation", json_string(row->operation ? row->operation : ""));
    json_object_set_new(object, "file", row->file ? tool_json_text(row->file) : json_null());
    set_count(object, "line", row->line);
    set_count(object, "column", row->column);
    json_object_set_new(object, "pc", json_sprintf("0x%" PRIx64, row->pc));
    set_count(object, "offset", row->offset);
    struct tool_sums sums = {0};
    tool_sums_add(&sums, row);
    tool_figures_json(object, &sums, false);
    json_object_set_new(object, "worst_conflict", json_conflict(row));
    json_object_set_new(object, "limit", row->limit ? json_string(row->limit) : json_null());
    json_object_set_new(object, "advice", row->advice ? tool_json_text(row->advice) : json_null());
    json_object_set_new(object, "gain", row->advice ? json_real(row->gain) : json_null());
    return object;
}

/* The sums of rows by source line. */
static json_t *json_source_lines(const struct tool_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0, count; i < report->count; i += count) {
        struct tool_line *lines;
        count = tool_kernel_rows(report, i);
        const size_t found =
            tool_lines(report->rows + i, count, TOOL_BY_SOURCE, report->options->sort, &lines);
        for (size_t k = 0; k < found; k++) {
            const struct wm_profile_row *row = lines[k].row;
            if (!row->file)
                continue;
            json_t *object = json_object();
            json_object_set_new(object, "kernel", tool_json_text(tool_row_kernel(row)));
            json_object_set_new(object, "file", tool_json_text(row->file));
            set_count(object, "line", row->line);
            tool_figures_json(object, &lines[k].sums, true);
            json_array_append_new(list, object);
        }
        free(lines);
    }
    return list;
}

/* ---- kernels ---- */

static json_t *json_use(const struct wm_cache_use *use)
{
    return json_pack("{s:I, s:I, s:I}", "requests", (json_int_t)use->requests, "hits", (json_int_t)use->hits,
                     "bytes", (json_int_t)use->bytes);
}

static json_t *json_spread(uint32_t count, uint32_t hot, uint32_t hottest, uint64_t misses,
                           uint64_t hottest_misses)
{
    json_t *object = json_object();
    set_count(object, "count", count);
    set_count(object, "hot", hot);
    set_count(object, "hottest", hottest);
    set_count(object, "misses", misses);
    set_count(object, "hottest_misses", hottest_misses);
    return object;
}

static json_t *json_caches(const struct wm_profile_kernel *kernel)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < kernel->caches; i++) {
        const struct wm_profile_cache *cache = &kernel->cache[i];
        json_t *object = json_pack("{s:s, s:i, s:o, s:o, s:o}", "name", cache->name, "instances",
                                   (int)cache->instances, "read", json_use(&cache->read), "write",
                                   json_use(&cache->write), "atomic", json_use(&cache->atomic));
        if (cache->sets)
            json_object_set_new(object, "sets",
                                json_spread(cache->sets, cache->hot_sets, cache->hot_set, cache->set_misses,
                                            cache->hot_set_misses));
        if (cache->channels)
            json_object_set_new(object, "channels",
                                json_spread(cache->channels, cache->hot_channels, cache->hot_channel,
                                            cache->set_misses, cache->hot_channel_misses));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_bounds(const struct wm_profile_kernel *kernel)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < kernel->bounds; i++) {
        const struct wm_bound *bound = &kernel->bound[i];
        json_array_append_new(list, json_pack("{s:s, s:f, s:f, s:s}", "part", bound->name, "clocks",
                                              bound->clocks, "seconds", bound->seconds, "arithmetic",
                                              bound->arithmetic ? bound->arithmetic : ""));
    }
    return list;
}

static json_t *json_predicted(const struct wm_profile_kernel *kernel)
{
    const struct wm_predicted *predicted = &kernel->predicted;
    if (!(predicted->seconds > 0))
        return json_null();
    json_t *parts = json_array();
    for (uint32_t i = 0; i < predicted->parts; i++)
        json_array_append_new(parts, json_pack("{s:s, s:f}", "part", predicted->part[i].name, "seconds",
                                               predicted->part[i].seconds));
    return json_pack("{s:f, s:f, s:s?, s:f, s:f, s:s?, s:o}", "seconds", predicted->seconds, "factor",
                     predicted->factor, "like", predicted->like, "doubled", predicted->doubled, "launch",
                     predicted->launch, "binds", predicted->parts ? predicted->part[0].name : NULL, "parts",
                     parts);
}

static json_t *json_occupancy(const struct wm_profile_kernel *kernel)
{
    json_t *limits = json_array();
    for (uint32_t i = 0; i < kernel->occupancy_limits; i++) {
        const struct wm_occupancy_limit *limit = &kernel->occupancy[i];
        json_array_append_new(limits, json_pack("{s:s, s:i, s:i}", "resource", limit->name, "workgroups",
                                                (int)limit->workgroups, "waves_per_simd",
                                                (int)limit->waves_per_simd));
    }
    return json_pack("{s:i, s:i, s:i, s:s?, s:s?, s:i, s:i, s:i, s:i, s:o}", "waves_per_simd",
                     (int)kernel->waves_per_simd, "waves_per_simd_most", (int)kernel->waves_per_simd_most,
                     "workgroups_per_cu", (int)kernel->workgroups_per_cu, "mode", kernel->mode, "limit",
                     kernel->occupancy_limit, "workgroup_items", (int)kernel->workgroup_items, "vgprs",
                     (int)kernel->vgprs, "sgprs", (int)kernel->sgprs, "lds_bytes", (int)kernel->lds_bytes,
                     "limits", limits);
}

static json_t *json_cuts(const struct wm_profile_kernel *kernel)
{
    json_t *list = json_array();
    for (size_t i = 0; i < tool_cut_count; i++)
        if (kernel->cuts & tool_cuts[i].cut)
            json_array_append_new(list, json_string(tool_cuts[i].key));
    return list;
}

static json_t *json_executed(const struct wm_profile_executed *executed)
{
    const struct {
        const char *key;
        uint64_t count;
    } counts[] = {
        {"vector", executed->vector},
        {"vector_lanes", executed->vector_lanes},
        {"matrix", executed->matrix},
        {"matrix_clocks", executed->matrix_clocks},
        {"scalar", executed->scalar},
        {"branches", executed->branches},
        {"messages", executed->messages},
        {"scalar_memory", executed->scalar_memory},
        {"vector_memory", executed->vector_memory},
        {"lds", executed->lds},
        {"gds", executed->gds},
        {"exports", executed->exports},
        {"internal", executed->internal},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        set_count(object, counts[i].key, counts[i].count);
    return object;
}

static json_t *json_kernel(const struct wm_profile_kernel *kernel)
{
    json_t *object = json_object();
    char name[TOOL_NAME];
    json_object_set_new(object, "kernel", tool_json_text(kernel->kernel ? kernel->kernel : ""));
    json_object_set_new(object, "source_name", tool_json_text(tool_name(kernel->kernel, name)));
    json_object_set_new(object, "pc", json_sprintf("0x%" PRIx64, kernel->pc));
    set_count(object, "dispatches", kernel->dispatches);
    set_count(object, "workgroups", kernel->workgroups);
    set_count(object, "waves", kernel->waves);
    set_count(object, "instructions", kernel->instructions);
    json_object_set_new(object, "executed", json_executed(&kernel->executed));
    set_count(object, "fetches", kernel->fetches);
    set_count(object, "fetch_bytes", kernel->fetch_bytes);
    set_count(object, "code_bytes", kernel->code_bytes);
    set_count(object, "vector_invalidations", kernel->vector_invalidations);
    json_object_set_new(object, "gpu", kernel->gpu ? json_string(kernel->gpu->name) : json_null());
    if (!kernel->gpu)
        return object;
    json_object_set_new(object, "occupancy", json_occupancy(kernel));
    json_object_set_new(object, "caches", json_caches(kernel));
    set_count(object, "memory_read", kernel->memory_read);
    set_count(object, "memory_written", kernel->memory_written);
    set_count(object, "memory_dirty", kernel->memory_dirty);
    set_count(object, "l2_flushed", kernel->l2_flushed);
    json_object_set_new(object, "l2_kept", json_boolean(kernel->l2_kept));
    set_count(object, "resident_workgroups", kernel->resident_workgroups);
    json_object_set_new(object, "sampled_from",
                        kernel->sampled_from ? json_integer((json_int_t)kernel->sampled_from) : json_null());
    json_object_set_new(object, "sample_scale",
                        kernel->sampled_from ? json_real(kernel->sample_scale) : json_null());
    json_object_set_new(object, "sample_error",
                        kernel->sampled_from && kernel->sample_error >= 0 ? json_real(kernel->sample_error)
                                                                          : json_null());
    json_object_set_new(object, "resident_cut", json_boolean(kernel->resident_cut));
    json_object_set_new(object, "cuts", json_cuts(kernel));
    json_object_set_new(object, "predicted", json_predicted(kernel));
    json_object_set_new(object, "bounds", json_bounds(kernel));
    json_object_set_new(object, "binds", kernel->binds ? json_string(kernel->binds->name) : json_null());
    return object;
}

json_t *tool_json_kernels(const struct tool_report *report)
{
    json_t *kernels = json_array();
    for (size_t i = 0; i < report->kernel_count; i++)
        json_array_append_new(kernels, json_kernel(&report->kernels[i]));
    return kernels;
}

void tool_report_json(json_t *object, const struct tool_report *report)
{
    json_t *list = json_array(), *totals = json_object();
    struct tool_sums sums = {0};
    for (size_t i = 0; i < report->count; i++) {
        json_array_append_new(list, json_row(report->rows[i]));
        tool_sums_add(&sums, report->rows[i]);
    }
    tool_figures_json(totals, &sums, true);
    json_object_set_new(object, "kernels", tool_json_kernels(report));
    json_object_set_new(object, "advice", tool_json_advice(report));
    json_object_set_new(object, "rows", list);
    json_object_set_new(object, "source_lines", json_source_lines(report));
    json_object_set_new(object, "totals", totals);
}
