/* SPDX-License-Identifier: MIT */
/* Access to frame words, shared by the steps of scalar state. */
#ifndef WMI_FRAME_WORDS_H
#define WMI_FRAME_WORDS_H

#include "sem/sem.h"

#include <stdbool.h>
#include <string.h>

static inline struct wmi_frame *wmi_frame_of(char *frame)
{
    return (struct wmi_frame *)frame;
}

/* Two words of the scalar file or of the constants. */
static inline uint64_t wmi_frame_64(const char *frame, uint32_t offset)
{
    uint64_t value;
    memcpy(&value, frame + offset, sizeof value);
    return value;
}

static inline uint32_t wmi_frame_32(const char *frame, uint32_t offset)
{
    uint32_t value;
    memcpy(&value, frame + offset, sizeof value);
    return value;
}

/* Whether the lane mask in this slot is 0. */
static inline bool wmi_mask_is_zero(const struct wmi_frame *f, unsigned slot)
{
    return f->wave_size == 32 ? !f->s[slot] : !(f->s[slot] | f->s[slot + 1]);
}

/* Makes `set` the lanes in `bits` of a wave of `lanes`. */
static inline void wmi_lanes_fill(struct wmi_lanes *set, uint64_t bits, unsigned lanes)
{
    const uint64_t all = lanes == 64 ? UINT64_MAX : (UINT64_C(1) << lanes) - 1;
    set->bits = bits & all;
    set->full = set->bits == all;
    for (unsigned i = 0; i < 64; i++)
        set->row[i] = set->bits >> i & 1 ? UINT32_MAX : 0;
}

#endif
