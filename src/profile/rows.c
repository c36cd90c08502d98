/* SPDX-License-Identifier: MIT */
/* The rows of a profile: figures of each instruction. */
#include "profile/rows.h"
#include "profile/inside.h"
#include "profile/needs.h"

#include <stdlib.h>
#include <string.h>

static int by_address(const void *left, const void *right, void *user)
{
    const struct wm_profile *profile = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const uint64_t at = profile->instructions[a].row.pc, other = profile->instructions[b].row.pc;
    return at != other ? (at > other) - (at < other) : (a > b) - (a < b);
}

/* The figures of the row, whose description is there. use: NULL without a product. */
static void fill_row(const struct wm_profile *profile, const struct wmi_counts *counts,
                     const struct wmi_slot_use *use, struct wm_profile_row *row)
{
    row->kernel = row->kernel ? row->kernel : "";
    row->text = row->text ? row->text : "";
    row->path = counts->path == WMI_PATH_IFETCH ? "IFETCH" : wm_path_name((enum wm_path)counts->path);
    row->operation = wm_access_kind_name((enum wm_access_kind)counts->kind);
    row->bytes = counts->bytes;
    row->executions = counts->executions;
    row->lanes = counts->sum[WMI_SUM_LANES];
    row->bytes_asked = counts->sum[WMI_SUM_BYTES_REQUESTED];
    row->distinct_bytes = counts->sum[WMI_SUM_DISTINCT_BYTES];
    row->lines = counts->sum[WMI_SUM_LINES];
    row->line_bytes = wmi_line_bytes(profile->source.rules, counts->path);
    row->ideal_lines = counts->sum[WMI_SUM_IDEAL_LINES];
    row->has_lines = counts->path != WMI_PATH_DS && counts->path != WMI_PATH_GDS;
    row->has_vector = row->has_lines && counts->path != WMI_PATH_SMEM && profile->source.rules;
    row->has_tcp_counters = row->has_vector && profile->source.rules->vector.tcp_counters;
    row->fast = counts->sum[WMI_SUM_FAST];
    row->address_clocks = counts->sum[WMI_SUM_ADDRESS_CLOCKS];
    row->accesses = 4 * counts->sum[WMI_SUM_QUADS];
    row->tag_lookups = counts->sum[WMI_SUM_TAG_LOOKUPS];
    row->tag_clocks = counts->sum[WMI_SUM_TAG_CLOCKS];
    row->read_requests = counts->sum[WMI_SUM_READ_REQUESTS];
    row->write_requests = counts->sum[WMI_SUM_WRITE_REQUESTS];
    row->atomic_requests = counts->sum[WMI_SUM_ATOMIC_REQUESTS];
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
    row->has_caches = use && row->has_lines;
    if (row->has_caches) {
        memcpy(row->cache, use->use, sizeof row->cache);
        row->memory_read = use->memory_read;
        row->memory_written = use->memory_written;
    }
    row->lines_histogram = counts->histogram;
    row->wave = counts->wave.lanes ? &counts->wave : NULL;
}

bool wmi_rows_make(struct wm_profile *profile)
{
    static const struct wmi_slot_use unused;
    uint32_t slots = 0;
    const struct wmi_slot_use *uses =
        profile->rounds ? wmi_caches_uses(wmi_rounds_caches(profile->rounds), &slots) : NULL;
    profile->rows = calloc(profile->count + 1, sizeof *profile->rows);
    profile->row_slots = calloc(profile->count + 1, sizeof *profile->row_slots);
    if (!profile->rows || !profile->row_slots)
        return false;
    for (uint32_t slot = 0; slot < profile->count; slot++) {
        const struct wmi_counts *counts = &profile->instructions[slot].counts;
        if (counts->executions && counts->path != WMI_PATH_CONTROL)
            profile->row_slots[profile->row_count++] = slot;
    }
    if (profile->row_count)
        qsort_r(profile->row_slots, profile->row_count, sizeof *profile->row_slots, by_address, profile);
    for (size_t i = 0; i < profile->row_count; i++) {
        const uint32_t slot = profile->row_slots[i];
        profile->rows[i] = profile->instructions[slot].row;
        fill_row(profile, &profile->instructions[slot].counts,
                 profile->rounds ? slot < slots ? &uses[slot] : &unused : NULL, &profile->rows[i]);
        profile->rows[i].returns =
            profile->instructions[slot].counts.kind == WMI_ACCESS_ATOMIC && profile->log_instructions &&
            slot < WMI_LOG_SLOTS &&
            wmi_log_instruction_at(&profile->log_instructions[slot]).policy & WMI_POLICY_GLC;
        wmi_judge(profile, slot, &profile->rows[i]);
    }
    return true;
}
