/* SPDX-License-Identifier: MIT */
/* The shadow of memory for race detection: pages, and the records of one dword. */
#include "check/races/race_shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALL_BYTES = 15, CHUNK = WMI_RACE_POOL_CHUNK };

/* ---- pools ---- */

void *wmi_race_chunk(size_t size, bool large_pages)
{
    void *chunk = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED)
        return NULL;
    if (large_pages)
        (void)madvise(chunk, size, MADV_HUGEPAGE);
    return chunk;
}

static void *item_at(const struct wmi_race_pool *pool, size_t number, size_t size)
{
    const size_t per_chunk = CHUNK / size;
    return pool->chunk[number / per_chunk] + number % per_chunk * size;
}

/* A zeroed item; NULL: no memory. */
static void *pool_allocate(struct wmi_race_shadow *shadow, struct wmi_race_pool *pool, size_t size)
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
        if (!more || !(more[pool->chunks] = wmi_race_chunk(CHUNK, pool->chunks != 0))) {
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

static void pool_release(struct wmi_race_pool *pool, void *item)
{
    memcpy(item, &pool->unused, sizeof pool->unused);
    pool->unused = item;
}

/* Makes all items available again. */
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
    for (unsigned i = 0; i < WMI_RACE_LIST_POOLS; i++)
        reset_pool(&shadow->lists[i]);
    reset_pool(&shadow->details);
    reset_pool(&shadow->parts);
    reset_pool(&shadow->blocks);
    reset_pool(&shadow->bytes);
    wmi_race_states_begin(&shadow->states);
    shadow->lost = false;
}

void wmi_race_shadow_free(struct wmi_race_shadow *shadow)
{
    free_pool(&shadow->areas);
    for (unsigned i = 0; i < WMI_RACE_LIST_POOLS; i++)
        free_pool(&shadow->lists[i]);
    free_pool(&shadow->details);
    free_pool(&shadow->parts);
    free_pool(&shadow->blocks);
    free_pool(&shadow->bytes);
    wmi_race_states_free(&shadow->states);
    free(shadow->area);
    *shadow = (struct wmi_race_shadow){0};
}

/* capacity: a power of two. */
static struct wmi_race_area **slot_of(struct wmi_race_area **area, size_t capacity, uint64_t number)
{
    /* The hash keeps neighbouring areas close in the table. */
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
        struct wmi_race_area *area = pool_allocate(shadow, &shadow->areas, sizeof *area);
        if (!area)
            return NULL;
        area->number = number;
        shadow->count++;
        *slot = area;
    }
    return shadow->recent[number % WMI_RACE_RECENT] = *slot;
}

void wmi_race_clear_page(struct wmi_race_shadow *shadow, struct wmi_race_area *area, size_t number)
{
    uint64_t *owner = &area->owner[0][number * WMI_RACE_BLOCKS];
    for (unsigned i = 0; i < WMI_RACE_OWNERS && area->page[number].launch; i++)
        memset(&owner[i * WMI_RACE_AREA_BLOCKS], 0, WMI_RACE_BLOCKS * sizeof *owner);
    area->page[number] = (struct wmi_race_page){.owner = owner, .launch = shadow->launch};
}

bool wmi_race_grow(struct wmi_race_shadow *shadow, struct wmi_race_page *page)
{
    const uint32_t old_capacity = page->list_capacity, capacity = old_capacity ? 2 * old_capacity : 1;
    const unsigned pool = (unsigned)__builtin_ctz(capacity);
    const size_t words = 2 * (size_t)capacity;
    uint64_t *lists = NULL;
    if (capacity > WMI_RACE_ENTRIES ||
        !(lists = pool_allocate(shadow, &shadow->lists[pool], WMI_RACE_BLOCKS * words * sizeof *lists)))
        return false;
    for (unsigned block = 0; old_capacity && block < WMI_RACE_BLOCKS; block++) {
        const struct wmi_race_list list = wmi_race_list(page, block);
        memcpy(&lists[block * words], list.record, old_capacity * sizeof *lists);
        memcpy(&lists[block * words + capacity], list.dwords, old_capacity * sizeof *lists);
    }
    if (old_capacity)
        pool_release(&shadow->lists[pool - 1], page->lists);
    page->lists = lists;
    page->list_capacity = capacity;
    return true;
}

