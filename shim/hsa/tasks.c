/* SPDX-License-Identifier: MIT */
/* Runs tasks when signals reach a value: the program's handlers, and asynchronous copies. Each kind has a
 * thread. */
#include "shim.h"

#include <pthread.h>
#include <stdlib.h>

enum { DEPENDENCIES = 64 };       /* more than any runtime passes: they chain barriers instead */
#define IDLE UINT64_C(1000000000) /* nanoseconds without tasks after which a thread ends */

struct task {
    struct task *next;
    size_t count; /* number of conditions, all of which must hold */
    hsa_signal_t signals[DEPENDENCIES];
    hsa_signal_condition_t condition;
    int64_t compare;
    /* Returns whether the task must run again. lost: a signal was destroyed. */
    bool (*run)(struct task *task, int64_t value, bool lost);
    union {
        struct {
            bool (*handler)(hsa_signal_value_t value, void *user);
            void (*function)(void *user);
            void *user;
        };
        struct {
            hsa_signal_t completion;
            hsa_pitched_ptr_t to, from; /* a plain copy has one row */
            size_t row, rows, slices;   /* bytes per row, number of rows and of slices */
            struct shim_site site;      /* of a copy that another thread makes and that is checked */
        } copy;
    };
};

struct worker {
    pthread_mutex_t lock;
    struct task *added;    /* newest first; guarded by lock */
    struct shim_bell bell; /* rings when one is added */
    bool started;
};
static struct worker handlers = {.lock = PTHREAD_MUTEX_INITIALIZER},
                     copies = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* 1: all conditions hold; -1: one never will. */
static int state_of(const struct task *task, int64_t *value)
{
    int state = 1;
    *value = 0;
    for (size_t i = 0; i < task->count; i++) {
        const amd_signal_t *s = shim_signal(task->signals[i]);
        if (!s)
            return -1;
        *value = __atomic_load_n(&s->value, __ATOMIC_SEQ_CST);
        if (!shim_holds(task->condition, *value, task->compare))
            state = 0;
    }
    return state;
}

/* Runs tasks that are due, and returns whether there were any. */
static bool sweep(struct task **list)
{
    bool any = false;
    for (struct task **at = list; *at;) {
        struct task *task = *at;
        int64_t value;
        const int state = state_of(task, &value);
        if (!state) {
            at = &task->next;
            continue;
        }
        any = true;
        if (task->run(task, value, state < 0)) {
            at = &task->next;
        } else {
            *at = task->next;
            free(task);
        }
    }
    return any;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct task *list = NULL;
    for (;;) {
        const uint32_t seen = shim_rings(&shim_any_signal), seen_added = shim_rings(&worker->bell);
        pthread_mutex_lock(&worker->lock);
        struct task *added = worker->added;
        worker->added = NULL;
        pthread_mutex_unlock(&worker->lock);
        struct task **end = &list;
        while (*end)
            end = &(*end)->next;
        while (added) { /* in the order in which they were added */
            struct task *next = added->next;
            added->next = *end;
            *end = added;
            added = next;
        }
        if (sweep(&list))
            continue;
        const int asleep = shim_asleep();
        if (list)
            shim_sleep(&shim_any_signal, seen, shim_quantum());
        else /* without tasks, the thread does not listen to signals, because waking it would slow down
                whoever changes them */
            shim_sleep(&worker->bell, seen_added, IDLE);
        shim_awake(asleep);
    }
    return NULL;
}

static hsa_status_t add(struct worker *worker, const struct task *given)
{
    struct task *task = malloc(sizeof *task);
    pthread_t thread;
    if (!task)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *task = *given;
    pthread_mutex_lock(&worker->lock);
    const bool ok = worker->started || !pthread_create(&thread, NULL, work, worker);
    if (ok && !worker->started)
        pthread_detach(thread);
    worker->started |= ok;
    if (ok) {
        task->next = worker->added;
        worker->added = task;
    } else {
        free(task);
    }
    pthread_mutex_unlock(&worker->lock);
    shim_ring(&worker->bell);
    shim_ring(&shim_any_signal);
    return ok ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

/* ---- handlers ---- */

static bool run_handler(struct task *task, int64_t value, bool lost)
{
    return !lost && task->handler(value, task->user);
}

static bool run_function(struct task *task, int64_t value, bool lost)
{
    (void)value, (void)lost;
    task->function(task->user);
    return false;
}

SHIM_API hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t condition,
                                                   hsa_signal_value_t value, hsa_amd_signal_handler handler,
                                                   void *user)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!handler)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!shim_signal(signal))
        return HSA_STATUS_ERROR_INVALID_SIGNAL;
    return add(&handlers, &(struct task){.count = 1,
                                         .signals = {signal},
                                         .condition = condition,
                                         .compare = value,
                                         .run = run_handler,
                                         .handler = handler,
                                         .user = user});
}

SHIM_API hsa_status_t hsa_amd_async_function(void (*function)(void *user), void *user)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!function)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return add(&handlers, &(struct task){.run = run_function, .function = function, .user = user});
}

/* ---- copies ---- */

