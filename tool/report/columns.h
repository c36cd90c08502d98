/* SPDX-License-Identifier: MIT */
/* Which columns the text reports of `prof` show. */
#ifndef WAVEMEM_TOOL_REPORT_COLUMNS_H
#define WAVEMEM_TOOL_REPORT_COLUMNS_H

#include "tool/report/report.h"
#include "tool/report/table.h"

enum { TOOL_PLACES = 4 };

/* Figures, and behind them where an instruction is and what it is. */
struct tool_columns {
    struct tool_column column[TOOL_FIGURES + TOOL_PLACES];
    bool left_out[TOOL_FIGURES + TOOL_PLACES];
    const struct tool_figure *figure[TOOL_FIGURES];
    size_t figures, count; /* the figures come first */
    bool limit;            /* what limits an instruction stands there, too */
    bool any_width;        /* --show: they were asked for, whatever the width */
    size_t width;          /* that they must fit into; 0: any */
};

/* The figures that --show names; without it the usual ones. */
void tool_columns_choose(struct tool_columns *columns, const struct tool_report *report);
/* One more column, with text; `rank` as in struct tool_column. */
void tool_columns_place(struct tool_columns *columns, const char *title, unsigned rank);
/* The cells of the figures; NULL: empty ones. */
void tool_columns_cells(struct tool_table *table, const struct tool_columns *columns,
                        const struct tool_sums *sums);
/* Says which columns a narrow terminal had no room for. */
void tool_columns_left_out(const struct tool_columns *columns);

#endif
