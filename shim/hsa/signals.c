/* SPDX-License-Identifier: MIT */
/* Signals: amd_signal_t in memory that kernels can access, so that their atomics change signals, too. Data of
 * the host is stored where kernels cannot write. */
#include "shim.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    SPIN_NANOSECONDS = 20000
}; /* spinning before a thread sleeps: about the cost of sleeping and waking */

/* ---- slabs ---- */

enum { SLAB = 4096, SLABS = 1024, BELLS = 64 }; /* SLAB: signals per slab */

struct slab {
    amd_signal_t *signals;
    uint32_t owners[SLAB];          /* live handles of each signal; atomic */
    struct shim_queue *queue[SLAB]; /* queue of each doorbell */
    /* For slabs that processes share: the file, which only the process that made it has, and its key. Signals
     * of such a slab are never reused, because another process may still have one that was destroyed here. */
    int file;
    uint64_t key;
    bool is_shared;
    uint32_t used;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards creation and destruction of signals */
static struct slab *slabs[SLABS];
static size_t slab_count;
static uint32_t *unused, unused_count; /* slab * SLAB + index */
static struct shim_bell bells[BELLS];  /* shared by signals, by hash of the address */
static bool with_others;               /* other processes may change signals; atomic */

/* Finds a live signal; NULL: none. */
static struct slab *find(hsa_signal_t signal, size_t *index)
{
    const size_t count = __atomic_load_n(&slab_count, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < count; i++) {
        const uint64_t offset = signal.handle - (uintptr_t)slabs[i]->signals;
        if (offset >= SLAB * sizeof(amd_signal_t))
            continue;
        *index = offset / sizeof(amd_signal_t);
        return offset % sizeof(amd_signal_t) == 0 &&
                       __atomic_load_n(&slabs[i]->owners[*index], __ATOMIC_ACQUIRE)
                   ? slabs[i]
                   : NULL;
    }
    return NULL;
}

amd_signal_t *shim_signal(hsa_signal_t signal)
{
    size_t index;
    const struct slab *slab = find(signal, &index);
    return slab ? &slab->signals[index] : NULL;
}

amd_signal_t *shim_gpu_signal(const struct shim_gpu *gpu, hsa_signal_t signal)
{
    (void)gpu; /* all GPUs see all signals */
    return shim_signal(signal);
}

static struct shim_bell *bell_of(hsa_signal_t signal)
{
    return &bells[signal.handle / sizeof(amd_signal_t) % BELLS];
}

enum { SLAB_BYTES = SLAB * sizeof(amd_signal_t) };

/* Maps the signals of a slab, in new memory or, if file >= 0, in that file, and gives all GPUs access. */
static bool map_signals(struct slab *slab, int file)
{
    slab->signals = shim_map_pages(SLAB_BYTES, PROT_READ | PROT_WRITE);
    if (!slab->signals)
        return false;
    shim_lose_locks((uintptr_t)slab->signals, SLAB_BYTES);
    if ((file < 0 || mmap(slab->signals, SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                          0) != MAP_FAILED) &&
        !shim_map_everywhere(slab->signals, SLAB_BYTES, 0, 0, "signals", NULL))
        return true;
    munmap(slab->signals, SLAB_BYTES);
    return false;
}

/* The caller holds the lock. NULL: no memory. */
static struct slab *add_slab(int file)
{
    struct slab *slab = slab_count < SLABS ? calloc(1, sizeof *slab) : NULL;
    if (!slab || !map_signals(slab, file)) {
        free(slab);
        return NULL;
    }
    slab->file = -1;
    slab->is_shared = file >= 0;
    slabs[slab_count] = slab;
    __atomic_store_n(&slab_count, slab_count + 1, __ATOMIC_RELEASE);
    return slab;
}

static bool add_unused(void)
{
    const uint32_t number = (uint32_t)slab_count;
    uint32_t *more = realloc(unused, (slab_count + 1) * SLAB * sizeof *more);
    if (more)
        unused = more;
    if (!more || !add_slab(-1))
        return false;
    for (uint32_t i = SLAB; i-- > 0;)
        unused[unused_count++] = number * SLAB + i;
    return true;
}

static void set_up(struct slab *slab, uint32_t index, int64_t value, struct shim_queue *queue,
                   hsa_signal_t *made)
{
    amd_signal_t *signal = &slab->signals[index];
    memset(signal, 0, sizeof *signal);
    /* A doorbell's kind stays "user": the fields of others would tell where the hardware's register is. */
    signal->kind = AMD_SIGNAL_KIND_USER;
    signal->value = value;
    __atomic_store_n(&slab->queue[index], queue, __ATOMIC_RELEASE);
    __atomic_store_n(&slab->owners[index], 1, __ATOMIC_RELEASE);
    made->handle = (uintptr_t)signal;
}

hsa_status_t shim_signal_make(int64_t value, struct shim_queue *queue, hsa_signal_t *made)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!made)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    const bool ok = unused_count || add_unused();
    if (ok) {
        const uint32_t number = unused[--unused_count];
        set_up(slabs[number / SLAB], number % SLAB, value, queue, made);
    }
    pthread_mutex_unlock(&lock);
    return ok ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

