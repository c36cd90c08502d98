/* SPDX-License-Identifier: MIT */
/* A caller's observer (wavemem/observe.h) as one of those that execution knows. */
#ifndef WMI_ADAPTER_H
#define WMI_ADAPTER_H

#include "observe/observer.h"

struct wmi_adapter {
    struct wmi_observer inner;
    const struct wm_observer *outer;
};

/* Makes `adapter` watch a dispatch for `outer`; both must outlive it. */
void wmi_adapter_init(struct wmi_adapter *adapter, const struct wm_observer *outer);

#endif
