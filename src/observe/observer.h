/* SPDX-License-Identifier: MIT */
/* The interface between execution and whoever looks on: profile, checks, fidelity report, the caller's own
 * observers (wavemem/observe.h).
 *
 * Lowering emits a step only for what an observer of the dispatch asks for by a function or a bit here. Each
 * observer has steps of its own for memory accesses and instructions, so that one does not slow the others
 * down. */
#ifndef WMI_OBSERVER_H
#define WMI_OBSERVER_H

#include "memory/access.h"
#include "wavemem/observe.h"

/* What decoded() of an observer returns for instructions that it need not see. */
enum { WMI_NOT_SHOWN = UINT32_MAX };

/* Why access() of an observer that is `late` is called, instead of its slot. */
enum wmi_late {
    WMI_LATE_ANY,     /* this instruction's accesses are always shown */
    WMI_LATE_REFUSED, /* a lane is refused or dropped, or guards() asks for it */
    WMI_LATE_BASE,    /* its scalar base address may lie in another allocation */
};

enum { WMI_BLOCKS = 1 << 20 /* of a program, that an observer can count */ };

/* An access of which only the addresses are left to say, before they are made: nothing of it is refused as
 * long as they lie in [from, to). Its places are those that the instruction has, at distances that never
 * change. */
struct wmi_address_summary {
    const uint32_t *low, *high; /* of each lane's address in the first place; high NULL: 0 */
    uint64_t base;              /* is added to all of them */
    uint64_t lanes;             /* as of the access, at least one */
    uint64_t from, to;
    uint32_t shape;       /* wmi_access_shape() of it, if all places lie in one space */
    uint32_t wave, depth; /* as of the access */
};

static inline uint64_t wmi_summary_address(const struct wmi_address_summary *summary, unsigned lane)
{
    return summary->base + (summary->low[lane] | (summary->high ? (uint64_t)summary->high[lane] << 32 : 0));
}

/* Space, places and bytes of each in one number. */
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

struct wmi_wave;        /* of src/exec */
struct wmi_instruction; /* of src/isa, which is only passed on here */
struct wmi_hit;         /* memory/space.h */

/* Watches a dispatch and cannot change anything, except in hold(). Functions are called by the worker's own
 * thread unless they say otherwise; `local` is what thread_begin returned for that worker, so that an
 * observer needs no locks. All functions may be NULL but thread_begin and thread_end. */
