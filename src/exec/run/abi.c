/* SPDX-License-Identifier: MIT */
/* Sets up what the HSA packet processor provides to a kernel: packet, kernarg segment, initial registers.
 *
 * Source: LLVM AMDGPUUsage, "Kernel Dispatch" and "Initial Kernel Execution State"; the packet is
 * hsa_kernel_dispatch_packet_t of the HSA Runtime Specification 1.2, section 2.9. */
#include "exec/run/abi.h"

#include "base/diag.h"
#include "exec/control/hwreg.h"
#include "memory/buffer.h"

#include <string.h>

enum { KERNARG_ALIGNMENT = 64, QUEUE_BYTES = 256 };

/* Address range for the scratch of all resident workgroups: the wave's offset is a 32-bit register. Untouched
 * pages take no host memory. */
#define SCRATCH_BYTES (UINT64_C(4) << 30)

/* Stack per lane for functions whose stack size the compiler cannot determine (indirect calls, recursion):
 * the value LLVM's AMDGPUResourceUsageAnalysis assumes for external calls. */
enum { DYNAMIC_STACK_BYTES = 16 << 10 };

struct packet {
    uint16_t header, setup;
    uint16_t workgroup[3], reserved;
    uint32_t grid[3];
    uint32_t private_segment_size, group_segment_size;
    uint64_t kernel_object, kernarg_address, reserved2, completion_signal;
};

static_assert(sizeof(struct packet) == 64, "the HSA kernel dispatch packet has 64 bytes");

/* The fields of amd_queue_t that kernels read: the high halves of the apertures, at bytes 64 and 68. */
struct queue {
    uint8_t unused[64];
    uint32_t group_aperture_hi, private_aperture_hi;
    uint8_t rest[QUEUE_BYTES - 72];
};

static uint32_t at_least_one(uint32_t value)
{
    return value ? value : 1;
}

static uint64_t kernarg_address(const struct wmi_abi_request *r, const struct wmi_abi_memory *memory)
{
    return r->has_kernarg ? r->kernarg : memory->kernarg;
}

static uint32_t dimensions(const struct wm_dispatch *dispatch)
{
    return dispatch->grid[2] ? 3 : dispatch->grid[1] ? 2 : 1;
}

uint32_t wmi_abi_scratch_size(const struct wm_kernel *kernel)
{
    const uint32_t size = kernel->scratch_size;
    return kernel->dynamic_stack && size < UINT32_MAX - DYNAMIC_STACK_BYTES ? size + DYNAMIC_STACK_BYTES
                                                                            : size;
}

/* Allocates memory of the dispatch. Nobody else frees it, so *host stays valid after the
 * read lock is released.
 * flags: WM_READ_ONLY or 0. */
static enum wm_status allocate(const struct wmi_abi_request *r, uint64_t size, unsigned flags,
                               const char *name, uint64_t *address, void **host, struct wm_diag *diag)
{
    const struct wmi_allocation_request request = {
        .size = size, .flags = WMI_ALLOCATION_OWN | flags, .name = name, .cursor = r->cursor};
    struct wmi_read_lock read_lock;
    const enum wm_status status = wmi_space_place(r->space, &request, address, diag);
    if (status)
        return status;
    wmi_rwlock_read(wmi_space_rwlock(r->space), &read_lock);
    *host = wmi_space_host(r->space, *address, size);
    wmi_rwlock_read_unlock(&read_lock);
    return WM_OK;
}

/* Allocates the printf buffer. If nobody reads it, it consists of a header only and is full from the
 * start. */
static enum wm_status fill_printf(const struct wmi_abi_request *r, struct wmi_abi_memory *memory,
                                  struct wm_diag *diag)
{
    const uint32_t size = r->prints ? WMI_PRINTF_BYTES : WMI_PRINTF_HEADER;
    if (!wmi_kernel_prints(r->kernel))
        return WM_OK;
    void *host;
    const enum wm_status status = allocate(r, size, 0, "printf buffer", &memory->printf, &host, diag);
    if (status)
        return status;
    uint32_t *buffer = host;
    buffer[0] = 0;
    buffer[1] = size;
    for (uint32_t i = 2; i < size / 4; i++)
        buffer[i] = WMI_PRINTF_UNWRITTEN;
    return WM_OK;
}

