/* SPDX-License-Identifier: MIT */
/* The happens-before order: clocks of workgroups, and what waves learn from one another.
 *
 * Each workgroup has a clock. Each wave has an epoch: the value of the clock at the wave's last release,
 * which is a barrier, or a store or atomic after it has waited for its earlier stores. What a wave did in
 * earlier epochs happens before whatever is done by a wave that has acquired its present epoch. Waves learn
 * of other workgroups by atomics and loads that observe their writes; each keeps a list of what it has
 * learned, and passes it on.
 *
 * A floor is an epoch of the own workgroup: all that its waves did in earlier ones happens before what the
 * wave does next, because of a barrier. A gap is a range of epochs of a wave that a release did not cover. */
#ifndef WMI_RACE_ORDER_H
#define WMI_RACE_ORDER_H

#include "check/races/race_flight.h"
#include "check/races/race_shadow.h"

enum { WMI_RACE_STORES = 8 /* stores in flight that a wait for a part of them distinguishes */ };

/* How a wave has learned of another wave's past. */
enum wmi_race_knows {
    WMI_RACE_PASSES, /* its atomic continues a release sequence, but returns nothing */
    WMI_RACE_SEES,   /* it has read the other wave's write, but its caches may still hold older data */
    WMI_RACE_NEARS,  /* another wave of its workgroup has acquired, and a barrier has passed that on; its own
                        vector cache may still hold older data */
    WMI_RACE_ACQUIRES, /* it has invalidated these caches */
};

enum { WMI_RACE_BY_ALL = WMI_RACE_WAVES }; /* who has learned something: all waves of the workgroup */

struct wmi_race_learned {
    uint32_t tag;          /* tag of the other wave's workgroup */
    uint32_t epoch, floor; /* the other wave's epoch and floor at that time, as far as they were released */
    uint32_t done, done_floor; /* the same of stores that write through, which need no write-back */
    uint32_t seen, passed;     /* the same, released or not */
    uint8_t wave, by;          /* the other wave; the wave that has learned, or WMI_RACE_BY_ALL */
    uint8_t how;               /* enum wmi_race_knows */
    uint32_t acquired; /* if `by` is WMI_RACE_BY_ALL, a mask of the waves that have invalidated their caches
                          since */
    bool rescanned;    /* `by` has invalidated the scalar cache since */
    bool near;         /* by a signal of their cluster's barrier: caches beyond the compute unit are shared */
};

/* What has happened to a wave's stores. Where caches must be written back, stores that are complete are
 * released to the workgroup, and to others if they write through. */
enum wmi_race_degree { WMI_RACE_MADE, WMI_RACE_COMPLETE, WMI_RACE_RELEASED, WMI_RACE_DEGREES };

/* What a wave did in the epochs from `from` on is not released with what it stored in later ones before
 * `until`. */
struct wmi_race_gap {
    uint32_t from, until; /* until: UINT32_MAX as long as it has not been released */
    uint8_t wave;
    uint8_t degree; /* enum wmi_race_degree that they lack */
};

/* What a wave stores in epoch `at` or later comes after what its workgroup did in the epochs before `floor`.
 */
struct wmi_race_floor {
    uint32_t at, floor;
    uint8_t degree; /* enum wmi_race_degree of stores in these epochs, of which another workgroup knows that
                       learns of a release in epoch `at` or later */
};

/* A workgroup, also after its end. One that has used up its epochs gets a new tag. */
struct wmi_race_past {
    uint64_t number;          /* of the workgroup */
    uint32_t root;            /* its first tag, which owns the members below */
    uint32_t base;            /* epoch of the workgroup in which the tag begins */
    uint32_t release;         /* the first epoch that a release began; UINT32_MAX: none */
    uint32_t visit;           /* number of the last search that visited it */
    uint32_t visited;         /* waves that this search has visited */
    uint32_t count, capacity; /* of `learned` */
    bool stored;              /* it has stored to global memory */
    bool pending;             /* all waves have seen some of `learned`, but not all have acquired it */
    bool all;                 /* the list is full: the workgroup is taken to know everything */
    struct wmi_race_learned *learned;
    struct wmi_race_floor *floors; /* those of one degree ascend */
    struct wmi_race_gap *gaps;     /* those of one wave are ascending */
    uint32_t floor_count, floor_capacity, gap_count, gap_capacity;
};

