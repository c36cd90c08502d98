/* SPDX-License-Identifier: MIT */
/* Common parts of the reports of `prof`: options, and the order of rows. */
#include "tool/report/report.h"

#include "tool/report/lines.h"
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

const char *tool_name(const char *symbol, char name[TOOL_NAME])
{
    return wm_source_name(symbol, name, TOOL_NAME);
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

const struct wm_profile_kernel *tool_kernel_of(const struct tool_report *report,
                                               const struct wm_profile_row *row)
{
    for (size_t i = 0; i < report->kernel_count; i++)
        if (report->kernels[i].pc == tool_row_start(row))
            return &report->kernels[i];
    return NULL;
}

static int by_symbol(const void *left, const void *right)
{
    const struct wm_profile_row *a = *(const struct wm_profile_row *const *)left,
                                *b = *(const struct wm_profile_row *const *)right;
    return (tool_row_start(a) > tool_row_start(b)) - (tool_row_start(a) < tool_row_start(b));
}

void tool_sort_rows(struct tool_report *report)
{
    qsort(report->rows, report->count, sizeof *report->rows, by_symbol);
    for (size_t i = 0, count; i < report->count; i += count) {
        struct tool_line *lines;
        count = tool_lines(report->rows + i, tool_kernel_rows(report, i), TOOL_BY_INSTRUCTION,
                           report->options->sort, &lines);
        for (size_t k = 0; k < count; k++)
            report->rows[i + k] = lines[k].row;
        free(lines);
    }
}

double tool_group_seconds(const struct tool_group *group)
{
    const struct wm_profile_kernel *kernel = group->kernel;
    if (!kernel)
        return 0;
    if (kernel->predicted.seconds > 0)
        return kernel->predicted.seconds;
    return kernel->binds ? kernel->binds->seconds : 0;
}

static int longest_first(const void *left, const void *right)
{
    const struct tool_group *a = left, *b = right;
    const double x = tool_group_seconds(a), y = tool_group_seconds(b);
    if (x != y)
        return x > y ? -1 : 1;
    if (a->first != b->first)
        return a->first > b->first ? 1 : -1;
    return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

static bool has_rows(const struct tool_report *report, const struct wm_profile_kernel *kernel)
{
    for (size_t i = 0; i < report->count; i++)
        if (tool_row_start(report->rows[i]) == kernel->pc)
            return true;
    return false;
}

size_t tool_groups(const struct tool_report *report, struct tool_group **groups)
{
    size_t found = 0;
    *groups = calloc(report->count + report->kernel_count + 1, sizeof **groups);
    for (size_t i = 0; *groups && i < report->count; i += (*groups)[found++].count)
        (*groups)[found] = (struct tool_group){.first = i,
                                               .count = tool_kernel_rows(report, i),
                                               .kernel = tool_kernel_of(report, report->rows[i])};
    for (size_t i = 0; *groups && i < report->kernel_count; i++)
        if (!has_rows(report, &report->kernels[i]))
            (*groups)[found++] = (struct tool_group){.first = report->count, .kernel = &report->kernels[i]};
    if (found)
        qsort(*groups, found, sizeof **groups, longest_first);
    return found;
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
