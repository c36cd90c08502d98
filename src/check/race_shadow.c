/* SPDX-License-Identifier: MIT */
/* The shadow of memory for race detection: pages, and the records of one dword. */
#include "check/race_shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALL_BYTES = 15, CHUNK = 1 << 21 };

/* ---- pools ---- */

/* Memory for items: the first chunk may stay nearly empty; later ones are large pages if the system has them,
 * because most of them will be touched. */
static void *new_chunk(bool first)
{
    void *chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED)
        return NULL;
    if (!first)
        (void)madvise(chunk, CHUNK, MADV_HUGEPAGE);
    return chunk;
}

static void *item_at(const struct wmi_race_pool *pool, size_t number, size_t size)
{
    const size_t per_chunk = CHUNK / size;
    return pool->chunk[number / per_chunk] + number % per_chunk * size;
}

/* A zeroed item; NULL: no memory. */
static void *take(struct wmi_race_shadow *shadow, struct wmi_race_pool *pool, size_t size)
{
    const size_t number = pool->used;
    if (pool->unused) {
        void *item = pool->unused;
        memcpy(&pool->unused, item, sizeof pool->unused);
        return memset(item, 0, size);
    }
    if (number / (CHUNK / size) == pool->chunks) {
        unsigned char **more = realloc(pool->chunk, (pool->chunks + 1) * sizeof(unsigned char *));
        if (more)
            pool->chunk = more;
        if (!more || !(more[pool->chunks] = new_chunk(!pool->chunks))) {
            shadow->lost = true;
            return NULL;
        }
        pool->chunks++;
    }
    void *item = item_at(pool, number, size);
    if (number < pool->touched)
        memset(item, 0, size);
    else
        pool->touched = number + 1;
    pool->used++;
    return item;
}

static void give_back(struct wmi_race_pool *pool, void *item)
{
    memcpy(item, &pool->unused, sizeof pool->unused);
    pool->unused = item;
}

/* All items can be taken again. */
static void reset_pool(struct wmi_race_pool *pool)
{
    pool->used = 0;
    pool->unused = NULL;
}

static void free_pool(struct wmi_race_pool *pool)
{
    for (size_t i = 0; i < pool->chunks; i++)
        munmap(pool->chunk[i], CHUNK);
    free(pool->chunk);
}

/* ---- areas and pages ---- */

void wmi_race_shadow_begin(struct wmi_race_shadow *shadow, uint32_t launch)
{
    shadow->launch = launch;
    memset(shadow->recent, 0, sizeof shadow->recent);
    for (unsigned i = 0; i < WMI_RACE_ROOMS; i++)
        reset_pool(&shadow->lists[i]);
    reset_pool(&shadow->details);
    reset_pool(&shadow->parts);
    reset_pool(&shadow->blocks);
    reset_pool(&shadow->bytes);
    shadow->lost = false;
}

void wmi_race_shadow_free(struct wmi_race_shadow *shadow)
{
    free_pool(&shadow->areas);
    for (unsigned i = 0; i < WMI_RACE_ROOMS; i++)
        free_pool(&shadow->lists[i]);
    free_pool(&shadow->details);
    free_pool(&shadow->parts);
    free_pool(&shadow->blocks);
    free_pool(&shadow->bytes);
    free(shadow->area);
    *shadow = (struct wmi_race_shadow){0};
}

/* capacity: a power of two. */
static struct wmi_race_area **slot_of(struct wmi_race_area **area, size_t capacity, uint64_t number)
{
    /* Neighbouring areas are neighbours in the table, too. */
    size_t at = number ^ number >> 20;
    while (area[at & (capacity - 1)] && area[at & (capacity - 1)]->number != number)
        at++;
    return &area[at & (capacity - 1)];
}

