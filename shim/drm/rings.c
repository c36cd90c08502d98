/* SPDX-License-Identifier: MIT */
/* Contexts and their rings. A submission is a job of a ring, whose thread runs jobs in order: it waits for
 * their fences, executes their packets and signals their own. Source: linux, amdgpu_cs.c, amdgpu_ctx.c. */
#include "shim/drm/drm.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MOST_CONTEXTS = 4096,
    MOST_CHUNKS = 4096,
    RINGS = 8, /* of each type */
    TYPES = AMDGPU_HW_IP_DMA + 1,
};

struct command {
    uint64_t address;
    uint32_t bytes;
};

struct job {
    struct job *next;
    uint64_t number;  /* of the ring */
    uint64_t overall; /* of the device */
    struct drm_fence *fence;
    struct drm_fence **waits;
    size_t wait_count;
    struct command *commands;
    size_t command_count;
    uint64_t *memory; /* gets the number at the end; or NULL */
    uint32_t memory_handle;
};

struct ring {
    struct context *context;
    pthread_t thread;
    pid_t tid;
    pthread_cond_t wanted;     /* signalled for a job, or the end */
    struct job *first, **last; /* the first one runs, or waits for its fences */
    uint64_t submitted, completed;
    bool ends; /* atomic: written with the lock held */
    struct drm_ring_state state;
};

struct context {
    struct drm_device *device; /* NULL: it does not exist */
    bool is_lost;              /* a job failed: the GPU would be reset */
    struct ring *rings[TYPES][RINGS];
};

static struct context contexts[MOST_CONTEXTS]; /* by id - 1 */
static unsigned context_count;                 /* that were ever made */

static struct context *find(const struct drm_device *device, uint32_t id)
{
    return id && id <= MOST_CONTEXTS && contexts[id - 1].device == device ? &contexts[id - 1] : NULL;
}

uint64_t drm_oldest_job(const struct drm_device *device)
{
    uint64_t oldest = UINT64_MAX;
    for (unsigned i = 0; i < context_count; i++)
        for (unsigned k = 0; k < TYPES * RINGS && contexts[i].device == device; k++) {
            const struct ring *ring = contexts[i].rings[k / RINGS][k % RINGS];
            if (ring && ring->first && ring->first->overall < oldest)
                oldest = ring->first->overall;
        }
    return oldest;
}

/* ---- the thread of a ring ---- */

static bool await(struct ring *ring, struct job *job)
{
    for (size_t i = 0; i < job->wait_count; i++)
        while (!ring->ends && !drm_fence_is_signalled(job->waits[i]))
            drm_wait_change(INT64_MAX);
    while (!ring->ends && !drm_mappings_are_ready(ring->context->device, job->overall))
        drm_wait_change(INT64_MAX);
    return !ring->ends && !ring->context->is_lost;
}

/* Without the lock. */
static bool execute(struct ring *ring, const struct job *job)
{
    for (size_t i = 0; i < job->command_count; i++)
        if (!drm_execute(&ring->state, job->commands[i].address, job->commands[i].bytes))
            return false;
    return true;
}

static void fail(struct ring *ring)
{
    char text[DRM_PROBLEM + 100];
    snprintf(text, sizeof text, "amdgpu: a submission failed, and its context is lost: %s",
             ring->state.problem);
    if (*ring->state.problem)
        shim_report(text);
    shim_result("fault", "");
}

static void free_job(struct job *job)
{
    for (size_t i = 0; i < job->wait_count; i++)
        drm_fence_release(job->waits[i]);
    if (job->memory)
        drm_buffer_release(job->memory_handle);
    if (job->fence)
        drm_fence_release(job->fence);
    free(job->waits);
    free(job->commands);
    free(job);
}

static void complete(struct ring *ring, struct job *job, int error)
{
    if (job->memory)
        __atomic_store_n(job->memory, job->number, __ATOMIC_RELEASE);
    ring->completed = job->number;
    ring->first = job->next;
    if (!ring->first)
        ring->last = &ring->first;
    drm_fence_signal(job->fence, error);
    free_job(job);
    drm_end_mappings(ring->context->device, drm_oldest_job(ring->context->device));
}

