/* SPDX-License-Identifier: MIT */
/* Remembers the hazards of sequences of instructions.
 *
 * Hazards that are distances depend on the instructions before the one that is executed, as far back as the
 * largest distance, and on nothing else. Each takes one wait state at least. So a wave keeps its last
 * instructions, and a hash of their numbers finds what an earlier execution of the same sequence has found.
 * The exact state is made from these instructions when a sequence is new. Two sequences with the same hash of
 * 64 bits are taken for the same.
 *
 * Hazards that wait states do not resolve are looked for in each wave. What they depend on is a short list,
 * however (wmi_unsettled_save()), so that paths of waves can be remembered (wait_paths.h). */
#include "check/waits/hazard_memo.h"

#include "base/random.h"
#include "check/waits/unsettled_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    WINDOW = WMI_HAZARD_FAR, /* instructions */
    ENTRIES = 1 << 18,       /* most sequences that are remembered */
};

struct entry {
    uint64_t key; /* 0: none */
    unsigned count;
    struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE];
};

struct wmi_hazard_memo {
    const struct wmi_target *target;
    bool distances, unsettled; /* which hazards the target has */
    struct entry *entry;       /* open addressing, at most half full */
    size_t count, capacity;
    uint64_t leaves; /* what the weight of an instruction is when it leaves the window */
    struct wmi_unsettled_item item[WMI_UNSETTLED_ITEMS]; /* of the wave whose key was asked for last */
    unsigned items;
};

/* The last instructions of a wave, if the target has distances. */
struct window {
    struct executed {
        const struct wmi_hazard_facts *facts; /* NULL: the wave had not begun */
        const struct wmi_span_of_registers *spans;
        unsigned count;
        uint32_t number;
        uint64_t left; /* its part of the hash when it leaves the window */
    } recent[WINDOW];
    unsigned next; /* of `recent`, the oldest one */
    uint64_t hash; /* of `recent` */
};

struct wmi_hazard_wave {
    struct wmi_hazard_memo *memo;
    struct window window;
    bool behind; /* the state does not know the window's instructions */
    struct wmi_hazard_state state;
};

struct wmi_hazard_place {
    struct window window;
    unsigned items;
    struct wmi_unsettled_item item[];
};

#define BASE (UINT64_C(0x9E3779B97F4A7C15)) /* odd: 2^64 / golden ratio */

static uint64_t hash_of(uint32_t number)
{
    return wmi_random_bits(1, number) | 1;
}

static bool has_distances(const struct wmi_target *target)
{
    for (unsigned kind = 0; kind < WMI_HAZARD_VMEM_SCALAR_WRITE; kind++)
        if (wmi_hazard_states(target, (enum wmi_hazard_kind)kind))
            return true;
    return false;
}

struct wmi_hazard_memo *wmi_hazard_memo_create(const struct wmi_target *target)
{
    struct wmi_hazard_memo *memo = calloc(1, sizeof *memo);
    if (!memo)
        return NULL;
    memo->target = target;
    memo->distances = has_distances(target);
    memo->unsettled = wmi_unsettled_exists(target);
    memo->leaves = 1;
    for (unsigned i = 0; i < WINDOW; i++)
        memo->leaves *= BASE;
    return memo;
}

void wmi_hazard_memo_destroy(struct wmi_hazard_memo *memo)
{
    if (!memo)
        return;
    free(memo->entry);
    free(memo);
}

/* The entry of the key, or the empty one where it belongs. */
static struct entry *slot_of(const struct wmi_hazard_memo *memo, uint64_t key)
{
    size_t at = key >> 32 ^ key;
    while (memo->entry[at & (memo->capacity - 1)].key && memo->entry[at & (memo->capacity - 1)].key != key)
        at++;
    return &memo->entry[at & (memo->capacity - 1)];
}

/* Makes room for one more. False: there is none, and nothing has changed. */
static bool make_room(struct wmi_hazard_memo *memo)
{
    struct wmi_hazard_memo larger = *memo;
    if (2 * (memo->count + 1) <= memo->capacity)
        return true;
    larger.capacity = memo->capacity ? 2 * memo->capacity : 256;
    if (larger.capacity > 2 * (size_t)ENTRIES ||
        !(larger.entry = calloc(larger.capacity, sizeof *larger.entry)))
        return false;
    for (size_t i = 0; i < memo->capacity; i++)
        if (memo->entry[i].key)
            *slot_of(&larger, memo->entry[i].key) = memo->entry[i];
    free(memo->entry);
    *memo = larger;
    return true;
}

struct wmi_hazard_wave *wmi_hazard_wave_create(struct wmi_hazard_memo *memo)
{
    struct wmi_hazard_wave *wave = calloc(1, sizeof *wave);
    if (!wave)
        return NULL;
    wave->memo = memo;
    wmi_hazard_wave_begin(wave);
    return wave;
}