/* ---- signals that processes share ---- */

/* Returns the slab of this process for new shared signals; NULL: no memory. The caller holds the lock. */
static struct slab *shared_slab(void)
{
    static struct slab *newest;
    uint64_t key;
    if (newest && newest->used < SLAB)
        return newest;
    const int file = shim_make_shared_file(SLAB_BYTES, &key);
    struct slab *slab = file < 0 ? NULL : add_slab(file);
    if (!slab) {
        if (file >= 0)
            close(file);
        return NULL;
    }
    slab->file = file;
    slab->key = key;
    return newest = slab;
}

static hsa_status_t make_shared(int64_t value, hsa_signal_t *made)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!made)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    struct slab *slab = shared_slab();
    if (slab)
        set_up(slab, slab->used++, value, NULL, made);
    pthread_mutex_unlock(&lock);
    return slab ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

bool shim_export_signal(hsa_signal_t signal, int *file, uint64_t *key, uint32_t *number, size_t *bytes)
{
    size_t index = 0;
    pthread_mutex_lock(&lock);
    const struct slab *slab = find(signal, &index);
    const bool ok = slab && slab->file >= 0;
    if (ok) {
        *file = slab->file;
        *key = slab->key;
        *number = (uint32_t)index;
        *bytes = SLAB_BYTES;
        __atomic_store_n(&with_others, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return ok;
}

/* Returns the slab in the file with that key. The caller holds the lock. */
static struct slab *slab_in(int file, uint64_t key)
{
    for (size_t i = 0; i < slab_count; i++)
        if (slabs[i]->is_shared && slabs[i]->key == key)
            return slabs[i];
    struct slab *slab = add_slab(file);
    if (slab)
        slab->key = key;
    return slab;
}

hsa_status_t shim_import_signal(int file, uint64_t key, uint32_t number, size_t bytes, hsa_signal_t *made)
{
    if (number >= SLAB || bytes != SLAB_BYTES)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    struct slab *slab = slab_in(file, key);
    if (slab) {
        __atomic_fetch_add(&slab->owners[number], 1, __ATOMIC_RELEASE);
        made->handle = (uintptr_t)&slab->signals[number];
        __atomic_store_n(&with_others, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return slab ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

bool shim_others_have_signals(void)
{
    return __atomic_load_n(&with_others, __ATOMIC_ACQUIRE);
}

/* ---- all signals ---- */

SHIM_API hsa_status_t hsa_signal_create(hsa_signal_value_t value, uint32_t consumer_count,
                                        const hsa_agent_t *consumers, hsa_signal_t *signal)
{
    return consumer_count && !consumers ? HSA_STATUS_ERROR_INVALID_ARGUMENT
                                        : shim_signal_make(value, NULL, signal);
}

SHIM_API hsa_status_t hsa_amd_signal_create(hsa_signal_value_t value, uint32_t consumer_count,
                                            const hsa_agent_t *consumers, uint64_t attributes,
                                            hsa_signal_t *signal)
{
    if (consumer_count && !consumers)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return attributes & HSA_AMD_SIGNAL_IPC ? make_shared(value, signal)
                                           : shim_signal_make(value, NULL, signal);
}

SHIM_API hsa_status_t hsa_signal_destroy(hsa_signal_t signal)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    size_t index;
    pthread_mutex_lock(&lock);
    struct slab *slab = find(signal, &index);
    if (slab && !__atomic_sub_fetch(&slab->owners[index], 1, __ATOMIC_RELEASE)) {
        __atomic_store_n(&slab->queue[index], NULL, __ATOMIC_RELAXED);
        for (uint32_t i = 0; i < slab_count && !slab->is_shared; i++)
            if (slabs[i] == slab)
                unused[unused_count++] = i * SLAB + (uint32_t)index;
    }
    pthread_mutex_unlock(&lock);
    if (!slab)
        return signal.handle ? HSA_STATUS_ERROR_INVALID_SIGNAL : HSA_STATUS_ERROR_INVALID_ARGUMENT;
    shim_ring(bell_of(signal)); /* threads that wait for it stop */
    shim_ring(&shim_any_signal);
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t signal, volatile hsa_signal_value_t **pointer)
{
    amd_signal_t *s = shim_signal(signal);
    if (!s)
        return HSA_STATUS_ERROR_INVALID_SIGNAL;
    if (!pointer)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *pointer = &s->value;
    return HSA_STATUS_SUCCESS;
}

/* ---- values ---- */

enum operation { LOAD, STORE, EXCHANGE, ADD, SUBTRACT, AND, OR, XOR };

void shim_signal_changed(const struct shim_gpu *gpu, hsa_signal_t signal, uint32_t event)
{
    (void)gpu, (void)event; /* there is no driver whose events anybody could wait for */
    size_t index;
    struct slab *slab = find(signal, &index);
    /* Atomic: a program may destroy the signal as soon as it has seen the new value. */
    struct shim_queue *queue = slab ? __atomic_load_n(&slab->queue[index], __ATOMIC_ACQUIRE) : NULL;
    if (queue)
        shim_doorbell(queue);
    shim_ring(bell_of(signal));
    shim_ring(&shim_any_signal);
}

static amd_signal_t *expect(hsa_signal_t signal, const char *function)
{
    amd_signal_t *s = shim_signal(signal);
    if (!s)
        shim_complain("%s: 0x%llx is not a signal", function, (unsigned long long)signal.handle);
    return s;
}

/* Returns the previous value. All operations are sequentially consistent, which satisfies every requested
 * order. */
static int64_t operate(hsa_signal_t signal, enum operation operation, int64_t operand, const char *function)
{
    amd_signal_t *s = expect(signal, function);
    int64_t before = 0;
    if (!s)
        return 0;
    int64_t *value = (int64_t *)&s->value;
    switch (operation) {
    case LOAD:
        return __atomic_load_n(value, __ATOMIC_SEQ_CST);
    case STORE:
    case EXCHANGE:
        before = __atomic_exchange_n(value, operand, __ATOMIC_SEQ_CST);
        break;
    case ADD:
        before = __atomic_fetch_add(value, operand, __ATOMIC_SEQ_CST);
        break;
    case SUBTRACT:
        before = __atomic_fetch_sub(value, operand, __ATOMIC_SEQ_CST);
        break;
    case AND:
        before = __atomic_fetch_and(value, operand, __ATOMIC_SEQ_CST);
        break;
    case OR:
        before = __atomic_fetch_or(value, operand, __ATOMIC_SEQ_CST);
        break;
    case XOR:
        before = __atomic_fetch_xor(value, operand, __ATOMIC_SEQ_CST);
        break;
    }
    shim_signal_changed(NULL, signal, 0);
    return before;
}

/* The functions differ in the order of memory accesses only, and the names of orders changed between
 * versions. */
#define LOADS(order)                                                                                         \
    SHIM_API hsa_signal_value_t hsa_signal_load_##order(hsa_signal_t signal)                                 \
    {                                                                                                        \
        return operate(signal, LOAD, 0, __func__);                                                           \
    }
#define CHANGES(name, operation, order)                                                                      \
    SHIM_API void hsa_signal_##name##_##order(hsa_signal_t signal, hsa_signal_value_t value)                 \
    {                                                                                                        \
        operate(signal, operation, value, __func__);                                                         \
    }
#define EXCHANGES(order)                                                                                     \
    SHIM_API hsa_signal_value_t hsa_signal_exchange_##order(hsa_signal_t signal, hsa_signal_value_t value)   \
    {                                                                                                        \
        return operate(signal, EXCHANGE, value, __func__);                                                   \
    }                                                                                                        \
    SHIM_API hsa_signal_value_t hsa_signal_cas_##order(hsa_signal_t signal, hsa_signal_value_t expected,     \
                                                       hsa_signal_value_t value)                             \
    {                                                                                                        \
        return compare_and_swap(signal, expected, value, __func__);                                          \
    }
#define ALL_CHANGES(order)                                                                                   \
    CHANGES(add, ADD, order)                                                                                 \
    CHANGES(subtract, SUBTRACT, order)                                                                       \
    CHANGES(and, AND, order)                                                                                 \
    CHANGES(or, OR, order)                                                                                   \
    CHANGES(xor, XOR, order)                                                                                 \
    EXCHANGES(order)

static int64_t compare_and_swap(hsa_signal_t signal, int64_t expected, int64_t value, const char *function)
{
    amd_signal_t *s = expect(signal, function);
    if (s && __atomic_compare_exchange_n((int64_t *)&s->value, &expected, value, false, __ATOMIC_SEQ_CST,
                                         __ATOMIC_SEQ_CST))
        shim_signal_changed(NULL, signal, 0);
    return expected;
}

LOADS(relaxed)
LOADS(acquire)
LOADS(scacquire)
CHANGES(store, STORE, relaxed)
CHANGES(store, STORE, release)
CHANGES(store, STORE, screlease)
ALL_CHANGES(relaxed)
ALL_CHANGES(acquire)
ALL_CHANGES(release)
ALL_CHANGES(acq_rel)
ALL_CHANGES(scacquire)
ALL_CHANGES(screlease)
ALL_CHANGES(scacq_screl)

SHIM_API void hsa_signal_silent_store_screlease(hsa_signal_t signal, hsa_signal_value_t value)
{
    amd_signal_t *s = expect(signal, __func__);
    if (s)
        __atomic_store_n((int64_t *)&s->value, value, __ATOMIC_SEQ_CST);
}

SHIM_API void hsa_signal_silent_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value)
{
    hsa_signal_silent_store_screlease(signal, value);
}

/* ---- waiting ---- */

/* Returns the index of the first signal whose condition holds, or -1 after the timeout. *value: its value, or
 * that of the signal that was examined last. */
static int64_t wait_any(uint32_t count, const hsa_signal_t *signals, const hsa_signal_condition_t *conditions,
                        const hsa_signal_value_t *values, uint64_t timeout, const void *caller,
                        hsa_signal_value_t *value)
{
    struct shim_bell *bell = count == 1 ? bell_of(signals[0]) : &shim_any_signal;
    const uint64_t begin = shim_now();
    const bool listens = timeout != UINT64_MAX && shim_is_listener(caller, conditions[0], values[0], timeout);
    int asleep = -1;
    for (;;) {
        const uint32_t seen = shim_rings(bell);
        for (uint32_t i = 0; i < count; i++) {
            amd_signal_t *s = shim_signal(signals[i]);
            if (!s) {
                shim_complain("hsa_signal_wait: 0x%llx is not a signal",
                              (unsigned long long)signals[i].handle);
                *value = 0;
                shim_awake(asleep);
                return i;
            }
            *value = __atomic_load_n((int64_t *)&s->value, __ATOMIC_SEQ_CST);
            if (shim_holds(conditions[i], *value, values[i])) {
                shim_awake(asleep);
                return i;
            }
        }
        shim_refuse_child();
        const uint64_t waited = shim_now() - begin, quantum = shim_quantum();
        if (waited >= timeout)
            return -1; /* a listener stays asleep */
        if (waited < SPIN_NANOSECONDS)
            shim_pause();
        else if (asleep < 0 && count == 1 && (timeout == UINT64_MAX || listens))
            asleep = shim_asleep_for(signals[0], conditions[0], values[0], listens);
        if (waited >= SPIN_NANOSECONDS)
            shim_sleep(bell, seen, timeout - waited < quantum ? timeout - waited : quantum);
    }
}

SHIM_API hsa_signal_value_t hsa_signal_wait_scacquire(hsa_signal_t signal, hsa_signal_condition_t condition,
                                                      hsa_signal_value_t compare, uint64_t timeout,
                                                      hsa_wait_state_t state)
{
    hsa_signal_value_t value = 0;
    (void)state;
    wait_any(1, &signal, &condition, &compare, timeout, __builtin_return_address(0), &value);
    return value;
}

SHIM_API hsa_signal_value_t hsa_signal_wait_acquire(hsa_signal_t signal, hsa_signal_condition_t condition,
                                                    hsa_signal_value_t compare, uint64_t timeout,
                                                    hsa_wait_state_t state)
{
    return hsa_signal_wait_scacquire(signal, condition, compare, timeout, state);
}

SHIM_API hsa_signal_value_t hsa_signal_wait_relaxed(hsa_signal_t signal, hsa_signal_condition_t condition,
                                                    hsa_signal_value_t compare, uint64_t timeout,
                                                    hsa_wait_state_t state)
{
    return hsa_signal_wait_scacquire(signal, condition, compare, timeout, state);
}

SHIM_API uint32_t hsa_amd_signal_wait_any(uint32_t count, hsa_signal_t *signals,
                                          hsa_signal_condition_t *conditions, hsa_signal_value_t *values,
                                          uint64_t timeout, hsa_wait_state_t state,
                                          hsa_signal_value_t *satisfying)
{
    hsa_signal_value_t value = 0;
    (void)state;
    if (!count || !signals || !conditions || !values)
        return UINT32_MAX;
    const int64_t index = wait_any(count, signals, conditions, values, timeout, NULL, &value);
    if (index >= 0 && satisfying)
        *satisfying = value;
    return (uint32_t)index;
}

/* ---- times ---- */

SHIM_API hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                          hsa_amd_profiling_dispatch_time_t *time)
{
    const amd_signal_t *s = shim_signal(signal);
    if (!shim_is_agent(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!s)
        return HSA_STATUS_ERROR_INVALID_SIGNAL;
    if (!time)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *time = (hsa_amd_profiling_dispatch_time_t){s->start_ts, s->end_ts};
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal,
                                                            hsa_amd_profiling_async_copy_time_t *time)
{
    const amd_signal_t *s = shim_signal(signal);
    if (!s)
        return HSA_STATUS_ERROR_INVALID_SIGNAL;
    if (!time)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *time = (hsa_amd_profiling_async_copy_time_t){s->start_ts, s->end_ts};
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t tick,
                                                                      uint64_t *system)
{
    if (!shim_is_agent(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!system)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *system = tick;
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_amd_profiling_async_copy_enable(bool enable)
{
    (void)enable; /* times are always stored */
    return HSA_STATUS_SUCCESS;
}
