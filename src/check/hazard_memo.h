/* SPDX-License-Identifier: MIT */
/* Remembers the hazards of sequences of instructions, so that waves which execute the same code again need
 * not look for them. */
#ifndef WMI_HAZARD_MEMO_H
#define WMI_HAZARD_MEMO_H

#include "check/hazard_state.h"

enum {
    WMI_HAZARD_WINDOW = 32
}; /* instructions; above all distances: the largest is 19 (src/isa/hazards_matrix.c) */

/* Of a thread and a dispatch: instructions have the same numbers in all waves. */
struct wmi_hazard_memo;

/* NULL: no memory, or hazards of the target may last longer than any sequence. */
struct wmi_hazard_memo *wmi_hazard_memo_create(const struct wmi_target *target);
void wmi_hazard_memo_destroy(struct wmi_hazard_memo *memo);

/* The last instructions of a wave. */
struct wmi_hazard_window {
    struct wmi_hazard_executed {
        const struct wmi_hazard_facts *facts; /* NULL: the wave had not begun */
        const struct wmi_span_of_registers *spans;
        unsigned count;
        uint32_t number;
        uint64_t left; /* its part of the hash when it leaves the window */
    } recent[WMI_HAZARD_WINDOW];
    unsigned next; /* of `recent`, the oldest one */
    uint64_t hash; /* of `recent` */
};

/* A wave that begins: its last instructions, and the state of exact detection. */
struct wmi_hazard_wave;
/* NULL: no memory. */
struct wmi_hazard_wave *wmi_hazard_wave_create(void);
/* memo: or NULL. */
void wmi_hazard_wave_begin(struct wmi_hazard_wave *wave, const struct wmi_target *target,
                           struct wmi_hazard_memo *memo);
/* As wmi_hazard_execute(). facts and spans must live until the wave begins anew. */
unsigned wmi_hazard_wave_execute(struct wmi_hazard_wave *wave, const struct wmi_hazard_facts *facts,
                                 const struct wmi_span_of_registers *spans, unsigned count, uint32_t number,
                                 struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE]);
/* Of a wave with a memo. */
const struct wmi_hazard_window *wmi_hazard_wave_window(const struct wmi_hazard_wave *wave);
/* Makes a wave with a memo go on from there. */
void wmi_hazard_wave_resume(struct wmi_hazard_wave *wave, const struct wmi_hazard_window *window);

#endif
