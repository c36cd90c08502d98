/* SPDX-License-Identifier: MIT */
/* Text tables: cells of text in columns as wide as their widest cell. */
#ifndef WAVEMEM_TOOL_TABLE_H
#define WAVEMEM_TOOL_TABLE_H

#include <stdio.h>

enum tool_align { TOOL_LEFT, TOOL_RIGHT };

struct tool_column {
    const char *title;
    enum tool_align align;
};

struct tool_table {
    const struct tool_column *columns;
    size_t column_count;
    char **cells; /* rows of column_count */
    size_t cell_count;
};

/* Adds one cell, row by row from left to right. */
void tool_table_cell(struct tool_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the titles and the rows, each line indented by `indent`; no blanks at the ends of lines. */
void tool_table_print(const struct tool_table *table, FILE *file, unsigned indent);
void tool_table_free(struct tool_table *table);

#endif
