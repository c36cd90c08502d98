/* SPDX-License-Identifier: MIT */
/* Buffer objects, and where GPU addresses have them. Source: linux, amdgpu_gem.c, amdgpu_vm.c. */
#include "shim/drm/drm.h"
#include "shim/drm/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- ranges of the file ---- */

/* Free bytes, sorted by offset. */
struct drm_range {
    struct drm_range *next;
    uint64_t offset, size;
};

bool drm_ranges_begin(struct drm_device *device, uint64_t size)
{
    device->ranges = calloc(1, sizeof *device->ranges);
    if (device->ranges) /* offset 0 would look like no mapping */
        *device->ranges = (struct drm_range){NULL, DRM_PAGE, size - DRM_PAGE};
    return device->ranges;
}

static bool take_range(struct drm_device *device, uint64_t size, uint64_t *offset)
{
    for (struct drm_range **at = &device->ranges, *range; (range = *at); at = &range->next)
        if (range->size >= size) {
            *offset = range->offset;
            range->offset += size;
            range->size -= size;
            if (!range->size) {
                *at = range->next;
                free(range);
            }
            return true;
        }
    return false;
}

/* Also frees the host's memory. */
static void give_range(struct drm_device *device, uint64_t offset, uint64_t size)
{
    struct drm_range **at = &device->ranges, *before = NULL;
    fallocate(device->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size);
    for (; *at && (*at)->offset < offset; at = &(*at)->next)
        before = *at;
    struct drm_range *next = *at;
    if (next && offset + size == next->offset) {
        next->offset = offset;
        next->size += size;
    } else {
        struct drm_range *range = malloc(sizeof *range);
        if (!range)
            return; /* the addresses are lost, the memory is not */
        *range = (struct drm_range){next, offset, size};
        *at = next = range;
    }
    if (before && before->offset + before->size == next->offset) {
        before->size += next->size;
        before->next = next->next;
        free(next);
    }
}

/* ---- buffers ---- */

static struct drm_buffer *buffers; /* by handle - 1 */
static uint32_t buffer_count;

enum { MOST_BUFFERS = 1 << 24 };

static struct drm_buffer *find(const struct drm_device *device, uint32_t handle)
{
    struct drm_buffer *buffer = handle && handle <= buffer_count ? &buffers[handle - 1] : NULL;
    return buffer && buffer->device == device && !buffer->is_closed ? buffer : NULL;
}

/* A free handle; 0: no memory. */
static uint32_t take_handle(void)
{
    static uint32_t first; /* none below is free */
    while (first < buffer_count && buffers[first].device)
        first++;
    if (first == buffer_count) {
        const uint32_t more = buffer_count ? 2 * buffer_count : 64;
        struct drm_buffer *grown = more > MOST_BUFFERS ? NULL : realloc(buffers, more * sizeof *grown);
        if (!grown)
            return 0;
        memset(grown + buffer_count, 0, (more - buffer_count) * sizeof *grown);
        buffers = grown;
        buffer_count = more;
    }
    const uint32_t taken = first;
    first = 0; /* handles below may have been freed since */
    return taken + 1;
}

static void release(struct drm_buffer *buffer)
{
    struct drm_device *device = buffer->device;
    const uint32_t origin = buffer->origin;
    if (--buffer->references)
        return;
    if (origin)
        drm_buffer_release(origin);
    else if (!buffer->is_user) {
        device->used[buffer->heap] -= buffer->size;
        give_range(device, buffer->offset, buffer->size);
    }
    *buffer = (struct drm_buffer){0};
}

static _Thread_local struct drm_created *watch;

void drm_buffer_watch(struct drm_created *created)
{
    watch = created;
}

static void note_created(struct drm_device *device, uint32_t handle)
{
    if (!watch || watch->count == SHIM_COUNT(watch->handle))
        return;
    watch->device = device;
    watch->handle[watch->count++] = handle;
}

bool drm_buffer_code(const struct drm_created *created, uint64_t *address)
{
    bool found = false;
    pthread_mutex_lock(&drm_lock);
    for (unsigned i = 0; i < created->count && !found; i++) {
        const struct drm_buffer *buffer = find(created->device, created->handle[i]);
        found = buffer && drm_find_code(buffer->host, buffer->size / 4, address);
    }
    pthread_mutex_unlock(&drm_lock);
    return found;
}

