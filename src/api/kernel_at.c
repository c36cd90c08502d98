/* SPDX-License-Identifier: MIT */
#include "api/kernel_at.h"

#include "base/diag.h"
#include "lower/flow.h"
#include "lower/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_CODE = 1 << 20,         /* bytes of a caller's kernel that reports show */
    MOST_INSTRUCTIONS = 1 << 16, /* that are scanned for its end */
    NAME = 256,
};

/* A kernel of an object that was loaded by wm_load(). */
static bool find_loaded(const struct wm_machine *machine, uint64_t address, struct wmi_kernel_at *at)
{
    for (const struct wmi_module *module = wmi_modules(machine); module; module = module->next)
        for (size_t i = 0; i < wm_object_kernel_count(module->object); i++) {
            const struct wm_kernel *k = wm_object_kernel(module->object, i);
            if (k->descriptor && k->descriptor + module->bias == address) {
                *at = (struct wmi_kernel_at){module, k};
                return true;
            }
        }
    return false;
}

/* What the caller has put into memory; pointers are valid while the read lock is held. */
static enum wm_status look_for_code(const struct wm_machine *machine, uint64_t named, struct wmi_raw *raw,
                                    struct wm_diag *diag)
{
    const struct wmi_allocation *a = wmi_space_find(machine->space, raw->entry);
    raw->size = a ? (size_t)(a->high - raw->entry) / 4 * 4 : 0;
    if (!raw->size || raw->entry % 4)
        return wmi_fail(
            diag, WM_BAD_ARGUMENT,
            "kernel_object 0x%llx: its code would begin at 0x%llx; expected a multiple of 4 in guest "
            "memory",
            (unsigned long long)named, (unsigned long long)raw->entry);
    raw->code = a->host + (raw->entry - a->low);
    if (raw->size > MOST_CODE)
        raw->size = MOST_CODE;
    return WM_OK;
}

static enum wm_status look(const struct wm_machine *machine, const struct wm_packet *packet,
                           struct wmi_raw *raw, struct wm_diag *diag)
{
    const uint64_t address = packet->kernel_object;
    int64_t offset = 0;
    raw->descriptor = packet->descriptor;
    raw->name = packet->descriptor ? packet->name : NULL;
    if (!raw->descriptor) {
        raw->descriptor = wmi_space_host(machine->space, address, WMI_DESCRIPTOR_BYTES);
        if (!raw->descriptor || address % WMI_DESCRIPTOR_BYTES)
            return wmi_fail(
                diag, WM_BAD_ARGUMENT,
                "kernel_object 0x%llx: expected the address of a kernel descriptor, 64 bytes at a multiple "
                "of 64 in guest memory",
                (unsigned long long)address);
        memcpy(&offset, raw->descriptor + WMI_DESCRIPTOR_ENTRY, sizeof offset);
    }
    raw->entry = address + (uint64_t)offset;
    return look_for_code(machine, address, raw, diag);
}

/* Bytes up to the last instruction that is reached from the entry, or `raw->size` if an instruction goes on
 * at an address in registers. */
static size_t reached(const struct wm_machine *machine, const struct wmi_raw *raw)
{
    const struct wmi_place_map none = {0};
    const struct wmi_code_options options = {
        .target = wmi_target_of_waves(machine, 0), .space = machine->space, .entry = raw->entry};
    struct wmi_code code;
    struct wmi_scan scan = {0};
    size_t end = 4;
    wmi_code_init(&code, &options);
    wmi_scan(&scan, &code, NULL, &none, raw->entry, MOST_INSTRUCTIONS);
    if (scan.out_of_memory || scan.count == MOST_INSTRUCTIONS)
        end = raw->size;
    for (size_t i = 0; i < scan.count && end < raw->size; i++) {
        const uint64_t pc = wmi_pc_of(scan.found[i].place);
        struct wmi_instruction insn;
        if (pc - raw->entry >= raw->size)
            continue; /* before the entry */
        if (!wmi_code_decode(&code, pc, &insn))
            insn.dwords = 1;
        else if (wmi_control_flow(&insn).computed)
            end = raw->size;
        if (pc - raw->entry + 4 * insn.dwords > end)
            end = pc - raw->entry + 4 * insn.dwords;
    }
    wmi_scan_free(&scan);
    wmi_code_free(&code);
    return end < raw->size ? end : raw->size;
}

/* Drivers choose other addresses in each run, so shaders are called after their code: FNV-1a of 32 bits. */
static void name_kernel(const struct wm_packet *packet, const struct wmi_raw *raw, size_t size,
                        char name[NAME])
{
    uint32_t hash = 0x811c9dc5;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ raw->code[i]) * 0x01000193;
    if (raw->name)
        snprintf(name, NAME, "%s", raw->name);
    else if (packet->descriptor)
        snprintf(name, NAME, "shader %08x", hash);
    else
        snprintf(name, NAME, "kernel at 0x%llx", (unsigned long long)packet->kernel_object);
}

static enum wm_status make(struct wm_machine *machine, const struct wm_packet *packet,
                           const struct wmi_raw *raw, struct wmi_raw_module **made, struct wm_diag *diag)
{
    const size_t size = reached(machine, raw);
    char name[NAME];
    struct wm_object *object;
    name_kernel(packet, raw, size, name);
    const enum wm_status status = wmi_object_open_raw_kernel(raw->descriptor, raw->code, size, name,
                                                             wmi_target_name(machine->target), &object, diag);
    if (status)
        return status;
    *made = wmi_raw_modules_add(machine->raw_modules, object, raw->entry);
    if (*made)
        return WM_OK;
    wm_object_close(object);
    return wmi_fail(diag, WM_NO_MEMORY, "no memory for a kernel");
}

enum wm_status wmi_kernel_at(struct wm_machine *machine, const struct wm_packet *packet,
                             struct wmi_kernel_at *at, struct wm_diag *diag)
{
    struct wmi_read_lock read_lock;
    struct wmi_raw raw = {0};
    if (!packet->descriptor && find_loaded(machine, packet->kernel_object, at))
        return WM_OK;
    pthread_mutex_lock(&machine->load_lock);
    wmi_machine_read_lock(machine, &read_lock, packet->kernel_object, 4);
    enum wm_status status = look(machine, packet, &raw, diag);
    struct wmi_raw_module *module = status ? NULL : wmi_raw_modules_find(machine->raw_modules, &raw);
    if (!status && !module)
        status = make(machine, packet, &raw, &module, diag);
    if (module) {
        module->users++;
        *at = (struct wmi_kernel_at){&module->module, wm_object_kernel(module->object, 0)};
    }
    wmi_rwlock_read_unlock(&read_lock);
    pthread_mutex_unlock(&machine->load_lock);
    return status;
}

void wmi_kernel_at_end(struct wm_machine *machine, const struct wmi_kernel_at *at, bool lasts)
{
    if (!at->module || wmi_module_of(machine, at->module->object) == at->module)
        return;
    struct wmi_raw_module *module = (struct wmi_raw_module *)at->module;
    pthread_mutex_lock(&machine->load_lock);
    module->users--;
    module->lasts |= lasts;
    pthread_mutex_unlock(&machine->load_lock);
}
