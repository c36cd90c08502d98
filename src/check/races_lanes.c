/* SPDX-License-Identifier: MIT */
/* Records accesses for race detection by their outline: runs of whole dwords that meet nothing that must be
 * examined. */
#include "check/races.h"
#include "check/runs.h"

#include <stdalign.h>

/* A vector of 64-bit records, anywhere. */
typedef uint64_t records __attribute__((vector_size(WMI_VECTOR_BYTES), may_alias, aligned(8)));
enum { RECORDS = WMI_VECTOR_BYTES / 8 };

/* A bit for each record that is not settled, as wmi_race_is_settled() tells. */
static inline uint32_t unsettled(u64v record, const struct wmi_race_access *access)
{
    const u64v from = wmi_splat_u64(access->from), before = wmi_splat_u64(access->before),
               mine = wmi_splat_u64(access->record), wave = wmi_splat_u64(WMI_RACE_SAME_WAVE),
               zero = wmi_splat_u64(0);
    return wmi_not_less_bits_u64(record - from, before) & ~wmi_equal_bits_u64(record, zero) &
           ~wmi_equal_bits_u64((record ^ mine) & wave, zero);
}

static inline u64v at(const uint64_t *record)
{
    return (u64v) * (const records *)record;
}

static bool touch_write(const struct wmi_race_cells *cells, size_t first, size_t count,
                        const struct wmi_race_access *access)
{
    const uint64_t record = access->record | 15;
    uint32_t bad = 0;
    size_t i = first;
    for (; i + RECORDS <= first + count; i += RECORDS)
        bad |= unsettled(at(&cells->write[i]), access) | unsettled(at(&cells->read[i]), access) |
               unsettled(at(&cells->other[i]), access);
    if (bad)
        return false;
    for (size_t k = first; k < i; k += RECORDS)
        *(records *)&cells->write[k] = (records)wmi_splat_u64(record);
    for (; i < first + count; i++)
        if (!wmi_race_touch_quickly(cells, i, access))
            return false;
    return true;
}

static bool touch_read(const struct wmi_race_cells *cells, size_t first, size_t count,
                       const struct wmi_race_access *access)
{
    const u64v record = wmi_splat_u64(access->record | 15);
    uint32_t bad = 0;
    size_t i = first;
    for (; i + RECORDS <= first + count; i += RECORDS) {
        const u64v read = at(&cells->read[i]);
        const uint32_t taken = unsettled(read, access);
        bad |= unsettled(at(&cells->write[i]), access);
        *(records *)&cells->read[i] = (records)wmi_choose_bits_u64(taken, read, record);
        if (taken)
            *(records *)&cells->other[i] = (records)wmi_choose_bits_u64(taken, record, at(&cells->other[i]));
    }
    if (bad)
        return false;
    for (; i < first + count; i++)
        if (!wmi_race_touch_quickly(cells, i, access))
            return false;
    return true;
}

/* Records an access to the dwords of a block that are set in a mask. */
static bool touch_mask(struct wmi_races *races, struct wmi_race_page *page, unsigned block, uint32_t dwords)
{
    struct wmi_race_cells cells;
    if (!(page->divided >> block & 1) &&
        wmi_race_touch_block(&races->shadow, page, block, dwords, &races->now))
        return true;
    if (!wmi_race_find_cells(&races->shadow, page, block, &cells))
        return false;
    while (dwords) {
        const unsigned first = (unsigned)__builtin_ctz(dwords);
        const uint64_t rest = (uint64_t)dwords >> first;
        const unsigned count = (unsigned)__builtin_ctzll(~rest);
        if (!(races->now.writes ? touch_write : touch_read)(&cells, first, count, &races->now))
            return false;
        dwords &= (uint32_t)(~UINT64_C(0) << (first + count));
    }
    return true;
}

/* Dwords of one block that lanes access, not yet recorded. */
struct gathered {
    uint64_t block; /* address */
    uint32_t dwords;
};

static inline bool flush(struct wmi_races *races, enum wmi_address_space space, struct gathered *gathered)
{
    if (!gathered->dwords)
        return true;
    struct wmi_race_page *page = wmi_race_page_at(races, space, gathered->block);
    const uint32_t dwords = gathered->dwords;
    gathered->dwords = 0;
    return page && touch_mask(races, page, wmi_race_block_of(gathered->block), dwords);
}

/* Adds the dwords in [start, end), and records those of other blocks. */
static inline bool gather(struct wmi_races *races, enum wmi_address_space space, struct gathered *gathered,
                          uint64_t start, uint64_t end)
{
    const uint64_t size = UINT64_C(1) << WMI_RACE_BLOCK_BITS;
    while (start < end) {
        const uint64_t block = start & -size, stop = end < block + size ? end : block + size;
        const unsigned first = (unsigned)(start - block) / 4, count = (unsigned)(stop - start) / 4;
        if (block != gathered->block && !flush(races, space, gathered))
            return false;
        gathered->block = block;
        gathered->dwords |= UINT32_MAX >> (WMI_RACE_BLOCK_DWORDS - count) << first;
        start = stop;
    }
    return true;
}

/* Records an access to consecutive dwords. */
static bool touch_run(struct wmi_races *races, enum wmi_address_space space, uint64_t address, size_t count)
{
    struct gathered gathered = {0};
    return gather(races, space, &gathered, address, address + 4 * count) && flush(races, space, &gathered);
}

