/* SPDX-License-Identifier: MIT */
/* The profile: what each memory instruction of a dispatch costs. */
#ifndef WAVEMEM_PROFILE_H
#define WAVEMEM_PROFILE_H

#include "gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wm_profile; /* counts what each memory instruction does */

enum { WM_PROFILE_LINES = 64 };

/* One execution as it was: the first of the first workgroup's first wave that reached memory. */
struct wm_profile_wave {
    uint32_t workgroup[3], wave;
    bool in_lds;          /* the addresses are LDS offsets */
    uint32_t bytes;       /* of each lane, at the first of the instruction's places */
    uint64_t lanes;       /* those that reached memory */
    uint64_t address[64]; /* theirs */
};

/* What became of requests at one cache. A request is what one instruction of a wave asks of one line. */
struct wm_cache_use {
    uint64_t requests, hits;
    uint64_t bytes; /* that were moved between the cache and what asked it */
};

/* One memory instruction over all dispatches that the profile observed. */
struct wm_profile_row {
    const char *kernel;      /* symbol that it lies in */
    const char *text;        /* LLVM's text */
    const char *path;        /* "GLOBAL", "FLAT", "SCRATCH", "BUFFER", "SMEM", "DS" */
    const char *operation;   /* "load", "store", "atomic" */
    const char *file;        /* source file, or NULL */
    unsigned line, column;   /* 0 when unknown */
    uint64_t pc, offset;     /* guest address; bytes from the symbol */
    uint64_t executions;     /* by waves */
    uint64_t lanes;          /* active lanes, summed */
    uint32_t bytes;          /* per lane */
    uint64_t bytes_asked;    /* lanes x bytes */
    uint64_t distinct_bytes; /* different bytes, per execution, summed */
    uint64_t lines;          /* distinct lines touched, per execution, summed; 0 for DS */
    uint32_t line_bytes;     /* of the lines: of the generation's vector cache, 64 or 128 */
    uint64_t ideal_lines;    /* max(1, ceil(distinct bytes / line_bytes)) per execution with lanes, summed */
    bool has_lines;          /* false for DS: lines mean nothing there */

    /* The vector memory path, for all but SMEM, DS and GDS. Sums; requests are those of an empty vector
     * cache. */
    bool has_vector;
    uint64_t fast;            /* executions that went through the address unit a group of lanes in a clock */
    uint64_t address_clocks;  /* of the address unit */
    uint64_t tag_lookups;     /* in the vector cache */
    uint64_t read_requests;   /* to L2, of 64 bytes; of 128 on gfx942 and from gfx10 on */
    uint64_t write_requests;  /* of 64 bytes; of 128 from gfx10 on */
    uint64_t atomic_requests; /* atomics to one address stay apart */
    uint64_t collapsed;       /* stores to an address that a lower lane of the wave stores to as well */
    bool has_tcp_counters;    /* the generation has counters TCP_TOTAL_ACCESSES and the like */

    /* LDS: DS instructions, and FLAT ones that reach it. Sums but for the last three. */
    bool has_lds;
    uint64_t lds_passes;    /* over the banks */
    uint64_t lds_conflicts; /* passes that a bank conflict cost */
    uint64_t lds_serial;    /* lanes that went one by one because of a misaligned one */
    uint32_t lds_depth;     /* the most dwords of one bank that were wanted at once: 1 is no conflict */
    uint32_t lds_bank;      /* the bank */
    uint64_t lds_lanes;     /* the lanes that wanted them */

    /* What the product's caches make of it; see docs/model.md. False: no product is known for the target. */
    bool has_caches;
    uint64_t data_clocks; /* that returning the data to VGPRs, or fetching them, takes */
    struct wm_cache_use cache[WM_CACHE_LEVELS]; /* requests that this instruction made, at each level */
    uint64_t memory_read, memory_written; /* bytes from and to DRAM; written: when lines leave the caches */
    uint64_t wait_depth;                  /* memory instructions of the wave still on their way, when it
                                             was issued, itself included; summed over the executions */
    uint32_t wait_depth_most;             /* and the most */
    const char *limit;  /* what takes the most time of it, as a bound's name; NULL: nothing of note */
    bool has_share;     /* false: it is not known, or what binds is the fetching of code, which is no row's */
    double share;       /* of what the part that binds the kernel has to do, from 0 to 1 */
    const char *advice; /* a sentence with figures; NULL: there is little to gain */
    double gain; /* with an advice: the most that it can save of one part, over the time of the part that
                    binds */

