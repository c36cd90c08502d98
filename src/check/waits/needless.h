/* SPDX-License-Identifier: MIT */
/* Finds waits that were needless whenever they were executed: nothing was on its way, or nobody used what
 * they waited for before a later wait that covers them.
 *
 * Whatever may order memory accesses of different waves counts as a use: stores, atomics, loads with a cache
 * policy, barriers, messages, the end of the wave. */
#ifndef WMI_NEEDLESS_H
#define WMI_NEEDLESS_H

#include "check/waits/wait_state.h"

/* What an instruction means for the waits before it. */
enum wmi_wait_role {
    WMI_WAIT_NEUTRAL, /* only its registers matter */
    WMI_WAIT_ORDERS,  /* it may need that earlier accesses are complete */
};

/* How often a wait was executed. */
struct wmi_wait_use {
    uint64_t idle;     /* nothing was on its way */
    uint64_t early;    /* nobody used what it waited for before a later wait */
    uint64_t needed;   /* or may have been */
    uint64_t distance; /* early: fewest instructions up to the later wait, */
    uint64_t later;    /* which has this address in that case: the lowest of several */
};

/* The last wait of a wave that has not been needed yet. All zero: there is none. */
struct wmi_last_wait {
    bool open;
    uint32_t number; /* of the instruction */
    uint64_t at;     /* instructions of the wave before it */
    uint64_t before[WMI_COUNTER_COUNT][WMI_ORDER_COUNT], after[WMI_COUNTER_COUNT][WMI_ORDER_COUNT];
    uint64_t ordered[WMI_COUNTER_COUNT][WMI_ORDER_COUNT]; /* the last unit that was issued by an instruction
                                                             that orders */
};

enum wmi_wait_role wmi_wait_role_of(const struct wmi_instruction *insn);

/* A wave is about to issue an instruction that is no wait. Counts into the use of the last wait if that was
 * needed. */
void wmi_needless_instruction(struct wmi_last_wait *last, struct wmi_wait_use *uses,
                              const struct wmi_wait_state *state, enum wmi_wait_role role,
                              const struct wmi_span_of_registers *spans, unsigned count);
/* It has issued it. */
void wmi_needless_issued(struct wmi_last_wait *last, const struct wmi_wait_state *state,
                         const struct wmi_wait_facts *facts, enum wmi_wait_role role);
/* A wave waits at `pc`, the instruction `number`; `before` is its state before that. */
void wmi_needless_wait(struct wmi_last_wait *last, struct wmi_wait_use *uses,
                       const uint64_t before[WMI_COUNTER_COUNT][WMI_ORDER_COUNT],
                       const struct wmi_wait_state *state, const struct wmi_wait_facts *facts,
                       uint32_t number, uint64_t pc);
/* Adds the counts of another thread. */
void wmi_wait_use_add(struct wmi_wait_use *use, const struct wmi_wait_use *more);

#endif
