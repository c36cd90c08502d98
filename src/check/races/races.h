/* SPDX-License-Identifier: MIT */
/* The state of the checker of races. */
#ifndef WMI_RACES_H
#define WMI_RACES_H

#include "check/races/race_cluster.h"
#include "check/races/race_log.h"
#include "check/races/race_order.h"
#include "check/races/race_rules.h"
#include "sem/sem.h"

#include <stdalign.h>
#include <string.h>

enum { WMI_RACE_CONFLICTS = 16 };

/* An earlier access with which the current one conflicts. */
struct wmi_race_conflict {
    const struct wmi_check_rule *rule;
    uint64_t record, address, bytes, lanes;
    uint64_t barrier; /* address of the barrier at which it was in flight; 0: none */
};

struct wmi_race_wait { /* maximum operations of stores, of LDS, and of loads to LDS that a wait leaves in
                          flight */
    uint8_t stores, lds, moves, tensors;
};

enum { WMI_RACE_PATTERNS = 1024, WMI_RACE_LANES = 64, WMI_RACE_LANE_BLOCKS = 2 * WMI_RACE_LANES };

/* The blocks that lanes of one access touch, and the bytes or dwords in each. The next access with the same
 * distances between its lanes touches the same bytes of other blocks. */
struct wmi_race_pattern {
    uint64_t lanes;
    uint32_t slot;  /* of the instruction */
    uint32_t bytes; /* of each lane */
    unsigned count; /* of blocks; 0: unknown */
    bool dwords;
    bool spread;                             /* most blocks lie in other pages than the blocks before them */
    bool irregular;                          /* the instruction's accesses have no pattern */
    alignas(64) uint32_t at[WMI_RACE_LANES]; /* the lanes' addresses relative to an origin */
    alignas(64) uint32_t number[WMI_RACE_LANE_BLOCKS]; /* block numbers relative to that origin */
    union {                                            /* with room for a vector behind the last one */
        alignas(64) uint32_t dword[WMI_RACE_LANE_BLOCKS + 8];
        alignas(64) uint64_t byte[2][WMI_RACE_LANE_BLOCKS + 8]; /* the lower and the upper half of each */
    };
};

struct wmi_races;
/* Records an access to consecutive dwords. False: it needs the slow path, because it may conflict. */
typedef bool wmi_race_run(struct wmi_races *races, enum wmi_address_space space, uint64_t address,
                          size_t count);

/* Records what has been logged in the shadow. full: because the log is full, not for an access. */
typedef void wmi_race_replay(struct wmi_races *races, bool full);

struct wmi_races {
    struct wmi_observer observer;
    wmi_race_run *run;
    wmi_race_replay *replay;
    struct wmi_race_log log;
    unsigned what; /* enum wm_check_what: the classes to report */
    struct wmi_check_dispatch dispatch;
    struct wmi_code *code; /* used only for decoding */
    struct wmi_race_rules rules;
    enum wmi_counter stores, moves; /* the counters of stores, and of loads to LDS */
    bool counts_tensors;            /* tensor copies have a counter */
    uint64_t scratch_low, scratch_high;
    struct wmi_race_shadow shadow;
    /* By instruction and offset in the first block; the last one is for accesses without a pattern. NULL:
     * none yet. */
    struct wmi_race_pattern *pattern[WMI_RACE_PATTERNS + 1];
    struct wmi_race_order order;
    struct wmi_race_clusters clusters;
    struct wmi_race_insn *insn; /* indexed by slot; slot 0 is unused */
    uint32_t insns;
    uint64_t distance;                  /* DS distance of the instruction that is being lowered */
    uint8_t counted[WMI_RACE_COUNTERS]; /* by how much this instruction increments the counters */
    bool loads_to_lds;                  /* the kernel has loads to LDS */
    bool waits_for_part; /* an instruction of the kernel waits for a part of the operations in flight */
    struct wmi_race_loop loops;     /* the kernel has a loop that waits for stores to LDS, or to memory */
    struct wmi_race_loop waits_for; /* the kernel has a loop that waits for stores to LDS, or to memory, or a
                                       branch on the result of an atomic there */
    size_t capacity;
    struct wmi_race_wait *wait;
    uint32_t waits;
    size_t wait_capacity;
    struct wmi_race_group *group, *unused; /* state of the current workgroup; free states */
    struct wmi_race_group **all;
    size_t groups;
    struct wmi_found_set findings;
    const char *missed;
    /* The access that is being recorded. */
    const struct wmi_access *access;
    struct wmi_race_access now;
    unsigned slot, element, lane;
    uint64_t dword_address;
    bool values_differ;
    struct wmi_race_conflict conflict[WMI_RACE_CONFLICTS];
    unsigned conflict_count;
    uint64_t learns[WMI_RACE_CONFLICTS]; /* records of other waves that it has read */
    unsigned learn_count;
};

