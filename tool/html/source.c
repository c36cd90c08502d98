/* SPDX-License-Identifier: MIT */
/* Source files and listings in the page of `prof --html`, side by side, each line with its figures. */
#include "tool/report/source.h"
#include "tool/html/parts.h"
#include "tool/report/lines.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    AROUND = 8,          /* lines of source shown before and after those with figures */
    WHOLE_LISTING = 800, /* longer listings show only what is near memory instructions */
    NEAR = 4,
};

/* The rows of one symbol, and their sums by source line. */
struct kernel {
    const struct tool_report *report;
    const char *symbol;
    const struct wm_profile_row *const *rows;
    size_t count;
    struct tool_line *lines;
    size_t line_count;
};

static void open_table(FILE *file, const struct kernel *kernel, const char *caption, const char *place,
                       const char *what)
{
    fputs("<div class=\"pane\" tabindex=\"0\" role=\"region\" aria-label=\"", file);
    html_text(file, caption);
    fputs("\"><table class=\"listing\"><caption>", file);
    html_text(file, caption);
    fputs("</caption><thead><tr>", file);
    html_figure_heads(file, HTML_LINES, kernel->report);
    fprintf(file, "<th scope=\"col\">%s</th><th scope=\"col\" class=\"l\">%s</th></tr></thead><tbody>\n",
            place, what);
}

/* Lines of the source and their instructions have the same `data-s`. */
static void open_row(FILE *file, const struct kernel *kernel, const struct tool_line *line)
{
    if (line && line->row->file)
        fprintf(file, "<tr data-s=\"%zu-%zu\">", html_number_of(kernel->report, kernel->rows[0]),
                (size_t)(line - kernel->lines));
    else
        fputs(line ? "<tr>" : "<tr class=\"idle\">", file);
}

static const struct tool_line *line_of(const struct kernel *kernel, const struct wm_profile_row *row)
{
    for (size_t i = 0; i < kernel->line_count; i++)
        if (kernel->lines[i].row == row || tool_same_line(kernel->lines[i].row, row))
            return &kernel->lines[i];
    return NULL;
}

/* ---- source ---- */

static const struct tool_line *line_at(const struct kernel *kernel, const char *name, size_t number)
{
    for (size_t i = 0; i < kernel->line_count; i++) {
        const struct wm_profile_row *row = kernel->lines[i].row;
        if (row->file && row->line == number && strcmp(row->file, name) == 0)
            return &kernel->lines[i];
    }
    return NULL;
}

static bool is_near(const struct kernel *kernel, const char *name, size_t line)
{
    for (size_t i = 0; i < kernel->line_count; i++) {
        const struct wm_profile_row *row = kernel->lines[i].row;
        if (row->file && strcmp(row->file, name) == 0 && row->line <= line + AROUND &&
            line <= (size_t)row->line + AROUND)
            return true;
    }
    return false;
}

static void put_line(FILE *file, const struct kernel *kernel, const char *name, size_t number,
                     const char *text)
{
    const struct tool_line *line = line_at(kernel, name, number);
    open_row(file, kernel, line);
    html_figure_cells(file, HTML_LINES, kernel->report, line ? &line->sums : NULL);
    if (line) /* the most costly of its instructions */
        fprintf(file, "<td><a href=\"#i%zu\">%zu</a></td><td class=\"l code\">",
                html_number_of(kernel->report, line->row), number);
    else
        fprintf(file, "<td>%zu</td><td class=\"l code\">", number);
    html_text(file, text);
    fputs("</td></tr>\n", file);
}

static void put_source(FILE *file, const struct kernel *kernel, const char *name,
                       const struct tool_source *source)
{
    open_table(file, kernel, name, "line", "source");
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
    snprintf(caption, sizeof caption, "%.280s, %s", name,
             state == TOOL_SOURCE_OMITTED
                 ? "omitted: it lies outside the current folder and those of --source-path"
                 : "which could not be read");
    open_table(file, kernel, caption, "line", "");
    unsigned last = 0;
    for (size_t i = 0; i < kernel->line_count; i++)
        last = kernel->lines[i].row->line > last ? kernel->lines[i].row->line : last;
    for (size_t line = 1; line <= last; line++)
        if (line_at(kernel, name, line))
            put_line(file, kernel, name, line, "");
    fputs("</tbody></table></div>\n", file);
}

static bool is_first_of_file(const struct kernel *kernel, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (kernel->rows[i]->file && strcmp(kernel->rows[i]->file, kernel->rows[row]->file) == 0)
            return false;
    return true;
}