/* struct mg_info of the device library. Source: ROCm Device Libraries, ockl/src/cg.cl. */
struct grid_sync {
    uint64_t grids; /* number of GPUs; 0 for a grid on one GPU */
    uint32_t number, count;
    uint64_t items_before, items;
    uint32_t arrived, unused;
    uint32_t groups;
};

/* Sets hidden_multigrid_sync_arg of a cooperative dispatch. Kernels synchronize by global wave sync, and the
 * argument is 1, or on the targets whose hardware sets FLAT_SCRATCH through this memory (AVOID_GWS in cg.cl:
 * gfx940 and its kin, gfx11 and later). Source of the 1: ROCclr, rocvirtual.cpp. */
static enum wm_status fill_grid_sync(const struct wmi_abi_request *r, struct wmi_abi_memory *memory,
                                     struct wmi_hidden_values *hidden, struct wm_diag *diag)
{
    const struct wmi_target *target = wmi_target_find(r->kernel->target);
    void *host;
    if (!r->dispatch->cooperative)
        return WM_OK;
    if (!target || !wmi_target_limit(target, WMI_LIMIT_initial_scratch)) {
        hidden->multigrid_sync = 1;
        return WM_OK;
    }
    const enum wm_status status =
        allocate(r, sizeof(struct grid_sync), 0, "grid sync", &memory->grid_sync, &host, diag);
    if (status)
        return status;
    struct grid_sync *sync = host;
    *sync = (struct grid_sync){.items = 1, .groups = 1};
    for (unsigned i = 0; i < 3; i++) {
        sync->items *= hidden->grid[i];
        sync->groups *= (hidden->grid[i] + hidden->workgroup[i] - 1) / hidden->workgroup[i];
    }
    hidden->multigrid_sync = memory->grid_sync;
    return WM_OK;
}

/* Writes the hidden arguments into the kernarg segment that the caller provides. */
static enum wm_status fill_given(const struct wmi_abi_request *r, const struct wmi_hidden_values *hidden,
                                 struct wm_diag *diag)
{
    struct wmi_read_lock read_lock;
    wmi_rwlock_read(wmi_space_rwlock(r->space), &read_lock);
    void *kernarg = wmi_space_host(r->space, r->kernarg, r->kernel->kernarg_size);
    if (kernarg)
        wmi_fill_kernarg(r->kernel, hidden, kernarg);
    wmi_rwlock_read_unlock(&read_lock);
    return kernarg ? WM_OK
                   : wmi_fail(diag, WM_BAD_ARGUMENT,
                              "kernel '%s': %u bytes of arguments at 0x%llx do not lie in one allocation",
                              r->kernel->name, r->kernel->kernarg_size, (unsigned long long)r->kernarg);
}

static enum wm_status fill_kernarg(const struct wmi_abi_request *r, struct wmi_abi_memory *memory,
                                   struct wm_diag *diag)
{
    const struct wm_dispatch *dispatch = r->dispatch;
    const uint64_t requested = dispatch->arguments_size;
    const uint64_t size = requested > r->kernel->kernarg_size ? requested : r->kernel->kernarg_size;
    struct wmi_hidden_values hidden = {
        .dimensions = dimensions(dispatch),
        .queue_ptr = memory->queue,
        .printf_buffer = memory->printf,
        .dynamic_lds = dispatch->dynamic_lds,
        .private_base = (uint32_t)(r->apertures->private_base >> 32),
        .shared_base = (uint32_t)(r->apertures->shared_base >> 32),
    };
    void *kernarg;
    for (unsigned i = 0; i < 3; i++) {
        hidden.grid[i] = at_least_one(dispatch->grid[i]);
        hidden.workgroup[i] = at_least_one(dispatch->workgroup[i]);
        hidden.global_offset[i] = dispatch->global_offset[i];
    }
    enum wm_status status = fill_grid_sync(r, memory, &hidden, diag);
    if (status)
        return status;
    if (r->has_kernarg)
        return r->fills_hidden ? fill_given(r, &hidden, diag) : WM_OK;
    /* Kernels only read it (HSA Programmer's Reference Manual 1.2, "Kernarg segment"). A store that ran past
     * the end of a buffer must not change the arguments of workgroups that come later. */
    status = allocate(r, size + KERNARG_ALIGNMENT, WM_READ_ONLY, "kernarg", &memory->kernarg, &kernarg, diag);
    if (status)
        return status;
    if (requested)
        memcpy(kernarg, dispatch->arguments, requested);
    wmi_fill_kernarg(r->kernel, &hidden, kernarg);
    return WM_OK;
}

