/* SPDX-License-Identifier: MIT */
/* Text tables with aligned columns. */
#include "tool/report/table.h"

#include "base/escape.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LEAST_TEXT = 28 }; /* minimum width of the last column; if it gets less, other columns are omitted */

void tool_table_cell(struct tool_table *table, const char *format, ...)
{
    char *text;
    va_list list;
    va_start(list, format);
    const int length = vasprintf(&text, format, list);
    va_end(list);
    if (length >= 0 && !wmi_is_plain(text, (size_t)length)) {
        char *escaped = tool_escaped(text);
        free(text);
        text = escaped;
    }
    char **cells = realloc(table->cells, (table->cell_count + 1) * sizeof(*cells));
    table->cells = cells ? cells : table->cells;
    enum tool_style *styles = realloc(table->styles, (table->cell_count + 1) * sizeof(*styles));
    if (length < 0 || !cells || !styles) {
        tool_fail("out of memory");
        exit(TOOL_WRONG);
    }
    table->styles = styles;
    styles[table->cell_count] = table->style;
    cells[table->cell_count++] = text;
}

/* Characters, not bytes, of UTF-8. */
static size_t length_of(const char *text)
{
    size_t length = 0;
    for (; *text; text++)
        length += (*text & 0xc0) != 0x80;
    return length;
}

static size_t *find_widths(const struct tool_table *table)
{
    size_t *widths = calloc(table->column_count + 1, sizeof(*widths));
    if (!widths)
        return NULL;
    for (size_t column = 0; column < table->column_count; column++)
        widths[column] = length_of(table->columns[column].title);
    for (size_t cell = 0; cell < table->cell_count; cell++) {
        const size_t length = length_of(table->cells[cell]);
        if (length > widths[cell % table->column_count])
            widths[cell % table->column_count] = length;
    }
    return widths;
}

void tool_table_fit(struct tool_table *table)
{
    size_t *widths = table->width && table->left_out ? find_widths(table) : NULL;
    while (widths) {
        size_t least = table->column_count;
        size_t width = 0;
        for (size_t column = 0; column < table->column_count; column++) {
            const unsigned rank = table->columns[column].rank;
            if (table->left_out[column])
                continue;
            const size_t least_text = table->least ? table->least : LEAST_TEXT;
            const bool may_be_cut = column + 1 == table->column_count && widths[column] > least_text;
            width += (may_be_cut ? least_text : widths[column]) + 2;
            if (rank && (least == table->column_count || rank > table->columns[least].rank))
                least = column;
        }
        if (width <= table->width + 2 || least == table->column_count)
            break;
        table->left_out[least] = true;
    }
    free(widths);
}

/* Prints the first `room` characters of the text. */
static void print_cut(FILE *file, const char *text, size_t room)
{
    if (length_of(text) > room) {
        const char *end = text;
        for (size_t left = room > 3 ? room - 3 : 0; left; left--)
            do
                end++;
            while ((*end & 0xc0) == 0x80);
        fprintf(file, "%.*s%.*s", (int)(end - text), text, (int)(room < 3 ? room : 3), "...");
    } else {
        fputs(text, file);
    }
}

/* Prints the row that begins at cells[first], or with SIZE_MAX the titles. */
static void print_line(const struct tool_table *table, FILE *file, unsigned indent, size_t first,
                       const size_t *widths)
{
    size_t at = indent;
    fprintf(file, "%*s", (int)indent, "");
    for (size_t column = 0; column < table->column_count; column++) {
        const bool is_title = first == SIZE_MAX;
        const char *text = is_title ? table->columns[column].title : table->cells[first + column];
        const enum tool_style style = is_title ? TOOL_FAINT : table->styles[first + column];
        const bool last = column + 1 == table->column_count;
        const int pad = (int)(widths[column] - length_of(text));
        if (table->left_out && table->left_out[column])
            continue;
        if (table->columns[column].align == TOOL_RIGHT)
            fprintf(file, "%*s", pad, "");
        if (style != TOOL_PLAIN)
            fputs(tool_style(file, style), file);
        if (table->columns[column].align == TOOL_RIGHT || !last)
            fputs(text, file);
        else
            print_cut(file, text, !table->width ? SIZE_MAX : table->width > at ? table->width - at : 0);
        if (style != TOOL_PLAIN)
            fputs(tool_style(file, TOOL_PLAIN), file);
        if (!last)
            fprintf(file, "%*s", table->columns[column].align == TOOL_RIGHT ? 2 : pad + 2, "");
        at += widths[column] + 2;
    }
    fputc('\n', file);
}

