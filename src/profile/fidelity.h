/* SPDX-License-Identifier: MIT */
/* Counts executed instructions and grades how exactly each is modelled. */
#ifndef WMI_PROFILE_FIDELITY_H
#define WMI_PROFILE_FIDELITY_H

#include "wavemem/wavemem.h"

struct wm_fidelity *wmi_fidelity_create(void); /* NULL: no memory */
void wmi_fidelity_destroy(struct wm_fidelity *fidelity);
/* The counters that a dispatch increments: wmi_execution_counters() of them. */
uint64_t *wmi_fidelity_counters(struct wm_fidelity *fidelity);
const struct wm_fidelity_row *wmi_fidelity_rows(struct wm_fidelity *fidelity, size_t *count);

#endif