/* ---- blocks ---- */

static struct wmi_race_detail *detail_of(struct wmi_race_shadow *shadow, struct wmi_race_page *page,
                                         unsigned block)
{
    if (!page->detail &&
        !(page->detail = pool_allocate(shadow, &shadow->details, WMI_RACE_BLOCKS * sizeof *page->detail)))
        return NULL;
    return &page->detail[block];
}

static struct wmi_race_byte_entry *list_of(const struct wmi_race_detail *detail)
{
    return detail->part->longer ? detail->block->list : detail->part->entry;
}

/* Adds bytes to `existing`, or appends a new entry with them if that is NULL. False: the list is full. */
static inline bool add_to(struct wmi_race_part *part, struct wmi_race_byte_entry *existing,
                          struct wmi_race_byte_entry *list, uint32_t capacity, enum wmi_race_role_of role,
                          const uint64_t bytes[2], uint64_t record)
{
    if (!existing) {
        if (part->count == capacity)
            return false;
        existing = &list[part->count++];
        *existing = (struct wmi_race_byte_entry){.record = record, .role = role};
    }
    existing->bytes[0] |= bytes[0];
    existing->bytes[1] |= bytes[1];
    return true;
}

/* Sets the record of bytes in a role. False: the list is full, and the bytes have no record in that role. */
static bool put_bytes(struct wmi_race_detail *detail, enum wmi_race_role_of role, const uint64_t bytes[2],
                      uint64_t record)
{
    struct wmi_race_part *part = detail->part;
    struct wmi_race_byte_entry *list = list_of(detail), *existing = NULL;
    const uint32_t capacity = part->longer ? WMI_RACE_MANY_ENTRIES : WMI_RACE_ENTRIES;
    uint32_t count = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        struct wmi_race_byte_entry entry = list[i];
        const bool same = entry.role == role && entry.record == record;
        if (entry.role == role && !same) {
            entry.bytes[0] &= ~bytes[0];
            entry.bytes[1] &= ~bytes[1];
        }
        if (!(entry.bytes[0] | entry.bytes[1]))
            continue;
        list[count] = entry;
        existing = same ? &list[count] : existing;
        count++;
    }
    part->count = count;
    return add_to(part, existing, list, capacity, role, bytes, record);
}

/* Like put_bytes(), for any list; a full list is enlarged. */
static bool put_any(struct wmi_race_shadow *shadow, struct wmi_race_detail *detail,
                    enum wmi_race_role_of role, const uint64_t bytes[2], uint64_t record)
{
    struct wmi_race_part *part = detail->part;
    if (put_bytes(detail, role, bytes, record))
        return true;
    if (part->longer ||
        (!detail->block && !(detail->block = pool_allocate(shadow, &shadow->blocks, sizeof *detail->block))))
        return false;
    memcpy(detail->block->list, part->entry, part->count * sizeof *part->entry);
    part->longer = true;
    return put_bytes(detail, role, bytes, record);
}

/* Whether no record in the list may conflict with the access. taken: bytes that another wave has read. */
static inline bool has_no_conflict(const struct wmi_race_byte_entry *list, uint32_t count,
                                   const uint64_t bytes[2], const struct wmi_race_access *access,
                                   uint64_t taken[2])
{
    taken[0] = taken[1] = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct wmi_race_byte_entry *entry = &list[i];
        const uint64_t low = entry->bytes[0] & bytes[0], high = entry->bytes[1] & bytes[1];
        if (!(low | high) || wmi_race_is_settled(entry->record, access))
            continue;
        if (access->writes || entry->role == WMI_RACE_WRITE)
            return false;
        taken[0] |= entry->role == WMI_RACE_READ ? low : 0;
        taken[1] |= entry->role == WMI_RACE_READ ? high : 0;
    }
    return true;
}

