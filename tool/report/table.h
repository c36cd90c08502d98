/* SPDX-License-Identifier: MIT */
/* Text tables: cells of text in columns as wide as their widest cell. */
#ifndef WAVEMEM_TOOL_TABLE_H
#define WAVEMEM_TOOL_TABLE_H

#include <stdbool.h>
#include <stdio.h>

enum tool_align { TOOL_LEFT, TOOL_RIGHT };

struct tool_column {
    const char *title;
    enum tool_align align;
    unsigned rank; /* of those that may be left out, the highest go first; 0: never */
};

struct tool_table {
    const struct tool_column *columns;
    size_t column_count;
    char **cells; /* rows of column_count */
    size_t cell_count;
    size_t width;   /* of a line, in characters; the last column is cut at it. 0: any */
    bool *left_out; /* of each column, set by tool_table_fit(); NULL: all are printed */
};

/* Adds one cell, row by row from left to right; tabs apart, control characters are escaped (tool/text.h). */
void tool_table_cell(struct tool_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Marks columns as left out until lines fit into `width`, or none is left that may go. */
void tool_table_fit(struct tool_table *table);
/* Prints the titles and the rows, each line indented by `indent`; no blanks at the ends of lines. */
void tool_table_print(const struct tool_table *table, FILE *file, unsigned indent);
/* Prints the first `length` bytes of the text to stdout, broken at blanks where a line would be longer than
 * `width` (0: any); what follows the first line is indented. */
void tool_print_wrapped(const char *line, size_t length, unsigned indent, size_t width);
/* Characters of a line of the terminal that standard output is; COLUMNS says another number. 0: none. */
size_t tool_terminal_width(void);
void tool_table_free(struct tool_table *table);

#endif
