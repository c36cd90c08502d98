/* SPDX-License-Identifier: MIT */
/* What a profile keeps, for the files that make it. */
#ifndef WMI_PROFILE_LINES_H
#define WMI_PROFILE_LINES_H

#include "profile/caches/rounds.h"
#include "profile/measure/fetch.h"
#include "profile/measure/measure.h"
#include "profile/measure/sample.h"
#include "profile/origins.h"
#include "profile/profile.h"

#include <assert.h>
#include <pthread.h>

enum { WMI_NO_SLOT = UINT32_MAX };
enum { WMI_ADVICE_BYTES = 240 };

/* What one instruction did. */
struct wmi_counts {
    uint64_t depth; /* of the wait counter, summed */
    uint32_t depth_most;
    uint8_t path, kind;
    uint32_t bytes; /* per lane */
    uint64_t executions, sum[WMI_SUM_COUNT];
    struct wmi_lds_cost worst; /* the execution with the deepest conflict: depth, bank, lanes */
    uint64_t histogram[WM_PROFILE_LINES + 1];
    struct wm_profile_wave wave;
};

struct wmi_profiled {
    struct wm_profile_row row; /* what the source said of it; no counts */
    unsigned id;
    struct wmi_counts counts;
};

/* What a kernel's dispatches did, as far as the model of caches saw it. */
struct wmi_kernel {
    struct wmi_profile_dispatch dispatch; /* of the last one; the name is its own */
    uint64_t dispatches, workgroups, waves, instructions, most_groups, dirty;
    unsigned cuts; /* enum wm_profile_cut */
    uint32_t waves_per_simd;
    struct wmi_residence residence;
    const char *occupancy_limit;
    struct wmi_caches_sums sums, before;                            /* before: when the dispatch began */
    uint64_t counted[WMI_SUM_COUNT], counted_before[WMI_SUM_COUNT]; /* of all instructions */
    uint64_t *written; /* by slot: bytes that its dispatches wrote to memory; written_count of them */
    size_t written_count;
    struct wmi_sample_sum sample; /* where not all workgroups are observed */
    char arithmetic[WM_PROFILE_BOUNDS][128], advice[WMI_ADVICE_BYTES];
};

struct wmi_shard; /* shard.h */

struct wm_profile {
    struct wmi_use use;
    struct wmi_observer observer;
    struct wmi_profile_source source;
    struct wmi_profiled *instructions; /* by slot */
    size_t count, capacity;
    uint32_t *index; /* hash of pc -> slot + 1, open addressing; twice the capacity */
    struct wm_profile_row *rows;
    char (*advice)[WMI_ADVICE_BYTES]; /* of the rows */
    struct wm_gpu gpu;
    bool has_gpu, began;
    struct wmi_fetches fetches;
    struct wmi_shard *shards;                     /* that wait for another dispatch */
    struct wmi_rounds *rounds;                    /* NULL: no product */
    struct wmi_log_instruction *log_instructions; /* WMI_LOG_SLOTS, with rounds */
    struct wmi_kernel *kernels;                   /* kernel_count of them */
    size_t kernel_count, kernel;                  /* kernel: of the dispatch that runs */
    uint64_t *written_before; /* by slot: bytes written to memory when it began; written_slots of them */
    uint32_t written_slots;
    struct wm_profile_kernel *kernel_rows;
    unsigned one_in;              /* rounds of which one is observed; 0 and 1: all are */
    struct wmi_sampling sampling; /* of the dispatch that runs */
    struct wmi_sample sample;     /* of the dispatch that runs, if not all are */
    struct wmi_origins origins;
    struct wmi_tracer *tracer; /* writes all of it down, or NULL */
    pthread_mutex_t lock;      /* for adding shards and instructions */
};

/* In lines.c: the slot of the instruction with number `id` at `pc`, or WMI_NO_SLOT. */
uint32_t wmi_profile_slot(const struct wm_profile *profile, uint64_t pc, unsigned id);

/* The parts of a GPU that have something to do: for memory instructions, all instructions, and their code. */
enum wmi_gpu_part {
    WMI_GPU_MEMORY,
    WMI_GPU_L2,
    WMI_GPU_L1,
    WMI_GPU_ADDRESS,
    WMI_GPU_DATA,
    WMI_GPU_LDS,
    WMI_GPU_ISSUE,
    WMI_GPU_FETCH, /* of code, which is no instruction's own */
    WMI_GPU_PARTS
};
extern const char *const wmi_gpu_part_names[WMI_GPU_PARTS];
static_assert((int)WMI_GPU_PARTS == WM_PROFILE_BOUNDS, "a bound for each part");

/* In needs.c: the clocks that each part has to do with the instruction, where `units` compute units have
 * work; 0: none, or it is not known. */
void wmi_needs(const struct wm_profile_row *row, const struct wm_gpu *gpu, double units,
               double clocks[WMI_GPU_PARTS]);
/* Fills in limit, share, advice and gain of the row of a slot that has all else. text: room for the advice.
 */
void wmi_judge(struct wm_profile *profile, size_t slot, struct wm_profile_row *row,
               char text[WMI_ADVICE_BYTES]);

/* In advice.c: a sentence that says what to do about the instruction, and the most that this saves of what
 * each part has to do with it, as a share. False: there is nothing to say. */
bool wmi_advise(const struct wm_profile_row *row, unsigned wave_lanes, char text[WMI_ADVICE_BYTES],
                double saved[WMI_GPU_PARTS]);
/* The same about a kernel whose code is what binds it, so that its rows cannot tell. */
bool wmi_advise_kernel(const struct wm_profile_kernel *kernel, char text[WMI_ADVICE_BYTES]);

/* In kernels.c: a dispatch of profile->source.dispatch begins and ends. */
void wmi_kernels_begin(struct wm_profile *profile);
void wmi_kernels_end(struct wm_profile *profile);
void wmi_kernels_destroy(struct wm_profile *profile);
/* What binds the kernel that begins at `pc`, or the only one there is, and its clocks, as counted, without
 * what a sample is scaled up by; and how many compute units have work. False: nothing does. */
struct wmi_binding {
    enum wmi_gpu_part part;
    double clocks, units;
    const uint64_t *written; /* by slot, see struct wmi_kernel */
    size_t written_count;
};
bool wmi_kernels_binding(struct wm_profile *profile, uint64_t pc, struct wmi_binding *binding);

#endif
