/* SPDX-License-Identifier: MIT */
/* Fences, and the syncobjs that refer to them. A binary syncobj has one fence; a timeline has one for each
 * point that was submitted, and a point is reached when all up to it are. Source: linux, drm_syncobj.c. */
#include "shim/drm/drm.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* ---- fences ---- */

struct drm_fence *drm_fence_create(void)
{
    struct drm_fence *fence = calloc(1, sizeof *fence);
    if (fence)
        fence->references = 1;
    return fence;
}

void drm_fence_hold(struct drm_fence *fence)
{
    fence->references++;
}

void drm_fence_release(struct drm_fence *fence)
{
    while (fence && !--fence->references) {
        struct drm_fence *earlier = fence->earlier;
        drm_fence_release(fence->own);
        free(fence);
        fence = earlier; /* not by recursion: a timeline may be long */
    }
}

/* Forgets what a point of a timeline waited for, once that has come. */
bool drm_fence_is_signalled(struct drm_fence *fence)
{
    if (fence->is_signalled || !fence->own)
        return fence->is_signalled;
    if (!drm_fence_is_signalled(fence->own) || (fence->earlier && !drm_fence_is_signalled(fence->earlier)))
        return false;
    fence->is_signalled = true;
    fence->error = fence->own->error;
    drm_fence_release(fence->own);
    drm_fence_release(fence->earlier);
    fence->own = fence->earlier = NULL;
    return true;
}

/* A fence that is signalled when both are. Its error is the first's. */
struct drm_fence *drm_fence_both(struct drm_fence *own, struct drm_fence *earlier)
{
    struct drm_fence *fence = drm_fence_create();
    if (!fence)
        return NULL;
    fence->own = own;
    fence->earlier = earlier;
    drm_fence_hold(own);
    if (earlier)
        drm_fence_hold(earlier);
    return fence;
}

void drm_fence_signal(struct drm_fence *fence, int error)
{
    fence->is_signalled = true;
    fence->error = error;
    drm_files_signal();
    pthread_cond_broadcast(&drm_changed);
}

bool drm_wait_change(int64_t until)
{
    const struct timespec at = {until / 1000000000, until % 1000000000};
    if (until == INT64_MAX)
        return !pthread_cond_wait(&drm_changed, &drm_lock);
    return until > 0 && !pthread_cond_timedwait(&drm_changed, &drm_lock, &at);
}

bool drm_fence_wait(struct drm_fence *fence, int64_t until)
{
    bool in_time = true;
    while (!drm_fence_is_signalled(fence) && in_time)
        in_time = drm_wait_change(until);
    return drm_fence_is_signalled(fence);
}

/* ---- syncobjs ---- */

struct point {
    uint64_t number; /* 0: of a binary one */
    struct drm_fence *fence;
};

struct drm_syncobj {
    unsigned references;  /* handles, files */
    struct point *points; /* ascending */
    size_t count, capacity;
    uint64_t reached; /* points up to here were forgotten */
};

static struct drm_syncobj **syncobjs; /* by handle - 1; NULL: the handle is free */
static uint32_t syncobj_count;

enum { MOST_SYNCOBJS = 1 << 20 };

static struct drm_syncobj *find(uint32_t handle)
{
    return handle && handle <= syncobj_count ? syncobjs[handle - 1] : NULL;
}

static void reset(struct drm_syncobj *s)
{
    for (size_t i = 0; i < s->count; i++)
        drm_fence_release(s->points[i].fence);
    s->count = 0;
    s->reached = 0;
}

/* Forgets points that were reached, but for the last. */
static void forget(struct drm_syncobj *s)
{
    size_t done = 0;
    while (done + 1 < s->count && drm_fence_is_signalled(s->points[done].fence)) {
        s->reached = s->points[done].number;
        drm_fence_release(s->points[done++].fence);
    }
    s->count -= done;
    if (done)
        memmove(s->points, s->points + done, s->count * sizeof *s->points);
}

static bool grow(struct drm_syncobj *s)
{
    const size_t capacity = s->capacity ? 2 * s->capacity : 2;
    if (s->count < s->capacity)
        return true;
    struct point *points = realloc(s->points, capacity * sizeof *points);
    if (!points)
        return false;
    s->points = points;
    s->capacity = capacity;
    return true;
}

static bool add(struct drm_syncobj *s, uint64_t number, struct drm_fence *fence)
{
    if (!number)
        reset(s);
    else
        forget(s);
    if (!grow(s))
        return false;
    if (number) {
        /* the kernel warns of a point that is not above the last, and goes on with the last's number */
        const uint64_t last = s->count ? s->points[s->count - 1].number : s->reached;
        number = number > last ? number : last;
        fence = drm_fence_both(fence, s->count ? s->points[s->count - 1].fence : NULL);
        if (!fence)
            return false;
    } else {
        drm_fence_hold(fence);
    }
    s->points[s->count++] = (struct point){number, fence};
    pthread_cond_broadcast(&drm_changed);
    return true;
}

bool drm_syncobj_add(uint32_t handle, uint64_t number, struct drm_fence *fence)
{
    struct drm_syncobj *s = find(handle);
    return s && add(s, number, fence);
}