/* Finds the records of the dword at the address. False: it has none. */
static inline bool wmi_race_cells_at(struct wmi_races *races, enum wmi_address_space space, uint64_t address,
                                     struct wmi_race_cells *cells, size_t *dword)
{
    if (space == WMI_SPACE_LDS) {
        if (races->group->lds.states)
            wmi_race_local_leave(&races->shadow, &races->group->lds);
        *cells = wmi_race_local_cells(&races->group->lds);
        *dword = address / 4;
        return address < races->group->lds.bytes;
    }
    struct wmi_race_page *page = wmi_race_page(&races->shadow, address);
    *dword = address / 4 % WMI_RACE_BLOCK_DWORDS;
    return page && wmi_race_find_cells(&races->shadow, page, wmi_race_block_of(address), cells);
}

/* Records an access to the dword at an address, a multiple of 4, unless it may conflict. */
static inline bool wmi_race_touch_dword(struct wmi_races *races, enum wmi_address_space space,
                                        uint64_t address)
{
    struct wmi_race_cells cells;
    size_t dword;
    if (space != WMI_SPACE_LDS) {
        struct wmi_race_page *page = wmi_race_page(&races->shadow, address);
        const unsigned block = wmi_race_block_of(address);
        if (page && wmi_race_list_block(&races->shadow, page, block) && !(page->divided >> block & 1) &&
            wmi_race_touch_block(&races->shadow, page, block, 1u << address / 4 % WMI_RACE_BLOCK_DWORDS,
                                 &races->now))
            return true;
    }
    return wmi_race_cells_at(races, space, address, &cells, &dword) &&
           wmi_race_touch_quickly(&cells, dword, &races->now);
}

/* Keeps a plain store of the wave as a read when an atomic of LDS of the same wave is about to replace its
 * record, so that atomics of other waves still conflict with it. */
static inline void wmi_race_keep_store(const struct wmi_races *races, const struct wmi_race_cells *cells,
                                       size_t dword)
{
    const uint64_t record = cells->write[dword];
    const struct wmi_race_access *access = &races->now;
    if (record < access->gone || record >= WMI_RACE_SPLIT || (record ^ access->record) & WMI_RACE_SAME_WAVE ||
        races->insn[wmi_race_slot(record)].kind != WMI_ACCESS_STORE)
        return;
    *(wmi_race_is_settled(cells->read[dword], access) ? &cells->read[dword] : &cells->other[dword]) = record;
}

static inline bool wmi_race_is_scratch(const struct wmi_races *races, uint64_t address)
{
    return address - races->scratch_low < races->scratch_high - races->scratch_low;
}

extern const char wmi_race_no_memory[];

/* Records the access, and reports what it conflicts with. */
void wmi_race_record(struct wmi_races *races, const struct wmi_access *access, uint32_t slot);

/* Records a load of a lane from memory to which nothing has been stored. */
void wmi_race_record_load(struct wmi_races *races, uint64_t address, uint64_t bytes);

/* Makes room in the log for another load by the instruction that is being recorded. A log that is full is
 * recorded. False: there is no memory, or such loads have to be recorded anyway, since what they load from is
 * also stored to. */
