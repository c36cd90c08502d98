/* SPDX-License-Identifier: MIT */
/* Products: what is known of them. */
#ifndef WAVEMEM_GPU_H
#define WAVEMEM_GPU_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum wm_cache_level {
    WM_CACHE_VECTOR, /* of a compute unit: L1, from gfx10 on L0 */
    WM_CACHE_GL1,    /* of a shader array, gfx10 and gfx11 */
    WM_CACHE_SCALAR, /* of scalar data */
    WM_CACHE_INSTRUCTION,
    WM_CACHE_L2,   /* of an XCD */
    WM_CACHE_LAST, /* behind all L2: Infinity Cache */
    WM_CACHE_LEVELS
};

struct wm_cache {
    uint64_t bytes; /* of one such cache; 0: the product has none */
    uint32_t line;  /* bytes */
    uint32_t ways;
    uint32_t channels;    /* 0: not known, or there is one */
    uint32_t sharing;     /* compute units that have one together; 0: all of an XCD, of the last level all */
    uint32_t clock_bytes; /* that it, or each channel, gives in a clock; 0: not known */
};

/* A GPU one can buy. Only SGPRs, LDS and figures of caches may be 0; there must be an L2. */
struct wm_gpu {
    const char *name;    /* "mi210" */
    const char *title;   /* "AMD Instinct MI210" */
    const char *targets; /* "gfx90a"; behind its own those that it stands for, which have no product here */
    uint32_t xcds;       /* that workgroups are dealt to; 1 where the GPU is one piece */
    uint32_t engines;    /* shader engines of an XCD */
    uint32_t compute_units;  /* of all XCDs */
    uint32_t simds;          /* of a compute unit */
    uint32_t waves;          /* that a SIMD holds at most */
    uint32_t issue;          /* instructions that a compute unit starts in a clock, at most */
    uint32_t vgprs;          /* of a SIMD, in rows of vgpr_lanes */
    uint32_t vgpr_lanes;     /* 64, from gfx10 on 32 */
    uint32_t vgpr_granule;   /* that a wave's VGPRs are allocated in, in such rows */
    uint32_t sgprs;          /* of a SIMD; 0: they limit nothing */
    uint32_t lds_bytes;      /* that workgroups of a compute unit (RDNA: of a WGP) share */
    uint32_t lds_sharing;    /* compute units that share them */
    uint32_t clock_mhz;      /* the highest */
    double memory_bandwidth; /* GB/s */
    struct wm_cache cache[WM_CACHE_LEVELS];
    const char *assumed; /* what of it is not documented, in words; NULL: nothing */
    const char
        *unverified; /* what of it is generally known, but was not found in AMD's documents; NULL: nothing */
};

/* The products that wavemem knows, by target; the first of a target is its default. */
WM_API const struct wm_gpu *wm_gpus(size_t *count);
/* By name ("mi210"), in any case; WM_NOT_FOUND with all names in the message. */
WM_API enum wm_status wm_gpu_find(const char *name, const struct wm_gpu **gpu, struct wm_diag *diag);
/* What a target runs on unless told; NULL: no product is known. */
WM_API const struct wm_gpu *wm_gpu_default(const char *target);

#ifdef __cplusplus
}
#endif

#endif
