/* SPDX-License-Identifier: MIT */
/* Puts the logs of workgroups in order and models them round by round. */
#include "profile/caches/rounds.h"

#include <pthread.h>
#include <stdlib.h>

/* Workgroups whose log is complete, by number. */
struct round {
    struct wmi_log_group **groups;
    size_t count, capacity;
    uint64_t words;
};

struct wmi_rounds {
    struct wmi_caches *caches;
    const struct wmi_log_instruction *instructions;
    wmi_rounds_sink *sink;
    void *user;
    pthread_mutex_t lock; /* guards all below, the caches excepted: they are the thread's whose turn it is */
    pthread_cond_t done;
    struct wmi_log_group *unused;
    struct wmi_log_group *early; /* by number: those before them have not ended yet */
    uint64_t next;               /* number of the workgroup that the round waits for */
    struct wmi_residence residence;
    struct round filling, spare; /* spare: room without a round */
    uint64_t complete, modelled; /* rounds */
    struct wmi_rounds_facts facts;
};

struct wmi_rounds *wmi_rounds_create(const struct wm_gpu *gpu, const struct wmi_vector_rules *rules,
                                     const struct wmi_log_instruction *instructions)
{
    struct wmi_rounds *rounds = calloc(1, sizeof *rounds);
    if (!rounds)
        return NULL;
    rounds->caches = wmi_caches_create(gpu, rules);
    rounds->instructions = instructions;
    pthread_mutex_init(&rounds->lock, NULL);
    pthread_cond_init(&rounds->done, NULL);
    if (rounds->caches)
        return rounds;
    wmi_rounds_destroy(rounds);
    return NULL;
}

static void destroy_list(struct wmi_log_group *group)
{
    while (group) {
        struct wmi_log_group *next = group->next;
        wmi_log_group_destroy(group);
        group = next;
    }
}

static void destroy_round(struct round *round)
{
    for (size_t i = 0; i < round->count; i++)
        wmi_log_group_destroy(round->groups[i]);
    free(round->groups);
}

void wmi_rounds_destroy(struct wmi_rounds *rounds)
{
    if (!rounds)
        return;
    wmi_caches_destroy(rounds->caches);
    destroy_list(rounds->unused);
    destroy_list(rounds->early);
    destroy_round(&rounds->filling);
    free(rounds->spare.groups);
    pthread_mutex_destroy(&rounds->lock);
    pthread_cond_destroy(&rounds->done);
    free(rounds);
}

void wmi_rounds_set_sink(struct wmi_rounds *rounds, wmi_rounds_sink *sink, void *user)
{
    rounds->sink = sink;
    rounds->user = user;
}

void wmi_rounds_begin(struct wmi_rounds *rounds, struct wmi_residence residence)
{
    rounds->next = 0;
    rounds->residence = residence;
    rounds->facts =
        (struct wmi_rounds_facts){.cuts = wmi_caches_begin(rounds->caches, residence) ? 0 : WM_CUT_NO_MEMORY};
}

struct wmi_log_group *wmi_rounds_take(struct wmi_rounds *rounds, uint64_t number, uint32_t waves)
{
    pthread_mutex_lock(&rounds->lock);
    struct wmi_log_group *group = rounds->unused;
    if (group)
        rounds->unused = group->next;
    pthread_mutex_unlock(&rounds->lock);
    if (group && group->capacity < waves) {
        wmi_log_group_destroy(group);
        group = NULL;
    }
    if (!group)
        group = wmi_log_group_create(waves);
    if (group)
        wmi_log_group_reset(group, number, waves);
    return group;
}

/* ---- with the lock held ---- */

static bool append(struct round *round, struct wmi_log_group *group)
{
    if (round->count == round->capacity) {
        const size_t capacity = round->capacity ? 2 * round->capacity : 256;
        struct wmi_log_group **groups = realloc(round->groups, capacity * sizeof(struct wmi_log_group *));
        if (!groups)
            return false;
        round->groups = groups;
        round->capacity = capacity;
    }
    round->groups[round->count++] = group;
    round->words += group->words;
    return true;
}

