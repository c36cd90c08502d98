/* SPDX-License-Identifier: MIT */
/* Whether, and how, an earlier access is ordered before what a wave does next: a search through what waves
 * have learned from one another. */
#include "check/races/race_order.h"

enum { DEPTH = 2048 /* of chains of waves that have learned from one another */ };

static uint32_t max_of(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* How a wave to which the entry applies knows of the other wave's past. */
static enum wmi_race_knows how_known(const struct wmi_race_learned *entry, unsigned wave)
{
    return entry->by == WMI_RACE_BY_ALL && entry->acquired >> wave & 1 ? WMI_RACE_ACQUIRES
                                                                       : (enum wmi_race_knows)entry->how;
}

struct search {
    struct wmi_race_order *order;
    const struct wmi_race_past
        *own; /* past of the searching wave; the caller has examined what all waves of its workgroup know */
    uint32_t root, epoch; /* the access to find */
    unsigned wave;
    enum wmi_race_made made; /* of the access */
    bool unreleased;         /* is_unreleased() of an entry */
};

/* Whether an entry implies that the other wave's access is known: no release concerns loads and LDS. */
static bool covers(const struct wmi_race_learned *entry, const struct search *search)
{
    uint32_t epoch = entry->epoch, floor = entry->floor;
    if (search->made != WMI_RACE_STORE) {
        epoch = max_of(epoch, entry->done);
        floor = max_of(floor, entry->done_floor);
    }
    if (search->made == WMI_RACE_OTHER_ACCESS) {
        epoch = max_of(epoch, entry->seen);
        floor = max_of(floor, entry->passed);
    }
    return entry->tag == search->root &&
           (search->epoch < floor || (search->wave == entry->wave && search->epoch < epoch));
}

/* Whether the search has visited the wave before. */
static bool is_visited(const struct wmi_race_order *order, struct wmi_race_past *past, unsigned wave)
{
    if (past->visit != order->visit)
        past->visited = 0;
    past->visit = order->visit;
    const bool visited = past->visited >> wave & 1;
    past->visited |= 1u << wave;
    return visited;
}

/* Whether the access comes before what the wave has seen, but was not released. */
static bool is_unreleased(const struct wmi_race_learned *entry, const struct search *search)
{
    return entry->tag == search->root &&
           (search->epoch < entry->passed ||
            (entry->wave == search->wave && search->epoch >= entry->epoch && search->epoch <= entry->seen));
}

/* Whether the entry is about the wave that made the access. What others have told that wave is irrelevant to
 * its own accesses; their lists also contain what they learned later. */
static bool is_of_same_wave(const struct wmi_race_learned *entry, const struct search *search)
{
    return entry->tag == search->root && entry->wave == search->wave;
}

/* Whether the entry applies to a wave of the past's workgroup. */
static bool is_known_by(const struct search *search, const struct wmi_race_past *past,
                        const struct wmi_race_learned *entry, unsigned by)
{
    return entry->by == by || (entry->by == WMI_RACE_BY_ALL && past != search->own);
}

/* Whether `by` of the workgroup knows of the access, in any way or through others. */
static bool passes(struct search *search, struct wmi_race_past *past, unsigned by, unsigned depth)
{
    if (is_visited(search->order, past, by))
        return false;
    if (past->all)
        return true;
    for (uint32_t i = 0; i < past->count; i++) {
        const struct wmi_race_learned *entry = &past->learned[i];
        if (!is_known_by(search, past, entry, by))
            continue;
        if (covers(entry, search))
            return true;
        search->unreleased |= is_unreleased(entry, search);
    }
    for (uint32_t i = past->count; i-- > 0 && depth;) {
        const struct wmi_race_learned *entry = &past->learned[i];
        if (is_known_by(search, past, entry, by) && !is_of_same_wave(entry, search) &&
            passes(search, wmi_race_past(search->order, entry->tag), entry->wave, depth - 1))
            return true;
    }
    return false;
}

/* How an access before a barrier of the workgroup is ordered with what the wave does after it. If these
 * have different vector caches, a store must be complete before the barrier, and a load must not find older
 * data in the vector cache. Source: LLVM AMDGPUUsage, "Memory Model GFX10-GFX11" and "GFX12": release and
 * acquire of workgroup scope. */
static enum wmi_race_relation relation_within(const struct wmi_race_order *order,
                                              const struct wmi_race_group *group, unsigned wave,
                                              const struct search *search, enum wmi_race_reads reads)
{
    const struct wmi_race_wave *other = &group->wave[search->wave];
    if (!order->within || search->made == WMI_RACE_OTHER_ACCESS)
        return WMI_RACE_ORDERED;
    if (search->epoch >= other->flying_from && search->epoch <= other->flying_to)
        return WMI_RACE_FLYING;
    return reads == WMI_RACE_READS_VECTOR && search->epoch >= group->wave[wave].fresh ? WMI_RACE_STALE
                                                                                      : WMI_RACE_ORDERED;
}

enum wmi_race_relation wmi_race_relation(struct wmi_race_order *order, const struct wmi_race_group *group,
                                         unsigned wave, uint64_t record, enum wmi_race_made made,
                                         enum wmi_race_reads reads)
{
    const struct wmi_race_past *of = wmi_race_past(order, wmi_race_tag(record));
    struct wmi_race_past *root = wmi_race_root(order, group->tag);
    struct search search = {.order = order,
                            .own = root,
                            .root = of->root,
                            .epoch = of->base + wmi_race_epoch(record),
                            .wave = wmi_race_wave(order, record),
                            .made = made};
    enum wmi_race_relation relation = WMI_RACE_UNRELATED;
    const bool same_group = of->root == wmi_race_past(order, group->tag)->root;
    if (root->all || (same_group && search.wave == wave))
        return WMI_RACE_ORDERED;
    if (same_group && search.epoch < group->wave[wave].floor)
        return relation_within(order, group, wave, &search, reads);
    order->visit++;
    for (uint32_t i = root->count; i-- > 0;) {
        const struct wmi_race_learned *entry = &root->learned[i];
        if ((entry->by != wave && entry->by != WMI_RACE_BY_ALL) || entry->how == WMI_RACE_PASSES)
            continue; /* a wave learns nothing from an atomic that returns nothing */
        const bool known =
            covers(entry, &search) || (!is_of_same_wave(entry, &search) &&
                                       passes(&search, wmi_race_past(order, entry->tag), entry->wave, DEPTH));
        if (known && (how_known(entry, wave) == WMI_RACE_ACQUIRES ||
                      (entry->rescanned && reads == WMI_RACE_READS_SCALAR)))
            return WMI_RACE_ORDERED;
        if (known && entry->how == WMI_RACE_NEARS && reads != WMI_RACE_READS_VECTOR)
            return WMI_RACE_ORDERED;
        if (known)
            relation = entry->how == WMI_RACE_NEARS     ? WMI_RACE_STALE
                       : relation == WMI_RACE_UNRELATED ? WMI_RACE_UNACQUIRED
                                                        : relation;
        search.unreleased |= is_unreleased(entry, &search);
    }
    return relation == WMI_RACE_UNRELATED && search.unreleased ? WMI_RACE_UNRELEASED : relation;
}
