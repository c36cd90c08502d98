/* SPDX-License-Identifier: MIT */
/* What the reports of `prof` share: sums, and the order of rows. */
#include "report.h"

#include <stdio.h>
#include <string.h>

void tool_totals_add(struct tool_totals *totals, const struct wm_profile_row *row)
{
    totals->executions += row->executions;
    totals->lanes += row->lanes;
    totals->bytes_asked += row->bytes_asked;
    totals->distinct_bytes += row->distinct_bytes;
    if (row->has_lines) {
        totals->lines += row->lines;
        totals->ideal_lines += row->ideal_lines;
        totals->has_lines = true;
    }
    totals->has_vector |= row->has_vector;
    totals->has_lds |= row->has_lds;
    totals->fast += row->fast;
    totals->address_clocks += row->address_clocks;
    totals->tag_lookups += row->tag_lookups;
    totals->read_requests += row->read_requests;
    totals->write_requests += row->write_requests;
    totals->atomic_requests += row->atomic_requests;
    totals->collapsed += row->collapsed;
    totals->lds_passes += row->lds_passes;
    totals->lds_conflicts += row->lds_conflicts;
    totals->lds_serial += row->lds_serial;
}

const char *tool_row_kernel(const struct wm_profile_row *row)
{
    return row->kernel ? row->kernel : "";
}

uint64_t tool_row_start(const struct wm_profile_row *row)
{
    return row->pc - row->offset;
}

static uint64_t waste(const struct wm_profile_row *row)
{
    return row->has_lines && row->lines > row->ideal_lines ? row->lines - row->ideal_lines : 0;
}

/* Kernels in the order of their code; in each the rows that waste most lines first, those without lines last
 * by their conflicts. */
int tool_worst_first(const void *left, const void *right)
{
    const struct wm_profile_row *a = *(const struct wm_profile_row *const *)left;
    const struct wm_profile_row *b = *(const struct wm_profile_row *const *)right;
    if (tool_row_start(a) != tool_row_start(b))
        return tool_row_start(a) < tool_row_start(b) ? -1 : 1;
    if (a->has_lines != b->has_lines)
        return a->has_lines ? -1 : 1;
    if (waste(a) != waste(b))
        return waste(a) > waste(b) ? -1 : 1;
    if (a->has_lines && a->lines != b->lines)
        return a->lines > b->lines ? -1 : 1;
    if (!a->has_lines && a->lds_conflicts != b->lds_conflicts)
        return a->lds_conflicts > b->lds_conflicts ? -1 : 1;
    return a->pc < b->pc ? -1 : a->pc > b->pc;
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
