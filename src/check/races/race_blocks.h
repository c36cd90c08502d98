/* SPDX-License-Identifier: MIT */
/* Which blocks of memory the lanes of an access touch, and recording that in these blocks: the part of
 * races_lanes.c that groups lanes by blocks, and blocks by states. */
#ifndef WMI_RACE_BLOCKS_H
#define WMI_RACE_BLOCKS_H

#include "check/races/race_cells.h"
#include "check/races/race_places.h"

#include <stdlib.h>

static inline void add_block(struct wmi_race_pattern *blocks, uint32_t number, uint32_t dwords)
{
    if (!blocks->count || blocks->number[blocks->count - 1] != number) {
        blocks->number[blocks->count] = number;
        blocks->dword[blocks->count++] = 0;
    }
    blocks->dword[blocks->count - 1] |= dwords;
}

/* A mask of the lanes that access another block than the next lower lane. */
static inline uint64_t jumps_of(const struct places *places, uint64_t lanes)
{
    u32v before = wmi_splat_u32(0);
    uint64_t jumps = 1;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        const u32v block = *(const u32v *)&places->at[lane] >> WMI_RACE_BLOCK_BITS;
        const uint32_t same = wmi_equal_bits(block, wmi_shift_lanes(before, block));
        jumps |= (uint64_t)(~same & ((1u << WMI_VECTOR_LANES) - 1)) << lane;
        before = block;
    }
    return jumps & lanes;
}

/* find_blocks() for the case that all lanes are active and each accesses one block, which is not that of the
 * next lower lane. False: this is not the case. */
static bool find_apart(const struct places *places, uint64_t lanes, struct wmi_race_pattern *blocks)
{
    const uint32_t dwords = places->bytes / 4;
    const u32v all = wmi_splat_u32(UINT32_MAX >> (32 - dwords)),
               last = wmi_splat_u32(WMI_RACE_BLOCK_DWORDS - dwords);
    uint32_t halved = 0;
    if (lanes != WMI_ALL_LANES || jumps_of(places, lanes) != lanes)
        return false;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        const u32v at = *(const u32v *)&places->at[lane], dword = at >> 2 & (WMI_RACE_BLOCK_DWORDS - 1);
        *(u32v *)&blocks->number[lane] = at >> WMI_RACE_BLOCK_BITS;
        *(u32v *)&blocks->dword[lane] = all << dword;
        halved |= wmi_less_bits(last, dword);
    }
    blocks->count = WMI_LANES;
    return !halved;
}

static void find_blocks(const struct places *places, uint64_t lanes, struct wmi_race_pattern *blocks)
{
    const uint32_t dwords = places->bytes / 4, all = UINT32_MAX >> (32 - dwords);
    const u32v last = wmi_splat_u32(WMI_RACE_BLOCK_DWORDS - dwords);
    if (find_apart(places, lanes, blocks))
        return;
    blocks->count = 0;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        const u32v at = *(const u32v *)&places->at[lane], block = at >> WMI_RACE_BLOCK_BITS,
                   dword = at >> 2 & (WMI_RACE_BLOCK_DWORDS - 1), mask = wmi_splat_u32(all) << dword;
        uint32_t left = lanes >> lane & ((1u << WMI_VECTOR_LANES) - 1),
                 halved = left & wmi_less_bits(last, dword);
        for (left &= ~halved; left;) {
            const uint32_t first = places->at[lane + (unsigned)__builtin_ctz(left)],
                           number = first >> WMI_RACE_BLOCK_BITS,
                           same = left & wmi_equal_bits(block, wmi_splat_u32(number));
            add_block(blocks, number,
                      same & (same - 1) ? wmi_or_of(mask, same)
                                        : all << (first >> 2 & (WMI_RACE_BLOCK_DWORDS - 1)));
            left &= ~same;
        }
        for (; halved; halved &= halved - 1) { /* in two blocks each */
            const uint32_t first = places->at[lane + (unsigned)__builtin_ctz(halved)],
                           number = first >> WMI_RACE_BLOCK_BITS;
            const uint64_t both = (uint64_t)all << (first >> 2 & (WMI_RACE_BLOCK_DWORDS - 1));
            add_block(blocks, number, (uint32_t)both);
            add_block(blocks, number + 1, (uint32_t)(both >> WMI_RACE_BLOCK_DWORDS));
        }
    }
}

