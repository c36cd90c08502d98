/* SPDX-License-Identifier: MIT */
/* The public API: queues. Each has a thread that runs its packets in order. */
#include "api/packet.h"
#include "base/diag.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

/* A packet that has not completed. */
struct entry {
    struct wmi_packet packet; /* the first member, so that an entry is found by its packet */
    struct entry *next;
    struct wm_queue *queue;
    uint64_t ticket;
    bool cancelled; /* guarded by the queue's lock */
};

struct wm_queue {
    struct wm_machine *machine;
    pthread_t thread;
    uint64_t base, cursor; /* addresses for what its dispatches allocate */
    pthread_mutex_t lock;  /* guards what follows */
    pthread_cond_t changed;
    struct entry *first, **last;   /* the first one runs, or waits for its dependencies */
    uint64_t submitted, completed; /* tickets */
    bool ends;
};

/* Each queue has 2^36 addresses of its own, of which a dispatch needs little more than 2^32. */
#define FIRST_BASE UINT64_C(0x400000000000)
#define ADDRESSES  (UINT64_C(1) << 36)
enum { QUEUES = 1024 };

/* ---- the queue's thread ---- */

static bool is_cancelled(const struct wmi_packet *packet)
{
    const struct entry *entry = (const struct entry *)packet;
    pthread_mutex_lock(&entry->queue->lock);
    const bool cancelled = entry->cancelled;
    pthread_mutex_unlock(&entry->queue->lock);
    return cancelled;
}

/* Takes the first entry out of the queue. The caller holds the lock. */
static void leave_queue(void *user)
{
    struct wm_queue *queue = user;
    queue->completed = queue->first->ticket;
    queue->first = queue->first->next;
    if (!queue->first)
        queue->last = &queue->first;
    pthread_cond_broadcast(&queue->changed);
}

static void free_entry(struct entry *entry)
{
    wmi_packet_release(&entry->packet);
    free(entry);
}

static void *process_packets(void *argument)
{
    struct wm_queue *queue = argument;
    struct wm_diag diag;
    pthread_mutex_lock(&queue->lock);
    while (queue->first || !queue->ends) {
        struct entry *entry = queue->first;
        if (!entry) {
            pthread_cond_wait(&queue->changed, &queue->lock);
            continue;
        }
        pthread_mutex_unlock(&queue->lock);
        queue->cursor = queue->base; /* nothing of the dispatch before is left */
        diag = (struct wm_diag){0};
        wmi_packet_run(&entry->packet, &diag);
        wmi_packet_signal(&entry->packet, &queue->lock, leave_queue, queue);
        free_entry(entry);
        pthread_mutex_lock(&queue->lock);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* ---- the caller's side ---- */

enum wm_status wm_queue_create(struct wm_machine *machine, struct wm_queue **given, struct wm_diag *diag)
{
    pthread_condattr_t attributes;
    if (!machine || !given)
        return wmi_null(diag, __func__, machine ? "queue" : "machine");
    *given = NULL;
    struct wm_queue *queue = calloc(1, sizeof *queue);
    if (!queue)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a queue");
    const unsigned number = __atomic_fetch_add(&machine->queues_made, 1, __ATOMIC_RELAXED);
    queue->machine = machine;
    queue->base = FIRST_BASE + number % QUEUES * ADDRESSES;
    queue->last = &queue->first;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&queue->thread, NULL, process_packets, queue)) {
        pthread_cond_destroy(&queue->changed);
        pthread_mutex_destroy(&queue->lock);
        free(queue);
        return wmi_fail(diag, WM_NO_MEMORY, "the host starts no thread for a queue");
    }
    __atomic_fetch_add(&machine->queues, 1, __ATOMIC_RELAXED);
    *given = queue;
    return WM_OK;
}

static bool is_own_thread(const struct wm_queue *queue)
{
    return pthread_equal(pthread_self(), queue->thread);
}

void wm_queue_destroy(struct wm_queue *queue)
{
    if (!queue || is_own_thread(queue))
        return;
    wm_queue_cancel(queue, 0, NULL);
    pthread_mutex_lock(&queue->lock);
    queue->ends = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    __atomic_fetch_sub(&queue->machine->queues, 1, __ATOMIC_RELEASE);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

enum wm_status wm_queue_submit(struct wm_queue *queue, const struct wm_packet *packet, uint64_t *ticket,
                               struct wm_diag *diag)
{
    if (!queue || !packet)
        return wmi_null(diag, __func__, queue ? "packet" : "queue");
    struct entry *entry = malloc(sizeof *entry);
    if (!entry)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a packet");
    *entry = (struct entry){.packet = {.machine = queue->machine,
                                       .function = __func__,
                                       .cursor = &queue->cursor,
                                       .is_cancelled = is_cancelled},
                            .queue = queue};
    const enum wm_status status = wmi_packet_take(&entry->packet, packet, diag);
    if (status) {
        free_entry(entry);
        return status;
    }
    pthread_mutex_lock(&queue->lock);
    entry->ticket = ++queue->submitted;
    if (ticket)
        *ticket = entry->ticket;
    *queue->last = entry;
    queue->last = &entry->next;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    return WM_OK;
}

/* The caller holds the lock. */
static enum wm_status check_ticket(const struct wm_queue *queue, const char *function, uint64_t ticket,
                                   struct wm_diag *diag)
{
    return ticket <= queue->submitted
               ? WM_OK
               : wmi_fail(diag, WM_BAD_ARGUMENT, "%s: ticket %llu; the last one is %llu", function,
                          (unsigned long long)ticket, (unsigned long long)queue->submitted);
}

static struct timespec deadline(double seconds)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    const double whole = floor(seconds);
    const long nanoseconds = at.tv_nsec + (long)((seconds - whole) * 1e9);
    at.tv_sec += (time_t)whole + nanoseconds / 1000000000;
    at.tv_nsec = nanoseconds % 1000000000;
    return at;
}

enum wm_status wm_queue_wait(struct wm_queue *queue, uint64_t ticket, double seconds, bool *completed,
                             struct wm_diag *diag)
{
    enum { LONGEST = 1 << 30 }; /* seconds; more is no limit */
    if (!queue || !completed)
        return wmi_null(diag, __func__, queue ? "completed" : "queue");
    if (isnan(seconds))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%s: seconds is not a number", __func__);
    if (is_own_thread(queue))
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "%s: called by a callback of the queue, which would wait for itself", __func__);
    const bool limited = seconds >= 0 && seconds < LONGEST;
    const struct timespec until = deadline(limited ? seconds : 0);
    pthread_mutex_lock(&queue->lock);
    const enum wm_status status = check_ticket(queue, __func__, ticket, diag);
    const uint64_t last = ticket ? ticket : queue->submitted;
    while (!status && queue->completed < last)
        if (!limited)
            pthread_cond_wait(&queue->changed, &queue->lock);
        else if (pthread_cond_timedwait(&queue->changed, &queue->lock, &until) == ETIMEDOUT)
            break;
    *completed = !status && queue->completed >= last;
    pthread_mutex_unlock(&queue->lock);
    return status;
}

enum wm_status wm_queue_cancel(struct wm_queue *queue, uint64_t ticket, struct wm_diag *diag)
{
    if (!queue)
        return wmi_null(diag, __func__, "queue");
    pthread_mutex_lock(&queue->lock);
    const enum wm_status status = check_ticket(queue, __func__, ticket, diag);
    for (struct entry *entry = queue->first; entry && !status; entry = entry->next)
        entry->cancelled |= !ticket || entry->ticket == ticket;
    pthread_mutex_unlock(&queue->lock);
    return status;
}
