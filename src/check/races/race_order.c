/* SPDX-License-Identifier: MIT */
/* Clocks of workgroups, barriers, and what waves learn from one another. */
#include "check/races/race_order.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { LEARNED_MOST = 1 << 16, FLOORS_MOST = 64, GAPS_MOST = 1 << 10, NAMED = 17 };

/* ---- pasts ---- */

struct wmi_race_past *wmi_race_past(const struct wmi_race_order *order, uint32_t tag)
{
    return &order->past[tag / WMI_RACE_CHUNK][tag % WMI_RACE_CHUNK];
}

void wmi_race_order_begin(struct wmi_race_order *order)
{
    for (uint32_t tag = 1; tag <= order->tags; tag++) {
        free(wmi_race_past(order, tag)->learned);
        free(wmi_race_past(order, tag)->floors);
        free(wmi_race_past(order, tag)->gaps);
    }
    order->tags = 0;
    order->visit = 0;
    order->lost = false;
}

void wmi_race_order_free(struct wmi_race_order *order)
{
    wmi_race_order_begin(order);
    for (uint32_t i = 0; i < order->chunks; i++)
        free(order->past[i]);
    free(order->past);
    *order = (struct wmi_race_order){0};
}

static uint32_t max_of(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Returns a new tag; 0: no memory. */
static uint32_t add_tag(struct wmi_race_order *order)
{
    const uint32_t tag = order->tags + 1;
    if (tag >= WMI_RACE_TAGS) {
        order->lost = true;
        return 0;
    }
    if (tag / WMI_RACE_CHUNK >= order->chunks) {
        struct wmi_race_past **more = realloc(order->past, (order->chunks + 1) * sizeof *more);
        if (more)
            order->past = more;
        if (!more || !(more[order->chunks] = malloc(WMI_RACE_CHUNK * sizeof **more))) {
            order->lost = true;
            return 0;
        }
        order->chunks++;
    }
    *wmi_race_past(order, tag) = (struct wmi_race_past){.root = tag, .release = UINT32_MAX};
    return order->tags = tag;
}

/* Makes room for one more element behind `count` in a list that is short for most workgroups. */
static bool grow(struct wmi_race_order *order, void *array, uint32_t *capacity, uint32_t count, size_t size)
{
    enum { FIRST = 2 };
    size_t room = *capacity;
    const bool grown = wmi_grow_from(array, &room, count, size, FIRST);
    order->lost |= !grown;
    *capacity = (uint32_t)room;
    return grown;
}

/* ---- clocks ---- */

bool wmi_race_group_begin(struct wmi_race_order *order, struct wmi_race_group *group, uint64_t number,
                          uint32_t waves)
{
    const uint32_t tag = add_tag(order);
    if (!tag)
        return false;
    wmi_race_past(order, tag)->number = number;
    group->tag = tag;
    group->base = group->clock = 0;
    group->waves = waves;
    group->begun = group->completed = group->settled = 0;
    group->splits = group->stored = false;
    group->flying = UINT32_MAX;
    memset(group->wave, 0, waves * sizeof *group->wave);
    for (unsigned i = 0; i < waves; i++)
        group->wave[i].flying_from = UINT32_MAX;
    if (group->named)
        memset(group->named, 0, NAMED * sizeof *group->named);
    for (unsigned i = 0; i < waves; i++)
        wmi_race_flights_begin(&group->flights[i]);
    group->pending.list.count = group->coming.list.count = 0;
    return true;
}

/* Advances the clock. The workgroup gets a new tag if its epochs no longer fit into records. */
static uint32_t tick(struct wmi_race_order *order, struct wmi_race_group *group)
{
    const uint32_t clock = ++group->clock;
    if (clock - wmi_race_past(order, group->tag)->base < WMI_RACE_EPOCHS)
        return clock;
    const uint32_t root = wmi_race_past(order, group->tag)->root, tag = add_tag(order);
    if (!tag)
        return --group->clock;
    struct wmi_race_past *past = wmi_race_past(order, tag);
    past->number = wmi_race_past(order, root)->number;
    past->root = root;
    past->base = group->base = clock;
    group->tag = tag;
    return clock;
}

/* All earlier epochs come before what a wave of the workgroup did in the epoch, by barriers, and their stores
 * were of this degree. */
static uint32_t floor_at(const struct wmi_race_past *root, uint32_t epoch, enum wmi_race_degree degree)
{
    uint32_t floor = 0;
    for (uint32_t i = 0; i < root->floor_count; i++)
        if (root->floors[i].at <= epoch && root->floors[i].degree >= degree && root->floors[i].floor > floor)
            floor = root->floors[i].floor;
    return floor;
}

static void add_floor(struct wmi_race_order *order, struct wmi_race_group *group,
                      const struct wmi_race_floor *floor)
{
    struct wmi_race_past *root = wmi_race_root(order, group->tag);
    if (floor_at(root, UINT32_MAX, (enum wmi_race_degree)floor->degree) >= floor->floor)
        return;
    if (root->floor_count == FLOORS_MOST) { /* the oldest two become one */
        root->floors[1].at = root->floors[0].at;
        memmove(root->floors, root->floors + 1, --root->floor_count * sizeof *root->floors);
    }
    if (grow(order, &root->floors, &root->floor_capacity, root->floor_count, sizeof *root->floors))
        root->floors[root->floor_count++] = *floor;
}

/* Whatever the workgroup did before an epoch is released together with any release of its waves in epoch `at`
 * or later. */
static void release_before(struct wmi_race_order *order, struct wmi_race_group *group, uint32_t epoch,
                           uint32_t at)
{
    struct wmi_race_past *root = wmi_race_root(order, group->tag);
    if (root->release == UINT32_MAX)
        root->release = epoch;
    add_floor(order, group, &(struct wmi_race_floor){.at = at, .floor = epoch, .degree = WMI_RACE_RELEASED});
}

/* ---- stores that have not been released ---- */

/* The wave's last gap; NULL: it has none. */
static struct wmi_race_gap *last_gap(const struct wmi_race_past *root, unsigned wave,
                                     enum wmi_race_degree degree)
{
    for (uint32_t i = root->gap_count; i-- > 0;)
        if (root->gaps[i].wave == wave && root->gaps[i].degree == degree)
            return &root->gaps[i];
    return NULL;
}

static void open_gap(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave,
                     enum wmi_race_degree degree, uint32_t from)
{
    struct wmi_race_past *root = wmi_race_root(order, group->tag);
    if (root->gap_count == GAPS_MOST) { /* forgets the oldest ones */
        uint32_t kept = 0;
        for (uint32_t i = 0; i < root->gap_count; i++)
            if (i >= GAPS_MOST / 2 || root->gaps[i].until == UINT32_MAX)
                root->gaps[kept++] = root->gaps[i];
        root->gap_count = kept;
    }
    if (!grow(order, &root->gaps, &root->gap_capacity, root->gap_count, sizeof *root->gaps))
        return;
    root->gaps[root->gap_count++] = (struct wmi_race_gap){
        .from = from, .until = UINT32_MAX, .wave = (uint8_t)wave, .degree = (uint8_t)degree};
    group->wave[wave].gap[degree] = true;
}

/* The wave releases its stores, in epoch `until`. */
static void close_gap(const struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave,
                      enum wmi_race_degree degree, uint32_t until)
{
    struct wmi_race_gap *gap =
        group->wave[wave].gap[degree] ? last_gap(wmi_race_root(order, group->tag), wave, degree) : NULL;
    if (gap)
        gap->until = until;
    group->wave[wave].gap[degree] = false;
}

/* The epochs before which a release in the epoch `seen` of the wave releases what the wave did. */
static uint32_t released_at(const struct wmi_race_past *root, unsigned wave, enum wmi_race_degree degree,
                            uint32_t seen)
{
    uint32_t epoch = seen;
    for (uint32_t i = root->gap_count; i-- > 0;) {
        const struct wmi_race_gap *gap = &root->gaps[i];
        if (gap->wave != wave || gap->degree != degree || gap->from >= seen)
            continue;
        if (gap->until <= seen)
            break;
        epoch = gap->from;
    }
    return epoch;
}

/* Called when the wave begins an epoch, at a barrier or when its LDS accesses are complete, while it has
 * unreleased stores to global memory: a wave that reads what this one stores next does not learn of these. */
static void keep_unreleased(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave)
{
    const struct wmi_race_wave *w = &group->wave[wave];
    if (w->dirty && !w->gap[WMI_RACE_RELEASED])
        open_gap(order, group, wave, WMI_RACE_RELEASED, w->epoch);
    if (order->writes_back && w->stores && !w->gap[WMI_RACE_COMPLETE])
        open_gap(order, group, wave, WMI_RACE_COMPLETE, w->epoch);
}

/* ---- stores ---- */

void wmi_race_store(const struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave)
{
    struct wmi_race_wave *w = &group->wave[wave];
    if (!group->stored)
        wmi_race_root(order, group->tag)->stored = true;
    group->stored = true;
    if (!w->stores) {
        w->first_store = w->epoch;
        w->store_count = 0;
        w->counts_stores = order->counts_stores;
    }
    if (w->store_count == WMI_RACE_STORES) /* the last two count as one, which is older than the second */
        w->store[WMI_RACE_STORES - 1].number = w->operations;
    else
        w->store[w->store_count++] = (struct wmi_race_store){w->operations, w->epoch};
    w->stores = 1;
    w->writing = 0;
    w->dirty = w->unshared = true;
    w->cleaned = w->releases = false;
}

/* The wave's stores can be released once none is in flight and caches have been written back. */
static void complete_stores(const struct wmi_race_order *order, struct wmi_race_wave *w)
{
    if (w->stores || !w->dirty)
        return;
    w->releases = true;
    w->dirty = order->writes_back && !w->cleaned;
}

/* The wave has waited until `limit` operations are on their way, among them its last store: older stores are
 * complete, and released with what it stores next. */
static void complete_part(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave,
                          unsigned limit)
{
    struct wmi_race_wave *w = &group->wave[wave];
    unsigned complete = 0;
    while (complete < w->store_count && w->operations - w->store[complete].number >= limit)
        complete++;
    if (!complete || complete == w->store_count)
        return;
    w->store_count -= (uint8_t)complete;
    memmove(w->store, w->store + complete, w->store_count * sizeof *w->store);
    w->first_store = w->store[0].epoch;
    const enum wmi_race_degree degree = order->writes_back ? WMI_RACE_COMPLETE : WMI_RACE_RELEASED;
    if (!w->gap[degree] || last_gap(wmi_race_root(order, group->tag), wave, degree)->from >= w->first_store)
        return;
    close_gap(order, group, wave, degree, w->epoch + 1);
    open_gap(order, group, wave, degree, w->first_store);
}

void wmi_race_wait(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave, unsigned limit)
{
    struct wmi_race_wave *w = &group->wave[wave];
    if (limit < w->writing) {
        w->cleaned = true;
        w->writing = 0;
    }
    if (!limit || limit < w->stores) {
        w->stores = 0;
        w->unfinished = false;
    } else if (w->counts_stores && (order->within || !order->writes_back)) {
        complete_part(order, group, wave, limit);
    }
    complete_stores(order, w);
}

void wmi_race_write_back(const struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave)
{
    struct wmi_race_wave *w = &group->wave[wave];
    w->operations++;
    w->stores += w->stores != 0;
    w->writing = 1;
    w->cleaned = false;
    complete_stores(order, w);
}

void wmi_race_wait_for_lds(struct wmi_race_group *group, unsigned wave, unsigned limit)
{
    struct wmi_race_wave *w = &group->wave[wave];
    wmi_race_flight_wait(&group->flights[wave], limit);
    if (limit)
        return;
    w->releases |= w->lds_stored;
    w->lds_stored = false;
}

void wmi_race_wait_for_loads_to_lds(struct wmi_race_group *group, unsigned wave,
                                    enum wmi_race_counter counter, unsigned limit)
{
    struct wmi_race_wave *w = &group->wave[wave];
    struct wmi_race_flights *flights = &group->flights[wave];
    if (!w->lds_moved)
        return;
    wmi_race_loads_to_lds_wait(flights, counter, limit);
    if (flights->loads_to_lds.count)
        return;
    w->releases = true;
    w->lds_moved = false;
}

void wmi_race_begin_epoch(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave)
{
    keep_unreleased(order, group, wave);
    group->wave[wave].epoch = tick(order, group);
}

bool wmi_race_release(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave)
{
    struct wmi_race_wave *w = &group->wave[wave];
    struct wmi_race_past *root = wmi_race_root(order, group->tag);
    if (!w->releases)
        return false;
    w->releases = false;
    wmi_race_begin_epoch(order, group, wave);
    if (!w->dirty)
        close_gap(order, group, wave, WMI_RACE_RELEASED, w->epoch);
    if (!w->stores)
        close_gap(order, group, wave, WMI_RACE_COMPLETE, w->epoch);
    if (root->release == UINT32_MAX)
        root->release = w->epoch;
    if (!w->dirty || !order->writes_back)
        release_before(order, group, w->floor < group->settled ? w->floor : group->settled, w->epoch);
    return true;
}

/* ---- what waves learn ---- */

static bool add_learned(struct wmi_race_order *order, struct wmi_race_past *root,
                        const struct wmi_race_learned *learned)
{
    if (!grow(order, &root->learned, &root->capacity, root->count, sizeof *root->learned))
        return false;
    root->learned[root->count++] = *learned;
    return true;
}

void wmi_race_learn(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave,
                    uint64_t record, enum wmi_race_knows how)
{
    enum { RECENT = 16 };
    struct wmi_race_past *root = wmi_race_root(order, group->tag);
    const struct wmi_race_past *of = wmi_race_past(order, wmi_race_tag(record));
    const struct wmi_race_past *other = wmi_race_past(order, of->root);
    const uint32_t seen = of->base + wmi_race_epoch(record);
    const unsigned writer = wmi_race_wave(order, record);
    const bool in_order = other == root && !order->within;
    /* The workgroup needs no write-back of caches. Source: LLVM AMDGPUUsage, "Memory Model GFX942", release
     * of workgroup scope in tgsplit mode. */
    const enum wmi_race_degree complete = order->writes_back ? WMI_RACE_COMPLETE : WMI_RACE_RELEASED,
                               needed = other == root ? complete : WMI_RACE_RELEASED;
    const uint32_t epoch = in_order ? seen : released_at(other, writer, needed, seen);
    const uint32_t done = in_order ? seen : released_at(other, writer, complete, seen);
    const uint32_t floor = other != root ? floor_at(other, seen, WMI_RACE_RELEASED) : 0;
    const uint32_t done_floor = other != root ? floor_at(other, seen, WMI_RACE_COMPLETE) : 0;
    if (!other->stored && epoch < other->release && other != root)
        return; /* it has nothing to release */
    struct wmi_race_learned learned = {.tag = of->root,
                                       .epoch = epoch,
                                       .seen = seen,
                                       .passed = other != root ? floor_at(other, seen, WMI_RACE_MADE) : 0,
                                       .floor = floor < epoch ? floor : epoch,
                                       .done = done,
                                       .done_floor = done_floor < done ? done_floor : done,
                                       .wave = (uint8_t)writer,
                                       .by = (uint8_t)wave,
                                       .how = (uint8_t)how};
    for (uint32_t i = root->count; i-- > 0 && root->count - i <= RECENT;) {
        struct wmi_race_learned *known = &root->learned[i];
        if (known->by != wave || known->tag != learned.tag || known->wave != learned.wave)
            continue;
        if (known->how == how || known->epoch == epoch) {
            if (known->epoch < epoch || known->how < how || known->seen < seen)
                *known = learned;
            return;
        }
    }
    if (root->count >= LEARNED_MOST)
        root->all = true;
    else
        add_learned(order, root, &learned);
    if (root->release == UINT32_MAX)
        root->release = group->wave[wave].epoch;
}

/* Raises the entries of this wave alone from one degree of knowledge to another. */
static void raise(struct wmi_race_past *root, unsigned wave, enum wmi_race_knows from, enum wmi_race_knows to)
{
    for (uint32_t i = 0; i < root->count; i++)
        if (root->learned[i].by == wave && root->learned[i].how == from)
            root->learned[i].how = (uint8_t)to;
}

void wmi_race_reread(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave, bool lds)
{
    raise(wmi_race_root(order, group->tag), wave, WMI_RACE_PASSES, lds ? WMI_RACE_ACQUIRES : WMI_RACE_SEES);
}

/* Removes what later knowledge of the same wave includes. */
static void forget_before(struct wmi_race_past *root, uint32_t at)
{
    const struct wmi_race_learned new = root->learned[at];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < root->count; i++) {
        const struct wmi_race_learned *old = &root->learned[i];
        if (i != at && old->near && old->by == new.by && old->tag == new.tag && old->wave == new.wave &&
            old->how == WMI_RACE_ACQUIRES && old->epoch <= new.epoch && old->floor <= new.floor)
            continue;
        root->learned[kept++] = *old;
    }
    root->count = kept;
}