/* The bytes or dwords in the blocks from one on. */
static inline u64v bytes_at(const struct wmi_race_pattern *blocks, unsigned half, unsigned from, bool dwords)
{
    typedef uint32_t half_vector __attribute__((vector_size(WMI_VECTOR_BYTES / 2), may_alias, aligned(4)));
    if (dwords)
        return half ? wmi_splat_u64(0)
                    : __builtin_convertvector(*(const half_vector *)&blocks->dword[from], u64v);
    return at(&blocks->byte[half][from]);
}

/* Records the accesses to one block. */
static inline bool touch_one(struct wmi_races *races, struct wmi_race_page *page, unsigned block,
                             const struct wmi_race_pattern *blocks, unsigned i)
{
    if (!blocks->dwords) {
        const uint64_t bytes[2] = {blocks->byte[0][i], blocks->byte[1][i]};
        return touch_span(races, page, block, bytes);
    }
    return page->listed >> block & 1 ? touch_listed(races, page, block, blocks->dword[i])
                                     : touch_mask(races, page, block, blocks->dword[i]);
}

/* The same of a block of the area. */
static inline bool touch_in(struct wmi_races *races, struct wmi_race_area *area, uint32_t number,
                            const struct wmi_race_pattern *blocks, unsigned i)
{
    return touch_one(races, &area->page[number / WMI_RACE_BLOCKS], number % WMI_RACE_BLOCKS, blocks, i);
}

/* Blocks in the same state with the same owners, of which an access touches the same bytes. */
struct group {
    const struct wmi_race_step *step; /* NULL: unused */
    uint64_t owner[WMI_RACE_OWNERS], next[WMI_RACE_OWNERS], bytes[2];
};

static inline bool is_group(const struct group *group, const uint64_t owner[WMI_RACE_OWNERS],
                            const uint64_t bytes[2])
{
    return group->step &&
           !((group->owner[0] ^ owner[0]) | (group->owner[1] ^ owner[1]) | (group->owner[2] ^ owner[2]) |
             (group->bytes[0] ^ bytes[0]) | (group->bytes[1] ^ bytes[1]));
}

/* Records the accesses to RECORDS blocks of an area, from the block `from` on. number: four times their
 * numbers in the area, as wmi_gather_u64() takes them. Blocks in the same state with the same owners are
 * recorded together. last: the last of them, in this access. */
