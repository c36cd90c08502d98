/* SPDX-License-Identifier: MIT */
/* The checker: an observer that follows each wave's wait counters and hazards and keeps what it found. */
#ifndef WMI_CHECK_H
#define WMI_CHECK_H

#include "base/use.h"
#include "isa/isa.h"
#include "memory/access.h"
#include "wavemem/wavemem.h"

/* Says of row->pc what its kernel, text and source line are. The strings stay until the next call. */
typedef void wmi_describe(void *user, unsigned id, struct wm_profile_row *row);

/* `what`: enum wm_check_what. NULL: no memory. */
struct wm_check *wmi_check_create(unsigned what);
void wmi_check_destroy(struct wm_check *check);
struct wmi_use *wmi_check_use(struct wm_check *check);
/* The observer of one dispatch on the target. */
const struct wmi_observer *wmi_check_begin(struct wm_check *check, const struct wmi_target *target);
/* The dispatch is over: words what it found. */
void wmi_check_end(struct wm_check *check, wmi_describe *describe, void *user);
const struct wm_finding *wmi_check_findings(struct wm_check *check, size_t *count);

#endif
