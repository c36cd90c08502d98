/* SPDX-License-Identifier: MIT */
/* Remembers the hazards of sequences of instructions.
 *
 * On targets whose hazards are all distances, those of an instruction depend on the instructions before it,
 * as far back as the largest distance, and on nothing else. Each takes one wait state at least. So a wave
 * keeps its last WMI_HAZARD_WINDOW instructions, and a hash of their numbers finds what an earlier execution
 * of the same sequence has found. The exact state is made from these instructions when a sequence is new. Two
 * sequences with the same hash of 64 bits are taken for the same. */
#include "check/hazard_memo.h"

#include "base/random.h"

#include <stdlib.h>
#include <string.h>

enum {
    ENTRIES = 1 << 18, /* most sequences that are remembered */
};

struct entry {
    uint64_t key; /* 0: none */
    unsigned count;
    struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE];
};

struct wmi_hazard_memo {
    struct entry *entry; /* open addressing, at most half full */
    size_t count, capacity;
    uint64_t leaves; /* what the weight of an instruction is when it leaves the window */
};

struct wmi_hazard_wave {
    struct wmi_hazard_memo *memo; /* NULL: the state is kept up to date */
    struct wmi_hazard_window window;
    bool behind; /* the state does not know the window's instructions */
    const struct wmi_target *target;
    struct wmi_hazard_state state;
};

#define BASE (UINT64_C(0x9E3779B97F4A7C15)) /* odd: 2^64 / golden ratio */

static uint64_t hash_of(uint32_t number)
{
    return wmi_random_bits(1, number) | 1;
}

/* Whether an instruction that is far away can still matter. */
static bool has_lasting_hazards(const struct wmi_target *target)
{
    for (unsigned kind = WMI_HAZARD_VMEM_SCALAR_WRITE; kind < WMI_HAZARD_COUNT; kind++)
        if (wmi_hazard_states(target, (enum wmi_hazard_kind)kind))
            return true;
    return false;
}

struct wmi_hazard_memo *wmi_hazard_memo_create(const struct wmi_target *target)
{
    struct wmi_hazard_memo *memo = has_lasting_hazards(target) ? NULL : calloc(1, sizeof *memo);
    if (!memo)
        return NULL;
    memo->leaves = 1;
    for (unsigned i = 0; i < WMI_HAZARD_WINDOW; i++)
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

struct wmi_hazard_wave *wmi_hazard_wave_create(void)
{
    return malloc(sizeof(struct wmi_hazard_wave));
}

static void clear_state(struct wmi_hazard_wave *wave)
{
    memset(&wave->state, 0, sizeof wave->state);
    wave->state.target = wave->target;
}

void wmi_hazard_wave_begin(struct wmi_hazard_wave *wave, const struct wmi_target *target,
                           struct wmi_hazard_memo *memo)
{
    wave->memo = memo;
    wave->target = target;
    memset(&wave->window, 0, sizeof wave->window);
    wave->behind = memo;
    if (!memo)
        clear_state(wave);
}

/* Makes the state from the last instructions. */
static void catch_up(struct wmi_hazard_wave *wave)
{
    struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE];
    clear_state(wave);
    for (unsigned i = 0; i < WMI_HAZARD_WINDOW; i++) {
        const struct wmi_hazard_executed *past =
            &wave->window.recent[(wave->window.next + i) % WMI_HAZARD_WINDOW];
        if (past->facts)
            wmi_hazard_execute(&wave->state, past->facts, past->spans, past->count, past->number, found);
    }
    wave->behind = false;
}

unsigned wmi_hazard_wave_execute(struct wmi_hazard_wave *wave, const struct wmi_hazard_facts *facts,
                                 const struct wmi_span_of_registers *spans, unsigned count, uint32_t number,
                                 struct wmi_hazard_found found[WMI_HAZARDS_AT_ONCE])
{
    struct wmi_hazard_memo *memo = wave->memo;
    if (!memo)
        return wmi_hazard_execute(&wave->state, facts, spans, count, number, found);
    struct wmi_hazard_window *window = &wave->window;
    struct wmi_hazard_executed *oldest = &window->recent[window->next];
    const uint64_t own = hash_of(number), longer = window->hash * BASE + own, key = longer ? longer : 1;
    const struct entry *known = memo->capacity ? slot_of(memo, key) : NULL;
    unsigned hazards;
    if (known && known->key) {
        hazards = known->count;
        memcpy(found, known->found, hazards * sizeof *found);
        wave->behind = true;
    } else {
        if (wave->behind)
            catch_up(wave);
        hazards = wmi_hazard_execute(&wave->state, facts, spans, count, number, found);
        if (make_room(memo)) {
            struct entry *added = slot_of(memo, key);
            added->key = key;
            added->count = hazards;
            memcpy(added->found, found, hazards * sizeof *found);
            memo->count++;
        }
    }
    window->hash = longer - oldest->left;
    *oldest = (struct wmi_hazard_executed){facts, spans, count, number, own * memo->leaves};
    window->next = (window->next + 1) % WMI_HAZARD_WINDOW;
    return hazards;
}

const struct wmi_hazard_window *wmi_hazard_wave_window(const struct wmi_hazard_wave *wave)
{
    return &wave->window;
}

void wmi_hazard_wave_resume(struct wmi_hazard_wave *wave, const struct wmi_hazard_window *window)
{
    wave->window = *window;
    wave->behind = true;
}