static inline bool touch_vector(struct wmi_races *races, struct wmi_race_area *area,
                                const struct wmi_race_pattern *blocks, unsigned from, const uint32_t *number,
                                uint32_t left, struct group *last)
{
    const bool dwords = blocks->dwords;
    const u64v low = bytes_at(blocks, 0, from, dwords), high = bytes_at(blocks, 1, from, dwords);
    while (left) {
        const unsigned first = (unsigned)__builtin_ctz(left), i = from + first;
        const uint32_t at = number[first] / 4;
        uint64_t owner[WMI_RACE_OWNERS] = {area->owner[0][at]};
        if (owner[0] == WMI_RACE_LISTED) { /* since lanes before */
            last->step = NULL;
            if (!touch_in(races, area, at, blocks, i))
                return false;
            left &= left - 1;
            continue;
        }
        const uint64_t bytes[2] = {dwords ? blocks->dword[i] : blocks->byte[0][i],
                                   dwords ? 0 : blocks->byte[1][i]};
        const uint32_t owners = wmi_race_owners_of(&races->shadow, owner[0]);
        uint32_t same = left & wmi_equal_bits_u64(low, wmi_splat_u64(bytes[0]));
        same &= dwords ? same : wmi_equal_bits_u64(high, wmi_splat_u64(bytes[1]));
        for (uint32_t k = 0; k < (owners ? owners : 1); k++) {
            owner[k] = area->owner[k][at];
            same &= wmi_equal_bits_u64(wmi_gather_u64(area->owner[k], number, same), wmi_splat_u64(owner[k]));
        }
        if (!is_group(last, owner, bytes)) {
            memcpy(last->owner, owner, sizeof owner);
            memcpy(last->bytes, bytes, sizeof bytes);
            last->step = wmi_race_step_of(&races->shadow, owner, owners, bytes, dwords, &races->now);
            wmi_race_next_owners(last->step, owner, &races->now, last->next);
        }
        if (last->step->outcome == WMI_RACE_CONFLICTS_NOW)
            return false;
        if (last->step->outcome == WMI_RACE_NO_STATE) { /* leaves its state */
            if (area == races->group->lds.area) {
                wmi_race_local_leave(&races->shadow, &races->group->lds);
                return true;
            }
            last->step = NULL; /* of which touch_in() may use the memory */
            if (!touch_in(races, area, at, blocks, i))
                return false;
            left &= left - 1;
            continue;
        }
        for (unsigned k = 0; k < last->step->owners; k++)
            if (k >= owners || last->next[k] != owner[k])
                wmi_scatter_u64(area->owner[k], number, same, wmi_splat_u64(last->next[k]));
        left &= ~same;
    }
    return true;
}

/* Blocks of one area. */
struct in_area {
    struct wmi_race_area *area;
    unsigned from, count;                                 /* among those that lanes access */
    uint32_t listed[2 * WMI_LANES / 32];                  /* mask of those without states */
    alignas(64) uint32_t number[2 * WMI_LANES + RECORDS]; /* four times their numbers in the area */
};

/* Finds the blocks from one on that lie in the same area. False: no memory. */
static bool find_in_area(struct wmi_races *races, uint64_t start, const struct wmi_race_pattern *blocks,
                         unsigned from, struct in_area *in)
{
    struct wmi_race_area *const area =
        wmi_race_area(&races->shadow, (start + blocks->number[from]) << WMI_RACE_BLOCK_BITS);
    const struct wmi_race_page *page = NULL;
    uint64_t before = UINT64_MAX;
    memset(in->listed, 0, sizeof in->listed);
    in->area = area;
    in->from = from;
    for (in->count = 0; area && from < blocks->count; from++) {
        const uint64_t block = start + blocks->number[from];
        if (block / WMI_RACE_BLOCKS != before) {
            if (block / WMI_RACE_AREA_BLOCKS != area->number)
                break;
            page = wmi_race_page_in(&races->shadow, area, block << WMI_RACE_BLOCK_BITS);
        }
        before = block / WMI_RACE_BLOCKS;
        if (page->listed >> block % WMI_RACE_BLOCKS & 1) {
            in->listed[in->count / 32] |= 1u << in->count % 32;
            if (page->list_capacity && !blocks->spread)
                __builtin_prefetch(wmi_race_list(page, block % WMI_RACE_BLOCKS).record);
        }
        in->number[in->count++] = block % WMI_RACE_AREA_BLOCKS * 4;
    }
    return area;
}

static bool is_spread(const struct wmi_race_pattern *blocks)
{
    const unsigned bits = WMI_RACE_PAGE_BITS - WMI_RACE_BLOCK_BITS;
    unsigned changes = 0;
    for (unsigned i = 1; i < blocks->count; i++)
        changes += blocks->number[i] >> bits != blocks->number[i - 1] >> bits;
    return 2 * changes > blocks->count;
}

/* Prefetches what is known of a block. Always inline: GCC 12 removes calls of a function that only
 * prefetches.
 */
