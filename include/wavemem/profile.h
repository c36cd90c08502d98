/* SPDX-License-Identifier: MIT */
/* The profile: the cost of each memory instruction of a dispatch. */
#ifndef WAVEMEM_PROFILE_H
#define WAVEMEM_PROFILE_H

#include "gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wm_profile; /* an observer that measures memory instructions */

enum { WM_PROFILE_LINES = 64 };

/* One recorded execution: the first one that accessed memory, of the lowest workgroup and wave. */
struct wm_profile_wave {
    uint32_t workgroup[3], wave;
    bool in_lds;          /* the addresses are LDS offsets */
    uint32_t bytes;       /* per lane, of the instruction's first element */
    uint64_t lanes;       /* mask of the lanes that accessed memory */
    uint64_t address[64]; /* of these lanes */
};

/* Requests to one cache. A request is the access of one instruction of one wave to one cache line. */
struct wm_cache_use {
    uint64_t requests, hits;
    uint64_t bytes; /* transferred between the cache and its clients */
};

/* One memory instruction over all dispatches that the profile observed. */
struct wm_profile_row {
    const char *kernel;      /* symbol that contains it */
    const char *text;        /* in LLVM's syntax */
    const char *path;        /* "GLOBAL", "FLAT", "SCRATCH", "BUFFER", "SMEM", "DS" */
    const char *operation;   /* "load", "store", "atomic" */
    const char *file;        /* source file, or NULL */
    unsigned line, column;   /* 0 when unknown */
    uint64_t pc, offset;     /* guest address; offset from the symbol, bytes */
    uint64_t executions;     /* counted per wave */
    uint64_t lanes;          /* active lanes, summed over the executions */
    uint32_t bytes;          /* per lane, at most */
    uint64_t bytes_asked;    /* lanes x bytes */
    uint64_t distinct_bytes; /* distinct bytes of each execution, summed */
    uint64_t lines;          /* distinct cache lines of each execution, summed; 0 for DS */
    uint32_t line_bytes;     /* line size of the generation's vector cache, 64 or 128 */
    uint64_t ideal_lines;    /* max(1, ceil(distinct bytes / line_bytes)) per execution with lanes, summed */
    bool has_lines;          /* false for DS */

    /* The vector memory path, for all instructions but SMEM, DS and GDS. Sums over the executions. Requests
     * are counted as if the vector cache were empty. */
    bool has_vector;
    uint64_t
        fast; /* executions on the fast path of the address unit, which takes a group of lanes per clock */
    uint64_t accesses;        /* as TCP_TOTAL_ACCESSES counts them: 16 on the fast path, otherwise 64 */
    uint64_t address_clocks;  /* clocks of the address unit */
    uint64_t tag_lookups;     /* tag lookups in the vector cache, as TCP_TOTAL_CACHE_ACCESSES counts them */
    uint64_t tag_clocks;      /* clocks of these lookups: the tags look up several lines per clock */
    uint64_t read_requests;   /* to L2, of 64 bytes; on gfx942 and from gfx10 on of 128 */
    uint64_t write_requests;  /* of 64 bytes; from gfx10 on of 128 */
    uint64_t atomic_requests; /* atomics to one address are not merged */
    bool returns;             /* an atomic that returns the previous value (needs a product) */
    uint64_t collapsed;       /* stores to an address that a lower lane of the wave also stores to */
    bool has_tcp_counters;    /* the generation has counters such as TCP_TOTAL_ACCESSES */

    /* LDS: DS instructions, and FLAT instructions that access LDS. Sums, except for the last three. */
    bool has_lds;
    uint64_t lds_passes;    /* passes over the LDS banks */
    uint64_t lds_conflicts; /* passes added by bank conflicts */
    uint64_t lds_serial;    /* lanes serialized because one lane was misaligned */
    uint32_t lds_depth;     /* maximum number of distinct dwords in one bank; 1: no conflict */
    uint32_t lds_bank;      /* that bank */
    uint64_t lds_lanes;     /* mask of the lanes that accessed it */

