/* SPDX-License-Identifier: MIT */
/* A line for each kernel that the report has no room to describe. */
#include "tool/report/kernel_list.h"

#include "tool/report/advice.h"
#include "tool/report/summary.h"
#include "tool/report/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 10 };

static const char *name_of(const struct tool_report *report, const struct tool_group *group,
                           char name[TOOL_NAME])
{
    return tool_name(group->kernel ? group->kernel->kernel : tool_row_kernel(report->rows[group->first]),
                     name);
}

/* Length of the name without its last template arguments. */
static size_t stem_of(const char *name)
{
    size_t length = strlen(name);
    const size_t whole = length;
    if (!length || name[length - 1] != '>')
        return whole;
    for (unsigned depth = 0; length--;) {
        depth += name[length] == '>';
        if (name[length] == '<' && --depth == 0)
            return length;
    }
    return whole;
}

bool tool_same_template(const struct tool_group *a, const struct tool_group *b)
{
    char first[TOOL_NAME], second[TOOL_NAME];
    if (!a->kernel || !b->kernel)
        return false;
    tool_name(a->kernel->kernel, first);
    tool_name(b->kernel->kernel, second);
    const size_t stem = stem_of(first);
    return first[stem] && second[stem] && stem == stem_of(second) && strncmp(first, second, stem) == 0;
}

/* The instances of one template. */
struct instances {
    const struct tool_group *slowest, *fastest;
    size_t count;
    double seconds, least; /* of all of them */
};

/* Takes the template of groups[at], marking its instances as listed. */
static struct instances take(const struct tool_group *groups, size_t count, size_t at, bool *listed)
{
    struct instances all = {.slowest = &groups[at], .fastest = &groups[at]};
    for (size_t i = at; i < count; i++) {
        const struct tool_group *group = &groups[i];
        if (listed[i] || (i != at && !tool_same_template(&groups[at], group)))
            continue;
        listed[i] = true;
        all.count++;
        all.seconds += tool_group_seconds(group);
        all.least += group->kernel && group->kernel->binds ? group->kernel->binds->seconds : 0;
        if (tool_group_seconds(group) > tool_group_seconds(all.slowest))
            all.slowest = group;
        if (tool_group_seconds(group) < tool_group_seconds(all.fastest))
            all.fastest = group;
    }
    return all;
}

static void add_time(struct tool_table *table, double seconds)
{
    char text[TOOL_SHORT];
    tool_time_text(seconds, text);
    tool_table_cell(table, "%s", seconds > 0 ? text : "-");
}

/* The last cell: the range of the instances, or the best fix of a single kernel. */
static void add_remark(struct tool_table *table, const struct tool_report *report,
                       const struct instances *instances)
{
    const struct wm_profile_kernel *kernel = instances->slowest->kernel;
    const struct wm_profile_finding *best = kernel ? tool_best_finding(report, kernel) : NULL;
    char name[TOOL_NAME], other[TOOL_NAME], slow[TOOL_SHORT], fast[TOOL_SHORT];
    if (instances->count > 1) {
        name_of(report, instances->fastest, name);
        name_of(report, instances->slowest, other);
        tool_time_text(tool_group_seconds(instances->fastest), fast);
        tool_time_text(tool_group_seconds(instances->slowest), slow);
        tool_table_cell(table, "from %s (%s) to %s (%s)", fast, name + stem_of(name), slow,
                        other + stem_of(other));
    } else if (best) {
        tool_table_cell(table, "%s (%s)", best->verdict, best->place);
    } else {
        tool_table_cell(table, "%s", "-");
    }
}

static void add_instances(struct tool_table *table, const struct tool_report *report,
                          const struct instances *instances)
{
    const struct wm_profile_kernel *kernel = instances->slowest->kernel;
    char name[TOOL_NAME];
    name_of(report, instances->slowest, name);
    add_time(table, instances->seconds);
    add_time(table, instances->least);
    tool_table_cell(table, "%s",
                    !kernel                   ? "-"
                    : kernel->predicted.parts ? kernel->predicted.part[0].name
                    : kernel->binds           ? kernel->binds->name
                                              : "-");
    if (instances->count > 1)
        tool_table_cell(table, "%zu instances of %.*s", instances->count, (int)stem_of(name), name);
    else
        tool_table_cell(table, "%s%s", kernel ? "" : "function ", name);
    add_remark(table, report, instances);
}

void tool_print_kernel_list(const struct tool_report *report, const struct tool_group *groups, size_t count,
                            const bool *described)
{
    static const struct tool_column columns[] = {{"predicted", TOOL_RIGHT, 0},
                                                 {"at least", TOOL_RIGHT, 1},
                                                 {"bound by", TOOL_LEFT, 0},
                                                 {"other kernels", TOOL_LEFT, 0},
                                                 {"slowest and fastest, or best fix", TOOL_LEFT, 0}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    bool left_out[COLUMNS] = {false}, *listed = malloc(count + 1);
    struct tool_table table = {
        .columns = columns, .column_count = COLUMNS, .width = tool_terminal_width(), .left_out = left_out};
    size_t lines = 0, rest = 0;
    if (!listed)
        return;
    memcpy(listed, described, count);
    for (size_t i = 0; i < count; i++) {
        if (listed[i])
            continue;
        const struct instances instances = take(groups, count, i, listed);
        if (lines++ < MOST_LINES)
            add_instances(&table, report, &instances);
        else
            rest += instances.count;
    }
    tool_table_fit(&table);
    tool_table_print(&table, stdout, 0);
    tool_table_free(&table);
    if (rest)
        printf("and %zu more kernel%s: --all\n", rest, rest == 1 ? "" : "s");
    else
        puts("to describe them: --all");
    free(listed);
}
