/* SPDX-License-Identifier: MIT */
/* Sends events to the observers of a dispatch. */
#ifndef WMI_SHOW_H
#define WMI_SHOW_H

#include "exec/wave.h"

/* Completes the event by where it happens, and sends it to those who asked for its kind. wave: NULL if it is
 * of the whole workgroup. */
void wmi_show_event(const struct wmi_worker *worker, const struct wmi_workgroup *group,
                    const struct wmi_wave *wave, struct wm_event *event);

#endif
