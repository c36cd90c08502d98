/* SPDX-License-Identifier: MIT */
/* The public API: queues. Each has a thread that runs its dispatches in order. */
#include "api/dispatch.h"
#include "api/kernel_at.h"
#include "api/machine.h"
#include "api/start.h"
#include "base/versioned.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A dispatch that has not completed. */
struct entry {
    struct entry *next;
    uint64_t ticket;
    struct wm_packet packet; /* as given; its dependencies and options are copied to these: */
    uint64_t *dependencies;
    struct wm_dispatch options;
    bool (*progress)(void *user, uint64_t done, uint64_t all); /* the caller's, or NULL */
    void *progress_user;
    struct wm_start start; /* scratch */
    struct wmi_kernel_at at;
    struct wm_machine *machine;
    struct wm_queue *queue; /* NULL: none, the caller waits */
    bool cancelled;         /* guarded by the queue's lock */
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
enum { QUEUES = 1024, LOOK_NANOSECONDS = 50000 }; /* between two looks at signals in memory */

/* ---- signals ---- */

/* False: it is not in guest memory any more. */
static bool read_signal(const struct wm_machine *machine, uint64_t address, int64_t *value)
{
    struct wmi_read_lock read_lock;
    const int64_t *host = wmi_machine_read_lock(machine, &read_lock, address, sizeof *host);
    if (host)
        *value = __atomic_load_n(host, __ATOMIC_ACQUIRE);
    wmi_rwlock_read_unlock(&read_lock);
    return host;
}

static enum wm_status check_signal(const struct wm_machine *machine, const char *what, uint64_t address,
                                   struct wm_diag *diag)
{
    int64_t value;
    if (address % sizeof value || !read_signal(machine, address, &value))
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "packet: %s at 0x%llx; expected a multiple of 8 in guest memory", what,
                        (unsigned long long)address);
    return WM_OK;
}

/* ---- the queue's thread ---- */

static bool is_cancelled(const struct entry *entry)
{
    if (!entry->queue)
        return false;
    pthread_mutex_lock(&entry->queue->lock);
    const bool cancelled = entry->cancelled;
    pthread_mutex_unlock(&entry->queue->lock);
    return cancelled;
}

/* progress() of all dispatches of queues. */
static bool goes_on(void *user, uint64_t done, uint64_t all)
{
    const struct entry *entry = user;
    return !is_cancelled(entry) && (!entry->progress || entry->progress(entry->progress_user, done, all));
}

/* Waits until all dependencies are 0. False: it was cancelled, or *lost is the address of a signal that is
 * gone. */
static bool await_dependencies(const struct entry *entry, uint64_t *lost)
{
    const struct timespec look = {.tv_nsec = LOOK_NANOSECONDS};
    for (size_t i = 0; i < entry->packet.dependency_count; i++)
        for (int64_t value = 1;; nanosleep(&look, NULL)) {
            if (!read_signal(entry->machine, entry->dependencies[i], &value)) {
                *lost = entry->dependencies[i];
                return false;
            }
            if (!value)
                break;
            if (is_cancelled(entry))
                return false;
        }
    return !is_cancelled(entry);
}

static enum wm_status run(struct entry *entry, struct wm_result *result, struct wm_diag *diag)
{
    struct wm_queue *queue = entry->queue;
    const struct wmi_dispatch_how how = {.function = queue ? "wm_queue_submit" : "wm_dispatch_packet",
                                         .module = entry->at.module,
                                         .has_kernarg = true,
                                         .kernarg = entry->packet.kernarg_address,
                                         .fills_hidden = entry->packet.fills_hidden_arguments,
                                         .cursor = queue ? &queue->cursor : NULL};
    uint64_t lost = 0;
    if (await_dependencies(entry, &lost)) {
        if (queue)
            queue->cursor = queue->base; /* nothing of the dispatch before is left */
        return wmi_dispatch_with(&how, entry->machine, entry->at.module->object, entry->at.kernel,
                                 &entry->options, result, diag);
    }
    if (lost)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the signal at 0x%llx that a dispatch waited for was freed",
                        (unsigned long long)lost);
    result->fault.kind = WM_FAULT_STOPPED;
    snprintf(result->fault.text, sizeof result->fault.text, "the dispatch was cancelled before it began");
    return WM_OK;
}

