/* SPDX-License-Identifier: MIT */
/* The state of a wave, its workgroup and its worker thread, as seen by step functions. */
#ifndef WMI_WAVE_H
#define WMI_WAVE_H

#include "lower/memory_op.h"
#include "lower/place.h"
#include "memory/image.h"
#include "memory/sampler.h"
#include "memory/space.h"
#include "sem/sem.h"

#include <stdbool.h>

struct wmi_program;
struct wmi_dispatch;

enum wmi_wave_state {
    WMI_WAVE_READY,   /* continues at `resume` */
    WMI_WAVE_BARRIER, /* waits for the other waves of its workgroup */
    WMI_WAVE_SIGNALS, /* in s_barrier_wait, until the other waves have signalled */
    WMI_WAVE_NAMED,   /* in s_barrier_wait of the named barrier that it joined */
    WMI_WAVE_CLUSTER, /* in s_barrier_wait of its cluster */
    WMI_WAVE_ENDED,
    WMI_WAVE_FAULTED, /* see wmi_worker.fault */
};

/* A fault or violation of a memory instruction, without its message. */
struct wmi_fault {
    unsigned kind; /* enum wm_fault_kind */
    uint64_t pc;
    uint64_t lanes, low, high;
    uint32_t bytes;
    bool store;
    bool plain;   /* WM_FAULT_MISALIGNED: not an atomic, but forbidden by the alignment mode */
    bool private; /* private memory: the addresses are in the wave's scratch */
    uint64_t own; /* address of the wave's part of the dispatch's scratch, if the faulting addresses depend on
                     it; or 0 */
    bool scalar;  /* scalar memory instruction, which does not set MEM_VIOL */
    uint32_t rows; /* WM_FAULT_INSTRUCTION: VGPRs and AccVGPRs that it would need; 0: not the reason */
    /* WM_FAULT_RESOURCE: description of the resource; _TRAP: of the trap; _TODO: why, or NULL */
    const char *detail;
};

/* Violations that did not end a wave: their number, and the first one of the lowest workgroup and wave. */
struct wmi_violation {
    uint64_t count, group;
    uint32_t wave;
    struct wmi_fault first;
};

struct wmi_wave {
    enum wmi_wave_state state;
    const struct wmi_op *resume;
    struct wmi_program *program; /* of its steps: the dispatch's, or another one, see exec/run/switch.h */
    struct wmi_frame *frame;
    struct wmi_workgroup *group;
    struct wmi_worker *worker;
    uint32_t index;        /* in its workgroup */
    uint64_t instructions; /* executed before this slice; updated at the end of each block */
    int64_t slice;         /* frame->left at the start of this slice */
    uint32_t quantum;      /* instructions of its next slice */
    void **watched;        /* per-wave data of each observer */
    uint64_t counters;     /* wait counters at the end of the current block */
    uint8_t entered[8];    /* wait counters at the start of the block, one byte each, if an observer asks for
                              depths */
    bool barrier_complete; /* the barrier was completed since the wave's last s_barrier_wait */
    bool named_complete;   /* likewise for the named barrier that it joined */
    bool cluster_complete; /* likewise for the barrier of its cluster */
    uint8_t joined;        /* number of the named barrier; 0: none */
    bool waits;            /* repeats a loop that only a change in memory can end, see waiting.h */
    bool violated;         /* TRAPSTS.MEM_VIOL, until code clears it */
};

enum { WMI_NAMED_BARRIERS = 16 };

struct wmi_named_barrier {
    uint8_t members, signals; /* waves expected, and signals since the barrier was last completed */
    bool valid;               /* s_barrier_init was executed */
};

/* Workgroups that run at the same time, on one thread. */
struct wmi_cluster {
    uint32_t size, left;            /* workgroups: all, and those that have not ended */
    uint32_t signals;               /* s_barrier_signal since the barrier was last completed */
    uint64_t completed;             /* how often the barrier was */
    struct wmi_workgroup *member[]; /* by number in the cluster */
};

