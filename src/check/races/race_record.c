/* SPDX-License-Identifier: MIT */
/* Records one access for race detection, lane by lane, and reports what it conflicts with. */
#include "check/races/races.h"

#include <string.h>

const char wmi_race_no_memory[] = "no memory for all that was to be checked for races";

/* ---- findings ---- */

/* Whether the load is taken as atomic only because a compare-and-swap follows. */
static bool guesses(const struct wmi_race_insn *insn)
{
    return insn->kind == WMI_ACCESS_LOAD && insn->load.seeds && !wmi_race_awaits(insn);
}

/* Whether two stores may be of a flag that waves wait for, as of one that says whose turn it is: single
 * words, each by one lane, in a kernel with a loop that waits. */
static bool may_be_flags(const struct wmi_races *races, enum wmi_race_role a, enum wmi_race_role b)
{
    const uint64_t lanes = races->access->element[races->element].mask;
    return a == WMI_RACE_MAYBE && b == WMI_RACE_MAYBE && !(lanes & (lanes - 1)) &&
           (races->insn[races->slot].lds ? races->loops.lds : races->loops.memory);
}

/* Finds the rule that two accesses violate. */
static enum wmi_race_kind kind_of(struct wmi_races *races, const struct wmi_race_insn *first,
                                  const struct wmi_race_insn *now, bool same_group,
                                  enum wmi_race_relation relation)
{
    const enum wmi_race_role a = wmi_race_role(&races->rules, first, same_group),
                             b = wmi_race_role(&races->rules, now, same_group);
    if (a == WMI_RACE_NARROW || b == WMI_RACE_NARROW)
        return WMI_RACE_OF_SCOPE;
    const bool plain_store =
        (first->kind == WMI_ACCESS_STORE && a == WMI_RACE_PLAIN && b == WMI_RACE_ATOMIC && !guesses(now)) ||
        (now->kind == WMI_ACCESS_STORE && b == WMI_RACE_PLAIN && a == WMI_RACE_ATOMIC && !guesses(first));
    /* What was released with a flag is rarely updated by an atomic; more often it is the flag itself. */
    const bool plain_load =
        first->kind == WMI_ACCESS_LOAD && a == WMI_RACE_PLAIN && now->kind == WMI_ACCESS_ATOMIC;
    if (relation == WMI_RACE_UNRELEASED && !now->lds)
        return (plain_store && wmi_race_is_word(first)) || plain_load ? WMI_RACE_OF_MIXED
                                                                      : WMI_RACE_OF_RELEASE;
    if (relation == WMI_RACE_UNACQUIRED && !now->lds)
        return WMI_RACE_OF_ACQUIRE;
    if (relation == WMI_RACE_FLYING)
        return WMI_RACE_OF_STORE_BEFORE_BARRIER;
    if (relation == WMI_RACE_STALE)
        return WMI_RACE_OF_LOAD_BEHIND_BARRIER;
    if (first->kind == WMI_ACCESS_STORE && now->kind == WMI_ACCESS_STORE && !races->values_differ)
        return WMI_RACE_OF_EQUALS;
    if (first->kind == WMI_ACCESS_STORE && now->kind == WMI_ACCESS_STORE && may_be_flags(races, a, b))
        return WMI_RACE_OF_FLAGS;
    if (plain_store || first->kind == WMI_ACCESS_ATOMIC || now->kind == WMI_ACCESS_ATOMIC)
        return WMI_RACE_OF_MIXED;
    return now->lds ? WMI_RACE_OF_LDS : WMI_RACE_OF_GLOBAL;
}

/* Adds a conflict of the access, one for each earlier instruction. bytes: mask of the bytes from the dword
 * on. barrier: address of the barrier at which the earlier access was in flight, or 0. */