int drm_buffer_create(struct drm_device *device, union drm_amdgpu_gem_create *arguments)
{
    const struct drm_amdgpu_gem_create_in in = arguments->in;
    const unsigned heap = in.domains & AMDGPU_GEM_DOMAIN_VRAM ? DRM_VRAM : DRM_GTT;
    struct drm_buffer buffer = {
        .device = device, .references = 1, .heap = heap, .flags = in.domain_flags, .domains = in.domains};
    if (!in.bo_size || in.bo_size > UINT64_C(1) << 40)
        return -EINVAL;
    buffer.size = (in.bo_size + DRM_PAGE - 1) / DRM_PAGE * DRM_PAGE;
    int result = -ENOMEM;
    pthread_mutex_lock(&drm_lock);
    if (device->used[heap] + buffer.size > drm_heap_bytes(device, heap))
        drm_files_end(); /* which may hold buffers */
    const uint32_t handle = take_handle();
    if (handle && device->used[heap] + buffer.size <= drm_heap_bytes(device, heap) &&
        take_range(device, buffer.size, &buffer.offset)) {
        buffer.host = device->base + buffer.offset;
        device->used[heap] += buffer.size;
        buffers[handle - 1] = buffer;
        note_created(device, handle);
        *arguments = (union drm_amdgpu_gem_create){.out.handle = handle};
        result = 0;
    }
    pthread_mutex_unlock(&drm_lock);
    return result;
}

int drm_buffer_user(struct drm_device *device, struct drm_amdgpu_gem_userptr *arguments)
{
    if (!arguments->size || arguments->addr % DRM_PAGE || arguments->size % DRM_PAGE)
        return -EINVAL;
    pthread_mutex_lock(&drm_lock);
    arguments->handle = take_handle();
    if (arguments->handle)
        buffers[arguments->handle - 1] = (struct drm_buffer){.device = device,
                                                             .references = 1,
                                                             .size = arguments->size,
                                                             .host = (void *)(uintptr_t)arguments->addr,
                                                             .is_user = true};
    pthread_mutex_unlock(&drm_lock);
    return arguments->handle ? 0 : -ENOMEM;
}

int drm_buffer_map(struct drm_device *device, union drm_amdgpu_gem_mmap *arguments)
{
    pthread_mutex_lock(&drm_lock);
    const struct drm_buffer *buffer = find(device, arguments->in.handle);
    const int result = !buffer ? -ENOENT : buffer->is_user || buffer->origin ? -EPERM : 0;
    if (!result)
        *arguments = (union drm_amdgpu_gem_mmap){.out.addr_ptr = buffer->offset};
    pthread_mutex_unlock(&drm_lock);
    return result;
}

int drm_buffer_metadata(struct drm_device *device, struct drm_amdgpu_gem_metadata *arguments)
{
    pthread_mutex_lock(&drm_lock);
    struct drm_buffer *buffer = find(device, arguments->handle);
    int result = buffer ? 0 : -ENOENT;
    if (result)
        ;
    else if (arguments->op == AMDGPU_GEM_METADATA_OP_GET_METADATA)
        arguments->data = buffer->metadata.data;
    else if (arguments->op == AMDGPU_GEM_METADATA_OP_SET_METADATA &&
             arguments->data.data_size_bytes <= sizeof arguments->data.data)
        buffer->metadata = *arguments;
    else
        result = -EINVAL;
    pthread_mutex_unlock(&drm_lock);
    return result;
}

int drm_buffer_operation(struct drm_device *device, struct drm_amdgpu_gem_op *arguments)
{
    pthread_mutex_lock(&drm_lock);
    const struct drm_buffer *buffer = find(device, arguments->handle);
    int result = buffer ? 0 : -ENOENT;
    if (result)
        ;
    else if (arguments->op == AMDGPU_GEM_OP_GET_GEM_CREATE_INFO)
        *(struct drm_amdgpu_gem_create_in *)(uintptr_t)arguments->value =
            (struct drm_amdgpu_gem_create_in){buffer->size, DRM_PAGE, buffer->domains, buffer->flags};
    else if (arguments->op != AMDGPU_GEM_OP_SET_PLACEMENT)
        result = -EINVAL;
    pthread_mutex_unlock(&drm_lock);
    return result;
}

