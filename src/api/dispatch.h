/* SPDX-License-Identifier: MIT */
/* wm_dispatch() for runs that can be stopped and for queues. */
#ifndef WMI_API_DISPATCH_H
#define WMI_API_DISPATCH_H

#include "observe/observer.h"
#include "wavemem/wavemem.h"

struct wmi_dispatch_how {
    const char *function;              /* for messages */
    const struct wmi_module *module;   /* of the object; NULL: it is a loaded one */
    const struct wmi_observer *holder; /* with hold(), on the calling thread alone; or NULL */
    bool has_kernarg;                  /* the kernarg segment is in guest memory already, */
    uint64_t kernarg;                  /* at this address, */
    bool fills_hidden;                 /* but without its hidden arguments */
    uint64_t *cursor;                  /* see struct wmi_allocation_request; or NULL */
};

enum wm_status wmi_dispatch_with(const struct wmi_dispatch_how *how, struct wm_machine *machine,
                                 const struct wm_object *object, const struct wm_kernel *kernel,
                                 const struct wm_dispatch *request, struct wm_result *result,
                                 struct wm_diag *diag);

#endif
