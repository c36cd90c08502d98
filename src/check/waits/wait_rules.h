/* SPDX-License-Identifier: MIT */
/* The rules of missing waits, hazards and needless waits. */
#ifndef WMI_WAIT_RULES_H
#define WMI_WAIT_RULES_H

#include "check/checker.h"
#include "check/waits/wait_paths.h"
#include "isa/rules/hazards.h"

enum wmi_missing_wait {
    WMI_READ_EARLY,
    WMI_OVERWRITTEN_EARLY,
    WMI_HELD_OVERWRITTEN,
    WMI_REPLAY_OVERWRITTEN,
    WMI_PREFETCHED_EARLY,
    WMI_SCRATCH_DEALLOCATED,
    WMI_MISSING_WAITS,
};

/* Details of a missing wait or a hazard. The register is its number plus 1, or 0; the value that the counter
 * must not exceed, or the wait states that are missing; the instructions between the two. */
enum { WMI_DETAIL_REGISTER, WMI_DETAIL_COUNTER, WMI_DETAIL_VALUE, WMI_DETAIL_DISTANCE };
enum { WMI_WAIT_FAR = WMI_WAIT_AGES - 1 }; /* a distance of this or more */

/* The start of the checker that the rules belong to. */
struct wmi_wait_rules {
    const struct wmi_target *target; /* of the dispatch */
    struct wmi_check_rule hazard[WMI_HAZARD_COUNT];
};

extern const struct wmi_check_rule wmi_missing_wait_rules[WMI_MISSING_WAITS];
extern const struct wmi_check_rule wmi_needless_rule;
/* With WM_CHECK_EVERY_WAIT: */
extern const struct wmi_check_rule wmi_needless_in_launch_rule, wmi_needed_rule;

/* Fills the rules of hazards. */
void wmi_wait_rules_init(struct wmi_wait_rules *rules);

#endif
