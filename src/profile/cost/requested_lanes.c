/* SPDX-License-Identifier: MIT */
/* Finds the blocks, lines and costs of an access with aligned lanes. */
#include "profile/cost/requested.h"
#include "profile/cost/same_lanes.h"

#include <string.h>

/* Addresses as 32-bit offsets from `base`, which is about 2 GiB below the first lane's address, or 0, and a
 * multiple of the block and line sizes. Sums may wrap. */
struct row {
    uint64_t base;
    unsigned count;
    bool ascends;           /* no address is lower than the previous one */
    struct wmi_same_row at; /* of active lanes, compressed */
};

static inline bool ascends(const struct row *row)
{
    u32v before = wmi_splat_u32(0);
    uint64_t descends = 0;
    for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES) {
        const u32v now = *(const u32v *)(row->at.of + i);
        descends |= (uint64_t)wmi_less_bits(now, wmi_shift_lanes(before, now)) << i;
        before = now;
    }
    return !(descends & wmi_same_bits(row->count));
}

/* Sets the addresses by lane (inactive lanes: undefined) and the row, but for its addresses. False: see
 * wmi_requested_find. */
static inline bool find_offsets(const struct wmi_request_query *query, struct wmi_same_row *by_lane,
                                struct row *row)
{
    u32v bits, high;
    const uint64_t first = wmi_lane_address(query->at, (unsigned)__builtin_ctzll(query->mask));
    row->base = first < 1ULL << 31 ? 0 : (first & -256ULL) - (1ULL << 31);
    row->count = (unsigned)__builtin_popcountll(query->mask);
    wmi_same_addresses(query->at, row->base, query->mask, by_lane, &bits, &high);
    return !wmi_any(high | (bits & (query->bytes - 1u)));
}

/* The lanes of the row in the same block as the previous lane. */
static inline uint64_t beside(const struct row *row, unsigned shift)
{
    u32v before = wmi_splat_u32(0);
    uint64_t same = 0;
    for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES) {
        const u32v now = *(const u32v *)(row->at.of + i) >> shift;
        same |= (uint64_t)wmi_equal_bits(now, wmi_shift_lanes(before, now)) << i;
        before = now;
    }
    return same & wmi_same_bits(row->count) & ~1ULL;
}

/* The lanes of the row in the same block as an earlier lane. Unless the row ascends, sets each lane's
 * earliest lane with the same block. */
static inline uint64_t repeated_blocks(struct wmi_same *scratch, const struct row *row, unsigned shift,
                                       struct wmi_same_row *earliest)
{
    struct wmi_same_row block;
    if (row->ascends)
        return beside(row, shift);
    for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES)
        *(u32v *)(block.of + i) = *(const u32v *)(row->at.of + i) >> shift;
    return wmi_same_find(scratch, &block, row->count, wmi_same_bits(row->count), earliest);
}

/* For ascending rows: sets each lane's earliest lane with the same block or element. */
static inline void follow(uint64_t repeated, unsigned count, struct wmi_same_row *earliest)
{
    for (uint32_t i = 0, first = 0; i < count; i++)
        earliest->of[i] = first = repeated >> i & 1 ? first : i;
}

/* Lists the blocks of the lanes that are not `repeated`. */
static inline void list(const struct row *row, unsigned shift, uint64_t repeated,
                        struct wmi_requested *requested)
{
    struct wmi_same_row block;
    for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES)
        *(u32v *)(block.of + i) = *(const u32v *)(row->at.of + i) >> shift;
    const uint64_t firsts = wmi_same_bits(row->count) & ~repeated;
    wmi_compress_row(requested->block, block.of, firsts);
    requested->count = (uint32_t)__builtin_popcountll(firsts);
}

/* Lists each block as often as the maximum number of lanes that access the same element in it. */
static inline void list_often(const struct row *row, unsigned shift, const struct wmi_same_row *block,
                              const struct wmi_same_row *same, uint64_t repeated,
                              struct wmi_requested *requested)
{
    uint8_t times[WMI_LANES] = {0}, most[WMI_LANES] = {0};
    for (unsigned i = 0; i < row->count; i++) {
        const uint8_t now = ++times[same->of[i]], before = most[block->of[i]];
        most[block->of[i]] = now > before ? now : before;
    }
    requested->count = 0;
    for (uint64_t left = wmi_same_bits(row->count) & ~repeated; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        for (unsigned n = 0; n < most[lane]; n++)
            requested->block[requested->count++] = row->at.of[lane] >> shift;
    }
}