static void *work(void *argument)
{
    struct ring *ring = argument;
    pthread_mutex_lock(&drm_lock);
    ring->tid = (pid_t)syscall(SYS_gettid);
    while (ring->first || !ring->ends) {
        struct job *job = ring->first;
        if (!job) {
            pthread_cond_wait(&ring->wanted, &drm_lock);
            continue;
        }
        bool ok = await(ring, job);
        if (ok) {
            pthread_mutex_unlock(&drm_lock);
            ok = execute(ring, job);
            if (!ok && !__atomic_load_n(&ring->ends, __ATOMIC_ACQUIRE))
                fail(ring);
            pthread_mutex_lock(&drm_lock);
            ring->context->is_lost |= !ok && !shim_settings()->goes_on;
        }
        complete(ring, job, ok ? 0 : -ECANCELED);
    }
    pthread_mutex_unlock(&drm_lock);
    return NULL;
}

static struct ring *find_ring(struct context *context, uint32_t type, uint32_t number)
{
    return type < TYPES && number < RINGS ? context->rings[type][number] : NULL;
}

/* Makes it if there is none; NULL: it cannot. */
static struct ring *take_ring(struct context *context, uint32_t type, uint32_t number)
{
    struct ring *ring = find_ring(context, type, number);
    if (ring || type >= TYPES || number >= RINGS)
        return ring;
    ring = calloc(1, sizeof *ring);
    if (!ring)
        return NULL;
    ring->context = context;
    ring->last = &ring->first;
    ring->state.device = context->device;
    ring->state.ends = &ring->ends;
    ring->state.type = type;
    pthread_cond_init(&ring->wanted, NULL);
    if (pthread_create(&ring->thread, NULL, work, ring)) {
        free(ring);
        return NULL;
    }
    context->rings[type][number] = ring;
    return ring;
}

/* ---- waits for ever ---- */

/* The i-th ring of all contexts; NULL: there is none. */
static struct ring *any_ring(unsigned i)
{
    struct context *context = &contexts[i / (TYPES * RINGS)];
    const unsigned k = i % (TYPES * RINGS);
    return context->device ? context->rings[k / RINGS][k % RINGS] : NULL;
}

/* With the lock held. A ring that runs a kernel is not known to wait. */
static bool knows(pid_t tid, bool *waits, uint64_t *state)
{
    for (unsigned i = 0; i < context_count * TYPES * RINGS; i++) {
        const struct ring *ring = any_ring(i);
        if (!ring || ring->tid != tid || !__atomic_load_n(&ring->state.polls, __ATOMIC_ACQUIRE))
            continue;
        shim_mix(state, ring->completed);
        return *waits = true;
    }
    return false;
}

/* The thread of a ring's state, and what has been submitted and completed. */
static pid_t look_at_rings(const struct drm_ring_state *own, uint64_t *state)
{
    pid_t tid = 0;
    for (unsigned i = 0; i < context_count * TYPES * RINGS; i++) {
        const struct ring *ring = any_ring(i);
        if (!ring)
            continue;
        shim_mix(state, ring->submitted);
        shim_mix(state, ring->completed);
        tid = &ring->state == own ? ring->tid : tid;
    }
    return tid;
}

uint64_t drm_nobody_acts(void *ring_state)
{
    enum { PAUSE = 50000000, BREATH = 5000000 }; /* nanoseconds, after a number and after 0 */
    static uint64_t next_answer;                 /* time; atomic */
    uint64_t state = UINT64_C(0xcbf29ce484222325);
    const uint64_t now = shim_now();
    if (now < __atomic_load_n(&next_answer, __ATOMIC_RELAXED))
        return 0;
    __atomic_store_n(&next_answer, now + BREATH, __ATOMIC_RELAXED);
    if (shim_has_timers() || pthread_mutex_trylock(&drm_lock))
        return 0;
    const pid_t own = look_at_rings(ring_state, &state);
    const bool all = shim_all_threads_wait(own, knows, &state);
    pthread_mutex_unlock(&drm_lock);
    if (!all)
        return 0;
    __atomic_store_n(&next_answer, now + PAUSE, __ATOMIC_RELAXED);
    return state | 1;
}

