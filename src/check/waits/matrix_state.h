/* SPDX-License-Identifier: MIT */
/* Hazards of matrix instructions: their recent accesses to each VGPR and AccVGPR. */
#ifndef WMI_MATRIX_STATE_H
#define WMI_MATRIX_STATE_H

#include "check/waits/hazard_history.h"

void wmi_matrix_look(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                     const struct wmi_span_of_registers *spans, unsigned count);
void wmi_matrix_remember(struct wmi_matrix_state *state, const struct wmi_target *target,
                         const struct wmi_hazard_facts *facts, const struct wmi_span_of_registers *spans,
                         unsigned count, struct wmi_moment now);

#endif