/* The wave has invalidated the caches of its compute unit, which suffices for what its cluster has stored. */
static void acquire_near(struct wmi_race_past *root, unsigned wave)
{
    for (uint32_t i = root->count; i-- > 0;) {
        struct wmi_race_learned *entry = &root->learned[i];
        if (i >= root->count || !entry->near || entry->how != WMI_RACE_SEES)
            continue;
        if (entry->by == WMI_RACE_BY_ALL)
            entry->acquired |= 1u << wave;
        if (entry->by != wave)
            continue;
        entry->how = WMI_RACE_ACQUIRES;
        forget_before(root, i);
    }
}

void wmi_race_refresh(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave)
{
    struct wmi_race_past *root = wmi_race_root(order, group->tag);
    const uint32_t tag = wmi_race_past(order, group->tag)->root;
    group->wave[wave].fresh = group->wave[wave].floor;
    for (uint32_t i = 0; order->within && i < root->count; i++) {
        struct wmi_race_learned *entry = &root->learned[i];
        if (entry->tag == tag && entry->by == wave && entry->how == WMI_RACE_SEES)
            entry->how = WMI_RACE_ACQUIRES;
        if (entry->how == WMI_RACE_NEARS)
            entry->acquired |= 1u << wave;
    }
    acquire_near(root, wave);
}