/* Records an access to bytes without records. False: some bytes have records, or the list is full. */
static bool add_apart(struct wmi_race_part *part, struct wmi_race_byte_entry *list, const uint64_t bytes[2],
                      const struct wmi_race_access *access)
{
    const uint32_t capacity = part->longer ? WMI_RACE_MANY_ENTRIES : WMI_RACE_ENTRIES;
    const enum wmi_race_role_of role = access->writes ? WMI_RACE_WRITE : WMI_RACE_READ;
    struct wmi_race_byte_entry *existing = NULL;
    uint64_t both = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        both |= (list[i].bytes[0] & bytes[0]) | (list[i].bytes[1] & bytes[1]);
        if (list[i].record == access->record && list[i].role == role)
            existing = &list[i];
    }
    return !both && add_to(part, existing, list, capacity, role, bytes, access->record);
}

/* Records an access to some bytes in a list. False: it may conflict, or the list is full. */
static bool update_bytes(struct wmi_race_shadow *shadow, struct wmi_race_detail *detail,
                         const uint64_t bytes[2], const struct wmi_race_access *access)
{
    uint64_t taken[2];
    if (add_apart(detail->part, list_of(detail), bytes, access))
        return true;
    if (!has_no_conflict(list_of(detail), detail->part->count, bytes, access, taken))
        return false;
    if (access->writes)
        return put_any(shadow, detail, WMI_RACE_WRITE, bytes, access->record);
    const uint64_t rest[2] = {bytes[0] & ~taken[0], bytes[1] & ~taken[1]};
    return (!(rest[0] | rest[1]) || put_any(shadow, detail, WMI_RACE_READ, rest, access->record)) &&
           (!(taken[0] | taken[1]) || put_any(shadow, detail, WMI_RACE_OTHER, taken, access->record));
}

/* Converts the block's list to a list of bytes. False: no memory. */
static bool make_part(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block)
{
    struct wmi_race_detail *detail = detail_of(shadow, page, block);
    if (!detail ||
        (!detail->part && !(detail->part = pool_allocate(shadow, &shadow->parts, sizeof *detail->part))))
        return false;
    const struct wmi_race_list list = wmi_race_list(page, block);
    detail->part->count = 0;
    detail->part->longer = false;
    for (uint32_t i = 0; i < page->list_capacity; i++)
        if (list.dwords[i])
            detail->part->entry[detail->part->count++] =
                (struct wmi_race_byte_entry){.record = list.record[i] & ~(uint64_t)ALL_BYTES,
                                             .bytes = {wmi_race_bytes_of((uint16_t)list.dwords[i]),
                                                       wmi_race_bytes_of((uint16_t)(list.dwords[i] >> 16))},
                                             .role = list.record[i] & ALL_BYTES};
    page->parted |= 1u << block;
    return true;
}

bool wmi_race_touch_bytes(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block,
                          const uint64_t bytes[2], const struct wmi_race_access *access)
{
    return (page->parted >> block & 1 || make_part(shadow, page, block)) &&
           update_bytes(shadow, &page->detail[block], bytes, access);
}

/* ---- records per byte and per dword ---- */

static void spread(uint64_t record, uint64_t byte[4])
{
    for (unsigned i = 0; i < 4; i++)
        byte[i] = wmi_race_bytes(record) >> i & 1 ? record | ALL_BYTES : 0;
}

/* Converts the dword to records per byte. NULL: no memory. */
static struct wmi_race_bytes *split(struct wmi_race_shadow *shadow, const struct wmi_race_cells *cells,
                                    size_t dword)
{
    const size_t number = shadow->bytes.used;
    struct wmi_race_bytes *bytes = pool_allocate(shadow, &shadow->bytes, sizeof *bytes);
    if (!bytes)
        return NULL;
    spread(cells->write[dword], bytes->write);
    spread(cells->read[dword], bytes->read);
    spread(cells->other[dword], bytes->other);
    cells->write[dword] = WMI_RACE_SPLIT | number;
    cells->read[dword] = cells->other[dword] = 0;
    return bytes;
}

/* Adds the record for bytes of the dword that have none in that role. */
static void add_bytes(struct wmi_race_shadow *shadow, const struct wmi_race_cells *cells, size_t dword,
                      uint64_t record, enum wmi_race_role_of role)
{
    uint64_t *const cell[] = {&cells->write[dword], &cells->read[dword], &cells->other[dword]};
    struct wmi_race_bytes *bytes = NULL;
    if (*cell[WMI_RACE_WRITE] < WMI_RACE_SPLIT && !*cell[role]) {
        *cell[role] = record;
        return;
    }
    if (*cell[WMI_RACE_WRITE] >= WMI_RACE_SPLIT)
        bytes = wmi_race_bytes_at(shadow, *cell[WMI_RACE_WRITE]);
    else if (!(bytes = split(shadow, cells, dword)))
        return;
    uint64_t *const byte[] = {bytes->write, bytes->read, bytes->other};
    for (unsigned i = 0; i < 4; i++)
        if (wmi_race_bytes(record) >> i & 1)
            byte[role][i] = record | ALL_BYTES;
}

