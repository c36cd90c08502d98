/* SPDX-License-Identifier: MIT */
/* A wave's wait counters: what is known to have finished, and whether a register's data is there yet.
 *
 * A pure model: it is told which instructions the wave issues and answers from what the counters guarantee,
 * not from how long memory takes. Nothing here depends on time or threads. */
#ifndef WMI_WAIT_STATE_H
#define WMI_WAIT_STATE_H

#include "isa/registers.h"
#include "isa/wait.h"

/* Up to two counters must have gone down (FLAT raises two). */
struct wmi_pending {
    uint64_t serial[2]; /* in units of its counter and order */
    uint8_t counter[2], order[2];
    uint8_t count;      /* 0: nothing is pending */
    uint32_t number;    /* the instruction's, as wmi_wait_issue() got it */
    uint64_t issued_at; /* instructions of the wave before it */
};

struct wmi_wait_state {
    const struct wmi_target *target;
    uint64_t instructions;
    uint64_t issued[WMI_COUNTER_COUNT][WMI_ORDER_COUNT]; /* units */
    uint64_t done[WMI_COUNTER_COUNT][WMI_ORDER_COUNT];   /* of them surely; in an order's sequence */
    struct wmi_pending written[WMI_REGISTER_COUNT];      /* data on its way into the register */
    struct wmi_pending held[WMI_REGISTER_COUNT];         /* data that an instruction has yet to read */
};

/* Why a register may not be used: which counter must not be above which value. */
struct wmi_not_ready {
    uint32_t number;
    uint64_t distance; /* instructions since then, the one itself not counted */
    enum wmi_counter counter;
    unsigned value;
};

/* Waits and counters of one instruction. `number` names it in answers; spans: its registers. */
void wmi_wait_issue(struct wmi_wait_state *state, const struct wmi_wait_facts *facts,
                    const struct wmi_span_of_registers *spans, unsigned count, uint32_t number);

/* Where the FLAT instruction that was issued last went, if it keeps no order: to memory or LDS alone it comes
 * back in order with what else went there. */
void wmi_wait_went(struct wmi_wait_state *state, const struct wmi_wait_facts *facts,
                   const struct wmi_span_of_registers *spans, unsigned count, bool to_lds);

/* Whether the data that was to come into the register is there. */
bool wmi_wait_ready(const struct wmi_wait_state *state, unsigned reg, struct wmi_not_ready *why);
/* Whether all that was to read the register has done so. */
bool wmi_wait_free(const struct wmi_wait_state *state, unsigned reg, struct wmi_not_ready *why);
/* Whether a write by an instruction with these facts comes behind the one that is pending, so that it is not
 * lost: both finish in one order. */
bool wmi_wait_follows(const struct wmi_wait_state *state, unsigned reg, const struct wmi_wait_facts *facts);

#endif
