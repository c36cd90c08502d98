/* SPDX-License-Identifier: MIT */
/* What compiled code keeps in the frame of a wave. The interpreter has no use for it, except that the start
 * of a wave prepares it. */
#ifndef WMI_COMPILED_STATE_H
#define WMI_COMPILED_STATE_H

#include <stdalign.h>
#include <stdint.h>

enum { WMI_LASTING_MASKS = 64 }; /* a bit for each in masks_known */
enum { WMI_LDS_ADDRESSES = 16 }; /* that compiled code remembers of a wave */
enum { WMI_START_IDS = 3 };      /* VGPRs that may hold work-item ids when a wave starts */

/* What the frame still has of what its wave started with. */
enum wmi_pristine {
    WMI_TOUCHED,  /* the next wave here must be started by the executor */
    WMI_PRISTINE, /* nothing has written the VGPRs since the wave started */
    WMI_RESTARTS, /* compiled code can restore all that may have been written: see jit/next_wave.h */
};

struct wmi_compiled_state {
    /* Of waves that start with all lanes active: */
    alignas(64) uint32_t id_bases[WMI_START_IDS][16]; /* v0 to v2 in lane 0 of each 16, repeated */
    uint32_t pristine;                                /* enum wmi_pristine */
    uint32_t has_bases;     /* id_bases are those of this wave in a whole workgroup */
    uint32_t repeats;       /* the wave started as each does here that is in a whole workgroup */
    uint64_t scalar_base;   /* on the host: see jit/scalar_memory.c */
    uint64_t private_found; /* what the wave found last out of its private memory: see jit/private.c */
    /* What the wave found out of addresses in LDS; see jit/lds_plan.h. */
    alignas(64) uint32_t lds_known[WMI_LDS_ADDRESSES];
    alignas(64) uint32_t lds_lasting[WMI_LDS_ADDRESSES]; /* also of the waves that start here after it */
    uint64_t lds_place[WMI_LDS_ADDRESSES][4];
    /* The same of compares that depend on ids alone: see jit/masks.h. */
    uint64_t masks_known, mask[WMI_LASTING_MASKS];
    alignas(64) uint32_t lane_place[64]; /* while an access of 16 bytes per lane is under way */
};

#endif
