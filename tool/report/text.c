/* SPDX-License-Identifier: MIT */
/* The report of `prof` as text: a table for each kernel, followed by the advice. */
#include "tool/text.h"
#include "tool/report/advice.h"
#include "tool/report/columns.h"
#include "tool/report/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_RANK = 7, LIMIT_RANK = 4 };

static void add_row(struct tool_table *table, const struct tool_columns *columns,
                    const struct wm_profile_row *row)
{
    const char *slash = row->file ? strrchr(row->file, '/') : NULL;
    struct tool_sums sums = {0};
    tool_sums_add(&sums, row);
    tool_columns_cells(table, columns, &sums);
    if (columns->limit)
        tool_table_cell(table, "%s", row->limit ? row->limit : "-");
    if (row->file)
        tool_table_cell(table, "%s:%u", slash ? slash + 1 : row->file, row->line);
    else
        tool_table_cell(table, "-");
    tool_table_cell(table, "+0x%" PRIx64, row->offset);
    tool_table_cell(table, "%s", row->text ? row->text : "");
}

static void add_totals(struct tool_table *table, const struct tool_columns *columns,
                       const struct tool_sums *sums)
{
    tool_columns_cells(table, columns, sums);
    if (columns->limit)
        tool_table_cell(table, "%s", "");
    tool_table_cell(table, "%s", "");
    tool_table_cell(table, "%s", "");
    tool_table_cell(table, "total");
}

/* ---- tables ---- */

static void print_kernel(const struct tool_report *report, struct tool_columns *columns, size_t first,
                         size_t count)
{
    struct tool_table table = {.columns = columns->column,
                               .column_count = columns->count,
                               .width = columns->width,
                               .left_out = columns->left_out};
    struct tool_sums sums = {0};
    for (size_t i = first; i < first + count; i++) {
        add_row(&table, columns, report->rows[i]);
        tool_sums_add(&sums, report->rows[i]);
    }
    add_totals(&table, columns, &sums);
    tool_table_fit(&table);
    tool_print(stdout, first ? "\n%s\n" : "%s\n", tool_row_kernel(report->rows[first]));
    tool_summary_text(tool_kernel_of(report, report->rows[first]));
    tool_table_print(&table, stdout, 0);
    tool_table_free(&table);
    tool_advice_text(report, tool_kernel_of(report, report->rows[first]));
}

static void print_all_kernels(const struct tool_sums *all)
{
    char runs[32], lines[32], ideal[32], efficiency[32];
    tool_figure_text(tool_find_figure("executions"), all, runs);
    tool_figure_text(tool_find_figure("lines"), all, lines);
    tool_figure_text(tool_find_figure("ideal_lines"), all, ideal);
    tool_figure_text(tool_find_figure("efficiency"), all, efficiency);
    printf("\nall kernels: %s runs, %s lines, ideal %s, efficiency %s\n", runs, lines, ideal, efficiency);
}

void tool_report_text(const struct tool_report *report)
{
    struct tool_columns columns;
    struct tool_sums all = {0};
    unsigned kernels = 0;
    tool_columns_choose(&columns, report);
    for (size_t i = 0; i < report->count; i++)
        columns.limit |= report->rows[i]->limit != NULL;
    if (columns.limit)
        tool_columns_place(&columns, "limit", LIMIT_RANK);
    tool_columns_place(&columns, "source", SOURCE_RANK);
    tool_columns_place(&columns, "offset", 0);
    tool_columns_place(&columns, "instruction", 0);
    for (size_t i = 0, count; i < report->count; i += count, kernels++) {
        count = tool_kernel_rows(report, i);
        print_kernel(report, &columns, i, count);
        for (size_t row = i; row < i + count; row++)
            tool_sums_add(&all, report->rows[row]);
    }
    tool_columns_left_out(&columns);
    tool_summaries_without_rows(report, report->count);
    if (kernels > 1)
        print_all_kernels(&all);
}
