/* SPDX-License-Identifier: MIT */
/* The interface between execution and its observers: profile, checks, fidelity report, and observers of the
 * caller (wavemem/observe.h).
 *
 * Lowering emits a step only for what an observer of the dispatch requests by a function or a bit here. Each
 * observer has its own steps for memory accesses and instructions, so that one observer does not slow down
 * the others. */
#ifndef WMI_OBSERVER_H
#define WMI_OBSERVER_H

#include "memory/access.h"
#include "wavemem/observe.h"

/* Returned by decoded() for instructions that the observer does not need to see. */
enum { WMI_NOT_SHOWN = UINT32_MAX };

/* Why access() of a `late` observer is called; it receives this instead of a slot. */
enum wmi_late {
    WMI_LATE_ANY,     /* this instruction's accesses are always shown */
    WMI_LATE_REFUSED, /* a lane is refused or dropped, or guards() requests it */
    WMI_LATE_BASE,    /* its scalar base address may lie in another allocation */
};

enum { WMI_BLOCKS = 1 << 20 /* maximum blocks per program that an observer can count */ };

struct wmi_block_counter {
    uint64_t times; /* executions */
    uint64_t lanes; /* active lanes when they began, summed */
};

/* An access whose lane addresses have not been computed yet. Any address in [from, to) is known to be valid.
 * The places of the instruction lie at fixed distances from one another. */
struct wmi_address_summary {
    const uint32_t *low, *high; /* halves of each lane's address in the first place; high NULL: all 0 */
    uint64_t base;              /* added to each lane's address */
    uint64_t lanes;             /* active lanes, at least one */
    uint64_t from, to;
    uint32_t shape;       /* wmi_access_shape(), if all places lie in one address space */
    uint32_t wave, depth; /* as in struct wmi_access */
};

static inline uint64_t wmi_summary_address(const struct wmi_address_summary *summary, unsigned lane)
{
    return summary->base + (summary->low[lane] | (summary->high ? (uint64_t)summary->high[lane] << 32 : 0));
}

/* Packs address space, number of places and bytes per place into one number. */
static inline uint32_t wmi_access_shape(enum wmi_address_space space, unsigned elements, unsigned bytes)
{
    return (uint32_t)space << 16 | elements << 8 | bytes;
}

static inline enum wmi_address_space wmi_shape_space(uint32_t shape)
{
    return (enum wmi_address_space)(shape >> 16);
}

static inline uint8_t wmi_shape_bytes(uint32_t shape)
{
    return shape & 0xff;
}

/* Why a wave is held. */
enum wmi_hold {
    WMI_HOLD_INSTRUCTION, /* it is about to execute an instruction */
    WMI_HOLD_ACCESS,      /* it is about to make the accesses that access() was shown */
    WMI_HOLD_FAULT,       /* it has faulted */
};

/* How a wave was held. */
enum wmi_held { WMI_HELD_NOT, WMI_HELD, WMI_HELD_AND_CANCELLED };

struct wmi_wave;        /* exec/run/wave.h */
struct wmi_executor;    /* exec/run/executor.h */
struct wmi_program;     /* exec/run/program.h */
struct wmi_instruction; /* src/isa; opaque here, only passed through */
struct wmi_hit;         /* memory/space.h */

/* Observes a dispatch and cannot change anything, except in hold(). Functions are called on the worker's own
 * thread unless they say otherwise; `local` is what thread_begin() returned for that worker, so that an
 * observer needs no locks. All functions but thread_begin and thread_end may be NULL. */
