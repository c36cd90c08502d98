/* SPDX-License-Identifier: MIT */
/* The data of a profile, for the files that implement it. */
#ifndef WMI_PROFILE_LINES_H
#define WMI_PROFILE_LINES_H

#include "profile/caches/rounds.h"
#include "profile/cost/rates.h"
#include "profile/measure/fetch.h"
#include "profile/measure/measure.h"
#include "profile/measure/sample.h"
#include "profile/origins.h"
#include "profile/profile.h"

#include <assert.h>
#include <pthread.h>

enum { WMI_NO_SLOT = UINT32_MAX };
enum { WMI_ADVICE_BYTES = 240, WMI_ARITHMETIC_BYTES = 320 };

/* Counts of one instruction. */
struct wmi_counts {
    uint64_t depth; /* of the wait counter, summed over the executions */
    uint32_t depth_most;
    uint8_t path, kind;
    uint32_t bytes; /* per lane */
    uint64_t executions, sum[WMI_SUM_COUNT];
    struct wmi_lds_cost worst; /* the execution with the worst bank conflict: depth, bank, lanes */
    uint64_t histogram[WM_PROFILE_LINES + 1];
    struct wm_profile_wave wave;
};

struct wmi_profiled {
    struct wm_profile_row row; /* description of the instruction, without counts */
    unsigned id;
    struct wmi_counts counts;
};

/* A kernel's dispatches, as seen by the cache model. */
struct wmi_kernel {
    struct wmi_profile_dispatch dispatch; /* the last one; owns its name */
    uint64_t dispatches, workgroups, waves, instructions, most_groups, dirty;
    unsigned cuts; /* enum wm_profile_cut */
    uint32_t waves_per_simd, wave_lanes;
    struct wmi_residence residence;
    const char *occupancy_limit;
    struct wmi_caches_sums sums, before;                            /* before: at the start of the dispatch */
    uint64_t counted[WMI_SUM_COUNT], counted_before[WMI_SUM_COUNT]; /* summed over all instructions */
    uint64_t work[WMI_WORK_COUNTS];                                 /* executed */
    uint64_t *written; /* by slot: bytes that its dispatches wrote to DRAM; written_count entries */
    size_t written_count;
    struct wmi_sample_sum sample; /* used if not all workgroups are observed */
    char arithmetic[WM_PROFILE_BOUNDS][WMI_ARITHMETIC_BYTES], advice[WMI_ADVICE_BYTES];
};

struct wmi_shard; /* shard.h */

struct wm_profile {
    bool busy;
    struct wmi_observer observer;
    struct wmi_profile_source source;
    struct wmi_profiled *instructions; /* by slot */
    size_t count, capacity;
    uint32_t *index; /* hash of pc -> slot + 1, open addressing; twice the capacity */
    struct wm_profile_row *rows;
    char (*advice)[WMI_ADVICE_BYTES]; /* of the rows */
    struct wm_gpu gpu;
    bool has_gpu, began, keeps_l2;
    bool no_model; /* out of memory for the cache model */
    bool missed;   /* out of memory in the current dispatch: the profile is incomplete */
    struct wmi_fetches fetches;
    uint64_t work[WMI_WORK_COUNTS];               /* executed in the current dispatch */
    struct wmi_shard *shards;                     /* unused, kept for the next dispatch */
    struct wmi_rounds *rounds;                    /* NULL: no product */
    struct wmi_log_instruction *log_instructions; /* WMI_LOG_SLOTS, with rounds */
    struct wmi_kernel *kernels;                   /* kernel_count of them */
    size_t kernel_count, kernel;                  /* kernel: index for the current dispatch */
    uint64_t *written_before; /* by slot: bytes written to DRAM before the current dispatch; written_slots
                                 entries */
    uint32_t written_slots;
    struct wm_profile_kernel *kernel_rows;
    unsigned one_in;              /* one in so many rounds is observed; 0 and 1: all */
    struct wmi_sampling sampling; /* of the current dispatch */
    struct wmi_sample sample;     /* of the current dispatch, if not all rounds are observed */
    struct wmi_origins origins;
    struct wmi_tracer *tracer; /* writes the trace; or NULL */
    pthread_mutex_t lock;      /* protects adding shards and instructions */
};

/* In lines.c: after wmi_profile_end(), whether there was no memory for something of the dispatch. */
bool wmi_profile_missed(const struct wm_profile *profile);
/* In lines.c: returns the slot of instruction `id` at `pc`, or WMI_NO_SLOT. */
uint32_t wmi_profile_slot(const struct wm_profile *profile, uint64_t pc, unsigned id);

struct wmi_binding;

/* In needs.c: the clocks that each part spends on the instruction, with the compute units and SIMDs that the
 * binding has; 0: none or unknown. */
void wmi_needs(const struct wm_profile_row *row, const struct wm_gpu *gpu, const struct wmi_binding *binding,
               double clocks[WMI_GPU_PARTS]);
/* Sets limit, share, advice and gain of a row that is otherwise complete. text: buffer for the advice. */
void wmi_judge(struct wm_profile *profile, size_t slot, struct wm_profile_row *row,
               char text[WMI_ADVICE_BYTES]);

/* In advice.c: writes advice for the instruction, and for each part the maximum share of its work on the
 * instruction that following it saves. False: no advice. */
bool wmi_advise(const struct wm_profile_row *row, unsigned wave_lanes, char text[WMI_ADVICE_BYTES],
                double saved[WMI_GPU_PARTS]);
/* The same for a kernel that is bound by instruction fetch, which belongs to no row. */
bool wmi_advise_kernel(const struct wm_profile_kernel *kernel, char text[WMI_ADVICE_BYTES]);

/* In kernels.c: called at the start and end of the dispatch profile->source.dispatch. */
void wmi_kernels_begin(struct wm_profile *profile);
void wmi_kernels_end(struct wm_profile *profile);
void wmi_kernels_destroy(struct wm_profile *profile);
/* The part that bounds the kernel whose entry is `pc` (or the only kernel), its clocks (as counted, not
 * scaled for a sample), the numbers of compute units and SIMDs with work, and the wave size. False: no part
 * does. */
struct wmi_binding {
    enum wmi_gpu_part part;
    double clocks, units, simds;
    unsigned wave_lanes;
    const uint64_t *written; /* by slot, see struct wmi_kernel */
    size_t written_count;
};
bool wmi_kernels_binding(struct wm_profile *profile, uint64_t pc, struct wmi_binding *binding);

#endif