/* Sets for each block whether all its elements (`things`) are accessed. Lanes in `same` repeat an earlier
 * lane's element. */
static inline void fill(const struct row *row, unsigned things, const struct wmi_same_row *block,
                        uint64_t same, uint64_t repeated, bool *full)
{
    uint8_t different[WMI_LANES] = {0};
    for (unsigned i = 0; i < row->count; i++)
        different[block->of[i]] += !(same >> i & 1);
    for (uint64_t left = wmi_same_bits(row->count) & ~repeated; left; left &= left - 1)
        *full++ = different[__builtin_ctzll(left)] == things;
}

/* The same for an ascending row, in which the lanes of a block are adjacent. */
static inline void fill_ascending(const struct row *row, unsigned things, uint64_t same, uint64_t repeated,
                                  bool *full)
{
    const uint64_t lanes = wmi_same_bits(row->count);
    for (uint64_t left = lanes & ~repeated; left;) {
        const uint64_t others = left & (left - 1), behind = others ? -(others & -others) : 0;
        const uint64_t of_block = lanes & -(left & -left) & ~behind;
        *full++ = (unsigned)__builtin_popcountll(of_block & ~same) == things;
        left = others;
    }
}

/* The lanes that cause a tag lookup: the first lane of each line, of the lanes that are looked up together.
 */
static inline uint64_t find_lookups(const struct wmi_request_query *query, const struct wmi_same_row *by_lane)
{
    const u32v none = wmi_splat_u32(UINT32_MAX); /* not a line number */
    uint64_t repeated = 0;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        const u32v line = *(const u32v *)(by_lane->of + lane) >> query->line_shift;
        const u32v now = wmi_choose_bits((uint32_t)(query->mask >> lane), line, none);
        const uint64_t one = wmi_equal_bits(now, wmi_swap_in_quads(now, 1));
        const uint64_t two = wmi_equal_bits(now, wmi_swap_in_quads(now, 2));
        const uint64_t three = wmi_equal_bits(now, wmi_swap_in_quads(now, 3));
        /* Lanes whose line an earlier lane has. */
        const uint64_t same = (one & 0xaaaa) | (query->lookup_lanes < 4 ? 0 : (two | three) & 0xcccc);
        repeated |= (same & ((1ULL << WMI_VECTOR_LANES) - 1)) << lane;
    }
    return query->mask & ~repeated;
}

/* Moves the bit of each lane to `lane ^ with`; with: 1, 2 or 3. */
static inline uint32_t swap_bits(uint32_t bits, int with)
{
    if (with & 1)
        bits = (bits & 0x5555) << 1 | (bits >> 1 & 0x5555);
    return with & 2 ? (bits & 0x3333) << 2 | (bits >> 2 & 0x3333) : bits;
}

/* The quads, as the bit of their first lane, in which two active lanes differ. */
static inline uint32_t differing_quads(u32v x, uint32_t active)
{
    uint32_t differs = 0;
    for (int with = 1; with < 4; with++)
        differs |= ~wmi_equal_bits(x, wmi_swap_in_quads(x, with)) & active & swap_bits(active, with);
    differs |= differs >> 1;
    return (differs | differs >> 2) & 0x1111;
}

/* Whether the active lanes of each quad share an address or an aligned block of four elements. */
static inline bool are_quads_fast(const struct wmi_request_query *query, const struct wmi_same_row *by_lane)
{
    const unsigned block_shift = 2 + (unsigned)__builtin_ctz(query->bytes);
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        const uint32_t active = (uint32_t)(query->mask >> lane & ((1ULL << WMI_VECTOR_LANES) - 1));
        const u32v at = *(const u32v *)(by_lane->of + lane);
        if (differing_quads(at >> block_shift, active) & differing_quads(at, active))
            return false;
    }
    return true;
}

/* Whether all active lanes of the group access one line. */
static inline bool is_one_line(const struct wmi_request_query *query, const struct wmi_same_row *by_lane,
                               uint64_t group)
{
    const unsigned shift = query->line_shift, first = (unsigned)__builtin_ctzll(group | 1ULL << 63);
    const u32v line = wmi_splat_u32(by_lane->of[first % WMI_LANES] >> shift);
    uint64_t there = 0;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES)
        there |= (uint64_t)wmi_equal_bits(*(const u32v *)(by_lane->of + lane) >> shift, line) << lane;
    return !(group & ~there);
}

