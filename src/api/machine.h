/* SPDX-License-Identifier: MIT */
/* A machine, and the code objects in its memory. */
#ifndef WMI_API_MACHINE_H
#define WMI_API_MACHINE_H

#include "api/observe.h"
#include "isa/isa.h"
#include "memory/access.h"
#include "memory/space.h"
#include "object/object.h"

/* An object in guest memory. */
struct wmi_module {
    const struct wm_object *object;
    uint64_t bias; /* guest address - object address */
    struct wmi_module *next;
};

struct wm_machine {
    const struct wmi_target *target;
    struct wmi_space *space;
    struct wmi_module *modules;
    struct wmi_apertures apertures;
    struct wmi_machine_observers observers;
    bool busy; /* a dispatch runs */
};

/* The machine's target for waves of so many lanes, which the words of a kernel depend on; an impossible
 * number means the usual one. Hardware always knows both halves of VGPRs. */
const struct wmi_target *wmi_target_of_waves(const struct wm_machine *machine, unsigned lanes);

/* Says why the machine cannot be changed now: it is NULL, or a dispatch runs on it. */
enum wm_status wmi_machine_idle(const struct wm_machine *machine, const char *function, struct wm_diag *diag);

/* The object in the machine; NULL: it is not loaded. */
const struct wmi_module *wmi_module_of(const struct wm_machine *machine, const struct wm_object *object);

#endif
