/* SPDX-License-Identifier: MIT */
/* What is said of an instruction that comes too early; src/isa/rules/hazards.c has the hazards per
 * generation. */
#include "check/waits/hazard_history.h"

static void report(struct wmi_hazard_search *search, enum wmi_hazard_kind kind, int reg,
                   const struct wmi_moment *first, unsigned missing)
{
    for (unsigned i = 0; i < search->count; i++)
        if (search->found[i].kind == kind) { /* keep the register with the most missing wait states */
            if (search->found[i].missing < missing)
                search->found[i] = (struct wmi_hazard_found){kind, reg, first->number, missing};
            return;
        }
    if (search->count < WMI_HAZARDS_AT_ONCE)
        search->found[search->count++] = (struct wmi_hazard_found){kind, reg, first->number, missing};
}

void wmi_hazard_look(struct wmi_hazard_search *search, enum wmi_hazard_kind kind, int reg,
                     const struct wmi_moment *first, unsigned states)
{
    if (!states || !first->clock || !wmi_hazard_states(search->state->target, kind))
        return;
    const uint64_t between = search->state->clock - first->clock;
    if (between < states)
        report(search, kind, reg, first, states - (unsigned)between);
}

void wmi_hazard_look_at(struct wmi_hazard_search *search, enum wmi_hazard_kind kind, int reg,
                        const struct wmi_moment *first)
{
    wmi_hazard_look(search, kind, reg, first, wmi_hazard_states(search->state->target, kind));
}

void wmi_hazard_look_unsettled(struct wmi_hazard_search *search, enum wmi_hazard_kind kind, int reg,
                               const struct wmi_moment *first)
{
    if (wmi_hazard_states(search->state->target, kind) && first->clock)
        report(search, kind, reg, first, 0);
}
