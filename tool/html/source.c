/* SPDX-License-Identifier: MIT */
/* Source files and listings in the page of `prof --html`, each line with its figures. */
#include "tool/report/source.h"
#include "tool/html/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 8 }; /* lines shown before and after those with figures */

/* The rows of one kernel. */
struct kernel {
    const struct tool_report *report;
    const struct wm_profile_row *const *rows;
    size_t count;
};

static void open_table(FILE *file, const char *caption, const char *place, const char *what)
{
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"", file);
    html_text(file, caption);
    fputs("\"><table class=\"listing\"><caption>", file);
    html_text(file, caption);
    fputs("</caption><thead><tr>", file);
    html_figure_heads(file, HTML_LINES);
    fprintf(file, "<th scope=\"col\">%s</th><th scope=\"col\" class=\"l\">%s</th></tr></thead><tbody>\n",
            place, what);
}

static void put_cells(FILE *file, const struct tool_sums *sums)
{
    fputs(sums ? "<tr>" : "<tr class=\"idle\">", file);
    html_figure_cells(file, HTML_LINES, sums);
}

/* ---- source ---- */

/* Sums the rows of the line; returns the first one; NULL: none. */
static const struct wm_profile_row *sum_line(const struct kernel *kernel, const char *name, size_t line,
                                             struct tool_sums *sums)
{
    const struct wm_profile_row *first = NULL;
    for (size_t i = 0; i < kernel->count; i++) {
        const struct wm_profile_row *row = kernel->rows[i];
        if (!row->file || row->line != line || strcmp(row->file, name) != 0)
            continue;
        tool_sums_add(sums, row);
        first = first ? first : row;
    }
    return first;
}

static bool is_near(const struct kernel *kernel, const char *name, size_t line)
{
    for (size_t i = 0; i < kernel->count; i++) {
        const struct wm_profile_row *row = kernel->rows[i];
        if (row->file && strcmp(row->file, name) == 0 && row->line <= line + AROUND &&
            line <= (size_t)row->line + AROUND)
            return true;
    }
    return false;
}

static void put_line(FILE *file, const struct kernel *kernel, const char *name, size_t line, const char *text)
{
    struct tool_sums sums = {0};
    const struct wm_profile_row *row = sum_line(kernel, name, line, &sums);
    put_cells(file, row ? &sums : NULL);
    if (row) /* the first row is the worst */
        fprintf(file, "<td><a href=\"#i%zu\">%zu</a></td><td class=\"l code\">",
                html_number_of(kernel->report, row), line);
    else
        fprintf(file, "<td>%zu</td><td class=\"l code\">", line);
    html_text(file, text);
    fputs("</td></tr>\n", file);
}

static void put_source(FILE *file, const struct kernel *kernel, const char *name,
                       const struct tool_source *source)
{
    char caption[400];
    snprintf(caption, sizeof caption, "%.140s in %.140s", tool_row_kernel(kernel->rows[0]), name);
    open_table(file, caption, "line", "source");
    for (size_t line = 1; line <= source->count; line++)
        if (is_near(kernel, name, line))
            put_line(file, kernel, name, line, source->line[line - 1]);
    fputs("</tbody></table></div>\n", file);
}

/* Writes only the line numbers with figures, if the file cannot be read. */
static void put_numbers(FILE *file, const struct kernel *kernel, const char *name,
                        enum tool_source_state state)
{
    char caption[400];
    snprintf(caption, sizeof caption, "%.140s in %.140s, %s", tool_row_kernel(kernel->rows[0]), name,
             state == TOOL_SOURCE_OMITTED
                 ? "omitted: it lies outside the current folder and those of --source-path"
                 : "which could not be read");
    open_table(file, caption, "line", "");
    unsigned last = 0;
    for (size_t i = 0; i < kernel->count; i++)
        last = kernel->rows[i]->line > last ? kernel->rows[i]->line : last;
    for (size_t line = 1; line <= last; line++) {
        struct tool_sums sums = {0};
        if (sum_line(kernel, name, line, &sums))
            put_line(file, kernel, name, line, "");
    }
    fputs("</tbody></table></div>\n", file);
}

static void put_files(FILE *file, const struct kernel *kernel)
{
    for (size_t i = 0; i < kernel->count; i++) {
        const char *name = kernel->rows[i]->file;
        struct tool_source source;
        bool seen = !name;
        for (size_t before = 0; before < i && !seen; before++)
            seen = kernel->rows[before]->file && strcmp(kernel->rows[before]->file, name) == 0;
        if (seen)
            continue;
        const enum tool_source_state state = tool_source_read(kernel->report, name, &source);
        if (state == TOOL_SOURCE_READ) {
            put_source(file, kernel, name, &source);
            tool_source_free(&source);
        } else {
            put_numbers(file, kernel, name, state);
        }
    }
}

/* ---- listing ---- */

static void put_listing(FILE *file, const struct kernel *kernel)
{
    struct tool_listing_of listing;
    char caption[200];
    if (!tool_listing_read(kernel->report, kernel->rows[0], &listing))
        return;
    snprintf(caption, sizeof caption, "Listing of %.150s", tool_row_kernel(kernel->rows[0]));
    fprintf(file, "<details class=\"code\"><summary>");
    html_text(file, caption);
    fprintf(file, ", %zu instructions</summary>\n", listing.count);
    open_table(file, caption, "offset", "instruction");
    for (size_t i = 0; i < listing.count; i++) {
        const struct wm_profile_row *row = NULL;
        struct tool_sums sums = {0};
        for (size_t k = 0; k < kernel->count && !row; k++)
            row = kernel->rows[k]->offset == listing.instruction[i].offset ? kernel->rows[k] : NULL;
        if (row)
            tool_sums_add(&sums, row);
        put_cells(file, row ? &sums : NULL);
        fprintf(file, "<td>+0x%" PRIx64 "</td><td class=\"l code\">", listing.instruction[i].offset);
        if (row)
            fprintf(file, "<a href=\"#i%zu\">", html_number_of(kernel->report, row));
        html_text(file, listing.instruction[i].text);
        fputs(row ? "</a></td></tr>\n" : "</td></tr>\n", file);
    }
    fputs("</tbody></table></div></details>\n", file);
    tool_listing_free(&listing);
}

void html_sources(FILE *file, const struct tool_report *report)
{
    if (report->count)
        fputs("<h2>Source and listing</h2>\n", file);
    for (size_t i = 0, count; i < report->count; i += count) {
        count = tool_kernel_rows(report, i);
        const struct kernel kernel = {.report = report, .rows = report->rows + i, .count = count};
        put_files(file, &kernel);
        put_listing(file, &kernel);
    }
}
