/* SPDX-License-Identifier: MIT */
/* A dispatch on its way through the API. The steps are functions on this struct: request.c checks what the
 * caller asks for, dispatch.c prepares memory and registers, observation.c sets up who watches, execute.c
 * runs the kernel, and dispatch.c finishes. */
#ifndef WMI_API_TASK_H
#define WMI_API_TASK_H

#include "api/machine.h"
#include "exec/run/abi.h"
#include "observe/observer.h"

/* What wm_dispatch() does not have in common with runs that can be stopped and with queues. */
struct wmi_dispatch_how {
    const char *function;              /* for messages */
    const struct wmi_module *module;   /* of the object; NULL: it is a loaded one */
    const struct wmi_observer *holder; /* with hold(), on the calling thread alone; or NULL */
    bool has_kernarg;                  /* the kernarg segment is in guest memory already, */
    uint64_t kernarg;                  /* at this address, */
    bool fills_hidden;                 /* but without its hidden arguments */
    uint64_t *cursor;                  /* see struct wmi_allocation_request; or NULL */
};

struct wmi_task {
    const struct wmi_dispatch_how *how;
    struct wm_machine *machine;
    const struct wmi_module *module;
    const struct wm_kernel *kernel;
    struct wm_dispatch request; /* a copy: a callback may change the caller's */
    struct wm_start start;      /* what request.start points to, unless it is NULL */
    struct wmi_dispatch dispatch;
    struct wmi_abi_memory memory;
    struct wm_result result;
    struct wm_diag *diag;
};

#endif