/* Copies the records of a list of bytes to records per dword. */
static void add_list(struct wmi_race_shadow *shadow, const struct wmi_race_cells *cells,
                     const struct wmi_race_byte_entry *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (unsigned dword = 0; dword < WMI_RACE_BLOCK_DWORDS; dword++) {
            const unsigned bytes = list[i].bytes[dword / 16] >> dword % 16 * 4 & ALL_BYTES;
            if (bytes)
                add_bytes(shadow, cells, dword, list[i].record | bytes, list[i].role);
        }
}

static void mark_divided(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block)
{
    page->divided |= 1u << block;
    page->parted &= ~(1u << block);
    if (page->divided == UINT32_MAX &&
        page->list_capacity) { /* all blocks are divided, so that no list is used */
        pool_release(&shadow->lists[__builtin_ctz(page->list_capacity)], page->lists);
        page->lists = NULL;
        page->list_capacity = 0;
    }
}

bool wmi_race_divide(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block)
{
    struct wmi_race_detail *detail = detail_of(shadow, page, block);
    if (!detail ||
        (!detail->block && !(detail->block = pool_allocate(shadow, &shadow->blocks, sizeof *detail->block))))
        return false;
    const struct wmi_race_cells cells = wmi_race_block_cells(detail->block);
    if (page->parted >> block & 1) {
        struct wmi_race_byte_entry list[WMI_RACE_MANY_ENTRIES];
        const uint32_t count = detail->part->count;
        memcpy(list, list_of(detail), count * sizeof *list);
        memset(detail->block, 0, sizeof *detail->block);
        add_list(shadow, &cells, list, count);
        page->written |= 1u << block; /* the write records mark dwords with records per byte */
        page->loaded |= 1u << block;
    } else {
        const struct wmi_race_list list = wmi_race_list(page, block);
        memset(detail->block, 0, sizeof *detail->block);
        for (uint32_t i = 0; i < page->list_capacity; i++) {
            const enum wmi_race_role_of role = list.record[i] & ALL_BYTES;
            page->written |= (uint32_t)(list.dwords[i] && role == WMI_RACE_WRITE) << block;
            page->loaded |= (uint32_t)(list.dwords[i] && role != WMI_RACE_WRITE) << block;
            for (uint64_t left = list.dwords[i]; left; left &= left - 1)
                add_bytes(shadow, &cells, (size_t)__builtin_ctzll(left), list.record[i] | ALL_BYTES, role);
        }
    }
    mark_divided(shadow, page, block);
    return true;
}

/* ---- blocks with states ---- */

/* Whether the entry consists of whole dwords. */
static bool is_whole(const struct wmi_race_byte_entry *entry)
{
    const uint64_t lowest = UINT64_C(0x1111111111111111);
    return entry->bytes[0] == (entry->bytes[0] & lowest) * ALL_BYTES &&
           entry->bytes[1] == (entry->bytes[1] & lowest) * ALL_BYTES;
}

/* Whether the list has room for the entries, each of whole dwords. */
static bool fits_list(struct wmi_race_shadow *shadow, struct wmi_race_page *page,
                      const struct wmi_race_byte_entry *entry, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!is_whole(&entry[i]))
            return false;
    while (page->list_capacity < count)
        if (!wmi_race_grow(shadow, page))
            return false;
    return true;
}

/* The dwords of whole dwords' bytes. */
static uint32_t dwords_of(const uint64_t bytes[2])
{
    uint32_t dwords = 0;
    for (unsigned i = 0; i < WMI_RACE_BLOCK_DWORDS; i++)
        dwords |= (uint32_t)(bytes[i / 16] >> i % 16 * 4 & 1) << i;
    return dwords;
}