    /* Results of the cache model, see docs/model.md. False: no product is known for the target. */
    bool has_caches;
    uint64_t data_clocks; /* to read the vector cache's banks and to move data to or from VGPRs */
    struct wm_cache_use cache[WM_CACHE_LEVELS]; /* requests caused by this instruction at each level */
    uint64_t memory_read, memory_written;       /* DRAM bytes; written: counted when lines are written back */
    uint64_t wait_depth;      /* memory instructions of the wave in flight at issue, including
                                 itself; summed over the executions */
    uint32_t wait_depth_most; /* the same, maximum */
    const char *limit;        /* the part that spends most time on it, of wm_bound_names(); NULL: none */
    bool has_share; /* false: unknown, or the kernel is bound by instruction fetch, which belongs to no row */
    double share;   /* of the work of the part that bounds the kernel, from 0 to 1 */
    bool has_waits; /* false: no time is predicted */
    double waits;   /* of the time that the kernel's waves take, each as if it were alone, the share that they
                     * wait for this instruction, as predicted; 0: others hide its latency */
    const char *advice; /* of the first finding that names this row: verdict, numbers, change; NULL: none */
    double gain;        /* of that finding */

    const uint64_t *lines_histogram;    /* [n]: executions that accessed n lines; the last one: n or more */
    const struct wm_profile_wave *wave; /* NULL: no execution accessed memory */
};

enum { WM_PROFILE_BOUNDS = 19 };

/* The names of the parts of a GPU that can bound a kernel, as in struct wm_bound and wm_profile_row.limit. */
WM_API const char *const *wm_bound_names(size_t *count);

/* The minimum time that one part of the GPU needs for all work of the kernel. */
struct wm_bound {
    const char *name; /* of wm_bound_names() */
    double clocks;    /* at the product's maximum clock */
    double seconds;
    const char *arithmetic; /* "1048576 B / (64 B/clock x 16 channels)" */
};

enum { WM_PREDICTED_PARTS = WM_PROFILE_BOUNDS + 1 };

/* What a kernel's time would be if one thing alone took time. */
struct wm_predicted_part {
    const char *name; /* of wm_bound_names(), or "latency" */
    double seconds;
};

/* The predicted time of a kernel, summed over its dispatches; docs/model.md states how it is computed. It
 * does not include what a program waits for before and after a dispatch. */
struct wm_predicted {
    double seconds;   /* 0: unknown */
    double factor;    /* two thirds of measured times were within seconds / factor and seconds * factor */
    double doubled;   /* seconds if twice as many workgroups were resident */
    const char *like; /* the product whose latencies are used because its own are unknown; NULL: its own */
    double launch;    /* seconds between the start of a dispatch and its first wave, and the like */
    struct wm_predicted_part part[WM_PREDICTED_PARTS]; /* the longest first */
    uint32_t parts;
};

/* One level of cache, summed over its instances and the kernel's dispatches. */
struct wm_profile_cache {
    const char *name; /* "vector L1", "vector L0", "GL1", "scalar", "instruction", "L2", "Infinity Cache" */
    enum wm_cache_level level;
    uint32_t instances;
    struct wm_cache_use read, write, atomic;
    /* How misses are spread over the sets of an instance, summed over the instances: of cached loads, in L2
     * of all requests. 0: not counted (last level). Real caches may hash addresses, which is not known. */
    uint32_t sets;
    uint32_t
        hot_sets;     /* the fewest sets that have at least half of the misses; evenly spread: half of them */
    uint32_t hot_set; /* the one with most misses */
    uint64_t set_misses, hot_set_misses; /* of all sets, of that one */
    /* The same for the channels of L2, which are interleaved by 256 bytes. 0: their number is not known. */
    uint32_t channels, hot_channels, hot_channel;
    uint64_t hot_channel_misses;
};