void wmi_race_rescan(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave)
{
    struct wmi_race_past *root = wmi_race_root(order, group->tag);
    for (uint32_t i = 0; i < root->count; i++)
        root->learned[i].rescanned |= root->learned[i].by == wave;
}

void wmi_race_invalidate(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave)
{
    struct wmi_race_past *root = wmi_race_root(order, group->tag);
    raise(root, wave, WMI_RACE_SEES, WMI_RACE_ACQUIRES);
    for (uint32_t i = 0; root->pending && i < root->count; i++)
        if (root->learned[i].by == WMI_RACE_BY_ALL && root->learned[i].how == WMI_RACE_SEES)
            root->learned[i].acquired |= 1u << wave;
}

/* Merges the entries that say what all waves have acquired of the same wave of their workgroup. Otherwise
 * each iteration of a loop with a barrier would add some. */
static void merge_own(struct wmi_race_past *root, uint32_t own)
{
    uint32_t first[WMI_RACE_WAVES], waves = 0, kept = 0;
    for (uint32_t i = 0; i < root->count; i++) {
        const struct wmi_race_learned entry = root->learned[i];
        const bool merges = entry.tag == own && entry.by == WMI_RACE_BY_ALL &&
                            entry.how == WMI_RACE_ACQUIRES && !entry.near && !entry.floor &&
                            !entry.done_floor && !entry.passed;
        if (merges && waves >> entry.wave & 1) {
            struct wmi_race_learned *known = &root->learned[first[entry.wave]];
            known->epoch = max_of(known->epoch, entry.epoch);
            known->done = max_of(known->done, entry.done);
            known->seen = max_of(known->seen, entry.seen);
            continue;
        }
        if (merges) {
            waves |= 1u << entry.wave;
            first[entry.wave] = kept;
        }
        root->learned[kept++] = entry;
    }
    root->count = kept;
}