/* ---- contexts ---- */

/* Ends its rings. Waits for them without the lock, which the caller holds. */
static void destroy(struct context *context)
{
    struct ring *rings[TYPES * RINGS];
    unsigned count = 0;
    for (unsigned type = 0; type < TYPES; type++)
        for (unsigned i = 0; i < RINGS; i++)
            if (context->rings[type][i])
                rings[count++] = context->rings[type][i];
    context->is_lost = true; /* takes no more jobs */
    for (unsigned i = 0; i < count; i++) {
        __atomic_store_n(&rings[i]->ends, true, __ATOMIC_RELEASE);
        pthread_cond_signal(&rings[i]->wanted);
    }
    pthread_cond_broadcast(&drm_changed); /* for those that wait for fences */
    pthread_mutex_unlock(&drm_lock);
    for (unsigned i = 0; i < count; i++)
        pthread_join(rings[i]->thread, NULL);
    pthread_mutex_lock(&drm_lock);
    for (unsigned i = 0; i < count; i++) {
        pthread_cond_destroy(&rings[i]->wanted);
        free(rings[i]);
    }
    *context = (struct context){0};
}

static int create(struct drm_device *device, uint32_t *id)
{
    for (*id = 1; *id <= MOST_CONTEXTS; ++*id)
        if (!contexts[*id - 1].device) {
            contexts[*id - 1].device = device;
            context_count = *id > context_count ? *id : context_count;
            return 0;
        }
    return -ENOMEM;
}

int drm_context(struct drm_device *device, union drm_amdgpu_ctx *arguments)
{
    const struct drm_amdgpu_ctx_in in = arguments->in;
    int result = 0;
    pthread_mutex_lock(&drm_lock);
    struct context *context = find(device, in.ctx_id);
    memset(arguments, 0, sizeof *arguments);
    if (in.op == AMDGPU_CTX_OP_ALLOC_CTX) {
        result = create(device, &arguments->out.alloc.ctx_id);
    } else if (!context) {
        result = -EINVAL;
    } else if (in.op == AMDGPU_CTX_OP_FREE_CTX) {
        destroy(context);
    } else if (in.op == AMDGPU_CTX_OP_QUERY_STATE) {
        arguments->out.state.reset_status = context->is_lost ? AMDGPU_CTX_GUILTY_RESET : AMDGPU_CTX_NO_RESET;
    } else if (in.op == AMDGPU_CTX_OP_QUERY_STATE2) {
        if (context->is_lost)
            arguments->out.state.flags = AMDGPU_CTX_QUERY2_FLAGS_RESET | AMDGPU_CTX_QUERY2_FLAGS_GUILTY;
    } else if (in.op == AMDGPU_CTX_OP_GET_STABLE_PSTATE) {
        arguments->out.pstate.flags = AMDGPU_CTX_STABLE_PSTATE_NONE;
    } else if (in.op != AMDGPU_CTX_OP_SET_STABLE_PSTATE) {
        result = -EINVAL;
    }
    pthread_mutex_unlock(&drm_lock);
    return result;
}

/* ---- submission ---- */

