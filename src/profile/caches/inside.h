/* SPDX-License-Identifier: MIT */
/* The data of the cache model, for the files that implement it. */
#ifndef WMI_PROFILE_CACHES_INSIDE_H
#define WMI_PROFILE_CACHES_INSIDE_H

#include "profile/caches/sums.h"
#include "profile/cost/cost.h"

enum {
    WMI_CACHE_SECTOR = 64,
    WMI_CACHE_SECTOR_SHIFT = 6,
    WMI_CACHE_WAYS = 16,    /* the storage of a set is a multiple of this */
    WMI_CACHE_WAITING = 32, /* a power of two */
    WMI_CACHE_REGIONS = 62, /* of 4 GiB, so that the tag of a line of 64 bytes fits into 32 bits */
};

/* The state of a line in a write-back cache: the slot that wrote it last, and which of its 64-byte sectors
 * are valid or dirty. */
enum {
    WMI_LINE_VALID_0 = 1,
    WMI_LINE_VALID = 3,
    WMI_LINE_DIRTY_0 = 4,
    WMI_LINE_DIRTY = 12,
    WMI_LINE_SLOT_SHIFT = 4,
};

/* If one in so many ways of a set of L2 or more are dirty, the least recently used dirty line is evicted,
 * not the least recently used one: see docs/model.md. */
enum { WMI_DIRTY_WAYS = 3 };

/* All instances of one cache. The tag is the line number of the short address (see `region` below) plus 1; 0:
 * invalid. Ways are in LRU order, most recently used first. */
struct wmi_cache {
    uint32_t *tags;   /* [instance][set][room]; NULL: the product has no such cache */
    uint32_t *states; /* the state of each line, from L2 on; else NULL */
    uint32_t sets, ways, room, line_shift, instances;
    uint64_t set_mask; /* if the number of sets is a power of two; else 0 */
    uint32_t fold;     /* of wmi_cache_hash() */
    uint32_t *memory;  /* storage of tags and states */
    /* By set, of all instances: loads that missed, in L2 all requests. Not of the last-level cache. */
    uint64_t *missed;
    /* Scalar and instruction caches, by instance: the last log entry. If the next entry is equal, all its
     * requests hit, and the LRU order does not change. */
    uint64_t (*last)[2];
};

/* The set of L2 that a line is in, if their number is a power of two, mask + 1: each group of 64 lines is
 * rotated by a hash of its number. So strides of powers of two and parts of rows are spread over 64 sets or
 * more, and contiguous data fills all sets evenly. fold: 0, or a factor that makes a hash of the bits above
 * the set's, by which groups are exchanged: for data of which an L2 has every n-th part, because workgroups
 * run on dies in turn. The actual hash is not published. A small L2, as no product has it, is not hashed. */
static inline uint32_t wmi_cache_hash(uint32_t line, uint32_t mask, uint32_t fold)
{
    enum { GROUP_SHIFT = 6, GROUP = 1 << GROUP_SHIFT };
    if (mask < 4 * GROUP - 1)
        return line & mask;
    const uint32_t group = line >> GROUP_SHIFT;
    const uint32_t rotated = (line + group + ((group >> GROUP_SHIFT) * 0x9e3779b1u >> 26)) & (GROUP - 1);
    const uint32_t moved = line ^ (((line & ~mask) * fold >> 20) << GROUP_SHIFT);
    return (moved & mask & -(uint32_t)GROUP) | rotated;
}

/* Number of words per set in tags and states. */
static inline uint32_t wmi_cache_room(uint32_t ways)
{
    return (ways + WMI_CACHE_WAYS - 1) / WMI_CACHE_WAYS * WMI_CACHE_WAYS;
}

/* The cache instances that a compute unit uses. */
struct wmi_cache_place {
    uint32_t instance[WM_CACHE_LEVELS];
};

