/* SPDX-License-Identifier: MIT */
/* The report of a profile. */
#ifndef WMI_PROFILE_REPORT_H
#define WMI_PROFILE_REPORT_H

#include "profile/inside.h"

/* Frees the report, before more is counted. */
void wmi_report_forget(struct wm_profile *profile);

#endif
