/* SPDX-License-Identifier: MIT */
/* Shadow memory for race detection: the last writer of each dword, and its readers.
 *
 * A record of 64 bits describes the access of one wave to some bytes of a dword. There are three records per
 * byte: the last write, a read, and a read by another wave. Reads by further waves replace the second read.
 * Bytes with equal records share them. Each block of 128 bytes has a state (race_states.h) or, where accesses
 * have no pattern, a list of records, each with the dwords, or the bytes, to which it applies. If the list
 * would be too long, the block has records per dword, and where different waves access different bytes of
 * such a dword, per byte. */
#ifndef WMI_RACE_SHADOW_H
#define WMI_RACE_SHADOW_H

#include "check/races/race_states.h"

/* Fields of a record, from bit 0 on: bytes of the dword, slot of the instruction, wave in its workgroup (or
 * half a wave of 64, see struct wmi_race_order), epoch (race_order.h), tag of the workgroup. 0: no access. */
enum {
    WMI_RACE_SLOT_AT = 4,
    WMI_RACE_WAVE_AT = 20,
    WMI_RACE_EPOCH_AT = 25,
    WMI_RACE_TAG_AT = 39,
    WMI_RACE_SLOTS = 1 << (WMI_RACE_WAVE_AT - WMI_RACE_SLOT_AT),
    WMI_RACE_WAVES = 1 << (WMI_RACE_EPOCH_AT - WMI_RACE_WAVE_AT),
    WMI_RACE_EPOCHS = 1 << (WMI_RACE_TAG_AT - WMI_RACE_EPOCH_AT),
    WMI_RACE_TAGS =
        (1 << (64 - WMI_RACE_TAG_AT)) - 1, /* the highest tag marks dwords with records per byte */
};
#define WMI_RACE_SPLIT ((uint64_t)WMI_RACE_TAGS << WMI_RACE_TAG_AT)
#define WMI_RACE_SAME_WAVE                                                                                   \
    ((uint64_t)WMI_RACE_TAGS << WMI_RACE_TAG_AT | (WMI_RACE_WAVES - 1) << WMI_RACE_WAVE_AT)

static inline unsigned wmi_race_bytes(uint64_t record)
{
    return record & 15;
}

static inline unsigned wmi_race_slot(uint64_t record)
{
    return record >> WMI_RACE_SLOT_AT & (WMI_RACE_SLOTS - 1);
}

static inline unsigned wmi_race_who(uint64_t record)
{
    return record >> WMI_RACE_WAVE_AT & (WMI_RACE_WAVES - 1);
}

static inline uint32_t wmi_race_epoch(uint64_t record)
{
    return record >> WMI_RACE_EPOCH_AT & (WMI_RACE_EPOCHS - 1);
}

static inline uint32_t wmi_race_tag(uint64_t record)
{
    return (uint32_t)(record >> WMI_RACE_TAG_AT);
}

/* The records of consecutive dwords. */
struct wmi_race_cells {
    uint64_t *write, *read, *other;
};

/* An access that is about to be recorded. */
struct wmi_race_access {
    uint64_t record;       /* without bytes */
    uint64_t from, before; /* the `before` records from `from` on are ordered before the access */
    uint64_t gone; /* for LDS: lower records are ordered before everything that the workgroup does; else 0 */
    bool writes;
};

/* Whether the record alone shows that its access is ordered before the new one. */
static inline bool wmi_race_is_settled(uint64_t record, const struct wmi_race_access *access)
{
    return !record || record - access->from < access->before ||
           !((record ^ access->record) & WMI_RACE_SAME_WAVE);
}

enum {
    WMI_RACE_PAGE_BITS = 12,
    WMI_RACE_BLOCK_BITS = 7,
    WMI_RACE_BLOCKS = 1 << (WMI_RACE_PAGE_BITS - WMI_RACE_BLOCK_BITS),
    WMI_RACE_BLOCK_DWORDS = 1 << (WMI_RACE_BLOCK_BITS - 2),
};

/* The records of a block, each with the dwords to which it applies. Each record covers all bytes of its
 * dwords. Entries without dwords are free. */
struct wmi_race_list {
    uint64_t *record, *dwords;
};

/* A record, and the bytes of a block to which it applies. */
struct wmi_race_byte_entry {
    uint64_t record; /* without bytes */
    uint64_t bytes[2];
    enum wmi_race_role_of role;
};

