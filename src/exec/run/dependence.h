/* SPDX-License-Identifier: MIT */
/* Decides from the code of a kernel whether its workgroups may depend on one another, that is, whether one
 * can observe what others of the same dispatch do. If not, each workgroup has the same results in any order
 * of execution. */
#ifndef WMI_DEPENDENCE_H
#define WMI_DEPENDENCE_H

#include "lower/scan.h"
#include "wavemem/wavemem.h"

struct wmi_dependence_source {
    const struct wmi_code *code;
    bool unknown_calls; /* the kernel calls functions through addresses that its code does not contain */
    /* Whether the address contains code rather than data. */
    bool (*is_code)(void *user, uint64_t address);
    void *user;
};

/* Sets the kind of *dependence and its pc, the first instruction found through which workgroups may depend on
 * one another. Sets *entries: the kernel's entry and all code that no direct branch reaches (functions whose
 * address is computed, and return addresses), in an order that depends on the code only. The list is complete
 * if there is no dependence. The caller frees it, also on failure. False: no memory. */
bool wmi_find_dependence(const struct wmi_dependence_source *source, struct wm_dependence *dependence,
                         struct wmi_place_list *entries);

#endif