/* Why the cache model did not see all accesses, or fewer workgroups at once than are resident. */
enum wm_profile_cut {
    WM_CUT_ROUND = 1,     /* the log of all resident workgroups would exceed 128 MiB */
    WM_CUT_WORKGROUP = 2, /* the log of one workgroup exceeds 1 GiB: later accesses are not modelled */
    WM_CUT_REGIONS = 4,   /* more than 62 regions of 4 GiB are accessed: the others alias the first */
    WM_CUT_NO_MEMORY = 8, /* the host ran out of memory for part of the log */
};

enum { WM_OCCUPANCY_LIMITS = 5 };

/* What one resource allows at once on a compute unit, in WGP mode on a WGP. */
struct wm_occupancy_limit {
    const char *name;        /* "VGPRs", "SGPRs", "LDS", "waves", "workgroups" */
    uint32_t workgroups;     /* 0: one workgroup needs more than there is */
    uint32_t waves_per_simd; /* of these workgroups, rounded up */
};

/* Executed instructions by the unit that executes them, counted per wave. */
struct wm_profile_executed {
    uint64_t vector; /* by the VALU or its neighbours, including `matrix` */
    uint64_t matrix;
    uint64_t matrix_clocks; /* of the matrix units of SIMDs */
    uint64_t scalar, branches, messages, scalar_memory, vector_memory, lds, gds, exports;
    uint64_t internal; /* s_waitcnt, s_barrier, s_nop, s_endpgm and the like */
    /* Active lanes of `vector`, summed over the instructions: those that were active when the block of code
     * began, which ends at the next branch or branch target. Divided by `vector` and the wave size it is
     * ROCm's VALUUtilization. */
    uint64_t vector_lanes;
};

/* A kernel over all observed dispatches. Without a product (gpu NULL) it has counts only. */
struct wm_profile_kernel {
    const char *kernel;
    uint64_t pc; /* entry, guest address */
    uint64_t dispatches, workgroups, waves;
    uint64_t instructions; /* executed, counted per wave */
    struct wm_profile_executed executed;
    double work_items; /* of these workgroups, of which those at the edges of grids may have fewer; 0 without
                          a product */
    const struct wm_gpu *gpu;

    /* Occupancy of a compute unit, in WGP mode of a WGP (two compute units). */
    uint32_t workgroup_items, vgprs, sgprs, lds_bytes; /* per workgroup, wave, wave, workgroup */
    uint32_t waves_per_simd, waves_per_simd_most;
    uint32_t workgroups_per_cu;  /* in WGP mode per WGP */
    const char *mode;            /* "CU" or "WGP"; NULL: the generation has no such modes */
    const char *occupancy_limit; /* "VGPRs", "SGPRs", "LDS", "waves", "workgroups" */

    /* Instruction fetches of all waves, in aligned blocks of fetch_bytes. Their cache and memory traffic is
     * part of the kernel's figures but of no row. */
    uint64_t fetches;
    uint32_t fetch_bytes;
    uint32_t code_bytes; /* size of the code reachable by branches, last dispatch */
    struct wm_cache_use fetch_use[WM_CACHE_LEVELS];
    uint64_t fetch_memory_read; /* bytes */
    uint64_t fetch_missed;      /* lines that missed in the instruction caches */
    uint64_t fetch_late;        /* lines that were already being fetched along with the preceding line */

    struct wm_profile_cache cache[WM_CACHE_LEVELS];
    uint32_t caches;                      /* number of entries in `cache` */
    uint64_t vector_invalidations;        /* of vector caches, by instructions such as buffer_gl0_inv */
    uint64_t memory_read, memory_written; /* DRAM bytes */
    uint64_t memory_dirty;                /* modified bytes left in the caches by the last dispatch */
    bool l2_kept;                         /* wm_profile_keep_l2() applies */
    uint64_t l2_flushed; /* bytes that L2 wrote back when the dispatches ended; part of what is written */
    /* With wm_profile_set_sample(): the number of all workgroups. All counts, also of the rows, are those of
     * the `workgroups` that were sampled; the bounds are scaled to all. Otherwise 0. */
    uint64_t sampled_from;
    double sample_scale; /* what all workgroups request, over what was counted; 1 without a sample */
    double sample_error; /* relative error of the scaled requests: half the width of the 95 % confidence
                            interval for randomly drawn rounds; below 0: too few rounds. It does not apply
                            to hits and memory traffic, because the caches saw only the sample */
    uint64_t resident_workgroups; /* maximum number that the cache model had resident at once */
    bool resident_cut;            /* `cuts` is not 0 */
    unsigned cuts;                /* enum wm_profile_cut, of all dispatches */

