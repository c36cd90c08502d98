/* SPDX-License-Identifier: MIT */
/* GPU products and their parameters. */
#ifndef WAVEMEM_GPU_H
#define WAVEMEM_GPU_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum wm_cache_level {
    WM_CACHE_VECTOR, /* vector L1 of a compute unit, from gfx10 on L0 */
    WM_CACHE_GL1,    /* GL1 of a shader array (gfx10, gfx11) */
    WM_CACHE_SCALAR, /* scalar data cache */
    WM_CACHE_INSTRUCTION,
    WM_CACHE_L2,   /* L2 of an XCD */
    WM_CACHE_LAST, /* Infinity Cache, behind all L2 */
    WM_CACHE_LEVELS
};

struct wm_cache {
    uint64_t bytes; /* size of one cache; 0: the product has none */
    uint32_t line;  /* line size, bytes */
    uint32_t ways;
    uint32_t channels;    /* 0: unknown, or one */
    uint32_t sharing;     /* compute units that share one cache; 0: all of an XCD (last level: all) */
    uint32_t clock_bytes; /* bytes per clock of the cache, or of each channel; 0: unknown */
};

/* A GPU product. Only double_rate, engine_units, the numbers of SGPRs, LDS, memory_bytes, memory_mhz,
 * memory_reached, last_bandwidth, dispatch_clocks and figures of caches may be 0, which means
 * unknown or absent; an L2 is required. */
struct wm_gpu {
    const char *name;  /* "mi210" */
    const char *title; /* "AMD Instinct MI210" */
    const char
        *targets;  /* "gfx90a"; its own target first, then related targets without a product of their own */
    uint32_t xcds; /* XCDs that workgroups are distributed over; 1 for a monolithic GPU */
    uint32_t engines;         /* shader engines per XCD */
    uint32_t compute_units;   /* in all XCDs */
    uint32_t simds;           /* per compute unit */
    uint32_t waves;           /* maximum per SIMD */
    uint32_t issue;           /* maximum instructions that a compute unit issues per clock */
    uint32_t vgprs;           /* per SIMD, in rows of vgpr_lanes */
    uint32_t vgpr_lanes;      /* 64; from gfx10 on 32 */
    uint32_t vgpr_granule;    /* allocation granularity per wave, in such rows */
    uint32_t sgprs;           /* per SIMD; 0: they do not limit occupancy */
    uint32_t lds_bytes;       /* LDS shared by the workgroups of a compute unit (RDNA: WGP) */
    uint32_t lds_sharing;     /* compute units that share this LDS */
    uint32_t engine_units;    /* compute units that an engine was built with, if this leaves more groups that
                                 share   a scalar and instruction cache than the enabled ones need; else 0 */
    uint32_t clock_mhz;       /* maximum engine clock */
    uint32_t double_rate;     /* products of f64 take so many times the clocks of f32; 0: unknown */
    double memory_bandwidth;  /* GB/s */
    double memory_reached;    /* GB/s that programs reach at best, as measured; 0: unknown */
    double last_bandwidth;    /* GB/s of the last-level cache; 0: unknown */
    uint32_t dispatch_clocks; /* at least, from one workgroup that an XCD starts to the next; 0: unknown */
    /* What runtimes tell programs; no model depends on them. */
    bool apu;                /* CPU and GPU are one chip */
    uint64_t memory_bytes;   /* 0: shares the host's */
    uint32_t memory_bits;    /* width of the bus */
    uint32_t memory_mhz;     /* as drivers report it, before multiple transfers per clock; 0: unknown */
    uint32_t chip;           /* PCI device number; before gfx9 it determines how images are tiled */
    uint32_t address_config; /* GB_ADDR_CONFIG, from gfx9 on: how images are tiled; 0: unknown */
    struct wm_cache cache[WM_CACHE_LEVELS];
    const char *assumed;    /* assumptions that are not documented, in words; NULL: none */
    const char *unverified; /* commonly known facts that were not found in AMD's documents; NULL: none */
};

/* The known products, ordered by target; the first product of a target is its default. */
WM_API const struct wm_gpu *wm_gpus(size_t *count);
/* Finds a product by name ("rx6800", "RX 6800", "AMD Radeon RX 6800"; case, spaces and hyphens do not
 * matter), or the default product of a target ("gfx1030"). WM_NOT_FOUND: unknown; the message lists all
 * names. */
WM_API enum wm_status wm_gpu_find(const char *name, const struct wm_gpu **gpu, struct wm_diag *diag);
enum { WM_TILE_MODES = 32, WM_MACRO_TILE_MODES = 16 };
/* The registers GB_TILE_MODE and GB_MACROTILE_MODE of gfx7 and gfx8, by which drivers tile images. False: the
 * chip has none, or they are not known. */
WM_API bool wm_gpu_tile_modes(const struct wm_gpu *gpu, uint32_t tile[WM_TILE_MODES],
                              uint32_t macro[WM_MACRO_TILE_MODES]);
/* The default product of a target; NULL: none is known. */
WM_API const struct wm_gpu *wm_gpu_default(const char *target);
/* Checks that a profile of code for `target` ("gfx90a:xnack+") can model the product: it must be of the
 * target's generation, with accesses that are measured in the same way. WM_BAD_ARGUMENT: it is not, and the
 * message lists the products that are; WM_NOT_FOUND: no such target. */
WM_API enum wm_status wm_gpu_fits(const struct wm_gpu *gpu, const char *target, struct wm_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
