/* SPDX-License-Identifier: MIT */
/* Requests on their way to memory. A row is a sequence of requests for contiguous blocks. For caches_lanes.c
 * only. */
#ifndef WMI_PROFILE_CACHES_REQUESTS_H
#define WMI_PROFILE_CACHES_REQUESTS_H

#include "base/lane_set.h"
#include "memory/access.h"
#include "profile/caches/log.h"
#include "profile/caches/sets.h"

#include <assert.h>
#include <stdalign.h>

/* The requests of one log entry; those that miss in a cache go on to the next one. */
struct requests {
    alignas(64) uint64_t address[WMI_LOG_BLOCKS + 1]; /* short addresses; a row has only the first one */
    unsigned count;
    bool row; /* the blocks are contiguous */
    uint32_t bytes, slot;
    enum wmi_access_kind kind;
    bool full;    /* stores that write all bytes of their blocks */
    bool streams; /* see struct wmi_vector_rules */
    bool skips_last;
};

enum { VECTOR = WMI_VECTOR_LANES / 2 };

static_assert((WMI_LOG_BLOCKS + 1) % VECTOR == 0, "addresses are written as whole vectors");

#define INLINE   inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

/* ---- rows ---- */

/* Writes `count` addresses, `step` apart, starting at `address`. */
static inline void write_steps(struct requests *requests, uint64_t address, uint64_t step)
{
    u64v lanes; /* faster than a scalar loop, even for few addresses */
    for (unsigned i = 0; i < VECTOR; i++)
        lanes[i] = i;
    lanes = lanes * step + address;
    for (unsigned i = 0; i < requests->count; i += VECTOR, lanes += VECTOR * step)
        *(u64v *)(requests->address + i) = lanes;
}

/* Expands a row: writes the address of each request. */
static inline void spread(struct requests *requests)
{
    if (requests->row && requests->count > 1)
        write_steps(requests, requests->address[0], requests->bytes);
    requests->row = false;
}

/* ---- one cache ---- */

static inline uint32_t tag_of(const struct wmi_cache *cache, uint64_t address)
{
    return (uint32_t)(address >> cache->line_shift) + 1;
}

/* Index of the line's set in tags and states; the instance begins at `start`. power: the number of sets is a
 * power of two. */
static INLINE size_t set_of(const struct wmi_caches *caches, const struct wmi_cache *cache, bool power,
                            size_t start, uint64_t address)
{
    uint64_t set = address >> cache->line_shift & cache->set_mask;
    if (!power) /* uses the full address */
        set = (((uint64_t)caches->region[address >> 32] << 32 | (uint32_t)address) >> cache->line_shift) %
              cache->sets;
    return start + set * cache->room;
}

static inline size_t start_of(const struct wmi_cache *cache, uint32_t instance)
{
    return (size_t)instance * cache->sets * cache->room;
}

/* The lines of a row in a cache whose number of sets is a power of two. */
struct row {
    uint32_t tag, count;
    uint32_t first, mask; /* set of the first line; number of sets - 1 */
    uint32_t sets;        /* number of sets that the row uses */
};

/* Whether the requests are a row of at least two lines of the cache that fits into it. */
static INLINE bool are_lines(const struct wmi_cache *cache, uint32_t ways, const struct requests *requests)
{
    const uint32_t most = ways < WMI_VECTOR_LANES ? ways : WMI_VECTOR_LANES; /* lines per set */
    return requests->row && requests->count > 1 && requests->bytes == 1u << cache->line_shift &&
           requests->count <= (uint64_t)cache->sets * most;
}

static INLINE struct row row_of(const struct wmi_cache *cache, uint64_t address, uint32_t count)
{
    const uint32_t sets = cache->sets;
    return (struct row){.tag = tag_of(cache, address),
                        .count = count,
                        .first = (uint32_t)(address >> cache->line_shift & cache->set_mask),
                        .mask = (uint32_t)cache->set_mask,
                        .sets = count < sets ? count : sets};
}

/* Index of the row's i-th set in its instance. */
static INLINE size_t set_in_row(const struct row *row, uint32_t ways, uint32_t i)
{
    return (size_t)((row->first + i) & row->mask) * wmi_cache_room(ways);
}

/* Number of lines of the row in its i-th set. */
static INLINE uint32_t lines_in_set(const struct row *row, uint32_t i)
{
    return ((row->count - i - 1) >> __builtin_ctz(row->mask + 1)) + 1;
}

/* Whether the instance with these tags contains a line of the row. */
static INLINE bool has_of_row(const uint32_t *tags, const struct row *row, uint32_t ways)
{
    const u32v tag = wmi_splat_u32(row->tag), count = wmi_splat_u32(row->count);
    for (uint32_t i = 0; i < row->sets; i++) {
        const uint32_t *set = tags + set_in_row(row, ways, i);
        uint32_t found = 0;
        for (uint32_t first = 0; first < ways; first += WMI_VECTOR_LANES)
            found |= wmi_less_bits(*(const u32v *)(set + first) - tag, count);
        if (found)
            return true;
    }
    return false;
}

/* Allocates all lines of a row; none may be present. */
static INLINE void bring_row(uint32_t *tags, const struct row *row, uint32_t ways)
{
    const uint32_t sets = row->mask + 1;
    for (uint32_t i = 0; i < row->sets; i++) {
        const uint32_t lines = lines_in_set(row, i);
        wmi_sets_bring(tags + set_in_row(row, ways, i), ways, row->tag + i + (lines - 1) * sets, sets, lines);
    }
}

#endif