    struct wm_bound bound[WM_PROFILE_BOUNDS];
    uint32_t bounds;
    const struct wm_bound *binds; /* the longest: a lower bound of the kernel's time, not a prediction */
    struct wm_predicted predicted;
    /* The resources that the kernel uses, and the limits of the hardware; occupancy_limit names the first of
     * the lowest. */
    struct wm_occupancy_limit occupancy[WM_OCCUPANCY_LIMITS];
    uint32_t occupancy_limits;
};

/* The kernels, ordered by address; valid until the next dispatch or wm_profile_destroy. */
WM_API const struct wm_profile_kernel *wm_profile_kernels(struct wm_profile *profile, size_t *count);

WM_API enum wm_status wm_profile_create(struct wm_profile **profile, struct wm_diag *diag);
/* Sets the product whose caches are modelled. *gpu is copied, so the caller may pass a wm_gpu_find() product
 * with, for example, another L2 size. The default is that of the first dispatch's target. WM_BAD_ARGUMENT:
 * called after the first dispatch, or figures that cannot be
 * modelled (no L2, no XCD, lines that are not of 64 or 128 bytes); the message says which. Dispatches and
 * traces whose target is of another generation than gpu->targets are refused. */
WM_API enum wm_status wm_profile_set_gpu(struct wm_profile *profile, const struct wm_gpu *gpu,
                                         struct wm_diag *diag);
/* Observes one in `one_in` rounds of workgroups (a round: those resident at once); all workgroups are
 * executed. 1: observe all. WM_BAD_ARGUMENT: 0, or called after the first dispatch. */
WM_API enum wm_status wm_profile_set_sample(struct wm_profile *profile, unsigned one_in,
                                            struct wm_diag *diag);
/* Lets L2 keep its contents from one dispatch to the next; without, it is written back and invalidated when a
 * dispatch ends. Ignored for products with several XCDs, whose L2s are not coherent with each other.
 * WM_BAD_ARGUMENT: called after the first dispatch. */
WM_API enum wm_status wm_profile_keep_l2(struct wm_profile *profile, struct wm_diag *diag);
/* Records everything that the profile observes in a trace file; docs/trace.md describes the format. Until
 * wm_profile_end_trace() completes it, the data is in NAME.PID.part in the same folder. WM_BAD_ARGUMENT:
 * called after the first dispatch. */
WM_API enum wm_status wm_profile_trace(struct wm_profile *profile, const char *path, struct wm_diag *diag);
/* Completes the trace file. WM_IO, WM_NO_MEMORY: it could not be written, and no file remains. Nothing is
 * written if no trace was started or nothing was dispatched; wm_profile_destroy() without this call leaves no
 * file. */
WM_API enum wm_status wm_profile_end_trace(struct wm_profile *profile, struct wm_diag *diag);
/* Fills a new profile from the `size` bytes of a trace; `name` appears in messages. The product is that of
 * wm_profile_set_gpu(), by default the one of the trace. With the same product, all figures equal those of
 * the profile that wrote the trace. WM_BAD_ARGUMENT: a product of another generation; WM_BAD_FILE: not a
 * trace, truncated or damaged; WM_UNSUPPORTED: another version of the format. */
WM_API enum wm_status wm_profile_replay(struct wm_profile *profile, const void *bytes, size_t size,
                                        const char *name, struct wm_diag *diag);
/* Finds the product that a trace was made with. Errors as above; WM_NOT_FOUND: this library does not know it.
 */
