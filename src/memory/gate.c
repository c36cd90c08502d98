/* SPDX-License-Identifier: MIT */
/* Who may use a machine's guest memory while others change what is allocated. */
#include "memory/gate.h"

#include <stddef.h>

static _Thread_local struct wmi_presence *innermost;

void wmi_gate_init(struct wmi_gate *gate)
{
    *gate = (struct wmi_gate){0};
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, NULL);
}

void wmi_gate_destroy(struct wmi_gate *gate)
{
    pthread_mutex_destroy(&gate->lock);
    pthread_cond_destroy(&gate->changed);
}

static void step_in(struct wmi_presence *presence, bool lets_pass)
{
    struct wmi_gate *gate = presence->gate;
    pthread_mutex_lock(&gate->lock);
    while (gate->changing || (lets_pass && gate->waiting))
        pthread_cond_wait(&gate->changed, &gate->lock);
    gate->inside++;
    presence->changes = gate->changes;
    presence->holds = true;
    pthread_mutex_unlock(&gate->lock);
}

static void step_out(struct wmi_presence *presence)
{
    struct wmi_gate *gate = presence->gate;
    pthread_mutex_lock(&gate->lock);
    presence->holds = false;
    if (!--gate->inside)
        pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

void wmi_gate_enter(struct wmi_gate *gate, struct wmi_presence *presence)
{
    *presence = (struct wmi_presence){.gate = gate, .outer = innermost};
    /* A thread that is inside already must not wait for those that wait for it. */
    step_in(presence, false);
    innermost = presence;
}

void wmi_gate_leave(struct wmi_presence *presence)
{
    innermost = presence->outer;
    step_out(presence);
}

void wmi_gate_pause(struct wmi_presence *presence)
{
    step_out(presence);
}

bool wmi_gate_resume(struct wmi_presence *presence)
{
    const uint64_t before = presence->changes;
    step_in(presence, true);
    return presence->changes != before;
}

void wmi_gate_begin_change(struct wmi_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    __atomic_fetch_add(&gate->waiting, 1, __ATOMIC_RELAXED);
    while (gate->changing || gate->inside)
        pthread_cond_wait(&gate->changed, &gate->lock);
    __atomic_fetch_sub(&gate->waiting, 1, __ATOMIC_RELAXED);
    gate->changing = true;
    pthread_mutex_unlock(&gate->lock);
}

void wmi_gate_end_change(struct wmi_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->changing = false;
    gate->changes++;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

enum wmi_presence_kind wmi_gate_presence(const struct wmi_gate *gate)
{
    enum wmi_presence_kind found = WMI_ABSENT;
    for (const struct wmi_presence *p = innermost; p; p = p->outer)
        if (p->gate == gate && (found = p->holds ? WMI_PRESENT : WMI_PAUSED) == WMI_PRESENT)
            return found;
    return found;
}
