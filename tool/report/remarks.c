/* SPDX-License-Identifier: MIT */
/* The advice for the instructions of a kernel, without repetitions. */
#include "tool/report/remarks.h"

#include <stdlib.h>
#include <string.h>

static void add(struct tool_remark *remarks, size_t *count, const struct wm_profile_row *row)
{
    size_t i = 0;
    while (i < *count && strcmp(remarks[i].row[0]->advice, row->advice) != 0)
        i++;
    if (i == *count)
        remarks[(*count)++] = (struct tool_remark){0};
    struct tool_remark *remark = &remarks[i];
    if (remark->rows < TOOL_NAMED)
        remark->row[remark->rows] = row;
    remark->rows++;
    remark->gain += row->gain;
}

static int most_gain_first(const void *left, const void *right)
{
    const struct tool_remark *a = left, *b = right;
    if (a->gain != b->gain)
        return a->gain > b->gain ? -1 : 1;
    return (a->row[0]->pc > b->row[0]->pc) - (a->row[0]->pc < b->row[0]->pc);
}

size_t tool_remarks(const struct wm_profile_row *const *rows, size_t count, struct tool_remark **remarks)
{
    size_t found = 0;
    *remarks = malloc((count + 1) * sizeof **remarks);
    for (size_t i = 0; *remarks && i < count; i++)
        if (rows[i]->advice)
            add(*remarks, &found, rows[i]);
    if (*remarks)
        qsort(*remarks, found, sizeof **remarks, most_gain_first);
    return found;
}
