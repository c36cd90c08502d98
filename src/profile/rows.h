/* SPDX-License-Identifier: MIT */
/* The rows of a profile's report. */
#ifndef WMI_PROFILE_ROWS_H
#define WMI_PROFILE_ROWS_H

#include "profile/inside.h"

/* The rows of the report; false: out of memory. */
bool wmi_rows_make(struct wm_profile *profile);

#endif