struct wmi_observer {
    void *self;
    uint64_t events; /* the kinds of enum wm_event_kind for which event() is called */
    bool depths;     /* it asks for wmi_access.depth */
    bool lds_moves;  /* it asks for the LDS side of moves between memory and LDS, too (WMI_PATH_LDS_DMA) */
    /* With access(), and without instruction(), done() and summary(): it must be shown accesses only for
     * which enum wmi_late has a reason, so that the others cost next to nothing. One observer of a dispatch
     * may be late. */
    bool late;
    bool flat_only; /* access() is for FLAT instructions only */
    bool explains;  /* addresses are given, not reached: an aperture may lie within an allocation */
    /* Waves may execute compiled code between the steps that call it. Not with `late`, hold() or shadow(),
     * which depend on the steps of instructions. */
    bool allows_compiled;
    /* NULL: no memory. The dispatch does not run then. */
    void *(*thread_begin)(void *self);
    void (*thread_end)(void *self, void *local);
    /* An access, before it is made. */
    void (*access)(void *local, const struct wmi_access *access, uint32_t slot);
    /* Called once per memory instruction that has accesses when it is lowered, under the program's lock;
     * returns its slot, a dense number that access() gets back. */
    uint32_t (*instruction)(void *self, uint64_t pc, unsigned id);
    /* With `late`: whether stores to the allocation [low, high) must be shown. */
    bool (*guards)(void *self, uint64_t low, uint64_t high);
    /* The instruction whose accesses were shown has been carried out: the registers hold its results. Not
     * called if it ended the wave. */
    void (*done)(void *local);
    /* Both or none: once per instruction when it is lowered, under the program's lock, which gives it a
     * number or WMI_NOT_SHOWN; and each time that a wave is about to execute one that has a number. *wave is
     * NULL when the wave starts, and from then on what the observer keeps of the wave. scalars: its scalar
     * registers, by the numbers of WMI_S_* in src/sem/sem.h. */
    uint32_t (*decoded)(void *self, uint64_t pc, const struct wmi_instruction *insn);
    void (*execute)(void *local, void **wave, uint32_t number, const uint32_t *scalars);
    /* Both or none, with execute(): whether execute() of the instruction before may stand for this one, too;
     * asked only where that one always leads to this one, with the same EXEC. Then join() is called instead
     * of decoded(), which was called last for the instruction before, and execute() is not. */
    bool (*joins)(void *self, const struct wmi_instruction *insn);
    void (*join)(void *self, uint64_t pc, const struct wmi_instruction *insn);
    /* Instead of execute(), with decoded(): returns a copy of the wave's frame, which then executes the
     * instruction, too, before the wave does, as far as the instruction computes in registers only: it does
     * not branch, access memory or change the wave. NULL: none. The caller of decoded() is the same. Called
     * only while *wave is not NULL, which access() can change; if `shadows_always`, also when the wave
     * starts.
     */
    char *(*shadow)(void *local, void **wave, uint32_t number, const char *frame,
                    const struct wmi_frame_layout *layout);
    bool shadows_always;
    /* wmi_execution_counters() counters of the worker (lower/lower.h), to which executions of instructions
     * are added. One observer of a dispatch may have them. */
    uint64_t *(*execution_counters)(void *local);
    /* All or none: once per block when it is lowered, under the program's lock: code in [from, to) that
     * is executed from its start to its end, where waves come by a branch or, with `falls`, from the
     * instruction before it; work: of an execution, WMI_WORK_COUNTS counts (isa/work.h); returns a number
     * below WMI_BLOCKS or WMI_NOT_SHOWN. An empty block that falls: waves run on into one that is counted as
     * if a branch had led there. Counters of the worker by that number, of which each execution adds 1 to
     * one. And a wave executes a block whose counter was 0. One observer of a dispatch may count blocks. */
    uint32_t (*block)(void *self, uint64_t from, uint64_t to, bool falls, const uint32_t *work);
    /* With block(), or NULL: once per instruction of a block when it is lowered, before block() is called for
     * it. branch: address that it may branch to; 0: none. ends: it never goes on at the next instruction. */
    void (*takes)(void *self, uint64_t pc, const struct wmi_instruction *insn, uint64_t branch, bool ends);
    uint64_t *(*block_counters)(void *local);
    void (*fetch)(void *local, uint32_t wave, uint32_t block);
    /* Both or none: a worker turns to a workgroup, which begins or goes on; *group is NULL when it begins,
     * and from then on what the observer keeps of it. scratch: guest address of the scratch memory of its
     * first wave, which depends on the threads. And it has ended after so many instructions, also by a fault.
     * Workgroups then begin in the order of their numbers. */
    void (*turn)(void *local, void **group, uint64_t number, uint32_t waves, uint64_t scratch);
    void (*end)(void *local, void *group, uint64_t instructions);
    /* Whether the summary is all that the observer needs of the access; else access() shows it. */
    bool (*summary)(void *local, const struct wmi_address_summary *summary, uint32_t slot);
    /* With summary(): the same of an instruction of one lane and one place, which always has the same shape;
     * nothing of it is refused as long as it lies in the hit. */
    bool (*summary_lane)(void *local, uint32_t slot, uint32_t wave, uint32_t depth, uint64_t address,
                         const struct wmi_hit *hit);
    /* What `events` asks for. */
    void (*event)(void *local, const struct wm_event *event);
    /* wmi_dispatch.holder only, which is the first observer, of a dispatch with one thread, and may wait here
     * and change registers, LDS and memory. instructions: that the wave has executed; with HOLD_INSTRUCTION.
     * WMI_HELD: something may have changed; before accesses the wave then executes the instruction again from
     * its start, as far as no access was made. _CANCELLED: the dispatch ends. */
    enum wmi_held (*hold)(void *local, enum wmi_hold why, struct wmi_wave *wave, uint64_t pc,
                          uint64_t instructions);
    /* On the thread that dispatches, when the dispatch is over: why the observer did not see everything, a
     * text without a period at its end; NULL: it did. */
    const char *(*incomplete)(void *self);
};

/* All observers of a dispatch. */
struct wmi_observers {
    const struct wmi_observer *const *one;
    unsigned count;
    uint64_t events; /* that one of them asks for */
};

#endif
