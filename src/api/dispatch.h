/* SPDX-License-Identifier: MIT */
/* wm_dispatch() for runs that can be stopped. */
#ifndef WMI_API_DISPATCH_H
#define WMI_API_DISPATCH_H

#include "observe/observer.h"
#include "wavemem/wavemem.h"

/* wm_dispatch() with an observer that has hold(), on the calling thread alone; holder NULL: as usual.
 * `function` is named in messages. */
enum wm_status wmi_dispatch_held(const char *function, const struct wmi_observer *holder,
                                 struct wm_machine *machine, const struct wm_object *object,
                                 const struct wm_kernel *kernel, const struct wm_dispatch *request,
                                 struct wm_result *result, struct wm_diag *diag);

#endif
