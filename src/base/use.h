/* SPDX-License-Identifier: MIT */
/* Whether a dispatch uses a handle. Callbacks run while it does: what they would free must live on until the
 * dispatch has ended. */
#ifndef WMI_USE_H
#define WMI_USE_H

#include <stdbool.h>

struct wmi_use {
    bool running; /* a dispatch uses the handle */
    bool dropped; /* it was destroyed meanwhile, which is made up for when the dispatch ends */
};

/* For whoever destroys the handle: true if that has to wait. */
static inline bool wmi_use_drop(struct wmi_use *use)
{
    use->dropped |= use->running;
    return use->running;
}

/* The dispatch has ended. True: now the handle is to be destroyed. */
static inline bool wmi_use_end(struct wmi_use *use)
{
    use->running = false;
    return use->dropped;
}

#endif