    const uint64_t *lines_histogram;    /* [n]: executions that touched n lines; the last: or more */
    const struct wm_profile_wave *wave; /* NULL: no lane of any execution reached memory */
};

enum { WM_PROFILE_BOUNDS = 8 };

/* The names of the parts of a GPU that can bind a kernel: of a bound, of a row's limit. */
WM_API const char *const *wm_bound_names(size_t *count);

/* The least time that one part of the GPU needs for the whole work. */
struct wm_bound {
    const char *name; /* of wm_bound_names() */
    double clocks;    /* of the product's highest clock */
    double seconds;
    const char *arithmetic; /* "1048576 B / (64 B/clock x 104)" */
};

/* One cache of the product over a kernel's dispatches, all its instances together. */
struct wm_profile_cache {
    const char *name; /* "vector L1", "L0", "GL1", "scalar", "instruction", "L2", "Infinity Cache" */
    enum wm_cache_level level;
    uint32_t instances;
    struct wm_cache_use read, write, atomic;
};

/* Why caches did not see all that workgroups ask for, or not as many workgroups at once as fit. */
enum wm_profile_cut {
    WM_CUT_ROUND = 1,     /* more workgroups at once would take more than 128 MiB of log */
    WM_CUT_WORKGROUP = 2, /* one takes more than 1 GiB of log: caches did not see what follows */
    WM_CUT_REGIONS = 4,   /* more than 62 regions of 4 GiB are touched: the others count as the first */
    WM_CUT_NO_MEMORY = 8, /* there was no memory for a part of the log */
};

/* A kernel over all dispatches that the profile observed. Without a product (gpu NULL) only its counts. */
struct wm_profile_kernel {
    const char *kernel;
    uint64_t pc; /* where it begins */
    uint64_t dispatches, workgroups, waves;
    uint64_t instructions; /* executed by waves */
    const struct wm_gpu *gpu;

    /* Occupancy: what fits at once onto a compute unit, in WGP mode onto a WGP, which is two of them. */
    uint32_t workgroup_items, vgprs, sgprs, lds_bytes; /* of a workgroup, a wave, a wave, a workgroup */
    uint32_t waves_per_simd, waves_per_simd_most;
    uint32_t workgroups_per_cu; /* in WGP mode of a WGP */
    const char *mode; /* "CU" or "WGP": what the waves of a workgroup share; NULL: there are no modes */
    const char *occupancy_limit; /* "VGPRs", "SGPRs", "LDS", "waves", "workgroups" */

    /* What waves fetched of their code, in aligned pieces of fetch_bytes; what became of it at each cache and
     * in memory is part of the kernel's figures, but of no row's. */
    uint64_t fetches;
    uint32_t fetch_bytes;
    uint32_t code_bytes; /* of the last dispatch's code, as far as branches lead */
    struct wm_cache_use fetch_use[WM_CACHE_LEVELS];
    uint64_t fetch_memory_read; /* bytes */
    uint64_t fetch_missed;      /* lines that the instruction caches had not, */
    uint64_t fetch_late; /* and those that they had asked for just before, behind one that was wanted */

    struct wm_profile_cache cache[WM_CACHE_LEVELS];
    uint32_t caches;                      /* how many of them there are */
    uint64_t vector_invalidations;        /* of vector caches, by waves: buffer_gl0_inv and its kin */
    uint64_t memory_read, memory_written; /* bytes from and to DRAM */
    uint64_t memory_dirty;                /* bytes that the last dispatch left written in the caches */
    /* With wm_profile_set_sample(): all counts, and those of the rows, are of `workgroups` out of so many;
     * the bounds are of all. Else 0. */
    uint64_t sampled_from;
    double sample_scale; /* how many times as much as was counted all of them ask for; 1 without a sample */
    double sample_error; /* of what instructions ask for when it is scaled up: half the width of the interval
                            that holds the truth in 95 of 100 cases, if rounds were drawn at random, as a
                            share; below 0: there are too few to tell. It is not that of hits and of memory:
                            caches were shown the sample alone */
    uint64_t resident_workgroups; /* most that the caches were modelled with at once */
    bool resident_cut;            /* caches did not see all as they should: */
    unsigned cuts;                /* enum wm_profile_cut, of all dispatches */

    struct wm_bound bound[WM_PROFILE_BOUNDS];
    uint32_t bounds;
    const struct wm_bound *binds; /* the longest; a lower bound of the kernel's time, no prediction */
    const char *advice;           /* a sentence where code is what binds; else NULL: the rows have it */
};

