/* SPDX-License-Identifier: MIT */
/* The shadow of memory for race detection: who wrote each dword last and who has read it.
 *
 * A record is 64 bits: the access of one wave to some bytes of a dword. Per dword there are three: the last
 * write, a read, and another wave's read. Reads by further waves replace the second one. Where different
 * waves access different bytes of one dword, it gets records for each byte. */
#ifndef WMI_RACE_SHADOW_H
#define WMI_RACE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fields of a record, from bit 0 on: bytes of the dword, slot of the instruction, wave in its workgroup,
 * epoch (race_order.h), tag of the workgroup. 0: no access. */
enum {
    WMI_RACE_SLOT_AT = 4,
    WMI_RACE_WAVE_AT = 20,
    WMI_RACE_EPOCH_AT = 25,
    WMI_RACE_TAG_AT = 39,
    WMI_RACE_SLOTS = 1 << (WMI_RACE_WAVE_AT - WMI_RACE_SLOT_AT),
    WMI_RACE_WAVES = 1 << (WMI_RACE_EPOCH_AT - WMI_RACE_WAVE_AT),
    WMI_RACE_EPOCHS = 1 << (WMI_RACE_TAG_AT - WMI_RACE_EPOCH_AT),
    WMI_RACE_TAGS = (1 << (64 - WMI_RACE_TAG_AT)) - 1, /* the last one marks dwords with records per byte */
};
#define WMI_RACE_SPLIT ((uint64_t)WMI_RACE_TAGS << WMI_RACE_TAG_AT)
#define WMI_RACE_SAME_WAVE                                                                                   \
    ((uint64_t)WMI_RACE_TAGS << WMI_RACE_TAG_AT | (WMI_RACE_WAVES - 1) << WMI_RACE_WAVE_AT)
#define WMI_RACE_SAME_TIME (~UINT64_C(0) << WMI_RACE_WAVE_AT) /* the same wave in the same epoch */

static inline unsigned wmi_race_bytes(uint64_t record)
{
    return record & 15;
}

static inline unsigned wmi_race_slot(uint64_t record)
{
    return record >> WMI_RACE_SLOT_AT & (WMI_RACE_SLOTS - 1);
}

static inline unsigned wmi_race_wave(uint64_t record)
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

/* Records of consecutive dwords. */
struct wmi_race_cells {
    uint64_t *write, *read, *other;
};

/* An access that is about to be recorded. */
struct wmi_race_access {
    uint64_t record;       /* without bytes */
    uint64_t from, before; /* records from `from` on, `before` of them, are ordered before the access */
    bool writes;
};

/* Whether the recorded access is ordered before the new one, by what the records themselves show. */
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

/* Records of each dword of a block. */
struct wmi_race_block {
    uint64_t write[WMI_RACE_BLOCK_DWORDS], read[WMI_RACE_BLOCK_DWORDS], other[WMI_RACE_BLOCK_DWORDS];
};

/* A block has one set of records, with the dwords that each is about, as long as that is enough. */
struct wmi_race_page {
    uint64_t number; /* address >> WMI_RACE_PAGE_BITS */
    uint32_t launch;
    uint32_t divided; /* blocks that have records for each dword */
    uint64_t write[WMI_RACE_BLOCKS], read[WMI_RACE_BLOCKS], other[WMI_RACE_BLOCKS];
    uint32_t written[WMI_RACE_BLOCKS], seen[WMI_RACE_BLOCKS],
        shared[WMI_RACE_BLOCKS]; /* dwords of the above */
    struct wmi_race_block *block[WMI_RACE_BLOCKS];
};

struct wmi_race_bytes { /* records for each byte of a dword */
    uint64_t write[4], read[4], other[4];
};

enum { WMI_RACE_RECENT = 256 };