/* How requests use a cache before L2. */
enum wmi_cache_how {
    WMI_CACHE_NONE,  /* no such cache */
    WMI_CACHE_USE,   /* a load miss allocates the line */
    WMI_CACHE_LEAVE, /* a hit evicts the line, a miss does not allocate */
    WMI_CACHE_PAST,  /* bypass: a hit evicts the line, and the request goes to L2 anyway */
};

/* The path of an instruction's requests through the caches; independent of the address. */
struct wmi_cache_route {
    uint8_t shift, kind; /* as in struct wmi_log_instruction */
    uint8_t first;       /* enum wm_cache_level */
    uint8_t near, gl1;   /* enum wmi_cache_how, of `first` and of GL1 */
    bool streams, skips_last;
    bool is_code,
        goes_on;     /* goes_on: instruction fetches that are modelled together with the following access */
    bool repeats;    /* if waves of one compute unit make equal requests, all but the first hit in `first` */
    bool is_control; /* no request; invalidates these caches: */
    uint8_t invalidates; /* 1 << enum wm_cache_level */
    uint8_t pieces;      /* number of blocks of one wave that may be merged into one request to L2 */
};

/* The position of the round in the log of a wave. */
struct wmi_cache_cursor {
    const uint64_t *at, *end;
    const struct wmi_cache_place *place;
    uint32_t start; /* the turn of the round in which it makes its first access */
};

/* A sector on its way between L2 and the last-level cache. */
struct wmi_last_request {
    uint64_t address;
    uint32_t slot;
    bool writes, skips; /* skips: misses do not allocate */
};

/* Atomic requests by line of L2, in a hash table; lines beyond its capacity are not counted. */
enum { WMI_ATOMIC_LINES = 4096 };

struct wmi_atomic_lines {
    uint32_t tag[WMI_ATOMIC_LINES]; /* 0: unused */
    uint64_t requests[WMI_ATOMIC_LINES];
    uint32_t used;
    uint64_t most; /* of one line */
};

struct wmi_caches;

/* In caches_lanes.c: processes the logs of the first `count` cursors, one access each in every turn. The
 * first `carried` of them are of an earlier round, the others begin in their turns. Stops after `turns`, but
 * not before those of the earlier round have ended. Returns the number of cursors that have not ended, which
 * come first then. */
typedef size_t wmi_caches_walk(struct wmi_caches *caches, size_t carried, size_t count, uint64_t turns);
/* Also there: writes back the dirty lines of L2 and invalidates it; words: size of its tags. Returns the
 * sectors that were dirty. */
typedef uint64_t wmi_caches_flush(struct wmi_caches *caches, size_t words);

struct wmi_caches {
    struct wmi_cache cache[WM_CACHE_LEVELS];
    struct wmi_vector_rules rules;
    struct wm_gpu gpu;
    struct wmi_residence residence;
    uint32_t homes; /* per XCD: number of groups of `residence.units` compute units */
    /* XCD x and its n-th workgroup use `residence.units` entries from (x * homes + n % homes) *
     * residence.units. */
    struct wmi_cache_place *places;
    struct wmi_slot_use *uses;
    uint32_t slots;
    struct wmi_caches_sums sums;
    struct wmi_cache_cursor *cursors;
    size_t cursor_capacity, carried; /* carried: waves of the previous round that have not ended */
    struct wmi_cache_route *routes;  /* as many as uses */
    /* Upper halves of the addresses in use. A short address contains the index of its half instead. */
    uint32_t region[WMI_CACHE_REGIONS], regions;
    uint64_t high, distance;         /* of the last shortened address */
    bool beyond;                     /* there were more regions than fit */
    bool keeps_l2;                   /* from dispatch to dispatch */
    uint64_t flushed;                /* bytes that L2 wrote back when dispatches ended */
    struct wmi_atomic_lines atomics; /* of this dispatch */
    /* Requests to the last-level cache, in order: its sets are fetched from host memory meanwhile. */
    struct wmi_last_request waiting[WMI_CACHE_WAITING];
    unsigned first_waiting, waiting_count;
    wmi_caches_walk *walk;
    wmi_caches_flush *flush;
};

#endif
