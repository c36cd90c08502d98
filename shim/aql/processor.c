/* SPDX-License-Identifier: MIT */
/* The packet processor of a user mode queue: a thread that runs the packets in order, which makes their
 * BARRIER bit superfluous. Sources: HSA Platform System Architecture 1.2, section 2.9; hsa_ext_amd.h for the
 * barrier on a value. */
#include "shim/aql/aql.h"

#include "tool/progress.h"

#include <sys/syscall.h>
#include <unistd.h>

enum {
    TYPES = 0xff, /* of the header */
    SPIN_NANOSECONDS = 20000,
    LONGEST_BACK_OFF = 1000000, /* nanoseconds, without a doorbell */
};

static unsigned running;

unsigned shim_kernels_running(void)
{
    return __atomic_load_n(&running, __ATOMIC_RELAXED);
}

bool shim_is_set(const bool *flag)
{
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

bool shim_processor_has_packet(const struct shim_processor *processor)
{
    const uint64_t next = __atomic_load_n(&processor->next, __ATOMIC_ACQUIRE);
    const uint16_t header =
        __atomic_load_n(&processor->ring[next & (processor->size - 1)].header, __ATOMIC_ACQUIRE);
    return (header & TYPES) != HSA_PACKET_TYPE_INVALID;
}

/* The longest sleep without a bell. Exponential back-off: short waits return quickly, and long waits stay
 * cheap. */
static uint64_t back_off(const struct shim_processor *processor, uint64_t begin, uint64_t with_bell)
{
    const uint64_t quarter = (shim_now() - begin) / 4;
    return processor->has_doorbell ? with_bell : quarter < LONGEST_BACK_OFF ? quarter : LONGEST_BACK_OFF;
}

/* ---- signals ---- */

bool shim_holds(hsa_signal_condition_t condition, int64_t value, int64_t compare)
{
    switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
        return value == compare;
    case HSA_SIGNAL_CONDITION_NE:
        return value != compare;
    case HSA_SIGNAL_CONDITION_LT:
        return value < compare;
    case HSA_SIGNAL_CONDITION_GTE:
        return value >= compare;
    default:
        return true; /* an invalid condition counts as satisfied */
    }
}

void shim_complete(const struct shim_gpu *gpu, hsa_signal_t signal, uint64_t start, uint64_t end, bool failed)
{
    amd_signal_t *s = signal.handle ? shim_gpu_signal(gpu, signal) : NULL;
    if (signal.handle && !s)
        shim_complain("completion: 0x%llx is not a signal", (unsigned long long)signal.handle);
    if (!s)
        return;
    const uint32_t event = s->event_id; /* once the value is stored, the program may destroy the signal */
    s->start_ts = start;
    s->end_ts = end;
    if (failed)
        __atomic_store_n((int64_t *)&s->value, -1, __ATOMIC_SEQ_CST);
    else
        __atomic_fetch_sub((int64_t *)&s->value, 1, __ATOMIC_SEQ_CST);
    shim_signal_changed(gpu, signal, event);
}

/* ---- packets ---- */

struct progress {
    const struct shim_processor *processor;
    struct tool_progress shown;
};

static bool goes_on(void *user, uint64_t done, uint64_t all)
{
    const struct progress *progress = user;
    tool_progress_show(&progress->shown, done, all);
    return !shim_is_set(&progress->processor->ends);
}

static uint64_t nobody_acts(void *user)
{
    const struct shim_processor *processor = user;
    return shim_nobody_acts(processor->tid);
}

