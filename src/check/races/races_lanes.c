/* SPDX-License-Identifier: MIT */
/* Fast paths that record accesses for race detection from their summaries, unless they may conflict. */
#include "check/races/race_blocks.h"

/* ---- global memory ---- */

/* Whether all active lanes have the same upper halves of their addresses. */
static bool have_same_high(const struct wmi_address_summary *summary)
{
    const u32v first = wmi_splat_u32(summary->high[__builtin_ctzll(summary->lanes)]);
    uint64_t same = 0;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES)
        same |= (uint64_t)wmi_equal_bits(wmi_load_u32((const char *)&summary->high[lane]), first) << lane;
    return !(summary->lanes & ~same);
}

/* Records consecutive bytes that are accessed. */
static bool touch_bytes(struct wmi_races *races, enum wmi_address_space space, uint64_t start, uint64_t end)
{
    return (start | end) % 4 == 0 ? touch_run(races, space, start, (end - start) / 4)
                                  : touch_byte_run(races, space, start, end);
}

/* ---- what has been logged ---- */

/* The flags that all regions that lanes access have, and those that any of them has. */
struct regions {
    uint32_t all, any;
};

/* The flags of the regions of some lanes, relative to the region of an address. */
static inline u32v flags_of(const struct wmi_race_log *log, uint64_t address, u32v at)
{
    const u32v number = wmi_splat_u32((uint32_t)(address >> WMI_RACE_REGION_BITS));
    return wmi_gather_u32(log->region, ((at >> WMI_RACE_REGION_BITS) + number) & (WMI_RACE_REGIONS - 1));
}

/* False: some lane may access two regions, or is far from the origin. */
static bool find_regions(struct wmi_race_log *log, const struct places *places, uint64_t origin,
                         struct regions *regions)
{
    const uint32_t in_region = origin & ((1u << WMI_RACE_REGION_BITS) - 1),
                   first = places->at[__builtin_ctzll(places->lanes)];
    const u32v behind = wmi_splat_u32(in_region), reach = wmi_splat_u32(places->bytes - 1),
               lowest = wmi_splat_u32(first), most = wmi_splat_u32(UINT32_MAX - in_region - places->bytes);
    alignas(64) uint32_t start[WMI_LANES];
    u32v halved = wmi_splat_u32(0), apart = halved, all = ~halved, any = halved;
    uint32_t far = 0;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        const u32v at = wmi_choose_bits((uint32_t)(places->lanes >> lane), *(const u32v *)&places->at[lane],
                                        lowest),
                   now = at + behind;
        *(u32v *)&start[lane] = now;
        halved |= now ^ (now + reach);
        apart |= now ^ (lowest + behind);
        far |= wmi_less_bits(most, at);
    }
    if (far || wmi_less_bits(wmi_splat_u32(0), halved >> WMI_RACE_REGION_BITS))
        return false;
    if (!wmi_less_bits(wmi_splat_u32(0), apart >> WMI_RACE_REGION_BITS)) { /* one region */
        regions->all = regions->any = *wmi_race_region(log, origin + first);
        return true;
    }
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        const u32v flags = flags_of(log, origin, *(const u32v *)&start[lane]);
        all &= flags;
        any |= flags;
    }
    *regions = (struct regions){UINT32_MAX, 0};
    for (unsigned i = 0; i < WMI_VECTOR_LANES; i++) {
        regions->all &= all[i];
        regions->any |= any[i];
    }
    return true;
}

/* Whether what the lanes load may be logged; if so, the regions are marked. */
static bool may_log_lanes(struct wmi_race_log *log, const struct places *places, uint64_t origin)
{
    struct regions regions;
    const bool found = find_regions(log, places, origin, &regions);
    if (found && (regions.any & WMI_RACE_DIRECT || regions.all & WMI_RACE_LOGGED))
        return !(regions.any & WMI_RACE_DIRECT);
    for (uint64_t left = places->lanes; left; left &= left - 1) {
        const uint64_t start = origin + places->at[__builtin_ctzll(left)];
        if (!wmi_race_may_log(log, start, start + places->bytes))
            return false;
    }
    return true;
}

