/* SPDX-License-Identifier: MIT */
/* Hazards that wait states do not resolve. */
#ifndef WMI_UNSETTLED_STATE_H
#define WMI_UNSETTLED_STATE_H

#include "check/hazard_history.h"

void wmi_unsettled_look(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                        const struct wmi_span_of_registers *spans, unsigned count);
void wmi_unsettled_remember(struct wmi_unsettled_state *state, const struct wmi_hazard_facts *facts,
                            const struct wmi_span_of_registers *spans, unsigned count, struct wmi_moment now);

#endif