int drm_buffer_close(struct drm_device *device, uint32_t handle)
{
    pthread_mutex_lock(&drm_lock);
    struct drm_buffer *buffer = find(device, handle);
    if (buffer) {
        drm_unmap_buffer(device, handle);
        buffer->is_closed = true;
        release(buffer);
    }
    pthread_mutex_unlock(&drm_lock);
    return buffer ? 0 : -EINVAL;
}

int drm_buffer_to_file(struct drm_device *device, struct drm_prime_handle *arguments)
{
    pthread_mutex_lock(&drm_lock);
    struct drm_buffer *buffer = find(device, arguments->handle);
    int result = !buffer ? -ENOENT : buffer->is_user || buffer->origin ? -EPERM : 0;
    if (!result) {
        arguments->fd = drm_file_of_buffer(arguments->handle, buffer->size);
        result = arguments->fd < 0 ? arguments->fd : 0;
        buffer->references += !result;
    }
    pthread_mutex_unlock(&drm_lock);
    return result;
}

/* A handle for another device's buffer; 0: no memory. */
static uint32_t take_foreign(struct drm_device *device, uint32_t origin)
{
    const uint32_t handle = take_handle();
    if (!handle)
        return 0;
    struct drm_buffer *from = &buffers[origin - 1];
    buffers[handle - 1] = (struct drm_buffer){.device = device,
                                              .references = 1,
                                              .size = from->size,
                                              .host = from->host,
                                              .origin = origin,
                                              .heap = DRM_GTT,
                                              .domains = AMDGPU_GEM_DOMAIN_GTT,
                                              .flags = from->flags,
                                              .metadata = from->metadata};
    from->references++;
    return handle;
}

/* One file of a device has one handle for a buffer, and libdrm opens one file: what is open keeps its handle.
 */
int drm_buffer_from_file(struct drm_device *device, struct drm_prime_handle *arguments)
{
    pthread_mutex_lock(&drm_lock);
    uint32_t handle = drm_file_buffer(arguments->fd);
    int result = handle ? 0 : -EINVAL;
    struct drm_buffer *buffer = handle ? &buffers[handle - 1] : NULL;
    if (buffer && buffer->device != device) {
        handle = take_foreign(device, handle);
        result = handle ? 0 : -ENOMEM;
    } else if (buffer && buffer->is_closed) {
        buffer->is_closed = false;
        buffer->references++;
    }
    arguments->handle = handle;
    pthread_mutex_unlock(&drm_lock);
    return result;
}

void *drm_buffer_take(struct drm_device *device, uint32_t handle, uint64_t offset, uint64_t size)
{
    struct drm_buffer *buffer = find(device, handle);
    if (!buffer || size > buffer->size || offset > buffer->size - size)
        return NULL;
    buffer->references++;
    return (char *)buffer->host + offset;
}

void drm_buffer_release(uint32_t handle)
{
    release(&buffers[handle - 1]);
}

/* ---- addresses ---- */

/* A range of GPU addresses. */
struct drm_mapping {
    struct drm_mapping *next;
    uint64_t address, size;
    uint32_t handle; /* of its buffer; 0: bound to nothing, reads are 0 and stores are dropped */
    uint64_t offset; /* in the buffer */
    uint64_t number; /* in the order in which they were made */
    uint64_t made;   /* the last job that was submitted before */
    uint64_t job;    /* while it is ending: the last that may use it */
    bool hidden;     /* the machine does not have it yet, but an older one, which is ending */
};

static void name_mapping(const struct drm_mapping *m, char name[32])
{
    snprintf(name, 32, m->handle ? "memory %u" : "unbound range", m->handle);
}

/* Makes the machine have it. */
static int show(struct drm_device *device, const struct drm_mapping *m)
{
    char name[32];
    struct wm_diag diag = {0};
    name_mapping(m, name);
    const enum wm_status status =
        m->handle ? wm_map_host(device->gpu.machine, (char *)buffers[m->handle - 1].host + m->offset, m->size,
                                m->address, 0, name, &diag)
                  : wm_allocate_at(device->gpu.machine, m->address, m->size, WM_UNBOUND, name, &diag);
    if (status)
        shim_complain("amdgpu: GPU addresses 0x%llx to 0x%llx: %s", (unsigned long long)m->address,
                      (unsigned long long)(m->address + m->size), diag.message);
    return status == WM_OK ? 0 : status == WM_NO_MEMORY ? -ENOMEM : -EINVAL;
}