enum { WMI_RACE_ENTRIES = 8, WMI_RACE_LIST_POOLS = 4, WMI_RACE_MANY_ENTRIES = 3 * WMI_RACE_BLOCK_DWORDS / 4 };

/* The records per dword of a block; or a long list. */
struct wmi_race_block {
    union {
        struct {
            uint64_t write[WMI_RACE_BLOCK_DWORDS], read[WMI_RACE_BLOCK_DWORDS], other[WMI_RACE_BLOCK_DWORDS];
        };
        struct wmi_race_byte_entry list[WMI_RACE_MANY_ENTRIES];
    };
};

/* The records of a block as a list of bytes. */
struct wmi_race_part {
    uint32_t count;
    bool longer; /* the list continues in the block's struct wmi_race_block */
    struct wmi_race_byte_entry entry[WMI_RACE_ENTRIES];
};

/* Each block uses the simplest form that can represent its accesses: a state, a list in which each record
 * covers whole dwords, a list of bytes, or records per dword. */
struct wmi_race_page {
    uint64_t *owner;        /* in the area, of the first block */
    uint32_t launch;        /* 0: never used */
    uint32_t list_capacity; /* capacity of each block's list: 0, 1, 2, 4 ... WMI_RACE_ENTRIES */
    uint32_t listed;        /* mask of the blocks without states */
    uint32_t parted,
        divided; /* masks of the blocks with lists of bytes, and of those with records per dword */
    uint32_t written, loaded; /* masks of the divided blocks that may have writes, and reads */
    uint64_t *lists;          /* lists of all blocks: for each, the records and then the dwords */
    struct wmi_race_detail {  /* for blocks that are parted or divided; or NULL */
        struct wmi_race_part *part;
        struct wmi_race_block *block;
    } *detail;
};

struct wmi_race_bytes { /* the records per byte of a dword */
    uint64_t write[4], read[4], other[4];
};

enum {
    WMI_RACE_AREA_BITS = 20,
    WMI_RACE_AREA_PAGES = 1 << (WMI_RACE_AREA_BITS - WMI_RACE_PAGE_BITS),
    WMI_RACE_AREA_BLOCKS = WMI_RACE_AREA_PAGES * WMI_RACE_BLOCKS,
};

/* The low bits of a block's first owner are the number of its state. */
#define WMI_RACE_STATE  ((UINT64_C(1) << WMI_RACE_WAVE_AT) - 1)
#define WMI_RACE_LISTED UINT64_MAX /* in its place: the block has no state any more */

/* A group of neighbouring pages. */
struct wmi_race_area {
    uint64_t number;                                       /* address >> WMI_RACE_AREA_BITS */
    uint64_t owner[WMI_RACE_OWNERS][WMI_RACE_AREA_BLOCKS]; /* of blocks with states: records without slots */
    struct wmi_race_page page[WMI_RACE_AREA_PAGES];
};

enum { WMI_RACE_RECENT = 256 };

/* Zeroed items of one size, which never move. */
struct wmi_race_pool {
    unsigned char **chunk;
    size_t chunks, used, touched; /* touched: items that are no longer zeroed as mapped */
    void *unused;                 /* head of the free list, linked through the items */
};

enum { WMI_RACE_POOL_CHUNK = 1 << 21 };

/* Maps zeroed memory. The first of many chunks may stay nearly empty; later ones should have large pages, if
 * the system has them, because most of them will be touched. NULL: no memory. */
void *wmi_race_chunk(size_t size, bool large_pages);

/* The shadow of global memory, and the records per byte of LDS, too. */
struct wmi_race_shadow {
    struct wmi_race_area **area; /* open addressing, at most half full; NULL: empty */
    size_t count, capacity;
    struct wmi_race_area *recent[WMI_RACE_RECENT]; /* by the low bits of their numbers; NULL: none */
    uint32_t launch;
    struct wmi_race_states states;
    struct wmi_race_pool areas, lists[WMI_RACE_LIST_POOLS], details, parts, blocks, bytes;
    bool lost; /* some accesses were lost for lack of memory */
};

