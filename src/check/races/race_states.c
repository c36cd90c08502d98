/* SPDX-License-Identifier: MIT */
/* States of blocks of shadow memory, and the steps between them. */
#include "check/races/race_states.h"

#include <stdlib.h>
#include <string.h>

enum { INDEX = 2 * WMI_RACE_STATES, STEP_COST = 32 };

/* A state that is being made. */
struct draft {
    struct wmi_race_state_entry entry[WMI_RACE_STATE_ENTRIES];
    uint32_t count;
};

/* A step that says that the block needs another form. */
static const struct wmi_race_step no_state = {.outcome = WMI_RACE_NO_STATE};

static bool begin(struct wmi_race_states *states)
{
    if (!states->state)
        states->state = calloc(WMI_RACE_STATES, sizeof(struct wmi_race_state *));
    if (!states->index)
        states->index = calloc(INDEX, sizeof *states->index);
    if (!states->step)
        states->step = calloc(WMI_RACE_STEPS, sizeof *states->step);
    if (!states->state || !states->index || !states->step)
        return false;
    if (!states->count && !(states->state[0] = calloc(1, sizeof *states->state[0])))
        return false;
    if (!states->count)
        states->credit = WMI_RACE_MOST_CREDIT;
    states->count += !states->count;
    return true;
}

void wmi_race_states_free(struct wmi_race_states *states)
{
    for (uint32_t i = 0; i < states->count; i++)
        free(states->state[i]);
    free(states->state);
    free(states->index);
    free(states->step);
    *states = (struct wmi_race_states){0};
}

void wmi_race_states_begin(struct wmi_race_states *states)
{
    if (states->count > WMI_RACE_STATES / 2)
        wmi_race_states_free(states);
}

