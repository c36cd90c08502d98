/* SPDX-License-Identifier: MIT */
/* The vector memory path: how a wave's addresses become clocks, tag lookups and requests to L2.
 *
 * - The address unit takes four lanes in a clock. Loads and stores of one element of at most 32 bits whose
 *   addresses fit a pattern go a whole group (16 lanes) in a clock instead.
 * - Each clock looks up every line that its lanes touch. On the slow path lookups are by quads; inactive
 * quads have none. What the clocks of inactive lanes cost is unmeasured: they are counted as if active, but
 * an instruction that no lane of reaches memory costs nothing.
 * - All that a wave asks of one block (64 bytes) becomes one request. Stores to one address collapse, atomics
 *   never do: of lanes that name one address each is an operation. That a request carries one operation per
 *   address, so that the most popular address of a block says how many requests it takes, is unverified.
 *
 * GPUOpen's third pattern says "a block of 4 consecutive addresses"; the counters of MI200 fit aligned
 * blocks. Contiguous dwords that are not aligned to 16 bytes thus miss the fast path, which is unmeasured. */
#include "profile/cost/asked.h"

#include <stddef.h>

enum {
    QUAD = 4,
    NARROW = 4, /* bytes of an element that can go the fast path */
};

/* Adds a block, unless it is there. */
static void add_block(struct wmi_requests *blocks, uint64_t block)
{
    for (uint32_t i = blocks->count; i-- > 0;) /* the last one is the likeliest */
        if (blocks->block[i] == block)
            return;
    blocks->block[blocks->count++] = block;
}

static uint64_t reaching(const struct wmi_element *element)
{
    if (element->space != WMI_SPACE_GLOBAL)
        return 0;
    return element->mask & ~(element->bad_range | element->bad_align | element->bad_aperture);
}

/* Adds the blocks of 1 << shift bytes that the lanes of `mask` touch at one place; a range that wraps is
 * nowhere. */
static void add_lanes(struct wmi_requests *blocks, const struct wmi_element *element, uint64_t mask,
                      unsigned bytes, unsigned shift)
{
    uint64_t recent = UINT64_MAX; /* the latest block: neighbours mostly lie in it as well */
    for (uint64_t left = mask; left; left &= left - 1) {
        const uint64_t low = element->address[__builtin_ctzll(left)], last = low + bytes - 1;
        if (low >> shift == recent && last >> shift == recent)
            continue;
        for (uint64_t block = low >> shift; low <= last && block <= last >> shift; block++)
            add_block(blocks, recent = block);
    }
}

/* The only place that lanes reach, if neighbouring lanes ask for neighbouring bytes there and no lane between
 * them is inactive; else NULL. Most accesses are such, and then blocks need not be collected to be counted.
 */
static const struct wmi_element *row_of(const struct wmi_access *access, uint64_t lanes)
{
    const struct wmi_element *row = NULL;
    const unsigned first = (unsigned)__builtin_ctzll(lanes), last = 63 - (unsigned)__builtin_clzll(lanes);
    for (unsigned e = 0; e < access->elements; e++) {
        if (!reaching(&access->element[e]))
            continue;
        if (row)
            return NULL;
        row = &access->element[e];
    }
    if (lanes >> first != ~0ULL >> (63 - last + first))
        return NULL;
    const uint64_t base = row->address[first];
    if (last > first && row->address[first + 1] != base + access->bytes) /* as soon as it can be told */
        return NULL;
    if (base + (uint64_t)(last - first + 1) * access->bytes - 1 < base)
        return NULL;
    uint64_t differences = 0;
    for (unsigned lane = first; lane <= last; lane++)
        differences |= row->address[lane] ^ (base + (uint64_t)(lane - first) * access->bytes);
    return differences ? NULL : row;
}

/* Blocks that the lanes of `mask` touch at all places. row: as row_of() says. */
static uint32_t count_blocks(struct wmi_requests *scratch, const struct wmi_access *access, uint64_t mask,
                             const struct wmi_element *row, unsigned shift)
{
    if (!mask)
        return 0;
    if (row) {
        const uint64_t low = row->address[__builtin_ctzll(mask)];
        const uint64_t last = row->address[63 - __builtin_clzll(mask)] + access->bytes - 1;
        return (uint32_t)((last >> shift) - (low >> shift) + 1);
    }
    scratch->count = 0;
    for (unsigned e = 0; e < access->elements; e++)
        add_lanes(scratch, &access->element[e], mask & reaching(&access->element[e]), access->bytes, shift);
    return scratch->count;
}

/* Whether the lanes of `mask` ask for one address, or all within one aligned block of `size` bytes, a power
 * of two. */
static bool together(const struct wmi_element *element, uint64_t mask, unsigned bytes, unsigned size)
{
    if (!mask)
        return true;
    const uint64_t first = element->address[__builtin_ctzll(mask)];
    bool same = true, block = true;
    for (uint64_t left = mask; left; left &= left - 1) {
        const uint64_t at = element->address[__builtin_ctzll(left)];
        same &= at == first;
        block &= (((at ^ first) | ((at + bytes - 1) ^ first)) & -(uint64_t)size) == 0;
    }
    return same || block;
}