/* The shadow of global memory, by page; and all records per byte, also those of LDS. */
struct wmi_race_shadow {
    struct wmi_race_page **page; /* open addressing, at most half full; NULL: empty */
    size_t pages, capacity, page_chunks;
    struct wmi_race_page **chunk;                  /* of pages */
    struct wmi_race_page *recent[WMI_RACE_RECENT]; /* by the low bits of their numbers; NULL: none */
    uint32_t launch;
    struct wmi_race_block **block; /* chunks of those that pages have */
    size_t blocks, block_chunks;
    struct wmi_race_bytes **bytes; /* chunks */
    size_t splits, chunks;
    bool lost; /* no memory for all */
};

/* Forgets all accesses. */
void wmi_race_shadow_begin(struct wmi_race_shadow *shadow, uint32_t launch);
void wmi_race_shadow_free(struct wmi_race_shadow *shadow);
struct wmi_race_page *wmi_race_find_page(struct wmi_race_shadow *shadow, uint64_t number);

/* The page with the address; NULL: no memory. */
static inline struct wmi_race_page *wmi_race_page(struct wmi_race_shadow *shadow, uint64_t address)
{
    const uint64_t number = address >> WMI_RACE_PAGE_BITS;
    struct wmi_race_page *recent = shadow->recent[number % WMI_RACE_RECENT];
    return recent && recent->number == number ? recent : wmi_race_find_page(shadow, number);
}

/* Records an access to a whole dword, if it meets nothing that is not settled. */
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

/* Gives the block records for each dword. False: no memory. */
bool wmi_race_divide(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block);

/* The records of the dword of global memory. False: no memory. */
static inline bool wmi_race_find_cells(struct wmi_race_shadow *shadow, uint64_t address,
                                       struct wmi_race_cells *cells, size_t *dword)
{
    struct wmi_race_page *page = wmi_race_page(shadow, address);
    const unsigned block = address >> WMI_RACE_BLOCK_BITS & (WMI_RACE_BLOCKS - 1);
    if (!page || (!(page->divided >> block & 1) && !wmi_race_divide(shadow, page, block)))
        return false;
    *dword = address / 4 % WMI_RACE_BLOCK_DWORDS;
    *cells = (struct wmi_race_cells){page->block[block]->write, page->block[block]->read,
                                     page->block[block]->other};
    return true;
}

static inline bool wmi_race_is_same_time(uint64_t a, uint64_t b)
{
    return !((a ^ b) & WMI_RACE_SAME_TIME);
}

/* Records an access to whole dwords (a mask) of a block that is not divided, if it meets nothing that is not
 * settled, and the block's records can hold it. */
static inline bool wmi_race_touch_block(struct wmi_race_page *page, unsigned block, uint32_t dwords,
                                        const struct wmi_race_access *access)
{
    const uint64_t write = page->write[block], read = page->read[block], other = page->other[block];
    const uint64_t record = access->record | 15;
    uint64_t *to = &page->write[block];
    uint32_t *mask = &page->written[block];
    if (*mask & dwords && !wmi_race_is_settled(write, access))
        return false;
    if (access->writes) {
        if ((page->seen[block] & dwords && !wmi_race_is_settled(read, access)) ||
            (page->shared[block] & dwords && !wmi_race_is_settled(other, access)))
            return false;
    } else if (wmi_race_is_settled(read, access) &&
               (wmi_race_is_same_time(read, record) || !(page->seen[block] & ~dwords))) {
        to = &page->read[block];
        mask = &page->seen[block];
    } else {
        to = &page->other[block];
        mask = &page->shared[block];
    }
    if (*to == record || (!access->writes && wmi_race_is_same_time(*to, record)))
        dwords |= *mask;
    else if (*mask & ~dwords)
        return false;
    *to = record;
    *mask = dwords;
    return true;
}

/* Called for each recorded access that is not settled and has bytes in common with the new one. */
typedef void wmi_race_meets(void *user, uint64_t record, unsigned bytes, bool was_write);

/* Records an access to some bytes (a mask) of one dword. */
void wmi_race_touch(struct wmi_race_shadow *shadow, const struct wmi_race_cells *cells, size_t dword,
                    const struct wmi_race_access *access, unsigned bytes, wmi_race_meets *meets, void *user);

#endif
