/* SPDX-License-Identifier: MIT */
/* The vector memory path: clocks of address unit, tags and data, tag lookups and requests to L2 of an access.
 *
 * What AMD's counters count (quads, lookups):
 * - The address unit processes four lanes per clock. On the fast path, for loads and stores of one element of
 *   at most 32 bits whose addresses fit a pattern, it processes a whole group (16 lanes) per clock.
 * - Each clock looks up every line that its lanes touch. On the slow path lookups are per quad; inactive
 *   quads have none. Inactive lanes count as if active, but an instruction without a lane that reaches memory
 *   counts nothing.
 * - All accesses of a wave to one block (64 bytes) become one request. Stores to the same address collapse,
 *   atomics never do: each lane is an operation. Unverified: a request carries one operation per address, so
 *   a block needs as many requests as lanes share its most frequent address.
 *
 * GPUOpen's third pattern is "a block of 4 consecutive addresses"; the counters of MI200 fit aligned blocks.
 * So contiguous dwords that are not aligned to 16 bytes miss the fast path, which is unmeasured.
 *
 * Clocks make a lower bound of time, so what is unmeasured counts as the shortest time that is possible:
 * - GCN and CDNA: a group of lanes takes one clock if each quad is within 16 bytes, wherever they begin
 *   (byte loads in short rows on MI250X take less than four lanes per clock), otherwise one per active quad.
 * - RDNA: a group takes one clock.
 * - Tags and data: lanes that are taken at once wait for one another if they need different lines of one bank
 *   of the tags, or different words of one bank of the data. These are the lanes of the group, or four: of
 *   elements of at most 32 bits one of each quad, of others a quad. The rules are fits to gpu-benches'
 *   strides of 0 to 64 floats and 0 to 16 doubles (cost_rules.c). Stores go through the same tags, but were
 * not measured: the bound does not let their lines wait for one another, `store_clocks` for predictions does.
 */
#include "profile/cost/requested.h"
#include "sem/table.h"

#include <stddef.h>
#include <string.h>

enum {
    QUAD = 4,
    NARROW = 4, /* maximum bytes of an element on the fast path */
    NEAR = 16,  /* bytes that a quad of a fast group lies in */
    DWORD = 4,
    GROUP_BANKS = 32, /* of a dword */
    QUAD_BANKS = 8,   /* of two dwords */
    WORDS = 2048,     /* four of each lane and element; further ones are not counted */
};

/* Adds a block unless it is in the list. */
static void add_block(struct wmi_requests *blocks, uint64_t block)
{
    for (uint32_t i = blocks->count; i-- > 0;) /* most likely the last one */
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

/* Adds the blocks of 1 << shift bytes that the lanes of `mask` touch with one element. Ranges that wrap are
 * ignored. */
static void add_lanes(struct wmi_requests *blocks, const struct wmi_element *element, uint64_t mask,
                      unsigned bytes, unsigned shift)
{
    uint64_t recent = UINT64_MAX; /* the last block: neighbours are mostly in it, too */
    for (uint64_t left = mask; left; left &= left - 1) {
        const uint64_t low = element->address[__builtin_ctzll(left)], last = low + bytes - 1;
        if (low >> shift == recent && last >> shift == recent)
            continue;
        for (uint64_t block = low >> shift; low <= last && block <= last >> shift; block++)
            add_block(blocks, recent = block);
    }
}

/* Returns the only element with lanes that reach memory, if these lanes are consecutive and their addresses
 * contiguous; else NULL. In this case, the most common, blocks can be counted without listing them. */
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
    if (last > first && row->address[first + 1] != base + access->bytes) /* early exit */
        return NULL;
    if (base + (uint64_t)(last - first + 1) * access->bytes - 1 < base)
        return NULL;
    uint64_t differences = 0;
    for (unsigned lane = first; lane <= last; lane++)
        differences |= row->address[lane] ^ (base + (uint64_t)(lane - first) * access->bytes);
    return differences ? NULL : row;
}

/* Number of blocks that the lanes of `mask` touch, of all elements. row: from row_of(). */
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

/* Whether the lanes of `mask` share an address or an aligned block of `size` bytes, a power of two. */
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

