/* SPDX-License-Identifier: MIT */
/* The profile as one self-contained HTML file: tables, sources and listings with heat, and for each
 * instruction a drawing of one wave on cache lines or LDS banks. Scripts are needed only to sort tables. */
#include "tool/html/html.h"

#include "html_page.h"
#include "tool/html/parts.h"
#include "tool/output.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <inttypes.h>
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

/* The figures in tables; the section of each instruction has all. */
static const char *const shown[][12] = {
    [HTML_INSTRUCTIONS] = {"share", "efficiency", "executions", "lanes_per_run", "bytes", "lines",
                           "ideal_lines", "clocks", "conflicts", "vector_hit_rate", "l2_hit_rate"},
    [HTML_LINES] = {"share", "efficiency", "executions", "lines", "clocks", "conflicts", "l2_hit_rate"},
};

void html_figure_heads(FILE *file, enum html_table table)
{
    for (const char *const *key = shown[table]; *key; key++) {
        const struct tool_figure *figure = tool_find_figure(*key);
        fputs("<th scope=\"col\" title=\"", file);
        html_text(file, figure->meaning);
        fprintf(file, "\">%s</th>", tool_figure_title(figure));
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
        fprintf(file, "<td class=\"heat%s\" style=\"--h:%.0f%%\" data-v=\"%.6f\">%s</td>",
                figure->heat == TOOL_PRESENT ? " part" : "",
                100 * (figure->heat == TOOL_PRESENT ? value : 1 - value), value, text);
    else if (strchr(text, '%'))
        fprintf(file, "<td data-v=\"%.6f\">%s</td>", value, text);
    else
        fprintf(file, "<td>%s</td>", text);
}

void html_figure_cells(FILE *file, enum html_table table, const struct tool_sums *sums)
{
    for (const char *const *key = shown[table]; *key; key++)
        put_figure(file, tool_find_figure(*key), sums);
}

size_t html_number_of(const struct tool_report *report, const struct wm_profile_row *row)
{
    size_t i = 0;
    while (i < report->count && report->rows[i] != row)
        i++;
    return i;
}

/* ---- the table of instructions ---- */

static void put_source(FILE *file, const struct wm_profile_row *row)
{
    const char *slash = row->file ? strrchr(row->file, '/') : NULL;
    fputs("<td class=\"l code\">", file);
    if (row->file) {
        html_text(file, slash ? slash + 1 : row->file);
        fprintf(file, ":%u", row->line);
    }
    fputs("</td>", file);
}

static void put_row(FILE *file, const struct wm_profile_row *row, size_t number, bool one_kernel)
{
    struct tool_sums sums = {0};
    tool_sums_add(&sums, row);
    fprintf(file, "<tr><td class=\"l code\"><a href=\"#i%zu\">", number);
    html_text(file, row->text);
    fputs("</a></td>", file);
    html_figure_cells(file, HTML_INSTRUCTIONS, &sums);
    fputs("<td class=\"l\">", file);
    html_text(file, row->limit ? row->limit : "");
    fputs("</td>", file);
    put_source(file, row);
    fprintf(file, "<td class=\"l code\" data-v=\"%" PRIu64 "\">", row->pc);
    html_text(file, one_kernel ? "" : row->kernel);
    fprintf(file, "+0x%" PRIx64 "</td></tr>\n", row->offset);
}

static void put_table(FILE *file, const struct tool_report *report)
{
    fputs("<h2 id=\"instructions\">Instructions</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" "
          "aria-labelledby=\"instructions\"><table class=\"sortable\"><thead><tr>"
          "<th scope=\"col\" class=\"l\">instruction</th>",
          file);
    html_figure_heads(file, HTML_INSTRUCTIONS);
    fputs("<th scope=\"col\" class=\"l\" title=\"what takes the most time of it\">limit</th>"
          "<th scope=\"col\" class=\"l\">source</th><th scope=\"col\" class=\"l\">offset</th>"
          "</tr></thead><tbody>\n",
          file);
    const bool one_kernel = tool_kernel_rows(report, 0) == report->count;
    for (size_t i = 0; i < report->count; i++)
        put_row(file, report->rows[i], i, one_kernel);
    fputs("</tbody></table></div>\n", file);
}

/* ---- each instruction ---- */

static void put_all_figures(FILE *file, const struct wm_profile_row *row)
{
    struct tool_sums sums = {0};
    double value;
    tool_sums_add(&sums, row);
    fputs("<table class=\"figures\"><tbody>\n", file);
    for (size_t i = 0; i < tool_figure_count; i++) {
        if (!tool_figure_value(&tool_figures[i], &sums, &value))
            continue;
        fprintf(file, "<tr><th scope=\"row\" class=\"l\">%s</th>", tool_figure_title(&tool_figures[i]));
        put_figure(file, &tool_figures[i], &sums);
        fputs("<td class=\"l\">", file);
        html_text(file, tool_figures[i].meaning);
        fputs("</td></tr>\n", file);
    }
    fputs("</tbody></table>\n", file);
}

static void put_details(FILE *file, const struct wm_profile_row *row, size_t number)
{
    char lanes[256];
    fprintf(file, "<details id=\"i%zu\"><summary>", number);
    html_text(file, row->kernel);
    fprintf(file, "+0x%" PRIx64 "  ", row->offset);
    html_text(file, row->text);
    fprintf(file, "</summary>\n<p>%s %s, %" PRIu32 " bytes a lane. ", row->path, row->operation, row->bytes);
    if (row->has_vector)
        fprintf(file, "%" PRIu64 " of %" PRIu64 " runs took the address unit\u2019s fast path. ", row->fast,
                row->executions);
    if (row->lds_depth > 1)
        fprintf(file, "At worst lanes %s want %" PRIu32 " different dwords of bank %" PRIu32 " at once. ",
                tool_lane_list(row->lds_lanes, lanes), row->lds_depth, row->lds_bank);
    fputs("</p>\n", file);
    if (row->advice) {
        fputs("<p class=\"advice\">", file);
        html_text(file, row->advice);
        fputs("</p>\n", file);
    }
    html_drawings(file, row);
    put_all_figures(file, row);
    fputs("</details>\n", file);
}

/* ---- the page ---- */

static void put_card(FILE *file, const char *title, bool has, const char *format, double value)
{
    if (!has)
        return;
    fputs("<div class=\"card\"><b>", file);
    fprintf(file, format, value);
    fprintf(file, "</b><span>%s</span></div>", title);
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
    const char *kernel = json_string_value(json_object_get(dispatch, "kernel"));
    const char *target = json_string_value(json_object_get(dispatch, "target"));
    size_t times = 1;
    for (size_t before = 0; before < index; before++)
        if (same_dispatch(json_array_get(dispatches, before), dispatch))
            return;
    for (size_t more = index + 1; more < json_array_size(dispatches); more++)
        times += same_dispatch(json_array_get(dispatches, more), dispatch);
    fputs("<p class=\"sub\"><code>", file);
    html_text(file, kernel ? kernel : "");
    fputs("</code> on ", file);
    html_text(file, target ? target : "");
    put_extent(file, "grid", json_object_get(dispatch, "grid"));
    put_extent(file, "workgroup", json_object_get(dispatch, "workgroup"));
    if (times > 1)
        fprintf(file, ", %zu times", times);
    fputs("</p>\n", file);
}

static void put_head(FILE *file, const json_t *report)
{
    static const struct {
        const char *key, *title, *format;
        double scale;
    } cards[] = {
        {"executions", "runs of memory instructions", "%.0f", 1},
        {"efficiency", "of the lines touched are needed", "%.1f%%", 100},
        {"lines", "cache lines touched", "%.0f", 1},
        {"address_clocks", "clocks of the address unit", "%.0f", 1},
        {"lds_passes", "passes over LDS banks", "%.0f", 1},
        {"lds_conflicts", "of them for conflicts", "%.0f", 1},
    };
    const json_t *totals = json_object_get(report, "totals");
    const json_t *dispatches = json_object_get(report, "dispatches"), *dispatch;
    size_t index;
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width\"><title>wavemem prof</title>\n<style>\n",
          file);
    fputs(page_css, file);
    fputs("</style></head><body>\n<h1>What the memory costs</h1>\n", file);
    json_array_foreach(dispatches, index, dispatch) put_dispatch(file, dispatches, index);
    fputs("<div class=\"cards\">", file);
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        const json_t *figure = json_object_get(totals, cards[i].key);
        put_card(file, cards[i].title, json_is_number(figure), cards[i].format,
                 cards[i].scale * json_number_value(figure));
    }
    fputs("</div>\n", file);
}

int tool_write_html(const struct tool_report *report, const json_t *json, const char *path)
{
    struct tool_file output;
    if (!tool_begin_file(&output, "--html", path))
        return TOOL_WRONG;
    FILE *file = output.whole.stream;
    put_head(file, json);
    html_summary(file, report);
    put_table(file, report);
    html_sources(file, report);
    fputs("<h2>One wave of each instruction</h2>\n", file);
    for (size_t i = 0; i < report->count; i++)
        put_details(file, report->rows[i], i);
    fputs("<script>\n", file);
    fputs(page_js, file);
    fputs("</script>\n</body></html>\n", file);
    return tool_end_file(&output);
}
