/* SPDX-License-Identifier: MIT */
/* What the observers of a dispatch are told by the executor. */
#ifndef WMI_OBSERVED_H
#define WMI_OBSERVED_H

#include "exec/run/executor.h"

/* Calls thread_begin() of each observer. False: one of them has no memory. */
bool wmi_observers_begin(struct wmi_executor *executor);
void wmi_observers_end(struct wmi_executor *executor);
/* Report that a workgroup has been started, is started or resumed, or is over, and that a wave has ended or
 * will not continue. */
void wmi_show_begin(struct wmi_executor *executor, const struct wmi_resident *resident);
void wmi_show_resume(struct wmi_executor *executor, struct wmi_resident *resident);
void wmi_show_end(struct wmi_executor *executor, struct wmi_resident *resident);
void wmi_show_wave_end(struct wmi_executor *executor, const struct wmi_wave *wave);

#endif
