/* SPDX-License-Identifier: MIT */
/* Holds waves for hold() of struct wmi_observer, and finds other waves that can be inspected meanwhile. */
#ifndef WMI_HOLD_H
#define WMI_HOLD_H

#include "exec/run/wave.h"

/* Reports worker->fault to the dispatch's holder, which must exist. */
void wmi_hold_at_fault(struct wmi_wave *wave);

/* Wave `index` of workgroup `id` if it is unfinished and runs on the same thread as `wave`; else NULL. */
struct wmi_wave *wmi_wave_find(const struct wmi_wave *wave, const uint32_t id[3], uint32_t index);

/* Instructions that all waves of the thread have executed, when this one has executed so many. */
uint64_t wmi_executed_by_all(const struct wmi_wave *wave, uint64_t by_wave);

#endif
