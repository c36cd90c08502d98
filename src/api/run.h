/* SPDX-License-Identifier: MIT */
/* The state of a run that can be stopped. */
#ifndef WMI_API_RUN_H
#define WMI_API_RUN_H

#include "observe/observer.h"
#include "wavemem/wavemem.h"

#include <pthread.h>

struct wmi_dispatch;

typedef void wmi_run_visitor(struct wm_run *run, void *user);

/* A wave of the dispatch, whether it exists or not. */
struct wmi_wave_name {
    uint32_t workgroup[3], wave;
};

/* Programs without steps that hold waves, but where they have to. */
struct wmi_run_programs {
    bool allowed;                 /* nobody else observes, and no VGPR was changed */
    struct wmi_run_program *list; /* all that were made */
    struct wmi_run_program *now;  /* for what the run goes to; NULL: the dispatch's own */
    unsigned count;
    uint64_t noted; /* executed, when a wave chose last */
    struct wmi_observer watcher;
};

struct wm_run {
    pthread_t thread;
    pthread_mutex_t lock; /* guards callers_turn; all else belongs to the thread whose turn it is */
    pthread_cond_t turned;
    bool callers_turn;
    /* Called where the run stops, on the thread of the dispatch, instead of waiting for a caller; or NULL. */
    wmi_run_visitor *visit;
    void *visit_user;

    /* The dispatch. */
    struct wm_machine *machine;
    const struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_dispatch request;
    struct wm_packet packet; /* instead of these three, if has_packet */
    bool has_packet;
    struct wmi_observer holder;
    enum wm_status status;
    struct wm_diag diag;
    struct wm_result result;
    double waited; /* seconds, for the caller */
    bool begun;    /* the first instruction is reached */
    bool over;

    /* What to run to. */
    bool ends, cancelled; /* no more stops */
    struct wm_stop_at at;
    uint64_t wanted; /* at.instructions */
    bool counts;     /* instructions of wave `counted`; else of the next one that executes any */
    struct wmi_wave_name counted;
    uint64_t target;                /* before which number of its instructions it stops */
    bool wave_ended;                /* of at.at_wave_end */
    uint64_t executed;              /* by the wave before this instruction */
    uint64_t held_pc;               /* before which a wave was held last */
    uint64_t total, next_total;     /* instructions of all waves before this one; and before the next one */
    uint64_t ranges;                /* of at.ranges, which this instruction accesses; the first 64 */
    uint64_t access_lanes, address; /* of this instruction, in the range; `address` of the lowest lane */
    bool passed;                    /* it was stopped for that */

    /* Where it is. */
    struct wmi_dispatch *dispatch;
    struct wmi_executor *executor;
    bool has_gone_on;             /* since it began */
    struct wmi_run_programs fast; /* where nothing can stop a wave */
    struct wm_stopped stopped;
    struct wmi_wave *wave, *selected; /* NULL: no wave is stopped */
    uint64_t pc;                      /* of the one that is selected */
};

#endif