static hsa_status_t status_of_fault(enum wm_fault_kind kind)
{
    switch (kind) {
    case WM_FAULT_MEMORY:
    case WM_FAULT_READ_ONLY:
        return (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT;
    case WM_FAULT_APERTURE:
    case WM_FAULT_MISALIGNED:
    case WM_FAULT_PRIVATE_ATOMIC:
        return (hsa_status_t)HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION;
    case WM_FAULT_INSTRUCTION:
    case WM_FAULT_TODO:
        return (hsa_status_t)HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION;
    case WM_FAULT_TRAP:
        return HSA_STATUS_ERROR_EXCEPTION;
    default:
        return HSA_STATUS_ERROR;
    }
}

/* To be called before any of the program's callbacks, which may end the process. */
static void note_failure(void)
{
    shim_result("fault", "");
    if (!shim_settings()->goes_on)
        shim_observe_end();
}

/* cluster: workgroups of a cluster in each dimension, or NULL. */
static hsa_status_t run_kernel(struct shim_processor *processor, const hsa_kernel_dispatch_packet_t *packet,
                               const uint8_t cluster[3], struct wm_fault *fault)
{
    const struct shim_settings *settings = shim_settings();
    const unsigned dimensions = packet->setup >> HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS &
                                ((1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_WIDTH_DIMENSIONS) - 1);
    const uint32_t grid[3] = {packet->grid_size_x, packet->grid_size_y, packet->grid_size_z};
    const uint32_t workgroup[3] = {packet->workgroup_size_x, packet->workgroup_size_y,
                                   packet->workgroup_size_z};
    const struct shim_launch launch = shim_launch(processor->gpu, packet->kernel_object, NULL);
    char name[SHIM_NAME];
    struct progress progress = {processor,
                                tool_progress_begin(wm_source_name(launch.symbol, name, sizeof name))};
    struct wm_diag diag = {0};
    struct wm_result result = {.struct_size = sizeof result};
    /* The host can end the wait of a kernel at any time, because all host memory that the kernel sees is
     * shared. */
    struct wm_dispatch options = {.struct_size = sizeof options,
                                  .threads = settings->threads,
                                  .timeout = settings->timeout,
                                  .progress = goes_on,
                                  .progress_user = &progress,
                                  .waits_for_others = true,
                                  .others = nobody_acts,
                                  .others_user = processor};
    struct wm_packet request = {.struct_size = sizeof request,
                                .kernel_object = packet->kernel_object,
                                .kernarg_address = (uintptr_t)packet->kernarg_address,
                                .private_segment_size = packet->private_segment_size,
                                .group_segment_size = packet->group_segment_size,
                                .options = &options,
                                .result = &result};
    if (!dimensions) {
        shim_complain("kernel dispatch packet: 0 dimensions; expected 1 to 3");
        return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
    }
    for (unsigned i = 0; i < dimensions; i++) {
        if (!grid[i] || !workgroup[i]) {
            shim_complain(
                "kernel dispatch packet: dimension %u has %u work-items in workgroups of %u; expected at "
                "least 1",
                i, grid[i], workgroup[i]);
            return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
        }
        request.grid[i] = grid[i];
        request.workgroup[i] = workgroup[i];
        request.cluster[i] = cluster ? cluster[i] : 1;
    }
    const bool observed = shim_observe_enter(&launch, processor->gpu, &options);
    __atomic_fetch_add(&running, 1, __ATOMIC_RELAXED);
    const enum wm_status status = shim_run_packet(processor->gpu, &request, false, &diag);
    __atomic_fetch_sub(&running, 1, __ATOMIC_RELAXED);
    tool_progress_clear();
    if (observed)
        shim_observe_leave(&launch, processor->gpu, !status, &result);
    if (status) {
        shim_report_fault(&launch, &request, processor->gpu, NULL, diag.message);
        return status == WM_NO_MEMORY ? HSA_STATUS_ERROR_OUT_OF_RESOURCES
                                      : HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
    }
    if (!result.fault.kind || (result.fault.kind == WM_FAULT_STOPPED && shim_is_set(&processor->ends)))
        return HSA_STATUS_SUCCESS;
    shim_report_fault(&launch, &request, processor->gpu, &result.fault, result.fault.text);
    *fault = result.fault;
    return status_of_fault(result.fault.kind);
}

/* Whether the dependencies of a barrier hold. False, with *status: one of them is not a signal. */
static bool is_ready(const struct shim_gpu *gpu, const union shim_packet *packet, unsigned type,
                     hsa_status_t *status)
{
    const bool any = type == HSA_PACKET_TYPE_BARRIER_OR;
    const bool on_value = type == HSA_PACKET_TYPE_VENDOR_SPECIFIC;
    const hsa_signal_t *signals = on_value ? &packet->value.signal : packet->barrier.dep_signal;
    bool all = true, one = false, none = true;
    for (unsigned i = 0; i < (on_value ? 1 : SHIM_COUNT(packet->barrier.dep_signal)); i++) {
        const amd_signal_t *s = shim_gpu_signal(gpu, signals[i]);
        if (!signals[i].handle)
            continue;
        if (!s) {
            shim_complain("barrier packet: dependency %u, 0x%llx, is not a signal", i,
                          (unsigned long long)signals[i].handle);
            *status = HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
            return false;
        }
        const int64_t value = __atomic_load_n(&s->value, __ATOMIC_SEQ_CST);
        const bool holds =
            on_value ? shim_holds(packet->value.cond, value & packet->value.mask, packet->value.value)
                     : !value;
        none = false;
        one |= holds;
        all &= holds;
    }
    return none || (any ? one : all);
}

static hsa_status_t await(struct shim_processor *processor, const union shim_packet *packet, unsigned type)
{
    const uint64_t begin = shim_now();
    for (;;) {
        const uint32_t seen = shim_rings(&shim_any_signal);
        hsa_status_t status = HSA_STATUS_SUCCESS;
        if (is_ready(processor->gpu, packet, type, &status) || status || shim_is_set(&processor->ends))
            return status;
        const int asleep = shim_asleep();
        shim_sleep(&shim_any_signal, seen, back_off(processor, begin, shim_quantum()));
        shim_awake(asleep);
    }
}

/* As the packet without clusters that it is otherwise, once its dependency is 0. */
static hsa_status_t run_clusters(struct shim_processor *processor, const struct shim_cluster_packet *packet,
                                 struct wm_fault *fault)
{
    const uint32_t count[3] = {packet->cluster_count_x, packet->cluster_count_y, packet->cluster_count_z};
    hsa_kernel_dispatch_packet_t kernel = {.setup = packet->setup,
                                           .workgroup_size_x = packet->workgroup_size[0],
                                           .workgroup_size_y = packet->workgroup_size[1],
                                           .workgroup_size_z = packet->workgroup_size[2],
                                           .private_segment_size = packet->private_segment_size,
                                           .group_segment_size = packet->group_segment_size,
                                           .kernel_object = packet->kernel_object,
                                           .kernarg_address = packet->kernarg_address,
                                           .completion_signal = packet->completion_signal};
    uint32_t *const grid[3] = {&kernel.grid_size_x, &kernel.grid_size_y, &kernel.grid_size_z};
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t items = (uint64_t)count[i] * packet->cluster_size[i] * packet->workgroup_size[i];
        if (!items || items > UINT32_MAX) {
            shim_complain("kernel dispatch packet: dimension %u has %u clusters of %u workgroups of %u "
                          "work-items; expected 1 to 2^32 - 1 work-items",
                          i, count[i], packet->cluster_size[i], packet->workgroup_size[i]);
            return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
        }
        *grid[i] = (uint32_t)items;
    }
    const union shim_packet wait = {.barrier = {.dep_signal = {packet->dependency}}};
    const hsa_status_t status = await(processor, &wait, HSA_PACKET_TYPE_BARRIER_AND);
    return status ? status : run_kernel(processor, &kernel, packet->cluster_size, fault);
}

