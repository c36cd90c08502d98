/* SPDX-License-Identifier: MIT */
/* States of blocks of shadow memory: blocks whose accesses follow the same pattern share one description.
 *
 * A state says which instruction of which owner made the last accesses to each byte of a block, and how many
 * epochs behind the first of that owner. Its owners are numbers; the block itself has only the number of its
 * state and, for each owner, a wave and its first epoch. Most blocks go through few states, so that the state
 * that follows another one by an access is looked up, and blocks in equal states are updated together. */
#ifndef WMI_RACE_STATES_H
#define WMI_RACE_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WMI_RACE_OWNERS = 3,
    WMI_RACE_STATE_ENTRIES = 64, /* of one state */
    WMI_RACE_STATES = 1 << 13,
    WMI_RACE_STEP_BITS = 12,
    WMI_RACE_STEPS = 1 << WMI_RACE_STEP_BITS, /* of the cache of steps */
    /* Accesses without a pattern reach new states all the time, and are cheaper without states. */
    WMI_RACE_MOST_CREDIT = 1 << 16,
};

/* The last write of a byte, a read, and a read by another wave. */
enum wmi_race_role_of { WMI_RACE_WRITE, WMI_RACE_READ, WMI_RACE_OTHER };

/* The last accesses of one instruction of one owner to some bytes of the block. */
struct wmi_race_state_entry {
    uint64_t bytes[2];
    uint16_t slot;
    uint8_t role; /* enum wmi_race_role_of */
    uint8_t owner;
    uint32_t epoch; /* relative to the owner's first */
};

struct wmi_race_state {
    uint64_t hash;
    uint32_t count, owners;
    struct wmi_race_state_entry entry[];
};

enum {
    WMI_RACE_STATE_EPOCHS = 1 << 8, /* of one owner in one state */
    WMI_RACE_OWN = 1 << 15,
};

/* What an access does to a state. */
struct wmi_race_step_key {
    uint64_t bytes[2]; /* or a mask of dwords, and 0 */
    uint64_t what;     /* wmi_race_step_what() */
    /* 16 bits for each owner: how many of its epochs are ordered before the access, at most
     * WMI_RACE_STATE_EPOCHS; or WMI_RACE_OWN plus the access's epoch, if that is the owner's, relative to the
     * first. */
    uint64_t relation;
    /* The same: how many of its epochs are ordered before whatever waves do from now on. */
    uint64_t gone;
};

/* slot: not 0. */
static inline uint64_t wmi_race_step_what(uint32_t state, unsigned slot, bool writes, bool dwords)
{
    return state | (uint64_t)slot << 32 | (uint64_t)writes << 48 | (uint64_t)dwords << 49;
}

enum wmi_race_outcome {
    WMI_RACE_STEPS_ON,
    WMI_RACE_CONFLICTS_NOW, /* an access that is not ordered before it overlaps it */
    WMI_RACE_NO_STATE,      /* the block needs another form */
};

struct wmi_race_step {
    struct wmi_race_step_key key;
    uint32_t next; /* state */
    uint8_t owners, outcome;
    /* For each owner of the next state, its number in this one, or WMI_RACE_OWNERS for the access, and by how
     * much its first epoch increases. */
    uint8_t from[WMI_RACE_OWNERS];
    uint16_t epochs[WMI_RACE_OWNERS];
};

struct wmi_race_states {
    struct wmi_race_state **state; /* state 0 has no entries */
    uint32_t count;
    uint32_t *index;            /* hash table of their numbers; 0: empty */
    struct wmi_race_step *step; /* at or beside the key's hash; all 0 if it is unused */
    int32_t credit;             /* computing steps costs it, finding them restores it */
};

/* The bytes of half a block's dwords. */
static inline uint64_t wmi_race_bytes_of(uint16_t dwords)
{
    uint64_t bits = dwords;
    bits = (bits | bits << 24) & UINT64_C(0x000000ff000000ff);
    bits = (bits | bits << 12) & UINT64_C(0x000f000f000f000f);
    bits = (bits | bits << 6) & UINT64_C(0x0303030303030303);
    bits = (bits | bits << 3) & UINT64_C(0x1111111111111111);
    return bits * 15;
}

void wmi_race_states_free(struct wmi_race_states *states);
/* Called when no block has a state. */
void wmi_race_states_begin(struct wmi_race_states *states);
/* Finds out what the access does, and keeps it in the cache. */
const struct wmi_race_step *wmi_race_find_step(struct wmi_race_states *states,
                                               const struct wmi_race_step_key *key);

static inline size_t wmi_race_step_at(const struct wmi_race_step_key *key)
{
    const uint64_t hash = key->bytes[0] * UINT64_C(0x9e3779b97f4a7c15) ^
                          key->bytes[1] * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                          key->what * UINT64_C(0xd6e8feb86659fd93) ^
                          (key->relation ^ key->gone << 8) * UINT64_C(0xa0761d6478bd642f);
    return hash >> (64 - WMI_RACE_STEP_BITS);
}

static inline bool wmi_race_is_key(const struct wmi_race_step_key *a, const struct wmi_race_step_key *b)
{
    return !((a->bytes[0] ^ b->bytes[0]) | (a->bytes[1] ^ b->bytes[1]) | (a->what ^ b->what) |
             (a->relation ^ b->relation) | (a->gone ^ b->gone));
}

static inline const struct wmi_race_step *wmi_race_step(struct wmi_race_states *states,
                                                        const struct wmi_race_step_key *key)
{
    const size_t at = wmi_race_step_at(key);
    const struct wmi_race_step *step = states->step ? &states->step[at] : NULL;
    if (!step)
        return wmi_race_find_step(states, key);
    if (!wmi_race_is_key(&step->key, key) && !wmi_race_is_key(&(step = &states->step[at ^ 1])->key, key))
        return wmi_race_find_step(states, key);
    states->credit += states->credit < WMI_RACE_MOST_CREDIT;
    return step;
}

#endif
