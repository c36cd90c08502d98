/* SPDX-License-Identifier: MIT */
/* The findings of a profile: its kernels' causes of lost time, with the bound after each change. */
#ifndef WMI_PROFILE_FINDINGS_H
#define WMI_PROFILE_FINDINGS_H

#include "profile/inside.h"

/* Makes profile->findings from its rows and kernels, and sets the advice of the rows. False: out of memory.
 */
bool wmi_findings_make(struct wm_profile *profile);
void wmi_findings_free(struct wmi_findings *findings);

#endif
