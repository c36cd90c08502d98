/* SPDX-License-Identifier: MIT */
/* Shows the findings of a profile as text and as JSON. */
#include "tool/report/advice.h"

#include "tool/report/document.h"
#include "tool/report/summary.h"
#include "tool/report/table.h"
#include "tool/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

const struct wm_profile_finding *tool_best_finding(const struct tool_report *report,
                                                   const struct wm_profile_kernel *kernel)
{
    static const double something = 0.01;
    const struct wm_profile_finding *finding;
    const size_t count = tool_kernel_findings(report, kernel, &finding);
    for (size_t i = 0; i < count; i++)
        if (finding[i].gain >= something)
            return &finding[i];
    return count ? finding : NULL;
}

/* The bound now and after the change, each with its sentence, and the predicted time if that changes. */
static void put_gain(const struct wm_profile_finding *finding, const char *lower, const char *same,
                     char text[TOOL_GAIN])
{
    char now[TOOL_SHORT], after[TOOL_SHORT];
    tool_time_text(finding->now.seconds, now);
    tool_time_text(finding->after.seconds, after);
    const int length = finding->after.clocks < finding->now.clocks
                           ? snprintf(text, TOOL_GAIN, lower, now, after, finding->after.name)
                           : snprintf(text, TOOL_GAIN, same, now);
    tool_time_text(finding->predicted, now);
    tool_time_text(finding->predicted_after, after);
    if (finding->predicted > 0 && strcmp(now, after) != 0)
        snprintf(text + length, TOOL_GAIN - (size_t)length, "; predicted %s -> %s", now, after);
    else if (finding->predicted > 0 && !(finding->after.clocks < finding->now.clocks))
        snprintf(text + length, TOOL_GAIN - (size_t)length, "; predicted %s stays", now);
}

void tool_gain_text(const struct wm_profile_finding *finding, char text[TOOL_GAIN])
{
    put_gain(finding, "%s -> at best %s, then bound by %s", "the bound stays at %s", text);
}

void tool_bound_text(const struct wm_profile_finding *finding, char text[TOOL_GAIN])
{
    put_gain(finding, "now %s -> at best %s, then bound by %s", "now %s, which the fix does not lower", text);
}

/* The predicted time over the bound, without the launch. */
static double times_of(const struct wm_profile_kernel *kernel)
{
    return (kernel->predicted.seconds - kernel->predicted.launch) / kernel->binds->seconds;
}

/* Nothing is left to gain only if the kernel takes about as long as its busiest part. */
static bool is_near(const struct wm_profile_kernel *kernel)
{
    static const double near = 1.15;
    return !(times_of(kernel) > near);
}

static bool needs_waves(const struct wm_profile_kernel *kernel)
{
    return kernel->predicted.doubled < 0.95 * kernel->predicted.seconds;
}

const char *tool_no_finding_short(const struct wm_profile_kernel *kernel)
{
    return is_near(kernel) || !needs_waves(kernel) ? "none known" : "more waves, or more independent loads";
}

void tool_no_finding_text(const struct wm_profile_kernel *kernel, char text[TOOL_SENTENCES])
{
    const struct wm_predicted *predicted = &kernel->predicted;
    const double times = times_of(kernel);
    char now[TOOL_SHORT], more[TOOL_SHORT];
    tool_time_text(predicted->seconds, now);
    tool_time_text(predicted->doubled, more);
    if (is_near(kernel))
        snprintf(text, TOOL_SENTENCES, "none known: no finding lowers the bound");
    else if (needs_waves(kernel))
        snprintf(
            text, TOOL_SENTENCES,
            "more waves, or more independent loads before each wait: without its launch the kernel takes "
            "%.3g times the bound, and with twice as many waves at once %s -> %s",
            times, now, more);
    else
        snprintf(text, TOOL_SENTENCES,
                 "none known, although without its launch the kernel takes %.3g times the bound; %s takes "
                 "longest",
                 times, predicted->parts ? predicted->part[0].name : "launch");
}

void tool_print_verdict(const struct tool_report *report, const struct wm_profile_kernel *kernel)
{
    char name[TOOL_NAME], time[TOOL_SHORT], gain[TOOL_GAIN], predicted[TOOL_SENTENCES];
    const struct wm_profile_finding *best;
    tool_name(kernel->kernel, name);
    if (!kernel->gpu || !kernel->binds) {
        tool_print_labelled("verdict", TOOL_BOLD, "%s: %s, so there is no bound", name,
                            kernel->gpu ? "nothing was counted" : "no product of its target is known");
        return;
    }
    tool_time_text(kernel->binds->seconds, time);
    tool_print_labelled("verdict", TOOL_BOLD, "%s is bound by %s on %s: at least %s", name,
                        kernel->binds->name, kernel->gpu->title, time);
    if (tool_predicted_text(kernel, predicted))
        tool_print_labelled("predicted", TOOL_PLAIN, "%s", predicted);
    best = tool_best_finding(report, kernel);
    if (!best) {
        tool_no_finding_text(kernel, predicted);
        tool_print_labelled("best fix", TOOL_PLAIN, "%s", predicted);
        tool_print_labelled("bound", TOOL_PLAIN, "now %s", time);
        return;
    }
    tool_bound_text(best, gain);
    tool_print_labelled("best fix", TOOL_PLAIN, "%s (%s): %s", best->verdict, best->place, best->change);
    tool_print_labelled("bound", best->gain > 0 ? TOOL_GREEN : TOOL_PLAIN, "%s", gain);
}

void tool_advice_text(const struct tool_report *report, const struct wm_profile_kernel *kernel)
{
    const struct wm_profile_finding *finding;
    const size_t count = tool_kernel_findings(report, kernel, &finding);
    const size_t most = report->options->all || count < TOOL_ADVICE_SHOWN ? count : TOOL_ADVICE_SHOWN;
    for (size_t i = 0; i < most; i++, finding++) {
        char label[32], gain[TOOL_GAIN];
        snprintf(label, sizeof label, "finding %zu", i + 1);
        tool_gain_text(finding, gain);
        tool_print_labelled(label, TOOL_PLAIN, "%s (%s): %s; %s. %s", finding->verdict, finding->place,
                            finding->numbers, finding->change, gain);
    }
    if (count > most)
        printf("and %zu more findings: --all\n", count - most);
}

static json_t *json_time(const struct wm_bound *bound)
{
    return json_pack("{s:s, s:f, s:f}", "part", bound->name, "clocks", bound->clocks, "seconds",
                     bound->seconds);
}

static json_t *json_seconds(double seconds)
{
    return seconds > 0 ? json_real(seconds) : json_null();
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
            list, json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f}",
                            "kernel", tool_json_text(f->kernel), "pc", json_sprintf("0x%" PRIx64, f->pc),
                            "cause", f->cause, "verdict", tool_json_text(f->verdict), "place",
                            tool_json_text(f->place), "file", f->file ? tool_json_text(f->file) : json_null(),
                            "line", (json_int_t)f->line, "numbers", tool_json_text(f->numbers), "change",
                            tool_json_text(f->change), "pcs", pcs, "now", json_time(&f->now), "after",
                            json_time(&f->after), "predicted", json_seconds(f->predicted), "predicted_after",
                            json_seconds(f->predicted_after), "gain", f->gain));
    }
    return list;
}
