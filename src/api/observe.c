/* SPDX-License-Identifier: MIT */
/* Who watches a dispatch, and who watches a machine. */
#include "api/observe.h"

#include "base/versioned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum wm_status check(const struct wm_observer *observer, struct wm_diag *diag)
{
    struct wm_observer copy;
    if (!observer)
        return wmi_null(diag, "wm_dispatch", "an observer");
    const enum wm_status status = wmi_take_struct(
        &copy, sizeof copy, offsetof(struct wm_observer, begin_thread), observer, "wm_observer", diag);
    if (status)
        return status;
    if (!observer->event)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "an observer has no event()");
    if (observer->events & ~(uint64_t)WM_EVENT_ALL)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "an observer asks for events 0x%llx; expected bits of 0x%x",
                        (unsigned long long)observer->events, (unsigned)WM_EVENT_ALL);
    if (!copy.begin_thread != !copy.end_thread)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "an observer has one of begin_thread() and end_thread(); expected both or none");
    return WM_OK;
}

/* ---- of a dispatch ---- */

enum wm_status wmi_watchers_check(const struct wm_dispatch *request, struct wm_diag *diag)
{
    enum wm_status status = WM_OK;
    if (request->observer_count && !request->observers)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "observer_count is %zu but observers is NULL",
                        request->observer_count);
    for (size_t i = 0; i < request->observer_count && !status; i++)
        status = check(request->observers[i], diag);
    return status;
}

enum wm_status wmi_watchers_create(struct wmi_watchers *watchers, const struct wmi_watcher *own, size_t count,
                                   const struct wm_dispatch *request, struct wm_diag *diag)
{
    const size_t all = count + request->observer_count;
    *watchers = (struct wmi_watchers){0};
    if (!all)
        return WM_OK;
    watchers->one = calloc(all, sizeof *watchers->one);
    watchers->what = calloc(all, sizeof *watchers->what);
    watchers->adapters = calloc(request->observer_count + 1, sizeof *watchers->adapters);
    if (!watchers->one || !watchers->what || !watchers->adapters) {
        wmi_watchers_destroy(watchers);
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for %zu observers", all);
    }
    for (size_t i = 0; i < all; i++) {
        watchers->what[i] = i < count ? own[i].what : "observer";
        if (i < count) {
            watchers->one[i] = own[i].observer;
        } else {
            struct wmi_adapter *adapter = &watchers->adapters[i - count];
            wmi_adapter_init(adapter, request->observers[i - count]);
            watchers->one[i] = &adapter->inner;
        }
        watchers->observers.events |= watchers->one[i]->events;
    }
    watchers->observers.one = watchers->one;
    watchers->observers.count = (unsigned)all;
    return WM_OK;
}

void wmi_watchers_show(const struct wm_dispatch *request, enum wm_event_kind kind,
                       const struct wm_extent *extent)
{
    const struct wm_event event = {.kind = kind, .extent = *extent};
    for (size_t i = 0; i < request->observer_count; i++)
        if (request->observers[i]->events & kind)
            request->observers[i]->event(request->observers[i]->user, &event);
}

void wmi_add_incomplete(struct wm_result *result, const char *what, const char *why)
{
    const size_t length = strlen(result->incomplete);
    snprintf(result->incomplete + length, sizeof result->incomplete - length, "%s%s: %s", length ? "; " : "",
             what, why);
}

void wmi_watchers_ask(const struct wmi_watchers *watchers, struct wm_result *result)
{
    for (unsigned i = 0; i < watchers->observers.count; i++) {
        const struct wmi_observer *one = watchers->one[i];
        const char *why = one->incomplete ? one->incomplete(one->self) : NULL;
        if (why)
            wmi_add_incomplete(result, watchers->what[i], why);
    }
}

void wmi_watchers_destroy(struct wmi_watchers *watchers)
{
    free(watchers->one);
    free(watchers->what);
    free(watchers->adapters);
    *watchers = (struct wmi_watchers){0};
}

/* ---- of a machine ---- */

static size_t place_of(const struct wmi_machine_observers *observers, const struct wm_observer *observer)
{
    size_t i = 0;
    while (i < observers->count && observers->one[i] != observer)
        i++;
    return i;
}

bool wmi_machine_observers_init(struct wmi_machine_observers *observers)
{
    pthread_mutexattr_t attributes;
    *observers = (struct wmi_machine_observers){0};
    if (pthread_mutexattr_init(&attributes))
        return false;
    /* Recursive: a callback that reads guest memory in spite of the rules must not hang. */
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    const bool ok = !pthread_mutex_init(&observers->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return ok;
}

void wmi_machine_observers_destroy(struct wmi_machine_observers *observers)
{
    pthread_mutex_destroy(&observers->lock);
    free(observers->one);
}

static enum wm_status add(struct wmi_machine_observers *observers, const struct wm_observer *observer,
                          struct wm_diag *diag)
{
    if (place_of(observers, observer) < observers->count)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the observer watches the machine already");
    const struct wm_observer **more =
        realloc(observers->one, (observers->count + 1) * sizeof *observers->one);
    if (!more)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for an observer");
    observers->one = more;
    more[observers->count] = observer;
    __atomic_store_n(&observers->count, observers->count + 1, __ATOMIC_RELAXED);
    return WM_OK;
}

static enum wm_status take_away(struct wmi_machine_observers *observers, const struct wm_observer *observer,
                                struct wm_diag *diag)
{
    const size_t place = place_of(observers, observer);
    if (place == observers->count)
        return wmi_fail(diag, WM_NOT_FOUND, "the observer does not watch the machine");
    __atomic_store_n(&observers->count, observers->count - 1, __ATOMIC_RELAXED);
    for (size_t i = place; i < observers->count; i++)
        observers->one[i] = observers->one[i + 1];
    return WM_OK;
}

enum wm_status wmi_machine_observers_add(struct wmi_machine_observers *observers,
                                         const struct wm_observer *observer, struct wm_diag *diag)
{
    enum wm_status status = check(observer, diag);
    if (status)
        return status;
    pthread_mutex_lock(&observers->lock);
    status = add(observers, observer, diag);
    pthread_mutex_unlock(&observers->lock);
    return status;
}

enum wm_status wmi_machine_observers_remove(struct wmi_machine_observers *observers,
                                            const struct wm_observer *observer, struct wm_diag *diag)
{
    pthread_mutex_lock(&observers->lock);
    const enum wm_status status = take_away(observers, observer, diag);
    pthread_mutex_unlock(&observers->lock);
    return status;
}

void wmi_machine_observers_show(struct wmi_machine_observers *observers, enum wm_event_kind kind,
                                const struct wm_memory *memory)
{
    if (!__atomic_load_n(&observers->count, __ATOMIC_RELAXED))
        return;
    const struct wm_event event = {.kind = kind, .memory = *memory};
    pthread_mutex_lock(&observers->lock);
    for (size_t i = 0; i < observers->count; i++)
        if (observers->one[i]->events & kind)
            observers->one[i]->event(observers->one[i]->user, &event);
    pthread_mutex_unlock(&observers->lock);
}