static hsa_status_t run_packet(struct shim_processor *processor, const union shim_packet *packet,
                               hsa_signal_t *completion, struct wm_fault *fault)
{
    enum { PM4 = 1 }; /* vendor packets: commands of the hardware, which invalidate caches */
    const unsigned type = packet->header & TYPES;
    switch (type) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
        *completion = packet->kernel.completion_signal;
        return run_kernel(processor, &packet->kernel, NULL, fault);
    case HSA_PACKET_TYPE_BARRIER_AND:
    case HSA_PACKET_TYPE_BARRIER_OR:
        *completion = packet->barrier.completion_signal;
        return await(processor, packet, type);
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
        *completion = packet->value.completion_signal; /* all of these packets have it in the same place */
        if (packet->value.header.AmdFormat == PM4)
            return HSA_STATUS_SUCCESS;
        if (packet->value.header.AmdFormat == HSA_AMD_PACKET_TYPE_BARRIER_VALUE)
            return await(processor, packet, type);
        if (packet->value.header.AmdFormat == SHIM_CLUSTER_PACKET)
            return run_clusters(processor, &packet->cluster, fault);
        shim_complain("vendor packet of format %u; expected 1 to 3", packet->value.header.AmdFormat);
        return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
    default:
        shim_complain("packet of type %u; expected a kernel dispatch, a barrier or a vendor packet", type);
        return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
    }
}