/* One struct wm_profile_kernel per kernel, by address; valid until the next dispatch or wm_profile_destroy.
 */
WM_API const struct wm_profile_kernel *wm_profile_kernels(struct wm_profile *profile, size_t *count);

WM_API enum wm_status wm_profile_create(struct wm_profile **profile, struct wm_diag *diag);
/* The product whose caches are modelled, which is copied; so it may be a wm_gpu_find() one with another size
 * of L2. Without this it is the default of the first dispatch's target. WM_BAD_ARGUMENT: after the first
 * dispatch, or figures that cannot be modelled (no L2, no XCD, lines that are not of 64 or 128 bytes); the
 * message says which. A dispatch whose target is of another
 * generation than gpu->targets is refused; so is the replay of a trace of one. */
WM_API enum wm_status wm_profile_set_gpu(struct wm_profile *profile, const struct wm_gpu *gpu,
                                         struct wm_diag *diag);
/* Observes only one in so many rounds of workgroups, those that are resident at once; all are executed. 1:
 * all. WM_BAD_ARGUMENT: 0, or after the first dispatch. */
WM_API enum wm_status wm_profile_set_sample(struct wm_profile *profile, unsigned one_in,
                                            struct wm_diag *diag);
/* Writes what the profile observes into a file from now on: docs/trace.md has the format. The file
 * appears when wm_profile_end_trace() says that it is whole; until then there is NAME.PID.part beside it.
 * WM_BAD_ARGUMENT: after the first dispatch. */
WM_API enum wm_status wm_profile_trace(struct wm_profile *profile, const char *path, struct wm_diag *diag);
/* Completes that file; WM_IO, WM_NO_MEMORY: it could not be, and there is none. Without a trace, or before
 * the first dispatch, nothing is written; wm_profile_destroy() without this leaves no file either. */
WM_API enum wm_status wm_profile_end_trace(struct wm_profile *profile, struct wm_diag *diag);
/* Makes a new profile tell what the `size` bytes of a trace hold; `name` stands in messages. The product is
 * that of wm_profile_set_gpu(), else the one that the trace was made with; one of another generation is
 * refused with WM_BAD_ARGUMENT. With the same product all figures are those of the profile that wrote the
 * trace. WM_BAD_FILE: it is no trace, cut off or damaged; WM_UNSUPPORTED: of another version. */
WM_API enum wm_status wm_profile_replay(struct wm_profile *profile, const void *bytes, size_t size,
                                        const char *name, struct wm_diag *diag);
/* The product that a trace was made with. Errors as above; WM_NOT_FOUND: it is not known here. */
WM_API enum wm_status wm_trace_gpu(const void *bytes, size_t size, const char *name,
                                   const struct wm_gpu **gpu, struct wm_diag *diag);
WM_API void wm_profile_destroy(struct wm_profile *profile);

/* A dispatch that the profile observed. */
struct wm_profile_dispatch {
    const char *kernel, *target;    /* "gfx900" */
    uint32_t grid[3], workgroup[3]; /* work-items */
};

/* The code of a symbol that rows lie in, up to the next symbol. */
struct wm_profile_code {
    const char *kernel;   /* the symbol */
    const char *target;   /* "gfx1030" */
    unsigned wave_lanes;  /* 32 or 64: of the first dispatch that came here */
    uint64_t pc;          /* guest address of the first byte */
    const uint8_t *bytes; /* of each instruction at its offset */
    size_t size;
};

/* In their order, those of a replayed trace as well. Valid until the next dispatch or wm_profile_destroy. */
WM_API const struct wm_profile_dispatch *wm_profile_dispatches(struct wm_profile *profile, size_t *count);
WM_API const struct wm_profile_code *wm_profile_code(struct wm_profile *profile, size_t *count);
/* Gives the profile, and the trace that it writes, the text of a source file that rows name; a name's first
 * text stays. WM_NO_MEMORY: none, or more than 64 MiB of code and sources in all. */
WM_API enum wm_status wm_profile_add_source(struct wm_profile *profile, const char *name, const char *text,
                                            struct wm_diag *diag);
/* A text that was given, or was in the replayed trace; NULL: there is none. */
WM_API const char *wm_profile_source(struct wm_profile *profile, const char *name);

/* The rows, in order of their address; valid until the next dispatch or wm_profile_destroy. */
WM_API const struct wm_profile_row *wm_profile_rows(struct wm_profile *profile, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