struct wmi_race_wave {
    uint32_t epoch; /* value of the workgroup's clock */
    uint32_t floor; /* whatever its workgroup did in earlier epochs happens before the wave's next access */
    uint32_t arrivals; /* number of arrivals at the workgroup's barrier */
    uint32_t arrived;  /* its epoch before the last barrier */
    uint32_t passed;   /* its epoch before the last barrier that all waves have reached */
    uint32_t joins;    /* its floor after that barrier */
    uint32_t stores;   /* operations of the store counter from its last store on; 0: no store is in flight */
    uint32_t fresh; /* its vector cache holds nothing older than what the workgroup did before this epoch */
    uint32_t first_store; /* epoch of its oldest store that may be in flight, if `stores` is not 0 */
    uint32_t operations;  /* of the store counter so far */
    struct wmi_race_store {
        uint32_t number; /* among these operations */
        uint32_t epoch;
    } store[WMI_RACE_STORES]; /* in flight, oldest first, if `counts_stores` */
    uint8_t store_count;
    bool counts_stores;
    uint32_t flying_from,
        flying_to;        /* epochs of stores that were in flight at the last barrier; from > to: none */
    uint32_t invalidated; /* caches invalidated since the last complete acquire: 1 << enum wm_cache_level */
    bool lds_stored;      /* it has stored to LDS since its last release */
    bool lds_moved;       /* it has made loads to LDS since its last release */
    bool dirty;       /* it has stored since its last release, or its workgroup has before the last barrier */
    uint32_t writing; /* operations of the store counter since the write-back of caches; 0: no write-back is
                         in flight */
    bool cleaned;     /* caches have been written back since then, and the wave has waited for it */
    bool unshared;    /* it has made stores of which waves do not learn at barriers */
    bool releases;    /* its stores are complete, so that its next store or atomic begins an epoch */
    bool gap[WMI_RACE_DEGREES]; /* it has a struct wmi_race_gap that has not ended */
    bool updates;               /* it has made atomics */
    bool loading;               /* its last load from global memory may be in flight */
    uint32_t last_load;         /* number of this load among those with its counter */
    bool unfinished;            /* stores to global memory were in flight when it reached the last barrier */
};

struct wmi_race_group {
    struct wmi_race_group *next;      /* in the free list */
    uint32_t tag, base, clock, waves; /* base: first epoch of the tag */
    uint32_t begun, completed; /* barriers that a wave has reached; barriers that all waves have reached */
    uint32_t round;            /* clock when the first wave reached the last barrier */
    uint32_t settled; /* epoch after the last barrier at which all stores to global memory were complete */
    uint32_t
        flying;  /* the first epoch with a store that was in flight at the last barrier; UINT32_MAX: none */
    bool splits; /* the kernel uses split barriers */
    bool stored; /* the workgroup has stored to global memory */
    struct wmi_race_wave wave[WMI_RACE_WAVES];
    uint32_t (*named)[WMI_RACE_WAVES]; /* epochs of arrivals at named barriers; NULL: none */
    struct wmi_race_local lds;
    struct wmi_race_flights flights[WMI_RACE_WAVES]; /* of each wave */
    struct wmi_race_pending pending,
        coming; /* operations in flight at the last barrier; at the barrier that waves are reaching */
};

enum { WMI_RACE_CHUNK = 1 << 10, WMI_RACE_CHUNKS = WMI_RACE_TAGS / WMI_RACE_CHUNK + 1 };

