/* SPDX-License-Identifier: MIT */
#include "api/packet.h"

#include "api/dispatch.h"
#include "api/start.h"
#include "base/versioned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_NANOSECONDS = 50000 }; /* between two looks at signals in memory */

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

/* ---- the caller's packet ---- */

/* Options that the packet has itself. */
static enum wm_status check_options(const struct wm_dispatch *o, struct wm_diag *diag)
{
    const struct {
        bool set;
        const char *name;
    } members[] = {
        {o->grid[0] || o->grid[1] || o->grid[2], "grid"},
        {o->workgroup[0] || o->workgroup[1] || o->workgroup[2], "workgroup"},
        {o->cluster[0] || o->cluster[1] || o->cluster[2], "cluster"},
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
static enum wm_status copy(struct wmi_packet *packet, const struct wm_packet *given, struct wm_diag *diag)
{
    struct wm_machine *machine = packet->machine;
    struct wm_packet *copied = &packet->given;
    enum wm_status status = wmi_take_struct(
        copied, sizeof *copied, offsetof(struct wm_packet, private_segment_size), given, "wm_packet", diag);
    if (!status && copied->options)
        status =
            wmi_take_struct(&packet->options, sizeof packet->options, offsetof(struct wm_dispatch, arguments),
                            copied->options, "wm_dispatch", diag);
    if (!status)
        status = check_options(&packet->options, diag);
    if (!status && copied->result)
        status = wmi_check_struct(copied->result, sizeof(struct wm_result),
                                  offsetof(struct wm_result, violations), "wm_result", diag);
    if (!status && copied->dependency_count && !copied->dependencies)
        status = wmi_fail(diag, WM_BAD_ARGUMENT, "packet: dependency_count is %zu but dependencies is NULL",
                          copied->dependency_count);
    for (size_t i = 0; !status && i < copied->dependency_count; i++)
        status = check_signal(machine, "a dependency", copied->dependencies[i], diag);
    if (!status && copied->completion_signal)
        status = check_signal(machine, "the completion signal", copied->completion_signal, diag);
    if (status)
        return status;
    packet->dependencies = calloc(copied->dependency_count + 1, sizeof *packet->dependencies);
    if (!packet->dependencies)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a packet");
    if (copied->dependency_count)
        memcpy(packet->dependencies, copied->dependencies,
               copied->dependency_count * sizeof *packet->dependencies);
    return wmi_kernel_at(machine, copied, &packet->at, diag);
}

static bool is_cancelled(const struct wmi_packet *packet)
{
    return packet->is_cancelled && packet->is_cancelled(packet);
}

/* progress() of the dispatch. */
static bool goes_on(void *user, uint64_t done, uint64_t all)
{
    const struct wmi_packet *packet = user;
    return !is_cancelled(packet) && (!packet->progress || packet->progress(packet->progress_user, done, all));
}

/* Turns what the packet says into a request. */
static enum wm_status make_request(struct wmi_packet *packet, struct wm_diag *diag)
{
    const struct wm_packet *given = &packet->given;
    struct wm_dispatch *request = &packet->options;
    const uint32_t lds = given->group_segment_size, own = packet->at.kernel->lds_size;
    if (lds && lds < own)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "packet: group_segment_size is %u; kernel '%s' has %u bytes of static LDS", lds,
                        packet->at.kernel->name, own);
    memcpy(request->grid, given->grid, sizeof request->grid);
    memcpy(request->workgroup, given->workgroup, sizeof request->workgroup);
    memcpy(request->cluster, given->cluster, sizeof request->cluster);
    request->struct_size = sizeof *request;
    request->dynamic_lds = lds ? lds - own : 0;
    const enum wm_status status = wmi_start_take(request->start, &packet->start, diag);
    if (status)
        return status;
    packet->start.struct_size = sizeof packet->start;
    if (packet->start.scratch_bytes < given->private_segment_size)
        packet->start.scratch_bytes = given->private_segment_size;
    request->start = &packet->start;
    packet->progress = request->progress;
    packet->progress_user = request->progress_user;
    request->progress = goes_on;
    request->progress_user = packet;
    return WM_OK;
}

enum wm_status wmi_packet_take(struct wmi_packet *packet, const struct wm_packet *given, struct wm_diag *diag)
{
    const enum wm_status status = copy(packet, given, diag);
    return status ? status : make_request(packet, diag);
}

/* Those who observe a dispatch may ask for its code later. */
static bool is_observed(const struct wmi_packet *packet)
{
    const struct wm_dispatch *o = &packet->options;
    return o->profile || o->check || o->fidelity || o->observer_count || o->stale;
}

void wmi_packet_release(struct wmi_packet *packet)
{
    wmi_kernel_at_end(packet->machine, &packet->at, is_observed(packet));
    free(packet->dependencies);
}

/* ---- running ---- */

/* Waits until all dependencies are 0. False: it was cancelled, or *lost is the address of a signal that is
 * gone. */
static bool await_dependencies(const struct wmi_packet *packet, uint64_t *lost)
{
    const struct timespec look = {.tv_nsec = LOOK_NANOSECONDS};
    for (size_t i = 0; i < packet->given.dependency_count; i++)
        for (int64_t value = 1;; nanosleep(&look, NULL)) {
            if (!read_signal(packet->machine, packet->dependencies[i], &value)) {
                *lost = packet->dependencies[i];
                return false;
            }
            if (!value)
                break;
            if (is_cancelled(packet))
                return false;
        }
    return !is_cancelled(packet);
}

static enum wm_status dispatch(struct wmi_packet *packet, struct wm_result *result, struct wm_diag *diag)
{
    const struct wmi_dispatch_how how = {.function = packet->function,
                                         .module = packet->at.module,
                                         .holder = packet->holder,
                                         .has_kernarg = true,
                                         .kernarg = packet->given.kernarg_address,
                                         .fills_hidden = packet->given.fills_hidden_arguments,
                                         .cursor = packet->cursor};
    uint64_t lost = 0;
    if (await_dependencies(packet, &lost))
        return wmi_dispatch_with(&how, packet->machine, packet->at.module->object, packet->at.kernel,
                                 &packet->options, result, diag);
    if (lost)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the signal at 0x%llx that a dispatch waited for was freed",
                        (unsigned long long)lost);
    result->fault.kind = WM_FAULT_STOPPED;
    snprintf(result->fault.text, sizeof result->fault.text, "the dispatch was cancelled before it began");
    return WM_OK;
}

