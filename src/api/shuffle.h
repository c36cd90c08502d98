/* SPDX-License-Identifier: MIT */
/* Repeats a checked dispatch with its workgroups and waves in other orders, and compares the results. */
#ifndef WMI_API_SHUFFLE_H
#define WMI_API_SHUFFLE_H

#include "api/machine.h"
#include "check/sync/stores.h"
#include "exec/run/dispatch.h"

/* Only bytes that the dispatch stores to are restored and compared, so that others may change other memory
 * meanwhile. What it stores to the caller's memory others may see at once: then it is not repeated. */
struct wmi_shuffle {
    struct wm_machine *machine;
    struct wm_check *check;    /* NULL: it asks for no other order, or cannot have one */
    struct wmi_dispatch fresh; /* the dispatch before it ran */
    struct wmi_stores stores;  /* what it stores */
};

/* Runs the dispatch from its beginning. */
typedef enum wm_status wmi_run_again(void *user, struct wmi_dispatch *dispatch, struct wm_result *result);

/* The dispatch is about to run, on one thread. *observer: must observe it, or NULL. Returns why it cannot be
 * repeated, or NULL. */
const char *wmi_shuffle_begin(struct wmi_shuffle *shuffle, struct wm_machine *machine, struct wm_check *check,
                              const struct wmi_dispatch *dispatch, const struct wmi_observer **observer);
/* It has run. Repeats it for each seed of the check, adds what differs to its findings, and leaves memory as
 * the dispatch has left it. Returns why that failed, or NULL. */
const char *wmi_shuffle_end(struct wmi_shuffle *shuffle, const struct wm_result *result, wmi_run_again *run,
                            void *user);

#endif
