/* SPDX-License-Identifier: MIT */
/* The memory models of the generations: what a release and an acquire need. */
#ifndef WMI_RACE_MODELS_H
#define WMI_RACE_MODELS_H

#include "isa/isa.h"

/* What orders memory accesses between waves. Source: LLVM AMDGPUUsage, "Memory Model" of each generation. */
struct wmi_race_model {
    uint32_t load_bits;       /* policy bits of loads that observe stores of other workgroups */
    uint32_t invalidates;     /* caches that an acquire invalidates: 1 << enum wm_cache_level */
    bool has_scopes;          /* loads and stores have a scope */
    bool atomics_have_scopes; /* atomics, too */
    bool writes_back;         /* a release must write back L2, and wait for that */
    bool waits_at_barriers;   /* a barrier of the workgroup must wait for stores, too */
    const char *wait, *write_back, *invalidate, *wait_lds, *wait_load,
        *wait_move; /* for texts; wait_move: for loads to LDS; NULL: as for loads */
    /* In this mode, waves of a workgroup may have different vector caches, which this instruction
     * invalidates. NULL: there is no such mode. */
    const char *mode, *mode_invalidate;
};

const struct wmi_race_model *wmi_race_model(const struct wmi_target *target);
/* By the limit `memory_model` of a target (isa/targets). */
const struct wmi_race_model *wmi_race_model_numbered(uint64_t number);

#endif
