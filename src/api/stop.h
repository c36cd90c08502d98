/* SPDX-License-Identifier: MIT */
/* A run that can be stopped. */
#ifndef WMI_API_STOP_H
#define WMI_API_STOP_H

#include "observe/observer.h"
#include "wavemem/wavemem.h"

#include <pthread.h>

struct wmi_dispatch;

/* A wave of the dispatch, whether it exists or not. */
struct wmi_wave_name {
    uint32_t workgroup[3], wave;
};

struct wm_run {
    pthread_t thread;
    pthread_mutex_t lock; /* guards callers_turn; all else belongs to the thread whose turn it is */
    pthread_cond_t turned;
    bool callers_turn;

    /* The dispatch. */
    struct wm_machine *machine;
    const struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_dispatch request;
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
    bool counts; /* instructions of wave `counted`; else of the next one that executes any */
    struct wmi_wave_name counted;
    uint64_t left;                  /* of at.instructions */
    bool wave_ended;                /* of at.at_wave_end */
    uint64_t executed;              /* by the wave before this instruction */
    uint64_t total, next_total;     /* instructions of all waves before this one; and before the next one */
    uint64_t ranges;                /* of at.ranges, which this instruction accesses; the first 64 */
    uint64_t access_lanes, address; /* of this instruction, in the range; `address` of the lowest lane */
    bool passed;                    /* it was stopped for that */

    /* Where it is. */
    const struct wmi_dispatch *dispatch;
    struct wm_stopped stopped;
    struct wmi_wave *wave, *selected; /* NULL: no wave is stopped */
    uint64_t pc;                      /* of the one that is selected */
};

/* WM_BAD_ARGUMENT: it is NULL, or it is running, so this is called by something that it calls. */
enum wm_status wmi_run_check(struct wm_run *run, const char *function, struct wm_diag *diag);
/* Describes a wave that goes on at `pc`. */
struct wm_stopped wmi_run_describe(const struct wm_run *run, enum wm_stop_kind kind,
                                   const struct wmi_wave *wave, uint64_t pc, uint64_t instructions);

#endif
