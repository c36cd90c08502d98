/* SPDX-License-Identifier: MIT */
/* Requests on their way to memory, and rows of them in a cache. For caches_lanes.c only. */
#ifndef WMI_PROFILE_CACHES_REQUESTS_H
#define WMI_PROFILE_CACHES_REQUESTS_H

#include "base/lane_set.h"
#include "memory/access.h"
#include "profile/caches/log.h"
#include "profile/caches/sets.h"

#include <assert.h>
#include <stdalign.h>

/* The requests of one entry of the log that a cache does not answer go on to the next one. */
struct requests {
    alignas(64) uint64_t address[WMI_LOG_BLOCKS + 1]; /* short ones; of a row there is the first one */
    unsigned count;
    bool row; /* each block lies behind the one before it */
    uint32_t bytes, slot;
    enum wmi_access_kind kind;
    bool full;    /* stores that write all of the bytes */
    bool streams; /* see struct wmi_vector_rules */
    bool skips_last;
};

enum { VECTOR = WMI_VECTOR_LANES / 2 };

static_assert((WMI_LOG_BLOCKS + 1) % VECTOR == 0, "addresses are written as whole vectors");

#define INLINE   inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

/* ---- rows ---- */

/* Writes `count` addresses that begin at `address`. */
static inline void write_steps(struct requests *requests, uint64_t address, uint64_t step)
{
    u64v lanes; /* a loop over the few that there are takes longer */
    for (unsigned i = 0; i < VECTOR; i++)
        lanes[i] = i;
    lanes = lanes * step + address;
    for (unsigned i = 0; i < requests->count; i += VECTOR, lanes += VECTOR * step)
        *(u64v *)(requests->address + i) = lanes;
}

/* Makes each request of a row one of its own. */
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

/* Where the set of the line begins in tags and states, of an instance that begins at `start`. power: there is
 * a power of two of sets. */
static INLINE size_t set_of(const struct wmi_caches *caches, const struct wmi_cache *cache, bool power,
                            size_t start, uint64_t address)
{
    uint64_t set = address >> cache->line_shift & cache->set_mask;
    if (!power) /* the whole address counts */
        set = (((uint64_t)caches->region[address >> 32] << 32 | (uint32_t)address) >> cache->line_shift) %
              cache->sets;
    return start + set * cache->room;
}

static inline size_t start_of(const struct wmi_cache *cache, uint32_t instance)
{
    return (size_t)instance * cache->sets * cache->room;
}

/* A row's lines in a cache with a power of two of sets. */
struct row {
    uint32_t tag, count;
    uint32_t first, mask; /* set of the first line; of sets */
    uint32_t sets;        /* that it reaches */
};

/* Whether the requests are a row of two of the cache's lines or more, that fit into it as one. */
static INLINE bool are_lines(const struct wmi_cache *cache, uint32_t ways, const struct requests *requests)
{
    const uint32_t most = ways < WMI_VECTOR_LANES ? ways : WMI_VECTOR_LANES; /* of a set */
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

/* Where the row's i-th set begins, in an instance with so many ways. */
static INLINE size_t set_in_row(const struct row *row, uint32_t ways, uint32_t i)
{
    return (size_t)((row->first + i) & row->mask) * wmi_cache_room(ways);
}

/* Whether the instance with these tags has a line of the row. */
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

/* Brings in a row of which nothing is there. */
static INLINE void bring_row(uint32_t *tags, const struct row *row, uint32_t ways)
{
    const uint32_t sets = row->mask + 1;
    for (uint32_t i = 0; i < row->sets; i++) {
        const uint32_t lines = (row->count - i - 1) / sets + 1;
        wmi_sets_bring(tags + set_in_row(row, ways, i), ways, row->tag + i + (lines - 1) * sets, sets, lines);
    }
}

#endif
