/* SPDX-License-Identifier: MIT */
/* Sends events to the observers of a dispatch. */
#ifndef WMI_SHOW_H
#define WMI_SHOW_H

#include "exec/run/wave.h"

/* Fills in workgroup, wave and lanes of the event, and sends it to the observers that asked for its kind.
 * wave: NULL for events of the whole workgroup. */
void wmi_show_event(const struct wmi_worker *worker, const struct wmi_workgroup *group,
                    const struct wmi_wave *wave, struct wm_event *event);

#endif