struct wmi_workgroup {
    struct wmi_dispatch *dispatch;
    uint32_t id[3];
    uint64_t flat_id;   /* in dispatch order */
    unsigned char *lds; /* lds_size bytes, followed by 64 bytes of readable padding */
    uint32_t lds_size;
    uint32_t wave_count, waves_left, waves_at_barrier;
    uint32_t signals, waves_at_signals; /* s_barrier_signal since the barrier was last completed */
    uint32_t waves_at_named, waves_at_cluster;
    struct wmi_named_barrier named[WMI_NAMED_BARRIERS + 1]; /* by number */
    struct wmi_wave *waves;
    struct wmi_cluster *cluster;           /* NULL: it is in none */
    uint32_t rank;                         /* its number in the cluster */
    struct wmi_scalar_cache *scalar_cache; /* NULL: not modelled, or empty */
};

enum { WMI_DECODED = 8 };

/* Decoded descriptors that an instruction last used; see exec/run/resources.h. */
struct wmi_decoded {
    bool has_image, has_sampler;
    uint32_t image_words[8], sampler_words[4];
    struct wmi_image image;
    struct wmi_sampler sampler;
};

/* The state of one host thread. Steps modify only this, their wave's frame, their workgroup and guest
 * memory. */
struct wmi_worker {
    struct wmi_dispatch *dispatch;
    const struct wmi_space *space;
    struct wmi_hit hits[WMI_HITS]; /* the allocation last accessed by each memory instruction */
    uint32_t scattered[WMI_HITS];  /* its loads of scattered places by compiled code: see jit/lane_access.c */
    struct wmi_program *program;   /* to which `jumps` leads */
    struct wmi_jump jumps[WMI_JUMPS];
    struct wmi_decoded decoded[WMI_DECODED];
    struct wmi_fault fault; /* of the wave that last faulted */
    struct wmi_violation violation;
    struct wmi_frame
        *running; /* frame of the wave that executes steps, or last did; see run_chain() in slices.c */
    /* For compiled code that starts the next wave, see jit/next_wave.h: */
    struct wmi_frame *first_start,
        *last_start;     /* of the workgroup; last_start is NULL if the executor must start each wave */
    int64_t first_slice; /* instructions of a first slice */
    const uint32_t *start_scalars; /* initial SGPRs without EXEC and `id` */
    uint64_t id_place;             /* byte offset in the frame of the workgroup's number in x */
    uint32_t id;                   /* the workgroup's number in x */
    uint64_t groups_ahead;         /* further workgroups that may be started */
    int64_t slices_left;           /* sum of frame->left of the waves that started another one */
    const void *next_start;        /* code that starts the next wave when one has ended, or NULL */
    struct wmi_frame_layout layout;
    void **observers;                 /* per-worker data of each observer of the dispatch */
    struct wmi_block_counter *blocks; /* an observer's, or NULL */
    uint64_t *executed;               /* an observer's wmi_execution_counters(), or NULL */
};

static inline struct wmi_wave *wmi_wave_of(const char *frame)
{
    return ((const struct wmi_frame *)frame)->wave;
}

/* Instructions that the wave has executed, up to the end of the last block: the virtual clock. */
static inline uint64_t wmi_wave_clock(const struct wmi_wave *wave)
{
    return wave->instructions + (uint64_t)(wave->slice - wave->frame->left);
}

/* Ends the wave with a fault: fills worker->fault and returns NULL, for the step to return. */
const struct wmi_op *wmi_wave_fault(struct wmi_wave *wave, const struct wmi_fault *fault);

/* Reports a memory violation of some lanes. True: the violation is recorded, and the run continues without
 * these lanes. False: the wave has ended with the fault. */
bool wmi_wave_violates(struct wmi_wave *wave, const struct wmi_fault *fault);
/* Adds up the violations, and keeps the first one of the lowest workgroup and wave. */
void wmi_violation_add(struct wmi_violation *all, const struct wmi_violation *one);

#endif