WM_API enum wm_status wm_trace_gpu(const void *bytes, size_t size, const char *name,
                                   const struct wm_gpu **gpu, struct wm_diag *diag);
/* The workgroups of a dispatch that ran: wm_dispatch.first_workgroup, workgroup_count. */
struct wm_trace_range {
    uint64_t first_workgroup, workgroup_count;
};
/* A trace of dispatches of which some workgroups ran. */
struct wm_trace_part {
    const void *bytes;
    size_t size;
    const char *name; /* for messages */
    const struct wm_trace_range *dispatches;
    size_t dispatch_count;
};
/* Writes one trace of the parts, which are of the same dispatches, in the order of their workgroups, all of
 * them. Its replay gives the figures of a profile of the whole dispatches, if workgroups do not communicate.
 * Errors as of wm_profile_replay(); WM_BAD_FILE also: the parts are of different dispatches, or a part lacks
 * dispatches or workgroups; WM_IO: the trace cannot be written. */
WM_API enum wm_status wm_trace_merge(const struct wm_trace_part *parts, size_t count, const char *path,
                                     struct wm_diag *diag);
WM_API void wm_profile_destroy(struct wm_profile *profile);

/* An observed dispatch. */
struct wm_profile_dispatch {
    const char *kernel, *target;    /* "gfx900" */
    uint32_t grid[3], workgroup[3]; /* work-items */
};

/* The code of a symbol that contains rows, up to the next symbol. */
struct wm_profile_code {
    const char *kernel;   /* the symbol */
    const char *target;   /* "gfx1030" */
    unsigned wave_lanes;  /* wave size, 32 or 64, of the first dispatch that executed it */
    uint64_t pc;          /* guest address of the first byte */
    const uint8_t *bytes; /* the code */
    size_t size;
};

/* The dispatches and the code in order, including those of a replayed trace. Valid until the next dispatch or
 * wm_profile_destroy. */
WM_API const struct wm_profile_dispatch *wm_profile_dispatches(struct wm_profile *profile, size_t *count);
WM_API const struct wm_profile_code *wm_profile_code(struct wm_profile *profile, size_t *count);
/* Adds the text of a source file that rows refer to, to the profile and to its trace. If the name already has
 * a text, the first one is kept. WM_NO_MEMORY: out of memory, or code and sources exceed 64 MiB in total. */
WM_API enum wm_status wm_profile_add_source(struct wm_profile *profile, const char *name, const char *text,
                                            struct wm_diag *diag);
/* The text of a source file that was added or is in the replayed trace; NULL: none. */
WM_API const char *wm_profile_source(struct wm_profile *profile, const char *name);

/* The rows, ordered by address; valid until the next dispatch or wm_profile_destroy. */
WM_API const struct wm_profile_row *wm_profile_rows(struct wm_profile *profile, size_t *count);

/* The names of the causes of findings, as in struct wm_profile_finding. */
WM_API const char *const *wm_cause_names(size_t *count);

/* Something that makes a kernel slower than it could be. `after` is the bound of the kernel if `change` were
 * made and nothing else: computed by the same rules as `now`, from what the instructions would then request
 * (docs/model.md, "Findings"). The real kernel takes longer than either. Texts have no final period. */
struct wm_profile_finding {
    const char *kernel; /* as in struct wm_profile_kernel */
    uint64_t pc;
    const char *cause;   /* of wm_cause_names(): "bank-conflicts" */
    const char *verdict; /* what is wrong: "LDS bank conflicts" */
    const char *place;   /* "a.cl:12", "a.cl:12, a.cl:9 and 3 more", without a line table "+0x40"; "kernel" */
    const char *file;    /* source file and line, if it is one line; else NULL and 0 */
    unsigned line;
    const char *numbers;                      /* what was counted: "31.0 of 32.0 LDS passes are conflicts" */
    const char *change;                       /* what to change */
    const struct wm_profile_row *const *rows; /* its instructions, most costly first */
    size_t row_count;                         /* 0: the whole kernel */
    struct wm_bound now, after; /* names of the part that bounds, before and after; without arithmetic */
    /* The predicted time now and after the change, seconds; 0: unknown. Waves wait for memory as long as
     * today. */
    double predicted, predicted_after;
    /* 1 - after / now, of the bound or of the predicted time, whichever is more; 0: neither changes */
    double gain;
};

