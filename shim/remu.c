/* SPDX-License-Identifier: MIT */
/* libremu.so: see run_asm.h. A call makes a machine, maps the ranges at their own addresses, and submits a
 * kernel whose descriptor it writes. */
#include "run_asm.h"

#include <wavemem/wavemem.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LDS_BYTES = 64 << 10,
    RSRC1 = 48, /* offsets in a kernel descriptor; source: LLVM AMDGPUUsage, "Kernel Descriptor" */
    RSRC2 = 52,
    RSRC3 = 44,
    PROPERTIES = 56,
    ENTRY = 16,
    WAVE32 = 1 << 10,
    USER_SGPRS_SHIFT = 1,
    USER_SGPRS = 31,
    KERNARG_USER_SGPRS = 13, /* workgroup ids follow in s13 to s15 */
};

/* Denormals kept, DX10_CLAMP and IEEE (which gfx12 lacks and ignores), all registers. */
#define RSRC1_MODE    UINT32_C(0x00af0000)
#define ALL_REGISTERS UINT32_C(0x33f)
#define ACCUM_OFFSET  UINT32_C(63) /* 256 VGPRs before the AccVGPRs, where they share a file */
#define RSRC2_OF_REMU (KERNARG_USER_SGPRS << USER_SGPRS_SHIFT | 7 << 7 | 2 << 11)

static _Thread_local char message[sizeof(((struct wm_fault *)0)->text)];

const char *run_asm_message(void)
{
    return message;
}

static int32_t say(enum run_asm_status status, const char *text)
{
    snprintf(message, sizeof message, "%s", text);
    return status;
}

static int32_t status_of(enum wm_status status, const struct wm_diag *diag)
{
    return say(status == WM_NO_MEMORY     ? RUN_ASM_NO_MEMORY
               : status == WM_UNSUPPORTED ? RUN_ASM_UNSUPPORTED
                                          : RUN_ASM_BAD_ARGUMENT,
               diag->message);
}

/* What the kernel is made of, in memory that the guest sees. */
struct kernel {
    _Alignas(64) uint8_t descriptor[64];
};

static void put32(uint8_t *to, uint32_t value)
{
    memcpy(to, &value, sizeof value);
}

static void describe(const struct run_asm_request *request, bool wave32, struct kernel *kernel)
{
    uint8_t *d = kernel->descriptor;
    const int64_t entry = (int64_t)((uintptr_t)request->code - (uintptr_t)d);
    memset(d, 0, sizeof kernel->descriptor);
    put32(d, request->lds_bytes);
    put32(d + 4, request->scratch_bytes);
    memcpy(d + ENTRY, &entry, sizeof entry);
    put32(d + RSRC1, RSRC1_MODE | ALL_REGISTERS);
    put32(d + RSRC2, request->rsrc2 | (request->scratch_bytes ? 1 : 0));
    put32(d + RSRC3, strncmp(request->target, "gfx9", 4) ? 0 : ACCUM_OFFSET);
    d[PROPERTIES + 1] = wave32 ? WAVE32 >> 8 : 0;
}

/* ---- what the guest may touch ---- */

static enum wm_status map(struct wm_machine *machine, uint64_t address, uint64_t size, bool read_only,
                          const char *name, struct wm_diag *diag)
{
    return wm_map_host(machine, (void *)(uintptr_t)address, size, 0, read_only ? WM_READ_ONLY : 0, name,
                       diag);
}

static enum wm_status map_given(struct wm_machine *machine, const struct run_asm_request *request,
                                const struct kernel *kernel, struct wm_diag *diag)
{
    struct wm_allocation found = {.struct_size = sizeof found};
    enum wm_status status = WM_OK;
    for (size_t i = 0; i < request->range_count && !status; i++)
        status = map(machine, request->ranges[i].address, request->ranges[i].size,
                     request->ranges[i].read_only, "range", diag);
    if (!status && wm_find_allocation(machine, (uintptr_t)request->code, false, &found, NULL))
        status = map(machine, (uintptr_t)request->code, request->size, true, "code", diag);
    if (!status && wm_find_allocation(machine, (uintptr_t)kernel, false, &found, NULL))
        status = map(machine, (uintptr_t)kernel, sizeof *kernel, true, "kernel descriptor", diag);
    return status;
}

/* All that the process may read. Neighbours of equal permission become one range, because an access may cross
 * their border. */
static enum wm_status map_process(struct wm_machine *machine, struct wm_diag *diag)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long long low, high, from = 0, to = 0;
    char may[5];
    bool read_only = false;
    enum wm_status status = WM_OK;
    if (!maps) {
        diag->status = WM_UNSUPPORTED;
        snprintf(diag->message, sizeof diag->message, "/proc/self/maps cannot be read: use run_asm_with()");
        return WM_UNSUPPORTED;
    }
    while (!status && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%llx-%llx %4s", &low, &high, may) != 3 || may[0] != 'r' || strstr(line, "[v"))
            continue;
        const bool now = may[1] != 'w';
        if (low == to && now == read_only) {
            to = high;
            continue;
        }
        if (to > from)
            status = map(machine, from, to - from, read_only, "memory of the process", diag);
        from = low, to = high, read_only = now;
    }
    if (!status && to > from)
        status = map(machine, from, to - from, read_only, "memory of the process", diag);
    fclose(maps);
    return status;
}

