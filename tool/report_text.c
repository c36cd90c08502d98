/* SPDX-License-Identifier: MIT */
/* The report of `prof` as text: a table for each kernel, and remarks below it. */
#include "report.h"
#include "table.h"

#include <inttypes.h>
#include <string.h>

static const struct tool_column columns[] = {
    {"efficiency", TOOL_RIGHT}, {"runs", TOOL_RIGHT},  {"lanes", TOOL_RIGHT},      {"bytes", TOOL_RIGHT},
    {"lines", TOOL_RIGHT},      {"ideal", TOOL_RIGHT}, {"clocks", TOOL_RIGHT},     {"conflicts", TOOL_RIGHT},
    {"source", TOOL_LEFT},      {"offset", TOOL_LEFT}, {"instruction", TOOL_LEFT},
};

static void add_line_cells(struct tool_table *table, bool has_lines, uint64_t lines, uint64_t ideal)
{
    if (has_lines) {
        tool_table_cell(table, "%" PRIu64, lines);
        tool_table_cell(table, "%" PRIu64, ideal);
    } else {
        tool_table_cell(table, "-");
        tool_table_cell(table, "-");
    }
}

static void add_efficiency_cell(struct tool_table *table, bool has_lines, uint64_t lines, uint64_t ideal)
{
    if (has_lines && lines)
        tool_table_cell(table, "%.1f%%", 100.0 * (double)ideal / (double)lines);
    else
        tool_table_cell(table, "-");
}

/* An average over the runs of what only some rows have. */
static void add_average_cell(struct tool_table *table, bool has, uint64_t sum, uint64_t runs)
{
    if (has && runs)
        tool_table_cell(table, "%.1f", (double)sum / (double)runs);
    else
        tool_table_cell(table, "-");
}

static void add_row(struct tool_table *table, const struct wm_profile_row *row)
{
    const char *slash = row->file ? strrchr(row->file, '/') : NULL;
    add_efficiency_cell(table, row->has_lines, row->lines, row->ideal_lines);
    tool_table_cell(table, "%" PRIu64, row->executions);
    if (row->path && strcmp(row->path, "SMEM") == 0) /* asks once for the wave */
        tool_table_cell(table, "-");
    else
        tool_table_cell(table, "%.1f", row->executions ? (double)row->lanes / (double)row->executions : 0);
    tool_table_cell(table, "%u", row->bytes);
    add_line_cells(table, row->has_lines, row->lines, row->ideal_lines);
    add_average_cell(table, row->has_vector || row->has_lds, row->address_clocks + row->lds_passes,
                     row->executions);
    add_average_cell(table, row->has_lds, row->lds_conflicts, row->executions);
    if (row->file)
        tool_table_cell(table, "%s:%u", slash ? slash + 1 : row->file, row->line);
    else
        tool_table_cell(table, "-");
    tool_table_cell(table, "+0x%" PRIx64, row->offset);
    tool_table_cell(table, "%s", row->text ? row->text : "");
}

static void add_totals(struct tool_table *table, const struct tool_totals *totals)
{
    add_efficiency_cell(table, totals->has_lines, totals->lines, totals->ideal_lines);
    tool_table_cell(table, "%" PRIu64, totals->executions);
    tool_table_cell(table, "%s", "");
    tool_table_cell(table, "%s", "");
    add_line_cells(table, totals->has_lines, totals->lines, totals->ideal_lines);
    for (unsigned i = 0; i < 4; i++)
        tool_table_cell(table, "%s", "");
    tool_table_cell(table, "total");
}

/* What the table has no room for: which lanes meet where. */
static void print_remarks(const struct wm_profile_row *row)
{
    char lanes[256];
    if (row->lds_depth > 1)
        printf("+0x%" PRIx64 "  at worst lanes %s want %" PRIu32 " different dwords of LDS bank %" PRIu32
               "\n",
               row->offset, tool_lane_list(row->lds_lanes, lanes), row->lds_depth, row->lds_bank);
    if (row->lds_serial)
        printf("+0x%" PRIx64 "  misaligned in LDS: %" PRIu64 " lanes went one by one\n", row->offset,
               row->lds_serial);
}

void tool_report_text(const struct wm_profile_row *const *rows, size_t count)
{
    struct tool_totals all = {0};
    unsigned kernels = 0;
    for (size_t i = 0; i < count;) {
        struct tool_table table = {.columns = columns, .column_count = sizeof(columns) / sizeof(columns[0])};
        struct tool_totals totals = {0};
        const uint64_t start = tool_row_start(rows[i]);
        const size_t first = i;
        printf("%s%s\n", i ? "\n" : "", tool_row_kernel(rows[i]));
        for (; i < count && tool_row_start(rows[i]) == start; i++) {
            add_row(&table, rows[i]);
            tool_totals_add(&totals, rows[i]);
            tool_totals_add(&all, rows[i]);
        }
        add_totals(&table, &totals);
        tool_table_print(&table, stdout, 0);
        tool_table_free(&table);
        for (size_t row = first; row < i; row++)
            print_remarks(rows[row]);
        kernels++;
    }
    if (count == 0)
        puts("no memory instruction was executed");
    if (kernels > 1 && all.has_lines && all.lines)
        printf("\nall kernels: %" PRIu64 " runs, %" PRIu64 " lines, ideal %" PRIu64 ", efficiency %.1f%%\n",
               all.executions, all.lines, all.ideal_lines,
               100.0 * (double)all.ideal_lines / (double)all.lines);
}