/* Passes knowledge on at a barrier. What a wave has acquired, all waves of the workgroup have acquired from
 * now on. What a wave has only seen, all have seen, and each must still invalidate its caches: a barrier
 * orders what comes before it by happens-before, which the acquire fence of the wave after it completes (LLVM
 * AMDGPUUsage, "Memory Model": a fence-paired atomic of a fence may belong to another wave that a barrier
 * synchronizes). */
static void share(struct wmi_race_order *order, struct wmi_race_group *group)
{
    struct wmi_race_past *root = wmi_race_root(order, group->tag);
    const uint32_t own = wmi_race_past(order, group->tag)->root;
    root->pending = false;
    for (uint32_t i = 0; i < root->count; i++) {
        struct wmi_race_learned *entry = &root->learned[i];
        const bool acquires =
            entry->how == WMI_RACE_ACQUIRES || (entry->by == WMI_RACE_BY_ALL && entry->acquired);
        if (entry->how == WMI_RACE_PASSES)
            continue;
        if (acquires && order->within && entry->tag != own) {
            if (entry->by != WMI_RACE_BY_ALL)
                entry->acquired = 1u << entry->by;
            entry->how = WMI_RACE_NEARS;
        } else if (acquires) {
            entry->how = WMI_RACE_ACQUIRES;
        }
        root->pending |= entry->how == WMI_RACE_SEES;
        entry->by = WMI_RACE_BY_ALL;
    }
    merge_own(root, own);
}

