/* SPDX-License-Identifier: MIT */
/* The public API: guest memory of a machine. */
#include "api/machine.h"
#include "base/diag.h"
#include "base/versioned.h"

#include <string.h>

static enum wm_status check_flags(const char *function, const struct wmi_allocation_request *request,
                                  struct wm_diag *diag)
{
    const unsigned flags = request->flags;
    if (flags == WMI_FLAGS_UNBOUND && request->placed && !request->host)
        return WM_OK;
    if (flags & ~(unsigned)WM_READ_ONLY)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%s: flags are 0x%x; expected 0 or WM_READ_ONLY", function,
                        flags);
    return WM_OK;
}

static enum wm_status place(struct wm_machine *machine, const char *function,
                            const struct wmi_allocation_request *request, uint64_t *address,
                            struct wm_diag *diag)
{
    enum wm_status status = wmi_machine_changeable(machine, function, diag);
    if (!status && !address)
        status = wmi_null(diag, function, "address");
    if (!status)
        status = check_flags(function, request, diag);
    return status ? status : wmi_space_place(machine->space, request, address, diag);
}

enum wm_status wm_allocate(struct wm_machine *machine, uint64_t size, unsigned flags, const char *name,
                           uint64_t *address, struct wm_diag *diag)
{
    return place(machine, __func__,
                 &(struct wmi_allocation_request){.size = size, .flags = flags, .name = name}, address, diag);
}

enum wm_status wm_set_first_address(struct wm_machine *machine, uint64_t address, struct wm_diag *diag)
{
    const enum wm_status status = wmi_machine_changeable(machine, __func__, diag);
    if (status)
        return status;
    if (address < WMI_SPACE_LOW || address > WMI_SPACE_HIGH || address % WMI_SPACE_GAP)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%s: 0x%llx; expected a multiple of %d from 0x%llx to 0x%llx",
                        __func__, (unsigned long long)address, WMI_SPACE_GAP, WMI_SPACE_LOW, WMI_SPACE_HIGH);
    wmi_space_begin_at(machine->space, address);
    return WM_OK;
}

enum wm_status wm_allocate_at(struct wm_machine *machine, uint64_t address, uint64_t size, unsigned flags,
                              const char *name, struct wm_diag *diag)
{
    const unsigned all = flags & WM_UNBOUND ? flags | WM_READ_ONLY : flags;
    const struct wmi_allocation_request request = {
        .size = size, .flags = all, .name = name, .placed = true, .address = address};
    if (address % WM_ALLOCATION_ALIGNMENT)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%s: address 0x%llx; expected a multiple of %u", __func__,
                        (unsigned long long)address, (unsigned)WM_ALLOCATION_ALIGNMENT);
    return place(machine, __func__, &request, &address, diag);
}

enum wm_status wm_share(struct wm_machine *machine, uint64_t address, int file, struct wm_diag *diag)
{
    const enum wm_status status = wmi_machine_changeable(machine, __func__, diag);
    return status ? status : wmi_space_share(machine->space, address, file, diag);
}

enum wm_status wm_map_host(struct wm_machine *machine, void *host, uint64_t size, uint64_t address,
                           unsigned flags, const char *name, struct wm_diag *diag)
{
    const uint64_t own = (uintptr_t)host;
    const struct wmi_allocation_request request = {.size = size,
                                                   .flags = flags,
                                                   .name = name,
                                                   .placed = true,
                                                   .address = address ? address : own,
                                                   .host = host};
    if (!host)
        return wmi_null(diag, __func__, "host");
    if (size > UINTPTR_MAX - own)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%s: %llu bytes from %p are not host memory", __func__,
                        (unsigned long long)size, host);
    if ((request.address - own) % WM_MAPPING_ALIGNMENT)
        return wmi_fail(
            diag, WM_BAD_ARGUMENT,
            "%s: address 0x%llx for host memory at 0x%llx; expected addresses that are equal modulo "
            "%u, because atomics must be aligned in both",
            __func__, (unsigned long long)request.address, (unsigned long long)own,
            (unsigned)WM_MAPPING_ALIGNMENT);
    return place(machine, __func__, &request, &address, diag);
}