struct wmi_race_order {
    bool writes_back;   /* a release must write back caches, and wait for that */
    bool counts_stores; /* some instruction waits for a part of the stores in flight */
    bool halves; /* records distinguish lanes 0 to 31 of a wave (twice its number) from lanes 32 to 63 (twice
                    its number plus one) */
    bool waits_at_barriers; /* other waves learn at a barrier only of stores that are complete */
    uint32_t lds_most;      /* maximum LDS operations of a wave in flight */
    bool within;            /* waves of a workgroup may have different vector caches: WGP mode, tgsplit */
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

/* The past of the workgroup's first tag. */
static inline struct wmi_race_past *wmi_race_root(const struct wmi_race_order *order, uint32_t tag)
{
    return wmi_race_past(order, wmi_race_past(order, tag)->root);
}

/* Starts a workgroup; `group` keeps its shadow of LDS. False: no memory. */
bool wmi_race_group_begin(struct wmi_race_order *order, struct wmi_race_group *group, uint64_t number,
                          uint32_t waves);
/* Called when the wave stores to global memory. */
void wmi_race_store(const struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave);
/* Called when the wave has waited until at most `limit` operations of the store counter are in flight. */
void wmi_race_wait(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave, unsigned limit);
/* Called when the wave writes back the caches that may hold its stores. */
void wmi_race_write_back(const struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave);
/* Called when the wave has waited until at most `limit` of its LDS operations are in flight. */
void wmi_race_wait_for_lds(struct wmi_race_group *group, unsigned wave, unsigned limit);
/* Called when the wave has waited until at most `limit` of its loads are in flight; some may be loads to
 * LDS. */
void wmi_race_wait_for_loads_to_lds(struct wmi_race_group *group, unsigned wave,
                                    enum wmi_race_counter counter, unsigned limit);
/* Begins a new epoch of the wave without a release: other workgroups do not learn of unreleased stores by
 * it. */
void wmi_race_begin_epoch(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave);
/* Begins a new epoch if the wave's earlier stores are complete. Returns whether it does. */
bool wmi_race_release(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave);

/* Called when a wave arrives at the workgroup's barrier (0) or a named one. stays: it also waits there.
 * False: no memory. */
bool wmi_race_arrive(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave, int number,
                     bool stays, uint64_t pc);
void wmi_race_leave(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave, int number);

/* Called when the wave reads, or continues with an atomic, what the record's wave wrote. */
void wmi_race_learn(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave,
                    uint64_t record, enum wmi_race_knows how);
/* What a wave has done and knows when it signals the barrier of its cluster. */
struct wmi_race_signal {
    uint32_t tag, epoch, floor, seen; /* as in struct wmi_race_learned */
    uint8_t wave;
};
struct wmi_race_signal wmi_race_signal(struct wmi_race_order *order, struct wmi_race_group *group,
                                       unsigned wave);
/* Called when the wave has waited for the barrier that the signal is part of. */
void wmi_race_learn_signal(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave,
                           const struct wmi_race_signal *signal);
/* Called when the wave has waited until at most `limit` operations with the counter of loads are in flight.
 */
static inline void wmi_race_wait_for_loads(struct wmi_race_group *group, unsigned wave, unsigned limit)
{
    struct wmi_race_wave *w = &group->wave[wave];
    w->loading &= group->flights[wave].issued[WMI_RACE_COUNTS_MOVES] - w->last_load < limit;
}
/* Called when the wave reads the result of its own atomic: it learns what that has passed on. */
void wmi_race_reread(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave, bool lds);
/* Called when the wave invalidates its vector cache, which suffices to see what its own workgroup has
 * stored. */
void wmi_race_refresh(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave);
/* Called when the wave invalidates the scalar cache. */
void wmi_race_rescan(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave);
/* Called when the wave invalidates all caches that may hold older data than other workgroups have stored. */
void wmi_race_invalidate(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave);

/* Returns a record of the wave's present epoch, without bytes. */
static inline uint64_t wmi_race_record_of(const struct wmi_race_order *order,
                                          const struct wmi_race_group *group, unsigned wave, unsigned slot)
{
    const struct wmi_race_wave *w = &group->wave[wave];
    const uint64_t epoch = w->epoch > group->base ? w->epoch - group->base : 0;
    return (uint64_t)group->tag << WMI_RACE_TAG_AT | epoch << WMI_RACE_EPOCH_AT |
           (uint64_t)wave << (WMI_RACE_WAVE_AT + order->halves) | (uint64_t)slot << WMI_RACE_SLOT_AT;
}

/* Fills in the access of a wave, or of its lanes 0 to 31, by an instruction. Records of LDS by earlier
 * workgroups are ordered, because these have ended. */
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

/* Selects the lane's half of the wave as the one that makes the access. */
static inline void wmi_race_choose_half(const struct wmi_race_order *order, unsigned lane,
                                        struct wmi_race_access *access)
{
    const uint64_t half = (uint64_t)order->halves << WMI_RACE_WAVE_AT;
    access->record = lane < 32 ? access->record & ~half : access->record | half;
}

enum wmi_race_relation {
    WMI_RACE_ORDERED,
    WMI_RACE_UNRELATED,
    WMI_RACE_UNRELEASED, /* the wave has seen a later store of the other wave, which had not waited for this
                            access */
    WMI_RACE_UNACQUIRED, /* the wave has seen that the access happened, but has not invalidated its caches */
    WMI_RACE_FLYING,     /* with `within`, a store that was in flight at a barrier of the workgroup */
    WMI_RACE_STALE, /* with `within`, the access was made before a barrier of the workgroup after which the
                       wave has not invalidated its vector cache */
};
/* Where the wave's next access may find older data: nowhere, in its vector cache, or in its scalar cache. */
enum wmi_race_reads { WMI_RACE_READS_MEMORY, WMI_RACE_READS_VECTOR, WMI_RACE_READS_SCALAR };
/* The recorded access: no store to global memory, one, or one that writes through. */
enum wmi_race_made { WMI_RACE_OTHER_ACCESS, WMI_RACE_STORE_THROUGH, WMI_RACE_STORE };
/* How the recorded access is ordered with the wave's next access. */
enum wmi_race_relation wmi_race_relation(struct wmi_race_order *order, const struct wmi_race_group *group,
                                         unsigned wave, uint64_t record, enum wmi_race_made made,
                                         enum wmi_race_reads reads);

#endif
