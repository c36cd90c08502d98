/* SPDX-License-Identifier: MIT */
/* The profile as one self-contained HTML file: verdict, charts, tables, sources and listings with heat. The
 * script sorts tables, and draws one wave of an instruction on cache lines or LDS banks. */
#include "tool/html/html.h"

#include "html_page.h"
#include "tool/html/parts.h"
#include "tool/output.h"
#include "tool/report/advice.h"
#include "tool/report/summary.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells ---- */

void html_text(FILE *file, const char *text)
{
    static const struct {
        char character;
        const char *text;
    } replaced[] = {{'<', "&lt;"},   {'>', "&gt;"},   {'&', "&amp;"},
                    {'"', "&quot;"}, {'\'', "&#39;"}, {'\t', "    "}};
    char *escaped = tool_escaped(text);
    for (const char *at = escaped; *at; at++) {
        const char *other = NULL;
        for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
            if (*at == replaced[i].character)
                other = replaced[i].text;
        if (other)
            fputs(other, file);
        else
            fputc(*at, file);
    }
    free(escaped);
}

void html_format(FILE *file, const char *format, ...)
{
    char *text;
    va_list list;
    va_start(list, format);
    const int length = vasprintf(&text, format, list);
    va_end(list);
    if (length < 0)
        return;
    html_text(file, text);
    free(text);
}

/* The figures in tables; the details of each instruction have all. */
static const char *const shown[][13] = {
    [HTML_INSTRUCTIONS] = {"share", "waits", "executions", "lanes_per_run", "bytes", "lines_per_request",
                           "ideal_per_request", "efficiency", "clocks", "conflicts", "vector_hit_rate",
                           "l2_hit_rate"},
    [HTML_LINES] = {"share", "waits", "executions", "lines_per_request", "clocks", "conflicts"},
};

static bool any_has(const struct tool_report *report, const struct tool_figure *figure)
{
    for (size_t i = 0; i < report->count; i++)
        if (!figure->has || figure->has(report->rows[i]))
            return true;
    return false;
}

void html_figure_heads(FILE *file, enum html_table table, const struct tool_report *report)
{
    for (const char *const *key = shown[table]; *key; key++) {
        const struct tool_figure *figure = tool_find_key(*key);
        if (!any_has(report, figure))
            continue;
        fputs("<th scope=\"col\" title=\"", file);
        html_text(file, figure->meaning);
        fputs("\">", file);
        for (const char *at = tool_figure_title(figure); *at; at++) /* titles may wrap after a slash */
            fprintf(file, *at == '/' ? "%c<wbr>" : "%c", *at);
        fputs("</th>", file);
    }
}

/* Hit rates have no bar: the best possible rate is unknown, and the cost of misses is part of the share. */
static void put_figure(FILE *file, const struct tool_figure *figure, const struct tool_sums *sums)
{
    char text[32];
    double value;
    if (!sums || !tool_figure_value(figure, sums, &value)) {
        fputs("<td></td>", file);
        return;
    }
    tool_figure_text(figure, sums, text);
    if (figure->heat)
        fprintf(file, "<td class=\"heat%s\" style=\"--h:%.0f%%\" data-v=\"%.6g\">%s</td>",
                figure->heat == TOOL_PRESENT ? " part" : "",
                100 * (figure->heat == TOOL_PRESENT ? value : 1 - value), value, text);
    else if (strchr(text, '%'))
        fprintf(file, "<td data-v=\"%.6g\">%s</td>", value, text);
    else
        fprintf(file, "<td>%s</td>", text);
}

void html_figure_cells(FILE *file, enum html_table table, const struct tool_report *report,
                       const struct tool_sums *sums)
{
    for (const char *const *key = shown[table]; *key; key++)
        if (any_has(report, tool_find_key(*key)))
            put_figure(file, tool_find_key(*key), sums);
}

size_t html_number_of(const struct tool_report *report, const struct wm_profile_row *row)
{
    size_t i = 0;
    while (i < report->count && report->rows[i] != row)
        i++;
    return i;
}

/* ---- the table of instructions ---- */

