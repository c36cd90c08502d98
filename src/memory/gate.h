/* SPDX-License-Identifier: MIT */
/* Who may use a machine's guest memory while others change what is allocated: any number of threads that use
 * it, or one that changes it. Threads that execute guest code stay inside for long; they step aside at the
 * end of each turn of a wave if somebody waits. */
#ifndef WMI_GATE_H
#define WMI_GATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct wmi_gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned inside;  /* threads that use the memory */
    unsigned waiting; /* atomic: threads that want to change it */
    bool changing;
    uint64_t changes; /* made so far */
};

/* A thread's presence inside one gate. A callback may use another machine, so a thread can have several. */
struct wmi_presence {
    struct wmi_gate *gate;
    struct wmi_presence *outer;
    bool holds;       /* false during a callback that may change the memory */
    uint64_t changes; /* the gate's, when the thread was last inside */
};

enum wmi_presence_kind {
    WMI_ABSENT,
    WMI_PAUSED, /* in a callback that may change the memory */
    WMI_PRESENT
};

void wmi_gate_init(struct wmi_gate *gate);
void wmi_gate_destroy(struct wmi_gate *gate);

/* Waits while the memory is being changed. A thread that is inside may enter again. `presence` must live
 * until wmi_gate_leave(). */
void wmi_gate_enter(struct wmi_gate *gate, struct wmi_presence *presence);
void wmi_gate_leave(struct wmi_presence *presence);
/* Between these two calls the thread is not inside, but wmi_gate_presence() still knows about it. resume:
 * true if the memory was changed since the thread was last inside. */
void wmi_gate_pause(struct wmi_presence *presence);
bool wmi_gate_resume(struct wmi_presence *presence);

/* Whether a thread wants to change the memory; then pause and resume. */
static inline bool wmi_gate_is_wanted(const struct wmi_gate *gate)
{
    return __builtin_expect(__atomic_load_n(&gate->waiting, __ATOMIC_RELAXED) != 0, 0);
}

/* The calling thread must not be inside. */
void wmi_gate_begin_change(struct wmi_gate *gate);
void wmi_gate_end_change(struct wmi_gate *gate);

/* Of the calling thread. */
enum wmi_presence_kind wmi_gate_presence(const struct wmi_gate *gate);

#endif