static bool make_room(struct wmi_race_shadow *shadow)
{
    if (2 * (shadow->count + 1) <= shadow->capacity)
        return true;
    const size_t capacity = shadow->capacity ? 2 * shadow->capacity : 256;
    struct wmi_race_area **area = calloc(capacity, sizeof(struct wmi_race_area *));
    if (!area)
        return false;
    for (size_t i = 0; i < shadow->capacity; i++)
        if (shadow->area[i])
            *slot_of(area, capacity, shadow->area[i]->number) = shadow->area[i];
    free(shadow->area);
    shadow->area = area;
    shadow->capacity = capacity;
    return true;
}

struct wmi_race_area *wmi_race_find_area(struct wmi_race_shadow *shadow, uint64_t number)
{
    if (!make_room(shadow)) {
        shadow->lost = true;
        return NULL;
    }
    struct wmi_race_area **slot = slot_of(shadow->area, shadow->capacity, number);
    if (!*slot) {
        struct wmi_race_area *area = take(shadow, &shadow->areas, sizeof *area);
        if (!area)
            return NULL;
        area->number = number;
        shadow->count++;
        *slot = area;
    }
    return shadow->recent[number % WMI_RACE_RECENT] = *slot;
}

void wmi_race_clear_page(struct wmi_race_shadow *shadow, struct wmi_race_page *page)
{
    *page = (struct wmi_race_page){.launch = shadow->launch};
}

bool wmi_race_grow(struct wmi_race_shadow *shadow, struct wmi_race_page *page)
{
    const uint32_t had = page->room, room = had ? 2 * had : 1;
    const unsigned pool = (unsigned)__builtin_ctz(room);
    struct wmi_race_entry *entry = NULL;
    if (room > WMI_RACE_ENTRIES ||
        !(entry = take(shadow, &shadow->lists[pool], WMI_RACE_BLOCKS * room * sizeof *entry)))
        return false;
    for (size_t block = 0; had && block < WMI_RACE_BLOCKS; block++)
        memcpy(&entry[block * room], &page->entry[block * had], had * sizeof *entry);
    if (had)
        give_back(&shadow->lists[pool - 1], page->entry);
    page->entry = entry;
    page->room = room;
    return true;
}

/* ---- blocks ---- */

static struct wmi_race_detail *detail_of(struct wmi_race_shadow *shadow, struct wmi_race_page *page,
                                         unsigned block)
{
    if (!page->detail &&
        !(page->detail = take(shadow, &shadow->details, WMI_RACE_BLOCKS * sizeof *page->detail)))
        return NULL;
    return &page->detail[block];
}

static struct wmi_race_entry *list_of(const struct wmi_race_detail *detail)
{
    return detail->part->longer ? detail->block->list : detail->part->entry;
}

/* A list that is being made. */
struct list {
    uint32_t count, room;
    struct wmi_race_entry entry[WMI_RACE_MANY_ENTRIES];
};

static bool append(struct list *list, uint64_t record, uint32_t dwords, enum wmi_race_role_of role)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct wmi_race_entry *entry = &list->entry[i];
        if (entry->role != role || entry->record != record)
            continue;
        entry->dwords |= dwords;
        return true;
    }
    if (list->count == list->room)
        return false;
    list->entry[list->count++] = (struct wmi_race_entry){record, dwords, role};
    return true;
}

/* Gives bytes of dwords the record in a role, and takes others from them. False: the list is full, and
 * nothing changes. */
