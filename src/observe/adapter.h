/* SPDX-License-Identifier: MIT */
/* Adapts a caller's observer (wavemem/observe.h) to struct wmi_observer. */
#ifndef WMI_ADAPTER_H
#define WMI_ADAPTER_H

#include "observe/observer.h"

struct wmi_adapter {
    struct wmi_observer inner;
    const struct wm_observer *outer;
};

/* Makes `adapter` observe a dispatch for `outer`; both must outlive the dispatch. */
void wmi_adapter_init(struct wmi_adapter *adapter, const struct wm_observer *outer);

#endif
