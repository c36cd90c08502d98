/* SPDX-License-Identifier: MIT */
/* Names of code and memory, as the program gave them to its Vulkan objects; see naming.h. Findings of checks
 * are written when the program has ended, so that names of memory are kept with the launches between which
 * they held. */
#include "shim/drm/drm.h"
#include "shim/drm/naming.h"

#include <stdlib.h>

enum { BUCKETS = 4096, MOST_ENDED = 1 << 16 };

struct name {
    struct name *next; /* in its bucket */
    const struct drm_device *device;
    uint64_t address, size; /* size 0: of code */
    unsigned objects;       /* that have it: pipelines may share their code; 0: it has ended */
    uint64_t first, end; /* launches of the GPU: the first that could use it, and the first that could not */
    char text[SHIM_OBJECT_NAME];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct name *bucket[BUCKETS];
static unsigned ended;

static struct name **bucket_of(uint64_t address)
{
    return &bucket[(address >> 8 ^ address >> 20) % BUCKETS];
}

static struct name *find(const struct drm_device *device, uint64_t address, uint64_t size)
{
    struct name *n = *bucket_of(address);
    while (n && !(n->objects && n->device == device && n->address == address && n->size == size))
        n = n->next;
    return n;
}

/* Reports are lines of text. */
void drm_copy_name(char to[SHIM_OBJECT_NAME], const char *name)
{
    snprintf(to, SHIM_OBJECT_NAME, "%s", name);
    for (char *at = to; *at; at++)
        *at = (unsigned char)*at < ' ' || *at == 0x7f ? '?' : *at;
}

static void add(struct drm_device *device, uint64_t address, uint64_t size, const char *text)
{
    pthread_mutex_lock(&lock);
    struct name *n = find(device, address, size), **head = bucket_of(address);
    if (!n && (n = calloc(1, sizeof *n))) {
        *n = (struct name){.next = *head,
                           .device = device,
                           .address = address,
                           .size = size,
                           .first = shim_observe_count(&device->gpu),
                           .end = UINT64_MAX};
        *head = n;
    }
    if (n) {
        n->objects++;
        drm_copy_name(n->text, text);
    }
    pthread_mutex_unlock(&lock);
}

static void rename_objects(struct drm_device *device, uint64_t address, uint64_t size, const char *text)
{
    pthread_mutex_lock(&lock);
    struct name *n = find(device, address, size);
    if (n)
        drm_copy_name(n->text, text);
    pthread_mutex_unlock(&lock);
}

static void take_out(struct name *n)
{
    struct name **at = bucket_of(n->address);
    while (*at != n)
        at = &(*at)->next;
    *at = n->next;
    free(n);
}

static void remove_object(struct drm_device *device, uint64_t address, uint64_t size)
{
    pthread_mutex_lock(&lock);
    struct name *n = find(device, address, size);
    if (n && !--n->objects) {
        n->end = shim_observe_count(&device->gpu);
        if (!n->size || !shim_observe_checks() || ended == MOST_ENDED)
            take_out(n);
        else
            ended++;
    }
    pthread_mutex_unlock(&lock);
}

bool drm_code_name(const struct drm_device *device, uint64_t address, char text[SHIM_OBJECT_NAME])
{
    pthread_mutex_lock(&lock);
    const struct name *n = find(device, address, 0);
    if (n)
        memcpy(text, n->text, SHIM_OBJECT_NAME);
    pthread_mutex_unlock(&lock);
    return n;
}

static uint64_t distance_of(const struct name *n, uint64_t address)
{
    return address < n->address             ? n->address - address
           : address - n->address < n->size ? 0
                                            : address - n->address - n->size + 1;
}

/* Among those at the same distance, the smallest is the most precise; of its aliases, any is right. */
bool drm_named_memory(const struct drm_device *device, uint64_t address, uint64_t launch, uint64_t farthest,
                      struct shim_allocation *found)
{
    const struct name *best = NULL;
    uint64_t least = farthest;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < BUCKETS; i++)
        for (const struct name *n = bucket[i]; n; n = n->next) {
            const bool holds = launch ? launch > n->first && launch <= n->end : n->objects > 0;
            const uint64_t distance = distance_of(n, address);
            if (!n->size || n->device != device || !holds || distance > least ||
                (best && distance == least && n->size >= best->size))
                continue;
            best = n;
            least = distance;
        }
    if (best) {
        *found = (struct shim_allocation){.low = best->address, .size = best->size};
        memcpy(found->name, best->text, sizeof found->name);
    }
    pthread_mutex_unlock(&lock);
    return best;
}

/* ---- the table ---- */

SHIM_API const struct drm_naming *wavemem_naming(void)
{
    static const struct drm_naming naming = {.watch = drm_buffer_watch,
                                             .find_code = drm_buffer_code,
                                             .add = add,
                                             .rename = rename_objects,
                                             .remove = remove_object};
    return &naming;
}