void wmi_hazard_wave_begin(struct wmi_hazard_wave *wave)
{
    memset(&wave->window, 0, sizeof wave->window);
    wave->behind = true;
    wmi_hazard_begin(&wave->state, wave->memo->target);
}

void wmi_hazard_wave_destroy(struct wmi_hazard_wave *wave)
{
    free(wave);
}

/* Makes the state from the last instructions. */
static void catch_up(struct wmi_hazard_wave *wave)
{
    wmi_hazard_forget_distances(&wave->state);
    for (unsigned i = 0; i < WINDOW; i++) {
        const struct executed *past = &wave->window.recent[(wave->window.next + i) % WINDOW];
        if (past->facts)
            wmi_hazard_remember_distances(&wave->state, past->facts, past->spans, past->count, past->number);
    }
    wave->behind = false;
}

/* Finds the hazards of an instruction that are distances. */
static unsigned find_distances(struct wmi_hazard_wave *wave, const struct wmi_hazard_facts *facts,
                               const struct wmi_span_of_registers *spans, unsigned count, uint32_t number,
                               struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE])
{
    struct wmi_hazard_memo *memo = wave->memo;
    struct window *window = &wave->window;
    struct executed *oldest = &window->recent[window->next];
    const uint64_t own = hash_of(number), longer = window->hash * BASE + own, key = longer ? longer : 1;
    const struct entry *known = memo->capacity ? slot_of(memo, key) : NULL;
    struct wmi_hazard_search search = {.state = &wave->state, .found = found};
    if (known && known->key) {
        search.count = known->count;
        memcpy(found, known->found, known->count * sizeof *found);
        wave->behind = true;
    } else {
        if (wave->behind)
            catch_up(wave);
        wmi_hazard_look_distances(&search, facts, spans, count);
        wmi_hazard_remember_distances(&wave->state, facts, spans, count, number);
        if (make_room(memo)) {
            struct entry *added = slot_of(memo, key);
            added->key = key;
            added->count = search.count;
            memcpy(added->found, found, search.count * sizeof *found);
            memo->count++;
        }
    }
    window->hash = longer - oldest->left;
    *oldest = (struct executed){facts, spans, count, number, own * memo->leaves};
    window->next = (window->next + 1) % WINDOW;
    return search.count;
}

unsigned wmi_hazard_wave_execute(struct wmi_hazard_wave *wave, const struct wmi_hazard_facts *facts,
                                 const struct wmi_span_of_registers *spans, unsigned count, uint32_t number,
                                 struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE])
{
    struct wmi_hazard_search search = {.state = &wave->state, .found = found};
    if (wave->memo->distances)
        search.count = find_distances(wave, facts, spans, count, number, found);
    if (wave->memo->unsettled) {
        wmi_unsettled_look(&search, facts, spans, count);
        wmi_unsettled_remember(&wave->state.unsettled, facts, spans, count, number);
    }
    return search.count;
}

/* ---- places ---- */

static uint64_t key_of_item(uint64_t key, const struct wmi_unsettled_item *item)
{
    key = wmi_random_bits(key, (uint64_t)item->number << 32 | (uint64_t)item->reg << 8 | item->what);
    return wmi_random_bits(key, (uint64_t)item->valus << 24 | (uint64_t)item->transcendentals << 16 |
                                    (uint64_t)item->exec << 8 | item->flags);
}

uint64_t wmi_hazard_wave_key(const struct wmi_hazard_wave *wave, unsigned reach)
{
    struct wmi_hazard_memo *memo = wave->memo;
    uint64_t key = wave->window.hash;
    memo->items =
        memo->unsettled ? wmi_unsettled_save(&wave->state.unsettled, memo->target, reach, memo->item) : 0;
    for (unsigned i = 0; i < memo->items; i++)
        key = key_of_item(key, &memo->item[i]);
    return key;
}

struct wmi_hazard_place *wmi_hazard_wave_place(const struct wmi_hazard_wave *wave)
{
    const struct wmi_hazard_memo *memo = wave->memo;
    struct wmi_hazard_place *place = malloc(sizeof *place + memo->items * sizeof *place->item);
    if (!place)
        return NULL;
    place->window = wave->window;
    place->items = memo->items;
    memcpy(place->item, memo->item, memo->items * sizeof *memo->item);
    return place;
}

void wmi_hazard_wave_resume(struct wmi_hazard_wave *wave, const struct wmi_hazard_place *place)
{
    wave->window = place->window;
    wave->behind = true;
    if (wave->memo->unsettled)
        wmi_unsettled_restore(&wave->state.unsettled, place->item, place->items);
}