/* Puts it into the list, and into the machine. */
static int insert(struct drm_device *device, struct drm_mapping what)
{
    struct drm_mapping **at = &device->mappings, *m = malloc(sizeof *m);
    if (!m)
        return -ENOMEM;
    while (*at && (*at)->address < what.address)
        at = &(*at)->next;
    *m = what;
    m->next = *at;
    m->number = ++device->mapped;
    const int result = m->hidden ? 0 : show(device, m);
    if (result) {
        free(m);
        return result;
    }
    *at = m;
    if (m->handle)
        buffers[m->handle - 1].references++;
    return 0;
}

/* Takes one out of the list and the machine. */
static void take_out(struct drm_device *device, struct drm_mapping **at)
{
    struct drm_mapping *m = *at;
    *at = m->next;
    if (!m->hidden)
        wm_free(device->gpu.machine, m->address, NULL);
    if (m->handle)
        release(&buffers[m->handle - 1]);
    free(m);
}

/* Ends it behind the jobs that were submitted before: drivers free what a submission uses right behind it,
 * and the kernel updates page tables behind the jobs. */
static void end(struct drm_device *device, struct drm_mapping **at)
{
    struct drm_mapping *m = *at;
    if (drm_oldest_job(device) > device->submitted || m->made == device->submitted) {
        take_out(device, at);
        return;
    }
    *at = m->next;
    m->next = device->ending;
    m->job = device->submitted;
    device->ending = m;
}

static bool overlaps(const struct drm_mapping *first, uint64_t low, uint64_t high)
{
    for (const struct drm_mapping *m = first; m; m = m->next)
        if (m->address < high && m->address + m->size > low)
            return true;
    return false;
}

/* Whether there is one that was made before. */
static bool is_older(const struct drm_mapping *first, const struct drm_mapping *than)
{
    for (const struct drm_mapping *m = first; m; m = m->next)
        if (m->number < than->number && m->address < than->address + than->size &&
            m->address + m->size > than->address)
            return true;
    return false;
}

/* Makes the machine have those of the list whose addresses are free now. */
static void show_hidden(struct drm_device *device, struct drm_mapping *first)
{
    for (struct drm_mapping *m = first; m; m = m->next)
        if (m->hidden && !is_older(device->ending, m)) {
            m->hidden = false;
            show(device, m); /* a failure has been reported, and accesses will fault */
        }
}

void drm_end_mappings(struct drm_device *device, uint64_t oldest)
{
    for (struct drm_mapping **at = &device->ending; *at;)
        if ((*at)->job < oldest)
            take_out(device, at);
        else
            at = &(*at)->next;
    show_hidden(device, device->ending);
    show_hidden(device, device->mappings);
}

static bool needs_hidden(const struct drm_mapping *first, uint64_t job, bool ending)
{
    for (const struct drm_mapping *m = first; m; m = m->next)
        if (m->hidden && m->made < job && (!ending || job <= m->job))
            return true;
    return false;
}

bool drm_mappings_are_ready(const struct drm_device *device, uint64_t job)
{
    return !needs_hidden(device->ending, job, true) && !needs_hidden(device->mappings, job, false);
}

/* Waits until the machine has what the list has in the range. */
static void await_range(const struct drm_device *device, uint64_t low, uint64_t high)
{
    const struct drm_mapping *m = device->mappings;
    while (m)
        if (m->hidden && m->address < high && m->address + m->size > low) {
            drm_wait_change(INT64_MAX);
            m = device->mappings; /* the lock was not held */
        } else {
            m = m->next;
        }
}

void drm_unmap_buffer(struct drm_device *device, uint32_t handle)
{
    for (struct drm_mapping **at = &device->mappings; *at;)
        if ((*at)->handle == handle)
            end(device, at);
        else
            at = &(*at)->next;
}

/* Removes all in a range; what begins below or ends above keeps that part. */
static int clear(struct drm_device *device, uint64_t low, uint64_t high)
{
    int result = 0;
    for (struct drm_mapping **at = &device->mappings; *at && (*at)->address < high;) {
        struct drm_mapping m = **at;
        const uint64_t end = m.address + m.size;
        if (end <= low) {
            at = &(*at)->next;
            continue;
        }
        if (m.handle)
            buffers[m.handle - 1].references++; /* while it has no mapping */
        take_out(device, at);
        if (m.address < low)
            result = insert(device, (struct drm_mapping){.address = m.address,
                                                         .size = low - m.address,
                                                         .handle = m.handle,
                                                         .offset = m.offset,
                                                         .made = m.made});
        if (end > high && !result)
            result = insert(device, (struct drm_mapping){.address = high,
                                                         .size = end - high,
                                                         .handle = m.handle,
                                                         .offset = m.offset + (high - m.address),
                                                         .made = m.made});
        if (m.handle)
            release(&buffers[m.handle - 1]);
        at = &device->mappings; /* the list has changed */
        if (result)
            break;
    }
    return result;
}

