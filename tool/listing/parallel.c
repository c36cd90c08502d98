/* SPDX-License-Identifier: MIT */
/* Listings by several threads, each with its own disassemblers and buffers; one thread writes in order.
 *
 * A section is split into chunks. The first instruction boundary of a chunk is unknown until the previous
 * chunk is decoded. But decoding from an arbitrary dword soon reaches real boundaries, so threads start a
 * little earlier. The writer compares the end of each chunk, and the disassembler's state there, with the
 * begin of the next one, and decodes the latter again if they differ. */
#include "tool/listing/parallel.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    CHUNK = 1 << 13,   /* bytes of code; their text fits into the CPU's cache */
    WORTH = 1 << 20,   /* minimum bytes of code for which threads pay off */
    RUN_UP = 1 << 8,   /* bytes decoded before a chunk to find an instruction boundary */
    TEXT = 32 * CHUNK, /* expected bytes of text per chunk */
    BUFFERS = 2,       /* per thread: one is filled while the other is written */
    MOST_THREADS = 64,
};

struct chunk {
    size_t begin, end; /* in bytes; end: of the last instruction */
    const struct wm_disassembler *first, *last;
    unsigned first_state, last_state;
    struct tool_text_buffer out;
    bool filled;
};

struct team;

struct worker {
    struct team *team;
    unsigned number;
    struct wm_disassembler *disassembler[2];
    struct chunk chunk[BUFFERS];
    pthread_t thread;
};

struct team {
    struct tool_run run; /* a copy: the writer changes its own while workers start */
    unsigned threads;
    size_t chunks;
    bool stop;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct worker worker[MOST_THREADS];
};

bool tool_is_parallel(const struct tool_run *run, unsigned threads)
{
    const struct tool_listing *listing = run->listing;
    return threads > 1 && run->code->size >= WORTH && !listing->json && !listing->symbol &&
           !listing->labels && !listing->lines;
}

/* Selects the disassembler: the symbol before `address` determines the wave size. */
static void enter_symbol_before(struct tool_run *run, uint64_t address)
{
    uint64_t distance;
    run->disassembler = run->disassemblers[0];
    wm_disassembler_begin(run->disassembler, 0);
    if (wm_object_symbol(run->listing->object, address, &distance))
        tool_enter_symbol(run, address - distance);
}

/* Returns the probable start of the first instruction at or after `wanted`. */
static size_t fall_into_step(const struct tool_run *run, size_t wanted)
{
    uint32_t words[TOOL_LONGEST_DWORDS];
    size_t at = wanted > RUN_UP ? wanted - RUN_UP : 0;
    while (at < wanted)
        at += 4u * tool_disassemble(run, at, words).dwords;
    return at;
}

static void list_chunk(struct tool_run *run, struct chunk *chunk, size_t begin, size_t limit)
{
    chunk->begin = begin;
    chunk->out.at = chunk->out.buffer;
    chunk->first = run->disassembler;
    chunk->first_state = wm_disassembler_state(run->disassembler);
    run->out = &chunk->out;
    run->next_symbol = run->code->address + begin;
    chunk->end = tool_list_range(run, begin, limit);
    chunk->last = run->disassembler;
    chunk->last_state = wm_disassembler_state(run->disassembler);
}

static size_t end_of(const struct team *team, size_t number)
{
    const size_t size = team->run.code->size;
    return number + 1 == team->chunks ? size : (number + 1) * CHUNK;
}

static void *work(void *user)
{
    struct worker *worker = user;
    struct team *team = worker->team;
    struct tool_run run = team->run;
    run.disassemblers = worker->disassembler;
    for (size_t n = worker->number, turn = 0; n < team->chunks; n += team->threads, turn++) {
        struct chunk *chunk = &worker->chunk[turn % BUFFERS];
        pthread_mutex_lock(&team->mutex);
        while (chunk->filled && !team->stop)
            pthread_cond_wait(&team->changed, &team->mutex);
        const bool stop = team->stop;
        pthread_mutex_unlock(&team->mutex);
        if (stop)
            break;
        enter_symbol_before(&run, run.code->address + n * CHUNK);
        list_chunk(&run, chunk, fall_into_step(&run, n * CHUNK), end_of(team, n));
        pthread_mutex_lock(&team->mutex);
        chunk->filled = true;
        pthread_cond_broadcast(&team->changed);
        pthread_mutex_unlock(&team->mutex);
    }
    return NULL;
}

