/* SPDX-License-Identifier: MIT */
/* Wait counters: which of them an instruction raises and by how much, and what a wait instruction waits for.
 *
 * A counter goes down as instructions finish. Those of one order finish in the order in which they were
 * issued; of the orders that a counter counts, any may finish first. */
#ifndef WMI_WAIT_H
#define WMI_WAIT_H

#include "isa/isa.h"

enum wmi_order {
    WMI_ORDER_MEMORY,
    WMI_ORDER_LDS,
    WMI_ORDER_GDS,
    WMI_ORDER_EXPORT,
    WMI_ORDER_NONE, /* from here on also among themselves */
    WMI_ORDER_SCALAR = WMI_ORDER_NONE,
    WMI_ORDER_MESSAGE,
    WMI_ORDER_FLAT, /* that may go either way and come back out of order */
    WMI_ORDER_COUNT
};

/* One counter raised. */
struct wmi_wait_event {
    uint8_t counter, order, units;
    bool writes; /* the instruction's results are there when it has gone down */
    bool holds;  /* its sources are read by then */
};

struct wmi_wait_facts {
    struct wmi_wait_event event[3];
    uint8_t events;
    bool waits;
    bool by_scalar; /* what a scalar register (role A) holds comes to the limit: wmi_wait_by_scalar() */
    uint8_t limit[WMI_COUNTER_COUNT]; /* waits: until the counter is not above; UINT8_MAX: any value */
};

/* What the instruction does to counters on the target. */
struct wmi_wait_facts wmi_wait_facts_of(const struct wmi_target *target, const struct wmi_instruction *insn);

/* The counters that instructions of the row raise on the target, in words; false: none. */
bool wmi_wait_of_row(const struct wmi_target *target, unsigned id, char *text, size_t size);

/* Adds what the scalar register holds to what the instruction waits for. Source: RDNA ISA,
 * S_WAITCNT_VSCNT. */
void wmi_wait_by_scalar(struct wmi_wait_facts *facts, uint32_t value);

/* The largest value that the counter holds; 0: the target does not have it. An instruction that would raise
 * it further is not issued until it has gone down. */
unsigned wmi_counter_largest(const struct wmi_target *target, enum wmi_counter counter);

/* Writes the instruction that waits until the counter is not above `value`. */
void wmi_wait_text(const struct wmi_target *target, enum wmi_counter counter, unsigned value, char *text,
                   size_t size);

/* The fields of s_waitcnt: vmcnt, expcnt, lgkmcnt. */
struct wmi_waitcnt {
    unsigned vm, exp, lgkm;
};
struct wmi_waitcnt wmi_waitcnt_fields(const struct wmi_target *target, uint32_t simm16);

#endif
