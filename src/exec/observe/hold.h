/* SPDX-License-Identifier: MIT */
/* Waves that are held, and others that are looked at meanwhile: see hold() of struct wmi_observer. */
#ifndef WMI_HOLD_H
#define WMI_HOLD_H

#include "exec/run/wave.h"

/* Tells the dispatch's holder, which must exist, of worker->fault. */
void wmi_hold_at_fault(struct wmi_wave *wave);

/* Wave `index` of workgroup `id`, if it is unfinished and on the same thread as `wave`; else NULL. */
struct wmi_wave *wmi_wave_find(const struct wmi_wave *wave, const uint32_t id[3], uint32_t index);

#endif