WMI_INLINE void fetch_block(const struct wmi_race_page *page, unsigned block,
                            const struct wmi_race_pattern *blocks, unsigned i, bool writes)
{
    enum { LINE = 64 };
    if (page->parted >> block & 1) {
        const char *const part = (const char *)page->detail[block].part;
        for (unsigned line = 0; line < sizeof *page->detail->part; line += LINE)
            __builtin_prefetch(part + line);
    } else if (page->divided >> block & 1) {
        const struct wmi_race_block *const records = page->detail[block].block;
        if (blocks->dwords && (writes || page->written >> block & 1))
            __builtin_prefetch(&records->write[__builtin_ctz(blocks->dword[i])]);
        if (blocks->dwords && (!writes || page->loaded >> block & 1))
            __builtin_prefetch(&records->read[__builtin_ctz(blocks->dword[i])]);
    } else if (page->list_capacity) {
        __builtin_prefetch(wmi_race_list(page, block).record);
    }
}

/* Prefetches the rest of a long list of bytes. */
WMI_INLINE void fetch_longer(const struct wmi_race_page *page, unsigned block)
{
    enum { LINE = 64 };
    if (!(page->parted >> block & 1) || !page->detail[block].part->longer)
        return;
    const char *const list = (const char *)page->detail[block].block;
    for (unsigned line = 0; line < sizeof page->detail->block->list; line += LINE)
        __builtin_prefetch(list + line);
}

/* Records an access to one dword of a block with records per dword. False: there are more dwords, or the
 * block has another form, or the access may conflict. */
static inline bool touch_divided(struct wmi_races *races, struct wmi_race_page *page, unsigned block,
                                 uint32_t dwords)
{
    const struct wmi_race_access *access = &races->now;
    if (!(page->divided >> block & 1) || dwords & (dwords - 1))
        return false;
    const struct wmi_race_cells cells = wmi_race_block_cells(page->detail[block].block);
    const unsigned dword = (unsigned)__builtin_ctz(dwords);
    page->written |= (uint32_t)access->writes << block;
    page->loaded |= (uint32_t)!access->writes << block;
    if (access->writes)
        return touch_write(&cells, dword, 1, access, page->loaded >> block & 1);
    if (page->written >> block & 1)
        return wmi_race_touch_quickly(&cells, dword, access);
    *(wmi_race_is_settled(cells.read[dword], access) ? &cells.read[dword] : &cells.other[dword]) =
        access->record | 15;
    return true;
}

/* Records accesses to blocks in many pages. Finding what is known of a block takes a chain of dependent
 * memory accesses, and the chains of different blocks overlap. *done: false if the blocks have states. */
static bool touch_spread(struct wmi_races *races, uint64_t start, const struct wmi_race_pattern *blocks,
                         bool *done)
{
    struct wmi_race_page *page[WMI_RACE_LANE_BLOCKS];
    unsigned listed = 0;
    for (unsigned i = 0; i < blocks->count; i++) {
        const uint64_t block = start + blocks->number[i];
        struct wmi_race_area *area = wmi_race_area(&races->shadow, block << WMI_RACE_BLOCK_BITS);
        if (!area)
            return false;
        page[i] = &area->page[block / WMI_RACE_BLOCKS % WMI_RACE_AREA_PAGES];
        __builtin_prefetch(page[i]);
    }
    for (unsigned i = 0; i < blocks->count; i++) {
        const uint64_t block = start + blocks->number[i];
        if (page[i]->launch != races->shadow.launch)
            wmi_race_page(&races->shadow, block << WMI_RACE_BLOCK_BITS);
        else if (page[i]->detail && (page[i]->parted | page[i]->divided) >> block % WMI_RACE_BLOCKS & 1)
            __builtin_prefetch(&page[i]->detail[block % WMI_RACE_BLOCKS]);
        else if (!(page[i]->listed >> block % WMI_RACE_BLOCKS & 1))
            __builtin_prefetch(&page[i]->owner[block % WMI_RACE_BLOCKS]);
        listed += page[i]->listed >> block % WMI_RACE_BLOCKS & 1;
    }
    *done = listed || blocks->irregular;
    for (unsigned i = 0; i < blocks->count && *done; i++)
        fetch_block(page[i], (start + blocks->number[i]) % WMI_RACE_BLOCKS, blocks, i, races->now.writes);
    for (unsigned i = 0; i < blocks->count && *done && !blocks->dwords; i++)
        fetch_longer(page[i], (start + blocks->number[i]) % WMI_RACE_BLOCKS);
    for (unsigned i = 0; i < blocks->count && *done; i++) {
        const unsigned block = (start + blocks->number[i]) % WMI_RACE_BLOCKS;
        if (blocks->dwords && touch_divided(races, page[i], block, blocks->dword[i]))
            continue;
        if ((blocks->irregular && !wmi_race_list_block(&races->shadow, page[i], block)) ||
            !touch_one(races, page[i], block, blocks, i))
            return false;
    }
    return true;
}

