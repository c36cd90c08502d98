/* SPDX-License-Identifier: MIT */
/* The predicted time of a kernel after a change. */
#ifndef WMI_PROFILE_AFTER_H
#define WMI_PROFILE_AFTER_H

#include "profile/advice/suspects.h"
#include "profile/kernels.h"

/* What a change leaves of a kernel's work. */
struct wmi_after {
    double clocks[WMI_GPU_PARTS]; /* of each part, as in the bound */
    double saved;                 /* clocks that all waves together no longer issue or wait for */
    double last_saved;            /* share of the requests to the last-level cache */
    double predicted;             /* seconds; 0: they follow from the clocks above */
};

/* A kernel's accesses to memory and LDS, as the prediction sees them. */
struct wmi_after_accesses {
    struct wmi_time_work work;
    struct wmi_time_access *access; /* of work, by row */
    double waits, last; /* clocks of all waves, and requests to the last-level cache, before a change */
};

/* rows: `count` of the kernel, each of which may be changed. False: out of memory. */
bool wmi_after_begin(struct wmi_after_accesses *accesses, const struct wm_profile *profile,
                     const struct wmi_binding *binding, const struct wm_profile_row *const *rows,
                     size_t count);
void wmi_after_end(struct wmi_after_accesses *accesses);
/* Lets the access `at` do what `row` says. Returns what it did before, to be put back. */
struct wmi_time_access wmi_after_change(struct wmi_after_accesses *accesses, size_t at,
                                        const struct wm_profile_row *row);
/* Sets how much waiting, and how many requests to the last-level cache, the changes save. */
void wmi_after_save(const struct wmi_after_accesses *accesses, struct wmi_after *after);

/* The predicted time after the change, in seconds; 0: unknown. now: the clocks of each part today. */
double wmi_after_predicted(const struct wmi_binding *binding, const double now[WMI_GPU_PARTS],
                           const struct wmi_after *after);

#endif
