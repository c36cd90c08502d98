/* SPDX-License-Identifier: MIT */
/* Wait counters: which ones an instruction increments and by how much, and what wait instructions wait for.
 *
 * A counter decreases as instructions finish. Instructions of one order finish in issue order; instructions
 * of different orders that share a counter may finish in any order. */
#ifndef WMI_WAIT_H
#define WMI_WAIT_H

#include "isa/isa.h"

enum wmi_order {
    WMI_ORDER_MEMORY,
    WMI_ORDER_LDS,
    WMI_ORDER_GDS,
    WMI_ORDER_EXPORT,
    WMI_ORDER_NONE, /* from here on, also out of order within the same order */
    WMI_ORDER_SCALAR = WMI_ORDER_NONE,
    WMI_ORDER_MESSAGE,
    WMI_ORDER_FLAT, /* may go to memory or LDS, and return out of order */
    WMI_ORDER_COUNT
};

/* An increment of one counter. */
struct wmi_wait_event {
    uint8_t counter, order, units;
    uint8_t sequence; /* results with the same one are written in the order of issue; 0: none */
    bool writes;      /* the results are written when the counter has decreased */
    bool holds;       /* the sources have been read by then */
};

struct wmi_wait_facts {
    struct wmi_wait_event event[3];
    uint8_t events;
    bool waits;
    bool by_place;  /* FLAT: a wait for the counter of the memory that it went to suffices */
    bool by_scalar; /* the value of a scalar register (role A) is added to the limit: wmi_wait_by_scalar() */
    uint8_t limit[WMI_COUNTER_COUNT]; /* waits until counter <= limit; UINT8_MAX: no wait */
};

/* gfx12.5: memory instructions whose addresses have not been translated. Until then one may be replayed, so
 * its sources must stay. */
#define WMI_COUNTER_TRANSLATION WMI_COUNTER_EXP

/* The instruction's effects on the target's counters. */
struct wmi_wait_facts wmi_wait_facts_of(const struct wmi_target *target, const struct wmi_instruction *insn);

/* With those on WMI_COUNTER_TRANSLATION, where it exists. */
struct wmi_wait_facts wmi_wait_facts_of_all(const struct wmi_target *target,
                                            const struct wmi_instruction *insn);
bool wmi_counts_translations(const struct wmi_target *target);

/* Describes the counters that instructions of the row increment on the target; false: none. */
bool wmi_wait_of_row(const struct wmi_target *target, unsigned id, char *text, size_t size);

/* Adds the value of the scalar register to the limits. Source: RDNA ISA, S_WAITCNT_VSCNT. */
void wmi_wait_by_scalar(struct wmi_wait_facts *facts, uint32_t value);

/* The counter's largest value; 0: the target does not have it. An instruction that would exceed it is not
 * issued until the counter has decreased. */
unsigned wmi_counter_largest(const struct wmi_target *target, enum wmi_counter counter);

/* The counter of moves from memory to LDS for each lane; whether tensor copies count by another one. */
enum wmi_counter wmi_counter_of_moves(const struct wmi_target *target);
bool wmi_counts_tensors(const struct wmi_target *target);

/* Writes the instruction that waits until the counter is at most `value`. */
void wmi_wait_text(const struct wmi_target *target, enum wmi_counter counter, unsigned value, char *text,
                   size_t size);

/* The fields of s_waitcnt: vmcnt, expcnt, lgkmcnt. */
struct wmi_waitcnt {
    unsigned vm, exp, lgkm;
};
struct wmi_waitcnt wmi_waitcnt_fields(const struct wmi_target *target, uint32_t simm16);

#endif