/* Forgets all accesses. launch: not 0. */
void wmi_race_shadow_begin(struct wmi_race_shadow *shadow, uint32_t launch);
void wmi_race_shadow_free(struct wmi_race_shadow *shadow);
struct wmi_race_area *wmi_race_find_area(struct wmi_race_shadow *shadow, uint64_t number);
/* Forgets the accesses of the page with that number in its area. */
void wmi_race_clear_page(struct wmi_race_shadow *shadow, struct wmi_race_area *area, size_t number);

/* The area that contains the address; NULL: no memory. */
static inline struct wmi_race_area *wmi_race_area(struct wmi_race_shadow *shadow, uint64_t address)
{
    const uint64_t number = address >> WMI_RACE_AREA_BITS;
    struct wmi_race_area *area = shadow->recent[number % WMI_RACE_RECENT];
    return area && area->number == number ? area : wmi_race_find_area(shadow, number);
}

static inline struct wmi_race_page *wmi_race_page_in(struct wmi_race_shadow *shadow,
                                                     struct wmi_race_area *area, uint64_t address)
{
    const size_t number = address >> WMI_RACE_PAGE_BITS & (WMI_RACE_AREA_PAGES - 1);
    if (area->page[number].launch != shadow->launch)
        wmi_race_clear_page(shadow, area, number);
    return &area->page[number];
}

/* The page that contains the address; NULL: no memory. */
static inline struct wmi_race_page *wmi_race_page(struct wmi_race_shadow *shadow, uint64_t address)
{
    struct wmi_race_area *area = wmi_race_area(shadow, address);
    return area ? wmi_race_page_in(shadow, area, address) : NULL;
}

/* Gives a block that has a state another form. False: no memory. */
bool wmi_race_leave_state(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block);
static inline bool wmi_race_list_block(struct wmi_race_shadow *shadow, struct wmi_race_page *page,
                                       unsigned block)
{
    return page->listed >> block & 1 || wmi_race_leave_state(shadow, page, block);
}

/* How many epochs of an owner of a state from its first on are before a record. */
static inline uint16_t wmi_race_epochs_before(uint64_t first, uint64_t before)
{
    const uint64_t epoch = UINT64_C(1) << WMI_RACE_EPOCH_AT;
    const uint64_t epochs = first < before ? (before - first + epoch - 1) / epoch : 0;
    return epochs < WMI_RACE_STATE_EPOCHS ? (uint16_t)epochs : WMI_RACE_STATE_EPOCHS;
}

/* How the access is related to an owner of a state, as struct wmi_race_step_key has it. */
static inline uint16_t wmi_race_relation_to(uint64_t owner, const struct wmi_race_access *access)
{
    if ((owner ^ access->record) & WMI_RACE_SAME_WAVE)
        return wmi_race_epochs_before((owner & ~WMI_RACE_STATE) - access->from, access->before);
    const uint32_t epochs = wmi_race_epoch(access->record) - wmi_race_epoch(owner);
    return WMI_RACE_OWN | (epochs < WMI_RACE_STATE_EPOCHS ? epochs : WMI_RACE_STATE_EPOCHS);
}

/* Finds what the access does to a block with these owners. */
static inline const struct wmi_race_step *wmi_race_step_of(struct wmi_race_shadow *shadow,
                                                           const uint64_t owner[WMI_RACE_OWNERS],
                                                           uint32_t owners, const uint64_t bytes[2],
                                                           bool dwords, const struct wmi_race_access *access)
{
    struct wmi_race_step_key key = {.bytes = {bytes[0], bytes[1]},
                                    .what = wmi_race_step_what(owner[0] & WMI_RACE_STATE,
                                                               wmi_race_slot(access->record), access->writes,
                                                               dwords)};
    for (uint32_t i = 0; i < owners; i++)
        key.relation |= (uint64_t)wmi_race_relation_to(owner[i], access) << 16 * i;
    for (uint32_t i = 0; i < owners && access->gone; i++)
        key.gone |= (uint64_t)wmi_race_epochs_before(owner[i] & ~WMI_RACE_STATE, access->gone) << 16 * i;
    return wmi_race_step(&shadow->states, &key);
}

/* Number of owners of a block, given the first. */
static inline uint32_t wmi_race_owners_of(const struct wmi_race_shadow *shadow, uint64_t first)
{
    return first ? shadow->states.state[first & WMI_RACE_STATE]->owners : 0;
}