static bool put_bytes(struct wmi_race_detail *detail, enum wmi_race_role_of role, uint32_t dwords,
                      uint64_t record, uint32_t room)
{
    const unsigned bytes = wmi_race_bytes(record);
    struct list made = {.room = room};
    uint32_t joined[ALL_BYTES + 1] = {0}; /* dwords whose record then is about these bytes */
    bool ok = true;
    joined[bytes] = dwords;
    for (uint32_t i = 0; ok && i < detail->part->count; i++) {
        const struct wmi_race_entry *entry = &list_of(detail)[i];
        const uint32_t both = entry->role == role ? entry->dwords & dwords : 0;
        const unsigned had = wmi_race_bytes(entry->record);
        const uint64_t bare = entry->record & ~(uint64_t)ALL_BYTES;
        if (entry->dwords & ~both)
            ok = append(&made, entry->record, entry->dwords & ~both, entry->role);
        if (both && bare == (record & ~(uint64_t)ALL_BYTES)) {
            joined[bytes] &= ~both;
            joined[had | bytes] |= both;
        } else if (both && had & ~bytes) {
            ok = ok && append(&made, bare | (had & ~bytes), both, role);
        }
    }
    for (unsigned i = 1; i <= ALL_BYTES; i++)
        if (joined[i])
            ok = ok && append(&made, (record & ~(uint64_t)ALL_BYTES) | i, joined[i], role);
    if (!ok)
        return false;
    detail->part->count = made.count;
    memcpy(list_of(detail), made.entry, made.count * sizeof *made.entry);
    return true;
}

/* The same of any list; one that is full becomes longer. */
static bool put_any(struct wmi_race_shadow *shadow, struct wmi_race_detail *detail,
                    enum wmi_race_role_of role, uint32_t dwords, uint64_t record)
{
    struct wmi_race_part *part = detail->part;
    if (put_bytes(detail, role, dwords, record, part->longer ? WMI_RACE_MANY_ENTRIES : WMI_RACE_ENTRIES))
        return true;
    if (part->longer ||
        (!detail->block && !(detail->block = take(shadow, &shadow->blocks, sizeof *detail->block))))
        return false;
    memcpy(detail->block->list, part->entry, part->count * sizeof *part->entry);
    part->longer = true;
    return put_bytes(detail, role, dwords, record, WMI_RACE_MANY_ENTRIES);
}

/* Whether the access meets nothing in the list that is not settled. *taken: dwords that another wave has
 * read.
 */
static inline bool meets_nothing(const struct wmi_race_entry *list, uint32_t count, uint32_t dwords,
                                 unsigned bytes, const struct wmi_race_access *access, uint32_t *taken)
{
    *taken = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct wmi_race_entry *entry = &list[i];
        if (!(entry->dwords & dwords) || !(wmi_race_bytes(entry->record) & bytes) ||
            wmi_race_is_settled(entry->record, access))
            continue;
        if (access->writes || entry->role == WMI_RACE_WRITE)
            return false;
        if (entry->role == WMI_RACE_READ)
            *taken |= entry->dwords & dwords;
    }
    return true;
}

/* Records an access to some bytes in a list. False: it meets something, or the list is full. */
static bool update_bytes(struct wmi_race_shadow *shadow, struct wmi_race_detail *detail, uint32_t dwords,
                         unsigned bytes, const struct wmi_race_access *access)
{
    const uint64_t record = access->record | bytes;
    uint32_t taken;
    if (!meets_nothing(list_of(detail), detail->part->count, dwords, bytes, access, &taken))
        return false;
    if (access->writes)
        return put_any(shadow, detail, WMI_RACE_WRITE, dwords, record);
    return (taken == dwords || put_any(shadow, detail, WMI_RACE_READ, dwords & ~taken, record)) &&
           (!taken || put_any(shadow, detail, WMI_RACE_OTHER, taken, record));
}

/* Makes a list of bytes of the block's list. False: no memory. */
static bool make_part(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block)
{
    struct wmi_race_detail *detail = detail_of(shadow, page, block);
    if (!detail || (!detail->part && !(detail->part = take(shadow, &shadow->parts, sizeof *detail->part))))
        return false;
    const struct wmi_race_entry *entry = wmi_race_list(page, block);
    detail->part->count = 0;
    detail->part->longer = false;
    for (uint32_t i = 0; i < page->room; i++)
        if (entry[i].dwords)
            detail->part->entry[detail->part->count++] = entry[i];
    page->parted |= 1u << block;
    return true;
}