/* The lines that the active lanes of each group access, summed up. The lanes of a quad mostly access one. */
static inline uint32_t lines_of_groups(const struct wmi_request_query *query,
                                       const struct wmi_same_row *by_lane, unsigned group)
{
    struct wmi_same_row line;
    uint32_t lines = 0;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES)
        *(u32v *)(line.of + lane) = *(const u32v *)(by_lane->of + lane) >> query->line_shift;
    for (unsigned first = 0; first < WMI_LANES; first += group) {
        uint32_t left = (uint32_t)(query->mask >> first & ((1ULL << group) - 1));
        for (; left; lines++) {
            const u32v one = wmi_splat_u32(line.of[first + (unsigned)__builtin_ctz(left)]);
            for (unsigned lane = 0; lane < group; lane += WMI_VECTOR_LANES)
                left &= ~(wmi_equal_bits(*(const u32v *)(line.of + first + lane), one) << lane);
        }
    }
    return lines;
}

/* The quads, as the bit of their first lane, whose active lanes do not lie within 16 bytes. */
static inline uint64_t far_quads(const struct wmi_request_query *query, const struct wmi_same_row *by_lane)
{
    const u32v near = wmi_splat_u32(16u - query->bytes);
    uint64_t far = 0;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        const u32v at = *(const u32v *)(by_lane->of + lane);
        const uint32_t active = (uint32_t)(query->mask >> lane);
        u32v low = wmi_choose_bits(active, at, wmi_splat_u32(UINT32_MAX));
        u32v high = wmi_choose_bits(active, at, wmi_splat_u32(0));
        for (int with = 1; with < 3; with++) {
            const u32v other_low = wmi_swap_in_quads(low, with), other_high = wmi_swap_in_quads(high, with);
            low = wmi_select_u32((u32v)(other_low < low), other_low, low);
            high = wmi_select_u32((u32v)(other_high > high), other_high, high);
        }
        const u32v apart = wmi_select_u32((u32v)(high < low), wmi_splat_u32(0), high - low);
        far |= (uint64_t)(wmi_less_bits(near, apart) & 0x1111) << lane;
    }
    return far;
}

/* The lanes that are among two, three and four of their quad that need different words of one bank. */
struct deep {
    uint32_t two, three, four;
};

static inline struct deep find_deep(u32v word, u32v bank, uint32_t active)
{
    uint32_t same[4], repeated = 0, meets[4];
    for (int with = 1; with < 4; with++) {
        same[with] = wmi_equal_bits(word, wmi_swap_in_quads(word, with)) & active & swap_bits(active, with);
        repeated |= same[with] & (with == 1 ? 0xaaaa : 0xcccc);
    }
    for (int with = 1; with < 4; with++)
        meets[with] = wmi_equal_bits(bank, wmi_swap_in_quads(bank, with)) & ~same[with] & active &
                      swap_bits(active & ~repeated, with);
    return (struct deep){meets[1] | meets[2] | meets[3],
                         (meets[1] & meets[2]) | (meets[1] & meets[3]) | (meets[2] & meets[3]),
                         meets[1] & meets[2] & meets[3]};
}

/* The number of quads with a lane in the mask. */
static inline uint32_t count_quads(uint64_t lanes)
{
    lanes |= lanes >> 1;
    return (uint32_t)__builtin_popcountll((lanes | lanes >> 2) & 0x1111111111111111ULL);
}

static inline uint32_t clocks_of(struct deep deep)
{
    return count_quads(deep.two) + count_quads(deep.three) + count_quads(deep.four);
}

/* Adds the clocks of the banks of tags and data for the lanes in the mask, taken by quads. */
static inline void add_quads(const struct wmi_request_query *query, const struct wmi_same_row *by_lane,
                             uint64_t lanes, struct wmi_vector_cost *cost)
{
    const unsigned shift = query->line_shift, banks = query->rules->tags;
    cost->tag_clocks += count_quads(lanes);
    cost->bank_clocks += query->banked ? count_quads(lanes) : 0;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        const uint32_t active = (uint32_t)(lanes >> lane & ((1ULL << WMI_VECTOR_LANES) - 1));
        const u32v at = *(const u32v *)(by_lane->of + lane);
        const struct deep tags = find_deep(at >> shift, at >> shift & (banks - 1), active);
        cost->tag_clocks += clocks_of(tags);
        if (!query->banked)
            continue;
        const struct deep data = find_deep(at >> 3, at >> 3 & 7, active);
        cost->bank_clocks +=
            clocks_of((struct deep){tags.two | data.two, tags.three | data.three, tags.four | data.four});
    }
}

