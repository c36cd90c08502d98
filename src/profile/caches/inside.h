/* SPDX-License-Identifier: MIT */
/* What the model of caches keeps, for the files that make it. */
#ifndef WMI_PROFILE_CACHES_INSIDE_H
#define WMI_PROFILE_CACHES_INSIDE_H

#include "profile/caches/caches.h"

enum {
    WMI_CACHE_SECTOR = 64,
    WMI_CACHE_SECTOR_SHIFT = 6,
    WMI_CACHE_WAYS = 16,    /* a set has room for a multiple of these */
    WMI_CACHE_REGIONS = 62, /* of 4 GiB, so that the tag of a line of 64 bytes fits into 32 bits */
};

/* The state of a line where lines are written back: who wrote it last, and what of its sectors of 64 bytes is
 * there to be read or waits to be written back. */
enum {
    WMI_LINE_VALID_0 = 1,
    WMI_LINE_VALID = 3,
    WMI_LINE_DIRTY_0 = 4,
    WMI_LINE_DIRTY = 12,
    WMI_LINE_SLOT_SHIFT = 4,
};

/* One cache in all its instances. Lines have their number, counted with short addresses (see region below),
 * and 1 as tag; 0: nothing. Ways stand most recently used first. */
struct wmi_cache {
    uint32_t *tags;   /* [instance][set][room]; NULL: the product does not have it */
    uint32_t *states; /* the same of each line, from L2 on; else NULL */
    uint32_t sets, ways, room, line_shift, instances;
    uint64_t set_mask; /* of a power of two of sets, else 0 */
    uint32_t *memory;  /* that tags and states lie in */
    /* Of scalar and instruction caches, by instance: the words of the entry of the log that asked it last. If
     * the next one asks for the same, all of it is there, and stands in the order that it would get. */
    uint64_t (*last)[2];
};

/* Words that a set takes, in tags and in states. */
static inline uint32_t wmi_cache_room(uint32_t ways)
{
    return (ways + WMI_CACHE_WAYS - 1) / WMI_CACHE_WAYS * WMI_CACHE_WAYS;
}

/* A compute unit, and which of the shared caches is its own. */
struct wmi_cache_place {
    uint32_t instance[WM_CACHE_LEVELS];
};

/* How requests use a cache on the way to L2. */
enum wmi_cache_how {
    WMI_CACHE_NONE,  /* there is none */
    WMI_CACHE_USE,   /* a line that a load does not find is brought in */
    WMI_CACHE_LEAVE, /* one that it finds leaves, none is brought in */
    WMI_CACHE_PAST,  /* one that it finds leaves, and L2 is asked all the same */
};

/* The way that the requests of an instruction take: what of it does not depend on the request. */
struct wmi_cache_route {
    uint8_t shift, kind; /* as in struct wmi_log_instruction */
    uint8_t first;       /* enum wm_cache_level */
    uint8_t near, gl1;   /* enum wmi_cache_how, of `first` and of GL1 */
    bool streams, skips_last;
    bool is_code, goes_on; /* goes_on: fetches of code that go with the access that follows them */
    bool repeats;          /* of waves of a place that ask for the same, `first` answers all but one */
    bool is_control;       /* it asks for nothing, and empties these caches: */
    uint8_t invalidates;   /* 1 << enum wm_cache_level */
    uint8_t pieces;        /* blocks of which L2 may be asked as one, but only by one wave */
};

/* Where the round is in the log of a wave. */
struct wmi_cache_cursor {
    const uint64_t *at, *end;
    const struct wmi_cache_place *place;
};

/* In caches_lanes.c: walks through the logs of the first `cursors` cursors, in turns. */
typedef void wmi_caches_walk(struct wmi_caches *caches, size_t cursors);
/* There, too: writes back what only L2 knows, and forgets all of it, which has so many words. */
typedef void wmi_caches_flush(struct wmi_caches *caches, size_t words);

struct wmi_caches {
    struct wmi_cache cache[WM_CACHE_LEVELS];
    struct wmi_vector_rules rules;
    struct wm_gpu gpu;
    struct wmi_residence residence;
    uint32_t homes; /* of an XCD: that many times `residence.units` compute units */
    /* Of XCD x and the n-th workgroup there: [(x * homes + n % homes) * residence.units], and behind it. */
    struct wmi_cache_place *places;
    struct wmi_slot_use *uses;
    uint32_t slots;
    struct wmi_caches_sums sums;
    struct wmi_cache_cursor *cursors;
    size_t cursor_capacity;
    struct wmi_cache_route *routes; /* as many as uses */
    /* Upper halves of the addresses that occur. A short address has a half's index in its place. */
    uint32_t region[WMI_CACHE_REGIONS], regions;
    uint64_t high, distance; /* of the address that was made short last */
    bool beyond;             /* there were more regions */
    wmi_caches_walk *walk;
    wmi_caches_flush *flush;
};

#endif
