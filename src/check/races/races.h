/* SPDX-License-Identifier: MIT */
/* The state of the checker of races. */
#ifndef WMI_RACES_H
#define WMI_RACES_H

#include "check/races/race_order.h"
#include "check/races/race_rules.h"
#include "sem/sem.h"

enum { WMI_RACE_MET = 16 };

/* What an access conflicts with. */
struct wmi_race_met {
    const struct wmi_check_rule *rule;
    uint64_t record, address, bytes, lanes;
    uint64_t barrier; /* at which it was in flight; 0: none */
};

struct wmi_race_wait { /* what an instruction waits for: the most operations that it leaves, of stores, of
                          LDS and of loads */
    uint8_t stores, lds, loads;
};

struct wmi_races;
/* Records an access to consecutive dwords. False: it meets something that must be examined. */
typedef bool wmi_race_run(struct wmi_races *races, enum wmi_address_space space, uint64_t address,
                          size_t count);

struct wmi_races {
    struct wmi_observer observer;
    wmi_race_run *run;
    unsigned what; /* enum wm_check_what: the classes to report */
    struct wmi_check_dispatch dispatch;
    struct wmi_code *code; /* for decoding only */
    struct wmi_race_rules rules;
    enum wmi_counter stores; /* the counter of stores */
    uint64_t scratch_low, scratch_high;
    struct wmi_race_shadow shadow;
    struct wmi_race_order order;
    struct wmi_race_insn *insn; /* slot 0 is of no instruction */
    uint32_t insns;
    uint64_t distance;              /* of the instruction that is being lowered, */
    uint8_t counted[2];             /* and by how much it raises the counters of LDS and of loads */
    bool loads_to_lds;              /* some instruction loads to LDS */
    struct wmi_race_loop waits_for; /* some loop waits for stores to LDS, or to memory */
    size_t capacity;
    struct wmi_race_wait *wait;
    uint32_t waits;
    size_t wait_capacity;
    struct wmi_race_group *group, *unused; /* the current one; those without a workgroup */
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
    struct wmi_race_met met[WMI_RACE_MET];
    unsigned mets;
};

/* The records of the dword at the address; false: it has none. */
static inline bool wmi_race_cells_at(struct wmi_races *races, enum wmi_address_space space, uint64_t address,
                                     struct wmi_race_cells *cells, size_t *dword)
{
    if (space == WMI_SPACE_LDS) {
        *cells = wmi_race_local_cells(&races->group->lds);
        *dword = address / 4;
        return address < races->group->lds.bytes;
    }
    struct wmi_race_page *page = wmi_race_page(&races->shadow, address);
    *dword = address / 4 % WMI_RACE_BLOCK_DWORDS;
    return page && wmi_race_find_cells(&races->shadow, page, wmi_race_block_of(address), cells);
}

/* Records an access to the dword at an address, which is a multiple of 4, if it meets nothing that must be
 * examined. */
static inline bool wmi_race_touch_dword(struct wmi_races *races, enum wmi_address_space space,
                                        uint64_t address)
{
    struct wmi_race_cells cells;
    size_t dword;
    if (space != WMI_SPACE_LDS) {
        struct wmi_race_page *page = wmi_race_page(&races->shadow, address);
        const unsigned block = wmi_race_block_of(address);
        if (page && !(page->divided >> block & 1) &&
            wmi_race_touch_block(&races->shadow, page, block, 1u << address / 4 % WMI_RACE_BLOCK_DWORDS,
                                 &races->now))
            return true;
    }
    return wmi_race_cells_at(races, space, address, &cells, &dword) &&
           wmi_race_touch_quickly(&cells, dword, &races->now);
}

/* An atomic of LDS is about to hide a plain store of its own wave, which atomics of others must still meet:
 * it goes on as a read. */
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

/* A wave stores behind stores to the same memory that it has not waited for. Within a workgroup, that
 * suffices for a flag: LDS executes the operations of a wave in order, and so does a vector cache that waves
 * share. So the store begins an epoch, which is needed only where some loop waits for flags. */
static inline void wmi_race_store_in_order(struct wmi_races *races, unsigned wave, bool lds)
{
    const struct wmi_race_wave *w = &races->group->wave[wave];
    if (lds ? races->waits_for.lds && w->lds_stored
            : races->waits_for.memory && w->dirty && !races->order.within)
        wmi_race_begin_epoch(&races->order, races->group, wave);
}

/* Whether operations of LDS must be known as long as they are in flight: other waves or loads to LDS may
 * meet them. */
static inline bool wmi_race_follows_flights(const struct wmi_races *races)
{
    return races->group->waves > 1 || races->loads_to_lds;
}

/* Counts the access of a wave, and adds it to its operations in flight if it is one of LDS. */
void wmi_race_add_flights(struct wmi_races *races, const struct wmi_access *access,
                          const struct wmi_race_insn *insn, uint32_t slot);

/* An atomic of LDS meets what another wave has written there, which nothing orders before it. False: that was
 * no atomic. */
bool wmi_race_meet_atomic(struct wmi_races *races, unsigned wave, uint32_t slot, uint64_t record);

/* Record an access by its summary, as functions of struct wmi_observer do. False: the access itself is
 * needed. */
typedef bool wmi_race_summary(void *local, const struct wmi_address_summary *summary, uint32_t slot);
wmi_race_summary *wmi_race_summary_build(enum wmi_cpu_level level, unsigned lanes);
wmi_race_run *wmi_race_runner(enum wmi_cpu_level level, unsigned lanes);

#endif