enum wm_status wmi_packet_run(struct wmi_packet *packet, struct wm_diag *diag)
{
    const struct wm_packet *given = &packet->given;
    const uint64_t signal = given->completion_signal;
    struct wm_result result = {.struct_size = sizeof result};
    int64_t value;
    enum wm_status status = dispatch(packet, &result, diag);
    if (given->result)
        wmi_give_struct(given->result, &result, sizeof result);
    if (!status && signal && !read_signal(packet->machine, signal, &value))
        status = wmi_fail(diag, WM_BAD_ARGUMENT, "the completion signal at 0x%llx was freed",
                          (unsigned long long)signal);
    if (given->completed)
        given->completed(given->user, status, &result, diag);
    return status;
}

/* The read lock of the memory is acquired before the caller's, because threads that hold it, such as
 * callbacks of observers, may wait for the other. */
void wmi_packet_signal(const struct wmi_packet *packet, pthread_mutex_t *lock, void (*completed)(void *user),
                       void *user)
{
    const struct wm_machine *machine = packet->machine;
    const uint64_t address = packet->given.completion_signal;
    struct wmi_read_lock read_lock;
    int64_t *host = address ? wmi_machine_read_lock(machine, &read_lock, address, sizeof *host) : NULL;
    if (lock)
        pthread_mutex_lock(lock);
    if (host)
        __atomic_fetch_sub(host, 1, __ATOMIC_ACQ_REL);
    if (completed)
        completed(user);
    if (lock)
        pthread_mutex_unlock(lock);
    if (host)
        wmi_show_host(machine, WM_EVENT_HOST_WRITE, address, sizeof *host, host);
    if (address)
        wmi_rwlock_read_unlock(&read_lock);
}

enum wm_status wmi_dispatch_packet_with(struct wm_machine *machine, const struct wm_packet *given,
                                        const struct wmi_observer *holder, struct wm_diag *diag)
{
    struct wm_diag own = {0};
    struct wmi_packet packet = {.machine = machine, .function = "wm_dispatch_packet", .holder = holder};
    enum wm_status status = wmi_packet_take(&packet, given, diag);
    if (!status) {
        status = wmi_packet_run(&packet, diag ? diag : &own);
        wmi_packet_signal(&packet, NULL, NULL, NULL);
    }
    wmi_packet_release(&packet);
    return status;
}

enum wm_status wm_dispatch_packet(struct wm_machine *machine, const struct wm_packet *packet,
                                  struct wm_diag *diag)
{
    if (!machine || !packet)
        return wmi_null(diag, __func__, machine ? "packet" : "machine");
    return wmi_dispatch_packet_with(machine, packet, NULL, diag);
}

enum wm_status wm_packet_kernel(struct wm_machine *machine, const struct wm_packet *given,
                                const struct wm_object **object, const struct wm_kernel **kernel,
                                uint64_t *bias, struct wm_diag *diag)
{
    struct wm_packet packet;
    struct wmi_kernel_at at;
    if (!machine || !given || !object || !kernel || !bias)
        return wmi_null(diag, __func__, !machine ? "machine" : !given ? "packet" : "object, kernel or bias");
    enum wm_status status = wmi_take_struct(
        &packet, sizeof packet, offsetof(struct wm_packet, private_segment_size), given, "wm_packet", diag);
    if (!status)
        status = wmi_kernel_at(machine, &packet, &at, diag);
    if (status)
        return status;
    *object = at.module->object;
    *kernel = at.kernel;
    *bias = at.module->bias;
    wmi_kernel_at_end(machine, &at, true);
    return WM_OK;
}
