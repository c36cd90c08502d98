/* SPDX-License-Identifier: MIT */
/* Initialises a wave's frame with vector copies. This takes 2 KB per wave; in waves of only 20 steps, calls
 * of memcpy and memset would be measurable. */
#include "exec/launch.h"

#include "base/vector.h"

static inline void copy_vectors(char *restrict to, const void *restrict from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += WMI_VECTOR_BYTES)
        *(u32v *)(to + at) = *(const u32v *)((const char *)from + at);
}

static inline void clear_vectors(char *to, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += WMI_VECTOR_BYTES)
        *(u32v *)(to + at) = (u32v){0};
}

/* Copies whole rows, so that the compiler unrolls the loop over a row's vectors. */
static inline void copy_rows(char *restrict to, const char *restrict from, unsigned rows)
{
    for (; rows; rows--, to += WMI_ROW_BYTES, from += WMI_ROW_BYTES)
        copy_vectors(to, from, WMI_ROW_BYTES);
}

static inline void clear_rows(char *to, unsigned rows)
{
    for (; rows; rows--, to += WMI_ROW_BYTES)
        clear_vectors(to, WMI_ROW_BYTES);
}

/* v0 to v2 of the first lane of each 16. */
static void place_bases(struct wmi_frame *frame, const struct wmi_wave_start *start)
{
    enum { ROW_WORDS = WMI_ROW_BYTES / sizeof(uint32_t) };
    for (unsigned i = 0; i < WMI_START_IDS; i++)
        for (unsigned k = 0; k < 16; k++)
            frame->id_bases[i][k] = i < start->id_rows ? start->ids[i * ROW_WORDS + 16 * k % ROW_WORDS] : 0;
}

extern wmi_start_frame WMI_BUILD_NAME(wmi_start_frame);

void WMI_BUILD_NAME(wmi_start_frame)(struct wmi_frame *frame, const struct wmi_wave_start *start)
{
    char *vgprs = (char *)frame + start->vgpr_offset;
    copy_vectors((char *)frame->s, start->sgpr, WMI_START_SGPRS * sizeof *start->sgpr);
    frame->s[WMI_S_EXEC] = (uint32_t)start->exec->bits;
    frame->s[WMI_S_EXEC + 1] = (uint32_t)(start->exec->bits >> 32);
    frame->s[WMI_S_FLAT_SCRATCH] = (uint32_t)start->flat_scratch;
    frame->s[WMI_S_FLAT_SCRATCH + 1] = (uint32_t)(start->flat_scratch >> 32);
    if (frame->exec.bits != start->exec->bits) /* usually unchanged by the previous wave in this frame */
        copy_vectors((char *)&frame->exec, start->exec, sizeof *start->exec);
    if (!(frame->pristine && start->repeats)) {
        copy_rows(vgprs, (const char *)start->ids, start->id_rows);
        clear_rows(vgprs + start->id_rows * (size_t)WMI_ROW_BYTES, start->zero_rows);
        place_bases(frame, start);
    }
    frame->pristine = false;
    frame->s[WMI_S_SCC] = 0;
    clear_vectors((char *)frame->lds_known, sizeof frame->lds_known);
    frame->mode = start->mode;
    frame->mxcsr32 = start->mxcsr32;
    frame->mxcsr64 = start->mxcsr64;
}