/* In logs all workgroups have their scratch memory at one place. Each workgroup of a round has its own. */
static void place_scratch(const struct wmi_rounds *rounds, struct wmi_log_group *group)
{
    const struct wmi_residence *residence = &rounds->residence;
    const uint64_t place = group->number % wmi_caches_round_groups(rounds->caches);
    if (place && residence->scratch_bytes)
        wmi_log_move(group, rounds->instructions, residence->scratch, residence->scratch_bytes,
                     place * residence->scratch_bytes);
}

/* Returns what of enum wm_profile_cut happened. */
static unsigned model(struct wmi_rounds *rounds, const struct round *round)
{
    unsigned cuts = 0;
    uint32_t slots = 0;
    for (size_t i = 0; i < round->count; i++) {
        if (round->groups[i]->slots > slots)
            slots = round->groups[i]->slots;
        cuts |= round->groups[i]->cuts;
        if (rounds->sink)
            rounds->sink(rounds->user, round->groups[i]);
        place_scratch(rounds, round->groups[i]);
    }
    return cuts | wmi_caches_round(rounds->caches, round->groups, round->count, rounds->instructions, slots);
}

/* The round that is being filled is complete: this thread models it when those before it are done. The lock
 * is free meanwhile. */
static void close_round(struct wmi_rounds *rounds)
{
    struct round round = rounds->filling;
    const uint64_t number = rounds->complete++;
    struct wmi_rounds_facts *facts = &rounds->facts;
    rounds->filling = rounds->spare;
    rounds->spare = (struct round){0};
    while (rounds->modelled != number)
        pthread_cond_wait(&rounds->done, &rounds->lock);
    pthread_mutex_unlock(&rounds->lock);
    const unsigned cuts = model(rounds, &round);
    pthread_mutex_lock(&rounds->lock);
    rounds->modelled++;
    pthread_cond_broadcast(&rounds->done);
    facts->cuts |= cuts;
    if (round.count > facts->most_groups)
        facts->most_groups = round.count;
    for (size_t i = 0; i < round.count; i++) {
        struct wmi_log_group *group = round.groups[i];
        facts->workgroups++;
        facts->waves += group->waves;
        facts->instructions += group->instructions;
        group->next = rounds->unused;
        rounds->unused = group;
    }
    round.count = 0;
    round.words = 0;
    if (rounds->spare.groups)
        free(round.groups);
    else
        rounds->spare = round;
}

/* Takes workgroups into the round as long as the next one is there; all_left: whichever comes next. */
static void fill(struct wmi_rounds *rounds, bool all_left)
{
    const uint64_t most = wmi_caches_round_groups(rounds->caches);
    struct wmi_log_group *group;
    while ((group = rounds->early) && (all_left || group->number == rounds->next)) {
        struct round *round = &rounds->filling;
        const bool large = round->count && round->words + group->words > WMI_ROUND_WORDS;
        const bool other = round->count && round->groups[0]->number / most != group->number / most;
        if (large || other) {
            rounds->facts.cuts |= other ? 0 : WM_CUT_ROUND;
            close_round(rounds);
            continue; /* the lock was free: look again */
        }
        rounds->early = group->next;
        rounds->next = group->number + 1;
        if (!append(round, group)) {
            rounds->facts.cuts |= WM_CUT_NO_MEMORY;
            wmi_log_group_destroy(group);
        } else if (rounds->next % most == 0) {
            close_round(rounds);
        }
    }
}

void wmi_rounds_give(struct wmi_rounds *rounds, struct wmi_log_group *group)
{
    pthread_mutex_lock(&rounds->lock);
    struct wmi_log_group **place = &rounds->early;
    while (*place && (*place)->number < group->number)
        place = &(*place)->next;
    group->next = *place;
    *place = group;
    fill(rounds, false);
    pthread_mutex_unlock(&rounds->lock);
}

void wmi_rounds_end(struct wmi_rounds *rounds)
{
    pthread_mutex_lock(&rounds->lock);
    fill(rounds, true);
    if (rounds->filling.count)
        close_round(rounds);
    wmi_caches_end(rounds->caches);
    pthread_mutex_unlock(&rounds->lock);
}

struct wmi_rounds_facts wmi_rounds_facts(const struct wmi_rounds *rounds)
{
    return rounds->facts;
}

struct wmi_caches *wmi_rounds_caches(struct wmi_rounds *rounds)
{
    return rounds->caches;
}
