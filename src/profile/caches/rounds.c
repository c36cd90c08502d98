/* SPDX-License-Identifier: MIT */
/* Puts the logs of workgroups in order and models them round by round.
 *
 * A thread models complete rounds while the next one is being logged. It is started for the first round that
 * does not end the dispatch, and ends with the dispatch. */
#include "profile/caches/rounds.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    STOCK = 8,             /* logs that a thread takes or hands back at a time, */
    STOCK_WORDS = 1 << 12, /* unless one is larger */
};

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
    pthread_cond_t changed;
    struct wmi_log_group *unused;
    struct wmi_log_group *early; /* by number: those before them have not ended yet */
    uint64_t next;               /* number of the workgroup that the round waits for */
    struct wmi_residence residence;
    struct round filling, spare; /* spare: room without a round */
    struct round before;         /* waves of it may still be modelled */
    struct round modelling;      /* in the hands of the thread; no groups: the thread has nothing to do */
    uint64_t complete, handed;   /* rounds that were filled; of which were handed over, in order */
    pthread_t thread;
    bool may_start, has_thread;
    bool ends; /* no further round comes */
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
    pthread_cond_init(&rounds->changed, NULL);
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
    destroy_round(&rounds->before);
    free(rounds->spare.groups);
    pthread_mutex_destroy(&rounds->lock);
    pthread_cond_destroy(&rounds->changed);
    free(rounds);
}

void wmi_rounds_set_sink(struct wmi_rounds *rounds, wmi_rounds_sink *sink, void *user)
{
    rounds->sink = sink;
    rounds->user = user;
}

void wmi_rounds_begin(struct wmi_rounds *rounds, struct wmi_residence residence, bool beside)
{
    rounds->next = residence.first;
    rounds->may_start = beside;
    rounds->ends = false;
    rounds->residence = residence;
    rounds->facts =
        (struct wmi_rounds_facts){.cuts = wmi_caches_begin(rounds->caches, residence) ? 0 : WM_CUT_NO_MEMORY};
}

/* The start of the logs, which the thread of the rounds has read, and so may be in another core's caches. */
static void prefetch(const struct wmi_log_group *group)
{
    enum { LINES = 3, LINE = 64 / sizeof(uint64_t) };
    for (uint32_t wave = 0; wave < group->waves; wave++)
        for (unsigned line = 0; group->wave[wave].words && line < LINES; line++)
            __builtin_prefetch(group->wave[wave].words + line * LINE, 1);
}

static void take_stock(struct wmi_rounds *rounds, struct wmi_rounds_stock *stock)
{
    pthread_mutex_lock(&rounds->lock);
    struct wmi_log_group **end = &rounds->unused;
    for (unsigned i = 0; i < STOCK && *end; i++)
        end = &(*end)->next;
    stock->unused = rounds->unused;
    rounds->unused = *end;
    *end = NULL;
    pthread_mutex_unlock(&rounds->lock);
}

