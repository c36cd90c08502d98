/* SPDX-License-Identifier: MIT */
/* Selects the columns of `prof`'s text reports. */
#ifndef WAVEMEM_TOOL_REPORT_COLUMNS_H
#define WAVEMEM_TOOL_REPORT_COLUMNS_H

#include "tool/report/report.h"
#include "tool/report/table.h"

enum { TOOL_PLACES = 5 };

/* Figures, followed by the location and text of the instruction. */
struct tool_columns {
    struct tool_column column[TOOL_FIGURES + TOOL_PLACES];
    bool left_out[TOOL_FIGURES + TOOL_PLACES];
    const struct tool_figure *figure[TOOL_FIGURES];
    size_t figures, count; /* the figures come first */
    bool limit;            /* show the column "limit" */
    bool offsets;          /* a row is an instruction, with its offset */
    bool any_width;        /* --show: show them regardless of the width */
    size_t width;          /* available width; 0: unlimited */
};

/* Selects the figures of --show, or else the usual ones. */
void tool_columns_choose(struct tool_columns *columns, const struct tool_report *report);
/* Adds a text column; `rank` as in struct tool_column. */
void tool_columns_place(struct tool_columns *columns, const char *title, unsigned rank);
/* Adds the cells of the figures; NULL: empty cells. */
void tool_columns_cells(struct tool_table *table, const struct tool_columns *columns,
                        const struct tool_sums *sums);
/* Lists the columns that were omitted because the terminal is too narrow. */
void tool_columns_left_out(const struct tool_columns *columns);

#endif
