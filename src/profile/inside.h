/* SPDX-License-Identifier: MIT */
/* The data of a profile, for the files that implement it. */
#ifndef WMI_PROFILE_INSIDE_H
#define WMI_PROFILE_INSIDE_H

#include "profile/caches/rounds.h"
#include "profile/cost/rates.h"
#include "profile/measure/fetch.h"
#include "profile/measure/measure.h"
#include "profile/measure/sample.h"
#include "profile/origins.h"
#include "profile/profile.h"
#include "profile/time/path.h"
#include "profile/time/predict.h"

#include <assert.h>
#include <pthread.h>

enum { WMI_NO_SLOT = UINT32_MAX };
enum { WMI_ARITHMETIC_BYTES = 320 };

/* Executed code. */
struct wmi_executed {
    uint64_t work[WMI_WORK_COUNTS], fetches;
};

/* Counts of one instruction. */
struct wmi_counts {
    uint64_t depth; /* of the wait counter, summed over the executions */
    uint32_t depth_most;
    uint8_t path, kind;
    uint32_t bytes; /* per lane */
    uint32_t used;  /* wmi_used_dwords() of all executions, combined by OR */
    uint64_t executions, sum[WMI_SUM_COUNT];
    struct wmi_lds_cost worst; /* the execution with the worst bank conflict: depth, bank, lanes */
    struct wmi_executed code;  /* of the blocks whose first vector or LDS instruction it is */
    uint64_t exposed;          /* latencies that waves wait for, in units of 1 / WMI_EXPOSED_ONE */
    struct wmi_path_place beside[WMI_BESIDE]; /* of these waits, beside_count of them */
    uint32_t beside_count;
    uint64_t histogram[WM_PROFILE_LINES + 1];
    struct wm_profile_wave wave;
};

struct wmi_profiled {
    struct wm_profile_row row; /* description of the instruction, without counts */
    unsigned id;
    struct wmi_counts counts;
};

/* The predicted times of dispatches, in clocks, added up. */
struct wmi_time_sum {
    double clocks, launch, part[WMI_TIME_PARTS];
    double doubled; /* clocks if twice as many workgroups were resident */
    double
        filled; /* clocks if the same work were split into enough workgroups to give each compute unit one */
    double waves;    /* clocks of all waves, each as if it were alone */
    double together; /* of these, as in struct wmi_time */
};

/* A kernel's dispatches, as seen by the cache model. */
struct wmi_kernel_profile {
    struct wmi_profile_dispatch dispatch; /* the last one; owns its name */
    uint64_t dispatches, workgroups, waves, instructions, most_groups, dirty;
    uint64_t hottest_atomics; /* requests to the line of L2 that has most, summed over the dispatches */
    unsigned cuts;            /* enum wm_profile_cut */
    uint32_t waves_per_simd, wave_lanes;
    struct wmi_residence residence;
    const char *occupancy_limit;
    struct wm_occupancy_limit occupancy[WM_OCCUPANCY_LIMITS];
    uint32_t occupancy_limits;
    struct wmi_caches_sums sums, before;                            /* before: at the start of the dispatch */
    uint64_t counted[WMI_SUM_COUNT], counted_before[WMI_SUM_COUNT]; /* summed over all instructions */
    uint64_t work[WMI_WORK_COUNTS];                                 /* executed */
    double work_items;                                              /* started */
    uint64_t *missed[WM_CACHE_LEVELS];                              /* by set, as wmi_caches_missed() */
    uint64_t *written; /* by slot: bytes that its dispatches wrote to DRAM; written_count entries */
    size_t written_count;
    struct wmi_sample_sum sample; /* used if not all workgroups are observed */
    struct wmi_time_sum time;
    char arithmetic[WM_PROFILE_BOUNDS][WMI_ARITHMETIC_BYTES];
};

enum {
    WMI_VERDICT_BYTES = 120,
    WMI_PLACE_BYTES = 160,
    WMI_NUMBERS_BYTES = 240,
    WMI_CHANGE_BYTES = 200,
    WMI_ADVICE_BYTES = WMI_VERDICT_BYTES + WMI_NUMBERS_BYTES + WMI_CHANGE_BYTES,
};

struct wmi_texts {
    char verdict[WMI_VERDICT_BYTES], numbers[WMI_NUMBERS_BYTES], change[WMI_CHANGE_BYTES];
};

/* A finding with the memory that its texts and rows are in. */
struct wmi_finding {
    struct wm_profile_finding shown;
    const struct wm_profile_row **rows;
    struct wmi_texts texts;
    char place[WMI_PLACE_BYTES], advice[WMI_ADVICE_BYTES];
    uint8_t last;    /* 0, or its place behind those that are 0 */
    uint32_t number; /* in the order in which they were found */
};

struct wmi_findings {
    struct wmi_finding **of;
    size_t count, capacity;
    struct wm_profile_finding *shown; /* count of them */
};

/* The counts of an instruction before the current dispatch, as far as the prediction needs them. */
struct wmi_before_slot {
    uint64_t executions, exposed, sum[WMI_SUM_COUNT];
    struct wmi_slot_use use;
};

struct wmi_before {
    struct wmi_before_slot *slot; /* by slot */
    size_t count, capacity;
};

struct wmi_shard;     /* shard.h */
struct wmi_timelines; /* time/timeline.h */

struct wm_profile {
    bool busy;
    struct wmi_observer observer;
    struct wmi_profile_source source;
    struct wmi_profiled *instructions; /* by slot */
    size_t count, capacity;
    uint32_t *index; /* hash of pc -> slot + 1, open addressing; twice the capacity */
    /* The report of the dispatches so far, if `reported`: */
    bool reported;
    struct wm_profile_row *rows;
    uint32_t *row_slots; /* of the rows */
    size_t row_count;
    struct wm_profile_kernel *kernel_rows;
    size_t kernel_row_count;
    struct wmi_findings findings;
    struct wm_gpu gpu;
    bool has_gpu, began, keeps_l2;
    bool no_model; /* out of memory for the cache model */
    bool missed;   /* out of memory in the current dispatch: the profile is incomplete */
    struct wmi_fetches fetches;
    struct wmi_paths *paths;                      /* of the blocks in `fetches` */
    uint64_t work[WMI_WORK_COUNTS];               /* executed in the current dispatch */
    struct wmi_shard *shards;                     /* unused, kept for the next dispatch */
    struct wmi_rounds *rounds;                    /* NULL: no product */
    struct wmi_log_instruction *log_instructions; /* WMI_LOG_SLOTS, with rounds */
    struct wmi_kernel_profile *kernels;           /* kernel_count of them */
    size_t kernel_count, kernel;                  /* kernel: index for the current dispatch */
    uint64_t *written_before; /* by slot: bytes written to DRAM before the current dispatch; written_slots
                                 entries */
    uint32_t written_slots;
    struct wmi_before before;
    unsigned one_in;              /* one in so many rounds is observed; 0 and 1: all */
    struct wmi_sampling sampling; /* of the current dispatch */
    struct wmi_sample sample;     /* of the current dispatch, if not all rounds are observed */
    struct wmi_origins origins;
    struct wmi_timelines *timelines; /* NULL: none are requested */
    struct wmi_tracer *tracer;       /* writes the trace; or NULL */
    pthread_mutex_t lock;            /* protects adding shards and instructions */
};

enum { WMI_LAST_BYTES = 64 /* of a request to the last-level cache */ };

/* After wmi_profile_end(), whether there was no memory for something of the dispatch. */
bool wmi_profile_missed(const struct wm_profile *profile);

#endif