struct wmi_log_group *wmi_rounds_take(struct wmi_rounds *rounds, struct wmi_rounds_stock *stock,
                                      uint64_t number, uint32_t waves)
{
    if (!stock->unused)
        take_stock(rounds, stock);
    struct wmi_log_group *group = stock->unused;
    if (group)
        stock->unused = group->next;
    if (group && group->capacity < waves) {
        wmi_log_group_destroy(group);
        group = NULL;
    }
    if (!group)
        group = wmi_log_group_create(waves);
    if (group) {
        wmi_log_group_reset(group, number, waves);
        group->likely_words = stock->likely_words;
        prefetch(group);
    }
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

/* Puts the logs of the round back, which are linked from the last to the first. */
static void give_back(struct wmi_rounds *rounds, struct round round)
{
    if (round.count) {
        round.groups[0]->next = rounds->unused;
        rounds->unused = round.groups[round.count - 1];
    }
    round.count = 0;
    round.words = 0;
    if (rounds->spare.groups)
        free(round.groups);
    else
        rounds->spare = round;
}

/* Models a round, whose turn it is; the lock is free meanwhile. The round has at least one log. */
static void finish_round(struct wmi_rounds *rounds, struct round round)
{
    struct wmi_rounds_facts *facts = &rounds->facts;
    uint64_t waves = 0, instructions = 0;
    pthread_mutex_unlock(&rounds->lock);
    const unsigned cuts = model(rounds, &round);
    /* Reading the logs takes long, because other threads wrote them: not while these wait for the lock. */
    for (size_t i = 0; i < round.count; i++) {
        struct wmi_log_group *group = round.groups[i];
        waves += group->waves;
        instructions += group->instructions;
        group->next = i ? round.groups[i - 1] : NULL;
    }
    pthread_mutex_lock(&rounds->lock);
    facts->cuts |= cuts;
    if (round.count > facts->most_groups)
        facts->most_groups = round.count;
    facts->workgroups += round.count;
    facts->waves += waves;
    facts->instructions += instructions;
    give_back(rounds, rounds->before);
    rounds->before = round;
}

static void *work(void *argument)
{
    struct wmi_rounds *rounds = argument;
    pthread_mutex_lock(&rounds->lock);
    for (;;) {
        while (!rounds->modelling.count && !rounds->ends)
            pthread_cond_wait(&rounds->changed, &rounds->lock);
        if (!rounds->modelling.count)
            break;
        finish_round(rounds, rounds->modelling);
        rounds->modelling = (struct round){0};
        pthread_cond_broadcast(&rounds->changed);
    }
    pthread_mutex_unlock(&rounds->lock);
    return NULL;
}

/* The round that is being filled is complete: hands it over when the thread is done with those before it. The
 * lock may be free meanwhile. */
static void close_round(struct wmi_rounds *rounds)
{
    const struct round round = rounds->filling;
    const uint64_t number = rounds->complete++;
    rounds->filling = rounds->spare;
    rounds->spare = (struct round){0};
    while (rounds->handed != number || rounds->modelling.count)
        pthread_cond_wait(&rounds->changed, &rounds->lock);
    if (rounds->may_start && !rounds->has_thread && !rounds->ends)
        rounds->has_thread = !pthread_create(&rounds->thread, NULL, work, rounds);
    if (rounds->has_thread)
        rounds->modelling = round;
    else
        finish_round(rounds, round);
    rounds->handed++;
    pthread_cond_broadcast(&rounds->changed);
}

/* Returns when the thread has modelled what it was given. */
static void end_thread(struct wmi_rounds *rounds)
{
    rounds->ends = true;
    if (!rounds->has_thread)
        return;
    pthread_cond_broadcast(&rounds->changed);
    pthread_mutex_unlock(&rounds->lock);
    pthread_join(rounds->thread, NULL);
    pthread_mutex_lock(&rounds->lock);
    rounds->has_thread = false;
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

/* Puts the complete logs in order, and into rounds. */
static void give_stock(struct wmi_rounds *rounds, struct wmi_rounds_stock *stock)
{
    for (struct wmi_log_group *group; (group = stock->complete);) {
        struct wmi_log_group **place = &rounds->early;
        stock->complete = group->next;
        while (*place && (*place)->number < group->number)
            place = &(*place)->next;
        group->next = *place;
        *place = group;
    }
    stock->complete_count = 0;
    fill(rounds, false);
}

void wmi_rounds_give(struct wmi_rounds *rounds, struct wmi_rounds_stock *stock, struct wmi_log_group *group)
{
    if (group->waves)
        stock->likely_words = group->words / group->waves * 5 / 4;
    group->next = stock->complete;
    stock->complete = group;
    if (++stock->complete_count < STOCK && group->words <= STOCK_WORDS)
        return;
    pthread_mutex_lock(&rounds->lock);
    give_stock(rounds, stock);
    pthread_mutex_unlock(&rounds->lock);
}

void wmi_rounds_leave(struct wmi_rounds *rounds, struct wmi_rounds_stock *stock)
{
    pthread_mutex_lock(&rounds->lock);
    give_stock(rounds, stock);
    for (struct wmi_log_group *group; (group = stock->unused);) {
        stock->unused = group->next;
        group->next = rounds->unused;
        rounds->unused = group;
    }
    pthread_mutex_unlock(&rounds->lock);
}

void wmi_rounds_end(struct wmi_rounds *rounds)
{
    pthread_mutex_lock(&rounds->lock);
    fill(rounds, true);
    end_thread(rounds);
    if (rounds->filling.count)
        close_round(rounds);
    rounds->facts.cuts |= wmi_caches_rest(rounds->caches);
    give_back(rounds, rounds->before);
    rounds->before = (struct round){0};
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