static enum wm_status fill_packet(const struct wmi_abi_request *r, struct wmi_abi_memory *memory,
                                  struct wm_diag *diag)
{
    void *host;
    const enum wm_status status =
        allocate(r, sizeof(struct packet), 0, "dispatch packet", &memory->packet, &host, diag);
    if (status)
        return status;
    struct packet *packet = host;
    *packet = (struct packet){
        .header = 2, /* HSA_PACKET_TYPE_KERNEL_DISPATCH */
        .setup = (uint16_t)dimensions(r->dispatch),
        .private_segment_size = r->lane_scratch,
        .group_segment_size = r->kernel->lds_size + r->dispatch->dynamic_lds,
        .kernel_object = r->kernel->descriptor + r->bias,
        .kernarg_address = kernarg_address(r, memory),
    };
    for (unsigned i = 0; i < 3; i++) {
        packet->workgroup[i] = (uint16_t)at_least_one(r->dispatch->workgroup[i]);
        packet->grid[i] = at_least_one(r->dispatch->grid[i]);
    }
    return WM_OK;
}

static enum wm_status fill_queue(const struct wmi_abi_request *r, struct wmi_abi_memory *memory,
                                 struct wm_diag *diag)
{
    void *host;
    const enum wm_status status = allocate(r, sizeof(struct queue), 0, "queue", &memory->queue, &host, diag);
    if (status)
        return status;
    struct queue *queue = host;
    queue->group_aperture_hi = (uint32_t)(r->apertures->shared_base >> 32);
    queue->private_aperture_hi = (uint32_t)(r->apertures->private_base >> 32);
    return WM_OK;
}

/* Uses the scratch memory that the caller provides. */
static enum wm_status take_scratch(const struct wmi_abi_request *r, struct wmi_abi_memory *memory,
                                   struct wm_diag *diag)
{
    memory->places = r->start->scratch_waves / r->waves_per_group;
    memory->scratch_stride = r->start->scratch_wave_bytes;
    return memory->places ? WM_OK
                          : wmi_fail(diag, WM_BAD_ARGUMENT,
                                     "wm_start: scratch_waves is %u; a workgroup of kernel '%s' has %u waves",
                                     r->start->scratch_waves, r->kernel->name, r->waves_per_group);
}

/* Reserves scratch for the waves of all workgroups that may be resident at the same time, with gaps in
 * between so that an overflowing stack does not reach another wave's scratch. */
static enum wm_status reserve_scratch(const struct wmi_abi_request *r, struct wmi_abi_memory *memory,
                                      struct wm_diag *diag)
{
    const uint64_t piece = ((uint64_t)r->lane_scratch + 3) / 4 * 4 * r->kernel->wave_size;
    const uint64_t stride = (piece + WMI_SPACE_GAP - 1) / WMI_SPACE_GAP * WMI_SPACE_GAP + WMI_SPACE_GAP;
    const uint64_t fit = SCRATCH_BYTES / (stride * r->waves_per_group);
    if (r->start && r->start->scratch_waves)
        return take_scratch(r, memory, diag);
    memory->places = UINT32_MAX;
    if (!piece)
        return WM_OK;
    if (!fit)
        return wmi_fail(diag, WM_UNSUPPORTED,
                        "kernel '%s': %llu bytes of scratch for a workgroup; at most %llu, gaps included",
                        r->kernel->name, (unsigned long long)(stride * r->waves_per_group),
                        (unsigned long long)SCRATCH_BYTES);
    memory->places = fit < UINT32_MAX ? (uint32_t)fit : UINT32_MAX;
    memory->scratch_stride = stride;
    memory->scratch_piece = piece;
    void *host;
    memory->scratch_bytes = fit * stride * r->waves_per_group;
    const enum wm_status status =
        allocate(r, memory->scratch_bytes, 0, "scratch", &memory->scratch, &host, diag);
    if (!status)
        wmi_space_divide(r->space, memory->scratch, stride, piece);
    memory->scratch_host = status ? NULL : host;
    return status;
}

