/* SPDX-License-Identifier: MIT */
/* Hazards that wait states do not resolve. */
#ifndef WMI_UNSETTLED_STATE_H
#define WMI_UNSETTLED_STATE_H

#include "check/waits/hazard_history.h"

/* Makes the state that of a wave's beginning. It has been one, or is all zero. */
void wmi_unsettled_begin(struct wmi_unsettled_state *state);
void wmi_unsettled_look(struct wmi_hazard_search *search, const struct wmi_hazard_facts *facts,
                        const struct wmi_span_of_registers *spans, unsigned count);
void wmi_unsettled_remember(struct wmi_unsettled_state *state, const struct wmi_hazard_facts *facts,
                            const struct wmi_span_of_registers *spans, unsigned count, uint32_t number);

/* Whether the target has such hazards. */
bool wmi_unsettled_exists(const struct wmi_target *target);

/* One thing that a state remembers and that can still matter. */
struct wmi_unsettled_item {
    uint32_t number; /* of the instruction, if a finding may name it */
    uint16_t reg;
    uint8_t what;
    uint8_t valus, transcendentals; /* executed since; valus: for WMMA's result, registers */
    uint8_t exec; /* vector instructions from the write of EXEC to the one that is meant, plus 1; 0: none */
    uint8_t busy_valu, busy_wmma; /* of registers of a WMMA */
    uint8_t flags;                /* of what is meant */
};

enum { WMI_UNSETTLED_ITEMS = 7 * WMI_VECTOR_REGISTERS + 6 * WMI_SCALAR_REGISTERS + 6 };

/* Writes the items of a state, which has used registers below `reach`; returns their number. States with the
 * same items find the same hazards from now on. */
unsigned wmi_unsettled_save(const struct wmi_unsettled_state *state, const struct wmi_target *target,
                            unsigned reach, struct wmi_unsettled_item item[WMI_UNSETTLED_ITEMS]);
/* Makes a state from its items. It has been one, or is all zero. */
void wmi_unsettled_restore(struct wmi_unsettled_state *state, const struct wmi_unsettled_item *item,
                           unsigned count);

#endif
