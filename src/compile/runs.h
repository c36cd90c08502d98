/* SPDX-License-Identifier: MIT */
/* Steps whose sources and results are rows in runs (spread.h): a few instructions for the whole wave.
 * Work-item ids are in runs, and so are most indices and addresses that are computed from them.
 *
 * Only code for waves that start keeps rows in runs (WMI_LAUNCH): it knows where the ids are. What holds only
 * if a sum does not wrap within a strip is checked, and the wave leaves if it does. */
#ifndef WMI_RUNS_H
#define WMI_RUNS_H

#include "compile/stretch.h"

/* Leaves if, in a strip, the last lane's value is below the first one's. Needs wmi_spread_begin(). */
void wmi_runs_leave_if_wraps(struct wmi_stretch *s, unsigned bases, unsigned stride);
/* Emits the step so that its results are in runs. False: it cannot, and nothing was emitted. */
bool wmi_runs_emit(struct wmi_stretch *s, const struct wmi_step *step);

#endif
