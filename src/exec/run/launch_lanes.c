/* SPDX-License-Identifier: MIT */
/* Initialises a wave's frame with vector copies. This takes 2 KB per wave; in waves of only 20 steps, calls
 * of memcpy and memset would be measurable. */
#include "exec/run/launch.h"

#include "base/vector.h"

#include <string.h>

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

/* Stores v0 to v2 of the first lane of each 16-lane chunk. */
static void place_bases(struct wmi_frame *frame, const struct wmi_wave_start *start, const uint32_t *ids)
{
    enum { ROW_WORDS = WMI_ROW_BYTES / sizeof(uint32_t) };
    for (unsigned i = 0; i < WMI_START_IDS; i++)
        for (unsigned k = 0; k < 16; k++)
            frame->compiled.id_bases[i][k] = i < start->id_rows ? ids[i * ROW_WORDS + 16 * k % ROW_WORDS] : 0;
}

extern wmi_start_frame WMI_BUILD_NAME(wmi_start_frame);

void WMI_BUILD_NAME(wmi_start_frame)(struct wmi_frame *frame, const struct wmi_wave_start *start,
                                     const uint32_t *ids, const struct wmi_lanes *exec)
{
    char *vgprs = (char *)frame + start->vgpr_offset;
    copy_vectors((char *)frame->s, start->sgpr, WMI_START_SGPRS * sizeof *start->sgpr);
    memcpy(&frame->s[WMI_S_EXEC], &exec->bits, sizeof exec->bits);
    memset(&frame->s[WMI_S_FLAT_SCRATCH], 0, sizeof(uint64_t));
    if (frame->exec.bits != exec->bits) /* usually equal to that of the previous wave in this frame */
        copy_vectors((char *)&frame->exec, exec, sizeof *exec);
    if (!(frame->compiled.pristine == WMI_PRISTINE && start->repeats)) {
        copy_rows(vgprs, (const char *)ids, start->id_rows);
        clear_rows(vgprs + start->id_rows * (size_t)WMI_ROW_BYTES, start->zero_rows);
    }
    if (start->repeats && !frame->compiled.has_bases) {
        place_bases(frame, start, ids);
        frame->compiled.has_bases = true;
    }
    frame->compiled.pristine = WMI_TOUCHED;
    frame->s[WMI_S_SCC] = 0;
    clear_vectors((char *)frame->compiled.lds_known, sizeof frame->compiled.lds_known);
    if (start->has_lds) {
        const bool repeats = start->repeats && start->only_ids;
        if (!(repeats && frame->compiled.repeats)) {
            clear_vectors((char *)frame->compiled.lds_lasting, sizeof frame->compiled.lds_lasting);
            frame->compiled.masks_known = 0;
        }
        frame->compiled.repeats = repeats;
    } else {
        frame->compiled.masks_known = 0;
    }
    frame->mode = start->mode;
    frame->mxcsr32 = start->mxcsr32;
    frame->mxcsr64 = start->mxcsr64;
}