bool wmi_race_touch_bytes(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block,
                          uint32_t dwords, unsigned bytes, const struct wmi_race_access *access)
{
    return (page->parted >> block & 1 || make_part(shadow, page, block)) &&
           update_bytes(shadow, &page->detail[block], dwords, bytes, access);
}

/* ---- LDS ---- */

bool wmi_race_local_begin(struct wmi_race_local *local, uint32_t bytes, uint32_t launch)
{
    enum { KINDS = 3 };
    const size_t dwords = ((size_t)bytes + 3) / 4;
    if (dwords > local->dwords) {
        wmi_race_local_destroy(local);
        if (!(local->records = calloc(KINDS * dwords, sizeof *local->records)))
            return false;
        local->dwords = dwords;
    } else if (local->launch != launch && local->dwords) {
        memset(local->records, 0, KINDS * local->dwords * sizeof *local->records);
    }
    local->bytes = bytes;
    local->launch = launch;
    local->floor = 0;
    return true;
}

void wmi_race_local_destroy(struct wmi_race_local *local)
{
    free(local->records);
    *local = (struct wmi_race_local){0};
}

/* ---- one dword ---- */

static void spread(uint64_t record, uint64_t byte[4])
{
    for (unsigned i = 0; i < 4; i++)
        byte[i] = wmi_race_bytes(record) >> i & 1 ? record | ALL_BYTES : 0;
}

/* Gives the dword records per byte; NULL: no memory. */
static struct wmi_race_bytes *split(struct wmi_race_shadow *shadow, const struct wmi_race_cells *cells,
                                    size_t dword)
{
    const size_t number = shadow->bytes.used;
    struct wmi_race_bytes *bytes = take(shadow, &shadow->bytes, sizeof *bytes);
    if (!bytes)
        return NULL;
    spread(cells->write[dword], bytes->write);
    spread(cells->read[dword], bytes->read);
    spread(cells->other[dword], bytes->other);
    cells->write[dword] = WMI_RACE_SPLIT | number;
    cells->read[dword] = cells->other[dword] = 0;
    return bytes;
}

/* Replaces the record by that of the access. False: it is about bytes that the new one does not have. In
 * global memory, a record of the same wave and epoch becomes one of this instruction, which saves memory. */
static bool replace(uint64_t *record, const struct wmi_race_access *access, unsigned bytes)
{
    const unsigned told_apart = access->gone ? WMI_RACE_SLOT_AT : WMI_RACE_WAVE_AT;
    const uint64_t old = *record < access->gone ? 0 : *record;
    const bool same = old && (old ^ access->record) >> told_apart == 0;
    if (!same && wmi_race_bytes(old) & ~bytes)
        return false;
    *record = access->record | bytes | (same ? wmi_race_bytes(old) : 0);
    return true;
}

/* Gives bytes of the dword the record; they have none in that role. */
static void add_bytes(struct wmi_race_shadow *shadow, const struct wmi_race_cells *cells, size_t dword,
                      const struct wmi_race_entry *entry)
{
    uint64_t *const cell[] = {&cells->write[dword], &cells->read[dword], &cells->other[dword]};
    struct wmi_race_bytes *bytes = NULL;
    if (*cell[WMI_RACE_WRITE] < WMI_RACE_SPLIT && !*cell[entry->role]) {
        *cell[entry->role] = entry->record;
        return;
    }
    if (*cell[WMI_RACE_WRITE] >= WMI_RACE_SPLIT)
        bytes = item_at(&shadow->bytes, *cell[WMI_RACE_WRITE] - WMI_RACE_SPLIT, sizeof *bytes);
    else if (!(bytes = split(shadow, cells, dword)))
        return;
    uint64_t *const byte[] = {bytes->write, bytes->read, bytes->other};
    for (unsigned i = 0; i < 4; i++)
        if (wmi_race_bytes(entry->record) >> i & 1)
            byte[entry->role][i] = entry->record | ALL_BYTES;
}

