/* SPDX-License-Identifier: MIT */
/* The report of `prof` as the kernel's source, or its listing if the source cannot be read, with figures for
 * each line. */
#include "tool/report/advice.h"
#include "tool/report/columns.h"
#include "tool/report/source.h"
#include "tool/report/summary.h"
#include "tool/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    AROUND = 3,       /* lines shown before and after those with figures */
    SOURCE_TEXT = 56, /* characters of them that a narrow terminal shows */
};

/* ---- source ---- */

static bool is_in(const struct wm_profile_row *row, const char *file)
{
    return row->file && strcmp(row->file, file) == 0;
}

/* The sums of the rows of a line; zeros without rows. */
static struct tool_sums sums_of_line(const struct wm_profile_row *const *rows, size_t count, const char *file,
                                     size_t line)
{
    struct tool_sums sums = {0};
    for (size_t i = 0; i < count; i++)
        if (is_in(rows[i], file) && rows[i]->line == line)
            tool_sums_add(&sums, rows[i]);
    return sums;
}

static void mark(bool *wanted, size_t lines, size_t line)
{
    const size_t first = line > AROUND ? line - AROUND : 1;
    for (size_t at = first; at <= line + AROUND && at <= lines; at++)
        wanted[at] = true;
}

static void print_lines(struct tool_columns *columns, const struct wm_profile_row *const *rows, size_t count,
                        const char *file, const struct tool_source *source)
{
    struct tool_table table = {.least = SOURCE_TEXT,
                               .columns = columns->column,
                               .column_count = columns->count,
                               .width = columns->width,
                               .left_out = columns->left_out};
    bool *wanted = calloc(source->count + 1, sizeof *wanted);
    for (size_t i = 0; wanted && i < count; i++)
        if (is_in(rows[i], file))
            mark(wanted, source->count, rows[i]->line);
    bool gap = false, any = false;
    for (size_t line = 1; wanted && line <= source->count; line++) {
        gap |= any && !wanted[line];
        if (!wanted[line])
            continue;
        if (gap) {
            tool_columns_cells(&table, columns, NULL);
            tool_table_cell(&table, "...");
            tool_table_cell(&table, "%s", "");
        }
        const struct tool_sums sums = sums_of_line(rows, count, file, line);
        tool_columns_cells(&table, columns, sums.rows ? &sums : NULL);
        tool_table_cell(&table, "%zu", line);
        tool_table_cell(&table, "%s", source->line[line - 1]);
        gap = false;
        any = true;
    }
    free(wanted);
    tool_table_fit(&table);
    tool_table_print(&table, stdout, 0);
    tool_table_free(&table);
}

static bool is_first_of_file(const struct wm_profile_row *const *rows, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (is_in(rows[i], rows[row]->file))
            return false;
    return true;
}

/* False: none of the kernel's files can be read. */
static bool print_source(const struct tool_report *report, size_t first, size_t count)
{
    const struct wm_profile_row *const *rows = report->rows + first;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        struct tool_source source;
        struct tool_columns columns;
        if (!rows[i]->file || !is_first_of_file(rows, i) ||
            tool_source_read(report, rows[i]->file, &source) != TOOL_SOURCE_READ)
            continue;
        char *name = tool_escaped(rows[i]->file);
        tool_columns_choose(&columns, report);
        tool_columns_place(&columns, "line", 0);
        tool_columns_place(&columns, name, 0);
        print_lines(&columns, rows, count, rows[i]->file, &source);
        tool_columns_left_out(&columns);
        tool_source_free(&source);
        free(name);
        any = true;
    }
    return any;
}

/* ---- listing ---- */

static const struct wm_profile_row *row_at(const struct wm_profile_row *const *rows, size_t count,
                                           uint64_t offset)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i]->offset == offset)
            return rows[i];
    return NULL;
}

static bool print_listing(const struct tool_report *report, size_t first, size_t count)
{
    const struct wm_profile_row *const *rows = report->rows + first;
    struct tool_listing_of listing;
    struct tool_columns columns;
    if (!tool_listing_read(report, rows[0], &listing))
        return false;
    tool_columns_choose(&columns, report);
    tool_columns_place(&columns, "offset", 0);
    tool_columns_place(&columns, "instruction", 0);
    struct tool_table table = {.columns = columns.column,
                               .column_count = columns.count,
                               .width = columns.width,
                               .left_out = columns.left_out};
    for (size_t i = 0; i < listing.count; i++) {
        const struct tool_instruction *at = &listing.instruction[i];
        const struct wm_profile_row *row = row_at(rows, count, at->offset);
        struct tool_sums sums = {0};
        if (row)
            tool_sums_add(&sums, row);
        tool_columns_cells(&table, &columns, row ? &sums : NULL);
        tool_table_cell(&table, "+0x%" PRIx64, at->offset);
        tool_table_cell(&table, "%s", at->text);
    }
    tool_table_fit(&table);
    tool_table_print(&table, stdout, 0);
    tool_table_free(&table);
    tool_columns_left_out(&columns);
    tool_listing_free(&listing);
    return true;
}

void tool_report_source(const struct tool_report *report)
{
    tool_print_incomplete(report);
    struct tool_group *groups;
    const size_t count = tool_groups(report, &groups);
    for (size_t i = 0; i < count; i++) {
        const struct tool_group *group = &groups[i];
        char name[TOOL_NAME];
        if (i)
            putchar('\n');
        if (!group->count) {
            tool_print_without_rows(report, group->kernel);
            continue;
        }
        if (group->kernel)
            tool_print_verdict(report, group->kernel);
        else
            tool_print_labelled("function", TOOL_BOLD, "%s",
                                tool_name(tool_row_kernel(report->rows[group->first]), name));
        if (!print_source(report, group->first, group->count) &&
            !print_listing(report, group->first, group->count))
            puts("neither its source nor its code is there");
    }
    free(groups);
    if (!count)
        puts(TOOL_NO_ACCESS);
}
