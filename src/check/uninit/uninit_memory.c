/* SPDX-License-Identifier: MIT */
/* Uninitialised values: tracks which bytes of memory have been written. */
#include "check/uninit/uninit.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

/* Index of the first region that ends above the address. */
static size_t first_above(const struct wmi_uninit *check, uint64_t address)
{
    size_t from = 0, to = check->regions;
    while (from < to) {
        const size_t middle = (from + to) / 2;
        if (check->region[middle]->high <= address)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static struct wmi_written *region_at(const struct wmi_uninit *check, uint64_t address)
{
    const size_t at = first_above(check, address);
    return at < check->regions && check->region[at]->low <= address ? check->region[at] : NULL;
}

static void add_region(struct wmi_uninit *check, uint64_t address, uint64_t size)
{
    struct wmi_written *region = malloc(sizeof *region);
    if (!region || !wmi_grow(&check->region, &check->room, check->regions, sizeof(struct wmi_written *)) ||
        !wmi_written_create(region, address, address + size)) {
        free(region);
        check->lost = true;
        return;
    }
    const size_t at = first_above(check, address);
    memmove(check->region + at + 1, check->region + at, (check->regions - at) * sizeof(struct wmi_written *));
    check->region[at] = region;
    check->regions++;
    __atomic_fetch_add(&check->generation, 1, __ATOMIC_RELEASE);
}

static void destroy_region(struct wmi_written *region)
{
    wmi_written_destroy(region);
    free(region);
}

static void free_retired(struct wmi_uninit *check)
{
    for (size_t i = 0; i < check->retired_count; i++)
        destroy_region(check->retired[i]);
    free(check->retired);
    check->retired = NULL;
    check->retired_count = 0;
}

/* Removes the region. A running dispatch may still read it, so that it is freed later. */
static void remove_region(struct wmi_uninit *check, size_t at)
{
    struct wmi_written *region = check->region[at];
    struct wmi_written **more =
        realloc(check->retired, (check->retired_count + 1) * sizeof(struct wmi_written *));
    if (!more) { /* the region stays, marked as written */
        wmi_written_set(region, region->low, region->high - region->low);
        return;
    }
    check->retired = more;
    check->retired[check->retired_count++] = region;
    check->regions--;
    memmove(check->region + at, check->region + at + 1, (check->regions - at) * sizeof(struct wmi_written *));
    __atomic_fetch_add(&check->generation, 1, __ATOMIC_RELEASE);
}

/* Reports the last copy to the host, if nobody wrote some of its bytes. */
static void end_copy(struct wmi_uninit *check)
{
    struct wmi_uninit_copy *copy = &check->copy;
    if (copy->missing) {
        const struct wmi_found found = wmi_uninit_copy_found(copy);
        if (wmi_grow(&check->name, &check->name_room, check->names, sizeof(char *)) &&
            wmi_found_add(&check->copied, &found)) {
            check->name[check->names++] = copy->name;
            copy->name = NULL;
        } else
            check->lost = true;
    }
    free(copy->name);
    *copy = (struct wmi_uninit_copy){0};
}

/* Adds a piece of which nobody wrote `missing` bytes to the last copy to the host, or begins a copy with it.
 * Runtimes split large copies (HIP 5.2 into pieces of 32 MiB), which follow one another without a
 * dispatch. A copy that was written in part is none of bytes that nobody wrote, whatever its pieces are. */
static void add_piece(struct wmi_uninit *check, const struct wmi_allocation *allocation, uint64_t from,
                      uint64_t size, uint64_t first, uint64_t missing)
{
    enum { SMALLEST_PIECE = 1 << 20 };
    struct wmi_uninit_copy *copy = &check->copy;
    if (!copy->name || copy->low != allocation->low || copy->end != from || copy->piece < SMALLEST_PIECE) {
        end_copy(check);
        copy->name = strdup(allocation->name ? allocation->name : "");
        if (!copy->name) {
            check->lost = true;
            return;
        }
        copy->low = allocation->low;
        copy->high = allocation->high;
    }
    if (!copy->missing)
        copy->first = first;
    copy->missing += missing;
    copy->size += size;
    copy->piece = size;
    copy->end = from + size;
}

void wmi_uninit_memory(void *self, const struct wm_event *event)
{
    struct wmi_uninit *check = self;
    const struct wm_memory *memory = &event->memory;
    pthread_mutex_lock(&check->lock);
    struct wmi_written *region = region_at(check, memory->address);
    switch (event->kind) {
    case WM_EVENT_ALLOCATE:
        if (!region)
            add_region(check, memory->address, memory->size);
        break;
    case WM_EVENT_FREE:
        if (memory->address == check->copy.low) /* not what the runtime locks for a piece */
            end_copy(check);
        if (region)
            remove_region(check, first_above(check, memory->address));
        break;
    case WM_EVENT_HOST_WRITE:
    case WM_EVENT_HOST_POINTER:
        if (region)
            wmi_written_set(region, memory->address, memory->size);
        break;
    default:
        break;
    }
    pthread_mutex_unlock(&check->lock);
}

/* Forgets that bytes of the copy have been written; a bit for each of them. */
static void unwrite(struct wmi_written *region, uint64_t address, uint64_t bits)
{
    for (; bits; bits &= bits - 1)
        wmi_written_clear(region, address + (unsigned)__builtin_ctzll(bits), 1);
}

uint64_t wmi_uninit_copied(void *self, const struct wmi_allocation *allocation, uint64_t to, uint64_t from,
                           uint64_t size)
{
    enum { BITS = 64 };
    struct wmi_uninit *check = self;
    uint64_t missing = 0, first = 0;
    pthread_mutex_lock(&check->lock);
    const struct wmi_written *region = region_at(check, from);
    struct wmi_written *copy = to ? region_at(check, to) : NULL;
    for (uint64_t at = 0; region && at < size && !__atomic_load_n(&region->all, __ATOMIC_RELAXED);
         at += BITS) {
        const uint64_t bits =
            wmi_written_missing(region, from + at, size - at < BITS ? (unsigned)(size - at) : BITS);
        if (bits && !missing)
            first = from + at + (unsigned)__builtin_ctzll(bits);
        missing += (unsigned)__builtin_popcountll(bits);
        if (copy)
            unwrite(copy, to + at, bits);
    }
    if (region && !to)
        add_piece(check, allocation, from, size, first, missing);
    pthread_mutex_unlock(&check->lock);
    return missing;
}

bool wmi_uninit_outside(void *self, struct wmi_found_set *findings)
{
    struct wmi_uninit *check = self;
    pthread_mutex_lock(&check->lock);
    end_copy(check);
    const bool ok = wmi_found_move(findings, &check->copied);
    pthread_mutex_unlock(&check->lock);
    return ok;
}

struct wmi_written *wmi_uninit_region(struct wmi_uninit_shard *shard, uint64_t address, uint32_t slot)
{
    struct wmi_uninit *check = shard->check;
    struct wmi_uninit_recent *recent = &shard->recent[slot % WMI_UNINIT_RECENT];
    if (__builtin_expect(__atomic_load_n(&check->generation, __ATOMIC_ACQUIRE) != shard->seen, 0)) {
        memset(shard->recent, 0, sizeof shard->recent);
        shard->seen = __atomic_load_n(&check->generation, __ATOMIC_ACQUIRE);
    }
    if (__builtin_expect(address >= recent->low && address < recent->high, 1))
        return recent->region;
    if (address >= check->scratch.low && address < check->scratch.high) {
        *recent = (struct wmi_uninit_recent){check->scratch.low, check->scratch.high, &check->scratch};
        return recent->region;
    }
    pthread_mutex_lock(&check->lock);
    const size_t at = first_above(check, address);
    struct wmi_written *region = at < check->regions ? check->region[at] : NULL;
    if (region && region->low <= address)
        *recent = (struct wmi_uninit_recent){region->low, region->high, region};
    else { /* part of the gap between regions, which may contain scratch memory */
        const uint64_t low = address & ~UINT64_C(63), end = at ? check->region[at - 1]->high : 0;
        *recent = (struct wmi_uninit_recent){low > end ? low : end, low + 64, NULL};
        region = NULL;
    }
    pthread_mutex_unlock(&check->lock);
    return recent->region;
}

struct wmi_uninit_place wmi_uninit_place_of(struct wmi_uninit_shard *shard, const struct wmi_element *element,
                                            uint64_t address, uint32_t slot)
{
    struct wmi_uninit_group *group = shard->group;
    if (element->space == WMI_SPACE_LDS)
        return (struct wmi_uninit_place){&group->lds, &group->lds_values, WMI_UNINIT_LDS};
    struct wmi_written *written = wmi_uninit_region(shard, address, slot);
    if (written == &shard->check->scratch)
        return (struct wmi_uninit_place){written, &group->scratch_values, WMI_UNINIT_SCRATCH};
    return (struct wmi_uninit_place){written, &shard->check->values, WMI_UNINIT_GLOBAL};
}

uint8_t wmi_uninit_difference(const struct wmi_uninit_place *place, uint64_t address, uint32_t *origin)
{
    const struct wmi_undefined_dword *value = wmi_undefined_find(place->values, address);
    const uint8_t stored = value ? (uint8_t)(value->difference >> address % 4 * 8) : 0;
    *origin = stored ? value->origin : 0;
    return stored ? stored : (uint8_t)(wmi_undefined_pattern(address) >> address % 4 * 8);
}

static void note_scratch(struct wmi_uninit *check, uint64_t address, uint64_t bytes)
{
    const uint64_t at = address - check->dispatch.scratch, stride = check->dispatch.scratch_stride;
    const size_t piece = stride ? (size_t)(at / stride) : 0;
    const uint64_t high = stride ? at % stride + bytes : 0;
    if (piece < check->pieces && high > check->scratch_high[piece])
        check->scratch_high[piece] = high < UINT32_MAX ? (uint32_t)high : UINT32_MAX;
}

void wmi_uninit_written(struct wmi_uninit_shard *shard, const struct wmi_uninit_place *place,
                        uint64_t address, uint64_t bytes)
{
    if (!place->written)
        return;
    if (place->source == WMI_UNINIT_GLOBAL)
        wmi_written_set(place->written, address, bytes);
    else
        wmi_written_set_alone(place->written, address, bytes);
    if (place->source == WMI_UNINIT_SCRATCH)
        note_scratch(shard->check, address, bytes);
}

void wmi_uninit_undefine(struct wmi_uninit_shard *shard, const struct wmi_uninit_place *place,
                         uint64_t address, uint8_t difference, uint32_t origin)
{
    const unsigned shift = address % 4 * 8;
    if (!place->written)
        return;
    if (!wmi_undefined_put(place->values, address, 0xffu << shift, (uint32_t)difference << shift, origin)) {
        shard->missed = true;
        return;
    }
    wmi_written_clear(place->written, address, 1);
    if (place->source == WMI_UNINIT_SCRATCH)
        note_scratch(shard->check, address, 1);
}

/* Removes regions that wavemem itself allocates, because it has written them. */
static void forget_own(struct wmi_uninit *check)
{
    const struct wmi_space *space = check->dispatch.space;
    for (size_t i = check->regions; space && i-- > 0;) {
        const struct wmi_allocation *allocation = wmi_space_find(space, check->region[i]->low);
        if (!allocation || allocation->flags & (WMI_ALLOCATION_OWN | WMI_ALLOCATION_HOST))
            remove_region(check, i);
    }
}

static bool begin_scratch(struct wmi_uninit *check)
{
    const struct wmi_check_dispatch *dispatch = &check->dispatch;
    const struct wmi_allocation *allocation =
        dispatch->scratch && dispatch->space ? wmi_space_find(dispatch->space, dispatch->scratch) : NULL;
    wmi_written_destroy(&check->scratch);
    free(check->scratch_high);
    check->scratch_high = NULL;
    check->pieces = 0;
    check->scratch = (struct wmi_written){0};
    if (!allocation || !dispatch->scratch_stride)
        return true;
    const size_t pieces = (size_t)((allocation->high - dispatch->scratch) / dispatch->scratch_stride) + 1;
    check->scratch_high = calloc(pieces, sizeof *check->scratch_high);
    check->pieces = check->scratch_high ? pieces : 0;
    return check->scratch_high && wmi_written_create(&check->scratch, dispatch->scratch, allocation->high);
}

bool wmi_uninit_begin_memory(struct wmi_uninit *check)
{
    pthread_mutex_lock(&check->lock);
    end_copy(check);
    forget_own(check);
    free_retired(check);
    __atomic_fetch_add(&check->generation, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&check->lock);
    return begin_scratch(check);
}

void wmi_uninit_free_memory(struct wmi_uninit *check)
{
    for (size_t i = 0; i < check->regions; i++)
        destroy_region(check->region[i]);
    free_retired(check);
    wmi_written_destroy(&check->scratch);
    wmi_undefined_free(&check->values);
    free(check->region);
    free(check->scratch_high);
}
