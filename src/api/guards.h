/* SPDX-License-Identifier: MIT */
/* Memory that a dispatch must not change, for the memory checker. */
#ifndef WMI_API_GUARDS_H
#define WMI_API_GUARDS_H

#include "api/machine.h"
#include "check/checker.h"
#include "exec/run/dispatch.h"

struct wmi_guards {
    struct wmi_guard *guard;
    size_t count, capacity;
};

/* Lists the guards of a dispatch, whose arguments are in memory: instructions and read-only data of its own
 * and of loaded code objects, the kernarg segment, and the allocations that only arguments declared as
 * read-only point to: no other eight bytes of the kernarg segment do. (Pointers in memory are not looked
 * for.) The caller holds the read lock of the space. False: no memory, and there is nothing to destroy. */
bool wmi_guards_create(struct wmi_guards *guards, const struct wm_machine *machine,
                       const struct wmi_module *module, const struct wm_kernel *kernel,
                       const struct wmi_dispatch *dispatch);
void wmi_guards_destroy(struct wmi_guards *guards);

#endif
