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
    alignas(64) uint32_t sgpr[WMI_START_SGPRS]; /* the scalar file's first slots */
    uint8_t workgroup_id[3];                    /* SGPR that gets it, or WMI_NO_REGISTER */
    uint8_t workgroup_info;
    uint8_t scratch_wave_offset; /* SGPR that gets the wave's byte offset into the scratch allocation */
    bool flat_scratch;           /* FLAT_SCRATCH gets the address of the wave's scratch */
    bool ttmp, ttmp_y, ttmp_z;   /* ttmp7 to ttmp9 get the workgroup's numbers, y and z if so */
    unsigned workitem_ids;       /* 1: v0 = x; 2: and v1 = y; 3: and v2 = z */
    bool packed_ids;             /* all of them in v0, 10 bits each */
    uint32_t mode;               /* MODE register */
    uint64_t entry;
};

/* What waits when a dispatch is deadlocked. */
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
    size_t count;           /* of them, or of the words of another kind */
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
    uint64_t group_count;
    uint64_t first_group, run_count; /* workgroups that run: so many, from this one on */
    uint32_t lds_size;               /* bytes of a workgroup */
    uint64_t scratch_stride;         /* bytes from one wave's scratch to the next one's */
    uint64_t scratch_piece;          /* bytes of a wave's scratch */
    unsigned char *scratch;          /* the first one's host bytes */
    uint32_t lane_scratch;           /* bytes of it that a lane asks for */
    uint64_t scratch_base;           /* guest address of the first wave's scratch */
    uint64_t scratch_bytes;          /* of all waves, with the gaps */
    bool goes_on;                    /* after violations of memory */
    uint32_t residents;              /* most unfinished workgroups, whatever the number of threads */
    uint64_t max_instructions;       /* per wave */
    double timeout;                  /* seconds; 0: none */
    unsigned threads;                /* with the caller's */
    struct wmi_pool *pool;           /* the others come from here */
    uint64_t shuffle; /* seed of another order of workgroups and waves, on one thread; 0: in order */
    struct wmi_observers observers;
    bool keeps;                        /* the check keeps the program for the next dispatch, */
    struct wmi_program *observed;      /* which is here before and after the run; NULL: there is none yet */
    const struct wmi_observer *holder; /* the one with hold(), or NULL */
    unsigned alignment;                /* enum wm_alignment */
    struct wmi_stales stales;          /* its lock is there unless its mode is 0 */
    bool waits_for_others;             /* waiting is no deadlock, unless others() says so */
    uint64_t (*others)(void *user);    /* as in struct wm_dispatch; or NULL */
    void *others_user;
    struct wmi_gws *gws; /* the machine's; NULL: there is none */
    bool cooperative;    /* all workgroups are resident, whatever memory they take */
    bool (*progress)(void *user, uint64_t done, uint64_t all);
    void *progress_user;

    double started;
    uint32_t mxcsr32, mxcsr64; /* what launch.mode asks of the host */
    const struct wmi_op *entry_step;
    struct wmi_deal deal;
    uint64_t stop_at; /* atomic, hardly ever written: workgroups from here on need not run any more */

    /* Apart from what every wave reads, for these change all the time. */
    alignas(64) uint64_t groups_done;        /* atomic */
    alignas(64) pthread_mutex_t lock;        /* guards what follows */
    pthread_cond_t idle;                     /* signalled when `working` becomes 0 */
    struct wmi_gds *gds;                     /* NULL: not used yet */
    uint32_t gws_waiting[WMI_GWS_RESOURCES]; /* waves at each semaphore; guarded by the lock of gws */
    uint32_t resident_count;                 /* of those that were created */
    struct wmi_resident *spare;              /* those that no executor needs */
    struct wmi_fault fault;
    uint64_t fault_group;
    uint32_t fault_wave;
    struct wmi_violation violation;
    uint64_t instructions, waves, groups_started;
    unsigned working;      /* threads that have begun and not ended */
    unsigned quiet;        /* those of them that found nothing but waiting waves in this generation */
    uint64_t generation;   /* counts sweeps in which a thread may have changed what others wait for */
    uint64_t others_state; /* what others() returned last */
    bool deadlock;
    struct wmi_standstill standstill;
    bool in_one_order; /* workgroups may depend on one another, so one thread runs them all */
};

#endif