/* ---- barriers ---- */

/* Orders everything that the workgroup did before the epoch before what the wave does next. */
static void raise_floor(struct wmi_race_group *group, unsigned wave, uint32_t floor)
{
    if (group->wave[wave].floor < floor)
        group->wave[wave].floor = floor;
}

/* A wave of the workgroup learns what another wave of it did before an epoch, of which its stores to global
 * memory before `released` are complete. */
static void learn_within(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave,
                         unsigned other, uint32_t epoch, uint32_t released)
{
    struct wmi_race_past *root = wmi_race_root(order, group->tag);
    const struct wmi_race_learned learned = {.tag = wmi_race_past(order, group->tag)->root,
                                             .epoch = released,
                                             .seen = epoch,
                                             .wave = (uint8_t)other,
                                             .by = (uint8_t)wave,
                                             .how = WMI_RACE_ACQUIRES};
    for (uint32_t i = root->count; i-- > 0;) {
        struct wmi_race_learned *known = &root->learned[i];
        if (known->by != wave || known->tag != learned.tag || known->wave != other ||
            known->how != WMI_RACE_ACQUIRES)
            continue;
        if (known->epoch < released)
            known->epoch = released;
        if (known->seen < epoch)
            known->seen = epoch;
        return;
    }
    add_learned(order, root, &learned);
}