/* Whether some addresses have the same distances from one another as those of an entry with as many. */
static bool are_like(const struct wmi_race_logged *logged, const uint32_t *at, unsigned count)
{
    const u32v behind = wmi_splat_u32(at[0] - logged->at[0]);
    uint64_t same = 0, high = 0;
    for (unsigned i = 0; i < count; i += WMI_VECTOR_LANES) {
        const u32v now = wmi_load_u32((const char *)&at[i]),
                   before = wmi_load_u32((const char *)&logged->at[i]);
        same |= (uint64_t)wmi_equal_bits(now, before + behind) << i;
        high |= (uint64_t)wmi_bits_at(now | before, 31) << i; /* whose differences may overflow */
    }
    return !((~same | high) & UINT64_MAX >> (64 - count));
}

/* Logs what lanes load. False: it must be recorded. */
static bool log_lanes(struct wmi_races *races, const struct places *places, uint64_t origin)
{
    const uint64_t lanes = places->lanes,
                   key = (wmi_race_slot(races->now.record) ^ lanes) * UINT64_C(0x9e3779b97f4a7c15);
    const unsigned count = (unsigned)__builtin_popcountll(lanes);
    struct wmi_race_log *log = &races->log;
    const struct wmi_race_logged **recent = &log->recent[key >> 32 & (WMI_RACE_LOG_RECENT - 1)];
    alignas(64) uint32_t compressed[WMI_LANES];
    const uint32_t *at = places->at;
    if (!wmi_race_log_room(races) || !may_log_lanes(log, places, origin))
        return false;
    if (lanes != WMI_ALL_LANES) {
        wmi_compress_row(compressed, places->at, lanes);
        at = compressed;
    }
    if (*recent && (*recent)->lanes == lanes && are_like(*recent, at, count)) {
        wmi_race_log_add_lanes(log, &races->now, origin + at[0] - (*recent)->at[0], lanes, places->bytes,
                               *recent);
        return true;
    }
    struct wmi_race_logged *logged =
        wmi_race_log_add_lanes(log, &races->now, origin, lanes, places->bytes, NULL);
    memcpy(logged->at, at, count * sizeof *at);
    *recent = logged;
    return true;
}

/* wmi_race_meets_log() for what lanes access. */
static bool lanes_meet_log(struct wmi_race_log *log, const struct places *places, uint64_t origin)
{
    struct regions regions;
    bool meets = false;
    if (find_regions(log, places, origin, &regions) && regions.all == WMI_RACE_DIRECT)
        return false;
    for (uint64_t left = places->lanes; left; left &= left - 1) {
        const uint64_t start = origin + places->at[__builtin_ctzll(left)];
        meets |= wmi_race_meets_log(log, start, start + places->bytes);
    }
    return meets;
}

static bool replay_lanes(struct wmi_races *races, const struct wmi_race_logged *logged)
{
    alignas(64) uint32_t at[WMI_LANES] = {0};
    const uint64_t base = logged->base & (UINT64_MAX << WMI_RACE_BLOCK_BITS);
    const uint32_t behind = (uint32_t)(logged->base - base);
    const uint32_t *from = logged->like->at;
    struct places places;
    for (uint64_t left = logged->lanes; left; left &= left - 1)
        at[__builtin_ctzll(left)] = *from++ + behind;
    const struct wmi_address_summary summary = {
        .low = at, .base = base, .lanes = logged->lanes, .to = UINT64_MAX};
    return find_places(&summary, base, logged->bytes, WMI_RACE_BLOCK_BITS, false, &places) &&
           touch_halves(races, &places, base, touch_global);
}

static void replay_one(struct wmi_races *races, const struct wmi_race_logged *logged)
{
    const uint64_t base = logged->base;
    races->now =
        (struct wmi_race_access){.record = logged->record, .from = logged->from, .before = logged->before};
    if (!logged->lanes && !touch_bytes(races, WMI_SPACE_GLOBAL, base, base + logged->bytes))
        wmi_race_record_load(races, base, logged->bytes);
    if (!logged->lanes || replay_lanes(races, logged))
        return;
    for (unsigned i = 0; i < (unsigned)__builtin_popcountll(logged->lanes); i++)
        wmi_race_record_load(races, base + logged->like->at[i], logged->bytes);
}