static void add_conflict(struct wmi_races *races, const struct wmi_check_rule *rule, uint64_t record,
                         unsigned bytes, uint64_t barrier)
{
    const uint64_t lane = UINT64_C(1) << races->lane;
    const unsigned from = (unsigned)__builtin_ctz(bytes), count = (unsigned)__builtin_popcount(bytes);
    if (!(rule->class & races->what))
        return;
    for (unsigned i = 0; i < races->conflict_count; i++) {
        struct wmi_race_conflict *conflict = &races->conflict[i];
        if (conflict->rule != rule || wmi_race_slot(conflict->record) != wmi_race_slot(record))
            continue;
        conflict->lanes |= lane;
        return;
    }
    if (races->conflict_count < WMI_RACE_CONFLICTS)
        races->conflict[races->conflict_count++] =
            (struct wmi_race_conflict){rule, record, races->dword_address + from, count, lane, barrier};
}

/* The registers that hold the data of a store's element; *reg: the first of them. */
static const struct wmi_register_range *data_of(const struct wmi_access *access, unsigned element,
                                                unsigned *reg)
{
    const bool second = element && access->path == WMI_PATH_DS && access->facts->data[1].count;
    *reg = second ? 0 : access->element[element].reg;
    return &access->facts->data[second];
}

/* Whether the lane's store changes the value in memory. */
static bool changes_memory(const struct wmi_races *races)
{
    const struct wmi_access *access = races->access;
    const struct wmi_element *element = &access->element[races->element];
    unsigned first;
    const struct wmi_register_range *data = data_of(access, races->element, &first);
    const uint64_t address = element->address[races->lane];
    const unsigned lanes = access->facts->lanes;
    const unsigned char *memory = element->space == WMI_SPACE_LDS ? access->lds + address
                                  : races->dispatch.space
                                      ? wmi_space_host(races->dispatch.space, address, access->bytes)
                                      : NULL;
    unsigned char value[64];
    if (access->kind != WMI_ACCESS_STORE || !memory || !access->frame || !data->count ||
        access->bytes > sizeof value || first * 4u + access->bytes > data->count * 4u)
        return true;
    for (unsigned i = 0; i < access->bytes; i += 4) {
        const uint32_t *row =
            (const uint32_t *)(const void *)(access->frame + data->offset) + (size_t)(first + i / 4) * lanes;
        const unsigned left = access->bytes - i;
        memcpy(value + i, &row[races->lane], left < 4 ? left : 4);
    }
    return memcmp(value, memory, access->bytes) != 0;
}

/* Whether the access of the record was made by the workgroup. */
static bool is_of_group(const struct wmi_races *races, uint64_t record)
{
    return wmi_race_past(&races->order, wmi_race_tag(record))->root ==
           wmi_race_past(&races->order, races->group->tag)->root;
}

static void learn_now(struct wmi_races *races, unsigned wave, const struct wmi_race_insn *insn,
                      uint64_t record, bool same_group)
{
    const bool reads = insn->kind == WMI_ACCESS_LOAD || insn->returns;
    const bool cached = !insn->lds && (!same_group || races->order.within);
    wmi_race_learn(&races->order, races->group, wave, record,
                   !reads   ? WMI_RACE_PASSES
                   : cached ? WMI_RACE_SEES
                            : WMI_RACE_ACQUIRES);
}

static void learn_all(struct wmi_races *races)
{
    const struct wmi_race_insn *now = &races->insn[races->slot];
    for (unsigned i = 0; i < races->learn_count; i++)
        learn_now(races, races->access->wave, now, races->learns[i], is_of_group(races, races->learns[i]));
    races->learn_count = 0;
}

/* The wave has read what another one has written, of which it learns once all lanes have made the access:
 * none of them is ordered by what others read. */
static void learn_of(struct wmi_races *races, uint64_t record)
{
    for (unsigned i = 0; i < races->learn_count; i++)
        if (races->learns[i] >> WMI_RACE_WAVE_AT == record >> WMI_RACE_WAVE_AT)
            return;
    if (races->learn_count == WMI_RACE_CONFLICTS)
        learn_all(races);
    races->learns[races->learn_count++] = record;
}

bool wmi_race_follow_atomic(struct wmi_races *races, unsigned wave, uint32_t slot, uint64_t record)
{
    struct wmi_race_insn *now = &races->insn[slot], *first;
    if (record >= WMI_RACE_SPLIT || (first = &races->insn[wmi_race_slot(record)])->kind != WMI_ACCESS_ATOMIC)
        return false;
    first->communicated = now->communicated = true;
    learn_now(races, wave, now, record, true);
    return true;
}