/* Records accesses to blocks whose numbers are relative to the origin. */
static bool touch_all(struct wmi_races *races, uint64_t origin, const struct wmi_race_pattern *blocks)
{
    enum { FEW = 4 };
    const uint64_t start = origin >> WMI_RACE_BLOCK_BITS;
    struct group last = {0};
    struct in_area in;
    bool done = false;
    if ((blocks->spread || blocks->irregular) && !touch_spread(races, start, blocks, &done))
        return false;
    if (done)
        return true;
    for (unsigned from = 0; from < blocks->count; from += in.count) {
        if (!find_in_area(races, start, blocks, from, &in))
            return false;
        for (unsigned i = 0; i < in.count; i += RECORDS) {
            const uint32_t all = UINT32_MAX >> (32 - (in.count - i < RECORDS ? in.count - i : RECORDS));
            uint32_t alone = in.count < FEW ? all : in.listed[i / 32] >> i % 32 & all;
            if (all & ~alone &&
                !touch_vector(races, in.area, blocks, from + i, in.number + i, all & ~alone, &last))
                return false;
            for (; alone; alone &= alone - 1) {
                const unsigned k = i + (unsigned)__builtin_ctz(alone);
                if (!touch_in(races, in.area, in.number[k] / 4, blocks, from + k))
                    return false;
            }
        }
    }
    return true;
}

/* Adds at most 64 bytes from `at` on. */
static inline void add_bytes(struct wmi_race_pattern *blocks, uint32_t at, uint64_t bytes)
{
    const uint32_t number = at >> WMI_RACE_BLOCK_BITS;
    const unsigned shift = at % 64, half = at / 64 % 2;
    const uint64_t behind = shift ? bytes >> (64 - shift) : 0;
    unsigned last = blocks->count - 1;
    if (!blocks->count || blocks->number[last] != number) {
        last = blocks->count++;
        blocks->number[last] = number;
        blocks->byte[0][last] = blocks->byte[1][last] = 0;
    }
    blocks->byte[half][last] |= bytes << shift;
    if (behind && !half) {
        blocks->byte[1][last] |= behind;
    } else if (behind) {
        last = blocks->count++;
        blocks->number[last] = number + 1;
        blocks->byte[0][last] = behind;
        blocks->byte[1][last] = 0;
    }
}

static void find_bytes(const struct places *places, uint64_t lanes, struct wmi_race_pattern *blocks)
{
    const uint64_t bytes = UINT64_MAX >> (64 - places->bytes);
    blocks->count = 0;
    for (; lanes; lanes &= lanes - 1)
        add_bytes(blocks, places->at[__builtin_ctzll(lanes)], bytes);
}

/* Whether the lanes touch the blocks of the pattern, `distance` bytes behind. */
static inline bool is_pattern(const struct wmi_race_pattern *pattern, const struct places *places,
                              uint64_t lanes, uint32_t distance)
{
    const u32v behind = wmi_splat_u32(distance);
    uint64_t same = 0;
    if (!pattern->count || pattern->lanes != lanes || pattern->bytes != places->bytes ||
        distance % (1 << WMI_RACE_BLOCK_BITS))
        return false;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES)
        same |= (uint64_t)wmi_equal_bits(*(const u32v *)&places->at[lane],
                                         *(const u32v *)&pattern->at[lane] + behind)
                << lane;
    return !(lanes & ~same);
}