static inline bool wmi_race_log_room(struct wmi_races *races)
{
    if (races->insn[wmi_race_slot(races->now.record)].recorded == WMI_RACE_MOST_RECORDED)
        return false;
    if (wmi_race_log_has_room(&races->log) || wmi_race_log_grow(&races->log))
        return true;
    races->replay(races, true);
    return wmi_race_log_has_room(&races->log);
}

/* Logs that the bytes [start, end) of global memory are loaded. False: that must be recorded. */
static inline bool wmi_race_log_run(struct wmi_races *races, uint64_t start, uint64_t end)
{
    if (!wmi_race_log_room(races) || !wmi_race_may_log(&races->log, start, end))
        return false;
    wmi_race_log_add_run(&races->log, &races->now, start, end);
    return true;
}

/* Counts an operation of global memory, if it is one of the store counter. */
static inline void wmi_race_count(const struct wmi_races *races, const struct wmi_race_insn *insn,
                                  struct wmi_race_wave *wave)
{
    if (races->stores == WMI_COUNTER_STORE && (insn->kind == WMI_ACCESS_LOAD || insn->returns))
        return;
    wave->operations++;
    wave->stores += wave->stores != 0;
    wave->writing += wave->writing != 0;
}

/* Called when a wave has loaded from global memory, and that is counted. */
static inline void wmi_race_load(const struct wmi_races *races, unsigned wave)
{
    struct wmi_race_wave *w = &races->group->wave[wave];
    w->last_load = races->group->flights[wave].issued[WMI_RACE_COUNTS_MOVES];
    w->loading = !races->counts_tensors; /* of gfx12.5, loads have a counter of their own */
}

/* Counts an access to private memory, of which other waves learn nothing. */
static inline void wmi_race_count_private(const struct wmi_races *races, const struct wmi_race_insn *insn,
                                          unsigned wave)
{
    wmi_race_flights_count(&races->group->flights[wave], insn->counted);
    wmi_race_count(races, insn, &races->group->wave[wave]);
}

/* Called when a wave stores, perhaps while earlier stores to the same memory are still in flight. Within a
 * workgroup, such a store suffices for a flag: LDS executes the operations of a wave in order, as does a
 * vector cache that waves share. So the store begins an epoch, which is needed only where some loop or branch
 * depends on flags, or where a wait completes a part of the stores in flight. */
static inline void wmi_race_store_in_order(struct wmi_races *races, unsigned wave, bool lds)
{
    const struct wmi_race_wave *w = &races->group->wave[wave];
    const bool ends = races->waits_for.memory && (w->dirty || !w->loading);
    if (lds ? races->waits_for.lds : ends || (races->order.counts_stores && w->stores))
        wmi_race_begin_epoch(&races->order, races->group, wave);
}

/* Whether operations of LDS must be tracked while they are in flight, because other waves or loads to LDS may
 * conflict with them. */
static inline bool wmi_race_follows_flights(const struct wmi_races *races)
{
    return races->group->waves > 1 || races->loads_to_lds;
}

/* Counts the access of a wave, and adds it to its operations in flight if it is one of LDS. */
void wmi_race_add_flights(struct wmi_races *races, const struct wmi_access *access,
                          const struct wmi_race_insn *insn, uint32_t slot);

/* Handles an atomic of LDS that overlaps an unordered write of another wave. False: that write was no
 * atomic. */
bool wmi_race_follow_atomic(struct wmi_races *races, unsigned wave, uint32_t slot, uint64_t record);

/* Records an access from its summary, as a function of struct wmi_observer does. False: the whole access is
 * needed. */
typedef bool wmi_race_summary(void *local, const struct wmi_address_summary *summary, uint32_t slot);
wmi_race_summary *wmi_race_summary_build(enum wmi_cpu_level level, unsigned lanes);
wmi_race_run *wmi_race_runner(enum wmi_cpu_level level, unsigned lanes);
wmi_race_replay *wmi_race_replayer(enum wmi_cpu_level level, unsigned lanes);

#endif