void tool_table_print(const struct tool_table *table, FILE *file, unsigned indent)
{
    size_t *widths = find_widths(table);
    if (!widths)
        return;
    print_line(table, file, indent, SIZE_MAX, widths);
    for (size_t cell = 0; cell + table->column_count <= table->cell_count; cell += table->column_count)
        print_line(table, file, indent, cell, widths);
    free(widths);
}

/* Whether the text begins with a unit, which must not be separated from its number. */
static bool is_unit(const char *text)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "s", "ms", "us", "ns"};
    const size_t length = strcspn(text, " \n,;.)");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == length && strncmp(text, units[i], length) == 0)
            return true;
    return false;
}

/* The end of the word at `at`, after skipping blanks. */
static size_t word_end(const char *line, size_t length, size_t at)
{
    size_t end = at + strspn(line + at, " ");
    end += strcspn(line + end, " \n");
    if (end < length && line[end] == ' ' && line[end - 1] >= '0' && line[end - 1] <= '9' &&
        is_unit(line + end + 1))
        end += 1 + strcspn(line + end + 1, " \n");
    return end < length ? end : length;
}

/* The same from column `at` on. */
static void print_wrapped_from(size_t at, const char *line, size_t length, unsigned indent, size_t width)
{
    for (size_t from = 0; from < length;) {
        size_t end = from, word = from;
        while (word < length) { /* as many words as fit, at least one */
            const size_t next = word_end(line, length, word);
            if (width && end > from && at + (next - from) > width)
                break;
            word = end = next;
        }
        printf("%.*s\n", (int)(end - from), line + from);
        from = end + strspn(line + end, " ");
        at = indent;
        if (from < length)
            printf("%*s", (int)indent, "");
    }
}

void tool_print_wrapped(const char *line, size_t length, unsigned indent, size_t width)
{
    print_wrapped_from(0, line, length, indent, width);
}

void tool_print_labelled(const char *label, enum tool_style style, const char *format, ...)
{
    enum { COLUMN = 11 };
    char *text;
    va_list list;
    va_start(list, format);
    const int length = vasprintf(&text, format, list);
    va_end(list);
    if (length < 0)
        return;
    char *escaped = tool_escaped(text);
    printf("%s%-*s%s%s", tool_style(stdout, TOOL_FAINT), COLUMN, label, tool_style(stdout, TOOL_PLAIN),
           style == TOOL_PLAIN ? "" : tool_style(stdout, style));
    print_wrapped_from(COLUMN, escaped, strlen(escaped), COLUMN, tool_terminal_width());
    if (style != TOOL_PLAIN)
        fputs(tool_style(stdout, TOOL_PLAIN), stdout);
    free(escaped);
    free(text);
}

size_t tool_terminal_width(void)
{
    struct winsize size;
    uint64_t number;
    const char *columns = getenv("COLUMNS");
    if (columns && tool_parse_u64(columns, &number) && number < 10000)
        return number;
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void tool_table_free(struct tool_table *table)
{
    for (size_t cell = 0; cell < table->cell_count; cell++)
        free(table->cells[cell]);
    free(table->cells);
    free(table->styles);
    table->cells = NULL;
    table->styles = NULL;
    table->cell_count = 0;
}