enum wm_status wm_free(struct wm_machine *machine, uint64_t address, struct wm_diag *diag)
{
    const enum wm_status status = wmi_machine_changeable(machine, __func__, diag);
    return status ? status : wmi_space_free(machine->space, address, false, diag);
}

static void describe(const struct wmi_allocation *a, struct wm_allocation *found)
{
    *found = (struct wm_allocation){
        .struct_size = sizeof *found,
        .address = a->low,
        .size = a->high - a->low,
        .flags = a->flags & (WM_READ_ONLY | WM_UNBOUND),
        .host = a->host,
        .is_host = a->flags & WMI_ALLOCATION_HOST,
        .is_own = a->flags & WMI_ALLOCATION_OWN,
        .name = a->name,
    };
}

enum wm_status wm_find_allocation(const struct wm_machine *machine, uint64_t address, bool or_next,
                                  struct wm_allocation *given, struct wm_diag *diag)
{
    struct wm_allocation found = {0};
    struct wmi_read_lock read_lock;
    if (!machine || !given)
        return wmi_null(diag, __func__, machine ? "allocation" : "machine");
    enum wm_status status =
        wmi_check_struct(given, sizeof *given, offsetof(struct wm_allocation, host), "wm_allocation", diag);
    if (status)
        return status;
    wmi_machine_read_lock(machine, &read_lock, address, 1);
    const struct wmi_allocation *a = wmi_space_from(machine->space, address);
    if (a && (or_next || a->low <= address))
        describe(a, &found);
    else
        a = NULL;
    wmi_rwlock_read_unlock(&read_lock);
    if (!a)
        return wmi_fail(diag, WM_NOT_FOUND, "0x%llx: no allocation lies there%s", (unsigned long long)address,
                        or_next ? " or above" : "");
    wmi_give_struct(given, &found, sizeof found);
    return WM_OK;
}

void *wm_host_pointer(struct wm_machine *machine, uint64_t address, uint64_t size)
{
    struct wmi_read_lock read_lock;
    if (!machine)
        return NULL;
    void *host = wmi_machine_read_lock(machine, &read_lock, address, size);
    wmi_rwlock_read_unlock(&read_lock);
    if (host)
        wmi_show_host(machine, WM_EVENT_HOST_POINTER, address, size, NULL);
    return host;
}

/* Copies between guest memory and `bytes`. */
static enum wm_status copy(const struct wm_machine *machine, const char *function, bool writes,
                           uint64_t address, void *bytes, uint64_t size, struct wm_diag *diag)
{
    struct wmi_read_lock read_lock;
    if (!machine || (!bytes && size))
        return wmi_null(diag, function, machine ? "bytes" : "machine");
    unsigned char *host = wmi_machine_read_lock(machine, &read_lock, address, size);
    if (host && size)
        memcpy(writes ? host : bytes, writes ? bytes : host, size);
    if (host)
        wmi_show_host(machine, writes ? WM_EVENT_HOST_WRITE : WM_EVENT_HOST_READ, address, size, host);
    wmi_rwlock_read_unlock(&read_lock);
    if (!host)
        return wmi_fail(diag, WM_OUT_OF_RANGE, "%llu bytes at 0x%llx do not lie in one allocation",
                        (unsigned long long)size, (unsigned long long)address);
    return WM_OK;
}

enum wm_status wm_write(struct wm_machine *machine, uint64_t address, const void *bytes, uint64_t size,
                        struct wm_diag *diag)
{
    return copy(machine, __func__, true, address, (void *)bytes, size, diag);
}

enum wm_status wm_read(const struct wm_machine *machine, uint64_t address, void *bytes, uint64_t size,
                       struct wm_diag *diag)
{
    return copy(machine, __func__, false, address, bytes, size, diag);
}