/* Checks the access against an earlier one of its own wave: by the other half, or with an earlier tag.
 * Returns whether they are ordered even if each half is a wave of its own. */
static bool check_halves(struct wmi_races *races, uint64_t record, unsigned bytes)
{
    const uint32_t epoch = wmi_race_past(&races->order, wmi_race_tag(record))->base + wmi_race_epoch(record);
    const struct wmi_race_insn *first = &races->insn[wmi_race_slot(record)], *now = &races->insn[races->slot];
    const bool store = first->kind == WMI_ACCESS_STORE && now->kind == WMI_ACCESS_STORE;
    if (wmi_race_who(record) == wmi_race_who(races->now.record) ||
        epoch < races->group->wave[races->access->wave].floor)
        return true;
    if (!wmi_race_communicates(&races->rules, first, now, true) &&
        (!store || (first != now && changes_memory(races))))
        add_conflict(races, &wmi_race_texts[WMI_RACE_OF_HALVES], record, bytes, 0);
    return false;
}

/* The cache in which the access may find older data. */
static enum wmi_race_reads reads_of(const struct wmi_race_insn *now)
{
    if (now->lds || now->kind != WMI_ACCESS_LOAD)
        return WMI_RACE_READS_MEMORY;
    return now->path == WMI_PATH_SMEM ? WMI_RACE_READS_SCALAR
           : now->coherent            ? WMI_RACE_READS_MEMORY
                                      : WMI_RACE_READS_VECTOR;
}

/* Whether the access stores over a flag whose value its wave has seen, or an earlier one of the same epoch.
 */
static bool stores_over_flag(struct wmi_race_insn *first, struct wmi_race_insn *now,
                             enum wmi_race_relation relation)
{
    const bool over = relation == WMI_RACE_UNRELEASED && first->communicated &&
                      first->kind == WMI_ACCESS_STORE && now->kind == WMI_ACCESS_STORE &&
                      wmi_race_is_word(first) && wmi_race_is_word(now);
    now->communicated |= over;
    return over;
}

/* Checks the access against one that the records alone do not order. Returns whether any later access that
 * races with the recorded one also races with this one. */
static bool check_conflict(void *user, uint64_t record, unsigned bytes, bool was_write)
{
    struct wmi_races *races = user;
    struct wmi_race_insn *first = &races->insn[wmi_race_slot(record)], *now = &races->insn[races->slot];
    const bool same_group = is_of_group(races, record);
    const bool is_data = now->kind == WMI_ACCESS_STORE && !now->communicated;
    first->lds = now->lds;
    if (same_group && wmi_race_wave(&races->order, record) == races->access->wave)
        return check_halves(races, record, bytes) && is_data;
    if (wmi_race_communicates(&races->rules, first, now, same_group)) {
        first->communicated = now->communicated = true;
        if (was_write && now->kind != WMI_ACCESS_STORE)
            learn_of(races, record);
        return false;
    }
    const enum wmi_race_made made = !was_write || now->lds                          ? WMI_RACE_OTHER_ACCESS
                                    : wmi_race_writes_through(&races->rules, first) ? WMI_RACE_STORE_THROUGH
                                                                                    : WMI_RACE_STORE;
    const enum wmi_race_relation relation =
        wmi_race_relation(&races->order, races->group, races->access->wave, record, made, reads_of(now));
    /* Stores, atomics, and loads that bypass caches do not read older data from them. */
    if (relation == WMI_RACE_ORDERED)
        return is_data;
    if (stores_over_flag(first, now, relation) ||
        (relation == WMI_RACE_UNACQUIRED && !now->lds &&
         (now->kind != WMI_ACCESS_LOAD || wmi_race_bypasses(&races->rules, now, same_group))))
        return false;
    races->values_differ = changes_memory(races);
    const enum wmi_race_kind kind = kind_of(races, first, now, same_group, relation);
    add_conflict(races, &wmi_race_texts[kind], record, bytes, 0);
    if (kind == WMI_RACE_OF_SCOPE && was_write && now->kind != WMI_ACCESS_STORE)
        learn_of(races, record); /* each cause gives one finding */
    return false;
}