/* Exchanges lane 4 * i + k of each 16 lanes with lane 4 * k + i; returns the lanes in the mask. */
static inline uint64_t transpose_quads(struct wmi_same_row *row, uint64_t lanes)
{
    struct wmi_same_row from = *row;
    for (unsigned lane = 0; lane < WMI_LANES; lane++)
        row->of[lane] = from.of[(lane & ~15u) | (lane & 3) << 2 | (lane >> 2 & 3)];
    uint64_t moved = (lanes ^ lanes >> 3) & 0x0a0a0a0a0a0a0a0aULL;
    lanes ^= moved ^ moved << 3;
    moved = (lanes ^ lanes >> 6) & 0x00cc00cc00cc00ccULL;
    return lanes ^ moved ^ moved << 6;
}

/* The most distinct words of 1 << shift bytes of one bank that the lanes access, all lanes at once. */
static inline uint32_t deepest_bank(const struct wmi_same_row *by_lane, uint64_t lanes, unsigned shift,
                                    unsigned banks)
{
    uint8_t in_bank[32] = {0};
    uint32_t low = UINT32_MAX, high = 0, most = 0;
    struct wmi_same_row word;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES)
        *(u32v *)(word.of + lane) = *(const u32v *)(by_lane->of + lane) >> shift;
    for (uint64_t left = lanes; left; left &= left - 1) {
        const uint32_t now = word.of[__builtin_ctzll(left)];
        low = now < low ? now : low;
        high = now > high ? now : high;
    }
    if (!lanes || high - low < banks)
        return lanes != 0;
    while (lanes) {
        const unsigned first = (unsigned)__builtin_ctzll(lanes);
        const uint8_t now = ++in_bank[word.of[first] % banks];
        most = now > most ? now : most;
        lanes &= ~wmi_same_as(&word, first);
    }
    return most;
}

/* Clocks of the banks of data for all lanes at once: 128 bytes have a bank for each element of at least a
 * dword. */
static inline uint32_t banks_of_group(const struct wmi_request_query *query,
                                      const struct wmi_same_row *by_lane, uint64_t lanes)
{
    const unsigned shift = query->bytes < 4 ? 2 : (unsigned)__builtin_ctz(query->bytes);
    return deepest_bank(by_lane, lanes, shift, 128u >> shift);
}

/* The lines that the lanes in the mask access. */
static inline uint32_t count_lines(const struct wmi_request_query *query, const struct wmi_same_row *by_lane,
                                   uint64_t lanes)
{
    struct wmi_same_row line;
    uint32_t lines = 0;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES)
        *(u32v *)(line.of + lane) = *(const u32v *)(by_lane->of + lane) >> query->line_shift;
    for (; lanes; lines++)
        lanes &= ~wmi_same_as(&line, (unsigned)__builtin_ctzll(lanes));
    return lines;
}

/* See tags_of() in coalesce.c. */
static inline bool has_tag_banks(const struct wmi_request_query *query)
{
    return query->rules->banks != WMI_DATA_UNKNOWN && query->kind == WMI_ACCESS_LOAD;
}

/* Clocks of the tags for the lanes in the mask, all at once. */
static inline uint32_t tags_of_group(const struct wmi_request_query *query,
                                     const struct wmi_same_row *by_lane, uint64_t lanes, bool banked)
{
    const unsigned tags = query->rules->tags;
    if (is_one_line(query, by_lane, lanes))
        return 1;
    return banked ? deepest_bank(by_lane, lanes, query->line_shift, tags)
                  : (count_lines(query, by_lane, lanes) + tags - 1) / tags;
}

/* Clocks of the tags for the lanes of a store, taken by quads, whose lines wait for one another. */
static inline uint32_t store_quads(const struct wmi_request_query *query, const struct wmi_same_row *by_lane,
                                   uint64_t lanes)
{
    uint32_t clocks = count_quads(lanes);
    for (unsigned lane = 0; query->rules->banks != WMI_DATA_UNKNOWN && lane < WMI_LANES;
         lane += WMI_VECTOR_LANES) {
        const uint32_t active = (uint32_t)(lanes >> lane & ((1ULL << WMI_VECTOR_LANES) - 1));
        const u32v line = *(const u32v *)(by_lane->of + lane) >> query->line_shift;
        clocks += clocks_of(find_deep(line, line & (query->rules->tags - 1u), active));
    }
    return clocks;
}

