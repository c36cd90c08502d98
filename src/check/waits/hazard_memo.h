/* SPDX-License-Identifier: MIT */
/* Remembers the hazards of sequences of instructions, so that waves which execute the same code again need
 * not look for them. */
#ifndef WMI_HAZARD_MEMO_H
#define WMI_HAZARD_MEMO_H

#include "check/waits/hazard_state.h"

/* Of a thread and a dispatch: instructions have the same numbers in all waves. */
struct wmi_hazard_memo;

/* NULL: no memory. */
struct wmi_hazard_memo *wmi_hazard_memo_create(const struct wmi_target *target);
void wmi_hazard_memo_destroy(struct wmi_hazard_memo *memo);

/* A wave: its last instructions, and what it did that can still matter. */
struct wmi_hazard_wave;
/* A wave that begins. NULL: no memory. */
struct wmi_hazard_wave *wmi_hazard_wave_create(struct wmi_hazard_memo *memo);
void wmi_hazard_wave_destroy(struct wmi_hazard_wave *wave);
void wmi_hazard_wave_begin(struct wmi_hazard_wave *wave);
/* As wmi_hazard_execute(). facts and spans must live until the wave begins anew. */
unsigned wmi_hazard_wave_execute(struct wmi_hazard_wave *wave, const struct wmi_hazard_facts *facts,
                                 const struct wmi_span_of_registers *spans, unsigned count, uint32_t number,
                                 struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE]);

/* The state of a wave at some time, from which others can go on. */
struct wmi_hazard_place;
/* Waves with the same key find the same hazards from now on. They have used registers below `reach`. */
uint64_t wmi_hazard_wave_key(const struct wmi_hazard_wave *wave, unsigned reach);
/* Must follow wmi_hazard_wave_key() of the wave. To be freed. NULL: no memory. */
struct wmi_hazard_place *wmi_hazard_wave_place(const struct wmi_hazard_wave *wave);
void wmi_hazard_wave_resume(struct wmi_hazard_wave *wave, const struct wmi_hazard_place *place);

#endif