/* Reports the conflicts of the access. */
static void add_findings(struct wmi_races *races)
{
    const struct wmi_access *access = races->access;
    const struct wmi_race_insn *now = &races->insn[races->slot];
    const uint64_t group = wmi_check_group_number(&races->dispatch, access->workgroup);
    for (unsigned i = 0; i < races->conflict_count; i++) {
        const struct wmi_race_conflict *conflict = &races->conflict[i];
        const bool within = !conflict->record;
        const struct wmi_race_insn *first = &races->insn[wmi_race_slot(conflict->record)];
        const uint64_t first_group =
            within ? group : wmi_race_past(&races->order, wmi_race_tag(conflict->record))->number;
        const struct wmi_found found = {
            .rule = conflict->rule,
            .pc = now->pc,
            .first_pc = within ? 0 : first->pc,
            .count = 1,
            .has_wave = true,
            .wave = access->wave,
            .group = group,
            .lanes = conflict->lanes,
            .space = now->lds ? WMI_SPACE_LDS : WMI_SPACE_GLOBAL,
            .address = conflict->address,
            .bytes = conflict->bytes,
            .launch = races->dispatch.launch,
            .detail = {[WMI_RACE_FIRST_GROUP] = first_group,
                       [WMI_RACE_FIRST_WAVE] = wmi_race_wave(&races->order, conflict->record),
                       [WMI_RACE_HOW] =
                           (wmi_race_who(conflict->record) & 1 ? WMI_RACE_HOW_UPPER : 0) |
                           (first_group == group ? WMI_RACE_HOW_SAME_GROUP : 0) |
                           (wmi_race_writes_through(&races->rules, first) ? WMI_RACE_HOW_THROUGH : 0) |
                           (uint64_t)now->kind << WMI_RACE_HOW_KIND |
                           (uint64_t)first->kind << WMI_RACE_HOW_FIRST_KIND,
                       [WMI_RACE_MODEL] = wmi_target_limit(races->dispatch.target, WMI_LIMIT_memory_model),
                       [WMI_RACE_BARRIER] = conflict->barrier},
        };
        if (!wmi_found_add(&races->findings, &found))
            races->missed = wmi_race_no_memory;
    }
    races->conflict_count = 0;
}

/* ---- recording ---- */

/* Handles an atomic load of a value that an atomic of the same wave has written. */
static void reread(struct wmi_races *races, enum wmi_address_space space, uint64_t address)
{
    struct wmi_race_cells cells;
    size_t dword;
    if (!wmi_race_cells_at(races, space, address, &cells, &dword))
        return;
    const uint64_t record = cells.write[dword];
    if (record && wmi_race_tag(record) == wmi_race_tag(races->now.record) &&
        wmi_race_wave(&races->order, record) == races->access->wave &&
        races->insn[wmi_race_slot(record)].kind == WMI_ACCESS_ATOMIC)
        wmi_race_reread(&races->order, races->group, races->access->wave, space == WMI_SPACE_LDS);
}

/* Like wmi_race_touch_dword(), for some bytes of a dword of global memory whose block has a list. */
static bool touch_some(struct wmi_races *races, enum wmi_address_space space, uint64_t address,
                       unsigned bytes)
{
    struct wmi_race_page *page = space == WMI_SPACE_LDS ? NULL : wmi_race_page(&races->shadow, address);
    const unsigned block = wmi_race_block_of(address), at = address % (1 << WMI_RACE_BLOCK_BITS);
    uint64_t some[2] = {0};
    some[at / 64] = (uint64_t)bytes << at % 64;
    return page && wmi_race_list_block(&races->shadow, page, block) && !(page->divided >> block & 1) &&
           wmi_race_touch_bytes(&races->shadow, page, block, some, &races->now);
}