/* Finds what a state says of a block, given its first owner. Returns the number of entries. */
static uint32_t entries_of(const struct wmi_race_shadow *shadow, const uint64_t *first,
                           struct wmi_race_byte_entry entry[WMI_RACE_STATE_ENTRIES])
{
    const struct wmi_race_state *state = *first ? shadow->states.state[*first & WMI_RACE_STATE] : NULL;
    for (uint32_t i = 0; state && i < state->count; i++) {
        const struct wmi_race_state_entry *from = &state->entry[i];
        const uint64_t owner = first[from->owner * WMI_RACE_AREA_BLOCKS];
        entry[i] = (struct wmi_race_byte_entry){
            .record = ((owner & ~WMI_RACE_STATE) | (uint64_t)from->slot << WMI_RACE_SLOT_AT) +
                      ((uint64_t)from->epoch << WMI_RACE_EPOCH_AT),
            .bytes = {from->bytes[0], from->bytes[1]},
            .role = (enum wmi_race_role_of)from->role};
    }
    return state ? state->count : 0;
}

bool wmi_race_leave_state(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block)
{
    struct wmi_race_byte_entry entry[WMI_RACE_STATE_ENTRIES];
    const uint32_t count = entries_of(shadow, &page->owner[block], entry);
    page->listed |= 1u << block;
    page->owner[block] = WMI_RACE_LISTED;
    if (count <= WMI_RACE_ENTRIES && fits_list(shadow, page, entry, count)) {
        const struct wmi_race_list list = wmi_race_list(page, block);
        for (uint32_t i = 0; i < count; i++) {
            list.record[i] = entry[i].record | entry[i].role;
            list.dwords[i] = dwords_of(entry[i].bytes);
        }
        return true;
    }
    struct wmi_race_detail *detail = detail_of(shadow, page, block);
    if (!detail)
        return false;
    if (count <= WMI_RACE_ENTRIES) {
        if (!detail->part && !(detail->part = pool_allocate(shadow, &shadow->parts, sizeof *detail->part)))
            return false;
        detail->part->count = count;
        detail->part->longer = false;
        memcpy(detail->part->entry, entry, count * sizeof *entry);
        page->parted |= 1u << block;
        return true;
    }
    if (!detail->block && !(detail->block = pool_allocate(shadow, &shadow->blocks, sizeof *detail->block)))
        return false;
    const struct wmi_race_cells cells = wmi_race_block_cells(detail->block);
    memset(detail->block, 0, sizeof *detail->block);
    add_list(shadow, &cells, entry, count);
    for (uint32_t i = 0; i < count; i++) { /* dwords with records per byte have records in each role */
        page->written |= (uint32_t)(entry[i].role == WMI_RACE_WRITE || !is_whole(&entry[i])) << block;
        page->loaded |= (uint32_t)(entry[i].role != WMI_RACE_WRITE || !is_whole(&entry[i])) << block;
    }
    mark_divided(shadow, page, block);
    return true;
}

/* ---- LDS ---- */

static size_t blocks_of(uint32_t bytes)
{
    return (bytes + (1u << WMI_RACE_BLOCK_BITS) - 1) >> WMI_RACE_BLOCK_BITS;
}

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
    if (bytes && !local->area)
        local->area = calloc(1, sizeof *local->area);
    if (local->launch != launch)
        local->states = local->area;
    for (unsigned i = 0; i < WMI_RACE_OWNERS && local->states; i++)
        memset(local->area->owner[i], 0, blocks_of(bytes) * sizeof **local->area->owner);
    local->bytes = bytes;
    local->launch = launch;
    local->floor = 0;
    return true;
}

void wmi_race_local_leave(struct wmi_race_shadow *shadow, struct wmi_race_local *local)
{
    const struct wmi_race_cells all = wmi_race_local_cells(local);
    struct wmi_race_byte_entry entry[WMI_RACE_STATE_ENTRIES];
    for (size_t block = 0; block < blocks_of(local->bytes); block++) {
        const size_t dword = block * WMI_RACE_BLOCK_DWORDS;
        const struct wmi_race_cells cells = {all.write + dword, all.read + dword, all.other + dword};
        const uint32_t count = entries_of(shadow, &local->area->owner[0][block], entry);
        add_list(shadow, &cells, entry, count);
    }
    local->states = false;
}

