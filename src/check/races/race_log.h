/* SPDX-License-Identifier: MIT */
/* The log of loads from memory to which nothing has been stored in this launch.
 *
 * Most kernels only load from most of their memory, and who has loaded from it matters only if something is
 * stored there. So such loads are logged, which costs far less than to record them in the shadow, above all
 * if they are scattered. The first access of another kind to a region from which loads have been logged has
 * the whole log recorded, in order, before it; from then on, all accesses to that region are recorded
 * directly. So the shadow holds what it would without the log whenever an access is compared with it. */
#ifndef WMI_RACE_LOG_H
#define WMI_RACE_LOG_H

#include "check/races/race_shadow.h"

#include <stdalign.h>

enum {
    WMI_RACE_REGION_BITS = 16,
    WMI_RACE_REGIONS = 1 << 14, /* regions whose numbers differ by a multiple of it count as one */
};

/* Whether loads from the region have been logged; whether accesses to it are recorded directly. */
enum { WMI_RACE_LOGGED = 1, WMI_RACE_DIRECT = 2 };

/* Loads by one instruction of a wave, of `bytes` from base + like->at[i] on for lane i of the active ones;
 * or, if `lanes` is 0, all of the `bytes` from `base` on. */
struct wmi_race_logged {
    uint64_t record, from, before; /* as in struct wmi_race_access */
    uint64_t base, lanes;
    const struct wmi_race_logged *like; /* this entry, or an earlier one with the same lanes */
    uint32_t bytes;
    uint32_t size;             /* of this entry */
    alignas(64) uint32_t at[]; /* if it is like itself */
};

enum {
    WMI_RACE_LOG_CHUNK = 1 << 21,
    WMI_RACE_LOG_RECENT = 64,
    WMI_RACE_MOST_RECORDED = 256, /* loads of an instruction for nothing, before it is no longer logged */
    WMI_RACE_LOG_UNIT = 16,       /* room for addresses is a multiple of it */
    WMI_RACE_LOG_ENTRY = sizeof(struct wmi_race_logged) + 64 * sizeof(uint32_t), /* at most */
};

struct wmi_race_log_chunk {
    unsigned char *memory;
    size_t used;
};

struct wmi_race_log {
    uint32_t region[WMI_RACE_REGIONS]; /* masks */
    struct wmi_race_log_chunk *chunk;
    size_t chunks, last; /* the last one with entries */
    size_t regions;      /* of which loads have been logged */
    /* The last entries with addresses, by a hash of the instruction and the lanes. */
    const struct wmi_race_logged *recent[WMI_RACE_LOG_RECENT];
};

/* Prepares the log for a launch. */
void wmi_race_log_begin(struct wmi_race_log *log);
void wmi_race_log_free(struct wmi_race_log *log);
/* Called when what was logged has been recorded. */
void wmi_race_log_end(struct wmi_race_log *log);
/* Begins another chunk. False: the log is long in relation to the memory, or there is no memory. */
bool wmi_race_log_grow(struct wmi_race_log *log);

/* Whether another entry fits. */
static inline bool wmi_race_log_has_room(const struct wmi_race_log *log)
{
    return log->chunks && log->chunk[log->last].used + WMI_RACE_LOG_ENTRY <= WMI_RACE_LOG_CHUNK;
}

static inline uint32_t *wmi_race_region(struct wmi_race_log *log, uint64_t address)
{
    return &log->region[address >> WMI_RACE_REGION_BITS & (WMI_RACE_REGIONS - 1)];
}

/* Whether loads of the bytes [start, end) may be logged, in a log that has room; if so, their regions are
 * marked. */
static inline bool wmi_race_may_log(struct wmi_race_log *log, uint64_t start, uint64_t end)
{
    const uint64_t size = UINT64_C(1) << WMI_RACE_REGION_BITS, first = start & -size;
    for (uint64_t at = first; at < end; at += size)
        if (*wmi_race_region(log, at) & WMI_RACE_DIRECT)
            return false;
    for (uint64_t at = first; at < end; at += size) {
        uint32_t *region = wmi_race_region(log, at);
        log->regions += !*region;
        *region |= WMI_RACE_LOGGED;
    }
    return true;
}

/* Marks the regions of the bytes [start, end), which are about to be accessed directly. Returns whether the
 * log must be recorded first. */
static inline bool wmi_race_meets_log(struct wmi_race_log *log, uint64_t start, uint64_t end)
{
    const uint64_t size = UINT64_C(1) << WMI_RACE_REGION_BITS;
    bool meets = false;
    for (uint64_t at = start & -size; at < end; at += size) {
        uint32_t *region = wmi_race_region(log, at);
        meets |= *region == WMI_RACE_LOGGED;
        *region |= WMI_RACE_DIRECT;
    }
    return meets;
}

/* Adds an entry with room for `count` addresses, for which the log has room. */
static inline struct wmi_race_logged *wmi_race_log_add(struct wmi_race_log *log,
                                                       const struct wmi_race_access *access, unsigned count)
{
    const size_t unit = WMI_RACE_LOG_UNIT;
    struct wmi_race_log_chunk *chunk = &log->chunk[log->last];
    struct wmi_race_logged *logged = (void *)(chunk->memory + chunk->used);
    logged->record = access->record;
    logged->from = access->from;
    logged->before = access->before;
    logged->size =
        (uint32_t)(sizeof(struct wmi_race_logged) + (count + unit - 1) / unit * unit * sizeof *logged->at);
    chunk->used += logged->size;
    return logged;
}

/* Adds an entry for the bytes [start, end). */
static inline void wmi_race_log_add_run(struct wmi_race_log *log, const struct wmi_race_access *access,
                                        uint64_t start, uint64_t end)
{
    struct wmi_race_logged *logged = wmi_race_log_add(log, access, 0);
    logged->base = start;
    logged->lanes = 0;
    logged->bytes = (uint32_t)(end - start);
}

/* Adds an entry for some bytes of lanes. Their addresses relative to an origin are those of the entry `like`
 * or, if that is NULL, are to be set in the new entry by the caller. */
static inline struct wmi_race_logged *wmi_race_log_add_lanes(struct wmi_race_log *log,
                                                             const struct wmi_race_access *access,
                                                             uint64_t origin, uint64_t lanes, uint32_t bytes,
                                                             const struct wmi_race_logged *like)
{
    struct wmi_race_logged *logged =
        wmi_race_log_add(log, access, like ? 0 : (unsigned)__builtin_popcountll(lanes));
    logged->base = origin;
    logged->lanes = lanes;
    logged->bytes = bytes;
    logged->like = like ? like : logged;
    return logged;
}

#endif
