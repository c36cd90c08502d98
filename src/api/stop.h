/* SPDX-License-Identifier: MIT */
/* A run that can be stopped. */
#ifndef WMI_API_STOP_H
#define WMI_API_STOP_H

#include "api/run.h"

/* WM_BAD_ARGUMENT: it is NULL, or it is running, so this is called by something that it calls. */
enum wm_status wmi_run_check(struct wm_run *run, const char *function, struct wm_diag *diag);
/* Describes a wave that goes on at `pc`. */
struct wm_stopped wmi_run_describe(const struct wm_run *run, enum wm_stop_kind kind,
                                   const struct wmi_wave *wave, uint64_t pc, uint64_t instructions);

#endif
