/* SPDX-License-Identifier: MIT */
/* The state of a running wave, its workgroup and the worker thread that runs it, as the step functions see
 * it. */
#ifndef WMI_WAVE_H
#define WMI_WAVE_H

#include "lower/memory_op.h"
#include "memory/space.h"
#include "sem/sem.h"

#include <stdbool.h>

struct wmi_program;
struct wmi_dispatch;

enum wmi_wave_state {
    WMI_WAVE_READY,   /* runs on from `resume` */
    WMI_WAVE_BARRIER, /* waits for the other waves of its workgroup */
    WMI_WAVE_SIGNALS, /* waits in s_barrier_wait for what s_barrier_signal of the others completes */
    WMI_WAVE_ENDED,
    WMI_WAVE_FAULTED, /* see wmi_worker.fault */
};

/* What one memory instruction did wrong, before it is worded. */
struct wmi_fault {
    unsigned kind; /* enum wm_fault_kind */
    uint64_t pc;
    uint64_t lanes, low, high;
    uint32_t bytes;
    bool store;
    bool plain;         /* WM_FAULT_MISALIGNED: no atomic, but what the alignment mode refuses */
    bool private;       /* of private memory: its addresses lie in the scratch of the wave */
    bool scalar;        /* by an instruction of scalar memory, of which MEM_VIOL tells nothing */
    const char *detail; /* WM_FAULT_RESOURCE: what the resource is */
};

/* What went wrong without ending a wave: how often, and the first of the lowest workgroup and wave. */
struct wmi_violation {
    uint64_t count, group;
    uint32_t wave;
    struct wmi_fault first;
};

struct wmi_wave {
    enum wmi_wave_state state;
    const struct wmi_op *resume;
    struct wmi_frame *frame;
    struct wmi_workgroup *group;
    struct wmi_worker *worker;
    uint32_t index;        /* in its workgroup */
    uint64_t instructions; /* executed before this turn, counted at the end of each block */
    int64_t turn;          /* frame->left when this turn began */
    uint32_t quantum;      /* instructions of its next turn */
    void **watched;        /* what each observer keeps of it */
    uint64_t counters;     /* wait counters as the block that it executes leaves them, */
    uint8_t entered[8];    /* and as it found them: a byte for each, where the observer asks for depths */
    bool barrier_complete; /* since its last s_barrier_wait */
    bool waits;            /* it goes round in a loop that only memory can end: see waiting.h */
    bool violated;         /* TRAPSTS.MEM_VIOL, until code clears it */
};

struct wmi_workgroup {
    struct wmi_dispatch *dispatch;
    uint32_t id[3];
    uint64_t flat_id;   /* in dispatch order */
    unsigned char *lds; /* lds_size bytes, followed by 64 that may be read but mean nothing */
    uint32_t lds_size;
    uint32_t wave_count, waves_left, waves_at_barrier;
    uint32_t signals, waves_at_signals; /* of s_barrier_signal since the barrier was complete last */
    struct wmi_wave *waves;
    struct wmi_scalar_cache *scalar_cache; /* NULL: not there, or nothing in it */
};

/* One host thread. Everything that a step changes outside its wave's frame and guest memory is here. */
struct wmi_worker {
    struct wmi_dispatch *dispatch;
    const struct wmi_space *space;
    struct wmi_hit hits[WMI_HITS]; /* the allocation that each memory instruction touched last */
    struct wmi_fault fault;        /* of the wave that faulted last */
    struct wmi_violation violation;
    void **observers;   /* what each observer of the dispatch keeps per worker */
    uint64_t *blocks;   /* an observer's counters of blocks, or NULL */
    uint64_t *executed; /* an observer's wmi_execution_counters(), or NULL */
};

static inline struct wmi_wave *wmi_wave_of(const char *frame)
{
    return ((const struct wmi_frame *)frame)->wave;
}

/* Instructions that the wave has executed, up to the last block's end: the virtual clock. */
static inline uint64_t wmi_wave_clock(const struct wmi_wave *wave)
{
    return wave->instructions + (uint64_t)(wave->turn - wave->frame->left);
}

/* Ends the wave with a fault: fills worker->fault and returns NULL, what the step then returns. */
const struct wmi_op *wmi_wave_fault(struct wmi_wave *wave, const struct wmi_fault *fault);

/* Lanes access memory in a way that may not be. True: the run goes on without these lanes, and this is noted;
 * false: the wave has ended with the fault. */
bool wmi_wave_violates(struct wmi_wave *wave, const struct wmi_fault *fault);

#endif