/* Writes the scratch V# to the first SGPRs. */
static void put_scratch_resource(const struct wmi_abi_request *r, const struct wmi_abi_memory *memory,
                                 struct wmi_launch *launch)
{
    const struct wmi_target *target = wmi_target_find(r->kernel->target);
    const struct wmi_buffer_rules *rules =
        target ? wmi_buffer_rules(wmi_target_limit(target, WMI_LIMIT_buffer_rules)) : NULL;
    if (memory->scratch && rules)
        wmi_buffer_make_private(rules, r->kernel->wave_size, memory->scratch, memory->scratch_bytes,
                                launch->sgpr);
}

static unsigned put64(struct wmi_launch *launch, unsigned next, uint64_t value)
{
    launch->sgpr[next] = (uint32_t)value;
    launch->sgpr[next + 1] = (uint32_t)(value >> 32);
    return next + 2;
}

/* Allocates the SGPR of a system value if the descriptor enables it. */
static uint8_t system_register(unsigned *next, bool wanted)
{
    return wanted ? (uint8_t)(*next)++ : WMI_NO_REGISTER;
}

/* Loads user SGPRs from the kernarg segment. Source: LLVM AMDGPUUsage, "Preloaded Kernel Arguments". */
static enum wm_status preload(const struct wmi_abi_request *r, const struct wmi_abi_memory *memory,
                              unsigned *next, struct wmi_launch *launch, struct wm_diag *diag)
{
    const struct wmi_kernel_descriptor *d = wmi_kernel_descriptor(r->kernel);
    const uint64_t from = kernarg_address(r, memory) + 4 * (uint64_t)d->preload_offset;
    const unsigned most = wmi_target_limit(wmi_target_find(r->kernel->target), WMI_LIMIT_user_sgprs);
    struct wmi_read_lock read_lock;
    if (!d->preload_length)
        return WM_OK;
    if (*next + d->preload_length > most)
        return wmi_fail(diag, WM_BAD_FILE,
                        "kernel '%s': %u dwords of arguments to load after %u user SGPRs; there are %u",
                        r->kernel->name, d->preload_length, *next, most);
    wmi_rwlock_read(wmi_space_rwlock(r->space), &read_lock);
    const void *words = wmi_space_host(r->space, from, 4 * (uint64_t)d->preload_length);
    if (words)
        memcpy(launch->sgpr + *next, words, 4 * (size_t)d->preload_length);
    wmi_rwlock_read_unlock(&read_lock);
    *next += d->preload_length;
    return words ? WM_OK
                 : wmi_fail(
                       diag, WM_BAD_ARGUMENT,
                       "kernel '%s': the %u dwords of arguments to load into SGPRs, at 0x%llx, do not lie in "
                       "one allocation",
                       r->kernel->name, d->preload_length, (unsigned long long)from);
}

