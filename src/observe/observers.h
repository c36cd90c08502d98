/* SPDX-License-Identifier: MIT */
/* Two observers as one, so that a dispatch can be watched by both. */
#ifndef WMI_OBSERVERS_H
#define WMI_OBSERVERS_H

#include "memory/access.h"

struct wmi_observers;

/* An observer that passes on all that it is shown to both, the first one first. They must outlive it. NULL:
 * no memory. */
struct wmi_observers *wmi_observers_create(const struct wmi_observer *first,
                                           const struct wmi_observer *second);
void wmi_observers_destroy(struct wmi_observers *observers);
const struct wmi_observer *wmi_observers_as_one(const struct wmi_observers *observers);

#endif