/* Records in the shadow what has been logged. */
static void replay(struct wmi_races *races, bool full)
{
    struct wmi_race_log *log = &races->log;
    const struct wmi_race_access now = races->now;
    for (size_t i = 0; i < log->chunks && i <= log->last; i++)
        for (size_t at = 0; at < log->chunk[i].used;) {
            const struct wmi_race_logged *logged = (const void *)(log->chunk[i].memory + at);
            struct wmi_race_insn *insn = &races->insn[wmi_race_slot(logged->record)];
            at += logged->size;
            insn->recorded += !full && insn->recorded < WMI_RACE_MOST_RECORDED;
            replay_one(races, logged);
        }
    races->now = now;
    wmi_race_log_end(log);
}

static bool scatter_global(struct wmi_races *races, const struct wmi_address_summary *summary, uint64_t base,
                           uint32_t bytes)
{
    const unsigned first = (unsigned)__builtin_ctzll(summary->lanes);
    struct places places;
    if (summary->high && !have_same_high(summary))
        return false;
    base += summary->high ? (uint64_t)summary->high[first] << 32 : 0;
    const uint64_t origin = base & (UINT64_MAX << WMI_RACE_BLOCK_BITS);
    if (!find_places(summary, base, bytes, WMI_RACE_BLOCK_BITS, races->now.writes, &places))
        return false;
    if (!races->now.writes && log_lanes(races, &places, origin))
        return true;
    if (lanes_meet_log(&races->log, &places, origin))
        replay(races, false);
    return touch_halves(races, &places, origin, touch_global);
}

/* ---- LDS ---- */

/* Records the lanes' bytes in LDS; bytes of neighbouring lanes in one dword are joined. */
static bool touch_local_bytes(struct wmi_races *races, const struct places *places, uint64_t lanes)
{
    const struct wmi_race_cells cells = wmi_race_local_cells(&races->group->lds);
    const uint32_t all = UINT32_MAX >> (32 - places->bytes);
    uint32_t dword = 0, bytes = 0; /* bytes from this dword on that have not been recorded yet */
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t at = places->at[__builtin_ctzll(lanes)];
        uint64_t some = (uint64_t)all << at % 4;
        if (at / 4 == dword)
            some |= bytes;
        else if (bytes && !touch_part(races, &cells, dword, bytes))
            return false;
        for (dword = at / 4; some >> 4; some >>= 4, dword++)
            if (some & 15 && !touch_part(races, &cells, dword, some & 15))
                return false;
        bytes = (uint32_t)some;
    }
    return !bytes || touch_part(races, &cells, dword, bytes);
}

/* Records accesses to LDS whose blocks have states; then they may have none any more. */
static bool touch_local_states(struct wmi_races *races, const struct places *places, uint64_t lanes)
{
    const struct wmi_race_local *local = &races->group->lds;
    alignas(64) uint32_t number[WMI_RACE_LANE_BLOCKS + RECORDS];
    struct group last = {0};
    int64_t distance;
    const struct wmi_race_pattern *blocks = find_pattern(races, places, lanes, &distance);
    if (!blocks)
        return false;
    for (unsigned i = 0; i < blocks->count; i++)
        number[i] = 4 * (blocks->number[i] + (uint32_t)(distance >> WMI_RACE_BLOCK_BITS));
    for (unsigned i = 0; i < blocks->count && local->states; i += RECORDS) {
        const unsigned left = blocks->count - i;
        if (!touch_vector(races, local->area, blocks, i, number + i,
                          UINT32_MAX >> (32 - (left < RECORDS ? left : RECORDS)), &last))
            return false;
    }
    return true;
}