/* Index of the worker's disassembler. */
static unsigned slot(const struct worker *worker, const struct wm_disassembler *disassembler)
{
    return disassembler == worker->disassembler[1];
}

/* Writes the chunks in order, each as soon as it is ready; returns the end of the last instruction. */
static size_t write_chunks(struct team *team, struct tool_run *run)
{
    size_t at = 0;
    unsigned waves = 0, state = 0;
    for (size_t n = 0; n < team->chunks && at != SIZE_MAX; n++) {
        struct worker *worker = &team->worker[n % team->threads];
        struct chunk *chunk = &worker->chunk[n / team->threads % BUFFERS];
        pthread_mutex_lock(&team->mutex);
        while (!chunk->filled)
            pthread_cond_wait(&team->changed, &team->mutex);
        pthread_mutex_unlock(&team->mutex);
        if (chunk->begin == at && slot(worker, chunk->first) == waves && chunk->first_state == state &&
            !chunk->out.failed) {
            fwrite(chunk->out.buffer, 1, (size_t)(chunk->out.at - chunk->out.buffer), stdout);
            at = chunk->end;
            waves = slot(worker, chunk->last);
            state = chunk->last_state;
        } else if (at < end_of(team, n)) {
            run->disassembler = run->disassemblers[waves];
            wm_disassembler_begin(run->disassembler, state);
            run->next_symbol = run->code->address + at;
            at = tool_list_range(run, at, end_of(team, n));
            waves = run->disassembler == run->disassemblers[1];
            state = wm_disassembler_state(run->disassembler);
        }
        pthread_mutex_lock(&team->mutex);
        chunk->filled = false;
        pthread_cond_broadcast(&team->changed);
        pthread_mutex_unlock(&team->mutex);
    }
    return at;
}

static bool prepare(struct worker *worker, struct team *team, unsigned number)
{
    const struct tool_listing *listing = team->run.listing;
    worker->team = team;
    worker->number = number;
    for (unsigned i = 0; i < BUFFERS; i++)
        if (!tool_open_output(&worker->chunk[i].out, TEXT, true))
            return false;
    for (unsigned i = 0; i < 2; i++)
        if (wm_disassembler_create(listing->targets[i], listing->flags, &worker->disassembler[i], NULL) !=
            WM_OK)
            return false;
    return true;
}

static void release(struct worker *worker)
{
    for (unsigned i = 0; i < BUFFERS; i++)
        free(worker->chunk[i].out.buffer);
    for (unsigned i = 0; i < 2; i++)
        wm_disassembler_destroy(worker->disassembler[i]);
}

size_t tool_list_parallel(struct tool_run *run, unsigned threads)
{
    const size_t chunks = run->code->size / CHUNK;
    struct team *team = calloc(1, sizeof(*team));
    size_t end = SIZE_MAX;
    unsigned started = 0;
    if (!team)
        return end;
    team->run = *run;
    team->chunks = chunks;
    team->threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    team->threads = chunks < team->threads ? (unsigned)chunks : team->threads;
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->changed, NULL);
    bool ready = true;
    for (unsigned i = 0; i < team->threads && ready; i++)
        ready = prepare(&team->worker[i], team, i);
    while (started < team->threads && ready) {
        ready = pthread_create(&team->worker[started].thread, NULL, work, &team->worker[started]) == 0;
        started += ready;
    }
    if (ready)
        end = write_chunks(team, run);
    pthread_mutex_lock(&team->mutex);
    team->stop = true;
    pthread_cond_broadcast(&team->changed);
    pthread_mutex_unlock(&team->mutex);
    for (unsigned i = 0; i < started; i++)
        pthread_join(team->worker[i].thread, NULL);
    for (unsigned i = 0; i < team->threads; i++)
        release(&team->worker[i]);
    pthread_cond_destroy(&team->changed);
    pthread_mutex_destroy(&team->mutex);
    free(team);
    return end;
}