static int add_wait(struct job *job, struct drm_fence *fence)
{
    struct drm_fence **grown = realloc(job->waits, (job->wait_count + 1) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    job->waits = grown;
    job->waits[job->wait_count++] = fence;
    return 0;
}

static int wait_for_syncobj(struct job *job, uint32_t handle, uint64_t point)
{
    struct drm_fence *fence = drm_syncobj_fence(handle, point);
    return fence ? add_wait(job, fence) : -EINVAL;
}

/* A ring's job that has not completed; NULL: it has. */
static struct job *find_job(const struct ring *ring, uint64_t number)
{
    struct job *job = ring ? ring->first : NULL;
    while (job && job->number != number)
        job = job->next;
    return job;
}

static int wait_for_job(struct drm_device *device, struct job *job, const struct drm_amdgpu_cs_chunk_dep *d)
{
    struct context *context = find(device, d->ctx_id);
    const struct job *other = context ? find_job(find_ring(context, d->ip_type, d->ring), d->handle) : NULL;
    if (!other)
        return context ? 0 : -EINVAL;
    drm_fence_hold(other->fence);
    return add_wait(job, other->fence);
}

static int add_command(struct job *job, const struct drm_amdgpu_cs_chunk_ib *ib)
{
    struct command *grown = realloc(job->commands, (job->command_count + 1) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    job->commands = grown;
    job->commands[job->command_count++] = (struct command){ib->va_start, ib->ib_bytes};
    return 0;
}

/* The i-th element of a chunk's array; NULL: behind its end. */
static const void *element(const struct drm_amdgpu_cs_chunk *chunk, size_t i, size_t size)
{
    return (i + 1) * size <= chunk->length_dw * 4ull ? (const char *)(uintptr_t)chunk->chunk_data + i * size
                                                     : NULL;
}

/* Everything of a chunk but what it signals. *type and *number: the ring. */
static int take_chunk(struct drm_device *device, struct job *job, const struct drm_amdgpu_cs_chunk *chunk,
                      uint32_t *type, uint32_t *number)
{
    int result = 0;
    const void *at;
    switch (chunk->chunk_id) {
    case AMDGPU_CHUNK_ID_IB: {
        const struct drm_amdgpu_cs_chunk_ib *ib = element(chunk, 0, sizeof *ib);
        if (!ib || (job->command_count && (ib->ip_type != *type || ib->ring != *number)))
            return -EINVAL;
        *type = ib->ip_type;
        *number = ib->ring;
        return add_command(job, ib);
    }
    case AMDGPU_CHUNK_ID_FENCE: {
        const struct drm_amdgpu_cs_chunk_fence *f = element(chunk, 0, sizeof *f);
        if (!f || job->memory || f->offset % 8)
            return -EINVAL;
        job->memory = drm_buffer_take(device, f->handle, f->offset, sizeof *job->memory);
        job->memory_handle = f->handle;
        return job->memory ? 0 : -EINVAL;
    }
    case AMDGPU_CHUNK_ID_DEPENDENCIES:
        for (size_t i = 0; !result && (at = element(chunk, i, sizeof(struct drm_amdgpu_cs_chunk_dep))); i++)
            result = wait_for_job(device, job, at);
        return result;
    case AMDGPU_CHUNK_ID_SYNCOBJ_IN:
        for (size_t i = 0; !result && (at = element(chunk, i, sizeof(struct drm_amdgpu_cs_chunk_sem))); i++)
            result = wait_for_syncobj(job, ((const struct drm_amdgpu_cs_chunk_sem *)at)->handle, 0);
        return result;
    case AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT:
        for (size_t i = 0; !result && (at = element(chunk, i, sizeof(struct drm_amdgpu_cs_chunk_syncobj)));
             i++) {
            const struct drm_amdgpu_cs_chunk_syncobj *s = at;
            result = wait_for_syncobj(job, s->handle, s->point);
        }
        return result;
    case AMDGPU_CHUNK_ID_SYNCOBJ_OUT:
    case AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL: /* see signal_chunk() */
    case AMDGPU_CHUNK_ID_BO_HANDLES:              /* memory does not move here */
    case AMDGPU_CHUNK_ID_SCHEDULED_DEPENDENCIES:  /* each ring has a thread, so that each job gets its turn */
        return 0;
    default:
        return -EINVAL;
    }
}

/* Binds the job's fence to the syncobjs. check: only says whether they exist. */
static int signal_chunk(const struct drm_amdgpu_cs_chunk *chunk, struct drm_fence *fence, bool check)
{
    const bool timeline = chunk->chunk_id == AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL;
    const size_t size =
        timeline ? sizeof(struct drm_amdgpu_cs_chunk_syncobj) : sizeof(struct drm_amdgpu_cs_chunk_sem);
    const void *at;
    if (!timeline && chunk->chunk_id != AMDGPU_CHUNK_ID_SYNCOBJ_OUT)
        return 0;
    for (size_t i = 0; (at = element(chunk, i, size)); i++) {
        const uint32_t handle = *(const uint32_t *)at;
        const uint64_t point = timeline ? ((const struct drm_amdgpu_cs_chunk_syncobj *)at)->point : 0;
        if (check ? !drm_syncobj_exists(handle) : !drm_syncobj_add(handle, point, fence))
            return -EINVAL;
    }
    return 0;
}

static int signal_all(const struct drm_amdgpu_cs_in *in, struct drm_fence *fence, bool check)
{
    const uint64_t *chunks = (const uint64_t *)(uintptr_t)in->chunks;
    int result = 0;
    for (uint32_t i = 0; i < in->num_chunks && !result; i++)
        result = signal_chunk((const struct drm_amdgpu_cs_chunk *)(uintptr_t)chunks[i], fence, check);
    return result;
}

static int submit(struct drm_device *device, const struct drm_amdgpu_cs_in *in, uint64_t *number)
{
    const uint64_t *chunks = (const uint64_t *)(uintptr_t)in->chunks;
    struct context *context = find(device, in->ctx_id);
    uint32_t type = 0, index = 0;
    if (!context || !in->num_chunks || in->num_chunks > MOST_CHUNKS || !chunks)
        return -EINVAL;
    if (context->is_lost)
        return -ECANCELED;
    struct job *job = calloc(1, sizeof *job);
    int result = job && (job->fence = drm_fence_create()) ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < in->num_chunks && !result; i++)
        result =
            chunks[i] ? take_chunk(device, job, (const void *)(uintptr_t)chunks[i], &type, &index) : -EINVAL;
    if (!result)
        result = job->command_count ? signal_all(in, job->fence, true) : -EINVAL;
    struct ring *ring = result ? NULL : take_ring(context, type, index);
    if (!result && !ring)
        result = -EINVAL;
    if (!result)
        result = signal_all(in, job->fence, false);
    if (result) {
        if (job)
            free_job(job);
        return result;
    }
    *number = job->number = ++ring->submitted;
    job->overall = ++device->submitted;
    *ring->last = job;
    ring->last = &job->next;
    pthread_cond_signal(&ring->wanted);
    return 0;
}

int drm_submit(struct drm_device *device, union drm_amdgpu_cs *arguments)
{
    const struct drm_amdgpu_cs_in in = arguments->in;
    uint64_t number = 0;
    pthread_mutex_lock(&drm_lock);
    const int result = submit(device, &in, &number);
    if (!result)
        arguments->out.handle = number;
    pthread_mutex_unlock(&drm_lock);
    return result;
}

/* Lists of buffers say what must be in memory; here all is. */
int drm_list(struct drm_device *device, union drm_amdgpu_bo_list *arguments)
{
    static uint32_t last;
    (void)device;
    const uint32_t operation = arguments->in.operation;
    if (operation == AMDGPU_BO_LIST_OP_CREATE)
        *arguments =
            (union drm_amdgpu_bo_list){.out.list_handle = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED)};
    return operation <= AMDGPU_BO_LIST_OP_UPDATE ? 0 : -EINVAL;
}

