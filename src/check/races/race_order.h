/* SPDX-License-Identifier: MIT */
/* What is ordered before what: clocks of workgroups, and what waves learn from one another.
 *
 * Each workgroup has a clock, and each wave an epoch: the clock's value when it last released something, by a
 * barrier or by a store or atomic after it had waited for its earlier stores. What a wave did in earlier
 * epochs is ordered before whatever a wave does that has acquired the present one. Waves learn of other
 * workgroups by atomics and loads that see what those wrote; they keep a list, and pass it on. */
#ifndef WMI_RACE_ORDER_H
#define WMI_RACE_ORDER_H

#include "check/races/race_flight.h"
#include "check/races/race_shadow.h"

/* How a wave came to know of another one's past. */
enum wmi_race_knows {
    WMI_RACE_PASSES, /* its atomic continues what others released, but returns nothing */
    WMI_RACE_SEES,   /* it has read what the other wrote, and caches may still hold older data */
    WMI_RACE_NEARS,  /* another wave of its workgroup has, and a barrier passed that on; its own vector cache
                        may still hold older data */
    WMI_RACE_ACQUIRES, /* it has invalidated those caches */
};

struct wmi_race_learned {
    uint32_t tag;          /* of the other's workgroup, */
    uint32_t epoch, floor; /* its epoch and floor then, as far as they were released */
    uint32_t seen;         /* its epoch then */
    uint8_t wave, by;      /* the other; who has learned: a wave, or WMI_RACE_WAVES for all */
    uint8_t how;           /* enum wmi_race_knows */
    uint32_t acquired;     /* `by` all: waves that have invalidated their caches since, a bit each */
    bool rescanned;        /* `by` has invalidated the scalar cache since */
};

/* A workgroup, also after its end. One that has used up its epochs gets a new tag. */
struct wmi_race_past {
    uint64_t number;          /* of the workgroup */
    uint32_t root;            /* its first tag, which keeps what follows */
    uint32_t base;            /* epoch of the workgroup in which the tag begins */
    uint32_t release;         /* the first epoch that began by a release; UINT32_MAX: none did */
    uint32_t floor;           /* whoever learns of one of its releases knows all earlier epochs */
    uint32_t visit;           /* number of the last search, */
    uint32_t visited;         /* and the waves that it has looked at */
    uint32_t count, capacity; /* of `learned` */
    bool stored;              /* it has stored to global memory */
    bool pending;             /* some of `learned` all waves have seen, but not all have acquired */
    bool all;                 /* it has learned too much for its list: it is said to know everything */
    struct wmi_race_learned *learned;
    uint32_t *unreleased; /* of each wave: 1 + the epoch before a barrier that its stores had not been
                             released at; 0: none. NULL: no wave has one */
};

struct wmi_race_wave {
    uint32_t epoch; /* of the workgroup's clock */
    uint32_t
        floor; /* all that its workgroup did in earlier epochs is ordered before the wave's next access */
    uint32_t arrivals; /* at the workgroup's barrier */
    uint32_t arrived;  /* its epoch before the last one, */
    uint32_t passed;   /* and before the last one to which all have come; */
    uint32_t joins;    /* the floor that it gets behind that */
    uint32_t stores;   /* operations of the counter of stores from its last store on; 0: none is on its way */
    uint32_t fresh;    /* its vector cache has nothing older than what the workgroup did before this epoch */
    uint32_t first_store;            /* epoch of its oldest store that may be on its way, if `stores` */
    uint32_t flying_from, flying_to; /* epochs of stores that were on their way at the last barrier; from >
                                        to: none */
    uint32_t invalidated; /* caches since it last invalidated all that it must: 1 << enum wm_cache_level */
    bool lds_stored;      /* to LDS, since its last release */
    bool lds_moved;       /* loads to LDS, since its last release */
    bool dirty;       /* it, or before the last barrier its workgroup, has stored since its last release */
    uint32_t writing; /* operations of the counter of stores from the write-back of caches on; 0: none is on
                         its way */
    bool cleaned;     /* caches were written back since then, and the wave has waited for that */
    bool unshared;    /* it has stored what waves behind barriers do not know of */
    bool releases;    /* its stores are complete: its next store or atomic begins an epoch */
    bool updates;     /* it has made atomics in global memory */
    bool unfinished;  /* stores to global memory were on their way when it came to the last barrier */
};