static bool run_copy(struct task *task, int64_t value, bool lost)
{
    const uint64_t start = shim_now();
    hsa_status_t status = lost ? HSA_STATUS_ERROR_INVALID_SIGNAL : HSA_STATUS_SUCCESS;
    (void)value;
    for (size_t z = 0; z < task->copy.slices; z++)
        for (size_t y = 0; y < task->copy.rows && !status; y++)
            status = shim_copy(
                (uintptr_t)task->copy.to.base + z * task->copy.to.slice + y * task->copy.to.pitch,
                (uintptr_t)task->copy.from.base + z * task->copy.from.slice + y * task->copy.from.pitch,
                task->copy.row, task->copy.site.frames[0] ? &task->copy.site : NULL);
    if (status)
        shim_complain("a copy of %zu bytes from %p to %p failed: %s", task->copy.row, task->copy.from.base,
                      task->copy.to.base,
                      lost ? "a signal that it waited for was destroyed" : "no such memory");
    shim_complete(NULL, task->copy.completion, start, shim_now(), status);
    return false;
}

/* A copy without dependencies runs on the caller's thread: waking another thread takes longer than most
 * copies, and callers seldom have other work meanwhile. */
static hsa_status_t start_copy(struct task *task, uint32_t count, const hsa_signal_t *signals,
                               hsa_signal_t completion)
{
    enum { INLINE = 8 << 20 };
    int64_t value;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if ((count && !signals) || count > DEPENDENCIES)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (completion.handle && !shim_signal(completion))
        return HSA_STATUS_ERROR_INVALID_SIGNAL;
    for (uint32_t i = 0; i < count; i++)
        if (!shim_signal(task->signals[i] = signals[i]))
            return HSA_STATUS_ERROR_INVALID_SIGNAL;
    task->count = count;
    task->condition = HSA_SIGNAL_CONDITION_EQ;
    task->compare = 0;
    task->run = run_copy;
    task->copy.completion = completion;
    if (task->copy.row * task->copy.rows * task->copy.slices <= INLINE && state_of(task, &value) > 0) {
        run_copy(task, 0, false);
        return HSA_STATUS_SUCCESS;
    }
    if (shim_observe_checks())
        shim_note_site(&task->copy.site);
    return add(&copies, task);
}

hsa_status_t shim_complete_after(uint32_t count, const hsa_signal_t *signals, hsa_signal_t completion)
{
    return start_copy(&(struct task){0}, count, signals, completion);
}

SHIM_API hsa_status_t hsa_amd_memory_async_copy(void *to, hsa_agent_t to_agent, const void *from,
                                                hsa_agent_t from_agent, size_t size, uint32_t count,
                                                const hsa_signal_t *signals, hsa_signal_t completion)
{
    shim_refuse_child();
    if (!to || !from)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!shim_is_agent(to_agent) || !shim_is_agent(from_agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    struct task task = {
        .copy = {.to = {.base = to}, .from = {.base = (void *)from}, .row = size, .rows = 1, .slices = 1}};
    return start_copy(&task, count, signals, completion);
}

/* ---- engines ---- */

/* Copy engines of each GPU, which are always free: copies do not queue per engine. Declared in later headers
 * than Debian's. */
enum { ENGINES = 3 };

SHIM_API hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t to, hsa_agent_t from, uint32_t *mask)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!shim_is_agent(to) || !shim_is_agent(from))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!mask)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    shim_lock_at_own_addresses();
    *mask = ENGINES;
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t to, hsa_agent_t from,
                                                               uint32_t *mask)
{
    const hsa_status_t status = hsa_amd_memory_copy_engine_status(to, from, mask);
    if (!status)
        *mask = 0; /* any engine */
    return status;
}

SHIM_API hsa_status_t hsa_amd_memory_async_copy_on_engine(void *to, hsa_agent_t to_agent, const void *from,
                                                          hsa_agent_t from_agent, size_t size, uint32_t count,
                                                          const hsa_signal_t *signals,
                                                          hsa_signal_t completion, uint32_t engine,
                                                          bool force)
{
    (void)force;
    if (!(engine & ENGINES) || engine & (engine - 1))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return hsa_amd_memory_async_copy(to, to_agent, from, from_agent, size, count, signals, completion);
}

/* ---- copies of boxes ---- */

static void *corner(const hsa_pitched_ptr_t *pointer, const hsa_dim3_t *offset)
{
    return (char *)pointer->base + offset->z * pointer->slice + offset->y * pointer->pitch + offset->x;
}

SHIM_API hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *to, const hsa_dim3_t *to_offset,
                                                     const hsa_pitched_ptr_t *from,
                                                     const hsa_dim3_t *from_offset, const hsa_dim3_t *range,
                                                     hsa_agent_t agent, hsa_amd_copy_direction_t direction,
                                                     uint32_t count, const hsa_signal_t *signals,
                                                     hsa_signal_t completion)
{
    (void)direction;
    shim_refuse_child();
    if (!to || !to_offset || !from || !from_offset || !range)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!shim_is_agent(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    struct task task = {.copy = {.to = {corner(to, to_offset), to->pitch, to->slice},
                                 .from = {corner(from, from_offset), from->pitch, from->slice},
                                 .row = range->x,
                                 .rows = range->y,
                                 .slices = range->z}};
    return start_copy(&task, count, signals, completion);
}