/* Takes the entry, which is the first one, out of the queue. The caller holds the lock. */
static void leave_queue(struct wm_queue *queue, const struct entry *entry)
{
    queue->completed = entry->ticket;
    queue->first = entry->next;
    if (!queue->first)
        queue->last = &queue->first;
    pthread_cond_broadcast(&queue->changed);
}

/* Decrements the signal and completes the ticket, both under the lock of the queue, so that a thread which
 * sees one of them sees the other. The read lock of the memory is acquired first, because threads that hold
 * it, such as callbacks of observers, may wait for the lock of the queue. */
static void tell(struct entry *entry)
{
    const struct wm_machine *machine = entry->machine;
    struct wm_queue *queue = entry->queue;
    const uint64_t address = entry->packet.completion_signal;
    struct wmi_read_lock read_lock;
    int64_t *host = address ? wmi_machine_read_lock(machine, &read_lock, address, sizeof *host) : NULL;
    if (queue)
        pthread_mutex_lock(&queue->lock);
    if (host)
        __atomic_fetch_sub(host, 1, __ATOMIC_ACQ_REL);
    if (queue) {
        leave_queue(queue, entry);
        pthread_mutex_unlock(&queue->lock);
    }
    if (host)
        wmi_show_host(machine, WM_EVENT_HOST_WRITE, address, sizeof *host, host);
    if (address)
        wmi_rwlock_read_unlock(&read_lock);
}

static enum wm_status complete(struct entry *entry, struct wm_diag *diag)
{
    const uint64_t signal = entry->packet.completion_signal;
    struct wm_result result = {.struct_size = sizeof result};
    int64_t value;
    enum wm_status status = run(entry, &result, diag);
    if (entry->packet.result)
        wmi_give_struct(entry->packet.result, &result, sizeof result);
    if (!status && signal && !read_signal(entry->machine, signal, &value))
        status = wmi_fail(diag, WM_BAD_ARGUMENT, "the completion signal at 0x%llx was freed",
                          (unsigned long long)signal);
    if (entry->packet.completed)
        entry->packet.completed(entry->packet.user, status, &result, diag);
    tell(entry);
    return status;
}

/* Those who observe a dispatch may ask for its code later. */
static bool is_observed(const struct entry *entry)
{
    const struct wm_dispatch *o = &entry->options;
    return o->profile || o->check || o->fidelity || o->observer_count || o->stale;
}

static void free_entry(struct entry *entry)
{
    wmi_kernel_at_end(entry->machine, &entry->at, is_observed(entry));
    free(entry->dependencies);
    free(entry);
}