/* Records an access to some bytes of a dword whose block has a state. False: it has none, or may conflict. */
static bool touch_state(struct wmi_races *races, enum wmi_address_space space, uint64_t address,
                        unsigned bytes)
{
    const unsigned block = wmi_race_block_of(address), at = address % (1 << WMI_RACE_BLOCK_BITS);
    uint64_t some[2] = {0};
    some[at / 64] = (uint64_t)bytes << at % 64;
    if (space == WMI_SPACE_LDS) {
        const struct wmi_race_local *local = &races->group->lds;
        return local->states && address < local->bytes &&
               wmi_race_touch_owners(&races->shadow, &local->area->owner[0][address >> WMI_RACE_BLOCK_BITS],
                                     some, false, &races->now) == WMI_RACE_STEPS_ON;
    }
    struct wmi_race_page *page = wmi_race_page(&races->shadow, address);
    return page && !(page->listed >> block & 1) &&
           wmi_race_touch_owners(&races->shadow, &page->owner[block], some, false, &races->now) ==
               WMI_RACE_STEPS_ON;
}

/* A mask of the bytes of a dword that lie in [start, end), of which there are some. */
static unsigned bytes_in(uint64_t dword, uint64_t start, uint64_t end)
{
    const unsigned head = dword < start ? (unsigned)(start - dword) : 0;
    const unsigned tail = dword + 4 > end ? (unsigned)(dword + 4 - end) : 0;
    return 15u >> tail & 15u << head & 15u;
}

void wmi_race_record_load(struct wmi_races *races, uint64_t address, uint64_t bytes)
{
    struct wmi_race_cells cells;
    size_t dword;
    for (uint64_t at = address & ~UINT64_C(3); at < address + bytes; at += 4) {
        const unsigned mask = bytes_in(at, address, address + bytes);
        if (!touch_state(races, WMI_SPACE_GLOBAL, at, mask) &&
            !touch_some(races, WMI_SPACE_GLOBAL, at, mask) &&
            wmi_race_cells_at(races, WMI_SPACE_GLOBAL, at, &cells, &dword))
            wmi_race_touch(&races->shadow, &cells, dword, &races->now, mask, NULL, NULL);
    }
}

static void touch(struct wmi_races *races, enum wmi_address_space space, uint64_t address, uint64_t bytes)
{
    const bool atomic = races->insn[races->slot].kind == WMI_ACCESS_ATOMIC;
    const uint64_t end = address + bytes;
    struct wmi_race_cells cells;
    size_t dword;
    for (uint64_t at = address & ~UINT64_C(3); at < end; at += 4) {
        const unsigned mask = bytes_in(at, address, end);
        races->dword_address = at;
        if (!atomic && touch_state(races, space, at, mask))
            continue;
        if (atomic && space == WMI_SPACE_LDS && wmi_race_cells_at(races, space, at, &cells, &dword))
            wmi_race_keep_store(races, &cells, dword);
        if (mask == 15 ? wmi_race_touch_dword(races, space, at) : touch_some(races, space, at, mask))
            continue;
        if (wmi_race_cells_at(races, space, at, &cells, &dword))
            wmi_race_touch(&races->shadow, &cells, dword, &races->now, mask, check_conflict, races);
    }
}

/* Checks for lanes of one store that write different values to one address. */
static void check_lanes(struct wmi_races *races, const struct wmi_element *element, uint64_t lanes)
{
    const struct wmi_access *access = races->access;
    unsigned first;
    const struct wmi_register_range *data = data_of(access, races->element, &first);
    const uint64_t *address = element->address;
    const unsigned count = access->facts->lanes, words = (access->bytes + 3u) / 4;
    const uint32_t *row =
        (const uint32_t *)(const void *)(access->frame + data->offset) + (size_t)first * count;
    const uint32_t last = access->bytes % 4 ? UINT32_MAX >> (32 - 8 * (access->bytes % 4)) : UINT32_MAX;
    const bool ambiguous = !races->rules.strict && wmi_race_is_word(&races->insn[races->slot]);
    const enum wmi_race_kind kind = ambiguous ? WMI_RACE_OF_LANE_WORDS : WMI_RACE_OF_LANES;
    uint64_t before = 0;
    bool ascends = true;
    if (access->kind != WMI_ACCESS_STORE || !access->frame || first + words > data->count)
        return;
    for (uint64_t left = lanes; left; left &= left - 1) {
        const uint64_t at = address[__builtin_ctzll(left)];
        ascends &= left == lanes || at > before;
        before = at;
    }
    for (uint64_t left = lanes; left && !ascends; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        for (uint64_t more = left & (left - 1); more; more &= more - 1) {
            const unsigned other = (unsigned)__builtin_ctzll(more);
            bool same = true;
            if (address[lane] != address[other])
                continue;
            for (unsigned i = 0; i < words; i++)
                same &= !((row[i * count + lane] ^ row[i * count + other]) &
                          (i + 1 == words ? last : UINT32_MAX));
            if (same)
                continue;
            races->lane = lane;
            races->dword_address = address[lane];
            add_conflict(races, &wmi_race_texts[kind], 0,
                         (1u << (access->bytes < 31 ? access->bytes : 31)) - 1, 0);
            if (races->conflict_count)
                races->conflict[races->conflict_count - 1].lanes |= UINT64_C(1) << other;
        }
    }
}