static void put_files(FILE *file, const struct kernel *kernel)
{
    for (size_t i = 0; i < kernel->count; i++) {
        const char *name = kernel->rows[i]->file;
        struct tool_source source;
        if (!name || !is_first_of_file(kernel, i))
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

static bool has_files(const struct kernel *kernel)
{
    for (size_t i = 0; i < kernel->count; i++)
        if (kernel->rows[i]->file)
            return true;
    return false;
}

/* ---- listing ---- */

static const struct wm_profile_row *row_at(const struct kernel *kernel, uint64_t offset)
{
    for (size_t i = 0; i < kernel->count; i++)
        if (kernel->rows[i]->offset == offset)
            return kernel->rows[i];
    return NULL;
}

static void put_instruction(FILE *file, const struct kernel *kernel, const struct tool_instruction *at,
                            const struct wm_profile_row *row)
{
    struct tool_sums sums = {0};
    if (row)
        tool_sums_add(&sums, row);
    open_row(file, kernel, row ? line_of(kernel, row) : NULL);
    html_figure_cells(file, HTML_LINES, kernel->report, row ? &sums : NULL);
    fprintf(file, "<td>+0x%" PRIx64 "</td><td class=\"l code\">", at->offset);
    if (row)
        fprintf(file, "<a href=\"#i%zu\">", html_number_of(kernel->report, row));
    html_text(file, at->text);
    fputs(row ? "</a></td></tr>\n" : "</td></tr>\n", file);
}

static void put_gap(FILE *file, const struct kernel *kernel, size_t hidden)
{
    fputs("<tr class=\"idle\">", file);
    html_figure_cells(file, HTML_LINES, kernel->report, NULL);
    fprintf(file, "<td></td><td class=\"l soft\">%zu instructions</td></tr>\n", hidden);
}

static void put_listing(FILE *file, const struct kernel *kernel)
{
    struct tool_listing_of listing;
    char caption[TOOL_NAME + 40], name[TOOL_NAME];
    if (!tool_listing_read(kernel->report, kernel->rows[0], &listing))
        return;
    const struct wm_profile_row **rows = calloc(listing.count + 1, sizeof *rows);
    for (size_t i = 0; rows && i < listing.count; i++)
        rows[i] = row_at(kernel, listing.instruction[i].offset);
    snprintf(caption, sizeof caption, "%s, %zu instructions", tool_name(kernel->symbol, name), listing.count);
    open_table(file, kernel, caption, "offset", "instruction");
    size_t hidden = 0;
    for (size_t i = 0; rows && i < listing.count; i++) {
        bool shown = listing.count <= WHOLE_LISTING;
        for (size_t k = i > NEAR ? i - NEAR : 0; k <= i + NEAR && k < listing.count && !shown; k++)
            shown = rows[k];
        if (shown && hidden)
            put_gap(file, kernel, hidden);
        hidden = shown ? 0 : hidden + 1;
        if (shown)
            put_instruction(file, kernel, &listing.instruction[i], rows[i]);
    }
    if (hidden)
        put_gap(file, kernel, hidden);
    fputs("</tbody></table></div>\n", file);
    free(rows);
    tool_listing_free(&listing);
}

void html_sources(FILE *file, const struct tool_report *report)
{
    if (report->count)
        fputs("<h2>Source and listing</h2>\n", file);
    struct tool_group *groups;
    const size_t count = tool_groups(report, &groups);
    for (size_t i = 0; i < count; i++) {
        if (!groups[i].count)
            continue;
        struct kernel kernel = {
            .report = report, .rows = report->rows + groups[i].first, .count = groups[i].count};
        kernel.symbol = groups[i].kernel ? groups[i].kernel->kernel : tool_row_kernel(kernel.rows[0]);
        kernel.line_count = tool_lines(kernel.rows, kernel.count, TOOL_BY_SOURCE, NULL, &kernel.lines);
        if (has_files(&kernel)) {
            fputs("<div class=\"two\"><div>\n", file);
            put_files(file, &kernel);
            fputs("</div><div>\n", file);
            put_listing(file, &kernel);
            fputs("</div></div>\n", file);
        } else {
            fputs(TOOL_HAS_DWARF ? "<p>No line table: compile with <code>-g</code> to see source lines.</p>\n"
                                 : "<p>No source lines: " TOOL_NO_DWARF ".</p>\n",
                  file);
            put_listing(file, &kernel);
        }
        free(kernel.lines);
    }
    free(groups);
}