static enum wm_status place_registers(const struct wmi_abi_request *r, const struct wmi_abi_memory *memory,
                                      struct wmi_launch *launch, struct wm_diag *diag)
{
    const struct wmi_kernel_descriptor *d = wmi_kernel_descriptor(r->kernel);
    const struct wmi_target *target = wmi_target_find(r->kernel->target);
    const bool scratch_given = wmi_target_limit(target, WMI_LIMIT_initial_scratch);
    const bool ttmp = wmi_target_limit(target, WMI_LIMIT_initial_ttmp);
    unsigned next = 0;
    *launch = (struct wmi_launch){
        .workitem_ids = d->workitem_id + 1 < 3 ? d->workitem_id + 1 : 3,
        .packed_ids = wmi_target_limit(target, WMI_LIMIT_packed_ids),
        .scratch_shared = wmi_target_limit(target, WMI_LIMIT_scratch_shared),
        .flat_scratch = scratch_given && memory->scratch_piece,
        .ttmp = ttmp,
        .ttmp_y = d->workgroup_id_y,
        .ttmp_z = d->workgroup_id_z,
        .mode = (d->round_32 & 3) | (d->round_16_64 & 3) << 2 | (d->denorm_32 & 3) << 4 |
                (d->denorm_16_64 & 3) << 6 | (d->dx10_clamp & 1) << 8 | (d->ieee & 1) << 9 |
                (d->fp16_overflow & 1) << 23 |
                wmi_hwreg_fixed_mode(wmi_hwreg_rules(wmi_target_limit(target, WMI_LIMIT_hardware_registers))),
        .entry = wmi_kernel_start(r->kernel) + r->bias,
    };
    if (d->private_segment_buffer) {
        put_scratch_resource(r, memory, launch);
        next += 4;
    }
    if (d->dispatch_ptr)
        next = put64(launch, next, memory->packet);
    if (d->queue_ptr)
        next = put64(launch, next, memory->queue);
    if (d->kernarg_segment_ptr)
        next = put64(launch, next, kernarg_address(r, memory));
    if (d->dispatch_id)
        next = put64(launch, next, 0);
    if (d->flat_scratch_init)
        next = put64(launch, next,
                     wmi_target_limit(wmi_target_find(r->kernel->target), WMI_LIMIT_split_scratch)
                         ? (uint64_t)r->lane_scratch << 32 /* low word: offset 0; high word: bytes per lane */
                         : memory->scratch);
    if (d->private_segment_size)
        launch->sgpr[next++] = r->lane_scratch;
    const enum wm_status status = preload(r, memory, &next, launch, diag);
    /* The descriptor's user SGPR count applies even if it exceeds the enabled values. */
    next = d->user_sgprs > next ? d->user_sgprs : next;
    launch->workgroup_id[0] = system_register(&next, d->workgroup_id_x && !ttmp);
    launch->workgroup_id[1] = system_register(&next, d->workgroup_id_y && !ttmp);
    launch->workgroup_id[2] = system_register(&next, d->workgroup_id_z && !ttmp);
    launch->workgroup_info = system_register(&next, d->workgroup_info);
    launch->scratch_wave_offset = system_register(&next, d->scratch_enabled && !scratch_given);
    return status;
}

/* Nothing that the kernel is given says where the queue and the packet are. */
static bool is_bare(const struct wmi_abi_request *r)
{
    return r->start && r->start->bare && r->has_kernarg && !r->fills_hidden;
}

enum wm_status wmi_abi_prepare(const struct wmi_abi_request *request, struct wmi_abi_memory *memory,
                               struct wmi_launch *launch, struct wm_diag *diag)
{
    *memory = (struct wmi_abi_memory){0};
    enum wm_status status = is_bare(request) ? WM_OK : fill_queue(request, memory, diag);
    if (!status)
        status = fill_printf(request, memory, diag);
    if (!status)
        status = fill_kernarg(request, memory, diag);
    if (!status && !is_bare(request))
        status = fill_packet(request, memory, diag);
    if (!status)
        status = reserve_scratch(request, memory, diag);
    if (!status)
        status = place_registers(request, memory, launch, diag);
    if (status)
        wmi_abi_release(request->space, memory);
    return status;
}

void wmi_abi_release(struct wmi_space *space, struct wmi_abi_memory *memory)
{
    const uint64_t addresses[] = {memory->scratch, memory->printf, memory->packet,
                                  memory->kernarg, memory->queue,  memory->grid_sync};
    for (unsigned i = 0; i < sizeof addresses / sizeof *addresses; i++)
        if (addresses[i])
            wmi_space_free(space, addresses[i], true, NULL);
    *memory = (struct wmi_abi_memory){0};
}
