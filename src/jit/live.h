/* SPDX-License-Identifier: MIT */
/* Which VGPRs a wave may still read at each step of a block; find_live.c finds out. */
#ifndef WMI_LIVE_H
#define WMI_LIVE_H

#include "jit/compile.h"

/* Where: in lanes that are active at the step, or in others. */
enum wmi_live_lanes { WMI_LIVE_ACTIVE, WMI_LIVE_INACTIVE, WMI_LIVE_LANES };

struct wmi_live {
    const struct wmi_block *block;
    size_t words;     /* of a set of rows */
    uint64_t *sets;   /* of each step, and of what follows the last one: [WMI_LIVE_LANES][words] */
    bool *drops_half; /* of each step: see wmi_live_drops_half() */
};

static inline uint64_t *wmi_live_set(const struct wmi_live *live, size_t step, enum wmi_live_lanes lanes)
{
    return &live->sets[(step * WMI_LIVE_LANES + lanes) * live->words];
}

static inline size_t wmi_live_number(const struct wmi_live *live, uint32_t row)
{
    const struct wmi_code *code = live->block->code;
    return (row - code->vgpr_offset) / code->row_bytes;
}

/* Whether a wave that is about to execute the step may still read the VGPR in these lanes. Without `live`, it
 * may. */
static inline bool wmi_live_is_in(const struct wmi_live *live, uint32_t row, size_t step,
                                  enum wmi_live_lanes lanes)
{
    if (!live || step >= live->block->count)
        return true;
    const size_t number = wmi_live_number(live, row);
    return wmi_live_set(live, step, lanes)[number / 64] >> number % 64 & 1;
}

/* The same in active lanes or, if in_all_lanes is set, in any lane. */
static inline bool wmi_live_is(const struct wmi_live *live, uint32_t row, size_t step, bool in_all_lanes)
{
    return wmi_live_is_in(live, row, step, WMI_LIVE_ACTIVE) ||
           (in_all_lanes && wmi_live_is_in(live, row, step, WMI_LIVE_INACTIVE));
}

/* Whether the step keeps the high half of a VGPR that no step may read. Its result may have anything there.
 */
static inline bool wmi_live_drops_half(const struct wmi_live *live, size_t step)
{
    return live && step < live->block->count && live->drops_half[step];
}

/* Whether no lane becomes active at the step, which makes a new EXEC valid: it is the old one and another
 * mask. */
bool wmi_exec_shrinks(const struct wmi_block *block, size_t at);

#endif