static void put_row(FILE *file, const struct tool_report *report, size_t number, bool one_kernel)
{
    const struct wm_profile_row *row = report->rows[number];
    const char *slash = row->file ? strrchr(row->file, '/') : NULL;
    char name[TOOL_NAME];
    struct tool_sums sums = {0};
    tool_sums_add(&sums, row);
    fprintf(file, "<tr id=\"i%zu\"><td class=\"l code\" data-v=\"%" PRIu64 "\"><a href=\"#i%zu\">", number,
            row->pc, number);
    html_text(file, row->text ? row->text : "");
    fputs("</a><small>", file);
    if (row->file)
        html_format(file, "%s:%u ", slash ? slash + 1 : row->file, row->line);
    html_format(file, "%s+0x%" PRIx64, one_kernel ? "" : tool_name(row->kernel, name), row->offset);
    fputs("</small></td>", file);
    html_figure_cells(file, HTML_INSTRUCTIONS, report, &sums);
    fprintf(file, "<td class=\"l\">%s</td></tr>\n", row->limit ? row->limit : "");
}

static void put_table(FILE *file, const struct tool_report *report)
{
    if (!report->count)
        return;
    fputs("<h2 id=\"instructions\">Memory instructions</h2>\n<p class=\"sub\">A row opens all figures of an "
          "instruction, and a drawing of one of its waves.</p><noscript><p>Without scripts, rows do not "
          "open.</p></noscript>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" "
          "aria-labelledby=\"instructions\"><table class=\"sortable\"><thead><tr>"
          "<th scope=\"col\" class=\"l\" title=\"sorts by address\">instruction</th>",
          file);
    html_figure_heads(file, HTML_INSTRUCTIONS, report);
    fputs("<th scope=\"col\" class=\"l\" title=\"the part of the GPU that spends most time on it\">limit</th>"
          "</tr></thead><tbody>\n",
          file);
    const bool one_kernel = tool_kernel_rows(report, 0) == report->count;
    struct tool_group *groups;
    const size_t count = tool_groups(report, &groups);
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; row < groups[i].count; row++)
            put_row(file, report, groups[i].first + row, one_kernel);
    free(groups);
    fputs("</tbody></table></div>\n", file);
}

/* ---- the page ---- */

static int longest_first(const void *left, const void *right)
{
    const struct wm_profile_kernel *a = *(const struct wm_profile_kernel *const *)left,
                                   *b = *(const struct wm_profile_kernel *const *)right;
    const double x = a->binds ? a->binds->seconds : 0, y = b->binds ? b->binds->seconds : 0;
    return x != y ? (x > y ? -1 : 1) : (a->pc > b->pc) - (a->pc < b->pc);
}

size_t html_kernels(const struct tool_report *report, const struct wm_profile_kernel ***kernels)
{
    size_t count = 0;
    *kernels = calloc(report->kernel_count + 1, sizeof **kernels);
    for (size_t i = 0; *kernels && i < report->kernel_count; i++)
        if (report->kernels[i].gpu)
            (*kernels)[count++] = &report->kernels[i];
    if (count)
        qsort(*kernels, count, sizeof **kernels, longest_first);
    return count;
}

static void put_extent(FILE *file, const char *what, const json_t *extent)
{
    fprintf(file, ", %s", what);
    for (size_t i = 0; i < json_array_size(extent); i++)
        fprintf(file, "%s%lld", i ? "," : " ", (long long)json_integer_value(json_array_get(extent, i)));
}

static bool same_dispatch(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "kernel"), json_object_get(b, "kernel")) &&
           json_equal(json_object_get(a, "target"), json_object_get(b, "target")) &&
           json_equal(json_object_get(a, "grid"), json_object_get(b, "grid")) &&
           json_equal(json_object_get(a, "workgroup"), json_object_get(b, "workgroup"));
}

