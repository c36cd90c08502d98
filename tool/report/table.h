/* SPDX-License-Identifier: MIT */
/* Text tables, with columns as wide as their widest cell. */
#ifndef WAVEMEM_TOOL_TABLE_H
#define WAVEMEM_TOOL_TABLE_H

#include "tool/text.h"

#include <stdbool.h>
#include <stdio.h>

enum tool_align { TOOL_LEFT, TOOL_RIGHT };

struct tool_column {
    const char *title;
    enum tool_align align;
    unsigned rank; /* columns with high ranks are omitted first; 0: never */
};

struct tool_table {
    const struct tool_column *columns;
    size_t column_count;
    char **cells;            /* rows of column_count */
    enum tool_style *styles; /* of the cells */
    size_t cell_count;
    enum tool_style style; /* of cells that are added */
    size_t least;          /* characters that the last column keeps while others can be omitted; 0: 28 */
    size_t width;          /* of a line, in characters; the last column is truncated. 0: unlimited */
    bool *left_out;        /* by column, set by tool_table_fit(); NULL: none is omitted */
};

/* Adds one cell, row by row from left to right; control characters except tabs are escaped (tool/text.h). */
void tool_table_cell(struct tool_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Omits columns until lines fit into `width`, or no more can be omitted. */
void tool_table_fit(struct tool_table *table);
/* Prints titles and rows, each line indented by `indent`, without trailing blanks. */
void tool_table_print(const struct tool_table *table, FILE *file, unsigned indent);
/* Prints "LABEL  text" to stdout, wrapped to the terminal's width, with the text in a column of its own and
 * in the style; control characters are escaped. */
void tool_print_labelled(const char *label, enum tool_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints the first `length` bytes of the text to stdout, wrapped at blanks to `width` (0: unlimited);
 * continuation lines are indented. */
void tool_print_wrapped(const char *line, size_t length, unsigned indent, size_t width);
/* The width of the terminal at standard output in characters, or COLUMNS if set; 0: not a terminal. */
size_t tool_terminal_width(void);
void tool_table_free(struct tool_table *table);

#endif
