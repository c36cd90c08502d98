/* SPDX-License-Identifier: MIT */
/* Records accesses to consecutive bytes in the shadow memory, unless they may conflict: the part of
 * races_lanes.c that knows cells, pages and their owners. */
#ifndef WMI_RACE_CELLS_H
#define WMI_RACE_CELLS_H

#include "base/lanes.h"
#include "base/vector_bits.h"
#include "check/races/races.h"

/* An unaligned vector of 64-bit records. */
typedef uint64_t records __attribute__((vector_size(WMI_VECTOR_BYTES), may_alias, aligned(8)));
enum { RECORDS = WMI_VECTOR_BYTES / 8 };

/* A mask of the records for which wmi_race_is_settled() is false. */
static inline uint32_t unsettled(u64v record, const struct wmi_race_access *access)
{
    const u64v from = wmi_splat_u64(access->from), before = wmi_splat_u64(access->before),
               own = wmi_splat_u64(access->record), wave = wmi_splat_u64(WMI_RACE_SAME_WAVE),
               zero = wmi_splat_u64(0);
    return wmi_not_less_bits_u64(record - from, before) & ~wmi_equal_bits_u64(record, zero) &
           ~wmi_equal_bits_u64((record ^ own) & wave, zero);
}

static inline u64v at(const uint64_t *record)
{
    return (u64v) * (const records *)record;
}

/* Records a write of consecutive dwords. loaded: some of them may have a read record. */
static inline bool touch_write(const struct wmi_race_cells *cells, size_t first, size_t count,
                               const struct wmi_race_access *access, bool loaded)
{
    const uint64_t record = access->record | 15;
    uint32_t bad = 0;
    size_t i = first;
    for (; i + RECORDS <= first + count; i += RECORDS)
        bad |=
            unsettled(at(&cells->write[i]), access) |
            (loaded ? unsettled(at(&cells->read[i]), access) | unsettled(at(&cells->other[i]), access) : 0);
    if (bad)
        return false;
    for (size_t k = first; k < i; k += RECORDS)
        *(records *)&cells->write[k] = (records)wmi_splat_u64(record);
    for (; i < first + count; i++) {
        if (loaded ? !wmi_race_touch_quickly(cells, i, access)
                   : !wmi_race_is_settled(cells->write[i], access))
            return false;
        cells->write[i] = record;
    }
    return true;
}

/* Records a read of consecutive dwords. written: some of them may have a write record. */
static inline bool touch_read(const struct wmi_race_cells *cells, size_t first, size_t count,
                              const struct wmi_race_access *access, bool written)
{
    const u64v record = wmi_splat_u64(access->record | 15);
    uint32_t bad = 0;
    size_t i = first;
    for (; i + RECORDS <= first + count; i += RECORDS) {
        const u64v read = at(&cells->read[i]);
        const uint32_t taken = unsettled(read, access);
        bad |= written ? unsettled(at(&cells->write[i]), access) : 0;
        *(records *)&cells->read[i] = (records)wmi_choose_bits_u64(taken, read, record);
        if (taken)
            *(records *)&cells->other[i] = (records)wmi_choose_bits_u64(taken, record, at(&cells->other[i]));
    }
    if (bad)
        return false;
    for (; i < first + count; i++) {
        if (written && !wmi_race_touch_quickly(cells, i, access))
            return false;
        if (!written)
            *(wmi_race_is_settled(cells->read[i], access) ? &cells->read[i] : &cells->other[i]) =
                access->record | 15;
    }
    return true;
}

static bool touch_any(const struct wmi_race_cells *cells, size_t first, size_t count,
                      const struct wmi_race_access *access)
{
    return access->writes ? touch_write(cells, first, count, access, true)
                          : touch_read(cells, first, count, access, true);
}