/* Writes one line for all equal dispatches, at the place of the first. */
static void put_dispatch(FILE *file, const json_t *dispatches, size_t index)
{
    const json_t *dispatch = json_array_get(dispatches, index);
    const char *target = json_string_value(json_object_get(dispatch, "target"));
    char name[TOOL_NAME];
    size_t times = 1;
    for (size_t before = 0; before < index; before++)
        if (same_dispatch(json_array_get(dispatches, before), dispatch))
            return;
    for (size_t more = index + 1; more < json_array_size(dispatches); more++)
        times += same_dispatch(json_array_get(dispatches, more), dispatch);
    fputs("<p class=\"sub\"><code>", file);
    html_text(file, tool_name(json_string_value(json_object_get(dispatch, "kernel")), name));
    fputs("</code> on ", file);
    html_text(file, target ? target : "");
    put_extent(file, "grid", json_object_get(dispatch, "grid"));
    put_extent(file, "workgroup", json_object_get(dispatch, "workgroup"));
    if (times > 1)
        fprintf(file, ", %zu times", times);
    fputs("</p>\n", file);
}

/* The verdict on the kernel with the longest bound. */
static void put_verdict(FILE *file, const struct tool_report *report)
{
    const struct wm_profile_kernel **kernels;
    const struct wm_profile_finding *best;
    const size_t count = html_kernels(report, &kernels);
    char name[TOOL_NAME], time[TOOL_SHORT], gain[TOOL_GAIN], predicted[TOOL_SENTENCES];
    if (!count || !kernels[0]->binds) {
        fputs("<h1>What the memory costs</h1>\n", file);
        free(kernels);
        return;
    }
    tool_time_text(kernels[0]->binds->seconds, time);
    fputs("<h1>", file);
    html_format(file, "%s is bound by %s: at least %s", tool_name(kernels[0]->kernel, name),
                kernels[0]->binds->name, time);
    fputs("</h1>\n<p class=\"fix\">", file);
    if (tool_predicted_text(kernels[0], predicted)) {
        fputs("<b>Predicted</b> ", file);
        html_text(file, predicted);
        fputs("<br>", file);
    }
    fputs("<b>Best fix</b> ", file);
    best = tool_best_finding(report, kernels[0]);
    if (best) {
        html_format(file, "%s (%s): %s.", best->verdict, best->place, best->change);
        tool_bound_text(best, gain);
        fprintf(file, "<br><b>Bound</b> <span%s>", best->gain > 0 ? " class=\"good\"" : "");
        html_text(file, gain);
        fputs("</span>", file);
    } else {
        tool_no_finding_text(kernels[0], predicted);
        html_format(file, "%s.", predicted);
    }
    fputs("</p>\n", file);
    free(kernels);
}

static void put_head(FILE *file, const struct tool_report *report, const json_t *json)
{
    const json_t *dispatches = json_object_get(json, "dispatches"), *dispatch, *loss;
    size_t index;
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width\"><title>wavemem prof</title>\n<style>\n",
          file);
    fputs(page_css, file);
    fputs("</style></head><body>\n", file);
    put_verdict(file, report);
    json_array_foreach(report->incomplete, index, loss)
    {
        fputs("<p class=\"partial\"><b>Partial report</b> ", file);
        html_format(file, "%s: %s", json_string_value(json_object_get(loss, "what")),
                    json_string_value(json_object_get(loss, "why")));
        fputs("</p>\n", file);
    }
    if (report->faulted)
        fputs("<p class=\"partial\"><b>Partial report</b> " TOOL_FAULTED "</p>\n", file);
    if (report->command) {
        fputs("<pre class=\"command\">", file);
        html_text(file, report->command);
        fputs("</pre>\n", file);
    }
    json_array_foreach(dispatches, index, dispatch) put_dispatch(file, dispatches, index);
}

int tool_write_html(const struct tool_report *report, const json_t *json, const char *path)
{
    struct tool_file output;
    if (!tool_begin_file(&output, "--html", path))
        return TOOL_WRONG;
    FILE *file = output.whole.stream;
    put_head(file, report, json);
    html_products(file, report);
    html_summary(file, report);
    html_roofline(file, report);
    html_sources(file, report);
    put_table(file, report);
    html_glossary(file);
    html_data(file, report);
    fputs("<script>\n", file);
    fputs(page_js, file);
    fputs("</script>\n</body></html>\n", file);
    return tool_end_file(&output);
}
