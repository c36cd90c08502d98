/* SPDX-License-Identifier: MIT */
/* All outputs of a profile: text, JSON, CSV, HTML, counters, conditions. */
#include "tool/report/prof.h"

#include "tool/html/html.h"
#include "tool/input.h"
#include "tool/output.h"
#include "tool/report/counters.h"
#include "tool/report/document.h"
#include "tool/report/source.h"
#include "tool/text.h"
#include "tool/timeline/timeline.h"
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tool_check_outputs(const struct tool_prof_outputs *outputs)
{
    const struct {
        const char *option, *path;
    } files[] = {{"--json", outputs->json_path},
                 {"--counters", outputs->counters_path},
                 {"--html", outputs->html_path},
                 {"--csv", outputs->show.csv_path},
                 {"--timeline", outputs->timeline_path}};
    int code = TOOL_CLEAN;
    for (size_t i = 0; i < sizeof files / sizeof *files && code == TOOL_CLEAN; i++)
        if (files[i].path)
            code = tool_check_file(files[i].option, files[i].path);
    if (outputs->viewer_path && code == TOOL_CLEAN)
        code = tool_check_viewer(outputs->viewer_path);
    return code;
}

char *tool_command_line(int argc, char **argv)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("wavemem", out);
    for (int i = 0; i < argc; i++) {
        fputc(' ', out);
        tool_print_word(out, argv[i]);
    }
    fclose(out);
    return text;
}

static json_t *failed_gates(const struct tool_gates *gates, const json_t *json)
{
    json_t *kernels = json_array(), *kernel;
    size_t index;
    json_array_foreach(json_object_get(json, "kernels"), index, kernel)
        json_array_append_new(kernels, tool_kernel_figures(kernel));
    const struct tool_gated gated = {json_object_get(json, "rows"), json_object_get(json, "totals"), kernels};
    json_t *failed = tool_gates_failed(gates, &gated);
    json_decref(kernels);
    return failed;
}

/* Writes the timelines. A product that is not known has none. */
static int show_timelines(const struct tool_prof_outputs *outputs, const struct tool_report *report,
                          json_t *json, int code)
{
    size_t count = 0;
    if (!outputs->timeline_path && !outputs->viewer_path)
        return code;
    wm_profile_timelines(report->profile, &count);
    if (!count)
        return tool_worse(code, tool_incomplete(json, "timeline", "no product is known for the target"));
    if (outputs->timeline_path)
        code = tool_worse(code, tool_write_events(report, outputs->timeline_path));
    if (outputs->viewer_path)
        code = tool_worse(code, tool_write_viewer(report, outputs->viewer_path));
    return code;
}

static int show_report(const struct tool_prof_outputs *outputs, const struct tool_report *report,
                       json_t *json, int code)
{
    tool_report_json(json, report);
    if (report->compared)
        json_object_set_new(json, "products", tool_json_compared(report->compared));
    if (!outputs->json || outputs->json_path) {
        if (report->compared)
            tool_print_compared(report);
        if (outputs->show.source)
            tool_report_source(report);
        else
            tool_report_text(report);
        if (outputs->show.source || outputs->html_path || (outputs->trace_path && !outputs->trace_is_private))
            tool_print_omitted(report);
    }
    json_t *failed = failed_gates(&outputs->gates, json);
    code = tool_gates_report(failed, code);
    json_object_set_new(json, "failed", failed);
    if (outputs->counters_path && tool_write_counters(report, outputs->counters_path) != TOOL_CLEAN)
        code = TOOL_WRONG;
    if (outputs->show.csv_path && tool_report_csv(report, outputs->show.csv_path) != TOOL_CLEAN)
        code = TOOL_WRONG;
    if (outputs->html_path && tool_write_html(report, json, outputs->html_path) != TOOL_CLEAN)
        code = TOOL_WRONG;
    code = show_timelines(outputs, report, json, code);
    return outputs->json ? tool_write_report(json, outputs->json_path, code) : code;
}

/* Completes the trace, adding the sources that were found. */
static int end_trace(const struct tool_report *report)
{
    struct wm_diag diag;
    tool_keep_sources(report);
    return wm_profile_end_trace(report->profile, &diag) == WM_OK ? TOOL_CLEAN
                                                                 : tool_fail("--trace %s", diag.message);
}

/* Models the further products, of which there may be none. */
static int compare(const struct tool_prof_outputs *outputs, struct wm_profile *profile,
                   struct tool_compared *compared)
{
    struct wm_diag diag;
    uint8_t *bytes;
    size_t size, count;
    wm_profile_dispatches(profile, &count);
    if (outputs->products.count < 2 || !count)
        return TOOL_CLEAN;
    if (outputs->replayed)
        return tool_compare_products(&outputs->products, profile, outputs->replayed, outputs->replayed_bytes,
                                     "the trace", compared);
    if (!tool_read_file(outputs->trace_path, &bytes, &size, &diag))
        return tool_fail("%s", diag.message);
    const int code = tool_compare_products(&outputs->products, profile, bytes, size, "the trace", compared);
    free(bytes);
    return code;
}

/* False, after a message: out of memory. The caller frees report->rows. */
static bool make_report(const struct tool_prof_outputs *outputs, struct wm_profile *profile,
                        const char *const *files, size_t file_count, struct tool_report *report)
{
    *report = (struct tool_report){
        .options = &outputs->show, .files = files, .file_count = file_count, .profile = profile};
    const struct wm_profile_row *rows = wm_profile_rows(profile, &report->count);
    report->kernels = wm_profile_kernels(profile, &report->kernel_count);
    report->rows = malloc((report->count + 1) * sizeof *report->rows);
    for (size_t i = 0; report->rows && i < report->count; i++)
        report->rows[i] = &rows[i];
    if (!report->rows)
        tool_fail("out of memory");
    return report->rows;
}

int tool_end_trace(const struct tool_prof_outputs *outputs, struct wm_profile *profile,
                   const char *const *files, size_t file_count)
{
    struct tool_report report;
    if (!make_report(outputs, profile, files, file_count, &report))
        return TOOL_WRONG;
    const int code = end_trace(&report);
    free(report.rows);
    return code;
}

int tool_show_profile(const struct tool_prof_outputs *outputs, struct wm_profile *profile,
                      const char *const *files, size_t file_count, json_t *json, int code)
{
    struct tool_report report;
    struct tool_compared compared = {0};
    if (!make_report(outputs, profile, files, file_count, &report))
        return TOOL_WRONG;
    report.incomplete = json_object_get(json, "incomplete");
    report.command = outputs->command;
    report.faulted = code == TOOL_FAULT;
    tool_sort_rows(&report);
    if ((outputs->trace_path && end_trace(&report) != TOOL_CLEAN) ||
        compare(outputs, profile, &compared) != TOOL_CLEAN)
        code = TOOL_WRONG;
    else {
        report.compared = compared.count ? &compared : NULL;
        code = show_report(outputs, &report, json, code);
    }
    tool_compared_free(&compared);
    free(report.rows);
    return code;
}