/* Clocks of address unit, tags and data, by the rules at the head of coalesce.c. */
static inline void find_clocks(const struct wmi_request_query *query, const struct wmi_same_row *by_lane,
                               struct wmi_vector_cost *cost)
{
    const struct wmi_vector_rules *rules = query->rules;
    const bool whole = rules->pattern == WMI_FAST_LINE;
    const uint64_t far = whole ? 0 : query->may_be_fast ? far_quads(query, by_lane) : 0x1111111111111111ULL;
    uint64_t by_quads = 0;
    cost->clocks = cost->tag_clocks = cost->bank_clocks = cost->store_clocks = 0;
    for (unsigned first = 0; first < WMI_LANES; first += rules->group) {
        const uint64_t group = ((1ULL << rules->group) - 1) << first, lanes = query->mask & group;
        if (!lanes)
            continue;
        if (far & group) {
            cost->clocks += count_quads(lanes);
            by_quads |= lanes;
            continue;
        }
        const uint32_t tags = tags_of_group(query, by_lane, lanes, has_tag_banks(query));
        cost->clocks++;
        cost->tag_clocks += tags;
        if (query->kind == WMI_ACCESS_STORE)
            cost->store_clocks += tags_of_group(query, by_lane, lanes, rules->banks != WMI_DATA_UNKNOWN);
        if (!query->banked)
            continue;
        const uint32_t data = whole ? banks_of_group(query, by_lane, lanes) : 1;
        cost->bank_clocks += whole && tags > data ? tags : data;
    }
    if (by_quads && !has_tag_banks(query)) {
        cost->tag_clocks += count_quads(by_quads); /* of at most four lines each */
        if (query->kind == WMI_ACCESS_STORE)
            cost->store_clocks += store_quads(query, by_lane, by_quads);
    } else if (by_quads) {
        struct wmi_same_row row = *by_lane;
        const uint64_t lanes = query->may_be_fast ? transpose_quads(&row, by_quads) : by_quads;
        add_quads(query, &row, lanes, cost);
    }
}

/* Counted quads and tag lookups, by the rules at the head of coalesce.c. */
static inline void find_counts(const struct wmi_request_query *query, const struct wmi_same_row *by_lane,
                               struct wmi_requested *requested)
{
    const struct wmi_vector_rules *rules = query->rules;
    const bool lines = query->may_be_fast && rules->pattern == WMI_FAST_LINE;
    const bool quads = query->may_be_fast && rules->pattern == WMI_FAST_QUADS;
    requested->quads = quads && !rules->all_groups;
    if (quads && rules->all_groups && are_quads_fast(query, by_lane)) {
        requested->cost = (struct wmi_vector_cost){.fast = true,
                                                   .quads = WMI_LANES / rules->group,
                                                   .lookups = lines_of_groups(query, by_lane, rules->group)};
        return;
    }
    const uint64_t lookups = find_lookups(query, by_lane);
    requested->cost = (struct wmi_vector_cost){
        .fast = lines, .quads = WMI_LANES / 4, .lookups = (uint32_t)__builtin_popcountll(lookups)};
    for (unsigned first = 0; lines && first < WMI_LANES; first += rules->group) {
        const uint64_t group = ((1ULL << rules->group) - 1) << first;
        if (!is_one_line(query, by_lane, query->mask & group)) {
            requested->cost.fast = false;
            continue;
        }
        requested->cost.quads -= rules->group / 4u - 1;
        requested->cost.lookups -= (uint32_t)__builtin_popcountll(lookups & group);
        requested->cost.lookups += (query->mask & group) != 0;
    }
}

/* The lanes that access the same element as an earlier lane, a subset of `repeated`. For atomics, and for
 * rows that do not ascend, `same` and `block` are each lane's earliest lane with the same element or block.
 */
static inline uint64_t repeated_things(struct wmi_same *scratch, const struct wmi_request_query *query,
                                       const struct row *row, uint64_t repeated, struct wmi_same_row *block,
                                       struct wmi_same_row *same)
{
    const unsigned size_shift = (unsigned)__builtin_ctz(query->bytes), shift = query->block_shift;
    struct wmi_same_row thing;
    if (row->ascends) {
        const uint64_t again = beside(row, size_shift);
        if (again && query->kind == WMI_ACCESS_ATOMIC) {
            follow(repeated, row->count, block);
            follow(again, row->count, same);
        }
        return again;
    }
    for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES) {
        const u32v inside = (*(const u32v *)(row->at.of + i) & ((1u << shift) - 1)) >> size_shift;
        *(u32v *)(thing.of + i) = *(const u32v *)(block->of + i) << (shift - size_shift) | inside;
    }
    return wmi_same_find(scratch, &thing, row->count, repeated, same);
}