/* Records the accesses of lanes one by one. */
static void record_lanes(struct wmi_races *races, const struct wmi_element *element, uint64_t lanes)
{
    for (uint64_t left = lanes; left; left &= left - 1) {
        races->lane = (unsigned)__builtin_ctzll(left);
        wmi_race_choose_half(&races->order, races->lane, &races->now);
        if (wmi_race_awaits(&races->insn[races->slot]))
            reread(races, element->space, element->address[races->lane]);
        touch(races, element->space, element->address[races->lane], races->access->bytes);
    }
}

/* Records loads and stores of whole dwords by runs of lanes with consecutive or equal addresses. If the
 * halves of the wave are distinguished, all lanes belong to one half. */
static void record_runs(struct wmi_races *races, const struct wmi_element *element, uint64_t lanes)
{
    const uint64_t *address = element->address, bytes = races->access->bytes;
    for (uint64_t left = lanes; left;) {
        const uint64_t start = address[__builtin_ctzll(left)];
        uint64_t run = left & -left, end = start + bytes;
        left &= left - 1;
        for (; left; left &= left - 1) {
            const uint64_t at = address[__builtin_ctzll(left)];
            if (at != end && (races->now.writes || at + bytes != end))
                break;
            end = at + bytes;
            run |= left & -left;
        }
        if (start % 4 || !races->run(races, element->space, start, (size_t)(end - start) / 4))
            record_lanes(races, element, run);
    }
}

static void record_halves(struct wmi_races *races, const struct wmi_element *element, uint64_t lanes)
{
    const uint64_t lower = races->order.halves ? lanes & UINT32_MAX : lanes, upper = lanes & ~lower;
    if (lower)
        record_runs(races, element, lower);
    if (upper) {
        wmi_race_choose_half(&races->order, 32, &races->now);
        record_runs(races, element, upper);
    }
}

/* ---- operations of LDS in flight ---- */

/* The rule that the access violates together with an operation in flight. */
static enum wmi_race_kind kind_of_flight(const struct wmi_races *races, const struct wmi_race_flight *flight,
                                         bool own)
{
    const struct wmi_race_insn *now = &races->insn[races->slot];
    if (flight->counter && flight->kind == WMI_ACCESS_LOAD)
        return own ? WMI_RACE_STORE_FROM_LDS : WMI_RACE_STORE_FROM_LDS_AT_BARRIER;
    if (own)
        return WMI_RACE_LOAD_TO_LDS;
    if (flight->kind == WMI_ACCESS_STORE && now->kind == WMI_ACCESS_STORE && !races->values_differ)
        return WMI_RACE_OF_EQUALS;
    return flight->counter                   ? WMI_RACE_LOAD_TO_LDS_AT_BARRIER
           : flight->kind == WMI_ACCESS_LOAD ? WMI_RACE_OF_READ_AT_BARRIER
                                             : WMI_RACE_OF_STORE_AT_BARRIER;
}