struct wmi_observer {
    void *self;
    uint64_t events; /* the kinds of enum wm_event_kind for which event() is called */
    bool depths;     /* wmi_access.depth is required */
    bool lds_moves;  /* the LDS side of moves between memory and LDS (WMI_PATH_LDS_DMA) is required, too */
    /* Only accesses for which enum wmi_late has a reason are shown, so that the others cost next to nothing.
     * Requires access(), and excludes instruction(), done() and summary(). At most one observer of a dispatch
     * is late. */
    bool late;
    bool flat_only; /* access() is called for FLAT instructions only */
    bool explains; /* addresses are given rather than computed by a run, so that an aperture may lie within an
                      allocation */
    /* Waves may execute compiled code between the steps that call the observer. Excludes `late`, hold() and
     * shadow(), which depend on the steps of single instructions. */
    bool allows_compiled;
    bool stops; /* waves may be held at the accesses that it is shown: of a resumable program, without hold()
                 */
    /* NULL: no memory; the dispatch does not run. */
    void *(*thread_begin)(void *self);
    void (*thread_end)(void *self, void *local);
    /* Called before an access is made. */
    void (*access)(void *local, const struct wmi_access *access, uint32_t slot);
    /* Called under the program's lock when a memory instruction with accesses is lowered. Returns its slot, a
     * dense number that is passed to access(). */
    uint32_t (*instruction)(void *self, uint64_t pc, unsigned id);
    /* With `late`: whether stores to the allocation [low, high) must be shown. */
    bool (*guards)(void *self, uint64_t low, uint64_t high);
    /* Called after the instruction whose accesses were shown has written its results. Not called if the
     * instruction ended the wave. */
    void (*done)(void *local);
    /* Both or none. decoded() is called under the program's lock when an instruction is lowered, and returns
     * its number or WMI_NOT_SHOWN. execute() is called each time a wave is about to execute an instruction
     * with a number. *wave is NULL when the wave starts; afterwards it is the observer's data for the wave.
     * scalars: the wave's scalar registers, indexed by WMI_S_* of src/sem/sem.h. */
    uint32_t (*decoded)(void *self, uint64_t pc, const struct wmi_instruction *insn);
    void (*execute)(void *local, void **wave, uint32_t number, const uint32_t *scalars);
    /* Both or none, with execute(). joins(): whether execute() of the previous instruction also stands for
     * this one; called only where the previous one always leads to this one with the same EXEC. If so, join()
     * is called instead of decoded(), which was last called for the previous instruction, and execute() is
     * not called for this one. */
    bool (*joins)(void *self, const struct wmi_instruction *insn);
    void (*join)(void *self, uint64_t pc, const struct wmi_instruction *insn);
    /* Instead of execute(), with decoded(): returns the frame of a shadow execution of the wave, or NULL. The
     * shadow executes the instruction before the wave does, as far as the instruction only computes in
     * registers: it does not branch, access memory or change the wave. Called only while *wave is not NULL,
     * which access() can change; with `shadows_always`, also when the wave starts. */
    char *(*shadow)(void *local, void **wave, uint32_t number, const char *frame,
                    const struct wmi_frame_layout *layout);
    bool shadows_always;
    /* The worker's wmi_execution_counters() counters (lower/lower.h), to which executions of instructions are
     * added. At most one observer of a dispatch has them. */
    uint64_t *(*execution_counters)(void *local);
    /* All or none; at most one observer of a dispatch counts blocks. block() is called under the program's
     * lock when a block is lowered: code in [from, to) that is executed from its start to its end. Waves
     * enter it by a branch or, if `falls` is set, from the instruction before it. If the block is empty and
     * `falls` is set, waves continue into the next block, which is counted as if it had been branched to.
     * work: WMI_WORK_COUNTS counts per execution (isa/rules/work.h). Returns a number below WMI_BLOCKS, or
     * WMI_NOT_SHOWN. block_counters() returns the worker's counters by that number, to which each execution
     * is added. fetch() is called when a wave executes a block whose count of executions was 0. */
    uint32_t (*block)(void *self, uint64_t from, uint64_t to, bool falls, const uint32_t *work);
    /* With block(), or NULL: called for each instruction of a block before block() is called for it. branch:
     * address of the branch target; 0: none. ends: control never reaches the next instruction. */
    void (*takes)(void *self, uint64_t pc, const struct wmi_instruction *insn, uint64_t branch, bool ends);
    struct wmi_block_counter *(*block_counters)(void *local);
    void (*fetch)(void *local, uint32_t wave, uint32_t block);
    /* Both or none. resume() is called when a worker starts or resumes a workgroup. *group is NULL when the
     * workgroup starts; afterwards it is the observer's data for it. scratch: guest address of the scratch
     * memory of its first wave, which depends on the threads. end() is called when the workgroup has ended,
     * also by a fault, after so many instructions. Workgroups then start in the order of their numbers. */
    void (*resume)(void *local, void **group, uint64_t number, uint32_t waves, uint64_t scratch);
    void (*end)(void *local, void *group, uint64_t instructions);
    /* Whether the observer needs nothing but the summary of the access; else access() is called. */
    bool (*summary)(void *local, const struct wmi_address_summary *summary, uint32_t slot);
    /* With summary(): the equivalent for instructions with one lane and one place, whose shape never changes.
     * Any address within the hit is known to be valid. */
    bool (*summary_lane)(void *local, uint32_t slot, uint32_t wave, uint32_t depth, uint64_t address,
                         const struct wmi_hit *hit);
    /* Called for the kinds of `events`. */
    void (*event)(void *local, const struct wm_event *event);
    /* For wmi_dispatch.holder only, which is the first observer, of a dispatch with one thread. It may block
     * here and change registers, LDS and memory. instructions: executed by the wave so far; with
     * WMI_HOLD_INSTRUCTION. WMI_HELD: something may have changed; before accesses, the wave then repeats the
     * steps of the instruction that compute addresses. WMI_HELD_AND_CANCELLED: the dispatch ends. */
    enum wmi_held (*hold)(void *local, enum wmi_hold why, struct wmi_wave *wave, uint64_t pc,
                          uint64_t instructions);
    /* With hold(): the program in which the wave has to execute its next instructions, at most so many and up
     * to a taken branch; and called before each visit of a workgroup and after the last one, when no wave is
     * in a time slice. False: no memory, the dispatch ends. */
    struct wmi_program *(*program)(void *local, struct wmi_wave *wave, uint64_t instructions);
    bool (*between)(void *local, struct wmi_executor *executor);
    /* Called on the dispatching thread when the dispatch is over. Returns why the observer did not see
     * everything, a text without a final period; NULL: it saw everything. */
    const char *(*incomplete)(void *self);
};

/* All observers of a dispatch. */
struct wmi_observers {
    const struct wmi_observer *const *one;
    unsigned count;
    uint64_t events; /* union of the events that they request */
};

#endif