static bool touch_local(struct wmi_races *races, const struct places *places, uint64_t origin, uint64_t lanes)
{
    enum { SHORT = 4 }; /* maximum lanes of a short run */
    const struct wmi_race_access *access = &races->now;
    const struct wmi_race_cells cells = wmi_race_local_cells(&races->group->lds);
    const unsigned dwords = places->bytes / 4;
    uint64_t starts = starts_of(places, lanes, access->writes);
    (void)origin;
    if (races->group->lds.states && !touch_local_states(races, places, lanes))
        return false;
    if (races->group->lds.states)
        return true;
    if (!places->dwords)
        return touch_local_bytes(races, places, lanes);
    if (SHORT * __builtin_popcountll(starts) > __builtin_popcountll(lanes)) {
        for (size_t i = 0; i < dwords; i++) {
            const struct wmi_race_cells from = {cells.write + i, cells.read + i, cells.other + i};
            if (!(access->writes ? scatter_write : scatter_read)(&from, places->at, lanes, access))
                return false;
        }
        return true;
    }
    for (uint32_t before = UINT32_MAX; starts;) {
        const uint32_t first = places->at[__builtin_ctzll(starts)];
        starts &= starts - 1;
        const uint64_t below = starts ? (starts & -starts) - 1 : UINT64_MAX;
        const uint32_t last = places->at[63 - __builtin_clzll(lanes & below)];
        const size_t count = (last - first + places->bytes) / 4;
        if (first != before && !touch_local_dwords(races, &cells, first / 4, count))
            return false;
        before = first;
    }
    return true;
}

static bool scatter_local(struct wmi_races *races, const struct wmi_address_summary *summary, uint64_t base,
                          uint32_t bytes)
{
    struct places places;
    return find_places(summary, base, bytes, 32, races->now.writes, &places) &&
           touch_halves(races, &places, 0, touch_local);
}

/* Whether atomics of the wave may follow the write records for which `bad` has a bit. */
static inline bool follow_atomics(struct wmi_races *races, unsigned wave, uint32_t slot, u64v written,
                                  uint32_t bad, uint64_t conflicting[8])
{
    for (uint32_t same; bad; bad &= ~same) {
        const uint64_t record = written[__builtin_ctz(bad)];
        same = wmi_equal_bits_u64(written, wmi_splat_u64(record));
        uint64_t *before = &conflicting[wmi_race_who(record) % 8];
        if (*before != record && !wmi_race_follow_atomic(races, wave, slot, record))
            return false;
        *before = record;
    }
    return true;
}

/* A mask of the records of the same wave by another instruction. */
static inline uint32_t own_others(u64v written, const struct wmi_race_access *access)
{
    const u64v slot = wmi_splat_u64((uint64_t)(WMI_RACE_SLOTS - 1) << WMI_RACE_SLOT_AT),
               wave = wmi_splat_u64(WMI_RACE_SAME_WAVE), zero = wmi_splat_u64(0),
               different = written ^ wmi_splat_u64(access->record);
    const uint32_t own = wmi_equal_bits_u64(different & wave, zero);
    return own ? own & ~wmi_equal_bits_u64(different & slot, zero) : 0;
}

/* Records an atomic, also where it overlaps atomics of other waves. */
static bool record_atomic(struct wmi_races *races, const struct wmi_address_summary *summary, uint32_t slot)
{
    const struct wmi_race_cells cells = wmi_race_local_cells(&races->group->lds);
    const struct wmi_race_access *access = &races->now;
    const u64v record = wmi_splat_u64(access->record | 15);
    const uint32_t bytes = summary->shape & UINT8_MAX;
    uint64_t conflicting[8] = {0};
    struct places places;
    if (races->order.halves || !find_places(summary, summary->base, bytes, 32, false, &places) ||
        !places.dwords)
        return false;
    if (races->group->lds.states)
        wmi_race_local_leave(&races->shadow, &races->group->lds);
    for (unsigned lane = 0; lane < WMI_LANES; lane += RECORDS) { /* before the wave learns of others */
        const uint32_t some = places.lanes >> lane & ((1u << RECORDS) - 1), *at = places.at + lane;
        for (size_t i = 0; i < bytes / 4; i++)
            if (unsettled(wmi_gather_u64(cells.read + i, at, some), access) |
                unsettled(wmi_gather_u64(cells.other + i, at, some), access))
                return false;
    }
    for (unsigned lane = 0; lane < WMI_LANES; lane += RECORDS) {
        const uint32_t some = places.lanes >> lane & ((1u << RECORDS) - 1), *at = places.at + lane;
        for (size_t i = 0; i < bytes / 4; i++) {
            const u64v written = wmi_gather_u64(cells.write + i, at, some);
            if (!follow_atomics(races, summary->wave, slot, written, unsettled(written, access), conflicting))
                return false;
            for (uint32_t own = some & own_others(written, access); own; own &= own - 1)
                wmi_race_keep_store(races, &cells, at[__builtin_ctz(own)] / 4 + i);
            wmi_scatter_u64(cells.write + i, at, some, record);
        }
    }
    return true;
}

