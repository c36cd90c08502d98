/* SPDX-License-Identifier: MIT */
/* Adapts a caller's observer (wavemem/observe.h) to struct wmi_observer. */
#ifndef WMI_ADAPTER_H
#define WMI_ADAPTER_H

#include "observe/observer.h"

struct wmi_adapter {
    struct wmi_observer inner;
    struct wm_observer outer; /* a copy: the caller's may be shorter */
};

/* Makes `adapter` observe a dispatch for `outer`; `adapter` must outlive the dispatch. */
void wmi_adapter_init(struct wmi_adapter *adapter, const struct wm_observer *outer);

#endif