/* Records a write of scattered dwords, at the addresses of lanes relative to the first dword. */
static bool scatter_write(const struct wmi_race_cells *cells, const uint32_t *address, uint64_t lanes,
                          const struct wmi_race_access *access)
{
    const u64v record = wmi_splat_u64(access->record | 15);
    for (unsigned lane = 0; lane < WMI_LANES; lane += RECORDS) {
        const uint32_t some = lanes >> lane & ((1u << RECORDS) - 1), *at = address + lane;
        if (unsettled(wmi_gather_u64(cells->write, at, some), access) |
            unsettled(wmi_gather_u64(cells->read, at, some), access) |
            unsettled(wmi_gather_u64(cells->other, at, some), access))
            return false;
        wmi_scatter_u64(cells->write, at, some, record);
    }
    return true;
}

static bool scatter_read(const struct wmi_race_cells *cells, const uint32_t *address, uint64_t lanes,
                         const struct wmi_race_access *access)
{
    const u64v record = wmi_splat_u64(access->record | 15);
    for (unsigned lane = 0; lane < WMI_LANES; lane += RECORDS) {
        const uint32_t some = lanes >> lane & ((1u << RECORDS) - 1), *at = address + lane;
        if (unsettled(wmi_gather_u64(cells->write, at, some), access))
            return false;
        const uint32_t taken = unsettled(wmi_gather_u64(cells->read, at, some), access);
        wmi_scatter_u64(cells->read, at, some & ~taken, record);
        if (taken)
            wmi_scatter_u64(cells->other, at, taken, record);
    }
    return true;
}

/* Records an access to some bytes (a mask) of a dword. */
static bool touch_part(struct wmi_races *races, const struct wmi_race_cells *cells, size_t dword,
                       unsigned bytes)
{
    const struct wmi_race_access *access = &races->now;
    if (bytes == 15 ? wmi_race_touch_quickly(cells, dword, access)
                    : wmi_race_touch_some_quickly(cells, dword, access, bytes))
        return true;
    if (cells->write[dword] >= WMI_RACE_SPLIT)
        return wmi_race_touch_bytes_quickly(wmi_race_bytes_at(&races->shadow, cells->write[dword]), access,
                                            bytes);
    if (!wmi_race_is_free(&races->shadow, cells, dword, access, bytes))
        return false;
    wmi_race_touch(&races->shadow, cells, dword, access, bytes, NULL, NULL);
    return true;
}

/* ---- global memory ---- */

#if WMI_VECTOR_BYTES == 64
/* wmi_race_put() for lists whose size is a multiple of the vector size. */
static inline bool put_vectors(struct wmi_races *races, struct wmi_race_page *page, unsigned block,
                               uint32_t dwords, uint64_t record)
{
    const struct wmi_race_list list = wmi_race_list(page, block);
    const u64v wanted = wmi_splat_u64(record), role = wmi_splat_u64(15), zero = wmi_splat_u64(0),
               others = wmi_splat_u64(~(uint64_t)dwords);
    uint32_t found = 0, free = 0;
    for (uint32_t i = 0; i < page->list_capacity; i += RECORDS) {
        const u64v now = at(&list.record[i]), dwords_of = at(&list.dwords[i]);
        const uint32_t same = wmi_equal_bits_u64(now, wanted);
        const u64v left = wmi_choose_bits_u64(wmi_equal_bits_u64((now ^ wanted) & role, zero) & ~same,
                                              dwords_of & others, dwords_of);
        const uint32_t none = wmi_equal_bits_u64(left, zero);
        *(records *)&list.dwords[i] = (records)left;
        found |= (same & ~none) << i;
        free |= none << i;
    }
    if (!found)
        return wmi_race_add(&races->shadow, page, block, dwords, record,
                            free ? (uint32_t)__builtin_ctz(free) : UINT32_MAX);
    list.dwords[__builtin_ctz(found)] |= dwords;
    return true;
}

/* wmi_race_touch_block() for lists whose size is a multiple of the vector size, in blocks that are not
 * parted. */