/* Whether the lanes of `mask`, those of the group from lane `first` on, fit the pattern. */
static bool group_is_fast(const struct wmi_element *element, uint64_t mask, unsigned first, unsigned bytes,
                          const struct wmi_vector_rules *rules)
{
    if (rules->pattern == WMI_FAST_LINE)
        return together(element, mask, bytes, 1u << rules->tag_shift);
    for (unsigned quad = first; quad < first + rules->group; quad += QUAD)
        if (!together(element, mask & 0xfULL << quad, bytes, QUAD * bytes))
            return false;
    return true;
}

bool wmi_coalesce_narrow(const struct wmi_access *access, const struct wmi_vector_rules *rules)
{
    return access->bytes <= NARROW && !(access->bytes & (access->bytes - 1)) &&
           access->kind != WMI_ACCESS_ATOMIC && (access->path != WMI_PATH_IMAGE || rules->images);
}

unsigned wmi_coalesce_step(const struct wmi_access *access, const struct wmi_vector_rules *rules)
{
    return access->kind == WMI_ACCESS_STORE && access->bytes <= NARROW ? rules->gapped : QUAD;
}

/* Which groups, as bits of their first lanes, go the fast path. */
static uint64_t fast_groups(const struct wmi_access *access, const struct wmi_vector_rules *rules,
                            unsigned wave_lanes)
{
    const struct wmi_element *only = NULL;
    uint64_t fast = 0;
    for (unsigned e = 0; e < access->elements; e++) {
        if (!reaching(&access->element[e]))
            continue;
        if (only)
            return 0;
        only = &access->element[e];
    }
    if (!only || !wmi_coalesce_narrow(access, rules))
        return 0;
    for (unsigned first = 0; first < wave_lanes; first += rules->group) {
        const uint64_t mask = reaching(only) & ((1ULL << rules->group) - 1) << first;
        if (group_is_fast(only, mask, first, access->bytes, rules))
            fast |= 1ULL << first;
        else if (rules->all_groups)
            return 0;
    }
    return fast;
}

/* Lanes whose address an earlier lane of the place has. Adds to `requests`, unless it is NULL, each block as
 * often as the most lanes share one address in it. */
static uint32_t add_sharing(const struct wmi_element *element, unsigned shift, struct wmi_requests *requests)
{
    uint32_t repeated = 0;
    const uint64_t mask = reaching(element);
    uint64_t address[64], block[64];
    uint32_t times[64], most[64] = {0}, different = 0, blocks = 0;
    for (uint64_t left = mask; left; left &= left - 1) {
        const uint64_t at = element->address[__builtin_ctzll(left)];
        uint32_t i = 0, b = blocks;
        while (i < different && address[i] != at)
            i++;
        if (i == different) {
            address[different++] = at;
            times[i] = 0;
        } else {
            repeated++;
        }
        while (b > 0 && block[b - 1] != at >> shift) /* the last one is the likeliest */
            b--;
        if (b == 0)
            block[b = blocks++] = at >> shift;
        else
            b--;
        if (++times[i] > most[b])
            most[b] = times[i];
    }
    for (uint32_t b = 0; requests && b < blocks; b++)
        for (uint32_t n = 0; n < most[b]; n++)
            requests->block[requests->count++] = block[b];
    return repeated;
}

struct wmi_vector_cost wmi_coalesce_lanes(const struct wmi_access *access,
                                          const struct wmi_vector_rules *rules, unsigned wave_lanes,
                                          struct wmi_requests *requests)
{
    struct wmi_vector_cost cost = {0};
    uint64_t lanes = 0;
    requests->count = 0;
    for (unsigned e = 0; e < access->elements; e++)
        lanes |= reaching(&access->element[e]);
    if (!lanes)
        return cost;

    const struct wmi_element *row = row_of(access, lanes);
    const uint64_t fast = fast_groups(access, rules, wave_lanes);
    cost.fast = true;
    for (unsigned first = 0; first < wave_lanes; first += rules->group) {
        const bool group_fast = fast >> first & 1;
        const unsigned step = group_fast ? rules->group : wmi_coalesce_step(access, rules);
        cost.fast &= group_fast;
        cost.clocks += group_fast ? 1 : rules->group / QUAD;
        for (unsigned lane = first; lane < first + rules->group; lane += step)
            cost.lookups +=
                count_blocks(requests, access, ((1ULL << step) - 1) << lane & lanes, row, rules->tag_shift);
    }
    requests->count = 0;
    if (access->kind == WMI_ACCESS_LOAD || (row && access->kind == WMI_ACCESS_STORE))
        return cost;
    for (unsigned e = 0; e < access->elements; e++)
        cost.collapsed += add_sharing(&access->element[e], rules->write_shift,
                                      access->kind == WMI_ACCESS_ATOMIC ? requests : NULL);
    if (access->kind == WMI_ACCESS_ATOMIC) {
        cost.collapsed = 0;
        cost.atomics = requests->count;
    }
    return cost;
}

struct wmi_vector_cost wmi_coalesce(const struct wmi_access *access, const struct wmi_vector_rules *rules,
                                    unsigned wave_lanes)
{
    struct wmi_requests requests;
    struct wmi_vector_cost cost = wmi_coalesce_lanes(access, rules, wave_lanes, &requests);
    requests.count = 0;
    if (access->kind == WMI_ACCESS_LOAD)
        cost.reads = count_blocks(&requests, access, ~0ULL, NULL, rules->read_shift);
    else if (access->kind == WMI_ACCESS_STORE)
        cost.writes = count_blocks(&requests, access, ~0ULL, NULL, rules->write_shift);
    return cost;
}
