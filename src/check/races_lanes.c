/* SPDX-License-Identifier: MIT */
/* Records accesses for race detection by their outline: runs of whole dwords, one dword for all lanes, and
 * lanes one by one if they meet nothing that must be examined. */
#include "base/lanes.h"
#include "base/vector_bits.h"
#include "check/races.h"

/* A vector of 64-bit records, anywhere. */
typedef uint64_t records __attribute__((vector_size(WMI_VECTOR_BYTES), may_alias, aligned(8)));
enum { RECORDS = WMI_VECTOR_BYTES / 8 };

/* All ones where the recorded access is not settled, as wmi_race_is_settled() tells. */
static inline u64v unsettled(u64v record, const struct wmi_race_access *access)
{
    const u64v from = wmi_splat_u64(access->from), before = wmi_splat_u64(access->before),
               mine = wmi_splat_u64(access->record), wave = wmi_splat_u64(WMI_RACE_SAME_WAVE),
               zero = wmi_splat_u64(0);
    return (u64v)(record != zero) & (u64v)(record - from >= before) &
           (u64v)(((record ^ mine) & wave) != zero);
}

static inline u64v at(const uint64_t *record)
{
    return (u64v) * (const records *)record;
}

static bool touch_write(const struct wmi_race_cells *cells, size_t first, size_t count,
                        const struct wmi_race_access *access)
{
    const uint64_t record = access->record | 15;
    u64v bad = wmi_splat_u64(0);
    size_t i = first;
    for (; i + RECORDS <= first + count; i += RECORDS)
        bad |= unsettled(at(&cells->write[i]), access) | unsettled(at(&cells->read[i]), access) |
               unsettled(at(&cells->other[i]), access);
    if (wmi_any((u32v)bad))
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
    u64v bad = wmi_splat_u64(0);
    size_t i = first;
    for (; i + RECORDS <= first + count; i += RECORDS) {
        const u64v taken = unsettled(at(&cells->read[i]), access);
        bad |= unsettled(at(&cells->write[i]), access);
        *(records *)&cells->read[i] = (records)wmi_select_u64(taken, at(&cells->read[i]), record);
        if (wmi_any((u32v)taken))
            *(records *)&cells->other[i] = (records)wmi_select_u64(taken, record, at(&cells->other[i]));
    }
    if (wmi_any((u32v)bad))
        return false;
    for (; i < first + count; i++)
        if (!wmi_race_touch_quickly(cells, i, access))
            return false;
    return true;
}

/* Records an access to consecutive dwords of LDS. */
static bool touch_lds(struct wmi_races *races, uint64_t address, size_t count)
{
    struct wmi_race_cells cells;
    size_t dword;
    return wmi_race_cells_at(races, WMI_SPACE_LDS, address, &cells, &dword) &&
           count <= races->group->lds_dwords - dword &&
           (races->now.writes ? touch_write : touch_read)(&cells, dword, count, &races->now);
}

/* Records an access to consecutive dwords. */
static bool touch_run(struct wmi_races *races, enum wmi_address_space space, uint64_t address, size_t count)
{
    struct wmi_race_cells cells;
    size_t dword;
    if (space == WMI_SPACE_LDS)
        return touch_lds(races, address, count);
    while (count) {
        struct wmi_race_page *page = wmi_race_page(&races->shadow, address);
        const unsigned block = address >> WMI_RACE_BLOCK_BITS & (WMI_RACE_BLOCKS - 1);
        const size_t first = address / 4 % WMI_RACE_BLOCK_DWORDS, room = WMI_RACE_BLOCK_DWORDS - first;
        const size_t now = count < room ? count : room;
        const uint32_t dwords = UINT32_MAX >> (WMI_RACE_BLOCK_DWORDS - now) << first;
        if (!page)
            return false;
        if ((page->divided >> block & 1 || !wmi_race_touch_block(page, block, dwords, &races->now)) &&
            (!wmi_race_cells_at(races, space, address, &cells, &dword) ||
             !(races->now.writes ? touch_write : touch_read)(&cells, dword, now, &races->now)))
            return false;
        count -= now;
        address += 4 * now;
    }
    return true;
}