/* The owners after the step. */
static inline void wmi_race_next_owners(const struct wmi_race_step *step,
                                        const uint64_t owner[WMI_RACE_OWNERS],
                                        const struct wmi_race_access *access, uint64_t next[WMI_RACE_OWNERS])
{
    const uint64_t all[WMI_RACE_OWNERS + 1] = {owner[0], owner[1], owner[2], access->record};
    for (unsigned i = 0; i < WMI_RACE_OWNERS; i++)
        next[i] = i < step->owners ? (all[step->from[i]] & ~WMI_RACE_STATE) +
                                         ((uint64_t)step->epochs[i] << WMI_RACE_EPOCH_AT)
                                   : 0;
    next[0] |= step->next;
}

/* Records an access to a block with a state, whose first owner is `at`. bytes: as in struct
 * wmi_race_step_key. NO_STATE: the block needs another form. */
static inline enum wmi_race_outcome wmi_race_touch_owners(struct wmi_race_shadow *shadow, uint64_t *at,
                                                          const uint64_t bytes[2], bool dwords,
                                                          const struct wmi_race_access *access)
{
    uint64_t owner[WMI_RACE_OWNERS] = {at[0]}, next[WMI_RACE_OWNERS];
    const uint32_t owners = wmi_race_owners_of(shadow, owner[0]);
    for (uint32_t i = 1; i < owners; i++)
        owner[i] = at[i * WMI_RACE_AREA_BLOCKS];
    const struct wmi_race_step *step = wmi_race_step_of(shadow, owner, owners, bytes, dwords, access);
    if (step->outcome == WMI_RACE_STEPS_ON) {
        wmi_race_next_owners(step, owner, access, next);
        for (unsigned i = 0; i < step->owners; i++)
            at[i * WMI_RACE_AREA_BLOCKS] = next[i];
    }
    return step->outcome;
}

/* Records an access to a whole dword, unless it may conflict with a record. */
static inline bool wmi_race_touch_quickly(const struct wmi_race_cells *cells, size_t dword,
                                          const struct wmi_race_access *access)
{
    uint64_t *write = &cells->write[dword], *read = &cells->read[dword], *other = &cells->other[dword];
    const uint64_t record = access->record | 15;
    if (!wmi_race_is_settled(*write, access))
        return false;
    if (!access->writes) {
        *(wmi_race_is_settled(*read, access) ? read : other) = record;
        return true;
    }
    if (!wmi_race_is_settled(*read, access) || !wmi_race_is_settled(*other, access))
        return false;
    *write = record;
    return true;
}

/* Replaces a record by that of an access to some bytes. False: the record covers bytes that the access does
 * not. In global memory, a record of the same wave and epoch takes over this instruction, which saves
 * memory. */
static inline bool wmi_race_replace(uint64_t *record, const struct wmi_race_access *access, unsigned bytes)
{
    const unsigned told_apart = access->gone ? WMI_RACE_SLOT_AT : WMI_RACE_WAVE_AT;
    const uint64_t old = *record < access->gone ? 0 : *record;
    const bool same = old && (old ^ access->record) >> told_apart == 0;
    if (!same && wmi_race_bytes(old) & ~bytes)
        return false;
    *record = access->record | bytes | (same ? wmi_race_bytes(old) : 0);
    return true;
}

/* Updates the three records. False: they cannot represent the result. */
static inline bool wmi_race_update(uint64_t *write, uint64_t *read, uint64_t *other,
                                   const struct wmi_race_access *access, unsigned bytes)
{
    if (access->writes)
        return wmi_race_replace(write, access, bytes);
    const bool free = wmi_race_is_settled(*read, access);
    return (free && wmi_race_replace(read, access, bytes)) || wmi_race_replace(other, access, bytes);
}

/* Like wmi_race_touch_quickly(), for some bytes (a mask) of a dword. */
static inline bool wmi_race_touch_some_quickly(const struct wmi_race_cells *cells, size_t dword,
                                               const struct wmi_race_access *access, unsigned bytes)
{
    uint64_t *write = &cells->write[dword], *read = &cells->read[dword], *other = &cells->other[dword];
    if (*write >= WMI_RACE_SPLIT || (wmi_race_bytes(*write) & bytes && !wmi_race_is_settled(*write, access)))
        return false;
    if (access->writes && ((wmi_race_bytes(*read) & bytes && !wmi_race_is_settled(*read, access)) ||
                           (wmi_race_bytes(*other) & bytes && !wmi_race_is_settled(*other, access))))
        return false;
    return wmi_race_update(write, read, other, access, bytes);
}