void wmi_race_local_destroy(struct wmi_race_local *local)
{
    free(local->records);
    free(local->area);
    *local = (struct wmi_race_local){0};
}

/* ---- accesses to one dword ---- */

/* Returns whether the record may be dropped, as wmi_race_on_conflict does. */
static bool check_conflict(uint64_t record, const struct wmi_race_access *access, unsigned bytes,
                           bool was_write, wmi_race_on_conflict *on_conflict, void *user)
{
    const unsigned both = wmi_race_bytes(record) & bytes;
    return both && !wmi_race_is_settled(record, access) && on_conflict(user, record, both, was_write);
}

/* Checks a write against a read, and drops the read's record if it may. Otherwise a record with an earlier
 * tag of the workgroup, which looks unordered, would send every later write down this slow path. */
static void check_read(uint64_t *read, const struct wmi_race_access *access, unsigned bytes,
                       wmi_race_on_conflict *on_conflict, void *user)
{
    if (check_conflict(*read, access, bytes, false, on_conflict, user))
        *read = wmi_race_bytes(*read) & ~bytes ? *read & ~(uint64_t)bytes : 0;
}

static void touch_bytes(struct wmi_race_bytes *split, const struct wmi_race_access *access, unsigned bytes,
                        wmi_race_on_conflict *on_conflict, void *user)
{
    for (unsigned i = 0; i < 4; i++) {
        if (!(bytes >> i & 1))
            continue;
        struct wmi_race_access whole = *access;
        uint64_t *write = &split->write[i], *read = &split->read[i], *other = &split->other[i];
        if (*write && !wmi_race_is_settled(*write, access))
            on_conflict(user, *write, 1u << i, true);
        if (access->writes && *read && !wmi_race_is_settled(*read, access) &&
            on_conflict(user, *read, 1u << i, false))
            *read = 0;
        if (access->writes && *other && !wmi_race_is_settled(*other, access) &&
            on_conflict(user, *other, 1u << i, false))
            *other = 0;
        wmi_race_update(write, read, other, &whole, ALL_BYTES);
    }
}

void wmi_race_touch(struct wmi_race_shadow *shadow, const struct wmi_race_cells *cells, size_t dword,
                    const struct wmi_race_access *access, unsigned bytes, wmi_race_on_conflict *on_conflict,
                    void *user)
{
    uint64_t *write = &cells->write[dword], *read = &cells->read[dword], *other = &cells->other[dword];
    struct wmi_race_bytes *bytewise = NULL;
    if (*write >= WMI_RACE_SPLIT) {
        touch_bytes(wmi_race_bytes_at(shadow, *write), access, bytes, on_conflict, user);
        return;
    }
    check_conflict(*write, access, bytes, true, on_conflict, user);
    if (access->writes) {
        check_read(read, access, bytes, on_conflict, user);
        check_read(other, access, bytes, on_conflict, user);
    }
    if (!wmi_race_update(write, read, other, access, bytes) && (bytewise = split(shadow, cells, dword)))
        for (unsigned i = 0; i < 4; i++)
            if (bytes >> i & 1)
                wmi_race_update(&bytewise->write[i], &bytewise->read[i], &bytewise->other[i], access,
                                ALL_BYTES);
}

bool wmi_race_is_free(const struct wmi_race_shadow *shadow, const struct wmi_race_cells *cells, size_t dword,
                      const struct wmi_race_access *access, unsigned bytes)
{
    const uint64_t write = cells->write[dword], read = cells->read[dword], other = cells->other[dword];
    if (write < WMI_RACE_SPLIT)
        return (!(wmi_race_bytes(write) & bytes) || wmi_race_is_settled(write, access)) &&
               (!access->writes ||
                ((!(wmi_race_bytes(read) & bytes) || wmi_race_is_settled(read, access)) &&
                 (!(wmi_race_bytes(other) & bytes) || wmi_race_is_settled(other, access))));
    const struct wmi_race_bytes *split = wmi_race_bytes_at(shadow, write);
    for (unsigned i = 0; i < 4; i++)
        if (bytes >> i & 1 && (!wmi_race_is_settled(split->write[i], access) ||
                               (access->writes && (!wmi_race_is_settled(split->read[i], access) ||
                                                   !wmi_race_is_settled(split->other[i], access)))))
            return false;
    return true;
}