/* ---- waits ---- */

/* The kernel takes absolute times here, and treats negative ones as no limit. */
static int64_t limit(uint64_t timeout)
{
    return (int64_t)timeout < 0 ? INT64_MAX : (int64_t)timeout;
}

/* Whether the job has completed by then. *error: its fence's. */
static bool await_job(const struct ring *ring, uint64_t number, int64_t until)
{
    const uint64_t wanted = number == UINT64_MAX && ring ? ring->submitted : number;
    bool in_time = true;
    while (ring && ring->completed < wanted && in_time)
        in_time = drm_wait_change(until);
    return !ring || ring->completed >= wanted;
}

int drm_wait(struct drm_device *device, union drm_amdgpu_wait_cs *arguments)
{
    const struct drm_amdgpu_wait_cs_in in = arguments->in;
    pthread_mutex_lock(&drm_lock);
    struct context *context = find(device, in.ctx_id);
    const struct ring *ring = context ? find_ring(context, in.ip_type, in.ring) : NULL;
    if (context)
        arguments->out.status = !await_job(ring, in.handle, limit(in.timeout));
    pthread_mutex_unlock(&drm_lock);
    return context ? 0 : -EINVAL;
}

int drm_wait_many(struct drm_device *device, union drm_amdgpu_wait_fences *arguments)
{
    const struct drm_amdgpu_wait_fences_in in = arguments->in;
    const struct drm_amdgpu_fence *fences = (const struct drm_amdgpu_fence *)(uintptr_t)in.fences;
    const int64_t begin = (int64_t)shim_now();
    const int64_t until =
        in.timeout_ns > (uint64_t)(INT64_MAX - begin) ? INT64_MAX : begin + (int64_t)in.timeout_ns;
    bool is_over = false, in_time = true;
    uint32_t first = 0;
    int result = 0;
    pthread_mutex_lock(&drm_lock);
    while (!is_over && !result) {
        uint32_t done = 0;
        for (uint32_t i = 0; i < in.fence_count && !result; i++) {
            struct context *context = find(device, fences[i].ctx_id);
            const struct ring *ring = context ? find_ring(context, fences[i].ip_type, fences[i].ring) : NULL;
            if (!context)
                result = -EINVAL;
            else if (!ring || ring->completed >= fences[i].seq_no)
                first = done++ ? first : i;
        }
        is_over = in.wait_all ? done == in.fence_count : done > 0;
        if (is_over || !in_time || result)
            break;
        in_time = drm_wait_change(until);
    }
    if (!result)
        *arguments = (union drm_amdgpu_wait_fences){.out = {.status = is_over, .first_signaled = first}};
    pthread_mutex_unlock(&drm_lock);
    return result;
}

