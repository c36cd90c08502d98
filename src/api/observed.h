/* SPDX-License-Identifier: MIT */
/* What observers are told of the dispatch that they look at. */
#ifndef WMI_API_OBSERVED_H
#define WMI_API_OBSERVED_H

#include "api/machine.h"
#include "exec/workgroup.h"
#include "profile/profile.h"

/* Where an observed dispatch's code comes from. */
struct wmi_observed {
    const struct wm_machine *machine;
    const struct wmi_module *module;
    char text[256];
};

/* For struct wmi_profile_source, with a struct wmi_observed as `user`. */
void wmi_observed_describe(void *user, unsigned id, struct wm_profile_row *row);
bool wmi_observed_code(void *user, uint64_t pc, struct wm_profile_code *code);

/* Gives the profile a product if it has none, and says whether it fits the target. */
enum wm_status wmi_choose_gpu(struct wm_profile *profile, const struct wmi_target *target,
                              struct wm_diag *diag);

/* What of a compute unit the dispatch's workgroups take. */
struct wmi_profile_dispatch wmi_occupancy_of(const struct wm_machine *machine, const struct wm_kernel *kernel,
                                             const struct wmi_dispatch *dispatch);

#endif