/* The pattern with that number. NULL: no memory. */
static struct wmi_race_pattern *pattern_at(struct wmi_races *races, uint32_t number)
{
    struct wmi_race_pattern **pattern = &races->pattern[number];
    if (!*pattern && (*pattern = aligned_alloc(alignof(struct wmi_race_pattern), sizeof **pattern)))
        memset(*pattern, 0, sizeof **pattern);
    return *pattern;
}

/* Finds the blocks that the lanes access, which are *distance bytes behind those of the pattern. NULL: no
 * memory. */
static const struct wmi_race_pattern *find_pattern(struct wmi_races *races, const struct places *places,
                                                   uint64_t lanes, int64_t *distance)
{
    /* Accesses after which no pattern is expected, and until the next try. */
    enum { MANY = 64, AGAIN = 1024 };
    const unsigned first = (unsigned)__builtin_ctzll(lanes), slot = wmi_race_slot(races->now.record);
    struct wmi_race_insn *insn = &races->insn[slot];
    /* Members of structures that different instructions access stay apart. */
    const uint32_t number = 37 * slot + places->at[first] / 4 % WMI_RACE_BLOCK_DWORDS;
    const bool irregular = insn->irregular > MANY;
    struct wmi_race_pattern *pattern = NULL;
    *distance = 0;
    for (unsigned way = 0; way < 2 && !irregular; way++) { /* the one that was used last is first */
        const uint32_t at = number % WMI_RACE_PATTERNS, beside = at ^ WMI_RACE_PATTERNS / 2;
        if (!(pattern = pattern_at(races, way ? beside : at)))
            return NULL;
        *distance = (int64_t)places->at[first] - pattern->at[first];
        if (way) {
            races->pattern[beside] = races->pattern[at];
            races->pattern[at] = pattern;
        }
        if (is_pattern(pattern, places, lanes, (uint32_t)*distance)) {
            insn->irregular = 0;
            return pattern;
        }
    }
    if (irregular && !(pattern = pattern_at(races, WMI_RACE_PATTERNS)))
        return NULL;
    if (irregular || (pattern->count && pattern->slot == slot))
        insn->irregular = (insn->irregular + 1) % AGAIN;
    pattern->slot = slot;
    if (places->dwords)
        find_blocks(places, lanes, pattern);
    else
        find_bytes(places, lanes, pattern);
    if (!irregular)
        memcpy(pattern->at, places->at, sizeof places->at);
    pattern->lanes = lanes;
    pattern->bytes = places->bytes;
    pattern->dwords = places->dwords;
    pattern->spread = is_spread(pattern);
    pattern->irregular = irregular;
    *distance = 0;
    return pattern;
}

/* Records accesses of lanes in any order. */
static bool touch_blocks(struct wmi_races *races, const struct places *places, uint64_t origin,
                         uint64_t lanes)
{
    int64_t distance;
    const struct wmi_race_pattern *pattern = find_pattern(races, places, lanes, &distance);
    return pattern && touch_all(races, origin + (uint64_t)distance, pattern);
}

static bool touch_global(struct wmi_races *races, const struct places *places, uint64_t origin,
                         uint64_t lanes)
{
    if (!places->dwords)
        return touch_blocks(races, places, origin, lanes);
    const uint64_t starts = starts_of(places, lanes, races->now.writes);
    if (starts & (starts - 1))
        return touch_blocks(races, places, origin, lanes);
    const uint32_t first = places->at[__builtin_ctzll(lanes)], last = places->at[63 - __builtin_clzll(lanes)];
    return touch_run(races, WMI_SPACE_GLOBAL, origin + first, (last - first + places->bytes) / 4);
}

#endif