/* Whether the lanes of `mask`, in the group that starts at lane `first`, fit the fast pattern. */
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
    return access->kind == WMI_ACCESS_STORE && access->elements * access->bytes <= NARROW ? rules->gapped
                                                                                          : QUAD;
}

/* The only element with lanes that reach memory; NULL: there are several. */
static const struct wmi_element *only_element(const struct wmi_access *access)
{
    const struct wmi_element *only = NULL;
    for (unsigned e = 0; e < access->elements; e++) {
        if (!reaching(&access->element[e]))
            continue;
        if (only)
            return NULL;
        only = &access->element[e];
    }
    return only;
}

/* The groups on the fast path, as bits of their first lanes. */
static uint64_t fast_groups(const struct wmi_access *access, const struct wmi_vector_rules *rules,
                            unsigned wave_lanes, const struct wmi_element *only)
{
    uint64_t fast = 0;
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

/* ---- clocks ---- */

/* A few lanes' distinct words, chained by bank. */
struct words {
    struct {
        uint64_t word;
        uint32_t next; /* + 1; 0: none */
    } of[WORDS];
    uint32_t count, first[GROUP_BANKS], in_bank[GROUP_BANKS];
};

/* Adds a word unless it is there; returns how many its bank has. */
static uint32_t add_word(struct words *words, uint64_t word, unsigned banks)
{
    const unsigned bank = word % banks;
    for (uint32_t i = words->first[bank]; i; i = words->of[i - 1].next)
        if (words->of[i - 1].word == word)
            return words->in_bank[bank];
    if (words->count == WORDS)
        return words->in_bank[bank];
    words->of[words->count].word = word;
    words->of[words->count].next = words->first[bank];
    words->first[bank] = ++words->count;
    return ++words->in_bank[bank];
}

/* The most distinct words of 1 << shift bytes in one bank that the lanes access. */
static uint32_t deepest(struct words *words, const struct wmi_access *access, uint64_t mask, unsigned shift,
                        unsigned banks)
{
    uint32_t most = 0;
    words->count = 0;
    memset(words->first, 0, sizeof words->first);
    memset(words->in_bank, 0, sizeof words->in_bank);
    for (unsigned e = 0; e < access->elements; e++)
        for (uint64_t left = mask & reaching(&access->element[e]); left; left &= left - 1) {
            const uint64_t low = access->element[e].address[__builtin_ctzll(left)];
            const uint64_t last = low + access->bytes - 1;
            for (uint64_t word = low >> shift; low <= last && word <= last >> shift; word++) {
                const uint32_t now = add_word(words, word, banks);
                most = now > most ? now : most;
            }
        }
    return most;
}

/* Whether each quad of the group that starts at lane `first` lies within a few bytes. */
static bool are_quads_near(const struct wmi_element *element, uint64_t lanes, unsigned first, unsigned group,
                           unsigned bytes)
{
    for (unsigned quad = first; quad < first + group; quad += QUAD) {
        uint64_t low = UINT64_MAX, high = 0;
        for (uint64_t left = lanes & 0xfULL << quad; left; left &= left - 1) {
            const uint64_t at = element->address[__builtin_ctzll(left)];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        if (low <= high && high - low > NEAR - bytes)
            return false;
    }
    return true;
}

bool wmi_coalesce_banked(const struct wmi_access *access, const struct wmi_vector_rules *rules)
{
    return access->kind == WMI_ACCESS_LOAD &&
           (rules->banks == WMI_DATA_GROUP || (rules->banks == WMI_DATA_QUADS && access->elements == 1 &&
                                               (access->bytes == DWORD || access->bytes == 2 * DWORD)));
}

/* Clocks of the tags for the lines of lanes that are taken at once. Neighbouring lines are in different
 * banks; banked: others wait for one another, which was measured for loads only. */
static uint32_t tags_of(struct words *words, struct wmi_requests *scratch, const struct wmi_access *access,
                        const struct wmi_vector_rules *rules, uint64_t mask, const struct wmi_element *row,
                        bool banked)
{
    if (!row && rules->banks != WMI_DATA_UNKNOWN && banked)
        return deepest(words, access, mask, rules->tag_shift, rules->tags);
    return (count_blocks(scratch, access, mask, row, rules->tag_shift) + rules->tags - 1) / rules->tags;
}

/* Adds the clocks of tags and data for the lanes that are taken at once. */
static void add_at_once(struct words *words, struct wmi_requests *scratch, const struct wmi_access *access,
                        const struct wmi_vector_rules *rules, uint64_t mask, const struct wmi_element *row,
                        struct wmi_vector_cost *cost)
{
    if (!mask)
        return;
    const bool loads = access->kind == WMI_ACCESS_LOAD;
    const uint32_t tags = tags_of(words, scratch, access, rules, mask, row, loads);
    cost->tag_clocks += tags;
    if (access->kind == WMI_ACCESS_STORE)
        cost->store_clocks += tags_of(words, scratch, access, rules, mask, row, true);
    if (!wmi_coalesce_banked(access, rules))
        return;
    const uint32_t data = rules->banks == WMI_DATA_GROUP ? deepest(words, access, mask, 2, GROUP_BANKS)
                                                         : deepest(words, access, mask, 3, QUAD_BANKS);
    cost->bank_clocks += data > tags ? data : tags;
}

/* only: the element, if a single one reaches memory; or NULL. */
static void add_clocks(struct wmi_requests *scratch, const struct wmi_access *access,
                       const struct wmi_vector_rules *rules, unsigned wave_lanes, uint64_t lanes,
                       const struct wmi_element *row, const struct wmi_element *only,
                       struct wmi_vector_cost *cost)
{
    struct words words;
    const bool narrow = only && wmi_coalesce_narrow(access, rules);
    const bool apart = narrow && rules->banks == WMI_DATA_QUADS && access->kind == WMI_ACCESS_LOAD;
    for (unsigned first = 0; first < wave_lanes; first += rules->group) {
        const uint64_t mask = lanes & ((1ULL << rules->group) - 1) << first;
        if (rules->pattern == WMI_FAST_LINE) {
            cost->clocks += mask != 0;
            add_at_once(&words, scratch, access, rules, mask, row, cost);
        } else if (narrow && are_quads_near(only, lanes, first, rules->group, access->bytes)) {
            const uint32_t banks = cost->bank_clocks;
            cost->clocks += mask != 0;
            add_at_once(&words, scratch, access, rules, mask, row, cost);
            cost->bank_clocks = banks + (mask && wmi_coalesce_banked(access, rules));
        } else {
            for (unsigned i = 0; i < QUAD; i++) {
                const uint64_t quad = lanes & 0xfULL << (first + QUAD * i);
                const uint64_t across = lanes & 0x1111ULL << (first + i);
                cost->clocks += quad != 0;
                add_at_once(&words, scratch, access, rules, apart ? across : quad, row, cost);
            }
        }
    }
}

/* Returns the number of lanes that repeat the address of an earlier lane. Adds to `requests`, unless NULL,
 * each block as often as the maximum number of lanes that share an address in it. */
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
        while (b > 0 && block[b - 1] != at >> shift) /* most likely the last one */
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
    const struct wmi_element *only = only_element(access);
    const uint64_t fast = fast_groups(access, rules, wave_lanes, only);
    cost.fast = true;
    for (unsigned first = 0; first < wave_lanes; first += rules->group) {
        const bool group_fast = fast >> first & 1;
        const unsigned step = group_fast ? rules->group : wmi_coalesce_step(access, rules);
        cost.fast &= group_fast;
        cost.quads += group_fast ? 1 : rules->group / QUAD;
        for (unsigned lane = first; lane < first + rules->group; lane += step)
            cost.lookups +=
                count_blocks(requests, access, ((1ULL << step) - 1) << lane & lanes, row, rules->tag_shift);
    }
    add_clocks(requests, access, rules, wave_lanes, lanes, row, only, &cost);
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

wmi_requested_find *wmi_requested_finder(enum wmi_cpu_level level, unsigned wave_lanes)
{
    WMI_TABLE_OF_BUILDS(finders, wmi_requested_find);
    return finders[level][wave_lanes != 32];
}