static inline bool touch_vectors(struct wmi_races *races, struct wmi_race_page *page, unsigned block,
                                 uint32_t dwords)
{
    const struct wmi_race_access *access = &races->now;
    const struct wmi_race_list list = wmi_race_list(page, block);
    const u64v some = wmi_splat_u64(dwords), zero = wmi_splat_u64(0);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < page->list_capacity; i += RECORDS) {
        const uint32_t all = (1u << RECORDS) - 1;
        uint32_t conflicting = unsettled(at(&list.record[i]), access) & all &
                               ~wmi_equal_bits_u64(at(&list.dwords[i]) & some, zero);
        if (conflicting && access->writes)
            return false;
        for (; conflicting; conflicting &= conflicting - 1) {
            const uint32_t k = i + (uint32_t)__builtin_ctz(conflicting);
            if ((list.record[k] & 15) == WMI_RACE_WRITE)
                return false;
            if ((list.record[k] & 15) == WMI_RACE_READ)
                taken |= (uint32_t)list.dwords[k] & dwords;
        }
    }
    return access->writes
               ? put_vectors(races, page, block, dwords, access->record | WMI_RACE_WRITE)
               : (taken == dwords ||
                  put_vectors(races, page, block, dwords & ~taken, access->record | WMI_RACE_READ)) &&
                     (!taken ||
                      wmi_race_put(&races->shadow, page, block, taken, access->record | WMI_RACE_OTHER));
}
#endif

/* Records an access to dwords of a block that is not divided, if its list can hold it. */
static inline bool touch_list(struct wmi_races *races, struct wmi_race_page *page, unsigned block,
                              uint32_t dwords)
{
#if WMI_VECTOR_BYTES == 64
    if (page->list_capacity >= RECORDS && !(page->parted >> block & 1))
        return touch_vectors(races, page, block, dwords);
#endif
    return wmi_race_touch_block(&races->shadow, page, block, dwords, &races->now);
}

/* Records an access to a block. NO_STATE: it has no state any more. */
static inline enum wmi_race_outcome touch_state(struct wmi_races *races, struct wmi_race_page *page,
                                                unsigned block, const uint64_t bytes[2], bool dwords)
{
    if (page->listed >> block & 1)
        return WMI_RACE_NO_STATE;
    const enum wmi_race_outcome outcome =
        wmi_race_touch_owners(&races->shadow, &page->owner[block], bytes, dwords, &races->now);
    return outcome == WMI_RACE_NO_STATE && !wmi_race_leave_state(&races->shadow, page, block)
               ? WMI_RACE_CONFLICTS_NOW
               : outcome;
}

/* Records an access to the dwords of a block without a state that are set in a mask. */
static bool touch_listed(struct wmi_races *races, struct wmi_race_page *page, unsigned block, uint32_t dwords)
{
    if (!(page->divided >> block & 1) && touch_list(races, page, block, dwords))
        return true;
    if (!(page->divided >> block & 1) && !wmi_race_divide(&races->shadow, page, block))
        return false;
    page->written |= (uint32_t)races->now.writes << block;
    page->loaded |= (uint32_t)!races->now.writes << block;
    const bool written = page->written >> block & 1, loaded = page->loaded >> block & 1;
    const struct wmi_race_cells cells = wmi_race_block_cells(page->detail[block].block);
    while (dwords) {
        const unsigned first = (unsigned)__builtin_ctz(dwords);
        const uint64_t rest = (uint64_t)dwords >> first;
        const unsigned count = (unsigned)__builtin_ctzll(~rest);
        if (races->now.writes ? !touch_write(&cells, first, count, &races->now, loaded)
                              : !touch_read(&cells, first, count, &races->now, written))
            return false;
        dwords &= (uint32_t)(~UINT64_C(0) << (first + count));
    }
    return true;
}