/* Whether the lanes' addresses differ by `step` from one to the next. */
static inline bool is_run(const struct wmi_outline *outline, uint32_t step)
{
    const unsigned first = (unsigned)__builtin_ctzll(outline->lanes);
    const uint32_t *low = outline->low, *high = outline->high;
    const uint32_t start = low[first] - first * step;
    uint32_t differs = 0;
    if (outline->lanes == WMI_ALL_LANES) {
        for (uint32_t i = 0; i < WMI_LANES; i++)
            differs |= (low[i] - start) ^ i * step;
        for (uint32_t i = 0; high && i < WMI_LANES; i++)
            differs |= high[i] ^ high[0];
        return !differs;
    }
    for (uint64_t left = outline->lanes; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        differs |= (low[i] - start) ^ i * step;
        differs |= high ? high[i] ^ high[first] : 0;
    }
    return !differs;
}

/* Records what lanes access, by runs of consecutive addresses. Stores must ascend: otherwise lanes may store
 * to one address. */
static bool touch_lanes(struct wmi_races *races, const struct wmi_outline *outline, unsigned bytes)
{
    enum { SHORT = 4 };
    const enum wmi_address_space space = (enum wmi_address_space)(outline->shape >> 16);
    const uint32_t *low = outline->low, *high = outline->high;
    uint64_t left = outline->lanes, start = 0, end = 0;
    for (; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        const uint64_t address = outline->base + (low[i] | (high ? (uint64_t)high[i] << 32 : 0));
        if (address % 4 || address < outline->from || address + bytes > outline->to ||
            (races->now.writes && address < end))
            return false;
        if (address == end) {
            end += bytes;
            continue;
        }
        if (!races->now.writes && address + bytes == end)
            continue;
        if (end - start <= SHORT) {
            if (end != start && !wmi_race_touch_dword(races, space, start))
                return false;
        } else if (!touch_run(races, space, start, (size_t)(end - start) / 4)) {
            return false;
        }
        start = address;
        end = address + bytes;
    }
    return touch_run(races, space, start, (size_t)(end - start) / 4);
}

static bool touch(struct wmi_races *races, const struct wmi_outline *outline, unsigned bytes,
                  uint64_t address)
{
    const enum wmi_address_space space = (enum wmi_address_space)(outline->shape >> 16);
    const uint64_t lanes = outline->lanes >> __builtin_ctzll(outline->lanes);
    const bool dense = !(lanes & (lanes + 1));
    const unsigned count = (unsigned)__builtin_popcountll(lanes);
    if (dense && is_run(outline, bytes))
        return address >= outline->from && address + (uint64_t)count * bytes <= outline->to &&
               touch_run(races, space, address, count * bytes / 4);
    if (!races->now.writes && is_run(outline, 0))
        return address >= outline->from && address + bytes <= outline->to &&
               touch_run(races, space, address, bytes / 4);
    return touch_lanes(races, outline, bytes);
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
    const struct wmi_race_insn *insn = &races->insn[slot];
    const unsigned bytes = outline->shape & UINT8_MAX, elements = outline->shape >> 8 & UINT8_MAX;
    const unsigned first = (unsigned)__builtin_ctzll(outline->lanes);
    const uint64_t address =
        outline->base + (outline->low[first] | (outline->high ? (uint64_t)outline->high[first] << 32 : 0));
    const bool writes = insn->kind == WMI_ACCESS_STORE, lds = outline->shape >> 16 == WMI_SPACE_LDS;
    if (!slot || !insn->known || insn->kind == WMI_ACCESS_ATOMIC || insn->coherent || !group || !group->tag ||
        elements != 1 || bytes % 4 || address % 4)
        return false;
    struct wmi_race_wave *wave = &group->wave[outline->wave];
    if (writes && wave->releases)
        return false;
    wmi_race_describe(group, outline->wave, slot, writes, lds, &races->now);
    const bool scratch = !lds && wmi_race_is_scratch(races, address);
    if (!scratch && !touch(races, outline, bytes, address))
        return false;
    if (lds) {
        wave->lds_stored |= writes;
        return true;
    }
    wave->stores += wave->stores != 0;
    if (writes)
        wmi_race_store(&races->order, group, outline->wave);
    return true;
}