struct wmi_race_signal wmi_race_signal(struct wmi_race_order *order, struct wmi_race_group *group,
                                       unsigned wave)
{
    const struct wmi_race_wave *w = &group->wave[wave];
    uint32_t floor = w->floor < group->settled ? w->floor : group->settled;
    wmi_race_begin_epoch(order, group, wave);
    const uint32_t epoch = w->stores && w->first_store < w->epoch ? w->first_store : w->epoch;
    for (unsigned i = 0; i < group->waves; i++)
        if (group->wave[i].stores && group->wave[i].first_store < floor)
            floor = group->wave[i].first_store;
    return (struct wmi_race_signal){.tag = wmi_race_past(order, group->tag)->root,
                                    .epoch = epoch,
                                    .floor = floor,
                                    .seen = w->epoch,
                                    .wave = (uint8_t)wave};
}

void wmi_race_learn_signal(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave,
                           const struct wmi_race_signal *signal)
{
    struct wmi_race_past *root = wmi_race_root(order, group->tag);
    const struct wmi_race_learned learned = {.tag = signal->tag,
                                             .epoch = signal->epoch,
                                             .seen = signal->seen,
                                             .floor = signal->floor,
                                             .wave = signal->wave,
                                             .by = (uint8_t)wave,
                                             .how = WMI_RACE_SEES,
                                             .near = true};
    if (signal->tag == wmi_race_past(order, group->tag)->root) {
        if (signal->wave != wave)
            learn_within(order, group, wave, signal->wave, signal->epoch, signal->epoch);
        return;
    }
    if (root->count >= LEARNED_MOST)
        root->all = true;
    else
        add_learned(order, root, &learned);
    if (root->release == UINT32_MAX)
        root->release = group->wave[wave].epoch;
}

/* All waves learn of the stores of a wave that were complete and, if necessary, written back. */
static void share_stores(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave,
                         uint32_t floor)
{
    struct wmi_race_wave *w = &group->wave[wave];
    if (!w->unshared || w->dirty || w->unfinished)
        return;
    w->unshared = false;
    for (unsigned i = 0; i < group->waves; i++)
        if (i != wave)
            learn_within(order, group, i, wave, floor, floor);
}

/* Called when all waves have passed a barrier. If the stores before it were complete and, if necessary,
 * written back, any wave releases them together with its own. If they were not complete, but no write-back is
 * necessary, they are released once the releasing wave waits. Otherwise the releasing wave must write
 * back. */
