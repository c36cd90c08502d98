/* SPDX-License-Identifier: MIT */
/* Two observers as one: what each keeps, and the numbers that each gave, in pairs. */
#include "observe/observers.h"

#include <stdlib.h>

enum {
    CHUNK = 1 << 10, /* pairs; chunks stay where they are, for workers read them without a lock */
    CHUNKS = 1 << 12,
};

struct numbers { /* that the two gave for one instruction */
    uint32_t of[2];
};

struct table {
    struct numbers *chunk[CHUNKS];
    uint32_t count;
};

struct wmi_observers {
    struct wmi_observer both;
    const struct wmi_observer *one[2];
    struct table slots, instructions;
};

struct kept { /* what the two keep of a wave or a workgroup */
    void *of[2];
    struct kept *next; /* of a workgroup: its first wave; of a wave: the next one */
};

struct shard { /* of a worker thread */
    struct wmi_observers *all;
    void *local[2];
    struct kept *group; /* that its waves are of now; NULL: none is known */
    struct kept *waves; /* of no group */
};

/* The number of a new pair; WMI_NOT_SHOWN: there is no room. */
static uint32_t add(struct table *table, struct numbers numbers)
{
    const uint32_t number = table->count;
    if (number / CHUNK == CHUNKS)
        return WMI_NOT_SHOWN;
    struct numbers **chunk = &table->chunk[number / CHUNK];
    if (!*chunk && !(*chunk = calloc(CHUNK, sizeof **chunk)))
        return WMI_NOT_SHOWN;
    (*chunk)[number % CHUNK] = numbers;
    table->count++;
    return number;
}

static const struct numbers *pair_of(const struct table *table, uint32_t number)
{
    return &table->chunk[number / CHUNK][number % CHUNK];
}

static void *begin_thread(void *self)
{
    struct wmi_observers *all = self;
    struct shard *shard = calloc(1, sizeof *shard);
    if (!shard)
        return NULL;
    shard->all = all;
    for (unsigned i = 0; i < 2; i++)
        shard->local[i] = all->one[i]->thread_begin(all->one[i]->self);
    return shard;
}

static void free_waves(struct kept *wave)
{
    for (struct kept *next; wave; wave = next) {
        next = wave->next;
        free(wave);
    }
}

static void end_thread(void *self, void *local)
{
    struct wmi_observers *all = self;
    struct shard *shard = local;
    for (unsigned i = 0; i < 2; i++)
        if (shard->local[i])
            all->one[i]->thread_end(all->one[i]->self, shard->local[i]);
    free_waves(shard->waves);
    free(shard);
}

static uint32_t slot_of(void *self, uint64_t pc, unsigned id)
{
    struct wmi_observers *all = self;
    struct numbers slots;
    for (unsigned i = 0; i < 2; i++)
        slots.of[i] = all->one[i]->instruction(all->one[i]->self, pc, id);
    return add(&all->slots, slots);
}

static void see_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    const struct shard *shard = local;
    if (slot == WMI_NOT_SHOWN)
        return;
    const struct numbers *slots = pair_of(&shard->all->slots, slot);
    for (unsigned i = 0; i < 2; i++)
        if (shard->local[i])
            shard->all->one[i]->access(shard->local[i], access, slots->of[i]);
}

static uint32_t decoded(void *self, uint64_t pc, const struct wmi_instruction *insn)
{
    struct wmi_observers *all = self;
    struct numbers numbers = {{WMI_NOT_SHOWN, WMI_NOT_SHOWN}};
    for (unsigned i = 0; i < 2; i++)
        if (all->one[i]->decoded)
            numbers.of[i] = all->one[i]->decoded(all->one[i]->self, pc, insn);
    const bool shown = numbers.of[0] != WMI_NOT_SHOWN || numbers.of[1] != WMI_NOT_SHOWN;
    return shown ? add(&all->instructions, numbers) : WMI_NOT_SHOWN;
}

static void execute(void *local, void **wave, uint32_t number, const uint32_t *scalars)
{
    struct shard *shard = local;
    const struct numbers *numbers = pair_of(&shard->all->instructions, number);
    struct kept *kept = *wave;
    if (!kept) {
        struct kept **first = shard->group ? &shard->group->next : &shard->waves;
        if (!(kept = calloc(1, sizeof *kept)))
            return;
        kept->next = *first;
        *wave = *first = kept;
    }
    for (unsigned i = 0; i < 2; i++)
        if (shard->local[i] && numbers->of[i] != WMI_NOT_SHOWN)
            shard->all->one[i]->execute(shard->local[i], &kept->of[i], numbers->of[i], scalars);
}

/* One of the two may count blocks, not both. */
static unsigned counting(const struct wmi_observers *all)
{
    return all->one[0]->block ? 0 : 1;
}

static uint32_t count_block(void *self, uint64_t from, uint64_t to, bool falls)
{
    struct wmi_observers *all = self;
    const struct wmi_observer *one = all->one[counting(all)];
    return one->block(one->self, from, to, falls);
}

static uint64_t *counters_of(void *local)
{
    const struct shard *shard = local;
    const unsigned i = counting(shard->all);
    return shard->local[i] ? shard->all->one[i]->block_counters(shard->local[i]) : NULL;
}

static void fetch(void *local, uint32_t wave, uint32_t block)
{
    const struct shard *shard = local;
    const unsigned i = counting(shard->all);
    shard->all->one[i]->fetch(shard->local[i], wave, block);
}

static void turn(void *local, void **group, uint64_t number, uint32_t waves, uint64_t scratch)
{
    struct shard *shard = local;
    struct kept *kept = *group;
    shard->group = NULL;
    if (!kept && !(kept = calloc(1, sizeof *kept)))
        return;
    *group = shard->group = kept;
    for (unsigned i = 0; i < 2; i++)
        if (shard->local[i] && shard->all->one[i]->turn)
            shard->all->one[i]->turn(shard->local[i], &kept->of[i], number, waves, scratch);
}

static void end_group(void *local, void *group, uint64_t instructions)
{
    struct shard *shard = local;
    struct kept *kept = group;
    if (!kept)
        return;
    for (unsigned i = 0; i < 2; i++)
        if (shard->local[i] && shard->all->one[i]->end)
            shard->all->one[i]->end(shard->local[i], kept->of[i], instructions);
    shard->group = NULL;
    free_waves(kept->next); /* they ended before it */
    free(kept);
}

struct wmi_observers *wmi_observers_create(const struct wmi_observer *first,
                                           const struct wmi_observer *second)
{
    struct wmi_observers *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->one[0] = first;
    all->one[1] = second;
    all->both = (struct wmi_observer){
        .self = all,
        .depths = first->depths || second->depths,
        .thread_begin = begin_thread,
        .thread_end = end_thread,
        .access = see_access,
        .instruction = slot_of,
        .decoded = first->decoded || second->decoded ? decoded : NULL,
        .execute = first->execute || second->execute ? execute : NULL,
        .block = first->block || second->block ? count_block : NULL,
        .block_counters = counters_of,
        .fetch = fetch,
        .turn = first->turn || second->turn ? turn : NULL,
        .end = first->end || second->end ? end_group : NULL,
    };
    return all;
}

void wmi_observers_destroy(struct wmi_observers *all)
{
    if (!all)
        return;
    for (unsigned i = 0; i < CHUNKS; i++) {
        free(all->slots.chunk[i]);
        free(all->instructions.chunk[i]);
    }
    free(all);
}

const struct wmi_observer *wmi_observers_as_one(const struct wmi_observers *all)
{
    return &all->both;
}
