/* SPDX-License-Identifier: MIT */
/* User mode queues: rings of packets, each with a thread that processes them in order. Order makes the
 * BARRIER bit of packets superfluous. Sources: HSA Platform System Architecture 1.2, section 2.9;
 * hsa_ext_amd.h for the barrier on a value. */
#include "shim.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    QUEUES = 1024,
    LARGEST = 1 << 17, /* packets */
    PACKET = 64,       /* bytes */
    TYPES = 0xff,      /* of the header */
    SPIN_NANOSECONDS = 20000,
};

union packet {
    uint16_t header;
    hsa_kernel_dispatch_packet_t kernel;
    hsa_barrier_and_packet_t barrier; /* OR has the same layout */
    hsa_amd_barrier_value_packet_t value;
    uint8_t bytes[PACKET];
};
_Static_assert(sizeof(union packet) == PACKET, "a packet of a user mode queue");

/* Never freed, so that a late doorbell finds one; reused. */
struct shim_queue {
    bool live;
    bool ends;     /* atomic */
    bool inactive; /* atomic; after an error, or by hsa_queue_inactivate() */
    amd_queue_t *amd;
    union packet *ring;
    uint32_t size;
    unsigned gpu;
    uint64_t next; /* to process */
    hsa_signal_t doorbell;
    struct shim_bell bell;
    pthread_t thread;
    pid_t tid; /* of the thread */
    bool idle; /* atomic; it waits for a packet */
    void (*callback)(hsa_status_t status, hsa_queue_t *source, void *user);
    void *user;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for making and destroying queues */
static struct shim_queue queues[QUEUES];
static unsigned most; /* queues used at once so far */
static unsigned running;

unsigned shim_kernels_running(void)
{
    return __atomic_load_n(&running, __ATOMIC_RELAXED);
}

void shim_doorbell(struct shim_queue *queue)
{
    shim_refuse_child();
    shim_ring(&queue->bell);
}

static struct shim_queue *find(const hsa_queue_t *given)
{
    const unsigned count = __atomic_load_n(&most, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < count; i++)
        if (__atomic_load_n(&queues[i].live, __ATOMIC_ACQUIRE) && &queues[i].amd->hsa_queue == given)
            return &queues[i];
    return NULL;
}

static bool is_set(const bool *flag)
{
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static bool has_packet(const struct shim_queue *queue)
{
    const uint64_t next = __atomic_load_n(&queue->next, __ATOMIC_ACQUIRE);
    const uint16_t header = __atomic_load_n(&queue->ring[next & (queue->size - 1)].header, __ATOMIC_ACQUIRE);
    return (header & TYPES) != HSA_PACKET_TYPE_INVALID;
}

bool shim_packets_wait(void)
{
    bool any = false;
    if (pthread_mutex_trylock(&lock)) /* its owner may wait for kernels to step aside */
        return true;
    for (unsigned i = 0; i < most && !any; i++)
        any = queues[i].live && is_set(&queues[i].idle) && has_packet(&queues[i]);
    pthread_mutex_unlock(&lock);
    return any;
}

/* ---- packets ---- */

static bool goes_on(void *user, uint64_t done, uint64_t all)
{
    const struct shim_queue *queue = user;
    (void)done, (void)all;
    return !is_set(&queue->ends);
}

static uint64_t nobody_acts(void *user)
{
    const struct shim_queue *queue = user;
    return shim_nobody_acts(queue->tid);
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

/* Before any of the program's callbacks, which may end the process. */
static void note_failure(void)
{
    shim_result("fault", "");
    if (!shim_device()->goes_on)
        shim_observe_end();
}

static hsa_status_t run_kernel(struct shim_queue *queue, const hsa_kernel_dispatch_packet_t *packet)
{
    const struct shim_device *device = shim_device();
    const unsigned dimensions = packet->setup >> HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS &
                                ((1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_WIDTH_DIMENSIONS) - 1);
    const uint32_t grid[3] = {packet->grid_size_x, packet->grid_size_y, packet->grid_size_z};
    const uint32_t workgroup[3] = {packet->workgroup_size_x, packet->workgroup_size_y,
                                   packet->workgroup_size_z};
    struct wm_diag diag = {0};
    struct wm_result result = {.struct_size = sizeof result};
    /* What a kernel waits for may come from the host at any time: all host memory that it sees is shared. */
    struct wm_dispatch options = {.struct_size = sizeof options,
                                  .threads = device->threads,
                                  .timeout = device->timeout,
                                  .progress = goes_on,
                                  .progress_user = queue,
                                  .waits_for_others = true,
                                  .others = nobody_acts,
                                  .others_user = queue};
    struct wm_packet request = {.struct_size = sizeof request,
                                .kernel_object = packet->kernel_object,
                                .kernarg_address = (uintptr_t)packet->kernarg_address,
                                .private_segment_size = packet->private_segment_size,
                                .group_segment_size = packet->group_segment_size,
                                .options = &options,
                                .result = &result};
    const struct shim_launch launch = shim_launch(packet->kernel_object);
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
    }
    const bool observed = shim_observe_enter(&launch, queue->gpu, &options);
    __atomic_fetch_add(&running, 1, __ATOMIC_RELAXED);
    const enum wm_status status = wm_dispatch_packet(device->machine, &request, &diag);
    __atomic_fetch_sub(&running, 1, __ATOMIC_RELAXED);
    if (observed)
        shim_observe_leave(&launch, &result);
    if (status) {
        shim_report_fault(&launch, &request, device->gpus[queue->gpu], queue->gpu, NULL, diag.message);
        return status == WM_NO_MEMORY ? HSA_STATUS_ERROR_OUT_OF_RESOURCES
                                      : HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
    }
    if (!result.fault.kind || (result.fault.kind == WM_FAULT_STOPPED && is_set(&queue->ends)))
        return HSA_STATUS_SUCCESS;
    shim_report_fault(&launch, &request, device->gpus[queue->gpu], queue->gpu, &result.fault,
                      result.fault.text);
    note_failure();
    if (!device->goes_on && (result.fault.kind == WM_FAULT_MEMORY || result.fault.kind == WM_FAULT_READ_ONLY))
        shim_tell_fault(queue->gpu, &result.fault);
    return status_of_fault(result.fault.kind);
}

/* Whether the dependencies of a barrier hold. False, with *status: one of them is not a signal. */
static bool is_ready(const union packet *packet, unsigned type, hsa_status_t *status)
{
    const bool any = type == HSA_PACKET_TYPE_BARRIER_OR;
    const bool on_value = type == HSA_PACKET_TYPE_VENDOR_SPECIFIC;
    const hsa_signal_t *signals = on_value ? &packet->value.signal : packet->barrier.dep_signal;
    bool all = true, one = false, none = true;
    for (unsigned i = 0; i < (on_value ? 1 : SHIM_COUNT(packet->barrier.dep_signal)); i++) {
        const amd_signal_t *s = shim_signal(signals[i]);
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

static hsa_status_t await(struct shim_queue *queue, const union packet *packet, unsigned type)
{
    for (;;) {
        const uint32_t seen = shim_rings(&shim_any_signal);
        hsa_status_t status = HSA_STATUS_SUCCESS;
        if (is_ready(packet, type, &status) || status || is_set(&queue->ends))
            return status;
        const int asleep = shim_asleep();
        shim_sleep(&shim_any_signal, seen, shim_quantum());
        shim_awake(asleep);
    }
}

static hsa_status_t run_packet(struct shim_queue *queue, const union packet *packet, hsa_signal_t *completion)
{
    enum { PM4 = 1 }; /* vendor packets: commands of the hardware, which invalidate caches */
    const unsigned type = packet->header & TYPES;
    switch (type) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
        *completion = packet->kernel.completion_signal;
        return run_kernel(queue, &packet->kernel);
    case HSA_PACKET_TYPE_BARRIER_AND:
    case HSA_PACKET_TYPE_BARRIER_OR:
        *completion = packet->barrier.completion_signal;
        return await(queue, packet, type);
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
        *completion = packet->value.completion_signal; /* where all of them have it */
        if (packet->value.header.AmdFormat == PM4)
            return HSA_STATUS_SUCCESS;
        if (packet->value.header.AmdFormat == HSA_AMD_PACKET_TYPE_BARRIER_VALUE)
            return await(queue, packet, type);
        shim_complain("vendor packet of format %u; expected 1 or 2", packet->value.header.AmdFormat);
        return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
    default:
        shim_complain("packet of type %u; expected a kernel dispatch, a barrier or a vendor packet", type);
        return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
    }
}

/* After an error a queue is inactive: those who wait for its packets are told that they failed. */
static void process(struct shim_queue *queue, const union packet *packet)
{
    hsa_signal_t completion = {0};
    const uint64_t start = shim_now();
    hsa_status_t status = HSA_STATUS_ERROR;
    const bool was_inactive = is_set(&queue->inactive);
    if (!was_inactive)
        status = run_packet(queue, packet, &completion);
    else /* kernel dispatch and barriers have it at the same place */
        completion = packet->barrier.completion_signal;
    if (status && !was_inactive) {
        note_failure();
        if (shim_device()->goes_on)
            status = HSA_STATUS_SUCCESS;
    }
    if (status && !was_inactive) {
        __atomic_store_n(&queue->inactive, true, __ATOMIC_RELEASE);
        if (queue->callback)
            queue->callback(status, &queue->amd->hsa_queue, queue->user);
    }
    if (!was_inactive || shim_signal(completion))
        shim_complete(completion, start, shim_now(), status);
}

/* Waits for the next packet. False: the queue ends. */
static bool next_packet(struct shim_queue *queue, union packet *packet)
{
    union packet *slot = &queue->ring[queue->next & (queue->size - 1)];
    const uint64_t begin = shim_now();
    for (;;) {
        const uint32_t seen = shim_rings(&queue->bell);
        const uint16_t header = __atomic_load_n(&slot->header, __ATOMIC_ACQUIRE);
        if (is_set(&queue->ends))
            return false;
        if ((header & TYPES) != HSA_PACKET_TYPE_INVALID) {
            memcpy(packet, slot, sizeof *packet);
            packet->header = header;
            return true;
        }
        if (shim_now() - begin < SPIN_NANOSECONDS) {
            __builtin_ia32_pause();
            continue;
        }
        const int asleep = shim_asleep();
        __atomic_store_n(&queue->idle, true, __ATOMIC_RELEASE);
        shim_sleep(&queue->bell, seen, UINT64_C(20000000)); /* should its producer forget the doorbell */
        __atomic_store_n(&queue->idle, false, __ATOMIC_RELEASE);
        shim_awake(asleep);
    }
}

static void *work(void *argument)
{
    struct shim_queue *queue = argument;
    union packet packet;
    queue->tid = (pid_t)syscall(SYS_gettid);
    while (next_packet(queue, &packet)) {
        /* Like the hardware, which frees the slot when it starts the packet. */
        __atomic_store_n(&queue->ring[queue->next & (queue->size - 1)].header, HSA_PACKET_TYPE_INVALID,
                         __ATOMIC_RELEASE);
        __atomic_store_n(&queue->next, queue->next + 1, __ATOMIC_RELEASE);
        __atomic_store_n(&queue->amd->read_dispatch_id, queue->next, __ATOMIC_RELEASE);
        process(queue, &packet);
    }
    return NULL;
}

/* ---- queues ---- */

static void *map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void release(struct shim_queue *queue)
{
    if (queue->doorbell.handle)
        hsa_signal_destroy(queue->doorbell);
    if (queue->ring)
        munmap(queue->ring, (size_t)queue->size * PACKET);
    if (queue->amd)
        munmap(queue->amd, sizeof *queue->amd);
}

static bool start(struct shim_queue *queue, hsa_queue_type32_t type)
{
    queue->ring = map((size_t)queue->size * PACKET);
    queue->amd = map(sizeof *queue->amd);
    if (!queue->ring || !queue->amd || shim_signal_make(0, queue, &queue->doorbell))
        return false;
    for (uint32_t i = 0; i < queue->size; i++)
        queue->ring[i].header = HSA_PACKET_TYPE_INVALID;
    queue->amd->hsa_queue = (hsa_queue_t){.type = type,
                                          .features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH,
                                          .base_address = queue->ring,
                                          .doorbell_signal = queue->doorbell,
                                          .size = queue->size,
                                          .id = (uint64_t)(queue - queues)};
    queue->amd->read_dispatch_id_field_base_byte_offset = offsetof(amd_queue_t, read_dispatch_id);
    return !pthread_create(&queue->thread, NULL, work, queue);
}

SHIM_API hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                       void (*callback)(hsa_status_t status, hsa_queue_t *source, void *user),
                                       void *user, uint32_t private_segment_size, uint32_t group_segment_size,
                                       hsa_queue_t **made)
{
    (void)private_segment_size, (void)group_segment_size; /* hints */
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!shim_is_agent(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (shim_gpu(agent) < 0)
        return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
    if (!made || !size || size & (size - 1) || size > LARGEST || type > HSA_QUEUE_TYPE_COOPERATIVE)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    unsigned i = 0;
    while (i < QUEUES && queues[i].live)
        i++;
    struct shim_queue *queue = i < QUEUES ? &queues[i] : NULL;
    bool ok = false;
    if (queue) {
        *queue = (struct shim_queue){
            .size = size, .gpu = (unsigned)shim_gpu(agent), .callback = callback, .user = user};
        ok = start(queue, type);
        if (!ok)
            release(queue);
    }
    if (ok) {
        *made = &queue->amd->hsa_queue;
        __atomic_store_n(&queue->live, true, __ATOMIC_RELEASE);
        if (i >= most)
            __atomic_store_n(&most, i + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return ok ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

/* Packets that have not started never complete; a kernel that runs is stopped. */
SHIM_API hsa_status_t hsa_queue_destroy(hsa_queue_t *given)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    struct shim_queue *queue = find(given);
    const bool own = queue && pthread_equal(queue->thread, pthread_self());
    if (queue && !own) {
        __atomic_store_n(&queue->ends, true, __ATOMIC_RELEASE);
        shim_ring(&queue->bell);
        shim_ring(&shim_any_signal);
    }
    pthread_mutex_unlock(&lock);
    if (!queue)
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    if (own) { /* its callback would wait for itself */
        __atomic_store_n(&queue->inactive, true, __ATOMIC_RELEASE);
        return HSA_STATUS_ERROR_RESOURCE_FREE;
    }
    pthread_join(queue->thread, NULL);
    pthread_mutex_lock(&lock);
    release(queue);
    __atomic_store_n(&queue->live, false, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_queue_inactivate(hsa_queue_t *given)
{
    struct shim_queue *queue = find(given);
    if (!queue)
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    __atomic_store_n(&queue->inactive, true, __ATOMIC_RELEASE);
    return HSA_STATUS_SUCCESS;
}

/* Settings without an effect here. */
SHIM_API hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t *queue, hsa_amd_queue_priority_t priority)
{
    (void)priority;
    return find(queue) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

SHIM_API hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t *queue, uint32_t count,
                                                const uint32_t *mask)
{
    (void)count, (void)mask;
    return find(queue) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

SHIM_API hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *queue, int enable)
{
    (void)enable; /* times are always stored */
    return find(queue) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

/* ---- indexes ---- */

static volatile uint64_t *index_of(const hsa_queue_t *given, bool write, const char *function)
{
    static volatile uint64_t nowhere;
    const struct shim_queue *queue = find(given);
    if (!queue)
        shim_complain("%s: %p is not a queue", function, (const void *)given);
    return !queue ? &nowhere : write ? &queue->amd->write_dispatch_id : &queue->amd->read_dispatch_id;
}

/* The functions differ in the order of memory accesses only; all orders are sequentially consistent here. */
#define LOADS(index, write, order)                                                                           \
    SHIM_API uint64_t hsa_queue_load_##index##_index_##order(const hsa_queue_t *queue)                       \
    {                                                                                                        \
        return __atomic_load_n(index_of(queue, write, __func__), __ATOMIC_SEQ_CST);                          \
    }
#define STORES(index, write, order)                                                                          \
    SHIM_API void hsa_queue_store_##index##_index_##order(const hsa_queue_t *queue, uint64_t value)          \
    {                                                                                                        \
        __atomic_store_n(index_of(queue, write, __func__), value, __ATOMIC_SEQ_CST);                         \
    }
#define ADDS(order)                                                                                          \
    SHIM_API uint64_t hsa_queue_add_write_index_##order(const hsa_queue_t *queue, uint64_t value)            \
    {                                                                                                        \
        return __atomic_fetch_add(index_of(queue, true, __func__), value, __ATOMIC_SEQ_CST);                 \
    }                                                                                                        \
    SHIM_API uint64_t hsa_queue_cas_write_index_##order(const hsa_queue_t *queue, uint64_t expected,         \
                                                        uint64_t value)                                      \
    {                                                                                                        \
        __atomic_compare_exchange_n(index_of(queue, true, __func__), &expected, value, false,                \
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                                     \
        return expected;                                                                                     \
    }

LOADS(read, false, relaxed)
LOADS(read, false, acquire)
LOADS(read, false, scacquire)
LOADS(write, true, relaxed)
LOADS(write, true, acquire)
LOADS(write, true, scacquire)
STORES(write, true, relaxed)
STORES(write, true, release)
STORES(write, true, screlease)
STORES(read, false, relaxed)
STORES(read, false, release)
STORES(read, false, screlease)
ADDS(relaxed)
ADDS(acquire)
ADDS(release)
ADDS(acq_rel)
ADDS(scacquire)
ADDS(screlease)
ADDS(scacq_screl)