static void pass_stores(struct wmi_race_order *order, struct wmi_race_group *group, uint32_t floor)
{
    bool dirty = false, unfinished = false;
    for (unsigned i = 0; i < group->waves; i++) {
        dirty |= group->wave[i].dirty;
        unfinished |= group->wave[i].unfinished;
    }
    if (!unfinished)
        group->settled = floor;
    if (group->stored && !unfinished && !(dirty && order->writes_back))
        release_before(order, group, floor, floor);
    else if (group->stored)
        add_floor(order, group,
                  &(struct wmi_race_floor){.at = floor,
                                           .floor = floor,
                                           .degree = group->flying == UINT32_MAX ? WMI_RACE_COMPLETE
                                                                                 : WMI_RACE_MADE});
    for (unsigned i = 0; (dirty || unfinished) && i < group->waves; i++)
        share_stores(order, group, i, floor);
    for (unsigned i = 0; dirty && order->writes_back && i < group->waves; i++)
        group->wave[i].dirty = true;
}

bool wmi_race_arrive(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave, int number,
                     bool stays, uint64_t pc)
{
    struct wmi_race_wave *w = &group->wave[wave];
    if (number > 0) {
        if (number >= NAMED)
            return true;
        if (!group->named && !(group->named = calloc(NAMED, sizeof *group->named)))
            return false;
        w->epoch = group->named[number][wave] = tick(order, group);
        return true;
    }
    keep_unreleased(order, group, wave);
    if (!wmi_race_pending_arrive(&group->coming, &group->flights[wave], order->lds_most, pc))
        return false;
    group->splits = !stays;
    w->arrived = w->epoch;
    w->unfinished = order->waits_at_barriers && w->stores;
    w->flying_from = w->stores ? w->first_store : UINT32_MAX;
    w->flying_to = w->epoch;
    if (!stays)
        w->epoch = tick(order, group);
    if (++w->arrivals > group->begun) {
        group->begun = w->arrivals;
        group->round = group->clock;
    }
    return true;
}

/* Keeps the operations in flight at the barrier as pending. */
static void keep_pending(struct wmi_race_order *order, struct wmi_race_group *group)
{
    const struct wmi_race_pending before = group->pending;
    if (!before.list.count && !group->coming.list.count)
        return;
    group->pending = group->coming;
    group->coming = before;
    group->coming.list.count = 0;
    order->lost |= !wmi_race_pending_close(&group->pending, group->lds.bytes);
}

/* Called when all waves have arrived and the first one continues. */
static void complete(struct wmi_race_order *order, struct wmi_race_group *group)
{
    keep_pending(order, group);
    group->flying = UINT32_MAX;
    for (unsigned i = 0; i < group->waves; i++)
        if (group->wave[i].flying_from < group->flying)
            group->flying = group->wave[i].flying_from;
    if (group->splits) {
        for (unsigned i = 0; i < group->waves; i++) {
            group->wave[i].joins = group->round;
            group->wave[i].passed = group->wave[i].arrived;
        }
        pass_stores(order, group, group->round);
        share(order, group);
        return;
    }
    const uint32_t clock = tick(order, group);
    group->lds.floor = clock;
    for (unsigned i = 0; i < group->waves; i++) {
        group->wave[i].epoch = clock;
        group->wave[i].lds_stored = false;
        raise_floor(group, i, clock);
    }
    pass_stores(order, group, clock);
    share(order, group);
}

void wmi_race_leave(struct wmi_race_order *order, struct wmi_race_group *group, unsigned wave, int number)
{
    struct wmi_race_wave *w = &group->wave[wave];
    if (number > 0) {
        for (unsigned i = 0; group->named && number < NAMED && i < group->waves; i++)
            if (i != wave && group->named[number][i])
                learn_within(order, group, wave, i, group->named[number][i], group->named[number][i]);
        return;
    }
    if (w->arrivals > group->completed) {
        group->completed = w->arrivals;
        complete(order, group);
    }
    if (!group->splits)
        return;
    raise_floor(group, wave, w->joins);
    for (unsigned i = 0; i < group->waves; i++)
        if (i != wave && group->wave[i].passed >= w->joins)
            learn_within(order, group, wave, i, group->wave[i].passed + 1,
                         order->waits_at_barriers && group->wave[i].flying_from <= group->wave[i].passed
                             ? group->wave[i].flying_from
                             : group->wave[i].passed + 1);
}