static int map(struct drm_device *device, const struct drm_amdgpu_gem_va *a, bool replaces)
{
    struct drm_buffer *buffer = find(device, a->handle);
    const bool bound = !(a->flags & AMDGPU_VM_PAGE_PRT);
    const uint64_t size = (a->map_size + DRM_PAGE - 1) / DRM_PAGE * DRM_PAGE;
    if (bound && !buffer)
        return -ENOENT;
    if (bound && (a->offset_in_bo % DRM_PAGE || size > buffer->size || a->offset_in_bo > buffer->size - size))
        return -EINVAL;
    const uint64_t low = a->va_address, high = low + size;
    struct drm_mapping what = {.address = low,
                               .size = size,
                               .handle = bound ? a->handle : 0,
                               .offset = bound ? a->offset_in_bo : 0,
                               .made = device->submitted};
    if (replaces) {
        await_range(device, low, high);
        const int result = clear(device, low, high);
        if (result)
            return result;
    } else if (overlaps(device->mappings, low, high)) {
        return -EINVAL;
    }
    /* Like the kernel, this does not wait for jobs that use what was here before: they may wait for the
     * program. */
    what.hidden = overlaps(device->ending, low, high);
    return insert(device, what);
}

static int unmap(struct drm_device *device, const struct drm_amdgpu_gem_va *a)
{
    for (struct drm_mapping **at = &device->mappings; *at; at = &(*at)->next)
        if ((*at)->address == a->va_address) {
            end(device, at);
            return 0;
        }
    return -ENOENT;
}

int drm_addresses(struct drm_device *device, const struct drm_amdgpu_gem_va *a)
{
    const uint64_t limit = UINT64_C(1) << 48;
    if (a->va_address % DRM_PAGE || !a->va_address || a->va_address >= limit ||
        a->map_size > limit - a->va_address || (!a->map_size && a->operation != AMDGPU_VA_OP_UNMAP))
        return -EINVAL;
    int result = -EINVAL;
    pthread_mutex_lock(&drm_lock);
    switch (a->operation) {
    case AMDGPU_VA_OP_MAP:
        result = map(device, a, false);
        break;
    case AMDGPU_VA_OP_UNMAP:
        result = unmap(device, a);
        break;
    case AMDGPU_VA_OP_CLEAR:
        await_range(device, a->va_address, a->va_address + a->map_size);
        result = clear(device, a->va_address, a->va_address + a->map_size);
        break;
    case AMDGPU_VA_OP_REPLACE:
        result = map(device, a, true);
        break;
    }
    pthread_mutex_unlock(&drm_lock);
    return result;
}

/* ---- for reports ---- */

bool shim_nearest(const struct shim_gpu *gpu, uint64_t address, struct shim_allocation *near)
{
    const struct drm_mapping *best = NULL;
    uint64_t least = UINT64_MAX;
    const struct drm_device *device = drm_device(gpu ? gpu->number : 0);
    pthread_mutex_lock(&drm_lock);
    for (const struct drm_mapping *m = device ? device->mappings : NULL; m && least; m = m->next) {
        const uint64_t end = m->address + m->size;
        const uint64_t distance = address < m->address ? m->address - address
                                  : address < end      ? 0
                                                       : address - end + 1;
        if (distance < least) {
            least = distance;
            best = m;
        }
    }
    if (best)
        *near = (struct shim_allocation){
            .low = best->address, .size = best->size, .kind = best->handle ? "a buffer" : "an unbound range"};
    pthread_mutex_unlock(&drm_lock);
    /* What the program made is rather meant than the driver's own memory beside it. */
    return best && (drm_named_memory(device, address, 0, 2 * least + DRM_PAGE, near) || best);
}

bool shim_named_memory(const struct shim_gpu *gpu, uint64_t address, uint64_t launch,
                       struct shim_allocation *found)
{
    enum { FARTHEST = 1 << 20 };
    return drm_named_memory(drm_device(gpu->number), address, launch, FARTHEST, found);
}