bool wmi_race_divide(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block)
{
    struct wmi_race_detail *detail = detail_of(shadow, page, block);
    if (!detail ||
        (!detail->block && !(detail->block = take(shadow, &shadow->blocks, sizeof *detail->block))))
        return false;
    const bool parted = page->parted >> block & 1;
    const uint32_t count = parted ? detail->part->count : page->room;
    struct wmi_race_entry list[WMI_RACE_MANY_ENTRIES];
    if (count)
        memcpy(list, parted ? list_of(detail) : page->entry + (size_t)block * count, count * sizeof *list);
    memset(detail->block, 0, sizeof *detail->block);
    const struct wmi_race_cells cells = wmi_race_block_cells(detail->block);
    page->written |= (uint32_t)parted << block; /* dwords that are split are marked there */
    for (uint32_t i = 0; i < count; i++)
        page->written |= (uint32_t)(list[i].dwords && list[i].role == WMI_RACE_WRITE) << block;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t left = list[i].dwords; left; left &= left - 1)
            add_bytes(shadow, &cells, (size_t)__builtin_ctz(left), &list[i]);
    page->divided |= 1u << block;
    page->parted &= ~(1u << block);
    return true;
}

static void meet(uint64_t record, const struct wmi_race_access *access, unsigned bytes, bool was_write,
                 wmi_race_meets *meets, void *user)
{
    const unsigned both = wmi_race_bytes(record) & bytes;
    if (both && !wmi_race_is_settled(record, access))
        meets(user, record, both, was_write);
}

/* Updates the three records. False: they cannot hold what they should. */
static bool update(uint64_t *write, uint64_t *read, uint64_t *other, const struct wmi_race_access *access,
                   unsigned bytes)
{
    if (access->writes)
        return replace(write, access, bytes);
    const bool free = wmi_race_is_settled(*read, access);
    return (free && replace(read, access, bytes)) || replace(other, access, bytes);
}

static void touch_bytes(struct wmi_race_bytes *split, const struct wmi_race_access *access, unsigned bytes,
                        wmi_race_meets *meets, void *user)
{
    for (unsigned i = 0; i < 4; i++) {
        if (!(bytes >> i & 1))
            continue;
        struct wmi_race_access whole = *access;
        uint64_t *write = &split->write[i], *read = &split->read[i], *other = &split->other[i];
        if (*write && !wmi_race_is_settled(*write, access))
            meets(user, *write, 1u << i, true);
        if (access->writes && *read && !wmi_race_is_settled(*read, access))
            meets(user, *read, 1u << i, false);
        if (access->writes && *other && !wmi_race_is_settled(*other, access))
            meets(user, *other, 1u << i, false);
        update(write, read, other, &whole, ALL_BYTES);
    }
}

void wmi_race_touch(struct wmi_race_shadow *shadow, const struct wmi_race_cells *cells, size_t dword,
                    const struct wmi_race_access *access, unsigned bytes, wmi_race_meets *meets, void *user)
{
    uint64_t *write = &cells->write[dword], *read = &cells->read[dword], *other = &cells->other[dword];
    struct wmi_race_bytes *bytewise = NULL;
    if (*write >= WMI_RACE_SPLIT) {
        const size_t number = *write - WMI_RACE_SPLIT;
        touch_bytes(item_at(&shadow->bytes, number, sizeof(struct wmi_race_bytes)), access, bytes, meets,
                    user);
        return;
    }
    meet(*write, access, bytes, true, meets, user);
    if (access->writes) {
        meet(*read, access, bytes, false, meets, user);
        meet(*other, access, bytes, false, meets, user);
    }
    if (!update(write, read, other, access, bytes) && (bytewise = split(shadow, cells, dword)))
        for (unsigned i = 0; i < 4; i++)
            if (bytes >> i & 1)
                update(&bytewise->write[i], &bytewise->read[i], &bytewise->other[i], access, ALL_BYTES);
}