/* Whether no two active lanes have bytes in common. Quickly: all must lie in 2 GiB from one multiple of 4 GiB
 * on. */
static bool are_apart(const struct wmi_runs *runs)
{
    const struct wmi_outline *outline = runs->outline;
    const uint64_t lanes = outline->lanes;
    alignas(64) uint32_t twice[2 * WMI_LANES];
    const u32v reach = wmi_splat_u32(runs->bytes - 1), both = wmi_splat_u32(2 * runs->bytes - 1);
    uint64_t near = 0;
    for (uint64_t left = outline->high ? lanes : 0; left; left &= left - 1)
        if (outline->high[__builtin_ctzll(left)] != outline->high[__builtin_ctzll(lanes)])
            return false;
    memcpy(twice, outline->low, WMI_LANES * sizeof *twice);
    memcpy(twice + WMI_LANES, outline->low, WMI_LANES * sizeof *twice);
    for (unsigned turn = 1; turn <= WMI_LANES / 2; turn++) {
        const uint64_t turned = (lanes >> turn | lanes << (WMI_LANES - turn)) & WMI_ALL_LANES & lanes;
        uint64_t meet = 0;
        for (unsigned lane = 0; turned && lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
            const u32v now = *(const u32v *)&twice[lane],
                       other = (u32v) * (const wmi_loose_vector *)&twice[lane + turn];
            meet |= (uint64_t)wmi_less_bits(other - now + reach, both) << lane;
        }
        near |= meet & turned;
    }
    return !near;
}

/* Records what lanes access, by runs of lanes whose addresses are consecutive or, of loads, the same.
 * *reached: where the last run before these ends, and where the last of these does. */
static bool touch_runs(struct wmi_races *races, struct wmi_runs runs, uint64_t *reached)
{
    const struct wmi_outline *outline = runs.outline;
    const enum wmi_address_space space = (enum wmi_address_space)(outline->shape >> 16);
    const bool writes = races->now.writes;
    struct gathered gathered = {0};
    uint64_t start, end, before = 0, before_end = 0;
    bool apart = false;
    while (runs.starts) {
        wmi_runs_next(&runs, &start, &end);
        if (start == before && end == before_end && !writes)
            continue;
        if (start % 4 || start < outline->from || end > outline->to || end <= start)
            return false;
        if (writes && start < *reached && !apart && !(apart = are_apart(&runs)))
            return false;
        before = start;
        *reached = before_end = end;
        if (!gather(races, space, &gathered, start, end))
            return false;
    }
    return flush(races, space, &gathered);
}

static bool touch_place(struct wmi_races *races, const struct wmi_runs *runs)
{
    uint64_t reached = 0;
    struct wmi_runs half = *runs;
    if (!races->order.halves)
        return touch_runs(races, half, &reached);
    half.lanes = runs->lanes & UINT32_MAX;
    half.starts = runs->starts & half.lanes;
    if (half.lanes && !touch_runs(races, half, &reached))
        return false;
    half.lanes = runs->lanes & ~half.lanes;
    half.starts = (runs->starts | (half.lanes & -half.lanes)) & half.lanes;
    wmi_race_choose_half(&races->order, 32, &races->now);
    return !half.lanes || touch_runs(races, half, &reached);
}

bool WMI_BUILD_NAME(wmi_race_run)(struct wmi_races *races, enum wmi_address_space space, uint64_t address,
                                  size_t count);
bool WMI_BUILD_NAME(wmi_race_run)(struct wmi_races *races, enum wmi_address_space space, uint64_t address,
                                  size_t count)
{
    return touch_run(races, space, address, count);
}

bool WMI_BUILD_NAME(wmi_race_outline)(void *local, const struct wmi_outline *outline, uint32_t slot);
bool WMI_BUILD_NAME(wmi_race_outline)(void *local, const struct wmi_outline *outline, uint32_t slot)
{
    struct wmi_races *races = local;
    struct wmi_race_group *group = races->group;
    struct wmi_race_insn *insn = &races->insn[slot];
    unsigned bytes = outline->shape & UINT8_MAX, places = outline->shape >> 8 & UINT8_MAX;
    const bool writes = insn->kind == WMI_ACCESS_STORE, lds = outline->shape >> 16 == WMI_SPACE_LDS;
    if (!slot || !insn->known || insn->kind == WMI_ACCESS_ATOMIC || insn->coherent || !group || !group->tag ||
        bytes % 4)
        return false;
    struct wmi_race_wave *wave = &group->wave[outline->wave];
    if (writes && wave->releases)
        insn->released |= wmi_race_release(&races->order, group, outline->wave);
    wmi_race_describe(&races->order, group, outline->wave, slot, writes, lds, &races->now);
    if (places == 2 && insn->distance == bytes) { /* the second place follows the first one */
        bytes *= 2;
        places = 1;
    }
    for (unsigned i = 0; i < places; i++) {
        const struct wmi_runs runs =
            wmi_runs_begin(outline, outline->base + i * insn->distance, bytes, !writes);
        const uint64_t address = wmi_runs_address(&runs, (unsigned)__builtin_ctzll(outline->lanes));
        if ((lds || !wmi_race_is_scratch(races, address)) && !touch_place(races, &runs))
            return false;
    }
    if (lds) {
        wave->lds_stored |= writes;
        return true;
    }
    wave->stores += wave->stores != 0;
    if (writes)
        wmi_race_store(&races->order, group, outline->wave);
    return true;
}
