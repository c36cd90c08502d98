/* SPDX-License-Identifier: MIT */
/* Registers that the caller of a dispatch sets (wavemem/start.h). */
#ifndef WMI_API_START_H
#define WMI_API_START_H

#include "exec/run/dispatch.h"
#include "wavemem/wavemem.h"

/* Checks the caller's request, which may be NULL, and copies it. */
enum wm_status wmi_start_take(const struct wm_start *given, struct wm_start *start, struct wm_diag *diag);
/* Finds the registers in frames of `code` and puts them into the dispatch, which has its geometry; what they
 * point to stays the caller's. wmi_start_release() frees the list, also after an error. */
enum wm_status wmi_start_prepare(const struct wm_start *start, const struct wmi_code *code,
                                 struct wmi_dispatch *dispatch, struct wm_diag *diag);
void wmi_start_release(struct wmi_dispatch *dispatch);

#endif
