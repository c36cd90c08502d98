/* SPDX-License-Identifier: MIT */
/* What observers are told of the dispatch that they look at. */
#ifndef WMI_API_OBSERVED_H
#define WMI_API_OBSERVED_H

#include "api/machine.h"
#include "exec/run/workgroup.h"
#include "profile/profile.h"

struct wmi_variable; /* check/findings.h */

/* Where an observed dispatch's code comes from. */
struct wmi_observed {
    const struct wm_machine *machine;
    const struct wmi_module *module;
    char text[256];
};

/* For struct wmi_profile_source, with a struct wmi_observed as `user`. */
void wmi_observed_describe(void *user, unsigned id, struct wm_profile_row *row);
bool wmi_observed_code(void *user, uint64_t pc, struct wm_profile_code *code);
/* The wmi_inlined_at and wmi_variable_at of checks. */
bool wmi_observed_inlined(void *user, uint64_t pc, unsigned depth, struct wm_inlined *inlined);
bool wmi_observed_variable(void *user, uint64_t address, struct wmi_variable *variable);
/* Whether there is code at the address. */
bool wmi_observed_is_code(void *user, uint64_t pc);

/* Gives the profile a product if it has none, and says whether it fits the target. */
enum wm_status wmi_choose_gpu(struct wm_profile *profile, const struct wmi_target *target,
                              struct wm_diag *diag);

/* Somebody watches the dispatch. If its workgroups may depend on one another, they will run on one thread, in
 * one order; otherwise all code that can be found is lowered now, in an order that does not depend on
 * threads. False: no memory. */
bool wmi_fix_order(struct wmi_observed *observed, const struct wm_kernel *kernel,
                   struct wmi_dispatch *dispatch);

/* What of a compute unit the dispatch's workgroups take. */
struct wmi_profile_dispatch wmi_occupancy_of(const struct wm_machine *machine, const struct wm_kernel *kernel,
                                             const struct wmi_dispatch *dispatch);
/* Where execution puts scratch memory, and how much of it the hardware gives to a wave. */
void wmi_tell_scratch(const struct wm_machine *machine, const struct wm_kernel *kernel,
                      const struct wmi_dispatch *dispatch, struct wmi_profile_source *source);

#endif