/* Records an access to the dwords of a block that are set in a mask. */
static bool touch_mask(struct wmi_races *races, struct wmi_race_page *page, unsigned block, uint32_t dwords)
{
    const uint64_t bytes[2] = {dwords};
    const enum wmi_race_outcome outcome = touch_state(races, page, block, bytes, true);
    return outcome == WMI_RACE_NO_STATE ? touch_listed(races, page, block, dwords)
                                        : outcome == WMI_RACE_STEPS_ON;
}

/* Records an access to a span of bytes of a block. */
static bool touch_span(struct wmi_races *races, struct wmi_race_page *page, unsigned block,
                       const uint64_t bytes[2])
{
    struct wmi_race_shadow *shadow = &races->shadow;
    const struct wmi_race_access *access = &races->now;
    const enum wmi_race_outcome outcome = touch_state(races, page, block, bytes, false);
    if (outcome != WMI_RACE_NO_STATE)
        return outcome == WMI_RACE_STEPS_ON;
    if (!(page->divided >> block & 1) && (wmi_race_touch_bytes(shadow, page, block, bytes, access)))
        return true;
    if (!(page->divided >> block & 1) && !wmi_race_divide(shadow, page, block))
        return false;
    page->written |= 1u << block; /* the write records mark dwords with records per byte */
    page->loaded |= 1u << block;
    const struct wmi_race_cells cells = wmi_race_block_cells(page->detail[block].block);
    for (unsigned half = 0; half < 2; half++)
        for (uint64_t left = bytes[half]; left;) {
            const unsigned at = (unsigned)__builtin_ctzll(left) / 4, some = left >> 4 * at & 15;
            left &= ~(UINT64_C(15) << 4 * at);
            if (!touch_part(races, &cells, 16 * half + at, some))
                return false;
        }
    return true;
}

/* Bytes of one block that lanes access, which have not been recorded yet. */
struct gathered_bytes {
    uint64_t block; /* address */
    uint64_t bytes[2];
};

static inline bool flush_bytes(struct wmi_races *races, struct gathered_bytes *gathered)
{
    const uint64_t bytes[2] = {gathered->bytes[0], gathered->bytes[1]};
    if (!(bytes[0] | bytes[1]))
        return true;
    struct wmi_race_page *page = wmi_race_page(&races->shadow, gathered->block);
    gathered->bytes[0] = gathered->bytes[1] = 0;
    return page && touch_span(races, page, wmi_race_block_of(gathered->block), bytes);
}

/* Adds at most 64 bytes from an address on; first records those gathered before if they belong to another
 * block. */
static inline bool gather_bytes(struct wmi_races *races, struct gathered_bytes *gathered, uint64_t address,
                                uint64_t bytes)
{
    const uint64_t block = address >> WMI_RACE_BLOCK_BITS << WMI_RACE_BLOCK_BITS;
    const unsigned shift = address % 64, half = address / 64 % 2;
    if (block != gathered->block && !flush_bytes(races, gathered))
        return false;
    gathered->block = block;
    gathered->bytes[half] |= bytes << shift;
    const uint64_t behind = shift ? bytes >> (64 - shift) : 0;
    return !behind ||
           (half ? gather_bytes(races, gathered, block + 128, behind) : (gathered->bytes[1] |= behind, true));
}

/* Records an access to consecutive dwords of LDS; dwords with records per byte are recorded one by one. */
static bool touch_local_dwords(struct wmi_races *races, const struct wmi_race_cells *cells, size_t first,
                               size_t count)
{
    if (touch_any(cells, first, count, &races->now))
        return true;
    for (size_t i = first; i < first + count; i++)
        if (!touch_part(races, cells, i, 15))
            return false;
    return true;
}

