/* SPDX-License-Identifier: MIT */
/* wm_dispatch() for runs that can be stopped and for queues. */
#ifndef WMI_API_DISPATCH_H
#define WMI_API_DISPATCH_H

#include "api/task.h"

enum wm_status wmi_dispatch_with(const struct wmi_dispatch_how *how, struct wm_machine *machine,
                                 const struct wm_object *object, const struct wm_kernel *kernel,
                                 const struct wm_dispatch *request, struct wm_result *result,
                                 struct wm_diag *diag);

#endif
