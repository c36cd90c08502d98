/* SPDX-License-Identifier: MIT */
/* A dispatch as its workers see it: geometry, initial registers, limits, and what ends it early. */
#ifndef WMI_DISPATCH_H
#define WMI_DISPATCH_H

#include "exec/memory/stale.h"
#include "exec/observe/register_place.h"
#include "exec/run/deal.h"
#include "exec/run/launch.h"
#include "exec/run/wave.h"

#include <pthread.h>

struct wmi_gds;
struct wmi_gws;
struct wmi_pool;
struct wmi_program;

enum {
    WMI_NO_REGISTER = 255,
    WMI_RESIDENT_LIMIT = 1 << 16, /* unfinished workgroups of a dispatch */
    WMI_WAITING_SHOWN = 4,        /* waiting waves that a report names */
    WMI_GWS_RESOURCES = 64,
};

/* Registers as they are when a wave starts. Source: LLVM AMDGPUUsage, "Initial Kernel Execution State". */
struct wmi_launch {
    alignas(64) uint32_t sgpr[WMI_START_SGPRS]; /* initial values of the scalar file's first slots */
    uint8_t workgroup_id[3];                    /* SGPR that receives it, or WMI_NO_REGISTER */
    uint8_t workgroup_info;
    uint8_t scratch_wave_offset; /* SGPR that receives the wave's byte offset into the scratch allocation */
    bool scratch_shared;         /* FLAT addresses of it contain the lane */
    bool flat_scratch;           /* FLAT_SCRATCH receives the address of the wave's scratch */
    bool ttmp, ttmp_y,
        ttmp_z; /* ttmp7 to ttmp9 receive the workgroup's numbers, those in y and z only if ttmp_y, ttmp_z */
    unsigned workitem_ids; /* 1: v0 = x; 2: and v1 = y; 3: and v2 = z */
    bool packed_ids;       /* all work-item ids are in v0, 10 bits each */
    uint32_t mode;         /* MODE register */
    uint64_t entry;
};

/* The waiting waves of a deadlocked dispatch. */
struct wmi_standstill {
    uint64_t waves, groups;
    struct wmi_waiting_wave {
        uint64_t group, pc;
        uint32_t wave;          /* in its workgroup */
    } first[WMI_WAITING_SHOWN]; /* in the order of workgroups and waves */
    unsigned count;             /* of `first` */
};

/* A register that the caller of the dispatch sets in each wave. */
struct wmi_start_register {
    struct wmi_register_place place;
    enum wm_start_kind kind;
    const uint32_t *values; /* of WM_START_VALUES */
    size_t count;           /* number of values, or of words if `kind` is another */
};

struct wmi_resident; /* executor.h */

struct wmi_dispatch {
    struct wmi_program *program;
    const struct wmi_space *space;
    struct wmi_read_lock *read_lock; /* held by the thread that runs the dispatch */
    struct wmi_apertures apertures;
    struct wmi_launch launch;
    const struct wmi_start_register *start; /* set after what `launch` sets */
    size_t start_count;
    uint64_t arguments;             /* guest address */
    uint32_t grid[3], workgroup[3]; /* work-items */
    uint32_t groups[3];
    uint32_t cluster[3];   /* workgroups of a cluster in each dimension; 1 in each: there are none */
    uint32_t cluster_size; /* and in all */
    uint64_t group_count;
    uint64_t first_group, run_count; /* the workgroups [first_group, first_group + run_count) run */
    uint32_t lds_size;               /* bytes of a workgroup */
    uint64_t scratch_stride;         /* bytes from one wave's scratch to the next one's */
    uint64_t scratch_piece;          /* bytes of a wave's scratch */
    unsigned char *scratch;          /* host address of the first wave's scratch */
    uint32_t lane_scratch;           /* bytes of scratch per lane */
    uint64_t scratch_base;           /* guest address of the first wave's scratch */
    uint64_t scratch_bytes;          /* scratch of all waves, with the gaps */
    bool goes_on;                    /* memory violations do not end the run */
    uint32_t residents;              /* maximum unfinished clusters, independent of the number of threads */
    uint64_t max_instructions;       /* per wave */
    double timeout;                  /* seconds; 0: none */
    unsigned threads;                /* including the caller's */
    struct wmi_pool *pool;           /* of the other threads */
    uint64_t shuffle; /* seed of another order of workgroups and waves, on one thread; 0: in order */
    struct wmi_observers observers;
    bool keeps;                        /* the check keeps its program for the next dispatch */
    struct wmi_program *observed;      /* that program, before and after the run; NULL: there is none yet */
    const struct wmi_observer *holder; /* the observer with hold(), or NULL */
    unsigned alignment;                /* enum wm_alignment */
    struct wmi_stales stales;          /* its lock is initialised unless its mode is 0 */
    bool waits_for_others;          /* other agents can end a wait, unless others() says that they cannot */
    uint64_t (*others)(void *user); /* as in struct wm_dispatch; or NULL */
    void *others_user;
    struct wmi_gws *gws; /* of the machine; NULL: there is none */
    bool cooperative;    /* all workgroups are resident, however much memory they take */
    bool (*progress)(void *user, uint64_t done, uint64_t all);
    void *progress_user;

    double started;
    uint32_t mxcsr32, mxcsr64; /* host control words for launch.mode */
    const struct wmi_op *entry_step;
    struct wmi_deal deal;
    uint64_t stop_at; /* atomic, rarely written: workgroups from here on are cancelled */

    /* Frequently written members, on cache lines apart from those that every wave reads. */
    alignas(64) uint64_t groups_done;        /* atomic */
    alignas(64) pthread_mutex_t lock;        /* guards what follows */
    pthread_cond_t idle;                     /* signalled when `working` becomes 0 */
    struct wmi_gds *gds;                     /* NULL: not used yet */
    uint32_t gws_waiting[WMI_GWS_RESOURCES]; /* waves at each semaphore; guarded by the lock of gws */
    uint32_t resident_count;                 /* residents created so far, for a cluster one */
    struct wmi_resident *spare;              /* residents that no executor needs */
    struct wmi_fault fault;
    uint64_t fault_group;
    uint32_t fault_wave;
    struct wmi_violation violation;
    uint64_t instructions, waves, groups_started;
    unsigned working;      /* threads that have begun and not finished */
    unsigned quiescent;    /* threads that have found only waiting waves in this generation */
    uint64_t generation;   /* number of sweeps in which a thread may have changed what others wait for */
    uint64_t others_state; /* what others() returned last */
    bool deadlock;
    struct wmi_standstill standstill;
    bool in_one_order; /* workgroups may depend on one another, so one thread runs them all */
};

#endif