/* ---- timelines ---- */

enum wm_timeline_unit {
    WM_TIMELINE_OTHER, /* waits, barriers, messages, s_nop, s_endpgm */
    WM_TIMELINE_SALU,
    WM_TIMELINE_BRANCH,
    WM_TIMELINE_SMEM,
    WM_TIMELINE_VALU,
    WM_TIMELINE_MATRIX,
    WM_TIMELINE_VMEM, /* also FLAT */
    WM_TIMELINE_LDS,
    WM_TIMELINE_GDS,
    WM_TIMELINE_EXPORT,
    WM_TIMELINE_UNITS
};

/* An instruction of the code of a timeline. */
struct wm_timeline_code {
    uint64_t pc, offset; /* guest address; offset from the symbol, bytes */
    const char *text;    /* in LLVM's syntax */
    const char *symbol;
    const char *file; /* or NULL */
    unsigned line;    /* 0: unknown */
    uint32_t bytes;   /* of the instruction */
    enum wm_timeline_unit unit;
    double latency; /* of a memory access, clocks; 0: none */
};

/* One instruction of one wave. It waits, stalls and issues, in this order; then the next one begins. */
struct wm_timeline_step {
    double begin;  /* clocks from the start of the dispatch */
    float waits;   /* clocks in which it waits for memory, or for other waves at a barrier */
    float stalls;  /* likewise for results of earlier instructions, and until its unit is free */
    float issues;  /* clocks */
    uint32_t code; /* index of its instruction */
};

struct wm_timeline_wave {
    uint32_t workgroup[3], wave;
    uint32_t unit; /* compute unit, in WGP mode of RDNA the WGP, from 0 on */
    uint32_t simd, slot;
    double begin, end; /* clocks from the start of the dispatch */
    const struct wm_timeline_step *step;
    size_t steps;
    bool cut; /* it executed more than these */
};

/* The predicted timeline of a dispatch on its first compute units. Every time in it is a prediction: the
 * model is that of wm_predicted, applied to single instructions; docs/model.md, "Timelines". */
struct wm_timeline {
    const char *kernel;
    const struct wm_gpu *gpu;
    uint64_t dispatch; /* number, from 0 on */
    uint32_t wave_size, workgroup_waves;
    uint64_t workgroups; /* of the dispatch */
    uint32_t units;      /* compute units (in WGP mode WGPs) that are shown */
    uint32_t units_all;  /* that the product has */
    uint32_t resident;   /* workgroups that one holds at once */
    double launch;       /* clocks before the first wave, and the like */
    double clocks;       /* predicted, with `launch` */
    double end;          /* of the last wave shown, without it */
    double slower; /* latencies of memory were multiplied by this so that the waves end when predicted */
    const struct wm_timeline_code *code;
    size_t codes;
    const struct wm_timeline_wave *wave; /* by unit, then workgroup, then wave */
    size_t waves;
    uint64_t workgroups_shown; /* fewer than run on these units: the others were too many to be recorded */
};

/* Records single waves, for wm_profile_timelines(). Their instructions are then not compiled.
 * WM_BAD_ARGUMENT: called after the first dispatch. */
WM_API enum wm_status wm_profile_set_timeline(struct wm_profile *profile, struct wm_diag *diag);
/* The timelines of the dispatches, in order; none for products that are not known. Valid until the next
 * dispatch or wm_profile_destroy. */
WM_API const struct wm_timeline *wm_profile_timelines(struct wm_profile *profile, size_t *count);

/* The findings: kernels in the order of their addresses, and of each the largest gain first. Valid until the
 * next dispatch or wm_profile_destroy. */
WM_API const struct wm_profile_finding *wm_profile_findings(struct wm_profile *profile, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