/* Checks a lane's access to LDS against an operation in flight. */
static void check_flight(struct wmi_races *races, const struct wmi_race_flight *flight, uint64_t address,
                         bool own)
{
    const struct wmi_access *access = races->access;
    struct wmi_race_insn *now = &races->insn[races->slot], *first = &races->insn[flight->slot];
    const unsigned wave = own ? access->wave : flight->wave;
    if ((flight->kind == now->kind && now->kind != WMI_ACCESS_STORE) ||
        !wmi_race_flight_lanes(flight, address, access->bytes))
        return;
    first->lds = true;
    if (!own && wmi_race_communicates(&races->rules, first, now, true))
        return;
    races->dword_address = address;
    races->values_differ = changes_memory(races);
    add_conflict(races, &wmi_race_texts[kind_of_flight(races, flight, own)],
                 wmi_race_record_of(&races->order, races->group, wave, flight->slot),
                 (1u << (access->bytes < 31 ? access->bytes : 31)) - 1, flight->barrier);
}

/* Whether the wave's own operation in flight is not ordered with the instruction, because one of them is a
 * load to LDS. Loads to LDS are ordered among themselves, but asynchronous stores of gfx12.5 neither among
 * themselves nor with those (CDNA 5 ISA, "Asynchronous Memory Load and Store"). That such a store reads what
 * DS instructions before it have stored is assumed. */
static bool is_unordered(const struct wmi_race_flight *flight, const struct wmi_race_insn *now)
{
    const bool moves = now->path == WMI_PATH_LDS_DMA;
    if (moves && flight->counter == WMI_RACE_COUNTS_LDS && now->kind == WMI_ACCESS_LOAD)
        return false;
    if (moves && (flight->counter == WMI_RACE_COUNTS_MOVES || flight->counter == WMI_RACE_COUNTS_OUT) &&
        flight->kind != now->kind)
        return true;
    return (flight->counter != WMI_RACE_COUNTS_LDS) != (now->path == WMI_PATH_LDS_DMA);
}

static void meet_flights(struct wmi_races *races, const struct wmi_element *element, uint64_t lanes)
{
    const struct wmi_race_flights *own = &races->group->flights[races->access->wave];
    const struct wmi_race_pending *pending = &races->group->pending;
    const struct wmi_race_insn *now = &races->insn[races->slot];
    const bool to_lds = now->path == WMI_PATH_LDS_DMA;
    const struct wmi_race_flight *flight;
    const uint32_t most = races->order.lds_most;
    if (!pending->list.count && !to_lds && !own->loads_to_lds.count)
        return;
    for (uint64_t left = lanes; left; left &= left - 1) {
        const uint64_t address = element->address[races->lane = (unsigned)__builtin_ctzll(left)];
        if (pending->list.count &&
            wmi_race_pending_at(pending, address, races->access->bytes, now->kind != WMI_ACCESS_LOAD))
            for (uint32_t i = 0; i < pending->list.count; i++)
                if (pending->list.entry[i].wave != races->access->wave)
                    check_flight(races, &pending->list.entry[i], address, false);
        for (uint32_t at = 0; (flight = wmi_race_flight_next(own, most, &at));)
            if (is_unordered(flight, now))
                check_flight(races, flight, address, true);
    }
}

