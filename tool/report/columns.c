/* SPDX-License-Identifier: MIT */
/* Selects the columns of `prof`'s text reports. */
#include "tool/report/columns.h"

#include <string.h>

/* The columns shown without --show. If the terminal is too narrow, those with the highest ranks are omitted
 * first; the columns of places and of the instruction, or of the source's text, have lower ones. */
static const struct {
    const char *key;
    unsigned rank;
    bool if_any; /* only if a row has it */
} usual[] = {
    {"share", 0, true},
    {"waits", 1, true},
    {"executions", 6},
    {"lanes_per_run", 8, true},
    {"bytes", 9},
    {"lines_per_request", 3, true},
    {"ideal_per_request", 7, true},
    {"efficiency", 5, true},
    {"clocks", 4, true},
    {"conflicts", 4, true},
    {"vector_hit_rate", 4, true},
    {"l2_hit_rate", 4, true},
};

static void add_figure(struct tool_columns *columns, const struct tool_figure *figure, unsigned rank)
{
    if (columns->figures == TOOL_FIGURES)
        return;
    columns->column[columns->count++] = (struct tool_column){tool_figure_title(figure), TOOL_RIGHT, rank};
    columns->figure[columns->figures++] = figure;
}

static bool any_has(const struct tool_report *report, const struct tool_figure *figure)
{
    for (size_t i = 0; i < report->count; i++)
        if (!figure->has || figure->has(report->rows[i]))
            return true;
    return false;
}

void tool_columns_choose(struct tool_columns *columns, const struct tool_report *report)
{
    const char *show = report->options->show;
    *columns = (struct tool_columns){.any_width = show, .width = show ? 0 : tool_terminal_width()};
    for (size_t i = 0; !show && i < sizeof usual / sizeof *usual; i++)
        if (!usual[i].if_any || any_has(report, tool_find_figure(usual[i].key)))
            add_figure(columns, tool_find_figure(usual[i].key), usual[i].rank);
    if (show && strcmp(show, "all") == 0) {
        for (size_t i = 0; i < tool_figure_count; i++)
            add_figure(columns, &tool_figures[i], 0);
        return;
    }
    for (const char *at = show; at; at = strchr(at, ',')) {
        char word[40];
        at += *at == ',';
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        add_figure(columns, tool_find_figure(word), 0);
    }
}

void tool_columns_place(struct tool_columns *columns, const char *title, unsigned rank)
{
    columns->column[columns->count++] = (struct tool_column){title, TOOL_LEFT, columns->any_width ? 0 : rank};
}

/* What costs much, on a terminal with colours. */
static enum tool_style style_of(const struct tool_figure *figure, const struct tool_sums *sums)
{
    double value;
    if (!figure->heat || !tool_figure_value(figure, sums, &value))
        return TOOL_PLAIN;
    const double heat = figure->heat == TOOL_PRESENT ? value : 1 - value;
    return heat >= 0.5 ? TOOL_RED : heat >= 0.1 ? TOOL_YELLOW : TOOL_PLAIN;
}

void tool_columns_cells(struct tool_table *table, const struct tool_columns *columns,
                        const struct tool_sums *sums)
{
    for (size_t i = 0; i < columns->figures; i++) {
        char text[32] = "";
        if (sums)
            tool_figure_text(columns->figure[i], sums, text);
        table->style = sums ? style_of(columns->figure[i], sums) : TOOL_PLAIN;
        tool_table_cell(table, "%s", text);
        table->style = TOOL_PLAIN;
    }
}

void tool_columns_left_out(const struct tool_columns *columns)
{
    const char *comma = "not shown for want of width:";
    for (size_t i = 0; i < columns->count; i++)
        if (columns->left_out[i]) {
            printf("%s %s", comma, columns->column[i].title);
            comma = ",";
        }
    if (*comma == ',')
        puts(" (--show NAME,NAME...)");
}
