/* SPDX-License-Identifier: MIT */
/* A model of a wave's wait counters: which operations are known to be complete, and whether a register's data
 * has arrived.
 *
 * The model receives the instructions that the wave issues and derives its answers from the guarantees of the
 * counters, not from latencies. It does not depend on time or threads. */
#ifndef WMI_WAIT_STATE_H
#define WMI_WAIT_STATE_H

#include "isa/rules/registers.h"
#include "isa/rules/wait.h"

/* A pending operation of up to two counters (FLAT increments two). */
struct wmi_pending {
    uint64_t serial[2]; /* issued units of its counter and order, including itself */
    uint8_t counter[2], order[2], sequence[2];
    uint8_t count;      /* 0: nothing is pending */
    uint64_t lanes;     /* of a VGPR, that are pending */
    uint32_t number;    /* passed to wmi_wait_issue() */
    uint64_t issued_at; /* instructions of the wave before it */
};

struct wmi_wait_state {
    const struct wmi_target *target;
    uint64_t instructions;
    uint64_t issued[WMI_COUNTER_COUNT][WMI_ORDER_COUNT]; /* units */
    uint64_t done[WMI_COUNTER_COUNT]
                 [WMI_ORDER_COUNT]; /* units known to be complete, in the sequence of each order */
    /* All zero of registers that no instruction has used: */
    struct wmi_pending written[WMI_REGISTER_COUNT]; /* pending writes of the register */
    struct wmi_pending held[WMI_REGISTER_COUNT];    /* pending reads of the register */
};

/* Why a register must not be used yet: the counter and the value that it must not exceed. */
struct wmi_not_ready {
    uint32_t number;
    uint64_t distance; /* instructions in between */
    enum wmi_counter counter;
    unsigned value;
};

/* Makes the state that of a wave's beginning; only registers below `reach` were used. */
void wmi_wait_clear(struct wmi_wait_state *state, unsigned reach);

/* Updates the counters for one instruction with the registers `spans`. `number` identifies it in results.
 * lanes: of VGPRs that it writes. */
void wmi_wait_issue(struct wmi_wait_state *state, const struct wmi_wait_facts *facts,
                    const struct wmi_span_of_registers *spans, unsigned count, uint32_t number,
                    uint64_t lanes);

/* Records that the last FLAT instruction accessed only memory or only LDS. It then completes in order with
 * other accesses there, and the counter of that memory tells: LLVM waits for that one alone if it knows the
 * address space (SIInsertWaitcnts, mayAccessVMEMThroughFlat and mayAccessLDSThroughFlat). In general, FLAT
 * completes out of order before gfx10, and both counters must be 0. */
void wmi_wait_went(struct wmi_wait_state *state, const struct wmi_wait_facts *facts,
                   const struct wmi_span_of_registers *spans, unsigned count, bool to_lds);

/* Whether everything that has been issued is known to be complete. */
bool wmi_wait_is_idle(const struct wmi_wait_state *state);
/* Whether all pending writes of the register are known to be complete. lanes: of a VGPR; those that matter.
 */
bool wmi_wait_ready(const struct wmi_wait_state *state, unsigned reg, uint64_t lanes,
                    struct wmi_not_ready *why);
/* Whether one of the pending operation's counters says that it is complete. */
bool wmi_wait_has_read(const struct wmi_wait_state *state, const struct wmi_pending *held);
/* Whether all pending reads of the register are known to be complete. */
bool wmi_wait_free(const struct wmi_wait_state *state, unsigned reg, struct wmi_not_ready *why);
/* Whether a write by an instruction with these facts completes after the pending one, because both complete
 * in order. */
bool wmi_wait_follows(const struct wmi_wait_state *state, unsigned reg, const struct wmi_wait_facts *facts);

#endif