static uint64_t hash_of(const struct draft *draft)
{
    uint64_t hash = draft->count;
    for (uint32_t i = 0; i < draft->count; i++) {
        const struct wmi_race_state_entry *entry = &draft->entry[i];
        const uint64_t words[] = {entry->bytes[0], entry->bytes[1],
                                  (uint64_t)entry->epoch << 32 | (uint64_t)entry->slot << 16 |
                                      (uint64_t)entry->role << 8 | entry->owner};
        for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
            hash = (hash ^ words[k] ^ hash >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return hash ^ hash >> 32;
}

/* Finds or adds the state. False: there are too many. */
static bool intern(struct wmi_race_states *states, const struct draft *draft, uint32_t owners,
                   uint32_t *number)
{
    const uint64_t hash = hash_of(draft);
    const size_t size = draft->count * sizeof *draft->entry;
    size_t at = hash & (INDEX - 1);
    *number = 0;
    if (!draft->count)
        return true;
    for (; states->index[at]; at = (at + 1) & (INDEX - 1)) {
        const struct wmi_race_state *state = states->state[states->index[at]];
        if (state->hash == hash && state->count == draft->count &&
            !memcmp(state->entry, draft->entry, size)) {
            *number = states->index[at];
            return true;
        }
    }
    struct wmi_race_state *state = states->count < WMI_RACE_STATES ? malloc(sizeof *state + size) : NULL;
    if (!state)
        return false;
    *state = (struct wmi_race_state){.hash = hash, .count = draft->count, .owners = owners};
    memcpy(state->entry, draft->entry, size);
    *number = states->index[at] = states->count;
    states->state[states->count++] = state;
    return true;
}

/* Sets the entry of some bytes in a role. False: there are too many entries. */
static bool put(struct draft *draft, enum wmi_race_role_of role, const struct wmi_race_state_entry *access,
                const uint64_t bytes[2])
{
    struct wmi_race_state_entry *existing = NULL;
    uint32_t count = 0;
    if (!(bytes[0] | bytes[1]))
        return true;
    for (uint32_t i = 0; i < draft->count; i++) {
        struct wmi_race_state_entry entry = draft->entry[i];
        const bool same = entry.role == role && entry.owner == access->owner &&
                          entry.epoch == access->epoch && entry.slot == access->slot;
        if (entry.role == role && !same) {
            entry.bytes[0] &= ~bytes[0];
            entry.bytes[1] &= ~bytes[1];
        }
        if (!(entry.bytes[0] | entry.bytes[1]))
            continue;
        draft->entry[count] = entry;
        existing = same ? &draft->entry[count] : existing;
        count++;
    }
    draft->count = count;
    if (!existing) {
        if (count == WMI_RACE_STATE_ENTRIES)
            return false;
        existing = &draft->entry[draft->count++];
        *existing = (struct wmi_race_state_entry){
            .slot = access->slot, .role = (uint8_t)role, .owner = access->owner, .epoch = access->epoch};
    }
    existing->bytes[0] |= bytes[0];
    existing->bytes[1] |= bytes[1];
    return true;
}

/* Numbers the owners that are left, and their epochs from the first that is left on. Returns how many owners
 * there are. */
static uint32_t number_owners(struct draft *draft, struct wmi_race_step *step)
{
    uint8_t number[WMI_RACE_OWNERS + 1];
    uint32_t first[WMI_RACE_OWNERS + 1], owners = 0;
    for (unsigned i = 0; i <= WMI_RACE_OWNERS; i++) {
        first[i] = UINT32_MAX;
        for (uint32_t k = 0; k < draft->count; k++)
            if (draft->entry[k].owner == i && draft->entry[k].epoch < first[i])
                first[i] = draft->entry[k].epoch;
        number[i] = (uint8_t)owners;
        if (first[i] == UINT32_MAX)
            continue;
        if (owners < WMI_RACE_OWNERS) {
            step->from[owners] = (uint8_t)i;
            step->epochs[owners] = (uint16_t)first[i];
        }
        owners++;
    }
    for (uint32_t k = 0; k < draft->count; k++) {
        draft->entry[k].epoch -= first[draft->entry[k].owner];
        draft->entry[k].owner = number[draft->entry[k].owner];
    }
    return owners;
}

static unsigned of_owner(uint64_t all, unsigned owner)
{
    return all >> 16 * owner & UINT16_MAX;
}

static bool is_ordered(const struct wmi_race_step_key *key, const struct wmi_race_state_entry *entry)
{
    const unsigned relation = of_owner(key->relation, entry->owner);
    return relation & WMI_RACE_OWN || entry->epoch < relation;
}

static struct wmi_race_step compute(struct wmi_race_states *states, const struct wmi_race_step_key *key)
{
    const struct wmi_race_state *state = states->state[(uint32_t)key->what];
    const bool writes = key->what >> 48 & 1, dwords = key->what >> 49 & 1;
    const uint64_t bytes[2] = {dwords ? wmi_race_bytes_of((uint16_t)key->bytes[0]) : key->bytes[0],
                               dwords ? wmi_race_bytes_of((uint16_t)(key->bytes[0] >> 16)) : key->bytes[1]};
    struct wmi_race_step step = {.key = *key, .outcome = WMI_RACE_NO_STATE};
    struct draft draft = {0};
    struct wmi_race_state_entry access = {.slot = (uint16_t)(key->what >> 32), .owner = WMI_RACE_OWNERS};
    uint64_t taken[2] = {0}; /* bytes that another wave has read */
    for (uint32_t i = 0; i < state->count; i++)
        if (state->entry[i].epoch >= of_owner(key->gone, state->entry[i].owner))
            draft.entry[draft.count++] = state->entry[i];
    for (uint32_t i = 0; i < draft.count; i++) {
        const struct wmi_race_state_entry *entry = &draft.entry[i];
        const uint64_t low = entry->bytes[0] & bytes[0], high = entry->bytes[1] & bytes[1];
        if (!(low | high) || is_ordered(key, entry))
            continue;
        if (writes || entry->role == WMI_RACE_WRITE) {
            step.outcome = WMI_RACE_CONFLICTS_NOW;
            return step;
        }
        taken[0] |= entry->role == WMI_RACE_READ ? low : 0;
        taken[1] |= entry->role == WMI_RACE_READ ? high : 0;
    }
    for (unsigned i = 0; i < state->owners; i++)
        if (of_owner(key->relation, i) & WMI_RACE_OWN) {
            access.owner = (uint8_t)i;
            access.epoch = of_owner(key->relation, i) & ~(uint32_t)WMI_RACE_OWN;
        }
    const uint64_t rest[2] = {bytes[0] & ~taken[0], bytes[1] & ~taken[1]};
    if (access.epoch >= WMI_RACE_STATE_EPOCHS ||
        !put(&draft, writes ? WMI_RACE_WRITE : WMI_RACE_READ, &access, rest) ||
        !put(&draft, WMI_RACE_OTHER, &access, taken))
        return step;
    const uint32_t owners = number_owners(&draft, &step);
    if (owners <= WMI_RACE_OWNERS && intern(states, &draft, owners, &step.next)) {
        step.outcome = WMI_RACE_STEPS_ON;
        step.owners = (uint8_t)owners;
    }
    return step;
}

const struct wmi_race_step *wmi_race_find_step(struct wmi_race_states *states,
                                               const struct wmi_race_step_key *key)
{
    if (!begin(states) || states->credit < STEP_COST)
        return &no_state;
    const size_t at = wmi_race_step_at(key);
    states->credit -= STEP_COST;
    states->step[at ^ 1] = states->step[at];
    states->step[at] = compute(states, key);
    return &states->step[at];
}
