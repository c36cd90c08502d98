/* SPDX-License-Identifier: MIT */
/* A machine, and the code objects in its memory. */
#ifndef WMI_API_MACHINE_H
#define WMI_API_MACHINE_H

#include "api/module.h"
#include "api/observe.h"
#include "isa/isa.h"
#include "memory/access.h"
#include "memory/space.h"
#include "object/object.h"

struct wmi_gws; /* exec/memory/gds.h */
struct wmi_pool;
struct wmi_programs;

struct wm_machine {
    const struct wmi_target *target;
    enum wmi_sramecc sramecc; /* what the target id said that the machine was made with */
    struct wmi_space *space;
    struct wmi_module *modules;          /* read with wmi_modules() */
    pthread_mutex_t load_lock;           /* held while an object is loaded */
    struct wmi_raw_modules *raw_modules; /* guarded by load_lock */
    struct wmi_apertures apertures;
    struct wmi_gws *gws;
    struct wmi_pool *pool;         /* threads, and */
    struct wmi_programs *programs; /* lowered kernels, which dispatches use one after the other */
    struct wmi_machine_observers observers;
    unsigned running;             /* atomic: dispatches */
    bool cooperating;             /* atomic: one of them is cooperative */
    unsigned queues, queues_made; /* atomic: that exist, that were made so far */
};

/* The machine's target for waves of so many lanes, which the words of a kernel depend on; an impossible
 * number means the usual one. Hardware always knows both halves of VGPRs. */
const struct wmi_target *wmi_target_of_waves(const struct wm_machine *machine, unsigned lanes);

/* Says why the machine cannot be changed now: it is NULL, or a dispatch runs on it. */
enum wm_status wmi_machine_idle(const struct wm_machine *machine, const char *function, struct wm_diag *diag);
/* Says why the caller may not change the memory: the machine is NULL, or the call comes from an observer's
 * callback, while the access that is shown goes on. */
enum wm_status wmi_machine_changeable(const struct wm_machine *machine, const char *function,
                                      struct wm_diag *diag);

/* Acquires the read lock of the memory. Returns the host memory of a range, or NULL if the range is not
 * within one allocation; the lock is held in both cases. */
void *wmi_machine_read_lock(const struct wm_machine *machine, struct wmi_read_lock *read_lock,
                            uint64_t address, uint64_t size);
/* Tells the machine's observers: the host reads or writes guest memory, or gets a pointer to it. */
void wmi_show_host(const struct wm_machine *machine, enum wm_event_kind kind, uint64_t address, uint64_t size,
                   const void *bytes);

static inline struct wmi_module *wmi_modules(const struct wm_machine *machine)
{
    return __atomic_load_n(&machine->modules, __ATOMIC_ACQUIRE);
}

/* The object in the machine; NULL: it is not loaded. */
const struct wmi_module *wmi_module_of(const struct wm_machine *machine, const struct wm_object *object);

#endif