/* Records an access to consecutive bytes of LDS. */
static bool touch_local_run(struct wmi_races *races, uint64_t address, uint64_t end)
{
    const struct wmi_race_cells cells = wmi_race_local_cells(&races->group->lds);
    const uint64_t first = (address + 3) / 4, last = end / 4; /* whole dwords */
    const unsigned head = 15u << address % 4 & 15, tail = 15u >> (3 - (end - 1) % 4);
    if (last < first)
        return touch_part(races, &cells, last, head & tail);
    if (address % 4 && !touch_part(races, &cells, first - 1, head))
        return false;
    if (!touch_local_dwords(races, &cells, first, last - first))
        return false;
    return end % 4 == 0 || touch_part(races, &cells, last, tail);
}

/* Records an access to consecutive bytes of LDS whose blocks have states; then they may have none any more.
 */
static bool touch_local_blocks(struct wmi_races *races, uint64_t address, uint64_t end)
{
    const uint64_t size = UINT64_C(1) << WMI_RACE_BLOCK_BITS;
    const bool dwords = (address | end) % 4 == 0;
    for (uint64_t stop; address < end; address = stop) {
        const unsigned from = address % size, half = size / 2;
        uint64_t bytes[2] = {0};
        stop = (address & -size) + size < end ? (address & -size) + size : end;
        const unsigned to = from + (unsigned)(stop - address);
        if (dwords) {
            bytes[0] = UINT32_MAX >> (WMI_RACE_BLOCK_DWORDS - (to - from) / 4) << from / 4;
        } else {
            if (from < half)
                bytes[0] = UINT64_MAX >> (half - (to < half ? to - from : half - from)) << from;
            if (to > half)
                bytes[1] = UINT64_MAX >> (from > half ? half - (to - from) : 2 * half - to)
                                             << (from > half ? from - half : 0);
        }
        switch (wmi_race_touch_owners(&races->shadow, &races->group->lds.area->owner[0][address / size],
                                      bytes, dwords, &races->now)) {
        case WMI_RACE_CONFLICTS_NOW:
            return false;
        case WMI_RACE_NO_STATE:
            wmi_race_local_leave(&races->shadow, &races->group->lds);
            return true;
        default:
            break;
        }
    }
    return true;
}

/* Records an access to consecutive dwords. */
static bool touch_run(struct wmi_races *races, enum wmi_address_space space, uint64_t address, size_t count)
{
    const uint64_t size = UINT64_C(1) << WMI_RACE_BLOCK_BITS, end = address + 4 * count;
    struct wmi_race_page *page = NULL;
    if (space == WMI_SPACE_LDS) {
        const struct wmi_race_local *local = &races->group->lds;
        const struct wmi_race_cells cells = wmi_race_local_cells(local);
        if (end > local->bytes || (local->states && !touch_local_blocks(races, address, end)))
            return false;
        return local->states || touch_local_dwords(races, &cells, address / 4, count);
    }
    for (uint64_t stop; address < end; address = stop) {
        const unsigned block = wmi_race_block_of(address);
        stop = (address & -size) + size < end ? (address & -size) + size : end;
        if ((!page || !block) && !(page = wmi_race_page(&races->shadow, address)))
            return false;
        const uint32_t dwords = UINT32_MAX >> (WMI_RACE_BLOCK_DWORDS - (stop - address) / 4)
                                                  << (address / 4 % WMI_RACE_BLOCK_DWORDS);
        if (!touch_mask(races, page, block, dwords))
            return false;
    }
    return true;
}

/* Records an access to consecutive bytes. */
static bool touch_byte_run(struct wmi_races *races, enum wmi_address_space space, uint64_t address,
                           uint64_t end)
{
    struct gathered_bytes gathered = {0};
    if (space == WMI_SPACE_LDS) {
        const struct wmi_race_local *local = &races->group->lds;
        if (end > local->bytes || (local->states && !touch_local_blocks(races, address, end)))
            return false;
        return local->states || touch_local_run(races, address, end);
    }
    while (address < end) {
        const uint64_t count = end - address < 64 ? end - address : 64;
        if (!gather_bytes(races, &gathered, address, UINT64_MAX >> (64 - count)))
            return false;
        address += count;
    }
    return flush_bytes(races, &gathered);
}

#endif
