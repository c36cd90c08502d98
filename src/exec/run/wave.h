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
    WMI_WAVE_NAMED,   /* the same at the named barrier that it joined */
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
    bool plain;         /* WM_FAULT_MISALIGNED: not an atomic, but forbidden by the alignment mode */
    bool private;       /* private memory: the addresses are in the wave's scratch */
    uint64_t own;       /* its piece of the dispatch's scratch, if the addresses depend on that; or 0 */
    bool scalar;        /* scalar memory instruction, which does not set MEM_VIOL */
    uint32_t rows;      /* WM_FAULT_INSTRUCTION: VGPRs and AccVGPRs that it would need; 0: not the reason */
    const char *detail; /* WM_FAULT_RESOURCE: description of the resource; WM_FAULT_TRAP: of the trap */
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
    struct wmi_frame *frame;
    struct wmi_workgroup *group;
    struct wmi_worker *worker;
    uint32_t index;        /* in its workgroup */
    uint64_t instructions; /* executed before this turn; updated at the end of each block */
    int64_t turn;          /* frame->left at the start of this turn */
    uint32_t quantum;      /* instructions of its next turn */
    void **watched;        /* per-wave data of each observer */
    uint64_t counters;     /* wait counters at the end of the current block */
    uint8_t entered[8];    /* and at its start, one byte each, if an observer asks for depths */
    bool barrier_complete; /* since its last s_barrier_wait */
    bool named_complete;   /* the named barrier that it joined, likewise */
    uint8_t joined;        /* number of that barrier; 0: none */
    bool waits;            /* repeats a loop that only a change in memory can end, see waiting.h */
    bool violated;         /* TRAPSTS.MEM_VIOL, until code clears it */
};

enum { WMI_NAMED_BARRIERS = 16 };

struct wmi_named_barrier {
    uint8_t members, signals; /* expected, and since it was last completed */
    bool valid;               /* s_barrier_init was executed */
};

struct wmi_workgroup {
    struct wmi_dispatch *dispatch;
    uint32_t id[3];
    uint64_t flat_id;   /* in dispatch order */
    unsigned char *lds; /* lds_size bytes, followed by 64 readable bytes without meaning */
    uint32_t lds_size;
    uint32_t wave_count, waves_left, waves_at_barrier;
    uint32_t signals, waves_at_signals; /* s_barrier_signal since the barrier was last completed */
    uint32_t waves_at_named;
    struct wmi_named_barrier named[WMI_NAMED_BARRIERS + 1]; /* by number */
    struct wmi_wave *waves;
    struct wmi_scalar_cache *scalar_cache; /* NULL: not modelled, or empty */
};

enum { WMI_DECODED = 8 };

/* Descriptors that an instruction used last; see exec/resources.h. */
struct wmi_decoded {
    bool has_image, has_sampler;
    uint32_t image_words[8], sampler_words[4];
    struct wmi_image image;
    struct wmi_sampler sampler;
};

/* One host thread. Steps modify only this, their wave's frame, their workgroup and guest memory. */
struct wmi_worker {
    struct wmi_dispatch *dispatch;
    const struct wmi_space *space;
    struct wmi_hit hits[WMI_HITS]; /* the allocation last accessed by each memory instruction */
    struct wmi_jump jumps[WMI_JUMPS];
    struct wmi_decoded decoded[WMI_DECODED];
    struct wmi_fault fault; /* of the wave that last faulted */
    struct wmi_violation violation;
    struct wmi_frame
        *running; /* of the wave that executes steps, or did so last; see run_line() in turns.c */
    /* For waves that start others, see compile/next_wave.h: */
    struct wmi_frame *first_start,
        *last_start;               /* of the workgroup; the last one is NULL if they start alone */
    int64_t first_turn;            /* its instructions */
    const uint32_t *start_scalars; /* without EXEC, and the next: */
    uint64_t id_place;             /* in the frame: of the workgroup's number in x */
    uint32_t id;                   /* this number */
    uint64_t groups_ahead;         /* how many workgroups behind this one may be started */
    int64_t turns_left;            /* the sum of frame->left of waves that started another one */
    const void *next_start;        /* code that starts the wave behind one that has ended, or NULL */
    struct wmi_frame_layout layout;
    void **observers;   /* per-worker data of each observer of the dispatch */
    uint64_t *blocks;   /* an observer's counters of blocks, or NULL */
    uint64_t *executed; /* an observer's wmi_execution_counters(), or NULL */
};

static inline struct wmi_wave *wmi_wave_of(const char *frame)
{
    return ((const struct wmi_frame *)frame)->wave;
}

/* Continues with wave->resume. */
const struct wmi_op *wmi_resume_wave(char *restrict frame, const struct wmi_op *op);

/* The step with which a wave goes on that has got to s_barrier while it had a successor. Compiled code notes
 * where it resumes itself, behind the address of that step. */
static inline const struct wmi_op *wmi_wave_next_step(const struct wmi_wave *wave)
{
    const wmi_body code = wave->frame->goes_on;
    const struct wmi_op *step = wave->resume;
    if (code != wmi_resume_wave)
        memcpy(&step, (const char *)(uintptr_t)code - sizeof step, sizeof step);
    return step;
}

/* Instructions that the wave has executed, up to the end of the last block: the virtual clock. */
static inline uint64_t wmi_wave_clock(const struct wmi_wave *wave)
{
    return wave->instructions + (uint64_t)(wave->turn - wave->frame->left);
}

/* Ends the wave with a fault: fills worker->fault and returns NULL, for the step to return. */
const struct wmi_op *wmi_wave_fault(struct wmi_wave *wave, const struct wmi_fault *fault);

/* Reports a memory violation of some lanes. True: it is recorded, and the run continues without these lanes;
 * false: the wave has ended with the fault. */
bool wmi_wave_violates(struct wmi_wave *wave, const struct wmi_fault *fault);

#endif