static void *work(void *argument)
{
    struct wm_queue *queue = argument;
    pthread_mutex_lock(&queue->lock);
    while (queue->first || !queue->ends) {
        struct entry *entry = queue->first;
        if (!entry) {
            pthread_cond_wait(&queue->changed, &queue->lock);
            continue;
        }
        pthread_mutex_unlock(&queue->lock);
        complete(entry, &(struct wm_diag){0});
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
    if (pthread_create(&queue->thread, NULL, work, queue)) {
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

/* Options that the packet has itself. */
static enum wm_status check_options(const struct wm_dispatch *o, struct wm_diag *diag)
{
    const struct {
        bool set;
        const char *name;
    } members[] = {
        {o->grid[0] || o->grid[1] || o->grid[2], "grid"},
        {o->workgroup[0] || o->workgroup[1] || o->workgroup[2], "workgroup"},
        {o->arguments || o->arguments_size, "arguments"},
        {o->dynamic_lds, "dynamic_lds"},
        {o->global_offset[0] || o->global_offset[1] || o->global_offset[2], "global_offset"},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (members[i].set)
            return wmi_fail(diag, WM_BAD_ARGUMENT,
                            "packet: options->%s is set; expected 0, the packet says it", members[i].name);
    return WM_OK;
}

/* Copies the caller's packet and what it points to. */
static enum wm_status take(const struct wm_packet *given, struct entry *entry, struct wm_diag *diag)
{
    struct wm_machine *machine = entry->machine;
    struct wm_packet *packet = &entry->packet;
    enum wm_status status = wmi_take_struct(
        packet, sizeof *packet, offsetof(struct wm_packet, private_segment_size), given, "wm_packet", diag);
    if (!status && packet->options)
        status =
            wmi_take_struct(&entry->options, sizeof entry->options, offsetof(struct wm_dispatch, arguments),
                            packet->options, "wm_dispatch", diag);
    if (!status)
        status = check_options(&entry->options, diag);
    if (!status && packet->result)
        status = wmi_check_struct(packet->result, sizeof(struct wm_result),
                                  offsetof(struct wm_result, violations), "wm_result", diag);
    if (!status && packet->dependency_count && !packet->dependencies)
        status = wmi_fail(diag, WM_BAD_ARGUMENT, "packet: dependency_count is %zu but dependencies is NULL",
                          packet->dependency_count);
    for (size_t i = 0; !status && i < packet->dependency_count; i++)
        status = check_signal(machine, "a dependency", packet->dependencies[i], diag);
    if (!status && packet->completion_signal)
        status = check_signal(machine, "the completion signal", packet->completion_signal, diag);
    if (status)
        return status;
    entry->dependencies = calloc(packet->dependency_count + 1, sizeof *entry->dependencies);
    if (!entry->dependencies)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a packet");
    if (packet->dependency_count)
        memcpy(entry->dependencies, packet->dependencies,
               packet->dependency_count * sizeof *entry->dependencies);
    return wmi_kernel_at(machine, packet, &entry->at, diag);
}

/* Turns what the packet says into a request. */
static enum wm_status make_request(struct entry *entry, struct wm_diag *diag)
{
    struct wm_packet *packet = &entry->packet;
    struct wm_dispatch *request = &entry->options;
    const uint32_t lds = packet->group_segment_size, own = entry->at.kernel->lds_size;
    if (lds && lds < own)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "packet: group_segment_size is %u; kernel '%s' has %u bytes of static LDS", lds,
                        entry->at.kernel->name, own);
    memcpy(request->grid, packet->grid, sizeof request->grid);
    memcpy(request->workgroup, packet->workgroup, sizeof request->workgroup);
    request->struct_size = sizeof *request;
    request->dynamic_lds = lds ? lds - own : 0;
    const enum wm_status status = wmi_start_take(request->start, &entry->start, diag);
    if (status)
        return status;
    entry->start.struct_size = sizeof entry->start;
    if (entry->start.scratch_bytes < packet->private_segment_size)
        entry->start.scratch_bytes = packet->private_segment_size;
    request->start = &entry->start;
    entry->progress = request->progress;
    entry->progress_user = request->progress_user;
    request->progress = goes_on;
    request->progress_user = entry;
    return WM_OK;
}

static enum wm_status make_entry(struct wm_machine *machine, struct wm_queue *queue,
                                 const struct wm_packet *packet, struct entry **made, struct wm_diag *diag)
{
    struct entry *entry = calloc(1, sizeof *entry);
    if (!entry)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a packet");
    entry->machine = machine;
    entry->queue = queue;
    enum wm_status status = take(packet, entry, diag);
    if (!status)
        status = make_request(entry, diag);
    if (status)
        free_entry(entry);
    else
        *made = entry;
    return status;
}

enum wm_status wm_dispatch_packet(struct wm_machine *machine, const struct wm_packet *packet,
                                  struct wm_diag *diag)
{
    struct entry *entry;
    if (!machine || !packet)
        return wmi_null(diag, __func__, machine ? "packet" : "machine");
    enum wm_status status = make_entry(machine, NULL, packet, &entry, diag);
    if (status)
        return status;
    status = complete(entry, diag ? diag : &(struct wm_diag){0});
    free_entry(entry);
    return status;
}

enum wm_status wm_queue_submit(struct wm_queue *queue, const struct wm_packet *packet, uint64_t *ticket,
                               struct wm_diag *diag)
{
    if (!queue || !packet)
        return wmi_null(diag, __func__, queue ? "packet" : "queue");
    struct entry *entry;
    const enum wm_status status = make_entry(queue->machine, queue, packet, &entry, diag);
    if (status)
        return status;
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