/* After an error, the queue is inactive: completion signals of its packets report that they failed. */
static void process_one(struct shim_processor *processor, const union shim_packet *packet)
{
    hsa_signal_t completion = {0};
    struct wm_fault fault = {0};
    const uint64_t start = shim_now();
    hsa_status_t status = HSA_STATUS_ERROR;
    const bool was_inactive = shim_is_set(&processor->inactive);
    if (!was_inactive)
        status = run_packet(processor, packet, &completion, &fault);
    else /* kernel dispatch and barrier packets have it in the same place */
        completion = packet->barrier.completion_signal;
    if (status && !was_inactive) {
        note_failure();
        if (shim_settings()->goes_on)
            status = HSA_STATUS_SUCCESS;
    }
    if (status && !was_inactive) {
        __atomic_store_n(&processor->inactive, true, __ATOMIC_RELEASE);
        shim_packet_failed(processor, status, fault.kind ? &fault : NULL);
    }
    if (!was_inactive || shim_gpu_signal(processor->gpu, completion))
        shim_complete(processor->gpu, completion, start, shim_now(), status);
}

/* Waits for the next packet. False: the queue ends. */
static bool next_packet(struct shim_processor *processor, union shim_packet *packet)
{
    union shim_packet *slot = &processor->ring[processor->next & (processor->size - 1)];
    const uint64_t begin = shim_now();
    for (;;) {
        const uint32_t seen = shim_rings(&processor->bell);
        const uint16_t header = __atomic_load_n(&slot->header, __ATOMIC_ACQUIRE);
        if (shim_is_set(&processor->ends))
            return false;
        if ((header & TYPES) != HSA_PACKET_TYPE_INVALID) {
            memcpy(packet, slot, sizeof *packet);
            packet->header = header;
            return true;
        }
        if (shim_now() - begin < SPIN_NANOSECONDS) {
            shim_pause();
            continue;
        }
        const int asleep = shim_asleep();
        __atomic_store_n(&processor->idle, true, __ATOMIC_RELEASE);
        /* in case that a producer does not ring the doorbell */
        shim_sleep(&processor->bell, seen, back_off(processor, begin, UINT64_C(20000000)));
        __atomic_store_n(&processor->idle, false, __ATOMIC_RELEASE);
        shim_awake(asleep);
    }
}

static void *process_packets(void *argument)
{
    struct shim_processor *processor = argument;
    union shim_packet packet;
    processor->tid = (pid_t)syscall(SYS_gettid);
    while (next_packet(processor, &packet)) {
        /* As in hardware, the slot becomes free when the packet starts. */
        __atomic_store_n(&processor->ring[processor->next & (processor->size - 1)].header,
                         HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
        __atomic_store_n(&processor->next, processor->next + 1, __ATOMIC_RELEASE);
        __atomic_store_n(processor->read_index, processor->next, __ATOMIC_RELEASE);
        shim_before_packet(processor->gpu);
        process_one(processor, &packet);
    }
    return NULL;
}

bool shim_processor_start(struct shim_processor *processor)
{
    return !pthread_create(&processor->thread, NULL, process_packets, processor);
}

void shim_processor_stop(struct shim_processor *processor)
{
    __atomic_store_n(&processor->ends, true, __ATOMIC_RELEASE);
    shim_ring(&processor->bell);
    shim_ring(&shim_any_signal);
    pthread_join(processor->thread, NULL);
}