struct wmi_race_group {
    struct wmi_race_group *next;      /* of unused ones */
    uint32_t tag, base, clock, waves; /* base: of the tag */
    uint32_t begun, completed;        /* barriers to which a wave has come, and those to which all have */
    uint32_t round;                   /* the clock when the first one came to the last one */
    uint32_t
        settled; /* epoch behind the last barrier before which all stores to global memory were complete */
    uint32_t flying; /* the first epoch with a store that was on its way at the last barrier; UINT32_MAX: none
                      */
    bool splits;     /* waves signal and wait apart */
    bool stored;     /* to global memory */
    struct wmi_race_wave wave[WMI_RACE_WAVES];
    uint32_t (*named)[WMI_RACE_WAVES]; /* epochs of arrivals at named barriers; NULL: none */
    struct wmi_race_local lds;
    struct wmi_race_flights flights[WMI_RACE_WAVES]; /* of each wave */
    struct wmi_race_pending pending, coming;         /* at the last barrier; at the one that waves come to */
};

enum { WMI_RACE_CHUNK = 1 << 10, WMI_RACE_CHUNKS = WMI_RACE_TAGS / WMI_RACE_CHUNK + 1 };

struct wmi_race_order {
    bool writes_back;          /* stores are released only by writing back caches, */
    bool waits_for_write_back; /* and the write-back must be waited for */
    bool halves; /* records tell lanes 0 to 31 of a wave, twice its number, from lanes 32 to 63, one more */
    bool
        waits_at_barriers; /* only stores that are complete at a barrier are known to other waves behind it */
    uint32_t lds_most;     /* operations of LDS that a wave may have in flight */
    bool within;           /* waves of a workgroup have different vector caches: WGP mode */
    struct wmi_race_past **past; /* chunks by tag; tag 0 is none */
    uint32_t tags, chunks, visit;
    bool lost; /* no memory, or too many workgroups */
};

static inline unsigned wmi_race_wave(const struct wmi_race_order *order, uint64_t record)
{
    return wmi_race_who(record) >> order->halves;
}

void wmi_race_order_begin(struct wmi_race_order *order);
void wmi_race_order_free(struct wmi_race_order *order);
struct wmi_race_past *wmi_race_past(const struct wmi_race_order *order, uint32_t tag);

/* Begins a workgroup; `group` keeps its shadow of LDS. False: no memory. */
bool wmi_race_group_begin(struct wmi_race_order *order, struct wmi_race_group *group, uint64_t number,
                          uint32_t waves);
/* The wave stores to global memory. */
void wmi_race_store(const struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave);
/* The wave has waited until at most `limit` operations of the counter of stores are on their way. */
void wmi_race_wait(const struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave,
                   unsigned limit);
/* The wave writes back the caches that its stores may be in. */
void wmi_race_write_back(const struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave);
/* The wave has waited until at most `limit` of its operations of LDS are in flight. */
void wmi_race_wait_for_lds(struct wmi_race_group *group, unsigned wave, unsigned limit);
/* The wave has waited until at most `limit` of its loads are in flight, of which some may be to LDS. */
void wmi_race_wait_for_loads_to_lds(struct wmi_race_group *group, unsigned wave, unsigned limit);
/* The wave begins a new epoch. What it has not released, other workgroups do not know by it. */
void wmi_race_begin_epoch(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave);
/* The wave begins a new epoch if its earlier stores are complete. Returns whether it does. */
bool wmi_race_release(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave);

/* A wave arrives at the workgroup's barrier (stays: and goes no further), or at a named one (above 0). */
bool wmi_race_arrive(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave, int number,
                     bool stays, uint64_t pc);
