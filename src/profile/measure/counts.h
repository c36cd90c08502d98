/* SPDX-License-Identifier: MIT */
/* The counts of one instruction as bytes of a trace. */
#ifndef WMI_PROFILE_COUNTS_H
#define WMI_PROFILE_COUNTS_H

#include "profile/cost/bytes.h"
#include "profile/inside.h"

void wmi_put_counts(struct wmi_trace_bytes *bytes, const struct wmi_counts *counts);
void wmi_get_counts(struct wmi_reader *reader, struct wmi_counts *counts);

#endif
