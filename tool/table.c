/* SPDX-License-Identifier: MIT */
/* Text tables with aligned columns. */
#include "table.h"

#include "tool.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void tool_table_cell(struct tool_table *table, const char *format, ...)
{
    char *text;
    va_list list;
    va_start(list, format);
    const int length = vasprintf(&text, format, list);
    va_end(list);
    char **cells = realloc(table->cells, (table->cell_count + 1) * sizeof(*cells));
    if (length < 0 || !cells) {
        tool_fail("out of memory");
        exit(TOOL_WRONG);
    }
    table->cells = cells;
    cells[table->cell_count++] = text;
}

static void print_line(const struct tool_table *table, FILE *file, unsigned indent, char *const *cells,
                       const size_t *widths)
{
    fprintf(file, "%*s", (int)indent, "");
    for (size_t column = 0; column < table->column_count; column++) {
        const char *text = cells ? cells[column] : table->columns[column].title;
        const bool last = column + 1 == table->column_count;
        const int width = (int)widths[column];
        if (table->columns[column].align == TOOL_RIGHT)
            fprintf(file, "%*s%s", width, text, last ? "" : "  ");
        else if (last)
            fputs(text, file);
        else
            fprintf(file, "%-*s  ", width, text);
    }
    fputc('\n', file);
}

void tool_table_print(const struct tool_table *table, FILE *file, unsigned indent)
{
    size_t *widths = calloc(table->column_count, sizeof(*widths));
    if (!widths)
        return;
    for (size_t column = 0; column < table->column_count; column++)
        widths[column] = strlen(table->columns[column].title);
    for (size_t cell = 0; cell < table->cell_count; cell++) {
        const size_t length = strlen(table->cells[cell]);
        if (length > widths[cell % table->column_count])
            widths[cell % table->column_count] = length;
    }
    print_line(table, file, indent, NULL, widths);
    for (size_t cell = 0; cell + table->column_count <= table->cell_count; cell += table->column_count)
        print_line(table, file, indent, table->cells + cell, widths);
    free(widths);
}

void tool_table_free(struct tool_table *table)
{
    for (size_t cell = 0; cell < table->cell_count; cell++)
        free(table->cells[cell]);
    free(table->cells);
    table->cells = NULL;
    table->cell_count = 0;
}
