/* SPDX-License-Identifier: MIT */
/* Counts executed instructions and grades how exactly each is modelled. */
#ifndef WMI_PROFILE_FIDELITY_H
#define WMI_PROFILE_FIDELITY_H

#include "observe/observer.h"
#include "wavemem/wavemem.h"

struct wm_fidelity *wmi_fidelity_create(void); /* NULL: no memory */
void wmi_fidelity_destroy(struct wm_fidelity *fidelity);
bool *wmi_fidelity_busy(struct wm_fidelity *fidelity); /* whether a dispatch is being counted */
/* The observer of a dispatch that counts for it. */
const struct wmi_observer *wmi_fidelity_observer(const struct wm_fidelity *fidelity);
const struct wm_fidelity_row *wmi_fidelity_rows(struct wm_fidelity *fidelity, size_t *count);

#endif