/* Sets for each block of a store whether it is written completely. */
static inline void find_full(const struct wmi_request_query *query, const struct row *row,
                             const struct wmi_same_row *block, uint64_t same, uint64_t repeated, bool *full)
{
    const unsigned things = (1u << query->block_shift) / query->bytes;
    if (!repeated) /* no block has more than one element */
        memset(full, 0, row->count);
    else if (row->ascends)
        fill_ascending(row, things, same, repeated, full);
    else
        fill(row, things, block, same, repeated, full);
}

/* wmi_used_dwords(). */
static inline uint32_t find_used(const struct wmi_request_query *query, const struct wmi_same_row *by_lane)
{
    enum { DWORD_SHIFT = 2 };
    const uint32_t dwords = query->bytes >> DWORD_SHIFT;
    const u32v bits = wmi_splat_u32(dwords ? (1u << dwords) - 1 : 1), none = wmi_splat_u32(0);
    u32v used = none;
    for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES) {
        const u32v dword = *(const u32v *)(by_lane->of + i) >> DWORD_SHIFT & 31;
        used |= wmi_choose_bits((uint32_t)(query->mask >> i), bits << dword, none);
    }
    return wmi_or_of(used, (uint32_t)wmi_same_bits(WMI_VECTOR_LANES));
}

/* Whether only the address of the access differs from that of the last one. */
static inline bool is_repeated(const struct wmi_requested *requested, const struct wmi_request_query *query,
                               const struct wmi_same_row *by_lane)
{
    const struct wmi_request_query *last = &requested->query;
    if (last->mask != query->mask || last->kind != query->kind || last->bytes != query->bytes ||
        last->block_shift != query->block_shift || last->line_shift != query->line_shift ||
        last->lookup_lanes != query->lookup_lanes || last->may_be_fast != query->may_be_fast ||
        last->banked != query->banked || last->rules != query->rules)
        return false;
    u32v differs = wmi_splat_u32(0);
    for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES) {
        const u32v now = *(const u32v *)(by_lane->of + i), before = *(const u32v *)(requested->offset + i);
        differs |= wmi_choose_bits((uint32_t)(query->mask >> i), now ^ before, wmi_splat_u32(0));
    }
    return !wmi_any(differs);
}

wmi_requested_find WMI_BUILD_NAME(wmi_requested_find);
bool WMI_BUILD_NAME(wmi_requested_find)(struct wmi_same *scratch, const struct wmi_request_query *query,
                                        struct wmi_requested *requested)
{
    const unsigned shift = query->block_shift, line_shift = query->line_shift;
    struct wmi_same_row by_lane, block, same;
    struct row row = {0};
    if (!find_offsets(query, &by_lane, &row))
        return false;
    requested->base = row.base;
    if (is_repeated(requested, query, &by_lane))
        return true;
    requested->query = *query;
    memcpy(requested->offset, by_lane.of, sizeof by_lane.of);
    wmi_compress_row(row.at.of, by_lane.of, query->mask);
    /* Before the row is loaded: its parts overlapped when they were stored, so loads wait until they are in
     * the host's cache. */
    if (query->rules) {
        find_counts(query, &by_lane, requested);
        find_clocks(query, &by_lane, &requested->cost);
    }
    requested->used = find_used(query, &by_lane);
    row.ascends = ascends(&row);
    const uint64_t repeated = repeated_blocks(scratch, &row, shift, &block);
    const uint64_t again = repeated ? repeated_things(scratch, query, &row, repeated, &block, &same) : 0;
    const uint32_t different = row.count - (unsigned)__builtin_popcountll(repeated);
    if (query->kind == WMI_ACCESS_STORE)
        find_full(query, &row, &block, again, repeated, requested->full);
    if (query->kind == WMI_ACCESS_ATOMIC && again)
        list_often(&row, shift, &block, &same, repeated, requested);
    else
        list(&row, shift, repeated, requested);
    requested->lanes = row.count;
    requested->different = row.count - (unsigned)__builtin_popcountll(again);
    requested->lines = different;
    if (query->kind == WMI_ACCESS_STORE)
        requested->cost.collapsed = requested->lanes - requested->different;
    if (line_shift != shift)
        requested->lines =
            row.count - (unsigned)__builtin_popcountll(repeated_blocks(scratch, &row, line_shift, &block));
    return true;
}
