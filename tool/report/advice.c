/* SPDX-License-Identifier: MIT */
/* Shows the findings of a profile as text and as JSON. */
#include "tool/report/advice.h"

#include "tool/report/document.h"
#include "tool/report/summary.h"
#include "tool/report/table.h"
#include "tool/text.h"

#include <inttypes.h>
#include <stdlib.h>

size_t tool_kernel_findings(const struct tool_report *report, const struct wm_profile_kernel *kernel,
                            const struct wm_profile_finding **first)
{
    size_t count, found = 0;
    const struct wm_profile_finding *finding = wm_profile_findings(report->profile, &count);
    *first = finding;
    for (size_t i = 0; kernel && i < count; i++)
        if (finding[i].pc == kernel->pc && !found++)
            *first = &finding[i];
    return found;
}

void tool_gain_text(const struct wm_profile_finding *finding, char text[96])
{
    char now[TOOL_SHORT], after[TOOL_SHORT];
    tool_time_text(finding->now.seconds, now);
    tool_time_text(finding->after.seconds, after);
    if (finding->gain > 0)
        snprintf(text, 96, "%s -> at best %s, then bound by %s", now, after, finding->after.name);
    else
        snprintf(text, 96, "the bound stays at %s", now);
}

void tool_advice_text(const struct tool_report *report, const struct wm_profile_kernel *kernel)
{
    enum { INDENT = 4 };
    const struct wm_profile_finding *finding;
    const size_t count = tool_kernel_findings(report, kernel, &finding);
    for (size_t i = 0; i < count && i < TOOL_FINDINGS; i++, finding++) {
        char *text = NULL, gain[96];
        size_t size;
        FILE *out = open_memstream(&text, &size);
        if (!out)
            return;
        tool_gain_text(finding, gain);
        fprintf(out, "%zu. %s (%s): %s; %s. %s", i + 1, finding->verdict, finding->place, finding->numbers,
                finding->change, gain);
        fclose(out);
        tool_print_wrapped(text, size, INDENT, tool_terminal_width());
        free(text);
    }
    if (count > TOOL_FINDINGS)
        printf("and %zu more: --json, --html\n", count - TOOL_FINDINGS);
}

static json_t *json_time(const struct wm_bound *bound)
{
    return json_pack("{s:s, s:f, s:f}", "part", bound->name, "clocks", bound->clocks, "seconds",
                     bound->seconds);
}

json_t *tool_json_advice(const struct tool_report *report)
{
    size_t count;
    const struct wm_profile_finding *f = wm_profile_findings(report->profile, &count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++, f++) {
        json_t *pcs = json_array();
        for (size_t row = 0; row < f->row_count; row++)
            json_array_append_new(pcs, json_sprintf("0x%" PRIx64, f->rows[row]->pc));
        json_array_append_new(
            list,
            json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:f}", "kernel",
                      tool_json_text(f->kernel), "pc", json_sprintf("0x%" PRIx64, f->pc), "cause", f->cause,
                      "verdict", tool_json_text(f->verdict), "place", tool_json_text(f->place), "file",
                      f->file ? tool_json_text(f->file) : json_null(), "line", (json_int_t)f->line, "numbers",
                      tool_json_text(f->numbers), "change", tool_json_text(f->change), "pcs", pcs, "now",
                      json_time(&f->now), "after", json_time(&f->after), "gain", f->gain));
    }
    return list;
}