int drm_job_fence(struct drm_device *device, union drm_amdgpu_fence_to_handle *arguments)
{
    const struct drm_amdgpu_fence asked = arguments->in.fence;
    int result = -EINVAL;
    pthread_mutex_lock(&drm_lock);
    struct context *context = find(device, asked.ctx_id);
    const struct job *job =
        context ? find_job(find_ring(context, asked.ip_type, asked.ring), asked.seq_no) : NULL;
    struct drm_fence *fence = job ? job->fence : context ? drm_fence_create() : NULL;
    if (fence && job)
        drm_fence_hold(fence);
    else if (fence)
        fence->is_signalled = true;
    if (fence)
        result = drm_fence_to_handle(fence, arguments);
    drm_fence_release(fence);
    pthread_mutex_unlock(&drm_lock);
    return result;
}

/* Which jobs use a buffer is not known: waits for all. */
int drm_wait_idle(struct drm_device *device, union drm_amdgpu_gem_wait_idle *arguments)
{
    const int64_t until = limit(arguments->in.timeout);
    bool idle = true;
    pthread_mutex_lock(&drm_lock);
    for (unsigned i = 0; i < context_count; i++)
        for (unsigned k = 0; k < TYPES * RINGS && contexts[i].device == device; k++)
            idle &= await_job(contexts[i].rings[k / RINGS][k % RINGS], UINT64_MAX, until);
    *arguments = (union drm_amdgpu_gem_wait_idle){.out.status = !idle};
    pthread_mutex_unlock(&drm_lock);
    return 0;
}
