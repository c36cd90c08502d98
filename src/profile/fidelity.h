/* SPDX-License-Identifier: MIT */
/* Which instructions were executed, how often, and how exact each is. */
#ifndef WMI_PROFILE_FIDELITY_H
#define WMI_PROFILE_FIDELITY_H

#include "base/use.h"
#include "wavemem/wavemem.h"

struct wm_fidelity *wmi_fidelity_create(void); /* NULL: no memory */
void wmi_fidelity_destroy(struct wm_fidelity *fidelity);
struct wmi_use *wmi_fidelity_use(struct wm_fidelity *fidelity);
/* What a dispatch adds its executions to: wmi_execution_counters() of them. */
uint64_t *wmi_fidelity_counters(struct wm_fidelity *fidelity);
const struct wm_fidelity_row *wmi_fidelity_rows(struct wm_fidelity *fidelity, size_t *count);

#endif
