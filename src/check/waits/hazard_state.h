/* SPDX-License-Identifier: MIT */
/* Detects hazards in the instruction stream of a wave. */
#ifndef WMI_HAZARD_STATE_H
#define WMI_HAZARD_STATE_H

#include "check/waits/hazard_history.h"

/* Makes the state that of a wave's beginning. It has been one, or is all zero. */
void wmi_hazard_begin(struct wmi_hazard_state *state, const struct wmi_target *target);
/* Updates the state with an executed instruction; fills `found` with its hazards and returns their number. */
unsigned wmi_hazard_execute(struct wmi_hazard_state *state, const struct wmi_hazard_facts *facts,
                            const struct wmi_span_of_registers *spans, unsigned count, uint32_t number,
                            struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE]);

/* The hazards that are distances in wait states, which is the first part of wmi_hazard_execute(). */
void wmi_hazard_look_distances(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                               const struct wmi_span_of_registers *spans, unsigned count);
void wmi_hazard_remember_distances(struct wmi_hazard_state *state, const struct wmi_hazard_facts *facts,
                                   const struct wmi_span_of_registers *spans, unsigned count,
                                   uint32_t number);
/* Whatever has been executed is too far away. */
void wmi_hazard_forget_distances(struct wmi_hazard_state *state);

#endif
