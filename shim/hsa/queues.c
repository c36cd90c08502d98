/* SPDX-License-Identifier: MIT */
/* User mode queues as programs see them. shim/aql processes the packets. */
#include "shim.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    QUEUES = 1024,
    LARGEST = 1 << 17, /* in packets */
};

/* Queues are reused but never freed, so that a late doorbell still finds one. */
struct shim_queue {
    struct shim_processor processor; /* first, so that the processor's address is that of the queue */
    bool live;
    amd_queue_t *amd;
    hsa_signal_t doorbell;
    void (*callback)(hsa_status_t status, hsa_queue_t *source, void *user);
    void *user;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards creation and destruction of queues */
static struct shim_queue queues[QUEUES];
static unsigned most; /* maximum number of queues in use at the same time */

void shim_doorbell(struct shim_queue *queue)
{
    shim_refuse_child();
    shim_ring(&queue->processor.bell);
}

static struct shim_queue *find(const hsa_queue_t *given)
{
    const unsigned count = __atomic_load_n(&most, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < count; i++)
        if (__atomic_load_n(&queues[i].live, __ATOMIC_ACQUIRE) && &queues[i].amd->hsa_queue == given)
            return &queues[i];
    return NULL;
}

bool shim_packets_wait(void)
{
    bool any = false;
    if (pthread_mutex_trylock(
            &lock)) /* the thread that holds it may wait for kernels to release the read lock */
        return true;
    for (unsigned i = 0; i < most && !any; i++)
        any = queues[i].live && shim_is_set(&queues[i].processor.idle) &&
              shim_processor_has_packet(&queues[i].processor);
    pthread_mutex_unlock(&lock);
    return any;
}

void shim_packet_failed(struct shim_processor *processor, hsa_status_t status, const struct wm_fault *fault)
{
    const struct shim_queue *queue = (const struct shim_queue *)processor;
    if (fault && (fault->kind == WM_FAULT_MEMORY || fault->kind == WM_FAULT_READ_ONLY))
        shim_tell_fault(processor->gpu->number, fault);
    if (queue->callback)
        queue->callback(status, &queue->amd->hsa_queue, queue->user);
}

/* ---- queues ---- */

static void release(struct shim_queue *queue)
{
    if (queue->doorbell.handle)
        hsa_signal_destroy(queue->doorbell);
    if (queue->processor.ring)
        munmap(queue->processor.ring, (size_t)queue->processor.size * sizeof *queue->processor.ring);
    if (queue->amd)
        munmap(queue->amd, sizeof *queue->amd);
}

static bool start(struct shim_queue *queue, hsa_queue_type32_t type)
{
    struct shim_processor *processor = &queue->processor;
    processor->ring =
        shim_map_pages((size_t)processor->size * sizeof *processor->ring, PROT_READ | PROT_WRITE);
    queue->amd = shim_map_pages(sizeof *queue->amd, PROT_READ | PROT_WRITE);
    if (!processor->ring || !queue->amd || shim_signal_make(0, queue, &queue->doorbell))
        return false;
    for (uint32_t i = 0; i < processor->size; i++)
        processor->ring[i].header = HSA_PACKET_TYPE_INVALID;
    queue->amd->hsa_queue = (hsa_queue_t){.type = type,
                                          .features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH,
                                          .base_address = processor->ring,
                                          .doorbell_signal = queue->doorbell,
                                          .size = processor->size,
                                          .id = (uint64_t)(queue - queues)};
    queue->amd->read_dispatch_id_field_base_byte_offset = offsetof(amd_queue_t, read_dispatch_id);
    processor->read_index = (uint64_t *)&queue->amd->read_dispatch_id;
    return shim_processor_start(processor);
}

SHIM_API hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                       void (*callback)(hsa_status_t status, hsa_queue_t *source, void *user),
                                       void *user, uint32_t private_segment_size, uint32_t group_segment_size,
                                       hsa_queue_t **made)
{
    (void)private_segment_size, (void)group_segment_size; /* these are hints */
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
            .processor = {.gpu = &shim_device()->gpus[shim_gpu(agent)], .size = size, .has_doorbell = true},
            .callback = callback,
            .user = user};
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

/* Packets that have not started never complete. A running kernel is stopped. */
SHIM_API hsa_status_t hsa_queue_destroy(hsa_queue_t *given)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    struct shim_queue *queue = find(given);
    const bool own = queue && pthread_equal(queue->processor.thread, pthread_self());
    pthread_mutex_unlock(&lock);
    if (!queue)
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    if (own) { /* the callback would wait for itself */
        __atomic_store_n(&queue->processor.inactive, true, __ATOMIC_RELEASE);
        return HSA_STATUS_ERROR_RESOURCE_FREE;
    }
    shim_processor_stop(&queue->processor);
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
    __atomic_store_n(&queue->processor.inactive, true, __ATOMIC_RELEASE);
    return HSA_STATUS_SUCCESS;
}

/* Attributes, by AMD's headers: 0 the agent; 1 the doorbell's address, which a runtime would write to in
 * place of ringing, so that nothing would see it. Runtimes ask for others and go on if they are refused. */
SHIM_API hsa_status_t hsa_amd_queue_get_info(hsa_queue_t *given, uint32_t attribute, void *value)
{
    const struct shim_queue *queue = find(given);
    if (!queue)
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    const hsa_agent_t agent = {SHIM_GPU + queue->processor.gpu->number};
    return shim_find_fact(&(struct shim_fact){0, sizeof agent, &agent}, 1, NULL, attribute, value);
}

/* These settings have no effect here. */
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
