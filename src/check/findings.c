/* SPDX-License-Identifier: MIT */
/* What checkers find: one entry per rule and instruction. */
#include "check/findings.h"

#include <stdlib.h>

/* What tells findings of the same rule and instruction apart. */
static uint64_t other_of(const struct wmi_found *found)
{
    return found->rule->pairs ? found->first_pc : found->rule->launches ? found->launch : 0;
}

static bool is_same(const struct wmi_found *a, const struct wmi_found *b)
{
    return a->pc == b->pc && a->rule == b->rule && other_of(a) == other_of(b);
}

static struct wmi_found *slot_of(const struct wmi_found_set *set, const struct wmi_found *found)
{
    const uint64_t key = (found->pc * 31 + other_of(found)) * 31 + (uintptr_t)found->rule;
    size_t at = key * 0x9e3779b97f4a7c15ULL >> 32;
    while (set->entry[at % set->capacity].count && !is_same(&set->entry[at % set->capacity], found))
        at++;
    return &set->entry[at % set->capacity];
}

static bool make_room(struct wmi_found_set *set)
{
    if (2 * (set->count + 1) <= set->capacity)
        return true;
    struct wmi_found_set larger = {.capacity = set->capacity ? 2 * set->capacity : 64, .count = set->count};
    larger.entry = calloc(larger.capacity, sizeof *larger.entry);
    if (!larger.entry)
        return false;
    for (size_t i = 0; i < set->capacity; i++)
        if (set->entry[i].count)
            *slot_of(&larger, &set->entry[i]) = set->entry[i];
    free(set->entry);
    *set = larger;
    return true;
}

/* Which of two findings to show. Depends on their contents only. */
static bool shows_before(const struct wmi_found *a, const struct wmi_found *b)
{
    const uint64_t pairs[][2] = {
        {a->launch, b->launch},       {a->group, b->group},         {a->wave, b->wave},
        {a->address, b->address},     {a->first_pc, b->first_pc},   {a->bytes, b->bytes},
        {a->space, b->space},         {a->detail[0], b->detail[0]}, {a->detail[1], b->detail[1]},
        {a->detail[2], b->detail[2]}, {a->detail[3], b->detail[3]}, {a->detail[4], b->detail[4]},
        {a->lanes, b->lanes},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][0] != pairs[i][1])
            return pairs[i][0] < pairs[i][1];
    return false;
}

bool wmi_found_add(struct wmi_found_set *set, const struct wmi_found *found)
{
    if (!make_room(set))
        return false;
    struct wmi_found *slot = slot_of(set, found);
    const uint64_t count = slot->count + found->count;
    const size_t worded = slot->worded;
    set->count += slot->count == 0;
    if (slot->count == 0 || shows_before(found, slot))
        *slot = *found;
    slot->count = count;
    slot->worded = worded;
    return true;
}

bool wmi_found_move(struct wmi_found_set *set, struct wmi_found_set *more)
{
    bool ok = true;
    for (size_t i = 0; i < more->capacity; i++)
        if (more->entry[i].count)
            ok &= wmi_found_add(set, &more->entry[i]);
    wmi_found_free(more);
    return ok;
}

void wmi_found_free(struct wmi_found_set *set)
{
    free(set->entry);
    *set = (struct wmi_found_set){0};
}