/* ---- running ---- */

static enum wm_status dispatch(struct wm_machine *machine, const struct run_asm_request *request,
                               const struct kernel *kernel, struct wm_result *result, struct wm_diag *diag)
{
    const struct wm_start_register sgprs = {
        .name = "s0", .values = request->user_sgprs, .count = request->user_sgpr_count};
    const struct wm_start start = {
        .struct_size = sizeof start, .registers = &sgprs, .register_count = request->user_sgpr_count > 0};
    const struct wm_dispatch options = {.struct_size = sizeof options,
                                        .threads = request->threads,
                                        .max_instructions = request->max_instructions,
                                        .timeout = request->timeout,
                                        .start = &start};
    struct wm_packet packet = {.struct_size = sizeof packet,
                               .kernel_object = (uintptr_t)kernel,
                               .options = &options,
                               .result = result};
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t items = (uint64_t)request->groups[i] * request->workgroup[i];
        packet.workgroup[i] = request->workgroup[i];
        packet.grid[i] = items > UINT32_MAX ? 0 : (uint32_t)items;
        if (!packet.grid[i]) {
            diag->status = WM_BAD_ARGUMENT;
            snprintf(diag->message, sizeof diag->message,
                     "%u workgroups of %u work-items in dimension %u; expected at least 1 and less than 2^32 "
                     "work-items",
                     request->groups[i], request->workgroup[i], i);
            return WM_BAD_ARGUMENT;
        }
    }
    return wm_dispatch_packet(machine, &packet, diag);
}

/* ranges: what the request says; otherwise all that the process has mapped. */
static int32_t run(const struct run_asm_request *request, bool ranges)
{
    struct wm_diag diag = {0};
    struct wm_machine *machine;
    struct kernel kernel;
    struct wm_result result = {.struct_size = sizeof result};
    char target[32];
    /* wm_machine_create() knows targets, the descriptor the wave size. */
    const char *colon = request->target ? strchr(request->target, ':') : NULL;
    const bool wave64 = colon && !strcmp(colon, ":wave64");
    snprintf(target, sizeof target, "%.*s", colon ? (int)(colon - request->target) : 31,
             request->target ? request->target : "(NULL)");
    enum wm_status status = wm_machine_create(target, &machine, &diag);
    if (status)
        return status_of(status, &diag);
    if (colon && !wave64 && strcmp(colon, ":wave32")) {
        wm_machine_destroy(machine);
        return say(RUN_ASM_BAD_ARGUMENT, "unknown feature of the target; expected :wave32 or :wave64");
    }
    if (!request->code || !request->size) {
        wm_machine_destroy(machine);
        return say(RUN_ASM_BAD_ARGUMENT, "there is no code");
    }
    describe(request, !wave64, &kernel);
    status = ranges ? map_given(machine, request, &kernel, &diag) : map_process(machine, &diag);
    if (!status)
        status = dispatch(machine, request, &kernel, &result, &diag);
    wm_machine_destroy(machine);
    if (status)
        return status_of(status, &diag);
    return result.fault.kind ? say(RUN_ASM_FAULT, result.fault.text) : say(RUN_ASM_OK, "");
}

int32_t run_asm(const char *code, uint32_t size, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t lx,
                uint32_t ly, uint32_t lz, const uint64_t *args)
{
    const uint32_t address[] = {(uint32_t)(uintptr_t)args, (uint32_t)((uint64_t)(uintptr_t)args >> 32)};
    return run(&(struct run_asm_request){.target = "gfx1100",
                                         .code = code,
                                         .size = size,
                                         .groups = {gx, gy, gz},
                                         .workgroup = {lx, ly, lz},
                                         .rsrc2 = RSRC2_OF_REMU,
                                         .lds_bytes = LDS_BYTES,
                                         .user_sgprs = address,
                                         .user_sgpr_count = 2},
               false);
}

static int32_t check(const struct run_asm_request *request)
{
    if (request->range_count && !request->ranges)
        return say(RUN_ASM_BAD_ARGUMENT, "range_count is set but ranges is NULL");
    if (request->user_sgpr_count && !request->user_sgprs)
        return say(RUN_ASM_BAD_ARGUMENT, "user_sgpr_count is set but user_sgprs is NULL");
    if (request->user_sgpr_count > (request->rsrc2 >> USER_SGPRS_SHIFT & USER_SGPRS))
        return say(RUN_ASM_BAD_ARGUMENT, "user_sgpr_count is more than rsrc2 says");
    return RUN_ASM_OK;
}

int32_t run_asm_with(const struct run_asm_request *given)
{
    struct run_asm_request request = {0};
    if (!given || given->struct_size < offsetof(struct run_asm_request, max_instructions) ||
        given->struct_size > sizeof request)
        return say(RUN_ASM_BAD_ARGUMENT, "request is NULL, or its struct_size is of another version");
    memcpy(&request, given, given->struct_size);
    const int32_t status = check(&request);
    return status ? status : run(&request, true);
}
