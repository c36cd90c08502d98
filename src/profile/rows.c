/* SPDX-License-Identifier: MIT */
/* The rows of a profile: figures of each instruction. */
#include "profile/lines.h"

#include <stdlib.h>
#include <string.h>

static int by_address(const void *left, const void *right)
{
    const struct wm_profile_row *a = left, *b = right;
    return (a->pc > b->pc) - (a->pc < b->pc);
}

const struct wm_profile_row *wmi_profile_rows(struct wm_profile *profile, size_t *count)
{
    *count = 0;
    free(profile->rows);
    profile->rows = profile->count ? calloc(profile->count, sizeof *profile->rows) : NULL;
    free(profile->advice);
    profile->advice = profile->rows ? calloc(profile->count, sizeof *profile->advice) : NULL;
    if (!profile->rows || !profile->advice)
        return NULL;
    uint32_t slots = 0;
    const struct wmi_slot_use *uses =
        profile->rounds ? wmi_caches_uses(wmi_rounds_caches(profile->rounds), &slots) : NULL;
    for (size_t slot = 0; slot < profile->count; slot++) {
        const struct wmi_counts *counts = &profile->instructions[slot].counts;
        if (counts->executions == 0 || counts->path == WMI_PATH_CONTROL)
            continue;
        struct wm_profile_row *row = &profile->rows[(*count)++];
        *row = profile->instructions[slot].row;
        row->kernel = row->kernel ? row->kernel : "";
        row->text = row->text ? row->text : "";
        row->path = counts->path == WMI_PATH_IFETCH ? "IFETCH" : wm_path_name((enum wm_path)counts->path);
        row->operation = wm_access_kind_name((enum wm_access_kind)counts->kind);
        row->bytes = counts->bytes;
        row->executions = counts->executions;
        row->lanes = counts->sum[WMI_SUM_LANES];
        row->bytes_asked = counts->sum[WMI_SUM_BYTES_ASKED];
        row->distinct_bytes = counts->sum[WMI_SUM_DISTINCT_BYTES];
        row->lines = counts->sum[WMI_SUM_LINES];
        row->line_bytes = wmi_line_bytes(profile->source.rules, counts->path);
        row->ideal_lines = counts->sum[WMI_SUM_IDEAL_LINES];
        row->has_lines = counts->path != WMI_PATH_DS && counts->path != WMI_PATH_GDS;
        row->has_vector = row->has_lines && counts->path != WMI_PATH_SMEM && profile->source.rules;
        row->has_tcp_counters = row->has_vector && profile->source.rules->vector.tcp_counters;
        row->fast = counts->sum[WMI_SUM_FAST];
        row->address_clocks = counts->sum[WMI_SUM_ADDRESS_CLOCKS];
        row->tag_lookups = counts->sum[WMI_SUM_TAG_LOOKUPS];
        row->read_requests = counts->sum[WMI_SUM_READ_REQUESTS];
        row->write_requests = counts->sum[WMI_SUM_WRITE_REQUESTS];
        row->atomic_requests = counts->sum[WMI_SUM_ATOMIC_REQUESTS];
        row->returns = counts->kind == WMI_ACCESS_ATOMIC && profile->log_instructions &&
                       slot < WMI_LOG_SLOTS &&
                       wmi_log_instruction_at(&profile->log_instructions[slot]).policy & WMI_POLICY_GLC;
        row->collapsed = counts->sum[WMI_SUM_COLLAPSED];
        row->lds_passes = counts->sum[WMI_SUM_LDS_PASSES];
        row->has_lds = row->lds_passes > 0;
        row->lds_conflicts = counts->sum[WMI_SUM_LDS_CONFLICTS];
        row->lds_serial = counts->sum[WMI_SUM_LDS_SERIAL];
        row->lds_depth = counts->worst.depth;
        row->lds_bank = counts->worst.bank;
        row->lds_lanes = counts->worst.lanes;
        row->wait_depth = counts->depth;
        row->wait_depth_most = counts->depth_most;
        row->data_clocks = counts->sum[WMI_SUM_DATA_CLOCKS];
        row->has_caches = uses && row->has_lines;
        if (row->has_caches && slot < slots) {
            memcpy(row->cache, uses[slot].use, sizeof row->cache);
            row->memory_read = uses[slot].memory_read;
            row->memory_written = uses[slot].memory_written;
        }
        row->lines_histogram = counts->histogram;
        row->wave = counts->wave.lanes ? &counts->wave : NULL;
        wmi_judge(profile, slot, row, profile->advice[slot]);
    }
    qsort(profile->rows, *count, sizeof *profile->rows, by_address);
    return profile->rows;
}