/* The records per byte of a dword. write: the write record of the dword. */
static inline struct wmi_race_bytes *wmi_race_bytes_at(const struct wmi_race_shadow *shadow, uint64_t write)
{
    enum { PER_CHUNK = WMI_RACE_POOL_CHUNK / sizeof(struct wmi_race_bytes) };
    const size_t number = write - WMI_RACE_SPLIT;
    return (struct wmi_race_bytes *)(void *)shadow->bytes.chunk[number / PER_CHUNK] + number % PER_CHUNK;
}

/* Like wmi_race_touch_quickly(), for some bytes (a mask) of a dword with records per byte. */
static inline bool wmi_race_touch_bytes_quickly(struct wmi_race_bytes *split,
                                                const struct wmi_race_access *access, unsigned bytes)
{
    const uint64_t record = access->record | 15;
    for (unsigned i = 0; i < 4; i++) {
        if (!(bytes >> i & 1))
            continue;
        const bool read = wmi_race_is_settled(split->read[i], access);
        if (!wmi_race_is_settled(split->write[i], access) ||
            (access->writes && (!read || !wmi_race_is_settled(split->other[i], access))))
            return false;
        *(access->writes ? &split->write[i] : read ? &split->read[i] : &split->other[i]) = record;
    }
    return true;
}

/* Converts the block, which has no state, to records per dword. False: no memory. */
bool wmi_race_divide(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block);

static inline unsigned wmi_race_block_of(uint64_t address)
{
    return address >> WMI_RACE_BLOCK_BITS & (WMI_RACE_BLOCKS - 1);
}

static inline struct wmi_race_cells wmi_race_block_cells(struct wmi_race_block *block)
{
    return (struct wmi_race_cells){block->write, block->read, block->other};
}

/* Finds the records per dword of the block, for any access. False: no memory. */
static inline bool wmi_race_find_cells(struct wmi_race_shadow *shadow, struct wmi_race_page *page,
                                       unsigned number, struct wmi_race_cells *cells)
{
    if (!wmi_race_list_block(shadow, page, number) ||
        (!(page->divided >> number & 1) && !wmi_race_divide(shadow, page, number)))
        return false;
    page->written |= 1u << number;
    page->loaded |= 1u << number;
    *cells = wmi_race_block_cells(page->detail[number].block);
    return true;
}

/* The list of a block: page->list_capacity records, of which there may be none yet. */
static inline struct wmi_race_list wmi_race_list(const struct wmi_race_page *page, unsigned block)
{
    if (!page->list_capacity)
        return (struct wmi_race_list){NULL, NULL};
    uint64_t *const list = page->lists + 2 * (size_t)block * page->list_capacity;
    return (struct wmi_race_list){list, list + page->list_capacity};
}

/* Doubles the capacity of the lists of the page's blocks. False: it is at its maximum, or out of memory. */
bool wmi_race_grow(struct wmi_race_shadow *shadow, struct wmi_race_page *page);
/* Records an access to some bytes of a block that has no state and is not divided, unless it may conflict
 * with a record or the block's list is full. */
bool wmi_race_touch_bytes(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block,
                          const uint64_t bytes[2], const struct wmi_race_access *access);

/* Adds a new record at the free entry `free`, or in a larger list. False: the list is full. */
static inline bool wmi_race_add(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block,
                                uint32_t dwords, uint64_t record, uint32_t free)
{
    const uint32_t at = free < page->list_capacity ? free : page->list_capacity;
    if (at == page->list_capacity && !wmi_race_grow(shadow, page))
        return false;
    const struct wmi_race_list list = wmi_race_list(page, block);
    list.record[at] = record;
    list.dwords[at] = dwords;
    return true;
}

/* Sets the record of some dwords in its role. False: the list is full, and the dwords have no record in that
 * role. */
static inline bool wmi_race_put(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block,
                                uint32_t dwords, uint64_t record)
{
    const struct wmi_race_list list = wmi_race_list(page, block);
    uint32_t existing = UINT32_MAX, free = UINT32_MAX;
    for (uint32_t i = 0; i < page->list_capacity; i++) {
        const bool same = list.record[i] == record;
        if (!same && !((list.record[i] ^ record) & 15))
            list.dwords[i] &= ~(uint64_t)dwords;
        if (!list.dwords[i])
            free = i;
        else if (same)
            existing = i;
    }
    if (existing == UINT32_MAX)
        return wmi_race_add(shadow, page, block, dwords, record, free);
    list.dwords[existing] |= dwords;
    return true;
}

