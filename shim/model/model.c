/* SPDX-License-Identifier: MIT */
/* The model of a GPU for libhsakmt: a machine for each GPU of the topology, and a packet processor for each
 * of its queues. The interface has no errors: what cannot go on ends the process, as libhsakmt itself does.
 */
#include "shim/model/model.h"

#include <stdlib.h>

struct hsakmt_model {
    struct shim_gpu gpu; /* first, so that it is known by it */
    void (*set_event)(void *data, unsigned event_id);
    void *data;
};

struct hsakmt_model_queue {
    struct shim_processor processor; /* first, so that it is known by it */
    amd_queue_t *amd;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct hsakmt_model models[SHIM_GPUS];
static unsigned count;

static _Noreturn void give_up(const char *why)
{
    fprintf(stderr, "wavemem: %s\n", why);
    abort();
}

/* ---- models ---- */

/* The product that WAVEMEM_GPU names for the GPU, or the target's default. */
static bool choose_product(struct shim_gpu *gpu)
{
    const char *names = getenv("WAVEMEM_GPU");
    const struct wm_gpu *products[SHIM_GPUS];
    const unsigned named = names && *names ? shim_find_products(products) : 0;
    gpu->product = wm_gpu_default(gpu->target);
    if (names && *names) {
        if (!named)
            return false;
        if (gpu->number >= named) {
            shim_complain("WAVEMEM_GPU: %u GPUs are named, but the topology has more", named);
            return false;
        }
        gpu->product = products[gpu->number];
    }
    if (!gpu->product) {
        shim_complain("GPU %u of the topology: no product with the target %s is known", gpu->number,
                      gpu->target);
        return false;
    }
    for (const char *at = gpu->product->targets; *at; at += strspn(at, " ,")) {
        const size_t length = strcspn(at, " ,");
        if (length == strlen(gpu->target) && !strncmp(at, gpu->target, length))
            return true;
        at += length;
    }
    shim_complain("WAVEMEM_GPU: GPU %u is %s (%s), but the topology says %s", gpu->number, gpu->product->name,
                  gpu->product->targets, gpu->target);
    return false;
}

static void begin(void)
{
    shim_settings_begin();
    shim_results_begin();
    shim_launches_begin();
    shim_observe_begin();
}

static bool make(struct hsakmt_model *model, unsigned number)
{
    struct wm_diag diag = {0};
    model->gpu.number = number;
    if (!model_find_target(number, model->gpu.target) || !choose_product(&model->gpu))
        return false;
    if (wm_machine_create(model->gpu.target, &model->gpu.machine, &diag) ||
        wm_set_apertures(model->gpu.machine, MODEL_SHARED_APERTURE, MODEL_PRIVATE_APERTURE, &diag)) {
        shim_complain("%s", diag.message);
        wm_machine_destroy(model->gpu.machine);
        model->gpu.machine = NULL;
        return false;
    }
    if (!number)
        begin();
    shim_observe_gpu(&model->gpu);
    return true;
}

static struct hsakmt_model *create(void)
{
    pthread_mutex_lock(&lock);
    struct hsakmt_model *model = &models[count];
    const bool full = count == SHIM_GPUS, ok = !full && make(model, count);
    if (full)
        shim_complain("the topology has more than %d GPUs", SHIM_GPUS);
    count += ok;
    pthread_mutex_unlock(&lock);
    return ok ? model : NULL;
}

/* The machine stays: what observes it may still need it. libhsakmt 7.0 never calls this. */
static void destroy(struct hsakmt_model *model)
{
    (void)model;
}

static void set_global_aperture(struct hsakmt_model *model, void *base, uint64_t size)
{
    model_set_aperture(&model->gpu, base, size);
}

static void alloced_memory(struct hsakmt_model *model, void *base, uint64_t size, uint32_t flags)
{
    (void)model; /* other GPUs may see it, too */
    model_add_memory((uintptr_t)base, size, flags);
}

static void freed_memory(struct hsakmt_model *model, void *base, uint64_t size)
{
    (void)model, (void)size;
    model_remove_memory((uintptr_t)base);
}

/* ---- events ---- */

static void set_set_event(struct hsakmt_model *model, void (*set)(void *data, unsigned event_id), void *data)
{
    model->set_event = set;
    model->data = data;
}

/* Callbacks that this model does not need, and that libhsakmt 7.0 does not set. */
static void set_notify_event(struct hsakmt_model *model, void (*notify)(void *data), void *data)
{
    (void)model, (void)notify, (void)data;
}

static void set_wait_event(struct hsakmt_model *model,
                           void (*wait)(void *data, uint64_t address, uint64_t age), void *data)
{
    (void)model, (void)wait, (void)data;
}

amd_signal_t *shim_gpu_signal(const struct shim_gpu *gpu, hsa_signal_t signal)
{
    return signal.handle % _Alignof(amd_signal_t)
               ? NULL
               : model_find(gpu, signal.handle, sizeof(amd_signal_t), true);
}

void shim_signal_changed(const struct shim_gpu *gpu, hsa_signal_t signal, uint32_t event)
{
    const struct hsakmt_model *model = (const struct hsakmt_model *)gpu;
    (void)signal;
    if (event && model->set_event)
        model->set_event(model->data, event);
}

/* ---- what the processors ask ---- */

void shim_before_packet(const struct shim_gpu *gpu)
{
    model_update_memory(gpu);
}

/* The bits of amd_queue_t.queue_inactive_signal by which the hardware tells the runtime of an error. Source:
 * ROCR, amd_aql_queue.cpp, AqlQueue::DynamicQueueEventsHandler(). A page fault has none, because drivers
 * report it in another way, which the interface lacks: it becomes a memory violation. */
static int64_t error_bits(hsa_status_t status)
{
    switch ((int)status) {
    case HSA_STATUS_ERROR_OUT_OF_RESOURCES:
        return 4; /* group memory: HSA_STATUS_ERROR_INVALID_ALLOCATION */
    case HSA_STATUS_ERROR_INVALID_PACKET_FORMAT:
        return 32;
    case HSA_STATUS_ERROR_MEMORY_FAULT:
    case HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION:
        return 0x20000000;
    case HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION:
        return 0x40000000;
    default:
        return 0x80000000; /* HSA_STATUS_ERROR_EXCEPTION */
    }
}

/* Waits until the runtime has told the program, so that nobody takes the failed packet for a completed one.
 */
void shim_packet_failed(struct shim_processor *processor, hsa_status_t status, const struct wm_fault *fault)
{
    enum { PATIENCE = 1000000 }; /* nanoseconds between two looks */
    const struct hsakmt_model_queue *queue = (const struct hsakmt_model_queue *)processor;
    const hsa_signal_t handle = queue->amd->queue_inactive_signal;
    amd_signal_t *signal = shim_gpu_signal(processor->gpu, handle);
    const int64_t bits = error_bits(status);
    (void)fault;
    if (!signal)
        give_up("a packet failed, and the queue has no signal to tell the program");
    const uint32_t event = signal->event_id;
    __atomic_store_n((int64_t *)&signal->value, bits, __ATOMIC_SEQ_CST);
    shim_signal_changed(processor->gpu, handle, event);
    int64_t now = bits;
    while (now == bits && !shim_is_set(&processor->ends)) {
        shim_sleep(&processor->bell, shim_rings(&processor->bell), PATIENCE);
        now = __atomic_load_n((int64_t *)&signal->value, __ATOMIC_SEQ_CST);
    }
    if (!now)
        give_up("a packet failed, and the runtime ignored it");
}

/* The host's threads are the program's and the runtime's: any of them may change memory at any time. */
uint64_t shim_nobody_acts(pid_t own)
{
    (void)own;
    return 0;
}

int shim_asleep(void)
{
    return -1;
}

void shim_awake(int slot)
{
    (void)slot;
}

/* The runtime loads code objects itself: the model sees bytes. */
void shim_name_kernel(uint64_t kernel_object, char *name, size_t size)
{
    (void)kernel_object;
    if (size)
        *name = 0;
}

/* ---- queues ---- */

static struct hsakmt_model_queue *register_queue(struct hsakmt_model *model,
                                                 struct hsakmt_model_queue_info *info)
{
    const struct shim_gpu *gpu = &model->gpu;
    const uint32_t size = info->ring_size / sizeof(union shim_packet);
    const uint64_t amd = info->read_pointer_address - offsetof(amd_queue_t, read_dispatch_id);
    struct hsakmt_model_queue *queue = calloc(1, sizeof *queue);
    if (info->queue_type == MODEL_QUEUE_SDMA)
        give_up("there is no model of SDMA queues; set HSA_ENABLE_SDMA=0");
    if (info->queue_type != MODEL_QUEUE_AQL)
        give_up("there are no queues of that type; expected AQL (2)");
    if (!size || size & (size - 1) || info->ring_size % sizeof(union shim_packet))
        give_up("the ring of a queue must have a power of two of packets of 64 bytes");
    model_update_memory(gpu);
    if (queue) {
        queue->amd = model_find(gpu, amd, sizeof *queue->amd, true);
        queue->processor =
            (struct shim_processor){.gpu = gpu,
                                    .ring = model_find(gpu, info->ring_base_address, info->ring_size, true),
                                    .size = size};
    }
    if (!queue || !queue->processor.ring || !queue->amd)
        give_up("the GPU does not see the ring of a queue, or its amd_queue_t");
    queue->processor.read_index = (uint64_t *)&queue->amd->read_dispatch_id;
    queue->processor.next = queue->amd->read_dispatch_id;
    if (!shim_processor_start(&queue->processor))
        give_up("the host starts no more threads");
    return queue;
}

static void destroy_queue(struct hsakmt_model *model, struct hsakmt_model_queue *queue)
{
    (void)model;
    shim_processor_stop(&queue->processor);
    free(queue);
}

SHIM_API const struct hsakmt_model_functions *get_hsakmt_model_functions(void)
{
    static const struct hsakmt_model_functions functions = {
        .version_major = MODEL_MAJOR,
        .version_minor = MODEL_MINOR,
        .create = create,
        .destroy = destroy,
        .set_global_aperture = set_global_aperture,
        .alloced_memory = alloced_memory,
        .freed_memory = freed_memory,
        .set_notify_event = set_notify_event,
        .set_wait_event = set_wait_event,
        .register_queue = register_queue,
        .set_set_event = set_set_event,
        .destroy_queue = destroy_queue,
    };
    return &functions;
}
