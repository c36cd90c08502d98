/* SPDX-License-Identifier: MIT */
/* The checker: an observer that tracks each wave's wait counters and hazards and collects findings. */
#ifndef WMI_CHECK_H
#define WMI_CHECK_H

#include "isa/isa.h"
#include "observe/observer.h"
#include "wavemem/wavemem.h"

/* Sets kernel, text and source line of the row for row->pc. The strings are valid until the next call. */
typedef void wmi_describe(void *user, unsigned id, struct wm_profile_row *row);

/* what: a mask of enum wm_check_what. Returns NULL if out of memory. */
struct wm_check *wmi_check_create(unsigned what);
void wmi_check_destroy(struct wm_check *check);
bool *wmi_check_busy(struct wm_check *check); /* whether a dispatch is being checked */
/* Returns the observer for one dispatch on the target. */
const struct wmi_observer *wmi_check_begin(struct wm_check *check, const struct wmi_target *target);
/* Ends the dispatch: writes the messages of its findings. */
void wmi_check_end(struct wm_check *check, wmi_describe *describe, void *user);
const struct wm_finding *wmi_check_findings(struct wm_check *check, size_t *count);

#endif