/* Records reads of dwords, of which another wave has read those in `taken`. False: the list is full. */
static inline bool wmi_race_put_reads(struct wmi_race_shadow *shadow, struct wmi_race_page *page,
                                      unsigned block, uint32_t dwords, uint32_t taken, uint64_t record)
{
    return (taken == dwords || wmi_race_put(shadow, page, block, dwords & ~taken, record | WMI_RACE_READ)) &&
           (!taken || wmi_race_put(shadow, page, block, taken, record | WMI_RACE_OTHER));
}

/* Like wmi_race_touch_bytes(), for whole dwords. */
static inline bool wmi_race_touch_block(struct wmi_race_shadow *shadow, struct wmi_race_page *page,
                                        unsigned block, uint32_t dwords, const struct wmi_race_access *access)
{
    if (page->parted >> block & 1) {
        const uint64_t bytes[2] = {wmi_race_bytes_of((uint16_t)dwords), wmi_race_bytes_of(dwords >> 16)};
        return wmi_race_touch_bytes(shadow, page, block, bytes, access);
    }
    const struct wmi_race_list list = wmi_race_list(page, block);
    uint32_t taken = 0; /* dwords that another wave has read */
    for (uint32_t i = 0; i < page->list_capacity; i++) {
        const unsigned role = list.record[i] & 15;
        if (!(list.dwords[i] & dwords) || wmi_race_is_settled(list.record[i], access))
            continue;
        if (access->writes || role == WMI_RACE_WRITE)
            return false;
        if (role == WMI_RACE_READ)
            taken |= (uint32_t)list.dwords[i] & dwords;
    }
    return access->writes ? wmi_race_put(shadow, page, block, dwords, access->record | WMI_RACE_WRITE)
                          : wmi_race_put_reads(shadow, page, block, dwords, taken, access->record);
}

/* The shadow of a workgroup's LDS: blocks with states as long as all of them have one; then records per
 * dword, since irregular access patterns of LDS are too irregular for lists. Records of earlier workgroups of
 * the launch are ordered. */
struct wmi_race_local {
    struct wmi_race_area *area; /* owners of the blocks; without pages */
    bool states;                /* the blocks have states */
    uint64_t *records;
    size_t dwords;   /* capacity */
    uint32_t bytes;  /* of LDS */
    uint32_t launch; /* of the records */
    uint32_t floor;  /* accesses in earlier epochs are ordered before everything that the workgroup does */
};

/* Prepares the shadow for a workgroup of the launch. False: no memory. */
bool wmi_race_local_begin(struct wmi_race_local *local, uint32_t bytes, uint32_t launch);
void wmi_race_local_destroy(struct wmi_race_local *local);
/* Gives LDS whose blocks have states records per dword, until the launch ends. */
void wmi_race_local_leave(struct wmi_race_shadow *shadow, struct wmi_race_local *local);

static inline struct wmi_race_cells wmi_race_local_cells(const struct wmi_race_local *local)
{
    uint64_t *const records = local->records;
    return (struct wmi_race_cells){records, records + local->dwords, records + 2 * local->dwords};
}

/* Whether all records of some bytes (a mask) of one dword are ordered before the access. */
bool wmi_race_is_free(const struct wmi_race_shadow *shadow, const struct wmi_race_cells *cells, size_t dword,
                      const struct wmi_race_access *access, unsigned bytes);

/* Called for each recorded access that overlaps the new one and that the records alone do not order before
 * it. Returns whether the record may be dropped once the new access, a write, is recorded: any later access
 * that races with the recorded one then also races with the new one. */
typedef bool wmi_race_on_conflict(void *user, uint64_t record, unsigned bytes, bool was_write);

/* Records an access to some bytes (a mask) of one dword. */
void wmi_race_touch(struct wmi_race_shadow *shadow, const struct wmi_race_cells *cells, size_t dword,
                    const struct wmi_race_access *access, unsigned bytes, wmi_race_on_conflict *on_conflict,
                    void *user);

#endif
