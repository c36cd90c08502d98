/* SPDX-License-Identifier: MIT */
/* The lines of a kernel's tables: source lines with the sums of their instructions, or single instructions.
 */
#include "tool/report/lines.h"

#include "tool/tool.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tool_same_line(const struct wm_profile_row *a, const struct wm_profile_row *b)
{
    return a->file && b->file && a->line == b->line && a->pc - a->offset == b->pc - b->offset &&
           strcmp(a->file, b->file) == 0;
}

/* ---- order ---- */

static uint64_t sum_of(const struct tool_line *line, const char *key)
{
    return line->sums.value[tool_find_key(key) - tool_figures];
}

static bool has(const struct tool_line *line, const char *key)
{
    return line->sums.has[tool_find_key(key) - tool_figures];
}

static int larger_first(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

static int worst_first(const struct tool_line *a, const struct tool_line *b)
{
    const int share = larger_first(sum_of(a, "share"), sum_of(b, "share"));
    const bool a_lines = has(a, "lines"), b_lines = has(b, "lines");
    if (share)
        return share;
    if (a_lines != b_lines)
        return a_lines ? -1 : 1;
    if (!a_lines)
        return larger_first(sum_of(a, "lds_conflicts"), sum_of(b, "lds_conflicts"));
    const uint64_t lines[2] = {sum_of(a, "lines"), sum_of(b, "lines")};
    const int waste = larger_first(lines[0] - sum_of(a, "ideal_lines"), lines[1] - sum_of(b, "ideal_lines"));
    return waste ? waste : larger_first(lines[0], lines[1]);
}

static int by_source_line(const struct wm_profile_row *a, const struct wm_profile_row *b)
{
    if (!a->file || !b->file)
        return (a->file == NULL) - (b->file == NULL);
    const int file = strcmp(a->file, b->file);
    return file ? file : (a->line > b->line) - (a->line < b->line);
}

/* Worse values first: large ones, or small ones for `low_is_bad`; lines without the figure last. */
static int by_figure(const struct tool_figure *figure, const struct tool_line *a, const struct tool_line *b)
{
    double x, y;
    const bool has_x = tool_figure_value(figure, &a->sums, &x),
               has_y = tool_figure_value(figure, &b->sums, &y);
    if (!has_x || !has_y || x == y)
        return (int)has_y - (int)has_x;
    return (x < y) == figure->low_is_bad ? -1 : 1;
}

static int compare(const void *left, const void *right, void *sort)
{
    const struct tool_line *a = left, *b = right;
    const struct tool_figure *figure = sort ? tool_find_figure(sort) : NULL;
    int order = 0;
    if (figure)
        order = by_figure(figure, a, b);
    else if (!sort)
        order = worst_first(a, b);
    else if (strcmp(sort, "source") == 0)
        order = by_source_line(a->row, b->row);
    return order ? order : (a->row->pc > b->row->pc) - (a->row->pc < b->row->pc);
}

/* ---- lines ---- */

const char *tool_access_text(const struct wm_profile_row *row, char text[TOOL_ACCESS])
{
    static const struct {
        const char *path, *name;
    } named[] = {{"SMEM", "scalar"}, {"DS", "LDS"}, {"GDS", "GDS"}, {"LDS_DMA", "LDS DMA"}};
    const char *name = NULL;
    char path[16];
    size_t length = 0;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(row->path, named[i].path) == 0)
            name = named[i].name;
    for (; length + 1 < sizeof path && row->path[length]; length++)
        path[length] = (char)tolower((unsigned char)row->path[length]);
    path[length] = '\0';
    snprintf(text, TOOL_ACCESS, "%s %s", name ? name : path, row->operation);
    return text;
}

static bool are_one(const struct wm_profile_row *a, const struct wm_profile_row *b, enum tool_line_kind kind)
{
    return tool_same_line(a, b) && (kind == TOOL_BY_SOURCE || (strcmp(a->path, b->path) == 0 &&
                                                               strcmp(a->operation, b->operation) == 0));
}

size_t tool_lines(const struct wm_profile_row *const *rows, size_t count, enum tool_line_kind kind,
                  const char *sort, struct tool_line **lines)
{
    size_t found = 0;
    *lines = calloc(count + 1, sizeof **lines);
    if (!*lines) {
        tool_fail("out of memory");
        exit(TOOL_WRONG);
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = kind == TOOL_BY_INSTRUCTION ? found : 0;
        while (at < found && !are_one((*lines)[at].row, rows[i], kind))
            at++;
        struct tool_line *line = &(*lines)[at];
        if (at == found)
            found++;
        if (!line->row || rows[i]->share > line->row->share)
            line->row = rows[i];
        line->rows++;
        tool_sums_add(&line->sums, rows[i]);
    }
    qsort_r(*lines, found, sizeof **lines, compare, (void *)sort);
    return found;
}