struct drm_fence *drm_syncobj_fence(uint32_t handle, uint64_t number)
{
    struct drm_syncobj *s = find(handle);
    for (size_t i = 0; s && i < s->count; i++)
        if (s->points[i].number >= number || !s->points[i].number) {
            drm_fence_hold(s->points[i].fence);
            return s->points[i].fence;
        }
    return NULL;
}

bool drm_syncobj_exists(uint32_t handle)
{
    return find(handle);
}

/* Has signalled a point, 0: all of it. */
static int signal_point(uint32_t handle, uint64_t number)
{
    struct drm_fence *fence = drm_fence_create();
    if (!fence)
        return -ENOMEM;
    fence->is_signalled = true;
    const int result = !find(handle) ? -ENOENT : drm_syncobj_add(handle, number, fence) ? 0 : -ENOMEM;
    drm_fence_release(fence);
    return result;
}

/* A handle for the syncobj, which takes the caller's reference; 0: no memory. */
static uint32_t take_handle(struct drm_syncobj *s)
{
    uint32_t i = 0;
    while (i < syncobj_count && syncobjs[i])
        i++;
    if (i == syncobj_count) {
        const uint32_t more = syncobj_count ? 2 * syncobj_count : 64;
        struct drm_syncobj **grown = more > MOST_SYNCOBJS ? NULL : realloc(syncobjs, more * sizeof *grown);
        if (!grown)
            return 0;
        memset(grown + syncobj_count, 0, (more - syncobj_count) * sizeof *grown);
        syncobjs = grown;
        syncobj_count = more;
    }
    syncobjs[i] = s;
    return i + 1;
}

void drm_syncobj_release(struct drm_syncobj *s)
{
    if (--s->references)
        return;
    reset(s);
    free(s->points);
    free(s);
}

static int create(uint32_t flags, uint32_t *handle)
{
    struct drm_syncobj *s = calloc(1, sizeof *s);
    *handle = s ? take_handle(s) : 0;
    if (!*handle) {
        free(s);
        return -ENOMEM;
    }
    s->references = 1;
    return flags & DRM_SYNCOBJ_CREATE_SIGNALED ? signal_point(*handle, 0) : 0;
}

static int destroy(uint32_t handle)
{
    struct drm_syncobj *s = find(handle);
    if (!s)
        return -EINVAL;
    syncobjs[handle - 1] = NULL;
    drm_syncobj_release(s);
    return 0;
}

int drm_syncobj_of_fence(struct drm_fence *fence, uint32_t *handle)
{
    const int result = create(0, handle);
    return result ? result : drm_syncobj_add(*handle, 0, fence) ? 0 : -ENOMEM;
}

/* ---- files ---- */

static int export_fence(struct drm_fence *fence, int32_t *file)
{
    *file = drm_file_of_fence(fence);
    if (*file >= 0)
        return 0;
    drm_fence_release(fence);
    return *file;
}

static int to_file(struct drm_syncobj_handle *h)
{
    struct drm_syncobj *s = find(h->handle);
    if (!s)
        return -ENOENT;
    if (h->flags == DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE) {
        struct drm_fence *fence = drm_syncobj_fence(h->handle, 0);
        return fence ? export_fence(fence, &h->fd) : -EINVAL;
    }
    if (h->flags)
        return -EINVAL;
    h->fd = drm_file_of_syncobj(s);
    if (h->fd < 0)
        return h->fd;
    s->references++;
    return 0;
}

static int from_file(struct drm_syncobj_handle *h)
{
    if (h->flags == DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE) {
        struct drm_fence *fence = drm_file_fence(h->fd);
        if (!fence || !find(h->handle))
            return fence ? -ENOENT : -EINVAL;
        return drm_syncobj_add(h->handle, 0, fence) ? 0 : -ENOMEM;
    }
    struct drm_syncobj *s = h->flags ? NULL : drm_file_syncobj(h->fd);
    if (!s)
        return -EINVAL;
    h->handle = take_handle(s);
    s->references += h->handle != 0;
    return h->handle ? 0 : -ENOMEM;
}

int drm_fence_to_handle(struct drm_fence *fence, union drm_amdgpu_fence_to_handle *arguments)
{
    uint32_t handle = 0;
    int32_t file = -1;
    int result = -EINVAL;
    const uint32_t what = arguments->in.what;
    if (what == AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD) {
        drm_fence_hold(fence);
        result = export_fence(fence, &file);
    } else if (what == AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ || what == AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ_FD) {
        result = drm_syncobj_of_fence(fence, &handle);
        if (!result && what == AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ_FD) {
            struct drm_syncobj_handle h = {.handle = handle};
            result = to_file(&h);
            file = h.fd;
            destroy(handle);
        }
    }
    if (!result)
        *arguments = (union drm_amdgpu_fence_to_handle){.out.handle = file >= 0 ? (uint32_t)file : handle};
    return result;
}

/* ---- waits ---- */

struct wait {
    const uint32_t *handles;
    const uint64_t *points; /* NULL: all 0 */
    uint32_t count, flags;
};