void wmi_race_leave(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave, int number);

/* The wave reads, or continues by an atomic, what the record's wave wrote. */
void wmi_race_learn(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave,
                    uint64_t record, enum wmi_race_knows how);
/* The wave reads what its own atomic left: it learns what that has passed on. */
void wmi_race_reread(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave);
/* The wave invalidates its vector cache, which suffices for what its own workgroup has stored. */
void wmi_race_refresh(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave);
/* The wave invalidates the scalar cache. */
void wmi_race_rescan(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave);
/* The wave invalidates all caches that may hide what other workgroups store. */
void wmi_race_invalidate(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave);

/* A record of the wave's present epoch, without bytes. */
static inline uint64_t wmi_race_record_of(const struct wmi_race_order *order,
                                          const struct wmi_race_group *group, unsigned wave, unsigned slot)
{
    const struct wmi_race_wave *w = &group->wave[wave];
    const uint64_t epoch = w->epoch > group->base ? w->epoch - group->base : 0;
    return (uint64_t)group->tag << WMI_RACE_TAG_AT | epoch << WMI_RACE_EPOCH_AT |
           (uint64_t)wave << (WMI_RACE_WAVE_AT + order->halves) | (uint64_t)slot << WMI_RACE_SLOT_AT;
}

/* Fills in the access of a wave, or of its lanes 0 to 31, with an instruction. What LDS has of earlier
 * workgroups is settled: they have ended. */
static inline void wmi_race_describe(const struct wmi_race_order *order, const struct wmi_race_group *group,
                                     unsigned wave, unsigned slot, bool writes, bool lds,
                                     struct wmi_race_access *access)
{
    const struct wmi_race_wave *w = &group->wave[wave];
    uint32_t known = w->floor;
    if (order->within && !lds) {
        known = writes ? known : w->fresh;
        known = known < group->flying ? known : group->flying;
    }
    const uint64_t floor = known > group->base ? known - group->base : 0;
    const uint64_t tag = (uint64_t)group->tag << WMI_RACE_TAG_AT;
    access->from = lds ? 0 : tag;
    access->record = wmi_race_record_of(order, group, wave, slot);
    access->before = (lds ? tag : 0) + (floor << WMI_RACE_EPOCH_AT);
    access->gone = 0;
    if (lds)
        access->gone = tag + ((uint64_t)(group->lds.floor > group->base ? group->lds.floor - group->base : 0)
                              << WMI_RACE_EPOCH_AT);
    access->writes = writes;
}

/* The lane's half of the wave makes the access. */
static inline void wmi_race_choose_half(const struct wmi_race_order *order, unsigned lane,
                                        struct wmi_race_access *access)
{
    const uint64_t half = (uint64_t)order->halves << WMI_RACE_WAVE_AT;
    access->record = lane < 32 ? access->record & ~half : access->record | half;
}

enum wmi_race_relation {
    WMI_RACE_ORDERED,
    WMI_RACE_UNRELATED,
    WMI_RACE_UNRELEASED, /* the wave has seen a later store of the other, which did not wait for this access
                          */
    WMI_RACE_UNACQUIRED, /* the wave has seen that it happened, but has not invalidated its caches */
    WMI_RACE_FLYING,     /* a store that was on its way at a barrier of the workgroup, in WGP mode */
    WMI_RACE_STALE, /* it came before a barrier of the workgroup, behind which the wave has not invalidated
                       its vector cache, in WGP mode */
};
/* What the wave does next: a load that may find older data in its vector or its scalar cache, or neither. */
enum wmi_race_reads { WMI_RACE_READS_MEMORY, WMI_RACE_READS_VECTOR, WMI_RACE_READS_SCALAR };
/* How the recorded access is related to what the wave does next. stores: it was a store to global memory. */
enum wmi_race_relation wmi_race_relation(struct wmi_race_order *order, const struct wmi_race_group *group,
                                         unsigned wave, uint64_t record, bool stores,
                                         enum wmi_race_reads reads);

#endif