/* ---- accesses ---- */

/* Records the lanes' accesses at their addresses plus `base`. */
static bool record_place(struct wmi_races *races, const struct wmi_address_summary *summary, uint64_t base,
                         uint32_t bytes)
{
    const enum wmi_address_space space = (enum wmi_address_space)(summary->shape >> 16);
    uint64_t start, end;
    const bool run = is_run(summary, base, bytes, races->now.writes, &start, &end);
    if (run && !races->order.halves && start >= summary->from && end <= summary->to) {
        if (space == WMI_SPACE_GLOBAL && !races->now.writes && wmi_race_log_run(races, start, end))
            return true;
        if (space == WMI_SPACE_GLOBAL && wmi_race_meets_log(&races->log, start, end))
            replay(races, false);
        return touch_bytes(races, space, start, end);
    }
    return space == WMI_SPACE_LDS ? scatter_local(races, summary, base, bytes)
                                  : scatter_global(races, summary, base, bytes);
}

/* ---- operations of LDS in flight ---- */

/* Whether an access may conflict with a load to LDS that its wave has not waited for. */
static bool may_conflict_with_loads_to_lds(const struct wmi_race_flights *own,
                                           const struct wmi_address_summary *summary, uint32_t bytes,
                                           unsigned places, uint64_t distance)
{
    uint64_t low = UINT64_MAX, high = 0;
    if (!own->loads_to_lds.count)
        return false;
    for (uint64_t left = summary->lanes; left; left &= left - 1) {
        const uint64_t at = summary->base + summary->low[__builtin_ctzll(left)];
        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    for (uint32_t i = 0; i < own->loads_to_lds.count; i++)
        for (unsigned place = 0; place < places; place++)
            if (own->loads_to_lds.entry[i].low < high + place * distance + bytes &&
                low + place * distance < own->loads_to_lds.entry[i].high)
                return true;
    return false;
}

/* Whether an access may conflict with an LDS operation in flight, of another wave or its own. */
static bool may_conflict_with_flights(const struct wmi_races *races,
                                      const struct wmi_address_summary *summary,
                                      const struct wmi_race_insn *insn, uint32_t bytes, unsigned places)
{
    const struct wmi_race_group *group = races->group;
    const struct wmi_race_pending *pending = &group->pending;
    const bool writes = insn->kind != WMI_ACCESS_LOAD;
    if (may_conflict_with_loads_to_lds(&group->flights[summary->wave], summary, bytes, places,
                                       insn->distance))
        return true;
    for (uint64_t left = pending->list.count ? summary->lanes : 0; left; left &= left - 1)
        for (unsigned i = 0; i < places; i++)
            if (wmi_race_pending_at(pending,
                                    summary->base + summary->low[__builtin_ctzll(left)] + i * insn->distance,
                                    bytes, writes))
                return true;
    return false;
}

/* Counts an access to LDS, and adds it to the operations in flight. */
static void add_flight(struct wmi_races *races, const struct wmi_address_summary *summary, uint32_t slot,
                       uint32_t bytes, unsigned places)
{
    const struct wmi_race_insn *insn = &races->insn[slot];
    struct wmi_race_flights *flights = &races->group->flights[summary->wave];
    struct wmi_race_flight *flight;
    flights->issued[WMI_RACE_COUNTS_LDS] += insn->counted[WMI_RACE_COUNTS_LDS];
    if ((insn->path != WMI_PATH_DS && insn->path != WMI_PATH_FLAT) || !wmi_race_follows_flights(races))
        return;
    if (!(flight = wmi_race_flight_add(flights, WMI_RACE_COUNTS_LDS, races->order.lds_most))) {
        races->missed = wmi_race_no_memory;
        return;
    }
    flight->lanes = summary->lanes;
    flight->slot = slot;
    flight->base = (uint32_t)summary->base;
    flight->distance = (uint32_t)insn->distance;
    flight->bytes = (uint8_t)bytes;
    flight->places = (uint8_t)places;
    flight->kind = insn->kind;
    flight->wave = (uint8_t)summary->wave;
    memcpy(flight->at, summary->low, WMI_LANES * sizeof *flight->at);
    if (races->loads_to_lds)
        wmi_race_flight_bound(flight);
}

bool WMI_BUILD_NAME(wmi_race_run)(struct wmi_races *races, enum wmi_address_space space, uint64_t address,
                                  size_t count);
bool WMI_BUILD_NAME(wmi_race_run)(struct wmi_races *races, enum wmi_address_space space, uint64_t address,
                                  size_t count)
{
    return touch_run(races, space, address, count);
}

void WMI_BUILD_NAME(wmi_race_replay)(struct wmi_races *races, bool full);
void WMI_BUILD_NAME(wmi_race_replay)(struct wmi_races *races, bool full)
{
    replay(races, full);
}

bool WMI_BUILD_NAME(wmi_race_summary)(void *local, const struct wmi_address_summary *summary, uint32_t slot);
bool WMI_BUILD_NAME(wmi_race_summary)(void *local, const struct wmi_address_summary *summary, uint32_t slot)
{
    struct wmi_races *races = local;
    struct wmi_race_group *group = races->group;
    struct wmi_race_insn *insn = &races->insn[slot];
    unsigned bytes = summary->shape & UINT8_MAX, places = summary->shape >> 8 & UINT8_MAX;
    const bool writes = insn->kind != WMI_ACCESS_LOAD, lds = summary->shape >> 16 == WMI_SPACE_LDS;
    const bool atomic = insn->kind == WMI_ACCESS_ATOMIC;
    if (!slot || !insn->known || (atomic && !lds) || !group || !group->tag)
        return false;
    if (!lds && summary->lanes &&
        wmi_race_is_scratch(races, wmi_summary_address(summary, (unsigned)__builtin_ctzll(summary->lanes)))) {
        wmi_race_count_private(races, insn, summary->wave);
        return true;
    }
    struct wmi_race_wave *wave = &group->wave[summary->wave];
    if (wmi_race_awaits(insn) && wave->updates) /* it may read the result of its own atomic */
        return false;
    if (lds && (group->pending.list.count || group->flights[summary->wave].loads_to_lds.count) &&
        may_conflict_with_flights(races, summary, insn, bytes, places))
        return false;
    if (writes && wave->releases)
        insn->released |= wmi_race_release(&races->order, group, summary->wave);
    else if (writes)
        wmi_race_store_in_order(races, summary->wave, lds);
    wmi_race_describe(&races->order, group, summary->wave, slot, writes, lds, &races->now);
    if (places == 2 && insn->distance == bytes) { /* the second place is adjacent to the first */
        bytes *= 2;
        places = 1;
    }
    if (atomic && !record_atomic(races, summary, slot))
        return false;
    for (unsigned i = 0; i < places && !atomic; i++)
        if (!record_place(races, summary, summary->base + i * insn->distance, bytes))
            return false;
    wave->updates |= atomic;
    if (lds) {
        wave->lds_stored |= writes;
        add_flight(races, summary, slot, bytes, places);
        return true;
    }
    wmi_race_flights_count(&group->flights[summary->wave], insn->counted);
    wmi_race_count(races, insn, wave);
    if (writes)
        wmi_race_store(&races->order, group, summary->wave);
    else
        wmi_race_load(races, summary->wave);
    return true;
}
