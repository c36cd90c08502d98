/* SPDX-License-Identifier: MIT */
/* Rows in runs: in each strip of 16 lanes, the values grow by the same stride from lane to lane, modulo 2^32.
 * One register is enough for such a row: word i holds the value of the first lane of strip i, and the further
 * words repeat those of the wave's strips. Work-item ids are in runs, and so are most indices and addresses
 * that are computed from them. Strides are 0 and powers of two up to 16.
 *
 * Only code for waves that start keeps rows in runs (WMI_LAUNCH): it knows where the ids are. What holds only
 * if a sum does not wrap within a strip is checked, and the wave leaves if it does. */
#ifndef WMI_RUNS_H
#define WMI_RUNS_H

#include "compile/stretch.h"

/* R11 = the tables that the functions below need; it stays until the end of the step. */
void wmi_runs_find_tables(struct wmi_stretch *s);
/* d = the lanes of a strip, from the register of bases. */
void wmi_runs_spread(struct wmi_stretch *s, unsigned d, unsigned bases, unsigned stride, unsigned strip);
/* Leaves if, in a strip, the last lane's value is below the first one's. Needs R11. */
void wmi_runs_leave_if_wraps(struct wmi_stretch *s, unsigned bases, unsigned stride);
/* Emits the step so that its results are in runs. False: it cannot, and nothing was emitted. */
bool wmi_runs_emit(struct wmi_stretch *s, const struct wmi_step *step);

#endif
