/* SPDX-License-Identifier: MIT */
/* Steps whose sources and results are rows in runs (spread.h): a few instructions for the whole wave.
 * Work-item ids are in runs, and so are most indices and addresses that are computed from them.
 *
 * Code for waves that start keeps rows in runs (WMI_LAUNCH): it knows where the ids are. For other code see
 * same.h. What holds only if a sum does not wrap within a strip, or within the wave if the run is whole, is
 * checked, and the wave leaves if it does. */
#ifndef WMI_RUNS_H
#define WMI_RUNS_H

#include "jit/stretch.h"

/* Whether two rows are, or can become, a pair in runs; that pair, of which reg[0] holds first lanes of 64
 * bits; a register with a row as such a pair whose high words are 0. Both may leave. */
bool wmi_runs_have_pair(struct wmi_stretch *s, uint32_t low, uint32_t high);
struct wmi_rows wmi_runs_pair(struct wmi_stretch *s, uint32_t low, uint32_t high);
unsigned wmi_runs_zero_extend(struct wmi_stretch *s, const struct wmi_rows *row);
/* Emits the step so that its results are in runs. False: it cannot, and nothing was emitted. */
bool wmi_runs_emit(struct wmi_stretch *s, const struct wmi_step *step);
/* Emits a step that works on bases and reads rows that are the same in each strip, or uniform ones; false: it
 * reads others, or only uniform ones. */
bool wmi_runs_emit_same(struct wmi_stretch *s, const struct wmi_step *step);

#endif