/* Whether the wait is over; *first: one that is signalled. *error: -EINVAL if one was not submitted. */
static bool is_over(const struct wait *wait, uint32_t *first, int *error)
{
    uint32_t done = 0;
    *error = 0;
    for (uint32_t i = 0; i < wait->count; i++) {
        struct drm_fence *fence = drm_syncobj_fence(wait->handles[i], wait->points ? wait->points[i] : 0);
        const bool available = wait->flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE;
        if (!fence && !(wait->flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT) && !available)
            *error = -EINVAL;
        if (fence && (available || drm_fence_is_signalled(fence))) {
            *first = done ? *first : i;
            done++;
        }
        drm_fence_release(fence);
    }
    if (*error)
        return true;
    return wait->flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL ? done == wait->count : done > 0;
}

static int wait_for(const struct wait *wait, int64_t until, uint32_t *first)
{
    int error = 0;
    if (!wait->count)
        return -EINVAL;
    for (uint32_t i = 0; i < wait->count; i++)
        if (!find(wait->handles[i]))
            return -ENOENT;
    while (!is_over(wait, first, &error))
        if (!drm_wait_change(until))
            return is_over(wait, first, &error) ? error : -ETIME;
    return error;
}

/* ---- requests ---- */

static int reset_all(const struct drm_syncobj_array *array, bool signal)
{
    const uint32_t *handles = (const uint32_t *)(uintptr_t)array->handles;
    int result = array->count_handles ? 0 : -EINVAL;
    for (uint32_t i = 0; i < array->count_handles && !result; i++) {
        struct drm_syncobj *s = find(handles[i]);
        if (!s)
            result = -ENOENT;
        else if (signal)
            result = signal_point(handles[i], 0);
        else
            reset(s);
    }
    return result;
}

static int signal_points(const struct drm_syncobj_timeline_array *array)
{
    const uint32_t *handles = (const uint32_t *)(uintptr_t)array->handles;
    const uint64_t *points = (const uint64_t *)(uintptr_t)array->points;
    int result = array->count_handles ? 0 : -EINVAL;
    for (uint32_t i = 0; i < array->count_handles && !result; i++)
        result = signal_point(handles[i], points ? points[i] : 0);
    return result;
}

static int query(const struct drm_syncobj_timeline_array *array)
{
    const uint32_t *handles = (const uint32_t *)(uintptr_t)array->handles;
    uint64_t *points = (uint64_t *)(uintptr_t)array->points;
    for (uint32_t i = 0; i < array->count_handles; i++) {
        struct drm_syncobj *s = find(handles[i]);
        if (!s)
            return -ENOENT;
        uint64_t reached = s->reached;
        for (size_t k = 0; k < s->count; k++)
            if (array->flags & DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED ||
                drm_fence_is_signalled(s->points[k].fence))
                reached = s->points[k].number;
        points[i] = reached;
    }
    return 0;
}

static int transfer(const struct drm_syncobj_transfer *t)
{
    struct drm_fence *fence;
    if (!find(t->src_handle) || !find(t->dst_handle))
        return -ENOENT;
    while (!(fence = drm_syncobj_fence(t->src_handle, t->src_point)))
        if (!(t->flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT) || !drm_wait_change(INT64_MAX))
            return -EINVAL;
    const bool ok = drm_syncobj_add(t->dst_handle, t->dst_point, fence);
    drm_fence_release(fence);
    return ok ? 0 : -ENOMEM;
}

static int handle(unsigned number, void *arguments, bool *handled)
{
    switch (number) {
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_CREATE): {
        struct drm_syncobj_create *c = arguments;
        return create(c->flags, &c->handle);
    }
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_DESTROY):
        return destroy(((struct drm_syncobj_destroy *)arguments)->handle);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD):
        return to_file(arguments);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE):
        return from_file(arguments);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_RESET):
        return reset_all(arguments, false);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_SIGNAL):
        return reset_all(arguments, true);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL):
        return signal_points(arguments);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_QUERY):
        return query(arguments);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_TRANSFER):
        return transfer(arguments);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_WAIT): {
        struct drm_syncobj_wait *w = arguments;
        const struct wait wait = {(const uint32_t *)(uintptr_t)w->handles, NULL, w->count_handles, w->flags};
        return wait_for(&wait, w->timeout_nsec, &w->first_signaled);
    }
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT): {
        struct drm_syncobj_timeline_wait *w = arguments;
        const struct wait wait = {(const uint32_t *)(uintptr_t)w->handles,
                                  (const uint64_t *)(uintptr_t)w->points, w->count_handles, w->flags};
        return wait_for(&wait, w->timeout_nsec, &w->first_signaled);
    }
    default:
        *handled = false;
        return -EINVAL;
    }
}

int drm_syncobj_request(unsigned long request, void *arguments, bool *handled)
{
    *handled = true;
    pthread_mutex_lock(&drm_lock);
    const int result = handle(_IOC_NR(request), arguments, handled);
    pthread_mutex_unlock(&drm_lock);
    return result;
}