void wmi_race_add_flights(struct wmi_races *races, const struct wmi_access *access,
                          const struct wmi_race_insn *insn, uint32_t slot)
{
    struct wmi_race_flights *flights = &races->group->flights[access->wave];
    const bool to_lds = access->path == WMI_PATH_LDS_DMA;
    if (!to_lds && !access->goes_on)
        wmi_race_flights_count(flights, insn->counted);
    const struct wmi_element *element = &access->element[0];
    const bool pair = access->elements == 2;
    uint64_t lanes = access->elements ? element->mask & ~(element->bad_range | element->bad_align) : 0;
    if (pair)
        lanes &= ~(element[1].bad_range | element[1].bad_align);
    if ((access->path != WMI_PATH_DS && access->path != WMI_PATH_FLAT &&
         !(to_lds && (insn->kind == WMI_ACCESS_STORE || races->counts_tensors))) ||
        !lanes || element->space != WMI_SPACE_LDS || !wmi_race_follows_flights(races))
        return;
    struct wmi_race_flight *flight =
        wmi_race_flight_add(flights,
                            !to_lds                                  ? WMI_RACE_COUNTS_LDS
                            : insn->counted[WMI_RACE_COUNTS_TENSORS] ? WMI_RACE_COUNTS_TENSORS
                            : insn->counted[WMI_RACE_COUNTS_OUT]     ? WMI_RACE_COUNTS_OUT
                                                                     : WMI_RACE_COUNTS_MOVES,
                            races->order.lds_most);
    if (!flight) {
        races->missed = wmi_race_no_memory;
        return;
    }
    const unsigned first = (unsigned)__builtin_ctzll(lanes);
    flight->lanes = lanes;
    flight->slot = slot;
    flight->base = 0;
    flight->distance = pair ? (uint32_t)(element[1].address[first] - element[0].address[first]) : 0;
    flight->bytes = access->bytes;
    flight->places = pair ? 2 : 1;
    flight->kind = insn->kind;
    if (flight->counter == WMI_RACE_COUNTS_OUT)
        flight->number++; /* it is counted next, as an access to memory */
    flight->wave = (uint8_t)access->wave;
    for (uint64_t left = lanes; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        flight->at[lane] = (uint32_t)element->address[lane];
    }
    wmi_race_flight_bound(flight);
}

/* Logs the loads of lanes from global memory. False: they must be recorded. */
static bool log_lanes(struct wmi_races *races, const struct wmi_element *element, uint64_t lanes)
{
    const uint64_t *address = element->address, bytes = races->access->bytes,
                   origin = address[__builtin_ctzll(lanes)] & ~(uint64_t)UINT32_MAX;
    unsigned count = 0;
    if (!wmi_race_log_room(races))
        return false;
    for (uint64_t left = lanes; left; left &= left - 1) {
        const uint64_t start = address[__builtin_ctzll(left)];
        if (start - origin > UINT32_MAX - WMI_RACE_LANES ||
            !wmi_race_may_log(&races->log, start, start + bytes))
            return false;
    }
    struct wmi_race_logged *logged =
        wmi_race_log_add_lanes(&races->log, &races->now, origin, lanes, (uint32_t)bytes, NULL);
    for (uint64_t left = lanes; left; left &= left - 1)
        logged->at[count++] = (uint32_t)(address[__builtin_ctzll(left)] - origin);
    return true;
}

/* Called before an access to global memory is recorded. */
static void meet_log(struct wmi_races *races, const struct wmi_element *element, uint64_t lanes)
{
    bool meets = false;
    for (; lanes; lanes &= lanes - 1) {
        const uint64_t start = element->address[__builtin_ctzll(lanes)];
        meets |= wmi_race_meets_log(&races->log, start, start + races->access->bytes);
    }
    if (meets)
        races->replay(races, false);
}

static void record_element(struct wmi_races *races, unsigned number)
{
    const struct wmi_access *access = races->access;
    struct wmi_race_insn *insn = &races->insn[races->slot];
    const struct wmi_element *element = &access->element[number];
    const uint64_t lanes = element->mask & ~(element->bad_range | element->bad_align | element->bad_aperture);
    if (!lanes || (element->space != WMI_SPACE_LDS && element->space != WMI_SPACE_GLOBAL))
        return;
    races->element = number;
    insn->lds = element->space == WMI_SPACE_LDS;
    wmi_race_describe(&races->order, races->group, access->wave, races->slot, insn->kind != WMI_ACCESS_LOAD,
                      insn->lds, &races->now);
    if (!insn->lds && !races->now.writes && log_lanes(races, element, lanes))
        return;
    if (!insn->lds)
        meet_log(races, element, lanes);
    if (wmi_race_awaits(insn) || insn->kind == WMI_ACCESS_ATOMIC || access->bytes % 4)
        record_lanes(races, element, lanes);
    else
        record_halves(races, element, lanes);
    learn_all(races);
    check_lanes(races, element, lanes);
    if (insn->lds)
        meet_flights(races, element, lanes);
}

void wmi_race_record(struct wmi_races *races, const struct wmi_access *access, uint32_t slot)
{
    races->access = access;
    races->slot = slot;
    for (unsigned i = 0; i < access->elements; i++)
        record_element(races, i);
    add_findings(races);
}
