/* SPDX-License-Identifier: MIT */
/* Timelines in Chrome's Trace Event Format: a process per dispatch and compute unit, a thread per wave slot.
 *
 * Source: "Trace Event Format", Google; the JSON importer of Perfetto reads the same. */
#include "tool/timeline/timeline.h"

#include "tool/output.h"
#include "tool/report/document.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const unit_names[WM_TIMELINE_UNITS] = {
    [WM_TIMELINE_OTHER] = "internal", [WM_TIMELINE_SALU] = "SALU", [WM_TIMELINE_BRANCH] = "branch",
    [WM_TIMELINE_SMEM] = "SMEM",      [WM_TIMELINE_VALU] = "VALU", [WM_TIMELINE_MATRIX] = "matrix",
    [WM_TIMELINE_VMEM] = "VMEM",      [WM_TIMELINE_LDS] = "LDS",   [WM_TIMELINE_GDS] = "GDS",
    [WM_TIMELINE_EXPORT] = "export",
};

/* Where events go. */
struct events {
    FILE *file;
    bool any;
    double microseconds; /* of a clock */
    double offset;       /* clocks before the dispatch */
    unsigned process;
};

static void put(struct events *events, json_t *event)
{
    fputs(events->any ? ",\n" : "\n", events->file);
    json_dumpf(event, events->file, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12));
    json_decref(event);
    events->any = true;
}

static void name(struct events *events, const char *what, unsigned thread, json_t *text)
{
    put(events, json_pack("{s:s, s:s, s:i, s:i, s:{s:o}}", "ph", "M", "name", what, "pid", events->process,
                          "tid", thread, "args", "name", text));
}

static double time_of(const struct events *events, double clocks)
{
    return (events->offset + clocks) * events->microseconds;
}

static void slice(struct events *events, unsigned thread, const char *label, const char *category,
                  double begin, double clocks, json_t *arguments)
{
    json_t *event = json_pack("{s:s, s:o, s:s, s:i, s:i, s:f, s:f}", "ph", "X", "name", tool_json_text(label),
                              "cat", category, "pid", events->process, "tid", thread, "ts",
                              time_of(events, begin), "dur", clocks * events->microseconds);
    if (arguments)
        json_object_set_new(event, "args", arguments);
    put(events, event);
}

static void put_step(struct events *events, const struct wm_timeline *timeline,
                     const struct wm_timeline_step *step, unsigned thread)
{
    const struct wm_timeline_code *code = &timeline->code[step->code];
    char mnemonic[64];
    double now = step->begin;
    snprintf(mnemonic, sizeof mnemonic, "%.*s", (int)strcspn(code->text, " "), code->text);
    if (step->waits > 0)
        slice(events, thread, "wait", "wait", now, step->waits,
              json_pack("{s:o}", "for", tool_json_text(code->text)));
    now += step->waits;
    if (step->stalls > 0)
        slice(events, thread, "stall", "stall", now, step->stalls,
              json_pack("{s:o}", "of", tool_json_text(code->text)));
    now += step->stalls;
    json_t *arguments = json_pack("{s:o, s:s, s:I}", "instruction", tool_json_text(code->text), "unit",
                                  unit_names[code->unit], "offset", (json_int_t)code->offset);
    if (code->file && code->line)
        json_object_set_new(arguments, "source", json_sprintf("%s:%u", code->file, code->line));
    if (code->latency > 0)
        json_object_set_new(arguments, "latency_clocks", json_real(code->latency));
    slice(events, thread, mnemonic, unit_names[code->unit], now, step->issues, arguments);
}

static void put_wave(struct events *events, const struct wm_timeline *timeline,
                     const struct wm_timeline_wave *wave, unsigned thread)
{
    char label[96];
    snprintf(label, sizeof label, "workgroup (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") wave %" PRIu32 "%s",
             wave->workgroup[0], wave->workgroup[1], wave->workgroup[2], wave->wave,
             wave->cut ? " (its beginning)" : "");
    slice(events, thread, label, "wave", wave->begin, wave->end - wave->begin, NULL);
    for (size_t i = 0; i < wave->steps; i++)
        put_step(events, timeline, &wave->step[i], thread);
}

static unsigned thread_of(const struct wm_timeline_wave *wave)
{
    return wave->simd * 64 + wave->slot + 1;
}

/* One compute unit: its waves, in the order of their workgroups. */
static void put_unit(struct events *events, const struct wm_timeline *timeline, size_t first, size_t count)
{
    const struct wm_timeline_wave *waves = &timeline->wave[first];
    bool named[64 * 64] = {false};
    char kernel[TOOL_NAME];
    json_t *title = json_sprintf("%s, launch %" PRIu64 ": unit %" PRIu32 " of %s (predicted, not measured)",
                                 tool_name(timeline->kernel, kernel), timeline->dispatch + 1, waves->unit,
                                 timeline->gpu->name);
    name(events, "process_name", 0, title ? title : json_string("predicted"));
    for (size_t i = 0; i < count; i++) {
        const unsigned thread = thread_of(&waves[i]);
        if (thread < sizeof named && !named[thread])
            name(events, "thread_name", thread,
                 json_sprintf("SIMD %u slot %u", waves[i].simd, waves[i].slot));
        if (thread < sizeof named)
            named[thread] = true;
        put_wave(events, timeline, &waves[i], thread);
    }
}

static void put_timeline(struct events *events, const struct wm_timeline *timeline)
{
    for (size_t first = 0, next; first < timeline->waves; first = next) {
        for (next = first; next < timeline->waves && timeline->wave[next].unit == timeline->wave[first].unit;)
            next++;
        events->process++;
        put_unit(events, timeline, first, next - first);
    }
}

/* What the reader has to know of each timeline. */
static json_t *describe(const struct wm_timeline *timeline)
{
    return json_pack("{s:o, s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f}", "kernel",
                     tool_json_text(timeline->kernel ? timeline->kernel : ""), "gpu", timeline->gpu->name,
                     "units_shown", (json_int_t)timeline->units, "units", (json_int_t)timeline->units_all,
                     "workgroups", (json_int_t)timeline->workgroups, "workgroups_shown",
                     (json_int_t)timeline->workgroups_shown, "predicted_clocks", timeline->clocks,
                     "launch_clocks", timeline->launch, "end_clocks", timeline->end,
                     "memory_latencies_multiplied_by", timeline->slower);
}

int tool_write_events(const struct tool_report *report, const char *path)
{
    struct tool_file file;
    size_t count;
    const struct wm_timeline *timelines = wm_profile_timelines(report->profile, &count);
    json_t *all = json_array();
    if (!tool_begin_file(&file, "--timeline", path)) {
        json_decref(all);
        return TOOL_WRONG;
    }
    struct events events = {.file = file.whole.stream};
    fputs("{\"traceEvents\": [", events.file);
    for (size_t i = 0; i < count; i++) {
        events.microseconds = 1.0 / timelines[i].gpu->clock_mhz;
        events.offset += timelines[i].launch / 2;
        put_timeline(&events, &timelines[i]);
        events.offset += timelines[i].clocks - timelines[i].launch / 2;
        json_array_append_new(all, describe(&timelines[i]));
    }
    fputs("\n], \"displayTimeUnit\": \"ns\", \"otherData\": ", events.file);
    json_t *data = json_pack("{s:s, s:s, s:o}", "tool", "wavemem prof --timeline", "note",
                             "all times are predicted by a model, none is measured", "timelines", all);
    json_dumpf(data, events.file, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
    json_decref(data);
    fputs("}\n", events.file);
    return tool_end_file(&file);
}
