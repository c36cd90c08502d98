/* SPDX-License-Identifier: MIT */
/* Detects hazards in the instruction stream of a wave. */
#ifndef WMI_HAZARD_STATE_H
#define WMI_HAZARD_STATE_H

#include "check/hazard_history.h"

/* Updates the state with an executed instruction; fills `found` with its hazards and returns their number. */
unsigned wmi_hazard_execute(struct wmi_hazard_state *state, const struct wmi_hazard_facts *facts,
                            const struct wmi_span_of_registers *spans, unsigned count, uint32_t number,
                            struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE]);

#endif
