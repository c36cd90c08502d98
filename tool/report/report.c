/* SPDX-License-Identifier: MIT */
/* Common parts of the reports of `prof`: options, and the order of rows. */
#include "tool/report/report.h"

#include "tool/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- options ---- */

static int wrong_figure(const char *option, const char *word, const char *more)
{
    const char *nearest = tool_nearest_figure(word);
    return nearest
               ? tool_fail("%s %s: no such column; did you mean '%s'?", option, word, nearest)
               : tool_fail("%s %s: no such column; expected %s, or one of --show all", option, word, more);
}

int tool_add_source_path(struct tool_report_options *options, const char *option, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return tool_fail("%s %s: %s", option, path, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return tool_fail("%s %s: not a folder", option, path);
    if (options->source_path_count == TOOL_SOURCE_PATHS)
        return tool_fail("%s %s: at most %d folders", option, path, TOOL_SOURCE_PATHS);
    options->source_paths[options->source_path_count++] = path;
    return TOOL_CLEAN;
}

int tool_check_report_options(const struct tool_report_options *options)
{
    if (options->sort && strcmp(options->sort, "offset") != 0 && strcmp(options->sort, "source") != 0 &&
        !tool_find_figure(options->sort))
        return wrong_figure("--sort", options->sort, "offset, source");
    if (!options->show || strcmp(options->show, "all") == 0)
        return TOOL_CLEAN;
    for (const char *at = options->show; at; at = strchr(at, ',')) {
        char word[40];
        at += *at == ',';
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        if (!tool_find_figure(word))
            return wrong_figure("--show", word, "all");
    }
    return TOOL_CLEAN;
}

/* ---- rows ---- */

const char *tool_row_kernel(const struct wm_profile_row *row)
{
    return row->kernel ? row->kernel : "";
}

uint64_t tool_row_start(const struct wm_profile_row *row)
{
    return row->pc - row->offset;
}

size_t tool_kernel_rows(const struct tool_report *report, size_t first)
{
    size_t i = first;
    while (i < report->count && tool_row_start(report->rows[i]) == tool_row_start(report->rows[first]))
        i++;
    return i - first;
}

static uint64_t waste(const struct wm_profile_row *row)
{
    return row->has_lines && row->lines > row->ideal_lines ? row->lines - row->ideal_lines : 0;
}

static int worst_first(const struct wm_profile_row *a, const struct wm_profile_row *b)
{
    if (a->share != b->share)
        return a->share > b->share ? -1 : 1;
    if (a->has_lines != b->has_lines)
        return a->has_lines ? -1 : 1;
    if (waste(a) != waste(b))
        return waste(a) > waste(b) ? -1 : 1;
    if (a->has_lines && a->lines != b->lines)
        return a->lines > b->lines ? -1 : 1;
    if (!a->has_lines && a->lds_conflicts != b->lds_conflicts)
        return a->lds_conflicts > b->lds_conflicts ? -1 : 1;
    return 0;
}

static int by_source(const struct wm_profile_row *a, const struct wm_profile_row *b)
{
    if (!a->file || !b->file)
        return (a->file == NULL) - (b->file == NULL);
    const int file = strcmp(a->file, b->file);
    return file ? file : (a->line > b->line) - (a->line < b->line);
}

/* Worse values first: large ones, or small ones for `low_is_bad`; rows without the figure last. */
static int by_figure(const struct tool_figure *figure, const struct wm_profile_row *a,
                     const struct wm_profile_row *b)
{
    struct tool_sums left = {0}, right = {0};
    double x, y;
    tool_sums_add(&left, a);
    tool_sums_add(&right, b);
    const bool has_x = tool_figure_value(figure, &left, &x), has_y = tool_figure_value(figure, &right, &y);
    if (!has_x || !has_y || x == y)
        return (int)has_y - (int)has_x;
    return (x < y) == figure->low_is_bad ? -1 : 1;
}

/* Returns a value below, equal to or above 0, like strcmp(). */
static int compare(const struct wm_profile_row *a, const struct wm_profile_row *b, const char *sort)
{
    const struct tool_figure *figure = sort ? tool_find_figure(sort) : NULL;
    int order = 0;
    if (tool_row_start(a) != tool_row_start(b))
        return tool_row_start(a) < tool_row_start(b) ? -1 : 1;
    if (figure)
        order = by_figure(figure, a, b);
    else if (!sort)
        order = worst_first(a, b);
    else if (strcmp(sort, "source") == 0)
        order = by_source(a, b);
    return order ? order : (a->pc > b->pc) - (a->pc < b->pc);
}

static int compare_rows(const void *left, const void *right, void *sort)
{
    return compare(*(const struct wm_profile_row *const *)left, *(const struct wm_profile_row *const *)right,
                   sort);
}

void tool_sort_rows(struct tool_report *report)
{
    qsort_r(report->rows, report->count, sizeof *report->rows, compare_rows, (void *)report->options->sort);
}

const char *tool_lane_list(uint64_t lanes, char text[256])
{
    int length = 0;
    text[0] = '\0';
    for (int lane = 0; lane < 64; lane++) {
        int last = lane;
        if (!(lanes >> lane & 1))
            continue;
        while (last < 63 && lanes >> (last + 1) & 1)
            last++;
        if (last > lane + 1)
            length += sprintf(text + length, " %d-%d", lane, last);
        else
            length += sprintf(text + length, " %d", last = lane);
        lane = last;
    }
    return text + (length > 0);
}
